"""Virtual servers: several servers in one built file, each at its path."""

from __future__ import annotations

import marshal

from mcpc_runtime.artifact.image.image import Image


def virtual_servers(image: Image) -> dict[str, Image]:
    """Return the servers by their paths."""
    ranges = image.index["virtual_servers"]
    return {path: image.with_index(marshal.loads(image.read(*item))) for path, item in ranges.items()}
