"""The arguments of the project's functions: checked and converted by pydantic, as FastMCP does it.

Arguments that have the types of simple annotations already are taken as they are, so that pydantic is not imported for
them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FunctionType, MethodType
from typing import Any

import pydantic

from mcpc_runtime.protocol.tolerance import corrected
from mcpc_runtime.systems.fastmcp.engine.behaviour import behaviour
from mcpc_runtime.systems.fastmcp.engine.components import Prompt
from mcpc_runtime.systems.fastmcp.engine.injection import innermost
from mcpc_runtime.systems.fastmcp.engine.schema_fastmcp import described
from mcpc_runtime.systems.fastmcp.engine.schema_types import hints_of
from mcpc_runtime.systems.fastmcp.engine.server import PromptError, ProtocolError, ValidationError, current_call
from mcpc_runtime.systems.fastmcp.interfaces import Object

EMPTY = inspect.Parameter.empty
SIMPLE: dict[object, tuple[type, ...]] = {str: (str,), int: (int,), bool: (bool,), float: (float,)}
"""Annotations whose values need no conversion, with the types of those values."""


@dataclass
class ArgumentReader:
    """Reads the arguments of a function.  `hidden`: the parameters that the server fills."""

    function: Any
    hidden: frozenset[str]
    strict: bool = False
    parameters: dict[str, inspect.Parameter] = field(init=False)
    simple: dict[str, tuple[type, ...]] | None = field(init=False)
    _checker: Any = None

    def __post_init__(self) -> None:
        every = inspect.signature(self.function).parameters
        self.parameters = {name: each for name, each in every.items() if name not in self.hidden}
        self.simple = self._simple_types()

    @property
    def hints(self) -> Object:
        """The annotations of the function."""
        return hints_of(self.function)

    def _simple_types(self) -> dict[str, tuple[type, ...]] | None:
        hints = hints_of(self.function)
        found = {name: hints.get(name, each.annotation) for name, each in self.parameters.items()}
        usual = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        if any(each.kind not in usual or not is_simple_default(each.default) for each in self.parameters.values()):
            return None
        return {name: SIMPLE[hint] for name, hint in found.items() if type(hint) is type and hint in SIMPLE}

    def read(self, arguments: Object) -> Object:
        """Return the values of the parameters; ValidationError: the arguments are not valid."""
        return arguments if self.fits(arguments) else self.checked(arguments)

    def fits(self, arguments: Object) -> bool:
        """Tell whether the arguments need no conversion."""
        if self.simple is None:
            return False
        for name, value in arguments.items():
            # By the exact type: a bool is an int to `isinstance`.
            if type(value) not in self.simple.get(name, ()):
                return False
        return all(name in arguments or each.default is not EMPTY for name, each in self.parameters.items())

    def checked(self, arguments: Object) -> Object:
        """Return the values that pydantic makes of the arguments."""
        if self._checker is None:
            self._checker = checker(self)
        try:
            values: Object = checked(self._checker, arguments)
        except pydantic.ValidationError as problem:
            raise ValidationError(str(problem)) from problem
        return values


def is_simple_default(default: object) -> bool:
    """Tell whether a default value is one that pydantic leaves as it is."""
    return default is EMPTY or default is None or isinstance(default, (str, int, float, bool))


def checker(reader: ArgumentReader) -> object:
    """Return what checks arguments as FastMCP does: by pydantic's view of the function."""
    target = innermost(reader.function)
    hints = {name: described(hint) for name, hint in hints_of(target).items() if name in reader.parameters}
    adapter = pydantic.TypeAdapter(echo(target, list(reader.parameters.values()), hints))
    if reader.strict:
        return lambda arguments: adapter.validate_python(arguments, strict=True)
    return adapter.validate_python


def echo(target: object, parameters: list[inspect.Parameter], hints: Object) -> Any:
    """Return a function with another one's name, and some parameters, that returns its arguments by name."""

    def arguments(**values: Any) -> Object:
        return values

    function = target.__func__ if isinstance(target, MethodType) else target
    # With the globals of the project's function, in which pydantic resolves annotations that are text.
    made = FunctionType(arguments.__code__, getattr(function, "__globals__", globals()), "arguments")
    made.__name__ = getattr(function, "__name__", type(function).__name__)
    made.__qualname__ = getattr(function, "__qualname__", made.__name__)
    made.__module__ = getattr(function, "__module__", None) or __name__
    made.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    made.__annotations__ = hints
    return made


def check_required(prompt: Prompt, reader: ArgumentReader, arguments: Object) -> None:
    """Raise ValueError if an argument that a prompt needs is not there."""
    required = {name for name, each in reader.parameters.items() if each.default is EMPTY}
    if isinstance(prompt.given_arguments, list):
        required = {each["name"] for each in prompt.given_arguments if each.get("required")}
    missing = required - set(arguments)
    if missing:
        rules = behaviour()
        text = f"Missing required arguments: {missing}"
        raise ProtocolError(rules.missing_arguments_code, text) if rules.missing_arguments_code else ValueError(text)


def prompt_values(reader: ArgumentReader, arguments: Object) -> Object:
    """Return the values of a prompt's parameters."""
    version = behaviour()
    arguments = {name: converted(reader, name, value) for name, value in arguments.items()}
    if version.prompts_are_strict:
        return reader.read({name: value for name, value in arguments.items() if name in reader.parameters})
    return arguments if version.prompt_arguments_unchecked else reader.read(arguments)


def converted(reader: ArgumentReader, name: str, value: object) -> object:
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


def from_json(adapter: Any, text: str) -> object:
    try:
        return adapter.validate_json(text)
    except (ValueError, TypeError):
        return adapter.validate_python(text)


def from_text(adapter: Any, text: str) -> object:
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


EXPECTED = {
    **dict.fromkeys(("list", "tuple", "set", "frozen_set"), "array"),
    **dict.fromkeys(("dict", "model", "model_attributes", "dataclass"), "object"),
    "int": "integer",
    "float": "number",
    "bool": "boolean",
}
"""What is expected by the begin of pydantic's types of errors, `list_type` or `int_parsing`."""
UNKNOWN = ("unexpected_keyword_argument", "extra_forbidden")


def is_tolerated() -> bool:
    """Tell whether arguments of the current call may be corrected."""
    return bool(getattr(current_call.get(), "tolerant", False))


def checked(check: Callable[[Object], Any], arguments: Object) -> Any:
    """Return what pydantic makes of arguments, or of corrected ones; else raise its first error."""
    try:
        return check(arguments)
    except pydantic.ValidationError:
        made: list[Any] = []

        def accepts(values: object) -> bool:
            try:
                made.append(check(values))  # type: ignore[arg-type]
            except pydantic.ValidationError:
                return False
            return True

        if not is_tolerated() or corrected(arguments, lambda values: errors(check, values), accepts) is None:
            raise
        return made[-1]


def errors(check: Callable[[Any], Any], values: object) -> list[tuple[str, str, object]]:
    """Return pydantic's errors in the form of a compiled schema's."""
    try:
        check(values)
    except pydantic.ValidationError as problem:
        return [row(values, error["loc"], error["type"]) for error in problem.errors(include_url=False)]
    return []


def row(values: object, steps: tuple[int | str, ...], kind: str) -> tuple[str, str, object]:
    """Return the JSON Pointer, the keyword and the expected type of an error."""
    pointer = ""
    for step in steps:  # those after the last value name alternatives of a type
        is_item = type(values) is list and type(step) is int and step < len(values)
        if not is_item and not (type(values) is dict and step in values):
            break
        values = values[step]  # type: ignore[index]
        pointer += "/" + str(step).replace("~", "~0").replace("/", "~1")
    if kind in UNKNOWN:
        return pointer, "additionalProperties", []
    return pointer, "type", EXPECTED.get(kind.removesuffix("_type").removesuffix("_parsing"))
