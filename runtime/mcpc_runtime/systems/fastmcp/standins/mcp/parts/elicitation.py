"""Stand-in of `mcp.server.elicitation`: asks the user for a model's values, or to open an address."""

from __future__ import annotations

import types as python_types
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, Union, get_args, get_origin

from mcpc_runtime.systems.fastmcp.engine.elicitation import (
    AcceptedUrlElicitation,
    CancelledElicitation,
    DeclinedElicitation,
)

ElicitSchemaModelT = TypeVar("ElicitSchemaModelT")
PRIMITIVES = (str, int, float, bool)


@dataclass
class AcceptedElicitation(Generic[ElicitSchemaModelT]):
    """The user accepted; `data`: the values."""

    data: ElicitSchemaModelT
    action: str = "accept"


ElicitationResult = Union[AcceptedElicitation[ElicitSchemaModelT], DeclinedElicitation, CancelledElicitation]  # noqa: UP007 - takes a parameter
UrlElicitationResult = AcceptedUrlElicitation | DeclinedElicitation | CancelledElicitation
REFUSED = {"decline": DeclinedElicitation, "cancel": CancelledElicitation}


def is_simple(annotation: Any) -> bool:
    """Tell whether a form can ask for a value of a type."""
    if annotation is None or annotation is type(None) or annotation in PRIMITIVES:
        return True
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Union or origin is python_types.UnionType:
        return all(is_simple(argument) for argument in arguments)
    return isinstance(origin, type) and issubclass(origin, Sequence) and arguments == (str,)


def check_form(schema: Any) -> None:
    """Raise TypeError if a form cannot ask for a model's values."""
    for name, field in schema.model_fields.items():
        if not is_simple(field.annotation):
            raise TypeError(
                f"Elicitation schema field '{name}' must be a primitive type {PRIMITIVES}, "
                f"a sequence of strings (list[str], etc.), or Optional of these types. "
                f"Nested models and complex types are not allowed."
            )


async def elicit_with_validation(session: Any, message: str, schema: type[Any], related_request_id: Any = None) -> Any:
    """Ask the user for the values of a model."""
    model: Any = schema
    check_form(model)
    answer = await session.elicit_form(message, model.model_json_schema(), related_request_id)
    if answer.action == "accept" and answer.content is not None:
        return AcceptedElicitation(data=model.model_validate(answer.content))
    if answer.action in REFUSED:
        return REFUSED[answer.action]()
    raise ValueError(f"Unexpected elicitation action: {answer.action}")


async def elicit_url(session: Any, message: str, url: str, elicitation_id: str, related_request_id: Any = None) -> Any:
    """Ask the user to open an address."""
    answer = await session.elicit_url(message, url, elicitation_id, related_request_id)
    return REFUSED[answer.action]() if answer.action in REFUSED else AcceptedUrlElicitation()
