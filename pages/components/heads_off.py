"""Heads switched off: what the model then says, what it holds for likely, and what that costs on 100 sentences."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import streamlit as st

from core.charts import gallery, ranking, shifts
from core.decoding import DecodingTrace
from core.heads_loss import HeadCosts, mean_loss, rank_heads
from core.heads_off import Shift, compare_next, switch_off
from core.heads_snippets import heads_off as program
from core.models import TranslationModel
from core.quality import read_pairs
from pages.components import heads_claims, heads_fold, heads_model, heads_without, translator
from pages.components.controls import Panel
from pages.components.fold import Formula
from pages.components.heads_model import Read, short
from pages.components.heads_without import Off
from pages.components.i18n import _
from pages.components.job import job
from pages.components.plot import Part, clicks, figure, part, picked
from pages.components.tokens import plain, token_line
from pages.components.typed import quoted
from pages.components.words import Claim, look_for

KEY = "heads.off"
HEIGHT = 200
SHARE = 0.62
SHOWN = 7  # tokens that could come next


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """What the model says with all heads and without some; the step is counted from 0."""

    read: Read
    off: Off
    wrong: tuple[str, ...]  # words of the list that name no head
    without: DecodingTrace
    loss: float
    loss_without: float
    step: int = 0


def controls(panel: Panel) -> Scene | None:
    read = heads_model.sentence(panel)
    listed = panel.text(
        "off",
        _("Heads that are off"),
        default="",
        max_chars=300,
        help=_(
            "Click on a map, or type names such as E1.2 C3.4: encoder layer 1 head 2, cross-attention layer 3 head 4."
        ),
    )
    if read is None:
        return None
    off, wrong = heads_model.named(listed, read.model)
    name = read.model.name
    return Scene(
        read,
        off,
        wrong,
        heads_without.translation(read.model, name, read.text, off),
        heads_without.loss(read.model, name, ()),
        heads_without.loss(read.model, name, off),
    )


def sliders(panel: Panel, scene: Scene | None) -> Scene | None:
    if scene is None:
        return None
    step = panel.slider("step", _("Step"), 1, len(scene.read.trace.steps), default=1, step=1)
    return replace(scene, step=step - 1)


def picture(panel: Panel, scene: Scene | None) -> None:
    if scene is None:
        heads_model.nothing()
        return
    trace = scene.read.trace
    said = token_line(
        _("The decoder has said"),
        (trace.start_token, *trace.tokens[: scene.step]),
        trace.steps[scene.step].decoder_input,
    )
    look_for(*_in_words(scene), beside=_results(scene) + said)

    def toggle() -> None:
        for selection in ("maps_head", "costs_head"):
            number = picked(KEY, selection, "head")
            if number is not None:
                off = set(scene.off) ^ {scene.read.names[int(number)]}
                panel.put({"off": " ".join(short(name) for name in scene.read.names if name in off)})
                st.rerun()

    costs = _costs(scene.read.model)
    rows = [[_maps(scene, costs), _next(scene)], *([[_ranking(scene, costs)]] if costs is not None else [])]
    plot = figure(
        KEY,
        rows,
        name=_("without some heads"),
        alt=_(
            "Small attention maps of all heads, those that are off crossed out; bars: how probable the next tokens are "
            "with all heads and without these; once measured, bars: what each head costs when it is off."
        ),
        on_select=toggle,
    )
    folder, revision = translator.place(scene.read.model)
    heads_fold.draw(
        "heads_off",
        formula=lambda: _formulas(scene),
        code=(switch_off, compare_next, mean_loss, rank_heads),
        plots=[plot],
        snippet=lambda: program(
            folder=folder, revision=revision, text=scene.read.text, off=scene.off, pairs=read_pairs()
        ),
    )


def after(scene: Scene | None) -> None:
    """The button that ranks all heads, until somebody has done so."""
    if scene is None or _costs(scene.read.model) is not None:
        return
    model = scene.read.model

    def work(on_progress: Callable[[int, int], None], cancelled: Callable[[], bool]) -> None:
        if _costs(model) is None:  # nobody measured it while this waited
            heads_without.rankings()[model.name] = rank_heads(
                model, read_pairs(), on_progress=on_progress, cancelled=cancelled
            )

    measuring = job("heads.ranking", _("Rank all heads"), work)
    if measuring is not None and measuring.failed:
        st.error(_("The measurement failed. Try again; if it fails again, start the server anew."))


def cards(scene: Scene | None) -> Sequence[Claim]:
    return () if scene is None else (heads_claims.needed(_costs(scene.read.model)),)


def played(scene: Scene | None) -> str | None:
    return "step" if scene is not None else None


def _shown(scene: Scene) -> tuple[Shift, ...]:
    """The tokens that could come next, as they are read."""
    model, trace = scene.read.model, scene.read.trace
    said = tuple(trace.token_ids[: scene.step])
    found = heads_without.next_tokens(model, model.name, scene.read.text, said, scene.off, SHOWN)
    return tuple(replace(each, token=plain(each.token)) for each in found)


def _costs(model: TranslationModel) -> HeadCosts | None:
    return heads_without.rankings().get(model.name)


def _maps(scene: Scene, costs: HeadCosts | None) -> Part:
    read = scene.read
    cost = {each.name: each.cost for each in costs.heads} if costs is not None else {}
    blocks = heads_model.blocks(read.model)
    return part(
        "maps",
        gallery.gallery,
        gallery.gallery_data(
            read.small,
            blocks,
            off=[read.names.index(name) for name in scene.off],
            facts={i: [cost.get(name, float("nan"))] for i, name in enumerate(read.names)},
            height=HEIGHT,
            nonce=clicks(KEY),
        ),
        share=SHARE,
        blocks=blocks,
        names=read.labels,
        facts=(gallery.Fact(_("loss without it alone"), "+.4f"),),
        title=_("Click on a head to switch it off"),
        height=HEIGHT,
    )


def _next(scene: Scene) -> Part:
    return part(
        "next",
        shifts.shifts,
        shifts.shifts_data(_shown(scene), count=SHOWN),
        share=1 - SHARE,
        count=SHOWN,
        words=shifts.ShiftWords(
            axis=_("probability of being next"), token=_("token"), before=_("all heads"), after=_("without these heads")
        ),
        title=_("Next token, before (dashed) and after"),
        height=HEIGHT - 60,
    )


def _ranking(scene: Scene, costs: HeadCosts) -> Part:
    read = scene.read
    cost = {each.name: each.cost for each in costs.heads}
    values = [cost[name] for name in read.names]
    return part(
        "costs",
        ranking.ranking,
        ranking.ranking_data(values, marked=[read.names.index(name) for name in scene.off], nonce=clicks(KEY)),
        names=read.labels,
        domain=(round(min(*values, 0.0) - 0.005, 2), round(max(values) + 0.005, 2)),
        words=ranking.RankingWords(name=_("head"), value=_("loss without it alone")),
        title=_("What the loss gains when one head alone is off, in nats per token"),
        height=80,
    )


def _results(scene: Scene) -> str:
    """Both translations and both losses, in HTML."""
    lines = (
        (_("With all heads"), scene.read.trace, scene.loss),
        (_("Without these"), scene.without, scene.loss_without),
    )
    said = _("mean loss {loss:.3f}")
    return "".join(heads_model.line(name, trace.text, said.format(loss=loss)) for name, trace, loss in lines)


def _in_words(scene: Scene) -> Sequence[str]:
    off, pairs = scene.off, len(read_pairs())
    sentences = []
    if off:
        sentences.append(
            _(
                "Off: {heads}. On {pairs} sentence pairs that were written for this page, the mean loss goes from "
                "{before:.3f} to {after:.3f} nats per token."
            ).format(heads=_few(off), pairs=pairs, before=scene.loss, after=scene.loss_without)
        )
        largest = max(_shown(scene), key=lambda each: abs(each.after - each.before))
        sentences.append(
            _("At step {step}, “{token}” goes from {before:.1%} to {after:.1%}.").format(
                step=scene.step + 1, token=largest.token, before=largest.before, after=largest.after
            )
        )
    else:
        sentences.append(
            _("All heads are on. Click on a map to switch that head off, and once more to switch it on again.")
        )
        sentences.append(
            _("With all heads the mean loss on {pairs} sentence pairs is {loss:.3f} nats per token.").format(
                pairs=pairs, loss=scene.loss
            )
        )
    if scene.wrong:
        sentences.append(_("There is no head called “{name}”.").format(name=quoted(scene.wrong[0])))
    return [*sentences, *heads_model.about_the_sentence(scene.read)]


def _few(off: Off) -> str:
    """The names, not more than fit into a sentence."""
    names = [short(name) for name in off]
    return ", ".join(names if len(names) <= 8 else [*names[:7], "…", names[-1]])


def _formulas(scene: Scene) -> Sequence[Formula]:
    return (
        Formula(
            r"\mathrm{MultiHead}(X) = \sum_i m_i\, \mathrm{head}_i\, W_O^{(i)} + b_O, \quad m_i \in \{0, 1\}",
            rf"\#\{{i : m_i = 0\}} = {len(scene.off)}",
            _("A layer adds up what its heads say; a head that is off has m = 0: its part of W_O is zero."),
        ),
        Formula(
            r"L = -\frac{1}{N} \sum_{\mathrm{pairs}} \sum_t \ln p(y_t \mid y_{<t}, x)",
            rf"L = {scene.loss:.4f} \;\to\; {scene.loss_without:.4f}",
            _("The mean loss, in nats for each of the N tokens of the reference translations."),
        ),
    )
