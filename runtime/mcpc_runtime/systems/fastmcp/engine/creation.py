"""Components made from functions, as the frameworks' decorators make them."""

from __future__ import annotations

import functools
import inspect

from mcpc_runtime.lazy import lazy
from mcpc_runtime.systems.fastmcp.engine.behaviour import behaviour
from mcpc_runtime.systems.fastmcp.engine.components import Component
from mcpc_runtime.systems.fastmcp.engine.injection import injected_parameters
from mcpc_runtime.systems.fastmcp.engine.notes import note
from mcpc_runtime.systems.fastmcp.engine.uris import VARIABLE, uri_template
from mcpc_runtime.systems.fastmcp.generation import selected

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mcpc_runtime.systems.fastmcp.engine.docstrings import description_of

    Options = dict[str, Any]
else:
    description_of = lazy("mcpc_runtime.systems.fastmcp.engine.docstrings:description_of")

RENAMED = {"output_schema": "given_output", "timeout": "seconds"}
"""The frameworks' names of options, with ours."""
NOTED = {"auth": "`auth` of a {kind} has no effect in a built server; its own `auth` settings say who may call it"}
"""Options that a built server does not follow."""
LAMBDA = "You must provide a name for lambda functions"
PLURALS = {"tool": "tools", "prompt": "prompts", "resource": "resources", "template": "resource templates"}


def component(kind: str, cls: Any, given: Any, name: str | None, options: Options) -> Any:
    """Return a given component, or the one made from a given function."""
    if isinstance(given, Component):
        return given
    meta = getattr(given, "__fastmcp__", None)
    if meta is not None and not options and name is None:
        return meta.component(given, cls)
    if not callable(given):
        return given
    return make(cls, given, name, options)


def make(cls: Any, function: Any, name: str | None, options: Options) -> Any:
    """Make a component of a class from a function."""
    chosen = name or component_name(cls.kind, function)
    if chosen == "<lambda>":
        raise ValueError(LAMBDA)
    check_parameters(cls.kind, function)
    for option, text in NOTED.items():
        if options.get(option) is not None:
            note(text.format(kind=cls.kind), function)
    given = {RENAMED.get(key, key): value for key, value in options.items() if key != "description"}
    check_output(given.get("given_output"))
    if "task" in given:
        given["task"] = task_support(given["task"])
    if cls.kind == "template":
        given["uri_template"] = given.pop("uri")
    found = cls(name=chosen, **given)
    found.function = function.__func__ if isinstance(function, staticmethod) else function
    found.injected = injected_parameters(found.function)
    found.description = description_of(options.get("description"), found.function, cls.kind, selected())
    if cls.kind == "template":
        check_template(found)
    return found


def check_output(schema: Any) -> None:
    """Raise ValueError for an output schema whose values are not objects."""
    if isinstance(schema, dict) and schema.get("type") != "object" and not OBJECT_KEYS & set(schema):
        raise ValueError(
            f"Output schemas must represent object types due to MCP spec limitations. Received: {schema!r}"
        )


OBJECT_KEYS = {"properties", "$ref", "anyOf", "oneOf", "allOf", "x-fastmcp-wrap-result"}
"""The keys by which a schema without a type may be an object's."""


def component_name(kind: str, function: Any) -> str:
    """Return a function's name, or that of its class; in FastMCP 4 a partial tool has that of the function in it."""
    is_unwrapped = kind == "tool" and behaviour().names_partials
    while is_unwrapped and isinstance(function, functools.partial) and not hasattr(function, "__name__"):
        function = function.func
    return str(getattr(function, "__name__", None) or type(function).__name__)


def task_support(given: Any) -> str | None:
    """Return what a component says of tasks: given as a flag, or as an object with a `mode`."""
    if given is None or isinstance(given, (bool, str)):
        return "optional" if given is True else given or None
    return getattr(given, "mode", None)


def check_parameters(kind: str, function: Any) -> None:
    """Raise ValueError for a function whose parameters cannot be named."""
    for each in inspect.signature(function).parameters.values():
        if each.kind is inspect.Parameter.VAR_POSITIONAL:
            raise ValueError(f"Functions with *args are not supported as {PLURALS[kind]}")
        if each.kind is inspect.Parameter.POSITIONAL_ONLY and kind != "resource" and behaviour().versioned:
            raise ValueError(f"Functions with positional-only parameters are not supported as {PLURALS[kind]}")
        if each.kind is inspect.Parameter.VAR_KEYWORD and kind in ("tool", "prompt"):
            raise ValueError(f"Functions with **kwargs are not supported as {PLURALS[kind]}")


def check_decorated(kind: str, given: Any) -> None:
    """Raise TypeError for what cannot be decorated."""
    if isinstance(given, classmethod):
        raise TypeError(f"To decorate a classmethod, use @classmethod above @{kind}.")
    if not callable(given) and not isinstance(given, staticmethod):
        raise TypeError(f"Invalid first argument: {type(given)}")


def check_uri(uri: Any) -> None:
    """Raise TypeError for a decorator of resources that was used without an address."""
    if callable(uri):
        raise TypeError(
            "The @resource decorator was used incorrectly. Did you forget to call it? Use @resource('uri') instead of "
            "@resource"
        )


def kind_of_resource(uri: str, function: Any) -> str:
    """Return `template` for a function with parameters or an address with variables, else `resource`."""
    arguments = set(inspect.signature(function).parameters) - injected_parameters(function)
    return "template" if "{" in uri or arguments else "resource"


OPERATORS = "+#./;"
"""What a variable begins with that no address can be matched with."""


def check_template(template: Any) -> None:
    """Raise ValueError where the parameters are not those of the address."""
    address = uri_template(template.uri_template)
    operators = sorted({each[0] for each in VARIABLE.findall(template.uri_template) if each[0] in OPERATORS})
    if operators:
        raise ValueError(
            f"RFC 6570 level-3 operators {{{', '.join(operators)}...}} are not supported: {template.uri_template}"
        )
    every = inspect.signature(template.function).parameters
    parameters = {name: each for name, each in every.items() if name not in template.injected}
    names = set(address.names)
    open_ended = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values())
    required = {
        name
        for name, each in parameters.items()
        if each.default is inspect.Parameter.empty and each.kind is not inspect.Parameter.VAR_KEYWORD
    }
    if not names:
        raise ValueError("URI template must contain at least one parameter")
    query = names - set(address.path_names)
    if query & required:
        raise ValueError(
            f"Query parameters {query & required} must be optional function parameters with default values"
        )
    if not required <= set(address.path_names):
        raise ValueError(
            f"Required function arguments {required} must be a subset of the URI path parameters "
            f"{set(address.path_names)}"
        )
    if not open_ended and not names <= set(parameters):
        raise ValueError(f"URI parameters {names} must be a subset of the function arguments: {set(parameters)}")
