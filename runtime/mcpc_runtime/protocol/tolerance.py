"""Arguments of clients that cannot learn from an error: what is wrong is corrected, if the schema accepts the result.

It is done only after the schema has refused them, by its errors, in a copy:

| an error at | becomes |
|---|---|
| an argument or a property that the schema does not know | nothing |
| null | nothing |
| the text of a number, a boolean, an array or an object where one of its type is expected | that value |
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Sequence
from typing import Any

from mcpc_runtime.protocol.constants import CLIENT_INFO_KEY
from mcpc_runtime.protocol.definitions import Errors, Validator
from mcpc_runtime.protocol.display import KINDS
from mcpc_runtime.protocol.jsonrpc import Json, ParseError, parse
from mcpc_runtime.protocol.requests import Request

Object = dict[str, Json]


KNOWN = "auto"
"""The tolerance for known clients only."""
KNOWN_CLIENTS = frozenset(
    (
        # Adds `tool`, `toolCallId` and others to the arguments: https://github.com/n8n-io/n8n/issues/21500
        "@n8n/n8n-nodes-langchain.mcpClientTool",
        # Writes arrays and objects as text, and numbers: https://github.com/anthropics/claude-code/issues/24597
        "claude-code",
        # Sends null for what is left out: https://github.com/openclaw/openclaw/issues/96716
        "openclaw-bundle-mcp",
    )
)
"""Clients that send invalid arguments whatever the model wrote, by the names with which they introduce themselves."""
UNKNOWN_PROPERTY = ("additionalProperties", "unevaluatedProperties")
MAX_ROUNDS = 16
"""A value in a corrected value is corrected in the next round; a round corrects some 100 values."""
MAX_TEXT = 1 << 20
"""Characters of all texts that are parsed for one call: an empty object takes two of them, and 64 bytes in memory."""
ABSENT = object()


def is_known_client(information: Json) -> bool:
    """Tell whether a client that introduces itself is known to send invalid arguments."""
    name = information.get("name") if type(information) is dict else None
    return type(name) is str and name in KNOWN_CLIENTS


def is_tolerated(request: Request) -> bool:
    """Tell whether the arguments of a request may be corrected."""
    session, meta = request.session, request.params.get("_meta")
    if session.image.tolerant != KNOWN or session.is_tolerated:
        return bool(session.image.tolerant)
    return is_known_client(meta.get(CLIENT_INFO_KEY) if type(meta) is dict else None)


def object_of(request: Request, arguments: Json) -> Object | None:
    """Return the arguments that a client sent as the text of an object."""
    is_text = type(arguments) is str and len(arguments) <= MAX_TEXT
    value = parsed(str(arguments)) if is_text and is_tolerated(request) else None
    return value if type(value) is dict else None


def corrected_arguments(request: Request, arguments: Object, schema: Validator) -> Object | None:
    """Return corrected arguments that the schema accepts; None if there are none."""
    return corrected(arguments, schema.errors, schema.accepts) if is_tolerated(request) else None


def corrected(arguments: Object, errors: Errors, accepts: Callable[[object], bool]) -> Object | None:
    """Return corrected arguments that are accepted; `errors` says what is wrong with some."""
    try:
        # Copied by marshal: it is fast, and reports nesting that is too deep as ValueError.
        correction = Correction(marshal.loads(marshal.dumps(arguments)))
    except ValueError:  # nested too deeply
        return None
    for _ in range(MAX_ROUNDS):
        changes = [correction.correct(*error) for error in errors(correction.arguments)]
        if True not in changes:
            return None
        if accepts(correction.arguments):
            return correction.arguments
    return None


class Correction:
    """Corrects arguments in place.  `room`: how many more characters of texts may be parsed."""

    __slots__ = ("arguments", "room")

    def __init__(self, arguments: Object) -> None:
        self.arguments = arguments
        self.room = MAX_TEXT

    def correct(self, pointer: str, keyword: str, expected: object) -> bool:
        """Correct the value of one error; return whether anything was changed."""
        *steps, last = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")]
        parent: Any = {"": self.arguments}
        for step in steps:
            parent = member(parent, step)
        value = member(parent, last)
        if value is ABSENT or not steps:
            return False
        if type(parent) is dict and (value is None or keyword in UNKNOWN_PROPERTY):
            del parent[last]
            return True
        replacement = self._value_of(value, keyword, expected) if type(value) is str else ABSENT
        if replacement is ABSENT:
            return False
        parent[last if type(parent) is dict else int(last)] = replacement
        return True

    def _value_of(self, text: str, keyword: str, expected: object) -> object:
        """Return the value that a text stands for, if it is of an expected type or among the expected values."""
        self.room -= len(text)
        if self.room < 0:
            return ABSENT
        wanted: Sequence[object] = expected if type(expected) is list else [expected]
        value = parsed(text)
        if keyword == "type":
            kind = KINDS.get(type(value))
            fits = kind in wanted or (kind == "number" and "integer" in wanted)
        else:
            # The types are compared, too: in Python True equals 1, and 1 equals 1.0.
            fits = keyword in ("enum", "const") and any(type(each) is type(value) and each == value for each in wanted)
        return value if fits and value is not None else ABSENT


def member(value: Any, step: str) -> Any:
    """Return a member of an object or an item of an array; ABSENT if there is none."""
    if type(value) is dict:
        return value.get(step, ABSENT)
    # A number with more digits is the index of no item, and `int` refuses or is slow with very long ones.
    is_item = type(value) is list and step.isdecimal() and len(step) < 10 and int(step) < len(value)
    return value[int(step)] if is_item else ABSENT


def parsed(text: str) -> object:
    """Return the value of a JSON text, where `True` is `true`; ABSENT for another text."""
    try:
        return parse((text.lower() if text in ("True", "False") else text).encode("utf-8", "surrogatepass"))
    except ParseError:
        return ABSENT
