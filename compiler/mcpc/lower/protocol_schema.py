"""The fields of every protocol object, in all revisions, with their types; and the function that checks them.

A field that no revision defines is reported but not removed: clients see what is written.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.diagnostics.model import nearest, quoted
from mcpc.model.definitions import (
    COMPILER_PREFIX,
    DEFAULTS_KEY,
    HANDLER_KEY,
    HANDLERS_KEY,
    OUTPUTS,
    SHOWN_KEY,
    kind_mismatch,
)
from mcpc.model.ir.project import SETTING_TYPES
from mcpc.reading.selection import FILES, SETTINGS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.diagnostics import Diagnostic
    from mcpc.reading import Member, Node


@dataclass(frozen=True, slots=True)
class Field:
    """The constraints of a value.  `shape`: of an object; `items`: of an array; `one_of` and `begins`: of a string.

    Without a `kind` it is checked elsewhere, because several types are allowed.
    """

    kind: str
    required: bool = False
    shape: ObjectShape | None = None
    items: Field | None = None
    one_of: tuple[str, ...] = ()
    begins: tuple[str, ...] = ()
    hint: str = ""


@dataclass(frozen=True, slots=True)
class ObjectShape:
    """The fields of one kind of object.

    `others`: other fields are allowed. `reserved`: except those with this prefix, which the compiler reads.
    """

    label: str
    fields: Mapping[str, Field]
    others: bool = False
    reserved: str | None = None


STRING = Field("string")
NAME = Field("string", required=True)
BOOLEAN = Field("boolean")
OBJECT = Field("object")

ICON = ObjectShape(
    "icon",
    {
        "src": Field("string", required=True, begins=("https:", "data:")),
        "mimeType": STRING,
        "sizes": Field("array", items=STRING),
        "theme": Field("string", one_of=("light", "dark")),
    },
)
ICONS = Field("array", items=Field("object", shape=ICON))

ANNOTATIONS = ObjectShape(
    "`annotations`",
    {
        "title": STRING,
        "readOnlyHint": BOOLEAN,
        "destructiveHint": BOOLEAN,
        "idempotentHint": BOOLEAN,
        "openWorldHint": BOOLEAN,
    },
)
EXECUTION = ObjectShape("`execution`", {"taskSupport": Field("string", one_of=("forbidden", "optional", "required"))})
ANY = Field("")
TASK = {"task": Field("string", one_of=("forbidden", "optional", "required"))}
RUNNING = {"timeout": Field("number"), "environment": ANY, "requires": Field("array", items=STRING)}
CALLED = {**RUNNING, "inline": ANY, "isolated": BOOLEAN, "command": ANY}
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "QUERY")
BODY = ObjectShape(
    "`body`",
    {
        **dict.fromkeys(("json", "bytes", "text"), ANY),
        **dict.fromkeys(("form", "multipart"), OBJECT),
        "type": STRING,
        "required": BOOLEAN,
    },
    reserved="",
)
PAGING = ObjectShape("`paging`", dict.fromkeys(("next", "items", "query"), STRING), reserved="")
REQUEST = ObjectShape(
    "`http`",
    {
        "method": Field("string", required=True, one_of=METHODS),
        "base": ANY,
        "path": NAME,
        **dict.fromkeys(("places", "query", "headers", "cookies"), OBJECT),
        "querystring": ANY,
        "body": Field("object", shape=BODY),
        "security": Field("array"),
        "fields": Field("array", items=STRING),
        "offeredFields": OBJECT,
        **dict.fromkeys(("pages", "maxRead"), Field("number")),
        "paging": Field("object", shape=PAGING),
        "idempotencyKey": STRING,
    },
    reserved="",
)
ASKING = {**CALLED, "asks": OBJECT}
BLOCK = Field(
    "object",
    required=True,
    shape=ObjectShape(
        "content",
        {
            "type": Field("string", required=True, one_of=("text", "image", "audio", "resource", "resource_link")),
            **dict.fromkeys(("text", "data", "mimeType", "uri", "name"), STRING),
            "resource": OBJECT,
        },
        others=True,
    ),
)
MESSAGE = ObjectShape(
    "message", {"role": Field("string", required=True, one_of=("user", "assistant")), "content": BLOCK}
)
PART = ObjectShape("contents", {"uri": NAME, "mimeType": STRING, "text": STRING, "blob": STRING}, others=True)
CONTRACT = {"contract": STRING}
SAYS = {**CONTRACT, "content": Field("array", items=BLOCK)}
SAYS_MESSAGES = {**CONTRACT, "messages": Field("array", items=Field("object", shape=MESSAGE))}
SAYS_CONTENTS = {**CONTRACT, "contents": Field("array", items=Field("object", shape=PART))}
LIMITED = {"maxResult": ANY}
GENERAL = {**RUNNING, **TASK, **LIMITED}
COMMAND = {"stdin": ANY, "output": Field("string", one_of=OUTPUTS)}
CONDITION = ObjectShape("`when`", {"value": NAME, "equals": ANY, "exists": ANY}, reserved="")
STEP = ObjectShape(
    "step",
    {
        "tool": STRING,
        "http": Field("object", shape=REQUEST),
        "command": ANY,
        **COMMAND,
        "with": OBJECT,
        "as": STRING,
        "when": Field("object", shape=CONDITION),
        "each": STRING,
        "maxItems": Field("number"),
    },
    reserved="",
)
PIPELINE = {"pipeline": Field("array", items=Field("object", shape=STEP)), "result": ANY}
WITHOUT_CODE = {**COMMAND, "http": Field("object", shape=REQUEST), **PIPELINE}
TOOL_SAYS = {**ASKING, **TASK, **LIMITED, **SAYS, **WITHOUT_CODE, "validate": BOOLEAN}
TOOL_HANDLING = Field("object", shape=ObjectShape(f"`{HANDLER_KEY}`", TOOL_SAYS, reserved=""))
PROMPT_HANDLING = Field("object", shape=ObjectShape(f"`{HANDLER_KEY}`", {**ASKING, **SAYS_MESSAGES}, reserved=""))
READ_HANDLING = Field("object", shape=ObjectShape(f"`{HANDLER_KEY}`", {**ASKING, **SAYS_CONTENTS}, reserved=""))
SILENT_HANDLING = Field("object", shape=ObjectShape(f"`{HANDLER_KEY}`", {**CALLED, **CONTRACT}, reserved=""))
TOOL_META = ObjectShape(
    "`_meta`",
    {DEFAULTS_KEY: BOOLEAN, HANDLER_KEY: TOOL_HANDLING, SHOWN_KEY: OBJECT},
    others=True,
    reserved=COMPILER_PREFIX,
)
PROMPT_META = ObjectShape("`_meta`", {HANDLER_KEY: PROMPT_HANDLING}, others=True, reserved=COMPILER_PREFIX)
READ_META = ObjectShape("`_meta`", {HANDLER_KEY: READ_HANDLING}, others=True, reserved=COMPILER_PREFIX)
COMPLETION_META = ObjectShape("`_meta`", {HANDLER_KEY: SILENT_HANDLING}, others=True, reserved=COMPILER_PREFIX)
SERVER_META = ObjectShape(
    "`_meta`",
    {
        HANDLERS_KEY: Field("object", shape=ObjectShape(f"`{HANDLERS_KEY}`", GENERAL, reserved="")),
        # The values are read with the files themselves, by `mcpc.reading.selection`.
        FILES: Field("object", shape=ObjectShape(f"`{FILES}`", dict.fromkeys(SETTINGS, ANY), reserved="")),
    },
    others=True,
    reserved=COMPILER_PREFIX,
)
NO_ARGUMENTS = 'a tool without arguments has `{"type": "object", "additionalProperties": false}`'
TOOL = Field(
    "object",
    shape=ObjectShape(
        "tool",
        {
            "name": NAME,
            "title": STRING,
            "description": STRING,
            "inputSchema": Field("object", required=True, hint=NO_ARGUMENTS),
            "outputSchema": OBJECT,
            "annotations": Field("object", shape=ANNOTATIONS),
            "icons": ICONS,
            "execution": Field("object", shape=EXECUTION),
            "_meta": Field("object", shape=TOOL_META),
        },
    ),
)

ARGUMENT = ObjectShape("argument", {"name": NAME, "title": STRING, "description": STRING, "required": BOOLEAN})
PROMPT = Field(
    "object",
    shape=ObjectShape(
        "prompt",
        {
            "name": NAME,
            "title": STRING,
            "description": STRING,
            "arguments": Field("array", items=Field("object", shape=ARGUMENT)),
            "icons": ICONS,
            "_meta": Field("object", shape=PROMPT_META),
        },
    ),
)

AUDIENCE = ObjectShape(
    "`annotations`",
    {
        "audience": Field("array", items=Field("string", one_of=("user", "assistant"))),
        "priority": Field("number"),
        "lastModified": STRING,
    },
)
READ = {
    "name": NAME,
    "title": STRING,
    "description": STRING,
    "mimeType": STRING,
    "annotations": Field("object", shape=AUDIENCE),
    "icons": ICONS,
    "root": ANY,
    "_meta": Field("object", shape=READ_META),
}
RESOURCE = Field(
    "object",
    shape=ObjectShape(
        "resource",
        {**READ, "uri": NAME, "size": Field("number"), "text": STRING, "blob": STRING, "file": STRING},
    ),
)
TEMPLATE = Field(
    "object",
    shape=ObjectShape("resource template", {**READ, "uriTemplate": NAME, "text": ANY, "blob": ANY, "file": ANY}),
)
REF = ObjectShape(
    "`ref`",
    {"type": Field("string", required=True, one_of=("ref/prompt", "ref/resource")), "name": STRING, "uri": STRING},
)
COMPLETION = Field(
    "object",
    shape=ObjectShape(
        "completion",
        {
            "ref": Field("object", required=True, shape=REF),
            "argument": NAME,
            "values": Field("array", items=STRING),
            "_meta": Field("object", shape=COMPLETION_META),
        },
    ),
)

IMPLEMENTATION = ObjectShape(
    "`serverInfo`",
    {
        "name": NAME,
        "title": STRING,
        "version": NAME,
        "description": STRING,
        "websiteUrl": STRING,
        "icons": ICONS,
    },
)
LISTED = Field("object", shape=ObjectShape("capability", {"listChanged": BOOLEAN}, others=True))
# Capabilities are an open set: the pass for capabilities checks the others.
CAPABILITIES = ObjectShape(
    "`capabilities`",
    {
        "tools": LISTED,
        "prompts": LISTED,
        "resources": Field(
            "object", shape=ObjectShape("capability", {"listChanged": BOOLEAN, "subscribe": BOOLEAN}, True)
        ),
        "completions": OBJECT,
        "logging": OBJECT,
        "experimental": OBJECT,
        "extensions": OBJECT,
        "tasks": OBJECT,
    },
    others=True,
)
SETTING = ObjectShape(
    "setting",
    {
        "name": NAME,
        "type": Field("string", one_of=SETTING_TYPES),
        "title": STRING,
        "description": STRING,
        "required": BOOLEAN,
        "secret": BOOLEAN,
        "default": ANY,
        "choices": Field("array", items=ANY),
    },
    reserved="",
)
SERVER = Field(
    "object",
    shape=ObjectShape(
        "server description",
        {
            "protocolVersion": STRING,
            "serverInfo": Field("object", required=True, shape=IMPLEMENTATION),
            "capabilities": Field("object", shape=CAPABILITIES),
            "instructions": STRING,
            "settings": Field("array", items=Field("object", shape=SETTING)),
            "toolsets": OBJECT,
            "_meta": Field("object", shape=SERVER_META),
        },
    ),
)

SYNONYMS = {
    "args": "arguments",
    "env": "environment",
    "input": "inputSchema",
    "output": "outputSchema",
    "parameters": "inputSchema",
    "returns": "outputSchema",
    "schema": "inputSchema",
    "summary": "description",
    "url": "websiteUrl",
}
"""Names of fields in other systems, which no similarity of spelling would suggest."""


def check_fields(node: Node, field: Field, label: str) -> Iterator[Diagnostic]:
    """Yield every deviation of `node` from `field`; `label` is the value's name in messages."""
    # After a wrong type, nothing else about the value is worth reporting.
    if field.kind and node.kind != field.kind:
        yield diagnose("MCP101", node.span, kind_mismatch(label, field.kind, node), "", field.hint)
        return
    if field.one_of and node.value not in field.one_of:
        wanted = quoted(field.one_of)
        yield diagnose("MCP107", node.span, f"{label} is `{node.value}`", f"one of {wanted}")
    # The case of letters in the scheme of a URI does not matter (RFC 3986, section 3.1).
    if field.begins and not str(node.value).lower().startswith(field.begins):
        wanted = quoted(field.begins, " or ")
        yield diagnose(
            "MCP107", node.span, f"{label} is not an address that clients can load", f"a URI that begins with {wanted}"
        )
    if field.shape:
        yield from _check_members(node, field.shape)
    if field.items:
        for item in node.items:
            yield from check_fields(item, field.items, f"an item of {label}")


def _check_members(node: Node, shape: ObjectShape) -> Iterator[Diagnostic]:
    raised = {key: _raised(key, field, node, shape) for key, field in shape.fields.items() if field.required}
    reported = {member.key for members in raised.values() for member in members}
    for member in node.members:
        if member.key in reported:
            continue
        if member.key in shape.fields:
            yield from check_fields(member.node, shape.fields[member.key], f"`{member.key}`")
        # Every name begins with the empty prefix: then all fields of the object are options of the compiler.
        elif shape.reserved is not None and member.key.startswith(shape.reserved):
            yield _unknown_option(member, node, shape)
        elif not shape.others:
            yield _unknown(member, node, shape)
    for key, field in shape.fields.items():
        if field.required and node.get(key) is None:
            yield _missing_object(key, raised[key], node, shape) if raised[key] else _missing(key, node, shape)


def _raised(key: str, field: Field, node: Node, shape: ObjectShape) -> list[Member]:
    """Return the members that belong in an object that is missing, and are written where it should be."""
    if field.shape is None or node.get(key) is not None:
        return []
    return [member for member in node.members if member.key in field.shape.fields and member.key not in shape.fields]


def _missing_object(key: str, members: list[Member], node: Node, shape: ObjectShape) -> Diagnostic:
    """Return that an object is missing whose members are there, with the text that is right."""
    inner = shape.fields[key].shape
    written = {member.key: member.node.value for member in members}
    required = {name: written.get(name, "…") for name, field in inner.fields.items() if field.required} if inner else {}
    names = quoted(written)
    message = f"{_subject(node, shape)} has no `{key}`, where {names} {'belongs' if len(members) == 1 else 'belong'}"
    return diagnose("MCP102", node.span, message, f"`{json.dumps({key: required}, ensure_ascii=False)}`")


def _unknown(member: Member, node: Node, shape: ObjectShape) -> Diagnostic:
    meant = _intended_key(member.key, [key for key in shape.fields if node.get(key) is None])
    home = next((key for key, field in shape.fields.items() if field.shape and member.key in field.shape.fields), "")
    hint = f"did you mean `{meant}`?" if meant else f"`{member.key}` belongs in `{home}`" if home else ""
    return diagnose("MCP103", member.key_span, f"unknown field `{member.key}` in {_subject(node, shape)}", "", hint)


def _unknown_option(member: Member, node: Node, shape: ObjectShape) -> Diagnostic:
    """Return the diagnostic for an unknown compiler option, which would have no effect."""
    meant = _intended_key(member.key, [key for key in shape.fields if node.get(key) is None])
    hint = f"did you mean `{meant}`?" if meant else ""
    message = f"unknown field `{member.key}` of mcpc in {_subject(node, shape)}"
    return diagnose("MCP237", member.key_span, message, f"one of {quoted(sorted(shape.fields))}", hint)


def _missing(key: str, node: Node, shape: ObjectShape) -> Diagnostic:
    strangers = [member.key for member in node.members if member.key not in shape.fields]
    written = next((stranger for stranger in strangers if _intended_key(stranger, [key])), "")
    hint = f"did you mean `{key}` where `{written}` is written?" if written else shape.fields[key].hint
    return diagnose("MCP102", node.span, f"{_subject(node, shape)} has no `{key}`", "", hint)


def _intended_key(written: str, known: list[str]) -> str:
    if SYNONYMS.get(written) in known:
        return SYNONYMS[written]
    return nearest(written, known, 0.7)


def _subject(node: Node, shape: ObjectShape) -> str:
    """Return the object's name in messages: its `name` if it has one, because a list may contain hundreds."""
    name = node.get("name")
    named = name is not None and name.kind == "string" and not shape.label.startswith("`")
    return f"the {shape.label} `{name.value}`" if named and name else f"this {shape.label}"
