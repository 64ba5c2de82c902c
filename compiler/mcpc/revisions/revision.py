"""What a protocol revision is to a compiler: which messages it has, and what its wire may show.

A field that no revision knows passes on every wire untouched; one that some revision knows is shown by those that do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Structured = Literal["none", "objects", "any"]


@dataclass(frozen=True, slots=True)
class Revision:
    """One dated revision.  Fields are those its own schema names; `stateless` tells its era."""

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
