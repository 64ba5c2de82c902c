"""Project definitions to a revision: unknown fields are left out, schemas it cannot read are rewritten.

    2025-11-25  {"name": …, "inputSchema": {"properties": {"any": true}}, "outputSchema": {"type": "array"}}
    becomes     {"name": …, "inputSchema": {"properties": {"any": {}}}}

because up to that revision a property is an object, and a structured result too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpc.model.ir import FieldOrder, Prompt, PromptArgument, Resource, ResourceTemplate, Server, Tool
    from mcpc.model.revisions import Revision
    from mcpc.reading import Json

BOOLEAN_SCHEMAS: dict[bool, Json] = {True: {}, False: {"not": {}}}


def visible_fields(fields: Mapping[str, Json], order: FieldOrder, revision_fields: tuple[str, ...]) -> dict[str, Json]:
    """Return the fields that a revision defines or that no revision defines, in their order."""
    others = {key for key, _ in order.others}
    return {key: value for key, value in fields.items() if key in revision_fields or key in others}


def project_tool(definition: Tool, revision: Revision) -> dict[str, Json]:
    """Return a tool as `tools/list` of this revision shows it."""
    own: dict[str, Json] = {
        "name": definition.name,
        "inputSchema": definition.input.value,
        "annotations": definition.annotations.fields(),
    }
    if definition.output is not None:
        own["outputSchema"] = definition.output.value
    members = visible_fields(definition.metadata.fields(own), definition.metadata.order, revision.tool)
    if not revision.boolean_properties:
        for field in ("inputSchema", "outputSchema"):
            if field in members:
                members[field] = without_boolean_properties(members[field])
    if not revision.any_output_schema and definition.output is not None and definition.output.type != "object":
        members.pop("outputSchema", None)
    return members


def project_prompt(definition: Prompt, revision: Revision) -> dict[str, Json]:
    """Return a prompt as `prompts/list` of this revision shows it."""
    arguments: list[Json] = [project_prompt_argument(argument, revision) for argument in definition.arguments]
    own: dict[str, Json] = {"name": definition.name, "arguments": arguments}
    return visible_fields(definition.metadata.fields(own), definition.metadata.order, revision.prompt)


def project_prompt_argument(argument: PromptArgument, revision: Revision) -> dict[str, Json]:
    """Return an argument of a prompt as this revision shows it."""
    fields = argument.metadata.fields({"name": argument.name, "required": argument.required})
    return visible_fields(fields, argument.metadata.order, revision.prompt_argument)


def project_resource(definition: Resource, revision: Revision) -> dict[str, Json]:
    """Return a resource as `resources/list` of this revision shows it, with its type and size if known."""
    own = {**read_fields(definition), "uri": definition.uri, "size": definition.size}
    return visible_fields(definition.metadata.fields(own), definition.metadata.order, revision.resource)


def project_resource_template(definition: ResourceTemplate, revision: Revision) -> dict[str, Json]:
    """Return a template as `resources/templates/list` of this revision shows it."""
    own = {**read_fields(definition), "uriTemplate": definition.uri.text}
    return visible_fields(definition.metadata.fields(own), definition.metadata.order, revision.resource_template)


def read_fields(definition: Resource | ResourceTemplate) -> dict[str, Json]:
    """Return the common fields of resources and templates."""
    annotations = definition.annotations.fields()
    return {"name": definition.name, "mimeType": definition.mime, "annotations": annotations}


def project_implementation(server: Server, revision: Revision) -> dict[str, Json]:
    """Return `serverInfo` as this revision shows it."""
    return visible_fields(server.info.fields(), server.info.metadata.order, revision.implementation)


def without_boolean_properties(schema: Json) -> Json:
    """Return a schema whose root's properties are all objects."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(schema, dict) or not isinstance(properties, dict):
        return schema
    rewritten = {
        name: BOOLEAN_SCHEMAS[value] if isinstance(value, bool) else value for name, value in properties.items()
    }
    return {**schema, "properties": rewritten}


def as_object(value: Json) -> dict[str, Json]:
    """Return a JSON object, or an empty one for any other value."""
    return value if isinstance(value, dict) else {}
