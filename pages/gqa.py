"""Grouped-query attention: query heads share KV heads, and what that saves."""

if __name__ == "__main__":  # a fresh server opened straight at this page: its frame comes before the imports below
    import streamlit_app

    streamlit_app.main()

from functools import partial

from pages.components import gqa_claims, gqa_conversion, gqa_fold, gqa_measured, gqa_models, gqa_sharing
from pages.components.controls import Panel
from pages.components.gqa_scene import Scene, choose_load, choose_number, choose_subject, of_model
from pages.components.i18n import _
from pages.components.words import claim_cards, heading


def render() -> None:
    with Panel("gqa") as panel:
        names = {
            "sharing": _("Sharing and cost"),
            "measured": _("Measured here"),
            "conversion": _("From MHA to GQA"),
            "models": _("Models"),
        }
        view = panel.choice("view", _("View"), names, default="sharing")
        subject = choose_subject(panel) if view == "sharing" else None
        number = choose_number(panel) if view == "models" else None
        sentence = gqa_conversion.choose_sentence(panel) if view == "conversion" else None

    heading(_("Sharing KV heads: GQA"), _("What is saved when several query heads share their keys and values?"), panel)
    played = None
    if subject is not None:
        panel.follow(partial(choose_load, panel, subject), _sharing)
        claim_cards(gqa_claims.of_sharing())
        played = "context"
    elif view == "measured":
        _measured(panel)
    elif number is not None:
        panel.follow(partial(gqa_models.choose, panel, number), _models)
        claim_cards(gqa_claims.of_models())
        played = "context"
    elif sentence is not None and (converted := gqa_conversion.convert(sentence)) is not None:
        panel.follow(partial(gqa_conversion.choose, panel, converted), _conversion)
        claim_cards(gqa_claims.of_conversion(converted))
        played = "layer"
    panel.finish(presets=_presets(), play=played)


def _sharing(scene: Scene) -> None:
    gqa_fold.of_sharing(scene, gqa_sharing.view(scene))


def _measured(panel: Panel) -> None:
    found = gqa_measured.measured().get(gqa_measured.SIZE)
    if found is not None and found.times:
        panel.follow(partial(gqa_measured.choose, panel, found), _times)
    else:
        gqa_fold.of_times(None)
    gqa_measured.offer()
    claim_cards(gqa_claims.of_times())


def _times(shown: gqa_measured.Shown) -> None:
    gqa_fold.of_times(shown, gqa_measured.view(shown))


def _conversion(shown: gqa_conversion.Shown) -> None:
    gqa_fold.of_conversion(shown, gqa_conversion.view(shown))


def _models(load: gqa_models.Load) -> None:
    gqa_models.view(load)
    gqa_fold.of_models(load)


def _presets() -> dict[str, dict[str, object]]:
    return {
        _("A long context"): {"context": 17, "batch": 1},
        _("One KV head for 71"): {"model": "falcon-7b", of_model("kv_heads", "falcon-7b"): "1", "context": 11},
        _("Each its own"): {"model": "llama-2-7b", of_model("kv_heads", "llama-2-7b"): "32", "context": 12},
    }
