"""The controls of the masks page that decide what there is to draw: view, mask, sentences, type of number."""

from collections.abc import Mapping
from dataclasses import replace

from core.batches import Batch, batch
from core.fill_values import Fill
from pages.components.controls import Panel
from pages.components.i18n import _
from pages.components.masks_scene import BOS, DTYPES, Settings

SENTENCES = "The cat sat on the mat .\nWhen it rains the cat sleeps on the mat"
SOURCES = "Le chat était sur le tapis .\nQuand il pleut le chat dort sur le tapis"
TAUGHT = "我 爱 NLP"
ORDER = "3 1 4 2"
MOST_SENTENCES, MOST_TOKENS = 6, 20
NOTHING = Batch((), cut=False)


def controls(panel: Panel) -> tuple[Settings | None, list[str]]:
    """What is to be drawn, or None if no sentence is left; and what the user should know about the input.

    What the sliders say (see masks_sliders) is still at its usual values.
    """
    views = {
        "weights": _("Scores, mask, weights"),
        "reach": _("Context and gradient"),
        "batch": _("The masks of a batch"),
        "teaching": _("The answer in view"),
    }
    view = panel.choice("view", _("View"), views, default="weights")
    if view == "teaching":
        return _teaching(panel)
    kind = "both" if view == "batch" else panel.choice("kind", _("Mask"), kinds(), default="both")
    typed_order = _typed_order(panel) if kind.startswith("xlnet") else None
    targets = _batch(panel, "sentences", _("Sentences, one a line"), SENTENCES)
    pairs = kind == "cross" or view == "batch"
    sources = _batch(panel, "sources", _("Source sentences, one a line"), SOURCES) if pairs else NOTHING
    targets, sources, said = _paired(targets, sources) if pairs else (targets, sources, [])
    if targets.cut or sources.cut:
        said.append(
            _("There is room for {sentences} sentences of {tokens} tokens each; the rest was left out.").format(
                sentences=MOST_SENTENCES, tokens=MOST_TOKENS
            )
        )
    settings = Settings(view, targets, sources, kind, typed_order=typed_order)
    if view == "weights":
        settings = _numbers(panel, settings)
    if not targets.sentences:
        return None, [*said, _("There is nothing to look at yet. Type a sentence on the left.")]
    return settings, said


def kinds() -> Mapping[str, str]:
    return {
        "padding": _("Padding"),
        "causal": _("Causal"),
        "both": _("Padding and causal"),
        "window": _("Sliding window"),
        "prefix": _("Prefix"),
        "xlnet_query": _("XLNet: query stream"),
        "xlnet_content": _("XLNet: content stream"),
        "cross": _("Cross-attention"),
        "own": _("Your own: click cells"),
    }


def _batch(panel: Panel, name: str, label: str, default: str) -> Batch:
    text = panel.text(name, label, default=default, max_chars=600, lines=2)
    return batch(text.split("\n"), most_sentences=MOST_SENTENCES, most_tokens=MOST_TOKENS)


def _paired(targets: Batch, sources: Batch) -> tuple[Batch, Batch, list[str]]:
    """Line for line: a sentence without a partner is left out."""
    pairs = min(len(targets.sentences), len(sources.sentences))
    said = []
    if len(targets.sentences) != len(sources.sentences):
        said.append(
            _("{targets} sentences and {sources} source sentences: only the first {pairs} of each are paired.").format(
                targets=len(targets.sentences), sources=len(sources.sentences), pairs=pairs
            )
        )
    kept = (Batch(one.sentences[:pairs], cut=one.cut) for one in (targets, sources))
    return next(kept), next(kept), said


def _typed_order(panel: Panel) -> str | None:
    """XLNet's order of prediction as it was typed; None if it is to be shuffled."""
    ways = {"shuffled": _("Shuffled"), "typed": _("Typed")}
    with panel.beside():
        way = panel.choice("order_by", _("Order of prediction"), ways, default="shuffled", narrow=True)
        return panel.text("order", _("Positions from 1"), default=ORDER, max_chars=120) if way == "typed" else None


def _numbers(panel: Panel, settings: Settings) -> Settings:
    fills = {Fill.MINUS_INFINITY: "−∞", Fill.MINUS_1E9: "−1e9", Fill.GUARDED: _("guarded")}
    names = {fill.value: name for fill, name in fills.items()}
    with panel.beside():
        fill = panel.choice("fill", _("Fill value"), names, default=Fill.GUARDED.value, narrow=True)
        dtypes = {name: name for name in DTYPES}
        dtype = panel.choice("dtype", _("Type of number"), dtypes, default="float32", narrow=True)
    return replace(settings, fill=Fill(fill), dtype=dtype)


def _teaching(panel: Panel) -> tuple[Settings | None, list[str]]:
    """A sentence that a decoder is taught to say."""
    text = panel.text("taught", _("Sentence"), default=TAUGHT, max_chars=200)
    taught = batch([text], most_sentences=1, most_tokens=MOST_TOKENS - 1)
    if not taught.sentences:
        return None, [_("There is nothing to look at yet. Type a sentence on the left.")]
    read = Batch(((BOS, *taught.sentences[0]),), cut=taught.cut)  # what the decoder reads
    too_long = _("There is room for {tokens} tokens; the rest was left out.").format(tokens=MOST_TOKENS - 1)
    return Settings("teaching", read, NOTHING, "causal"), [too_long] if read.cut else []
