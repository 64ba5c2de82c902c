"""What definitions say of themselves becomes typed fields, which give it back as it was written."""

import json
from collections.abc import Mapping
from typing import Any

from mcpc.emit import projections
from mcpc.lower import metadata
from mcpc.model.ir import Server
from mcpc.model.revisions import REVISIONS
from support.projects import SERVER_JSON, checked

NEWEST = REVISIONS[-1]
ICON = {"x/size": 3, "theme": "dark", "src": "https://example.org/i.png", "sizes": ["48x48"], "mimeType": "image/png"}
TOOL = {
    "icons": [ICON, {"src": "data:,"}],
    "x/first": [1.0, 1],
    "name": "t",
    "_meta": {"mcpc/handler": {"timeout": 5}, "own": {"a": None}},
    "annotations": {"idempotentHint": True, "x/y": {"z": 1}, "title": "T", "readOnlyHint": False},
    "outputSchema": {"type": "object"},
    "inputSchema": {"properties": {"a": {}}, "type": "object"},
    "description": "",
    "title": "Tool",
    "execution": {"taskSupport": "optional"},
}
PROMPT = {"arguments": [{"required": False, "_meta": {"mcpc/x": 1}, "name": "a", "title": "A"}], "name": "p"}
RESOURCE = {
    "_meta": {"mcpc/handler": {"timeout": 5}},
    "annotations": {"priority": 1, "audience": ["user"], "lastModified": "2025-01-12T15:00:58Z", "x/y": 0.50},
    "text": "abc",
    "uri": "a:b",
    "name": "r",
}


def server_of(tool: Mapping[str, Any] = TOOL, **server: object) -> Server:
    files = {
        "server.json": json.dumps({**json.loads(SERVER_JSON), **server}),
        "tools.json": json.dumps({"tools": [tool]}),
        "prompts.json": json.dumps({"prompts": [PROMPT]}),
        "resources.json": json.dumps({"resources": [RESOURCE]}),
        "tools.py": "def t(a=None): ...\n",
        "prompts.py": "def p(a=None): ...\n",
    }
    found, problems = checked(files)
    assert found is not None, problems
    return found.server


def test_fields_are_given_back_in_the_order_they_were_written_in() -> None:
    shown = projections.project_tool(server_of().tools[0], NEWEST)
    wanted = {**TOOL, "_meta": {"own": {"a": None}}}
    del wanted["execution"]
    assert json.dumps(shown) == json.dumps(wanted)


def test_fields_of_prompt_arguments_are_given_back() -> None:
    assert json.dumps(projections.project_prompt(server_of().prompts[0], NEWEST)) == json.dumps(PROMPT)


def test_size_of_a_known_resource_is_shown_last_and_its_content_not_at_all() -> None:
    shown = projections.project_resource(server_of().resources[0], NEWEST)
    assert list(shown) == ["annotations", "uri", "name", "size"]
    assert json.dumps(shown["annotations"]) == json.dumps(RESOURCE["annotations"])
    assert shown["size"] == 3


def test_every_field_of_every_revision_has_a_place() -> None:
    for revision in REVISIONS:
        assert set(revision.tool) <= {*metadata.TOOL_FIELDS}
        assert set(revision.prompt) <= {*metadata.PROMPT_FIELDS}
        assert set(revision.prompt_argument) <= {*metadata.PROMPT_ARGUMENT_FIELDS}
        assert set(revision.resource) <= {*metadata.RESOURCE_FIELDS}
        assert set(revision.resource_template) <= {*metadata.TEMPLATE_FIELDS}
        assert set(revision.implementation) <= {*metadata.IMPLEMENTATION_FIELDS}
