"""Typed clients for the tools of a server, as Python source: `mcpc generate client`.

    ServerLists ─client_types─▶ ClientTypes ─python_client─▶ source

A client is one module without dependencies: it calls whatever has the SDKs' method for calling a tool.  Types accept
every value that the schema accepts; what a type cannot express is `object`.

Values of schemas reach the text only through `literal` and `docstring`, and as names that `mcpc.schema.models.names`
made.

In a docstring only printable characters are written, and nothing ends the docstring that it is in.
"""

from __future__ import annotations

import ast
import json
import keyword
import re
import textwrap
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcpc.emit.templates import template_text
from mcpc.model.ir import Schema
from mcpc.reading import Node
from mcpc.schema.code import literal
from mcpc.schema.models.names import INPUT, MODULE_NAMES, OUTPUT, pascal_case, tool_classes
from mcpc.schema.models.view import any_object_schema, model_schema
from mcpc.schema.models.view_schemas import NOTES, UNLIMITED, NoModelError, visible_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from mcpc.client import ServerLists
    from mcpc.schema.models.view_schemas import Shape

__all__ = ["MARK", "client_types", "python_client"]

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
        definitions, problem = model_schema(Schema(Node(given, "", 0, 0)), root).definitions, ""
    except NoModelError as reason:
        definitions, problem = any_object_schema(root).definitions, str(reason)
    except RecursionError:
        definitions, problem = any_object_schema(root).definitions, "it is nested too deeply"
    return {name: shape if is_sound(name, definitions) else {} for name, shape in definitions.items()}, problem


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
        # A text, because the type may be defined further below.
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
    # Python mangles names with two underscores in a class, and normalises all names to NFKC.
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
    names: dict[str, str] = {name: name for name in taken}
    # Sorted, so that the order in which a server lists its tools decides no name.
    for tool in sorted(name for name in tools if name not in taken):
        plain = OTHER_CHARACTERS.sub("_", tool).strip("_")
        names[tool] = unused_name(
            next(name for name in (plain, f"{plain}_", f"tool_{plain}") if is_method_name(name)), taken
        )
        taken.add(names[tool])
    return names


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
    # A method `str` would hide the type in the annotations of its class.
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


SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
REFERENCE = "#/$defs/"
MOST_EXACT = 2**53
"""The first whole number that not every implementation of JSON has exactly (RFC 8259, section 6)."""
OTHER_MEMBERS = "Other members are allowed."
WIDTH = 100


def annotation(shape: Shape, unknown: str = "object") -> str:
    """Return the type of a value; `unknown`: the type of any value, `Any` inside of containers."""
    plain = bare(shape)
    if not plain:
        return unknown
    if "$ref" in plain:
        return referred(plain)
    if values := literals_of(plain):
        return f"Literal[{', '.join(map(literal, values))}]" if all(map(is_exact, values)) else wider(values)
    if members := unions_of(plain):
        return " | ".join(dict.fromkeys(annotation(member, unknown) for member in members))
    return " | ".join(of_kind(kind, plain) for kind in kinds_of(plain))


def wider(values: list[object]) -> str:
    """Return the types of values that cannot be types."""
    return " | ".join(dict.fromkeys("None" if value is None else type(value).__name__ for value in values))


def of_kind(kind: str, shape: Shape) -> str:
    """Return the type of a value of one kind.  A tuple is a list, as JSON makes it."""
    if kind == "array":
        inner = prefix_of(shape) or [inner_shape(shape.get("items"))]
        return f"list[{' | '.join(dict.fromkeys(annotation(item, 'Any') for item in inner))}]"
    if kind == "object":
        return f"dict[str, {annotation(inner_shape(shape.get('additionalProperties')), 'Any')}]"
    return SCALARS[kind]


def is_sound(name: str, definitions: Mapping[str, Shape]) -> bool:
    """Tell whether a definition does not stand for itself: there is no such alias."""
    seen, waiting = set[str](), [definitions[name]]
    while waiting:
        for target in direct_references(waiting.pop()):
            if target == name:
                return False
            if target not in seen:
                seen.add(target)
                waiting.append(definitions.get(target, {}))
    return True


def direct_references(shape: Shape) -> list[str]:
    """Return the definitions that a value of this shape itself has."""
    members = shape.get("anyOf")
    inner = [item for item in members if isinstance(item, dict)] if isinstance(members, list) else [shape]
    return [referred(item) for item in inner if "$ref" in item]


def referred(shape: Shape) -> str:
    """Return the name of the definition that a shape refers to."""
    return str(shape["$ref"]).removeprefix(REFERENCE)


def properties_of(shape: Shape) -> dict[str, Shape] | None:
    """Return the members of an object with names; None for any other shape."""
    properties = shape.get("properties")
    return properties if isinstance(properties, dict) else None  # type: ignore[return-value]


def required_of(shape: Shape) -> frozenset[str]:
    required = shape.get("required")
    return frozenset(map(str, required)) if isinstance(required, list) else frozenset()


def bare(shape: Shape) -> Shape:
    """Return a shape without notes and limits, which types do not have."""
    return {key: value for key, value in shape.items() if key not in NOTES and key not in UNLIMITED}


def kinds_of(shape: Shape) -> list[str]:
    """Return the names of a shape's types: one, or one and `null`."""
    kind = shape.get("type")
    return [str(item) for item in kind] if isinstance(kind, list) else [str(kind)]


def literals_of(shape: Shape) -> list[Any]:
    """Return the values of an enumeration; an empty list for any other shape."""
    values = shape.get("enum")
    return values if isinstance(values, list) else []


def is_exact(value: object) -> bool:
    """Tell whether a value of an enumeration is a type: large numbers are not, which a server may have rounded."""
    return not isinstance(value, int) or abs(value) < MOST_EXACT


def unions_of(shape: Shape) -> list[Shape]:
    """Return the alternatives of a union; an empty list for any other shape."""
    members = shape.get("anyOf")
    return [item for item in members if isinstance(item, dict)] if isinstance(members, list) else []


def inner_shape(value: object) -> Shape:
    """Return a subschema; anything else accepts every value."""
    return value if isinstance(value, dict) else {}


def prefix_of(shape: Shape) -> list[Shape]:
    """Return the shapes of a tuple's members; an empty list for any other shape."""
    prefix = shape.get("prefixItems")
    return [inner_shape(item) for item in prefix] if isinstance(prefix, list) else []


def takes_nothing(shape: Shape) -> bool:
    """Tell whether a shape is that of an object without members."""
    return kinds_of(shape) == ["object"] and not properties_of(shape) and shape.get("additionalProperties") is False


def is_any_object(shape: Shape) -> bool:
    return kinds_of(shape) == ["object"] and not properties_of(shape) and shape.get("additionalProperties") is True


def docstring(text: str, indent: str) -> str:
    """Return a text as a docstring, with the indentation of its lines."""
    shown = visible_text(text).strip()
    lines = [line.rstrip() for line in shown.split("\n")]
    escaped = "\n".join(line and f"{indent}{line}" for line in lines).strip().replace("\\", "\\\\")
    body = escaped.replace('"""', '\\"\\"\\"')
    if body.endswith('"'):
        body = body[:-1] + '\\"'
    quoted = f'"""{body}\n{indent}"""' if len(lines) > 1 else f'"""{body}"""'
    return quoted if is_docstring(quoted, shown) else literal(shown)


def is_docstring(source: str, text: str) -> bool:
    """Tell whether a source is one string, with the words of a text."""
    try:
        text_of_source = ast.literal_eval(source)
    except (SyntaxError, ValueError, MemoryError):
        return False
    return isinstance(text_of_source, str) and text_of_source.split() == text.split()


def member_lines(members: Mapping[str, Shape]) -> Iterator[str]:
    """Yield a line for each member that has something to say."""
    for name, shape in members.items():
        if words := member_text(shape):
            yield from textwrap.wrap(
                f"{name}: {words}", WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
            )


def member_text(shape: Shape) -> str:
    """Return what a type does not say about a member, in one line."""
    said = " ".join(str(shape.get("description", "")).split())
    limits = [f"{key} {json.dumps(shape[key])}" for key in sorted(UNLIMITED & shape.keys())]
    if "default" in shape:
        limits.append(f"default {json.dumps(shape['default'])}")
    return f"{said} ({', '.join(limits)})".strip() if limits else said


def full_text(shape: Shape, members: Mapping[str, Shape]) -> str:
    """Return the text of an object with names: its description, its members, and what else it may have."""
    extras = shape.get("additionalProperties")
    others = OTHER_MEMBERS if isinstance(extras, dict) and extras else ""
    paragraphs = (str(shape.get("description", "")), "\n".join(member_lines(members)), others)
    return "\n\n".join(part for part in paragraphs if part)
