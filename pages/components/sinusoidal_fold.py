"""What stands folded below the page on sinusoidal positions."""

from collections.abc import Sequence

from core import position_snippets
from core.model_embeddings import cosines, embed
from core.positions.frequencies import pair_frequencies, wavelengths
from core.positions.order import OrderTrial, Setting, order_trials, put_back, read
from core.positions.sinusoidal import encode, shift, shift_matrix, similarity_by_distance, sinusoidal_encoding
from pages.components import translator
from pages.components.fold import Formula, Source, fold
from pages.components.i18n import _
from pages.components.numbers import in_latex
from pages.components.plot import Plot
from pages.components.sinusoidal_order import RANDOM_HEAD_DIM, RANDOM_HEADS, RANDOM_LAYERS, Scene
from pages.components.sinusoidal_scene import Waves

READING = (
    Source("Attention Is All You Need", "Vaswani et al. 2017, section 3.5", "https://arxiv.org/abs/1706.03762"),
    Source(
        "Transformer Language Models without Positional Encodings Still Learn Positional Information",
        "Haviv et al. 2022",
        "https://arxiv.org/abs/2203.16634",
    ),
)


def draw(waves: Waves, plots: Sequence[Plot]) -> None:
    """For the views of the encoding itself."""
    fold(
        "sinusoidal",
        formula=lambda: _formulas(waves),
        code=(sinusoidal_encoding, encode, pair_frequencies, wavelengths, similarity_by_distance, shift, shift_matrix),
        plots=plots,
        snippet=lambda: position_snippets.sinusoidal(
            seq_len=waves.length, d_model=waves.d_model, base=waves.base, position=waves.m, offset=waves.offset
        ),
        reading=READING,
    )


def draw_order(scene: Scene, plots: Sequence[Plot]) -> None:
    """For the view of a sentence."""
    settings, trial = scene.settings, scene.trial
    folder, _revision = translator.place(translator.load(translator.BUNDLED))
    fold(
        "sinusoidal_sentence",
        formula=lambda: (_order_formula(trial),),
        code=(order_trials, read, put_back, embed, cosines),
        plots=plots,
        snippet=lambda: position_snippets.order(
            folder=folder,
            text=settings.text,
            order=trial.order,
            seed=settings.seed,
            num_layers=RANDOM_LAYERS,
            num_heads=RANDOM_HEADS,
            head_dim=RANDOM_HEAD_DIM,
        ),
        reading=READING,
    )


def _order_formula(trial: OrderTrial) -> Formula:
    """What the setting makes of words in another order; n is the last row, which keeps its place."""
    told = {
        Setting.NO_MASK: (
            r"\mathrm{Attention}(\Pi X) = \Pi\,\mathrm{Attention}(X)",
            r"\Delta",
            _("Π changes the order of the rows. Without positions and mask the outputs change places, no more."),
        ),
        Setting.CAUSAL_ONE_LAYER: (
            r"\mathrm{Causal}(\Pi X)_n = \mathrm{Causal}(X)_n",
            r"\Delta_n",
            _("The last row n sums over all rows, and a sum has no order. Π leaves row n in its place."),
        ),
        Setting.CAUSAL_TWO_LAYERS: (
            r"\mathrm{Causal}_2(\mathrm{Causal}_1(\Pi X))_n \neq \mathrm{Causal}_2(\mathrm{Causal}_1(X))_n",
            r"\Delta_n",
            _(
                "The first layer's rows before n depend on which words stand before them; in general so does row n "
                "then."
            ),
        ),
        Setting.WITH_POSITIONS: (
            r"\mathrm{Attention}(\Pi X + P)_n \neq \mathrm{Attention}(X + P)_n",
            r"\Delta_n",
            _("Π moves the words X, the positions P stay: in general the sums are other vectors, and row n changes."),
        ),
    }
    formula, change, meaning = told[trial.setting]
    numbers = rf"\max\left|{change}\right| / \max\left|\mathrm{{output}}\right| = {in_latex(trial.change, 2)}"
    return Formula(formula, numbers, meaning)


def _formulas(waves: Waves) -> Sequence[Formula]:
    pair = waves.i // 2
    frequency = float(pair_frequencies(waves.d_model, base=waves.base, name="d_model")[pair])
    return (
        Formula(
            r"\mathrm{PE}(p)_{2j} = \sin(p\,\theta_j), \quad \mathrm{PE}(p)_{2j+1} = \cos(p\,\theta_j), \quad "
            r"\theta_j = \mathrm{base}^{-2j/d_\mathrm{model}}",
            rf"\theta_{{{pair}}} = {in_latex(waves.base, 7)}^{{-{2 * pair}/{waves.d_model}}} = "
            rf"{in_latex(frequency, 5)}",
            _("A sine and a cosine for each pair j of dimensions; θ is how far they turn in one position."),
        ),
        Formula(
            r"\mathrm{PE}(m) \cdot \mathrm{PE}(n) = \sum_j \cos\left((m - n)\,\theta_j\right)",
            rf"\mathrm{{PE}}({waves.m}) \cdot \mathrm{{PE}}({waves.n}) = {waves.similarity:.4f}",
            _("The dot product depends on the distance m − n alone."),
        ),
        Formula(
            r"\mathrm{PE}(p + k) = M_k\,\mathrm{PE}(p), \quad M_k = \mathrm{diag}_j "
            r"\begin{pmatrix} \cos k\theta_j & \sin k\theta_j \\ -\sin k\theta_j & \cos k\theta_j \end{pmatrix}",
            rf"k = {waves.offset}, \quad \max_p \left|M_k\,\mathrm{{PE}}(p) - \mathrm{{PE}}(p + k)\right| "
            rf"= {in_latex(waves.moved.residual, 2)}",
            _("A shift by k is one matrix for all positions: it turns every pair by k times its frequency."),
        ),
    )
