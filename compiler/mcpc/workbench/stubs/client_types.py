"""`ClientTypes`: the tools of a server with the types of their arguments and results.

The types are those of `mcpc.schema.models`: named definitions in a few plain keywords.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcpc.model.ir import Schema
from mcpc.reading import Node
from mcpc.schema.models.names import INPUT, OUTPUT, pascal_case, tool_classes
from mcpc.schema.models.view import any_object_schema, model_schema
from mcpc.schema.models.view_schemas import NoModelError
from mcpc.workbench.stubs.annotations import is_any_object, is_sound, takes_nothing

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.client import ServerLists
    from mcpc.schema.models.view_schemas import Shape


@dataclass(frozen=True, slots=True)
class ToolTypes:
    """A tool and its types.  `definitions`: shapes by name; `problem`: why a schema has none but the most general."""

    name: str
    description: str
    input: str
    output: str
    definitions: Mapping[str, Shape]
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ClientTypes:
    """A server with the types of its tools; `class_name`: the name for the client's class."""

    name: str
    version: str
    class_name: str
    tools: tuple[ToolTypes, ...]


def client_types(lists: ServerLists) -> ClientTypes:
    """Return the types of a server's tools."""
    prefixes = tool_classes(tool["name"] for tool in lists.tools)
    tools = tuple(tool_types(tool, prefixes[tool["name"]]) for tool in lists.tools)
    used = {name for tool in tools for name in tool.definitions}
    return ClientTypes(lists.name, lists.version, class_name(lists.name, used), tools)


def class_name(server: str, used: set[str]) -> str:
    """Return a name for the class of the client that no type has."""
    plain = pascal_case(server)
    name = f"{plain if plain[:1].isalpha() else f'Server{plain}'}Client"
    while name in used:
        name += "Class"
    return name


def tool_types(tool: Mapping[str, Any], prefix: str) -> ToolTypes:
    """Return the types of a tool; `prefix`: the beginning of their names."""
    definitions, problem = definitions_of(tool.get("inputSchema"), prefix + INPUT)
    output = ""
    if isinstance(tool.get("outputSchema"), dict):
        output = prefix + OUTPUT
        more, why = definitions_of(tool["outputSchema"], output)
        definitions, problem = definitions | more, problem or why
    description = tool.get("description")
    text = description if isinstance(description, str) else ""
    return ToolTypes(str(tool["name"]), text, prefix + INPUT, output, definitions, problem)


def definitions_of(schema: object, root: str) -> tuple[dict[str, Shape], str]:
    """Return the definitions of a schema, and why they are the most general; `root`: the name of the schema's type."""
    given: Any = schema if isinstance(schema, dict) else {"type": "object"}
    try:
        found, problem = model_schema(Schema(Node(given, "", 0, 0)), root).definitions, ""
    except NoModelError as reason:
        found, problem = any_object_schema(root).definitions, str(reason)
    except RecursionError:
        found, problem = any_object_schema(root).definitions, "it is nested too deeply"
    return {name: shape if is_sound(name, found) else {} for name, shape in found.items()}, problem


def used_types(tool: ToolTypes) -> Iterator[tuple[str, Shape]]:
    """Yield the definitions of a tool without that of arguments of which nothing is known."""
    for name, shape in tool.definitions.items():
        if name != tool.input or not (takes_nothing(shape) or is_any_object(shape)):
            yield name, shape
