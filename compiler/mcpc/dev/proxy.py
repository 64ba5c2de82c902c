"""Between one client and the server of the day: lines pass both ways as they are, while builds take each other's place.

    serving ──a build succeeds──▶ draining ──nothing is open──▶ closing ──it has ended──▶ serving, the new one
                                     └── the rest is answered with an error after GRACE_SECONDS

One thread decides, in the order in which things happen; others move bytes, build and look at files.  From the moment a
new build is ready, requests wait for it; everything else still goes to the server that it is about.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import partial
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from mcpc.dev.child import LONGEST_LINE, Child, lines
from mcpc.dev.conversation import Conversation
from mcpc.dev.words import (
    differing,
    extended,
    is_toolbox,
    key,
    messages,
    parameters,
    refusal,
    reloaded,
    reloads,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from typing import IO

    from mcpc.dev.building import Builder, Made
    from mcpc.dev.calls import CallWatch
    from mcpc.dev.reporting import Reporter
    from mcpc.dev.screen import Screen
    from mcpc.dev.words import Message

GRACE_SECONDS = 5.0
"""So long calls may go on in a server whose successor is ready."""
LAST_SECONDS = 10.0
"""So long a server may take to end, with what its tools do when they are let go."""
REPLACED = "Internal error: a new build has taken the place of the server that ran this call"
DIED = "Internal error: the server ended while it ran this call (status {status})"
ENDED = "mcpc dev: the server ended with status {status}; the next request starts it again"


class State(Enum):
    """What the server is about to do."""

    SERVING = auto()
    DRAINING = auto()
    CLOSING = auto()
    LEAVING = auto()


@dataclass(frozen=True, slots=True)
class Telling:
    """Who tells a person what happens: of builds, of calls, of anything else."""

    reporter: Reporter
    calls: CallWatch
    screen: Screen


class Proxy:
    """One client, one project, and one server after another.

    `made`: the build that serves, or will in a moment; `callers`: who waits for a build, by how near that is: not yet
    begun, under way, done and to be served.
    """

    def __init__(
        self, builder: Builder, start: Callable[[Path], Sequence[str]], project: Path, telling: Telling
    ) -> None:
        self._output = 1
        self.events: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self.talk = Conversation()
        self.state = State.SERVING
        self.over = False
        self._builder, self._start, self._project, self._telling = builder, start, project, telling
        self._child: Child | None = None
        self._made: Made | None = None
        self._next: Made | None = None
        self._deadline: float | None = None
        self._held: list[bytes] = []
        self._callers: tuple[list[Message], ...] = ([], [], [])
        self._is_building = self._is_stale = self._has_left = False

    def run(self, first: Made, output: int) -> None:
        """Serve until the client closes its end and has had its answers, or reads no more."""
        self._made, self._output = first, output
        try:
            while not self.over:
                self._turn()
        finally:
            self._builder.close()
            if self._child is not None:
                self._child.end(LAST_SECONDS if self.state is State.LEAVING else 2.0)

    def read(self, client: IO[bytes]) -> None:
        """Take what the client says, to its end; in a thread of its own."""
        with suppress(OSError, ValueError):
            for line in lines(client, LONGEST_LINE):
                self.events.put(partial(self._said, line))
        self.events.put(self._leave)

    def changed(self) -> None:
        """Have the project built, because its files changed; from any thread."""
        self.events.put(self._build)

    def _turn(self) -> None:
        wait = None if self._deadline is None else self._deadline - time.monotonic()
        try:
            event = self._late if wait is not None and wait <= 0 else self.events.get(timeout=wait)
        except Empty:
            event = self._late
        try:
            event()
        except BrokenPipeError:
            self.over = True

    def _write(self, *lines: bytes) -> None:
        """Write to the client at once: what is kept in between would be waited for when this process ends."""
        for line in lines:
            view = memoryview(line)
            while view:
                view = view[os.write(self._output, view) :]

    def _said(self, line: bytes) -> None:
        said = messages(line)
        if self._is_reload(said):
            self._callers[0].append(said[0])
            self._build()
        elif self._calls_off_reload(said):
            return
        elif self.state is not State.SERVING and self.talk.waits(said):
            self._held.append(line)
        else:
            self._hand_on(line, said)

    def _hand_on(self, line: bytes, said: Sequence[Message]) -> None:
        if self._child is None:
            self._begin()
        self.talk.handed_on(said)
        self._telling.calls.asked(said)
        if self._child is not None:
            self._child.send(line)
        if self.state is State.DRAINING:
            self._close_if_drained()

    def _is_reload(self, said: Sequence[Message]) -> bool:
        if len(said) != 1 or said[0].get("method") != "tools/call" or "id" not in said[0] or self._made is None:
            return False
        return parameters(said[0]).get("name") in reloads(self._made)

    def _calls_off_reload(self, said: Sequence[Message]) -> bool:
        """Forget a call for a build that is not wanted any more."""
        if len(said) != 1 or said[0].get("method") != "notifications/cancelled":
            return False
        called_off = key(parameters(said[0]).get("requestId"))
        for callers in self._callers:
            for request in callers:
                if key(request["id"]) == called_off:
                    callers.remove(request)
                    return True
        return False

    def _leave(self) -> None:
        """End when nothing is to be done any more: the server answers what it has been asked, and so do builds."""
        self._has_left = True
        if self.state is not State.SERVING or any(self._callers):
            return
        if self._child is None:
            self.over = True
            return
        self.state = State.LEAVING
        self._child.close()

    def _heard(self, child: Child, line: bytes | None) -> None:
        self.events.put(partial(self._take, child, line))

    def _take(self, child: Child, line: bytes | None) -> None:
        if child is not self._child:
            return
        if line is None:
            self._child_ended(child)
        elif self.state is not State.CLOSING:
            self._pass_on(line)

    def _pass_on(self, line: bytes) -> None:
        self._telling.calls.heard(line)
        is_for_client, is_list = self.talk.heard(line)
        if is_list and self._made is not None:
            line = extended(line, self._made)
        if is_for_client:
            self._write(line)
        if self.state is State.DRAINING:
            self._close_if_drained()

    def _child_ended(self, child: Child) -> None:
        status = child.status(LAST_SECONDS)
        self._child = None
        if self.state is State.LEAVING:
            self.over = True
            return
        if self.state is not State.CLOSING:
            self._telling.screen.write(ENDED.format(status=status))
            self._refuse_open(DIED.format(status=status))
        if self.state is not State.SERVING:
            self._succeed()

    def _refuse_open(self, why: str) -> None:
        for identifier, request in self.talk.open.items():
            self._telling.calls.end(identifier, "error")
            self._write(refusal(request["id"], why))
        self.talk.open.clear()

    def _build(self) -> None:
        if self._is_building:
            self._is_stale = True
            return
        self._is_building, self._is_stale = True, False
        waiting, under_way, _ = self._callers
        under_way += waiting
        waiting.clear()
        self._builder.begin(lambda made: self.events.put(partial(self._built, made)))

    def _built(self, made: Made) -> None:
        self._is_building = False
        _, under_way, _ = self._callers
        if made.path is None:
            self._telling.reporter.failed(made)
            self._write(*self.talk.told_of_problem(made.said))
            self._answer(under_way, made)
        else:
            made = replace(made, summary=self._telling.reporter.rebuilt(self._newest().facts, made))
            self._take_over(made)
        if self._is_stale:
            self._build()
        elif self._has_left:
            self._leave()

    def _take_over(self, made: Made) -> None:
        """Let a build serve; one that is the same file as the newest only if somebody asked for it."""
        _, under_way, done = self._callers
        if made.path is not None and made.digest == self._newest().digest and not under_way:
            made.path.unlink(missing_ok=True)
            return
        done += under_way
        under_way.clear()
        self._replace(made)

    def _newest(self) -> Made:
        newest = self._next or self._made
        if newest is None:
            raise RuntimeError("nothing was built")
        return newest

    def _answer(self, callers: list[Message], made: Made) -> None:
        toolbox = self._project if is_toolbox(self._newest().facts) else None
        for request in callers:
            self._write(reloaded(request, made, toolbox))
        callers.clear()

    def _replace(self, made: Made) -> None:
        """Let a build take the place of the one that serves; it may be one that never came to serve."""
        if self._next is not None and self._next.path is not None:
            self._next.path.unlink(missing_ok=True)
        self._next = made
        if self.state is not State.SERVING:
            return
        self.state, self._deadline = State.DRAINING, time.monotonic() + GRACE_SECONDS
        self._close_if_drained()

    def _close_if_drained(self) -> None:
        if self.talk.open:
            return
        if self._child is None:
            self._succeed()
            return
        self.state, self._deadline = State.CLOSING, time.monotonic() + LAST_SECONDS
        self._child.close()

    def _late(self) -> None:
        """Wait no longer."""
        if self.state is State.DRAINING:
            self._refuse_open(REPLACED)
            self._close_if_drained()
        elif self._child is not None:
            self._deadline = None
            self._child.kill()

    def _succeed(self) -> None:
        """Serve the new build: it is told what the client said, the client what is new, and whoever waited goes on."""
        earlier, later = self._made, self._newest()
        self.state, self._deadline, self._made, self._next = State.SERVING, None, later, None
        if earlier is not None and earlier.path is not None and earlier is not later:
            earlier.path.unlink(missing_ok=True)
        self._begin()
        if earlier is not None:
            self._write(*self.talk.told_of(differing(earlier.facts, later.facts)))
        self._answer(self._callers[2], later)
        held, self._held = self._held, []
        for line in held:
            self._said(line)
        if self._has_left and not self._is_building:
            self._leave()

    def _begin(self) -> None:
        path = self._newest().path
        if path is None:
            raise RuntimeError("nothing was built")
        self._child = Child(self._start(path), self._heard)
        for line in self.talk.again():
            self._child.send(line)
