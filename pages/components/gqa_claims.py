"""The claims of the GQA page, each with what was measured just now."""

from collections.abc import Iterable, Mapping, Sequence

import streamlit as st
import torch

from core.cached_decoding import CacheDifference, measure_cache
from core.claims import Verdict
from core.claims.gqa import (
    TOLD_D_MODEL,
    TOLD_HEADS,
    TOLD_PARAMETERS,
    cache_verdict,
    computing_saved,
    computing_verdict,
    count_parameters,
    free_verdict,
    mean_verdict,
    parameters_verdict,
    pooling_errors,
    shrink_verdict,
    speed_verdict,
    speedups,
)
from core.gqa_costs import attention_cost
from core.gqa_presets import MODELS, saving
from pages.components import gqa_measured
from pages.components.gqa_conversion import Converted
from pages.components.gqa_scene import BY_KEY, DEFAULT
from pages.components.i18n import _
from pages.components.words import Claim

CONTEXTS = (128, 2048, 8192, 131072)
COMPUTED = BY_KEY[DEFAULT]
CACHE_SEQ_LEN, CACHE_KV_HEADS = 64, 2


def of_sharing() -> Sequence[Claim]:
    return (_parameters(), _shrinks(), _computing())


def of_times() -> Sequence[Claim]:
    return (_cache(), _speed())


def of_conversion(converted: Converted) -> Sequence[Claim]:
    return (_free(converted), _mean(converted))


def of_models() -> Sequence[Claim]:
    return (_shrinks(),)


@st.cache_data(show_spinner=False)
def _counted(bias: bool) -> Mapping[int, int]:
    return count_parameters(bias=bias)


def _parameters() -> Claim:
    mha, gqa, mqa = TOLD_PARAMETERS.values()
    counted, with_biases = _counted(bias=False), _counted(bias=True)
    return Claim(
        _(
            "With d_model {d_model} and {heads} heads, attention has {mha:,} parameters as MHA, {gqa:,} with 2 KV "
            "heads, {mqa:,} as MQA."
        ).format(d_model=TOLD_D_MODEL, heads=TOLD_HEADS, mha=mha, gqa=gqa, mqa=mqa),
        parameters_verdict(counted),
        _("Built and counted: {counted}; with biases {with_biases}.").format(
            counted=_listed(counted.values()), with_biases=_listed(with_biases.values())
        ),
    )


def _listed(numbers: Iterable[int]) -> str:
    return " / ".join(f"{number:,}" for number in numbers)


def _shrinks() -> Claim:
    found = [saving(model) for model in MODELS]
    sharing = [one for one in found if one.cache > 0]
    weights, caches = [one.weights for one in sharing], [one.cache for one in sharing]
    return Claim(
        _("GQA makes a model much smaller."),
        shrink_verdict(found),
        _(
            "{count} published models that share KV heads, beside themselves as MHA: {low:.0%} to {high:.0%} of all "
            "weights saved, {least:.0%} to {most:.0%} of the cache."
        ).format(count=len(sharing), low=min(weights), high=max(weights), least=min(caches), most=max(caches)),
    )


def _computing() -> Claim:
    saved = {context: _saved(context) for context in CONTEXTS}
    verdict = computing_verdict(list(saved.values()))
    return Claim(
        _("GQA saves a lot of computing for every decoded token."),
        verdict,
        _("Multiply-adds of attention that {model} saves, by context: {shares}.").format(
            model=COMPUTED.name, shares=", ".join(f"{context:,}: {share:.0%}" for context, share in saved.items())
        ),
        label=_("only if the context is short") if verdict is Verdict.ONLY_IF else None,
    )


def _saved(context: int) -> float:
    mha, gqa = (
        attention_cost(
            d_model=COMPUTED.d_model,
            num_heads=COMPUTED.num_heads,
            num_kv_heads=num_kv_heads,
            head_dim=COMPUTED.head_dim,
            num_layers=COMPUTED.num_layers,
            seq_len=context,
            batch=1,
            bytes_per_number=1,
        )
        for num_kv_heads in (COMPUTED.num_heads, COMPUTED.num_kv_heads)
    )
    return computing_saved(mha, gqa)


@st.cache_resource(show_spinner=False)
def _differences() -> tuple[CacheDifference, ...]:
    return measure_cache(
        d_model=TOLD_D_MODEL,
        num_heads=TOLD_HEADS,
        num_kv_heads=CACHE_KV_HEADS,
        seq_len=CACHE_SEQ_LEN,
        generator=torch.Generator().manual_seed(0),
    )


def _cache() -> Claim:
    found = _differences()
    single, double = found
    return Claim(
        _("A KV cache is only a shortcut: it changes nothing in the result."),
        cache_verdict(found),
        _(
            "Largest difference over {count} tokens, in units of the largest output: {single:.1e} in float32, "
            "{double:.1e} in float64. One rounding: {single_eps:.1e} and {double_eps:.1e}."
        ).format(
            count=CACHE_SEQ_LEN,
            single=single.difference,
            double=double.difference,
            single_eps=single.rounding,
            double_eps=double.rounding,
        ),
    )


def _speed() -> Claim:
    statement = _("Fewer KV heads decode faster.")
    found = gqa_measured.measured().get(gqa_measured.SIZE)
    ratios = speedups(found.times, gqa_measured.SIZE.num_heads) if found else {}
    if not ratios:
        return Claim(statement, speed_verdict(None), _("Not measured yet: press “Measure”."))
    return Claim(
        statement,
        speed_verdict(ratios),
        _("1 KV head against {heads}, by context: {ratios} times as fast.").format(
            heads=gqa_measured.SIZE.num_heads,
            ratios=", ".join(f"{context:,}: {ratio:.1f}" for context, ratio in ratios.items()),
        ),
    )


def _pairs(converted: Converted, num_kv_heads: int) -> tuple[tuple[float, float], ...]:
    return pooling_errors(converted.layers, num_kv_heads=num_kv_heads)


def _free(converted: Converted) -> Claim:
    two, one = (_pairs(converted, count) for count in (2, 1))
    return Claim(
        _("The mean of its KV heads turns MHA into GQA without training."),
        free_verdict([*two, *one]),
        _("Off by, layer by layer: {two} with 2 KV heads, {one} with 1.").format(
            two=_percent([mean for mean, _first in two]), one=_percent([mean for mean, _first in one])
        ),
    )


def _mean(converted: Converted) -> Claim:
    pairs = [*_pairs(converted, 2), *_pairs(converted, 1)]
    better = [mean for mean, first in pairs if mean < first]
    return Claim(
        _("The mean of the KV heads is closer to the layer than the first of them."),
        mean_verdict(pairs),
        _("Closer in {better} of {total} cases: every layer, with 2 KV heads and with 1.").format(
            better=len(better), total=len(pairs)
        ),
    )


def _percent(shares: Sequence[float]) -> str:
    return ", ".join(f"{share:.0%}" for share in shares)
