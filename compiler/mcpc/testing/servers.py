"""The built file as processes, one for each transport and environment: started when a case needs it, ended after.

A server that has ended is started again for the next case.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from mcpc import programs
from mcpc.server_lists.client import ConversationError
from mcpc.server_lists.http import connected
from mcpc.server_lists.processes import started_server
from mcpc.smoke import START_BY_PYTHON
from mcpc.testing.client import EraClient, call_params

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mcpc.server_lists.client import Transport
    from mcpc.testing.model import Case, Reply, Variant

    Headers = tuple[tuple[str, str], ...]

LISTENS = re.compile(rb"serving (http://\S+)\s")
START_SECONDS = 60.0
POLL_SECONDS = 0.01
STOP_SECONDS = 10.0
MAX_LOG = 4000
"""What is kept of the standard error of a server during a call, in bytes."""


@dataclass(frozen=True, slots=True)
class Served:
    """What is served, and how.

    `path`: the built file.  `folder`: the working folder of its processes.  `tools`: input schemas by name.
    `variables`: of every process.  `seconds`: how long a call may take.
    """

    path: Path
    folder: Path
    tools: Mapping[str, Any]
    variables: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 60.0

    def with_variables(self, more: Mapping[str, str]) -> Served:
        """Return the same with more variables."""
        return replace(self, variables={**self.variables, **more})


def has_http(facts: Mapping[str, Any]) -> bool:
    """Tell whether a built file serves over HTTP, by its facts."""
    return bool((facts.get("options") or {}).get("http"))


class CallRoute(NamedTuple):
    """How a server is called: a transport and an era, and headers of requests over HTTP."""

    variant: Variant
    headers: Headers = ()


class Connection:
    """The processes of one environment: one for each transport, and on it a conversation for each era."""

    def __init__(self, served: Served) -> None:
        self._served = served
        self._started: dict[str, tuple[ExitStack, Any, Path]] = {}
        self._conversations: dict[tuple[Variant, Headers], EraClient] = {}

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        for transport in [*self._started]:
            self._end(transport)

    def call(self, case: Case, variant: Variant) -> Reply:
        """Return the reply to the call of a case; raise ConversationError if there is none."""
        params = call_params(case.kind, case.target, case.arguments)
        return self.request(CallRoute(variant, case.headers), case.kind, params, case.answers)

    def request(
        self, route: CallRoute, kind: str, params: dict[str, Any], answers: Sequence[Mapping[str, Any]] = ()
    ) -> Reply:
        """Return the reply to a request; raise ConversationError if there is none."""
        variant = route.variant
        try:
            conversation = self._conversation(variant, route.headers)
            errors = self._started[variant.transport][2]
            before = errors.stat().st_size
            reply = conversation.call(kind, params, answers, self._served.seconds)
        except ConversationError as problem:
            log = self._log(variant.transport, 0)
            self._end(variant.transport)
            raise ConversationError(f"{problem}{_indented(log)}") from None
        return replace(reply, log=self._log(variant.transport, before)) if reply.is_error else reply

    def _conversation(self, variant: Variant, headers: Headers) -> EraClient:
        if variant.transport not in self._started:
            self._start(variant.transport)
        key = (variant, headers)
        if key not in self._conversations:
            stack, server, _ = self._started[variant.transport]
            is_http = isinstance(server, str)
            connection = stack.enter_context(connected(server, dict(headers))) if is_http else server
            self._conversations[key] = EraClient(connection, variant.era, self._served.tools)
        return self._conversations[key]

    def _start(self, transport: str) -> None:
        stack = ExitStack()
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mcpc-test-")))
        errors = folder / "errors"
        served = self._served.with_variables({"MCPC_TASKS": f"sqlite:{folder}/tasks.db"})
        try:
            server = stack.enter_context(STARTS[transport](served, errors))
        except ConversationError:
            with stack:
                raise
        self._started[transport] = (stack, server, errors)

    def _end(self, transport: str) -> None:
        for key in [each for each in self._conversations if each[0].transport == transport]:
            del self._conversations[key]
        if transport in self._started:
            self._started.pop(transport)[0].close()

    def _log(self, transport: str, start: int) -> str:
        """Return what the server has written on standard error since an offset, the end of it."""
        found = self._started.get(transport)
        if found is None:
            return ""
        with found[2].open("rb") as stream:
            size = stream.seek(0, 2)
            stream.seek(max(start, size - MAX_LOG))
            return stream.read(MAX_LOG).decode("utf-8", "replace")


def _indented(log: str) -> str:
    return "".join(f"\n  {line}" for line in log.splitlines()[-12:])


@contextmanager
def stdio_server(served: Served, errors: Path) -> Iterator[Transport]:
    """Start the server over pipes and yield the connection to it."""
    with errors.open("wb") as stream:
        options = {"stderr": stream, "cwd": served.folder, "more": served.variables}
        with started_server([*START_BY_PYTHON, str(served.path)], **options) as transport:
            yield transport


@contextmanager
def http_server(served: Served, errors: Path) -> Iterator[str]:
    """Start the server on a free port of the loopback address and yield the address of its endpoint."""
    words = [*START_BY_PYTHON, str(served.path), "serve", "--http", "127.0.0.1:0"]
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
        found = LISTENS.search(errors.read_bytes())
        if found and _is_ready(found[1].decode()):
            return found[1].decode()
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


STARTS = {"stdio": stdio_server, "http": http_server}
"""How a server is started for each transport."""
