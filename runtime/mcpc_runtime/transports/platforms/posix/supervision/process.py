"""The supervisor process: starts and ends processes as the server requests, and outlives the server.

It blocks in one place only, for the socket and for its children.  It adopts every orphan among its descendants, so that
all of them can be found and ended when the server has ended, for whatever reason.  Messages from the server:

    ("spawn", number, argv, environment, numbers, directory)    with a descriptor for each of `numbers`
    ("end", pid, mark)    ("keep", folder)    ("time", number): this process ends by itself when the server has ended

and to it: ("started", number, pid), ("failed", number, problem), ("ended", number, status, is_left): members of its
group remain.

Settings of this process by `prctl` (Linux only): adopt orphaned descendants, and hide its memory.
"""

from __future__ import annotations

import _signal
import _socket
import gc
import posix
import sys
from collections.abc import Callable
from errno import EAGAIN, EMFILE, ENFILE, ENOMEM
from select import POLLIN, POLLOUT, poll
from time import monotonic
from typing import NoReturn

from mcpc_runtime.transports.platforms.cleanup import remove_tree
from mcpc_runtime.transports.platforms.posix import system_features
from mcpc_runtime.transports.platforms.posix.files import open_null
from mcpc_runtime.transports.platforms.posix.supervision.program import start_program
from mcpc_runtime.transports.platforms.posix.supervision.termination import ProcessGroups, Termination
from mcpc_runtime.transports.platforms.posix.supervision.wire import MISSING, DescriptorSocket, Message, close_all

SET_CHILD_SUBREAPER, SET_DUMPABLE = 36, 4


def become_subreaper() -> bool:
    """Make this process adopt its orphaned descendants, daemons included; False where that is not supported.

    `_ctypes` alone costs a fifth of `ctypes`.  Raise OSError if there is no room to load it.
    """
    return call_prctl(SET_CHILD_SUBREAPER, 1)


def make_undumpable() -> bool:
    """Hide this process's memory, variables and descriptors from other processes without special privileges.

    Forked children inherit this; programs that they execute do not.
    """
    return call_prctl(SET_DUMPABLE, 0)


def call_prctl(option: int, value: int) -> bool:
    """Call `prctl` for this process; False where it is missing or refuses."""
    if not system_features.has("subreaper"):
        return False
    try:
        prctl = system_features.address_of("prctl")
    except ImportError:
        # `has` found it, or could not look for lack of descriptors; these are lacking, then.
        raise OSError(EMFILE, posix.strerror(EMFILE)) from None
    return system_features.call(prctl, (option, value, 0, 0, 0)) == 0


GRACE_SECONDS = 2.0
"""Between TERM and KILL for the processes of a call."""
LEAVE_SECONDS = 5.5
"""How long those processes may take that end by themselves when the server has ended."""
LAST_GRACE_SECONDS = 0.4
"""The same when the server has ended."""
GIVE_UP_SECONDS = 10.0
"""After this the supervisor exits, although a descendant (another user's) could not be ended."""
NO_ROOM = (EAGAIN, ENOMEM, EMFILE, ENFILE)
START_SECONDS = 10.0
"""How long starting a process is retried while the system lacks resources."""
RETRY_SECONDS = 0.05
MAX_WAITING = 100
IGNORED = (_signal.SIGTERM, _signal.SIGINT, _signal.SIGHUP, _signal.SIGPIPE)
SOCKET_DESCRIPTOR = 10
"""The number of the socket; lower numbers are opened to /dev/null, since children use them."""


def run_supervisor(descriptor: int, server: int) -> NoReturn:
    """Run as supervisor of the process `server`, on this end of a socket, until the other end is closed."""
    try:
        supervisor = set_up(descriptor, server)
        try:
            supervisor.run()
        finally:
            supervisor.finish()
    except BaseException:
        sys.excepthook(*sys.exc_info())
        raise
    finally:
        # A forked supervisor must neither return into the server's code nor run its exit handlers.
        posix._exit(0)


def set_up(descriptor: int, server: int) -> SupervisorProcess:
    """Keep only the socket and the three standard streams of the server's; reset signals and session."""
    if posix.getsid(0) != posix.getpid():  # else it was started as the leader of a session
        posix.setsid()
    for number in IGNORED:
        _signal.signal(number, _signal.SIG_IGN)
    # It does nothing, but without a handler in Python the wakeup descriptor gets no byte.
    _signal.signal(_signal.SIGCHLD, lambda number, frame: None)
    if descriptor != SOCKET_DESCRIPTOR:
        posix.dup2(descriptor, SOCKET_DESCRIPTOR, False)
    close_from(SOCKET_DESCRIPTOR + 1)
    null = open_null()
    for number in range(3, SOCKET_DESCRIPTOR):
        # The null device itself may have got one of these numbers.
        if number != null:
            posix.dup2(null, number, False)
    wake, woken = posix.pipe()
    posix.set_blocking(wake, False)
    posix.set_blocking(woken, False)
    _signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    _signal.pthread_sigmask(_signal.SIG_SETMASK, ())
    # What the server has made is not visited by the collector, so that its memory stays shared after a fork.
    gc.freeze()
    make_undumpable()  # if it was forked, it is already
    wire = DescriptorSocket(_socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM, 0, SOCKET_DESCRIPTOR))
    return SupervisorProcess(wire, wake, ProcessGroups(server, adopts=become_subreaper()))


def close_from(lowest: int) -> None:
    """Close every descriptor from this number on: O(open descriptors), not O(possible descriptors)."""
    if not system_features.has("closerange"):
        try:
            close_all([number for number in map(int, posix.listdir("/dev/fd")) if number >= lowest])
        except OSError:
            pass
        else:
            return
    # The limit may be none (-1) or a billion, and each number may cost a system call.
    posix.closerange(lowest, max(4096, min(posix.sysconf("SC_OPEN_MAX"), 1 << 20)))


class SupervisorProcess:
    """The children, the requests that wait for resources, and the calls that are being ended."""

    def __init__(self, wire: DescriptorSocket, wake: int, groups: ProcessGroups) -> None:
        self._wire = wire
        self._wake = wake
        self._groups = groups
        self._poll = poll()
        self._poll.register(wake, POLLIN)
        self._poll.register(wire.descriptor, POLLIN)
        self._numbers: dict[int, int] = {}
        self._waiting: list[tuple[float, Message, list[int]]] = []
        self._endings: list[Termination] = []
        self._timers: list[tuple[float, Callable[[], None]]] = []
        self._folders: list[str] = []
        self._leaving: set[int] = set()

    def run(self) -> None:
        """Handle the server's requests until it has ended."""
        while self._turn():
            pass

    def _turn(self) -> bool:
        for descriptor, _ in self._poll.poll(self._timeout()):
            if descriptor == self._wake:
                self._reap()
            elif not self._exchange():
                return False
        while self._timers and self._timers[0][0] <= monotonic():
            self._timers.pop(0)[1]()
        if self._endings:
            endings, self._endings = self._endings, []
            self._groups.signal_calls(endings, _signal.SIGTERM)
            self._after(GRACE_SECONDS, lambda: self._kill(endings, 1))
        # In every turn, since each of the steps above may have queued a message.
        self._poll.modify(self._wire.descriptor, POLLIN | POLLOUT if self._wire.pending else POLLIN)
        return True

    def _timeout(self) -> int | None:
        return max(0, int((self._timers[0][0] - monotonic()) * 1000) + 1) if self._timers else None

    def _after(self, seconds: float, callback: Callable[[], None]) -> None:
        self._timers.append((monotonic() + seconds, callback))
        self._timers.sort(key=lambda timer: timer[0])

    def _exchange(self) -> bool:
        """Handle the server's messages; return False if it has ended."""
        self._wire.flush()
        messages = self._wire.receive()
        for message, descriptors in messages or ():
            if message[0] == "spawn":
                self._spawn(monotonic() + START_SECONDS, message, descriptors)
            elif message[0] == "end":
                self._stop(message[1], message[2].encode())
            elif message[0] == "time":
                self._leaving.add(message[1])
            else:
                self._folders.append(message[1])
        return messages is not None

    def _spawn(self, deadline: float, message: Message, descriptors: list[int]) -> None:
        """Start a process; retry while the system lacks resources."""
        _, number, argv, environment, numbers, directory = message
        try:
            if MISSING in descriptors:
                raise OSError(EMFILE, posix.strerror(EMFILE))
            self._groups.prepare()
            pid = start_program(argv, environment, dict(zip(numbers, descriptors, strict=True)), directory)
        except (OSError, TypeError, ValueError) as problem:
            room = isinstance(problem, OSError) and problem.errno in NO_ROOM and MISSING not in descriptors
            if room and monotonic() < deadline and len(self._waiting) < MAX_WAITING:
                # One timer is for all that wait.
                if not self._waiting:
                    self._after(RETRY_SECONDS, self._retry)
                self._waiting.append((deadline, message, descriptors))
                return
            reason = problem.strerror if isinstance(problem, OSError) else str(problem)
            self._wire.send(("failed", number, f"cannot run {argv[0] if argv else 'nothing'}: {reason}"))
        else:
            self._numbers[pid] = number
            self._groups.begin(pid, environment)
            self._wire.send(("started", number, pid))
        close_all(descriptors)

    def _retry(self) -> None:
        waiting, self._waiting = self._waiting, []
        for deadline, message, descriptors in waiting:
            self._spawn(deadline, message, descriptors)

    def _stop(self, pid: int, mark: bytes) -> None:
        """End the processes of a call at the end of this turn: all calls that end in it share one snapshot."""
        if pid > 1 or mark:
            self._endings.append(Termination(pid, mark))
        remaining = []
        for row in self._waiting:
            if mark and self._groups.call_mark_in(row[1][3]) == mark:
                self._wire.send(("failed", row[1][1], "stopped before it started"))
                close_all(row[2])
            else:
                remaining.append(row)
        self._waiting = remaining

    def _kill(self, endings: list[Termination], tries: int) -> None:
        """Kill the remaining processes, repeatedly: they may have started more meanwhile."""
        left = self._groups.signal_calls(endings, _signal.SIGKILL)
        # The pauses grow, to two seconds in all: what is left then cannot be killed by this user.
        if left and tries < 20:
            self._after(0.01 * tries, lambda: self._kill(left, tries + 1))

    def _reap(self) -> bool:
        """Reap every child that has ended; return False if no child is left."""
        # Emptied first: a child that ends during the loop below leaves a byte for the next turn.
        try:
            while posix.read(self._wake, 512):
                pass
        except BlockingIOError:
            pass
        while True:
            try:
                pid, status = posix.waitpid(-1, posix.WNOHANG)
            except ChildProcessError:
                return False
            if not pid:
                return True
            is_left = self._groups.reaped(pid)
            number = self._numbers.pop(pid, None)
            if number is not None:
                self._leaving.discard(number)
                self._wire.send(("ended", number, posix.waitstatus_to_exitcode(status), is_left))

    def finish(self) -> None:
        """End all descendants: TERM, then KILL until none is left; remove the folders.

        Before that it waits for those that end by themselves, which may need what they have started.
        """
        waiter = poll()
        waiter.register(self._wake, POLLIN)
        deadline = monotonic() + LEAVE_SECONDS
        while self._leaving and (rest := deadline - monotonic()) > 0:
            waiter.poll(int(rest * 1000) + 1)
            self._reap()
        began = monotonic()
        if self._is_any_left():
            self._groups.signal_all(_signal.SIGTERM)
        while self._is_any_left():
            rest = began + LAST_GRACE_SECONDS - monotonic()
            if rest <= 0:
                self._groups.signal_all(_signal.SIGKILL)
            if rest < -GIVE_UP_SECONDS:
                break
            # What is not a child reports no end, and more may be started between two signals: look every 20 ms.
            waiter.poll(20 if rest <= 0 else int(rest * 1000) + 1)
        for folder in self._folders:
            remove_tree(folder)

    def _is_any_left(self) -> bool:
        return self._reap() or self._groups.is_any_left()
