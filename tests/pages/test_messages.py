"""Everything that a person sees is translated, whole and exactly."""

import ast
import re
import string
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from babel.messages.catalog import Catalog, Message

from tests.pages.literals import bypassing
from tools import messages as tool

CATALOGUES = sorted(tool.ROOT.glob(f"{tool.CATALOGUES}/{tool.FILE}"))
SOURCES = tool.sources()
FULL_WIDTH = {"。": ".", "？": "?", "！": "!", "：": ":", "；": ";", "，": ",", "……": "…"}

HAN = "[\u3400-\u9fff]"
HALF_WIDTH_BESIDE_HAN = re.compile(rf"{HAN}[,.;:!?()]|[,;:!?()] ?{HAN}")
NO_SPACE_BETWEEN = re.compile(rf"{HAN}[A-Za-z0-9]|[A-Za-z0-9]{HAN}")


def name(path: Path) -> str:
    return tool.language(path) if path.suffix == ".po" else path.relative_to(tool.ROOT).as_posix()


@pytest.fixture(params=CATALOGUES, ids=name)
def path(request: pytest.FixtureRequest) -> Path:
    path: Path = request.param
    return path


@pytest.fixture
def catalogue(path: Path) -> Catalog:
    return tool.read(path)


def entries(catalogue: Catalog) -> list[Message]:
    return [message for message in catalogue if message.id]


def texts(message: Message) -> tuple[str, ...]:
    """What stands in the code: one text, or singular and plural."""
    return (message.id,) if isinstance(message.id, str) else tuple(message.id)


def pairs(catalogue: Catalog) -> list[tuple[str, str]]:
    """Each translated string beside its original; that of a plural form is the plural."""
    return [(texts(message)[-1], text) for message in entries(catalogue) for text in tool.strings(message) if text]


def fields(text: str) -> Counter[tuple[str, str | None, str | None]]:
    """How often each {name:format} stands in a text."""
    return Counter((field, spec, conversion) for _, field, spec, conversion in string.Formatter().parse(text) if field)


def ending(text: str) -> str:
    """The last punctuation mark, as it is in English."""
    for wide, narrow in FULL_WIDTH.items():
        if text.endswith(wide):
            return narrow
    return text[-1] if text[-1:] in set(FULL_WIDTH.values()) else ""


def test_there_is_a_catalogue() -> None:
    assert [tool.language(path) for path in CATALOGUES] == ["zh_CN"]


# ------------------------------------------------------------------------------------------------------ the catalogues


def test_nothing_is_missing_empty_or_guessed(catalogue: Catalog) -> None:
    """`python tools/messages.py` adds what is missing."""
    known = {message.id for message in entries(catalogue)}
    assert [message.id for message in tool.messages() if message.id not in known] == []
    assert [message.id for message in tool.untranslated(catalogue)] == []


def test_nothing_is_obsolete(catalogue: Catalog) -> None:
    assert {message.id for message in entries(catalogue)} - {message.id for message in tool.messages()} == set()
    assert list(catalogue.obsolete) == []


def test_the_file_is_as_the_tool_writes_it(path: Path, tmp_path: Path) -> None:
    written = tmp_path / path.parent.parent.name / "LC_MESSAGES" / path.name
    written.parent.mkdir(parents=True)
    tool.write(written, tool.updated(tool.read(path), tool.messages()))
    assert written.read_text(encoding="utf-8") == path.read_text(encoding="utf-8")


def test_placeholders_are_the_same(catalogue: Catalog) -> None:
    assert [pair for pair in pairs(catalogue) if fields(pair[0]) != fields(pair[1])] == []


def test_spaces_at_the_ends_are_the_same(catalogue: Catalog) -> None:
    for original, translated in pairs(catalogue):
        assert original == original.strip()  # nothing to trim in the code, so nothing in the catalogue
        assert translated == translated.strip()


def test_the_last_mark_is_the_same(catalogue: Catalog) -> None:
    assert [pair for pair in pairs(catalogue) if ending(pair[0]) != ending(pair[1])] == []


def test_code_and_markup_are_the_same(catalogue: Catalog) -> None:
    for original, translated in pairs(catalogue):
        for mark in (r"`[^`]+`", r"\*\*", r"</?\w+>", r"https?://\S+", r"\n"):
            assert re.findall(mark, original) == re.findall(mark, translated), original


def test_singular_and_plural_hold_the_same_fields() -> None:
    """But that the singular may do without the number: "one token"."""
    for message in tool.messages():
        if len(message.texts) == 2:
            singular, plural = (set(fields(text)) for text in message.texts)
            assert {field for field, *_ in plural - singular} <= {"count"}
            assert singular <= plural


@pytest.mark.parametrize("path", [path for path in CATALOGUES if tool.language(path) == "zh_CN"], ids=name)
def test_chinese_is_written_as_in_print(catalogue: Catalog) -> None:
    for original, translated in pairs(catalogue):
        assert re.search(HAN, translated), f"{original!r} is not translated"
        assert not HALF_WIDTH_BESIDE_HAN.search(translated), translated
        assert not NO_SPACE_BETWEEN.search(translated), translated


# ------------------------------------------------------------------------------------------------------------ the code


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_every_text_is_a_message(path: Path) -> None:
    assert bypassing(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_messages_are_called_by_their_own_names(path: Path) -> None:
    """`i18n._("…")` or an alias of _ would be overlooked by the tool."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in tool.ARGUMENTS:
            assert path.name == "i18n.py", f"line {node.lineno}: import {node.attr} itself"
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in tool.ARGUMENTS:
            assert id(node) in called, f"line {node.lineno}: {node.id} is passed on, not called"
        if isinstance(node, ast.ImportFrom | ast.Import):
            assert not [a for a in node.names if a.name in tool.ARGUMENTS and a.asname], f"line {node.lineno}: an alias"


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_format_fills_every_placeholder(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Call(func=ast.Name(id=function)) as message, attr="format"), keywords=given
            ) if function in tool.ARGUMENTS:
                originals = [ast.literal_eval(text) for text in message.args[: tool.ARGUMENTS[function]]]
                wanted = {field for text in originals for field, *_ in fields(text)}
                assert {keyword.arg for keyword in given} == wanted, f"line {node.lineno}"


# ------------------------------------------------------------------------------------------------ the checks themselves


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ('st.write(_("Hello"), "there")', ["there"]),
        ('st.info(f"{count} tokens")', ["{} tokens"]),
        ('st.info(f"{count} / {total}")', []),
        ('st.button(_("Go"), key="go", icon=":material/bolt:", type="tertiary", help="Quick")', ["Quick"]),
        ('left.metric(_("Rank"), "54 of 128")', ["54 of 128"]),
        ("st.html(f'<div class=\"atlas-title\"><h1>{html.escape(title)}</h1></div>')", []),
        ("st.html(f'<b>{html.escape(\"Title\")}</b>')", ["Title"]),
        ('st.html("<b>Title</b>")', ["<b>Title</b>"]),
        ('st.html(Path(__file__).parent / "frame.css")', []),
        ('tree_words = Words(key="key", value=_("weight"))', ["key"]),
        ('st.dataframe({"French": data, _("English"): ["I love you"]})', ["French", "I love you"]),
        ('st.latex(r"\\mathrm{softmax}(qk)")', []),
        ('panel.slider("query", "Query", 0, 8, default=4, step=1, format="%d")', ["Query"]),
        ('panel.choice("kind", _("Kind"), {"causal": "Causal", "2": "2"}, default="causal")', ["Causal"]),
        ('panel.finish(presets={"Look ahead": {"kind": "prefix"}}, play="query")', ["Look ahead"]),
        ('heading(_("Masks"), "Who?", panel)', ["Who?"]),
        ('look_for(_("x {a}").format(a="one"), "" if easy else "hard")', ["hard", "one"]),
        ('Claim(statement, verdict, f"{a:.2f} against {b:.2f}")', ["{} against {}"]),
        ('statement = "It holds"\nClaim(statement, verdict, measured)', ["It holds"]),
        ('draw("masks.weights", heatmap, data, alt="Heatmap", labels=tokens)', ["Heatmap"]),
        ('st.Page(render, title="Masks", url_path="masks")', ["Masks"]),
        ('st.text(" · ".join(["layer", f"{n}"]))', ["layer"]),
        ('def f():\n    """Two words."""\n    return f"<b>{n}</b> of them all"', ["<b>{}</b> of them all"]),
        ('SENTENCE = "Two words."\npresets = {_("Easy"): {"sentence": "Two words."}}', []),
        ('raise ValueError(f"length ({n}) must be positive")', []),
        ('Source("Attention Is All You Need", "Vaswani et al. 2017", address)', []),
        ('st.caption(f"d_model = {n}, BLEU {b}")', []),
    ],
)
def test_what_bypasses_gettext_is_found(code: str, found: list[str]) -> None:
    assert sorted({text for _, text in bypassing(code)}) == sorted(found)


@pytest.mark.parametrize(
    "call", ['_(f"{count} tokens")', "_(text)", '_("a" + "b")', '_("a".upper())', "_()", '_(b"a")']
)
def test_a_message_must_be_a_literal(call: str) -> None:
    with pytest.raises(tool.NotLiteralError, match=r"^pages/x\.py:2: .* must be given its message as a literal$"):
        tool.messages_in(f"\n{call}", "pages/x.py")


def test_messages_are_found_wherever_they_stand() -> None:
    source = """
        st.write(_("first"), f"<b>{_('in an f-string')}</b>")
        def render():
            return ngettext("{count} token", "{count} tokens", count).format(count=count) or _(
                "over "
                "two lines"
            )
    """
    found = tool.messages_in("if True:" + source, "pages/x.py")
    assert [message.id for message in found] == [
        "first",
        "in an f-string",
        ("{count} token", "{count} tokens"),
        "over two lines",
    ]


def test_updating_keeps_what_is_known_and_guesses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "zh_CN" / "LC_MESSAGES" / "messages.po"
    path.parent.mkdir(parents=True)

    def update(*ids: Any) -> list[tuple[Any, Any]]:
        found = [tool.Found((i,) if isinstance(i, str) else i, "pages/x.py") for i in ids]
        tool.write(path, tool.updated(tool.read(path), found))
        return [(message.id, message.string) for message in entries(tool.read(path))]

    assert update("one", ("{count} b", "{count} bs")) == [("one", ""), (("{count} b", "{count} bs"), ("",))]
    path.write_text(path.read_text(encoding="utf-8").replace('msgstr ""\n\n', 'msgstr "一"\n\n'), encoding="utf-8")
    before = path.read_text(encoding="utf-8")
    assert update("one", ("{count} b", "{count} bs"))[0] == ("one", "一")
    assert path.read_text(encoding="utf-8") == before
    assert update("zero", "ones", "one") == [("zero", ""), ("ones", ""), ("one", "一")]
    assert update("ones") == [("ones", "")]
    assert update("one", "ones") == [("one", ""), ("ones", "")]


def test_doubtful_entries_are_untranslated(tmp_path: Path) -> None:
    path = tmp_path / "zh_CN" / "LC_MESSAGES" / "messages.po"
    path.parent.mkdir(parents=True)
    path.write_text(
        '#, fuzzy\nmsgid "a"\nmsgstr "甲"\n\nmsgid "b"\nmsgstr "乙"\n\nmsgid "c"\nmsgstr ""\n', encoding="utf-8"
    )
    assert [message.id for message in tool.untranslated(tool.read(path))] == ["a", "c"]
    found = [tool.Found((text,), "pages/x.py") for text in "abc"]
    assert [message.id for message in tool.untranslated(tool.updated(tool.read(path), found))] == ["a", "c"]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("{a} of {b:.2f}", "{b:.2f} 中的 {a}", True),
        ("{a}", "{a} {a}", False),
        ("{a:.2f}", "{a}", False),
        ("{a!r}", "{a}", False),
        ("{{a}}", "没有", True),
    ],
)
def test_placeholders_are_compared_whole(one: str, other: str, same: bool) -> None:
    assert (fields(one) == fields(other)) is same


@pytest.mark.parametrize(
    ("text", "mark"),
    [("Yes.", "."), ("是。", "."), ("Loading…", "…"), ("加载……", "…"), ("who", ""), ("Why?", "?"), ("为何？", "?")],
)
def test_endings(text: str, mark: str) -> None:
    assert ending(text) == mark
