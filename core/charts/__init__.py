"""Arrays and labels become charts here, and nowhere else.

Each chart function gives a constant ``alt.Chart`` that reads named datasets; the function beside it, named ``…_data``,
turns arrays into these datasets. Build a chart once per tokens and style, and send only data: the picture then changes
in place.
"""

from core.charts.architecture import MapLabels, transformer_map
from core.charts.bars import (
    AttentionWords,
    CandidateWords,
    attention_bars,
    attention_bars_data,
    candidates,
    candidates_data,
)
from core.charts.export import to_png, to_svg
from core.charts.heatmaps import LIMIT, Panel, Words, heatmap, heatmap_data, panels, panels_data
from core.charts.theme import Style, style
from core.charts.trees import TreeWords, beam_tree, tree_data

__all__ = [
    "LIMIT",
    "AttentionWords",
    "CandidateWords",
    "MapLabels",
    "Panel",
    "Style",
    "TreeWords",
    "Words",
    "attention_bars",
    "attention_bars_data",
    "beam_tree",
    "candidates",
    "candidates_data",
    "heatmap",
    "heatmap_data",
    "panels",
    "panels_data",
    "style",
    "to_png",
    "to_svg",
    "transformer_map",
    "tree_data",
]
