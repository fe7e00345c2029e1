// Put into a page before it loads: when was a key pressed, when was the chart's answer on the screen, how many pictures
// came, and of what the charts are made.
(() => {
  const CHART = '[data-testid="stVegaLiteChart"]';
  const QUIET = 300; // ms without a change, after which the picture is complete
  const PATIENCE = 5000; // ms
  const probe = (window.probe = { pressed: 0, painted: 0, pictures: 0, runs: 0 });
  let waiting = false;
  let calls = { fill: 0, fillRect: 0, fillText: 0 }; // on canvases, for the picture that is being drawn

  function changed() { // a chart did: on the screen as soon as the next frame is
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      const afterwards = new MessageChannel();
      afterwards.port1.onmessage = () => {
        waiting = false;
        probe.painted = performance.now();
        probe.pictures++;
        afterwards.port1.close();
      };
      afterwards.port2.postMessage(null);
    });
  }

  const running = () => document.querySelector('[data-testid="stApp"]')?.getAttribute('data-test-script-state') !== 'notRunning';
  const element = node => (node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement);
  new MutationObserver(changes => {
    if (changes.some(change => element(change.target)?.closest(CHART))) changed();
    if (changes.some(change => change.attributeName === 'data-test-script-state') && !running()) probe.runs++;
  }).observe(document, { subtree: true, childList: true, attributes: true, characterData: true });

  for (const name of Object.keys(calls)) {
    const draw = CanvasRenderingContext2D.prototype[name];
    CanvasRenderingContext2D.prototype[name] = function (...rest) {
      if (this.canvas.closest?.(CHART)) {
        if (!waiting) calls = { fill: 0, fillRect: 0, fillText: 0 };
        calls[name]++;
        changed();
      }
      return draw.apply(this, rest);
    };
  }

  addEventListener('keydown', () => { probe.pressed = performance.now(); }, true);

  // ms from the last key press until its picture was complete, or null if no chart changed.
  probe.answer = () =>
    new Promise(resolve => {
      const look = setInterval(() => {
        const now = performance.now();
        const answered = probe.painted > probe.pressed;
        if (answered ? running() || now - probe.painted < QUIET : now - probe.pressed < PATIENCE) return;
        clearInterval(look);
        resolve(answered ? probe.painted - probe.pressed : null);
      }, 20);
    });

  // Which arrow moves a slider on: up to its end, down to its start, and so forth.
  let way = 'ArrowRight';
  probe.arrow = input => {
    const [value, low, high] = [input.value, input.min, input.max].map(Number);
    if (value >= high) way = 'ArrowLeft';
    else if (value <= low) way = 'ArrowRight';
    return way;
  };

  // How many marks of each kind all charts show together, axes and legends aside (on a canvas their texts count, too).
  probe.marks = () => {
    const found = {};
    const add = (kind, count) => { if (count) found[kind] = (found[kind] ?? 0) + count; };
    for (const group of document.querySelectorAll(`${CHART} svg g.role-mark`)) {
      const kind = /mark-(\w+)/.exec(group.getAttribute('class'))[1];
      for (const mark of group.children) {
        if (kind === 'line' || kind === 'area') add(kind, mark.getAttribute('d')?.match(/[MLC]/g)?.length); // its points
        else add(mark.getAttribute('aria-roledescription') === 'bar' ? 'bar' : kind, 1);
      }
    }
    if (document.querySelector(`${CHART} canvas`)) {
      add('rect', calls.fill + calls.fillRect);
      add('text', calls.fillText);
    }
    return found;
  };
})();
