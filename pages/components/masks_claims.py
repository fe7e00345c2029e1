"""The claims of the masks page, each with what was measured just now."""

from collections.abc import Sequence

from core.claims.masks import (
    PRINTED_WEIGHTS,
    XLNET_ORDER,
    XLNET_ROW,
    XLNET_ROW_AS_TOLD,
    compare_fills,
    fill_verdict,
    gradient_leak,
    gradient_verdict,
    mean_context,
    mean_context_verdict,
    no_mask_verdict,
    padding_share,
    printed_row,
    printed_row_verdict,
    row_verdict,
    run_printed_padding_mask,
    runs_verdict,
    xlnet_row,
)
from pages.components.i18n import _, joined
from pages.components.masks_scene import Scene, Settings, unmasked_weights
from pages.components.words import Claim

TEXT_LENGTH = 10  # of the causal mask in the texts


def cards(scene: Scene) -> Sequence[Claim]:
    """Those that belong to the view and to the kind of mask."""
    settings = scene.settings
    if settings.view == "batch":
        return _no_mask(settings), _printed_code()
    of_the_kind: tuple[Claim, ...] = ()
    if settings.kind in ("padding", "both"):
        of_the_kind = (_printed_code(),)
    elif settings.kind.startswith("xlnet"):
        of_the_kind = (_xlnet(),)
    elif settings.crosses:
        of_the_kind = (_no_mask(settings),)
    if settings.view == "weights":
        return _fills(scene), _printed_row(), *of_the_kind
    return _gradient(scene), _context(scene), *(() if settings.view == "teaching" else of_the_kind)


def _xlnet() -> Claim:
    measured = xlnet_row()
    before = XLNET_ORDER[: XLNET_ORDER.index(XLNET_ROW)]
    return Claim(
        _("XLNet, order of prediction {order}: position {row} sees {told}.").format(
            order=_spaced(XLNET_ORDER), row=XLNET_ROW, told=_spaced(XLNET_ROW_AS_TOLD)
        ),
        row_verdict(measured),
        _("Computed: {measured}. It sees {before}, which come before it, and not itself (counted from 0).").format(
            measured=_spaced(measured), before=_spaced(before)
        ),
    )


def _spaced(numbers: Sequence[float]) -> str:
    return " ".join(f"{number:g}" for number in numbers)


def _printed_row() -> Claim:
    row = printed_row()
    return Claim(
        _("A masked softmax gives the row {printed}.").format(printed=_spaced(PRINTED_WEIGHTS)),
        printed_row_verdict(row),
        _("It sums to {told:.2f}. Softmax of the scores beside it gives {computed}, which sums to {total:.2f}.").format(
            told=row.printed_sum, computed=_spaced([round(x, 4) for x in row.computed]), total=row.computed_sum
        ),
    )


def _fills(scene: Scene) -> Claim:
    compared = compare_fills(scene.scores.double(), scene.attend_mask)
    same = _("Sentence 1, seed 0, float32: rows that may see something differ by {difference:g}.").format(
        difference=compared.difference
    )
    half = _("float16 refuses the number.") if compared.refusal else _("float16 takes the number.")
    nothing = _("A row that may see nothing gives each forbidden key {weight:.3f}; with −∞ it is {infinite}.").format(
        weight=compared.forbidden_weight, infinite=_number(compared.forbidden_weight_at_infinity)
    )
    return Claim(_("Filling with −1e9 is as good as with −∞."), fill_verdict(compared), f"{same} {half} {nothing}")


def _number(value: float) -> str:
    return "NaN" if value != value else f"{value:.3f}"


def _context(scene: Scene) -> Claim:
    measured, here = mean_context(TEXT_LENGTH), len(scene.settings.queries)
    return Claim(
        _("Under a causal mask of length {n}, {half:g} positions are visible on average: half.").format(
            n=TEXT_LENGTH, half=TEXT_LENGTH / 2
        ),
        mean_context_verdict(measured, TEXT_LENGTH),
        _("Measured {measured:g} for {n}, and {mean:g} for {here} tokens as here: (n + 1) / 2.").format(
            measured=measured, n=TEXT_LENGTH, mean=mean_context(here), here=here
        ),
    )


def _printed_code() -> Claim:
    refusal = run_printed_padding_mask()
    said = _("torch refuses: “{reason}”.").format(reason=refusal.partition(":")[0]) if refusal else _("It runs.")
    return Claim(_("The printed function makes the printed padding mask."), runs_verdict(refusal), said)


def _no_mask(settings: Settings) -> Claim:
    looked_at = settings.source if settings.source.sentences else settings.batch
    measured = padding_share(unmasked_weights(settings), looked_at.lengths)
    said = (
        _("Sentences of one length only: in this batch of {sentences}, {share:.0%} of the attention falls on padding.")
        if measured.padding
        else _("This batch of {sentences} has no padding to look at: add a sentence of another length.")
    )
    return Claim(
        _("Cross-attention needs no mask."),
        no_mask_verdict(measured),
        said.format(sentences=measured.sentences, share=measured.share),
    )


def _gradient(scene: Scene) -> Claim:
    leak = gradient_leak(scene.reach, scene.attend_mask, same_tokens=not scene.settings.crosses)
    parts = [
        _("{reached} of {forbidden} forbidden pairs have a gradient.").format(
            reached=leak.reached, forbidden=leak.forbidden
        )
    ]
    if leak.own_forbidden:
        parts.append(
            _("Of {own} positions that may not look at themselves, {reached} do, through their query.").format(
                own=leak.own_forbidden, reached=leak.own_reached
            )
        )
    if leak.forbidden + leak.own_forbidden == 0:
        parts = [_("The mask on screen forbids nothing.")]
    return Claim(_("Where a mask forbids to look, the gradient is zero."), gradient_verdict(leak), joined(parts))
