"""Descriptions that clients cut: what comes after 2 KB, a model may not see, and a person does not read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.release.scan.model import Hit, Role

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.release.scan.model import Text

MAX_BYTES = 2048


def find_long_descriptions(text: Text) -> Iterator[Hit]:
    """Yield a description or instructions of more than 2 KB."""
    if text.role is Role.PROSE and text.field in ("description", "instructions"):
        size = len(text.text.encode("utf-8", "replace"))
        if size > MAX_BYTES:
            yield Hit("SCAN608", text, detail=f"{size:,} bytes")
