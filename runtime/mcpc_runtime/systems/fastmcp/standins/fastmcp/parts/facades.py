"""What projects find where they reach into a server: managers, the low-level server, settings; lifespans as objects."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, MutableMapping
from contextlib import AsyncExitStack, asynccontextmanager
from types import SimpleNamespace
from typing import Any

from mcpc_runtime.systems.fastmcp.engine.context import current_context
from mcpc_runtime.systems.fastmcp.engine.errors import NotFoundError
from mcpc_runtime.systems.fastmcp.engine.mounts import key_of
from mcpc_runtime.systems.fastmcp.interfaces import Object
from mcpc_runtime.systems.fastmcp.program import current_program

DEFAULTS = {"host": "127.0.0.1", "port": 8000, "log_level": "INFO", "debug": False, "stateless_http": False}


def server_settings(options: Object) -> SimpleNamespace:
    """Return the settings of a server: what says how it is served."""
    return SimpleNamespace(**DEFAULTS | {name: options[name] for name in DEFAULTS if options.get(name) is not None})


class ComponentsByKey(MutableMapping[str, Any]):
    """A server's own components by keys such as `tool:name@version`; changes are the server's."""

    def __init__(self, server: Any) -> None:
        self._registries = server.mcpc_components

    def _all(self) -> Object:
        return {key_of(each): each for registry in self._registries.values() for each in registry}

    def __getitem__(self, key: str) -> Any:
        return self._all()[key]

    def __setitem__(self, key: str, component: Any) -> None:
        items = self._registries[component.kind].items
        items[key.partition(":")[2].rpartition("@")[0]] = component
        current_program.note_change(component.kind)

    def __delitem__(self, key: str) -> None:
        found = self._all()[key]
        self._registries[found.kind].remove(found.identifier)

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())


class Manager:
    """The components of one kind, as older versions manage them."""

    def __init__(self, server: Any, kind: str) -> None:
        self._server = server
        self._kind = kind

    @property
    def _items(self) -> Object:
        items: Object = self._server.mcpc_components[self._kind].items
        return items

    _tools = _prompts = _resources = _items

    @property
    def _templates(self) -> Object:
        items: Object = self._server.mcpc_components["template"].items
        return items

    async def get_tools(self) -> Object:
        """Return the components by their keys."""
        return dict(self._items)

    get_prompts = get_resources = get_tools

    def list_tools(self) -> list[Any]:
        """Return the components."""
        return list(self._items.values())

    list_prompts = list_resources = list_tools

    async def get_tool(self, key: str) -> object:
        """Return a component by its key."""
        if key not in self._items:
            raise NotFoundError(f"{self._kind.capitalize()} {key!r} not found")
        return self._items[key]

    get_prompt = get_resource = get_tool

    def remove_tool(self, key: str) -> None:
        """Remove a component."""
        self._server.mcpc_remove(self._kind, key)

    def add_tool(self, component: object) -> object:
        return self._server.mcpc_add(component)

    add_prompt = add_resource = add_tool

    async def call_tool(self, key: str, arguments: Object) -> object:
        return await self._server.mcpc_run_tool(key, arguments)


class LowLevel:
    """The low-level server: the current request is what projects want of it."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self.name, self.version, self.instructions = server.name, server.version, server.instructions

    @property
    def request_context(self) -> object:
        """The current request; None or LookupError outside of one."""
        found = current_context()
        if found is None or found._call is None:
            raise LookupError("request_ctx")
        return found.request_context

    def __getattr__(self, name: str) -> Any:
        """Accept handlers that a project registers: they have no effect."""
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_, **__: lambda function: function


class Lifespan:
    """What is entered when a server starts.  `first | second` joins two: their dictionaries are one."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self._function = function

    def __call__(self, server: object) -> Any:
        """Return what is entered."""
        return self._function(server)

    def __or__(self, other: object) -> Lifespan:
        """Return this lifespan combined with another one; TypeError: that is not a Lifespan."""
        if not isinstance(other, Lifespan):
            raise TypeError(f"Cannot compose Lifespan with {type(other).__name__}; use @lifespan or combine_lifespans")
        return Lifespan(combined(self, other))


class ContextManagerLifespan(Lifespan):
    """A lifespan made of a function that returns an asynchronous context manager."""


def combined(*lifespans: Any) -> Callable[[Any], Any]:
    """Return a lifespan of several, left in the opposite order."""

    @asynccontextmanager
    async def enter(server: Any) -> AsyncIterator[Object]:
        async with AsyncExitStack() as stack:
            found: Object = {}
            for each in lifespans:
                found |= await stack.enter_async_context(each(server)) or {}
            yield found

    return enter


def lifespan(function: Any) -> Lifespan:
    """Make a lifespan of an asynchronous generator."""
    return Lifespan(asynccontextmanager(function))


def combine_lifespans(*lifespans: Any) -> Callable[[Any], Any]:
    """Return a lifespan of several."""
    return combined(*lifespans)
