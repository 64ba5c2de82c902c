"""Very many requests of one server over HTTP: every kind of client, most of which leave without a word.

What is kept of sessions and streams is kept for a while, so the memory of the process goes up and down with the number
of clients at once, and with the gaps that they leave.  So a leak is looked for when all clients have gone, among the
blocks that Python has then; the process may keep some more memory than it had.
"""

import asyncio
import itertools
import json
import random
import re
import time
import urllib.request
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from faults.client import below, processes, require, resident, until
from support.http_sample import INLINE, NONE, SERVER, TOOLS, project
from support.knocks import ECHO, mirrors, request, stateless
from support.serving import Served

Deed = Callable[["Visitor"], Awaitable[int]]

VISITORS = 8
WARM = 300
PATIENCE = 60.0
MEBIBYTE = 1 << 20
LONG, KEPT = 50_000, 4096
"""In fewer requests than LONG nothing may have been forgotten yet; of a request so many bytes may be kept until then."""
FORGOTTEN_SECONDS = 45.0
"""Sessions that were not used are looked for twice a minute."""
KEPT_BLOCKS = 1000
MAX_ENDED = 1 << 16
"""The ids of so many ended sessions are kept, in two blocks each."""
DELETED = 'mcpc_requests_total{method="DELETE",status="204"}'
OPTIONS = ("--session-ttl", "3", "--metrics")
CAPABLE = {"elicitation": {"form": {}}}
ANN = {"action": "accept", "content": {"name": "Ann"}}
SESSION = re.compile(rb"\r\nmcp-session-id: ([^\r]+)\r\n", re.IGNORECASE)
LENGTH = re.compile(rb"\r\ncontent-length: ([0-9]+)\r\n", re.IGNORECASE)
ASKED = re.compile(rb'"id":"(mcpc-[0-9a-f]+)"')


class Figures:
    """What a soak saw: requests answered, seconds, and samples of the memory of the server and of all processes."""

    def __init__(self) -> None:
        self.requests = 0
        self.seconds = 0.0
        self.samples: list[tuple[int, int]] = []
        self.descriptors = self.processes = (0, 0)
        self.gauges: dict[str, float] = {}
        self.blocks = (0, 0)
        """How many Python may have when all sessions are over, and has."""

    def growth(self, column: int) -> tuple[float, float]:
        """Return by how much the highest of the last third is above the highest of the second: bytes, per cent."""
        third = max(1, len(self.samples) // 3)
        before = max(sample[column] for sample in self.samples[third : 2 * third] or self.samples)
        after = max(sample[column] for sample in self.samples[2 * third :])
        return after - before, 100 * (after - before) / before

    def problems(self) -> list[str]:
        found = []
        most = 4 * MEBIBYTE if self.requests >= LONG else max(4 * MEBIBYTE, self.requests * KEPT)
        for name, column in (("the server", 0), ("all processes", 1)):
            grown, share = self.growth(column)
            if share >= 10 and grown >= most:
                found.append(f"memory of {name} grows by {share:.1f} % ({grown / MEBIBYTE:.1f} MiB)")
        if self.descriptors[1] > self.descriptors[0]:
            found.append("descriptors: {} before, {} after".format(*self.descriptors))
        if self.processes[1] > self.processes[0]:
            found.append("processes: {} before, {} after".format(*self.processes))
        if self.blocks[1] > self.blocks[0]:
            found.append(
                "Python has {1} blocks of memory when all sessions are over, more than {0}".format(*self.blocks)
            )
        for name, value in self.gauges.items():
            if value:
                found.append(f"{name}: {value:g} when all had gone")
        return found

    def __str__(self) -> str:
        server, everything = ((max(one[column] for one in self.samples) / MEBIBYTE) for column in (0, 1))
        return (
            f"{self.requests} requests, {self.requests / self.seconds:.0f}/s, at most {server:.1f} MiB the server and "
            f"{everything:.1f} MiB all, {self.growth(0)[1]:+.2f} % and {self.growth(1)[1]:+.2f} %, "
            f"descriptors {self.descriptors}, processes {self.processes}"
        )


class Line:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.data = b""

    def say(self, head: str, headers: list[tuple[str, str]], body: bytes = b"") -> None:
        """Send a request."""
        lines = [f"{head} HTTP/1.1", "Host: localhost", "Accept: application/json, text/event-stream"]
        if body:
            lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
        lines += [f"{name}: {value}" for name, value in headers]
        self.writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)

    async def until(self, wanted: bytes) -> bytes:
        """Return all that has come when this has, too."""
        async with asyncio.timeout(PATIENCE):
            while wanted not in self.data:
                more = await self.reader.read(1 << 16)
                require(more, "the connection ended", self.data[-300:])
                self.data += more
        return self.data

    async def answer(self) -> tuple[int, bytes, bytes]:
        """Return a whole answer: status, head, body."""
        head, _, self.data = (await self.until(b"\r\n\r\n")).partition(b"\r\n\r\n")
        found = LENGTH.search(head + b"\r\n")
        length = int(found[1]) if found else 0
        if b"chunked" in head:
            body, _, self.data = (await self.until(b"\r\n0\r\n\r\n")).partition(b"\r\n0\r\n\r\n")
            return int(head[9:12]), head + b"\r\n", body
        async with asyncio.timeout(PATIENCE):
            while len(self.data) < length:
                self.data += await self.reader.read(1 << 16)
        body, self.data = self.data[:length], self.data[length:]
        return int(head[9:12]), head + b"\r\n", body

    async def close(self) -> None:
        """Leave."""
        self.writer.close()
        with suppress(OSError):
            await self.writer.wait_closed()


class Visitor:
    """A client that does one thing after another, on a connection of its own and others."""

    def __init__(self, url: str) -> None:
        where = urlsplit(url)
        self._place = where.hostname, where.port
        self._line: Line | None = None

    async def connect(self) -> Line:
        return Line(*await asyncio.open_connection(*self._place))

    async def post(self, message: Any, headers: list[tuple[str, str]], status: int = 200) -> tuple[bytes, bytes]:
        """Post a message and return the head and the body of the answer."""
        if self._line is None:
            self._line = await self.connect()
        self._line.say("POST /mcp", headers, json.dumps(message).encode())
        found, head, body = await self._line.answer()
        require(found == status, found, body[:300])
        return head, body

    async def stream(self, message: Any, headers: list[tuple[str, str]]) -> Line:
        """Post a message on a connection of its own."""
        line = await self.connect()
        line.say("POST /mcp", headers, json.dumps(message).encode())
        return line

    async def modern(self, method: str, params: Any, **capabilities: Any) -> Any:
        """Return the result of a stateless request."""
        _, body = await self.post(stateless(method, params, **capabilities), mirrors(method, params))
        start = body.find(b'{"jsonrpc"')
        return json.loads(body[start : body.rfind(b"}") + 1])["result"]

    async def begin(self, **capabilities: Any) -> list[tuple[str, str]]:
        """Begin a session; return the headers of its requests."""
        params = {
            "protocolVersion": "2025-11-25",
            "capabilities": capabilities,
            "clientInfo": {"name": "s", "version": "1"},
        }
        head, _ = await self.post(request("initialize", params), [])
        found = SESSION.search(head)
        require(found, head)
        return [("mcp-session-id", found[1].decode()), ("mcp-protocol-version", "2025-11-25")]

    async def close(self) -> None:
        """Leave."""
        if self._line is not None:
            await self._line.close()


async def call(visitor: Visitor) -> int:
    """Call a tool."""
    found = await visitor.modern("tools/call", ECHO)
    require(not found.get("isError"), found)
    return 1


async def look(visitor: Visitor) -> int:
    require((await visitor.modern("tools/list", {}))["tools"])
    return 1


async def abandon(visitor: Visitor) -> int:
    """Begin a session, use it, and never come back."""
    session = await visitor.begin()
    await visitor.post(request("tools/call", ECHO), session)
    return 2


async def bid_farewell(visitor: Visitor) -> int:
    """Begin a session, subscribe, and end it."""
    session = await visitor.begin()
    await visitor.post(request("resources/subscribe", {"uri": "sample://text"}), session)
    line = await visitor.connect()
    line.say("DELETE /mcp", session)
    status, _, _ = await line.answer()
    require(status == 204, status)
    await line.close()
    return 3


async def watch(visitor: Visitor) -> int:
    """Begin a session, subscribe, and never come back: it is remembered for a while."""
    session = await visitor.begin()
    await visitor.post(request("resources/subscribe", {"uri": "sample://text"}), session)
    return 2


async def listen(visitor: Visitor) -> int:
    """Open a subscription, and drop it."""
    params = {"notifications": {"toolsListChanged": True, "resourceSubscriptions": ["sample://text"]}}
    line = await visitor.stream(stateless("subscriptions/listen", params), mirrors("subscriptions/listen"))
    await line.until(b"acknowledged")
    await line.close()
    return 1


async def hang_on(visitor: Visitor) -> int:
    """Open a stream of a session, and drop it."""
    session = await visitor.begin()
    line = await visitor.connect()
    line.say("GET /mcp", session)
    await line.until(b"retry:")
    await line.close()
    return 2


async def leave(visitor: Visitor) -> int:
    """Call a tool, and leave before it answers."""
    params = {"name": "late", "arguments": {"seconds": 0.05}}
    line = await visitor.stream(stateless("tools/call", params), mirrors("tools/call", params))
    await asyncio.sleep(0.01)
    await line.close()
    return 1


async def be_asked(visitor: Visitor) -> int:
    """Be asked by a result, and call again with the answer."""
    params = {"name": "elicit", "arguments": {}}
    found = await visitor.modern("tools/call", params, **CAPABLE)
    again = {
        **params,
        "requestState": found["requestState"],
        "inputResponses": dict.fromkeys(found["inputRequests"], ANN),
    }
    found = await visitor.modern("tools/call", again, **CAPABLE)
    require("Ann" in found["content"][0]["text"], found)
    return 2


async def be_asked_aside(visitor: Visitor) -> int:
    """Be asked on the stream of a call, and answer by another request."""
    session = await visitor.begin(**CAPABLE)
    line = await visitor.stream(request("tools/call", {"name": "elicit", "arguments": {}}, 7), session)
    await line.until(b"elicitation/create")
    found = ASKED.search(await line.until(b"requestedSchema"))
    require(found, line.data)
    await visitor.post({"jsonrpc": "2.0", "id": found[1].decode(), "result": ANN}, session, 202)
    require(b"Ann" in await line.until(b'"result"'), line.data)
    await line.close()
    return 3


async def be_asked_in_vain(visitor: Visitor) -> int:
    """Be asked, and leave; the call is ended with the session."""
    session = await visitor.begin(**CAPABLE)
    line = await visitor.stream(request("tools/call", {"name": "elicit", "arguments": {}}, 7), session)
    await line.until(b"elicitation/create")
    await line.close()
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}
    await visitor.post(cancelled, session, 202)
    return 3


DEEDS: dict[Deed, int] = {
    call: 50, look: 10, abandon: 8, bid_farewell: 4, watch: 2, listen: 6, hang_on: 3, leave: 4, be_asked: 5,
    be_asked_aside: 4, be_asked_in_vain: 2,
}  # fmt: skip


def artifact(folder: Path, build: Callable[..., Path]) -> Path:
    return build(
        project(folder / "project", SERVER, {**TOOLS, "blocks": (NONE, INLINE)}), folder / "soak.pyz", "--http"
    )


def soak(server: Served, count: int, seed: int = 1) -> Figures:
    """Make `count` requests; return the figures."""
    return asyncio.run(visited(server, count, random.Random(seed)))


async def visited(server: Served, count: int, chance: random.Random) -> Figures:
    """Have every kind of client come, first a few and then all."""
    figures = Figures()
    warm = Figures()
    deeds, weights = list(DEEDS), list(DEEDS.values())
    await visits(server, warm, WARM, itertools.cycle(deeds).__next__)
    await asyncio.to_thread(settle, server)
    before, blocks = counted(server), await blocks_of(server)
    began = time.monotonic()
    await visits(server, figures, count, lambda: chance.choices(deeds, weights)[0])
    figures.seconds = time.monotonic() - began
    await asyncio.to_thread(
        until, lambda: all(now <= then for now, then in zip(counted(server), before, strict=True)), 5
    )
    after = counted(server)
    figures.descriptors, figures.processes = (before[0], after[0]), (before[1], after[1])
    figures.gauges = await asyncio.to_thread(gauges, server)
    most = blocks + KEPT_BLOCKS + 2 * min(ended_sessions(server), MAX_ENDED)
    figures.blocks = most, await fewest_blocks(server, most)
    return figures


async def blocks_of(server: Served) -> int:
    """Return how many blocks of memory Python has in the server."""
    visitor = Visitor(server.url)
    result = await visitor.modern("tools/call", {"name": "blocks", "arguments": {}})
    await visitor.close()
    return int(result["content"][0]["text"])


async def fewest_blocks(server: Served, wanted: int) -> int:
    """Return how many blocks Python has in the server, once they are not more than wanted or all sessions are over."""
    end = time.monotonic() + FORGOTTEN_SECONDS
    while (found := await blocks_of(server)) > wanted and time.monotonic() < end:
        await asyncio.sleep(0.5)
    return found


async def visits(server: Served, figures: Figures, count: int, choose: Callable[[], Deed]) -> None:
    """Have visitors come until so many requests were made; measure meanwhile."""

    async def visit() -> None:
        visitor = Visitor(server.url)
        while figures.requests < count:
            made = await choose()(visitor)
            figures.requests += made  # in one step: what others add during the wait would be lost
        await visitor.close()

    async def measure() -> None:
        while True:
            figures.samples.append(memory(server))
            await asyncio.sleep(0.5)

    measuring = asyncio.create_task(measure())
    try:
        await asyncio.gather(*(visit() for _ in range(VISITORS)))
    finally:
        measuring.cancel()
    figures.samples.append(memory(server))


def family(server: Served) -> list[int]:
    return [server.process.pid, *(process.pid for process in below([server.process.pid], processes()))]


def memory(server: Served) -> tuple[int, int]:
    """Return the resident bytes of the server, and of all its processes."""
    sizes = []
    for pid in family(server):
        with suppress(OSError):
            sizes.append(resident(pid))
    return sizes[0], sum(sizes)


def counted(server: Served) -> tuple[int, int]:
    """Return how many descriptors the server has, and how many processes."""
    return len(list(Path(f"/proc/{server.process.pid}/fd").iterdir())), len(family(server))


def settle(server: Served) -> None:
    """Wait until the number of descriptors stays."""
    seen: list[tuple[int, int]] = []
    until(
        lambda: seen.append(counted(server)) or time.sleep(0.2) or (len(seen) > 2 and seen[-1] == seen[-2] == seen[-3]),
        5,
    )


def metrics(server: Served) -> list[list[str]]:
    with urllib.request.urlopen(f"{server.root}/metrics", timeout=5) as answer:
        return [line.split() for line in answer.read().decode().splitlines() if not line.startswith("#")]


def ended_sessions(server: Served) -> int:
    return sum(int(float(words[-1])) for words in metrics(server) if words[0].startswith(DELETED))


def gauges(server: Served) -> dict[str, float]:
    """Return what the server says it still waits for, once that is nothing or some seconds have passed."""
    found: dict[str, float] = {}

    def look() -> bool:
        values = {words[0].partition("{")[0]: float(words[-1]) for words in metrics(server)}
        found.update({name: values[name] for name in ("mcpc_requests_in_flight", "mcpc_streams")})
        return not any(found.values())

    until(look, 5)
    return found
