"""The loop of `top` in a terminal: fetch, draw, take keys, until `q`.

A frame is written at once and over the last one, so that nothing flickers; a server that does not answer is asked
again, and the last measures stay.
"""

from __future__ import annotations

import sys
from time import monotonic, time
from typing import NamedTuple

from mcpc_runtime.tools.cli.top import messages
from mcpc_runtime.tools.cli.top.connection import MetricsConnection, UnreachableError
from mcpc_runtime.tools.cli.top.exposition import read_samples
from mcpc_runtime.tools.cli.top.frame import View, frame, line_width, painted
from mcpc_runtime.tools.cli.top.measures import Overview, Reading, overview
from mcpc_runtime.transports.platforms.terminals import FullScreen, terminal_size

QUIT = ("q", "Q", "\x03", "\x04")
SORT_KEYS = {"r": "rate", "n": "name", "c": "calls", "e": "errors", "t": "time"}
PAUSE = " "
SLICE_SECONDS = 0.2
"""How often a changed size of the terminal is looked for."""
HOME = "\x1b[H"
BEGIN_FRAME, END_FRAME = "\x1b[?2026h", "\x1b[?2026l"
"""Terminals that know these show what is between them at once; others ignore them."""


class Choices(NamedTuple):
    """What a user chose."""

    url: str
    interval: float
    sort: str
    has_colours: bool


def read_metrics(connection: MetricsConnection) -> Reading:
    """Return a reading; raise UnreachableError."""
    return Reading(monotonic(), read_samples(connection.fetch()))


class Display:
    """One run in a terminal.  `first`: the first reading."""

    def __init__(self, connection: MetricsConnection, choices: Choices, first: Reading) -> None:
        self._connection = connection
        self._choices = choices
        self._sort = choices.sort
        self._last = first
        self._shown: Overview = overview(first, None, time())
        self._remark = ""
        self._is_paused = False

    def run(self) -> None:
        """Draw until a key ends it."""
        with FullScreen() as screen:
            due = monotonic() + self._choices.interval
            self._draw()
            size = terminal_size()
            while True:
                key = screen.read_key(max(0.0, min(SLICE_SECONDS, due - monotonic())))
                if key in QUIT:
                    return
                changed = self._take(key) or terminal_size() != size
                if monotonic() >= due:
                    self._read()
                    due, changed = monotonic() + self._choices.interval, True
                if changed:
                    size = terminal_size()
                    self._draw()

    def _take(self, key: str) -> bool:
        """Take a key; return whether something is to be drawn."""
        if key == PAUSE:
            self._is_paused = not self._is_paused
            self._remark = messages.PAUSED if self._is_paused else ""
        self._sort = SORT_KEYS.get(key.lower(), self._sort)
        return bool(key)

    def _read(self) -> None:
        if self._is_paused:
            return
        try:
            reading = read_metrics(self._connection)
        except UnreachableError as problem:
            self._remark = str(problem)
            return
        self._shown, self._last, self._remark = overview(reading, self._last, time()), reading, ""

    def _draw(self) -> None:
        columns, lines = terminal_size()
        view = View(self._shown, self._choices.url, self._sort, self._remark)
        # Lines are padded and not erased: what erases the rest of a full line takes its last character, too.
        padded = [[*line, (" " * (columns - line_width(line)), "")] for line in frame(view, columns, lines)]
        body = "\n".join(painted(line, has_colours=self._choices.has_colours) for line in padded)
        sys.stdout.write(f"{BEGIN_FRAME}{HOME}{body}{END_FRAME}")
        sys.stdout.flush()
