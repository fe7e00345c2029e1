"""What stands folded below the page on the whole Transformer."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from core import transformer_snippets
from core.anatomy import Block, Kind, Side
from core.batch_reading import BatchReading
from core.initial_gradients import Start
from core.models import AnyModel, TranslationModel
from core.residual_stream import Stream
from core.transformer import NormPlace
from core.transformer_costs import BYTES, Growth
from pages.components import shelf
from pages.components.fold import Formula, Snippet, Source, fold
from pages.components.i18n import _
from pages.components.plot import Plot
from pages.components.transformer_scene import SEEDS, Scene

VASWANI = Source(
    "Attention Is All You Need", "Vaswani et al. 2017, sections 3 and 5", "https://arxiv.org/abs/1706.03762"
)
XIONG = Source(
    "On Layer Normalization in the Transformer Architecture",
    "Xiong et al. 2020, section 3: pre-norm and post-norm before training",
    "https://arxiv.org/abs/2002.04745",
)
LIU = Source(
    "Understanding the Difficulty of Training Transformers",
    "Liu et al. 2020: gradients vanish in the post-norm decoder, and that is not the whole story",
    "https://arxiv.org/abs/2004.08249",
)
KORTHIKANTI = Source(
    "Reducing Activation Recomputation in Large Transformer Models",
    "Korthikanti et al. 2022, section 4: what activations take",
    "https://arxiv.org/abs/2205.05198",
)
PRESS = Source(
    "Using the Output Embedding to Improve Language Models",
    "Press, Wolf 2017: tied embeddings",
    "https://arxiv.org/abs/1608.05859",
)
ELHAGE = Source(
    "A Mathematical Framework for Transformer Circuits",
    "Elhage et al. 2021: the residual stream",
    "https://transformer-circuits.pub/2021/framework/index.html",
)
JAIN = Source(
    "Attention is not Explanation",
    "Jain, Wallace 2019; answered by Wiegreffe, Pinter 2019, “Attention is not not Explanation”",
    "https://arxiv.org/abs/1902.10186",
)
BERT = Source(
    "BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding",
    "Devlin et al. 2019: encoder only",
    "https://arxiv.org/abs/1810.04805",
)
GPT2 = Source(
    "Language Models are Unsupervised Multitask Learners",
    "Radford et al. 2019: GPT-2, decoder only",
    "https://openai.com/index/better-language-models/",
)
T5 = Source(
    "Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer",
    "Raffel et al. 2020, section 3.2: the three families and their masks, compared",
    "https://arxiv.org/abs/1910.10683",
)


def draw(
    view: str,
    *,
    formula: Callable[[], Sequence[Formula]],
    code: Sequence[Callable[..., Any]],
    plots: Sequence[Plot],
    snippet: Snippet | Mapping[str, Snippet],
    reading: Sequence[Source],
) -> None:
    """The folded part of one view."""
    fold(f"transformer_{view}", formula=formula, code=code, plots=plots, snippet=snippet, reading=reading)


def of_blocks(scene: Scene, plot: Plot, code: Sequence[Callable[..., Any]]) -> None:
    draw(
        "blocks",
        formula=lambda: _block_formulas(scene),
        code=code,
        plots=[plot],
        snippet=lambda: _program(scene),
        reading=(VASWANI, PRESS),
    )


def of_costs(scene: Scene, found: Growth, plot: Plot, code: Sequence[Callable[..., Any]]) -> None:
    draw(
        "costs",
        formula=lambda: _cost_formulas(scene, found),
        code=code,
        plots=[plot],
        snippet=lambda: _program(scene),
        reading=(VASWANI, KORTHIKANTI),
    )


def of_choices(
    num_layers: int, starts: Mapping[NormPlace, Start], plot: Plot, code: Sequence[Callable[..., Any]]
) -> None:
    draw(
        "choices",
        formula=lambda: _choice_formulas(num_layers, starts),
        code=code,
        plots=[plot],
        snippet=lambda: transformer_snippets.before_training(num_layers, seeds=SEEDS),
        reading=(XIONG, LIU, VASWANI, PRESS),
    )


def of_stream(
    model: AnyModel,
    ids: Sequence[int],
    said: Sequence[int],
    stream: Stream,
    plot: Plot,
    code: Sequence[Callable[..., Any]],
) -> None:
    folder, revision = shelf.where(model)
    draw(
        "stream",
        formula=lambda: _stream_formulas(stream),
        code=code,
        plots=[plot],
        snippet=lambda: transformer_snippets.stream(
            model.network, folder=folder, revision=revision, ids=ids, read=_read_by_decoder(model, said)
        ),
        reading=(ELHAGE, XIONG, JAIN),
    )


def _read_by_decoder(model: AnyModel, said: Sequence[int]) -> Sequence[int]:
    """What a translation model's decoder reads to say this; nothing for another model."""
    return [model.facts.start_id, *said[:-1]] if isinstance(model, TranslationModel) else ()


def of_families(found: BatchReading, plot: Plot, code: Sequence[Callable[..., Any]]) -> None:
    draw(
        "families",
        formula=_mask_formulas,
        code=code,
        plots=[plot],
        snippet=lambda: transformer_snippets.masks(
            source_lengths=found.source.lengths if found.source else (),
            target_lengths=found.target.lengths if found.target else (),
        ),
        reading=(T5, BERT, GPT2, VASWANI),
    )


def _program(scene: Scene) -> str:
    if scene.config is not None:
        return transformer_snippets.counts(scene.config, scene.sizes)
    if scene.subject.model is None:
        raise ValueError("subject must have a model where there is no configuration")
    folder, revision = shelf.where(scene.subject.model)
    return transformer_snippets.counts_of_network(
        scene.subject.model.network, scene.sizes, folder=folder, revision=revision
    )


# ------------------------------------------------------------------------------------------------------------ formulas


POST, PRE = r"x \leftarrow \mathrm{norm}(x + \mathrm{block}(x))", r"x \leftarrow x + \mathrm{block}(\mathrm{norm}(x))"


def _block_formulas(scene: Scene) -> Sequence[Formula]:
    blocks = scene.found.anatomy.in_general()
    order = list(blocks)
    side = next(block.side for block in order if block.kind is Kind.SELF_ATTENTION)
    attention, feed = Block(side, Kind.SELF_ATTENTION), Block(side, Kind.FEED_FORWARD)
    layers = scene.found.anatomy.num_layers(side)
    pre = order.index(Block(side, Kind.NORM, Kind.SELF_ATTENTION)) < order.index(attention)
    each = [f"{blocks[block].parameters // layers:,}".replace(",", "{,}") for block in (attention, feed)]
    return (
        Formula(
            rf"{POST} \qquad {PRE}",
            PRE if pre else POST,
            _("What a block does to the vectors: with post-norm, with pre-norm; below, what ran here."),
        ),
        Formula(
            r"4\,(d_\mathrm{model}^2 + d_\mathrm{model}), \qquad "
            r"2\, d_\mathrm{model}\, d_\mathrm{ff} + d_\mathrm{ff} + d_\mathrm{model}",
            rf"{each[0]}, \qquad {each[1]}",
            _(
                "Parameters of one attention block and of one feed-forward block with biases; below, counted in the "
                "tensors of the first stack. Some models have no biases, or heads of another width."
            ),
        ),
    )


def _cost_formulas(scene: Scene, found: Growth) -> Sequence[Formula]:
    sizes = scene.sizes
    return (
        Formula(
            r"\underbrace{2\,(n_q + n_k)\, d^2}_{\text{matrices}} + \underbrace{2\, n_q\, n_k\, d}_{\text{tokens}}",
            rf"n^* = \frac{{{found.matrices:,.0f}}}{{{found.products:,.0f}}} = {found.crossing:,.0f}".replace(
                ",", "{,}"
            ),
            _(
                "Multiply-adds of one attention block. Below: the length from which on, in all blocks together, what "
                "grows with n² outweighs what grows with n."
            ),
        ),
        Formula(
            r"2 \cdot \mathrm{layers} \cdot n \cdot d \cdot \mathrm{batch} \cdot 4\,\mathrm{bytes}",
            rf"{BYTES * found.cached:,.0f} \cdot {sizes.seq_target} \cdot {sizes.batch}".replace(",", "{,}"),
            _(
                "The KV cache of a decoder; with an encoder, cross-attention keeps as much for each source token. "
                "Below: bytes per token, tokens, batch, for source and target of this length."
            ),
        ),
    )


def _choice_formulas(num_layers: int, starts: Mapping[NormPlace, Start]) -> Sequence[Formula]:
    ratios = {norm: start.unevenness(Side.DECODER) for norm, start in starts.items()}
    return (
        Formula(
            rf"\text{{post: }} {POST} \qquad \text{{pre: }} {PRE}",
            rf"\frac{{\lVert g_{{{num_layers}}} \rVert}}{{\lVert g_1 \rVert}} = "
            rf"{ratios[NormPlace.POST]:.2f} \text{{ (post)}}, \quad {ratios[NormPlace.PRE]:.2f} \text{{ (pre)}}",
            _("Below: the gradient of the last layer of the decoder beside that of the first, median of the seeds."),
        ),
        Formula(
            r"\lVert x + f(\mathrm{norm}(x)) \rVert^2 \approx \lVert x \rVert^2 + \lVert f \rVert^2",
            rf"{starts[NormPlace.PRE].growth(Side.DECODER):.2f} \times",
            _(
                "What is added points in no direction in particular, so with pre-norm the squares of lengths add up. "
                "Below: the growth over all layers of the decoder."
            ),
        ),
    )


def _stream_formulas(stream: Stream) -> Sequence[Formula]:
    step = stream.steps[0]
    lengths = [float(getattr(step, name).norm(dim=-1).mean()) for name in ("before", "added", "after")]
    return (
        Formula(
            POST if step.normed_after else PRE,
            rf"\lVert x \rVert = {lengths[0]:.2f}, \quad \lVert \mathrm{{block}} \rVert = {lengths[1]:.2f}, \quad "
            rf"\lVert x' \rVert = {lengths[2]:.2f}",
            _("How this model adds to its stream; below, mean lengths over the tokens at its first block."),
        ),
    )


def _mask_formulas() -> Sequence[Formula]:
    return (
        Formula(
            r"w_{ij} = \frac{m_{ij}\, e^{s_{ij}}}{\sum_k m_{ik}\, e^{s_{ik}}}",
            r"m^{\mathrm{enc}}_{ij} = [\,j \le n_s\,], \quad m^{\mathrm{dec}}_{ij} = [\,j \le i\,]\,[\,j \le n_t\,], "
            r"\quad m^{\mathrm{cross}}_{ij} = [\,j \le n_s\,]",
            _("m is 1 where token i may look at token j; n is the length of the source or target without its padding."),
        ),
    )
