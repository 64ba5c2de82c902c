"""What a client may be asked, and how a question is put in each revision.

A question is what an author wrote or a handler made; what is wrong with it is said to the handler, and the client never
sees it.  What a revision does not know of a question is left out, or said in the words that it has.
"""

from __future__ import annotations

from mcpc_runtime.lazy import lazy
from mcpc_runtime.protocol.capabilities import PARTS_SINCE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mcpc_runtime.protocol.jsonrpc import Json
    from mcpc_runtime.protocol.ports import Wire

    Params = dict[str, Json]
    from mcpc_runtime.protocol.downgrade import downgrade
else:
    downgrade = lazy("mcpc_runtime.protocol.downgrade:downgrade")

PRIMITIVES = ("string", "number", "integer", "boolean")
BOUNDS = ("minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems")
ROLES = ("user", "assistant")


def complaint(question: Json, wire: Wire) -> str:
    """Return what is wrong with a question, or nothing."""
    method = question.get("method") if type(question) is dict else None
    if type(question) is not dict or type(method) is not str or method not in QUESTIONS:
        return f"its `method` must be one of {', '.join(QUESTIONS)}"
    params = question.get("params", {})
    if type(params) is not dict:
        return "its `params` must be an object"
    found: str = QUESTIONS[method](params)
    if not found and method == "elicitation/create" and wire.version < PARTS_SINCE and has_lists(params):
        return f"a form has no lists before {PARTS_SINCE}, and the client speaks {wire.version}"
    return found


def elicitation_complaint(params: Params) -> str:
    """Return what is wrong with a question for the user."""
    if type(params.get("message")) is not str:
        return "it needs a `message`, a text"
    mode = params.get("mode", "form")
    if mode == "url":
        url = params.get("url")
        return "" if type(url) is str and ":" in url else "it needs a `url`"
    return form_complaint(params.get("requestedSchema")) if mode == "form" else "its `mode` must be form or url"


def form_complaint(schema: Json) -> str:
    """Return what is wrong with a form: an object of texts, numbers, truths and choices, and nothing inside those."""
    properties = schema.get("properties") if type(schema) is dict else None
    if type(schema) is not dict or schema.get("type") != "object" or type(properties) is not dict:
        return 'its `requestedSchema` must be an object with "type": "object" and `properties`'
    for name, field in properties.items():
        if not is_field(field):
            return f"`{name}` in its form must be a string, number, integer or boolean, or an array of choices"
    required = schema.get("required", [])
    if type(required) is not list or not all(type(name) is str and name in properties for name in required):
        return "what its form requires must be in the form"
    return ""


def is_field(field: Json) -> bool:
    """Tell whether this is the schema of a field of a form."""
    if type(field) is not dict or not all(type(field.get(bound, 0)) in (int, float) for bound in BOUNDS):
        return False
    if field.get("type") == "array":
        return choices(field.get("items"), "anyOf") is not None
    return field.get("type") in PRIMITIVES and type(field.get("format", "")) is str


def choices(schema: Json, titled: str) -> list[Json] | None:
    """Return what a schema has one choose from: `enum`, or constants with titles; None if it leaves that open."""
    if type(schema) is not dict:
        return None
    enum, constants = schema.get("enum"), schema.get(titled)
    if type(enum) is list:
        return enum
    if type(constants) is list and all(type(one) is dict and "const" in one for one in constants):
        return [one["const"] for one in constants if type(one) is dict]
    return None


def has_lists(params: Params) -> bool:
    """Tell whether a form has a field with several choices."""
    schema = params.get("requestedSchema")
    properties = schema.get("properties") if type(schema) is dict else None
    fields = properties.values() if type(properties) is dict else ()
    return any(type(field) is dict and field.get("type") == "array" for field in fields)


def sampling_complaint(params: Params) -> str:
    """Return what is wrong with a question for the client's model."""
    messages, tokens = params.get("messages"), params.get("maxTokens")
    if type(messages) is not list or not messages:
        return "it needs `messages`"
    if type(tokens) is not int or tokens < 1:
        return "it needs `maxTokens`, a positive integer"
    if not all(is_message(message) for message in messages):
        return "each of its messages must have a `role`, user or assistant, and `content`"
    return pairing_complaint(messages)


def is_message(message: Json) -> bool:
    """Tell whether this is a message to a model."""
    if type(message) is not dict or message.get("role") not in ROLES:
        return False
    return bool(blocks(message)) and all(type(one) is dict and type(one.get("type")) is str for one in blocks(message))


def blocks(message: Any) -> list[Any]:
    """Return the content of a message as a list."""
    content = message.get("content")
    return content if type(content) is list else [content]


def pairing_complaint(messages: list[Json]) -> str:
    """Return what is wrong with the uses of tools in messages: each must have its result in the very next one."""
    wanted: set[Json] = set()
    for message in messages:
        used, results, others = tools_of(message)
        if results and others:
            return "a message with results of tools must have nothing else in it"
        if results != wanted:
            return "each use of a tool needs its result in the next message, and each result its use in the one before"
        wanted = used
    return "each use of a tool needs its result in the next message" if wanted else ""


def tools_of(message: Json) -> tuple[set[Json], set[Json], int]:
    """Return the uses of tools in a message, the results, and how many blocks are no results."""
    found = blocks(message)
    used = {repr(one.get("id")) for one in found if one["type"] == "tool_use"}
    results = {repr(one.get("toolUseId")) for one in found if one["type"] == "tool_result"}
    return used, results, sum(one["type"] != "tool_result" for one in found)  # type: ignore[return-value]


def roots_complaint(_: Params) -> str:
    """Return nothing: there is nothing to say with this question."""
    return ""


def shown(method: str, params: Params, wire: Wire, unique: Callable[[], str]) -> Params:
    """Return a question's params as a revision has them; `unique` makes an identifier."""
    row = SHOWN.get(method)
    return dict(params) if row is None else row(dict(params), wire, unique)


def show_elicitation(params: Params, wire: Wire, unique: Callable[[], str]) -> Params:
    """Return an elicitation: an address has an identifier in one revision only, and modes are not known before it."""
    params.pop("elicitationId", None)
    if params.get("mode") == "url" and not wire.stateless:
        params["elicitationId"] = unique()
    if wire.version < PARTS_SINCE:
        params.pop("mode", None)
    return params


def show_sampling(params: Params, wire: Wire, unique: Callable[[], str]) -> Params:
    """Return a sampling: a message had one block of content once, and of a kind that the revision knew."""
    if wire.version >= PARTS_SINCE:
        return params
    messages: Any = params["messages"]
    pairs = [(message, block) for message in messages for block in blocks(message)]
    params["messages"] = [{**message, "content": downgrade(block, wire.content)} for message, block in pairs]
    return params


QUESTIONS: dict[str, Callable[[Params], str]] = {
    "elicitation/create": elicitation_complaint,
    "sampling/createMessage": sampling_complaint,
    "roots/list": roots_complaint,
}
"""What a client may be asked, and what is wrong with such a question."""
SHOWN: dict[str, Callable[[Params, Wire, Callable[[], str]], Params]] = {
    "elicitation/create": show_elicitation,
    "sampling/createMessage": show_sampling,
}
"""What revisions do not say alike."""
