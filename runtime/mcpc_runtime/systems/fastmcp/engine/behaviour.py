"""What the frameworks' versions do differently, as data: when they are called, and in the schemas of their lists.

A row holds what a version changed; a generation's behaviour is all rows up to its version, one over the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from mcpc_runtime.systems.fastmcp.generation import Generation, Version, selected


@dataclass(frozen=True, slots=True)
class Behaviour:
    """The behaviour of one version.  The values here are those of the first versions."""

    # Registration
    decorators_return_components: bool = False
    """`@server.tool` returns the component, not the function."""
    names_partials: bool = False
    """A tool of a partial function has the name of the function in it."""

    # Tools
    unknown_tool: str = "Unknown tool: {name}"
    """The error for a tool that does not exist."""
    tool_error: str = "Error calling tool {name!r}: {error}"
    """The text of an exception that is not a ToolError; where details are masked, without the error."""
    invalid_arguments: str = "{error}"
    """The text of invalid arguments."""
    masks_errors: bool = False
    """Details of exceptions are masked without being asked for."""
    plain_validation_errors: bool = False
    """The text of pydantic's ValidationError that a function raises is unchanged."""
    raised_errors: bool = False
    """An McpError of middleware is an error of the protocol."""
    checks_input: bool = False
    """Arguments are checked by the tool's schema before anything else."""
    blocks_last: bool = False
    """The blocks in a list come after its other items, which are one block."""
    synchronous_in_threads: bool = False
    """Synchronous functions run in separate threads."""
    wrap_meta: bool = False
    """A wrapped result says so in its `_meta`."""
    text_of_structured: bool = False
    """The text of a result is that of its structured form."""
    aliases: str = "always"
    """Which names a result's fields have: `always` aliases, as the `value` says, or as each model says of its `own`."""
    whole_results: bool = False
    """A function may return a whole CallToolResult."""
    opaque_bytes: bool = False
    """A result of bytes is text, or text in base64, and never structured."""
    reads_generators: bool = False
    """A generator's items are the result."""
    indented: bool = False
    """JSON text is indented."""

    # Resources
    unread_resource: str = "{error}"
    """The error for a resource that does not exist, as clients get it."""
    unknown_resource_code: int = 0
    unknown_resource_has_data: bool = False
    """That error has the address as data."""
    resource_error: str = "Error reading resource {uri!r}: {error}"
    template_error: str = "Error reading resource {uri!r}: {error}"
    resource_error_code: int = 0
    resources_are_strict: bool = False
    """A resource returns text, bytes, JSON values and parts, nothing else."""
    converts_strictly: bool = False
    """A value of an address that is no number or flag where one is expected is an error in the words of Python."""
    path_security: bool = False
    """Values in an address may not leave a folder."""

    # Prompts
    unknown_prompt: str = "Unknown prompt: {name}"
    unknown_prompt_code: int = 0
    prompt_error: str = "Error rendering prompt {name!r}: {error}"
    prompt_error_code: int = 0
    raised_prompt_error: str = "Error rendering prompt {name!r}: {error}"
    """The text of an exception of a prompt's function."""
    conversion_errors: bool = False
    """The client is told why an argument of a prompt cannot be converted."""
    json_last: bool = False
    """Arguments of prompts are JSON only where the text itself is not valid."""
    missing_arguments_code: int = 0
    """Its code if it is an error of the protocol that says nothing else."""
    prompt_arguments_unchecked: bool = False
    """The function gets arguments of prompts as they are."""
    prompts_are_strict: bool = False
    """A prompt returns text and messages, nothing else."""

    # Servers
    whole_keys: bool = False
    """The key of a component has its kind and version."""
    versioned: bool = False
    """All components of a name have a version, or none has; clients may ask for one."""
    duplicate: str = "{kind} already exists: {key}"
    """The text about a second component with the same name."""
    prefixes_names: bool = False
    """The names of resources of mounted servers have the prefix, too."""
    gives_none: bool = False
    """A server gives None for a component that does not exist."""
    inner_contexts: bool = False
    """A mounted server has a separate context in a call."""
    image_formats: bool = False
    """`jpg`, `svg` and `tif` are known as formats of images."""
    names_by_format: bool = False
    """A file without a suffix has that of its format."""
    titled_scalars: bool = True
    """The schema of a question for one value has a title."""
    mounted_first: bool = True
    """Mounted servers are asked before the server itself."""
    structured_logs: bool = True
    """Messages of the log are objects with `msg` and `extra`."""
    typed_choices: bool = False
    """The schema of a question for several choices says that they are texts."""
    asks_for_nothing: bool = True
    """A question to the user may ask for no value."""
    sampling_results: bool = False
    """The model's answer is an object with `text` and `result`, not a content block."""
    state_is_asynchronous: bool = False
    """`get_state`, `set_state` are coroutines, and the state is that of the session."""


Row = tuple[Version, Mapping[str, object]]
"""A version, and what it changed."""
LATER: Mapping[str, object] = {
    "unknown_tool": "Unknown tool: {name!r}",
    "unknown_prompt": "Unknown prompt: {name!r}",
    "whole_keys": True,
    "versioned": True,
    "duplicate": "Component already exists: {key}",
    "gives_none": True,
    "inner_contexts": True,
    "sampling_results": True,
    "synchronous_in_threads": True,
    "mounted_first": False,
    "state_is_asynchronous": True,
    "prompts_are_strict": True,
    "resources_are_strict": True,
}
"""What FastMCP 3 and 4 have."""

ROWS: dict[str, tuple[Row, ...]] = {
    "sdk1": (),
    "sdk2": (((2, 0), {"masks_errors": True, "synchronous_in_threads": True}),),
    "fastmcp2": (
        (
            (2, 0),
            {
                "checks_input": True,
                "prefixes_names": True,
                "indented": True,
                "blocks_last": True,
                "structured_logs": False,
                "decorators_return_components": True,
                "invalid_arguments": "Error calling tool {name!r}: {error}",
                "prompt_arguments_unchecked": True,
                "raised_prompt_error": "Error rendering prompt {name}.",
                "template_error": "Error reading resource from template {uri!r}: {error}",
                "unread_resource": "Unknown resource: {uri!r}",
            },
        ),
        ((2, 10, 3), {"indented": False}),
        ((2, 11), {"structured_logs": True}),
        ((2, 12, 3), {"blocks_last": False}),
        (
            (2, 13),
            {"checks_input": False, "plain_validation_errors": True, "invalid_arguments": "{error}"},
        ),
        ((2, 14, 1), {"sampling_results": True}),
    ),
    "fastmcp3": (
        (
            (3, 0),
            {
                **LATER,
                "plain_validation_errors": True,
                "unread_resource": "Resource not found: Unknown resource: {uri!r}",
                "unknown_resource_code": -32002,
                "raised_prompt_error": "Error rendering prompt {name}.",
            },
        ),
        ((3, 2), {"wrap_meta": True, "converts_strictly": True}),
        (
            (3, 2, 4),
            {
                "opaque_bytes": True,
                "reads_generators": True,
                "conversion_errors": True,
                "raised_prompt_error": "Error rendering prompt {name!r}: {error}",
            },
        ),
        ((3, 4, 3), {"aliases": "value"}),
    ),
    "fastmcp4": (
        (
            (4, 0),
            {
                **LATER,
                "names_partials": True,
                "unknown_prompt_code": -32602,
                "prompt_error_code": -32603,
                "raised_errors": True,
                "unread_resource": "Resource not found: {uri!r}",
                "unknown_resource_code": -32602,
                "unknown_resource_has_data": True,
                "resource_error_code": -32603,
                "converts_strictly": True,
                "conversion_errors": True,
                "json_last": True,
                "asks_for_nothing": False,
                "image_formats": True,
                "names_by_format": True,
                "titled_scalars": False,
                "wrap_meta": True,
                "text_of_structured": True,
                "aliases": "own",
                "whole_results": True,
                "reads_generators": True,
                "opaque_bytes": True,
                "path_security": True,
            },
        ),
        ((4, 2), {"missing_arguments_code": -32602, "typed_choices": True}),
    ),
}
"""The changes of each generation, from its oldest version to its latest."""


def changed(rows: Iterable[Row], generation: Generation) -> dict[str, Any]:
    """Return what rows change up to a generation's version."""
    # By ascending version: of two rows with one key the later holds.
    return {key: each for since, row in rows if generation.version >= since for key, each in row.items()}


@lru_cache
def behaviour_of(generation: Generation) -> Behaviour:
    """Return the behaviour of a generation's version."""
    return Behaviour(**changed(ROWS[generation.name], generation))


def behaviour() -> Behaviour:
    """Return the behaviour of the selected generation."""
    return behaviour_of(selected())


@dataclass(frozen=True, slots=True)
class SchemaRules:
    """The rules of one version.  The values here are those of the oldest version of each framework."""

    # Output schemas
    output: bool = False
    """Tools have output schemas."""
    root_inlined: bool = False
    """An output schema that is a reference becomes a copy of what it refers to."""
    opaque_call_results: bool = False
    """A function that returns a whole CallToolResult has no output schema."""
    content_opaque: bool = False
    """A function that returns content has no output schema (SDK; FastMCP never makes one)."""
    native_typed_dicts: bool = False
    """The SDK leaves a TypedDict to pydantic, and makes no model of its own of it."""
    titled_dicts: bool = False
    """The SDK gives a dictionary a title by annotation, not by a root model."""
    output_mode: str = "serialization"
    """The mode of pydantic's schema of a result."""
    output_aliases: str = "always"
    """Which names a result's fields have: `always` aliases, as the `outer` model serializes, as `each` model does."""
    properties_are_objects: bool = False
    """A schema with properties, or one that refers to an object, is an object without a wrapper."""
    wrapper_description: str = ""
    """The description that the wrapper of a result has in its schema."""
    opaque_bytes: bool = False
    """A function that returns bytes has no output schema."""
    opaque_bare_lists: bool = False
    """A function that returns a list of anything has no output schema."""
    opaque_subclasses: bool = False
    """A function that returns a subclass of ToolResult has no output schema."""

    # Input schemas
    text_annotations: bool = False
    """`Annotated[type, "text"]` describes a parameter."""
    loses_keyword_defaults: bool = False
    """A keyword-only parameter loses its default where its annotations had to be resolved."""
    empty_descriptions: bool = False
    """A description that is given and empty stays."""
    docstrings: str = ""
    """Where docstrings are divided: at `parameters`, at any `section`, or not."""
    author_titles: bool = False
    """A parameter keeps a title that its author gave it."""

    # Cleaning
    keeps_additional_properties: bool = False
    """`"additionalProperties": false` stays."""
    prunes_titles: str = ""
    """Titles are removed where a node looks like a schema (`keywords`), or is one (`schemas`), or not."""
    prunes_prompt_titles: bool = False
    """Titles are removed in prompts too."""
    dereferences: str = ""
    """References are replaced by what they refer to in schemas that are made, or in all that are `listed`."""
    discriminators: str = ""
    """What becomes of a discriminator then: loses its `mapping`, is `removed`, or is `required` in the variants."""

    # Entries
    uris_normalized: bool = True
    """Addresses of resources are normalized."""
    uri_first: bool = False
    """A resource begins with its address, not with its name."""
    template_mime_type: bool = True
    """A template has a media type."""
    meta_key: str = ""
    """The key of the framework's own metadata in `_meta`."""
    sorted_fields: bool = False
    """The wire's objects have their fields sorted, and a schema begins with the wire's own."""
    text_names: tuple[str, ...] = ("Sequence",)
    """Names that can be resolved in the annotation of a prompt's argument that is text, besides the usual ones."""
    titles_from_names: bool = False
    """A tool without a title has one made of its name."""
    argument_titles: bool = False
    """An argument of a prompt has the title that its field says."""
    argument_note: str = ""
    """What is added to the description of a prompt's argument that is not a string; `{schema}` is its schema."""


WRAPPER = "Generic wrapper for non-object return types."
JSON_NOTE = "Provide as a JSON string matching the following schema: {schema}"
VALUE_NOTE = "Provide a value matching the following JSON schema: {schema}. Encode non-string values as JSON."

SCHEMAS_LATER: Mapping[str, object] = {
    "output": True,
    "text_annotations": True,
    "keeps_additional_properties": True,
    "prunes_prompt_titles": True,
    "properties_are_objects": True,
    "root_inlined": True,
    "dereferences": "listed",
    "meta_key": "fastmcp",
    "text_names": ("Literal",),
}
"""What FastMCP 3 and 4 have."""
SCHEMA_ROWS: dict[str, tuple[Row, ...]] = {
    "sdk1": (
        ((1, 0), {"uri_first": True, "template_mime_type": False}),
        ((1, 10), {"output": True, "uri_first": False}),
        ((1, 14, 1), {"template_mime_type": True}),
        ((1, 19), {"opaque_call_results": True}),
        ((1, 30), {"root_inlined": True}),
    ),
    "sdk2": (
        (
            (2, 0),
            {
                "output": True,
                "root_inlined": True,
                "opaque_call_results": True,
                "content_opaque": True,
                "native_typed_dicts": True,
                "sorted_fields": True,
                "titled_dicts": True,
                "uris_normalized": False,
            },
        ),
    ),
    "fastmcp2": (
        (
            (2, 0),
            {
                "argument_note": JSON_NOTE,
                "output": True,
                "output_mode": "validation",
                "wrapper_description": WRAPPER,
            },
        ),
        ((2, 10, 6), {"output_mode": "serialization"}),
        ((2, 11), {"text_annotations": True, "loses_keyword_defaults": True, "meta_key": "_fastmcp"}),
        ((2, 12, 4), {"prunes_titles": "keywords"}),
        ((2, 13, 1), {"properties_are_objects": True}),
        ((2, 14), {"prunes_prompt_titles": True}),
        ((2, 14, 2), {"root_inlined": True}),
        ((2, 14, 4), {"dereferences": "made", "discriminators": "mapping"}),
    ),
    "fastmcp3": (
        (
            (3, 0),
            {
                **SCHEMAS_LATER,
                "wrapper_description": WRAPPER,
                "loses_keyword_defaults": True,
                "prunes_titles": "keywords",
                "argument_note": JSON_NOTE,
            },
        ),
        ((3, 2), {"opaque_subclasses": True, "discriminators": "removed", "loses_keyword_defaults": False}),
        (
            (3, 2, 4),
            {
                "opaque_bytes": True,
                "docstrings": "parameters",
                "empty_descriptions": True,
                "prunes_titles": "schemas",
                "wrapper_description": "",
            },
        ),
        ((3, 4, 3), {"output_aliases": "outer", "discriminators": "required"}),
    ),
    "fastmcp4": (
        (
            (4, 0),
            {
                **SCHEMAS_LATER,
                "docstrings": "section",
                "empty_descriptions": True,
                "author_titles": True,
                "prunes_titles": "schemas",
                "discriminators": "required",
                "opaque_call_results": True,
                "opaque_subclasses": True,
                "opaque_bytes": True,
                "opaque_bare_lists": True,
                "output_aliases": "each",
                "sorted_fields": True,
                "titles_from_names": True,
                "argument_note": VALUE_NOTE,
            },
        ),
        ((4, 2), {"argument_titles": True}),
    ),
}
"""The changes of each generation, from its oldest version to its latest."""


@lru_cache
def rules(generation: Generation) -> SchemaRules:
    """Return the rules of a generation's version."""
    return SchemaRules(**changed(SCHEMA_ROWS[generation.name], generation))
