"""Serve over HTTP while a project is written: each build that succeeds takes the port of the one before it.

There is nothing between clients and server: a server that is told to end answers what it has, and the next one begins.
"""

from __future__ import annotations

import subprocess
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from mcpc import programs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from mcpc.dev.building import Builder, Made
    from mcpc.dev.reporting import Reporter
    from mcpc.dev.screen import Screen

LOOK_SECONDS = 0.5
LAST_SECONDS = 15.0
"""So long a server may take to answer what it has been asked, and to end."""
ENDED = "mcpc dev: the server ended with status {status}; the next build starts it again"


@dataclass(frozen=True, slots=True)
class Start:
    """How a built file is started: its command line, and variables beside those that are there."""

    argv: Callable[[Path], Sequence[str]]
    variables: Mapping[str, str]


class Listener:
    """One port, and one server after another on it."""

    def __init__(self, builder: Builder, start: Start, reporter: Reporter, screen: Screen) -> None:
        self.changes: SimpleQueue[None] = SimpleQueue()
        self._builder, self._start, self._reporter, self._screen = builder, start, reporter, screen
        self._server: subprocess.Popen[bytes] | None = None

    def changed(self) -> None:
        """Have the project built, because its files changed; from any thread."""
        self.changes.put(None)

    def run(self, first: Made) -> None:
        """Serve until this process is told to end."""
        made = first
        self._begin(made)
        try:
            while True:
                if self._has_changed():
                    made = self._next(made)
        finally:
            self._builder.close()
            self._end()

    def _has_changed(self) -> bool:
        """Wait a moment for a change; any number of them is one."""
        with suppress(Empty):
            self.changes.get(timeout=LOOK_SECONDS)
            while not self.changes.empty():
                self.changes.get()
            return True
        if self._server is not None and self._server.poll() is not None:
            self._screen.write(ENDED.format(status=self._server.returncode))
            self._server = None
        return False

    def _next(self, made: Made) -> Made:
        """Return the build that serves from now on."""
        later = self._builder.build()
        if later.path is None:
            self._reporter.failed(later)
            return made
        self._reporter.rebuilt(made.facts, later)
        if later.digest == made.digest and self._server is not None:
            later.path.unlink(missing_ok=True)
            return made
        self._end()
        self._begin(later)
        if made.path is not None:
            made.path.unlink(missing_ok=True)
        return later

    def _begin(self, made: Made) -> None:
        if made.path is not None:
            argv, more = self._start.argv(made.path), self._start.variables
            streams = {"stdin": subprocess.DEVNULL, "stdout": None, "stderr": None}
            self._server = programs.start("server", argv, more=more, **streams)

    def _end(self) -> None:
        server, self._server = self._server, None
        if server is None:
            return
        server.terminate()
        with suppress(subprocess.TimeoutExpired):
            server.wait(LAST_SECONDS)
        server.kill()
        server.wait()
