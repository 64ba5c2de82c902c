"""ToolBox tools run in one Node process beside the server, which keeps the state of modules; the first call starts it.

One that dies takes with it what it was running, and the next call starts another; there goes what it had not begun.
"""

from __future__ import annotations

import posix

from mcpc_runtime.commands import Returned
from mcpc_runtime.lazy import lazy
from mcpc_runtime.node.child import Child, Job
from mcpc_runtime.node.places import HOME, LOG, home, log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mcpc_runtime.host import Host
    from mcpc_runtime.node.child import NodeCall
    from mcpc_runtime.protocol.jsonrpc import Json
    from mcpc_runtime.unpacking import folder as unpacking_folder
else:
    unpacking_folder = lazy("mcpc_runtime.unpacking:folder", "unpacking_folder")

MOST_FAILED_STARTS = 3
RETRY_SECONDS = 0.05


class NodeRunner:
    """Hands calls to the process of their environment."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._children: dict[int, Child] = {}
        self._failed_starts = 0
        self._number = 0
        self._homeless: list[Job] = []
        self._closed = False

    def start(self, call: NodeCall, done: Callable[[Returned], None], note: Callable[[Any], None]) -> Job:
        """Send the call; raise OSError if no process can be started now."""
        job = Job(call, done, note)
        self._child(call.environment).give(job)
        return job

    def _child(self, environment: int) -> Child:
        child = self._children.get(environment)
        if child is None:
            self._number += 1
            mark = f"{posix.getpid()}.n{self._number}"
            folder: str = unpacking_folder(self._host.image)
            given = {**self._host.environment(environment), **self._places()}
            child = self._children[environment] = Child(self, self._host, folder, given, mark)
        return child

    def _places(self) -> dict[bytes, bytes]:
        """Return the variables by which the process finds its places."""
        found = {HOME: home(self._host.image), LOG: log(self._host.image)}
        return {name: text.encode("utf-8", "surrogateescape") for name, text in found.items()}

    def stop(self, job: Job) -> None:
        """Have a call end; nobody is told how."""
        job.done = None
        if job.child is not None:
            job.child.stop(job)

    def answer(self, job: Job, reply: int, result: Json) -> None:
        """Give a call what another tool answered."""
        if job.child is not None:
            job.child.answer(job, reply, result)

    def lost(self, child: Child, unbegun: list[Job], reason: str) -> None:
        """Take note that a process has ended; what it had not begun goes to another, unless none ever starts."""
        self._children = {number: one for number, one in self._children.items() if one is not child}
        self._failed_starts = 0 if child.ready else self._failed_starts + 1
        if self._failed_starts < MOST_FAILED_STARTS:
            self._place(unbegun)
            return
        self._failed_starts = 0
        for job in unbegun:
            job.finish(Returned(problem=f"the process for the tools does not start: {reason}"))

    def _place(self, jobs: list[Job]) -> None:
        """Give calls to another process, as soon as there is one."""
        self._homeless += jobs
        while self._homeless and not self._closed:
            try:
                child = self._child(self._homeless[0].call.environment)
            except OSError:
                self._host.reactor.after(RETRY_SECONDS, lambda: self._place([]))
                return
            job = self._homeless.pop(0)
            if job.done is not None:
                child.give(job)

    def close(self) -> None:
        """Let go of the processes, which destroy their tools and end; the supervisor sees to it."""
        self._closed = True
        for child in self._children.values():
            child.close()
