"""Bring the translation catalogues up to date with the messages in the code: python tools/messages.py

Every folder of pages/locales is a language. A new message gets an empty entry, one that is gone is removed, nothing is
guessed; what is left to translate is printed. To add a language, make its folder, and name it in
pages/components/i18n.py.

The catalogues carry neither dates nor line numbers: a change in the code that changes no message changes no catalogue.
"""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).resolve().parent.parent
CATALOGUES = "pages/locales/*/LC_MESSAGES"
FILE = "messages.po"

ARGUMENTS = {"_": 1, "ngettext": 2}  # how many of a function's first arguments are the message


@dataclass(frozen=True, slots=True)
class Found:
    """A message in the code: its text, or its singular and plural."""

    texts: tuple[str, ...]
    path: str  # of the file, from the root, with slashes

    @property
    def id(self) -> str | tuple[str, str]:
        return self.texts[0] if len(self.texts) == 1 else (self.texts[0], self.texts[1])


class NotLiteralError(ValueError):
    """A message that is computed (a name, an f-string) can be in no catalogue."""


def sources(root: Path = ROOT) -> list[Path]:
    """All files whose messages are translated, in the order of the catalogues."""
    return [*sorted((root / "pages").rglob("*.py")), root / "streamlit_app.py"]


def messages_in(source: str, path: str) -> list[Found]:
    """The messages of one file, in the order of its syntax tree, which is nearly that of the text.

    Babel's own extractor reads tokens, and up to Python 3.11 an f-string is one token: the message in
    f"<b>{_('…')}</b>" would be overlooked.

    Raises: NotLiteralError if a message is not a literal.
    """
    return [
        Found(_texts(node, ARGUMENTS[node.func.id], path), path)
        for node in _nodes(ast.parse(source, path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ARGUMENTS
    ]


def _nodes(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _nodes(child)


def _texts(call: ast.Call, wanted: int, path: str) -> tuple[str, ...]:
    texts = tuple(a.value for a in call.args[:wanted] if isinstance(a, ast.Constant) and isinstance(a.value, str))
    if len(texts) < wanted:
        raise NotLiteralError(f"{path}:{call.lineno}: {ast.unparse(call)} must be given its message as a literal")
    return texts


def messages(root: Path = ROOT) -> list[Found]:
    """The messages of the whole app."""
    return [
        message
        for path in sources(root)
        for message in messages_in(path.read_text(encoding="utf-8"), path.relative_to(root).as_posix())
    ]


def language(path: Path) -> str:
    """The language of a catalogue: the name of the folder above LC_MESSAGES."""
    return path.parent.parent.name


def read(path: Path) -> Catalog:
    """The catalogue in this file, or an empty one."""
    if not path.exists():
        return Catalog(language(path))
    with path.open("rb") as file:
        return read_po(file, locale=language(path))


def updated(old: Catalog, found: Sequence[Found]) -> Catalog:
    """A catalogue of exactly the messages found, with the translations that the old one has for them."""
    new = Catalog(old.locale)
    for message in found:
        known = old.get(message.texts[0])
        kept = known if known is not None and known.id == message.id else None
        new.add(
            message.id,
            kept.string if kept else "",
            locations=[(message.path, 0)],
            flags=kept.flags if kept else (),
            user_comments=kept.user_comments if kept else (),
        )
    return new


def write(path: Path, catalog: Catalog) -> None:
    """Write a catalogue with no more of a header than gettext needs."""
    header = (
        'msgid ""\nmsgstr ""\n'
        f'"Language: {language(path)}\\n"\n'
        '"Content-Type: text/plain; charset=utf-8\\n"\n'
        f'"Plural-Forms: {catalog.plural_forms}\\n"\n\n'
    )
    with path.open("wb") as file:
        file.write(header.encode())
        write_po(file, catalog, width=0, omit_header=True, include_lineno=False)


def untranslated(catalog: Catalog) -> list[Message]:
    """Entries that are empty, wholly or in one of their plural forms, or marked as doubtful."""
    return [message for message in catalog if message.id and (message.fuzzy or not all(strings(message)))]


def strings(message: Message) -> tuple[str, ...]:
    """The translation of a message: one text, or one for each plural form."""
    return (message.string,) if isinstance(message.string, str) else tuple(message.string)


def main() -> None:
    found = messages()
    for folder in sorted(ROOT.glob(CATALOGUES)):
        catalog = updated(read(folder / FILE), found)
        write(folder / FILE, catalog)
        missing = untranslated(catalog)
        print(f"{language(folder / FILE)}: {len(catalog)} messages, {len(missing)} to translate")
        for message in missing:
            print(f"  {message.id}  ({message.locations[0][0]})")


if __name__ == "__main__":
    main()
