"""Members of definitions that only the compiler reads, and the words for kinds of values."""

import pytest

from mcpc.diagnostics import Span
from mcpc.model.definitions import (
    APP,
    DEFAULTS_KEY,
    HANDLERS_KEY,
    command_node,
    has_external_handler,
    kind_mismatch,
    options_node,
)
from mcpc.model.definitions.field_descriptions import description_of
from mcpc.reading import Json, Node
from mcpc.reading.json_tree import implied_node
from mcpc_runtime.protocol.media import media_type


def node_of(value: Json) -> Node:
    return implied_node(value, Span("a"))


def with_options(**options: Json) -> Node:
    return node_of(
        {"name": "x", "_meta": {"mcpc/handler": options, "mcpc/handlers": {"all": 1}, "mcpc/defaults": True}}
    )


def test_options_of_a_handler_are_an_object_in_its_metadata() -> None:
    node = with_options(timeout=5)
    found = options_node(node)
    assert found.value == {"timeout": 5}
    every = options_node(node, HANDLERS_KEY)
    assert every.value == {"all": 1}
    assert options_node(node, DEFAULTS_KEY) is None
    for other in (None, node_of({}), node_of({"_meta": 5}), node_of({"_meta": {"mcpc/handler": [1]}})):
        assert options_node(other) is None


@pytest.mark.parametrize(
    ("options", "is_external"),
    [
        ({"contract": "x"}, True),
        ({"content": []}, True),
        ({"messages": None}, True),
        ({"contents": 5}, True),
        ({"command": ["x"], "timeout": 5}, False),
        ({}, False),
    ],
)
def test_who_runs_a_definition(options: dict[str, Json], is_external: bool) -> None:
    node = with_options(**options)
    assert has_external_handler(node) is is_external
    command = command_node(node)
    assert (command and command.value) == options.get("command")
    assert not has_external_handler(node_of({"contract": "x"}))


def test_what_was_expected_and_found() -> None:
    kinds = {"object": {}, "array": [], "string": "", "number": 1.5, "boolean": True, "null": None}
    words = ["an object", "an array", "a string", "a number", "a boolean", "null"]
    for (kind, value), word in zip(kinds.items(), words, strict=True):
        assert kind_mismatch("`x`", "array", node_of(value)) == f"`x` must be an array, found {word}"
        assert kind_mismatch("y", kind, node_of([])) == f"y must be {word}, found an array"


def test_fields_have_descriptions_by_the_kind_of_their_object() -> None:
    assert description_of("setting", "choices") == "The only valid values."
    assert [description_of(*row) for row in (("setting", "uri"), ("nothing", "choices"))] == ["", ""]
    assert description_of("server description", "settings")


def test_media_types_are_the_same_on_every_machine() -> None:
    assert media_type("a.md", b"") == "text/markdown"
    assert APP == "text/html;profile=mcp-app"
