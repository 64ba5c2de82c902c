"""The fork server: a bash that has read the libraries once, and forks a child for every call.

A child waits for the next call at any time, so that forking is not on a call's way.  Of a call the fork server learns
only numbers of descriptors, and the child that takes it opens them in /proc (see `passing`).  Its law: a call is begun
once; only what no child has begun is given to another shell, and what a child may have taken is first taken from it.
"""

from __future__ import annotations

import posix
from _signal import SIGKILL  # type: ignore[import-not-found]
from time import monotonic

from mcpc_runtime.capture import memory_file, pipe, read_some
from mcpc_runtime.commands import MARK
from mcpc_runtime.reactor import READABLE, close
from mcpc_runtime.shells.libraries import texts_of, variable_texts
from mcpc_runtime.shells.passing import LINE, NUMBER, Passing, line_of
from mcpc_runtime.supervision.subtree import signal_group

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc_runtime.host import Host
    from mcpc_runtime.shells.job import Job
    from mcpc_runtime.shells.libraries import Given

PROGRAM = "forkserver.bash"
SPARE = b"."
MOST_WAITING = 64
"""A pipe of the smallest size holds so many lines about calls."""
READ_SECONDS = 60.0
"""How long reading the libraries may take."""
BEGIN_SECONDS = 2.0
"""How long no child may begin a call while calls wait, before the fork server counts as lost."""
LOOK_SECONDS = 0.5


class ForkServer:
    """One fork server.  `waiting`: calls that no child has begun, by number.

    `begun` is called with the environment when a child begins one, `lost` once it cannot serve.
    """

    def __init__(self, host: Host, libraries: Given, environment: int, lost: Callable[[ForkServer], None]) -> None:
        self._host = host
        self._lost = lost
        self._moved = monotonic()
        self._is_looked_at = False
        self.begun: Callable[[int], None] = forget
        self.environment = environment
        self.is_over = False
        self.is_ready = False
        self.mark = f"{posix.getpid()}.f{id(self):x}"
        self.waiting: dict[int, Job] = {}
        opened: list[int] = []
        try:
            self._start(libraries, opened)
        except BaseException:
            self.is_over = True  # what was started already may still tell of its end
            for descriptor in opened:
                close(descriptor)
            raise

    def _start(self, libraries: Given, opened: list[int]) -> None:
        texts = memory_file(texts_of(libraries.texts()), opened)
        spares, self._spares = pipe(opened)
        self._unbegun, self._calls = pipe(opened)
        self._ready, ready = pipe(opened)
        posix.write(self._spares, SPARE)
        for descriptor in (self._spares, self._calls, self._ready):
            posix.set_blocking(descriptor, False)
        argv = ["bash", "--norc", "--noprofile", "-c", libraries.program(PROGRAM), libraries.name]
        environment = {**libraries.environment(self.environment), MARK.encode(): self.mark.encode()}
        wanted = {3: texts, 4: spares, 5: self._unbegun, 6: ready}
        self._passing = Passing(self._host, environment, self._ended)
        self._passing.came = lambda: self.begun(self.environment)
        try:
            self._child = self._host.supervisor.spawn(argv, environment, wanted, self._ended)
        except BaseException:
            self._passing.close()
            raise
        for descriptor in (texts, spares, ready):
            close(descriptor)
        self._host.reactor.watch(self._ready, READABLE, self._get_ready)

    @property
    def is_full(self) -> bool:
        """Whether enough calls wait for a child, or there are no descriptors for one more yet."""
        return len(self.waiting) >= MOST_WAITING or not self._passing.is_ready

    def give(self, job: Job, number: int) -> None:
        """Have a child begin a call; it must not be full.  Raise OSError, with nothing begun, if there is no room."""
        call = job.call
        job.number = number
        ends = self._passing.take()
        job.passed = ends.number
        job.connect(ends)
        head = b"%0*d" % (NUMBER, number)
        pieces = [head, job.mark.encode(), call.function.encode(), call.argument, b"1" if call.traps else b""]
        try:
            job.tell(texts_of(pieces + variable_texts(call)))
            self._ask_for_spare()
            posix.write(self._calls, line_of(head, ends))
        except OSError:
            self._passing.forget(job.passed)
            raise
        job.begun = self._begun
        if not self.waiting:
            self._moved = monotonic()
        self.waiting[number] = job
        if not self._is_looked_at:
            self._is_looked_at = True
            self._host.reactor.after(LOOK_SECONDS, self._look)

    def _ask_for_spare(self) -> None:
        try:
            posix.write(self._spares, SPARE)
        except BrokenPipeError:
            return  # it has just ended: we will be told so

    def close(self) -> None:
        """Let go of it; its spare child ends by itself."""
        self.is_over = True
        self._host.reactor.forget(self._ready)
        self._passing.close()
        for descriptor in (self._spares, self._calls, self._unbegun, self._ready):
            close(descriptor)

    def take_back(self) -> set[int]:
        """Return the numbers of the calls that no child has taken; from now on none will, for it is the same end."""
        posix.set_blocking(self._unbegun, False)
        untaken: set[int] = set()
        while data := read_some(self._unbegun):
            untaken.update(int(data[at : at + NUMBER]) for at in range(0, len(data), LINE))
        return untaken

    def _get_ready(self) -> None:
        self.is_ready = read_some(self._ready) == b"ready\n"
        self._moved = monotonic()
        self._host.reactor.forget(self._ready)

    def _begun(self, job: Job) -> None:
        self._moved = monotonic()
        del self.waiting[job.number]
        self._passing.forget(job.passed)
        if job.done is None:
            self._host.supervisor.end(job.pid, job.mark)
        self.begun(self.environment)

    def _look(self) -> None:
        """See that calls are begun; this is asked only as long as some wait."""
        self._is_looked_at = False
        if self.is_over or not self.waiting:
            return
        if monotonic() - self._moved >= (BEGIN_SECONDS if self.is_ready else READ_SECONDS):
            if self._child.pid:
                signal_group(self._child.pid, SIGKILL)
            else:
                self._host.supervisor.end(0, self.mark)
            self._lose()
        else:
            self._is_looked_at = True
            self._host.reactor.after(LOOK_SECONDS, self._look)

    def _ended(self, status: int, problem: str) -> None:
        if not self.is_over:
            self._lose()

    def _lose(self) -> None:
        self.is_over = True
        self._lost(self)


def forget(environment: int) -> None:
    """Do nothing about a call that was begun."""
