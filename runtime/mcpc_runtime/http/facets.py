"""Servers of their own that one file has besides the whole, each by the path of its endpoint."""

from __future__ import annotations

import marshal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.image import Image


def facets(image: Image) -> dict[str, Image]:
    """Return the servers by their paths."""
    places = image.index["facets"]
    return {path: image.with_index(marshal.loads(image.read(*place))) for path, place in places.items()}
