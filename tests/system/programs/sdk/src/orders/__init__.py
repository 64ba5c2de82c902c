"""Orders, served with the official SDK: a package with a command, tools in another module, and a lifespan."""

import atexit
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path

from mcp.server.fastmcp import FastMCP

HERE = Path(__file__).parent


@asynccontextmanager
async def lifespan(server: FastMCP) -> AsyncIterator[dict[str, object]]:
    """Note when the server begins and ends."""
    print("lifespan begins", file=sys.stderr, flush=True)
    needed = os.environ.get("NEEDED_FILE")
    if needed:
        Path(needed).read_text()
    try:
        yield {"opened": [], "version": version("orders")}
    finally:
        left = os.environ.get("LEFT_FILE")
        if left:
            Path(left).write_text("left")
            atexit.register(lambda: Path(left).write_text(Path(left).read_text() + ", then ended"))


def create() -> FastMCP:
    """Return the server."""
    mcp = FastMCP("Orders", instructions="Keeps orders.", lifespan=lifespan)
    from .tools import register

    register(mcp)
    return mcp


def main() -> None:
    """Serve as the command does."""
    signal.signal(signal.SIGINT, lambda *_: sys.exit(1))
    create().run(transport="stdio")
