"""How quickly every page answers, measured in a real Chromium beside an empty page in the same run.

    python tools/benchmark.py                      every page, first views, memory, decoding
    python tools/benchmark.py /translation         this page only
    python tools/benchmark.py "/rope?rope_view=extend&rope_target=131072" --slider rope_base
    python tools/benchmark.py --load --json out.json
    python tools/benchmark.py --while-training     only /masks, without and with two trainings beside it

Machines differ and are noisy: what counts is a ratio of medians within one run. A page and its floor take turns, key
press by key press. The floor (floor_page.py) is an otherwise empty Streamlit page with one slider and the chart of the
page, as the page sent it before and after a move of its slider; of several charts, the largest.
"""

import argparse
import asyncio
import base64
import csv
import importlib
import json
import math
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Locator, Page, WebSocket
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from core.labs.catalogue import EXPERIMENTS
from core.labs.desk import Desk
from core.labs.process import WORKER
from tools.browser import DESKTOP, PATIENCE, ROOT, SLIDER, Server, chromium, page_paths, settle
from tools.floor_page import CHARTS
from tools.users import Visit, visit

FLOOR = Path(__file__).parent / "floor_page.py"
PROBE = Path(__file__).parent / "probe.js"
PAIRS = ROOT / "core" / "assets" / "pairs-fr-en.tsv"

# path → key of the slider to move, where it is not the first one of the sidebar
SLIDERS = {"/masks": "masks_query", "/recurrence": "recurrence_target"}
WARM_UP = 5  # key presses
STATES = 40  # of the chart, for the floor
DRAG_SECONDS = 2.0
MOVES_A_SECOND = 60
CHANGES_A_SECOND = 30  # how fast a dragged slider passes from value to value
SENTENCES = 20

MOST_TIMES_THE_FLOOR = 1.25
FEWEST_PICTURES = 8.0
MOST_TIMES_GENERATE = 1.3
MOST_TIMES_ALONE = 2.0

TRAININGS = 2  # beside a page
TRAINED = ("open_book", "longer")
ROUNDS = 4  # of key presses without and with them


@dataclass(slots=True)
class PageResult:
    path: str
    slider: str
    marks: dict[str, int]
    page_ms: list[float] = field(default_factory=list)
    floor_ms: list[float] = field(default_factory=list)
    pictures_a_second: float = 0.0

    @property
    def ratio(self) -> float:
        return statistics.median(self.page_ms) / statistics.median(self.floor_ms)


@dataclass(slots=True)
class Beside:
    """Milliseconds from a key press to its picture, while nothing is trained and while something is."""

    path: str
    alone_ms: list[float] = field(default_factory=list)
    training_ms: list[float] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        return statistics.median(self.training_ms) / statistics.median(self.alone_ms)


@dataclass(slots=True)
class FirstView:
    path: str
    title_ms: float
    complete_ms: float


@dataclass(slots=True)
class Results:
    first_views: list[FirstView] = field(default_factory=list)
    pages: list[PageResult] = field(default_factory=list)
    default_garbage_ms: list[float] = field(default_factory=list)  # the floor without frozen garbage
    memory_mb: float | None = None
    users: Visit | None = None
    decoding_ratio: float | None = None
    beside: Beside | None = None


# ------------------------------------------------------------------------------------------------------ in the browser


class Charts:
    """The charts that the server sends to a page, as they come."""

    def __init__(self, page: Page) -> None:
        self._known: dict[str, ForwardMsg] = {}  # a long message is sent once, and then named by its hash
        self._last: dict[str, Any] = {}
        page.on("websocket", self._listen)

    def _listen(self, socket: WebSocket) -> None:
        socket.on("framereceived", self._read)

    def _read(self, frame: str | bytes) -> None:
        if isinstance(frame, str):
            return
        message = ForwardMsg.FromString(frame)
        if message.WhichOneof("type") == "ref_hash":
            message = self._known[message.ref_hash]
        elif message.hash:
            self._known[message.hash] = message
        element = message.delta.new_element
        if element.WhichOneof("type") == "vega_lite_chart":
            self._last[element.vega_lite_chart.id or str(message.metadata.delta_path)] = element.vega_lite_chart

    def largest(self) -> Any:
        """The chart with the most data, as it was sent last."""
        return max(self._last.values(), key=lambda chart: sum(len(one.data.data) for one in chart.datasets))


def open_page(browser: Browser, url: str) -> tuple[Page, Charts]:
    page = browser.new_page(viewport={"width": DESKTOP[0], "height": DESKTOP[1]})
    charts = Charts(page)
    page.add_init_script(path=PROBE)
    page.goto(url)
    settle(page)
    return page, charts


def measure_first_view(browser: Browser, path: str) -> FirstView:
    """A server and a browser that have shown nothing before."""
    with Server() as server:
        page = browser.new_page(viewport={"width": DESKTOP[0], "height": DESKTOP[1]})
        page.add_init_script(path=PROBE)
        page.goto(server.url + path, wait_until="commit")
        page.locator("h1").first.wait_for(timeout=PATIENCE)
        title = page.evaluate("performance.now()")  # counted from the request on
        settle(page)
        complete = max(title, page.evaluate("probe.painted"))
        page.context.close()
    return FirstView(path, title, complete)


def find_slider(page: Page, path: str, key: str | None = None) -> Locator | None:
    """The slider to move, or None where the page has none."""
    key = key or SLIDERS.get(path)
    place = f".st-key-{key}" if key else '[data-testid="stSidebar"]'
    sliders = page.locator(f"{place} {SLIDER} input[type=range]:enabled")
    return sliders.first if sliders.count() else None


def press(page: Page, thumb: Locator) -> float | None:
    """Move the slider by one step; milliseconds until the new charts are on the screen, None if none changed."""
    thumb.focus()
    page.keyboard.press(thumb.evaluate("input => probe.arrow(input)"))
    answer: float | None = page.evaluate("probe.answer()")
    return answer


def drag(page: Page, thumb: Locator) -> float:
    """Drag the slider to and fro; pictures a second."""
    start = thumb.locator("xpath=ancestor::*[@data-rac][1]").bounding_box()
    box = thumb.locator("xpath=ancestor::*[@data-rac][2]").bounding_box()  # of the track
    if start is None or box is None:
        raise RuntimeError("the slider is not visible")
    steps = thumb.evaluate("input => (input.max - input.min) / (Number(input.step) || 1)")
    seconds_across = min(DRAG_SECONDS / 2, steps / CHANGES_A_SECOND)
    y = start["y"] + start["height"] / 2
    page.mouse.move(start["x"] + start["width"] / 2, y)
    page.mouse.down()
    page.evaluate("probe.pictures = 0; probe.runs = 0")
    begun = time.perf_counter()
    for move in range(1, int(DRAG_SECONDS * MOVES_A_SECOND)):
        time.sleep(max(0.0, begun + move / MOVES_A_SECOND - time.perf_counter()))
        place = ((time.perf_counter() - begun) / seconds_across) % 2  # 0 at the left end, 1 at the right, 2 at the left
        page.mouse.move(box["x"] + box["width"] * (place if place <= 1 else 2 - place), y)
    seen = page.evaluate("Math.min(probe.pictures, probe.runs)")  # charts of one run may be drawn in several frames
    took = time.perf_counter() - begun
    page.mouse.up()
    return float(seen / took)


def keep_chart(folder: Path, page: Page, thumb: Locator, charts: Charts) -> str:
    """Put the chart, as it is after each of some moves of the slider, where the floor finds it; its address there.

    As many as are pressed later, if the slider has them: a long message that comes again is not sent again, only named,
    and a page cannot know that its next picture was shown before.
    """
    states: list[dict[str, str]] = []
    for _ in range(STATES):
        press(page, thumb)
        chart = charts.largest()
        states.append({one.name: base64.b64encode(one.data.data).decode() for one in chart.datasets})
    name = f"chart{len(list(folder.iterdir()))}"
    kept = {"spec": json.loads(chart.spec), "states": states}
    (folder / f"{name}.json").write_text(json.dumps(kept), encoding="utf-8")
    return f"/?chart={name}"


def warm_up(page: Page, server: Server, thumb: Locator) -> bool:
    """Whether charts answer to this slider."""
    server.wait_until_idle()
    answers = [press(page, thumb) for _ in range(WARM_UP)]
    return any(answer is not None for answer in answers)


def measure_page(
    browser: Browser, app: Server, floor: Server, folder: Path, path: str, presses: int, slider: str | None = None
) -> PageResult | None:
    """None if the page has no slider."""
    page, charts = open_page(browser, app.url + path)
    thumb = find_slider(page, path, slider)
    if thumb is None:
        page.context.close()
        return None
    answers = warm_up(page, app, thumb)
    result = PageResult(path, thumb.get_attribute("aria-label") or "", page.evaluate("probe.marks()"))
    if answers:
        empty, _ = open_page(browser, floor.url + keep_chart(folder, page, thumb, charts))
        empty_thumb = empty.locator(f"{SLIDER} input")
        warm_up(empty, floor, empty_thumb)
        for _ in range(presses):
            for times, answer in ((result.page_ms, press(page, thumb)), (result.floor_ms, press(empty, empty_thumb))):
                if answer is not None:
                    times.append(answer)
        result.pictures_a_second = drag(page, thumb)
        empty.context.close()
    page.context.close()
    return result


def measure_default_garbage(browser: Browser, floor: Server, presses: int) -> list[float]:
    """The floor as it would be had its server not frozen its garbage; the server stays so."""
    page, _ = open_page(browser, f"{floor.url}/?chart=chart0&garbage=default")
    thumb = page.locator(f"{SLIDER} input")
    warm_up(page, floor, thumb)
    times = [press(page, thumb) for _ in range(presses)]
    page.context.close()
    return [time for time in times if time is not None]


def measure_while_training(
    browser: Browser, app: Server, path: str, presses: int, command: Sequence[str] = WORKER
) -> Beside:
    """The page without and with trainings, in turns. Raises: RuntimeError if one ends while it should run."""
    page, _ = open_page(browser, app.url + path)
    thumb = find_slider(page, path)
    if thumb is None:
        raise RuntimeError(f"{path} has no slider")
    warm_up(page, app, thumb)
    result = Beside(path)

    def answers() -> list[float]:
        times = [press(page, thumb) for _ in range(math.ceil(presses / ROUNDS))]
        return [time for time in times if time is not None]

    desk = Desk(TRAININGS, seconds=math.inf, patience=math.inf, command=command)
    try:
        for _ in range(ROUNDS):
            result.alone_ms += answers()
            trainings = [desk.submit(name, importlib.import_module(EXPERIMENTS[name]).Settings()) for name in TRAINED]
            while not all(training.progress[0] for training in trainings):
                time.sleep(0.05)
            result.training_ms += answers()
            if not all(training.active for training in trainings):
                raise RuntimeError("a training ended before the page was measured")
            for training in trainings:
                training.stop()
            while desk.running:
                time.sleep(0.01)
    finally:
        desk.close()
    page.context.close()
    return result


# ------------------------------------------------------------------------------------------------------ on the server


def measure_decoding() -> float | None:
    """A greedy trace, in times what `generate` with all attentions takes; None without the bundled model."""
    import torch

    from core.decoding import translate
    from core.models import ModelError, load

    torch.set_num_threads(1)
    try:
        model = load("atlas-fr-en")
    except ModelError:
        return None
    with PAIRS.open(encoding="utf-8", newline="") as file:
        sentences = [row["french"] for row in csv.DictReader(file, delimiter="\t")][:SENTENCES]
    network: Any = model.network  # the stubs of transformers do not know that a model can be called
    settings = {"num_beams": 1, "do_sample": False, "max_new_tokens": 60}

    def generate(sentence: str) -> None:
        inputs = model.tokenizer(model.normalize(sentence), return_tensors="pt")
        network.generate(**inputs, **settings, output_attentions=True, return_dict_in_generate=True)

    def trace(sentence: str) -> None:
        translate(model, sentence, max_new_tokens=60)

    def seconds(work: Callable[[str], None], sentence: str) -> float:
        begun = time.perf_counter()
        work(sentence)
        return time.perf_counter() - begun

    for work in (generate, trace):  # warm up
        work(sentences[0])
    ratios: list[float] = []
    for sentence in sentences:
        ours, theirs = zip(*((seconds(trace, sentence), seconds(generate, sentence)) for _ in range(3)), strict=True)
        ratios.append(statistics.median(ours) / statistics.median(theirs))
    return statistics.median(ratios)


# ---------------------------------------------------------------------------------------------------------- the report


def report(results: Results) -> str:
    def verdict(good: bool) -> str:
        return "met" if good else "MISSED"

    lines = []
    for view in results.first_views:
        lines.append(
            f"first view of a fresh server at {view.path}  title after {view.title_ms:.0f} ms, "
            f"complete after {view.complete_ms:.0f} ms"
        )
    for page in results.pages:
        marks = ", ".join(f"{count} {kind}" for kind, count in sorted(page.marks.items()))
        lines.append(f"{page.path}  slider “{page.slider}”, marks: {marks or 'none'}")
        if not page.page_ms:
            lines.append("  no chart answered to this slider")
            continue
        lines.append(
            f"  key press → picture   page {statistics.median(page.page_ms):5.0f} ms, "
            f"floor {statistics.median(page.floor_ms):5.0f} ms, ratio {page.ratio:.2f}   "
            f"(at most {MOST_TIMES_THE_FLOOR}: {verdict(page.ratio <= MOST_TIMES_THE_FLOOR)}; n = {len(page.page_ms)})"
        )
        lines.append(
            f"  pictures a second while dragged {page.pictures_a_second:5.1f}   "
            f"(at least {FEWEST_PICTURES:.0f}: {verdict(page.pictures_a_second >= FEWEST_PICTURES)})"
        )
    if results.default_garbage_ms:
        usual = statistics.median(results.default_garbage_ms)
        lines.append(f"a floor with Streamlit's usual garbage collection  {usual:.0f} ms")
    if results.memory_mb is not None:
        lines.append(f"server memory after these pages  {results.memory_mb:.0f} MB")
    if results.users is not None:
        users = results.users
        lines.append(
            f"{users.people} people, a change every 2 s each  first view {users.first_view_median:.0f} ms (median), "
            f"change {users.change_median:.0f} ms (median), {users.change_95:.0f} ms (95 %), {users.errors} errors"
        )
    if results.decoding_ratio is not None:
        lines.append(
            f"greedy trace : generate with attentions  {results.decoding_ratio:.2f}   "
            f"(at most {MOST_TIMES_GENERATE}: {verdict(results.decoding_ratio <= MOST_TIMES_GENERATE)})"
        )
    if results.beside is not None:
        beside = results.beside
        lines.append(
            f"{beside.path} while {TRAININGS} trainings run   {statistics.median(beside.training_ms):.0f} ms, "
            f"without {statistics.median(beside.alone_ms):.0f} ms, ratio {beside.ratio:.2f}   "
            f"(at most {MOST_TIMES_ALONE:.0f}: {verdict(beside.ratio <= MOST_TIMES_ALONE)}; n = {len(beside.alone_ms)})"
        )
    return "\n".join(lines)


def measure_pages(results: Results, options: argparse.Namespace) -> None:
    """Everything else."""
    paths = options.pages or page_paths()
    with chromium(options.chromium) as browser:
        results.first_views = [measure_first_view(browser, path) for path in paths]
        with (
            tempfile.TemporaryDirectory() as folder,
            Server() as app,
            Server(FLOOR, {CHARTS: folder}) as floor,
        ):
            for path in paths:
                measured = measure_page(browser, app, floor, Path(folder), path, options.presses, options.slider)
                if measured is not None:
                    results.pages.append(measured)
            results.memory_mb = app.memory()
            if results.pages:
                results.default_garbage_ms = measure_default_garbage(browser, floor, options.presses)
    if options.load:
        with Server() as app:
            results.users = asyncio.run(visit(app.url, paths[-1]))
    results.decoding_ratio = measure_decoding()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", help="paths such as /translation; all pages if none is named")
    parser.add_argument("--slider", help="key of the slider to move, instead of the page's usual one")
    parser.add_argument("--presses", type=int, default=25, help="key presses per page (25)")
    parser.add_argument("--chromium", help="path of the browser; else the environment's CHROMIUM, or /usr/bin/chromium")
    parser.add_argument("--load", action="store_true", help="also: 30 simulated people at once")
    parser.add_argument(
        "--while-training", action="store_true", help="only: the first page (/masks), without and with two trainings"
    )
    parser.add_argument("--json", type=Path, help="write all samples into this file")
    options = parser.parse_args()

    results = Results()
    if options.while_training:
        path = (options.pages or ["/masks"])[0]
        with chromium(options.chromium) as browser, Server() as app:
            results.beside = measure_while_training(browser, app, path, options.presses)
    else:
        measure_pages(results, options)
    print(report(results))
    if options.json:
        options.json.write_text(json.dumps(asdict(results), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
