"""Rank: which matrix of attention has which, and what of the story about it survives a measurement."""

if __name__ == "__main__":  # a fresh server opened straight at this page: its frame comes before the imports below
    import streamlit_app

    streamlit_app.main()

from functools import partial

from pages.components import rank_claims, rank_depth, rank_dims, rank_rebuild, rank_spectrum
from pages.components.controls import Panel
from pages.components.i18n import _
from pages.components.rank_scene import choose_heads, choose_sliders, nothing
from pages.components.words import claim_cards, heading

VIEWS = {"spectrum": rank_spectrum.draw, "dims": rank_dims.draw, "rebuild": rank_rebuild.draw}
PLAYED = {"spectrum": "head_dim", "dims": None, "rebuild": "k", "depth": "scale"}


def render() -> None:
    with Panel("rank") as panel:
        names = {
            "spectrum": _("Spectrum"),
            "dims": _("Against head_dim"),
            "rebuild": _("Reconstruction"),
            "depth": _("Depth"),
        }
        view = panel.choice("view", _("View"), names, default="spectrum")
        structure = None if view == "depth" else choose_heads(panel, view)

    heading(_("Rank"), _("Which matrix of attention has which rank, and what does softmax do to it?"), panel)
    played = PLAYED[view]
    if view == "depth":
        panel.follow(partial(rank_depth.choose, panel), rank_depth.draw)
    elif structure is None:
        nothing()
        played = None
    else:
        panel.follow(partial(choose_sliders, panel, structure), VIEWS[view])
        played = None if played == "head_dim" and structure.read else played
    claim_cards(rank_claims.cards(view))
    panel.finish(presets=_presets(), play=played)


def _presets() -> dict[str, dict[str, object]]:
    return {
        _("One feature"): {"head_dim": 1, "seq_len": 128},
        _("A causal mask"): {"mask": "causal", "head_dim": 1},
        _("A real layer"): {"source": "model", "layer": "3"},
        _("Large weights"): {"view": "depth", "scale": 3.0},
    }
