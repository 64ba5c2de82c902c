"""Tests of `mcpc test --fuzz`: a fault in each of twenty handlers is found, and none in their twins without it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from mcpc.testing.fuzzing import FuzzPlan, fuzz_tool
from mcpc.testing.servers import Connection, Served
from support.artifact import build, mcpc
from support.faulty_handlers import ROWS, project
from support.files import write_files
from support.needs import needs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

EXAMPLES = 50


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    needs("bash", "jq")
    folder = tmp_path_factory.mktemp("faulty")
    return build(write_files(folder / "faulty", project()), folder / "server.pyz")


@pytest.fixture(scope="module")
def connection(built: Path) -> Iterator[Connection]:
    with Connection(Served(built, built.parent, {})) as connected:
        yield connected


@pytest.fixture(scope="module")
def tools(built: Path) -> dict[str, dict[str, object]]:
    done = mcpc("inspect", built, "--format", "json")
    return {tool["name"]: tool for tool in json.loads(done.stdout)["tools"]}


@pytest.mark.parametrize("name", [row.name for row in ROWS])
def test_a_fault_is_found(name: str, connection: Connection, tools: dict[str, dict[str, object]]) -> None:
    plan = FuzzPlan(seed=1, examples=EXAMPLES)
    (fault,) = fuzz_tool(tools[name], connection, plan)
    assert fault.is_accepted
    assert len(json.dumps(fault.arguments)) < 60  # it was made small
    if name == "leap_day":
        assert list(fuzz_tool(tools[name], connection, plan)) == [fault]  # the same seed finds the same
    assert list(fuzz_tool(tools[f"right_{name}"], connection, plan)) == []


def test_the_report_has_what_repeats_it(built: Path, tmp_path: Path) -> None:
    words = ("--fuzz-tool", "leap_day", "--seed", "3", "--examples", "40")
    done = mcpc("test", built, "--cases", tmp_path, "--fuzz", *words, "--junit", tmp_path / "junit.xml")
    assert done.returncode == 1
    assert f"repeat    mcpc test {built} --seed 3 --examples 40 --fuzz-tool leap_day" in done.stdout
    assert "day: '2" in done.stdout and "tool: leap_day" in done.stdout
    assert 'failures="1"' in (tmp_path / "junit.xml").read_text()


WAYS = '''
import sys

from mcpc import Context, Server

mcp = Server("ways", version="1.0.0")
SERVES = "serve" in sys.orig_argv


def is_stateless(context: Context) -> bool:
    return "io.modelcontextprotocol/protocolVersion" in (context.meta or {})


@mcp.tool(readOnlyHint=True)
def stateless_fault(text: str, context: Context) -> int:
    """Fail in the stateless era."""
    return len(text) // (0 if len(text) > 2 and is_stateless(context) else 1)


@mcp.tool(readOnlyHint=True)
def handshake_fault(text: str, context: Context) -> int:
    """Fail in the handshake era."""
    return len(text) // (0 if len(text) > 2 and not is_stateless(context) else 1)


@mcp.tool(readOnlyHint=True, inline=True)
def http_fault(text: str) -> int:
    """Fail over HTTP."""
    return len(text) // (0 if len(text) > 2 and SERVES else 1)


@mcp.tool(readOnlyHint=True, inline=True)
def pipe_fault(text: str) -> int:
    """Fail over standard input and output."""
    return len(text) // (1 if SERVES or len(text) < 3 else 0)


@mcp.tool(readOnlyHint=True)
def no_fault(text: str) -> int:
    """Count characters."""
    return len(text)
'''
FOUND = {
    "stateless_fault": {"era": "stateless"},
    "handshake_fault": {"era": "handshake"},
    "http_fault": {"transport": "http"},
    "pipe_fault": {"transport": "stdio"},
}


def test_a_fault_of_one_era_or_transport_is_found_and_named(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "ways", {"server.py": WAYS})
    done = mcpc("test", folder, "--fuzz", "--examples", "60", "--format", "json")
    faults = {each["tool"]: each for each in json.loads(done.stdout)["faults"]}
    assert {name: {key: each["case"].get(key) for key in FOUND[name]} for name, each in faults.items()} == FOUND
    assert all(len(each["in"]) == 2 for each in faults.values())
    words = ("--fuzz", "--examples", "60", "--era", "stateless", "--transport", "stdio")
    done = mcpc("test", folder, *words)
    assert done.stdout.count("FAULT") == 2
    assert "FAULT stateless_fault: the handler fails with an unintended error\n" in done.stdout
    assert "--era stateless --transport stdio --fuzz-tool pipe_fault" in done.stdout
