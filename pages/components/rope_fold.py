"""What stands folded below the RoPE page, for each of its views."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from core import position_snippets, rope_snippets
from core.claims.rope import compare_pairings
from core.positions import distance, extension, frequencies, plane, precision, rope, scalings
from core.positions.pairing import Pairing
from core.positions.scalings import Method, Unscaled, scaling_for
from core.rope_as_printed import apply_rotary_emb, position_interpolation
from pages.components.fold import Formula, Source, fold
from pages.components.i18n import _
from pages.components.numbers import in_latex
from pages.components.plot import Plot

if TYPE_CHECKING:  # the views call this module
    from pages.components import rope_distance, rope_extend, rope_pairings, rope_turn

ROFORMER = Source(
    "RoFormer: Enhanced Transformer with Rotary Position Embedding",
    "Su et al. 2021, sections 3.2 to 3.4",
    "https://arxiv.org/abs/2104.09864",
)
INTERPOLATION = Source(
    "Extending Context Window of Large Language Models via Positional Interpolation",
    "Chen et al. 2023",
    "https://arxiv.org/abs/2306.15595",
)
YARN = Source(
    "YaRN: Efficient Context Window Extension of Large Language Models",
    "Peng et al. 2023: NTK-aware, dynamic NTK, NTK by parts",
    "https://arxiv.org/abs/2309.00071",
)
LLAMA3 = Source("The Llama 3 Herd of Models", "Grattafiori et al. 2024", "https://arxiv.org/abs/2407.21783")
LLAMA = Source(
    "Llama, Meta's own code",
    "llama/model.py: apply_rotary_emb, with reshape_for_broadcast",
    "https://github.com/meta-llama/llama/blob/main/llama/model.py",
)
SNIPPET_DISTANCES = (0, 1, 10, 100, 1000)

SCORE = (
    r"s(m, n) = \frac{1}{\sqrt{d}} \sum_i \Big[ (q_a k_a + q_b k_b) \cos\big((m - n)\theta_i\big)"
    r" + (q_a k_b - q_b k_a) \sin\big((m - n)\theta_i\big) \Big]"
)
TURN = (
    r"\begin{pmatrix} q'_a \\ q'_b \end{pmatrix} = \begin{pmatrix} \cos m\theta_i & -\sin m\theta_i \\"
    r" \sin m\theta_i & \cos m\theta_i \end{pmatrix} \begin{pmatrix} q_a \\ q_b \end{pmatrix},"
    r"\quad \theta_i = b^{-2i/d}"
)
SCALINGS: Mapping[Method, Callable[..., scalings.Scaled]] = {
    Method.NONE: scalings.Unscaled.apply,
    Method.LINEAR: scalings.Linear.apply,
    Method.NTK: scalings.Ntk.apply,
    Method.DYNAMIC_NTK: scalings.DynamicNtk.apply,
    Method.YARN: scalings.Yarn.apply,
    Method.LLAMA3: scalings.Llama3.apply,
}


def of_turn(chosen: rope_turn.Chosen, found: rope_turn.Found, plots: Sequence[Plot]) -> None:
    pair, turned = chosen.pair, found.turned
    before, after = turned.q[pair].tolist(), turned.q_turned[pair].tolist()
    angle = float(turned.q_angles[pair])
    fold(
        "rope",
        formula=lambda: (
            Formula(
                TURN,
                rf"\begin{{pmatrix}} {after[0]:.4f} \\ {after[1]:.4f} \end{{pmatrix}} = \begin{{pmatrix}} "
                rf"\cos {angle:.4f} & -\sin {angle:.4f} \\ \sin {angle:.4f} & \cos {angle:.4f} \end{{pmatrix}} "
                rf"\begin{{pmatrix}} {before[0]:.4f} \\ {before[1]:.4f} \end{{pmatrix}}, \quad "
                rf"\theta_{{{pair}}} = {chosen.base:.0f}^{{-{2 * pair}/{chosen.head_dim}}} = "
                rf"{in_latex(float(found.scaled.frequencies[pair]), 5)}",
                _("A pair (a, b) of the query at position m is turned by m θ; b is the base, d the head's dimensions."),
            ),
            Formula(
                SCORE,
                rf"s({chosen.query_at}, {chosen.key_at}) = {turned.score:.6f}",
                _("The score: the positions come in by their difference alone."),
            ),
        ),
        code=(plane.turn_pairs, rope.rotate, rope.rotation_tables, frequencies.pair_frequencies),
        plots=plots,
        snippet=lambda: position_snippets.rope(
            q=found.q,
            k=found.k,
            m=chosen.query_at,
            n=chosen.key_at,
            distances=SNIPPET_DISTANCES,
            pairing=Pairing.HALF_SPLIT,
            base=chosen.base,
            scaling=Unscaled(),
            seq_len=1,
        ),
        reading=(ROFORMER, LLAMA),
    )


def of_distance(chosen: rope_distance.Chosen, found: rope_distance.Found, plots: Sequence[Plot]) -> None:
    method = chosen.settings.method
    first = float(found.scores[method][0])
    fold(
        "rope_distance",
        formula=lambda: (
            Formula(
                SCORE,
                rf"s(1, 0) = {first:.6f}",
                _("The score: the positions come in by their difference alone. Below it: that of the line at 1."),
            ),
            Formula(
                r"\lambda_i = \frac{2\pi}{\theta_i}, \qquad \theta_i = b^{-2i/d}",
                rf"\lambda_{{{len(found.waves[method].wavelengths) - 1}}} = "
                rf"{float(found.waves[method].wavelengths[-1]):,.0f}",
                _("The wavelength of a pair: after how many tokens it has turned once. Below it: the slowest pair."),
            ),
        ),
        code=(distance.scores_by_distance, distance.profile, SCALINGS[method], frequencies.waves),
        plots=plots,
        snippet=lambda: position_snippets.rope(
            q=found.q,
            k=found.k,
            m=1,
            n=0,
            distances=SNIPPET_DISTANCES,
            pairing=Pairing.HALF_SPLIT,
            base=chosen.base,
            scaling=scaling_for(method, factor=chosen.target / chosen.trained, trained_len=chosen.trained),
            seq_len=chosen.target,
        ),
        reading=(ROFORMER, INTERPOLATION, YARN, LLAMA3),
    )


def of_pairings(chosen: rope_pairings.Chosen, found: rope_pairings.Found, plots: Sequence[Plot]) -> None:
    a, b = found.reordered[2 * chosen.pair : 2 * chosen.pair + 2].tolist()
    fold(
        "rope_pairings",
        formula=lambda: (
            Formula(
                r"(q_a + i\,q_b)\; e^{i m \theta} = (q_a \cos m\theta - q_b \sin m\theta)"
                r" + i\,(q_b \cos m\theta + q_a \sin m\theta)",
                rf"({a:.4f} {b:+.4f}\,i)\; e^{{{float(found.angles[chosen.pair]):.4f}\,i}}",
                _("A pair as a complex number: the turn is a product."),
            ),
            Formula(
                r"\mathrm{half\text{-}split}: (i,\; i + d/2) \qquad \mathrm{interleaved}: (2i,\; 2i + 1)",
                rf"({chosen.pair},\; {chosen.pair + chosen.head_dim // 2}) \qquad "
                rf"({2 * chosen.pair},\; {2 * chosen.pair + 1})",
                _("Which dimensions are a pair."),
            ),
        ),
        code=(rope.rotate, rope.rotate_complex, rope.to_pairing, compare_pairings, apply_rotary_emb),
        plots=plots,
        snippet=lambda: rope_snippets.pairings(q=found.q, position=chosen.m, base=chosen.base),
        reading=(ROFORMER, LLAMA),
    )


def of_extension(chosen: rope_extend.Chosen, found: rope_extend.Found, plots: Sequence[Plot]) -> None:
    factor, dim = chosen.factor, chosen.head_dim
    new_base = next(row.scaled.base for row in found.rows if row.method is Method.NTK)
    fold(
        "rope_extend",
        formula=lambda: (
            Formula(
                r"b' = b \cdot s^{\,d/(d-2)}",
                rf"{chosen.base:.0f} \cdot {factor:.4g}^{{\,{dim}/{dim - 2}}} = {new_base:,.1f}",
                _(
                    "NTK-aware: a base with which the slowest pair turns more slowly by the factor s, the "
                    "fastest does not."
                ),
            ),
            Formula(
                r"m' = m \cdot \frac{L}{L'}",
                rf"m' = m \cdot \frac{{{chosen.trained}}}{{{chosen.target}}}",
                _("Interpolation: L is the trained length, L′ the target length. m′ must stay fractional."),
            ),
        ),
        code=(extension.extend, scalings.ntk_base, scalings.Yarn, position_interpolation, precision.angle_errors),
        plots=plots,
        snippet=lambda: rope_snippets.extension(
            head_dim=dim, base=chosen.base, trained_len=chosen.trained, target_len=chosen.target
        ),
        reading=(INTERPOLATION, YARN, LLAMA3, ROFORMER),
    )
