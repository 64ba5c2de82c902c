"""Our engine's answers to calls of FastMCP servers, compared with those recorded; and what the pages say that it has."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mcpc.frontends.fastmcp.late_imports import METHODS

FOLDER = Path(__file__).parent / "fastmcp_engine"
RECORDED = json.loads((FOLDER / "results.json").read_text(encoding="utf-8"))
CHECKED_LATER = "Output validation error:"
"""How results begin that do not match the tool's output schema; the built server itself checks it, after the engine."""
KEPT = {(version, name) for version in ("4.1.2", "4.2.3") for name in ("samples", "roots")}
"""Tools that use methods of the context that FastMCP 4 has no longer, and that still work in a built server."""


def replayed(version):
    command = [sys.executable, str(FOLDER / "replay.py"), f"fastmcp{version[0]}", version]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def comparable(answer):
    """Return an answer without what a client cannot tell apart."""
    result = answer.get("result")
    if result is None:
        return answer
    kept = {key: value for key, value in result.items() if key != "isError" or value}
    return {**answer, "result": kept}


def is_compared(version, answer):
    name = answer["params"].get("name")
    return (version, name) not in KEPT and CHECKED_LATER not in str(answer.get("result", {}).get("content"))


@pytest.mark.parametrize("version", sorted(RECORDED))
def test_the_answers_are_those_of_the_real_package(version):
    pairs = zip(RECORDED[version], replayed(version), strict=True)
    compared = [(comparable(one), comparable(other)) for one, other in pairs if is_compared(version, one)]
    assert [pair for pair in compared if pair[0] != pair[1]] == []


@pytest.mark.parametrize("generation", ["fastmcp2", "fastmcp3", "fastmcp4"])
def test_the_other_parts_of_the_stand_in(generation):
    command = [sys.executable, str(FOLDER / "features.py"), generation]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr


TOLERANT = """
import asyncio, sys
from mcpc_runtime.systems.fastmcp import standins
generation, version, module, name = sys.argv[1:]
standins.install(generation, version)
from importlib import import_module
from mcpc_runtime.systems.fastmcp.engine.server import current_call
class Call:
    request_id = session_id = "1"; client_id = None; meta = {}; client_capabilities = {}; client_info = {}
    protocol_version = "2025-11-25"; transport = "stdio"; headers = {}; http = {}; principal = None; tolerant = False
server = getattr(import_module(module), name)("s")
@server.tool()
def take(number: int = 1, names: list[int] = [], where: str = "here", on: bool = False) -> str:
    return f"{number!r} {names!r} {where!r} {on!r}"
def answer(**arguments):
    async def run():
        current_call.set(Call())
        result = await server.mcpc_call_tool("take", arguments, Call())
        return result["content"][0]["text"]
    return asyncio.run(run())
VALID, WRONG = {"number": 3, "names": [1]}, {"number": None, "names": '["1", 2]', "on": "true", "extra": 1}
HOPELESS = {"number": "three", "where": None, "extra": 1}
before = answer(**VALID), answer(**HOPELESS)
assert answer(**WRONG) != "1 [1, 2] 'here' True"
Call.tolerant = True
assert (answer(**VALID), answer(**HOPELESS)) == before and before[0] == "3 [1] 'here' False", before
assert answer(**WRONG) == "1 [1, 2] 'here' True", answer(**WRONG)
"""
FRAMEWORKS = [
    ("fastmcp2", "2.12.0", "fastmcp", "FastMCP"),
    ("fastmcp4", "4.1.2", "fastmcp", "FastMCP"),
    ("sdk1", "1.30.0", "mcp.server.fastmcp", "FastMCP"),
    ("sdk2", "2.3.0", "mcp.server.mcpserver", "MCPServer"),
]


@pytest.mark.parametrize("framework", FRAMEWORKS, ids=lambda row: f"{row[0]}-{row[1]}")
def test_arguments_of_a_tolerated_client_are_corrected(framework):
    """The first error stands if they cannot be: pydantic's, or that of the tool's schema where FastMCP checks it."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "runtime")}
    command = [sys.executable, "-c", TOLERANT, *framework]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, env=environment)
    assert done.returncode == 0, done.stderr


ROOT = Path(__file__).parents[2]
NAME = re.compile(r"`((?:fastmcp|mcp)\.[\w.]+)`")
LOOK = """
import json, sys
from mcpc_runtime.systems.fastmcp import standins
standins.install(sys.argv[1])
replies = sys.stdout
from mcpc_runtime.systems.fastmcp.description import is_there
replies.write(json.dumps({name: is_there(name) for name in sys.argv[2:]}))
"""
PAGES = [("from-fastmcp.md", "fastmcp4"), ("from-python-sdk.md", "sdk1")]


@pytest.mark.parametrize(("page", "generation"), PAGES)
def test_the_adapter_has_what_its_page_says(page, generation):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    rows = re.findall(r"^\| (.*) \| (adapter|(?:framework|SDK) itself) \|$", text, re.MULTILINE)
    said = {name: way == "adapter" for names, way in rows for name in NAME.findall(names)}
    assert set(said.values()) == {True, False}
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "runtime")}
    command = [sys.executable, "-c", LOOK, generation, *said]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60, env=environment)
    assert json.loads(done.stdout) == said


def test_attributes_of_classes_are_looked_for_too():
    said = {
        "fastmcp.FastMCP.tool": True, "fastmcp.FastMCP.as_proxy": False, "fastmcp.FastMCP.from_openapi": False,
        "mcp.types.Tool.model_validate": True, "fastmcp.settings.port": False, "fastmcp.nothing": False,
        "fastmcp.Context.sample": True, "fastmcp.Context.sample(tools)": False, "fastmcp.Context.sample_step": False,
        "mcp.types.GetTaskRequest": False, "mcp.types.SubscriptionFilter": False, "mcp.shared.message.SessionMessage": False,
        "mcp.types.version.is_version_at_least": False, "fastmcp.server.tasks.TaskConfig": False,
        "fastmcp.server.lifespan.lifespan": False, "fastmcp.utilities.lifespan.combine_lifespans": False,
        **{f"fastmcp.{owner}.{name}": False for name, owner in METHODS.items()},
    }  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "runtime")}
    command = [sys.executable, "-c", LOOK, "fastmcp4", *said]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60, env=environment)
    assert json.loads(done.stdout) == said
