"""Bash functions: called in a child of a shell that has read the library once, or in a fresh one.

Its law: a fresh shell is always right.  A fork server is used where /proc and files in memory are there, the tool does
not ask for a shell of its own, and the libraries could be read; a call that no fork server begins gets a fresh shell.
"""

from __future__ import annotations

import posix
from errno import EAGAIN
from time import monotonic

from mcpc_runtime import ways
from mcpc_runtime.capture import Capture
from mcpc_runtime.commands import MARK, NOTES, Completed
from mcpc_runtime.shells.answers import WORDS
from mcpc_runtime.shells.forkserver import ForkServer
from mcpc_runtime.shells.job import ANSWERS, NOTED, Job
from mcpc_runtime.shells.libraries import LAUNCHER, Libraries, texts_of, variable_texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mcpc_runtime.commands import ShellCall
    from mcpc_runtime.host import Host
    from mcpc_runtime.shells.libraries import Given

NO_ROOM = (*ways.NO_ROOM, EAGAIN)
"""What a call is to be tried again after, and not in another way."""
LATE_SECONDS = 1.0
"""How long a child that took a call may still begin it after its fork server was lost."""
UNFIT_SECONDS = 30.0
"""How long fresh shells are used after the libraries could not be read; each says why."""
NUMBER_LIMIT = 10**9
ANSWERS_VARIABLE = b"MCPC_ANSWERS"
"""Names the descriptor on which answers come, of other tools and of the client, for `mcpc_call` and `mcpc_ask`."""


class ShellRunner:
    """Calls Bash functions.  One fork server for each environment, started by the first call that wants it."""

    def __init__(self, host: Host, libraries: Given | None = None) -> None:
        self._host = host
        own = Libraries(host)
        self._libraries: Given = libraries or own
        self._name_places = own.name_places if libraries is None else None
        self._servers: dict[int, ForkServer] = {}
        self._unfit: dict[int, float] = {}
        self._number = 0
        self._queues: dict[int, list[Job]] = {}

    def start(self, call: ShellCall, done: Callable[[Completed], None], note: Callable[[Any], None]) -> Job | None:
        """Call a function; `done` is called with what became of it."""
        if call.refusal:
            done(refused(call.refusal))
            return None
        name_places = self._name_places
        job = Job(self._host, call, done if name_places is None else lambda ran: done(name_places(ran)), note)
        job.mark = f"{posix.getpid()}.b{self._next()}"
        try:
            self._run(job)
        except BaseException:
            job.release()
            raise
        return job

    def stop(self, job: Job | None) -> None:
        """End the call; one that no child has begun finds nothing to call."""
        if job is None or job.done is None:
            return
        job.done = None
        if job.child is not None:
            self._host.supervisor.end(job.child.pid, job.mark)
        elif job.pid:
            self._host.supervisor.end(job.pid, job.mark)
        else:
            job.withdraw(NUMBER_LENGTH)

    def answer(self, job: Job, reply: int, result: dict[str, Any]) -> None:
        """Hand the function what a tool that it called answered, or the client."""
        job.answer(reply, *WORDS[job.kind(reply)](result))

    def close(self) -> None:
        """Leave the processes to the supervisor."""
        for server in self._servers.values():
            server.close()
        self._servers.clear()

    def _next(self) -> int:
        self._number = self._number % NUMBER_LIMIT + 1
        return self._number

    def _run(self, job: Job) -> None:
        number = job.call.environment
        if job.call.isolated or job.is_connected or not self._may_fork(number):
            self._run_fresh(job)
            return
        try:
            self._run_forked(job, number)
        except OSError as problem:
            if problem.errno in NO_ROOM:
                raise
            self._run_fresh(job)

    def _run_forked(self, job: Job, number: int) -> None:
        """Have a child of the fork server call the function; raise OSError if nothing was begun."""
        server = self._servers.get(number)
        if server is None:
            server = self._servers[number] = ForkServer(self._host, self._libraries, number, self._replace)
            server.begun = self._fill
        if server.is_full:
            self._queues.setdefault(number, []).append(job)
            return
        server.give(job, self._next())

    def _fill(self, environment: int) -> None:
        """Give what waits here to the fork server, as far as that has room."""
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
                if server is not None and server.waiting:  # something will be begun, and there may be room then
                    queue.insert(0, job)
                    return
                job.end(-1, f"cannot run bash: {problem.strerror}")

    def _may_fork(self, environment: int) -> bool:
        return all(map(ways.has, ("proc", "memfd", "seqpacket"))) and self._unfit.get(environment, 0) <= monotonic()

    def _run_fresh(self, job: Job) -> None:
        """Call the function in a shell of its own."""
        call = job.call
        if not job.is_connected:
            job.connect()
        variables = variable_texts(call)
        texts = self._libraries.texts(call.slice if call.isolated else b"")
        self._tell(job, texts_of([*texts, call.argument, *variables]))
        name = call.file.rpartition("/")[2]
        argv = ["bash", "--norc", "--noprofile", "-c", self._libraries.program(LAUNCHER), name, call.function]
        if variables:
            argv.append(str(len(variables)))
        given = {MARK.encode(): job.mark.encode(), NOTES.encode(): b"%d" % NOTED}
        if call.calls_tools:
            given[ANSWERS_VARIABLE] = b"%d" % ANSWERS
        environment = {**self._libraries.environment(call.environment), **given}
        job.child = self._host.supervisor.spawn(argv, environment, dict(job.held), job.end)
        job.let_go()

    @staticmethod
    def _tell(job: Job, texts: bytes) -> None:
        """Give a shell of its own its texts: in a file in memory, or where that cannot be written, through a pipe."""
        if ways.has("memfd"):
            try:
                job.tell(texts)
            except OSError as problem:
                if problem.errno in NO_ROOM:
                    raise
            else:
                return
        job.feed(texts)

    def _replace(self, server: ForkServer) -> None:
        """Give the calls that a lost fork server's children have not begun to another shell."""
        if self._servers.get(server.environment) is server:
            del self._servers[server.environment]
        if not server.is_ready:
            self._unfit[server.environment] = monotonic() + UNFIT_SECONDS
        untaken = server.take_back()
        waiting, server.waiting = dict(server.waiting), {}
        server.close()
        for number, job in waiting.items():
            if number in untaken:
                self._run_again(job)
            else:
                server.waiting[number] = job
                job.withdraw(NUMBER_LENGTH)
                self._host.reactor.after(LATE_SECONDS, lambda job=job: self._run_late(job))  # type: ignore[misc]
        self._fill(server.environment)

    def _run_late(self, job: Job) -> None:
        if not job.pid:
            self._run_again(job)

    def _run_again(self, job: Job) -> None:
        if job.done is None:
            job.release()
            return
        try:
            self._run(job)
        except OSError as problem:
            job.end(-1, f"cannot run bash: {problem.strerror}")


NUMBER_LENGTH = 11
"""Of a call's texts, the first: its number and a null byte."""


def refused(problem: str) -> Completed:
    """Return what a call amounts to that could not be made, with why as its output."""
    capture = Capture()
    capture.print(problem.encode("utf-8", "replace"))
    return capture.completed(1)
