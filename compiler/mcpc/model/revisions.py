"""The protocol revisions that a server is compiled for, oldest first, in tables that compare them.

A field that no revision defines is shown unchanged in all of them; a field that some revisions define is shown in those
only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

Structured = Literal["none", "objects", "any"]


@dataclass(frozen=True, slots=True)
class Revision:
    """One dated revision; fields have the names of its schema, `stateless` is its era."""

    version: str
    stateless: bool
    batches: bool
    structured: Structured
    content: tuple[str, ...]
    tool: tuple[str, ...]
    prompt: tuple[str, ...]
    prompt_argument: tuple[str, ...]
    resource: tuple[str, ...]
    resource_template: tuple[str, ...]
    implementation: tuple[str, ...]
    boolean_properties: bool = False
    progress_message: bool = False
    any_output_schema: bool = False
    declares_completions: bool = False


VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")
# A column for each of them, in the same order; 2026-07-28 has no handshake, and every result has its type.
NO, YES = False, True
STATELESS = (NO, NO, NO, NO, YES)
BATCHES = (YES, YES, NO, NO, NO)
STRUCTURED: tuple[Structured, ...] = ("none", "none", "objects", "objects", "any")
PROGRESS_MESSAGE = (NO, YES, YES, YES, YES)
DECLARES_COMPLETIONS = (NO, YES, YES, YES, YES)
BOOLEAN_PROPERTIES = (NO, NO, NO, NO, YES)
ANY_OUTPUT_SCHEMA = (NO, NO, NO, NO, YES)

Additions = dict[str, tuple[str, ...]]
"""The fields, or kinds of content, that each revision adds to those of the one before."""
CONTENT: Additions = {
    "2024-11-05": ("text", "image", "resource"),
    "2025-03-26": ("audio",),
    "2025-06-18": ("resource_link",),
}
TOOL: Additions = {
    "2024-11-05": ("name", "description", "inputSchema"),
    "2025-03-26": ("annotations",),
    "2025-06-18": ("title", "outputSchema", "_meta"),
    "2025-11-25": ("icons",),
}
PROMPT: Additions = {
    "2024-11-05": ("name", "description", "arguments"),
    "2025-06-18": ("title", "_meta"),
    "2025-11-25": ("icons",),
}
PROMPT_ARGUMENT: Additions = {
    "2024-11-05": ("name", "description", "required"),
    "2025-06-18": ("title",),
}
RESOURCE: Additions = {
    "2024-11-05": ("uri", "name", "description", "mimeType", "annotations", "size"),
    "2025-06-18": ("title", "_meta"),
    "2025-11-25": ("icons",),
}
RESOURCE_TEMPLATE: Additions = {
    "2024-11-05": ("uriTemplate", "name", "description", "mimeType", "annotations"),
    "2025-06-18": ("title", "_meta"),
    "2025-11-25": ("icons",),
}
IMPLEMENTATION: Additions = {
    "2024-11-05": ("name", "version"),
    "2025-06-18": ("title",),
    "2025-11-25": ("icons", "description", "websiteUrl"),
}


def _until(additions: Mapping[str, tuple[str, ...]], version: str) -> tuple[str, ...]:
    # Dates in this form sort as texts.
    return tuple(field for since, fields in additions.items() if since <= version for field in fields)


def _revision(column: int) -> Revision:
    version = VERSIONS[column]
    return Revision(
        version=version,
        stateless=STATELESS[column],
        batches=BATCHES[column],
        structured=STRUCTURED[column],
        content=_until(CONTENT, version),
        tool=_until(TOOL, version),
        prompt=_until(PROMPT, version),
        prompt_argument=_until(PROMPT_ARGUMENT, version),
        resource=_until(RESOURCE, version),
        resource_template=_until(RESOURCE_TEMPLATE, version),
        implementation=_until(IMPLEMENTATION, version),
        boolean_properties=BOOLEAN_PROPERTIES[column],
        progress_message=PROGRESS_MESSAGE[column],
        any_output_schema=ANY_OUTPUT_SCHEMA[column],
        declares_completions=DECLARES_COMPLETIONS[column],
    )


REVISIONS: tuple[Revision, ...] = tuple(map(_revision, range(len(VERSIONS))))
