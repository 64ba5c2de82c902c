"""The one process that runs ToolBox tools, as the server sees it: lines of JSON both ways (see `host.mjs`).

Its law: a call leaves here once: answered, or given back because it was not begun.  A process that says nothing when it
is asked whether it lives is held by a tool that never waits, and is ended; what else it was running ends with it.
"""

from __future__ import annotations

import posix
from _collections import deque  # type: ignore[import-not-found]

from mcpc_runtime.capture import read_some
from mcpc_runtime.commands import MARK, Returned
from mcpc_runtime.protocol.jsonrpc import ParseError, encode, parse
from mcpc_runtime.reactor import READABLE, WRITABLE, close

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol

    from mcpc_runtime.host import Host
    from mcpc_runtime.protocol.jsonrpc import Json

    class Owner(Protocol):
        """What a child belongs to."""

        def lost(self, child: Child, unbegun: list[Job], reason: str) -> None:
            """Take note that a child has ended."""


PROGRAM = ".mcpc/toolbox/host.mjs"
WORDS = ("node",)
LINE_LIMIT = 80 << 20
ALIVE_SECONDS = 1.0
"""How long it may take to say that it lives."""


class NodeCall:
    """What is asked: a tool, a prompt, a resource or the list of them, by name, and the request as it is given on.

    `caller`: what the log calls who calls; `logged`: it is in the log without this.
    """

    __slots__ = ("caller", "environment", "kind", "logged", "name", "request")

    def __init__(self, kind: str, name: str, request: dict[str, Json], environment: int) -> None:
        self.kind = kind
        self.name = name
        self.request = request
        self.environment = environment
        self.caller = ""
        self.logged = True


class Job:
    """One call.  `line`: what is sent of it; `done` is None when nobody waits any more."""

    __slots__ = ("begun", "call", "child", "done", "note", "number")

    def __init__(self, call: NodeCall, done: Callable[[Returned], None], note: Callable[[Any], None]) -> None:
        self.call = call
        self.done: Callable[[Returned], None] | None = done
        self.note = note
        self.number = 0
        self.begun = False
        self.child: Child | None = None

    def finish(self, returned: Returned) -> None:
        """Say what became of it, once."""
        done, self.done = self.done, None
        if done is not None:
            done(returned)


class Child:
    """One process, and the calls it was given."""

    def __init__(self, owner: Owner, host: Host, folder: str, environment: dict[bytes, bytes], mark: str) -> None:
        self.ready = False
        self._owner = owner
        self._reactor = host.reactor
        self._supervisor = host.supervisor
        self._mark = mark
        self._jobs: dict[int, Job] = {}
        self._number = 0
        self._heard = 0
        self._outgoing: deque[memoryview] = deque()
        self._pieces: list[bytes] = []
        self._length = 0
        self._broken = self._closed = False
        self._start(folder, {**environment, MARK.encode(): mark.encode()})

    def _start(self, folder: str, environment: dict[bytes, bytes]) -> None:
        opened: list[int] = []
        try:
            asked, self._asking = posix.pipe()
            opened += asked, self._asking
            self._answers, answers = posix.pipe()
            opened += self._answers, answers
            argv = [*WORDS, f"{folder}/{PROGRAM}"]
            self._process = self._supervisor.spawn(argv, environment, {3: asked, 4: answers}, self._ended)
        except BaseException:
            for descriptor in opened:
                close(descriptor)
            raise
        close(asked)
        close(answers)
        posix.set_blocking(self._asking, False)
        posix.set_blocking(self._answers, False)
        self._reactor.watch(self._answers, READABLE, self._listen)

    def give(self, job: Job) -> None:
        """Send a call."""
        self._number += 1
        job.number, job.child, job.begun = self._number, self, False
        self._jobs[job.number] = job
        call = job.call
        said: dict[str, Json] = {"call": job.number, "kind": call.kind, "name": call.name, "request": call.request}
        self._say({**said, "caller": call.caller, "logged": call.logged})

    def stop(self, job: Job) -> None:
        """Have a call end; a process that does not even say that it lives is ended."""
        if job.number in self._jobs and not self._closed:
            heard = self._heard
            self._say({"cancel": job.number})
            self._say({"alive": True})
            self._reactor.after(ALIVE_SECONDS, lambda: self._look(heard))

    def _look(self, heard: int) -> None:
        if self._heard == heard and not self._closed:
            self._supervisor.end(self._process.pid, self._mark)

    def answer(self, job: Job, reply: int, result: Json) -> None:
        """Give a call what another tool answered."""
        if job.number in self._jobs:
            self._say({"answer": job.number, "reply": reply, "result": result})

    def _say(self, message: Json) -> None:
        if not self._closed:
            self._outgoing.append(memoryview(encode(message) + b"\n"))
            self._feed()

    def _feed(self) -> None:
        """Write what there is room for."""
        outgoing = self._outgoing
        try:
            while outgoing:
                outgoing[0] = outgoing[0][posix.write(self._asking, outgoing[0]) :]
                if not outgoing[0]:
                    outgoing.popleft()
        except BlockingIOError:
            self._reactor.watch(self._asking, WRITABLE, self._feed)
            return
        except OSError:
            outgoing.clear()  # it has ended; `_ended` will be called
        self._reactor.forget(self._asking)

    def _listen(self) -> None:
        data = read_some(self._answers)
        if data is not None and (not data or not self._hear(data)):
            self._broken = True  # a tool closed it, or writes there: nothing can be believed any more
            self._reactor.forget(self._answers)
            self._supervisor.end(self._process.pid, self._mark)

    def _hear(self, data: bytes) -> bool:
        """Take what was read; False if it is not what such a process says."""
        self._heard += 1
        *lines, rest = data.split(b"\n")
        for line in lines:
            whole = b"".join((*self._pieces, line))
            self._pieces, self._length = [], 0
            if not self._take(whole):
                return False
        self._pieces.append(rest)
        self._length += len(rest)
        return self._length <= LINE_LIMIT

    def _take(self, line: bytes) -> bool:
        try:
            said = parse(line)
        except ParseError:
            return False
        if type(said) is not dict:
            return False
        job = self._jobs.get(said.get("call", said.get("begun")))  # type: ignore[arg-type]
        if "ready" in said:
            self.ready = True
        elif job is not None and "begun" in said:
            job.begun = True
        elif job is not None and type(said.get("note")) is dict:
            if job.done is not None:
                job.note(said["note"])
        elif job is not None:
            del self._jobs[job.number]
            returned = Returned(said.get("value"), str(said.get("error", "")))
            raised = said.get("raised")
            returned.raised = raised if type(raised) is dict else None
            job.finish(returned)
        return True

    def _ended(self, status: int, problem: str) -> None:
        """Take the answers it still gave; what it was running ends with it, the rest goes to another."""
        if self._closed:
            return
        data = None if self._broken else read_some(self._answers)
        while data and self._hear(data):
            data = read_some(self._answers)
        how = f"with status {status}" if status >= 0 else f"by signal {-status}"
        reason = problem or f"it was ended {how}"
        self.close()
        self._supervisor.end(0, self._mark)
        jobs = [job for job in self._jobs.values() if job.done is not None]
        begun = [job for job in jobs if job.begun]
        self._owner.lost(self, [job for job in jobs if not job.begun], reason)
        for job in begun:
            job.finish(Returned(problem=f"the process of the tools ended {how} before this call had its answer"))

    def close(self) -> None:
        """Let go of it: it destroys its tools and ends when it notices."""
        if not self._closed:
            self._closed = True
            for descriptor in (self._asking, self._answers):
                self._reactor.forget(descriptor)
                close(descriptor)
