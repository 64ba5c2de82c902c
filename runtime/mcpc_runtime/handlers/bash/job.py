"""One call of a Bash function: its descriptors, its outputs, and its end.

A call is over when its status is known and its outputs are closed, or LINGER_SECONDS later: a daemon that keeps them
open must not delay the answer.  Then all descriptors are closed, and the rest of its process group is killed.
"""

from __future__ import annotations

from collections.abc import Callable

from mcpc_runtime.handlers.invocations import ProcessResult, ShellCall
from mcpc_runtime.handlers.output_capture import (
    LINGER_SECONDS,
    NoteReader,
    OutputCapture,
    TakeData,
    drain,
    read_some,
    write_memory_file,
)
from mcpc_runtime.handlers.runner_context import RunnerContext
from mcpc_runtime.interfaces import Note, Notify
from mcpc_runtime.transports.platforms import system
from mcpc_runtime.transports.platforms.files import new_memory_file
from mcpc_runtime.transports.platforms.pipes import close, incoming, outgoing
from mcpc_runtime.transports.platforms.processes import SIGKILL, signal_group
from mcpc_runtime.transports.platforms.reactor import READABLE, WRITABLE
from mcpc_runtime.transports.platforms.supervisor import SupervisedProcess

UNREADABLE_REQUESTS = {
    b"called": (1, b"the arguments are not a JSON object of at most 1 MiB"),
    b"asked": (3, b"the question is not JSON of at most 1 MiB"),
}
"""The reply to a request that could not be read, by the keyword of the control line: status digit and reason."""
OUTPUT_FD, TEXTS_FD, ERRORS_FD, NOTES_FD, REPLIES_FD = 1, 3, 4, 7, 8
"""A shell's descriptors; the last two are also used by the function."""


class CallDescriptors:
    """A set of descriptors for a call.  `shell_ends`: those of the shell; `own_ends`: the server's ends of the pipes.

    `fields` and `process`: their numbers in the passing process, and its id, for a fork server's child.
    """

    __slots__ = ("fields", "number", "own_ends", "process", "shell_ends")

    def __init__(self, number: bytes) -> None:
        self.fields: dict[int, bytes] = {}
        self.shell_ends: dict[int, int] = {}
        self.number = number
        self.own_ends: dict[int, int] = {}
        self.process = b""

    def open(self) -> None:
        """Open all descriptors; raise OSError if there is no room."""
        self.shell_ends[TEXTS_FD] = new_memory_file()
        for name in (OUTPUT_FD, ERRORS_FD, NOTES_FD, REPLIES_FD):
            self.open_pipe(name)

    def open_pipe(self, name: int) -> None:
        """Open one of the pipes; the pipe of replies has the other direction."""
        ours, theirs = outgoing() if name == REPLIES_FD else incoming()
        self.shell_ends[name], self.own_ends[name] = theirs, ours

    def end_to_pass(self, name: int) -> int:
        """Return the end that the passing process may hold without keeping a pipe open."""
        return self.own_ends[name] if name in (OUTPUT_FD, ERRORS_FD, NOTES_FD) else self.shell_ends[name]

    def drop(self, name: int) -> None:
        """Close a descriptor that a call does not use."""
        self.fields.pop(name, None)
        for ends in (self.shell_ends, self.own_ends):
            close(ends.pop(name, -1))

    def close(self) -> None:
        """Close all descriptors."""
        for name in {*self.shell_ends, *self.own_ends}:
            self.drop(name)


class ShellJob:
    """One call.  `shell_ends`: the shell's descriptors by number, open here until the shell has them.

    `pid`: the leader of the call's process group, once a fork server's child reports it; `child`: a separate shell.
    `descriptor_set`: the number of its set of descriptors.
    """

    __slots__ = ("_calls", "_feeds", "_host", "_is_finished", "_is_over", "_notes", "_replies", "call", "capture",
                 "child", "descriptor_set", "done", "mark", "note", "number", "on_begun", "pid", "shell_ends", "status",
                 "streams")  # fmt: skip

    def __init__(
        self, host: RunnerContext, call: ShellCall, done: Callable[[ProcessResult], None], note: Notify
    ) -> None:
        self._host = host
        self._calls: dict[int, str] = {}
        self._feeds: dict[int, memoryview] = {}
        self._is_finished = False
        self._is_over = False
        self._notes = -1
        self._replies = -1
        self.on_begun: Callable[[ShellJob], None] = lambda job: None
        self.call = call
        self.capture = OutputCapture(call.account)
        self.child: SupervisedProcess | None = None
        self.done: Callable[[ProcessResult], None] | None = done
        self.shell_ends: dict[int, int] = {}
        self.mark = ""
        self.note = note
        self.number = 0
        self.descriptor_set = b""
        self.pid = 0
        self.status = 0
        self.streams: dict[int, TakeData] = {}

    @property
    def is_connected(self) -> bool:
        """Whether the outputs are open."""
        return self._notes >= 0

    def connect(self, ends: CallDescriptors | None = None) -> None:
        """Use these descriptors, or open new ones; raise OSError, with nothing left open, if there is no room."""
        descriptors = ends or CallDescriptors(b"")
        if ends is None:
            try:
                for name in (OUTPUT_FD, *([] if self.call.merged else [ERRORS_FD]), NOTES_FD):
                    descriptors.open_pipe(name)
                if self.call.calls_tools:
                    descriptors.open_pipe(REPLIES_FD)
            except OSError:
                descriptors.close()
                self.release()
                raise
        self._take(descriptors)

    def _take(self, ends: CallDescriptors) -> None:
        if not self.call.calls_tools:
            ends.drop(REPLIES_FD)
        if self.call.merged:
            ends.drop(ERRORS_FD)
            ends.shell_ends[ERRORS_FD] = ends.shell_ends[OUTPUT_FD]
            ends.fields[ERRORS_FD] = ends.fields.get(OUTPUT_FD, b"")
        self.shell_ends, ours = ends.shell_ends, ends.own_ends
        self._notes, self._replies = ours[NOTES_FD], ours.get(REPLIES_FD, -1)
        self.streams[ours[OUTPUT_FD]] = self.capture.add_output
        if not self.call.merged:
            self.streams[ours[ERRORS_FD]] = self.capture.add_errors
        self.streams[self._notes] = NoteReader(self._take_note, self._take_control_line).feed
        for end in self.streams:
            self._watch(end)

    def _watch(self, end: int) -> None:
        self._host.reactor.watch(end, READABLE, lambda: self._listen(end))

    def write_texts(self, texts: bytes) -> None:
        """Write the texts into a file in memory; raise OSError, with nothing left open, if that fails."""
        try:
            if TEXTS_FD not in self.shell_ends:
                self.shell_ends[TEXTS_FD] = new_memory_file()
            write_memory_file(self.shell_ends[TEXTS_FD], texts)
        except OSError:
            self._close_texts()
            raise

    def feed_texts(self, texts: bytes) -> None:
        """Write the texts into a pipe, which Bash reads more slowly than a file."""
        self._close_texts()
        end, self.shell_ends[TEXTS_FD] = outgoing()
        self._feed_later(end, texts)

    def _close_texts(self) -> None:
        close(self.shell_ends.pop(TEXTS_FD, -1))

    def close_shell_ends(self) -> None:
        """Close the shell's descriptors here: else the ends of its outputs would not be noticed."""
        # A set, because merged outputs are one descriptor.
        for descriptor in {*self.shell_ends.values()}:
            close(descriptor)
        self.shell_ends.clear()

    def withdraw(self, length: int) -> None:
        """Shorten the texts to their first bytes, so that a late child finds nothing to call."""
        if TEXTS_FD in self.shell_ends:
            system.ftruncate(self.shell_ends[TEXTS_FD], length)

    def request_kind(self, reply: int) -> str:
        """Return the kind of request that waits for a reply: `call`, `ask` or `form`."""
        return self._calls.get(reply) or "call"

    def answer(self, reply: int, status: int, text: bytes) -> None:
        """Send a reply to the function, once per request, with its status digit."""
        if self._replies >= 0 and self._calls.get(reply):
            self._calls[reply] = ""
            # A null byte ends a reply, so that its text cannot have one.
            self._feed_later(self._replies, b"%d %d %b\0" % (reply, status, text.replace(b"\0", b"")))

    def end(self, status: int, problem: str = "") -> None:
        """Process the end of the function, and all it wrote before."""
        if self._is_over:
            return
        self._is_over = True
        self.status = status
        self.close_shell_ends()
        drain(self.streams, self._drop)
        if problem or self.done is None or not self.streams.keys() - {self._notes}:
            self.finish(problem)
        else:
            self._host.reactor.after(LINGER_SECONDS, self.finish)

    def finish(self, problem: str = "") -> None:
        """Close everything, kill the rest of the process group, and deliver the result."""
        if self._is_finished:
            return
        drain(self.streams, self._drop)
        self.release()
        if self.child is not None:
            self._host.supervisor.end_rest(self.child)
        elif self.pid:
            signal_group(self.pid, SIGKILL)
        done, self.done = self.done, None
        if done is not None:
            done(self.capture.completed(self.status, problem))

    def release(self) -> None:
        """Close all descriptors of the call."""
        self._is_finished = self._is_over = True
        self.close_shell_ends()
        for descriptor in {*self.streams, *self._feeds, self._replies}:
            self._drop(descriptor)
        self._notes = self._replies = -1

    def _take_note(self, value: Note) -> None:
        if self.done is None or (self._is_over and self.child is None):
            return
        kind = note_kind(value)
        if kind:
            reply = value.get("reply")
            if type(reply) is not int or self._replies < 0:
                return
            self._calls[reply] = kind
        self.note(value)

    def _take_control_line(self, line: bytes) -> None:
        """Process a control line, written by mcpc's code in the shell."""
        keyword, _, rest = line.partition(b" ")
        if keyword not in (b"pid", b"end", *UNREADABLE_REQUESTS) or not rest.isdigit() or len(rest) > 9:
            return
        if keyword in UNREADABLE_REQUESTS:
            self._reject_request(int(rest), *UNREADABLE_REQUESTS[keyword])
        elif self.child is not None:
            return
        elif keyword == b"end":
            self.end(int(rest))
        elif not self.pid:
            self.pid = int(rest)
            self.close_shell_ends()
            self.on_begun(self)

    def _reject_request(self, reply: int, status: int, problem: bytes) -> None:
        """Reply at once to a request that could not be read: not JSON, or too long."""
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
        """Close an output at its end; if the notes end without a status, the child was killed, or never started."""
        self._drop(end)
        if end == self._notes and self.child is None:
            self.end(-SIGKILL)

    def _feed_later(self, end: int, data: bytes) -> None:
        """Write data as soon as there is room."""
        waiting = self._feeds.get(end)
        self._feeds[end] = memoryview(bytes(waiting) + data if waiting else data)
        self._host.reactor.watch(end, WRITABLE, lambda: self._feed(end))

    def _feed(self, end: int) -> None:
        """Write as much as there is room for; a shell that does not read is ignored."""
        try:
            rest = self._feeds[end][system.write(end, self._feeds[end]) :]
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


def note_kind(note: Note) -> str:
    """Return whose reply a note requests: a tool's (`call`), the client's (`ask`), the user's (`form`), or none."""
    if type(note.get("ask")) is dict:
        return "form" if note.get("form") is True else "ask"
    return "call" if "call" in note else ""
