"""What a built server says about arguments and outputs that a schema refuses, and what a handler gets of those it accepts.

A Bash tool and a Python tool, asked in every revision of the protocol.
"""

import json
import resource
import sys
from pathlib import Path
from typing import Any

import pytest

from mcpc.model.revisions import REVISIONS
from support.artifact import built_fixture, converse

VERSIONS = [revision.version for revision in REVISIONS]
STATELESS = "2026-07-28"
PROBLEMS = "mcpc/problems"
TARGET = {
    "oneOf": [
        {
            "type": "object",
            "properties": {"kind": {"const": "url"}, "url": {"type": "string"}},
            "required": ["kind", "url"],
            "additionalProperties": False,
        },
        {"type": "object", "properties": {"kind": {"const": "file"}, "path": {"type": "string"}}, "required": ["kind"]},
    ]
}
INPUT = {
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "priority": {"enum": ["low", "normal", "high"], "default": "normal"},
        "steps": {
            "type": "array",
            "items": {"type": "object", "properties": {"x": {"type": ["string", "integer"]}, "n": {"default": 3}}},
            "default": [],
        },
        "target": TARGET,
        "options": {"type": "object", "properties": {"dry": {"default": True}}},
    },
    "required": ["title"],
}
OUTPUT = {"type": "object", "properties": {"length": {"type": "integer"}}, "required": ["length"]}
LIST_OUTPUT = {"type": "array", "items": {"type": "integer"}}
SERVER = {"serverInfo": {"name": "rejecting", "version": "1"}, "capabilities": {"tools": {}, "logging": {}}}


def tool(name: str, schema: object = INPUT, **more: object) -> dict[str, Any]:
    return {"name": name, "description": f"The tool {name}.", "inputSchema": schema, **more}


TOOLS = [
    tool("python_tool"),
    tool("bash_tool"),
    tool("python_exact", _meta={"mcpc/defaults": False}),
    tool("python_output", {"type": "object", "properties": {"value": {}}}, outputSchema=OUTPUT),
    tool("bash_output", {"type": "object", "properties": {"value": {}}}, outputSchema=OUTPUT),
    tool("list_output", {"type": "object", "properties": {"value": {}}}, outputSchema=LIST_OUTPUT),
    tool("items", {"type": "object", "properties": {"all": {"items": {"type": "string"}}}}),
]
PYTHON = """
def python_tool(**given): return given
def python_exact(**given): return given
def python_output(value=None): return value
def list_output(value=None): return value
def items(all=()): return len(all)
"""
BASH = """
tool_bash_tool() { printf '%s' "$1"; }
tool_bash_output() { echo "looking" >&2; jq -c .value <<<"$1"; }
export -f tool_bash_tool tool_bash_output
"""


def write(folder: Path) -> Path:
    folder.mkdir()
    (folder / "server.json").write_text(json.dumps(SERVER))
    (folder / "tools.json").write_text(json.dumps({"tools": TOOLS}))
    (folder / "tools.py").write_text(PYTHON)
    (folder / "tools.bash").write_text(BASH)
    return folder


server = built_fixture(write, programs=("bash", "jq"))


def calls(version: str, *asked: tuple[str, object]) -> bytes:
    """Return the lines of a conversation in one revision, the calls numbered from 0."""
    lines: list[dict[str, Any]] = []
    meta: dict[str, Any] = {}
    if version == STATELESS:
        meta = {"io.modelcontextprotocol/protocolVersion": version, "io.modelcontextprotocol/clientCapabilities": {}}
    else:
        client = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        lines.append({"jsonrpc": "2.0", "id": "i", "method": "initialize", "params": client})
        lines.append({"jsonrpc": "2.0", "method": "notifications/initialized"})
    for number, (name, arguments) in enumerate(asked):
        params = {"name": name, "arguments": arguments, **({"_meta": meta} if meta else {})}
        lines.append({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def conversation(server: Path, version: str, *asked: tuple[str, object]) -> tuple[list[Any], list[Any], str]:
    """Return the replies to the calls, the notifications, and what stood on standard error."""
    done = converse([sys.executable, server], calls(version, *asked))
    assert done.returncode == 0
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    replies = {message["id"]: message for message in messages if "id" in message}
    notes = [message for message in messages if "id" not in message]
    return [replies[number] for number in range(len(asked))], notes, done.stderr.decode()


WRONG = {"titl": "A", "priority": "hihg", "steps": [{}, {"x": 1.5}], "target": {"kind": "url", "uri": "x"}}
TOLD = """Invalid arguments for {name}: 4 problems; fix and call again
- /steps/1/x: received 1.5 (number); expected string or integer; put it into quotes, "1.5"
- /target (kind "url"): missing required property "url" (unexpected "uri", did you mean "url"?)
- /: missing required property "title" (unexpected "titl", did you mean "title"?)
- /priority: received "hihg" (string); expected one of "low", "normal", "high" (did you mean "high"?)"""
AS_JSON = [
    {"path": "/steps/1/x", "keyword": "type", "expected": ["string", "integer"], "received": 1.5},
    {"path": "/target/uri", "keyword": "additionalProperties", "expected": ["kind", "url"], "received": "x"},
    {"path": "/priority", "keyword": "enum", "expected": ["low", "normal", "high"], "received": "hihg"},
    {"path": "/target", "keyword": "required", "expected": "url"},
    {"path": "/titl", "keyword": "additionalProperties", "expected": list(INPUT["properties"]), "received": "A"},
    {"path": "", "keyword": "required", "expected": "title"},
]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_rejection_tells_a_model_what_to_write(server: Path, version: str) -> None:
    names = ("python_tool", "bash_tool")
    replies, _, errors = conversation(server, version, *((name, WRONG) for name in names))
    for name, reply in zip(names, replies, strict=True):
        result = reply["result"]
        assert result["isError"] is True
        assert result["content"] == [{"type": "text", "text": TOLD.format(name=name)}]
        assert sorted(result["_meta"][PROBLEMS], key=str) == sorted(AS_JSON, key=str)
        assert ("io.modelcontextprotocol/serverInfo" in result["_meta"]) is (version == STATELESS)
        assert "structuredContent" not in result
    assert errors == ""


def test_a_handler_finds_defaults_in_place_of_what_is_missing(server: Path) -> None:
    arguments = {"title": "A", "steps": [{}, {"n": 1}], "options": {}}
    asked = [(name, arguments) for name in ("python_tool", "bash_tool", "python_exact")]
    replies, _, _ = conversation(server, VERSIONS[0], *asked)
    python, bash, exact = [json.loads(reply["result"]["content"][0]["text"]) for reply in replies]
    assert python == {"title": "A", "steps": [{"n": 3}, {"n": 1}], "options": {"dry": True}, "priority": "normal"}
    assert bash == python
    assert exact == arguments


BROKEN = {"code": -32603, "message": "Internal error: tool output does not match outputSchema"}
OUTPUTS: list[tuple[str, object, str]] = [
    ("python_output", {"length": "three"}, '- /length: received "three" (string); expected integer'),
    ("python_output", {"size": 3}, '- /: missing required property "length"'),
    ("python_output", None, "- /: received null (null); expected object; leave it out if it is optional"),
    ("python_output", {"content": []}, "it lacks structured content"),
    ("python_output", {"content": [], "structuredContent": {"length": 1.5}}, "received 1.5 (number); expected integer"),
    ("bash_output", {"length": 1.5}, "- /length: received 1.5 (number); expected integer"),
    ("list_output", [1, "2"], '- /1: received "2" (string); expected integer; write it without quotes, 2'),
]


@pytest.mark.parametrize("version", [VERSIONS[0], STATELESS])
def test_an_output_its_schema_refuses_is_told_to_the_one_who_runs_the_server(server: Path, version: str) -> None:
    """The check is made in every revision, whether or not that revision shows structured content or the schema."""
    replies, notes, errors = conversation(server, version, *((name, {"value": value}) for name, value, _ in OUTPUTS))
    assert [reply.get("error") for reply in replies] == [BROKEN] * len(OUTPUTS)
    assert notes == []
    for name, _, told in OUTPUTS:
        assert f"tool {name}: its output does not match its outputSchema" in errors
        assert told in errors


def test_hostile_arguments_make_no_large_reply(server: Path) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    hostile: list[object] = [
        {"all": [1] * 500_000},
        {"all": ["\u202e" * 1000, *([{"k" * 10_000: 1}] * 1000)]},
        {"\u202e" * 10**5 + str(number): 1 for number in range(20)},
        {"all": [json.loads("[" * 300 + "]" * 300)]},
    ]
    replies, _, _ = conversation(server, STATELESS, *(("items", arguments) for arguments in hostile))
    for reply in replies:
        text = reply["result"]["content"][0]["text"]
        assert len(text.encode()) < 4096
        assert text.replace("\n", "").isprintable()
        assert len(json.dumps(reply["result"]["_meta"])) < 20_000
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before < 20
