"""The rounds of a measurement: server and floor alternate, every second round in reverse order.

So what else the machine does affects both, and a ratio is of medians of one run.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from itertools import cycle, islice
from time import perf_counter
from typing import TYPE_CHECKING

from mcpc.workbench.bench import http_exchange, pipes
from mcpc.workbench.bench.floors import bare_start, echoing, echoing_port
from mcpc.workbench.bench.model import HTTP, Measure, median_measure, percentile, spread_of
from mcpc_runtime.transports.platforms.memory_use import resident_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mcpc.workbench.bench.model import Plan
    from mcpc.workbench.bench.pipes import Lines

LISTS = 30
SECONDS_A_CALL = 1.0
ROUNDS = 5
"""Rounds of throughput."""
PARTS = {"call.p50": 0.5, "call.p95": 0.95, "call.p99": 0.99}


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds of the server and of its floor."""

    server: list[float]
    floor: list[float]


def measure(plan: Plan, size: int) -> tuple[Measure, ...]:
    """Return all measures of a plan; raise BenchError.  `size`: the bytes of the built file."""
    return (Measure("size", size), *(_over_http(plan) if plan.transport == HTTP else _over_pipes(plan)))


def alternate(rounds: int, server: Callable[[], float], floor: Callable[[], float]) -> Times:
    """Measure both in every round."""
    times = Times([], [])
    rows = ((times.server, server), (times.floor, floor))
    for number in range(rounds):
        for found, run in rows[:: -1 if number % 2 else 1]:
            found.append(run())
    return times


def _over_pipes(plan: Plan) -> Iterator[Measure]:
    starts = alternate(plan.starts, lambda: _pipe_start(plan), bare_start)
    yield median_measure("start", starts.server, starts.floor)
    with pipes.server(plan.command, plan.folder) as server, echoing() as floor:
        with server.within(pipes.ANSWER_SECONDS):
            pipes.greet(server)
            yield _listed(server, floor)
        memory = resident_bytes(server.process.pid), resident_bytes(floor.process.pid)
        if plan.calls:
            yield from _called(plan, server, floor)
    yield from _memory(*memory)


def _pipe_start(plan: Plan) -> float:
    began = perf_counter()
    with pipes.server(plan.command, plan.folder) as server, server.within(pipes.ANSWER_SECONDS):
        server.send(pipes.initialize_line())
        answer = server.receive()
        took = perf_counter() - began
        pipes.result_of(answer)
        return took


def _listed(server: Lines, floor: Lines) -> Measure:
    line = pipes.message(1, "tools/list")
    server.send(line)
    both = echo_line(len(line) + len(server.receive()))
    times = alternate(LISTS, lambda: server.exchange(line), lambda: floor.exchange(both))
    return median_measure("list", times.server, times.floor)


def echo_line(size: int) -> bytes:
    """Return a line for the floor, of so many bytes."""
    return b"x" * (size - 1) + b"\n"


def _called(plan: Plan, server: Lines, floor: Lines) -> Iterator[Measure]:
    lines = [pipes.call_line(number, call) for number, call in enumerate(islice(cycle(plan.calls), plan.count))]
    seconds = pipes.ANSWER_SECONDS + plan.count * SECONDS_A_CALL
    with server.within(seconds), floor.within(seconds):
        both = echo_line(max(map(len, lines)) + _checked_answer(plan, server))
        todo = iter(lines)
        times = alternate(plan.count, lambda: server.exchange(next(todo)), lambda: floor.exchange(both))
        yield from _percentiles(times)
        some = lines[: max(1, plan.count // ROUNDS)]
        in_flight = pipes.room(both, plan.concurrency)
        rates = alternate(
            ROUNDS,
            lambda: len(some) / server.flood(some, in_flight),
            lambda: len(some) / floor.flood([both] * len(some), in_flight),
        )
        yield median_measure("throughput", rates.server, rates.floor)


def _checked_answer(plan: Plan, server: Lines) -> int:
    """Make every call once, which has to succeed; return the bytes of the longest answer."""
    longest = 0
    for call in plan.calls:
        server.send(pipes.call_line(0, call))
        answer = server.receive()
        pipes.checked_result(call, answer)
        longest = max(longest, len(answer))
    return longest


def _percentiles(times: Times) -> Iterator[Measure]:
    spread = spread_of(times.server)
    for name, part in PARTS.items():
        yield Measure(name, percentile(times.server, part), percentile(times.floor, part), spread)


def _memory(server: int, floor: int) -> Iterator[Measure]:
    """Yield the memory, where the system tells it."""
    if server:
        yield Measure("rss", server, floor or None)


def _over_http(plan: Plan) -> Iterator[Measure]:
    starts = alternate(plan.starts, lambda: _http_start(plan), bare_start)
    yield median_measure("start", starts.server, starts.floor)
    with ExitStack() as stack:
        url, server = stack.enter_context(http_exchange.serving(plan.command, plan.folder))
        port = stack.enter_context(echoing_port())
        connection = stack.enter_context(closing(http_exchange.ServerConnection(url)))
        yield _listed_over_http(connection, port, http_exchange.request("tools/list", {}))
        memory = resident_bytes(server.process.pid)
        if plan.calls:
            yield from HttpLoad(plan, url, port, stack).measures()
    yield from _memory(memory, bare_memory())


def _http_start(plan: Plan) -> float:
    began = perf_counter()
    with (
        http_exchange.serving(plan.command, plan.folder) as (url, _),
        closing(http_exchange.ServerConnection(url)) as connection,
    ):
        answer = connection.exchange(*http_exchange.request("server/discover", {}))
        took = perf_counter() - began
        pipes.result_of(answer)
        return took


def bare_memory() -> int:
    """Return the bytes of memory of a Python that does nothing but return lines."""
    with echoing() as floor, floor.within(pipes.ANSWER_SECONDS):
        floor.exchange(b"\n")
        return resident_bytes(floor.process.pid)


def _listed_over_http(connection: http_exchange.ServerConnection, port: int, listing: http_exchange.Request) -> Measure:
    with closing(http_exchange.FloorConnection(port, http_exchange.checked_size(connection, listing))) as floor:
        times = alternate(LISTS, lambda: connection.seconds(listing), floor.seconds)
    return median_measure("list", times.server, times.floor)


class HttpLoad:
    """Calls over several connections, each in a thread, and as many connections to the floor."""

    def __init__(self, plan: Plan, url: str, port: int, stack: ExitStack) -> None:
        self._plan = plan
        self._requests = [http_exchange.call_request(call) for call in plan.calls]
        numbers = range(plan.concurrency)
        self._servers = [stack.enter_context(closing(http_exchange.ServerConnection(url))) for _ in numbers]
        first = self._servers[0]
        size = max(http_exchange.call_size(first, *row) for row in zip(plan.calls, self._requests, strict=True))
        self._floors = [stack.enter_context(closing(http_exchange.FloorConnection(port, size))) for _ in numbers]
        self._pool = stack.enter_context(ThreadPoolExecutor(plan.concurrency))
        self._share = max(1, plan.count // ROUNDS // plan.concurrency)

    def measures(self) -> Iterator[Measure]:
        """Yield the times of single calls, and the calls a second over all connections."""
        todo = cycle(self._requests)
        times = alternate(self._plan.count, lambda: self._servers[0].seconds(next(todo)), self._floors[0].seconds)
        yield from _percentiles(times)
        rates = alternate(ROUNDS, lambda: self._rate(self._ask), lambda: self._rate(self._echo))
        yield median_measure("throughput", rates.server, rates.floor)

    def _rate(self, run: Callable[[int], None]) -> float:
        began = perf_counter()
        for _ in self._pool.map(run, range(self._plan.concurrency)):
            pass
        return self._share * self._plan.concurrency / (perf_counter() - began)

    def _ask(self, number: int) -> None:
        for prepared in islice(cycle(self._requests), self._share):
            self._servers[number].seconds(prepared)

    def _echo(self, number: int) -> None:
        for _ in range(self._share):
            self._floors[number].seconds()
