"""The lists of a server: the components of its providers, as clients see them."""

from __future__ import annotations

from mcpc_runtime.lazy import lazy
from mcpc_runtime.systems.fastmcp.engine.behaviour import behaviour
from mcpc_runtime.systems.fastmcp.engine.components import Prompt, Resource, Template, Tool
from mcpc_runtime.systems.fastmcp.engine.contents import wire
from mcpc_runtime.systems.fastmcp.engine.notes import taken_notes
from mcpc_runtime.systems.fastmcp.engine.providers import collected
from mcpc_runtime.systems.fastmcp.engine.server import ListEntry, Lists
from mcpc_runtime.systems.fastmcp.engine.transforms import listed_through
from mcpc_runtime.systems.fastmcp.engine.versions import highest, version_order
from mcpc_runtime.systems.fastmcp.engine.visibility import with_visibility
from mcpc_runtime.systems.fastmcp.generation import selected

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from mcpc_runtime.systems.fastmcp.engine import entries
    from mcpc_runtime.systems.fastmcp.engine.mounts import Host
else:
    entries = lazy("mcpc_runtime.systems.fastmcp.engine.entries")

KINDS = {"tool": "tools", "prompt": "prompts", "resource": "resources", "template": "templates"}
"""The kinds of lists that may change."""
PLAIN = {"tool": Tool, "prompt": Prompt, "resource": Resource, "template": Template}
"""The engine's own class of each kind."""


async def lists_of(server: Host) -> Lists:
    """Return what a server offers."""
    found = {name: await entries_of(server, kind) for kind, name in KINDS.items()}
    return Lists(
        **found,
        completions=server.mcpc_completion is not None,
        dynamic=tuple(sorted(server.mcpc_changed_at_run_time)),
        notes=taken_notes(),
    )


async def entries_of(server: Host, kind: str) -> tuple[ListEntry, ...]:
    """Return the entries of a kind's list."""
    make = getattr(entries, f"{kind}_entry")
    components = deduplicated(await server.mcpc_listed(kind))
    return tuple(
        ListEntry(make(described(each), selected()), each.function) if hasattr(each, "kind") else ListEntry(wire(each))
        for each in components
    )


def described(component: Any) -> Any:
    """Return a component whose attributes are in the protocol's form."""
    made = PLAIN[component.kind]()
    made.__dict__.update(component.__dict__)
    made.annotations = wire(component.annotations) or None
    made.icons = wire(component.icons) or None
    made.meta = wire(component.mcpc_meta())
    return made


async def every_version(server: Host, kind: str) -> list[Any]:
    """Return all components of a kind, those that clients do not see included."""
    found = await collected(server.mcpc_providers, kind)
    return await listed_through(server.mcpc_transforms, kind, found)


async def every(server: Host, kind: str) -> list[Any]:
    """Return the highest version of all components of a kind, those that clients do not see included."""
    return deduplicated(await every_version(server, kind))


async def visible(server: Host, kind: str) -> list[Any]:
    """Return the components of a kind that clients see: the server's own first, then those of other providers."""
    rules = await server.mcpc_session_rules()
    return [each for each in with_visibility(rules, await every_version(server, kind)) if server.mcpc_shows(each)]


def deduplicated(components: Sequence[Any]) -> list[Any]:
    """Return the component with the highest version of each name or address; its metadata lists all versions.

    Objects of the protocol, which a project's own handler may return, stay what they are.
    """
    groups: dict[Any, list[Any]] = {}
    for place, each in enumerate(components):
        groups.setdefault(str(each.identifier) if hasattr(each, "kind") else place, []).append(each)
    return [group[0] if is_alone(group) else top_of(group) for group in groups.values()]


def is_alone(group: list[Any]) -> bool:
    """Tell whether a component has no versions, or is an object of the protocol."""
    return len(group) == 1 and getattr(group[0], "version", None) is None


def top_of(group: list[Any]) -> Any:
    """Return the highest version of a component, the first one of equals; the last one where mounted servers win."""
    top = highest(reversed(group) if behaviour().mounted_first else group)
    versions = sorted({each.version for each in group if each.version is not None}, key=version_order, reverse=True)
    if not versions:
        return top
    meta = top.meta or {}
    return top.copy({"meta": {**meta, "fastmcp": {**meta.get("fastmcp", {}), "versions": versions}}})
