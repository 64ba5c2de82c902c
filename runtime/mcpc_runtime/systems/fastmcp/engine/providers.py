"""Providers: where the components of a server come from.

A server asks its providers for lists and for single components; a provider changes what it has by its transforms.  A
project's provider overrides the methods with an underscore.
"""

from __future__ import annotations

import asyncio
import logging
from abc import abstractmethod
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from mcpc_runtime.systems.fastmcp.changes import note_change
from mcpc_runtime.systems.fastmcp.engine.behaviour import behaviour
from mcpc_runtime.systems.fastmcp.engine.errors import NotFoundError
from mcpc_runtime.systems.fastmcp.engine.notes import note
from mcpc_runtime.systems.fastmcp.engine.transforms import (
    GETTING,
    LISTING,
    Namespace,
    found_through,
    listed_through,
)
from mcpc_runtime.systems.fastmcp.engine.uris import uri_template
from mcpc_runtime.systems.fastmcp.engine.versions import VersionSpec, highest
from mcpc_runtime.systems.fastmcp.engine.visibility import visibility_rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Sequence
    from typing import Self

log = logging.getLogger(__name__)


class Provider:
    """The base of providers: it has no components."""

    def __init__(self) -> None:
        self._transforms: list[Any] = []

    def __repr__(self) -> str:
        """Return the class."""
        return f"{type(self).__name__}()"

    @property
    def transforms(self) -> list[Any]:
        """What changes the components, the innermost one first."""
        return list(self._transforms)

    def add_transform(self, transform: Any) -> None:
        """Change the components."""
        self._transforms.append(transform)
        note_change()

    def wrap_transform(self, transform: Any) -> Provider:
        """Return a provider of the same components, changed."""
        return WrappedProvider(self, transform)

    @property
    def mcpc_inner(self) -> list[Any]:
        """The providers in this one."""
        return []

    def mcpc_parts(self) -> list[Any]:
        """Return the server that provides the components; those in it, too, if no program may serve it."""
        server = server_of(self)
        if server is None:
            return []
        return [server] if server.mcpc_is_noted else [server, *server.mcpc_parts()]

    async def mcpc_all(self, kind: str) -> list[Any]:
        """Return all components of a kind, those included that clients do not see."""
        return await listed_through(self.transforms, kind, await getattr(self, f"_{LISTING[kind]}")())

    async def mcpc_one(self, kind: str, key: str, version: VersionSpec | None = None) -> Any:
        """Return a component by its name or address, or None; clients may not see it."""
        own = getattr(self, f"_{GETTING[kind]}")

        async def last(key: str, *, version: VersionSpec | None = None) -> Any:
            return await own(key, version)

        return await found_through(self.transforms, kind, key, version, last)

    async def list_tools(self) -> Sequence[Any]:
        """Return all tools."""
        return await self.mcpc_all("tool")

    async def list_prompts(self) -> Sequence[Any]:
        """Return all prompts."""
        return await self.mcpc_all("prompt")

    async def list_resources(self) -> Sequence[Any]:
        """Return all resources."""
        return await self.mcpc_all("resource")

    async def list_resource_templates(self) -> Sequence[Any]:
        """Return all templates."""
        return await self.mcpc_all("template")

    async def get_tool(self, name: str, version: VersionSpec | None = None) -> Any:
        """Return a tool, or None."""
        return await self.mcpc_one("tool", name, version)

    async def get_prompt(self, name: str, version: VersionSpec | None = None) -> Any:
        """Return a prompt, or None."""
        return await self.mcpc_one("prompt", name, version)

    async def get_resource(self, uri: str, version: VersionSpec | None = None) -> Any:
        """Return a resource, or None."""
        return await self.mcpc_one("resource", str(uri), version)

    async def get_resource_template(self, uri: str, version: VersionSpec | None = None) -> Any:
        """Return the template of an address, or None."""
        return await self.mcpc_one("template", str(uri), version)

    async def _list_tools(self) -> Sequence[Any]:
        return []

    async def _list_prompts(self) -> Sequence[Any]:
        return []

    async def _list_resources(self) -> Sequence[Any]:
        return []

    async def _list_resource_templates(self) -> Sequence[Any]:
        return []

    async def _get_tool(self, name: str, version: VersionSpec | None = None) -> Any:
        return highest([each for each in await self._list_tools() if each.name == name], version)

    async def _get_prompt(self, name: str, version: VersionSpec | None = None) -> Any:
        return highest([each for each in await self._list_prompts() if each.name == name], version)

    async def _get_resource(self, uri: str, version: VersionSpec | None = None) -> Any:
        return highest([each for each in await self._list_resources() if str(each.uri) == uri], version)

    async def _get_resource_template(self, uri: str, version: VersionSpec | None = None) -> Any:
        return highest([each for each in await self._list_resource_templates() if is_address(each, uri)], version)

    async def get_tasks(self) -> Sequence[Any]:
        """Return the components that may run as tasks; the built server runs none as such."""
        found = [each for kind in LISTING for each in await self.mcpc_all(kind)]
        return [each for each in found if getattr(each, "task", None) not in (None, "forbidden")]

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """Be entered before the first call, and left at the end."""
        yield

    def enable(self, **rule: Any) -> Self:
        """Show components."""
        self._transforms += visibility_rules(True, rule)
        note_change()
        return self

    def disable(self, **rule: Any) -> Self:
        """Hide components."""
        self._transforms += visibility_rules(False, rule)
        note_change()
        return self


def is_address(template: Any, uri: str) -> bool:
    """Tell whether an address is one of a template's."""
    return uri_template(template.uri_template).match(uri) is not None


class UniformProvider(Provider):
    """A provider that treats all kinds of components alike."""

    @abstractmethod
    async def mcpc_own(self, kind: str) -> Sequence[Any]:
        """Return all components of a kind before the transforms."""

    @abstractmethod
    async def mcpc_own_one(self, kind: str, key: str, version: VersionSpec | None) -> Any:
        """Return a component before the transforms, or None."""

    async def _list_tools(self) -> Sequence[Any]:
        return await self.mcpc_own("tool")

    async def _list_prompts(self) -> Sequence[Any]:
        return await self.mcpc_own("prompt")

    async def _list_resources(self) -> Sequence[Any]:
        return await self.mcpc_own("resource")

    async def _list_resource_templates(self) -> Sequence[Any]:
        return await self.mcpc_own("template")

    async def _get_tool(self, name: str, version: VersionSpec | None = None) -> Any:
        return await self.mcpc_own_one("tool", name, version)

    async def _get_prompt(self, name: str, version: VersionSpec | None = None) -> Any:
        return await self.mcpc_own_one("prompt", name, version)

    async def _get_resource(self, uri: str, version: VersionSpec | None = None) -> Any:
        return await self.mcpc_own_one("resource", uri, version)

    async def _get_resource_template(self, uri: str, version: VersionSpec | None = None) -> Any:
        return await self.mcpc_own_one("template", uri, version)


class WrappedProvider(UniformProvider):
    """The components of another provider, changed."""

    def __init__(self, inner: Any, transform: Any) -> None:
        super().__init__()
        self._inner = inner
        self._transforms.append(transform)

    async def mcpc_own(self, kind: str) -> Sequence[Any]:
        """Return all components of a kind."""
        found: Sequence[Any] = await getattr(self._inner, LISTING[kind])()
        return found

    async def mcpc_own_one(self, kind: str, key: str, version: VersionSpec | None) -> Any:
        """Return a component, or None."""
        return await getattr(self._inner, GETTING[kind])(key, version)

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """Enter the other one's."""
        async with self._inner.lifespan():
            yield

    @property
    def mcpc_server(self) -> Any:
        """The server that provides the components, None if they are not of a server."""
        return server_of(self._inner)

    def mcpc_parts(self) -> list[Any]:
        """Return those of the other one."""
        parts: list[Any] = self._inner.mcpc_parts()
        return parts

    @property
    def mcpc_inner(self) -> list[Any]:
        """The other provider."""
        return [self._inner]


class AggregateProvider(UniformProvider):
    """The components of several providers."""

    def __init__(self, providers: Sequence[Any] | None = None, *, provider_error_strategy: str = "warn") -> None:
        super().__init__()
        self.provider_error_strategy = provider_error_strategy
        self.providers: list[Any] = list(providers or ())

    def __repr__(self) -> str:
        """Return the class and the providers."""
        return f"AggregateProvider(providers={self.providers!r})"

    def add_provider(self, provider: Any, *, namespace: str = "") -> None:
        """Add a provider, perhaps with a prefix."""
        self.providers.append(namespaced(provider, namespace))
        note_change()

    def mcpc_parts(self) -> list[Any]:
        """Return those of all providers."""
        return [part for each in self.providers for part in each.mcpc_parts()]

    @property
    def mcpc_inner(self) -> list[Any]:
        """The providers."""
        return list(self.providers)

    async def mcpc_own(self, kind: str) -> Sequence[Any]:
        """Return all components of a kind."""
        return await collected(self.providers, kind, self.provider_error_strategy)

    async def mcpc_own_one(self, kind: str, key: str, version: VersionSpec | None) -> Any:
        """Return the component with the highest version of all providers, or None."""
        return await found_in(self.providers, kind, key, version, self.provider_error_strategy)

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """Enter those of all providers."""
        async with AsyncExitStack() as stack:
            for each in self.providers:
                await stack.enter_async_context(each.lifespan())
            yield


def namespaced(provider: Any, namespace: str) -> Any:
    """Return a provider, or the one with a prefix."""
    return provider.wrap_transform(Namespace(namespace)) if namespace else provider


def server_of(provider: Any) -> Any:
    """Return the server that a provider stands for, None if it stands for none."""
    return getattr(provider, "mcpc_server", None)


async def gathered_results(asked: Sequence[Awaitable[Any]]) -> list[Any]:
    """Return what providers answer, or raise; a single one needs no task."""
    if len(asked) > 1:
        return await asyncio.gather(*asked, return_exceptions=True)
    try:
        return [await each for each in asked]
    except Exception as problem:  # noqa: BLE001 - as `gather` does with several
        return [problem]


async def collected(providers: Sequence[Any], kind: str, strategy: str = "warn") -> list[Any]:
    """Return the components of all providers; what one cannot list is not there, but with the strategy `raise`."""
    found: list[Any] = []
    listed = await gathered_results([getattr(each, LISTING[kind])() for each in providers])
    for provider, answer in zip(providers, listed, strict=True):
        if not isinstance(answer, BaseException):
            found += answer
            continue
        if strategy == "raise" or not isinstance(answer, Exception):
            raise answer
        log.warning("Error during %s from provider %s: %s", LISTING[kind], provider, answer)
        note(f"{provider!r} cannot list its {kind}s at build: {type(answer).__name__}: {answer}")
    return found


async def found_in(
    providers: Sequence[Any], kind: str, key: str, version: VersionSpec | None, strategy: str = "warn"
) -> Any:
    """Return the component with the highest version of all providers, or None."""
    asked = [getattr(each, GETTING[kind])(key, version) for each in providers]
    found: list[Any] = []
    for provider, answer in zip(providers, await gathered_results(asked), strict=True):
        if not isinstance(answer, BaseException):
            found += [] if answer is None else [answer]
        elif not isinstance(answer, Exception):
            raise answer
        elif not isinstance(answer, NotFoundError):
            if strategy == "raise":
                raise answer
            log.warning("Error during %s(%r) from provider %s: %s", GETTING[kind], key, provider, answer)
    if behaviour().mounted_first:
        return next(iter([*reversed(found[1:]), *found[:1]]), None)
    return highest(found)
