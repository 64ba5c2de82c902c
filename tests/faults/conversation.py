"""Sections A to C: lines, envelopes, and the order of a conversation."""

import json
import os
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from faults.client import HANDSHAKE, MODERN, STATELESS, Message, Peak, Server, code, failed, good, require, text, until
from faults.documents import FREE, READ, REFUSED
from faults.forms import APART, BASH
from faults.strings import OPTIONS, SHELL, STRINGS
from faults.trial import Case, Trial, within

ONE = (HANDSHAKE,)
OLD = (HANDSHAKE,)
PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602


def unnamed(server: Server, lines: Sequence[bytes], seconds: float = 30.0) -> list[Message]:
    """Send lines whose ids cannot be read, then a request; return the replies, one to a line."""
    before = len(server.replies.messages.get("null", ()))
    server.write(b"".join(line + b"\n" for line in lines))
    server.ask("tools/list", seconds=seconds)
    return server.replies.messages.get("null", [])[before:]


def each(server: Server, lines: Iterable[bytes], codes: tuple[int, ...]) -> None:
    """Raise Fault unless every line has one answer, an error of these."""
    for line in lines:
        found = unnamed(server, [line])
        require(len(found) == 1, f"{len(found)} answers to", line)
        require(code(found[0]) in codes, found[0], "to", line)


def malformed(trial: Trial) -> None:
    server = trial.start()
    found = unnamed(server, REFUSED, 60)
    require(len(found) == len(REFUSED), f"{len(found)} answers to {len(REFUSED)} lines")
    for line, reply in zip(REFUSED, found, strict=True):
        require(code(reply) == PARSE_ERROR, reply, "to", line)
    trial.note = f"{len(found)} lines"


def free(trial: Trial) -> None:
    server = trial.start()
    each(server, FREE, (PARSE_ERROR, INVALID_REQUEST))
    trial.note = f"{len(FREE)} lines"


def values(trial: Trial) -> None:
    server = trial.start()
    found = unnamed(server, [line for line in READ if b'"id":1' not in line], 30)
    require(all(code(reply) == INVALID_REQUEST for reply in found), found)
    require(len(found) == len([line for line in READ if b'"id":1' not in line]), f"{len(found)} answers")
    server.write(b'{"id":1}\n')
    require(code(server.wait(1)) == INVALID_REQUEST, "an object that is no request")
    trial.note = f"{len(READ)} lines"


def broken_text(trial: Trial) -> None:
    server = trial.start()
    lines = [
        b'{"jsonrpc":"2.0","id":"u","method":"tools/call","params":{"name":"echo","arguments":{"text":"'
        + data
        + b'"}}}'
        for data in (b"\xff", b"a\xc3", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80", b"\xc0\x80")
    ]
    each(server, lines, (PARSE_ERROR, INVALID_REQUEST))


def line_ends(trial: Trial) -> None:
    server = trial.start()
    server.write(server.line("tools/list", id="crlf").replace(b"\n", b"\r\n"))
    require("result" in server.wait("crlf"), "CRLF")


def blank_lines(trial: Trial) -> None:
    server = trial.start()
    before = server.replies.lines
    server.write(b"\n\n \n\t\n\r\n  \t \r\n")
    server.alive()
    require(server.replies.lines == before + 1, "a blank line was answered")


def long_line(trial: Trial) -> None:
    server = trial.start()
    reply = server.call("ignore", 20, text="x" * (1 << 20))
    require("result" in reply or code(reply) in (INVALID_REQUEST, INVALID_PARAMS), reply)


def huge_line(trial: Trial) -> None:
    server = trial.start()
    peak = Peak(server.pid)
    piece = b"x" * (1 << 20)
    began = time.monotonic()
    server.write(b'{"jsonrpc":"2.0","id":"h","method":"ping","params":{"x":"')
    for _ in range(64):
        server.write(piece)
    server.write(b'"}}\n')
    server.alive(60)
    within(server, 60, began)
    growth = peak.growth()
    require(len(server.replies.messages.get("null", ())) + ('"h"' in server.replies.messages) == 1, "no one answer")
    require(growth <= 20, f"memory grew by {growth:.1f} MiB")
    trial.note = f"+{growth:.1f} MiB"


def deep(trial: Trial) -> None:
    server = trial.start()
    for opening, closing in ((b"[", b"]"), (b'{"a":', b"}")):
        value = opening * 100_000 + b"1" + closing * 100_000
        server.write(
            b'{"jsonrpc":"2.0","id":"d","method":"tools/call","params":{"name":"echo","arguments":' + value + b"}}\n"
        )
    server.alive(20)
    found = server.replies.messages
    require(len(found.get("null", ())) + len(found.get('"d"', ())) == 2, "not each was answered")
    require(all("error" in reply for reply in [*found.get("null", ()), *found.get('"d"', ())]), "no error")
    server.replies.messages.pop('"d"', None)


def no_numbers(trial: Trial) -> None:
    server = trial.start()
    lines = [
        b'{"jsonrpc":"2.0","id":"n","method":"tools/call","params":{"name":"sleep","arguments":{"seconds":'
        + word
        + b"}}}"
        for word in (b"NaN", b"Infinity", b"-Infinity")
    ]
    each(server, lines, (PARSE_ERROR,))


def long_number(trial: Trial) -> None:
    server = trial.start()
    for number in ("9" * 400, "-" + "9" * 400, "9" * 5000):
        call = server.line(
            "tools/call", {"name": "echo", "arguments": {"text": "x", "n": 77777}}, id=f"n{len(number)}{number[0]}"
        )
        server.write(call.replace(b"77777", number.encode()))
    server.alive(10)
    require(
        until(lambda: sum(map(len, server.replies.messages.values())) >= 5, 10), "not each was answered", server.state()
    )


def round_trip(trial: Trial) -> None:
    exact(trial.start(), ["a\nb", "a\u2028b\u2029", "😀", "\x7f", "a\rb\tc", "\U0010ffff"])


def exact(server: Server, strings: Sequence[str], tools: tuple[str, ...] = ("echo", "say")) -> int:
    """Send every string to the tools, a few at once; raise Fault if one comes back altered; return how many were refused."""
    refused = 0
    wanted = [(tool, string) for string in strings for tool in tools]
    for at in range(0, len(wanted), 16):
        sent = [(server.start_call(tool, text=string), tool, string) for tool, string in wanted[at : at + 16]]
        for identifier, tool, string in sent:
            reply = server.wait(identifier, 30)
            if is_refused(reply):
                refused += 1
                require(
                    "\0" in string or any("\ud800" <= one <= "\udfff" for one in string),
                    tool,
                    "refused",
                    string,
                    failed(reply),
                )
                continue
            result = good(reply)
            came = result["structuredContent"]["text"] if tool == "echo" else text(result)
            require(came == (string if tool == "echo" else f"[{string}]"), tool, "sent", string, "came", came)
    return refused


def is_refused(reply: Message) -> bool:
    return "error" in reply or reply["result"].get("isError") is True


def in_pieces(trial: Trial) -> None:
    server = trial.start()
    line = server.line("tools/list", id="p")
    for piece in (line[:10], line[10:30], line[30:]):
        server.write(piece)
        time.sleep(0.2)
    require("result" in server.wait("p"), "pieces")


def at_once(trial: Trial) -> None:
    server = trial.start()
    server.write(b"".join(server.line("tools/list", id=number) for number in range(100)))
    for number in range(100):
        require("result" in server.wait(number), number)


def bad_envelope(**changes: Any) -> Callable[[Trial], None]:
    """Return a case: a request changed so must be -32600."""

    def run(trial: Trial) -> None:
        server = trial.start()
        message = {
            "jsonrpc": "2.0",
            "id": "e",
            "method": "tools/list",
            "params": {"_meta": MODERN} if trial.era == STATELESS else {},
        }
        message = {name: value for name, value in {**message, **changes}.items() if value is not REMOVED}
        server.write(json.dumps(message).encode() + b"\n")
        server.alive()
        expected = json.dumps(message.get("id")) if isinstance(message.get("id"), str) else "null"
        found = server.replies.messages.get(expected, [])
        require(len(found) == 1 and code(found[0]) == INVALID_REQUEST, "answers:", found)

    return run


REMOVED = object()


def same_ids(trial: Trial) -> None:
    server = trial.start()
    server.start_call("sleep", "7", seconds=0.3)
    server.start_call("sleep", 7, seconds=0.3)
    for identifier in ("7", 7):
        reply = server.wait(identifier)
        require(type(reply["id"]) is type(identifier), reply)
        good(reply)


def refused_with(method: str, params: Any, *codes: int) -> Callable[[Trial], None]:
    """Return a case: a request that must be answered with one of these errors, under its id."""

    def run(trial: Trial) -> None:
        server = trial.start()
        reply = server.ask(method, params)
        require(code(reply) in codes, reply)
        server.alive()

    return run


def bad_arguments(arguments: Any) -> Callable[[Trial], None]:
    def run(trial: Trial) -> None:
        server = trial.start()
        require(failed(server.ask("tools/call", {"name": "echo", "arguments": arguments})), "no words")
        server.alive()

    return run


def silent(method: str, params: Any) -> Callable[[Trial], None]:
    """Return a case: a message that must not be answered."""

    def run(trial: Trial) -> None:
        server = trial.start()
        before = server.replies.lines
        server.notify(method, params)
        time.sleep(0.2)
        server.alive()
        require(server.replies.lines == before + 1, "it was answered")

    return run


def batch(trial: Trial) -> None:
    server = trial.start()
    line = server.line("tools/list", id="b").strip()
    each(server, [b"[" + line + b"]", b"[" + line + b"," + line + b"]"], (INVALID_REQUEST,))


def empty_batch(trial: Trial) -> None:
    each(trial.start(), [b"[]"], (INVALID_REQUEST,))


def extra_member(trial: Trial) -> None:
    server = trial.start()
    server.write(server.line("tools/list", id="x", extra={"a": 1}, traceparent="00"))
    require("result" in server.wait("x"), "an extra member")


def bad_names(trial: Trial) -> None:
    server = trial.start()
    names = ["../echo", "echo;touch owned", "$(touch owned)", "`touch owned`", "echo\n", "echo\0", "tool_echo", "given", "main", "__class__", "",
             "/bin/sh", "echo echo", "-c", "x" * 100_000, "\ud800", "\u00e9cho", "eval", "cd"]  # fmt: skip
    for name in names:
        require(code(server.ask("tools/call", {"name": name, "arguments": {"text": "x"}})) == INVALID_PARAMS, name)
    nothing_run(server)


def nothing_run(server: Server) -> None:
    """Raise Fault if a word of an argument was run."""
    for place in (server.folder, server.home, server.temporary):
        require(not (place / "owned").exists(), "an argument was run")
    require(not os.path.exists("/tmp/owned"), "an argument was run")


def metacharacters(trial: Trial) -> None:
    server = trial.start()
    exact(server, SHELL)
    nothing_run(server)


def options(trial: Trial) -> None:
    server = trial.start()
    exact(server, OPTIONS)


def naughty(trial: Trial) -> None:
    server = trial.start(warm=True)
    chosen = STRINGS if trial.era == HANDSHAKE else STRINGS[::9]
    refused = exact(server, chosen)
    nothing_run(server)
    trial.note = f"{len(chosen)} strings, {refused} of {2 * len(chosen)} refused"


def early_list(trial: Trial) -> None:
    server = trial.start(shake=False)
    require("result" in server.ask("tools/list"), "not answered with a list")


def twice(trial: Trial) -> None:
    server = trial.start(shake=False)
    server.initialize()
    server.initialize()
    require("result" in server.ask("tools/list"), "no list")


def unknown_version(trial: Trial) -> None:
    server = trial.start(shake=False)
    if trial.era == HANDSHAKE:
        for version in ("1999-01-01", "", "x", "2099-12-31"):
            params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
            result = good(server.ask("initialize", params))
            require(result["protocolVersion"] != version, "it agreed to", version)
    else:
        meta = {**MODERN, "io.modelcontextprotocol/protocolVersion": "1999-01-01"}
        reply = server.ask("tools/list", {"_meta": meta})
        require(code(reply) == -32022 and reply["error"]["data"]["supported"], reply)
    require("result" in server.ask("tools/list"), "no list")


def empty_initialize(trial: Trial) -> None:
    server = trial.start(shake=False)
    for params in (None, {}, {"protocolVersion": 5}):
        require(code(server.ask("initialize", params)) == INVALID_PARAMS, params)
    server.initialize()


def cancel(trial: Trial) -> None:
    server = trial.start(warm=True)
    identifier = server.start_call("child")
    require(until(lambda: sleeping(server), 10), "its child never came", server.state())
    began = time.monotonic()
    server.notify("notifications/cancelled", {"requestId": identifier, "reason": "enough"})
    require(until(lambda: not sleeping(server), 5 * 2), "its child runs on after 5 s")
    took = within(server, 5, began)
    require(server.wait_if(identifier, 0.3) is None, "a cancelled call was answered")
    server.result("echo", text="after")
    trial.note = f"{took:.2f} s"


def sleeping(server: Server) -> list[str]:
    """Return the `sleep 3600` that a handler started."""
    return [process.words() for process in server.running() if "sleep 3600" in process.words()]


def cancel_quick(trial: Trial) -> None:
    """Cancel calls whose handlers run nothing else, at every moment of their lives."""
    server = trial.start(warm=True)
    sent = []
    for number in range(60):
        sent.append(server.start_call("sleep", seconds=0.2))
        time.sleep(0.001 * (number % 7))
        server.notify("notifications/cancelled", {"requestId": sent[-1]})
    for number in (None, 5, True, [], {}, "none", 10**30):
        server.notify("notifications/cancelled", {"requestId": number})
    server.result("echo", 20, text="after")
    time.sleep(0.5)
    require(all(server.wait_if(one, 0) is None for one in sent), "a cancelled call was answered")


def progress_tokens(trial: Trial) -> None:
    server = trial.start()
    for token in ("a", 0, -1, True, {}, [], None, 1.5, "x" * 10_000):
        reply = server.ask(
            "tools/call", {"name": "echo", "arguments": {"text": "x"}, "_meta": {"progressToken": token}}
        )
        require("result" in reply or "error" in reply, token)
    server.alive()


def probe(trial: Trial) -> None:
    server = trial.start(shake=False)
    server.ask("server/discover")
    server.ask("server/discover", {})
    server.initialize()


def early_ping(trial: Trial) -> None:
    server = trial.start(shake=False)
    require(server.ask("ping")["result"] == {}, "ping")


LINES = (
    Case("A01", "malformed documents: each -32700", malformed, (BASH,)),
    Case("A02", "documents a reader may refuse: each answered", free, (BASH,)),
    Case("A03", "JSON that is no request: each -32600", values, (BASH,)),
    Case("A04", "invalid UTF-8 inside a request: an answer", broken_text, (BASH,)),
    Case("A06", "CRLF line ending accepted", line_ends, (BASH,)),
    Case("A07", "blank and whitespace lines: no reply", blank_lines, (BASH,)),
    Case("A08", "1 MiB request line: served or refused", long_line),
    Case("A09", "64 MiB request line: refused, memory +20 MiB at most", huge_line, (BASH,), ONE),
    Case("A10", "100,000-deep nesting: an error, not a crash", deep, (BASH,)),
    Case("A12", "NaN / Infinity / -Infinity: -32700", no_numbers, (BASH,)),
    Case("A13", "400-digit integer argument: answered", long_number),
    Case("A16", "newline, U+2028, emoji, DEL round-trip exactly", round_trip),
    Case("A17", "message in 3 writes 200 ms apart", in_pieces, (BASH,)),
    Case("A18", "100 messages in one write: 100 replies", at_once, (BASH,)),
)
ENVELOPES = (
    Case("B01", "request with id null: -32600", bad_envelope(id=None), (BASH,)),
    Case("B02", "request with id true: -32600", bad_envelope(id=True), (BASH,)),
    Case("B03", "request with id object: -32600", bad_envelope(id={}), (BASH,)),
    Case("B04", "request with id array: -32600", bad_envelope(id=[1]), (BASH,)),
    Case("B06", 'ids "7" and 7 in flight together', same_ids),
    Case("B09", "no jsonrpc member: -32600", bad_envelope(jsonrpc=REMOVED), (BASH,)),
    Case("B10", 'jsonrpc "1.0": -32600', bad_envelope(jsonrpc="1.0"), (BASH,)),
    Case("B11", "no method, result or error: -32600", bad_envelope(method=REMOVED), (BASH,)),
    Case("B12", "method is a number: -32600", bad_envelope(method=5), (BASH,)),
    Case("B13", "unknown method: -32601 with the id", refused_with("no/such", {}, METHOD_NOT_FOUND), (BASH,)),
    Case("B14", "params is an array: -32602/-32600", refused_with("tools/list", [1], INVALID_PARAMS, INVALID_REQUEST), (BASH,)),
    Case("B15", "tools/call without params: -32602", refused_with("tools/call", None, INVALID_PARAMS), (BASH,)),
    Case(
        "B17", "unknown tool: -32602",
        refused_with("tools/call", {"name": "nobody", "arguments": {}}, INVALID_PARAMS),
        (BASH,),
    ),
    Case("B18", "missing required argument: error", bad_arguments({})),
    Case("B19", "argument of the wrong type: error", bad_arguments({"text": 5})),
    Case("B20", "unknown notification: no reply", silent("notifications/nobody", {}), (BASH,)),
    Case("B21", "tools/call without id: no reply", silent("tools/call", {"name": "echo", "arguments": {"text": "x"}})),
    Case("B22", "batch: one -32600", batch, (BASH,)),
    Case("B23", "empty batch: -32600", empty_batch, (BASH,)),
    Case("B26", "extra top-level member: tolerated", extra_member, (BASH,)),
    Case("B27", "tool names with traversal and shell syntax: refused", bad_names),
    Case("B28", "shell metacharacters in an argument: exact, nothing run", metacharacters, eras=ONE),
    Case("B29", "arguments that look like options: exact", options, eras=ONE),
    Case("B31", "naughty strings: exact, or refused where they cannot be carried", naughty),
)  # fmt: skip
ORDER = (
    Case("C01", "tools/list before initialize: answered", early_list, (BASH,)),
    Case("C02", "initialize twice: answered, still serving", twice, (BASH,), OLD),
    Case("C03", "unknown protocol version: counter-offer or error naming versions", unknown_version, (BASH,)),
    Case("C04", "initialize without params: -32602, then a proper one works", empty_initialize, (BASH,), OLD),
    Case("C06", "cancel a running call: nothing runs after 5 s, no result", cancel, APART),
    Case("C06b", "cancel 60 calls at every moment of their lives", cancel_quick),
    Case("C08", "progress tokens of every kind: answered", progress_tokens),
    Case("C09", "server/discover before anything: answered, initialize works", probe, (BASH,)),
    Case("C10", "ping before initialize: {}", early_ping, (BASH,), OLD),
)
CASES = (*LINES, *ENVELOPES, *ORDER)
