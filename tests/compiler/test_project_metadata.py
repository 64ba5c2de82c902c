"""The name and version of `[project]` are the server's unless `server.json` or `Server(...)` says otherwise."""

import json

from mcpc.model.ir.project import metadata_from_facts
from mcpc.options import Options
from mcpc.pack.manifest import build_facts
from mcpc.pipeline import CheckResult, analyse
from support.projects import tree

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
