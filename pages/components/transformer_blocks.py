"""Blocks and shapes: the stacks as a diagram, from one pass; a block that is clicked says what it is."""

import functools
import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from core.anatomy import SUBLAYERS, Anatomy, Block, BlockTrace, Kind, Side, read_anatomy
from core.charts import stacks as diagram
from core.charts.bar_table import TableWords, bar_table, bar_table_data
from core.charts.stacks import Box, Column, StacksWords, Sublayer
from core.model_pass import pass_of_network, pass_through
from core.transformer import EncoderLayer, MultiHeadAttention, Residual, Transformer
from pages.components import frame, registry, transformer_claims, transformer_fold
from pages.components.below import draw_below
from pages.components.controls import Panel
from pages.components.fold import is_open
from pages.components.gqa_words import amount
from pages.components.i18n import _, ngettext
from pages.components.numbers import percent
from pages.components.plot import Part, clicks, figure, part
from pages.components.transformer_scene import Scene, Subject, choose_sizes, choose_subject, clicked
from pages.components.transformer_words import block_name, page_of, row_name, shape, side_name, what_it_does
from pages.components.words import Claim, look_for

KEY = "transformer.blocks"
DIAGRAM = 0.66  # of the width
ROW = 26  # pixels
LEGIBLE = 860
ARROW = ":material/arrow_forward:"
NAMES = "|".join([kind.value for kind in Kind])
PATTERN = rf"(encoder|decoder)\.({NAMES})(\.({NAMES}))?"
DEFAULT = "encoder.self_attention"
COUNTED = ("parameters", "multiply_adds")  # the columns of the table


@dataclass(frozen=True, slots=True, eq=False)
class Overview:
    """The blocks of all layers together, in the order in which they ran, and how they are drawn."""

    blocks: Mapping[Block, BlockTrace]
    rows: Mapping[Block, Mapping[str, int]]  # of the table: what each counts; all normalisations of a stack have one
    columns: tuple[Column, ...]  # of the diagram

    def share(self, name: str, block: Block) -> float:
        total = sum(counts[name] for counts in self.rows.values())
        return float(getattr(self.blocks[block], name) / total) if total else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    scene: Scene
    overview: Overview
    chosen: Block

    @property
    def blocks(self) -> Mapping[Block, BlockTrace]:
        return self.overview.blocks

    @property
    def names(self) -> tuple[Block, ...]:
        return tuple(self.blocks)

    @property
    def rows(self) -> tuple[Block, ...]:
        return tuple(self.overview.rows)


controls = choose_subject


def sliders(panel: Panel, subject: Subject | None) -> Shown | None:
    asked = panel.hidden("block", _("Block"), default=DEFAULT, pattern=PATTERN)
    scene = None if subject is None else choose_sizes(panel, subject)
    if scene is None:
        return None
    overview = _overview(scene.found.anatomy)
    chosen = next((block for block in overview.blocks if _written(block) == asked), None)
    fallback = next(block for block in overview.blocks if block.kind is Kind.SELF_ATTENTION)
    return Shown(scene, overview, chosen or fallback)


@functools.lru_cache(maxsize=100)
def _overview(anatomy: Anatomy) -> Overview:
    blocks = anatomy.in_general()
    rows: dict[Block, dict[str, int]] = {}
    for block, trace in blocks.items():
        row = rows.setdefault(_row_of(block), dict.fromkeys(COUNTED, 0))
        for name in COUNTED:
            row[name] += getattr(trace, name)
    order = sorted(rows, key=lambda row: (list(Side).index(row.side), list(Kind).index(row.kind)))
    return Overview(blocks, {row: rows[row] for row in order}, columns_of(anatomy, blocks))


def _written(block: Block) -> str:
    """As it stands in the address."""
    return ".".join(part.value for part in (block.side, block.kind, block.of) if part is not None)


def _row_of(block: Block) -> Block:
    return Block(block.side, Kind.NORM) if block.kind is Kind.NORM else block


def picture(panel: Panel, shown: Shown | None) -> None:
    if shown is None:
        nothing()
        return
    look_for(*_in_words(shown), beside=_facts(shown))

    def choose() -> None:
        number = clicked(KEY, "stacks_block", "n")
        row = clicked(KEY, "table_row", "row") if number is None else None
        if number is not None:
            panel.put({"block": _written(shown.names[int(number)])})
        elif row is not None:
            first = next(block for block in shown.blocks if _row_of(block) == shown.rows[int(row)])
            panel.put({"block": _written(first)})

    large = frame.type_size() == "projector"  # numbers beside the diagram would run into each other
    plot = figure(
        KEY,
        [[_diagram(shown)], [_table(shown)]] if large else [[_diagram(shown), _table(shown)]],
        name=_("blocks and shapes"),
        alt=_(
            "The stacks of a Transformer as boxes with arrows between them, each with its shape; beside it how many "
            "parameters and multiply-adds each block has."
        ),
        on_select=choose,
        least=LEGIBLE,
    )
    link = functools.partial(_link, panel, shown.chosen)
    draw_below(link, outside=not is_open("transformer_blocks"), says=shown.chosen)
    own = (pass_through, Transformer, EncoderLayer, Residual, MultiHeadAttention, read_anatomy)
    transformer_fold.of_blocks(shown.scene, plot, own if shown.scene.config else (pass_of_network, read_anatomy))


def nothing() -> None:
    st.info(_("There is no model to look into. Choose another one on the left."))


def cards(subject: Subject | None) -> Sequence[Claim]:
    return transformer_claims.mostly_attention(), transformer_claims.tying()


def played(subject: Subject | None) -> str | None:
    if subject is None:
        return None
    return "source" if subject.reads else "target"


# ------------------------------------------------------------------------------------------------------- the diagram


def columns_of(anatomy: Anatomy, blocks: Mapping[Block, BlockTrace]) -> tuple[Column, ...]:
    """What stands above what, from the order in which the blocks ran."""
    numbers = {block: number for number, block in enumerate(blocks)}

    def box(block: Block) -> Box:
        return Box(numbers[block], shape(blocks[block].leaving), thin=block.kind is Kind.NORM)

    def sublayer(block: Block) -> Sublayer:
        norm = Block(block.side, Kind.NORM, block.kind)
        pair = sorted((block, norm), key=numbers.__getitem__)
        return Sublayer(
            blocks=tuple(box(each) for each in pair),
            entering=shape(blocks[pair[0]].entering),
            sums=pair[0] is norm,  # what is normalised first is added afterwards, by itself
            reads_memory=block.kind is Kind.CROSS_ATTENTION,
        )

    sides = [side for side in Side if Block(side, Kind.EMBEDDING) in blocks]
    columns = []
    for side in sides:
        embedding, positions = Block(side, Kind.EMBEDDING), Block(side, Kind.POSITIONS)
        before = [block for block in (Block(side, Kind.NORM, Kind.EMBEDDING),) if block in blocks]
        layer = [sublayer(Block(side, kind)) for kind in SUBLAYERS if Block(side, kind) in blocks]
        last = side is sides[-1]
        after = [block for block in (Block(side, Kind.NORM),) if block in blocks]
        if last:
            after += [block for block in blocks if block.kind in (Kind.POOLER, Kind.OUTPUT)]
        has_positions = positions in blocks
        columns.append(
            Column(
                entering=shape(blocks[embedding].entering),
                embedding=box(embedding),
                positions=box(positions) if has_positions else None,
                added=has_positions and blocks[positions].leaving[-1] == blocks[embedding].leaving[-1],
                before=tuple(map(box, before)),
                layer=tuple(layer),
                after=tuple(map(box, after)),
                memory="" if last else layer[0].entering,
                num_layers=anatomy.num_layers(side),
            )
        )
    return tuple(columns)


def _diagram(shown: Shown) -> Part:
    shares = [shown.overview.share("multiply_adds", block) for block in shown.blocks]
    sides = [side for side in Side if Block(side, Kind.EMBEDDING) in shown.blocks]
    inputs = {Side.ENCODER: _("tokens to read"), Side.DECODER: _("tokens so far")}
    return part(
        "stacks",
        diagram.stacks,
        diagram.stacks_data(
            shown.overview.columns,
            shares,
            [percent(share) if share else "" for share in shares],
            [shape(trace.inside) for trace in shown.blocks.values()],
            chosen=shown.names.index(shown.chosen),
            nonce=clicks(KEY),
        ),
        share=1 if frame.type_size() == "projector" else DIAGRAM,
        names=tuple(block_name(block) for block in shown.blocks),
        words=StacksWords(
            titles=tuple(side_name(side) for side in sides),
            inputs=tuple(inputs[side] for side in sides),
            ends=tuple(_end(shown) if side is sides[-1] else "" for side in sides),
            block=_("block"),
            share=_("share of multiply-adds"),
            inside=_("inside"),
        ),
        title=_("Click a block. Colour and number: its share of the multiply-adds"),
    )


def _end(shown: Shown) -> str:
    kinds = {block.kind for block in shown.blocks}
    if Kind.OUTPUT in kinds:
        return _("a score for every token")
    return _("one vector for the text") if Kind.POOLER in kinds else _("a vector for every token")


def _table(shown: Shown) -> Part:
    counts = [[row[name] for name in COUNTED] for row in shown.overview.rows.values()]
    short = {Side.ENCODER: _("E"), Side.DECODER: _("D")}
    both = len({block.side for block in shown.rows if block.kind is not Kind.OUTPUT}) > 1
    return part(
        "table",
        bar_table,
        bar_table_data(
            counts,
            [[amount(number) for number in line] for line in counts],
            marked_row=shown.rows.index(_row_of(shown.chosen)),
            nonce=clicks(KEY),
        ),
        share=1 if frame.type_size() == "projector" else 1 - DIAGRAM,
        rows=tuple(
            f"{short[row.side]} · {row_name(row)}" if both and row.kind is not Kind.OUTPUT else row_name(row)
            for row in shown.rows
        ),
        columns=(_("Parameters"), _("Multiply-adds")),
        words=TableWords(row_axis="", row=_("block"), column=_("what"), value=_("value")),
        height=ROW * len(shown.rows),
    )


# ------------------------------------------------------------------------------------------------------------ in words


def _facts(shown: Shown) -> str:
    """What the chosen block is, as a table."""
    block, trace = shown.chosen, shown.blocks[shown.chosen]
    layers = shown.scene.found.anatomy.num_layers(block.side)
    repeated = block.kind in SUBLAYERS or block.of in SUBLAYERS
    where = [] if block.kind is Kind.OUTPUT else [side_name(block.side)]
    if repeated:
        where.append(ngettext("{count} layer", "{count} layers", layers).format(count=layers))
    lines = {
        _("Block"): " · ".join([block_name(block), *where]),
        _("What it does"): what_it_does(block),
        _("Shape"): f"{_unbroken(trace.entering)} → {_inside(trace, block)}{_unbroken(trace.leaving)}",
        _("Parameters"): _parameters(shown, trace, layers if repeated else 1),
        _("Multiply-adds"): f"{trace.multiply_adds:,} ({percent(shown.overview.share('multiply_adds', block))})",
    }
    rows = "".join(f"<tr><th>{html.escape(name)}</th><td>{html.escape(text)}</td></tr>" for name, text in lines.items())
    return f'<table class="atlas-facts">{rows}</table>'


def _inside(trace: BlockTrace, block: Block) -> str:
    """What is on the way: the weights of all heads, or the widened tokens."""
    if not trace.inside:
        return ""
    if block.kind is Kind.FEED_FORWARD:
        return f"{_unbroken(trace.inside)} → "
    return _("weights {shape}").format(shape=_unbroken(trace.inside)) + " → "


def _unbroken(sizes: tuple[int, ...]) -> str:
    """A shape that stays on one line."""
    return shape(sizes).replace(" ", "\u00a0")


def _parameters(shown: Shown, trace: BlockTrace, layers: int) -> str:
    if trace.shared and not trace.parameters:
        return _("{count:,}, shared with the embedding").format(count=trace.shared)
    counted = f"{trace.parameters:,} ({percent(shown.overview.share('parameters', shown.chosen))})"
    if layers == 1 or not trace.parameters:
        return counted
    return f"{layers} × {trace.parameters // layers:,} = {counted}"


def _in_words(shown: Shown) -> Sequence[str]:
    scene, anatomy = shown.scene, shown.scene.found.anatomy
    most = max(shown.blocks, key=lambda block: shown.overview.share("multiply_adds", block))
    return (
        _("{parameters} parameters and {multiply_adds} multiply-adds for a batch of {batch}.").format(
            parameters=f"{anatomy.parameters:,}", multiply_adds=amount(anatomy.multiply_adds), batch=scene.sizes.batch
        ),
        _("The largest share of the multiply-adds, {share}, goes to “{block}” ({side}).").format(
            share=percent(shown.overview.share("multiply_adds", most)), block=row_name(most), side=side_name(most.side)
        ),
        _("A real pass: numbers went through every layer, and hooks took down the shapes.")
        if scene.found.real
        else _("Too large to compute: only shapes went through, which gives the same counts."),
    )


def _link(panel: Panel, block: Block) -> None:
    """To the page that explains the block, or to the view of this one."""
    path = page_of(block)
    page = registry.page(path)
    if page is None:
        return
    label = _("More about “{block}”: {page}").format(block=block_name(block), page=page.title)
    if path != "transformer":
        depth = {"rank_view": "depth"} if path == "rank" else None  # where feed-forward blocks are
        st.page_link(page, label=label, icon=ARROW, query_params=depth)
    elif st.button(label, key=f"{KEY}.more", type="tertiary", icon=ARROW):
        panel.put({"view": "choices"})
        st.rerun()
