"""The server's side of the supervisor: it requests that processes are started and ended.

Nothing here waits except `close`.  The supervisor is forked from the server with the first process, since that costs
half a millisecond; if threads run, which a fork would not copy, or on macOS, it is started as a program.  If it dies,
the server adopts the processes that it had started and ends them, and the next process gets a new supervisor.
"""

from __future__ import annotations

import _signal
import _socket
import _thread
import posix
import sys
from collections.abc import Callable, Mapping
from select import poll, select
from time import monotonic

from mcpc_runtime.interfaces import ReactorInterface
from mcpc_runtime.transports.platforms.artifact_file import archive_descriptor, check_unchanged
from mcpc_runtime.transports.platforms.cleanup import TEMPORARY_FOLDERS, remove_tree
from mcpc_runtime.transports.platforms.posix import system_features
from mcpc_runtime.transports.platforms.posix.reactor import READABLE, WRITABLE
from mcpc_runtime.transports.platforms.posix.supervision.process import (
    LEAVE_SECONDS,
    become_subreaper,
    make_undumpable,
    run_supervisor,
)
from mcpc_runtime.transports.platforms.posix.supervision.process_table import process_table
from mcpc_runtime.transports.platforms.posix.supervision.program import CATCHABLE, Variables
from mcpc_runtime.transports.platforms.posix.supervision.termination import (
    ProcessSnapshot,
    call_mark,
    signal_group,
    signal_process,
    start_time,
)
from mcpc_runtime.transports.platforms.posix.supervision.wire import MAX_DESCRIPTORS, DescriptorSocket, Message
from mcpc_runtime.transports.platforms.secret_variables import is_secret

BOOT = (
    "import sys;sys.path.insert(0,sys.argv[1]);"
    "from mcpc_runtime.transports.platforms.posix.supervision.process import run_supervisor;"
    "run_supervisor(3,int(sys.argv[2]))"
)
RUNTIME_PATH = __file__.rpartition("/mcpc_runtime/")[0]
"""The path of the runtime: the archive, or a folder."""
CLOSE_SECONDS = 1.5
"""How long the supervisor may take to end everything before the server does it."""
SWEEP_SECONDS = 1.0
ARCHIVE_DESCRIPTOR = 4
"""The descriptor of the server's file in a supervisor that was started as a program."""
MAX_DESCRIPTOR = 9
"""The highest number of a child's descriptors."""


class SupervisedProcess:
    """One process, the leader of its process group; `pid` is 0 until it is known.

    `is_left`: it has ended, but members of its group have not.
    """

    __slots__ = ("callback", "ended", "is_left", "pid")

    def __init__(self, callback: Callable[[int, str], None]) -> None:
        self.callback = callback
        self.pid = 0
        self.ended = False
        self.is_left = False


class Supervisor:
    """Starts processes and ends them with everything that descends from them."""

    def __init__(self, reactor: ReactorInterface) -> None:
        self.errors = -1
        """Where outputs go that are not redirected; if negative, standard error is the server's."""
        self._reactor = reactor
        self._children: dict[int, SupervisedProcess] = {}
        self._number = 0
        self._wire: DescriptorSocket | None = None
        self._is_writing = False
        self._pid = 0
        self._began = 0
        self._folders_sent = 0
        self._gives_time = False

    @property
    def pids(self) -> list[int]:
        """The processes that run."""
        return [child.pid for child in self._children.values() if child.pid]

    def spawn(
        self,
        argv: list[str],
        environment: Variables,
        descriptors: Mapping[int, int],
        callback: Callable[[int, str], None],
        directory: str = "",
    ) -> SupervisedProcess:
        """Start a process whose descriptors are `descriptors` (its number: ours; it has 0 to 2 in any case).

        `callback(status, problem)` is called once: with the exit status or the negative signal number, or with the
        reason why it could not be started.  Raise OSError, with nothing left open, if the request cannot be sent
        (EMFILE, ENOMEM, EAGAIN).
        """
        if self.errors >= 0:
            descriptors = {1: self.errors, 2: self.errors, **descriptors}
        if len(descriptors) > MAX_DESCRIPTORS or max(descriptors, default=0) > MAX_DESCRIPTOR:
            raise ValueError(f"a child's descriptors are numbered up to {MAX_DESCRIPTOR}")
        if self._wire is None:
            self._begin()
        self._send_folders()
        self._number += 1
        request = ("spawn", self._number, argv, dict(environment), tuple(descriptors), directory)
        self._send(request, tuple(descriptors.values()))
        # Only after the request was sent: if that raises, there is no child whose callback would be called.
        child = self._children[self._number] = SupervisedProcess(callback)
        return child

    def end(self, pid: int, mark: str = "") -> None:
        """End the group of `pid`, its descendants and the processes with this call variable: TERM, 2 s later KILL.

        O(processes of the machine), in the supervisor.
        """
        if self._wire is not None:
            self._send(("end", pid, mark))

    def end_rest(self, child: SupervisedProcess) -> None:
        """Kill the remaining group members of a child that has ended."""
        if child.is_left:
            child.is_left = signal_group(child.pid, _signal.SIGKILL)

    def give_time(self, child: SupervisedProcess) -> None:
        """Let a process end by itself when the server has ended, within LEAVE_SECONDS."""
        self._gives_time = True
        for number, known in self._children.items():
            if known is child:
                self._send(("time", number))

    def close(self) -> None:
        """End all processes and wait until they have ended; no callback is called any more."""
        wire, self._wire = self._wire, None
        self._is_writing = False
        children, self._children = self._children, {}
        if wire is not None:
            self._reactor.forget(wire.descriptor)
            wire.finish()
            if wait_for_end(wire, CLOSE_SECONDS + LEAVE_SECONDS * self._gives_time):
                self._reap_supervisor()
            else:
                self._replace([child.pid for child in children.values()])
            wire.close()
        for folder in TEMPORARY_FOLDERS:
            remove_tree(folder)
        TEMPORARY_FOLDERS.clear()

    def _replace(self, leaders: list[int]) -> None:
        """End all processes in place of a supervisor that is stopped or too slow."""
        signal_process(self._pid, _signal.SIGKILL)
        # Its children pass to this process when it has ended: they are looked for after it was reaped.
        self._reap_supervisor()
        sweep(leaders, self._began)

    def _begin(self) -> None:
        """Start the supervisor; raise OSError if there is no room for it."""
        ours, theirs = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_STREAM)
        try:
            # Before the fork: the child inherits hidden memory and the table; this process adopts orphans if it dies.
            become_subreaper()
            make_undumpable()
            process_table()
            self._pid = fork_supervisor(ours, theirs) if may_fork() else spawn_supervisor(theirs)
        except OSError:
            ours.close()
            raise
        finally:
            theirs.close()
        self._began = start_time(self._pid)
        self._wire = DescriptorSocket(ours)
        self._folders_sent = 0
        self._reactor.watch(self._wire.descriptor, READABLE, self._exchange)

    def _send_folders(self) -> None:
        for folder in TEMPORARY_FOLDERS[self._folders_sent :]:
            self._send(("keep", folder))
        self._folders_sent = len(TEMPORARY_FOLDERS)

    def _send(self, message: Message, descriptors: tuple[int, ...] = ()) -> None:
        if self._wire is not None:
            self._wire.send(message, descriptors)
            self._watch()

    def _watch(self) -> None:
        """Watch for room to write while messages are pending."""
        if self._wire is not None and self._wire.pending != self._is_writing:
            self._is_writing = self._wire.pending
            events = READABLE | WRITABLE if self._is_writing else READABLE
            self._reactor.watch(self._wire.descriptor, events, self._exchange)

    def _exchange(self) -> None:
        """Handle the supervisor's messages."""
        wire = self._wire
        if wire is None:
            return
        wire.flush()
        self._watch()
        messages = wire.receive()
        if messages is None:
            self._lose(wire)
        for (kind, number, *rest), _ in messages or ():
            if kind == "started":
                if number in self._children:
                    self._children[number].pid = rest[0]
            elif kind == "ended":
                self._report(number, rest[0], "", is_left=rest[1])
            else:
                self._report(number, -1, rest[0], is_left=False)

    def _report(self, number: int, status: int, problem: str, *, is_left: bool) -> None:
        child = self._children.pop(number, None)
        if child is not None:
            child.ended = True
            child.is_left = is_left
            child.callback(status, problem)

    def _lose(self, wire: DescriptorSocket) -> None:
        """Handle the death of the supervisor: kill the processes that it had started, and call their callbacks."""
        self._reactor.forget(wire.descriptor)
        wire.close()
        self._wire = None
        self._is_writing = False
        self._reap_supervisor()
        children, self._children = self._children, {}
        sweep([child.pid for child in children.values()], self._began)
        for child in children.values():
            child.ended = True
            child.callback(-_signal.SIGKILL, "")

    def _reap_supervisor(self) -> None:
        try:
            posix.waitpid(self._pid, 0)
        except ChildProcessError:
            return  # the server's parent had SIGCHLD ignored


def wait_for_end(wire: DescriptorSocket, seconds: float) -> bool:
    """Wait at most so many seconds until the supervisor has closed its end; tell whether it has.

    Its last messages are read: macOS reports the end only to a poll for input.
    """
    poller = poll()
    poller.register(wire.descriptor, READABLE)
    deadline = monotonic() + seconds
    while poller.poll(max(0, int((deadline - monotonic()) * 1000))):
        if wire.receive() is None:
            return True
    return False


def may_fork() -> bool:
    """Tell whether a forked supervisor would work: no other thread may hold a lock, and no library may object."""
    return not _thread._count() and system_features.has("fork")


def fork_supervisor(ours: _socket.socket, theirs: _socket.socket) -> int:
    """Fork the supervisor; signals are blocked until it ignores them, since it inherits the server's handlers."""
    server = posix.getpid()
    before = _signal.pthread_sigmask(_signal.SIG_BLOCK, _signal.valid_signals())
    try:
        pid = posix.fork()
        if pid == 0:
            ours.detach()  # the object must not close a number that is reused by then
            run_supervisor(theirs.detach(), server)
    finally:
        _signal.pthread_sigmask(_signal.SIG_SETMASK, before)
    return pid


def spawn_supervisor(theirs: _socket.socket) -> int:
    """Start the supervisor as a separate program."""
    # The new program imports from the file that this process was started from.
    check_unchanged(RUNTIME_PATH)
    path, files = archive_descriptor(RUNTIME_PATH, ARCHIVE_DESCRIPTOR)
    argv = [sys.executable or "python3", "-I", "-S", "-c", BOOT, path, str(posix.getpid())]
    descriptors = {3: theirs.fileno(), **files}
    high: dict[int, int] = {}
    try:
        # All sources lie above all targets, so that setting one number does not overwrite what another is set from.
        for number, descriptor in descriptors.items():
            high[number] = duplicate_above(descriptor)
        return posix.posix_spawnp(
            argv[0],
            argv,
            {name: value for name, value in posix.environ.items() if not is_secret(name)},
            file_actions=[(posix.POSIX_SPAWN_DUP2, descriptor, number) for number, descriptor in high.items()],
            setsid=True,
            setsigdef=CATCHABLE,
            setsigmask=(),
        )
    finally:
        for descriptor in high.values():
            posix.close(descriptor)


def duplicate_above(descriptor: int) -> int:
    """Return a duplicate whose number is above MAX_DESCRIPTOR."""
    duplicate = posix.dup(descriptor)
    if duplicate > MAX_DESCRIPTOR:
        return duplicate
    # The lower number stays taken until a high one is found, so no number is tried twice.
    try:
        return duplicate_above(descriptor)
    finally:
        posix.close(duplicate)


def sweep(leaders: list[int], began: int) -> None:
    """Kill the processes of a dead supervisor: this process adopted them, or finds them by group or call variable.

    Waits at most SWEEP_SECONDS for their end.
    """
    for pid in leaders:
        signal_group(pid, _signal.SIGKILL)
    deadline = monotonic() + SWEEP_SECONDS
    while monotonic() < deadline:
        is_left = [pid for pid in leaders if signal_group(pid, 0)]
        for pid in leaders:
            reap(-pid)
        if process_table() is not None:
            is_left += sweep_once(began)
        if not is_left:
            return
        select((), (), (), 0.002)


def sweep_once(began: int) -> list[int]:
    """Kill the remaining processes; return them.

    Children that this process inherited when it was started are older than the supervisor, and are not ended.
    """
    itself = posix.getpid()
    prefix = b"%d." % itself
    now = ProcessSnapshot()
    ours = [pid for pid in now.children.get(itself, ()) if now.started[pid] >= began]
    # Orphans that nobody adopts have process 1 as parent; their call variable begins with the server's process id.
    lost = [pid for pid in now.children.get(1, ()) if now.started[pid] >= began and call_mark(pid).startswith(prefix)]
    for pid, parent in now.zombies.items():
        if parent == itself and now.started[pid] >= began:
            reap(pid)
    for pid in now.below([*ours, *lost]) - {itself, 0, 1}:
        signal_process(pid, _signal.SIGKILL)
    return ours + lost


def reap(pid: int) -> None:
    """Reap a child, or one in a group (`pid` less than -1), if it has ended."""
    # To `waitpid`, 0 means the caller's group and -1 any child: those of other parts of the server would be lost.
    if pid not in (0, -1):
        try:
            posix.waitpid(pid, posix.WNOHANG)
        except ChildProcessError:
            return
