"""No schema keeps a build busy, fills its memory or crashes it: it ends soon, in a server or in words.

A schema that is refused has a diagnostic; one that is built gives a server that answers without delay.
"""

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from mcpc.diagnostics import CODES
from support.artifact import SOURCES, converse, with_bytecode
from support.command_server import command_server
from system import mixed
from system.hostile_schemas import HOSTILE, Hostile

pytestmark = pytest.mark.slow

SECONDS = 20
"""Of a processor, in which even the worst schema has been judged."""
GIB = 1 << 30
OUTPUT = 1 << 20
"""As many bytes of problems are more than anybody reads."""


def project(folder: Path, schema: str) -> Path:
    folder.mkdir()
    (folder / "server.json").write_text('{"serverInfo": {"name": "hostile", "version": "1.0.0"}}')
    (folder / "tools.json").write_text(f'{{"tools":[{{"name":"take","description":"Takes.","inputSchema":{schema}}}]}}')
    (folder / "tools.py").write_text("def take(**given):\n    return 'taken'\n")
    return folder


def limited(words: Sequence[str | Path], folder: Path) -> tuple[subprocess.CompletedProcess[str], float]:
    """Run `mcpc` with little memory; return what became of it, and the processor's seconds it took."""
    environment = {
        "PYTHONPATH": SOURCES,
        "PATH": "/usr/bin:/bin",
        "MCPC_CACHE_DIR": str(with_bytecode(folder / "cache")),
    }
    return command_server(SOURCES).run([*map(str, words)], environment, memory=2 * GIB)


def ends_soon(words: Sequence[str | Path], codes: Sequence[str], folder: Path) -> int:
    """Run `mcpc` and return its status: 0, or 1 if it named a problem by one of these codes."""
    done, seconds = limited(words, folder)
    shown = f"status {done.returncode}, {seconds:.1f} s\n{done.stdout[-2000:]}{done.stderr[-4000:]}"
    assert "Traceback" not in done.stderr, shown
    assert done.returncode in (0, 1), shown
    assert seconds <= SECONDS, shown
    assert len(done.stdout) + len(done.stderr) <= OUTPUT
    if done.returncode:
        found = set(re.findall(r"\bMCP\d{3}\b", done.stderr + done.stdout))
        assert found & set(codes), shown
        assert found <= set(CODES)
    return done.returncode


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.sampled(8)
def test_a_hostile_schema_ends_the_build_soon(name: str, tmp_path: Path) -> None:
    hostile = HOSTILE[name]
    target = tmp_path / "server.pyz"
    words = ("build", project(tmp_path / "project", hostile.text()), "-o", target)
    if ends_soon(words, hostile.codes, tmp_path) == 0:
        answers_soon(target, hostile)


@pytest.mark.parametrize(
    "name", ["2^30 anyOf", "2^30 properties", "endless $ref: two", "large: properties", "a chain of very many $ref"]
)
def test_a_hostile_schema_in_another_file_is_no_better(name: str, tmp_path: Path) -> None:
    hostile = HOSTILE[name]
    reference = '{"type":"object","properties":{"x":{"$ref":"shapes.json#/properties/x"}}}'
    folder = project(tmp_path / "project", reference)
    (folder / "shapes.json").write_text(hostile.text())
    status = ends_soon(("build", folder, "-o", tmp_path / "server.pyz"), (*hostile.codes, "MCP113"), tmp_path)
    assert status == bool(hostile.codes)


def answers_soon(server: Path, hostile: Hostile) -> None:
    """Call the tool that was built; where nothing is said of the arguments, any answer will do."""
    arguments = hostile.arguments if isinstance(hostile.arguments, dict) else {}
    call = ("tools/call", {"name": "take", "arguments": arguments})
    done = converse([sys.executable, server], mixed.lines(("initialize", mixed.HELLO), call))
    assert (done.returncode, done.stderr) == (0, b"")
    reply = json.loads(done.stdout.splitlines()[-1])
    assert "result" in reply, reply
    if hostile.arguments is not None:
        assert reply["result"].get("isError", False) is not hostile.fits, reply
