"""The name and version of `[project]` are the server's unless `server.json` or `Server(...)` says otherwise."""

from __future__ import annotations

import json

import pytest

from support.projects import lowered

TOOLS = {
    "tools.json": json.dumps({"tools": [{"name": "hello", "description": "Say.", "inputSchema": {"type": "object"}}]}),
    "tools.py": "def hello():\n    return 'hello'\n",
}
MARKED = 'from mcpc import {names}\n\n{server}\n\n@tool\ndef hello() -> str:\n    """Say hello."""\n    return ""\n'
PROJECT = "[project]\nname = 'demo'\nversion = '3.2.1'\n"


def server_json(**info: str) -> dict[str, str]:
    return {**TOOLS, "server.json": json.dumps({"serverInfo": info})}


def marked(call: str) -> dict[str, str]:
    return {"server.py": MARKED.format(names="Server, tool", server=f"mcp = Server({call})")}


CASES = {
    "nothing else": (TOOLS, ("demo", "3.2.1")),
    "server.json says both": (server_json(name="own", version="1.0.0"), ("own", "1.0.0")),
    "server.json says the name": (server_json(name="own"), ("own", "3.2.1")),
    "server.json says the version": (server_json(version="1.0.0"), ("demo", "1.0.0")),
    "server.json says nothing": ({**TOOLS, "server.json": "{}"}, ("demo", "3.2.1")),
    "Server says the name": (marked('"own"'), ("own", "3.2.1")),
    "Server says both": (marked('"own", version="1.0.0"'), ("own", "1.0.0")),
}


@pytest.mark.parametrize("name", CASES)
def test_who_says_what_the_server_is(name: str) -> None:
    files, expected = CASES[name]
    server, problems = lowered({**files, "pyproject.toml": PROJECT})
    assert problems == ()
    assert server is not None
    assert (server.name, server.version) == expected


@pytest.mark.parametrize("project", ["[project]\nname = 'demo'\ndynamic = ['version']\n", "[project", "project = 1\n"])
def test_a_project_that_does_not_say(project: str) -> None:
    server, _ = lowered({**marked('"own"'), "pyproject.toml": project})
    assert server is not None
    assert server.version == "0.1.0"
    assert "MCP004" in {problem.code for problem in lowered({**TOOLS, "pyproject.toml": project})[1]}
