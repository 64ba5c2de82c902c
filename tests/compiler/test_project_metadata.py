"""The name and version of `[project]` are the server's unless `server.json` or `Server(...)` says otherwise."""

from __future__ import annotations

import json

import pytest

from mcpc.ir.project import metadata_from_facts
from mcpc.options import Options
from mcpc.pack.manifest import build_facts
from mcpc.pipeline import CheckResult, analyse
from support.projects import lowered, tree

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


PUBLISHED = """
[project]
name = "demo"
version = "3.2.1"
description = "  Forecasts.  "
authors = [{name = "Me"}, {email = "me@example.org"}, {}, "nobody"]
license = {text = "MIT"}
keywords = ["weather", 1]
urls = {Repository = "https://example.org/demo", Broken = 3}

[tool.mcpc.registry]
name = "io.github.me/demo"
oci = "ghcr.io/me/demo:{version}"
"""


def analysed(pyproject: str) -> CheckResult:
    return analyse(tree({**server_json(), "pyproject.toml": pyproject}), (), Options())


def test_metadata_of_the_project_is_a_fact_of_the_build() -> None:
    found = analysed(PUBLISHED)
    assert found.diagnostics == ()
    assert found.server is not None
    facts = build_facts(found.server, "0", ("3.11",))
    assert isinstance(facts, dict)
    assert facts["project"] == {
        "description": "Forecasts.",
        "authors": [{"name": "Me"}, {"email": "me@example.org"}],
        "license": "MIT",
        "urls": {"Repository": "https://example.org/demo"},
        "keywords": ["weather"],
    }
    assert facts["registry"] == {"name": "io.github.me/demo", "oci": ["ghcr.io/me/demo:{version}"]}
    assert found.server.project == metadata_from_facts(facts["project"], facts["registry"])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "table", ['nam = "a/b"', 'name = ["a/b"]', "name = 1", 'oci = ["x", 2]', 'remotes = ""', 'mcpb = "a\\nb"']
)
def test_a_wrong_table_of_the_registry_is_reported(table: str) -> None:
    found = analysed(f"[project]\nname = 'demo'\nversion = '1'\n[tool.mcpc.registry]\n{table}\n")
    assert {problem.code for problem in found.diagnostics} == {"MCP440"}


def test_without_metadata_there_are_no_facts() -> None:
    found = analyse(tree(server_json(name="own", version="1.0.0")), (), Options())
    assert found.server is not None
    facts = build_facts(found.server, "0", ("3.11",))
    assert isinstance(facts, dict)
    assert not {"project", "registry"} & facts.keys()
