"""What each revision shows of a definition: fields it does not know are left out, schemas it cannot read are rewritten.

    2025-11-25  {"name": …, "inputSchema": {"properties": {"any": true}}, "outputSchema": {"type": "array"}}
    becomes     {"name": …, "inputSchema": {"properties": {"any": {}}}}

because up to that revision a property is an object, and a structured result too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.definitions.handling import CONTENTS, OURS
from mcpc.ir import Contents
from mcpc.revisions import REVISIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcpc.ir import Prompt, Resource, ResourceTemplate, Server, Tool
    from mcpc.revisions import Revision
    from mcpc.sources import Json

BOOLEAN_SCHEMAS: dict[bool, Json] = {True: {}, False: {"not": {}}}


def known_to_any(fields: Callable[[Revision], tuple[str, ...]]) -> frozenset[str]:
    """Return the fields that at least one revision knows."""
    return frozenset(field for revision in REVISIONS for field in fields(revision))


TOOL_FIELDS = known_to_any(lambda revision: revision.tool) | {"execution"}
"""No revision is shown how a tool is executed: a call is a task by what client and server agree on."""
PROMPT_FIELDS = known_to_any(lambda revision: revision.prompt)
ARGUMENT_FIELDS = known_to_any(lambda revision: revision.prompt_argument)
RESOURCE_FIELDS = known_to_any(lambda revision: revision.resource) | frozenset(CONTENTS)
TEMPLATE_FIELDS = known_to_any(lambda revision: revision.resource_template) | frozenset(CONTENTS)
IMPLEMENTATION_FIELDS = known_to_any(lambda revision: revision.implementation)


def only(members: Mapping[str, Json], shown: tuple[str, ...], known: frozenset[str]) -> dict[str, Json]:
    """Return the members that are shown, and those that are nobody's, in their order."""
    return {name: value for name, value in members.items() if name in shown or name not in known}


def for_clients(members: Mapping[str, Json]) -> dict[str, Json]:
    """Return the members without what their `_meta` tells the compiler alone; one that says nothing else goes, too."""
    meta = members.get("_meta")
    if not isinstance(meta, dict) or not any(key.startswith(OURS) for key in meta):
        return dict(members)
    theirs = {key: value for key, value in meta.items() if not key.startswith(OURS)}
    return {key: theirs if key == "_meta" else value for key, value in members.items() if theirs or key != "_meta"}


def tool(definition: Tool, revision: Revision) -> dict[str, Json]:
    """Return a tool as `tools/list` of this revision shows it."""
    members = only(for_clients(as_object(definition.members.value)), revision.tool, TOOL_FIELDS)
    if not revision.boolean_properties:
        for field in ("inputSchema", "outputSchema"):
            if field in members:
                members[field] = without_boolean_properties(members[field])
    if not revision.any_output_schema and as_object(members.get("outputSchema")).get("type") != "object":
        members.pop("outputSchema", None)
    return members


def prompt(definition: Prompt, revision: Revision) -> dict[str, Json]:
    """Return a prompt as `prompts/list` of this revision shows it."""
    members = only(for_clients(as_object(definition.members.value)), revision.prompt, PROMPT_FIELDS)
    arguments = members.get("arguments")
    if isinstance(arguments, list):
        shown = revision.prompt_argument
        members["arguments"] = [only(as_object(argument), shown, ARGUMENT_FIELDS) for argument in arguments]
    return members


def resource(definition: Resource, revision: Revision) -> dict[str, Json]:
    """Return a resource as `resources/list` of this revision shows it: with what is known of its content."""
    members = for_clients(as_object(definition.members.value))
    if definition.mime:
        members.setdefault("mimeType", definition.mime)
    if isinstance(definition.content, Contents):
        members.setdefault("size", definition.content.size)
    return only(members, revision.resource, RESOURCE_FIELDS)


def resource_template(definition: ResourceTemplate, revision: Revision) -> dict[str, Json]:
    """Return a template as `resources/templates/list` of this revision shows it."""
    members = for_clients(as_object(definition.members.value))
    return only(members, revision.resource_template, TEMPLATE_FIELDS)


def implementation(server: Server, revision: Revision) -> dict[str, Json]:
    """Return `serverInfo` as this revision shows it."""
    info = as_object(as_object(server.node.value).get("serverInfo"))
    return only(info, revision.implementation, IMPLEMENTATION_FIELDS)


def without_boolean_properties(schema: Json) -> Json:
    """Return a schema whose root's properties are all objects."""
    properties = as_object(schema).get("properties")
    if not isinstance(properties, dict):
        return schema
    rewritten = {
        name: BOOLEAN_SCHEMAS[value] if isinstance(value, bool) else value for name, value in properties.items()
    }
    return {**as_object(schema), "properties": rewritten}


def as_object(value: Json) -> dict[str, Json]:
    """Return a JSON object, or an empty one in place of anything else."""
    return value if isinstance(value, dict) else {}
