"""Runner of providers: blocking providers in threads, scripts in processes, known results at once.

Network requests have separate threads, so that a host that does not answer delays no file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mcpc_runtime.handlers.executable.runner import ProcessRunner
from mcpc_runtime.handlers.files.runner import FileRunner
from mcpc_runtime.handlers.invocations import FileResult, ProcessResult
from mcpc_runtime.handlers.runner_context import RunnerContext
from mcpc_runtime.interfaces import JobControl, Note, Notify
from mcpc_runtime.systems.mcp_bash.providers import file_provider, https_provider
from mcpc_runtime.systems.mcp_bash.providers.registry import ProviderRequest
from mcpc_runtime.systems.mcp_bash.providers.requests import (
    FAILED,
    UNREACHABLE,
    FileRequest,
    GitRequest,
    HttpsRequest,
    ProviderResult,
    ProviderScript,
)

Done = Callable[[ProviderResult], None]


ADDRESSES_VARIABLE = b"MCPC_ADDRESSES"
"""The variable with the addresses of a Git host."""
MAX_ERROR_LENGTH = 2000
NO_NETWORK = "this server was built without OpenSSL: no file of its project has an https address (--minimal-library)"


class ProviderJob:
    """What runs for a call now: a runner and its job."""

    __slots__ = ("inner", "runner", "stopped")

    def __init__(self) -> None:
        self.runner: JobControl | None = None
        self.inner: object = None
        self.stopped = False


class ProviderRunner:
    """Runs the requests to providers."""

    def __init__(self, host: RunnerContext) -> None:
        self._host = host
        self._processes: ProcessRunner | None = None
        self._threads: dict[Callable[[Any], ProviderResult], FileRunner] = {}

    def start(self, request: ProviderRequest, done: Done, note: Notify) -> ProviderJob:
        """Start a request; raise OSError if there is no room for it now."""
        job = ProviderJob()
        STARTERS[type(request)](self, job, request, done)
        return job

    def stop(self, job: ProviderJob) -> None:
        """End what runs; `done` is not called."""
        job.stopped = True
        if job.inner is not None and job.runner is not None:
            job.runner.stop(job.inner)

    def close(self) -> None:
        """Close all runners."""
        for runner in (self._processes, *self._threads.values()):
            if runner is not None:
                runner.close()

    def _get(self, job: ProviderJob, request: GitRequest, done: Done) -> None:
        """Resolve the host of a repository, then get the file from there."""

        def fetch(result: ProviderResult) -> None:
            if result.status or job.stopped:
                done(result)
                return
            request.command.exact = {
                **(request.command.exact or {}),
                ADDRESSES_VARIABLE: " ".join(result.addresses).encode(),
            }
            try:
                self._call(job, request, done)
            except OSError as problem:
                done(ProviderResult(UNREACHABLE, message=str(problem.strerror)))

        self._run_in_thread(network_reader(), job, request, fetch)

    def _call(self, job: ProviderJob, request: ProviderScript | GitRequest, done: Done) -> None:
        if self._processes is None:
            self._processes = ProcessRunner(self._host)
        job.runner = self._processes
        job.inner = self._processes.start(
            request.command, lambda completed: done(script_result(completed)), ignore_note
        )

    def _run_in_thread(
        self,
        read: Callable[[Any], ProviderResult],
        job: ProviderJob,
        request: FileRequest | HttpsRequest | GitRequest,
        done: Done,
    ) -> None:
        runner = self._threads.get(read)
        if runner is None:
            runner = self._threads[read] = FileRunner(self._host, read)
        job.runner = runner
        job.inner = runner.start(request, lambda result: done(provider_result(result)), ignore_note)


def network_reader() -> Callable[[Any], ProviderResult]:
    """Return what reads over the network, or what tells that this file cannot."""
    # In a built file the module is imported at this use, and it needs `ssl`.
    try:
        return https_provider.fetch_network
    except ImportError:
        return refuse_network


def refuse_network(request: HttpsRequest | GitRequest) -> ProviderResult:
    """Refuse a request in a file with a minimal library, for a project that does not name any https address."""
    return ProviderResult(FAILED, message=NO_NETWORK)


def ignore_note(note: Note) -> None:
    """Ignore a note of a provider."""


def provider_result(result: ProviderResult | FileResult) -> ProviderResult:
    """Return the result of a thread, or a failure if it raised an exception."""
    return result if isinstance(result, ProviderResult) else ProviderResult(FAILED, message=str(result.problem))


def script_result(completed: ProcessResult) -> ProviderResult:
    """Return the result of a script: its output, its status and its standard error."""
    message = str(completed.errors, "utf-8", "replace").strip()[:MAX_ERROR_LENGTH]
    if completed.problem:
        return ProviderResult(FAILED, message=completed.problem)
    result = ProviderResult(completed.status, completed.printed, message)
    result.dropped = completed.dropped
    return result


STARTERS: dict[type, Callable[[ProviderRunner, ProviderJob, Any, Done], None]] = {
    ProviderResult: lambda runner, job, request, done: done(request),
    FileRequest: lambda runner, *job: runner._run_in_thread(file_provider.read_requested_file, *job),
    HttpsRequest: lambda runner, *job: runner._run_in_thread(network_reader(), *job),
    GitRequest: ProviderRunner._get,
    ProviderScript: ProviderRunner._call,
}
