"""A typed client in TypeScript: interfaces, and a class with a method for each tool.

Values of schemas reach the text only through `quoted` and `comment`, and as names that `mcpc.schema.models.names` made.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from mcpc.emit.templates import template_text
from mcpc.workbench.stubs import view_keywords
from mcpc.workbench.stubs.client_types import used_types
from mcpc.workbench.stubs.method_names import method_names
from mcpc.workbench.stubs.texts import MARKS, OTHER_MEMBERS, comment, member_text

if TYPE_CHECKING:
    from mcpc.schema.models.view_schemas import Shape
    from mcpc.workbench.stubs.client_types import ClientTypes, ToolTypes

SCALARS = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
OF_EVERY_CLASS = frozenset({"constructor", "prototype", "then", "__proto__"})
"""Names that a method must not have: `then` would make a promise of the client."""
OF_EVERY_OBJECT = frozenset(
    {"constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString", "valueOf"}
)
"""Members that every object has: an optional one of another type would refuse all objects without it."""
INDENT = "  "


def typescript_client(client: ClientTypes) -> str:
    """Return the module of a client."""
    types = [definition(name, shape) for tool in client.tools for name, shape in used_types(tool)]
    head = comment(f"A typed client for the tools of {client.name} {client.version}.", "")
    fixed = template_text("stubs/client.ts").decode().rstrip("\n")
    return "\n\n".join([f"{MARKS['typescript']}\n{head}", fixed, *types, client_class(client)]) + "\n"


def quoted(value: Any) -> str:
    """Return a value as a literal: JSON in ASCII is one."""
    return json.dumps(value)


def definition(name: str, shape: Shape) -> str:
    """Return the source of one type."""
    members = view_keywords.properties_of(shape)
    said = str(shape.get("description", ""))
    head = f"{comment(said, '')}\n" if said.strip() else ""
    if not members:
        return f"{head}export type {name} = {type_of(shape)};"
    required = view_keywords.required_of(shape)
    rows = [member(key, inner, is_required=key in required) for key, inner in members.items()]
    extras = shape.get("additionalProperties")
    if isinstance(extras, dict) and extras:
        rows.append(f"{INDENT}/** {OTHER_MEMBERS} */\n{INDENT}[name: string]: unknown;")
    return "\n".join([f"{head}export interface {name} {{", *rows, "}"])


def member(name: str, shape: Shape, *, is_required: bool) -> str:
    """Return the line of a member, with what is said about it."""
    key = name if IDENTIFIER.fullmatch(name) else quoted(name)
    text = member_text(shape)
    said = f"{comment(text, INDENT)}\n" if text else ""
    kind = "unknown" if name in OF_EVERY_OBJECT and not is_required else type_of(shape)
    return f"{said}{INDENT}{key}{'' if is_required else '?'}: {kind};"


def type_of(shape: Shape) -> str:
    """Return the type of a value."""
    plain = view_keywords.bare(shape)
    if not plain:
        return "unknown"
    if "$ref" in plain:
        return view_keywords.referred(plain)
    if values := view_keywords.literals_of(plain):
        return " | ".join(dict.fromkeys(map(literal_type, values)))
    if members := view_keywords.unions_of(plain):
        return " | ".join(dict.fromkeys(map(type_of, members)))
    return " | ".join(of_kind(kind, shape) for kind in view_keywords.kinds_of(plain))


def literal_type(value: Any) -> str:
    """Return the type of one value; a number that JavaScript does not have exactly is any number."""
    return quoted(value) if view_keywords.is_exact(value) else "number"


def of_kind(kind: str, shape: Shape) -> str:
    """Return the type of a value of one kind."""
    if kind == "array":
        first = view_keywords.prefix_of(shape)
        if not first:
            return f"Array<{type_of(view_keywords.inner_shape(shape.get('items')))}>"
        least = shape.get("minItems", 0)
        count = least if isinstance(least, int) else 0
        return f"[{', '.join(optional(type_of(item), at >= count) for at, item in enumerate(first))}]"
    if kind == "object":
        return f"{{ [name: string]: {type_of(view_keywords.inner_shape(shape.get('additionalProperties')))} }}"
    return SCALARS[kind]


def optional(kind: str, is_optional: bool) -> str:
    """Return the type of a tuple's member."""
    return f"({kind})?" if is_optional else kind


def client_class(client: ClientTypes) -> str:
    """Return the class of a client."""
    names = method_names((tool.name for tool in client.tools), is_method_name)
    said = comment(f"The tools of {client.name}; every method throws a ToolCallError where the tool fails.", "")
    opening = [
        f"{said}\nexport class {client.class_name} {{",
        f"{INDENT}readonly #client: ToolCaller;\n",
        f"{INDENT}constructor(client: ToolCaller) {{\n{INDENT * 2}this.#client = client;\n{INDENT}}}",
    ]
    return "\n".join([*opening, *(method(names[tool.name], tool) for tool in client.tools), "}"])


def is_method_name(name: str) -> bool:
    """Tell whether a tool's name can be that of a method as it is."""
    return IDENTIFIER.fullmatch(name) is not None and name not in OF_EVERY_CLASS


def method(name: str, tool: ToolTypes) -> str:
    """Return the method of a tool."""
    problem = f"Its types are general, because of a schema: {tool.problem}." if tool.problem else ""
    text = "\n\n".join(part for part in (tool.description, problem) if part)
    said = f"{comment(text, INDENT)}\n" if text.strip() else ""
    kind, way = (tool.output, "structuredOf") if tool.output else ("string", "textOf")
    given = "{}" if view_keywords.takes_nothing(tool.definitions[tool.input]) else "args"
    value = f"await {way}(this.#client, {quoted(tool.name)}, {given})"
    result = f"{value} as {tool.output}" if tool.output else value
    return (
        f"\n{said}{INDENT}async {name}({parameter(tool)}): Promise<{kind}> {{\n{INDENT * 2}return {result};\n{INDENT}}}"
    )


def parameter(tool: ToolTypes) -> str:
    """Return the parameter of a method; a call can leave out an object that may be empty."""
    shape = tool.definitions[tool.input]
    if view_keywords.takes_nothing(shape):
        return ""
    kind = "Record<string, unknown>" if view_keywords.is_any_object(shape) else tool.input
    can_be_empty = view_keywords.kinds_of(shape) == ["object"] and not view_keywords.required_of(shape)
    return f"args: {kind}{' = {}' if can_be_empty else ''}"
