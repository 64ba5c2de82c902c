"""Templates rendered to source text, and files of the archive as emitters return them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jinja2

from mcpc.reading.tree import template_folder
from mcpc.schema.code import literal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(frozen=True, slots=True)
class ArtifactFile:
    """One entry: its name in the archive, its bytes, and whether it is Python with bytecode beside its source."""

    name: str
    data: bytes
    python: bool = False


PRELUDE = "mcbox.bash"
"""The functions available to every Bash library."""


def template_text(name: str) -> bytes:
    """Return a template file without placeholders."""
    return (template_folder() / name).read_bytes()


def render(
    name: str,
    /,
    finalize: Callable[[Any], str] = literal,
    filters: Mapping[str, Callable[..., str]] | None = None,
    **values: object,
) -> bytes:
    """Return a template with its values filled in, each written by `finalize`; a missing value is an error."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(template_folder()),
        undefined=jinja2.StrictUndefined,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # `finalize` escapes values
    )
    environment.filters.update(filters or {})
    return environment.get_template(name).render(values).encode()
