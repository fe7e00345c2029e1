"""Title, claims and remarks: all of it text, none of it HTML."""

import re

import pytest

from core.claims import Verdict
from tests.pages.apps import Start, html

HOSTILE = "<script>alert(1)</script> & \"quotes\" <b onclick='x'>"
ESCAPED = "&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;quotes&quot; &lt;b onclick=&#x27;x&#x27;&gt;"


def app(text: str = "", verdicts: tuple[str, ...] = ()) -> None:
    from core.claims import Verdict
    from pages.components.words import Claim, claim_cards, heading, look_for

    heading(text or "Masks", text or "Who may look at whom?")
    look_for(text or "The first token takes 0.91.", "", text or "So do the others.")
    claim_cards([Claim(text or f"It {v}.", Verdict(v), text or "0.5 of 1") for v in verdicts])


@pytest.mark.parametrize(
    ("verdict", "sign", "english", "chinese"),
    [
        (Verdict.HOLDS, "✓", "holds", "成立"),
        (Verdict.DOES_NOT_HOLD, "✕", "does not hold", "不成立"),
        (Verdict.ONLY_IF, "◐", "only if", "有条件成立"),
        (Verdict.UNDECIDED, "?", "not decided", "尚无定论"),
    ],
)
def test_a_verdict_is_a_sign_and_a_word(start: Start, verdict: Verdict, sign: str, english: str, chinese: str) -> None:
    for locale, word in (("en", english), ("zh-CN", chinese)):
        card = start(app, locale=locale, verdicts=(str(verdict),)).html[-1].value
        assert f"<b>{sign} {word}</b>" in card
        assert f'class="atlas-claim {verdict}"' in card  # frame.css colours it by this name
        assert f"<q>It {verdict}.</q>" in card
        assert "<span>0.5 of 1</span>" in card


def test_every_verdict_has_its_card_in_order(start: Start) -> None:
    cards = start(app, verdicts=tuple(Verdict)).html[-1].value
    assert re.findall(r'class="atlas-claim (\w+)"', cards) == [str(verdict) for verdict in Verdict]


def test_no_claims_make_no_card(start: Start) -> None:
    assert "atlas-claim " not in html(start(app))


def test_html_in_words_is_shown_as_it_was_written(start: Start) -> None:
    shown = html(start(app, text=HOSTILE, verdicts=("holds",)))
    assert shown.count(ESCAPED) == 6
    assert "<script" not in shown
    assert "onclick='" not in shown


def test_look_for_leaves_out_what_has_nothing_to_say(start: Start) -> None:
    remarks = start(app).html[1].value
    assert re.findall("<p>(.*?)</p>", remarks) == ["The first token takes 0.91.", "So do the others."]
    assert ">Look for<" in remarks
    assert ">观察要点<" in start(app, locale="zh-CN").html[1].value


def test_the_title_is_the_only_first_heading(start: Start) -> None:
    shown = html(start(app))
    assert shown.count("<h1>") == 1
    assert "<h1>Masks</h1><p>Who may look at whom?</p>" in shown
