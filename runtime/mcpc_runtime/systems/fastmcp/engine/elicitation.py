"""Questions to the user: what may be asked for, and the answers."""

from __future__ import annotations

from dataclasses import dataclass
from types import GenericAlias
from typing import Any, ClassVar

from mcpc_runtime.lazy import lazy
from mcpc_runtime.systems.fastmcp.engine.behaviour import behaviour

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc_runtime.systems.fastmcp.engine import elicitation_schemas

    Object = dict[str, Any]
else:
    elicitation_schemas = lazy("mcpc_runtime.systems.fastmcp.engine.elicitation_schemas")


@dataclass
class AcceptedElicitation:
    """The user's answer."""

    data: Any = None
    action: str = "accept"

    __class_getitem__: ClassVar[Any] = classmethod(GenericAlias)


@dataclass
class DeclinedElicitation:
    """The user did not want to answer."""

    action: str = "decline"


@dataclass
class CancelledElicitation:
    """The user closed the question."""

    action: str = "cancel"


@dataclass
class AcceptedUrlElicitation:
    """The user agreed to open an address."""

    action: str = "accept"


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked for.  `read` returns the answer's value; ValueError: it is not what was asked for."""

    schema: Object
    read: Callable[[Any], Any]


def question(kind: Any, title: str | None = None, description: str | None = None) -> Question:
    """Return what FastMCP asks for when it wants a type, a choice of a list, or choices of a dictionary."""
    if kind is None:
        return Question({"type": "object", "properties": {}}, read_nothing)
    if isinstance(kind, (dict, list)) and choices_of(kind) is not None:
        found = Question(value_schema(choices_of(kind) or {}), read_value)
    else:
        found = Question(*elicitation_schemas.typed_question(kind))
    named = {key: text for key, text in (("title", title), ("description", description)) if text is not None}
    if named:
        if "value" not in found.schema["properties"]:
            raise TypeError(
                "response_title and response_description are only supported when response_type is a scalar, Literal, "
                "Enum, or the dict/list shorthand forms."
            )
        found.schema["properties"]["value"].update(named)
    return found


def choices_of(kind: Any) -> Object | None:
    """Return the schema of choices that are given as values with titles, or of several choices; None for others."""
    if isinstance(kind, dict):
        if not kind:
            raise ValueError("Dict response_type cannot be empty.")
        return {"oneOf": titled(kind), "type": "string"}
    if len(kind) == 1 and isinstance(kind[0], list) and kind[0]:
        typed = {"type": "string"} if behaviour().typed_choices else {}
        return {"type": "array", "items": {**typed, "enum": kind[0]}}
    if len(kind) == 1 and isinstance(kind[0], dict) and kind[0]:
        return {"type": "array", "items": {"anyOf": titled(kind[0])}}
    if not kind or not all(isinstance(item, str) for item in kind):
        raise ValueError(f"Invalid list response_type format. Received: {kind}")
    return None


def titled(choices: dict[str, Any]) -> list[Object]:
    """Return choices with their titles."""
    return [{"const": value, "title": more.get("title", value)} for value, more in choices.items()]


def value_schema(schema: Object) -> Object:
    """Return the schema of an answer with one value."""
    return {"type": "object", "properties": {"value": schema}, "required": ["value"]}


def read_nothing(content: Any) -> Any:
    """Return an empty answer."""
    if content:
        raise ValueError(f"Elicitation expected an empty response, but received: {content}")
    return {}


def read_value(content: Any) -> Any:
    """Return the value of an answer with one value."""
    if not isinstance(content, dict) or "value" not in content:
        raise ValueError("Elicitation response missing required 'value' field.")
    return content["value"]


def answer_of(wanted: Question, answer: Object) -> Any:
    """Return a client's answer."""
    action = answer.get("action")
    if action == "accept":
        return AcceptedElicitation(wanted.read(answer.get("content")))
    return refused(answer)


def refused(answer: Object) -> Any:
    """Return an answer that has no value."""
    action = answer.get("action")
    if action == "decline":
        return DeclinedElicitation()
    if action == "cancel":
        return CancelledElicitation()
    raise ValueError(f"Unexpected elicitation action: {action}")


def url_answer(answer: Object) -> Any:
    """Return a client's answer to the question whether an address is opened."""
    return AcceptedUrlElicitation() if answer.get("action") == "accept" else refused(answer)
