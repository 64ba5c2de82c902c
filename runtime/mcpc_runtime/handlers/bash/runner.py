"""Runner of Bash functions: in a child of a fork server that has read the libraries once, or in a fresh shell.

A fresh shell is always correct.  A fork server is used if /proc and files in memory are available, the tool does not
require isolation, and the libraries could be read; a call that no fork server begins is run in a fresh shell.
"""

from __future__ import annotations

from _functools import partial
from collections.abc import Callable
from errno import EAGAIN
from time import monotonic
from typing import Any

from mcpc_runtime.handlers.bash.fork_server import ForkServer
from mcpc_runtime.handlers.bash.job import NOTES_FD, REPLIES_FD, ShellJob
from mcpc_runtime.handlers.bash.libraries import LAUNCHER, Libraries, ShellPrograms, encode_variables, join_texts
from mcpc_runtime.handlers.bash.standard_streams import REPLIES_VARIABLE, StandardStreamsJob
from mcpc_runtime.handlers.invocations import NOTES, ProcessResult, ShellCall
from mcpc_runtime.handlers.output_capture import OutputCapture
from mcpc_runtime.handlers.runner_context import RunnerContext
from mcpc_runtime.interfaces import Note, Notify
from mcpc_runtime.protocol.jsonrpc import encode
from mcpc_runtime.transports.platforms import system, system_features
from mcpc_runtime.transports.platforms.cleanup import Rollback
from mcpc_runtime.transports.platforms.processes import CALL_VARIABLE, SHELLS_INHERIT_PIPES

Object = dict[str, Any]


SUCCESS, DECLINED, CANCELLED, UNAVAILABLE = range(4)
ACTIONS = {"accept": SUCCESS, "decline": DECLINED, "cancel": CANCELLED}


def encode_tool_result(result: Object) -> tuple[int, bytes]:
    """Encode the result of another tool: its texts, joined by line breaks."""
    blocks = result.get("content") or ()
    texts = [block["text"] for block in blocks if type(block) is dict and type(block.get("text")) is str]
    return int(result.get("isError") is True), "\n".join(texts).encode("utf-8", "replace")


def encode_answers(response: Object) -> tuple[int, bytes]:
    """Encode the client's answers as JSON: the answer of a single question, else an object of answers."""
    if "error" in response:
        return UNAVAILABLE, str(response["error"].get("message")).encode("utf-8", "replace")
    answers = list(response["answers"].values())
    return SUCCESS, encode(answers[0] if len(answers) == 1 else response["answers"])


def encode_form_answer(response: Object) -> tuple[int, bytes]:
    """Encode the user's action, and the form's fields as JSON."""
    if "error" in response:
        return encode_answers(response)
    (answer,) = response["answers"].values()
    return ACTIONS[answer["action"]], encode(answer.get("content", {})) if answer["action"] == "accept" else b"{}"


ENCODERS: dict[str, Callable[[Object], tuple[int, bytes]]] = {
    "ask": encode_answers,
    "call": encode_tool_result,
    "form": encode_form_answer,
}


RETRYABLE_ERRORS = (*system_features.NO_ROOM, EAGAIN)
"""Errors after which a call is retried later, not run in a fresh shell."""
LATE_SECONDS = 1.0
"""Seconds in which a child that took a call may still begin it after its fork server was lost."""
FRESH_SHELL_SECONDS = 30.0
"""Seconds for which fresh shells are used after the libraries could not be read; each prints the reason."""
JOB_KIND = ShellJob if SHELLS_INHERIT_PIPES else StandardStreamsJob
# It has 10 digits, as NUMBER_LENGTH has room for.
MAX_CALL_NUMBER = 10**9


class ShellRunner:
    """Calls Bash functions.  One fork server per environment, started by the first call that needs it."""

    def __init__(self, host: RunnerContext, libraries: ShellPrograms | None = None) -> None:
        self._host = host
        own = Libraries(host)
        self._libraries: ShellPrograms = libraries or own
        self._name_sources = own.name_sources if libraries is None else None
        self._servers: dict[int, ForkServer] = {}
        self._lost: set[ForkServer] = set()
        self._fresh_until: dict[int, float] = {}
        self._number = 0
        self._queues: dict[int, list[ShellJob]] = {}

    def start(self, call: ShellCall, done: Callable[[ProcessResult], None], note: Notify) -> ShellJob | None:
        """Call a function; `done` is called with its result."""
        if call.refusal:
            done(refused_result(call.refusal))
            return None
        name_sources = self._name_sources
        job = JOB_KIND(
            self._host, call, done if name_sources is None else lambda result: done(name_sources(result)), note
        )
        job.mark = f"{system.getpid()}.b{self._next_number()}"
        with Rollback(job.release):
            self._run(job)
        return job

    def stop(self, job: ShellJob | None) -> None:
        """End the call; if no child has begun it, its texts are withdrawn."""
        if job is None or job.done is None:
            return
        job.done = None
        if job.child is not None:
            self._host.supervisor.end(job.child.pid, job.mark)
        elif job.pid:
            self._host.supervisor.end(job.pid, job.mark)
        else:
            job.withdraw(NUMBER_LENGTH)

    def answer(self, job: ShellJob, reply: int, result: Note) -> None:
        """Send the function the reply of another tool or of the client."""
        job.answer(reply, *ENCODERS[job.request_kind(reply)](result))

    def close(self) -> None:
        """Close the fork servers; the supervisor ends the processes."""
        for server in (*self._servers.values(), *self._lost):
            server.close()
        self._servers.clear()
        self._lost.clear()

    def _next_number(self) -> int:
        self._number = self._number % MAX_CALL_NUMBER + 1
        return self._number

    def _run(self, job: ShellJob) -> None:
        if isinstance(job, StandardStreamsJob):
            job.run(self._libraries)
            return
        number = job.call.environment
        # A job that is connected has had its turn with a fork server, and its descriptors are open here.
        if job.call.isolated or job.is_connected or not self._may_fork(number):
            self._run_fresh(job)
            return
        try:
            self._run_forked(job, number)
        except OSError as problem:
            if problem.errno in RETRYABLE_ERRORS:
                raise
            self._run_fresh(job)

    def _run_forked(self, job: ShellJob, number: int) -> None:
        """Call the function in a child of the fork server; raise OSError if nothing was begun."""
        server = self._servers.get(number)
        if server is None:
            server = self._servers[number] = ForkServer(self._host, self._libraries, number, self._replace)
            server.on_begun = self._start_queued
        if server.is_full:
            self._queues.setdefault(number, []).append(job)
            return
        server.start_call(job, self._next_number())

    def _start_queued(self, environment: int) -> None:
        """Give queued calls to the fork server, as far as it has room."""
        queue = self._queues.get(environment, [])
        while queue:
            server = self._servers.get(environment)
            if server is not None and server.is_full:
                return
            job = queue.pop(0)
            try:
                if job.done is not None:
                    self._run(job)
            except OSError as problem:
                if server is not None and server.waiting:  # one of those will be begun, which may make room
                    queue.insert(0, job)
                    return
                job.end(-1, f"cannot run bash: {problem.strerror}")

    def _may_fork(self, environment: int) -> bool:
        return (
            all(map(system_features.has, ("proc", "memfd", "seqpacket")))
            and self._fresh_until.get(environment, 0) <= monotonic()
        )

    def _run_fresh(self, job: ShellJob) -> None:
        """Call the function in a fresh shell."""
        call = job.call
        if not job.is_connected:
            job.connect()
        variables = encode_variables(call)
        texts = self._libraries.texts(call.slice if call.isolated else b"")
        self._send_texts(job, join_texts([*texts, call.argument, *variables]))
        name = call.file.rpartition("/")[2]
        argv = ["bash", "--norc", "--noprofile", "-c", self._libraries.program(LAUNCHER), name, call.function]
        if variables or call.errexit:
            argv += [str(len(variables)), "0", call.errexit]
        variables_for_call = {CALL_VARIABLE.encode(): job.mark.encode(), NOTES.encode(): b"%d" % NOTES_FD}
        if call.calls_tools:
            variables_for_call[REPLIES_VARIABLE] = b"%d" % REPLIES_FD
        environment = {**self._libraries.environment(call.environment), **variables_for_call}
        job.child = self._host.supervisor.spawn(argv, environment, dict(job.shell_ends), job.end)
        job.close_shell_ends()

    @staticmethod
    def _send_texts(job: ShellJob, texts: bytes) -> None:
        """Give a fresh shell its texts: in a file in memory, or through a pipe where that is not possible."""
        if system_features.has("memfd"):
            try:
                job.withdraw(0)  # what was written for a fork server may be longer
                job.write_texts(texts)
            except OSError as problem:
                if problem.errno in RETRYABLE_ERRORS:
                    raise
            else:
                return
        job.feed_texts(texts)

    def _replace(self, server: ForkServer) -> None:
        """Run calls that a lost fork server has not begun in another shell."""
        if self._servers.get(server.environment) is server:
            del self._servers[server.environment]
        if not server.is_ready:
            self._fresh_until[server.environment] = monotonic() + FRESH_SHELL_SECONDS
        untaken = server.withdraw_untaken()
        waiting = dict(server.waiting)
        server.waiting = {number: job for number, job in waiting.items() if number not in untaken}
        server.stop()
        self._lost.add(server)
        for job in server.waiting.values():
            job.withdraw(0)  # a child that has not read its texts yet does not begin the call
        self._host.reactor.after(LATE_SECONDS if server.waiting else 0, partial(self._forget, server))
        for number, job in waiting.items():
            if number in untaken:
                self._run_again(job)
        self._start_queued(server.environment)

    def _forget(self, server: ForkServer) -> None:
        """Run calls again whose child has not begun them by now: it no longer can."""
        if server not in self._lost:
            return
        self._lost.remove(server)
        server.close()
        for job in server.waiting.values():
            self._run_again(job)

    def _run_again(self, job: ShellJob) -> None:
        if job.done is None:
            job.release()
            return
        try:
            self._run(job)
        except OSError as problem:
            job.end(-1, f"cannot run bash: {problem.strerror}")


NUMBER_LENGTH = 11
"""The length of the first text of a call: its number and a null byte."""


def refused_result(problem: str) -> ProcessResult:
    """Return the result of a call that could not be made, with the reason as its output."""
    capture = OutputCapture()
    capture.add_output(problem.encode("utf-8", "replace"))
    return capture.completed(1)
