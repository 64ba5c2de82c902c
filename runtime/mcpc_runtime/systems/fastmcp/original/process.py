"""Main program of the process with the original framework: it runs the project's program, which serves MCP over pipes.

It ends when its standard input ends, as servers over pipes do; the worker closes that.
"""

from __future__ import annotations

import asyncio
import builtins
import json
import signal
import sys
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from inspect import isawaitable, signature
from typing import Any

from mcpc_runtime.handlers.python.children import prepare_children
from mcpc_runtime.handlers.python.execution import activate_packages
from mcpc_runtime.systems.fastmcp.interfaces import Object
from mcpc_runtime.systems.fastmcp.program import (
    EXITS,
    STARTS,
    Entry,
    NoServerError,
    SeveralServersError,
    awaited,
    exit_with,
)

LOW_LEVEL = "mcp.server.lowlevel:Server"
STDIO, STDIO_SERVER = "mcp.server.stdio", "stdio_server"
"""The transport over pipes, which programs with a low-level server enter themselves."""
HIGH_LEVEL = {
    "fastmcp2": "fastmcp:FastMCP",
    "fastmcp3": "fastmcp:FastMCP",
    "fastmcp4": "fastmcp:FastMCP",
    "sdk1": "mcp.server.fastmcp:FastMCP",
    "sdk2": "mcp.server.mcpserver:MCPServer",
}
"""The class of high-level servers of each generation."""
SERVING = ("run_async", "run_http_async", "run_sse_async", "run_streamable_http_async")
"""Methods of high-level servers that serve until they are cancelled."""
SERVER_NAMES = ("mcp", "server", "app")
"""Names of a module's server, of which the frameworks' own commands take the first."""
RESPONDER = "mcp.shared.session:RequestResponder"
"""The class that answers a request and cancels it; the official SDK has it up to version 1."""
WEB_SERVER, WEB_SERVER_CLASS = "uvicorn", "Server"


class AdoptedServers:
    """The servers that a program makes, and how it serves one.  `has_ended`: it ended without serving any."""

    def __init__(self, generation: str) -> None:
        self.high: list[object] = []
        self.low: list[object] = []
        self.has_served = False
        self.has_ended = False
        kind = class_of(HIGH_LEVEL[generation])
        record(kind, self.made_high)
        record(class_of(LOW_LEVEL), self.made_low)
        keep_answers()
        self._kind = kind
        self._serve_over_pipes(kind)
        self._note_own_serving()

    def made_high(self, server: object, lifespan: object) -> None:
        """Record a high-level server, and the lifespan that it was given."""
        self.high.append(server)

    def made_low(self, server: object, lifespan: object) -> None:
        """Record a low-level server; high-level ones contain one, too."""
        self.low.append(server)

    def _serve_over_pipes(self, kind: Any) -> None:
        """Replace the methods that serve; what they are given says how to serve over HTTP, and is ignored."""

        async def serve(server: object, *_: object, **__: object) -> None:
            await self.serve(server)

        def run(server: object, *_: object, **__: object) -> None:
            asyncio.run(self.serve(server))

        self._stdio = kind.run_stdio_async
        kind.run, kind.run_stdio_async = run, serve
        for name in SERVING:
            if hasattr(kind, name):
                setattr(kind, name, serve)

    def _note_own_serving(self) -> None:
        """Note that the program serves when it enters the transport over pipes."""
        module = import_module(STDIO)
        self._transport = enter = getattr(module, STDIO_SERVER)

        def stdio_server(*arguments: object, **named: object) -> object:
            self.begin(None)
            return enter(*arguments, **named)

        # Before the project is imported: a `from … import` of its own gets this one, too.
        setattr(module, STDIO_SERVER, stdio_server)

    def begin(self, server: object) -> None:
        """Note that the program serves a server, None if it is not known which one."""
        self.has_served = True

    def adopt_web_server(self) -> None:
        """Let the web server that the project imports serve the program's one server over pipes."""
        web = import_module(WEB_SERVER)

        async def serve(*_: object, **__: object) -> None:
            await self.serve(self.only_server())

        def run(*_: object, **__: object) -> None:
            asyncio.run(self.serve(self.only_server()))

        kind = getattr(web, WEB_SERVER_CLASS)
        web.run, kind.serve, kind.run = run, serve, run  # type: ignore[attr-defined]

    async def serve(self, server: Any) -> None:
        """Serve a server over standard input and output, until the input ends."""
        self.begin(server)
        if isinstance(server, self._kind):
            has_banner = "show_banner" in signature(self._stdio).parameters
            await self._stdio(server, **({"show_banner": False} if has_banner else {}))
            return
        async with self._transport() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    def is_server(self, value: object) -> bool:
        """Tell whether a value is one of the program's servers."""
        return any(value is server for server in (*self.high, *self.low))

    def only_server(self, names: Object | None = None) -> object:
        """Return the one server that the program made; of several, the one with a usual name among `names`."""
        found = self.high or self.low
        if len(found) > 1:
            named = (names[name] for name in SERVER_NAMES if names and self.is_server(names.get(name)))
            server = next(named, None)
            if server is None:
                raise SeveralServersError([str(getattr(server, "name", "")) for server in found])
            return server
        if not found:
            raise NoServerError
        return found[0]


def class_of(row: str) -> Any:
    module, _, name = row.partition(":")
    return getattr(import_module(module), name)


def record(kind: Any, made: Callable[[object, object], None]) -> None:
    """Call `made` with each new instance of a class of servers, and the lifespan that it was given."""
    original = kind.__init__
    bind = signature(original).bind_partial

    @wraps(original)
    def initialise(self: object, *arguments: object, **named: object) -> None:
        original(self, *arguments, **named)
        made(self, bind(self, *arguments, **named).arguments.get("lifespan"))

    kind.__init__ = initialise


def keep_answers() -> None:
    """Ignore a cancellation of a request whose answer is being sent: it would end the whole server.

    In version 1 of the official SDK it goes through the task that sends the answer to the group of all requests.
    """
    try:
        kind = class_of(RESPONDER)
    except (ImportError, AttributeError):
        return
    original = kind.cancel

    async def cancel(responder: Any) -> None:
        if responder.in_flight:
            await original(responder)

    kind.cancel = cancel


def main(archive: str, row: str, folder: str) -> None:
    """Run the program of an entry (JSON), whose files are in `folder`, with the packages of a built file."""
    activate_packages(archive)
    signal.signal(signal.SIGTERM, leave_later)
    print_lines()
    entry: Entry = json.loads(row)
    prepare_children(archive, folder, entry["paths"])
    run_original(entry, folder, AdoptedServers(entry["generation"]))


def print_lines() -> None:
    """Let what the program prints be whole lines between messages: it is for the operator."""
    stdout: Any = sys.stdout
    stdout.reconfigure(line_buffering=True)


def leave_later(*_: object) -> None:
    """Ignore a signal: the input ends with the server, and then lifespans are left.  Not inherited by programs."""


def run_original(entry: Entry, folder: str, adopted: AdoptedServers) -> None:
    """Run an entry; serve what it made if it ends without serving, as the frameworks' commands do."""
    for name in EXITS:
        if not hasattr(builtins, name):
            setattr(builtins, name, sys.exit)
    if entry.get("web"):
        adopted.adopt_web_server()
    sys.path[:0] = [f"{folder}/{path}" if path else folder for path in entry["paths"]]
    found = STARTS[entry["kind"]](entry["target"], folder, entry["arguments"])
    if isawaitable(found):
        found = asyncio.run(awaited(found))
    if not adopted.has_served:
        exit_with(found)
        adopted.has_ended = True
        if found is not None and not adopted.is_server(found):
            getattr(found, "run", None)  # an object that stands for a server makes it when it is used
        names = vars(sys.modules["__main__"])
        asyncio.run(adopted.serve(found if adopted.is_server(found) else adopted.only_server(names)))
