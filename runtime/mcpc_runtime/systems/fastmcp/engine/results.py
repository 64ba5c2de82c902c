"""The results of tools: content, structured content, wrapped or not, and how a function's result becomes both."""

from __future__ import annotations

import logging
from base64 import b64encode
from dataclasses import dataclass
from typing import Any, get_args, get_origin

from mcpc_runtime.systems.fastmcp.engine import schemas
from mcpc_runtime.systems.fastmcp.engine.behaviour import behaviour
from mcpc_runtime.systems.fastmcp.engine.components import Tool
from mcpc_runtime.systems.fastmcp.engine.contents import (
    block_of,
    is_block,
    is_content,
    json_text,
    json_value,
    text_block,
    typed_block,
    wire,
)
from mcpc_runtime.systems.fastmcp.engine.schema_types import hints_of, is_class
from mcpc_runtime.systems.fastmcp.engine.server import ToolError
from mcpc_runtime.systems.fastmcp.generation import selected
from mcpc_runtime.systems.fastmcp.interfaces import Object

WRAPPED = "x-fastmcp-wrap-result"
ATOMS = (str, int, float, bool)


@dataclass(frozen=True, slots=True)
class Structure:
    """How a tool's results are structured.  `kind`: the annotation by which they are written."""

    structured: bool
    wrapped: bool = False
    kind: Any = None


UNSTRUCTURED = Structure(structured=False)


def structure_of(tool: Tool) -> Structure:
    """Return how the results of a tool are structured."""
    if isinstance(tool.given_output, dict):
        return Structure(structured=True, wrapped=bool(tool.given_output.get(WRAPPED)), kind=annotation_of(tool))
    if tool.given_output is None or tool.function is None:
        return Structure(structured=False, kind=annotation_of(tool))
    return simple_structure(tool) or made_structure(tool)


def annotation_of(tool: Tool) -> object:
    """Return the annotation of a tool's results, None if there is none."""
    return None if tool.function is None else hints_of(tool.function).get("return")


def simple_structure(tool: Tool) -> Structure | None:
    """Return the structure of results with a simple annotation, None for others."""
    hint = annotation_of(tool)
    if hint in (None, Any):
        return UNSTRUCTURED
    if hint in ATOMS or (get_origin(hint) is list and get_args(hint) and get_args(hint)[0] in ATOMS):
        return Structure(structured=True, wrapped=True, kind=hint)
    if hint is dict or (get_origin(hint) is dict and get_args(hint) in ((str, Any), (str, str))):
        return Structure(structured=True, kind=hint)
    return None


def made_structure(tool: Tool) -> Structure:
    function: Any = tool.function
    found = schemas.output_schema(function, selected())
    hint = annotation_of(tool)
    return Structure(structured=found is not None, wrapped=found is not None and found.wrapped, kind=hint)


log = logging.getLogger(__name__)


class ToolResult:
    """The result of a tool.  Its blocks become the SDK's types when `content` is first asked for."""

    def __init__(
        self,
        content: object = None,
        structured_content: object = None,
        meta: Object | None = None,
        is_error: bool = False,
    ) -> None:
        if content is None and structured_content is None:
            raise ValueError("Either content or structured_content must be provided")
        self._blocks = content_of(structured_content if content is None else content)
        self._typed = False
        self.structured_content = None if structured_content is None else structured(structured_content)
        self.meta = meta
        self.is_error = is_error

    @property
    def content(self) -> list[Any]:
        """The content blocks, as the SDK's types."""
        if not self._typed:
            self._blocks = [typed_block(block) for block in self._blocks]
            self._typed = True
        return self._blocks

    @content.setter
    def content(self, content: object) -> None:
        self._blocks = content_of(content)
        self._typed = False

    def to_wire(self) -> Object:
        """Return the protocol's CallToolResult."""
        found: Object = {"content": [wire(block) for block in self._blocks]}
        if self.meta is not None:
            found = {"_meta": wire(self.meta), **found}
        if self.structured_content is not None:
            found["structuredContent"] = wire(self.structured_content)
        found["isError"] = self.is_error
        return found


class WholeResult(ToolResult):
    """A result that a function returned in the protocol's form."""

    def __init__(self, result: object) -> None:
        self.whole = wire(result)
        self._blocks = self.whole.get("content", [])
        self._typed = False
        self.structured_content = self.whole.get("structuredContent")
        self.meta = self.whole.get("_meta")
        self.is_error = bool(self.whole.get("isError"))


def structured(value: object) -> Object:
    """Return structured content; ValueError: it is not an object."""
    found = json_value(value, by_alias=by_alias_of(value), own_aliases=behaviour().aliases == "own")
    if not isinstance(found, dict):
        kind = type(found).__name__
        raise ValueError(
            f"structured_content must be a dict or None. Got {kind}: {found!r}. "
            "Tools should wrap non-dict values based on their output_schema."
        )
    return found


def content_of(result: object) -> list[Object]:
    """Return a function's result as content blocks."""
    if result is None:
        return []
    if not isinstance(result, (list, tuple)):
        return [single_block(result)]
    if any(map(is_content, result)):
        if not behaviour().blocks_last:
            return [single_block(item) for item in result]
        others = [item for item in result if not is_content(item)]
        blocks = [single_block(item) for item in result if is_content(item)]
        return [text_block(text_of(others)), *blocks] if others else blocks
    return [text_block(text_of(result))] if result else []  # an empty list is content already


def single_block(item: object) -> Object:
    if is_content(item):
        return block_of(item)
    if isinstance(item, str):
        return text_block(str(item))
    if isinstance(item, bytes) and behaviour().opaque_bytes:
        try:
            return text_block(item.decode())
        except UnicodeDecodeError:
            return text_block(b64encode(item).decode())
    return text_block(text_of(item))


def text_of(value: object) -> str:
    version = behaviour()
    own = version.aliases == "own"
    return json_text(value, indented=version.indented, by_alias=by_alias_of(value), own_aliases=own)


def by_alias_of(value: object) -> bool:
    """Tell whether a value is written with the aliases of its fields."""
    rule = behaviour().aliases
    if rule == "value":
        config = getattr(value, "model_config", None)
        return not (isinstance(config, dict) and config.get("serialize_by_alias") is False)
    return rule == "always"


def converted(tool: Tool, result: object) -> ToolResult:
    """Return a function's result as the result of its tool."""
    if isinstance(result, ToolResult):
        return result
    if is_class(type(result), ("CallToolResult",)) and behaviour().whole_results:
        return WholeResult(result)
    return structured_result(tool, result, structure_of(tool))


def structured_result(tool: Tool, result: object, structure: Structure) -> ToolResult:
    """Return a function's result as FastMCP makes it."""
    version = behaviour()
    # Empty at first: the constructor refuses None, which a function may return.
    made = ToolResult([])
    made._blocks = content_of(result)
    if isinstance(result, bytes) and version.opaque_bytes:
        return made
    content = is_content(result) or (isinstance(result, (list, tuple)) and any(map(is_opaque_item, result)))
    if content and not structure.structured:
        return made
    found = structured_value(tool, result, structure)
    if found is FAILED:
        return made
    if version.text_of_structured and not content:
        made._blocks = content_of(found)
    if structure.structured:
        made.structured_content = {"result": found} if structure.wrapped else found
        if structure.wrapped and version.wrap_meta:
            made.meta = {"fastmcp": {"wrap_result": True}}
        check_object(made.structured_content)
    elif isinstance(found, dict):
        made.structured_content = found
    return made


FAILED = object()
"""What stands for a value that has no JSON form."""


def is_opaque_item(item: object) -> bool:
    """Tell whether an item of a list makes it content."""
    return is_content(item) if behaviour().text_of_structured else is_block(item)


def structured_value(tool: Tool, result: object, structure: Structure) -> Any:
    """Return the JSON value of a result, FAILED if it has none and needs none."""
    version = behaviour()
    try:
        if version.aliases == "own":
            return json_value(result, own_aliases=True, kind=structure.kind)
        return json_value(result, by_alias=by_alias_of(result))
    except (ValueError, UnicodeDecodeError) as problem:
        if not structure.structured:
            return FAILED
        if not version.text_of_structured:
            if version.wrap_meta:
                return FAILED
            raise
        raise ToolError(
            f"Could not serialize the return value of tool {tool.name!r} for its output schema: {problem}. If this is "
            "unexpected, set the tool's output_schema to None to disable automatic serialization."
        ) from problem


def check_object(value: object) -> None:
    """Raise ValueError for structured content that is not an object."""
    if value is not None and not isinstance(value, dict):
        structured(value)
