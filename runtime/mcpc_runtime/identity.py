"""By what servers know that they are the same, wherever they run: their name."""

from __future__ import annotations

from mcpc_runtime.protocol.facts import SERVER_INFO_KEY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mcpc_runtime.image import Image


def server_name(image: Image) -> str:
    """Return the name of a server."""
    info: Any = image.result_meta[SERVER_INFO_KEY]
    return str(info["name"])
