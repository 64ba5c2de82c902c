"""Virtual servers: parts of one file that are served as separate servers, each at its path."""

from __future__ import annotations

import marshal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.image.image import Image


def virtual_servers(image: Image) -> dict[str, Image]:
    """Return the servers by their paths."""
    places = image.index["virtual_servers"]
    return {path: image.with_index(marshal.loads(image.read(*place))) for path, place in places.items()}
