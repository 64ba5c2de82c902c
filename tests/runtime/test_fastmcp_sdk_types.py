"""The protocol's types as projects import them: made from tables, the same as the SDK's; and annotations taken apart."""

import json
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import TypeAdapter, ValidationError

from mcpc_runtime.systems.fastmcp.engine.schema_types import without_arms
from mcpc_runtime.systems.fastmcp.standins.sdk_parts.definitions import DEFINITIONS, LACKING

FOLDER = Path(__file__).parent / "fastmcp_sdk"
SDK1, SDK2 = DEFINITIONS["sdk1"], DEFINITIONS["sdk2"]
fields = runpy.run_path(str(FOLDER / "types_of.py"))["fields"]


def recorded(generation):
    """The types of an SDK, without those that the adapter does not have."""
    found = json.loads((FOLDER / f"types_{generation}.json").read_text())
    return {name: without_lacking(kind) for name, kind in found.items() if not LACKING.search(name)}


def without_lacking(kind):
    """A union without the types that the adapter does not have."""
    arms = [each for each in kind.get("anyOf", ()) if not LACKING.search(each.get("$ref", "").rpartition("/")[2])]
    return {**kind, "anyOf": arms} if arms else kind


@pytest.mark.parametrize("generation", DEFINITIONS)
def test_every_type_is_there(generation):
    assert set(recorded(generation)) <= set(DEFINITIONS[generation].names())


@pytest.mark.parametrize(("generation", "name"), [(each, name) for each in DEFINITIONS for name in recorded(each)])
def test_type_has_the_fields_of_the_sdk(generation, name):
    assert fields(DEFINITIONS[generation].find(name)) == recorded(generation)[name]


def test_first_version_has_names_of_the_wire_and_keeps_other_fields():
    tool = SDK1.find("Tool")(name="a", inputSchema={}, more=1, _meta={"k": 1})
    assert (tool.inputSchema, tool.more, tool.meta) == ({}, 1, {"k": 1})
    assert tool.model_dump(by_alias=True, exclude_none=True) == {
        "name": "a",
        "inputSchema": {},
        "_meta": {"k": 1},
        "more": 1,
    }


def test_second_version_has_names_of_python_with_aliases_and_drops_other_fields():
    make = SDK2.find("Tool")
    assert make(name="a", input_schema={}, more=1) == make(name="a", inputSchema={})
    assert make(name="a", input_schema={}).model_dump(by_alias=True, exclude_none=True) == {
        "name": "a",
        "inputSchema": {},
    }


def test_nested_metadata_is_a_class_of_its_own():
    parameters = SDK1.find("CallToolRequestParams").model_validate(
        {"name": "a", "_meta": {"progressToken": 5, "other": True}}
    )
    assert isinstance(parameters.meta, SDK1.find("RequestParams").Meta)
    assert (parameters.meta.progressToken, parameters.meta.other) == (5, True)


def test_content_of_several_blocks_is_a_list():
    text = SDK1.find("TextContent")(type="text", text="a")
    message = SDK1.find("SamplingMessage")(role="user", content=text)
    assert message.content_as_list == [text]


def test_result_that_asks_for_nothing_is_refused():
    with pytest.raises(ValidationError, match="requires at least one of"):
        SDK2.find("InputRequiredResult")()


def test_schemas_describe_content_in_the_words_of_the_sdk():
    schema = TypeAdapter(list[SDK1.find("EmbeddedResource")]).json_schema()["$defs"]
    assert schema["EmbeddedResource"]["description"].startswith("The contents of a resource, embedded into a prompt")
    assert schema["TextResourceContents"]["description"] == "Text contents of a resource."


def test_constants_do_not_need_pydantic():
    program = (
        "import sys; from mcpc_runtime.systems.fastmcp import standins; standins.install('sdk1')\n"
        "from mcp.types import INTERNAL_ERROR, LATEST_PROTOCOL_VERSION; import mcp.server.stdio\n"
        "print(INTERNAL_ERROR, LATEST_PROTOCOL_VERSION, 'pydantic' in sys.modules)"
    )
    environment = {"PYTHONPATH": str(Path(__file__).parents[2] / "runtime")}
    found = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, env=environment)
    assert found.stdout.split() == ["-32603", "2025-11-25", "False"]


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (int, int),
        (int | bytes, int),
        (int | str | bytes, int | str),
        (int | Annotated[bytes, "x"], int),
        (Annotated[int | bytes, "x"], Annotated[int, "x"]),
        (list[bytes] | int, list[bytes] | int),
        (bytes, bytes),
    ],
    ids=str,
)
def test_arms_of_a_union_are_left_out(annotation: Any, expected: Any) -> None:
    assert without_arms(annotation, lambda arm: arm is bytes) == expected
