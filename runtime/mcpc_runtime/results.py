"""What a handler may answer with: content blocks, a whole result, a prompt's messages, a resource's contents, values.

And what each of them means: a handler says as much as it likes, and what it does not say is filled in here.
"""

from __future__ import annotations

from mcpc_runtime.contents import BYTES, PLAIN, contents_of
from mcpc_runtime.lazy import lazy
from mcpc_runtime.protocol.effects import (
    ABSENT,
    CompletionOutcome,
    Failure,
    Outcome,
    PromptOutcome,
    ResourceOutcome,
    text,
)
from mcpc_runtime.protocol.facts import INTERNAL_ERROR
from mcpc_runtime.protocol.jsonrpc import ParseError, encode, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from binascii import a2b_base64
    from collections.abc import Callable

    from mcpc_runtime.commands import Completed
    from mcpc_runtime.protocol.effects import Call, Ending
    from mcpc_runtime.protocol.jsonrpc import Json
    from mcpc_runtime.protocol.resources import unknown
else:
    a2b_base64 = lazy("binascii:a2b_base64")
    unknown = lazy("mcpc_runtime.protocol.resources:unknown")

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
"""The one member of what stands for bytes that a function returned: they, in base64."""
JSON = "application/json"
NO_SUCH = 66
"""The status by which a program says that there is no such resource (EX_NOINPUT)."""


def as_text(value: Json) -> Json:
    """Return a text block: a string as it is, anything else as compact JSON."""
    return text(value if type(value) is str else encode(value).decode())


def is_block(value: Json) -> bool:
    """Tell whether this is a content block: a known kind with the fields it needs, and nothing of a wrong kind."""
    if type(value) is not dict or type(value.get("type")) is not str:
        return False
    fields = CONTENT_FIELDS.get(value["type"])  # type: ignore[arg-type]
    if fields is None or not all(map(value.__contains__, fields)):
        return False
    wanted = is_embedded if value["type"] == "resource" else is_text
    return all(wanted(value[field]) for field in fields) and all(map(fits, value.items()))


def is_text(value: Json) -> bool:
    """Tell whether this is a string."""
    return type(value) is str


def is_embedded(value: Json) -> bool:
    """Tell whether this is a resource that stands in a content block."""
    known = {key: part for key, part in value.items() if key in CONTENTS_FIELDS} if type(value) is dict else {}
    return "uri" in known and is_contents(known)


def is_annotations(value: Json) -> bool:
    """Tell whether this says for whom something is, how important, and how old, if it says that."""
    if type(value) is not dict:
        return False
    audience, priority = value.get("audience", []), value.get("priority", 0)
    is_known = type(audience) is list and all(one in ("user", "assistant") for one in audience)
    is_right = (type(priority) is int or type(priority) is float) and 0 <= priority <= 1
    return is_known and is_right and is_text(value.get("lastModified", ""))


def is_icons(value: Json) -> bool:
    """Tell whether these are icons, each with its address."""
    return type(value) is list and all(type(one) is dict and is_text(one.get("src")) for one in value)


DESCRIBING: dict[str, Callable[[Json], bool]] = {
    **dict.fromkeys(("title", "description", "mimeType"), is_text),
    "size": lambda value: type(value) is int,
    "_meta": lambda value: type(value) is dict,
    "annotations": is_annotations,
    "icons": is_icons,
}
"""What may be said of content and of resources, and what it has to be."""


def fits(member: tuple[str, Json]) -> bool:
    """Tell whether a member is what its name says, if that is known."""
    is_right = DESCRIBING.get(member[0])
    return is_right is None or is_right(member[1])


def is_content(value: Json) -> bool:
    """Tell whether this is a list of content blocks."""
    return type(value) is list and bool(value) and all(map(is_block, value))


def is_result(value: Json) -> bool:
    """Tell whether this is a whole result."""
    if type(value) is not dict or not value.keys() <= RESULT_FIELDS:
        return False
    content = value.get("content")
    return type(content) is list and all(map(is_block, content))


def whole_result(value: dict[str, Json]) -> Outcome:
    """Return the outcome that a whole result describes."""
    outcome = Outcome(value["content"], value.get("structuredContent", ABSENT), value.get("isError") is True)  # type: ignore[arg-type]
    meta = value.get("_meta")
    outcome.meta = meta if type(meta) is dict else {}
    return outcome


def prompt_outcome(value: Json) -> PromptOutcome | None:
    """Return the messages that `value` is, or one of the user's for a plain text; None for anything else."""
    description = value.get("description") if type(value) is dict else None
    given = value.get("messages") if type(value) is dict else value
    messages = [as_message(item) for item in (given if type(given) is list else [given])]
    return PromptOutcome(messages, description if type(description) is str else None) if all(messages) else None


def as_message(value: Json) -> Json:
    """Return a prompt message, or None if `value` cannot be one."""
    if type(value) is str:
        return {"role": "user", "content": text(value)}
    if type(value) is not dict or value.get("role", "user") not in ("user", "assistant"):
        return None
    content = value.get("content")
    if type(content) is str:
        content = text(content)
    return {"role": value.get("role", "user"), "content": content} if is_block(content) else None


def is_blob(value: Json) -> bool:
    """Tell whether this stands for bytes that a function returned."""
    return type(value) is dict and value.keys() == {BLOB}


def resource_outcome(call: Call, value: Json) -> ResourceOutcome | None:
    """Return the contents that a function returned: its own, or those that a text, bytes or JSON are."""
    uri, mime = str(call.request.params.get("uri")), call.definition.mime
    if is_blob(value):
        return ResourceOutcome([{"uri": uri, "mimeType": mime or BYTES, "blob": value[BLOB]}])  # type: ignore[index,call-overload]
    if type(value) is str:
        return ResourceOutcome([{"uri": uri, "mimeType": mime or PLAIN, "text": value}])
    if type(value) is dict and "contents" in value and value.keys() <= {"contents", "_meta"}:
        return whole_contents(call, value)
    if type(value) is list and value and all(is_contents(item) and "uri" in item for item in value):  # type: ignore[operator]
        return whole_contents(call, {"contents": value})
    return ResourceOutcome([{"uri": uri, "mimeType": mime or JSON, "text": encode(value).decode()}])


def whole_contents(call: Call, value: dict[str, Json]) -> ResourceOutcome | None:
    """Return the contents that an object describes; None if some of them cannot be such."""
    given = value["contents"]
    if type(given) is not list or not given or not all(map(is_contents, given)):
        return None
    usual: dict[str, Json] = {"uri": str(call.request.params.get("uri"))}
    if call.definition.mime:
        usual["mimeType"] = call.definition.mime
    outcome = ResourceOutcome([{**usual, **item} for item in given])  # type: ignore[dict-item]
    meta = value.get("_meta")
    outcome.meta = meta if type(meta) is dict else {}
    return outcome


def is_contents(value: Json) -> bool:
    """Tell whether this can be contents of a resource: a text, or a blob in base64, and what is said of it."""
    if type(value) is not dict or not value.keys() <= CONTENTS_FIELDS or ("text" in value) == ("blob" in value):
        return False
    texts = (value.get(field, "") for field in ("uri", "mimeType", "text", "blob"))
    is_right = all(type(text) is str for text in texts) and type(value.get("_meta", {})) is dict
    return is_right and is_base64(value.get("blob", ""))


def is_base64(value: Json) -> bool:
    """Tell whether a text is base64, strictly."""
    if type(value) is not str:
        return False
    try:
        a2b_base64(value, strict_mode=True)
    except ValueError:
        return False
    return True


def printed_contents(call: Call, printed: bytes) -> ResourceOutcome:
    """Return the contents that a program printed: its own, or those that its output is."""
    value = printed_json(printed) if b'"contents"' in printed else None
    if type(value) is dict and "contents" in value:
        whole = whole_contents(call, value)
        if whole is not None:
            return whole
    uri = str(call.request.params.get("uri"))
    return ResourceOutcome([contents_of(uri, call.definition.mime, printed, b"\n")])


def uri_of(call: Call) -> dict[bytes, bytes]:
    """Return the variable in which a resource's program finds the uri that was asked for."""
    if call.is_tool or call.request.method != "resources/read":
        return {}
    return {b"MCPC_URI": str(call.request.params.get("uri")).encode()}


def program_ending(call: Call, completed: Completed, said: str) -> Ending:
    """Return the end of a program that has a resource's contents or completes an argument; `said`: what it wrote."""
    is_resource = call.request.method == "resources/read"
    problem = said or f"status {completed.status}" if completed.status else ""
    if is_resource and completed.status == NO_SUCH:
        failure: Failure = unknown(call.request)
        return failure
    if completed.dropped and not problem:
        problem = "the output is larger than what is kept of it"
    if problem:
        what = "the resource cannot be read" if is_resource else "nothing can be completed"
        return Failure(INTERNAL_ERROR, f"Internal error: {what}: {problem}")
    outcome = printed_contents(call, completed.printed) if is_resource else printed_values(completed.printed)
    outcome.log = str(completed.errors, "utf-8", "replace").strip()
    return outcome


def completion_outcome(value: Json) -> CompletionOutcome | None:
    """Return the values that a function found: one, several, or an object with `values`; None for anything else."""
    if type(value) is dict and type(value.get("completion")) is dict:
        value = value["completion"]
    said = value if type(value) is dict else {}
    values = said.get("values") if said else [] if value is None else [value] if type(value) is str else value
    if not said.keys() <= VALUES_FIELDS or type(values) is not list or any(type(item) is not str for item in values):
        return None
    total = said.get("total")
    return CompletionOutcome(values, total if type(total) is int else None, said.get("hasMore") is True)  # type: ignore[arg-type]


def printed_values(printed: bytes) -> CompletionOutcome:
    """Return the values that a program printed: as JSON, or one a line."""
    value = printed_json(printed) if printed.lstrip()[:1] in (b"[", b"{") else None
    outcome = None if value is None else completion_outcome(value)
    lines = str(printed, "utf-8", "replace").split("\n")
    return outcome or CompletionOutcome([line for line in lines if line])


def printed_json(printed: bytes) -> Json:
    """Return the one JSON value that was printed, None if it is anything else."""
    try:
        return parse(printed)
    except ParseError:
        return None
