"""What is fuzzed: any bytes, in any pieces, through the line splitter and the session, with handlers that end anyhow.

A crash is any exception at all: everything that bytes can bring about has an answer of its own.  Besides: every line
that the session sends is one JSON text, and every call it starts can be finished.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING

from images import MODERN, small_session
from mcpc_runtime.protocol.effects import Failure, Outcome, PromptOutcome, Send, Start, Stop, text
from mcpc_runtime.protocol.session import Session
from mcpc_runtime.transports import stdio

if TYPE_CHECKING:
    from mcpc_runtime.protocol.effects import Call, Effect

LIMIT = 1 << 12
META = json.dumps(MODERN)
SEEDS: tuple[bytes, ...] = (
    b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n',
    b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{}}}\n',
    b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":"x"}}}\n',
    b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"measure","arguments":{"text":5}}}\n',
    b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}\n',
    b'{"jsonrpc":"2.0","id":3,"method":"prompts/get","params":{"name":"greet","arguments":{"name":"A"}}}\n',
    b'{"jsonrpc":"2.0","id":4,"method":"logging/setLevel","params":{"level":"debug"}}\n',
    b'[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":""}}}]\n',
    f'{{"jsonrpc":"2.0","id":"a","method":"tools/list","params":{{"_meta":{META}}}}}\n'.encode(),
    f'{{"jsonrpc":"2.0","id":"b","method":"server/discover","params":{{"_meta":{META}}}}}\n'.encode(),
    f'{{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{{"name":"echo","arguments":{{"text":"x"}},"_meta":{META}}}}}\n'.encode(),
    b'[[[[{\n\n\xff\n\xef\xbb\xbf{}\n1e999\n"\\ud800"\n',
)
TOKENS: tuple[bytes, ...] = (
    b'"jsonrpc":"2.0"', b'"id":', b'"method":', b'"params":', b'"tools/call"', b'"prompts/get"', b'"_meta":', b'"arguments":', b'"name":', b'"echo"', b'"measure"',
    b'"text":', b'"requestId":', b'"notifications/cancelled"', b'"initialize"', b'"protocolVersion":', b'"2025-03-26"', b'"2026-07-28"', b"{", b"}", b"[", b"]", b",",
    b":", b"null", b"true", b"1", b"-0", b"1e9", b'"\\ud800"', b'"\\u0000"', b"\n", b"\r\n", b"\xff", b"\xed\xa0\x80", b"NaN", b"9" * 400, b"[" * 2000,
    b'"io.modelcontextprotocol/protocolVersion":', b'"io.modelcontextprotocol/clientCapabilities":', b'"progressToken":', b'"io.modelcontextprotocol/logLevel":',
)  # fmt: skip


class Fed(stdio.Channel):
    """The transport's own line splitter, which is given its bytes by hand."""

    def __init__(self, pieces: list[bytes]) -> None:
        self.descriptor, self.output, self.ended = -1, -1, False
        self._limit, self._chunks, self._size, self._overflow = LIMIT, [], 0, False
        self.pieces = pieces


class Feeder:
    """Stands for `posix` while the splitter reads."""

    def __init__(self, pieces: list[bytes]) -> None:
        self.pieces = pieces

    def read(self, descriptor: int, size: int) -> bytes:
        """Return the next piece."""
        return self.pieces.pop(0) if self.pieces else b""


@cache
def image() -> object:
    """Return the image of a small server, compiled once."""
    return small_session().image


def pieces_of(data: bytes, size: int) -> list[bytes]:
    """Return the data in pieces of one size."""
    return [data[at : at + size] for at in range(0, len(data), size)]


def lines_of(data: bytes, size: int) -> list[bytes | None]:
    """Return the lines of the data when it arrives in pieces of that size."""
    real = stdio.posix
    feeder = Feeder(pieces_of(data, size))
    channel = Fed([])
    found: list[bytes | None] = []
    stdio.posix = feeder  # type: ignore[assignment]
    try:
        while not channel.ended:
            found += channel.read()
    finally:
        stdio.posix = real
    return found


def converse(data: bytes) -> int:
    """Take the first byte for how the rest is cut and how handlers end; return how many lines were sent."""
    if not data:
        return 0
    how, data = data[0], data[1:]
    lines = lines_of(data, 1 + how % 64)
    if lines != lines_of(data, 1 << 16):
        raise AssertionError("lines depend on how they arrive")
    session = Session(image())  # type: ignore[arg-type]
    sent = 0
    calls: list[Call] = []
    for number, line in enumerate(lines):
        sent += take(session.refuse_oversize(LIMIT) if line is None else session.receive(line), calls)
        while calls and (how + number) % 3:
            call = calls.pop()
            sent += take(session.finish(call, ending(call, how)), calls)
    for call in calls:
        sent += take(session.finish(call, ending(call, how)), [])
    if session.running:
        raise AssertionError("a call that ended is still open")
    return sent


def take(effects: list[Effect], calls: list[Call]) -> int:
    """Perform effects as the engine does; return how many lines were sent."""
    sent = 0
    for effect in effects:
        if isinstance(effect, Send):
            json.loads(effect.data)
            sent += 1
        elif isinstance(effect, Start):
            calls.append(effect.call)
        elif isinstance(effect, Stop):
            calls[:] = [call for call in calls if call is not effect.call]
    return sent


def ending(call: Call, how: int) -> Outcome | PromptOutcome | Failure:
    """Return one of the ways in which a handler ends."""
    if how & 64:
        return Failure(-32603, "no\ud800")
    if call.is_prompt:
        return PromptOutcome([{"role": "user", "content": text("\ud800\u2028")}])
    return Outcome([text("\udfff\n")], {"length": 1}, is_error=bool(how & 128))
