"""The template of resources.json in Python."""

from __future__ import annotations

import json


def template_data(id: str) -> str:
    """Return the data of an id."""
    return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"}, separators=(",", ":"))
