"""The claims of the translation page, each with what was measured just now."""

from collections.abc import Sequence

from core.claims import Verdict
from core.claims.translation import (
    ChainDifference,
    Fact,
    chain_differences,
    chain_verdict,
    compare_with_t5_small,
    search_verdict,
    t5_small_verdict,
    width_verdict,
)
from core.models import TranslationModel
from core.quality import Metric
from pages.components import translation_quality, translator
from pages.components.i18n import _
from pages.components.translator import Method
from pages.components.words import Claim

I_LOVE_YOU = "Je t'aime"
WONDERFUL = "The house is wonderful."


def cards(model: TranslationModel, method: Method) -> Sequence[Claim]:
    return (_chain(model), _structure(model, method), _search(model, method), _width(model, method))


def _chain(model: TranslationModel) -> Claim:
    statement = _("“Je t'aime” becomes <BOS> → I → love → you → <EOS>.")
    if model.tasks:
        return Claim(statement, Verdict.UNDECIDED, _("This model does not read French: choose the bundled one."))
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
    told = "; ".join(names[difference] for difference in differences)
    return Claim(statement, chain_verdict(differences), f"{chain} ({told})" if told else chain)


def _structure(model: TranslationModel, method: Method) -> Claim:
    statement = _("T5-small has 6 + 6 layers, d_model 512 and 8 heads; with 4 beams it says “Das Haus ist wunderbar.”")
    german = next((task.prefix for task in model.tasks if task.name == "en-de"), None)
    beams = Method(num_beams=4, early_stopping=True)
    translation = (
        translator.trace(model, model.name, german + WONDERFUL, beams, ()).text if german is not None else None
    )
    compared = compare_with_t5_small(model.facts, num_beams=4 if german else method.num_beams, translation=translation)
    facts = model.facts
    read = _("Loaded now: {family}, {encoder} + {decoder} layers, d_model {d_model}, {heads} heads.").format(
        family=facts.family,
        encoder=facts.encoder_layers,
        decoder=facts.decoder_layers,
        d_model=facts.d_model,
        heads=facts.num_heads,
    )
    said = next((str(c.measured) for c in compared if c.fact is Fact.TRANSLATION), None)
    verdict = t5_small_verdict(model.name, compared)
    hint = _("Choose T5-small to test it.") if verdict is Verdict.UNDECIDED else ""
    return Claim(statement, verdict, " ".join(part for part in (read, f"“{said}”" if said else "", hint) if part))


def _search(model: TranslationModel, method: Method) -> Claim:
    statement = _("Beam search finds a sentence at least as probable as greedy decoding does.")
    found = translation_quality.study(model, method)
    count = found.by_log_probability if found else None
    measured = (
        _("4 beams on {total} sentences: more probable {better}, the same {same}, less probable {worse}.").format(
            total=count.sentences, better=count.better, same=count.same, worse=len(count.worse)
        )
        if count
        else _("Not measured yet: open the view “Quality”.")
    )
    return Claim(statement, search_verdict(count), measured)


def _width(model: TranslationModel, method: Method) -> Claim:
    statement = _("A wider beam translates better.")
    found = translation_quality.study(model, method)
    gain = found.gain[Metric.CHRF] if found else None
    measured = (
        _(
            "4 beams against greedy: chrF {estimate:+.1f}, 95 % interval {low:+.1f} to {high:+.1f}; {count} sentences."
        ).format(estimate=gain.estimate, low=gain.low, high=gain.high, count=gain.sentences)
        if gain
        else _("Not measured yet: open the view “Quality”.")
    )
    return Claim(statement, width_verdict(gain), measured)
