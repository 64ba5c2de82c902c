"""Where a built server begins: no words serve standard input and output, any word is for the console."""

from __future__ import annotations

import posix

from mcpc_runtime.engine import Engine
from mcpc_runtime.image import open_image
from mcpc_runtime.lazy import lazy
from mcpc_runtime.protocol.facts import MAX_MESSAGE_BYTES
from mcpc_runtime.protocol.session import Session
from mcpc_runtime.transports.stdio import Channel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from mcpc_runtime.console import greet, run
    from mcpc_runtime.image import Image
    from mcpc_runtime.mcp_bash.starting import start
else:
    greet = lazy("mcpc_runtime.console:greet")
    run = lazy("mcpc_runtime.console:run")
    start = lazy("mcpc_runtime.mcp_bash.starting:start")

MCP_BASH = "mcp_bash"


def main(archive: str, words: list[str], loader: Any, index: dict[str, Any]) -> NoReturn:
    """Run the server in `archive`; leave without the interpreter's own farewell, which costs a quarter of its life."""
    image = open_image(loader, index)
    if words:
        status = run(image, archive, words)
    else:
        if posix.isatty(0):
            greet(image, archive)
        status = serve(image)
    posix._exit(status)


def serve(image: Image) -> int:
    """Serve standard input and output to its end; return the exit status, which after Ctrl-C is the shell's own 130."""
    try:
        if MCP_BASH in image.index:
            start(image)
        engine = Engine(image, Session(image), Channel(MAX_MESSAGE_BYTES), MAX_MESSAGE_BYTES)
        engine.leave = posix._exit
        engine.run()
    except KeyboardInterrupt:
        return 130
    return engine.status
