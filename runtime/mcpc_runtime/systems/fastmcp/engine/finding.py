"""Finds a component that clients see, by its name or address: of all providers of a server, through its transforms."""

from __future__ import annotations

from dataclasses import dataclass, field

from mcpc_runtime.systems.fastmcp.engine.listing import every_version
from mcpc_runtime.systems.fastmcp.engine.providers import found_in
from mcpc_runtime.systems.fastmcp.engine.transforms import found_through
from mcpc_runtime.systems.fastmcp.engine.uris import uri_template
from mcpc_runtime.systems.fastmcp.engine.versions import highest
from mcpc_runtime.systems.fastmcp.engine.visibility import with_visibility

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mcpc_runtime.systems.fastmcp.engine.mounts import Host
    from mcpc_runtime.systems.fastmcp.engine.versions import VersionSpec


@dataclass(slots=True)
class FoundResource:
    """A resource or a template that was found by an address; `values`: those of the template's variables."""

    component: Any
    values: dict[str, Any] = field(default_factory=dict)


async def find(server: Host, kind: str, key: str, version: VersionSpec | None = None) -> Any:
    """Return a component that clients see, or None.

    Where the highest version is hidden, and no version is asked for, the highest one of those that are shown is found.
    """
    found = await find_any(server, kind, key, version)
    if found is None:
        return None
    rules = await server.mcpc_session_rules()
    shown = [each for each in with_visibility(rules, [found]) if server.mcpc_shows(each)]
    if shown or version is not None or found.version is None:
        return shown[0] if shown else None
    others = [each for each in await every_version(server, kind) if answers_to(each, key)]
    return highest([each for each in with_visibility(rules, others) if server.mcpc_shows(each)])


async def find_any(server: Host, kind: str, key: str, version: VersionSpec | None = None) -> Any:
    """Return a component, whether clients see it or not, or None."""

    async def last(key: str, *, version: VersionSpec | None = None) -> Any:
        return await found_in(server.mcpc_providers, kind, key, version)

    return await found_through(server.mcpc_transforms, kind, key, version, last)


def answers_to(component: Any, key: str) -> bool:
    """Tell whether a name or an address is that of a component."""
    if component.kind == "template":
        return uri_template(component.uri_template).match(key) is not None
    return str(component.identifier) == key


async def find_address(server: Host, uri: str, version: VersionSpec | None = None) -> FoundResource | None:
    """Return the resource, or the template, of an address."""
    found = await server.mcpc_get("resource", uri, version)
    if found is not None:
        return FoundResource(found)
    template = await server.mcpc_get("template", uri, version)
    values = None if template is None else uri_template(template.uri_template).match(uri)
    return None if values is None else FoundResource(template, values)
