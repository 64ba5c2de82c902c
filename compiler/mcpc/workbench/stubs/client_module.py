"""The module of a typed client: TypedDicts, and a class with an async method for each tool, from `ClientTypes`.

Values of schemas reach the text only through `literal` and `docstring`, and as names that `mcpc.schema.models.names`
made.
"""

from __future__ import annotations

import keyword
import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcpc.emit.templates import template_text
from mcpc.model.ir import Schema
from mcpc.reading import Node
from mcpc.schema.code import literal
from mcpc.schema.models.names import INPUT, MODULE_NAMES, OUTPUT, pascal_case, tool_classes
from mcpc.schema.models.view import any_object_schema, model_schema
from mcpc.schema.models.view_schemas import NoModelError
from mcpc.workbench.stubs.annotations import (
    annotation,
    docstring,
    full_text,
    is_any_object,
    is_sound,
    properties_of,
    required_of,
    takes_nothing,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from mcpc.client import ServerLists
    from mcpc.schema.models.view_schemas import Shape


MARK = "# Written by `mcpc generate client`: do not edit."
"""The first line of a written file; a file that begins otherwise is not replaced."""
TYPING = ("Any", "Literal", "NotRequired", "Protocol", "TypeAlias", "TypedDict", "Unpack", "cast")
HIDDEN = MODULE_NAMES | {*TYPING, "Mapping", "None"}
"""Names that annotations use: a member with one of them would hide it from the members after it."""
OTHER_CHARACTERS = re.compile(r"[^0-9A-Za-z]+")
INDENT = "    "


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


def python_client(client: ClientTypes) -> str:
    types = "\n\n\n".join(definition(name, shape) for tool in client.tools for name, shape in used_types(tool))
    body = "\n\n\n".join(part for part in (types, client_class(client)) if part)
    fixed = template_text("stubs/client.py.txt").decode().rstrip("\n")
    words = [word for word in TYPING if re.search(rf"\b{word}\b", fixed + body)]
    head = "\n".join(
        (
            MARK,
            docstring(f"A typed client for the tools of {client.name} {client.version}.", ""),
            "",
            "from __future__ import annotations",
            "",
            "from collections.abc import Mapping",
            f"from typing import {', '.join(words)}",
        )
    )
    return f"{head}\n\n\n{fixed}\n\n\n{body}\n"


def definition(name: str, shape: Shape) -> str:
    members = properties_of(shape)
    if not members:
        text = annotation(shape)
        return f"{name}: TypeAlias = {literal(text)}" + after(str(shape.get("description", "")))
    required = required_of(shape)
    types = {
        key: annotation(inner) if key in required else f"NotRequired[{annotation(inner)}]"
        for key, inner in members.items()
    }
    text = full_text(shape, members)
    if all(map(is_member_name, types)):
        said = [f"{INDENT}{docstring(text, INDENT)}\n"] if text else []
        return "\n".join(
            [f"class {name}(TypedDict):", *said, *(f"{INDENT}{key}: {kind}" for key, kind in types.items())]
        )
    rows = "".join(f"{INDENT}{literal(key)}: {literal(kind)},\n" for key, kind in types.items())
    return f"{name} = TypedDict({literal(name)}, {{\n{rows}}})" + after(text)


def after(text: str) -> str:
    """Return the docstring of an assignment, on the line after it."""
    return f"\n{docstring(text, '')}" if text else ""


def is_member_name(name: str) -> bool:
    """Tell whether a name can stand in the body of a TypedDict as it is."""
    is_plain = name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("__")
    return is_plain and name not in HIDDEN and unicodedata.normalize("NFKC", name) == name


def client_class(client: ClientTypes) -> str:
    names = method_names(tool.name for tool in client.tools)
    methods = [method(names[tool.name], tool) for tool in client.tools]
    said = docstring(f"The tools of {client.name}; every method raises ToolCallError where the tool fails.", INDENT)
    return "\n\n".join([f"class {client.class_name}(ToolCalls):\n{INDENT}{said}", *methods])


def method_names(tools: Iterable[str]) -> dict[str, str]:
    """Return the method of each tool: the tool's own name wherever it can be one, and never one name for two tools."""
    tools = tuple(dict.fromkeys(tools))
    taken = {name for name in tools if is_method_name(name)}
    found: dict[str, str] = {name: name for name in taken}
    for tool in sorted(name for name in tools if name not in taken):
        found[tool] = unused_name(possible_name(tool), taken)
        taken.add(found[tool])
    return found


def possible_name(tool: str) -> str:
    """Return a name that a method can have, as near to the tool's as possible."""
    plain = OTHER_CHARACTERS.sub("_", tool).strip("_")
    return next(name for name in (plain, f"{plain}_", f"tool_{plain}") if is_method_name(name))


def unused_name(name: str, taken: set[str]) -> str:
    """Return the name, with a number if it is taken."""
    number, free = 2, name
    while free in taken:
        free = f"{name.rstrip('_')}_{number}"
        number += 1
    return free


def is_method_name(name: str) -> bool:
    """Tell whether a tool's name can be that of a method as it is."""
    is_plain = name.isidentifier() and name.isascii() and not name.startswith("_")
    return is_plain and not keyword.iskeyword(name) and name != "str"


def method(name: str, tool: ToolTypes) -> str:
    parameter, given = parameters(tool)
    kind, way = (tool.output, "_structured") if tool.output else ("str", "_text")
    call = f"await self.{way}({literal(tool.name)}, {given})"
    value = f"cast({literal(tool.output)}, {call})" if tool.output else call
    return "\n".join(
        [
            f"{INDENT}async def {name}(self{parameter}) -> {kind}:",
            *(f"{INDENT * 2}{line}" for line in method_docstring(tool)),
            f"{INDENT * 2}return {value}",
        ]
    )


def method_docstring(tool: ToolTypes) -> Iterator[str]:
    problem = f"Its types are general, because of a schema: {tool.problem}." if tool.problem else ""
    text = "\n\n".join(part for part in (tool.description, problem) if part)
    if text.strip():
        yield docstring(text, INDENT * 2)


def parameters(tool: ToolTypes) -> tuple[str, str]:
    """Return the parameters of a method, and what it passes on as the arguments."""
    shape = tool.definitions[tool.input]
    members = properties_of(shape)
    if members and all(map(is_member_name, members)):
        return f", /, **arguments: Unpack[{tool.input}]", "arguments"
    if members:
        return f", arguments: {tool.input}, /", "arguments"
    if takes_nothing(shape):
        return "", "{}"
    if is_any_object(shape):
        return ", /, **arguments: object", "arguments"
    return f", arguments: {tool.input}, /", 'cast("Mapping[str, object]", arguments)'
