"""Render templates to source text; every value in them is written in the language of the text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2

from mcpc.schema.code import literal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

TEMPLATE_FOLDERS = (Path(__file__).parents[1] / "templates", Path(__file__).parents[3] / "templates")
"""In an installed package, and in a checkout."""
PRELUDE = "mcbox.bash"
"""The functions available to every Bash library."""


def template_folder() -> Path:
    """Return the folder of templates."""
    return next(place for place in TEMPLATE_FOLDERS if place.is_dir())


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
