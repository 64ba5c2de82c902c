"""`mcpc new --import`: what is written builds, and answers as what it was written from."""

import json
import os
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.artifact import build, mcpc
from support.files import write_files
from support.needs import ROOT, needs

pytestmark = pytest.mark.sampled(3)

NO_ARGUMENTS = {"type": "object", "properties": {}}
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")
BASH = {
    "server.d/server.meta.json": {"name": "bash-made", "version": "2.1.0", "instructions": "Say it."},
    "tools/say/tool.meta.json": {
        "name": "say",
        "description": "Say a word",
        "timeoutSecs": 7,
        "inputSchema": {"type": "object", "properties": {"word": {"type": "string"}}},
    },
    "tools/say/tool.sh": '#!/usr/bin/env bash\nsource "${MCP_SDK}/tool-sdk.sh"\n'
    "mcp_emit_text \"said $(mcp_args_get '.word')\"\n",
    "prompts/ask/ask.txt": "Ask about ${topic}.\n",
    "prompts/ask/ask.meta.json": {
        "name": "ask",
        "description": "Ask",
        "arguments": {"type": "object", "properties": {"topic": {"type": "string"}}, "required": ["topic"]},
    },
    "resources/note/note.txt": "a note\n",
    "resources/note/note.meta.json": {
        "name": "note",
        "description": "A note",
        "uri": "file://./resources/note/note.txt",
        "mimeType": "text/plain",
        "provider": "file",
    },
}
NATIVE = {
    "server.json": {"serverInfo": {"name": "n", "version": "1"}, "_meta": {"mcpc/handlers": {"timeout": 9}}},
    "tools.d/b.json": {"name": "b", "description": "d", "inputSchema": NO_ARGUMENTS},
    "tools.d/a.json": {
        "name": "a",
        "description": "d",
        "inputSchema": NO_ARGUMENTS,
        "_meta": {"mcpc/handler": {"command": "bin/run", "timeout": 3}, "mine": 1},
    },
    "tools.json": {"tools": [{"name": "c", "description": "é \u2026 \\", "inputSchema": NO_ARGUMENTS}]},
    "tools.bash": "tool_b() { echo b; }\ntool_c() { echo c; }\n",
    "bin/run": '#!/bin/sh\ncat >/dev/null\nprintf \'{"content":[{"type":"text","text":"ran"}]}\'\n',
    "resources.json": {
        "resources": [{"uri": "x://text", "name": "t", "text": "T"}],
        "resourceTemplates": [{"uriTemplate": "x://root/{path}", "name": "r", "root": "/tmp"}],
    },
}
SAY: tuple[str, dict[str, Any]] = ("tools/call", {"name": "say", "arguments": {"word": "w"}})
PROJECTS: dict[str, tuple[Any, tuple[tuple[str, dict[str, Any]], ...], tuple[str, ...]]] = {
    "native": (
        NATIVE,
        (*(("tools/call", {"name": name, "arguments": {}}) for name in "abc"), ("resources/read", {"uri": "x://text"})),
        ("tools.d/a.json", "tools.d/b.json"),
    ),
    "mcp-bash": (BASH, (SAY, ("prompts/get", {"name": "ask", "arguments": {"topic": "it"}})), ("server.d/server.meta.json",)),
    "examples/blueprints": (
        "examples/blueprints",
        (
            ("tools/call", {"name": "naming_rules", "arguments": {}}),
            ("tools/call", {"name": "check_name", "arguments": {"name": "a-b"}}),
            ("prompts/get", {"name": "review"}),
        ),
        (),
    ),
    "examples/files": ("examples/files", (("prompts/get", {"name": "code-review"}),), ()),
    "examples/everything": (
        "examples/everything",
        (("tools/call", {"name": "test_simple_text", "arguments": {}}),),
        ("tools.d/asks.json",),
    ),
    "examples/bx-mcp": ("examples/bx-mcp", (), ()),
    "toolbox": (
        "tests/acceptance/toolbox",
        (
            ("tools/call", {"name": "hello_world", "arguments": {"name": "Al", "language": "fr"}}),
            ("tools/call", {"name": "greet_chain", "arguments": {}}),
            ("prompts/get", {"name": "summarize_notes"}),
        ),
        (),
    ),
}  # fmt: skip


def asked(artifact: Path, *requests: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the answers to requests, each in both eras; a method that is not there is an answer, too."""
    found: list[dict[str, Any]] = []
    environment = {**os.environ, "MCPBASH_TOOL_ALLOWLIST": "*", "MCPC_TOOLBOX_HOME": str(artifact.parent / "home")}
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([artifact], env=environment, **pipes) as process:
        for number, (method, params) in enumerate(both(requests)):
            line = json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
            process.stdin.write(line.encode() + b"\n")
            process.stdin.flush()
            answer = json.loads(process.stdout.readline())
            assert answer["id"] == number
            found.append(answer)
        process.communicate(timeout=60)
    return found


def both(requests: tuple[tuple[str, dict[str, Any]], ...]) -> Iterator[tuple[str, dict[str, Any]]]:
    greeting = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    yield "initialize", greeting
    yield "server/discover", {"_meta": META}
    for method, params in requests:
        yield method, params
        yield method, {**params, "_meta": META}


@pytest.mark.parametrize("name", PROJECTS)
@pytest.mark.sampled(4)
def test_what_is_imported_builds_and_answers_as_before(name: str, tmp_path: Path) -> None:
    needs("bash", "jq", *(["node", "npm"] if name == "toolbox" else []))
    files, calls, gone = PROJECTS[name]
    project = ROOT / files if isinstance(files, str) else write_files(tmp_path / "project", files)
    imported = tmp_path / "imported"
    before = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}
    done = mcpc("new", imported, "--import", project, status=0)
    assert {path: path.read_bytes() for path in project.rglob("*") if path.is_file()} == before
    assert "is shown differently" not in done.stderr
    page = (imported / "IMPORT.md").read_text()
    for path in gone:
        assert not (imported / path).exists()
        assert f"- `{path}`" in page
    first = build(project, tmp_path / "first.pyz")
    second = build(imported, tmp_path / "second.pyz")
    requests = (*((method, {}) for method in LISTS), *calls)
    was, now = asked(first, *requests), asked(second, *requests)
    assert [sorted_lists(answer) for answer in now] == [sorted_lists(answer) for answer in was]
    assert not any("error" in answer for answer in now[2 * len(LISTS) + 2 :])


def sorted_lists(answer: dict[str, Any]) -> dict[str, Any]:
    """Return an answer with its lists in one order: what stood in several files may stand in another order in one."""
    result = answer.get("result", {})
    for key in ("tools", "prompts", "resources", "resourceTemplates"):
        if isinstance(result.get(key), list):
            result[key].sort(key=lambda one: str(one["name"]))
    return answer


def test_an_import_of_an_import_changes_nothing(tmp_path: Path) -> None:
    write_files(tmp_path / "project", NATIVE)
    for source, target in (("project", "one"), ("one", "two")):
        assert mcpc("new", tmp_path / target, "--import", tmp_path / source).returncode == 0
    files = [sorted(tmp_path.joinpath(name).rglob("*")) for name in ("one", "two")]
    names = [
        {path.relative_to(tmp_path / name) for path in found} for name, found in zip(("one", "two"), files, strict=True)
    ]
    assert names[0] == names[1]
    for path in names[0]:
        one, two = tmp_path / "one" / path, tmp_path / "two" / path
        assert path.name == "IMPORT.md" or one.is_dir() or one.read_bytes() == two.read_bytes()
    assert stat.S_IMODE((tmp_path / "two/bin/run").stat().st_mode) == 0o755


def test_a_definition_takes_the_place_of_the_one_it_is_lent_from(tmp_path: Path) -> None:
    said = {"mcpc/handler": {"contract": "mcp-bash", "validate": True, "timeout": 3}}
    tool = {"name": "say", "description": "Ours", "inputSchema": NO_ARGUMENTS, "_meta": said}
    project = write_files(tmp_path / "project", {**BASH, "tools.json": {"tools": [tool]}})
    artifact = build(project, tmp_path / "server.pyz")
    listed, _, refused, _ = asked(artifact, ("tools/list", {}), SAY)[2:]
    assert [(one["name"], one["description"]) for one in listed["result"]["tools"]] == [("say", "Ours")]
    assert refused["result"]["isError"] is True, "and what is validated here is validated"
