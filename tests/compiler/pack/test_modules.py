"""Each module of the parts of a built file: what its functions return (`*.txt`)."""

import ast
import io
import json
import marshal
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from mcpc import __version__, pipeline
from mcpc.emit.bytecode import DocstringStripper, RuntimeStripper
from mcpc.model.ir import Layer, Package, ResolvedPackage, Server
from mcpc.model.ir.layer import LockRecord, PackageRequirement
from mcpc.options import Options
from mcpc.pack import archive, cache, carried, closure, manifest, packages, prologue, runtime, sbom
from mcpc.pack.carried import GATES, START_MODULES, runtime_edges
from mcpc.pack.closure import ADAPTERS, Edges, module_closure, read_edges
from mcpc.pack.runtime import without_commentary
from support.expressions import Display, check_expressions
from support.images import project, tool
from support.needs import ROOT
from support.projects import tree
from support.scale import scaled

GOLDEN = ROOT / "tests/golden/pack"
MODULES = {
    "archive": archive,
    "cache": cache,
    "carried": carried,
    "closure": closure,
    "manifest": manifest,
    "page": runtime,
    "program_bytecode": packages,
    "prologue": prologue,
    "recorded_options": manifest,
    "runtime": runtime,
    "sbom": sbom,
}
"""The module of each file of expressions."""
FILES = {
    ".extracted/a-cp311-cp311-linux_x86_64/a/m.so": b"code",
    "a/__init__.py": b"",
    "a/deep/more.py": b"1",
    "a-1+l.dist-info/METADATA": b"Requires-Dist: B_b>=1\nRequires-Dist: not a name!\nRequires-Dist: absent\n",
    "a-1+l.dist-info/sboms/r.json": b"{}",
    "alone.py": b"2",
    "strange": b"of no package",
}
TAGS = ("cp311-cp311-linux_x86_64", "py3-none-any")
A, B, C, D = (
    Package("a", "1+l", "Own licence", False, TAGS, ("a/", "a-1+l.dist-info/")),
    Package("b-b", "2", "MIT", True, TAGS[1:], ("alone.py",)),
    Package("c", "3", "", False, (), ("c/",)),
    Package("d", "4", "", True, (), ("d/",)),
)
LOCKED = tuple(ResolvedPackage("c", "3", f"c 3-{n}.whl", n * 64, ("d", "c", "z")) for n in "10")


def server(**options: object) -> Server:
    """A server with two tools, of which the first runs with these options, and two layers of packages."""
    checked = pipeline.analyse(tree(project([tool("one"), tool("two")])), (), Options()).checked
    first, second = checked.server.tools
    tools = (replace(first, running=replace(first.running, **options)), second)
    more = {"c/x.py": b"3", "alone.py": b"2"}
    asked = (PackageRequirement("b-b", None, frozenset({"b-b"})),)
    handlers = Layer((A, B), files=FILES, digests=digests(FILES), asked=asked)
    serving = Layer((C, D, B), files=more, digests=digests(more), lock=LockRecord("l", "f"), resolved=LOCKED)
    return replace(checked.server, tools=tools, layer=handlers, serving=serving)


def digests(files: dict[str, bytes]) -> dict[str, str]:
    return {path: archive.sha256_hex(data) for path, data in files.items()}


def shown(value: object) -> Display:
    text = json.dumps(value, indent=1)
    return Display(text.replace(f'"{__version__}"', '"VERSION"').replace(f"@{__version__}", "@VERSION"))


@pytest.mark.parametrize("name", MODULES)
def test_values(golden: Callable[[Path, str], None], name: str) -> None:
    names = {"io": io, "json": json, "marshal": marshal, "zipfile": zipfile, "Options": Options, "replace": replace}
    check_expressions(golden, GOLDEN / f"{name}.txt", archive, MODULES[name], **names, server=server, shown=shown, A=A)


def test_every_gate_and_every_module_of_the_start_exists() -> None:
    """A gate that names nothing would close nothing."""
    ours = {name for name in (*GATES, *START_MODULES) if name.startswith("mcpc_runtime")}
    assert ours <= set(runtime_edges())


def test_every_gate_is_needed() -> None:
    """Without its gate, each gated module is reached from the start of any server."""
    everything = module_closure(runtime_edges(), START_MODULES, {}, frozenset())
    assert set(GATES) <= everything


def test_what_a_module_refers_to_is_read_from_its_code() -> None:
    text = """
from __future__ import annotations
from mcpc_runtime.a import b, c
import mcpc_runtime.d
TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.seen import e
else:
    f = lazy("mcpc_runtime.g:f")
ROWS = {"one": "mcpc_runtime.h:i", "two": ("mcpc_runtime.j", ""), 3: "mcpc_runtime.k"}
def l(m: mcpc_runtime.n):
    "mcpc_runtime.o"
    from mcpc_runtime.p import q
    return "import sys; from mcpc_runtime.r import s", f"{ADAPTER}.t:u", f"{x}.mcpc_runtime.v"
"""
    edges = read_edges(ast.parse(text).body, text)
    assert edges.eager == (
        "__future__",
        "__future__.annotations",
        "mcpc_runtime.a",
        "mcpc_runtime.a.b",
        "mcpc_runtime.a.c",
        "mcpc_runtime.d",
    )
    assert edges.rows == {"one": ("mcpc_runtime.h",), "two": ("mcpc_runtime.j",)}
    adapters = tuple(f"{adapter}.t" for adapter in ADAPTERS)
    expected = ("g", "k", "p", "p.q", "r", "r.s", "v")
    assert set(edges.late) == {*(f"mcpc_runtime.{name}" for name in expected), *adapters}


def test_rows_of_a_table_and_closed_modules_depend_on_the_server() -> None:
    modules = {
        "mcpc_runtime": Edges((), (), {}),
        "mcpc_runtime.a": Edges(
            ("mcpc_runtime.b",), ("mcpc_runtime.late",), {"x": ("mcpc_runtime.x",), "y": ("mcpc_runtime.y",)}
        ),
        "mcpc_runtime.b": Edges((), (), {}),
        "mcpc_runtime.late": Edges(("mcpc_runtime.gate",), (), {}),
        "mcpc_runtime.gate": Edges((), (), {}),
        "mcpc_runtime.x": Edges((), (), {}),
        "mcpc_runtime.y": Edges((), (), {}),
    }
    start = ["mcpc_runtime.a"]
    assert module_closure(modules, start, {}, frozenset()) == set(modules)
    used = module_closure(modules, start, {"mcpc_runtime.a": ["y"]}, frozenset({"mcpc_runtime.gate"}))
    assert used == {"mcpc_runtime", "mcpc_runtime.a", "mcpc_runtime.b", "mcpc_runtime.y"}


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
