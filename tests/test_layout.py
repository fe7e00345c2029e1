"""The shape of the project: who may know whom, thin pages, and what must never stand in the code."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from importlinter.cli import lint_imports

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted(path for path in (ROOT / "pages").glob("*.py") if path.name != "__init__.py")
CODE = sorted(path for folder in ("core", "pages", "tools") for path in (ROOT / folder).rglob("*.py"))
CODE.append(ROOT / "streamlit_app.py")

MOST_LINES = 120  # of a page, blank ones not counted

READS_PICKLES = {"pickle", "dill", "joblib", "marshal", "shelve"}
READS_PICKLES_AS = {("torch", "load"), ("pd", "read_pickle"), ("pandas", "read_pickle")}
FORBIDDEN_ARGUMENTS = {
    "use_container_width",  # deprecated: width=
    "trust_remote_code",  # a model's repository must not run code here
    "allow_pickle",
}

DEEP_LINK = '''"""

if __name__ == "__main__":  # a fresh server opened straight at this page: its frame comes before the imports below
    import streamlit_app

    streamlit_app.main()

'''

CALCULATING = {"abs", "divmod", "pow", "round", "sum"}
CALCULATORS = {"cmath", "decimal", "fractions", "math", "numpy", "operator", "pandas", "statistics"}
CALCULATIONS = (ast.Add, ast.Sub, ast.Mult, ast.MatMult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_imports_follow_the_contracts(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The contracts stand in pyproject.toml."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "path", list(sys.path))  # it puts the folder on the path
    assert lint_imports(no_cache=True, no_logo=True) == 0, capsys.readouterr().out


def test_the_first_page_waits_for_neither_torch_nor_transformers() -> None:
    """They take seconds, and are imported in the background."""
    program = (
        "import sys, streamlit_app, pages.home, pages.components.frame, pages.components.registry\n"
        "print({'torch', 'transformers', 'sklearn', 'vl_convert'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


# -------------------------------------------------------------------------------------------------------------- pages


def test_there_are_pages() -> None:
    assert {path.stem for path in PAGES} >= {"home", "translation"}


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_a_page_is_short(path: Path) -> None:
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    assert len(lines) <= MOST_LINES


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_a_page_renders_and_can_be_opened_first(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    _, docstring_ends, rest = source.partition(DEEP_LINK)
    assert docstring_ends
    assert rest.startswith(("import ", "from "))
    renders = [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef) and node.name == "render"]
    assert [ast.unparse(node.args) for node in renders] == [""]


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_a_page_does_nothing_when_it_is_imported(path: Path) -> None:
    """Only a docstring, the block that opens the app, imports, definitions and constants."""
    allowed = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)
    docstring, opens_the_app, *rest = ast.parse(path.read_text(encoding="utf-8")).body
    assert isinstance(docstring, ast.Expr)
    assert isinstance(opens_the_app, ast.If)
    for node in rest:
        explains = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        assert explains or isinstance(node, allowed), f"line {node.lineno}"


def calculations(source: str) -> list[str]:
    """The arithmetic in a module, as it is written there.

    That is: + - * / // % ** @, also with =, unless an operand is visibly a text (a literal, an f-string, a call of _),
    for then texts are joined or formatted; a minus before anything but a number; calls of sum, round and the like; and
    the modules that calculate. Comparisons, min, max, len and range count as choosing, not as calculating.
    """
    return [ast.unparse(node) for node in ast.walk(ast.parse(source)) if _calculates(node)]


def _calculates(node: ast.AST) -> bool:
    match node:
        case ast.BinOp(op=ast.operator() as operator, left=one, right=other):
            return isinstance(operator, CALCULATIONS) and not (_is_text(one) or _is_text(other))
        case ast.AugAssign(op=operator, value=value):
            return isinstance(operator, CALCULATIONS) and not _is_text(value)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return not isinstance(operand, ast.Constant)
        case ast.Call(func=ast.Name(id=function)):
            return function in CALCULATING
        case ast.Import(names=names):
            return any(alias.name.split(".")[0] in CALCULATORS for alias in names)
        case ast.ImportFrom(module=str(module)):
            return module.split(".")[0] in CALCULATORS
    return False


def _is_text(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=str()) | ast.JoinedStr() | ast.Call(func=ast.Name(id="_")):
            return True
        case ast.BinOp(left=one, right=other):
            return _is_text(one) or _is_text(other)
    return False


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_a_page_does_not_calculate(path: Path) -> None:
    """Mathematics belongs to core, where it is tested; a page passes values on."""
    assert calculations(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("n + 1", ["n + 1"]),
        ("weights.sum() / len(rows)", ["weights.sum() / len(rows)"]),
        ("q @ k.T", ["q @ k.T"]),
        ("total += share", ["total += share"]),
        ("-x", ["-x"]),
        ("-1.0", []),
        ("sum(row)", ["sum(row)"]),
        ("round(x, 2)", ["round(x, 2)"]),
        ("import numpy as np", ["import numpy as np"]),
        ("from math import sqrt", ["from math import sqrt"]),
        ("prefix + sentence", ["prefix + sentence"]),  # who knows what these are? f"{prefix}{sentence}" is a text
        ('text + "…"', []),
        ('"a" + b + c', []),
        ('_("Layer") + f" {n}"', []),
        ('"%d tokens" % n', []),
        ('folder / "page.py"', []),
        ("options | more", []),
        ("max(n, 1) if a < b else len(c)", []),
        ('f"{x:.2f}"', []),
    ],
)
def test_what_counts_as_a_calculation(code: str, found: list[str]) -> None:
    assert calculations(code) == found


# ---------------------------------------------------------------------------------------------------------- everywhere


def forbidden(source: str) -> list[str]:
    """What must stand in no code: whatever reads pickles, which can run any program, and some arguments."""
    return [ast.unparse(node) for node in ast.walk(ast.parse(source)) if _is_forbidden(node)]


def _is_forbidden(node: ast.AST) -> bool:
    match node:
        case ast.Import(names=names):
            return any(alias.name.split(".")[0] in READS_PICKLES for alias in names)
        case ast.ImportFrom(module=str(module), names=names):
            reading = any((module, alias.name) in READS_PICKLES_AS for alias in names)
            return reading or module.split(".")[0] in READS_PICKLES
        case ast.Attribute(value=ast.Name(id=module), attr=function):
            return (module, function) in READS_PICKLES_AS
        case ast.keyword(arg=str(argument), value=value):
            return argument in FORBIDDEN_ARGUMENTS and not (isinstance(value, ast.Constant) and value.value is False)
        case ast.Constant(value=str(text)):  # as in **{"trust_remote_code": True}
            return text in FORBIDDEN_ARGUMENTS
    return False


def tokenizer_changes(source: str) -> list[str]:
    """Calls of a tokenizer with truncation= or padding=: they change it for all threads that share it."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return [
        ast.unparse(call)
        for call in calls
        if "tokenizer" in ast.unparse(call.func) and any(k.arg in ("truncation", "padding") for k in call.keywords)
    ]


@pytest.mark.parametrize("path", [path for path in CODE if not name(path).startswith("tools/")], ids=name)
def test_shared_tokenizers_are_not_changed(path: Path) -> None:
    assert tokenizer_changes(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("tokenizer(text, truncation=True)", 1),
        ("model.tokenizer([text], padding=True).input_ids", 1),
        ("model.tokenizer.encode(text, truncation=cut)", 1),
        ("model.tokenizer(text).input_ids", 0),
        ("chart.properties(padding=8)", 0),
    ],
)
def test_what_changes_a_tokenizer(code: str, found: int) -> None:
    assert len(tokenizer_changes(code)) == found


@pytest.mark.parametrize("path", CODE, ids=name)
def test_nothing_forbidden_is_used(path: Path) -> None:
    assert forbidden(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "code",
    [
        "import pickle",
        "import torch, pickle as p",
        "from joblib import load",
        "from torch import load",
        "torch.load(path, weights_only=True)",
        "read = pd.read_pickle",
        "np.load(path, allow_pickle=True)",
        "load(name, trust_remote_code=True)",
        "load(name, trust_remote_code=trusted)",
        "load(name, **{'trust_remote_code': True})",
        "st.button(label, use_container_width=False or True)",
    ],
)
def test_what_is_forbidden_is_found(code: str) -> None:
    assert len(forbidden(code)) == 1


@pytest.mark.parametrize(
    "code", ["load(name, trust_remote_code=False)", "'never a pickle'", "safetensors.torch.load(b)"]
)
def test_what_only_sounds_like_it_is_allowed(code: str) -> None:
    assert forbidden(code) == []


def test_requirements_pin_torch() -> None:
    """Another torch may round differently; the equalities in the tests hold for this one."""
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").split("\n")
    assert "torch==2.13.0" in lines
    assert all(re.fullmatch(r"[a-z0-9_-]+(==|>=|~=)[\w.*]+(,<[\w.]+)?", line) for line in lines if line)
