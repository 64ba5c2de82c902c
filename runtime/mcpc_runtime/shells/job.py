"""One call of a Bash function: what it writes, what is kept open for it, and its end.

Its law: a call is over when its status is known and its outputs are at their ends, or a moment has passed: a daemon
that holds them must not hold the answer.  Then nothing of it is left open, and what is left of its group is killed.
"""

from __future__ import annotations

import posix
from _signal import SIGKILL  # type: ignore[import-not-found]

from mcpc_runtime.capture import Capture, Notes, fill, pipe, read_some
from mcpc_runtime.reactor import READABLE, WRITABLE, close
from mcpc_runtime.supervision.subtree import signal_group

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mcpc_runtime.commands import Completed, ShellCall
    from mcpc_runtime.host import Host
    from mcpc_runtime.supervision.client import Child

    Take = Callable[[bytes], None]

LINGER_SECONDS = 0.2
"""How long outputs that are still open may hold a call whose status is known."""
PIPE_LIMIT = 1 << 20
"""A pipe holds no more: what was written before the end has arrived when this much was read after it."""
UNREAD = {
    b"called": (1, b"the arguments are not a JSON object of at most 1 MiB"),
    b"asked": (3, b"the question is not JSON of at most 1 MiB"),
}
"""What a function is told of what did not arrive, by the word it says then: a digit, and why."""
OUTPUT, TEXTS, ERRORS, NOTED, ANSWERS = 1, 3, 4, 7, 8
"""A shell's descriptors; the last two are what the function sees of us."""


class Ends:
    """A set of descriptors for a call.  `held`: what the shell is to have; `ours`: the other ends of its pipes.

    `fields` and `place`: what they are called where a fork server's child finds them.
    """

    __slots__ = ("fields", "held", "number", "ours", "place")

    def __init__(self, number: bytes) -> None:
        self.fields: dict[int, bytes] = {}
        self.held: dict[int, int] = {}
        self.number = number
        self.ours: dict[int, int] = {}
        self.place = b""

    def open(self) -> None:
        """Make them; raise OSError if there is no room."""
        self.held[TEXTS] = posix.memfd_create("mcpc", posix.MFD_CLOEXEC)
        for name in (OUTPUT, ERRORS, NOTED, ANSWERS):
            self.make(name)

    def make(self, name: int) -> None:
        """Make one of the pipes; answers go the other way."""
        ours, theirs = pipe([])
        if name == ANSWERS:
            ours, theirs = theirs, ours
        self.held[name], self.ours[name] = theirs, ours
        posix.set_blocking(ours, False)

    def passed(self, name: int) -> int:
        """Return what somebody may have meanwhile who is not to keep a pipe open."""
        return self.ours[name] if name in (OUTPUT, ERRORS, NOTED) else self.held[name]

    def drop(self, name: int) -> None:
        """Close what a call does not want."""
        self.fields.pop(name, None)
        for ends in (self.held, self.ours):
            close(ends.pop(name, -1))

    def close(self) -> None:
        """Close all."""
        for name in {*self.held, *self.ours}:
            self.drop(name)


class Job:
    """One call.  `held`: what the shell is to have, by its numbers, open until it has it.

    `pid`: the process that leads the call's group, once a fork server's child says so; `child`: a shell of its own.
    `passed`: the number of the set of descriptors that it was given.
    """

    __slots__ = ("_calls", "_feeds", "_host", "_is_finished", "_is_over", "_notes", "_replies", "begun",
                 "call", "capture", "child", "done", "held", "mark", "note", "number", "passed", "pid", "status",
                 "streams")  # fmt: skip

    def __init__(
        self, host: Host, call: ShellCall, done: Callable[[Completed], None], note: Callable[[Any], None]
    ) -> None:
        self._host = host
        self._calls: dict[int, str] = {}
        self._feeds: dict[int, memoryview] = {}
        self._is_finished = False
        self._is_over = False
        self._notes = -1
        self._replies = -1
        self.begun: Callable[[Job], None] = forget
        self.call = call
        self.capture = Capture(call.account)
        self.child: Child | None = None
        self.done: Callable[[Completed], None] | None = done
        self.held: dict[int, int] = {}
        self.mark = ""
        self.note = note
        self.number = 0
        self.passed = b""
        self.pid = 0
        self.status = 0
        self.streams: dict[int, Take] = {}

    @property
    def is_connected(self) -> bool:
        """Whether there is something that the function writes to."""
        return self._notes >= 0

    def connect(self, ends: Ends | None = None) -> None:
        """Take what the function writes to, or make it; raise OSError, with nothing left open, if there is no room."""
        made = ends or Ends(b"")
        if ends is None:
            try:
                for name in (OUTPUT, *([] if self.call.merged else [ERRORS]), NOTED):
                    made.make(name)
                if self.call.calls_tools:
                    made.make(ANSWERS)
            except OSError:
                made.close()
                self.release()
                raise
        self._take(made)

    def _take(self, ends: Ends) -> None:
        if not self.call.calls_tools:
            ends.drop(ANSWERS)
        if self.call.merged:
            ends.drop(ERRORS)
            ends.held[ERRORS] = ends.held[OUTPUT]
            ends.fields[ERRORS] = ends.fields.get(OUTPUT, b"")
        self.held, ours = ends.held, ends.ours
        self._notes, self._replies = ours[NOTED], ours.get(ANSWERS, -1)
        self.streams[ours[OUTPUT]] = self.capture.print
        if not self.call.merged:
            self.streams[ours[ERRORS]] = self.capture.complain
        self.streams[self._notes] = Notes(self._take_note, self._take_word).feed
        for end in self.streams:
            self._host.reactor.watch(end, READABLE, lambda end=end: self._listen(end))  # type: ignore[misc]

    def tell(self, texts: bytes) -> None:
        """Put the texts into a file in memory; raise OSError, with nothing left open, if that cannot be."""
        try:
            if TEXTS not in self.held:
                self.held[TEXTS] = posix.memfd_create("mcpc", posix.MFD_CLOEXEC)
            fill(self.held[TEXTS], texts)
        except OSError:
            self._untell()
            raise

    def feed(self, texts: bytes) -> None:
        """Put the texts into a pipe that is fed, which takes Bash longer to read."""
        self._untell()
        self.held[TEXTS], end = pipe([])
        posix.set_blocking(end, False)
        self._feed_later(end, texts)

    def _untell(self) -> None:
        close(self.held.pop(TEXTS, -1))

    def let_go(self) -> None:
        """Close what the shell has now: only so do our ends see it close its own."""
        for descriptor in {*self.held.values()}:
            close(descriptor)
        self.held.clear()

    def withdraw(self, length: int) -> None:
        """Take the texts back but for their first bytes: a child that comes late finds nothing to call."""
        if TEXTS in self.held:
            posix.ftruncate(self.held[TEXTS], length)

    def kind(self, reply: int) -> str:
        """Return what waits for an answer: `call`, `ask` or `form`."""
        return self._calls.get(reply) or "call"

    def answer(self, reply: int, status: int, text: bytes) -> None:
        """Hand the function what was answered, once, with a digit that says what it means."""
        if self._replies >= 0 and self._calls.get(reply):
            self._calls[reply] = ""
            self._feed_later(self._replies, b"%d %d %b\0" % (reply, status, text.replace(b"\0", b"")))

    def end(self, status: int, problem: str = "") -> None:
        """Take the end of the function, and all it wrote before it."""
        if self._is_over:
            return
        self._is_over = True
        self.status = status
        self.let_go()
        self._drain()
        if problem or self.done is None or not self.streams.keys() - {self._notes}:
            self.finish(problem)
        else:
            self._host.reactor.after(LINGER_SECONDS, self.finish)

    def finish(self, problem: str = "") -> None:
        """Let go of everything, kill what is left of the group, and tell whoever waits."""
        if self._is_finished:
            return
        self._drain()
        self.release()
        if self.child is not None:
            self._host.supervisor.end_rest(self.child)
        elif self.pid:
            signal_group(self.pid, SIGKILL)
        done, self.done = self.done, None
        if done is not None:
            done(self.capture.completed(self.status, problem))

    def release(self) -> None:
        """Close everything."""
        self._is_finished = self._is_over = True
        self.let_go()
        for descriptor in {*self.streams, *self._feeds, self._replies}:
            self._drop(descriptor)
        self._notes = self._replies = -1

    def _take_note(self, value: dict[str, Any]) -> None:
        if self.done is None or self._is_done_with_notes():
            return
        kind = kind_of(value)
        if kind:
            if type(value.get("reply")) is not int or self._replies < 0:
                return
            self._calls[value["reply"]] = kind
        self.note(value)

    def _is_done_with_notes(self) -> bool:
        return self._is_over and self.child is None

    def _take_word(self, line: bytes) -> None:
        """Take a line that is no note: what our own part in the shell says."""
        word, _, rest = line.partition(b" ")
        if word not in (b"pid", b"end", *UNREAD) or not rest.isdigit() or len(rest) > 9:
            return
        if word in UNREAD:
            self._called(int(rest), *UNREAD[word])
        elif self.child is not None:
            return
        elif word == b"end":
            self.end(int(rest))
        elif not self.pid:
            self.pid = int(rest)
            self.let_go()
            self.begun(self)

    def _called(self, reply: int, status: int, problem: bytes) -> None:
        """Answer at once what did not arrive: it is not JSON, or too long."""
        if reply not in self._calls:
            self._calls[reply] = "call"
            self.answer(reply, status, problem)

    def _listen(self, end: int) -> None:
        data = read_some(end)
        if data:
            self.streams[end](data)
        elif data is not None:
            self._close_stream(end)
            if self._is_over and not self.streams.keys() - {self._notes}:
                self.finish()

    def _close_stream(self, end: int) -> None:
        """An output is at its end; notes that end without a status mean that the child was killed (or never heard)."""
        self._drop(end)
        if end == self._notes and self.child is None:
            self.end(-SIGKILL)

    def _drain(self) -> None:
        """Read what is there: no more than a pipe holds, for a daemon may be writing still."""
        for end, take in list(self.streams.items()):
            rest = PIPE_LIMIT
            data: bytes | None = None
            while rest > 0 and (data := read_some(end)):
                take(data)
                rest -= len(data)
            if data == b"":
                self._drop(end)

    def _feed_later(self, end: int, data: bytes) -> None:
        """Write as soon as there is room."""
        waiting = self._feeds.get(end)
        self._feeds[end] = memoryview(bytes(waiting) + data if waiting else data)
        self._host.reactor.watch(end, WRITABLE, lambda: self._feed(end))

    def _feed(self, end: int) -> None:
        """Write what there is room for; a shell that does not read is no problem."""
        try:
            rest = self._feeds[end][posix.write(end, self._feeds[end]) :]
        except BlockingIOError:
            return
        except OSError:
            rest = memoryview(b"")
        if rest:
            self._feeds[end] = rest
            return
        del self._feeds[end]
        self._host.reactor.forget(end)
        if end != self._replies:
            close(end)

    def _drop(self, end: int) -> None:
        if end >= 0:
            self.streams.pop(end, None)
            self._feeds.pop(end, None)
            self._host.reactor.forget(end)
            close(end)


def kind_of(note: dict[str, Any]) -> str:
    """Return what a note waits for: a tool's answer (`call`), the client's (`ask`), the user's (`form`), or nothing."""
    if type(note.get("ask")) is dict:
        return "form" if note.get("form") is True else "ask"
    return "call" if "call" in note else ""


def forget(job: Job) -> None:
    """Do nothing about a call that a shell has begun."""
