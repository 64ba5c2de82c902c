"""What a client's answer to a question must be before a handler sees it.

An answer is not an answer at all (`malformed`), or it is one that does not fit the form (`unfit`): a person can mend
the second, and is asked again where that costs nothing.
"""

from __future__ import annotations

from mcpc_runtime.protocol.inquiries import ROLES, blocks, choices

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mcpc_runtime.protocol.jsonrpc import Json

    Object = dict[str, Json]

ACTIONS = ("accept", "decline", "cancel")


def complaint(method: str, params: Object, result: Json) -> str:
    """Return what is wrong with an answer, or nothing."""
    return malformed(method, params, result) or unfit(method, params, result)


def malformed(method: str, params: Object, result: Json) -> str:
    """Return what keeps a value from being an answer to such a question, or nothing."""
    return ANSWERS[method](params, result) if type(result) is dict else "it must be an object"


def elicitation_complaint(params: Object, result: Object) -> str:
    """Return what is wrong with what the user is said to have done."""
    if result.get("action") not in ACTIONS:
        return f"its `action` must be one of {', '.join(ACTIONS)}"
    if result["action"] == "accept" and params.get("mode") != "url" and type(result.get("content", {})) is not dict:
        return "its `content` must be an object"
    return ""


def sampling_complaint(_: Object, result: Object) -> str:
    """Return what is wrong with what a model is said to have written."""
    if result.get("role") not in ROLES or type(result.get("model")) is not str:
        return "it must have a `role`, user or assistant, and a `model`"
    found = blocks(result)
    if not all(type(one) is dict and type(one.get("type")) is str for one in found):
        return "its `content` must be one block of content, or a list of blocks"
    texts = [one.get("text") for one in found if one["type"] == "text"]
    return "" if all(type(text) is str for text in texts) else "a block of text must have a `text`"


def roots_complaint(_: Object, result: Object) -> str:
    """Return what is wrong with a list of roots."""
    found = result.get("roots")
    if type(found) is list and all(type(one) is dict and type(one.get("uri")) is str for one in found):
        return ""
    return "its `roots` must be a list of objects with a `uri`"


def unfit(method: str, params: Object, result: Any) -> str:
    """Return what of an accepted form does not fit its schema, or nothing."""
    if method != "elicitation/create" or params.get("mode") == "url" or result["action"] != "accept":
        return ""
    schema: Any = params["requestedSchema"]
    content = result.get("content", {})
    for name in schema.get("required", ()):
        if name not in content:
            return f"`{name}` is missing"
    for name, field in schema["properties"].items():
        found = field_complaint(field, content[name]) if name in content else ""
        if found:
            return f"`{name}` must be {found}"
    return ""


def seen(method: str, params: Object, result: Any) -> Json:
    """Return what a handler sees of an answer that fits: only what was accepted was held against the form."""
    if method != "elicitation/create" or (result["action"] == "accept" and params.get("mode") != "url"):
        return result  # type: ignore[no-any-return]
    return {key: value for key, value in result.items() if key != "content"}


def field_complaint(field: Any, value: Json) -> str:
    """Return what a field's value should have been, nothing if it is that."""
    found: str = FIELDS[field["type"]](field, value)
    return found


def string_complaint(field: Any, value: Json) -> str:
    """Return what a text should have been."""
    if type(value) is not str:
        return "a string"
    known = choices(field, "oneOf")
    if known is not None:
        return "" if value in known else f"one of {', '.join(map(str, known))}"
    if not field.get("minLength", 0) <= len(value) <= field.get("maxLength", len(value)):
        return f"of {field.get('minLength', 0)} to {field.get('maxLength', 'any number of')} characters"
    fits = FORMATS.get(field.get("format", ""))
    return "" if fits is None or fits(value) else f"of the format {field['format']}"


def number_complaint(field: Any, value: Json) -> str:
    """Return what a number should have been."""
    if type(value) is not int and type(value) is not float:
        return "a number"
    if field["type"] == "integer" and value != int(value):
        return "an integer"
    least, most = field.get("minimum", value), field.get("maximum", value)
    return "" if least <= value <= most else f"between {least} and {most}"


def boolean_complaint(_: Any, value: Json) -> str:
    """Return what a truth should have been."""
    return "" if type(value) is bool else "true or false"


def array_complaint(field: Any, value: Json) -> str:
    """Return what a list of choices should have been."""
    known = choices(field["items"], "anyOf") or []
    if type(value) is not list or not all(type(one) is str and one in known for one in value):
        return f"a list of some of {', '.join(map(str, known))}"
    if not field.get("minItems", 0) <= len(value) <= field.get("maxItems", len(value)):
        return f"a list of {field.get('minItems', 0)} to {field.get('maxItems', len(known))} choices"
    return ""


def is_date(text: str) -> bool:
    """Tell whether a text looks like a date."""
    year, month, day = (*text.split("-"), "", "", "")[:3]
    digits = [(4, 0, 9999), (2, 1, 12), (2, 1, 31)]
    parts = zip((year, month, day), digits, strict=True)
    return len(text) == 10 and all(
        part.isascii() and part.isdigit() and len(part) == size and least <= int(part) <= most
        for part, (size, least, most) in parts
    )


def is_email(text: str) -> bool:
    """Tell whether a text looks like the address of a mailbox."""
    name, at, domain = text.rpartition("@")
    return bool(at and name and domain) and not any(letter.isspace() for letter in text)


def is_time(text: str) -> bool:
    """Tell whether a text looks like a date and a time."""
    return len(text) > 16 and text[10] in "Tt" and text[13] == ":" and is_date(text[:10])


def is_uri(text: str) -> bool:
    """Tell whether a text looks like an absolute address."""
    scheme, colon, rest = text.partition(":")
    return bool(colon and rest) and scheme[:1].isalpha() and not any(letter.isspace() for letter in text)


FORMATS: dict[str, Callable[[str], bool]] = {"date": is_date, "date-time": is_time, "email": is_email, "uri": is_uri}
FIELDS: dict[str, Callable[[Any, Json], str]] = {
    "array": array_complaint,
    "boolean": boolean_complaint,
    "integer": number_complaint,
    "number": number_complaint,
    "string": string_complaint,
}
ANSWERS: dict[str, Callable[[Object, Object], str]] = {
    "elicitation/create": elicitation_complaint,
    "sampling/createMessage": sampling_complaint,
    "roots/list": roots_complaint,
}
