"""Serve over HTTP during development: each successful build takes over the port of the previous one.

Clients connect to the server directly: a server that is asked to end completes its requests, then the next one starts.
"""

from __future__ import annotations

import subprocess
import threading
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import IO, TYPE_CHECKING

from mcpc.sandbox import programs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from mcpc.workbench.dev.building import BuildResult, ProjectBuilder
    from mcpc.workbench.dev.reporting import Reporter, Screen

POLL_SECONDS = 0.5
STOP_SECONDS = 15.0
"""How long a server may take to complete its requests and end."""
ENDED = "mcpc dev: the server ended with status {status}; the next build starts it again"


@dataclass(frozen=True, slots=True)
class ServerCommand:
    """How a built file is started: its command line, its working folder, and additional environment variables.

    `hidden`: beginnings of lines of its log that are not shown, because they name a port that nobody should use;
    `heard` is called with each other line that it and its handlers write to standard error, if there are such.
    """

    argv: Callable[[Path], Sequence[str]]
    folder: Path
    variables: Mapping[str, str]
    hidden: tuple[bytes, ...] = ()
    heard: Callable[[str], None] = lambda _: None


class Listener:
    """One port, and the sequence of servers on it; `served` is called after each start of a server."""

    def __init__(
        self,
        builder: ProjectBuilder,
        start: ServerCommand,
        reporter: Reporter,
        screen: Screen,
        served: Callable[[], None] = lambda: None,
    ) -> None:
        self._served = served
        self.changes: SimpleQueue[None] = SimpleQueue()
        self._builder, self._start, self._reporter, self._screen = builder, start, reporter, screen
        self._server: subprocess.Popen[bytes] | None = None

    def changed(self) -> None:
        """Request a build after a file change; callable from any thread."""
        self.changes.put(None)

    def run(self, first: BuildResult) -> None:
        """Serve until this process gets a signal to end."""
        build = first
        self._begin(build)
        try:
            while True:
                if self._has_changed():
                    build = self._next(build)
        finally:
            self._builder.close()
            self._end()

    def _has_changed(self) -> bool:
        """Wait briefly for a change; several changes count as one."""
        with suppress(Empty):
            self.changes.get(timeout=POLL_SECONDS)
            while not self.changes.empty():
                self.changes.get()
            return True
        if self._server is not None and self._server.poll() is not None:
            self._screen.write(ENDED.format(status=self._server.returncode))
            self._server = None
        return False

    def _next(self, build: BuildResult) -> BuildResult:
        """Return the build to serve next."""
        later = self._builder.build()
        if later.path is None:
            self._reporter.failed(later)
            return build
        self._reporter.rebuilt(build.facts, later)
        # The same file serves already, and its clients stay connected.
        if later.digest == build.digest and self._server is not None:
            later.path.unlink(missing_ok=True)
            return build
        self._end()
        self._begin(later)
        # Only here the server that was started from it has ended.
        if build.path is not None:
            build.path.unlink(missing_ok=True)
        return later

    def _begin(self, build: BuildResult) -> None:
        if build.path is not None:
            start = self._start
            errors = subprocess.PIPE if start.hidden else None
            streams = {"stdin": subprocess.DEVNULL, "stdout": None, "stderr": errors}
            self._server = programs.start_program(
                "server", start.argv(build.path), cwd=start.folder, more=start.variables, **streams
            )
            if self._server.stderr is not None:
                threading.Thread(target=self._show_log, args=(self._server.stderr,), daemon=True).start()
            self._served()

    def _show_log(self, lines: IO[bytes]) -> None:
        with lines:
            for line in lines:
                if not line.startswith(self._start.hidden):
                    text = line.decode(errors="replace")
                    self._screen.write(text)
                    self._start.heard(text)

    def _end(self) -> None:
        server, self._server = self._server, None
        if server is not None:
            programs.end_program(server, STOP_SECONDS)
