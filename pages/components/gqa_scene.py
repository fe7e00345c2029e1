"""What the GQA page is about: a published model, perhaps of other sizes, and what it is to carry."""

import re
from dataclasses import dataclass, replace

from core.gqa_costs import NumberType
from core.gqa_presets import MODELS, PublishedModel
from core.kv_heads import check_heads, legal_kv_heads
from pages.components.controls import Panel
from pages.components.gqa_words import NUMBER_TYPES, row_name
from pages.components.i18n import _

BY_KEY = {model.name.lower().replace(" ", "-"): model for model in MODELS}
DEFAULT = "llama-3.1-8b"


@dataclass(frozen=True, slots=True)
class Scene:
    """All that a picture of sharing and its costs needs."""

    panel: Panel
    key: str  # of the published model
    model: PublishedModel  # with the sizes of the controls
    seq_len: int
    batch: int
    number: NumberType

    @property
    def published(self) -> PublishedModel:
        return BY_KEY[self.key]


@dataclass(frozen=True, slots=True)
class Subject:
    """What is looked at, whatever it is to carry."""

    key: str  # of the published model
    num_kv_heads: int
    number: NumberType


def choose_subject(panel: Panel) -> Subject:
    names = {key: f"{model.name} · {model.sharing}" for key, model in BY_KEY.items()}
    key = panel.choice("model", _("Published model"), names, default=DEFAULT)
    with panel.beside():
        num_kv_heads = _choose_kv_heads(panel, key)
        number = choose_number(panel)
    return Subject(key, num_kv_heads, number)


def choose_load(panel: Panel, subject: Subject) -> Scene:
    """The sliders, which change nothing but the picture. Those for sizes begin as each model was published."""
    key, published = subject.key, BY_KEY[subject.key]
    seq_len = choose_context(panel)
    batch = panel.slider("batch", _("Batch"), 1, 64, default=8, step=1)
    layers = panel.slider(of_model("layers", key), _("Layers"), 1, 128, default=published.num_layers, step=1)
    head_dim = panel.slider(of_model("head_dim", key), "head_dim", 16, 256, default=published.head_dim, step=16)
    model = replace(published, num_layers=layers, head_dim=head_dim, num_kv_heads=subject.num_kv_heads)
    return Scene(panel, key, model, seq_len, batch, subject.number)


def choose_context(panel: Panel) -> int:
    """In tokens; every step doubles it."""
    power = panel.slider("context", _("Context: 2ⁿ tokens"), 7, 17, default=13, step=1, format="2^%d")
    return 1 << power


def choose_number(panel: Panel) -> NumberType:
    kept = panel.choice("number", _("Numbers"), NUMBER_TYPES, default=NumberType.BFLOAT16.value, narrow=True)
    return NumberType(kept)


def _choose_kv_heads(panel: Panel, key: str) -> int:
    """Only what divides the query heads can be chosen."""
    model = BY_KEY[key]
    chosen = panel.choice(
        of_model("kv_heads", key),
        _("KV heads"),
        {str(count): row_name(model.num_heads, count) for count in legal_kv_heads(model.num_heads)},
        default=str(model.num_kv_heads),
        narrow=True,
        help=_("Only what divides the number of query heads. Of anything else the code says: {message}.").format(
            message=_refusal(model.num_heads)
        ),
    )
    return int(chosen)


def of_model(control: str, key: str) -> str:
    """The name of a control of a published model: of letters, digits and underscores, as names of controls are."""
    return f"{control}_{re.sub('[^a-z0-9]', '_', key)}"


def _refusal(num_heads: int) -> str:
    """What the code says to the first number that is not legal."""
    count = 0
    while True:
        count += 1
        try:
            check_heads(num_heads, count)
        except ValueError as error:
            return str(error)
