"""Parameters of client requests: validation, and their form in each revision.

A request comes from an author or a handler; the handler receives its errors, and the client never sees an invalid
request. Parts that a revision does not define are removed or converted.

Validation of the client's responses before a handler receives them.

A response is malformed (`malformed_response`), or its form content does not match the schema (`form_mismatch`): a user
can correct the second, and is asked again where that is possible.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypedDict

from mcpc_runtime.protocol.capabilities import CAPABILITY_DETAILS_SINCE
from mcpc_runtime.protocol.contents import downgrade_content
from mcpc_runtime.protocol.image import ProtocolRevision
from mcpc_runtime.protocol.jsonrpc import Json

Params = dict[str, Json]


PRIMITIVES = ("string", "number", "integer", "boolean")
BOUNDS = ("minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems")
ROLES = ("user", "assistant")


def request_problem(question: Json, wire: ProtocolRevision) -> str:
    """Return why a client request is invalid, or an empty string."""
    method = question.get("method") if type(question) is dict else None
    if type(question) is not dict or type(method) is not str or method not in REQUEST_CHECKS:
        return f"its `method` must be one of {', '.join(REQUEST_CHECKS)}"
    params = question.get("params", {})
    if type(params) is not dict:
        return "its `params` must be an object"
    problem: str = REQUEST_CHECKS[method](params)
    if not problem and method == "elicitation/create" and wire.version < CAPABILITY_DETAILS_SINCE and has_lists(params):
        return f"forms cannot have lists before revision {CAPABILITY_DETAILS_SINCE}, and the client uses {wire.version}"
    return problem


def elicitation_problem(params: Params) -> str:
    """Return why an elicitation is invalid, or an empty string."""
    if type(params.get("message")) is not str:
        return "it needs a `message`, a string"
    mode = params.get("mode", "form")
    if mode == "url":
        url = params.get("url")
        return "" if type(url) is str and ":" in url else "it needs a `url`"
    return form_problem(params.get("requestedSchema")) if mode == "form" else "its `mode` must be form or url"


def form_problem(schema: Json) -> str:
    """Return why a form is invalid: it must be a flat object of string, number, boolean and enum fields."""
    properties = schema.get("properties") if type(schema) is dict else None
    if type(schema) is not dict or schema.get("type") != "object" or type(properties) is not dict:
        return 'its `requestedSchema` must be an object with "type": "object" and `properties`'
    for name, field in properties.items():
        if not is_field(field):
            return f"`{name}` in its form must be a string, number, integer or boolean, or an array of choices"
    required = schema.get("required", [])
    if type(required) is not list or not all(type(name) is str and name in properties for name in required):
        return "`required` must name properties of the form"
    return ""


def is_field(field: Json) -> bool:
    """Tell whether this is the schema of a field of a form."""
    if type(field) is not dict or not all(type(field.get(bound, 0)) in (int, float) for bound in BOUNDS):
        return False
    if field.get("type") == "array":
        return choices(field.get("items"), "anyOf") is not None
    return field.get("type") in PRIMITIVES and type(field.get("format", "")) is str


def choices(schema: object, titled: str) -> list[Json] | None:
    """Return the values that a schema allows (`enum`, or constants with titles); None if it allows others."""
    if type(schema) is not dict:
        return None
    enum, constants = schema.get("enum"), schema.get(titled)
    if type(enum) is list:
        return enum
    if type(constants) is list and all(type(item) is dict and "const" in item for item in constants):
        return [item["const"] for item in constants if type(item) is dict]
    return None


def has_lists(params: Params) -> bool:
    """Tell whether a form has a multiple-choice field."""
    schema = params.get("requestedSchema")
    properties = schema.get("properties") if type(schema) is dict else None
    fields = properties.values() if type(properties) is dict else ()
    return any(type(field) is dict and field.get("type") == "array" for field in fields)


def sampling_problem(params: Params) -> str:
    """Return why a sampling request is invalid, or an empty string."""
    messages, tokens = params.get("messages"), params.get("maxTokens")
    if type(messages) is not list or not messages:
        return "it needs `messages`"
    if type(tokens) is not int or tokens < 1:
        return "it needs `maxTokens`, a positive integer"
    if not all(is_sampling_message(message) for message in messages):
        return "each of its messages must have a `role`, user or assistant, and `content`"
    return tool_use_problem(messages)


def is_sampling_message(message: Json) -> bool:
    """Tell whether this is a message of a sampling request."""
    if type(message) is not dict or message.get("role") not in ROLES:
        return False
    return bool(content_blocks(message)) and all(
        type(item) is dict and type(item.get("type")) is str for item in content_blocks(message)
    )


def content_blocks(message: Json) -> list[Json]:
    """Return the content of a message as a list."""
    content = message.get("content") if type(message) is dict else None
    return content if type(content) is list else [content]


def tool_use_problem(messages: list[Json]) -> str:
    """Return why tool uses are invalid: each must have its result in the next message."""
    expected: set[str] = set()
    for message in messages:
        uses, results, others = tool_block_ids(message)
        if results and others:
            return "a message with tool results must contain nothing else"
        if results != expected:
            return (
                "each tool use needs its result in the next message, and each result its tool use in the previous one"
            )
        expected = uses
    return "each tool use needs its result in the next message" if expected else ""


def tool_block_ids(message: Json) -> tuple[set[str], set[str], int]:
    """Return the ids of tool uses and of tool results in a message, and the number of all other blocks."""
    blocks = [item for item in content_blocks(message) if type(item) is dict]
    # As text, because an id that is wrong may be a value without a hash.
    uses = {repr(item.get("id")) for item in blocks if item["type"] == "tool_use"}
    results = {repr(item.get("toolUseId")) for item in blocks if item["type"] == "tool_result"}
    return uses, results, sum(item["type"] != "tool_result" for item in blocks)


def roots_problem(_: Params) -> str:
    """Return an empty string: the request has no parameters."""
    return ""


def params_for_revision(method: str, params: Params, wire: ProtocolRevision, unique: Callable[[], str]) -> Params:
    """Return the params of a client request for a revision; `unique` returns a new identifier."""
    row = CONVERSIONS.get(method)
    return dict(params) if row is None else row(dict(params), wire, unique)


def elicitation_for_revision(params: Params, wire: ProtocolRevision, unique: Callable[[], str]) -> Params:
    """Return an elicitation: a URL has an identifier in one revision only, and older ones have no modes."""
    params.pop("elicitationId", None)
    if params.get("mode") == "url" and not wire.stateless:
        params["elicitationId"] = unique()
    if wire.version < CAPABILITY_DETAILS_SINCE:
        params.pop("mode", None)
    return params


def sampling_for_revision(params: Params, wire: ProtocolRevision, unique: Callable[[], str]) -> Params:
    """Return a sampling request: older revisions have one block per message, of the kinds they know."""
    if wire.version >= CAPABILITY_DETAILS_SINCE:
        return params
    messages = params["messages"]
    objects = [message for message in messages if type(message) is dict] if type(messages) is list else []
    # A message of several blocks becomes as many messages of its role.
    pairs = [(message, block) for message in objects for block in content_blocks(message)]
    params["messages"] = [{**message, "content": downgrade_content(block, wire.content)} for message, block in pairs]
    return params


REQUEST_CHECKS: dict[str, Callable[[Params], str]] = {
    "elicitation/create": elicitation_problem,
    "sampling/createMessage": sampling_problem,
    "roots/list": roots_problem,
}
"""The methods of client requests, with their validation."""
CONVERSIONS: dict[str, Callable[[Params, ProtocolRevision, Callable[[], str]], Params]] = {
    "elicitation/create": elicitation_for_revision,
    "sampling/createMessage": sampling_for_revision,
}
"""The methods whose params differ between revisions."""


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
    blocks = content_blocks(result)
    if not all(type(item) is dict and type(item.get("type")) is str for item in blocks):
        return "its `content` must be one block of content, or a list of blocks"
    texts = [item.get("text") for item in blocks if type(item) is dict and item["type"] == "text"]
    return "" if all(type(text) is str for text in texts) else "a block of text must have a `text`"


def roots_response_problem(_: Object, result: Object) -> str:
    """Return why a list of roots is malformed, or an empty string."""
    roots = result.get("roots")
    if type(roots) is list and all(type(item) is dict and type(item.get("uri")) is str for item in roots):
        return ""
    return "its `roots` must be a list of objects with a `uri`"


def form_mismatch(method: str, params: Object, result: Json) -> str:
    """Return why the content of an accepted form does not match its schema, or an empty string."""
    if not is_filled_form(method, params, result) or type(result) is not dict:
        return ""
    schema: Form = params["requestedSchema"]  # type: ignore[assignment]
    raw_content = result.get("content")
    # A form without fields may be accepted without content.
    content = raw_content if type(raw_content) is dict else {}
    for name in schema.get("required", ()):
        if name not in content:
            return f"`{name}` is missing"
    for name, field in schema["properties"].items():
        problem = FIELD_CHECKS[field["type"]](field, content[name]) if name in content else ""
        if problem:
            return f"`{name}` must be {problem}"
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
    # For JSON Schema, 1.0 is an integer.
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
    # Padded, so that any text has three parts; two digits each are in the order of their numbers.
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
