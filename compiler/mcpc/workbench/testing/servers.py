"""The built file as processes, one for each transport and environment: started when a case needs it, ended after.

A server that has ended is started again for the next case.  Calls that are made at a time share the processes.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from mcpc.client.client import ConversationError
from mcpc.client.http import connected
from mcpc.client.processes import SharedProcess, started_server
from mcpc.pack.prologue import START_BY_PYTHON
from mcpc.sandbox import programs
from mcpc.workbench.testing.client import AnswerList, EraClient, call_params, completion_params

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from mcpc.client.client import Transport
    from mcpc.workbench.testing.model import Case, Reply, Variant

    Headers = tuple[tuple[str, str], ...]

# The white space tells that the address is there as a whole.
LISTENS = re.compile(rb"serving (http://\S+)\s")
START_SECONDS = 60.0
POLL_SECONDS = 0.01
STOP_SECONDS = 10.0
MAX_LOG = 4000
"""What is kept of the standard error of a server during a call, in bytes."""


@dataclass(frozen=True, slots=True)
class Served:
    """What is served, and how.  `bases`: the settings with the addresses of requests, and what these are without them.

    `path`: the built file.  `folder`: the working folder of its processes.  `tools`: input schemas by name.
    `variables`: of every process.  `seconds`: how long a call may take.  `start`: the words before the path.
    """

    path: Path
    folder: Path
    tools: Mapping[str, Any]
    variables: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 60.0
    start: tuple[str, ...] = START_BY_PYTHON
    bases: Mapping[str, str] = field(default_factory=dict)

    def with_variables(self, more: Mapping[str, str]) -> Served:
        return replace(self, variables={**self.variables, **more})


def has_http(facts: Mapping[str, Any]) -> bool:
    """Tell whether a built file serves over HTTP, by its facts."""
    return bool((facts.get("options") or {}).get("http"))


class CallRoute(NamedTuple):
    """How a server is called: a transport and an era, and headers of requests over HTTP."""

    variant: Variant
    headers: Headers = ()


class RunningServer:
    """A process, and the conversations with it that no call uses now.

    `server`: its messages, or its address.  `errors`: the file of its standard error.  `stack`: ends it.
    """

    def __init__(self, server: SharedProcess | str, errors: Path, stack: ExitStack) -> None:
        self._server, self._errors, self._stack = server, errors, stack
        self._idle: dict[CallRoute, list[EraClient]] = {}
        self._lock = threading.Lock()

    def take(self, route: CallRoute, tools: Mapping[str, Any]) -> EraClient:
        """Return a conversation for one call."""
        with self._lock:
            idle = self._idle.get(route)
            if idle:
                return idle.pop()
            transport: Transport = (
                self._stack.enter_context(connected(self._server, dict(route.headers)))
                if isinstance(self._server, str)
                else self._server.conversation()
            )
            return EraClient(transport, route.variant.era, tools)

    def give_back(self, route: CallRoute, conversation: EraClient) -> None:
        """Keep a conversation for later calls."""
        with self._lock:
            self._idle.setdefault(route, []).append(conversation)

    def log_size(self) -> int:
        """Return how many bytes it has written on standard error."""
        return self._errors.stat().st_size

    def log(self, start: int) -> str:
        """Return what it has written on standard error since an offset, the end of it."""
        with self._errors.open("rb") as stream:
            size = stream.seek(0, 2)
            stream.seek(max(start, size - MAX_LOG))
            return stream.read(MAX_LOG).decode("utf-8", "replace")

    def end(self) -> None:
        """End the process and what it started."""
        with self._lock:
            self._stack.close()


class Connection:
    """The processes of one environment, one for each transport; several threads may call them."""

    def __init__(self, served: Served) -> None:
        self._served = served
        self._running: dict[str, RunningServer] = {}
        self._locks = {transport: threading.Lock() for transport in STARTS}
        self._is_over = False

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        # First of all: a thread whose call fails by what follows must not start a server again.
        self._is_over = True
        for transport, lock in self._locks.items():
            with lock:
                running = self._running.pop(transport, None)
            if running is not None:
                running.end()

    def call(self, case: Case, variant: Variant) -> Reply:
        """Return the reply to the call of a case; raise ConversationError if there is none."""
        params = (
            completion_params(case.completed, case.arguments)
            if case.completed
            else call_params(case.kind, case.target, case.arguments)
        )
        return self.request(CallRoute(variant, case.headers), case.kind, params, case.answers)

    def request(
        self, route: CallRoute, kind: str, params: dict[str, Any], answers: Sequence[Mapping[str, Any]] = ()
    ) -> Reply:
        """Return the reply to a request; raise ConversationError if there is none."""
        running = self._started(route.variant.transport)
        try:
            before = running.log_size()
            conversation = running.take(route, self._served.tools)
            reply = conversation.call(kind, params, answers, self._served.seconds)
            running.give_back(route, conversation)
            return replace(reply, log=running.log(before)) if reply.is_error else reply
        except (ConversationError, OSError) as problem:
            log = self._end(route.variant.transport, running)
            raise ConversationError(f"{problem}{_indented(log)}") from None

    def _started(self, transport: str) -> RunningServer:
        with self._locks[transport]:
            if self._is_over:
                raise ConversationError("the run has ended")
            if transport not in self._running:
                self._running[transport] = self._start(transport)
            return self._running[transport]

    def _start(self, transport: str) -> RunningServer:
        stack = ExitStack()
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mcpc-test-")))
        errors = folder / "errors"
        # Tasks of tests stay apart from those of the user.
        served = self._served.with_variables({"MCPC_TASKS": f"sqlite:{folder}/tasks.db"})
        try:
            return RunningServer(stack.enter_context(STARTS[transport](served, errors)), errors, stack)
        except ConversationError:
            # Ends what was entered, and lets the error pass.
            with stack:
                raise

    def _end(self, transport: str, running: RunningServer) -> str:
        """End a server, unless another call that failed has done so; return its last lines of standard error."""
        with self._locks[transport]:
            if self._running.get(transport) is not running:
                return ""
            del self._running[transport]
            # Read before the end, which removes the file.
            log = running.log(0)
            running.end()
            return log


def _indented(log: str) -> str:
    return "".join(f"\n  {line}" for line in log.splitlines()[-12:])


@contextmanager
def stdio_server(served: Served, errors: Path) -> Iterator[SharedProcess]:
    """Start the server over pipes and yield its messages."""
    with errors.open("wb") as stream:
        words = [*served.start, str(served.path)]
        with started_server(words, stderr=stream, cwd=served.folder, more=served.variables) as transport:
            yield SharedProcess(transport, AnswerList().respond)


@contextmanager
def http_server(served: Served, errors: Path) -> Iterator[str]:
    """Start the server on a free port of the loopback address and yield the address of its endpoint."""
    words = [*served.start, str(served.path), "serve", "--http", "127.0.0.1:0"]
    with errors.open("wb") as stream:
        streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": stream, "stderr": stream}
        process = programs.start_program("server", words, cwd=served.folder, more=served.variables, **streams)
        try:
            yield _listening(process, errors)
        finally:
            programs.end_program(process, STOP_SECONDS)


def _listening(process: subprocess.Popen[bytes], errors: Path) -> str:
    """Return the address of a server that takes calls; raise ConversationError if it does not listen."""
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        match = LISTENS.search(errors.read_bytes())
        if match and _is_ready(match[1].decode()):
            return match[1].decode()
        time.sleep(POLL_SECONDS)
    log = errors.read_text("utf-8", "replace")
    ended = process.poll()
    problem = f"it did not listen in {START_SECONDS:g} seconds" if ended is None else f"it ended with status {ended}"
    raise ConversationError(f"{problem}{_indented(log)}")


def _is_ready(url: str) -> bool:
    parts = urlsplit(url)
    with (
        suppress(OSError, urllib.error.URLError),
        urllib.request.urlopen(f"{parts.scheme}://{parts.netloc}/readyz", timeout=5) as answer,
    ):
        return bool(answer.status == 200)
    return False


STARTS: dict[str, Callable[[Served, Path], AbstractContextManager[SharedProcess | str]]] = {
    "stdio": stdio_server,
    "http": http_server,
}
"""How a server is started for each transport."""
