"""What the frameworks' versions do differently when they are called, as data.

A row holds what a version changed; a generation's behaviour is all rows up to its version, one over the other.  How the
lists differ is in `schema_rules.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

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
    """The text of an exception that is not a ToolError."""
    masked_tool_error: str = "Error calling tool {name!r}"
    """The same where details are masked."""
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
    masked_resource_error: str = "Error reading resource {uri!r}"
    template_error: str = "Error reading resource {uri!r}: {error}"
    masked_template_error: str = "Error reading resource {uri!r}"
    resource_error_code: int = 0
    template_types: bool = False
    """What a project's own template reads has the template's media type."""
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
    masked_prompt_error: str = "Error rendering prompt {name!r}"
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
    prefixes_renamed_tools: bool = False
    """The other names of a mounted server's tools have the prefix, too."""
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


ROWS: dict[str, tuple[tuple[Version, Mapping[str, object]], ...]] = {
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
                "masked_template_error": "Error reading resource from template {uri!r}",
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
                "plain_validation_errors": True,
                "unknown_tool": "Unknown tool: {name!r}",
                "unknown_prompt": "Unknown prompt: {name!r}",
                "whole_keys": True,
                "versioned": True,
                "prefixes_renamed_tools": True,
                "duplicate": "Component already exists: {key}",
                "gives_none": True,
                "unread_resource": "Resource not found: Unknown resource: {uri!r}",
                "unknown_resource_code": -32002,
                "inner_contexts": True,
                "sampling_results": True,
                "synchronous_in_threads": True,
                "mounted_first": False,
                "state_is_asynchronous": True,
                "raised_prompt_error": "Error rendering prompt {name}.",
                "prompts_are_strict": True,
                "resources_are_strict": True,
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
                "names_partials": True,
                "unknown_tool": "Unknown tool: {name!r}",
                "unknown_prompt": "Unknown prompt: {name!r}",
                "whole_keys": True,
                "versioned": True,
                "prefixes_renamed_tools": True,
                "duplicate": "Component already exists: {key}",
                "gives_none": True,
                "unknown_prompt_code": -32602,
                "prompt_error_code": -32603,
                "raised_errors": True,
                "template_types": True,
                "unread_resource": "Resource not found: {uri!r}",
                "unknown_resource_code": -32602,
                "unknown_resource_has_data": True,
                "resource_error_code": -32603,
                "converts_strictly": True,
                "conversion_errors": True,
                "json_last": True,
                "inner_contexts": True,
                "sampling_results": True,
                "asks_for_nothing": False,
                "image_formats": True,
                "names_by_format": True,
                "titled_scalars": False,
                "wrap_meta": True,
                "text_of_structured": True,
                "aliases": "own",
                "whole_results": True,
                "synchronous_in_threads": True,
                "reads_generators": True,
                "mounted_first": False,
                "state_is_asynchronous": True,
                "opaque_bytes": True,
                "prompts_are_strict": True,
                "resources_are_strict": True,
                "path_security": True,
            },
        ),
        ((4, 2), {"missing_arguments_code": -32602, "typed_choices": True}),
    ),
}
"""The changes of each generation, from its oldest version to its latest."""


@lru_cache
def behaviour_of(generation: Generation) -> Behaviour:
    """Return the behaviour of a generation's version."""
    found = Behaviour()
    for version, changes in ROWS[generation.name]:
        if generation.version >= version:
            found = replace(found, **changes)  # type: ignore[arg-type]
    return found


def behaviour() -> Behaviour:
    """Return the behaviour of the selected generation."""
    return behaviour_of(selected())
