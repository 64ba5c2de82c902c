"""The name and version of `[project]` are the server's unless `server.json` or `Server(...)` says otherwise."""

import json

from mcpc.model.ir.project import metadata_from_facts
from mcpc.options import Options
from mcpc.pack.manifest import build_facts
from mcpc.pipeline import CheckResult, analyse
from support.projects import Files, checked, tree

TOOLS = {
    "tools.json": json.dumps({"tools": [{"name": "hello", "description": "Say.", "inputSchema": {"type": "object"}}]}),
    "tools.py": "def hello():\n    return 'hello'\n",
}


def server_json(**info: str) -> dict[str, str]:
    return {**TOOLS, "server.json": json.dumps({"serverInfo": info})}


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


def test_without_metadata_there_are_no_facts() -> None:
    found = analyse(tree(server_json(name="own", version="1.0.0")), (), Options())
    assert found.server is not None
    facts = build_facts(found.server, "0", ("3.11",))
    assert isinstance(facts, dict)
    assert not {"project", "registry"} & facts.keys()


ONE_TOOL = '{"tools": [{"name": "x", "description": "d", "inputSchema": {"type": "object"}}]}'
UNITS = {"name": "UNITS", "type": "string", "choices": ["metric", "imperial"], "default": "metric"}


def project(settings: str, more: Files | None = None) -> Files:
    server = f'{{"serverInfo": {{"name": "s", "version": "1"}}, "settings": {settings}}}'
    return {"server.json": server, "tools.json": ONE_TOOL, "tools.py": "def x(): ...\n", **(more or {})}


def test_toolsets_of_any_format_are_declared_in_pyproject_and_not_shown_to_clients() -> None:
    pyproject = '[tool.mcpc.toolsets]\nmore = ["x", "*"]\nown = ["x*"]\n'
    files = project("[]", {"pyproject.toml": pyproject})
    files["server.json"] = str(files["server.json"]).replace('"settings": []', '"toolsets": {"own": ["x"], "a": ["x"]}')
    server, problems = checked(files)
    assert server is not None, problems
    toolsets = {each.name: [pattern for pattern, _ in each.patterns] for each in server.server.toolsets}
    assert toolsets == {"a": ["x"], "more": ["x", "*"], "own": ["x*"]}
    assert [key for key, _ in server.server.metadata.order.others] == []
    wrong, *_ = checked({**files, "pyproject.toml": "[tool.mcpc]\ntoolsets = 3\n"})[1]
    assert (wrong.code, wrong.span.path if wrong.span else "") == ("MCP101", "pyproject.toml")


def test_a_handler_that_reads_a_setting_gets_it() -> None:
    code = {"tools.py": "import os\ndef x(): return os.environ['UNITS']\n"}
    assert checked(project(json.dumps([UNITS]), code))[1] == ()
    assert [problem.code for problem in checked(project("[]", code))[1]] == ["MCP231"]
