"""Pages that templates make: our own, each whole in one file, so that a host needs nothing from anywhere.

What a project configures is data in the page, never markup and never code: the page's script writes it as text.
"""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpc.reading import Json

PAGES = {
    "form": "Form",
    "data-table": "Data",
    "progress": "Progress",
    "diff-viewer": "Differences",
    "tree-view": "Tree",
    "kanban": "Board",
}
"""The templates, each with the title of a page that says none."""
HERE = Path(__file__).parent


def page(template: str, config: Mapping[str, Json]) -> str:
    """Return the page of a template."""
    title = config.get("title")
    shown = title if isinstance(title, str) and title else PAGES[template]
    data = json.dumps({**config, "title": shown}, ensure_ascii=True).replace("<", "\\u003c")
    parts = {
        "title": escape(shown),
        "style": _file("page.css"),
        "config": data,
        "script": _file("bridge.js") + _file(f"{template}.js"),
    }
    pieces = _file("page.html").split("@@")
    return "".join(parts[piece] if number % 2 else piece for number, piece in enumerate(pieces))


def _file(name: str) -> str:
    return (HERE / name).read_text("utf-8")
