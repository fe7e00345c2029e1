// Sliders whose plots follow the finger.
//
// Streamlit's slider commits its value when the pointer is released. It stays Streamlit's slider here, so that presets,
// Reset, the keyboard, assistive technology, themes, fragments and AppTest work as they always do.
// This adds what is missing: while a thumb is dragged the slider commits early, again and again, and the plots follow.
//
// How: React Aria, which draws the slider, commits when the pointer goes up. Here the pointer goes up and down again
// where the thumb stands, between two frames; the next real movement then puts the thumb under the pointer again, so
// nothing drifts. It waits until the last rerun is over: never more than one is in flight, however slow the page.
// It relies on internals (React Aria's events, `data-dragging`, Streamlit's `data-test-script-state`). Should a later
// Streamlit answer otherwise, it notices and switches itself off, and sliders commit at release, as usual.
//
// The browser runs this module once, in the page itself; the function at its end runs whenever `data` changes.
const PACE = 60, SLOW = 250;     // ms between commits; ms: after a run that took longer, rest as long as it took

let calm = [];                   // keys of sliders, or of containers around them, that commit at release only
let drag = null;                 // the drag under way: {slider, pointer, sent, grip}
let asked = false, sentAt = -1e9, took = 100;  // the rerun that we asked for; ms that reruns took lately
let broken = false;

window.liveSlider?.abort();      // an edited module replaces its predecessor
const {signal} = window.liveSlider = new AbortController();
const listen = (type, f) => window.addEventListener(type, f, {capture: true, signal});

const app = document.querySelector('[data-testid="stApp"]');
const ready = () => (app?.getAttribute('data-test-script-state') ?? 'notRunning') === 'notRunning';
const middle = thumb => { const r = thumb.getBoundingClientRect(); return r.left + r.width / 2 };

let tell = () => {}, again = 0;  // says something to the server; the run after which one more is asked for

function news() {                // the script's state changed, or a new run reached mount()
  rest();
  fade();
  if (again && ready()) { setTimeout(tell, 60, 'again', again); again = 0 }
  if (asked && ready()) { asked = false; took += (performance.now() - sentAt - took) / 3; setTimeout(commit) }
}
const watch = new MutationObserver(news);
if (app) watch.observe(app, {attributeFilter: ['data-test-script-state']});
signal.addEventListener('abort', () => watch.disconnect());

listen('pointerdown', e => {
  const slider = e.isTrusted && e.button === 0 && !drag && !broken && e.target.closest?.('[data-testid="stSlider"]');
  if (!slider || calm.some(key => slider.closest('.st-key-' + CSS.escape(key)))) return;
  const inputs = [...slider.querySelectorAll('input[type=range]')];
  const thumb = inputs.map(i => i.closest('[data-rac]')).find(t => t.contains(e.target));  // none: pressed on the track
  drag = {slider, pointer: e, sent: new Map(inputs.map(i => [i, i.value])), grip: thumb ? e.clientX - middle(thumb) : 0};
  watchDrag(drag);
});
const ours = e => e.isTrusted && e.pointerId === drag?.pointer.pointerId;
listen('pointermove', e => { if (ours(e)) drag.pointer = e });
listen('pointerup', e => { if (ours(e)) drag = null });          // released: Streamlit commits the final value itself
listen('pointercancel', e => { if (ours(e)) drag = null });

function watchDrag(mine) {       // once a frame, after React has drawn that frame's movement
  if (mine !== drag || signal.aborted) return;
  if (asked && ready() && performance.now() - sentAt > Math.max(150, 2 * took)) asked = false;  // never seen, or in a form
  commit();
  requestAnimationFrame(() => setTimeout(watchDrag, 0, mine));
}

function commit() {
  const now = performance.now(), thumb = drag?.slider.querySelector('[data-dragging]'), input = thumb?.querySelector('input');
  if (!input || input.value === drag.sent.get(input)) return;
  if (asked || !ready() || now - sentAt < (took > SLOW ? 2 * took : PACE)) return;
  drag.sent.set(input, input.value); asked = true; sentAt = now;
  const {pointerId, pointerType, clientX, clientY} = drag.pointer;
  const fire = (type, x, buttons) => thumb.dispatchEvent(new PointerEvent(type, {
    pointerId, pointerType, clientX: x, clientY, buttons, button: 0, isPrimary: true, bubbles: true, cancelable: true}));
  fire('pointerup', clientX, 0);                       // React Aria commits,
  fire('pointerdown', middle(thumb) + drag.grip, 1);   // holds the thumb again where it is drawn,
  fire('pointermove', clientX, 1);                     // and moves it to the pointer, should the drawing lag behind
  requestAnimationFrame(() => setTimeout(() => {
    if (!drag || !drag.slider.isConnected || drag.slider.querySelector('[data-dragging]')) return;
    broken = true; drag = null; console.warn('live_slider: unknown Streamlit; sliders commit at release');
  }));
}

// What Streamlit tells a page around the app comes back to itself where there is none, several times a run; and each time
// it compiles some thirty patterns of addresses to find that it need not listen.
const {postMessage} = window;
if (window === window.parent) {
  window.postMessage = function (message, ...rest) {
    if (!message?.stCommVersion) postMessage.call(this, message, ...rest);
  };
}
signal.addEventListener('abort', () => { window.postMessage = postMessage });

// The address says where sliders stand. Streamlit could do that, but before it asks for a new picture, and it renders the
// page once more for it. Here it is done when the picture is there and no slider moves; Safari, too, is content then,
// which lets an address change 100 times in 10 s at most.
const RESTS = 100;               // ms
let starts, resting;             // what each slider is left out at, by key; unknown while the address is of other sliders
const rest = () => { clearTimeout(resting); resting = setTimeout(say, RESTS, 10 * RESTS) };
const sliders = new MutationObserver(rest);  // on a busy machine the end of a run is here well before what it says
if (app) sliders.observe(app, {attributeFilter: ['value'], subtree: true});
signal.addEventListener('abort', () => sliders.disconnect());
const place = key => document.querySelector(`.st-key-${CSS.escape(key)} [data-testid="stSlider"] input[type=range]`);
function say(later) {
  if (!starts || !ready()) return;  // the end of the run is news
  if (later) resting = setTimeout(say, later);  // a slider may be drawn that was not there before
  const url = new URL(location.href), {searchParams} = url;
  const newer = document.querySelector('.atlas-starts')?.dataset.starts ?? '{}';
  for (const [key, start] of Object.entries({...starts, ...JSON.parse(newer)})) {
    const input = place(key);
    if (input && Number(input.value) === Number(start)) searchParams.delete(key);
    else if (input) searchParams.set(key, input.value);
  }
  if (url.search !== location.search) history.replaceState(history.state, '', url);
}

// Back takes back a choice; where sliders stood is no step of the history, also where the server says it.
const {pushState} = history;
history.pushState = function (state, title, url) {
  const to = new URL(url ?? '', location.href), [now, then] = [location, to].map(one => new URLSearchParams(one.search));
  const changed = [...new Set([...now.keys(), ...then.keys()])].filter(key => now.get(key) !== then.get(key));
  const same = to.pathname === location.pathname, only = same && changed.every(place);
  if (!same) starts = undefined;
  (only ? history.replaceState : pushState).call(history, state, title, url);
};
listen('popstate', () => { starts = undefined });
signal.addEventListener('abort', () => { history.pushState = pushState });

// What is drawn again turns pale if that takes long. Streamlit begins this with every run and only shows it later; until
// then the browser would draw each element in a layer of its own, so the style sheet waits for the word that is said here.
const LONG = 500;                // ms
let fading;
function fade() {
  clearTimeout(fading);
  if (ready()) app?.removeAttribute('data-long');
  else fading = setTimeout(() => app?.setAttribute('data-long', ''), LONG);
}
signal.addEventListener('abort', () => { clearTimeout(fading); app?.removeAttribute('data-long') });

// The other thing that only the browser knows: how wide the page is, and whether it is light or dark.
const main = () => document.querySelector('[data-testid="stMainBlockContainer"]');
const look = () => app && getComputedStyle(app).backgroundColor;
let room = 0, shade = look();
const measure = () => {
  const block = main(), style = block && getComputedStyle(block);
  const width = block ? Math.floor(block.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight)) : room;
  if (Math.abs(width - room) > 3) tell('room', room = width);
  if (look() !== shade) { shade = look(); tell('theme', shade) }
};
let pause;
const later = () => { clearTimeout(pause); pause = setTimeout(measure, 250) };
const size = new ResizeObserver(later);
signal.addEventListener('abort', () => size.disconnect());
const colours = new MutationObserver(later);
if (app) colours.observe(app, {attributeFilter: ['class', 'style']});
signal.addEventListener('abort', () => colours.disconnect());

export default function ({data, setStateValue}) {
  ({calm, starts} = data); tell = setStateValue;
  if (data.again) again = data.run;
  news();
  if (!room) { room = data.room; measure(); if (main()) size.observe(main()) }
}
