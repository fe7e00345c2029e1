"""The view of sharing: which query heads use which KV head, and what every number of KV heads costs."""

import functools
import html
from collections.abc import Mapping, Sequence
from functools import partial

import pyarrow as pa
import streamlit as st

from core.charts.bar_table import TableWords, bar_table, bar_table_data
from core.charts.shared_heads import SharedWords, shared_heads, shared_heads_data
from core.gqa_costs import BYTES, MEMORY_BYTES
from core.gqa_rows import CostRow, cost_rows, row_of, shares
from core.kv_heads import kv_head_of
from core.units import gigabytes
from pages.components.gqa_scene import Scene, of_model
from pages.components.gqa_words import amount, row_name, sharing
from pages.components.i18n import _
from pages.components.plot import Part, Plot, clicks, figure, part, picked
from pages.components.words import look_for

KEY = "gqa.sharing"
LEGIBLE = 700  # pixels


def view(scene: Scene) -> Sequence[Plot]:
    rows = cost_rows(scene.model, seq_len=scene.seq_len, batch=scene.batch, bytes_per_number=BYTES[scene.number])
    look_for(*_in_words(scene, rows), beside=_facts(scene))
    plot = figure(
        KEY,
        [
            [sharing_part(scene.model.num_heads, scene.model.num_kv_heads, rows_below=_row_names(scene, rows))],
            [_costs(scene, rows)],
        ],
        name=_("sharing and costs"),
        alt=_(
            "Circles for query heads, squares for KV heads, and a line from each query head to the KV head it uses; "
            "below, bars with what every number of KV heads costs, the chosen one outlined."
        ),
        on_select=partial(_clicked, scene, rows),
        least=LEGIBLE,
    )
    return (plot,)


def sharing_part(
    num_heads: int, num_kv_heads: int, *, share: float = 1.0, height: int = 82, rows_below: tuple[str, ...] = ()
) -> Part:
    """The drawing of who uses whom."""
    return part(
        "heads",
        shared_heads,
        _shared(num_heads, num_kv_heads),
        share=share,
        num_heads=num_heads,
        words=SharedWords(
            query_heads=_("query heads"),
            kv_heads=_("KV heads"),
            query_head=_("query head"),
            kv_head=_("KV head"),
            used_by=_("used by query heads"),
        ),
        title=_("Which query head uses which KV head"),
        height=height,
        rows_below=rows_below,
    )


@functools.lru_cache(maxsize=100)
def _shared(num_heads: int, num_kv_heads: int) -> Mapping[str, pa.Table]:
    return shared_heads_data(kv_head_of(num_heads, num_kv_heads))


def _row_names(scene: Scene, rows: Sequence[CostRow]) -> tuple[str, ...]:
    return tuple(row_name(scene.model.num_heads, row.num_kv_heads) for row in rows)


def _costs(scene: Scene, rows: Sequence[CostRow]) -> Part:
    counts = [row.num_kv_heads for row in rows]
    return part(
        "costs",
        bar_table,
        bar_table_data(
            [
                (
                    row.cost.parameters,
                    row.cost.cache_bytes,
                    row.cost.multiply_adds,
                    row.cost.bytes_moved,
                    row.fit.users,
                )
                for row in rows
            ],
            [
                (
                    amount(row.cost.parameters),
                    amount(row.cost.cache_bytes, "B"),
                    amount(row.cost.multiply_adds),
                    amount(row.cost.bytes_moved, "B"),
                    f"{row.fit.users:,}",
                )
                for row in rows
            ],
            marked_row=counts.index(scene.model.num_kv_heads),
            nonce=clicks(KEY),
        ),
        rows=_row_names(scene, rows),
        columns=(
            _("Parameters\nof attention"),
            _("KV cache\nof the batch"),
            _("Multiply-adds\nper decoded token"),
            _("Bytes moved\nper decoded token"),
            _("Users\nin {memory:.0f} GB").format(memory=gigabytes(MEMORY_BYTES)),
        ),
        words=TableWords(row_axis=_("KV heads"), row=_("KV heads"), column=_("cost"), value=_("exactly")),
        title=_("What each number of KV heads costs: click a row to choose it"),
    )


def _clicked(scene: Scene, rows: Sequence[CostRow]) -> None:
    """A row of the table: so many KV heads; latent attention has none."""
    row = picked(KEY, "costs_row", "row")
    count = None if row is None else rows[int(row)].num_kv_heads
    if count is not None:
        scene.panel.put({of_model("kv_heads", scene.key): str(count)})
        st.rerun()  # it is one of the controls that stand for themselves


def _facts(scene: Scene) -> str:
    """The model, what was changed of it, and where its numbers come from, in HTML."""
    model, published = scene.model, scene.published
    changes = [
        f"{name} {old} → {new}"
        for name, old, new in (
            (_("KV heads"), published.num_kv_heads, model.num_kv_heads),
            (_("layers"), published.num_layers, model.num_layers),
            ("head_dim", published.head_dim, model.head_dim),
        )
        if old != new
    ]
    told = [
        (
            published.name,
            _("{layers} layers, d_model {d_model:,}, {heads} query heads, {kv_heads} KV heads, head_dim {dim}").format(
                layers=published.num_layers,
                d_model=published.d_model,
                heads=published.num_heads,
                kv_heads=published.num_kv_heads,
                dim=published.head_dim,
            ),
        ),
        (_("Changed here"), ", ".join(changes) or _("nothing")),
        ("MLA", _("latent attention, in DeepSeek-V2's proportions: one short vector per token")),
    ]
    lines = [(name, html.escape(text)) for name, text in told]
    address = html.escape(published.source)
    short = address.removeprefix("https://").removesuffix("/blob/main/config.json")
    lines.append((_("Source"), f'<a href="{address}" target="_blank" style="color: inherit">{short}</a>'))
    rows = "".join(f"<tr><th>{html.escape(name)}</th><td>{markup}</td></tr>" for name, markup in lines)
    return f'<table class="atlas-facts">{rows}</table>'


def _in_words(scene: Scene, rows: Sequence[CostRow]) -> Sequence[str]:
    model = scene.model
    own, mha = row_of(rows, model.num_kv_heads), row_of(rows, model.num_heads)
    if model.num_kv_heads == model.num_heads:
        first = _("MHA: each of the {heads} query heads has a KV head of its own.").format(heads=model.num_heads)
        second = _("Choose fewer KV heads to see what is saved.")
    else:
        first = _("{sharing}: {heads} query heads share {kv_heads} KV heads.").format(
            sharing=sharing(model.num_heads, model.num_kv_heads), heads=model.num_heads, kv_heads=model.num_kv_heads
        )
        part_of = shares(own.cost, mha.cost)
        second = _(
            "Beside MHA that takes {cache:.0%} of the cache and {moved:.0%} of the bytes moved, but {parameters:.0%} "
            "of attention's parameters and {adds:.0%} of the multiply-adds."
        ).format(
            cache=part_of.cache,
            moved=part_of.bytes_moved,
            parameters=part_of.parameters,
            adds=part_of.multiply_adds,
        )
    weights, memory = amount(own.fit.weight_bytes, "B"), gigabytes(MEMORY_BYTES)
    if own.fit.weights_fit:
        third = _(
            "{users:,} users with {context:,} tokens each fit in {memory:.0f} GB beside {weights} of weights; as MHA "
            "{mha:,}. Only weights and caches are counted."
        ).format(users=own.fit.users, context=scene.seq_len, memory=memory, weights=weights, mha=mha.fit.users)
    else:
        third = _("Nobody fits in {memory:.0f} GB: the weights alone take {weights}.").format(
            memory=memory, weights=weights
        )
    too_long = _("{name} was published for at most {most:,} tokens.").format(name=model.name, most=model.max_context)
    return (first, second, third, too_long if scene.seq_len > model.max_context else "")
