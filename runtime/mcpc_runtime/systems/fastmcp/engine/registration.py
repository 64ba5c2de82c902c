"""Registration of components: the decorators, `add_…` and `remove_…` of servers, and components made from functions."""

from __future__ import annotations

import functools
import inspect
import logging
from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

from mcpc_runtime.systems.fastmcp.engine.behaviour import behaviour
from mcpc_runtime.systems.fastmcp.engine.components import Component, Prompt, Resource, Template, Tool
from mcpc_runtime.systems.fastmcp.engine.docstrings import description_of
from mcpc_runtime.systems.fastmcp.engine.injection import injected_parameters
from mcpc_runtime.systems.fastmcp.engine.server import NotFoundError, lack, note
from mcpc_runtime.systems.fastmcp.engine.uris import VARIABLE, uri_template
from mcpc_runtime.systems.fastmcp.generation import selected
from mcpc_runtime.systems.fastmcp.interfaces import Decorator, Function, Object
from mcpc_runtime.systems.fastmcp.program import current_program

Kind = TypeVar("Kind", bound=Component)
log = logging.getLogger(__name__)


class Registry(Generic[Kind]):
    """Components in the order of their registration, by their names or addresses.

    `policy` decides about a second component with the same name: `warn` and `replace` let it take the first one's
    place, `keep` and `ignore` keep the first one, `error` raises ValueError; `warn` and `keep` write to the log.
    """

    def __init__(self, policy: str | None = None) -> None:
        self.policy = policy or "warn"
        self.items: dict[str, Kind] = {}

    def add(self, component: Kind) -> Kind:
        """Add a component; return the one that is registered then."""
        key = component.identifier
        if key in self.items and not self._replaces(component):
            return self.items[key]
        self.items[key] = component
        current_program.note_change(component.kind)
        return component

    def _replaces(self, component: Kind) -> bool:
        text = behaviour().duplicate.format(kind=component.kind.capitalize(), key=component.key)
        if self.policy == "error":
            raise ValueError(text)
        if self.policy in ("warn", "keep"):
            log.warning(text)
        if self.policy == "warn":
            note(f"{text}: this {component.kind} takes the place of the first one", kind="duplicate")
        return self.policy not in ("keep", "ignore")

    def remove(self, key: str) -> Kind | None:
        """Remove a component; return it."""
        removed = self.items.pop(key, None)
        if removed is not None:
            current_program.note_change(removed.kind)
        return removed

    def get(self, key: str) -> Kind | None:
        """Return a component, or None."""
        return self.items.get(key)

    def __iter__(self) -> Iterator[Kind]:
        # Over a copy: code of the project may register components meanwhile.
        return iter(list(self.items.values()))

    def __len__(self) -> int:
        return len(self.items)


KINDS = {"tool": Tool, "prompt": Prompt, "resource": Resource, "template": Template}
POLICIES = {"tool": "tools", "prompt": "prompts", "resource": "resources", "template": "resources"}
"""The names of the kinds in the options `on_duplicate_…` and `warn_on_duplicate_…`."""


class Registration:
    """The components of a server.

    `classes`: the class of each kind's components; `mcpc_components`: the components by kind; `mcpc_own_routes`: HTTP
    routes.
    """

    classes: Object = KINDS

    def mcpc_register(self, policies: dict[str, str | None] | None = None) -> None:
        """Make the registries; `policies`: what happens to duplicates, by `tools`, `prompts` and `resources`."""
        found = policies or {}
        self.mcpc_components: dict[str, Registry[Any]] = {
            kind: Registry(found.get(POLICIES[kind]) or found.get("all")) for kind in KINDS
        }
        self.mcpc_own_routes: list[tuple[str, list[str], Function]] = []

    def mcpc_add(self, component: Component) -> object:
        """Register a component; return the one that is registered then."""
        return self.mcpc_components[component.kind].add(component)

    def mcpc_make(self, kind: str, function: object, name: str | None, options: Object) -> Any:
        return make(self.classes[kind], function, name, options)

    def mcpc_decorate(self, kind: str, given: object, name: str | None, options: Object) -> object:
        """Be a decorator: `given` is a name or a function, or None."""
        if isinstance(given, str):
            if name is not None:
                raise TypeError("Cannot specify both a name as first argument and as keyword argument")
            given, name = None, given
        if given is None:
            return lambda function: self.mcpc_decorate(kind, function, name, options)
        check_decorated(kind, given)
        added = self.mcpc_add(self.mcpc_make(kind, given, name, options))
        return added if behaviour().decorators_return_components else given

    def tool(self, name_or_fn: object = None, *, name: str | None = None, **options: object) -> object:
        """Register a function as a tool."""
        return self.mcpc_decorate("tool", name_or_fn, name, options)

    def prompt(self, name_or_fn: object = None, *, name: str | None = None, **options: object) -> object:
        """Register a function as a prompt."""
        return self.mcpc_decorate("prompt", name_or_fn, name, options)

    def resource(self, uri: object, *, name: str | None = None, **options: object) -> Callable[[Function], object]:
        """Register a function as a resource, or as a template of resources if its address has variables."""
        check_uri(uri)

        def decorate(function: Function) -> object:
            check_decorated("resource", function)
            kind = kind_of_resource(str(uri), function)
            added = self.mcpc_add(self.mcpc_make(kind, function, name, {**options, "uri": str(uri)}))
            return added if behaviour().decorators_return_components else function

        return decorate

    def custom_route(self, path: str, methods: list[str], *_: object, **__: object) -> Decorator:
        """Register an HTTP route."""

        def decorate(function: Function) -> Function:
            self.mcpc_own_routes.append((path, list(methods), function))
            return function

        return decorate

    def add_tool(self, tool: object, name: str | None = None, **options: object) -> object:
        return self.mcpc_add(component("tool", self.classes["tool"], tool, name, options))

    def add_prompt(self, prompt: object, name: str | None = None, **options: object) -> object:
        return self.mcpc_add(component("prompt", self.classes["prompt"], prompt, name, options))

    def add_resource(self, resource: object, **options: object) -> object:
        return self.mcpc_add(component("resource", self.classes["resource"], resource, None, options))

    def add_template(self, template: Component) -> object:
        return self.mcpc_add(template)

    def remove_tool(self, name: str) -> None:
        self.mcpc_remove("tool", name)

    def remove_prompt(self, name: str) -> None:
        self.mcpc_remove("prompt", name)

    def remove_resource(self, uri: object) -> None:
        self.mcpc_remove("resource", str(uri))

    def mcpc_remove(self, kind: str, key: str) -> None:
        """Remove a component; NotFoundError: there is none."""
        if self.mcpc_components[kind].remove(key) is None:
            raise NotFoundError(behaviour().unknown_tool.format(name=key))


RENAMED = {"output_schema": "given_output", "timeout": "seconds"}
"""The frameworks' names of options, with ours."""
NOTED = {"auth": "`auth` of a {kind} has no effect in a built server; its own `auth` settings say who may call it"}
"""Options that a built server does not follow."""
DECORATED = "__fastmcp__"
"""The attribute of a function that a decorator was given options for, from FastMCP 3 on."""
LAMBDA = "You must provide a name for lambda functions"
PLURALS = {"tool": "tools", "prompt": "prompts", "resource": "resources", "template": "resource templates"}


def component(kind: str, cls: Any, given: Any, name: str | None, options: Object) -> Any:
    """Return a given component, or the one made from a given function."""
    if isinstance(given, Component):
        return given
    if not callable(given):
        return given
    check_plain(given)
    return make(cls, given, name, options)


def check_plain(function: object) -> None:
    """Note a function that a decorator has given options: what else it becomes would have them, too."""
    if getattr(function, DECORATED, False):
        lack("functions that a decorator of FastMCP was given options for")


def make(cls: Any, function: Any, name: str | None, options: Object) -> Any:
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
    if cls.kind == "template":
        given["uri_template"] = given.pop("uri")
    found = cls(name=chosen, **given)
    # In the body of a class it is not yet the function that it stands for.
    found.function = function.__func__ if isinstance(function, staticmethod) else function
    found.injected = injected_parameters(found.function)
    found.description = description_of(options.get("description"), found.function, cls.kind, selected())
    if cls.kind == "template":
        check_template(found)
    return found


def check_output(schema: object) -> None:
    """Raise ValueError for an output schema whose values are not objects."""
    if isinstance(schema, dict) and schema.get("type") != "object" and not OBJECT_KEYS & set(schema):
        raise ValueError(
            f"Output schemas must represent object types due to MCP spec limitations. Received: {schema!r}"
        )


OBJECT_KEYS = {"properties", "$ref", "anyOf", "oneOf", "allOf", "x-fastmcp-wrap-result"}
"""The keys by which a schema without a type may be an object's."""


def component_name(kind: str, function: object) -> str:
    """Return a function's name, or that of its class; in FastMCP 4 a partial tool has that of the function in it."""
    is_unwrapped = kind == "tool" and behaviour().names_partials
    while is_unwrapped and isinstance(function, functools.partial) and not hasattr(function, "__name__"):
        function = function.func
    return str(getattr(function, "__name__", None) or type(function).__name__)


def check_parameters(kind: str, function: Any) -> None:
    """Raise ValueError for a function whose parameters cannot be named."""
    for each in inspect.signature(function).parameters.values():
        if each.kind is inspect.Parameter.VAR_POSITIONAL:
            raise ValueError(f"Functions with *args are not supported as {PLURALS[kind]}")
        if each.kind is inspect.Parameter.POSITIONAL_ONLY and kind != "resource" and behaviour().versioned:
            raise ValueError(f"Functions with positional-only parameters are not supported as {PLURALS[kind]}")
        if each.kind is inspect.Parameter.VAR_KEYWORD and kind in ("tool", "prompt"):
            raise ValueError(f"Functions with **kwargs are not supported as {PLURALS[kind]}")


def check_decorated(kind: str, given: object) -> None:
    """Raise TypeError for what cannot be decorated."""
    if isinstance(given, classmethod):
        raise TypeError(f"To decorate a classmethod, use @classmethod above @{kind}.")
    if not callable(given) and not isinstance(given, staticmethod):
        raise TypeError(f"Invalid first argument: {type(given)}")


def check_uri(uri: object) -> None:
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
