"""The name and version of `[project]` are the server's unless `server.json` or `Server(...)` says otherwise."""

import json

import pytest

from mcpc.diagnostics import Span
from mcpc.frontends.project_metadata import license_text, read_project_metadata
from mcpc.model.ir.project import Author, ProjectMetadata, RegistryEntry, metadata_from_facts
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
    assert (server.name, server.version) == expected


@pytest.mark.parametrize("project", ["[project]\nname = 'demo'\ndynamic = ['version']\n", "[project", "project = 1\n"])
def test_a_project_that_does_not_say(project: str) -> None:
    server, _ = lowered({**marked('"own"'), "pyproject.toml": project})
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


ODD = """
[project]
description = "several\\nlines"
authors = [{name = " A ", email = "a\\tb"}, {name = 5}, {name = ""}]
license = " Apache-2.0 "
keywords = "none"
[project.urls]
Second = "https://b"
Empty = " "
First = "https://a"
[tool.mcpc.registry]
mcpb = ["a", "b"]
remotes = "https://c"
"""
TABLE = "[tool.mcpc.registry]\n"
FAULTS = {
    "name = ['a/b']": ["`name`"],
    "name = 1\noci = ['x', 2]\nremotes = ''\nmcpb = 'a\\u0007b'": ["`name`", "`oci`", "`remotes`"],
    'mcpb = "a\\u0007b"': ["`mcpb`"],
    "mcpb = []\noci = [' ']": ["`oci`"],
}


def test_odd_values_of_a_project_are_ignored() -> None:
    assert read_project_metadata(tree({"pyproject.toml": ODD})) == (
        ProjectMetadata(
            authors=(Author("A"),),
            license="Apache-2.0",
            urls=(("Second", "https://b"), ("First", "https://a")),
            registry=RegistryEntry(mcpb=("a", "b"), remotes=("https://c",)),
        ),
        (),
    )
    for text in ("[", "project = 1\n", "[project]\nauthors = 'A'\nurls = 5\n[tool]\nmcpc = 1\n", "\ufeff[project]\n"):
        assert read_project_metadata(tree({"pyproject.toml": text})) == (ProjectMetadata(), ())
    assert read_project_metadata(tree({})) == (ProjectMetadata(), ())
    assert license_text({"text": "MIT", "file": "x"}) == license_text("MIT") == "MIT"


@pytest.mark.parametrize("table", FAULTS)
def test_what_is_wrong_in_the_table_of_the_registry_is_named(table: str) -> None:
    metadata, problems = read_project_metadata(
        tree({"pyproject.toml": f"[project]\nlicense = 'MIT'\n{TABLE}{table}\n"})
    )
    assert metadata == ProjectMetadata(license="MIT")
    assert [(problem.code, problem.span) for problem in problems] == [("MCP440", Span("pyproject.toml"))] * len(
        problems
    )
    assert len(problems) == len(FAULTS[table])
    assert all(name in problem.message for name, problem in zip(FAULTS[table], problems, strict=True))


def test_without_metadata_there_are_no_facts() -> None:
    found = analyse(tree(server_json(name="own", version="1.0.0")), (), Options())
    assert found.server is not None
    facts = build_facts(found.server, "0", ("3.11",))
    assert isinstance(facts, dict)
    assert not {"project", "registry"} & facts.keys()
