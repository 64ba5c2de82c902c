"""The completion of completions.json in Python."""

from __future__ import annotations


def template_data_id(value: str) -> list[str]:
    """Return the ids that begin with what was typed."""
    return [item for item in ("100", "101", "123", "200") if item.startswith(value)]
