"""What a handler may answer with: content blocks, a whole result, a prompt's messages; and what each of them means."""

from __future__ import annotations

from mcpc_runtime.protocol.effects import ABSENT, Outcome, PromptOutcome, text
from mcpc_runtime.protocol.jsonrpc import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.protocol.jsonrpc import Json

CONTENT_FIELDS = {
    "text": ("text",),
    "image": ("data", "mimeType"),
    "audio": ("data", "mimeType"),
    "resource": ("resource",),
    "resource_link": ("uri", "name"),
}
RESULT_FIELDS = {"content", "structuredContent", "isError", "_meta"}


def as_text(value: Json) -> Json:
    """Return a text block: a string as it is, anything else as compact JSON."""
    return text(value if type(value) is str else encode(value).decode())


def is_block(value: Json) -> bool:
    """Tell whether this is a content block: a known kind with the fields it needs."""
    if type(value) is not dict or type(value.get("type")) is not str:
        return False
    fields = CONTENT_FIELDS.get(value["type"])  # type: ignore[arg-type]
    return fields is not None and all(field in value for field in fields)


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
    if type(value) is not dict or value.get("role") not in ("user", "assistant"):
        return None
    content = value.get("content")
    if type(content) is str:
        content = text(content)
    return {"role": value["role"], "content": content} if is_block(content) else None
