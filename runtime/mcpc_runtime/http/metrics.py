"""Metrics in Prometheus' text format: requests, calls of handlers, and what is open now.

Rule: no client can make them grow.  The values of a label are known methods, names of definitions up to a number, and
statuses; nothing else of a request is a label.

What a process that serves over HTTP tells about itself: its age, its memory, and the processes of its handlers.

The names without our prefix are those that dashboards for Prometheus know.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from time import perf_counter, time

from mcpc_runtime.http.driver import HttpDriver
from mcpc_runtime.http.memory_budget import MemoryBudget
from mcpc_runtime.http.replies import Answer, Message, Pairs, PendingReply, Receive, Reply, Send
from mcpc_runtime.protocol.constants import SERVER_INFO_KEY
from mcpc_runtime.protocol.effects import Activity, Ending
from mcpc_runtime.protocol.jsonrpc import Json
from mcpc_runtime.protocol.session import METHODS
from mcpc_runtime.transports.platforms import system
from mcpc_runtime.transports.platforms.system_features import resident_bytes

Labels = tuple[str, ...]


CONTENT_TYPE = b"text/plain; version=0.0.4; charset=utf-8"
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
MAX_NAMES = 500
"""Maximum names of tools, prompts and resources that are labels; all others are OTHER."""
OTHER = "other"
SERVERS = "mcpc_server_info"
LISTS = (
    "ping",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "server/discover",
    "skills/list",
    "tools/list",
)
HTTP = ("DELETE", "GET", "HEAD", "OPTIONS", "POST")
NOTICES = ("notifications/cancelled", "notifications/initialized", "notifications/roots/list_changed")
BATCH, RESPONSE = "batch", "response"
KNOWN = frozenset((*METHODS, *LISTS, *HTTP, *NOTICES, BATCH, RESPONSE))
current_method: ContextVar[str] = ContextVar("current_method")
"""The method of the message of the current request."""
KINDS = {"prompts/get": "prompt", "resources/read": "resource", "completion/complete": "completion"}


class Counter:
    """A Prometheus counter: one number for each set of labels."""

    __slots__ = ("_help", "_labels", "_name", "_values")

    def __init__(self, name: str, help_text: str, labels: Labels) -> None:
        self._name = name
        self._help = help_text
        self._labels = labels
        self._values: dict[Labels, int] = {}

    def add(self, *labels: str) -> None:
        """Count one more."""
        self._values[labels] = self._values.get(labels, 0) + 1

    def lines(self) -> Iterator[str]:
        """Yield its lines."""
        yield from head(self._name, self._help, "counter")
        for labels, value in sorted(self._values.items()):
            yield f"{self._name}{format_labels(self._labels, labels)} {value}"


class Histogram:
    """A Prometheus histogram of seconds: the number within each bound, and the sum, for each set of labels."""

    __slots__ = ("_help", "_labels", "_name", "_values")

    def __init__(self, name: str, help_text: str, labels: Labels) -> None:
        self._name = name
        self._help = help_text
        self._labels = labels
        self._values: dict[Labels, tuple[list[int], list[float]]] = {}

    def observe(self, seconds: float, *labels: str) -> None:
        """Add one observation."""
        counts_and_sum = self._values.get(labels)
        if counts_and_sum is None:
            counts_and_sum = self._values[labels] = [0] * (len(BUCKETS) + 1), [0.0]
        # A bound includes itself (`le`), so an equal value belongs below it.
        counts_and_sum[0][bisect_left(BUCKETS, seconds)] += 1
        counts_and_sum[1][0] += seconds

    def lines(self) -> Iterator[str]:
        """Yield its lines; each bound includes the ones below it."""
        yield from head(self._name, self._help, "histogram")
        names = (*self._labels, "le")
        for labels, (counts, total) in sorted(self._values.items()):
            count = 0
            for bound, more in zip((*BUCKETS, "+Inf"), counts, strict=True):
                count += more
                yield f"{self._name}_bucket{format_labels(names, (*labels, str(bound)))} {count}"
            yield f"{self._name}_sum{format_labels(self._labels, labels)} {total[0]!r}"
            yield f"{self._name}_count{format_labels(self._labels, labels)} {count}"


class Metrics:
    """The metrics of one process: `observe` counts requests, `began` and `ended` calls of handlers."""

    def __init__(self) -> None:
        by_name = ("kind", "name")
        self._requests = Counter("mcpc_requests_total", "Requests answered.", ("method", "status"))
        self._request_seconds = Histogram("mcpc_request_seconds", "Time to a request's answer.", ("method",))
        self._started = Counter("mcpc_calls_started_total", "Handlers called.", by_name)
        self._calls = Counter("mcpc_calls_total", "Handlers' calls that ended.", (*by_name, "outcome"))
        self._call_seconds = Histogram("mcpc_call_seconds", "Time a handler's call took, with waiting.", by_name)
        self._gauges: dict[str, tuple[str, list[Callable[[], int]]]] = {}
        self._names: set[Labels] = set()
        self._servers: dict[Labels, None] = {}

    def gauge(self, name: str, help_text: str, read: Callable[[], int]) -> None:
        """Add a gauge that `read` returns; gauges of one name are added up."""
        self._gauges.setdefault(name, (help_text, []))[1].append(read)

    def watch(self, driver: HttpDriver) -> None:
        """Add the gauges of one server."""
        self.gauge("mcpc_requests_in_flight", "Requests that wait for their answer.", lambda: len(driver.posts))
        self.gauge(
            "mcpc_sessions", "Legacy sessions of which something is kept.", lambda: len(driver.sessions.by_session)
        )
        self.gauge("mcpc_streams", "Responses that stay open.", lambda: driver.streams)
        add_handler_gauges(self.gauge, driver)
        info = driver.image.result_meta.get(SERVER_INFO_KEY)
        if type(info) is dict:
            self._servers[str(info.get("name", "")), str(info.get("version", ""))] = None

    def watch_process(self, budget: MemoryBudget) -> None:
        """Add the gauges of the process and of the memory budget, once for all servers that share them."""
        charged, limit = "mcpc_memory_charged_bytes", "mcpc_memory_limit_bytes"
        if charged not in self._gauges:
            add_process_gauges(self.gauge)
            self.gauge(charged, "Bytes charged for what clients make the server keep.", lambda: budget.held)
            self.gauge(limit, "Bytes that clients may make the server keep.", lambda: budget.limit)

    def set_method(self, message: Json) -> None:
        """Set the method of the message of the current request."""
        method = message.get("method", RESPONSE) if type(message) is dict else BATCH
        current_method.set(method if type(method) is str else OTHER)

    def watching(self, method: str, send: Send) -> Send:
        """Return a `send` that counts the request when its answer begins; `method`: of HTTP."""
        begun = perf_counter()
        current_method.set(method)

        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start":
                self.observe(current_method.get(method), message["status"], perf_counter() - begun)
            await send(message)

        return watched

    def begin(self, method: str) -> float:
        """Begin to measure a request; `method`: of HTTP.  Return the start time for `count`."""
        current_method.set(method)
        return perf_counter()

    def count(self, answer: Answer, begun: float) -> Answer:
        """Count a request if its answer is ready; otherwise return an answer that is counted when it is."""
        if not isinstance(answer, tuple):
            return MeasuredReply(self, answer)
        self.observe(current_method.get(), answer[0], perf_counter() - begun)
        return answer

    def observe(self, method: str, status: int, seconds: float) -> None:
        """Count a request by method and response status; `method`: of the message, or of HTTP without a message."""
        label = method if method in KNOWN else OTHER
        self._requests.add(label, str(status))
        self._request_seconds.observe(seconds, label)

    def began(self, call: Activity) -> None:
        """Count a handler's call."""
        self._started.add(*self._named(call))

    def ended(self, call: Activity, status: str, seconds: float, ending: Ending | None) -> None:
        """Count how a handler's call ended."""
        labels = self._named(call)
        self._calls.add(*labels, status)
        self._call_seconds.observe(seconds, *labels)

    def _named(self, call: Activity) -> Labels:
        kind = "tool" if call.is_tool else KINDS.get(call.request.method, OTHER)
        labels = kind, call.name
        if labels not in self._names:
            if len(self._names) >= MAX_NAMES:
                return kind, OTHER
            self._names.add(labels)
        return labels

    def expose(self) -> tuple[bytes, bytes]:
        """Return the media type and the text of all metrics."""
        families = (self._requests, self._request_seconds, self._started, self._calls, self._call_seconds)
        lines = [line for family in families for line in family.lines()]
        lines += head(SERVERS, "The servers of the process; always 1.", "gauge") if self._servers else ()
        lines += [f"{SERVERS}{format_labels(('server', 'version'), labels)} 1" for labels in sorted(self._servers)]
        for name, (help_text, reads) in sorted(self._gauges.items()):
            lines += [*head(name, help_text, "gauge"), f"{name} {sum(read() for read in reads)}"]
        return CONTENT_TYPE, "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")


class MeasuredReply:
    """A pending reply that is counted when it is ready, or begins to be sent."""

    __slots__ = ("_answer", "_metrics")

    def __init__(self, metrics: Metrics, answer: PendingReply) -> None:
        self._metrics = metrics
        self._answer = answer

    async def serve(self, receive: Receive, send: Send, more: Pairs) -> Reply | None:
        """Return the reply when it is ready, or send it here."""
        begun = perf_counter()
        reply = await self._answer.serve(receive, self._metrics.watching(current_method.get(OTHER), send), more)
        if reply is not None:
            self._metrics.observe(current_method.get(OTHER), reply[0], perf_counter() - begun)
        return reply


def head(name: str, help_text: str, kind: str) -> Iterator[str]:
    """Yield the lines before a family's samples."""
    yield f"# HELP {name} {help_text}"
    yield f"# TYPE {name} {kind}"


def format_labels(names: Labels, values: Labels) -> str:
    """Return labels in the exposition format."""
    return "{" + ",".join(f'{name}="{escaped(value)}"' for name, value in zip(names, values, strict=True)) + "}"


def escaped(value: str) -> str:
    """Return a label's value, escaped for quotes."""
    # Backslashes first, since the other escapes have some.
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


AddGauge = Callable[[str, str, Callable[[], int]], None]
"""Takes the name of a gauge, its help, and the function that reads it."""


STARTED = "process_start_time_seconds"
MEMORY = "process_resident_memory_bytes"
WAITING = "mcpc_calls_waiting"
PROCESSES = "mcpc_handler_processes"
HANDLER_MEMORY = "mcpc_handler_memory_bytes"


def add_process_gauges(add: AddGauge) -> None:
    """Add what is the same for all servers of the process; memory only where the system tells it."""
    began, pid = int(time()), system.getpid()
    add(STARTED, "When the process began to serve, in seconds since 1970.", lambda: began)
    if resident_bytes(pid):
        add(MEMORY, "Bytes of memory of the server's process.", lambda: resident_bytes(pid))


def add_handler_gauges(add: AddGauge, driver: HttpDriver) -> None:
    """Add the waiting calls of one server, and the processes that run its handlers."""

    def pids() -> list[int]:
        return [] if driver.dispatcher is None else driver.dispatcher.pids

    def waiting() -> int:
        return 0 if driver.dispatcher is None else driver.dispatcher.waiting

    add(WAITING, "Calls of handlers that wait until others end.", waiting)
    add(PROCESSES, "Processes that run handlers.", lambda: len(pids()))
    if resident_bytes(system.getpid()):
        add(HANDLER_MEMORY, "Bytes of memory of the processes that run handlers.", lambda: memory_of(pids()))


def memory_of(pids: list[int]) -> int:
    """Return the bytes of memory that some processes have together; shared memory counts for each."""
    return sum(map(resident_bytes, pids))
