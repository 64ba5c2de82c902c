"""Convert what handlers return to outcomes: content blocks, whole results, messages, contents, completion values.

Members that a handler omits get their defaults here.
"""

from __future__ import annotations

from binascii import a2b_base64
from collections.abc import Callable
from typing import TypeGuard

from mcpc_runtime.handlers.invocations import ProcessResult
from mcpc_runtime.protocol.constants import INTERNAL_ERROR
from mcpc_runtime.protocol.contents import BYTES, PLAIN, contents_of
from mcpc_runtime.protocol.effects import (
    ABSENT,
    Call,
    CompletionOutcome,
    Ending,
    Failure,
    Outcome,
    PromptOutcome,
    ResourceOutcome,
    text,
)
from mcpc_runtime.protocol.jsonrpc import Json, ParseError, encode, parse
from mcpc_runtime.protocol.resources import unknown_resource

CONTENT_FIELDS = {
    "text": ("text",),
    "image": ("data", "mimeType"),
    "audio": ("data", "mimeType"),
    "resource": ("resource",),
    "resource_link": ("uri", "name"),
}
RESULT_FIELDS = {"content", "structuredContent", "isError", "_meta"}
CONTENTS_FIELDS = {"uri", "mimeType", "text", "blob", "_meta"}
VALUES_FIELDS = {"values", "total", "hasMore"}
BLOB = "mcpc/blob"
"""The only member of an object that represents bytes returned by a function: the bytes in base64."""
JSON = "application/json"
BROKEN_OUTPUT = "Internal error: tool output does not match outputSchema"
BROKEN_PROMPT = "Internal error: prompt execution failed"
NOT_FOUND_STATUS = 66
"""The exit status of a program when the resource does not exist (EX_NOINPUT)."""


def text_block(value: Json) -> Json:
    """Return a text block: a string as it is, anything else as compact JSON."""
    return text(value if type(value) is str else encode(value).decode())


def parse_single_value(printed: bytes) -> tuple[Json] | None:
    """Return the single JSON value that was printed, in a tuple; None for anything else."""
    try:
        return (parse(printed),)
    except ParseError:
        return None


def is_block(value: Json) -> TypeGuard[dict[str, Json]]:
    """Tell whether this is a content block: a known type with its required fields, each of a valid type."""
    kind = value.get("type") if type(value) is dict else None
    if type(value) is not dict or type(kind) is not str:
        return False
    fields = CONTENT_FIELDS.get(kind)
    if fields is None or not all(map(value.__contains__, fields)):
        return False
    is_valid = is_embedded_resource if kind == "resource" else is_string
    return all(is_valid(value[field]) for field in fields) and all(map(has_valid_type, value.items()))


def is_string(value: Json) -> bool:
    """Tell whether this is a string."""
    return type(value) is str


def is_embedded_resource(value: Json) -> bool:
    """Tell whether this is the resource of an embedded-resource block; unknown members are ignored."""
    fields = {key: part for key, part in value.items() if key in CONTENTS_FIELDS} if type(value) is dict else {}
    return "uri" in fields and is_contents(fields)


def is_annotations(value: Json) -> bool:
    """Tell whether this is a valid `annotations` object: audience, priority and lastModified, each optional."""
    if type(value) is not dict:
        return False
    audience, priority = value.get("audience", []), value.get("priority", 0)
    is_known = type(audience) is list and all(role in ("user", "assistant") for role in audience)
    is_in_range = (type(priority) is int or type(priority) is float) and 0 <= priority <= 1
    return is_known and is_in_range and is_string(value.get("lastModified", ""))


def is_icons(value: Json) -> bool:
    """Tell whether this is a list of icons, each with a `src`."""
    return type(value) is list and all(type(icon) is dict and is_string(icon.get("src")) for icon in value)


METADATA_CHECKS: dict[str, Callable[[Json], bool]] = {
    **dict.fromkeys(("title", "description", "mimeType"), is_string),
    "size": lambda value: type(value) is int,
    "_meta": lambda value: type(value) is dict,
    "annotations": is_annotations,
    "icons": is_icons,
}
"""The check of each optional member of content blocks and resources."""


def has_valid_type(member: tuple[str, Json]) -> bool:
    """Tell whether a member has the type that its name requires; members with other names are valid."""
    is_valid = METADATA_CHECKS.get(member[0])
    return is_valid is None or is_valid(member[1])


def is_content(value: Json) -> TypeGuard[list[Json]]:
    """Tell whether this is a list of content blocks."""
    return type(value) is list and bool(value) and all(map(is_block, value))


def is_result(value: Json) -> TypeGuard[dict[str, Json]]:
    """Tell whether this is a whole result."""
    if type(value) is not dict or not value.keys() <= RESULT_FIELDS:
        return False
    content = value.get("content")
    return type(content) is list and all(map(is_block, content))


def outcome_of_result(value: dict[str, Json]) -> Outcome:
    """Return the outcome of a whole result."""
    content = value["content"]
    blocks = content if type(content) is list else []
    outcome = Outcome(blocks, value.get("structuredContent", ABSENT), value.get("isError") is True)
    meta = value.get("_meta")
    outcome.meta = meta if type(meta) is dict else {}
    return outcome


def prompt_outcome(value: Json) -> PromptOutcome | None:
    """Return the messages in `value`, one user message for a plain text, and None for anything else."""
    description = value.get("description") if type(value) is dict else None
    items = value.get("messages") if type(value) is dict else value
    messages = [as_message(item) for item in (items if type(items) is list else [items])]
    return PromptOutcome(messages, description if type(description) is str else None) if all(messages) else None


def as_message(value: Json) -> Json:
    """Return `value` as a prompt message, or None if that is not possible."""
    if type(value) is str:
        return {"role": "user", "content": text(value)}
    if type(value) is not dict or value.get("role", "user") not in ("user", "assistant"):
        return None
    content = value.get("content")
    if type(content) is str:
        content = text(content)
    return {"role": value.get("role", "user"), "content": content} if is_block(content) else None


def is_blob(value: Json) -> TypeGuard[dict[str, Json]]:
    """Tell whether this object represents bytes that a function returned."""
    return type(value) is dict and value.keys() == {BLOB}


def blob_text(value: dict[str, Json]) -> str:
    """Return the bytes that a tool returned as text: UTF-8, or base64."""
    written = str(value[BLOB])
    try:
        return a2b_base64(written).decode()
    except UnicodeDecodeError:
        return written


def resource_outcome(call: Call, value: Json) -> ResourceOutcome | None:
    """Return the contents that a function returned: whole contents, or those made of a text, bytes or JSON."""
    uri, mime = str(call.request.params.get("uri")), call.definition.mime
    if is_blob(value):
        return ResourceOutcome([{"uri": uri, "mimeType": mime or BYTES, "blob": value[BLOB]}])
    if type(value) is str:
        return ResourceOutcome([{"uri": uri, "mimeType": mime or PLAIN, "text": value}])
    if type(value) is dict and "contents" in value and value.keys() <= {"contents", "_meta"}:
        return outcome_of_contents(call, value)
    if type(value) is list and value and all(is_contents(item) and "uri" in item for item in value):
        return outcome_of_contents(call, {"contents": value})
    return ResourceOutcome([{"uri": uri, "mimeType": mime or JSON, "text": encode(value).decode()}])


def outcome_of_contents(call: Call, value: dict[str, Json]) -> ResourceOutcome | None:
    """Return the contents that an object describes; None if any item is invalid."""
    listed = value["contents"]
    items = [item for item in listed if is_contents(item)] if type(listed) is list else []
    if not items or items != listed:
        return None
    defaults: dict[str, Json] = {"uri": str(call.request.params.get("uri"))}
    if call.definition.mime:
        defaults["mimeType"] = call.definition.mime
    outcome = ResourceOutcome([{**defaults, **item} for item in items])
    meta = value.get("_meta")
    outcome.meta = meta if type(meta) is dict else {}
    return outcome


def is_contents(value: Json) -> TypeGuard[dict[str, Json]]:
    """Tell whether this is an item of resource contents: a text or a base64 blob, and optional metadata."""
    # The last condition: exactly one of the two must be there.
    if type(value) is not dict or not value.keys() <= CONTENTS_FIELDS or ("text" in value) == ("blob" in value):
        return False
    texts = (value.get(field, "") for field in ("uri", "mimeType", "text", "blob"))
    are_valid = all(type(text) is str for text in texts) and type(value.get("_meta", {})) is dict
    return are_valid and is_base64(value.get("blob", ""))


def is_base64(value: Json) -> bool:
    """Tell whether a text is base64, strictly."""
    if type(value) is not str:
        return False
    try:
        # Otherwise characters that are not in the alphabet would be skipped.
        a2b_base64(value, strict_mode=True)
    except ValueError:
        return False
    return True


def parse_printed_contents(call: Call, printed: bytes) -> ResourceOutcome:
    """Return the contents that a program printed: an object with `contents`, or the output itself."""
    # The output may be large, and is rarely JSON with this member.
    value = parse_printed_json(printed) if b'"contents"' in printed else None
    if type(value) is dict and "contents" in value:
        result = outcome_of_contents(call, value)
        if result is not None:
            return result
    uri = str(call.request.params.get("uri"))
    return ResourceOutcome([contents_of(uri, call.definition.mime, printed, b"\n")])


def uri_variable(call: Call) -> dict[bytes, bytes]:
    """Return the variable that gives a resource's program the requested uri; nothing for other calls."""
    if call.is_tool or call.request.method != "resources/read":
        return {}
    return {b"MCPC_URI": str(call.request.params.get("uri")).encode()}


def parse_program_result(call: Call, completed: ProcessResult, output: str) -> Ending:
    """Return the ending of a program for a resource or a completion; `output`: what it wrote, as text."""
    is_resource = call.request.method == "resources/read"
    problem = output or f"status {completed.status}" if completed.status else ""
    if is_resource and completed.status == NOT_FOUND_STATUS:
        return unknown_resource(call.request)
    if completed.dropped and not problem:
        problem = "the output is too large"
    if problem:
        what = "the resource cannot be read" if is_resource else "the completion failed"
        return Failure(INTERNAL_ERROR, f"Internal error: {what}: {problem}")
    outcome = (
        parse_printed_contents(call, completed.printed) if is_resource else parse_printed_values(completed.printed)
    )
    outcome.log = str(completed.errors, "utf-8", "replace").strip()
    return outcome


def completion_outcome(value: Json) -> CompletionOutcome | None:
    """Return the completion values of a string, a list, or an object with `values`; None for anything else."""
    if type(value) is dict and type(value.get("completion")) is dict:
        value = value["completion"]
    fields = value if type(value) is dict else {}
    values = fields.get("values") if fields else [] if value is None else [value] if type(value) is str else value
    strings = [item for item in values if type(item) is str] if type(values) is list else None
    if not fields.keys() <= VALUES_FIELDS or strings is None or strings != values:
        return None
    total = fields.get("total")
    return CompletionOutcome(strings, total if type(total) is int else None, fields.get("hasMore") is True)


def parse_printed_values(printed: bytes) -> CompletionOutcome:
    """Return the completion values that a program printed: JSON, or one value per line."""
    # A line such as `5` or `true` is a value, although it is JSON.
    value = parse_printed_json(printed) if printed.lstrip()[:1] in (b"[", b"{") else None
    outcome = None if value is None else completion_outcome(value)
    lines = str(printed, "utf-8", "replace").split("\n")
    return outcome or CompletionOutcome([line for line in lines if line])


def parse_printed_json(printed: bytes) -> Json:
    """Return the single JSON value that was printed, None for anything else."""
    try:
        return parse(printed)
    except ParseError:
        return None
