"""Queries, keys and values: a soft look-up, a sentence on its way through a head, and why there are three matrices."""

if __name__ == "__main__":  # a fresh server opened straight at this page: its frame comes before the imports below
    import streamlit_app

    streamlit_app.main()

from pages.components import qkv_library, qkv_matrices, qkv_sentence, qkv_shelves
from pages.components.controls import Panel
from pages.components.i18n import _
from pages.components.words import heading

VIEWS = {"library": qkv_library, "sentence": qkv_sentence, "matrices": qkv_matrices}


def render() -> None:
    with Panel("qkv") as panel:
        names = {"library": _("Library"), "sentence": _("Sentence"), "matrices": _("Matrices")}
        view = panel.choice("view", _("View"), names, default="library")
        settings = VIEWS[view].controls(panel)

    heading(
        _("Queries, keys and values"),
        _("How does a token ask, what does it find, and why does that take three matrices?"),
        panel,
    )
    play = VIEWS[view].view(panel, settings)
    panel.finish(presets=_presets(view), play=play)


def _presets(view: str) -> dict[str, dict[str, object]]:
    if view == "library":
        points = {"restaurant": _("Why Q ≠ K"), "cat": _("Why V ≠ K"), "sat": _("Raw relevances")}
        settings = {name: {"shelf": name, **qkv_shelves.queries(name)} for name in points}
        return {
            label: {**settings[name], "weights": "raw" if name == "sat" else "softmax"}
            for name, label in points.items()
        }
    if view == "sentence":
        return {
            _("Saturated"): {"view": view, "head_dim": 32, "d_model": 32, "scaled": False},
            _("A real head"): {"view": view, "projections": "model", "layer": 3, "head": 2},
            _("No projection"): {"view": view, "projections": "identity", "d_model": 8, "head_dim": 8},
        }
    return {
        _("Shared Q = K"): {"view": view, "sharing": "query_is_key"},
        _("192 out of reach"): {"view": view, "wide_d_model": 128, "wide_head_dim": 64},
        _("Money"): {"view": view, "angle": 90},
    }
