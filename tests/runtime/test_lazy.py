"""Imports that are done late: the string says what the type checker's import says, and only calls stand in its place."""

from __future__ import annotations

import ast
import shlex
from typing import TYPE_CHECKING

import pytest

from mcpc_runtime import lazy as module
from mcpc_runtime.lazy import lazy
from support.needs import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FILES = sorted((ROOT / "runtime/mcpc_runtime").rglob("*.py"))


def name_of(path: Path) -> str:
    return path.relative_to(ROOT / "runtime").as_posix()


def blocks(tree: ast.Module) -> Iterator[ast.If]:
    """Yield the places where a module has one thing for type checkers and another at run time."""
    for node in tree.body:
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            yield node


def imported(block: ast.If) -> dict[str, str]:
    """Return what a type checker sees imported: the targets by their names."""
    found = {}
    for node in block.body:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                found[alias.asname or alias.name] = f"{node.module}:{alias.name}"
        elif isinstance(node, ast.Import):
            found.update((alias.asname or alias.name, alias.name) for alias in node.names)
    return found


def late(tree: ast.Module) -> dict[str, tuple[str, str, dict[str, str]]]:
    """Return what is imported late, by its name: the string, the alias that is said, and the imports beside it."""
    found = {}
    for block in blocks(tree):
        for node in block.orelse:
            if isinstance(node, ast.Expr) and ast.unparse(node).startswith("bind_port("):
                continue  # a port takes the objects of its adapter at once
            assert isinstance(node, ast.Assign), ast.unparse(node)
            if ast.unparse(node) == SYSTEM_OF_PLATFORM:
                continue
            (target,), value = node.targets, node.value
            assert isinstance(target, ast.Name)
            assert isinstance(value, ast.Call)
            assert ast.unparse(value.func) == "lazy"
            words = [ast.literal_eval(of_posix(word)) for word in value.args]
            found[target.id] = words[0], words[1] if len(words) > 1 else "", imported(block)
    return found


SYSTEM_OF_PLATFORM = "system = __import__(SYSTEM, fromlist=['read'])"
"""How `platforms` imports the system's calls."""


def of_posix(word: ast.expr) -> ast.expr:
    """Return a string that names its adapter by `ADAPTER` as the one for POSIX systems, which type checkers see."""
    if not isinstance(word, ast.JoinedStr):
        return word
    adapter = "mcpc_runtime.platforms.posix"
    parts = [str(part.value) if isinstance(part, ast.Constant) else adapter for part in word.values]
    return ast.Constant("".join(parts))


def test_late_imports_are_found() -> None:
    assert sum(len(late(ast.parse(path.read_text()))) for path in FILES) > 100


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_string_names_what_the_type_checker_sees_imported(path: Path) -> None:
    tree = ast.parse(path.read_text())
    for name, (target, alias, beside) in late(tree).items():
        seen = beside.get(name, "")
        assert target in (seen, seen.replace(":", ".")), f"{name}: {target!r}, and a type checker sees {seen!r}"
        assert name == (alias or target.rpartition(":")[2].rpartition(".")[2]), f"{name} is imported by another name"


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_function_that_is_imported_late_is_only_called(path: Path) -> None:
    """Its stand-in is no class to catch, to compare with, or to be passed on."""
    tree = ast.parse(path.read_text())
    functions = {name for name, (target, _, _) in late(tree).items() if ":" in target}
    skipped = {id(node) for block in blocks(tree) for one in (*block.body, *block.orelse) for node in ast.walk(one)}
    annotations = {id(node) for one in ast.walk(tree) for node in annotated(one)}
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    wrong = [
        f"{node.id} in line {node.lineno}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Name)
        and node.id in functions
        and id(node) not in skipped | annotations | called
        and isinstance(node.ctx, ast.Load)
    ]
    assert wrong == []


def annotated(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what only type checkers evaluate below a node."""
    parts = [getattr(node, "annotation", None), getattr(node, "returns", None)]
    for part in parts:
        if isinstance(part, ast.AST):
            yield from ast.walk(part)


def test_the_first_call_puts_the_function_in_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    scope = {"lazy": lazy, "__name__": "scope"}
    exec('quote = lazy("shlex:quote")\nother = lazy("shlex:quote", "other")\nshlex = lazy("shlex")', scope)
    assert (scope["quote"]("a b"), scope["other"]("a"), scope["shlex"].quote("c d")) == ("'a b'", "a", "'c d'")
    assert scope["quote"] is scope["other"] is shlex.quote
    assert scope["shlex"] is shlex


def test_what_is_not_there_is_an_import_error_each_time() -> None:
    scope = {"lazy": lazy, "__name__": "scope"}
    exec('missing = lazy("mcpc_runtime.no_such_module:name")\nno = lazy("mcpc_runtime.no_such_module")', scope)
    for _ in range(2):
        with pytest.raises(ModuleNotFoundError):
            scope["missing"]()
        with pytest.raises(ModuleNotFoundError):
            assert scope["no"].anything


def test_rows_of_tables_are_imported_once() -> None:
    assert module.resolve("shlex:quote") is module.resolve("shlex:quote")
