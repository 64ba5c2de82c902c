"""The components of a server as clients see them, its own and those of mounted servers: lists, and single ones."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from mcpc_runtime.systems.fastmcp.engine import entries
from mcpc_runtime.systems.fastmcp.engine.behaviour import behaviour
from mcpc_runtime.systems.fastmcp.engine.components import Component
from mcpc_runtime.systems.fastmcp.engine.contents import wire
from mcpc_runtime.systems.fastmcp.engine.errors import NotFoundError
from mcpc_runtime.systems.fastmcp.engine.mounts import Host, with_visibility
from mcpc_runtime.systems.fastmcp.engine.registration import KINDS as REGISTERED
from mcpc_runtime.systems.fastmcp.engine.server import note, taken_notes
from mcpc_runtime.systems.fastmcp.engine.uris import uri_template
from mcpc_runtime.systems.fastmcp.generation import selected
from mcpc_runtime.systems.fastmcp.interfaces import ListEntry, Lists, Object

log = logging.getLogger(__name__)
KINDS = {"tool": "tools", "prompt": "prompts", "resource": "resources", "template": "templates"}
"""The kinds of lists that may change."""


async def lists_of(server: Host) -> Lists:
    found: Object = {name: await entries_of(server, kind) for kind, name in KINDS.items()}
    return Lists(**found, dynamic=tuple(sorted(server.mcpc_changed_at_run_time)), notes=taken_notes())


async def entries_of(server: Host, kind: str) -> tuple[ListEntry, ...]:
    make = getattr(entries, f"{kind}_entry")
    components = deduplicated(await server.mcpc_listed(kind))
    return tuple(
        ListEntry(make(described(each), selected()), each.function) if hasattr(each, "kind") else ListEntry(wire(each))
        for each in components
    )


def described(component: Any) -> Any:
    """Return a component whose attributes are in the protocol's form."""
    made = REGISTERED[component.kind]()
    made.__dict__.update(component.__dict__)
    made.annotations = wire(component.annotations) or None
    made.icons = wire(component.icons) or None
    made.meta = wire(component.meta)
    return made


@dataclass(slots=True)
class FoundResource:
    """A resource or a template that was found by an address; `values`: those of the template's variables."""

    component: Any
    values: Object = field(default_factory=dict)


async def every_one(server: Host, kind: str) -> list[Component]:
    """Return all components of a kind, those that clients do not see included: the server's own first.

    A mounted server that cannot list its components has none.
    """
    components = list(server.mcpc_components[kind])
    for mount in server.mcpc_mounts:
        try:
            components += await mount.every(kind)
        except Exception as problem:  # noqa: BLE001 - as the frameworks do
            log.warning("%s cannot list its %ss: %s", mount, kind, problem)
            note(f"{mount!r} cannot list its {kind}s at build: {type(problem).__name__}: {problem}")
    return with_visibility(server.mcpc_rules, components)


async def every(server: Host, kind: str) -> list[Component]:
    """Return the components of a kind, one of each name, those that clients do not see included."""
    return deduplicated(await every_one(server, kind))


async def visible(server: Host, kind: str) -> list[Component]:
    """Return the components of a kind that clients see: the server's own first, then those of mounted servers."""
    rules = await server.mcpc_session_rules()
    return [each for each in with_visibility(rules, await every_one(server, kind)) if server.mcpc_shows(each)]


def deduplicated(components: Sequence[Any]) -> list[Any]:
    """Return one component of each name or address: the first, or the last one where mounted servers win.

    Objects of the protocol, which a project's own handler may return, stay what they are.
    """
    by_key: dict[Any, Any] = {}
    for place, each in enumerate(components):
        key = str(each.identifier) if hasattr(each, "kind") else place
        if key not in by_key or behaviour().mounted_first:
            by_key[key] = each
    return list(by_key.values())


async def find(server: Host, kind: str, key: str) -> Any:
    """Return a component that clients see, or None."""
    component = await find_any(server, kind, key)
    if component is None:
        return None
    rules = await server.mcpc_session_rules()
    (component,) = with_visibility([*server.mcpc_rules, *rules], [component])
    return component if server.mcpc_shows(component) else None


async def find_any(server: Host, kind: str, key: str) -> Any:
    """Return a component, whether clients see it or not, or None: the server's own, or else a mounted server's.

    In FastMCP 2 mounted servers are asked first, the last one first of all.
    """
    registry = server.mcpc_components[kind]
    if kind == "template":
        own = next((each for each in registry if uri_template(each.uri_template).match(key) is not None), None)
    else:
        own = registry.get(key)
    if own is not None and not behaviour().mounted_first:
        return own
    mounts = reversed(server.mcpc_mounts) if behaviour().mounted_first else server.mcpc_mounts
    for mount in mounts:
        try:
            mounted = await mount.find(kind, key)
        except NotFoundError:
            continue
        except Exception as problem:  # noqa: BLE001 - as the frameworks do
            log.warning("%s cannot find the %s %r: %s", mount, kind, key, problem)
            continue
        if mounted is not None:
            return mounted
    return own


async def find_address(server: Host, uri: str) -> FoundResource | None:
    resource = await server.mcpc_get("resource", uri)
    if resource is not None:
        return FoundResource(resource)
    if uri in server.mcpc_components["resource"].items:  # a hidden resource is not served by a template
        return None
    template = await server.mcpc_get("template", uri)
    values = None if template is None else uri_template(template.uri_template).match(uri)
    return None if values is None else FoundResource(template, values)
