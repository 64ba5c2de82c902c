"""Bytecode that depends on the source alone: no columns, no references by chance; its lines are the compiler's own."""

import importlib
import json
import marshal
import os
import subprocess
import sys
from pathlib import Path
from types import CodeType

import pytest

from mcpc.emit.bytecode import code_of, dump_code, shareable_parts, without_columns
from support.interpreters import interpreters
from support.needs import ROOT
from support.scale import scaled

MODULES = [
    "json.decoder",
    "argparse",
    "ast",
    "asyncio.base_events",
    "typing",
    "mcpc.lower.handlers",
    "mcpc_runtime.server.stdio_driver",
]
RUNTIME = sorted((ROOT / "runtime").rglob("*.py"))
SAMPLE = RUNTIME[:: scaled(1, 6)]
"""What other processes compile, each of which takes seconds for all."""


def lines(code: CodeType) -> list:
    """The line of every code unit, of this code and all inside it."""
    own = [line for start, end, line in code.co_lines() for _ in range((end - start) // 2)]
    return [own, *(lines(item) for item in code.co_consts if isinstance(item, CodeType))]


@pytest.mark.parametrize("name", MODULES)
def test_every_instruction_keeps_its_line(name: str) -> None:
    file = Path(importlib.import_module(name).__file__)
    code = compile(file.read_bytes(), "label", "exec", dont_inherit=True)
    assert lines(without_columns(code)) == lines(code)
    assert all(column is None for _, _, column, _ in without_columns(code).co_positions())


def test_far_jumps_of_lines_and_long_stretches_are_kept() -> None:
    far = "x = (1\n" + "\n" * 5000 + "+ y)\nz = (\n" + "a +\n" * 300 + "b)\n" + "v = [" + "f(), " * 2000 + "]\n"
    code = compile(far, "label", "exec", dont_inherit=True)
    assert lines(without_columns(code)) == lines(code)


def test_a_traceback_names_the_line() -> None:
    names: dict = {}
    code = code_of(b"def f():\n    a = 1\n    return a / 0\n", "label", strip=True)
    exec(code, names)
    with pytest.raises(ZeroDivisionError) as raised:
        names["f"]()
    assert raised.traceback[-1].lineno == 2  # counted from 0


ELSEWHERE = """
import hashlib, json, sys
sys.path[:0] = json.loads(sys.argv[1])
from pathlib import Path
{before}
from mcpc.emit.bytecode import code_of, dump_code
print(hashlib.sha256(b"".join(dump_code(code_of(Path(f).read_bytes(), "server.pyz/x.py", strip=True)) for f in sys.argv[2:])).hexdigest())
"""
ALL_INTERNED = """
import ast
held = [node.value for f in sys.argv[2:] for node in ast.walk(ast.parse(Path(f).read_bytes())) if isinstance(node, ast.Constant)]
held = [sys.intern(value) for value in held if type(value) is str] + [sys.intern(chr(code)) for code in range(256)]
"""
SOME_INTERNED = (
    ALL_INTERNED
    + """
import random
held = [sys.intern(''.join(random.choices('~ab. /', k=random.randrange(4)))) for _ in range(5000)]
more = [compile(Path(f).read_bytes(), 'server.pyz/x.py', 'exec') for f in random.sample(sys.argv[2:], 20)]
"""
)
BEFORE = [
    "",
    "import asyncio, argparse, unittest",
    "names = [sys.intern(f'n{i}') for i in range(99)]; held = 'server.pyz/x.py'",
    "Path('~/.cache').expanduser()",
    ALL_INTERNED,
    SOME_INTERNED,
]


SURROUNDINGS = [
    ("0", {}),
    ("1", {"PYTHONNODEBUGRANGES": "1"}),
    ("random", {}),
    ("random", {"PYTHONNODEBUGRANGES": "1"}),
]


@pytest.mark.slow
def test_the_same_bytes_whatever_the_process_did_before() -> None:
    paths = json.dumps([str(ROOT / "compiler"), str(ROOT / "runtime")])
    found = set()
    for number, before in enumerate(BEFORE):
        seed, ranges = SURROUNDINGS[number % len(SURROUNDINGS)]
        argv = [sys.executable, "-c", ELSEWHERE.format(before=before), paths, *map(str, SAMPLE)]
        environment = {**os.environ, "PYTHONHASHSEED": seed, **ranges}
        found.add(subprocess.run(argv, env=environment, capture_output=True, text=True, check=True).stdout)
    assert len(found) == 1


@pytest.mark.slow
@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_the_same_bytes_in_each_python_whatever_was_interned(version: str) -> None:
    python = interpreters().get(version)
    if python is None:
        pytest.skip(f"there is no Python {version}")
    alone = f"made = __import__('runpy').run_path({str(ROOT / 'compiler/mcpc/emit/bytecode.py')!r})"
    program = ELSEWHERE.replace(
        "from mcpc.emit.bytecode import code_of, dump_code",
        f"{alone}; code_of, dump_code = made['code_of'], made['dump_code']",
    )
    paths = json.dumps([str(ROOT / "compiler"), str(ROOT / "runtime")])
    found = set()
    for before in ("", "Path('~/.cache').expanduser()", ALL_INTERNED, SOME_INTERNED):
        argv = [str(python), "-c", program.format(before=before), paths, *map(str, SAMPLE)]
        environment = {**os.environ, "PYTHONHASHSEED": "random", "PYTHONDONTWRITEBYTECODE": "1"}
        found.add(subprocess.run(argv, env=environment, capture_output=True, text=True, check=True).stdout)
    assert len(found) == 1


def test_equal_sets_are_one_object() -> None:
    """CPython shares an equal set among the functions of a module, or does not, by what the process has interned."""
    shared = frozenset({"125", "150"})
    apart = (frozenset({"125", "150"}), frozenset({"125", "150"}))
    assert apart[0] is not apart[1]
    assert dump_code(((shared, 1), (shared, 2))) == dump_code(((apart[0], 1), (apart[1], 2)))
    assert marshal.loads(dump_code((frozenset({1}), frozenset({True})))) == (frozenset({1}), frozenset({True}))
    assert [type(*made) for made in marshal.loads(dump_code((frozenset({1}), frozenset({True}))))] == [int, bool]


def test_texts_are_interned_by_what_they_are() -> None:
    source = b"def f(x):\n    return x, '~', 'a text', 'name', {'a b', '~'}, ('a text', 'inner text')\n"
    plain = dump_code(code_of(source, "label", strip=True))
    for text in ("~", "a text", "inner text", "a b"):
        sys.intern(text)
    assert dump_code(code_of(source, "label", strip=True)) == plain
    names: dict = {}
    exec(marshal.loads(plain), names)
    assert names["f"](1) == (1, "~", "a text", "name", {"a b", "~"}, ("a text", "inner text"))


def test_what_is_dumped_can_be_loaded_and_is_the_same() -> None:
    for file in RUNTIME:
        code = code_of(file.read_bytes(), "label", strip=True)
        assert marshal.loads(dump_code(code)) == code
        assert list(shareable_parts(code))
