"""A typed client in Python: TypedDicts, and a class with an async method for each tool.

Values of schemas reach the text only through `literal` and `docstring`, and as names that `mcpc.schema.models.names`
made.
"""

from __future__ import annotations

import keyword
import re
import unicodedata
from typing import TYPE_CHECKING

from mcpc.emit.templates import template_text
from mcpc.schema.code import literal
from mcpc.schema.models.names import MODULE_NAMES
from mcpc.workbench.stubs import view_keywords
from mcpc.workbench.stubs.client_types import used_types
from mcpc.workbench.stubs.method_names import method_names
from mcpc.workbench.stubs.texts import MARKS, docstring, full_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.schema.models.view_schemas import Shape
    from mcpc.workbench.stubs.client_types import ClientTypes, ToolTypes

SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
TYPING = ("Any", "Literal", "NotRequired", "Protocol", "TypeAlias", "TypedDict", "Unpack", "cast")
HIDDEN = MODULE_NAMES | {*TYPING, "Mapping", "None"}
"""Names that annotations use: a member with one of them would hide it from the members after it."""
INDENT = "    "


def python_client(client: ClientTypes) -> str:
    """Return the module of a client."""
    types = "\n\n\n".join(definition(name, shape) for tool in client.tools for name, shape in used_types(tool))
    body = "\n\n\n".join(part for part in (types, client_class(client)) if part)
    fixed = template_text("stubs/client.py.txt").decode().rstrip("\n")
    words = [word for word in TYPING if re.search(rf"\b{word}\b", fixed + body)]
    head = "\n".join(
        (
            MARKS["python"],
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
    """Return the source of one type."""
    members = view_keywords.properties_of(shape)
    if not members:
        text = annotation(shape)
        return f"{name}: TypeAlias = {literal(text)}" + after(str(shape.get("description", "")))
    required = view_keywords.required_of(shape)
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


def annotation(shape: Shape, unknown: str = "object") -> str:
    """Return the type of a value; `unknown`: the type of any value, `Any` inside of containers."""
    plain = view_keywords.bare(shape)
    if not plain:
        return unknown
    if "$ref" in plain:
        return view_keywords.referred(plain)
    if values := view_keywords.literals_of(plain):
        return (
            f"Literal[{', '.join(map(literal, values))}]" if all(map(view_keywords.is_exact, values)) else wider(values)
        )
    if members := view_keywords.unions_of(plain):
        return " | ".join(dict.fromkeys(annotation(member, unknown) for member in members))
    return " | ".join(of_kind(kind, plain) for kind in view_keywords.kinds_of(plain))


def wider(values: list[object]) -> str:
    """Return the types of values that cannot be types."""
    return " | ".join(dict.fromkeys("None" if value is None else type(value).__name__ for value in values))


def of_kind(kind: str, shape: Shape) -> str:
    """Return the type of a value of one kind.  A tuple is a list, as JSON makes it."""
    if kind == "array":
        inner = view_keywords.prefix_of(shape) or [view_keywords.inner_shape(shape.get("items"))]
        return f"list[{' | '.join(dict.fromkeys(annotation(item, 'Any') for item in inner))}]"
    if kind == "object":
        return f"dict[str, {annotation(view_keywords.inner_shape(shape.get('additionalProperties')), 'Any')}]"
    return SCALARS[kind]


def is_member_name(name: str) -> bool:
    """Tell whether a name can stand in the body of a TypedDict as it is."""
    is_plain = name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("__")
    return is_plain and name not in HIDDEN and unicodedata.normalize("NFKC", name) == name


def client_class(client: ClientTypes) -> str:
    """Return the class of a client."""
    names = method_names((tool.name for tool in client.tools), is_method_name)
    methods = [method(names[tool.name], tool) for tool in client.tools]
    said = docstring(f"The tools of {client.name}; every method raises ToolCallError where the tool fails.", INDENT)
    return "\n\n".join([f"class {client.class_name}(ToolCalls):\n{INDENT}{said}", *methods])


def is_method_name(name: str) -> bool:
    """Tell whether a tool's name can be that of a method as it is."""
    is_plain = name.isidentifier() and name.isascii() and not name.startswith("_")
    return is_plain and not keyword.iskeyword(name) and name != "str"


def method(name: str, tool: ToolTypes) -> str:
    """Return the method of a tool."""
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
    """Yield the docstring of a method."""
    problem = f"Its types are general, because of a schema: {tool.problem}." if tool.problem else ""
    text = "\n\n".join(part for part in (tool.description, problem) if part)
    if text.strip():
        yield docstring(text, INDENT * 2)


def parameters(tool: ToolTypes) -> tuple[str, str]:
    """Return the parameters of a method, and what it passes on as the arguments."""
    shape = tool.definitions[tool.input]
    members = view_keywords.properties_of(shape)
    if members and all(map(is_member_name, members)):
        return f", /, **arguments: Unpack[{tool.input}]", "arguments"
    if members:
        return f", arguments: {tool.input}, /", "arguments"
    if view_keywords.takes_nothing(shape):
        return "", "{}"
    if view_keywords.is_any_object(shape):
        return ", /, **arguments: object", "arguments"
    return f", arguments: {tool.input}, /", 'cast("Mapping[str, object]", arguments)'
