"""Which language a session speaks, and how a message is translated."""

from pathlib import Path

import pytest

from pages.components import i18n
from tests.pages.apps import Start, shown


def app(chosen: str | None = None) -> None:
    import streamlit as st

    from pages.components import i18n

    if chosen is not None:
        st.session_state[i18n.CHOICE] = chosen
    st.json(
        {
            "language": i18n.language(),
            "known": i18n._("holds"),
            "unknown": i18n._("a message that nobody translated: {x}"),
            "one": i18n.ngettext("{count} thing", "{count} things", 1),
            "two": i18n.ngettext("{count} thing", "{count} things", 2),
        }
    )


@pytest.mark.parametrize(
    ("locale", "language"),
    [
        ("zh-CN", "zh_CN"),
        ("zh", "zh_CN"),
        ("zh-Hans-SG", "zh_CN"),
        ("ZH-cn", "zh_CN"),
        ("en-GB", "en"),
        ("fr-FR", "en"),
        ("", "en"),
        (None, "en"),
    ],
)
def test_a_new_session_speaks_the_language_of_its_browser(start: Start, locale: str | None, language: str) -> None:
    assert shown(start(app, locale=locale))["language"] == language


@pytest.mark.parametrize(("chosen", "language"), [("en", "en"), ("zh_CN", "zh_CN"), ("tlh", "zh_CN"), ("", "zh_CN")])
def test_what_was_chosen_counts_more_if_we_speak_it(start: Start, chosen: str, language: str) -> None:
    assert shown(start(app, locale="zh-CN", chosen=chosen))["language"] == language


def test_messages(start: Start) -> None:
    english, chinese = shown(start(app)), shown(start(app, locale="zh-CN"))
    assert english["known"] == "holds"
    assert chinese["known"] == "成立"
    assert english["unknown"] == chinese["unknown"] == "a message that nobody translated: {x}"
    assert [english[number] for number in ("one", "two")] == ["{count} thing", "{count} things"]


def test_plural_forms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "zh_CN" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    (folder / "messages.po").write_text(
        'msgid ""\nmsgstr ""\n'
        '"Content-Type: text/plain; charset=utf-8\\n"\n"Plural-Forms: nplurals=1; plural=0;\\n"\n\n'
        'msgid "{count} token"\nmsgid_plural "{count} tokens"\nmsgstr[0] "{count} 个词元"\n\n'
        '#, fuzzy\nmsgid "a guess"\nmsgstr "猜的"\n',
        encoding="utf-8",
    )
    monkeypatch.setattr(i18n, "LOCALES", tmp_path)
    i18n._catalogue.cache_clear()
    try:
        catalogue = i18n._catalogue("zh_CN")
        for count in (0, 1, 2):
            assert catalogue.ngettext("{count} token", "{count} tokens", count) == "{count} 个词元"
        assert catalogue.gettext("a guess") == "a guess"
        assert i18n._catalogue("de").gettext("holds") == "holds"
    finally:
        i18n._catalogue.cache_clear()


def test_every_language_but_english_has_a_catalogue() -> None:
    assert {"en", *(folder.name for folder in i18n.LOCALES.iterdir())} == set(i18n.LANGUAGES)
