"""The embedded server: uvicorn, without settings from the environment or trust in proxy headers.

The first signal to stop closes the listening socket and lets the application end its streams and calls; the second one
stops at once, whatever runs.  Nothing waits for standard error.

No request is lost by a stop: what has connected is accepted before the socket is closed, and connections without a
request stay open for a moment, since a proxy may be sending one there.  After that, connections are refused, and a
proxy takes another replica.

Make the second signal end the process, whatever runs in it, by the operating system and without Python.

A Python signal handler cannot run while something holds the interpreter's lock, such as a regular expression or a
foreign function.  So the handler of the first signal is installed with SA_RESETHAND: when the signal arrives, the
system restores the default action, which ends the process when the signal arrives again.  The supervisor is another
process; it ends all that is left.
"""

from __future__ import annotations

import _ctypes
import asyncio
import contextlib
import gc
import logging
import os
import signal
import socket
import sys
from collections.abc import Iterable, Iterator
from traceback import format_exception
from types import FrameType
from typing import Any

from uvicorn.config import Config
from uvicorn.server import Server, ServerState

from mcpc_runtime.http.embedded.connection import Connection
from mcpc_runtime.http.interfaces import ServedApplication
from mcpc_runtime.http.server_log import stamp_lines
from mcpc_runtime.http.settings import HttpSettings, most_connections
from mcpc_runtime.log import log_line
from mcpc_runtime.transports.platforms import system, system_features
from mcpc_runtime.transports.platforms.allocation import return_large_blocks

BURST = 16
"""Connections that are accepted in one turn of the loop; one that is refused is closed three turns later."""
BACKLOG = 2048
CHECK_EVERY = 5
"""Ticks between two checks of every connection's limits: half a second."""
FLUSH_SECONDS = 2.0
DRAIN_SECONDS = 1.0
"""How long connections without a request stay open when the server stops; a proxy should close them earlier."""
KEEPALIVE_AFTER, KEEPALIVE_EVERY, KEEPALIVE_PROBES = 30, 10, 3
"""TCP keep-alive: idle seconds before the first probe, seconds between two probes, and the number of probes."""
STARTED_WRONG, SUCCESS = 1, 0
SIGNALS = (signal.SIGINT, signal.SIGTERM)
RELOADS: int | None = getattr(signal, "SIGHUP", None)
"""The signal to read tokens again, on systems that have it."""


class StderrHandler(logging.Handler):
    """Writes the errors that uvicorn and asyncio log to the operator's log, with their tracebacks."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record."""
        problem = record.exc_info[1] if record.exc_info else None
        if isinstance(problem, asyncio.CancelledError):  # of the second signal
            return
        text = record.getMessage().strip()
        if problem is not None:
            text += f": {type(problem).__name__}: {problem}\n" + "".join(format_exception(problem)).rstrip()
        log_line(text)


class HttpServer(Server):
    """One listening socket, and the application behind it."""

    def __init__(self, application: ServedApplication, settings: HttpSettings) -> None:
        self._settings = settings
        self._application = application
        config = Config(
            application,
            loop="asyncio",
            http=self._connection,  # type: ignore[arg-type]
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            interface="asgi3",
            workers=1,
            proxy_headers=False,
            forwarded_allow_ips=[],
            server_header=False,
            # asyncio accepts up to this number in one turn; `startup` sets the length of the system's queue.
            backlog=BURST,
            timeout_graceful_shutdown=1,
        )
        config.load()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_stopping = False
        super().__init__(config)

    def _connection(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, object],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> Connection:
        """Return the protocol of a new connection."""
        connection = Connection(self._settings, config, server_state, app_state, _loop or asyncio.get_running_loop())
        if self._is_stopping:
            connection.close_after_answer()
        return connection

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and log the address."""
        await super().startup(sockets)
        self._loop = asyncio.get_running_loop()
        for listening in sockets or ():
            listening.listen(BACKLOG)
            others = [path for path in self._application.paths if path != self._settings.path]
            log_line(f"serving {address(listening, self._settings)}{' and ' * bool(others)}{', '.join(others)}")
            if self._settings.has_page:
                log_line(f"the page for people is {address(listening, self._settings, '/ui/')}")
        stamp_lines(os.environ)  # from here on: programs parse the line above
        gc.collect()
        # Modules and definitions stay until the end: collections leave them out.
        gc.freeze()
        gc.enable()

    async def on_tick(self, counter: int) -> bool:
        """Check the limits of connections, twice a second."""
        if counter % CHECK_EVERY == 0:
            self._check_connections()
        return await super().on_tick(counter)

    def _check_connections(self) -> None:
        now = asyncio.get_running_loop().time()
        for connection in list(self.server_state.connections):
            connection.check_limits(now)  # type: ignore[union-attr]

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close the listening socket, end the requests, and close the connections."""
        log_line(self._application.stopping())
        await self._stop_listening(sockets or ())
        if not self.force_exit:
            await self._drain()
            self._end_connections()
            await self._graceful()
        for connection in list(self.server_state.connections):
            connection.abort()  # type: ignore[union-attr]
        log_line("stopped")

    async def _stop_listening(self, sockets: Iterable[socket.socket]) -> None:
        """Accept what has connected already, and refuse those that come after that."""
        self._is_stopping = True
        for connection in self.server_state.connections:
            connection.close_after_answer()  # type: ignore[union-attr]
        # Duplicates keep the queue of connections when the server closes its own descriptors.
        waiting = [listening.dup() for listening in sockets]
        for server in self.servers:
            server.close()
        connected = [each for listening in waiting for each in accept_waiting(listening)]
        for each in connected:
            await asyncio.get_running_loop().connect_accepted_socket(
                lambda: self._connection(self.config, self.server_state, self.lifespan.state), each
            )

    async def _drain(self) -> None:
        """Answer what is sent on connections that have no request, each once, before they are closed."""
        loop = asyncio.get_running_loop()
        until = loop.time() + min(DRAIN_SECONDS, self._settings.grace_seconds)
        while not self.force_exit and loop.time() < until:
            await asyncio.sleep(0.02)  # what was accepted last becomes a connection
            if all(connection.is_answering for connection in self.server_state.connections):  # type: ignore[union-attr]
                break

    async def _graceful(self) -> None:
        ending = asyncio.ensure_future(self._application.shutdown())
        while not ending.done() and not self.force_exit:
            await asyncio.wait([ending], timeout=0.1)
            self._check_connections()
        ending.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await ending
        self._end_connections()
        until = asyncio.get_running_loop().time() + FLUSH_SECONDS
        while self.server_state.connections and not self.force_exit and asyncio.get_running_loop().time() < until:
            await asyncio.sleep(0.02)
        if not self.force_exit:
            await self.lifespan.shutdown()

    def _end_connections(self) -> None:
        for connection in list(self.server_state.connections):
            connection.shutdown()

    def handle_reload(self, _sig: int, _frame: FrameType | None) -> None:
        """Read the tokens again; before the server listens they have just been read."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._application.reload)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle the signals to stop, and the one to read tokens again."""
        if RELOADS is not None:
            signal.signal(RELOADS, self.handle_reload)
        before = {number: signal.signal(number, self.handle_exit) for number in SIGNALS}
        end_at_second(SIGNALS)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop; at once at the second signal."""
        self.force_exit = self.should_exit
        self.should_exit = True
        self._captured_signals.append(sig)

    @property
    def status(self) -> int:
        """The exit status: that of the signal if calls were not allowed to end."""
        return 128 + self._captured_signals[-1] if self.force_exit else SUCCESS


def run(application: ServedApplication, settings: HttpSettings) -> int:
    """Serve until a signal; return the exit status."""
    handler = StderrHandler(logging.ERROR)
    for name in ("uvicorn", "asyncio"):
        logging.getLogger(name).addHandler(handler)
        logging.getLogger(name).propagate = False
        logging.getLogger(name).setLevel(logging.ERROR)
    return_large_blocks()
    listening = listen(settings)
    server = HttpServer(application, settings.but(max_connections=most_connections(settings)))
    asyncio.run(server.serve([listening]))
    return server.status


def listen(settings: HttpSettings) -> socket.socket:
    """Return the listening socket; raise OSError."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    # SO_REUSEADDR lets a restarted server listen at once; on Windows it would let another program listen, too.
    listening.setsockopt(socket.SOL_SOCKET, getattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_REUSEADDR), 1)
    # Accepted connections inherit these: a client that has vanished is noticed even if nothing is sent to it.
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (
        ("TCP_KEEPIDLE", KEEPALIVE_AFTER),
        ("TCP_KEEPINTVL", KEEPALIVE_EVERY),
        ("TCP_KEEPCNT", KEEPALIVE_PROBES),
        ("TCP_USER_TIMEOUT", int(settings.vanished_seconds * 1000)),
    ):
        if hasattr(socket, option):
            with contextlib.suppress(OSError):  # an older system refuses one that its library knows
                listening.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
    try:
        listening.bind((settings.host, settings.port))
        listening.listen(BACKLOG)
    except OSError:
        listening.close()
        raise
    return listening


def accept_waiting(listening: socket.socket) -> list[socket.socket]:
    """Return the connections that wait to be accepted, and close the listening socket."""
    accepted: list[socket.socket] = []
    listening.setblocking(False)
    with listening, contextlib.suppress(OSError):  # there are no more, or no more descriptors
        while True:
            accepted.append(listening.accept()[0])
    return accepted


def address(listening: socket.socket, settings: HttpSettings, path: str = "") -> str:
    """Return the URL of the endpoint, or of another path."""
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}{path or settings.path}"


RESET_HANDLER, ON_STACK = 0x80000000, 0x08000000
LAYOUTS = {
    "linux x86_64": (136, RESET_HANDLER, ON_STACK),
    "linux aarch64": (136, RESET_HANDLER, ON_STACK),
    "linux riscv64": (136, RESET_HANDLER, ON_STACK),
    "darwin x86_64": (12, 4, 1),
    "darwin arm64": (12, 4, 1),
}
"""By system and processor: the offset of the flags in `struct sigaction`, SA_RESETHAND, and SA_ONSTACK."""
SIZE = 256
FLAGS_SIZE = 4


def end_at_second(numbers: Iterable[int]) -> bool:
    """Make these signals, whose handlers are installed, end the process when they arrive again.

    Return False where that is impossible: on a system that is not in the table, without `_ctypes`, and in the first
    process of a container, which the default action of a signal does not end.
    """
    if not any(row.startswith(f"{sys.platform} ") for row in LAYOUTS):
        return False
    layout = LAYOUTS.get(f"{sys.platform} {system.uname().machine}")
    if layout is None or system.getpid() == 1:
        return False
    try:
        actions = SignalActions()
    except (ImportError, OSError):
        return False
    return all(actions.set_reset_flag(number, *layout) for number in numbers)


class SignalActions:
    """The function `sigaction` of the C library; `_ctypes` alone costs a fifth of `ctypes`; ImportError without it."""

    def __init__(self) -> None:
        self._address = system_features.address_of("sigaction")
        byte = type("Byte", (_ctypes._SimpleCData,), {"_type_": "B"})
        self._action: Any = (byte * SIZE)()  # type: ignore[operator]

    def set_reset_flag(self, number: int, offset: int, reset: int, on_stack: int) -> bool:
        """Set SA_RESETHAND for one signal; False if the structure has another layout than the table."""
        if system_features.call(self._address, (number, None, self._action)) != 0:
            return False
        view = memoryview(self._action).cast("B")[offset : offset + FLAGS_SIZE]
        flags = int.from_bytes(view, sys.byteorder)
        # Python sets SA_ONSTACK in its handlers: without it, the flags are not at this offset.
        if not flags & on_stack:
            return False
        view[:] = (flags | reset).to_bytes(FLAGS_SIZE, sys.byteorder)
        return system_features.call(self._address, (number, self._action, None)) == 0
