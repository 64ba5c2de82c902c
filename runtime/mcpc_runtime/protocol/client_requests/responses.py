"""Validation of the client's responses before a handler receives them.

A response is malformed (`malformed_response`), or its form content does not match the schema (`form_mismatch`): a user
can correct the second, and is asked again where that is possible.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypedDict

from mcpc_runtime.protocol.client_requests.params import ROLES, choices, content_blocks
from mcpc_runtime.protocol.jsonrpc import Json

Object = dict[str, Json]


class FormField(TypedDict, total=False):
    """A field of a form, as far as responses are validated against it."""

    type: str
    format: str
    items: Object
    minLength: int
    maxLength: int
    minimum: float
    maximum: float
    minItems: int
    maxItems: int


class Form(TypedDict, total=False):
    """A form (see `params.form_problem`)."""

    properties: dict[str, FormField]
    required: list[str]


ACTIONS = ("accept", "decline", "cancel")


def response_problem(method: str, params: Object, result: Json) -> str:
    """Return why a response is invalid, or an empty string."""
    return malformed_response(method, params, result) or form_mismatch(method, params, result)


def malformed_response(method: str, params: Object, result: Json) -> str:
    """Return why a value cannot be a response to such a request, or an empty string."""
    return RESPONSE_CHECKS[method](params, result) if type(result) is dict else "it must be an object"


def elicitation_response_problem(params: Object, result: Object) -> str:
    """Return why the result of an elicitation is malformed, or an empty string."""
    if result.get("action") not in ACTIONS:
        return f"its `action` must be one of {', '.join(ACTIONS)}"
    if result["action"] == "accept" and params.get("mode") != "url" and type(result.get("content", {})) is not dict:
        return "its `content` must be an object"
    return ""


def sampling_response_problem(_: Object, result: Object) -> str:
    """Return why the result of a sampling request is malformed, or an empty string."""
    if result.get("role") not in ROLES or type(result.get("model")) is not str:
        return "it must have a `role`, user or assistant, and a `model`"
    found = content_blocks(result)
    if not all(type(item) is dict and type(item.get("type")) is str for item in found):
        return "its `content` must be one block of content, or a list of blocks"
    texts = [item.get("text") for item in found if type(item) is dict and item["type"] == "text"]
    return "" if all(type(text) is str for text in texts) else "a block of text must have a `text`"


def roots_response_problem(_: Object, result: Object) -> str:
    """Return why a list of roots is malformed, or an empty string."""
    found = result.get("roots")
    if type(found) is list and all(type(item) is dict and type(item.get("uri")) is str for item in found):
        return ""
    return "its `roots` must be a list of objects with a `uri`"


def form_mismatch(method: str, params: Object, result: Json) -> str:
    """Return why the content of an accepted form does not match its schema, or an empty string."""
    if not is_filled_form(method, params, result) or type(result) is not dict:
        return ""
    schema: Form = params["requestedSchema"]  # type: ignore[assignment]
    raw_content = result.get("content")
    content = raw_content if type(raw_content) is dict else {}
    for name in schema.get("required", ()):
        if name not in content:
            return f"`{name}` is missing"
    for name, field in schema["properties"].items():
        found = field_problem(field, content[name]) if name in content else ""
        if found:
            return f"`{name}` must be {found}"
    return ""


def is_filled_form(method: str, params: Object, result: Json) -> bool:
    """Tell whether a response is a form that the user filled in."""
    is_form = method == "elicitation/create" and params.get("mode") != "url"
    return is_form and type(result) is dict and result["action"] == "accept"


def visible_response(method: str, params: Object, result: Json) -> Json:
    """Return a valid response as the handler sees it: unvalidated content is removed."""
    if method != "elicitation/create" or type(result) is not dict or is_filled_form(method, params, result):
        return result
    return {key: value for key, value in result.items() if key != "content"}


def field_problem(field: FormField, value: Json) -> str:
    """Return what the value of a field should have been, or an empty string."""
    return FIELD_CHECKS[field["type"]](field, value)


def string_problem(field: FormField, value: Json) -> str:
    """Return what a string should have been."""
    if type(value) is not str:
        return "a string"
    allowed = choices(field, "oneOf")
    if allowed is not None:
        return "" if value in allowed else f"one of {', '.join(map(str, allowed))}"
    if not field.get("minLength", 0) <= len(value) <= field.get("maxLength", len(value)):
        return f"of {field.get('minLength', 0)} to {field.get('maxLength', 'any number of')} characters"
    check = FORMAT_CHECKS.get(field.get("format", ""))
    return "" if check is None or check(value) else f"of the format {field['format']}"


def number_problem(field: FormField, value: Json) -> str:
    """Return what a number should have been."""
    if type(value) is not int and type(value) is not float:
        return "a number"
    if field["type"] == "integer" and value != int(value):
        return "an integer"
    if "minimum" in field and value < field["minimum"]:
        return f"at least {field['minimum']}"
    return f"at most {field['maximum']}" if "maximum" in field and value > field["maximum"] else ""


def boolean_problem(_: FormField, value: Json) -> str:
    """Return what a boolean should have been."""
    return "" if type(value) is bool else "true or false"


def array_problem(field: FormField, value: Json) -> str:
    """Return what a list of choices should have been."""
    allowed = choices(field["items"], "anyOf") or []
    if type(value) is not list or not all(type(item) is str and item in allowed for item in value):
        return f"a list of some of {', '.join(map(str, allowed))}"
    if not field.get("minItems", 0) <= len(value) <= field.get("maxItems", len(value)):
        return f"a list of {field.get('minItems', 0)} to {field.get('maxItems', len(allowed))} choices"
    return ""


def looks_like_date(text: str) -> bool:
    """Tell whether a text looks like a date."""
    year, month, day = (*text.split("-"), "", "", "")[:3]
    is_shaped = [len(part) for part in (year, month, day)] == [4, 2, 2] and len(text) == 10
    is_numeric = text.isascii() and (year + month + day).isdigit()
    return is_shaped and is_numeric and "01" <= month <= "12" and "01" <= day <= "31"


def looks_like_email(text: str) -> bool:
    """Tell whether a text looks like an e-mail address."""
    name, at, domain = text.rpartition("@")
    return bool(at and name and domain) and not any(letter.isspace() for letter in text)


def looks_like_date_time(text: str) -> bool:
    """Tell whether a text looks like a date and a time."""
    return len(text) > 16 and text[10] in "Tt" and text[13] == ":" and looks_like_date(text[:10])


def looks_like_uri(text: str) -> bool:
    """Tell whether a text looks like an absolute URI."""
    scheme, colon, rest = text.partition(":")
    return bool(colon and rest) and scheme[:1].isalpha() and not any(letter.isspace() for letter in text)


FORMAT_CHECKS: dict[str, Callable[[str], bool]] = {
    "date": looks_like_date,
    "date-time": looks_like_date_time,
    "email": looks_like_email,
    "uri": looks_like_uri,
}
FIELD_CHECKS: dict[str, Callable[[FormField, Json], str]] = {
    "array": array_problem,
    "boolean": boolean_problem,
    "integer": number_problem,
    "number": number_problem,
    "string": string_problem,
}
RESPONSE_CHECKS: dict[str, Callable[[Object, Object], str]] = {
    "elicitation/create": elicitation_response_problem,
    "sampling/createMessage": sampling_response_problem,
    "roots/list": roots_response_problem,
}
