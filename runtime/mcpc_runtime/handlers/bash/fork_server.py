"""The fork server: a Bash process that has read the libraries once, and forks a child for each call.

A spare child always waits for the next call, so forking adds no latency.  The fork server reads only the numbers of a
call's descriptors, and the child that takes the call opens them in /proc (see below).  A call is begun
at most once: it is moved to another shell only if no child has begun it, after its texts are withdrawn from this one.

Descriptor passing: a small process holds the descriptors of calls, and children of a fork server open them there.

Bash takes a descriptor of another process only by opening it in /proc, and the server's own /proc entry is closed to
others, because its secrets and connections are there.  So the server sends sets of descriptors to a small process,
which replies with their numbers, before a call needs them: passing adds no latency to calls.  Of a function's outputs
that process has the read ends: opened in /proc they can be written to, and the pipe still ends when the function does.
"""

from __future__ import annotations

import _socket
import sys
from collections.abc import Callable, Mapping
from time import monotonic

from mcpc_runtime.handlers.bash.job import (
    ERRORS_FD,
    NOTES_FD,
    OUTPUT_FD,
    REPLIES_FD,
    TEXTS_FD,
    CallDescriptors,
    ShellJob,
)
from mcpc_runtime.handlers.bash.libraries import ShellPrograms, encode_variables, join_texts
from mcpc_runtime.handlers.output_capture import memory_file, read_some
from mcpc_runtime.handlers.runner_context import RunnerContext
from mcpc_runtime.transports.platforms import system
from mcpc_runtime.transports.platforms.cleanup import OpenDescriptors, Rollback
from mcpc_runtime.transports.platforms.pipes import close, incoming, outgoing
from mcpc_runtime.transports.platforms.processes import CALL_VARIABLE, SIGKILL, signal_group
from mcpc_runtime.transports.platforms.reactor import READABLE

SCRIPT = "forkserver.bash"
SPARE = b"."
MAX_WAITING = 64
"""The number of lines about calls that fit into a pipe of the smallest size."""
READ_SECONDS = 60.0
"""Seconds that reading the libraries may take."""
BEGIN_SECONDS = 2.0
"""Seconds without a call being begun, while calls wait, after which the fork server counts as lost."""
CHECK_SECONDS = 0.5


class ForkServer:
    """One fork server.  `waiting`: calls that no child has begun, by number.

    `on_begun` is called with the environment when a child begins a call, `lost` when the server cannot continue.
    """

    def __init__(
        self, host: RunnerContext, libraries: ShellPrograms, environment: int, lost: Callable[[ForkServer], None]
    ) -> None:
        self._host = host
        self._lost = lost
        self._last_progress = monotonic()
        self._is_checking = False
        self.on_begun: Callable[[int], None] = lambda environment: None
        self.environment = environment
        self.is_over = False
        self.is_ready = False
        self.mark = f"{system.getpid()}.f{id(self):x}"
        self.waiting: dict[int, ShellJob] = {}
        with OpenDescriptors() as opened, Rollback(self._abandon):
            self._start(libraries, opened)

    def _abandon(self) -> None:
        self.is_over = True  # processes that were started may still report their end

    def _start(self, libraries: ShellPrograms, opened: list[int]) -> None:
        texts = memory_file(join_texts(libraries.texts()), opened)
        self._spares, spares = outgoing()
        opened += (self._spares, spares)
        self._calls, self._unbegun = outgoing()
        opened += (self._calls, self._unbegun)
        self._ready, ready = incoming()
        opened += (self._ready, ready)
        # The first spare child is forked as soon as the libraries are read, before any call.
        system.write(self._spares, SPARE)
        argv = ["bash", "--norc", "--noprofile", "-c", libraries.program(SCRIPT), libraries.name]
        environment = {**libraries.environment(self.environment), CALL_VARIABLE.encode(): self.mark.encode()}
        descriptors = {3: texts, 4: spares, 5: self._unbegun, 6: ready}
        self._passing = DescriptorPassing(self._host, environment, self._ended)
        self._passing.on_ready = lambda: self.on_begun(self.environment)
        with Rollback(self._passing.close):
            self._child = self._host.supervisor.spawn(argv, environment, descriptors, self._ended)
        for descriptor in (texts, spares, ready):
            close(descriptor)
        self._host.reactor.watch(self._ready, READABLE, self._read_ready)

    @property
    def is_full(self) -> bool:
        """Whether MAX_WAITING calls wait for a child, or no descriptors are ready for another call."""
        return len(self.waiting) >= MAX_WAITING or not self._passing.is_ready

    def start_call(self, job: ShellJob, number: int) -> None:
        """Give a call to a child; the server must not be full.  Raise OSError, with nothing begun, without room."""
        call = job.call
        job.number = number
        ends = self._passing.take()
        job.descriptor_set = ends.number
        job.connect(ends)
        head = b"%0*d" % (NUMBER_WIDTH, number)
        how = f"{'t' if call.traps else ''}{call.errexit}"
        pieces = [head, job.mark.encode(), call.function.encode(), call.argument, how.encode()]
        try:
            job.write_texts(join_texts(pieces + encode_variables(call)))
            self._ask_for_spare()
            # Shorter than PIPE_BUF, so that a pipe takes the line whole (POSIX); each child reads LINE_LENGTH bytes.
            system.write(self._calls, call_line(head, ends))
        except OSError:
            self._passing.forget(job.descriptor_set)
            raise
        job.on_begun = self._begun
        if not self.waiting:
            self._last_progress = monotonic()
        self.waiting[number] = job
        if not self._is_checking:
            self._is_checking = True
            self._host.reactor.after(CHECK_SECONDS, self._check)

    def _ask_for_spare(self) -> None:
        try:
            system.write(self._spares, SPARE)
        except BrokenPipeError:
            return  # the server has just ended: `_ended` will be called

    def close(self) -> None:
        """Close everything; the spare child ends by itself."""
        self.stop()
        self._passing.close()

    def stop(self) -> None:
        """Close all but the descriptors of calls, which a child that took one may not have opened yet."""
        self.is_over = True
        self._host.reactor.forget(self._ready)
        for descriptor in (self._spares, self._calls, self._unbegun, self._ready):
            close(descriptor)
        self._spares = self._calls = self._unbegun = self._ready = -1

    def withdraw_untaken(self) -> set[int]:
        """Return the numbers of the calls that no child has taken, and remove them from the pipe, so that none will."""
        system.set_blocking(self._unbegun, False)
        untaken: set[int] = set()
        while data := read_some(self._unbegun):
            untaken.update(int(data[at : at + NUMBER_WIDTH]) for at in range(0, len(data), LINE_LENGTH))
        return untaken

    def _read_ready(self) -> None:
        self.is_ready = read_some(self._ready) == b"ready\n"
        self._last_progress = monotonic()
        self._host.reactor.forget(self._ready)

    def _begun(self, job: ShellJob) -> None:
        self._last_progress = monotonic()
        del self.waiting[job.number]
        self._passing.forget(job.descriptor_set)
        if job.done is None:
            self._host.supervisor.end(job.pid, job.mark)
        self.on_begun(self.environment)

    def _check(self) -> None:
        """End a server that begins no calls; scheduled only while calls wait."""
        self._is_checking = False
        if self.is_over or not self.waiting:
            return
        if monotonic() - self._last_progress >= (BEGIN_SECONDS if self.is_ready else READ_SECONDS):
            if self._child.pid:
                signal_group(self._child.pid, SIGKILL)
            else:
                self._host.supervisor.end(0, self.mark)
            self._report_lost()
        else:
            self._is_checking = True
            self._host.reactor.after(CHECK_SECONDS, self._check)

    def _ended(self, status: int, problem: str) -> None:
        if not self.is_over:
            self._report_lost()

    def _report_lost(self) -> None:
        self.is_over = True
        self._lost(self)


# Numbers of processes and descriptors are padded with `/`, which a path may repeat: `/proc/////1234/fd/////45`.
NUMBER_WIDTH, FIELD_WIDTH, PROCESS_WIDTH = 10, 6, 8
"""The widths of a line's fields: the call's number, each of its descriptors, and the process that holds them."""
PASSED_DESCRIPTORS = (TEXTS_FD, OUTPUT_FD, ERRORS_FD, NOTES_FD, REPLIES_FD)
LINE_LENGTH = NUMBER_WIDTH + len(PASSED_DESCRIPTORS) * FIELD_WIDTH + PROCESS_WIDTH
MAX_READY, MIN_READY = 4, 2
"""The number of sets to have ready, and below which new ones are sent at once, several in one message."""
FILL_SECONDS = 0.05
"""Delay before missing sets are replaced while enough are left."""
RETRY_SECONDS = 0.1
"""Delay before the next attempt when no set could be sent."""
COUNT_WIDTH = 2
"""The width of a message's count of sets; then follow the numbers of the sets, and of those to be closed."""
FORGET_SECONDS = 0.5
"""Delay before the process closes sets that no call needs, while no other call comes."""
MAX_FORGOTTEN = 100
SOCKET_FD = 3
MAX_MESSAGE_SIZE = 4096
PROGRAM = f"""
import _socket, posix
intake = _socket.socket(fileno={SOCKET_FD})
place = str(posix.getpid()).rjust({PROCESS_WIDTH}, "/").encode()
kept = {{}}
room = _socket.CMSG_SPACE({4 * len(PASSED_DESCRIPTORS) * MAX_READY})
while True:
    try:
        data, passed, _, _ = intake.recvmsg({MAX_MESSAGE_SIZE}, room, _socket.MSG_CMSG_CLOEXEC)
        if not data:
            break
        rights = passed[0][2] if passed else b""
        ends = [int.from_bytes(rights[at : at + 4], "little") for at in range(0, len(rights), 4)]
        numbers = [data[at : at + {NUMBER_WIDTH}] for at in range({COUNT_WIDTH}, len(data), {NUMBER_WIDTH})]
        count = int(data[:{COUNT_WIDTH}])
        lines = []
        for number in numbers[:count]:
            kept[number], ends = ends[:{len(PASSED_DESCRIPTORS)}], ends[{len(PASSED_DESCRIPTORS)}:]
            lines.append(number + b"".join([(b"%d" % end).rjust({FIELD_WIDTH}, b"/") for end in kept[number]]) + place)
        if lines:
            intake.send(b"".join(lines))
    except (BrokenPipeError, ConnectionResetError):
        break
    for number in numbers[count:]:
        for end in kept.pop(number, ()):
            posix.close(end)
"""


class DescriptorPassing:
    """The sets of descriptors that are ready for calls; `on_ready` is called when new ones are."""

    def __init__(
        self, host: RunnerContext, environment: Mapping[bytes, bytes], ended: Callable[[int, str], None]
    ) -> None:
        self._reactor = host.reactor
        self._is_filling = self._is_forgetting = self._is_over = False
        self._number = 0
        self._sent: dict[bytes, CallDescriptors] = {}
        self._ready: list[CallDescriptors] = []
        self._forgotten: list[bytes] = []
        self.on_ready: Callable[[], None] = lambda: None
        # SOCK_SEQPACKET keeps the bounds of messages, so that descriptors arrive with the numbers of their sets.
        self._socket, theirs = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
        self._socket.setblocking(False)
        argv = [sys.executable or "python3", "-I", "-S", "-c", PROGRAM]
        with Rollback(self._socket.close):
            try:
                host.supervisor.spawn(argv, environment, {SOCKET_FD: theirs.fileno()}, ended)
            finally:
                theirs.close()
        self._reactor.watch(self._socket.fileno(), READABLE, self._receive)
        self._replenish()

    @property
    def is_ready(self) -> bool:
        """Whether a set is ready for a call."""
        return bool(self._ready)

    def take(self) -> CallDescriptors:
        """Return a set, and prepare the next.  Call `forget` with its number when a child has begun the call."""
        ends = self._ready.pop(0)
        self._replenish()
        return ends

    def forget(self, number: bytes) -> None:
        """Have the other process close a set: with the next message, or after FORGET_SECONDS."""
        self._forgotten.append(number)
        self._forget_later()

    def _forget_later(self) -> None:
        if not self._is_forgetting:
            self._is_forgetting = True
            self._reactor.after(FORGET_SECONDS, self._forget)

    def _forget(self) -> None:
        self._is_forgetting = False
        closing, self._forgotten = self._forgotten[:MAX_FORGOTTEN], self._forgotten[MAX_FORGOTTEN:]
        try:
            if closing:
                self._socket.send(b"".join([b"%0*d" % (COUNT_WIDTH, 0), *closing]))
        except BlockingIOError:
            self._forgotten = closing + self._forgotten
        except OSError:
            return  # the process has ended
        if self._forgotten:
            self._forget_later()

    def close(self) -> None:
        """Close all sets that are not in use by a call."""
        self._is_over = True
        if self._socket.fileno() >= 0:
            self._reactor.forget(self._socket.fileno())
        self._socket.close()
        for ends in (*self._ready, *self._sent.values()):
            ends.close()
        self._ready.clear()
        self._sent.clear()

    def _replenish(self) -> None:
        """Send new sets: at once if few are left, else after FILL_SECONDS."""
        if len(self._ready) + len(self._sent) < MIN_READY:
            self._fill()
        elif not self._is_filling:
            self._is_filling = True
            self._reactor.after(FILL_SECONDS, self._fill_up)

    def _fill_up(self) -> None:
        self._is_filling = False
        self._fill()

    def _fill(self) -> None:
        """Send the missing sets; only one if there is no room for all; retry later if there is no room for one."""
        missing = 0 if self._is_over else MAX_READY - len(self._ready) - len(self._sent)
        for count in sorted({missing, min(missing, 1)} - {0}, reverse=True):
            try:
                self._send(count)
            except OSError:
                continue
            return
        if missing == MAX_READY:
            self._reactor.after(RETRY_SECONDS, self._fill)

    def _send(self, count: int) -> None:
        opened: list[CallDescriptors] = []
        try:
            for _ in range(count):
                self._number += 1
                opened.append(CallDescriptors(b"%0*d" % (NUMBER_WIDTH, self._number)))
                opened[-1].open()
            rights = b"".join(
                [ends.end_to_pass(name).to_bytes(4, "little") for ends in opened for name in PASSED_DESCRIPTORS]
            )
            closing = self._forgotten[:MAX_FORGOTTEN]
            head = b"".join([b"%0*d" % (COUNT_WIDTH, count), *(ends.number for ends in opened), *closing])
            self._socket.sendmsg([head], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, rights)])
        except OSError:
            for ends in opened:
                ends.close()
            raise
        del self._forgotten[: len(closing)]
        self._sent.update((ends.number, ends) for ends in opened)

    def _receive(self) -> None:
        """Read the other process's numbers of the descriptors.

        If the connection is lost, no call gets a set any more; the supervisor then reports the end of the process.
        """
        try:
            data = self._socket.recv(MAX_MESSAGE_SIZE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.close()
            return
        for start in range(0, len(data), LINE_LENGTH):
            ends = self._sent.pop(data[start : start + NUMBER_WIDTH], None)
            if ends is not None:
                fields = data[start + NUMBER_WIDTH : start + LINE_LENGTH]
                ends.fields = {
                    name: fields[at * FIELD_WIDTH : (at + 1) * FIELD_WIDTH]
                    for at, name in enumerate(PASSED_DESCRIPTORS)
                }
                ends.process = fields[len(PASSED_DESCRIPTORS) * FIELD_WIDTH :]
                self._ready.append(ends)
        self.on_ready()


def call_line(number: bytes, ends: CallDescriptors) -> bytes:
    """Return the line about a call that a child reads."""
    return number + b"".join([ends.fields.get(name, b"/" * FIELD_WIDTH) for name in PASSED_DESCRIPTORS]) + ends.process
