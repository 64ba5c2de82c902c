"""The operating system as the runtime sees it: one module a port, implemented by the adapter of this platform.

Other packages import the ports, never an adapter.  `system` has the low-level calls: on POSIX systems it is the module
`posix` itself, so that nothing is looked up twice.  Another platform is another folder here, and its row in PLATFORMS.
"""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["ADAPTER", "LINE_END", "PIPE_CAPACITY", "bind_port", "system"]

POSIX = ("mcpc_runtime.transports.platforms.posix", "posix", 1 << 16, "\n")
PLATFORMS = {
    "win32": (
        "mcpc_runtime.transports.platforms.windows",
        "mcpc_runtime.transports.platforms.windows.system",
        1 << 12,
        "\r\n",
    )
}
"""Of each system that is not POSIX: the package of its adapter, the module of its calls, the bytes that a new pipe
holds, and the end of a line as programs write it."""

ADAPTER, SYSTEM, PIPE_CAPACITY, LINE_END = PLATFORMS.get(sys.platform, POSIX)
if TYPE_CHECKING:
    import posix as system
else:
    system = __import__(SYSTEM, fromlist=["read"])


def bind_port(port: "dict[str, Any]", adapter: str) -> None:
    """Give a port the objects that it publishes (`__all__`), from a module of the adapter."""
    module = __import__(adapter, fromlist=["__name__"])
    for published in port["__all__"]:
        if published not in port:
            port[published] = getattr(module, published)
