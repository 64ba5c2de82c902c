"""The arguments of prompts, which clients send as strings."""

from __future__ import annotations

import inspect

from mcpc_runtime.lazy import lazy
from mcpc_runtime.systems.fastmcp.engine.behaviour import behaviour
from mcpc_runtime.systems.fastmcp.engine.errors import PromptError, ProtocolError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import pydantic

    from mcpc_runtime.systems.fastmcp.engine.arguments import ArgumentReader
    from mcpc_runtime.systems.fastmcp.engine.components import Prompt

    Values = dict[str, Any]
else:
    pydantic = lazy("pydantic")

EMPTY = inspect.Parameter.empty


def check_required(prompt: Prompt, reader: ArgumentReader, arguments: Values) -> None:
    """Raise ValueError if an argument that a prompt needs is not there."""
    required = {name for name, each in reader.parameters.items() if each.default is EMPTY}
    if isinstance(prompt.given_arguments, list):
        required = {each["name"] for each in prompt.given_arguments if each.get("required")}
    missing = required - set(arguments)
    if missing:
        rules = behaviour()
        text = f"Missing required arguments: {missing}"
        raise ProtocolError(rules.missing_arguments_code, text) if rules.missing_arguments_code else ValueError(text)


def prompt_values(reader: ArgumentReader, arguments: Values) -> Values:
    """Return the values of a prompt's parameters."""
    version = behaviour()
    if version.converts_prompt_arguments:
        arguments = {name: converted(reader, name, value) for name, value in arguments.items()}
    if version.prompts_are_strict:
        return reader.read({name: value for name, value in arguments.items() if name in reader.parameters})
    return arguments if version.prompt_arguments_unchecked else reader.read(arguments)


def converted(reader: ArgumentReader, name: str, value: Any) -> Any:
    """Return an argument as the type of its parameter: from JSON, or from the text itself."""
    parameter = reader.parameters.get(name)
    if parameter is None or parameter.annotation in (EMPTY, str) or not isinstance(value, str):
        return value
    kind = parameter.annotation
    if isinstance(kind, str):
        kind = reader.hints.get(name, kind)
        if kind is str:
            return value
    try:
        adapter = pydantic.TypeAdapter(kind)
        return from_text(adapter, value) if behaviour().json_last else from_json(adapter, value)
    except (ValueError, TypeError) as problem:
        raise PromptError(
            f"Could not convert argument '{name}' with value '{value}' to expected type {kind}. Error: {problem}"
        ) from problem


def from_json(adapter: Any, text: str) -> Any:
    """Return the value of JSON, or of the text if it is not JSON."""
    try:
        return adapter.validate_json(text)
    except (ValueError, TypeError):
        return adapter.validate_python(text)


def from_text(adapter: Any, text: str) -> Any:
    """Return the value of a text that stays one, else that of JSON."""
    try:
        value = adapter.validate_python(text)
    except (ValueError, TypeError):
        return adapter.validate_json(text)
    if isinstance(value, str):
        return value
    try:
        return adapter.validate_json(text)
    except (ValueError, TypeError):
        return value
