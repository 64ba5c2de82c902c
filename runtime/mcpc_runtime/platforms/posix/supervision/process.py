"""The supervisor's own process: starts what the server asks for, ends what it is told to, and outlives the server.

Its law: it waits in one place, for the socket and for its children, and whatever else it does ends at once.  It is
the parent of every orphan among its descendants, so that when the server is gone, however it went, all below can be
found and ended.  Messages from the server:

    ("spawn", number, argv, environment, numbers, directory)    with a descriptor for each of `numbers`
    ("end", pid, mark)    ("keep", folder)

and to it: ("started", number, pid), ("failed", number, problem), ("ended", number, status, whether its group is left).
"""

from __future__ import annotations

import _signal
import _socket
import gc
import posix
import sys
from errno import EAGAIN, EMFILE, ENFILE, ENOMEM
from select import POLLIN, POLLOUT, poll
from time import monotonic

from mcpc_runtime.platforms.posix import system_features as ways
from mcpc_runtime.platforms.posix.supervision.ending import ProcessGroups, Termination
from mcpc_runtime.platforms.posix.supervision.folders import remove_tree
from mcpc_runtime.platforms.posix.supervision.program import start
from mcpc_runtime.platforms.posix.supervision.subreaper import become, conceal
from mcpc_runtime.platforms.posix.supervision.wire import NOWHERE, DescriptorSocket, close_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    from mcpc_runtime.platforms.posix.supervision.wire import Message

GRACE_SECONDS = 2.0
"""Between asking what a call started to end and ending it."""
LAST_GRACE_SECONDS = 0.4
"""The same when the server has gone."""
GIVE_UP_SECONDS = 10.0
"""After this the supervisor goes, though something below it (another user's) could not be ended."""
ROOM = (EAGAIN, ENOMEM, EMFILE, ENFILE)
ROOM_SECONDS = 10.0
"""How long a process is tried to be started while the system has no room for it."""
RETRY_SECONDS = 0.05
MAX_WAITING = 100
IGNORED = (_signal.SIGTERM, _signal.SIGINT, _signal.SIGHUP, _signal.SIGPIPE)
SOCKET = 10
"""Where the socket is moved to: numbers below are plugged, for they are what children's descriptors are called."""


def serve(descriptor: int, server: int) -> NoReturn:
    """Be the supervisor of the process `server`, on this end of a socket, until the other end is closed."""
    try:
        keeper = settle(descriptor, server)
        try:
            keeper.run()
        finally:
            keeper.finish()
    except BaseException:
        sys.excepthook(*sys.exc_info())
        raise
    finally:
        posix._exit(0)


def settle(descriptor: int, server: int) -> SupervisorProcess:
    """Leave everything of the server's but the socket and the three standard streams."""
    if posix.getsid(0) != posix.getpid():  # else it was started as the leader of a session
        posix.setsid()
    for number in IGNORED:
        _signal.signal(number, _signal.SIG_IGN)
    _signal.signal(_signal.SIGCHLD, lambda number, frame: None)
    if descriptor != SOCKET:
        posix.dup2(descriptor, SOCKET, False)
    close_from(SOCKET + 1)
    null = posix.open("/dev/null", posix.O_RDWR)
    for number in range(3, SOCKET):
        if number != null:
            posix.dup2(null, number, False)
    wake, woken = posix.pipe()
    posix.set_blocking(wake, False)
    posix.set_blocking(woken, False)
    _signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    _signal.pthread_sigmask(_signal.SIG_SETMASK, ())
    gc.freeze()
    conceal()  # if it was forked, it is already
    wire = DescriptorSocket(_socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM, 0, SOCKET))
    return SupervisorProcess(wire, wake, ProcessGroups(server, adopts=become()))


def close_from(lowest: int) -> None:
    """Close every descriptor from this number on: O(those that are open), not O(those that there might be)."""
    if not ways.has("closerange"):
        try:
            close_all([number for number in map(int, posix.listdir("/dev/fd")) if number >= lowest])
        except OSError:
            pass
        else:
            return
    posix.closerange(lowest, max(4096, min(posix.sysconf("SC_OPEN_MAX"), 1 << 20)))


class SupervisorProcess:
    """The children there are, and what is still to be done about them."""

    def __init__(self, wire: DescriptorSocket, wake: int, family: ProcessGroups) -> None:
        self._wire = wire
        self._wake = wake
        self._family = family
        self._poll = poll()
        self._poll.register(wake, POLLIN)
        self._poll.register(wire.descriptor, POLLIN)
        self._numbers: dict[int, int] = {}
        self._waiting: list[tuple[float, Message, list[int]]] = []
        self._endings: list[Termination] = []
        self._timers: list[tuple[float, Callable[[], None]]] = []
        self._folders: list[str] = []

    def run(self) -> None:
        """Do what the server asks for until it has gone."""
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
            self._family.signal(endings, _signal.SIGTERM)
            self._after(GRACE_SECONDS, lambda: self._kill(endings, 1))
        self._poll.modify(self._wire.descriptor, POLLIN | POLLOUT if self._wire.pending else POLLIN)
        return True

    def _timeout(self) -> int | None:
        return max(0, int((self._timers[0][0] - monotonic()) * 1000) + 1) if self._timers else None

    def _after(self, seconds: float, callback: Callable[[], None]) -> None:
        self._timers.append((monotonic() + seconds, callback))
        self._timers.sort(key=lambda timer: timer[0])

    def _exchange(self) -> bool:
        """Take what the server says; False if it has gone."""
        self._wire.flush()
        messages = self._wire.receive()
        for message, descriptors in messages or ():
            if message[0] == "spawn":
                self._spawn(monotonic() + ROOM_SECONDS, message, descriptors)
            elif message[0] == "end":
                self._stop(message[1], message[2].encode())
            else:
                self._folders.append(message[1])
        return messages is not None

    def _spawn(self, deadline: float, message: Message, descriptors: list[int]) -> None:
        """Start a process; while the system has no room for it, try again."""
        _, number, argv, environment, numbers, directory = message
        try:
            if NOWHERE in descriptors:
                raise OSError(EMFILE, posix.strerror(EMFILE))
            self._family.prepare()
            pid = start(argv, environment, dict(zip(numbers, descriptors, strict=True)), directory)
        except (OSError, TypeError, ValueError) as problem:
            room = isinstance(problem, OSError) and problem.errno in ROOM and NOWHERE not in descriptors
            if room and monotonic() < deadline and len(self._waiting) < MAX_WAITING:
                if not self._waiting:
                    self._after(RETRY_SECONDS, self._retry)
                self._waiting.append((deadline, message, descriptors))
                return
            reason = problem.strerror if isinstance(problem, OSError) else str(problem)
            self._wire.send(("failed", number, f"cannot run {argv[0] if argv else 'nothing'}: {reason}"))
        else:
            self._numbers[pid] = number
            self._family.begin(pid, environment)
            self._wire.send(("started", number, pid))
        close_all(descriptors)

    def _retry(self) -> None:
        waiting, self._waiting = self._waiting, []
        for deadline, message, descriptors in waiting:
            self._spawn(deadline, message, descriptors)

    def _stop(self, pid: int, mark: bytes) -> None:
        """Have what a call started ended, at the end of this turn: all that are to be ended share one look around."""
        if pid > 1 or mark:
            self._endings.append(Termination(pid, mark))
        kept = []
        for row in self._waiting:
            if mark and self._family.mark_in(row[1][3]) == mark:
                self._wire.send(("failed", row[1][1], "stopped before it started"))
                close_all(row[2])
            else:
                kept.append(row)
        self._waiting = kept

    def _kill(self, endings: list[Termination], tries: int) -> None:
        """End what is left, again until nothing is: it may have started more meanwhile."""
        left = self._family.signal(endings, _signal.SIGKILL)
        if left and tries < 20:
            self._after(0.01 * tries, lambda: self._kill(left, tries + 1))

    def _reap(self) -> bool:
        """Take every child that has ended; False if there is none left."""
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
            is_left = self._family.reaped(pid)
            number = self._numbers.pop(pid, None)
            if number is not None:
                self._wire.send(("ended", number, posix.waitstatus_to_exitcode(status), is_left))

    def finish(self) -> None:
        """End everything there is below: TERM, and a moment later KILL until nothing is left."""
        began = monotonic()
        waiter = poll()
        waiter.register(self._wake, POLLIN)
        if self._is_any_left():
            self._family.signal_all(_signal.SIGTERM)
        while self._is_any_left():
            rest = began + LAST_GRACE_SECONDS - monotonic()
            if rest <= 0:
                self._family.signal_all(_signal.SIGKILL)
            if rest < -GIVE_UP_SECONDS:
                break
            waiter.poll(20 if rest <= 0 else int(rest * 1000) + 1)
        for folder in self._folders:
            remove_tree(folder)

    def _is_any_left(self) -> bool:
        return self._reap() or self._family.is_any_left()
