"""Templates become source text here, and every value in them goes through `literal`."""

from __future__ import annotations

from pathlib import Path

import jinja2

from mcpc.schema.code import literal

PLACES = (Path(__file__).parents[1] / "templates", Path(__file__).parents[3] / "templates")
"""In an installed package, and in a checkout."""


def folder() -> Path:
    """Return the folder of templates."""
    return next(place for place in PLACES if place.is_dir())


def text(name: str) -> bytes:
    """Return a template file that has nothing to fill in."""
    return (folder() / name).read_bytes()


def render(name: str, **values: object) -> bytes:
    """Return a template with its values in place, each as a literal; a missing one is an error."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder()),
        undefined=jinja2.StrictUndefined,
        finalize=literal,
        keep_trailing_newline=True,
        autoescape=False,  # what comes out is Python, and `finalize` is its escaping
    )
    return environment.get_template(name).render(values).encode()
