"""The registry's `server.json`: recognised as such, and not taken for the description of a native project."""

import json

import pytest

from mcpc.frontends import select_frontends
from mcpc.options import Options
from support.projects import Files, parsed, tree

SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
PUBLISHED = {"name": "io.github.someone/weather", "description": "Weather", "version": "1.2.0"}
MANIFESTS = {
    "with its schema": {"$schema": SCHEMA, **PUBLISHED},
    "with packages": {**PUBLISHED, "packages": [{"registryType": "pypi", "identifier": "weather"}]},
    "with a repository": {**PUBLISHED, "repository": {"url": "https://example.org/weather", "source": "github"}},
}
DECORATED = 'from mcpc import Server\n\nserver = Server("weather")\n\n\n@server.tool\ndef now(city: str) -> str:\n    """Return it."""\n    return city\n'


@pytest.mark.parametrize("name", MANIFESTS)
def test_a_manifest_beside_a_server_changes_nothing(name: str) -> None:
    plain: Files = {"server.py": DECORATED}
    alone, problems = parsed(plain)
    beside, more = parsed({**plain, "server.json": json.dumps(MANIFESTS[name])})
    assert problems == more == ()
    assert alone is not None
    assert beside is not None
    assert beside.server is not None
    assert alone.server is not None
    assert beside.server.node.value == alone.server.node.value
    assert [tool.node.value for tool in beside.tools] == [tool.node.value for tool in alone.tools]


@pytest.mark.parametrize("text", ["{", '{"name": "a", "packages": ' + "[" * 100_000, ""])
def test_a_file_that_cannot_be_read_is_reported_by_the_format(text: str) -> None:
    found, _ = select_frontends(tree({"server.json": text}), Options())
    assert [frontend.name for frontend in found] == ["native"]
