"""Why a list of a server of FastMCP itself is made at run time: the parts of such a server that make its lists.

For the build only, in the process that runs the program.
"""

from __future__ import annotations

from mcpc_runtime.systems.fastmcp.constant_lists import why_varying
from mcpc_runtime.systems.fastmcp.dynamic_lists import (
    KINDS,
    METHODS,
    is_of_project,
    of_another_server,
    overriding,
    wrapping,
)
from mcpc_runtime.systems.fastmcp.engine.notes import Note, place_of
from mcpc_runtime.systems.fastmcp.project_code import changed_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from mcpc_runtime.systems.fastmcp.list_reasons import Reason

PROXIES = frozenset({"FastMCPProxy", "ProxyProvider"})
"""The classes of servers and providers whose components are those of another server."""
INNER = ("providers", "_inner")
"""The attributes of a provider with those that are in it."""


def high_level_lists(server: Any, folder: str) -> Iterator[Reason]:
    """Yield the lists of a server that are not only those of what was registered."""
    providers = [*sources(getattr(server, "providers", ()))]
    if is_proxy(server) or any(map(is_proxy, providers)):
        yield from of_another_server(KINDS)
    yield from overriding(type(server))
    yield from wrapping(getattr(server, "middleware", ()))
    for each in providers:
        if getattr(each, "_reload", False) is True:
            for kind in KINDS:
                yield kind, Note(f"the list of {kind} is read again from files by `{type(each).__name__}`")
    transforms = (getattr(each, "transforms", ()) for each in (server, *providers))
    yield from providing([*providers, *(each for found in transforms for each in found)], folder)


def is_proxy(value: object) -> bool:
    """Tell whether the components of a server or a provider are those of another server."""
    return any(owner.__name__ in PROXIES for owner in type(value).__mro__)


def sources(providers: Iterable[Any]) -> Iterator[Any]:
    """Yield providers with those in them."""
    for each in providers:
        yield each
        for name in INNER:
            found = getattr(each, name, ())
            yield from sources(found if isinstance(found, list | tuple) else (found,))


def providing(sources_of_lists: Iterable[Any], folder: str) -> Iterator[Reason]:
    """Yield the lists that providers and transforms of the project make."""
    changed = changed_names(folder)
    for source in sources_of_lists:
        for method, kind in METHODS.items():
            for name in (method, f"_{method}", method.replace("list_", "transform_")):
                function = getattr(type(source), name, None)
                if is_of_project(function) and why_varying(function, folder, changed) is not None:
                    text = f"the list of {kind} is made by `{type(source).__name__}.{name}` of the project"
                    yield kind, Note(text, *place_of(function))
