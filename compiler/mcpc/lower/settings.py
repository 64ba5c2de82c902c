"""Lower the settings and the toolsets of a server.

    "settings": [{"name": "API_KEY", "description": "Key of the weather service", "required": true, "secret": true},
                 {"name": "UNITS", "choices": ["metric", "imperial"], "default": "metric"}]

Types of fields are checked with those of all protocol objects (`protocol_schema`); here, what they mean together.

Toolsets are names with the patterns of their tools:

    "toolsets": {"issues": ["*_issue", "list_issues"], "users": ["get_user"]}
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.model.definitions import KIND_NAMES
from mcpc.model.ir import Toolset
from mcpc.model.ir.project import SETTING_TYPES, VARIABLE_NAME, Setting
from mcpc.reading import member_of
from mcpc_runtime.artifact.settings import RESERVED_NAMES, RESERVED_PREFIXES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostic
    from mcpc.model.ir.project import Scalar
    from mcpc.reading import Member, Node

SETTINGS = "settings"
PATH_TYPES = ("file", "directory")
KINDS = {"integer": "number", "number": "number", "boolean": "boolean"}
"""The kind of JSON that values of a type have; those of the other types are strings."""


def read_settings(server: Node) -> Iterator[Setting]:
    """Yield the settings that have a valid name, as far as their fields are valid."""
    for node in _items(server):
        name, kind = _text(node, "name"), _text(node, "type") or "string"
        if not VARIABLE_NAME.fullmatch(name) or kind not in SETTING_TYPES:
            continue
        default = member_of(node, "default")
        choices = member_of(node, "choices")
        yield Setting(
            name=name,
            type=kind,
            span=node.span,
            title=_text(node, "title"),
            description=_text(node, "description"),
            required=_is_true(node, "required"),
            secret=_is_true(node, "secret"),
            default=_scalar(default) if default is not None and _fits(default, kind) else None,
            choices=tuple(_scalar(item) for item in (choices.items if choices else ()) if _fits(item, kind)),
        )


def with_read_settings(declared: tuple[Setting, ...], read: tuple[Setting, ...]) -> tuple[Setting, ...]:
    """Return the declared settings, and those that a program reads and the project does not declare."""
    names = {setting.name for setting in declared}
    return (*declared, *(setting for setting in read if setting.name not in names))


def check_settings(server: Node) -> Iterator[Diagnostic]:
    """Yield what is wrong with settings beyond the types of their fields."""
    seen: set[str] = set()
    for node in _items(server):
        yield from _wrong_name(node, seen)
        yield from _wrong_values(node)
        yield from _contradictions(node)


def _wrong_name(node: Node, seen: set[str]) -> Iterator[Diagnostic]:
    """Yield a name that cannot be a variable of a setting, or that another setting has."""
    name_node = member_of(node, "name", "string")
    if name_node is None:
        return
    name = str(name_node.value)
    if not VARIABLE_NAME.fullmatch(name):
        # `apiKey` and `api-key` become `API_KEY`.
        proposed = re.sub(r"[^A-Z0-9]+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).upper()).strip("_")
        hint = f"did you mean `{proposed}`?" if VARIABLE_NAME.fullmatch(proposed) else ""
        message = f"`{name}` cannot be the name of a setting"
        yield diagnose("MCP160", name_node.span, message, "the name of a variable, such as `API_KEY`", hint)
    elif name in RESERVED_NAMES or name.startswith(RESERVED_PREFIXES):
        message = f"`{name}` is a variable of the system or of the server"
        yield diagnose("MCP160", name_node.span, message, "a name of its own, such as `WEATHER_HOME`")
    elif name in seen:
        yield diagnose("MCP104", name_node.span, f"there are two settings `{name}`", "", "remove one of them")
    seen.add(name)


def _wrong_values(node: Node) -> Iterator[Diagnostic]:
    """Yield a default or a choice that does not have the setting's type."""
    kind = _text(node, "type") or "string"
    if kind not in SETTING_TYPES:
        return
    choices = member_of(node, "choices", "array")
    values = [
        ("default", member_of(node, "default")),
        *(("choice", item) for item in (choices.items if choices else ())),
    ]
    for label, value in values:
        if value is not None and not _fits(value, kind):
            shown = KIND_NAMES[value.kind]
            message = f"a {label} of this setting is {shown}" if label == "choice" else f"the default is {shown}"
            yield diagnose("MCP160", value.span, message, f"a value of type `{kind}`")
    if choices is not None and not choices.items:
        yield diagnose("MCP160", choices.span, "a setting with no choices has no valid value", "at least one choice")


def _contradictions(node: Node) -> Iterator[Diagnostic]:
    """Yield fields that exclude each other."""
    default, choices = member_of(node, "default"), member_of(node, "choices", "array")
    if default is None:
        return
    if _is_true(node, "secret"):
        message = "a secret cannot have a default, because anyone can read it in the built file"
        yield diagnose("MCP160", default.span, message, "", "remove `default`, or `secret`")
    if _is_true(node, "required"):
        message = "a setting with a default is never missing, so it cannot be required"
        yield diagnose("MCP160", default.span, message, "", "remove `default`, or `required`")
    if choices is not None and default.value not in [item.value for item in choices.items]:
        yield diagnose("MCP160", default.span, "the default is not one of the choices", "one of `choices`")


def _items(server: Node) -> tuple[Node, ...]:
    listed = member_of(server, SETTINGS, "array")
    return tuple(item for item in listed.items if item.kind == "object") if listed is not None else ()


def _text(node: Node, key: str) -> str:
    value = member_of(node, key, "string")
    return "" if value is None else str(value.value)


def _is_true(node: Node, key: str) -> bool:
    value = member_of(node, key)
    return value is not None and value.value is True


def _fits(node: Node, kind: str) -> bool:
    """Tell whether a value has the type of a setting."""
    # In Python a boolean is an `int`, but as JSON it is not a number.
    return node.kind == KINDS.get(kind, "string") and (kind != "integer" or isinstance(node.value, int))


def _scalar(node: Node) -> Scalar:
    value = node.value
    return value if isinstance(value, str | int | float) else ""


TOOLSETS = "toolsets"
TOOLSET_NAME = re.compile(r"[^\s,*]{1,128}")
"""Names are written in lists that are separated by commas."""
PATTERNS = 'a list of names of tools, such as `["get_issue", "list_*"]`'


def read_toolsets(server: Node) -> Iterator[Toolset]:
    """Yield the toolsets that are valid."""
    for member in _members(server):
        if not [*_problems(member)]:
            patterns = tuple((str(item.value), item.span) for item in member.node.items)
            yield Toolset(member.key, patterns)


def check_toolsets(server: Node) -> Iterator[Diagnostic]:
    """Yield what is wrong with toolsets; whether there are such tools is known later."""
    for member in _members(server):
        yield from _problems(member)


def _members(server: Node) -> tuple[Member, ...]:
    toolsets = member_of(server, TOOLSETS, "object")
    return () if toolsets is None else toolsets.members


def _problems(member: Member) -> Iterator[Diagnostic]:
    if not TOOLSET_NAME.fullmatch(member.key):
        message = f"`{member.key}` cannot be the name of a toolset"
        yield diagnose("MCP162", member.node.span, message, "a name without spaces, commas and `*`")
    if member.node.kind != "array" or not member.node.items:
        yield diagnose("MCP162", member.node.span, f"the toolset `{member.key}` has no tools", PATTERNS)
    for item in member.node.items:
        # A pattern is a name in which any part may be `*`.
        if item.kind != "string" or not TOOLSET_NAME.fullmatch(str(item.value).replace("*", "x")):
            yield diagnose("MCP162", item.span, f"this is no name of a tool in the toolset `{member.key}`", PATTERNS)
