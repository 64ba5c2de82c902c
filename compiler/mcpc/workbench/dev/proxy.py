"""Proxy between one client and the current server: lines pass unchanged while builds replace each other.

    serving ──a build succeeds──▶ draining ──nothing is open──▶ closing ──it has ended──▶ serving, the new one
                                     └── the rest is answered with an error after GRACE_SECONDS

One thread makes all decisions, in the order of events; other threads move bytes, build and watch files. Once a new
build is ready, requests wait for it; all other messages still go to the current server.
"""

from __future__ import annotations

import os
import subprocess
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import partial
from queue import Empty, SimpleQueue
from typing import IO, TYPE_CHECKING

from mcpc.sandbox import programs
from mcpc.workbench.dev.conversation import (
    Conversation,
    changed_lists,
    error_response,
    extend_tool_list,
    id_key,
    params_of,
    parse_messages,
    reload_result,
    reload_tool,
    reload_tool_names,
)
from mcpc_runtime.protocol.constants import MAX_MESSAGE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path
    from typing import IO

    from mcpc.workbench.dev.building import BuildResult, ProjectBuilder
    from mcpc.workbench.dev.conversation import Message
    from mcpc.workbench.dev.http_server import ServerCommand
    from mcpc.workbench.dev.reporting import CallWatch, Reporter, Screen


MAX_LINE_LENGTH = 2 * MAX_MESSAGE_BYTES
"""More than a server accepts, so that the server still refuses a line that is cut here."""
GRACE_SECONDS = 5.0
"""How long running calls may continue once a new build is ready."""
STOP_SECONDS = 10.0
"""How long a server may take to end, including the end of its tools."""
REPLACED = "Internal error: a new build replaced the server that ran this call"
DIED = "Internal error: the server ended while it ran this call (status {status})"
ENDED = "mcpc dev: the server ended with status {status}; the next request starts it again"


def read_lines(stream: IO[bytes], limit: int = -1) -> Iterator[bytes]:
    """Yield the lines of a stream with their line ends; the rest of a line beyond the limit is dropped."""
    while line := stream.readline(limit):
        if not line.endswith(b"\n"):
            rest = line
            while rest and not rest.endswith(b"\n"):
                # In pieces of 1 MiB: a line of any length needs no more memory.
                rest = stream.readline(1 << 20)
            # A last line without an end gets one, too: its reader would wait for it.
            line += b"\n"
        yield line


class ServerProcess:
    """One server process; `receive` is called in another thread with each output line, and None at the end."""

    def __init__(
        self, start: ServerCommand, path: Path, receive: Callable[[ServerProcess, bytes | None], None]
    ) -> None:
        self._process = programs.start_program(
            "server", start.argv(path), cwd=start.folder, more=start.variables, stderr=None
        )
        self._receive = receive
        self._unsent: SimpleQueue[bytes | None] = SimpleQueue()
        for target in (self._read, self._write):
            threading.Thread(target=target, daemon=True).start()

    def send(self, line: bytes) -> None:
        self._unsent.put(line)

    def close(self) -> None:
        """Close the server's input: it ends in an orderly way."""
        self._unsent.put(None)

    def kill(self) -> None:
        """End it now, with all processes that it started."""
        self._process.kill()

    def end(self, seconds: float) -> None:
        """Ask it to end, and kill it after so many seconds."""
        programs.end_program(self._process, seconds)

    def status(self, seconds: float) -> int:
        """Wait for the exit status; a process that only closed its output is ended."""
        with suppress(subprocess.TimeoutExpired):
            return self._process.wait(seconds)
        self._process.kill()
        return self._process.wait()

    def _read(self) -> None:
        stream = self._process.stdout
        with suppress(OSError, ValueError):
            for line in read_lines(stream) if stream else ():
                self._receive(self, line)
        self._receive(self, None)

    def _write(self) -> None:
        """Write queued lines; writing stops when the server has ended."""
        stream = self._process.stdin
        with suppress(OSError, ValueError):
            while (line := self._unsent.get()) is not None and stream:
                stream.write(line)
                # Lines that wait together are written together.
                if self._unsent.empty():
                    stream.flush()
        with suppress(OSError, ValueError):
            if stream:
                stream.close()


class ProxyState(Enum):
    """The state of the current server."""

    SERVING = auto()
    DRAINING = auto()
    CLOSING = auto()
    LEAVING = auto()


@dataclass(frozen=True, slots=True)
class Messages:
    """Output to the user: reports of builds, lines of calls, and other messages."""

    reporter: Reporter
    calls: CallWatch
    screen: Screen


class Proxy:
    """One client, one project, and the sequence of its servers.

    `_current`: the current or next build; `_callers`: requests that wait for a build, by its progress: not started,
    running, finished and about to be served.
    """

    def __init__(self, builder: ProjectBuilder, start: ServerCommand, project: Path, messages: Messages) -> None:
        self._output = 1
        self.events: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self.conversation = Conversation()
        self.state = ProxyState.SERVING
        self.is_over = False
        self._builder, self._start, self._project, self._messages = builder, start, project, messages
        self._child: ServerProcess | None = None
        self._current: BuildResult | None = None
        self._next: BuildResult | None = None
        self._deadline: float | None = None
        self._held: list[bytes] = []
        self._callers: tuple[list[Message], ...] = ([], [], [])
        self._is_building = self._is_stale = self._has_left = False

    def run(self, first: BuildResult, output: int) -> None:
        """Serve until the client closes its input and has its answers, or stops reading."""
        self._current, self._output = first, output
        try:
            while not self.is_over:
                self._turn()
        finally:
            self._builder.close()
            if self._child is not None:
                # Only a server that still answers its last requests gets its full time; else no client waits for it.
                self._child.end(STOP_SECONDS if self.state is ProxyState.LEAVING else 2.0)

    def read(self, client: IO[bytes]) -> None:
        """Read the client's lines to the end, in a separate thread."""
        with suppress(OSError, ValueError):
            for line in read_lines(client, MAX_LINE_LENGTH):
                self.events.put(partial(self._receive, line))
        self.events.put(self._leave)

    def changed(self) -> None:
        """Request a build after a file change; callable from any thread."""
        self.events.put(self._build)

    def _turn(self) -> None:
        wait = None if self._deadline is None else self._deadline - time.monotonic()
        try:
            # A deadline that has passed comes first: events would put it off as long as there are some.
            event = self._end_wait if wait is not None and wait <= 0 else self.events.get(timeout=wait)
        except Empty:
            event = self._end_wait
        try:
            event()
        except BrokenPipeError:
            self.is_over = True

    def _write(self, *lines: bytes) -> None:
        """Write to the client unbuffered: buffered data would delay the end of this process."""
        for line in lines:
            view = memoryview(line)
            while view:
                # A pipe may take only a part of a line.
                view = view[os.write(self._output, view) :]

    def _receive(self, line: bytes) -> None:
        batch = parse_messages(line)
        if self._is_reload(batch):
            self._callers[0].append(batch[0])
            self._build()
        elif self._cancels_reload(batch):
            return
        elif self.state is not ProxyState.SERVING and self.conversation.must_wait(batch):
            self._held.append(line)
        else:
            self._forward(line, batch)

    def _forward(self, line: bytes, batch: Sequence[Message]) -> None:
        if self._child is None:
            self._begin()
        self.conversation.record_sent(batch)
        self._messages.calls.begin(batch)
        if self._child is not None:
            self._child.send(line)
        # The line may have cancelled the last open request.
        if self.state is ProxyState.DRAINING:
            self._close_if_drained()

    def _is_reload(self, batch: Sequence[Message]) -> bool:
        if len(batch) != 1 or batch[0].get("method") != "tools/call" or "id" not in batch[0] or self._current is None:
            return False
        return params_of(batch[0]).get("name") in reload_tool_names(self._current)

    def _cancels_reload(self, batch: Sequence[Message]) -> bool:
        """Remove a call that waits for a build and was cancelled."""
        if len(batch) != 1 or batch[0].get("method") != "notifications/cancelled":
            return False
        cancelled = id_key(params_of(batch[0]).get("requestId"))
        for callers in self._callers:
            for request in callers:
                if id_key(request["id"]) == cancelled:
                    callers.remove(request)
                    return True
        return False

    def _leave(self) -> None:
        """End when nothing is left to do: the server answers its open requests, and builds finish."""
        self._has_left = True
        # The switch of servers, or the end of the build, calls this again.
        if self.state is not ProxyState.SERVING or any(self._callers):
            return
        if self._child is None:
            self.is_over = True
            return
        self.state = ProxyState.LEAVING
        self._child.close()

    def _handle_server_line(self, child: ServerProcess, line: bytes | None) -> None:
        # The line was in the queue when its server was replaced.
        if child is not self._child:
            return
        if line is None:
            self._child_ended(child)
        elif self.state is not ProxyState.CLOSING:
            self._forward_to_client(line)

    def _forward_to_client(self, line: bytes) -> None:
        self._messages.calls.finish(line)
        is_for_client, is_list = self.conversation.record_received(line)
        if is_list and self._current is not None:
            line = extend_tool_list(line, self._current)
        if is_for_client:
            self._write(line)
        # The line may have answered the last open request.
        if self.state is ProxyState.DRAINING:
            self._close_if_drained()

    def _child_ended(self, child: ServerProcess) -> None:
        status = child.status(STOP_SECONDS)
        self._child = None
        if self.state is ProxyState.LEAVING:
            self.is_over = True
            return
        if self.state is not ProxyState.CLOSING:
            self._messages.screen.write(ENDED.format(status=status))
            self._refuse_open(DIED.format(status=status))
        if self.state is not ProxyState.SERVING:
            self._switch_servers()

    def _refuse_open(self, why: str) -> None:
        for identifier, request in self.conversation.open.items():
            self._messages.calls.end(identifier, "error")
            self._write(error_response(request["id"], why))
        self.conversation.open.clear()

    def _build(self) -> None:
        if self._is_building:
            # Files may have changed after the build has read them, so another one follows it.
            self._is_stale = True
            return
        self._is_building, self._is_stale = True, False
        waiting, under_way, _ = self._callers
        # Calls that come after the build has begun wait for the next one.
        under_way += waiting
        waiting.clear()
        # The build ends in another thread; what follows from it is decided in this one.
        self._builder.begin(lambda build: self.events.put(partial(self._built, build)))

    def _built(self, build: BuildResult) -> None:
        self._is_building = False
        _, under_way, _ = self._callers
        if build.path is None:
            self._messages.reporter.failed(build)
            self._write(*self.conversation.problem_notifications(build.output))
            self._answer(under_way, build)
        else:
            build = replace(build, summary=self._messages.reporter.rebuilt(self._newest().facts, build))
            self._offer(build)
        if self._is_stale:
            self._build()
        elif self._has_left:
            self._leave()

    def _offer(self, build: BuildResult) -> None:
        """Serve a new build; a build equal to the newest one is served only on request."""
        _, under_way, done = self._callers
        if build.path is not None and build.digest == self._newest().digest and not under_way:
            build.path.unlink(missing_ok=True)
            return
        done += under_way
        under_way.clear()
        self._replace(build)

    def _newest(self) -> BuildResult:
        newest = self._next or self._current
        if newest is None:
            raise RuntimeError("nothing was built")
        return newest

    def _answer(self, callers: list[Message], build: BuildResult) -> None:
        tool = reload_tool(self._newest().facts)
        for request in callers:
            self._write(reload_result(request, build, self._project, tool))
        callers.clear()

    def _replace(self, build: BuildResult) -> None:
        """Replace the current build, which may never have been served."""
        if self._next is not None and self._next.path is not None:
            self._next.path.unlink(missing_ok=True)
        self._next = build
        if self.state is not ProxyState.SERVING:
            return
        self.state, self._deadline = ProxyState.DRAINING, time.monotonic() + GRACE_SECONDS
        self._close_if_drained()

    def _close_if_drained(self) -> None:
        if self.conversation.open:
            return
        if self._child is None:
            self._switch_servers()
            return
        self.state, self._deadline = ProxyState.CLOSING, time.monotonic() + STOP_SECONDS
        self._child.close()

    def _end_wait(self) -> None:
        """End the wait for open calls."""
        if self.state is ProxyState.DRAINING:
            self._refuse_open(REPLACED)
            self._close_if_drained()
        elif self._child is not None:
            self._deadline = None
            # Its end arrives as an event, like that of any server.
            self._child.kill()

    def _switch_servers(self) -> None:
        """Serve the new build: send it the client's state, notify the client, and resume waiting requests."""
        earlier, later = self._current, self._newest()
        self.state, self._deadline, self._current, self._next = ProxyState.SERVING, None, later, None
        if earlier is not None and earlier.path is not None and earlier is not later:
            earlier.path.unlink(missing_ok=True)
        self._begin()
        if earlier is not None:
            self._write(*self.conversation.change_notifications(changed_lists(earlier.facts, later.facts)))
        self._answer(self._callers[2], later)
        # Taken out first, because a line that is received again may have to be held again.
        held, self._held = self._held, []
        for line in held:
            self._receive(line)
        if self._has_left and not self._is_building:
            self._leave()

    def _begin(self) -> None:
        path = self._newest().path
        if path is None:
            raise RuntimeError("nothing was built")
        self._child = ServerProcess(
            self._start, path, lambda child, line: self.events.put(partial(self._handle_server_line, child, line))
        )
        for line in self.conversation.replayed_messages():
            self._child.send(line)
