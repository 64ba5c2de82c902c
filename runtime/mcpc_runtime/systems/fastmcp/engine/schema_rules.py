"""What each framework's version does when it makes the schemas of its lists, as data.

A row holds what a version changed; a generation's rules are all rows up to its version, one over the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from mcpc_runtime.systems.fastmcp.generation import Generation, Version


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

ROWS: dict[str, tuple[tuple[Version, Mapping[str, object]], ...]] = {
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
                "output": True,
                "wrapper_description": WRAPPER,
                "text_annotations": True,
                "loses_keyword_defaults": True,
                "keeps_additional_properties": True,
                "prunes_titles": "keywords",
                "prunes_prompt_titles": True,
                "properties_are_objects": True,
                "root_inlined": True,
                "dereferences": "listed",
                "meta_key": "fastmcp",
                "text_names": ("Literal",),
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
                "output": True,
                "text_annotations": True,
                "docstrings": "section",
                "empty_descriptions": True,
                "author_titles": True,
                "keeps_additional_properties": True,
                "prunes_titles": "schemas",
                "prunes_prompt_titles": True,
                "properties_are_objects": True,
                "root_inlined": True,
                "dereferences": "listed",
                "discriminators": "required",
                "opaque_call_results": True,
                "opaque_subclasses": True,
                "opaque_bytes": True,
                "opaque_bare_lists": True,
                "output_aliases": "each",
                "sorted_fields": True,
                "meta_key": "fastmcp",
                "text_names": ("Literal",),
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
    found = SchemaRules()
    for version, changes in ROWS[generation.name]:
        if generation.version >= version:
            found = replace(found, **changes)  # type: ignore[arg-type]
    return found
