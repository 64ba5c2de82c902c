"""The components of a server as clients see them, its own and those of mounted servers: lists, and single ones.

Entries of lists are byte for byte those of the original: the fields of the wire's types in their order; a field without
a value is not there.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from mcpc_runtime.systems.fastmcp.engine.behaviour import SchemaRules, behaviour, rules
from mcpc_runtime.systems.fastmcp.engine.components import Component, Prompt, Resource, Template, Tool
from mcpc_runtime.systems.fastmcp.engine.contents import wire
from mcpc_runtime.systems.fastmcp.engine.mounts import Host, with_visibility
from mcpc_runtime.systems.fastmcp.engine.registration import KINDS as REGISTERED
from mcpc_runtime.systems.fastmcp.engine.schema_types import dereferenced
from mcpc_runtime.systems.fastmcp.engine.schemas import input_schema, output_schema, prompt_arguments
from mcpc_runtime.systems.fastmcp.engine.server import NotFoundError, note, taken_notes
from mcpc_runtime.systems.fastmcp.engine.uris import normalized_uri, uri_template
from mcpc_runtime.systems.fastmcp.generation import Generation, selected
from mcpc_runtime.systems.fastmcp.interfaces import ListEntry, Lists, Object

EMPTY: Object = {"type": "object", "properties": {}}
"""The schema of the arguments of a tool without a function and without a schema."""
SCHEMAS = frozenset({"inputSchema", "outputSchema"})
SCHEMA_FIELDS = ("$schema", "properties", "required", "type")
"""The fields of a schema that the newer wire knows, in its order."""
SORTED = frozenset({"annotations", "arguments", "icons"})
"""The fields whose objects have sorted fields on the newer wire."""
TOOL_FIELDS = ("title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
"""The fields of a tool's annotations, in the wire's order."""
RESOURCE_FIELDS = ("audience", "priority")
"""The fields of a resource's annotations, in the wire's order."""
ICON_FIELDS = ("src", "mimeType", "sizes")
"""The fields of an icon, in the wire's order."""
MIME_TYPE = "text/plain"
"""The media type of a resource that has none of its own."""


def tool_entry(tool: Tool, generation: Generation) -> Object:
    version = rules(generation)
    return on_wire(
        version,
        {
            "name": tool.name,
            "title": tool_title(tool, generation),
            "description": tool.description,
            "inputSchema": listed(tool_parameters(tool, generation), version),
            "outputSchema": listed(tool_output(tool, generation), version),
            "icons": icons_of(tool),
            "annotations": wire_object(tool.annotations, TOOL_FIELDS),
            "_meta": meta_of(tool, version),
        },
    )


def listed(schema: Object | None, version: SchemaRules) -> Object | None:
    """Return a schema as the list has it: without references, where the version replaces them in all schemas."""
    replaced = schema is not None and version.dereferences == "listed" and "$defs" in schema
    return dereferenced(schema, version.discriminators) if schema is not None and replaced else schema


def tool_title(tool: Tool, generation: Generation) -> str | None:
    """Return a tool's title: in FastMCP that of its annotations where it has none, or one made of its name."""
    if generation.family == "sdk" or tool.title:
        return tool.title
    title = (wire_object(tool.annotations, TOOL_FIELDS) or {}).get("title")
    if not title and rules(generation).titles_from_names:
        return tool.name.replace("_", " ").replace("-", " ").title()
    return title or None if rules(generation).output else None


def tool_parameters(tool: Tool, generation: Generation) -> Object:
    """Return the schema of a tool's arguments: the given one, or that of its function."""
    if tool.given_parameters is not None or tool.function is None:
        return EMPTY if tool.given_parameters is None else tool.given_parameters
    return input_schema(tool.function, tool.injected, generation, tool.exclude_args)


def tool_output(tool: Tool, generation: Generation) -> Object | None:
    """Return the schema of a tool's result: the given one (or the given absence), or that of its function."""
    given = tool.given_output
    if given is None or isinstance(given, dict) or tool.function is None:
        return given if isinstance(given, dict) else None
    shape = output_schema(tool.function, generation, tool.structured_output)
    return None if shape is None else shape.schema


def prompt_entry(prompt: Prompt, generation: Generation) -> Object:
    arguments = prompt.given_arguments
    if arguments is None and prompt.function is not None:
        arguments = prompt_arguments(prompt.function, prompt.injected, generation)
    version = rules(generation)
    return on_wire(
        version,
        {
            "name": prompt.name,
            "title": prompt.title,
            "description": prompt.description,
            "arguments": arguments,
            "icons": icons_of(prompt),
            "_meta": meta_of(prompt, version),
        },
    )


def resource_entry(resource: Resource, generation: Generation) -> Object:
    version = rules(generation)
    uri = normalized_uri(resource.uri) if version.uris_normalized else resource.uri
    fields = {
        "name": resource.name or uri,
        "title": resource.title,
        "uri": uri,
        "description": resource.description,
        "mimeType": resource.mime_type or MIME_TYPE,
        "size": resource.size,
        "icons": icons_of(resource),
        "annotations": wire_object(resource.annotations, RESOURCE_FIELDS),
        "_meta": meta_of(resource, version),
    }
    return on_wire(version, {"uri": uri, **fields} if version.uri_first else fields)


def template_entry(template: Template, generation: Generation) -> Object:
    version = rules(generation)
    fields = {
        "name": template.name,
        "title": template.title,
        "uriTemplate": template.uri_template,
        "description": template.description,
        "mimeType": (template.mime_type or MIME_TYPE) if version.template_mime_type else None,
        "icons": icons_of(template),
        "annotations": wire_object(template.annotations, RESOURCE_FIELDS),
        "_meta": meta_of(template, version),
    }
    return on_wire(version, {"uriTemplate": template.uri_template, **fields} if version.uri_first else fields)


def icons_of(component: Component) -> list[Object | None] | None:
    return None if component.icons is None else [wire_object(icon, ICON_FIELDS) for icon in component.icons]


def wire_object(value: Any, names: tuple[str, ...]) -> Object | None:
    """Return a model or an object of the project as an object of the wire: the fields with these names first."""
    if value is not None and not isinstance(value, dict):
        value = value.model_dump(mode="json", by_alias=True, exclude_none=True)
    if value is None:
        return None
    found = {name: value[name] for name in (*names, *value) if name in value}
    return {name: each for name, each in found.items() if each is not None}


def meta_of(component: Component, version: SchemaRules) -> Object | None:
    """Return the `_meta` of a component: its own, and the tags where the framework writes them."""
    meta = dict(component.meta or {})
    if version.meta_key:
        own: Object = {"tags": sorted(component.tags)}
        given = meta.get(version.meta_key) or {}
        # Keys that begin with `_` are FastMCP's own, which clients do not see.
        kept = {key: value for key, value in given.items() if not key.startswith("_")}
        meta[version.meta_key] = {**kept, **own}
    return meta or None


def on_wire(version: SchemaRules, fields: Mapping[str, object]) -> Object:
    """Return the fields that have a value, as JSON and in the order of the version's wire."""
    found = {name: json_value(value) for name, value in fields.items() if value is not None}
    if not version.sorted_fields:
        return found
    return {name: ordered(name, found[name]) for name in sorted(found)}


def ordered(name: str, value: Any) -> Any:
    """Return the value of a field in the order of the newer wire: its own fields are sorted, and before all others."""
    if name in SCHEMAS:
        return {key: value[key] for key in (*SCHEMA_FIELDS, *value) if key in value}
    if isinstance(value, list):
        return [ordered(name, each) for each in value]
    return dict(sorted(value.items())) if name in SORTED and isinstance(value, dict) else value


def json_value(value: object) -> object:
    """Return a value as the frameworks write it: numbers that JSON has not are null."""
    if isinstance(value, dict):
        return {key: json_value(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_value(each) for each in value]
    return None if isinstance(value, float) and not isfinite(value) else value


log = logging.getLogger(__name__)
ENTRY_OF: dict[str, Callable[[Any, Generation], Object]] = {
    "tool": tool_entry,
    "prompt": prompt_entry,
    "resource": resource_entry,
    "template": template_entry,
}
"""What makes the entry of a component of each kind."""
KINDS = {"tool": "tools", "prompt": "prompts", "resource": "resources", "template": "templates"}
"""The kinds of lists that may change."""


async def lists_of(server: Host) -> Lists:
    found: Object = {name: await entries_of(server, kind) for kind, name in KINDS.items()}
    return Lists(**found, dynamic=tuple(sorted(server.mcpc_changed_at_run_time)), notes=taken_notes())


async def entries_of(server: Host, kind: str) -> tuple[ListEntry, ...]:
    return tuple(
        ListEntry(entry_of(each), each.function) if hasattr(each, "kind") else ListEntry(wire(each))
        for each in deduplicated(await server.mcpc_listed(kind))
    )


def entry_of(component: Any) -> Object:
    """Return the entry of a component in its list."""
    return ENTRY_OF[component.kind](described(component), selected())


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
        # An object of the protocol has no key of its own: its place is one that no other has.
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
    # The rules of the session come last, so that they decide.
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
