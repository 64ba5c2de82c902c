"""Providers of resources: those that wait are threads, scripts are processes, and what is known needs neither.

What the network is asked for has threads of its own, so that a host that does not answer holds up no file.
"""

from __future__ import annotations

from mcpc_runtime.lazy import lazy
from mcpc_runtime.providers.wanted import FAILED, UNREACHABLE, Brought, File, Page, Repository, Script

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mcpc_runtime.commands import Completed
    from mcpc_runtime.host import Host

    Done = Callable[[Brought], None]
    Note = Callable[[Any], None]
    from mcpc_runtime.providers import fetching, reading
    from mcpc_runtime.runners.files import FileRunner
    from mcpc_runtime.runners.process import ProcessRunner
else:
    FileRunner = lazy("mcpc_runtime.runners.files:FileRunner")
    ProcessRunner = lazy("mcpc_runtime.runners.process:ProcessRunner")
    reading = lazy("mcpc_runtime.providers.reading")
    fetching = lazy("mcpc_runtime.providers.fetching")

ADDRESSES = b"MCPC_ADDRESSES"
"""The variable that says where a repository's host is."""
LONGEST_WORDS = 2000


class Job:
    """What runs for a call now: a runner, and its own job."""

    __slots__ = ("inner", "runner", "stopped")

    def __init__(self) -> None:
        self.runner: Any = None
        self.inner: Any = None
        self.stopped = False


class ProviderRunner:
    """Has providers bring what is wanted of them."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._processes: ProcessRunner | None = None
        self._threads: dict[Callable[[Any], Brought], FileRunner] = {}

    def start(self, wanted: Any, done: Done, note: Note) -> Job:
        """Begin to bring it; raise OSError if there is no room for that now."""
        job = Job()
        WAYS[type(wanted)](self, job, wanted, done)
        return job

    def stop(self, job: Job) -> None:
        """End what runs; nobody waits for it."""
        job.stopped = True
        if job.inner is not None:
            job.runner.stop(job.inner)

    def close(self) -> None:
        """Leave nothing open."""
        for runner in (self._processes, *self._threads.values()):
            if runner is not None:
                runner.close()

    def _hand_over(self, job: Job, wanted: Brought, done: Done) -> None:
        done(wanted)

    def _read(self, job: Job, wanted: File, done: Done) -> None:
        self._run_in_thread(job, reading.file, wanted, done)

    def _fetch(self, job: Job, wanted: Page, done: Done) -> None:
        self._run_in_thread(job, fetching.network, wanted, done)

    def _get(self, job: Job, wanted: Repository, done: Done) -> None:
        """Find the host of a repository, then get a file of it from there."""

        def go_on(brought: Brought) -> None:
            if brought.status or job.stopped:
                done(brought)
                return
            wanted.command.exact = {**(wanted.command.exact or {}), ADDRESSES: " ".join(brought.addresses).encode()}
            try:
                self._call(job, wanted, done)
            except OSError as problem:
                done(Brought(UNREACHABLE, words=str(problem.strerror)))

        self._run_in_thread(job, fetching.network, wanted, go_on)

    def _call(self, job: Job, wanted: Script | Repository, done: Done) -> None:
        if self._processes is None:
            self._processes = ProcessRunner(self._host)
        job.runner = self._processes
        job.inner = self._processes.start(wanted.command, lambda completed: done(brought_by(completed)), ignore)

    def _run_in_thread(
        self, job: Job, read: Callable[[Any], Brought], wanted: File | Page | Repository, done: Done
    ) -> None:
        runner = self._threads.get(read)
        if runner is None:
            runner = self._threads[read] = FileRunner(self._host, read)
        job.runner = runner
        job.inner = runner.start(wanted, lambda found: done(checked(found)), ignore)


def ignore(said: Any) -> None:
    """Pass over what a provider tells beside its answer."""


def checked(found: Any) -> Brought:
    """Return what a thread brought; if it broke, that is what it brought."""
    return found if type(found) is Brought else Brought(FAILED, words=str(found.problem))


def brought_by(completed: Completed) -> Brought:
    """Return what a script brought: its output, or its status and what it wrote to standard error."""
    words = str(completed.errors, "utf-8", "replace").strip()[:LONGEST_WORDS]
    if completed.problem:
        return Brought(FAILED, words=completed.problem)
    brought = Brought(completed.status, completed.printed, words)
    brought.dropped = completed.dropped
    return brought


WAYS: dict[type, Callable[[ProviderRunner, Job, Any, Done], None]] = {
    Brought: ProviderRunner._hand_over,
    File: ProviderRunner._read,
    Page: ProviderRunner._fetch,
    Repository: ProviderRunner._get,
    Script: ProviderRunner._call,
}
