"""Source without commentary compiles to what the source does, line by line."""

import ast

import pytest

from mcpc.emit.bytecode import DocstringStripper, RuntimeStripper
from mcpc.emit.commentary import without_commentary
from support.needs import ROOT
from support.scale import scaled

RUNTIME = sorted((ROOT / "runtime/mcpc_runtime").rglob("*.py"))[:: scaled(1, 4)]

CASES = {
    "a module's docstring before a future import": (
        '"""Doc."""\n\nfrom __future__ import annotations\n',
        "''\n\nfrom __future__ import annotations\n",
    ),
    "a function that is only a docstring": ('def f():\n    """One\n    two."""\n', "def f():\n    ''\n\n"),
    "texts and comments that are not commentary": ('a = "# no"\nb = f"{a}#"\nc = """\n# no\n"""\n', None),
    "comments of the first two lines": ("#!/usr/bin/env python3\n# coding: utf-8\na = 1\n", None),
    "a comment behind code": ("a = 1\nb = 2\nc = 3  # why\n", "a = 1\nb = 2\nc = 3\n"),
    "characters of several bytes": ('a = 1\nb = 2\nc = "ü→"  # ü\n', 'a = 1\nb = 2\nc = "ü→"\n'),
    "imports for type checkers": ("if TYPE_CHECKING:\n    import a\n\nb = 1\n", "''\n\n\nb = 1\n"),
    "imports for type checkers, and others": (
        "if TYPE_CHECKING:\n    import a\n    import b\nelse:\n    c = 1\n",
        "if TYPE_CHECKING:\n    ''\n\nelse:\n    c = 1\n",
    ),
    "a signature": (
        "def f(a: int, /, *b: str, c: list[int] = [], **d: object) -> dict[str, int]:\n    return {}\n",
        "def f(a, /, *b, c = [], **d):\n    return {}\n",
    ),
    "a signature of several lines": (
        "async def f(\n    a: tuple[\n        int, str\n    ],\n) -> None:\n    return\n",
        "async def f(\n    a,\n\n\n):\n    return\n",
    ),
    "annotations of values": ("a: int = 1\nclass B:\n    c: str\n", None),
}


@pytest.mark.parametrize("case", CASES)
def test_cases(case: str) -> None:
    source, expected = CASES[case]
    assert without_commentary(source.encode()).decode() == (source if expected is None else expected)


@pytest.mark.slow
def test_the_runtime_without_commentary_is_the_same_code_on_the_same_lines() -> None:
    for path in RUNTIME:
        source = path.read_bytes()
        brief = without_commentary(source)
        assert statements(brief) == statements(source), path
        assert without_commentary(brief) == brief, path


def statements(source: bytes) -> str:
    """Return the syntax tree of what runs of a source, with the line of each statement that does something."""
    tree = DocstringStripper().visit(RuntimeStripper().visit(ast.parse(source)))
    lines = [
        (node.lineno, type(node).__name__)
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and not isinstance(node, ast.Pass)
    ]
    return f"{len(source.splitlines())} {lines} {ast.dump(tree)}"
