"""Render templates to source text; every value in them goes through `literal`."""

from __future__ import annotations

from pathlib import Path

import jinja2

from mcpc.schema.code import literal

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


def render(name: str, **values: object) -> bytes:
    """Return a template with its values filled in, each as a literal; a missing value is an error."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(template_folder()),
        undefined=jinja2.StrictUndefined,
        finalize=literal,
        keep_trailing_newline=True,
        autoescape=False,  # the output is Python, which `finalize` escapes
    )
    return environment.get_template(name).render(values).encode()
