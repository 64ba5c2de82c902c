"""FastMCP's files with another import, built and called: they offer, take, refuse and answer the same."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from support.artifact import build
from support.files import write_files
from support.stdio import initialization, replies

HERE = Path(__file__).parent


class Artifact:
    """A built server, talked to over one connection a time."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def ask(self, requests: Sequence[tuple[str, Any]], version: str = "2025-11-25") -> list[Any]:
        rows = [("initialize", initialization(version)), *requests]
        return [answer.get("result", answer) for answer in replies([sys.executable, self.path], rows)[1:]]

    def call(self, calls: Sequence[tuple[str, Any]], version: str = "2025-11-25") -> list[Any]:
        return self.ask([("tools/call", {"name": name, "arguments": given}) for name, given in calls], version)


FASTMCP = """
import asyncio, importlib.util, json, sys
from fastmcp import Client
spec = importlib.util.spec_from_file_location("sample", sys.argv[1])
module = importlib.util.module_from_spec(spec)
sys.modules["sample"] = module
spec.loader.exec_module(module)
async def main():
    async with Client(module.mcp) as client:
        tools = [tool.model_dump(mode="json", by_alias=True) for tool in await client.list_tools()]
        prompts = [prompt.model_dump(mode="json", by_alias=True) for prompt in await client.list_prompts()]
        results = []
        for name, arguments in json.load(sys.stdin):
            result = await client.call_tool_mcp(name, arguments)
            results.append(result.model_dump(mode="json", by_alias=True))
        print(json.dumps({"tools": tools, "prompts": prompts, "results": results}))
asyncio.run(main())
"""

BOOK = {"title": "T", "genre": "novel", "published": "2026-07-28"}
TRIP = {"places": [{"name": "Rome", "nights": 3}, {"name": "Oslo"}]}
DUE = {"since": "2026-07-28T00:00:00Z", "days": "P2D"}
CARD = {"reader": "12345678-1234-5678-1234-567812345678", "seen": [1, 2], "pair": [1, "a"]}

CALLS: Mapping[str, list[tuple[str, Any]]] = {
    "calculator": [
        ("add", {"a": 1, "b": 2}),
        ("mean", {"values": [1, 2.5, 3]}),
        ("mean", {"values": [1, 2, 2], "digits": 4}),
        ("convert", {"degrees": 50}),
        ("convert", {"degrees": 10, "to": "F"}),
        ("divmod_of", {"a": 7, "b": 2, "note": None}),
        ("nothing", {}),
    ],
    "library": [
        ("catalogue", {"book": BOOK}),
        ("catalogue", {"book": {**BOOK, "price": "12.50", "tags": ["x"], "sequel": BOOK}, "copies": 3}),
        ("lend", {"titles": ["A", "B"], **DUE}),
        ("find", {"shelf": [1, 2]}),
        ("find", {"shelf": [1, 2], "by": "essay", "cover": "c"}),
        ("card", CARD),
    ],
    "trips": [
        ("plan", {"trip": TRIP}),
        ("plan", {"trip": TRIP, "people": 9, "currency": "USD"}),
        ("names", {"places": TRIP["places"]}),
        ("longest", {"trip": TRIP}),
        ("longest", {"trip": {"places": []}}),
    ],
}
REFUSED: Mapping[str, list[tuple[str, Any]]] = {
    "calculator": [
        ("add", {"a": 1}),
        ("add", {"a": 1, "b": "x"}),
        ("add", {"a": 1, "b": 2.5}),
        ("add", {"a": 1, "b": 2, "c": 3}),
        ("mean", {"values": "x"}),
        ("mean", {"values": ["x"]}),
        ("convert", {"degrees": 1, "to": "K"}),
        ("nothing", {"a": 1}),
    ],
    "library": [
        ("catalogue", {"book": {**BOOK, "genre": "poem"}}),
        ("catalogue", {"book": {"title": "T"}}),
        ("catalogue", {"book": {**BOOK, "published": "soon"}}),
        ("lend", {"titles": ["A"], "since": "2026-07-28T00:00:00Z", "days": "soon"}),
        ("find", {"shelf": [1, 2, 3]}),
        ("find", {"shelf": [1]}),
        ("card", {**CARD, "reader": "x"}),
        ("card", {**CARD, "pair": [1, "a", 2]}),
    ],
    "trips": [
        ("plan", {"trip": {"places": [{"name": "R"}]}}),
        ("plan", {"trip": {"places": [{"name": "Rome", "nights": 0}]}}),
        ("plan", {"trip": TRIP, "people": 10}),
        ("plan", {"trip": TRIP, "currency": "euro"}),
        ("names", {"places": [1]}),
        ("longest", {}),
    ],
}


def moved(name: str, folder: Path) -> Path:
    """Write a sample with the import changed, and nothing else, as a project."""
    text = (HERE / f"fastmcp/{name}.py").read_text()
    assert text.count("from fastmcp import FastMCP") == 1
    (folder / "server.py").write_text(text.replace("from fastmcp import FastMCP", "from mcpc import Server as FastMCP"))
    wanted = [package for package in ("pydantic", "typing_extensions") if f"from {package} import" in text]
    if wanted:
        (folder / "requirements.txt").write_text("".join(f"{package}\n" for package in wanted))
    return folder


@pytest.fixture(scope="module", params=sorted(CALLS))
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Artifact, Any]:
    """A sample of FastMCP's: its name, the artifact of the moved file, and what FastMCP itself answers."""
    name = request.param
    folder = tmp_path_factory.mktemp(name)
    made = Artifact(build(moved(name, folder), tmp_path_factory.mktemp("built") / f"{name}.pyz"))
    calls = json.dumps([*CALLS[name], *REFUSED[name]])
    words = [sys.executable, "-c", FASTMCP, HERE / f"fastmcp/{name}.py"]
    done = subprocess.run(words, input=calls, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return name, made, json.loads(done.stdout)


@pytest.mark.sampled(3)
def test_a_moved_file_offers_the_same(both: tuple[str, Artifact, Any]) -> None:
    _, made, theirs = both
    tools, prompts = made.ask([("tools/list", {}), ("prompts/list", {})])
    # A server without prompts does not know the method.
    prompts = prompts if theirs["prompts"] else {"prompts": []}
    facts = ("name", "description")
    assert [[tool.get(fact) for fact in facts] for tool in tools["tools"]] == [
        [tool.get(fact) for fact in facts] for tool in theirs["tools"]
    ]
    for mine, other in zip(tools["tools"], theirs["tools"], strict=True):
        assert mine.get("annotations", {}).get("readOnlyHint") == (other["annotations"] or {}).get("readOnlyHint")
        assert list(mine["inputSchema"]["properties"]) == list(other["inputSchema"]["properties"])
        assert mine["inputSchema"].get("required", []) == other["inputSchema"].get("required", [])
        for name, property in other["inputSchema"]["properties"].items():
            assert mine["inputSchema"]["properties"][name].get("description") == described(property, mine, name)
            assert mine["inputSchema"]["properties"][name].get("default") == property.get("default")
        assert bool(mine.get("outputSchema")) == bool(other["outputSchema"])
    assert [(prompt["name"], prompt["description"], prompt["arguments"]) for prompt in prompts["prompts"]] == [
        (prompt["name"], prompt["description"], [present(argument) for argument in prompt["arguments"]])
        for prompt in theirs["prompts"]
    ]


def described(property: Mapping[str, Any], mine: Mapping[str, Any], name: str) -> Any:
    """Return the description there is; FastMCP puts a type's own where the type is used, and the parameter's is lost."""
    own = mine["inputSchema"]["properties"][name]
    target = mine["inputSchema"].get("$defs", {}).get(own.get("$ref", "").rpartition("/")[2], {})
    return (
        own.get("description")
        if target.get("description") == property.get("description")
        else property.get("description")
    )


def present(argument: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in argument.items() if value is not None}


def test_a_moved_file_answers_the_same(both: tuple[str, Artifact, Any]) -> None:
    name, made, theirs = both
    results = made.call([*CALLS[name], *REFUSED[name]])
    for (tool, arguments), mine, other in zip((*CALLS[name], *REFUSED[name]), results, theirs["results"], strict=True):
        good = (tool, arguments) in CALLS[name]
        assert (not mine.get("isError")) is good is (not other["isError"]), (tool, arguments, mine, other)
        if good:
            assert unordered(mine.get("structuredContent")) == unordered(other["structuredContent"]), (tool, arguments)
            assert [plain(block) for block in mine["content"]] == [plain(block) for block in other["content"]]


def unordered(value: Any) -> Any:
    """Return JSON in which the tags, which are a set, have one order."""
    if not isinstance(value, dict):
        return value
    return {key: sorted(part) if key == "tags" else unordered(part) for key, part in value.items()}


def plain(block: Mapping[str, Any]) -> Any:
    """Return what a text says, JSON without regard to the order of keys."""
    try:
        return unordered(json.loads(block["text"]))
    except ValueError:
        return block["text"]


LEAVING = '''
import atexit, os
from mcpc import Server

mcp = Server("leaving", version="1.0.0")


@mcp.tool(environment=["LEFT"], inline=%s)
def ping() -> str:
    """Register something, and answer."""
    atexit.register(lambda: open(os.environ["LEFT"], "w").write("left"))
    return "pong"
'''


@pytest.mark.parametrize("inline", [False, True])
def test_what_a_handler_registers_is_called_when_the_server_ends(inline: bool, tmp_path: Path) -> None:
    write_files(tmp_path / "project", {"server.py": LEAVING % inline})
    server = build(tmp_path / "project", tmp_path / "server.pyz")
    asked = [("tools/call", {"name": "ping", "arguments": {}})]
    replies([sys.executable, server], asked, env={**os.environ, "LEFT": str(tmp_path / "left")})
    assert (tmp_path / "left").read_text() == "left"
