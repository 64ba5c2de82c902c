"""The server's side of the supervisor: processes are asked for here, and ended here."""

from __future__ import annotations

import posix
from _signal import SIGKILL, SIGTERM  # type: ignore[import-not-found]

from mcpc_runtime.commands import DEFAULT_SIGNALS
from mcpc_runtime.reactor import READABLE, close

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from mcpc_runtime.reactor import Reactor

GRACE_SECONDS = 2.0


class Child:
    """One process: `pid` is 0 until it is known; it leads a process group of its own."""

    __slots__ = ("ended", "pid")

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.ended = False


class Supervisor:
    """Starts processes and ends them with everything that descends from them."""

    def __init__(self, reactor: Reactor) -> None:
        self._reactor = reactor
        self._children: set[Child] = set()

    def spawn(
        self,
        argv: list[str],
        environment: Mapping[Any, Any],
        descriptors: Mapping[int, int],
        ended: Callable[[int, str], None],
        directory: str = "",
    ) -> Child:
        """Start a process whose descriptors are `descriptors` (its number: ours; 0 to 2 are there anyway).

        `ended(status, problem)` is called once: with its exit status or minus the signal, or with why it could not be
        started.  Raise OSError, with nothing left open, where we cannot even ask (EMFILE, ENOMEM, EAGAIN).
        """
        actions = [(posix.POSIX_SPAWN_OPEN, 0, "/dev/null", posix.O_RDONLY, 0), (posix.POSIX_SPAWN_DUP2, 2, 1)]
        actions += [(posix.POSIX_SPAWN_DUP2, ours, number) for number, ours in descriptors.items()]
        pid = posix.posix_spawnp(
            argv[0],
            argv,
            environment,
            file_actions=actions,
            setpgroup=0,
            setsigdef=DEFAULT_SIGNALS,
            setsigmask=(),
        )
        child = Child(pid)
        self._children.add(child)
        identity = posix.pidfd_open(pid)

        def reap() -> None:
            self._reactor.forget(identity)
            close(identity)
            child.ended = True
            self._children.discard(child)
            ended(posix.waitstatus_to_exitcode(posix.waitpid(pid, 0)[1]), "")

        self._reactor.watch(identity, READABLE, reap)
        return child

    def end(self, pid: int, mark: str = "") -> None:
        """End the group that `pid` leads, all its descendants and all that carry `mark`: TERM, and 2 s later KILL."""
        signal_group(pid, SIGTERM)
        self._reactor.after(GRACE_SECONDS, lambda: signal_group(pid, SIGKILL))

    def close(self) -> None:
        """End everything there is, and wait until it has gone."""
        for child in self._children:
            signal_group(child.pid, SIGKILL)


def signal_group(pid: int, number: int) -> None:
    """Signal the process group that `pid` leads, if there is any of it left."""
    try:
        posix.killpg(pid, number)
    except (ProcessLookupError, PermissionError):
        return
