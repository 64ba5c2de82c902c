"""The imports of the runtime's modules as they are packed: eager, late, or left out."""

import ast
from pathlib import Path

import pytest

from mcpc.pack import late_imports
from mcpc.pack.carried import START_MODULES, runtime_modules, source_files
from mcpc.pack.late_imports import packed_modules
from mcpc_runtime.systems.fastmcp.standins import exports

HEAD = "from __future__ import annotations\n"


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MCPC_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def packed(text: str, **others: str) -> str:
    """Return a module as it is packed, without what stands at its beginning."""
    texts = {"mcpc_runtime.x": HEAD + text, **{f"mcpc_runtime.{name}": HEAD + other for name, other in others.items()}}
    made = packed_modules(texts, ["mcpc_runtime.x", "mcpc_runtime.started"])["mcpc_runtime.x"].text
    assert made.count("\n") == text.count("\n") + 1
    return made.removeprefix(HEAD[:-1]).removeprefix("; from mcpc_runtime.lazy import lazy").strip("\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from a import f\ndef g(): f()", 'f = lazy("a:f")\ndef g(): f()'),
        ("from a import f as h\ndef g(): h()", 'h = lazy("a:f", "h")\ndef g(): h()'),
        ("from a import f\ndef g(): return f.b", 'f = lazy("a:f")\ndef g(): return f.b'),
        ("import a\ndef g(): return a.b", 'a = lazy("a")\ndef g(): return a.b'),
        ("import a as c\ndef g(): return c.b", 'c = lazy("a", "c")\ndef g(): return c.b'),
        ("from mcpc_runtime import y\ndef g(): y.f()", 'y = lazy("mcpc_runtime.y")\ndef g(): y.f()'),
        ("from a import f\ndef g(): return lambda: f()", 'f = lazy("a:f")\ndef g(): return lambda: f()'),
        (
            "from mcpc_runtime.y import C\ndef g(x): return isinstance(x, (int, C))",
            'C = lazy("mcpc_runtime.y:C")\ndef g(x): return isinstance(x, (int, C))',
        ),
    ],
)
def test_what_functions_call_or_take_attributes_of_is_late(text: str, expected: str) -> None:
    assert packed(text, y="def f(): ...\nclass C: ...") == expected


@pytest.mark.parametrize(
    "text",
    [
        "from a import f\ng = f()",
        "from a import f\ndef g(): return f",
        "from a import f\ndef g(): return [f()], f",
        "from a import f\ndef g(x=f()): ...",
        "from a import f\n@f()\ndef g(): ...",
        "from a import f\nclass G(f): ...",
        "from a import f\nclass G:\n    x = f()",
        "from a import E\ndef g():\n    try: ...\n    except E: ...",
        "from a import E\ndef g(x): return isinstance(x, E)",
        "from mcpc_runtime.y import D\ndef g(x): return isinstance(x, D)",
        "from mcpc_runtime.y import C\ndef g(x): return isinstance(x, C | int)",
        "from a import f, B\nprint(B)\ndef g(): f()",
        "from a import F\ndef g(): F.b = 1",
        "from a import F\ndef g():\n    del F.b",
        "from mcpc_runtime.started import f\ndef g(): f()",
        "from time import time\ndef g(): time()",
        "import a.b\ndef g(): a.b.c()",
        "from typing import ClassVar\nclass G:\n    x: ClassVar[int] = 1",
        "from a import f\n__all__ = ['f']\ndef g(): f()",
    ],
)
def test_what_is_used_otherwise_is_imported_at_once(text: str) -> None:
    assert packed(text, started="def f(): ...", y="class C: ...\nD = (C,)") == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from a import T\ndef g(x: T) -> T:\n    y: T = x", "def g(x: T) -> T:\n    y: T = x"),
        ("from a import T, f\nx: T = f", "from a import f\nx: T = f"),
        ("from a import T\nAlias = dict[str, T]\ndef g(x: Alias): ...", "def g(x: Alias): ..."),
        ("from a import T\nA = dict[str, T]\nB = A\ndef g(x: B): ...", "def g(x: B): ..."),
        ("from a import T\nAlias = T | None\ndef g(x: Alias): ...", "def g(x: Alias): ..."),
        ("from a import TypeVar\nV = TypeVar('V')\ndef g(x: V): ...", "def g(x: V): ..."),
        ("from a import Protocol\nclass P(Protocol):\n    x: int\ndef g(x: P): ...", "def g(x: P): ..."),
        ("from a import TypedDict\nclass P(TypedDict): ...\nclass Q(P): ...\ndef g(x: Q): ...", "def g(x: Q): ..."),
    ],
)
def test_what_only_annotations_use_is_left_out(text: str, expected: str) -> None:
    assert [line for line in packed(text).split("\n") if line] == expected.split("\n")


@pytest.mark.parametrize(
    "text",
    [
        "from a import T\nAlias = dict[str, T]\nprint(Alias)",
        "A = int\nB = A\ndef g(x: B): ...",
        "FLAGS = 1 | 2\ndef g(): return FLAGS",
        "from a import Protocol\nclass P(Protocol): ...\nclass G(P, int): ...\nprint(G)",
        "from a import Protocol, checkable\n@checkable\nclass P(Protocol): ...",
    ],
)
def test_what_looks_like_a_type_and_is_used_stays(text: str) -> None:
    assert packed(text) == text


@pytest.mark.parametrize(
    "use",
    [
        "from mcpc_runtime.x import f\nprint(f)",
        "def g():\n    from mcpc_runtime.x import f",
        "from mcpc_runtime import x\ndef g(): x.f()",
        "TABLE = {'a': 'mcpc_runtime.x:f'}",
    ],
)
def test_what_others_take_from_a_module_is_imported_there_at_once(use: str) -> None:
    text = "from a import f\ndef g(): f()"
    assert packed(text, user=use) == text


def test_what_is_imported_anyway_is_not_late() -> None:
    text = "from mcpc_runtime.y import Base\nfrom mcpc_runtime.z import f\nclass A(Base): ...\ndef g(): f()"
    between = "from mcpc_runtime.z import f\nclass Base: ...\nprint(f)"
    assert packed(text, y=between, z="def f(): ...") == text


def test_a_statement_on_several_lines_leaves_its_lines() -> None:
    made = packed("from a import (\n    T,\n    f,\n    h as i,\n)\nx: T = 1\ndef g(): f(), i()")
    assert made == 'f = lazy("a:f"); i = lazy("a:h", "i")\n\n\n\n\nx: T = 1\ndef g(): f(), i()'
    assert packed("from a import (\n    T,\n    f,\n)\nprint(f)") == "from a import f\n\n\n\nprint(f)"


def test_a_second_reading_takes_what_the_first_has_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    first = packed("from a import f\ndef g(): f()")
    monkeypatch.setattr(late_imports, "RuntimeModule", None)
    assert packed("from a import f\ndef g(): f()") == first
    with pytest.raises(TypeError):
        packed("from a import f\ndef g(): f(1)")


def test_the_whole_runtime_compiles_and_its_start_is_eager() -> None:
    texts = {name: module.text for name, module in runtime_modules().items()}
    for name, text in texts.items():
        compile(text, name, "exec")
    for name in START_MODULES:
        assert not [other for other in START_MODULES if f'lazy("{other}:' in texts.get(name, "")]
        assert "\nfrom typing" not in texts.get(name, "")
    assert not [name for name, text in texts.items() if ".supervision" in name and "= lazy(" in text]
    assert sum(text.count("= lazy(") for text in texts.values()) > 500


def test_no_module_says_itself_what_is_late() -> None:
    written = [name for name, data in source_files().items() if b"import lazy\n" in data or b"lazy(f" in data]
    assert written == []


def test_no_name_that_a_stand_in_exports_is_late() -> None:
    """A project would get the object that stands for it."""
    texts = {name: module.text for name, module in runtime_modules().items()}
    for package, table in exports.TABLES.items():
        for row in table.values():
            for name, (part, inner) in exports.names_of(row).items():
                place = exports.module_of(package, part)
                late = {
                    target.id
                    for node in ast.parse(texts.get(place, "")).body
                    if isinstance(node, ast.Assign) and "lazy(" in ast.unparse(node.value)
                    for target in node.targets
                    if isinstance(target, ast.Name)
                }
                assert inner not in late, (package, name)
