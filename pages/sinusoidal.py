"""Sinusoidal positions: waves that are added to the embeddings, and what attention sees without them."""

if __name__ == "__main__":  # a fresh server opened straight at this page: its frame comes before the imports below
    import streamlit_app

    streamlit_app.main()

from functools import partial

from pages.components import (
    sinusoidal_claims,
    sinusoidal_encoding,
    sinusoidal_fold,
    sinusoidal_order,
    sinusoidal_scene,
    sinusoidal_sentence,
    sinusoidal_shift,
    sinusoidal_waves,
)
from pages.components.controls import Panel
from pages.components.i18n import _
from pages.components.sinusoidal_scene import Waves
from pages.components.words import claim_cards, heading

VIEWS = {
    "encoding": sinusoidal_encoding.view,
    "waves": sinusoidal_waves.view,
    "shift": sinusoidal_shift.view,
}
PLAYED = {"encoding": "m", "waves": "m", "shift": "offset"}


def render() -> None:
    with Panel("sinusoidal") as panel:
        names = {
            "encoding": _("Encoding"),
            "waves": _("Wavelength and distance"),
            "shift": _("Shift"),
            "sentence": _("Sentence"),
        }
        view = panel.choice("view", _("View"), names, default="encoding")
        sentence = sinusoidal_order.controls(panel) if view == "sentence" else None

    heading(_("Sinusoidal positions"), _("How can a sum of waves tell a Transformer where each word stands?"), panel)
    if sentence is not None:
        sinusoidal_sentence.draw(panel, sentence)
        panel.finish(presets=_presets())
        return
    panel.follow(partial(sinusoidal_scene.choose, panel, view), partial(_picture, view))
    claim_cards(sinusoidal_claims.cards())
    panel.finish(presets=_presets(), play=PLAYED[view])


def _picture(view: str, waves: Waves) -> None:
    plots = VIEWS[view](waves)
    sinusoidal_fold.draw(waves, plots)


def _presets() -> dict[str, dict[str, object]]:
    return {
        _("One pair, one wave"): {"i": 8, "j": 9},
        _("512 dimensions"): {"length": 100, "d_model": 512, "m": 10, "n": 50, "i": 64, "j": 255},
        _("Order leaks in"): {"view": "sentence", "setting": "causal_two_layers"},
    }
