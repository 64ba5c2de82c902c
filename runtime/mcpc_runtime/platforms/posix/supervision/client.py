"""The server's side of the supervisor: processes are asked for here, and ended here.

Its law: nothing here waits, but `close`.  The supervisor is forked from the server with the first process, since that
costs half a millisecond; where threads run, which a fork would leave behind, it is started as a program.  If it dies,
what it had started comes to the server, which ends it, and the next process gets a new supervisor.
"""

from __future__ import annotations

import _signal
import _socket
import _thread
import posix
import sys
from select import poll, select
from time import monotonic

from mcpc_runtime.platforms.artifact_file import given, refuse_changed
from mcpc_runtime.platforms.environments import is_secret
from mcpc_runtime.platforms.posix import system_features as ways
from mcpc_runtime.platforms.posix.reactor import READABLE, WRITABLE
from mcpc_runtime.platforms.posix.supervision.folders import FOLDERS, remove_tree
from mcpc_runtime.platforms.posix.supervision.process import serve
from mcpc_runtime.platforms.posix.supervision.program import CATCHABLE
from mcpc_runtime.platforms.posix.supervision.subreaper import become, conceal
from mcpc_runtime.platforms.posix.supervision.subtree import ProcessSnapshot, mark_of, signal_group, signal_one, started
from mcpc_runtime.platforms.posix.supervision.wire import MOST_DESCRIPTORS, DescriptorSocket

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcpc_runtime.interfaces import ReactorInterface
    from mcpc_runtime.platforms.posix.supervision.program import Variables
    from mcpc_runtime.platforms.posix.supervision.wire import Message

BOOT = (
    "import sys;sys.path.insert(0,sys.argv[1]);"
    "from mcpc_runtime.platforms.posix.supervision.process import serve;serve(3,int(sys.argv[2]))"
)
PLACE = __file__.rpartition("/mcpc_runtime/")[0]
"""Where the runtime is: the archive, or a folder."""
CLOSE_SECONDS = 1.5
"""How long the supervisor may take to end everything, before we do."""
SWEEP_SECONDS = 1.0
ARCHIVE = 4
"""The descriptor of the server's file in a supervisor that is started as a program."""
HIGHEST = 9
"""Of a child's descriptors."""


class SupervisedProcess:
    """One process: `pid` is 0 until it is known; it leads a process group of its own.

    `is_left`: it has ended, and something of its group has not.
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
        """Where a child's outputs go that are not given: its standard error is the server's if this is not set."""
        self._reactor = reactor
        self._children: dict[int, SupervisedProcess] = {}
        self._number = 0
        self._wire: DescriptorSocket | None = None
        self._is_writing = False
        self._pid = 0
        self._began = 0
        self._told = 0

    def spawn(
        self,
        argv: list[str],
        environment: Variables,
        descriptors: Mapping[int, int],
        ended: Callable[[int, str], None],
        directory: str = "",
    ) -> SupervisedProcess:
        """Start a process whose descriptors are `descriptors` (its number: ours; 0 to 2 are there anyway).

        `ended(status, problem)` is called once: with its exit status or minus the signal, or with why it could not be
        started.  Raise OSError, with nothing left open, where we cannot even ask (EMFILE, ENOMEM, EAGAIN).
        """
        if self.errors >= 0:
            descriptors = {1: self.errors, 2: self.errors, **descriptors}
        if len(descriptors) > MOST_DESCRIPTORS or max(descriptors, default=0) > HIGHEST:
            raise ValueError(f"a child's descriptors are numbered up to {HIGHEST}")
        if self._wire is None:
            self._begin()
        self._tell_folders()
        self._number += 1
        request = ("spawn", self._number, argv, dict(environment), tuple(descriptors), directory)
        self._send(request, tuple(descriptors.values()))
        child = self._children[self._number] = SupervisedProcess(ended)
        return child

    def end(self, pid: int, mark: str = "") -> None:
        """End the group that `pid` leads, all its descendants and all that carry `mark`: TERM, and 2 s later KILL.

        O(processes of the machine), in the supervisor.
        """
        if self._wire is not None:
            self._send(("end", pid, mark))

    def end_rest(self, child: SupervisedProcess) -> None:
        """Kill what is left of the group of a child that has ended."""
        if child.is_left:
            child.is_left = signal_group(child.pid, _signal.SIGKILL)

    def close(self) -> None:
        """End everything there is, and wait until it has gone; nothing is reported any more."""
        wire, self._wire = self._wire, None
        self._is_writing = False
        children, self._children = self._children, {}
        if wire is not None:
            self._reactor.forget(wire.descriptor)
            wire.finish()
            if ended(wire):
                self._bury()
            else:
                self._replace([child.pid for child in children.values()])
            wire.close()
        for folder in FOLDERS:
            remove_tree(folder)
        FOLDERS.clear()

    def _replace(self, leaders: list[int]) -> None:
        """Do what the supervisor should have done: it was stopped, or there is too much for it."""
        signal_one(self._pid, _signal.SIGKILL)
        self._bury()
        sweep(leaders, self._began)

    def _begin(self) -> None:
        """Start the supervisor; raise OSError if there is no room for it."""
        ours, theirs = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_STREAM)
        try:
            become()
            conceal()
            self._pid = spawned(theirs) if _thread._count() else forked(ours, theirs)
        except OSError:
            ours.close()
            raise
        finally:
            theirs.close()
        self._began = started(self._pid) if ways.has("proc") else 0
        self._wire = DescriptorSocket(ours)
        self._told = 0
        self._reactor.watch(self._wire.descriptor, READABLE, self._exchange)

    def _tell_folders(self) -> None:
        for folder in FOLDERS[self._told :]:
            self._send(("keep", folder))
        self._told = len(FOLDERS)

    def _send(self, message: Message, descriptors: tuple[int, ...] = ()) -> None:
        if self._wire is not None:
            self._wire.send(message, descriptors)
            self._watch()

    def _watch(self) -> None:
        """Be told when there is room again, as long as something is to be sent."""
        if self._wire is not None and self._wire.pending != self._is_writing:
            self._is_writing = self._wire.pending
            events = READABLE | WRITABLE if self._is_writing else READABLE
            self._reactor.watch(self._wire.descriptor, events, self._exchange)

    def _exchange(self) -> None:
        """Take what the supervisor says."""
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
        """The supervisor has died: kill what it had started, and say so to whoever waits for it."""
        self._reactor.forget(wire.descriptor)
        wire.close()
        self._wire = None
        self._is_writing = False
        self._bury()
        children, self._children = self._children, {}
        sweep([child.pid for child in children.values()], self._began)
        for child in children.values():
            child.ended = True
            child.callback(-_signal.SIGKILL, "")

    def _bury(self) -> None:
        try:
            posix.waitpid(self._pid, 0)
        except ChildProcessError:
            return  # whoever started the server had its children's ends ignored


def ended(wire: DescriptorSocket) -> bool:
    """Wait until the supervisor has closed its end, but not for long; tell whether it has.

    What it still says is read: macOS tells the end only to those who ask for input.
    """
    farewell = poll()
    farewell.register(wire.descriptor, READABLE)
    deadline = monotonic() + CLOSE_SECONDS
    while farewell.poll(max(0, int((deadline - monotonic()) * 1000))):
        if wire.receive() is None:
            return True
    return False


def forked(ours: _socket.socket, theirs: _socket.socket) -> int:
    """Fork the supervisor; no signal may meet it before it ignores it, since the server's handlers are still there."""
    server = posix.getpid()
    before = _signal.pthread_sigmask(_signal.SIG_BLOCK, _signal.valid_signals())
    try:
        pid = posix.fork()
        if pid == 0:
            ours.detach()  # the objects are not to close numbers that mean something else by then
            serve(theirs.detach(), server)
    finally:
        _signal.pthread_sigmask(_signal.SIG_SETMASK, before)
    return pid


def spawned(theirs: _socket.socket) -> int:
    """Start the supervisor as a program of its own."""
    refuse_changed(PLACE)
    place, files = given(PLACE, ARCHIVE)
    argv = [sys.executable or "python3", "-I", "-S", "-c", BOOT, place, str(posix.getpid())]
    wanted = {3: theirs.fileno(), **files}
    high: dict[int, int] = {}
    try:
        for number, descriptor in wanted.items():
            high[number] = duplicate(descriptor)
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


def duplicate(descriptor: int) -> int:
    """Return a duplicate above what a program that is started calls its descriptors."""
    found = posix.dup(descriptor)
    if found > HIGHEST:
        return found
    try:
        return duplicate(descriptor)
    finally:
        posix.close(found)


def sweep(leaders: list[int], began: int) -> None:
    """Kill what a dead supervisor had started, which has come to this process, or is known by its group or its mark.

    Waits for it, but not for long: it was killed.
    """
    for pid in leaders:
        signal_group(pid, _signal.SIGKILL)
    deadline = monotonic() + SWEEP_SECONDS
    while monotonic() < deadline:
        is_left = [pid for pid in leaders if signal_group(pid, 0)]
        for pid in leaders:
            reap(-pid)
        if ways.has("proc"):
            is_left += sweep_once(began)
        if not is_left:
            return
        select((), (), (), 0.002)


def sweep_once(began: int) -> list[int]:
    """Kill what is left now; return it.

    Children that this process was given by whoever started it are older than the supervisor, and are let be.
    """
    itself = posix.getpid()
    prefix = b"%d." % itself
    now = ProcessSnapshot()
    ours = [pid for pid in now.children.get(itself, ()) if now.started[pid] >= began]
    lost = [pid for pid in now.children.get(1, ()) if now.started[pid] >= began and mark_of(pid).startswith(prefix)]
    for pid, parent in now.zombies.items():
        if parent == itself and now.started[pid] >= began:
            reap(pid)
    for pid in now.below([*ours, *lost]) - {itself, 0, 1}:
        signal_one(pid, _signal.SIGKILL)
    return ours + lost


def reap(pid: int) -> None:
    """Take the end of a child, or of those in a group (less than -1), if there is one that has ended."""
    if pid not in (0, -1):
        try:
            posix.waitpid(pid, posix.WNOHANG)
        except ChildProcessError:
            return
