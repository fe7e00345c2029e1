"""The view of published models: their heads, what a token and a user take, and how many users fit."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from core.gqa_costs import BYTES, MEMORY_BYTES, Fit, NumberType, fit
from core.gqa_presets import DEEPSEEK_V2, MODELS, PublishedLatentModel, PublishedModel
from core.latent_attention import LatentSizes
from core.units import gigabytes, kilobytes
from pages.components.controls import Panel
from pages.components.gqa_scene import choose_context
from pages.components.gqa_words import amount
from pages.components.i18n import _
from pages.components.words import look_for

LISTED: Sequence[PublishedModel | PublishedLatentModel] = (*MODELS, DEEPSEEK_V2)
HEAD_DIM = 128  # to say how many KV heads a latent cache is worth


@dataclass(frozen=True, slots=True)
class Load:
    """What every model is to carry."""

    seq_len: int
    number: NumberType

    def fit(self, model: PublishedModel | PublishedLatentModel) -> Fit:
        return fit(
            parameters=model.parameters,
            bytes_per_user=self.cache_bytes(model, self.seq_len),
            bytes_per_number=BYTES[self.number],
        )

    def cache_bytes(self, model: PublishedModel | PublishedLatentModel, seq_len: int) -> int:
        return model.cache_bytes(seq_len=seq_len, batch=1, bytes_per_number=BYTES[self.number])


def choose(panel: Panel, number: NumberType) -> Load:
    return Load(choose_context(panel), number)


def view(load: Load) -> None:
    fits = [load.fit(model) for model in LISTED]
    look_for(*_in_words(load, fits))
    per_token = [kilobytes(load.cache_bytes(model, 1)) for model in LISTED]
    weights = [gigabytes(found.weight_bytes) for found in fits]
    users_fit = _("Users in {memory:.0f} GB").format(memory=gigabytes(MEMORY_BYTES))
    whole = st.column_config.NumberColumn(format="localized")
    table = pd.DataFrame(
        {
            _("Model"): [model.name for model in LISTED],
            _("Sharing"): [model.sharing.value for model in LISTED],
            _("Layers"): [model.num_layers for model in LISTED],
            _("Query heads"): [_sizes(model).num_heads for model in LISTED],
            _("KV heads"): [_only_with_kv_heads(model, "num_kv_heads") for model in LISTED],
            "head_dim": [_only_with_kv_heads(model, "head_dim") for model in LISTED],
            "d_model": [_sizes(model).d_model for model in LISTED],
            _("Most tokens"): [model.max_context for model in LISTED],
            _("Weights, GB"): weights,
            _("Cache per token, kB"): per_token,
            users_fit: [found.users for found in fits],
            _("Source"): [model.source for model in LISTED],
        }
    )
    st.dataframe(
        table,
        hide_index=True,
        height="content",
        row_height=30,
        column_config={
            _("KV heads"): st.column_config.TextColumn(alignment="right"),
            "head_dim": st.column_config.TextColumn(alignment="right"),
            "d_model": whole,
            _("Most tokens"): whole,
            users_fit: whole,
            _("Weights, GB"): st.column_config.NumberColumn(format="%.1f"),
            _("Cache per token, kB"): st.column_config.ProgressColumn(
                format="%.1f", min_value=0, max_value=max(per_token)
            ),
            _("Source"): st.column_config.LinkColumn(display_text=r"https://([^/]+)/"),
        },
    )
    st.download_button(
        _("This table as CSV"),
        lambda: table.to_csv(index=False),
        "gqa_models.csv",
        "text/csv",
        key="gqa.models.csv",
        on_click="ignore",
    )


def _only_with_kv_heads(model: PublishedModel | PublishedLatentModel, size: str) -> str:
    return str(getattr(model, size)) if isinstance(model, PublishedModel) else "–"


def _sizes(model: PublishedModel | PublishedLatentModel) -> PublishedModel | LatentSizes:
    return model if isinstance(model, PublishedModel) else model.sizes


def _in_words(load: Load, fits: Sequence[Fit]) -> Sequence[str]:
    by_users = max(zip(LISTED, fits, strict=True), key=lambda pair: pair[1].users)
    memory = gigabytes(MEMORY_BYTES)
    too_large = [model.name for model, found in zip(LISTED, fits, strict=True) if not found.weights_fit]
    return (
        _(
            "With {context:,} tokens each and numbers kept as {number}, {name} has room for the most users in "
            "{memory:.0f} GB: {users:,}. Only weights and caches are counted."
        ).format(
            context=load.seq_len,
            number=load.number.value,
            name=by_users[0].name,
            users=by_users[1].users,
            memory=memory,
        ),
        _("The weights alone exceed {memory:.0f} GB: {names}.").format(memory=memory, names=", ".join(too_large))
        if too_large
        else "",
        _(
            "{name} has latent attention (MLA): {numbers} numbers per token and layer, {bytes} in all, as much as "
            "{kv_heads:.2f} KV heads of {dim} would take; no KV heads are kept."
        ).format(
            name=DEEPSEEK_V2.name,
            numbers=DEEPSEEK_V2.sizes.cached_numbers,
            bytes=amount(load.cache_bytes(DEEPSEEK_V2, 1), "B"),
            kv_heads=DEEPSEEK_V2.sizes.equal_kv_heads(HEAD_DIM),
            dim=HEAD_DIM,
        ),
        _("Some models read fewer tokens than that: see “Most tokens”.")
        if any(model.max_context < load.seq_len for model in LISTED)
        else "",
    )
