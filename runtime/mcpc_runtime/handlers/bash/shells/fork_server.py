"""The fork server: a Bash process that has read the libraries once, and forks a child for each call.

A spare child always waits for the next call, so forking adds no latency.  The fork server reads only the numbers of a
call's descriptors, and the child that takes the call opens them in /proc (see `descriptor_passing`).  A call is begun
at most once: it is moved to another shell only if no child has begun it, after its texts are withdrawn from this one.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from mcpc_runtime.handlers.bash.shells.descriptor_passing import LINE_LENGTH, NUMBER_WIDTH, DescriptorPassing, call_line
from mcpc_runtime.handlers.bash.shells.job import ShellJob
from mcpc_runtime.handlers.bash.shells.libraries import ShellPrograms, encode_variables, join_texts
from mcpc_runtime.handlers.output_capture import memory_file, read_some
from mcpc_runtime.handlers.runner_context import RunnerContext
from mcpc_runtime.transports.platforms import system
from mcpc_runtime.transports.platforms.pipes import close, incoming, outgoing
from mcpc_runtime.transports.platforms.processes import CALL_VARIABLE, SIGKILL, signal_group
from mcpc_runtime.transports.platforms.reactor import READABLE
from mcpc_runtime.transports.platforms.rollback import OpenDescriptors, Rollback

PROGRAM = "forkserver.bash"
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
        system.write(self._spares, SPARE)
        argv = ["bash", "--norc", "--noprofile", "-c", libraries.program(PROGRAM), libraries.name]
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
