"""A fresh shell that has its standard streams only, as those of Git and MSYS2 on Windows have.

Standard input is a file with the shell's program and the texts that it reads; for a function that calls tools or asks
the client it is a pipe, on which the replies follow.  Notes are on standard error.  If that has the function's errors,
too, each note is one line after a prefix, which is different in each call: what a function writes to the descriptor of
notes without it is an error there.  Inside the shell all of them are on the descriptors that the program and the
function expect.  What a shell writes to standard error before the program uses it is discarded.
"""

from __future__ import annotations

from mcpc_runtime.handlers.bash.job import ERRORS_FD as SHELL_ERRORS_FD
from mcpc_runtime.handlers.bash.job import NOTES_FD, REPLIES_FD, ShellJob
from mcpc_runtime.handlers.bash.libraries import LAUNCHER, ShellPrograms, encode_variables, join_texts
from mcpc_runtime.handlers.invocations import NOTES
from mcpc_runtime.handlers.output_capture import NoteReader, TakeData, drain, write_memory_file
from mcpc_runtime.transports.platforms import system
from mcpc_runtime.transports.platforms.files import new_memory_file
from mcpc_runtime.transports.platforms.pipes import incoming, outgoing
from mcpc_runtime.transports.platforms.processes import CALL_VARIABLE

INPUT_FD, OUTPUT_FD, ERRORS_FD = 0, 1, 2
PREFIX_VARIABLE = b"MCPC_NOTE_PREFIX"
"""The variable with what comes before each note, where notes are not on a descriptor by themselves."""
REPLIES_VARIABLE = b"MCPC_ANSWERS"
"""The variable with the number of the descriptor for replies to `mcpc_call` and `mcpc_ask`."""
BOOT_TEXTS = 6
BOOT = f"""exec 3<&0 {NOTES_FD}>&2 {SHELL_ERRORS_FD}>&{{errors}} {{replies}} 0</dev/null 2>/dev/null
mapfile -d '' -t -n {BOOT_TEXTS} -u 3 __mcpc_texts
BASH_ARGV0=${{{{__mcpc_texts[1]-}}}}
set -- "${{{{__mcpc_texts[@]:2:4}}}}"
eval "${{{{__mcpc_texts[0]-exit 126}}}}"
"""
"""What Bash runs first.

It reads the program, a name for messages, the function, the count of texts for variables, that of all texts, and
whether errexit holds.
"""


class PrefixedNotes:
    """Separates notes, each a line after a prefix, from what else is written to the same stream."""

    __slots__ = ("_is_note", "_notes", "_other", "_rest", "prefix")

    def __init__(self, prefix: bytes, notes: TakeData, other: TakeData) -> None:
        self.prefix = prefix
        self._notes = notes
        self._other = other
        self._is_note = False
        self._rest = b""

    def feed(self, data: bytes) -> None:
        """Forward what was written; the beginning of what may be a prefix waits for more."""
        data, self._rest = self._rest + data, b""
        while data:
            if self._is_note:
                line, line_break, data = data.partition(b"\n")
                self._notes(line + line_break)
                self._is_note = not line_break
                continue
            # A note is a line that begins with a random prefix; all else is output for the log.
            text, prefix, data = data.partition(self.prefix)
            if not prefix:
                size = common_length(text, self.prefix)
                text, self._rest = text[: len(text) - size], text[len(text) - size :]
            if text:
                self._other(text)
            self._is_note = bool(prefix)

    def close(self) -> None:
        """Forward what waits."""
        rest, self._rest = self._rest, b""
        if rest:
            self._other(rest)


def common_length(text: bytes, prefix: bytes) -> int:
    """Return how many bytes at the end of a text are the beginning of a prefix."""
    return next((size for size in range(min(len(text), len(prefix) - 1), 0, -1) if text.endswith(prefix[:size])), 0)


class StandardStreamsJob(ShellJob):
    """A call in a shell of which only the standard streams are the server's."""

    __slots__ = ("_errors",)
    _errors: PrefixedNotes | None

    def connect_streams(self) -> None:
        """Open the outputs; raise OSError if there is no room."""
        output, self.shell_ends[OUTPUT_FD] = incoming()
        self.streams[output] = self.capture.add_output
        errors, self.shell_ends[ERRORS_FD] = incoming()
        notes = NoteReader(self._take_note, self._take_control_line).feed
        if self.call.merged:
            self._notes, self._errors, self.streams[errors] = errors, None, notes
        else:
            # 96 random bits between record separators, which a function can neither guess nor write by chance.
            prefix = b"\x1e%b\x1e" % system.urandom(12).hex().encode()
            self._errors = PrefixedNotes(prefix, notes, self.capture.add_errors)
            self.streams[errors] = self._errors.feed
        for end in self.streams:
            self._watch(end)

    def run(self, libraries: ShellPrograms) -> None:
        """Start the shell; raise OSError if there is no room."""
        call = self.call
        self.connect_streams()
        variables = encode_variables(call)
        texts = join_texts([*libraries.texts(call.slice if call.isolated else b""), call.argument, *variables])
        name = call.file.rpartition("/")[2].encode("utf-8", "surrogateescape")
        counts = b"%d" % len(variables), b"%d" % texts.count(b"\0"), call.errexit.encode()
        self._send(join_texts([libraries.program(LAUNCHER).encode(), name, call.function.encode(), *counts]) + texts)
        boot = BOOT.format(
            errors=OUTPUT_FD if call.merged else ERRORS_FD, replies=f"{REPLIES_FD}<&0" if call.calls_tools else ""
        )
        environment = {**libraries.environment(call.environment), **self._variables()}
        argv = ["bash", "--norc", "--noprofile", "-c", boot]
        self.child = self._host.supervisor.spawn(argv, environment, dict(self.shell_ends), self.end)
        self.close_shell_ends()

    def _variables(self) -> dict[bytes, bytes]:
        """Return the variables by which the shell finds its notes and replies."""
        variables = {CALL_VARIABLE.encode(): self.mark.encode(), NOTES.encode(): b"%d" % NOTES_FD}
        replies = {REPLIES_VARIABLE: b"%d" % REPLIES_FD} if self.call.calls_tools else {}
        prefix = {} if self._errors is None else {PREFIX_VARIABLE: self._errors.prefix}
        return {**variables, **replies, **prefix}

    def _send(self, data: bytes) -> None:
        """Give the shell its standard input: a file, which Bash reads at once, or a pipe where replies follow."""
        if self.call.calls_tools:
            self._replies, self.shell_ends[INPUT_FD] = outgoing()
            self._feed_later(self._replies, data)
        else:
            self.shell_ends[INPUT_FD] = new_memory_file()
            write_memory_file(self.shell_ends[INPUT_FD], data)

    def finish(self, problem: str = "") -> None:
        """Forward what waits for the rest of a prefix, and deliver the result."""
        if not self._is_finished:
            drain(self.streams, self._drop)
            if self._errors is not None:
                self._errors.close()
        super().finish(problem)
