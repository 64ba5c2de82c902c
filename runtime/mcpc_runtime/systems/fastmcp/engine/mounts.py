"""What runs around calls and lists (middleware); servers mounted in others, and rules that hide components."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from types import GenericAlias
from typing import Any, ClassVar, Protocol

from mcpc_runtime.systems.fastmcp.engine.behaviour import behaviour
from mcpc_runtime.systems.fastmcp.engine.components import Component, Origin
from mcpc_runtime.systems.fastmcp.engine.uris import ResourceSecurity, with_prefix, without_prefix
from mcpc_runtime.systems.fastmcp.interfaces import Function, Object

CallNext = Callable[["MiddlewareContext"], Awaitable[object]]


class NextCall:
    """The class that annotations give to the next function (`CallNext[Request, Result]`)."""

    __class_getitem__: ClassVar[object] = classmethod(GenericAlias)


HOOKS = {
    "tools/call": "on_call_tool",
    "resources/read": "on_read_resource",
    "prompts/get": "on_get_prompt",
    "tools/list": "on_list_tools",
    "resources/list": "on_list_resources",
    "resources/templates/list": "on_list_resource_templates",
    "prompts/list": "on_list_prompts",
}
"""The method of a middleware for each method of the protocol."""


@dataclass(kw_only=True, frozen=True)
class MiddlewareContext:
    """A message, and where it comes from."""

    message: object
    fastmcp_context: object = None
    source: str = "client"
    type: str = "request"
    method: str | None = None
    timestamp: datetime = field(default_factory=lambda: datetime.now(UTC))

    __class_getitem__: ClassVar[object] = classmethod(GenericAlias)

    def copy(self, **changes: Any) -> MiddlewareContext:
        """Return a copy with some attributes changed."""
        return dataclasses.replace(self, **changes)


class Middleware:
    """The base of middleware: each method calls the next one."""

    async def __call__(self, context: MiddlewareContext, call_next: CallNext) -> object:
        """Run the methods for a message: `on_message`, then `on_request`, then the one of its method."""
        # Built from the inside to the outside.
        chain = call_next
        if context.method in HOOKS:
            chain = partial(getattr(self, HOOKS[context.method]), call_next=chain)
        kind = self.on_request if context.type == "request" else self.on_notification
        chain = partial(kind, call_next=chain)
        return await self.on_message(context, call_next=chain)

    async def on_message(self, context: MiddlewareContext, call_next: CallNext) -> object:
        """Run around every message; the other methods run around those of their kind."""
        return await call_next(context)

    on_request = on_notification = on_call_tool = on_read_resource = on_get_prompt = on_message
    on_list_tools = on_list_resources = on_list_resource_templates = on_list_prompts = on_message


async def run_chain(middleware: Sequence[Function], context: MiddlewareContext, last: CallNext) -> object:
    """Run middleware around the last function, the first one outermost."""
    chain = last
    for each in reversed(middleware):
        chain = partial(each, call_next=chain)
    return await chain(context)


class Host(Protocol):
    """A server with components: what finds, lists and calls them uses these; see `server_content.py`."""

    mcpc_changed_at_run_time: set[str]
    mcpc_components: Object
    mcpc_masked: bool | None
    mcpc_mounts: list[Mount]
    mcpc_path_policy: ResourceSecurity | None
    mcpc_rules: list[Visibility]

    def mcpc_shows(self, component: Component) -> bool:
        """Tell whether clients see a component."""

    async def mcpc_session_rules(self) -> Sequence[Visibility]:
        """Return what the session of the current call shows and hides."""

    def mcpc_entered(self) -> AbstractContextManager[object]:
        """Enter a context of the server."""

    async def mcpc_listed(self, kind: str) -> list[Any]:
        """List components as the framework's own handler does."""

    async def mcpc_get(self, kind: str, key: str) -> Any:
        """Return a component that clients see, or None."""


class CallingHost(Host, Protocol):
    """A server that also answers calls, as the framework's own handlers do."""

    async def mcpc_tool_result(self, name: str, arguments: Object) -> Any:
        """Call a tool as the framework's own handler does."""

    async def mcpc_prompt_result(self, name: str, arguments: Object | None) -> Any:
        """Get a prompt as the framework's own handler does."""

    async def mcpc_resource_result(self, uri: str) -> Any:
        """Read a resource as the framework's own handler does."""


class Prefix:
    """Puts a prefix before names and addresses; `whole`: also before the names of resources."""

    def __init__(self, prefix: str, *, whole: bool) -> None:
        self._prefix = prefix
        self._whole = whole

    def named(self, component: Component) -> Component:
        """Return a component under its outer name."""
        if component.kind in ("tool", "prompt"):
            return component.copy({"name": f"{self._prefix}_{component.name}"})
        field = "uri" if component.kind == "resource" else "uri_template"
        changes = {field: with_prefix(component.identifier, self._prefix)}
        if self._whole:
            changes["name"] = f"{self._prefix}_{component.name}"
        return component.copy(changes)

    def inner(self, kind: str, key: str) -> str | None:
        """Return a name or an address without the prefix, None if it has another one."""
        if kind in ("resource", "template"):
            return without_prefix(key, self._prefix)
        # Removing a prefix that is not there changes nothing, which tells that it is another one.
        name = key.removeprefix(f"{self._prefix}_")
        return None if name == key else name


class Mount:
    """A server that is mounted in another, under a prefix if it has one."""

    def __init__(self, server: Any, prefix: str) -> None:
        self.server = server
        self._prefix = Prefix(prefix, whole=behaviour().prefixes_names) if prefix else None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.server!r})"

    async def every(self, kind: str) -> list[Component]:
        """Return the components of a kind that the server shows."""
        with self.server.mcpc_entered():
            return [self._delegated(each) for each in await self.server.mcpc_listed(kind)]

    async def find(self, kind: str, key: str) -> Component | None:
        """Return a component that the server shows, or None."""
        inner = key if self._prefix is None else self._prefix.inner(kind, key)
        if inner is None:
            return None
        with self.server.mcpc_entered():
            inner_component = await self.server.mcpc_get(kind, inner)
        return None if inner_component is None else self._delegated(inner_component)

    def _delegated(self, component: Component) -> Component:
        """Return a component under its outer name, which runs in its server."""
        outer = component.copy({"origin": Origin(self.server, component.identifier)})
        return outer if self._prefix is None else self._prefix.named(outer)


CRITERIA = ("names", "keys", "tags", "components")
KIND_OF = {"tools": "tool", "prompts": "prompt", "resources": "resource", "templates": "template"}
"""The kinds by their plurals, which FastMCP 3.0 takes, too."""


class Visibility:
    """Shows or hides the components that all given criteria match; without criteria it changes nothing."""

    def __init__(  # noqa: PLR0913 - FastMCP's parameters
        self,
        enabled: bool,
        *,
        names: Iterable[str] | None = None,
        keys: Iterable[str] | None = None,
        tags: Iterable[str] | None = None,
        components: Iterable[str] | None = None,
        match_all: bool = False,
    ) -> None:
        malformed = sorted(key for key in keys or () if "@" not in key)
        if malformed:
            warnings.warn(
                f"keys that are missing the '@' version delimiter match nothing: {malformed}", UserWarning, stacklevel=3
            )
        self._enabled = enabled
        self.names = None if names is None else set(names)
        self.keys = None if keys is None else set(keys)
        self.tags = None if tags is None else set(tags)
        self.components = None if components is None else {KIND_OF.get(each, each) for each in components}
        self.match_all = match_all

    def __repr__(self) -> str:
        if self.match_all:
            return f"Visibility({self._enabled}, match_all=True)"
        given = {name: getattr(self, name) for name in CRITERIA}
        said = [
            "enable" if self._enabled else "disable",
            *(f"{name}={value}" for name, value in given.items() if value),
        ]
        return f"Visibility({', '.join(said)})"

    def matches(self, component: Component) -> bool:
        if self.match_all:
            return True
        if all(getattr(self, name) is None for name in CRITERIA):
            return False
        return (
            (self.components is None or component.kind in self.components)
            and (self.keys is None or key_of(component) in self.keys)
            and (self.names is None or bool(self.names & {component.name, component.identifier}))
            and (self.tags is None or bool(self.tags & component.tags))
        )

    def applied_to(self, component: Component) -> Component:
        """Return a component, shown or hidden if the criteria match it."""
        return component.copy({"shown": self._enabled}) if self.matches(component) else component


def key_of(component: Component) -> str:
    """Return a component's kind, and its name or address, as one text."""
    return f"{component.kind}:{component.identifier}@"


def visibility_rules(enabled: bool, rule: Object) -> list[Visibility]:
    """Return the rules of a call of `enable` or `disable`; `only` hides everything else."""
    given = {key: value for key, value in rule.items() if key != "only" and value is not None}
    first = [Visibility(False, match_all=True)] if enabled and rule.get("only") else []
    return [*first, Visibility(enabled, **given)]


def with_visibility(rules: Sequence[Visibility], components: Iterable[Component]) -> list[Component]:
    """Return components, shown or hidden by rules."""
    found = list(components)
    for rule in rules:
        found = [rule.applied_to(each) for each in found]
    return found
