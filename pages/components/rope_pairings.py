"""The same query, turned with two pairings; and the permutation that makes them one."""

import html
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from core.charts import reordering, vector_rows
from core.claims.rope import PairingComparison, compare_pairings
from core.positions.distance import Vectors
from core.positions.families import FAMILIES
from core.positions.pairing import Pairing
from core.positions.rope import angles, inverse_frequencies
from pages.components import rope_fold
from pages.components.controls import Panel
from pages.components.i18n import _
from pages.components.plot import Plot, figure, part
from pages.components.rope_scene import View, choose_base, choose_seed, choose_size, drawn
from pages.components.words import look_for

KEY = "rope.pairings"
SIZES = (4, 8, 12)
FARTHEST = 100


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the sliders say."""

    head_dim: int
    m: int
    pair: int
    base: float
    seed: int


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What was computed from it; all tensors are (head_dim,) but the angles."""

    q: Tensor
    reordered: Tensor
    compared: PairingComparison  # its tensors are (1, head_dim)
    angles: Tensor  # (width,)


def view(panel: Panel) -> View:
    head_dim = choose_size(panel, "paired_dim", SIZES, default=8)
    return partial(_sliders, panel, head_dim), _picture


def _sliders(panel: Panel, head_dim: int) -> Chosen:
    m = panel.slider("position", _("Position m"), 0, FARTHEST, default=1, step=1)
    pair = panel.slider("paired", _("Pair"), 0, head_dim // 2 - 1, default=0, step=1)
    return Chosen(head_dim, m, pair, choose_base(panel), choose_seed(panel))


def compute(chosen: Chosen) -> Found:
    (q,), _key = drawn(Vectors.RANDOM, chosen.head_dim, 1, chosen.seed)
    positions = torch.tensor([chosen.m])
    compared = compare_pairings(q[None], positions, base=chosen.base)
    turned = angles(positions, inverse_frequencies(chosen.head_dim, base=chosen.base))[0]
    return Found(q, q[list(compared.order)], compared, turned)


def _picture(chosen: Chosen) -> None:
    found = compute(chosen)
    look_for(*_in_words(chosen, found), beside=_complex_form(chosen, found) + _families())
    rope_fold.of_pairings(chosen, found, (_figure(chosen, found),))


def _figure(chosen: Chosen, found: Found) -> Plot:
    compared = found.compared
    half, inter = compared.half_split[0], compared.interleaved[0]
    put_back = compared.permuted[0]
    rows = {
        _("query q"): found.q,
        _("half-split"): half,
        _("interleaved"): inter,
        _("difference"): half - inter,
        _("q reordered"): found.reordered,
        _("turned"): put_back[list(compared.order)],
        _("put back"): put_back,
        _("− half-split"): put_back - half,
    }
    grid = part(
        "vectors",
        vector_rows.vector_rows,
        vector_rows.vector_rows_data(torch.stack(list(rows.values()))),
        share=0.56,
        rows=tuple(rows),
        count=chosen.head_dim,
        words=vector_rows.VectorWords(vector=_("vector"), dimension=_("place in the vector"), value=_("value")),
        title=_("One query at position m: the two ways, and from one to the other"),
        height=230,
    )
    order = part(
        "order",
        reordering.reordering,
        reordering.reordering_data(compared.order, chosen=chosen.pair),
        share=0.44,
        count=chosen.head_dim,
        words=reordering.ReorderingWords(
            above=_("half-split"), below=_("interleaved"), dimension=_("dimension"), pair=_("pair")
        ),
        title=_("The permutation: dimensions, and their pairs in brackets"),
        height=230,
    )
    return figure(
        KEY,
        [[grid, order]],
        name=_("two pairings"),
        alt=_(
            "A grid of vectors: the query, turned as half-split and as interleaved pairs, their difference, and the "
            "way through the permutation; beside it, lines that show where each dimension goes."
        ),
    )


def _complex_form(chosen: Chosen, found: Found) -> str:
    """The chosen pair of the reordered query as a complex number, turned by a product; HTML."""
    a, b = found.reordered[2 * chosen.pair : 2 * chosen.pair + 2].tolist()
    order = found.compared.order
    after = found.compared.permuted[0][list(order)][2 * chosen.pair : 2 * chosen.pair + 2].tolist()
    angle = float(found.angles[chosen.pair])
    product = f"({a:.4f} {b:+.4f} i) · e<sup>{angle:.4f} i</sup> = <b>{after[0]:.4f} {after[1]:+.4f} i</b>"
    product = product.replace("-", "−")
    name = html.escape(_("Pair {pair} as a complex number").format(pair=chosen.pair))
    return f'<div class="atlas-tokens"><b>{name}</b><span>{product}</span></div>'


def _families() -> str:
    """Which models use which pairing; HTML."""
    names = {Pairing.HALF_SPLIT: _("Half-split models"), Pairing.INTERLEAVED: _("Interleaved models")}
    lines = (
        f'<div class="atlas-tokens"><b>{html.escape(name)}</b><span>'
        f"{', '.join(family for family, pairing in FAMILIES.items() if pairing is kind)}</span></div>"
        for kind, name in names.items()
    )
    told = html.escape(_("Families by their names in the code of transformers."))
    return "".join(lines) + f'<div class="atlas-tokens"><span>{told}</span></div>'


def _in_words(chosen: Chosen, found: Found) -> Sequence[str]:
    compared, half = found.compared, chosen.head_dim // 2
    return (
        _(
            "Half-split turns dimensions {pair} and {far} together, interleaved {even} and {odd}. At position {m} the "
            "results differ by up to {given:.3f}."
        ).format(
            pair=chosen.pair,
            far=chosen.pair + half,
            even=2 * chosen.pair,
            odd=2 * chosen.pair + 1,
            m=chosen.m,
            given=compared.as_given,
        ),
        _(
            "Reordered first, turned as complex numbers, and put back, the vector is the half-split one, but for "
            "{after:.1g}. Scores agree, too, if q and k are reordered alike: that is how Llama's weights were "
            "converted."
        ).format(after=compared.after_permutation),
    )
