"""Which fields each object of the protocol has, in any revision, and of which type: data, and one walk over it.

A field no revision knows is reported but not removed: what is written is what clients are shown.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.definitions.handling import DEFAULTS, HANDLER, HANDLERS, OURS
from mcpc.definitions.kinds import mismatch
from mcpc.diagnostics import diagnose

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.diagnostics import Diagnostic
    from mcpc.sources import Member, Node


@dataclass(frozen=True, slots=True)
class Field:
    """What a value must be.  `shape`: of an object; `items`: of an array; `one_of` and `begins`: of a string.

    Without a `kind` it is judged elsewhere, because it may be of several.
    """

    kind: str
    required: bool = False
    shape: Shape | None = None
    items: Field | None = None
    one_of: tuple[str, ...] = ()
    begins: tuple[str, ...] = ()
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Shape:
    """The fields of one kind of object.

    `others`: fields beside these mean something too.  `reserved`: but not those that begin so, which are said to us.
    """

    label: str
    fields: Mapping[str, Field]
    others: bool = False
    reserved: str | None = None


STRING = Field("string")
NAME = Field("string", required=True)
BOOLEAN = Field("boolean")
OBJECT = Field("object")

ICON = Shape(
    "icon",
    {
        "src": Field("string", required=True, begins=("https:", "data:")),
        "mimeType": STRING,
        "sizes": Field("array", items=STRING),
        "theme": Field("string", one_of=("light", "dark")),
    },
)
ICONS = Field("array", items=Field("object", shape=ICON))

ANNOTATIONS = Shape(
    "`annotations`",
    {
        "title": STRING,
        "readOnlyHint": BOOLEAN,
        "destructiveHint": BOOLEAN,
        "idempotentHint": BOOLEAN,
        "openWorldHint": BOOLEAN,
    },
)
EXECUTION = Shape("`execution`", {"taskSupport": Field("string", one_of=("forbidden", "optional", "required"))})
ANY = Field("")
TASK = {"task": Field("string", one_of=("forbidden", "optional", "required"))}
RUNNING = {"timeout": Field("number"), "environment": ANY, "requires": Field("array", items=STRING)}
CALLED = {**RUNNING, "inline": ANY, "isolated": BOOLEAN, "command": ANY}
ASKING = {**CALLED, "asks": OBJECT}
BLOCK = Field(
    "object",
    required=True,
    shape=Shape(
        "content",
        {
            "type": Field("string", required=True, one_of=("text", "image", "audio", "resource", "resource_link")),
            **dict.fromkeys(("text", "data", "mimeType", "uri", "name"), STRING),
            "resource": OBJECT,
        },
        others=True,
    ),
)
MESSAGE = Shape("message", {"role": Field("string", required=True, one_of=("user", "assistant")), "content": BLOCK})
PART = Shape("contents", {"uri": NAME, "mimeType": STRING, "text": STRING, "blob": STRING}, others=True)
CONTRACT = {"contract": STRING}
SAYS = {**CONTRACT, "content": Field("array", items=BLOCK)}
SAYS_MESSAGES = {**CONTRACT, "messages": Field("array", items=Field("object", shape=MESSAGE))}
SAYS_CONTENTS = {**CONTRACT, "contents": Field("array", items=Field("object", shape=PART))}
TOOL_SAYS = {**ASKING, **TASK, **SAYS, "validate": BOOLEAN}
TOOL_HANDLING = Field("object", shape=Shape(f"`{HANDLER}`", TOOL_SAYS, reserved=""))
PROMPT_HANDLING = Field("object", shape=Shape(f"`{HANDLER}`", {**ASKING, **SAYS_MESSAGES}, reserved=""))
READ_HANDLING = Field("object", shape=Shape(f"`{HANDLER}`", {**ASKING, **SAYS_CONTENTS}, reserved=""))
SILENT_HANDLING = Field("object", shape=Shape(f"`{HANDLER}`", {**CALLED, **CONTRACT}, reserved=""))
TOOL_META = Shape("`_meta`", {DEFAULTS: BOOLEAN, HANDLER: TOOL_HANDLING}, others=True, reserved=OURS)
PROMPT_META = Shape("`_meta`", {HANDLER: PROMPT_HANDLING}, others=True, reserved=OURS)
READ_META = Shape("`_meta`", {HANDLER: READ_HANDLING}, others=True, reserved=OURS)
COMPLETION_META = Shape("`_meta`", {HANDLER: SILENT_HANDLING}, others=True, reserved=OURS)
SERVER_META = Shape(
    "`_meta`",
    {HANDLERS: Field("object", shape=Shape(f"`{HANDLERS}`", {**RUNNING, **TASK}, reserved=""))},
    others=True,
    reserved=OURS,
)
NO_ARGUMENTS = 'a tool without arguments has `{"type": "object", "additionalProperties": false}`'
TOOL = Field(
    "object",
    shape=Shape(
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

ARGUMENT = Shape("argument", {"name": NAME, "title": STRING, "description": STRING, "required": BOOLEAN})
PROMPT = Field(
    "object",
    shape=Shape(
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

AUDIENCE = Shape(
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
    shape=Shape(
        "resource",
        {**READ, "uri": NAME, "size": Field("number"), "text": STRING, "blob": STRING, "file": STRING},
    ),
)
TEMPLATE = Field(
    "object",
    shape=Shape("resource template", {**READ, "uriTemplate": NAME, "text": ANY, "blob": ANY, "file": ANY}),
)
REF = Shape(
    "`ref`",
    {"type": Field("string", required=True, one_of=("ref/prompt", "ref/resource")), "name": STRING, "uri": STRING},
)
COMPLETION = Field(
    "object",
    shape=Shape(
        "completion",
        {
            "ref": Field("object", required=True, shape=REF),
            "argument": NAME,
            "values": Field("array", items=STRING),
            "_meta": Field("object", shape=COMPLETION_META),
        },
    ),
)

IMPLEMENTATION = Shape(
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
LISTED = Field("object", shape=Shape("capability", {"listChanged": BOOLEAN}, others=True))
# Capabilities are no closed set: the pass that knows which ones this server has judges the rest.
CAPABILITIES = Shape(
    "`capabilities`",
    {
        "tools": LISTED,
        "prompts": LISTED,
        "resources": Field("object", shape=Shape("capability", {"listChanged": BOOLEAN, "subscribe": BOOLEAN}, True)),
        "completions": OBJECT,
        "logging": OBJECT,
        "experimental": OBJECT,
        "extensions": OBJECT,
        "tasks": OBJECT,
    },
    others=True,
)
SERVER = Field(
    "object",
    shape=Shape(
        "server description",
        {
            "protocolVersion": STRING,
            "serverInfo": Field("object", required=True, shape=IMPLEMENTATION),
            "capabilities": Field("object", shape=CAPABILITIES),
            "instructions": STRING,
            "_meta": Field("object", shape=SERVER_META),
        },
    ),
)

OTHER_WORDS = {
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
"""What other systems call a field: no likeness of spelling leads from one to the other."""


def misfits(node: Node, field: Field, label: str) -> Iterator[Diagnostic]:
    """Yield everything about `node` that is not as `field` says; `label` is what messages call the value."""
    if field.kind and node.kind != field.kind:
        yield diagnose("MCP101", node.span, mismatch(label, field.kind, node), "", field.hint)
        return
    if field.one_of and node.value not in field.one_of:
        wanted = ", ".join(f"`{value}`" for value in field.one_of)
        yield diagnose("MCP107", node.span, f"{label} is `{node.value}`", f"one of {wanted}")
    if field.begins and not str(node.value).lower().startswith(field.begins):
        wanted = " or ".join(f"`{beginning}`" for beginning in field.begins)
        yield diagnose(
            "MCP107", node.span, f"{label} is no address a client can load", f"a URI that begins with {wanted}"
        )
    if field.shape:
        yield from _wrong_members(node, field.shape)
    if field.items:
        for item in node.items:
            yield from misfits(item, field.items, f"an item of {label}")


def _wrong_members(node: Node, shape: Shape) -> Iterator[Diagnostic]:
    for member in node.members:
        if member.key in shape.fields:
            yield from misfits(member.node, shape.fields[member.key], f"`{member.key}`")
        elif shape.reserved is not None and member.key.startswith(shape.reserved):
            yield _not_ours(member, node, shape)
        elif not shape.others:
            yield _unknown(member, node, shape)
    for key, field in shape.fields.items():
        if field.required and node.get(key) is None:
            yield _missing(key, node, shape)


def _unknown(member: Member, node: Node, shape: Shape) -> Diagnostic:
    meant = _meant(member.key, [key for key in shape.fields if node.get(key) is None])
    hint = f"did you mean `{meant}`?" if meant else ""
    return diagnose(
        "MCP103", member.key_span, f"the protocol knows no field `{member.key}` in {_subject(node, shape)}", "", hint
    )


def _not_ours(member: Member, node: Node, shape: Shape) -> Diagnostic:
    """Return the problem of a field by which we are told something that we do not know: it would do nothing."""
    meant = _meant(member.key, [key for key in shape.fields if node.get(key) is None])
    hint = f"did you mean `{meant}`?" if meant else ""
    known = ", ".join(f"`{key}`" for key in sorted(shape.fields))
    message = f"mcpc knows no field `{member.key}` in {_subject(node, shape)}"
    return diagnose("MCP237", member.key_span, message, f"one of {known}", hint)


def _missing(key: str, node: Node, shape: Shape) -> Diagnostic:
    strangers = [member.key for member in node.members if member.key not in shape.fields]
    written = next((stranger for stranger in strangers if _meant(stranger, [key])), "")
    hint = f"did you mean `{key}` where `{written}` is written?" if written else shape.fields[key].hint
    return diagnose("MCP102", node.span, f"{_subject(node, shape)} has no `{key}`", "", hint)


def _meant(written: str, known: list[str]) -> str:
    if OTHER_WORDS.get(written) in known:
        return OTHER_WORDS[written]
    return next(iter(difflib.get_close_matches(written, known, n=1, cutoff=0.7)), "")


def _subject(node: Node, shape: Shape) -> str:
    """Return how a message calls the object: by its name if it has one, for a list may hold hundreds."""
    name = node.get("name")
    named = name is not None and name.kind == "string" and not shape.label.startswith("`")
    return f"the {shape.label} `{name.value}`" if named and name else f"this {shape.label}"
