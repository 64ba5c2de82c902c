"""Registration of components: the decorators and the functions `add_…` and `remove_…` of servers."""

from __future__ import annotations

from mcpc_runtime.systems.fastmcp.engine import creation
from mcpc_runtime.systems.fastmcp.engine.behaviour import behaviour
from mcpc_runtime.systems.fastmcp.engine.components import Component, Prompt, Resource, Template, Tool
from mcpc_runtime.systems.fastmcp.engine.errors import NotFoundError
from mcpc_runtime.systems.fastmcp.engine.registry import Registry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Function = Callable[..., Any]

KINDS = {"tool": Tool, "prompt": Prompt, "resource": Resource, "template": Template}
POLICIES = {"tool": "tools", "prompt": "prompts", "resource": "resources", "template": "resources"}
"""The names of the kinds in the options `on_duplicate_…` and `warn_on_duplicate_…`."""


class Registration:
    """The components of a server.

    `classes`: the class of each kind's components; `mcpc_components`: the components by kind; `mcpc_completion`: the
    function that completes arguments; `mcpc_own_routes`: HTTP routes.
    """

    classes: dict[str, Any] = KINDS

    def mcpc_register(self, policies: dict[str, str | None] | None = None) -> None:
        """Make the registries; `policies`: what happens to duplicates, by `tools`, `prompts` and `resources`."""
        found = policies or {}
        self.mcpc_components: dict[str, Registry[Any]] = {
            kind: Registry(found.get(POLICIES[kind]) or found.get("all")) for kind in KINDS
        }
        self.mcpc_completion: Function | None = None
        self.mcpc_own_routes: list[tuple[str, list[str], Function]] = []

    def mcpc_add(self, component: Component) -> Any:
        """Register a component; return the one that is registered then."""
        return self.mcpc_components[component.kind].add(component)

    def mcpc_make(self, kind: str, function: Any, name: str | None, options: dict[str, Any]) -> Any:
        """Make a component from a function."""
        return creation.make(self.classes[kind], function, name, options)

    def mcpc_decorate(self, kind: str, given: Any, name: str | None, options: dict[str, Any]) -> Any:
        """Be a decorator: `given` is a name or a function, or None."""
        if isinstance(given, str):
            if name is not None:
                raise TypeError("Cannot specify both a name as first argument and as keyword argument")
            given, name = None, given
        if given is None:
            return lambda function: self.mcpc_decorate(kind, function, name, options)
        creation.check_decorated(kind, given)
        added = self.mcpc_add(self.mcpc_make(kind, given, name, options))
        return added if behaviour().decorators_return_components else given

    def tool(self, name_or_fn: Any = None, *, name: str | None = None, **options: Any) -> Any:
        """Register a function as a tool."""
        return self.mcpc_decorate("tool", name_or_fn, name, options)

    def prompt(self, name_or_fn: Any = None, *, name: str | None = None, **options: Any) -> Any:
        """Register a function as a prompt."""
        return self.mcpc_decorate("prompt", name_or_fn, name, options)

    def resource(self, uri: Any, *, name: str | None = None, **options: Any) -> Any:
        """Register a function as a resource, or as a template of resources if its address has variables."""
        creation.check_uri(uri)

        def decorate(function: Any) -> Any:
            creation.check_decorated("resource", function)
            kind = creation.kind_of_resource(str(uri), function)
            added = self.mcpc_add(self.mcpc_make(kind, function, name, {**options, "uri": str(uri)}))
            return added if behaviour().decorators_return_components else function

        return decorate

    def completion(self, function: Any = None) -> Any:
        """Register the function that completes arguments."""
        if function is None:
            return self.completion
        self.mcpc_completion = function
        return function

    def custom_route(self, path: str, methods: list[str], *_: Any, **__: Any) -> Any:
        """Register an HTTP route."""

        def decorate(function: Any) -> Any:
            self.mcpc_own_routes.append((path, list(methods), function))
            return function

        return decorate

    def add_tool(self, tool: Any, name: str | None = None, **options: Any) -> Any:
        """Add a tool, or a function as one."""
        return self.mcpc_add(creation.component("tool", self.classes["tool"], tool, name, options))

    def add_prompt(self, prompt: Any, name: str | None = None, **options: Any) -> Any:
        """Add a prompt, or a function as one."""
        return self.mcpc_add(creation.component("prompt", self.classes["prompt"], prompt, name, options))

    def add_resource(self, resource: Any, **options: Any) -> Any:
        """Add a resource."""
        meta = getattr(resource, "__fastmcp__", None)
        kind = "resource" if meta is None else creation.kind_of_resource(meta.uri, resource)
        return self.mcpc_add(creation.component(kind, self.classes[kind], resource, None, options))

    def add_template(self, template: Any) -> Any:
        """Add a template of resources."""
        return self.mcpc_add(template)

    def remove_tool(self, name: str) -> None:
        """Remove a tool."""
        self.mcpc_remove("tool", name)

    def remove_prompt(self, name: str) -> None:
        """Remove a prompt."""
        self.mcpc_remove("prompt", name)

    def remove_resource(self, uri: Any) -> None:
        """Remove a resource."""
        self.mcpc_remove("resource", str(uri))

    def mcpc_remove(self, kind: str, key: str) -> None:
        """Remove a component; NotFoundError: there is none."""
        if self.mcpc_components[kind].remove(key) is None:
            raise NotFoundError(behaviour().unknown_tool.format(name=key))
