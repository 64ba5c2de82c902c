"""Stored bytecode of the runtime is that of a build that stores none, and what is damaged or changed is compiled again."""

import marshal
from pathlib import Path

import pytest

import mcpc_runtime
from mcpc.emit import bytecode
from mcpc.emit.interpreters import (
    HERE,
    KIND,
    LEAST_AT_ONCE,
    BytecodeCache,
    MissingPythonError,
    compile_at_once,
    compile_for,
    interpreter,
)
from mcpc.emit.templates import template_text
from support.needs import ROOT

FOLDERS = ("protocol", "transports", "handlers")
SOURCES = {
    path.relative_to(ROOT / "runtime").as_posix(): path.read_bytes()
    for folder in FOLDERS
    for path in sorted((ROOT / "runtime/mcpc_runtime" / folder).rglob("*.py"))
}
LASTING = [(source, f"server.pyz/{name}", True) for name, source in SOURCES.items()]
MODULES = [(b"def f():\n    return 1\n", "server.pyz/handlers/f.py", False), *LASTING]
MODULES.append((template_text("start.py"), "server.pyz/__start__.py", True))
BUNDLE = [("a", True, 1), ("b", False, 7)]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MCPC_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / KIND


@pytest.mark.parametrize("minor", ["3.11", "3.12", "3.13", "3.14"])
def test_stored_bytecode_is_that_of_a_build_that_stores_none(minor: str, folder: Path) -> None:
    try:
        interpreter(minor)
    except MissingPythonError as problem:
        pytest.skip(str(problem))
    plain = compile_for(minor, MODULES, BUNDLE, len(MODULES) - 1)
    assert not folder.exists()
    assert compile_for(minor, MODULES, BUNDLE, len(MODULES) - 1, frozenset(LASTING[3:])) == plain
    stored = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert len(stored) == 1
    for lasting in (LASTING[3:], LASTING):
        assert compile_for(minor, MODULES, BUNDLE, len(MODULES) - 1, frozenset(lasting)) == plain
    assert {path.name for path in folder.iterdir()} == stored.keys()


def test_sources_begin_as_the_runtime_expects() -> None:
    assert bytecode.SOURCE == mcpc_runtime.SOURCE


def test_what_is_stored_is_not_compiled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = compile_for(HERE, LASTING, lasting=frozenset(LASTING))
    monkeypatch.setattr(bytecode, "code_of", None)
    assert compile_for(HERE, LASTING, lasting=frozenset(LASTING)) == plain
    with pytest.raises(TypeError):
        compile_for(HERE, MODULES, lasting=frozenset(LASTING))


def test_the_code_of_a_changed_module_is_replaced() -> None:
    source, name, strip = LASTING[0]
    changed = (source + b"\nadded = 1\n", name, strip)
    cache = BytecodeCache("a")
    cache.add(dict.fromkeys(LASTING, b"old"))
    assert BytecodeCache("a").stored_code([changed]) == {}
    cache.add({changed: b"new"})
    assert BytecodeCache("a").stored_code([changed, *LASTING[:2]]) == {changed: b"new", LASTING[1]: b"old"}
    assert BytecodeCache("b").stored_code([changed]) == {}, "of another interpreter"


@pytest.mark.parametrize("count", [2 * LEAST_AT_ONCE - 1, 2 * LEAST_AT_ONCE, 2 * LEAST_AT_ONCE + 1])
def test_many_modules_are_compiled_at_once_to_the_same_bytes(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 3)
    modules = [
        (f"x = {number}\n".encode() if number % 7 else b"x =\n", f"m{number}.py", False) for number in range(count)
    ]
    assert compile_at_once(HERE, modules) == compile_for(HERE, modules)


@pytest.mark.parametrize("content", [b"", b"no digest", marshal.dumps([1]), marshal.dumps({})])
def test_a_damaged_entry_is_compiled_again(content: bytes, folder: Path) -> None:
    plain = compile_for(HERE, LASTING[:5], lasting=frozenset(LASTING))
    (entry,) = folder.iterdir()
    entry.write_bytes(content)
    assert compile_for(HERE, LASTING[:5], lasting=frozenset(LASTING)) == plain
    assert entry.read_bytes() != content
