"""The claims of the translation page, each with what was measured just now."""

from collections.abc import Sequence

from core.claims import Verdict
from core.claims.translation import (
    ChainDifference,
    chain_differences,
    chain_verdict,
    compare_with_t5_small,
    search_verdict,
    t5_small_verdict,
    width_verdict,
)
from core.models import TranslationModel
from core.quality import Metric
from core.width_study import COMPARED
from pages.components import translation_quality, translator
from pages.components.i18n import _, joined
from pages.components.translation_scene import Scene
from pages.components.translator import Method
from pages.components.words import Claim

I_LOVE_YOU = "Je t'aime"
FOUR_BEAMS = Method(num_beams=4, early_stopping=True)
WONDERFUL = "The house is wonderful."


def cards(scene: Scene) -> Sequence[Claim]:
    return (_chain(scene.model), _structure(scene.model, scene.method), _search(scene), _width(scene))


def _chain(model: TranslationModel) -> Claim:
    statement = _("“Je t'aime” becomes <BOS> → I → love → you → <EOS>.")
    if model.name != translator.BUNDLED:
        return Claim(statement, Verdict.UNDECIDED, _("Choose the bundled model to test it."))
    trace = translator.trace(model, model.name, I_LOVE_YOU, Method(), ())
    differences = chain_differences(trace, padding_token=model.facts.pad_token, end_token=model.facts.end_token)
    names = {
        ChainDifference.BORROWED_START: _("it starts from {token}").format(token=trace.start_token),
        ChainDifference.WORD_MARKS: _("▁ marks where a word begins"),
        ChainDifference.SPLIT_WORDS: _("a word takes several steps"),
        ChainDifference.FULL_STOP: _("a full stop comes before the end"),
        ChainDifference.OTHER_WORDS: _("it says other words"),
        ChainDifference.NO_END: _("no end token comes"),
    }
    chain = " → ".join((trace.start_token, *trace.tokens))
    told = " · ".join(names[difference] for difference in differences)
    measured = _("{chain}. What differs: {told}.").format(chain=chain, told=told) if told else chain
    return Claim(statement, chain_verdict(differences), measured)


def _structure(model: TranslationModel, method: Method) -> Claim:
    statement = _("T5-small has 6 + 6 layers, d_model 512 and 8 heads; with 4 beams it says “Das Haus ist wunderbar.”")
    german = next((task.prefix for task in model.tasks if task.name == "en-de"), None)
    said = translator.translated(model, f"{german}{WONDERFUL}", FOUR_BEAMS, ()) if german is not None else None
    compared = compare_with_t5_small(
        model.facts,
        num_beams=FOUR_BEAMS.num_beams if said else method.num_beams,
        translation=said.text if said else None,
    )
    facts = model.facts
    measured = [
        _("Loaded now: {family}, {encoder} + {decoder} layers, d_model {d_model}, {heads} heads.").format(
            family=facts.family,
            encoder=facts.encoder_layers,
            decoder=facts.decoder_layers,
            d_model=facts.d_model,
            heads=facts.num_heads,
        )
    ]
    verdict = t5_small_verdict(model.name, compared)
    if said:
        measured.append(_("It says “{text}”.").format(text=said.text))
    if verdict is Verdict.UNDECIDED:
        measured.append(_("Choose T5-small to test it."))
    return Claim(statement, verdict, joined(measured))


def _search(scene: Scene) -> Claim:
    statement = _("Beam search finds a sentence at least as probable as greedy decoding does.")
    found = translation_quality.study(scene)
    if found is None:
        return Claim(statement, Verdict.UNDECIDED, _where_to_measure(scene))
    count = found.by_log_probability
    verdict = search_verdict(count)
    measured = _(
        "{beams} beams on {total} sentences: more probable {better}, the same {same}, less probable {worse}; by its "
        "own score, worse {lower}."
    ).format(
        beams=COMPARED,
        total=count.sentences,
        better=count.better,
        same=count.same,
        worse=len(count.worse),
        lower=len(found.by_score.worse),
    )
    return Claim(statement, verdict, measured, label=_("usually") if verdict is Verdict.ONLY_IF else None)


def _width(scene: Scene) -> Claim:
    statement = _("A wider beam translates better.")
    found = translation_quality.study(scene)
    if found is None:
        return Claim(statement, Verdict.UNDECIDED, _where_to_measure(scene))
    gain = found.gain[Metric.CHRF]
    measured = _(
        "{beams} beams against greedy: chrF {estimate:+.1f}, 95 % interval {low:+.1f} to {high:+.1f}; {count} "
        "sentences, length penalty {penalty:.1f}."
    ).format(
        beams=COMPARED,
        estimate=gain.estimate,
        low=gain.low,
        high=gain.high,
        count=gain.sentences,
        penalty=found.length_penalty,
    )
    return Claim(statement, width_verdict(gain), measured)


def _where_to_measure(scene: Scene) -> str:
    if scene.model.name != translator.BUNDLED:
        return _("Choose the bundled model to test it.")
    return _("Not measured yet: open the view “Quality”.")
