"""What stands folded below the GQA page."""

from collections.abc import Sequence

from core import cached_decoding, gqa, gqa_conversion, gqa_costs, gqa_snippets, gqa_times, kv_heads, latent_attention
from core.gqa_conversion import Pooling
from core.gqa_costs import BYTES, MEMORY_BYTES
from core.gqa_presets import DEEPSEEK_V2
from core.kv_cache import KVCache
from core.units import gigabytes
from pages.components import gqa_conversion as conversion_view
from pages.components import translator
from pages.components.fold import Formula, Source, fold
from pages.components.gqa_measured import SIZE
from pages.components.gqa_measured import Shown as Times
from pages.components.gqa_models import Load
from pages.components.gqa_scene import Scene
from pages.components.i18n import _
from pages.components.plot import Plot

AINSLIE = Source(
    "GQA: Training Generalized Multi-Query Transformer Models from Multi-Head Checkpoints",
    "Ainslie et al. 2023, sections 2.1 and 2.2",
    "https://arxiv.org/abs/2305.13245",
)
SHAZEER = Source(
    "Fast Transformer Decoding: One Write-Head is All You Need",
    "Shazeer 2019, sections 2.4 and 3: multi-query attention, and memory against arithmetic",
    "https://arxiv.org/abs/1911.02150",
)
POPE = Source(
    "Efficiently Scaling Transformer Inference",
    "Pope et al. 2022, section 3.3: what multi-query attention saves at long contexts",
    "https://arxiv.org/abs/2211.05102",
)
DEEPSEEK = Source(
    "DeepSeek-V2: A Strong, Economical, and Efficient Mixture-of-Experts Language Model",
    "DeepSeek-AI 2024, section 2.1: multi-head latent attention",
    "https://arxiv.org/abs/2405.04434",
)


def of_sharing(scene: Scene, plots: Sequence[Plot]) -> None:
    model = scene.model
    fold(
        "gqa",
        formula=lambda: _sharing_formulas(scene),
        code=(
            kv_heads.kv_head_of,
            kv_heads.check_heads,
            gqa_costs.attention_cost,
            gqa_costs.attention_parameters,
            kv_heads.kv_cache_bytes,
            latent_attention.latent_cost,
            gqa_costs.fit,
        ),
        plots=plots,
        snippet=lambda: gqa_snippets.costs_program(
            d_model=model.d_model,
            num_heads=model.num_heads,
            head_dim=model.head_dim,
            num_layers=model.num_layers,
            seq_len=scene.seq_len,
            batch=scene.batch,
            bytes_per_number=BYTES[scene.number],
        ),
        reading=(AINSLIE, SHAZEER, POPE, DEEPSEEK),
    )


def of_times(shown: Times | None, plots: Sequence[Plot] = ()) -> None:
    """shown: None until somebody has measured."""
    num_kv_heads, seq_len = (shown.num_kv_heads, shown.seq_len) if shown else (SIZE.num_heads, gqa_times.LENGTHS[-1])
    fold(
        "gqa_measured",
        formula=lambda: _time_formulas(shown, num_kv_heads, seq_len),
        code=(
            gqa.GroupedQueryAttention.attend,
            KVCache.append,
            cached_decoding.decode_with_cache,
            cached_decoding.read_again,
            gqa_times.measure_decoding,
            gqa_times.read_bandwidth,
        ),
        plots=plots,
        snippet=lambda: gqa_snippets.time_program(
            d_model=SIZE.d_model,
            num_heads=SIZE.num_heads,
            num_kv_heads=num_kv_heads,
            num_layers=SIZE.num_layers,
            seq_len=seq_len,
        ),
        reading=(SHAZEER, POPE),
    )


def of_conversion(shown: conversion_view.Shown, plots: Sequence[Plot]) -> None:
    folder, _revision = translator.place(translator.load(translator.BUNDLED))
    fold(
        "gqa_conversion",
        formula=lambda: _conversion_formulas(shown),
        code=(
            gqa.mean_pool_kv_heads,
            gqa_conversion.first_kv_heads,
            gqa_conversion.convert,
            gqa_conversion.measure_conversion,
        ),
        plots=plots,
        snippet=lambda: gqa_snippets.conversion_program(
            folder=folder, text=shown.converted.text, most_tokens=translator.LONGEST_SOURCE
        ),
        reading=(AINSLIE,),
    )


def of_models(load: Load) -> None:
    fold(
        "gqa_models",
        formula=lambda: _model_formulas(load),
        code=(kv_heads.kv_cache_bytes, latent_attention.latent_cache_bytes, gqa_costs.fit),
        plots=(),
        snippet=lambda: gqa_snippets.models_program(seq_len=load.seq_len, bytes_per_number=BYTES[load.number]),
        reading=(AINSLIE, SHAZEER, DEEPSEEK),
    )


def _sharing_formulas(scene: Scene) -> Sequence[Formula]:
    model, size = scene.model, BYTES[scene.number]
    cost = gqa_costs.attention_cost(
        d_model=model.d_model,
        num_heads=model.num_heads,
        num_kv_heads=model.num_kv_heads,
        head_dim=model.head_dim,
        num_layers=model.num_layers,
        seq_len=scene.seq_len,
        batch=scene.batch,
        bytes_per_number=size,
    )
    layers, heads, dim = model.num_layers, model.num_heads, model.head_dim
    return (
        Formula(
            r"P = 2\,L\,d_\mathrm{model}\,d_\mathrm{head}\,(H + H_\mathrm{KV})",
            rf"2 \cdot {layers} \cdot {model.d_model} \cdot {dim} \cdot ({heads} + {model.num_kv_heads})"
            rf" = {_number(cost.parameters)}",
            _("Parameters: L layers; W_Q and W_O belong to H query heads, W_K and W_V to the KV heads."),
        ),
        Formula(
            r"C = 2\,L\,H_\mathrm{KV}\,d_\mathrm{head}\,n\,B\,b",
            rf"2 \cdot {layers} \cdot {model.num_kv_heads} \cdot {dim} \cdot {scene.seq_len} \cdot {scene.batch}"
            rf" \cdot {size} = {_number(cost.cache_bytes)}",
            _("Cache in bytes: keys and values of n tokens for each of B sequences, b bytes per number."),
        ),
        Formula(
            r"P + 2\,L\,H\,d_\mathrm{head}\,n",
            rf"{_number(cost.parameters)} + 2 \cdot {layers} \cdot {heads} \cdot {dim} \cdot {scene.seq_len}"
            rf" = {_number(cost.multiply_adds)}",
            _(
                "Multiply-adds per token: every parameter once; every query head with every key and value, however "
                "many heads share them."
            ),
        ),
        Formula(
            r"\frac{P\,b + C}{B}",
            rf"\frac{{{_number(cost.parameters)} \cdot {size} + {_number(cost.cache_bytes)}}}{{{scene.batch}}}"
            rf" = {_number(round(cost.bytes_moved))}",
            _("Bytes moved per token: a step reads the weights once for the whole batch, and every cache."),
        ),
    )


def _time_formulas(shown: Times | None, num_kv_heads: int, seq_len: int) -> Sequence[Formula]:
    cost = gqa_costs.attention_cost(
        d_model=SIZE.d_model,
        num_heads=SIZE.num_heads,
        num_kv_heads=num_kv_heads,
        head_dim=SIZE.d_model // SIZE.num_heads,
        num_layers=SIZE.num_layers,
        seq_len=seq_len,
        batch=1,
        bytes_per_number=gqa_times.BYTES,
    )
    weight_bytes = cost.parameters * gqa_times.BYTES
    moved = rf"{_number(weight_bytes)} + {_number(cost.cache_bytes)}"
    speed = shown.found.bytes_per_second if shown else None
    return (
        Formula(
            r"t \ge \frac{W + C}{v}",
            rf"\frac{{{moved}}}{{v}}"
            if speed is None
            else rf"\frac{{{moved}}}{{{speed / 1e9:.2f} \cdot 10^9}}\,\mathrm{{s}}"
            rf" = {1000 * (weight_bytes + cost.cache_bytes) / speed:.2f}\,\mathrm{{ms}}",
            _(
                "The bound: the bytes W of the weights and C of the cache, of {layers} layers, come once from memory, "
                "v of them in a second."
            ).format(layers=SIZE.num_layers),
        ),
    )


def _conversion_formulas(shown: conversion_view.Shown) -> Sequence[Formula]:
    mean, merged = shown.error(shown.layer, Pooling.MEAN, shown.num_kv_heads), shown.converted.num_heads
    return (
        Formula(
            r"W_K'^{(j)} = \frac{1}{m} \sum_{h = jm}^{jm + m - 1} W_K^{(h)}, \qquad m = \frac{H}{H_\mathrm{KV}}",
            rf"m = \frac{{{merged}}}{{{shown.num_kv_heads}}} = {merged // shown.num_kv_heads}",
            _("Each new KV head is the mean of the m that it replaces; the same for W_V and the biases."),
        ),
        Formula(
            r"\frac{\lVert Y' - Y \rVert}{\lVert Y \rVert}",
            rf"{mean:.4f}",
            _(
                "The error: Y is the layer's output for this sentence, Y′ that of the converted layer; "
                "below it, with the mean."
            ),
        ),
    )


def _model_formulas(load: Load) -> Sequence[Formula]:
    found, sizes, memory = load.fit(DEEPSEEK_V2), DEEPSEEK_V2.sizes, gigabytes(MEMORY_BYTES)
    return (
        Formula(
            rf"\left\lfloor \frac{{{memory:.0f} \cdot 10^9 - W}}{{C}} \right\rfloor",
            rf"W = {_number(found.weight_bytes)}, \quad C = {_number(found.bytes_per_user)}",
            _(
                "Users in {memory:.0f} GB: W bytes of weights, C of cache for each; none if the weights do not fit. "
                "Below it, {name}."
            ).format(memory=memory, name=DEEPSEEK_V2.name),
        ),
        Formula(
            r"C_\mathrm{MLA} = (d_c + d_\mathrm{rope})\,L\,n\,b",
            rf"({sizes.kv_lora_rank} + {sizes.qk_rope_head_dim}) \cdot {DEEPSEEK_V2.num_layers} \cdot {load.seq_len}"
            rf" \cdot {BYTES[load.number]} = {_number(found.bytes_per_user)}",
            _("Latent attention keeps one compressed vector, and one key with the position, for all heads."),
        ),
    )


def _number(number: int) -> str:
    return f"{number:,}".replace(",", r"{,}")
