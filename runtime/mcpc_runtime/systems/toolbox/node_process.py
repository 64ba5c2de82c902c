"""Client side of the Node process that runs ToolBox tools: lines of JSON in both directions (see `host.mjs`).

Every call is completed exactly once: with a result, or requeued if the process never started it.  A process that does
not reply to a liveness check is blocked by a tool, and is ended together with its other calls.
"""

from __future__ import annotations

from _collections import deque
from collections.abc import Callable
from typing import Protocol

from mcpc_runtime.handlers.output_capture import read_some
from mcpc_runtime.handlers.python.contract import FunctionResult
from mcpc_runtime.handlers.runner_context import RunnerContext
from mcpc_runtime.interfaces import Notify
from mcpc_runtime.protocol.jsonrpc import Json, ParseError, encode, parse
from mcpc_runtime.transports.platforms import system
from mcpc_runtime.transports.platforms.cleanup import OpenDescriptors
from mcpc_runtime.transports.platforms.pipes import close, incoming, outgoing
from mcpc_runtime.transports.platforms.processes import CALL_VARIABLE
from mcpc_runtime.transports.platforms.reactor import READABLE, WRITABLE


class ProcessOwner(Protocol):
    """The owner of a process."""

    def lost(self, child: NodeProcess, unbegun: list[NodeJob], reason: str) -> None:
        """Handle the end of a process."""


PROGRAM = ".mcpc/toolbox/host.mjs"
NODE_ARGV = ("node",)
LINE_LIMIT = 80 << 20
RESPONSE_SECONDS = 1.0
"""Seconds in which the process must reply to a liveness check."""


class NodeCall:
    """A call of a tool, a prompt, a resource or the list of resources, by name, and the request to pass on.

    `caller`: the caller's name for the log; `logged`: the caller logs this call.
    """

    __slots__ = ("caller", "environment", "kind", "logged", "name", "request")

    def __init__(self, kind: str, name: str, request: dict[str, Json], environment: int) -> None:
        self.kind = kind
        self.name = name
        self.request = request
        self.environment = environment
        self.caller = ""
        self.logged = True


class NodeJob:
    """One call; completing or stopping it sets `done` to None."""

    __slots__ = ("begun", "call", "child", "done", "note", "number")

    def __init__(self, call: NodeCall, done: Callable[[FunctionResult], None], note: Notify) -> None:
        self.call = call
        self.done: Callable[[FunctionResult], None] | None = done
        self.note = note
        self.number = 0
        self.begun = False
        self.child: NodeProcess | None = None

    def finish(self, returned: FunctionResult) -> None:
        """Deliver the result, once."""
        done, self.done = self.done, None
        if done is not None:
            done(returned)


class NodeProcess:
    """One process and its calls."""

    def __init__(
        self, owner: ProcessOwner, host: RunnerContext, folder: str, environment: dict[bytes, bytes], mark: str
    ) -> None:
        self.ready = False
        self._owner = owner
        self._reactor = host.reactor
        self._supervisor = host.supervisor
        self._mark = mark
        self._jobs: dict[int, NodeJob] = {}
        self._number = 0
        self._received = self._checks = self._replies_to_checks = 0
        self._outgoing: deque[memoryview] = deque()
        self._chunks: list[bytes] = []
        self._length = 0
        self._broken = self._closed = False
        self._start(folder, {**environment, CALL_VARIABLE.encode(): mark.encode()})

    def _start(self, folder: str, environment: dict[bytes, bytes]) -> None:
        with OpenDescriptors() as opened:
            self._requests, requests = outgoing()
            opened += (self._requests, requests)
            self._replies, replies = incoming()
            opened += (self._replies, replies)
            argv = [*NODE_ARGV, f"{folder}/{PROGRAM}"]
            self._process = self._supervisor.spawn(argv, environment, {3: requests, 4: replies}, self._ended)
        # The process has its own; while these are open as well, the end of its replies is not seen.
        close(requests)
        close(replies)
        self._reactor.watch(self._replies, READABLE, self._listen)

    def send_call(self, job: NodeJob) -> None:
        """Send a call."""
        self._number += 1
        job.number, job.child, job.begun = self._number, self, False
        self._jobs[job.number] = job
        call = job.call
        message: dict[str, Json] = {"call": job.number, "kind": call.kind, "name": call.name, "request": call.request}
        self._send({**message, "caller": call.caller, "logged": call.logged})

    def stop(self, job: NodeJob) -> None:
        """Cancel a call; a process that does not reply to the liveness check is ended."""
        if job.number in self._jobs and not self._closed:
            self._send({"cancel": job.number})
            # It replies at once unless a tool blocks its thread.
            self._send({"alive": True})
            self._checks += 1
            self._check_later(self._checks)

    def _check_later(self, check: int) -> None:
        received = self._received
        self._reactor.after(RESPONSE_SECONDS, lambda: self._check_liveness(check, received))

    def _check_liveness(self, check: int, received: int) -> None:
        """End a process that has not replied; what it sent before it was blocked does not count."""
        if self._replies_to_checks >= check or self._closed:
            return
        if self._received == received:
            self._supervisor.end(self._process.pid, self._mark)
        else:
            self._check_later(check)

    def answer(self, job: NodeJob, reply: int, result: Json) -> None:
        """Send a call the result of another tool."""
        if job.number in self._jobs:
            self._send({"answer": job.number, "reply": reply, "result": result})

    def _send(self, message: Json) -> None:
        if not self._closed:
            self._outgoing.append(memoryview(encode(message) + b"\n"))
            self._feed()

    def _feed(self) -> None:
        """Write as much as there is room for."""
        outgoing = self._outgoing
        try:
            while outgoing:
                outgoing[0] = outgoing[0][system.write(self._requests, outgoing[0]) :]
                if not outgoing[0]:
                    outgoing.popleft()
        except BlockingIOError:
            self._reactor.watch(self._requests, WRITABLE, self._feed)
            return
        except OSError:
            outgoing.clear()  # the process has ended; `_ended` will be called
        self._reactor.forget(self._requests)

    def _listen(self) -> None:
        data = read_some(self._replies)
        if data is not None and (not data or not self._process_lines(data)):
            self._broken = True  # a tool closed it or writes there: the protocol is broken
            self._reactor.forget(self._replies)
            self._supervisor.end(self._process.pid, self._mark)

    def _process_lines(self, data: bytes) -> bool:
        """Process what was read; return False if it violates the protocol."""
        self._received += 1
        *lines, rest = data.split(b"\n")
        for line in lines:
            message = b"".join((*self._chunks, line))
            self._chunks, self._length = [], 0
            if not self._take(message):
                return False
        self._chunks.append(rest)
        self._length += len(rest)
        return self._length <= LINE_LIMIT

    def _take(self, line: bytes) -> bool:
        try:
            message = parse(line)
        except ParseError:
            return False
        if type(message) is not dict:
            return False
        number, note = message.get("call", message.get("begun")), message.get("note")
        job = self._jobs.get(number) if type(number) is int else None
        self.ready = self.ready or "ready" in message
        self._replies_to_checks += "alive" in message
        if job is not None and "begun" in message:
            job.begun = True
        elif job is not None and type(note) is dict:
            if job.done is not None:
                job.note(note)
        elif job is not None:
            del self._jobs[job.number]
            returned = FunctionResult(message.get("value"), str(message.get("error", "")))
            raised = message.get("raised")
            returned.raised = raised if type(raised) is dict else None
            job.finish(returned)
        return True

    def _ended(self, status: int, problem: str) -> None:
        """Process the last replies; fail the calls that had begun, and return the others to the owner."""
        if self._closed:
            return
        data = None if self._broken else read_some(self._replies)
        while data and self._process_lines(data):
            data = read_some(self._replies)
        how = f"with status {status}" if status >= 0 else f"by signal {-status}"
        reason = problem or f"it ended {how}"
        self.close()
        # Programs that its tools have started carry the mark, too, and may still run.
        self._supervisor.end(0, self._mark)
        jobs = [job for job in self._jobs.values() if job.done is not None]
        begun = [job for job in jobs if job.begun]
        self._owner.lost(self, [job for job in jobs if not job.begun], reason)
        for job in begun:
            job.finish(FunctionResult(problem=f"the tool process ended {how} before this call was answered"))

    def close(self) -> None:
        """Close the pipes: the process then destroys its tools and ends."""
        if not self._closed:
            self._closed = True
            for descriptor in (self._requests, self._replies):
                self._reactor.forget(descriptor)
                close(descriptor)
