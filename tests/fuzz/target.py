"""What is fuzzed: any bytes, in any pieces, through the line splitter, the session and the dispatcher.

A crash is any exception at all: everything that bytes can bring about has an answer of its own.  Besides: whatever is
owed is answered once, every line that is sent is one JSON text and what its revision says, nobody is asked what he
did not say that he could answer, and at the end nothing is left.

The first byte of the data says how the rest is cut and what handlers do.  A line that begins with `!` is not sent but
tells a handler what to do (see `handlers.py`); `@STATE@`, `@ASKED@` and `@TASK@` stand for what the server said last.
"""

import json
from collections import Counter
from collections.abc import Callable
from time import monotonic
from typing import Any

from fuzz.books import CAPABILITIES, NOBODY, check, declares, due, is_identifier, key
from fuzz.handlers import Stage, playing
from fuzz.subject import Subject, image
from mcpc_runtime.protocol.effects import Call, Effect, SendMessage
from mcpc_runtime.protocol.jsonrpc import ParseError, parse
from mcpc_runtime.protocol.requests import Request, SendResponse
from mcpc_runtime.protocol.session import Session
from mcpc_runtime.protocol.subscriptions import MAX_STREAMS, MAX_WATCHED, close_listening
from mcpc_runtime.server.stdio_driver import StdioDriver
from mcpc_runtime.transports import stdio
from support.images import MODERN

LIMIT = 1 << 12
MOST_ROUNDS = 200
EVERYTHING = {
    "elicitation": {"form": {}, "url": {}},
    "sampling": {"tools": {}},
    "roots": {},
    "extensions": {"io.modelcontextprotocol/tasks": {}},
}
META = json.dumps(MODERN)
FULL = json.dumps(
    {**MODERN, CAPABILITIES: EVERYTHING, "progressToken": "p", "io.modelcontextprotocol/logLevel": "debug"}
)
ABLE = json.dumps(EVERYTHING)


def said(method: str, params: str = "", identifier: str = "1", meta: str = "") -> str:
    members = [*([params] if params else []), *([f'"_meta":{meta}'] if meta else [])]
    return f'{{"jsonrpc":"2.0","id":{identifier},"method":"{method}","params":{{{",".join(members)}}}}}\n'


def hello(version: str, capabilities: str = ABLE) -> str:
    return said("initialize", f'"protocolVersion":"{version}","capabilities":{capabilities}')


def call(name: str, identifier: str = "2", meta: str = "", more: str = "") -> str:
    return said("tools/call", f'"name":"{name}","arguments":{{"text":"x"}}{more}', identifier, meta)


ANSWER = '{"jsonrpc":"2.0","id":"@ASKED@","result":{"action":"accept","content":{"name":"Ann"},"roots":[]}}\n'
REFUSED = '{"jsonrpc":"2.0","id":"@ASKED@","error":{"code":-1,"message":"no"}}\n'
RESPONSES = (
    ',"requestState":"@STATE@","inputResponses":{"who":{"action":"accept","content":{"name":"A"}},'
    '"where":{"roots":[]},"form":{"action":"accept","content":{"name":"A"}},"a":{"action":"cancel"},"b":{"roots":[]}}'
)
UPDATE = '"taskId":"@TASK@","inputResponses":{"who":{"action":"accept","content":{"name":"A"}}}'
CANCEL = '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}\n'
LISTEN = (
    '"notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,'
    '"resourceSubscriptions":["test://plain"],"taskIds":["@TASK@"]}'
)
COMPLETION = '"ref":{"type":"ref/prompt","name":"test_prompt_with_arguments"},"argument":{"name":"arg1","value":"p"}'
TEMPLATE = '"ref":{"type":"ref/resource","uri":"test://template/{id}/data"},"argument":{"name":"id","value":""}'
GREETING = '"name":"test_prompt_with_arguments","arguments":{"arg1":"A","arg2":"B"}'
SKILL = '"uri":"skill://release-notes/SKILL.md"'
TALKS = (
    said("ping"),
    hello("2025-03-26", "{}"),
    call("echo") + "!end\n",
    said("tools/call", '"name":"measure","arguments":{"text":5}', "2"),
    call("measure") + CANCEL,
    said("prompts/get", GREETING, "3") + "!end\n",
    said("logging/setLevel", '"level":"debug"', "4") + call("echo") + "!log\n!strange\n!end\n",
    hello("2025-03-26") + f'[{said("ping").strip()},{call("echo").strip()},{call("measure", "7").strip()}]\n!end\n!ask\n!fail\n',
    said("tools/list", "", '"a"', META),
    said("server/discover", "", '"b"', META),
    call("echo", '"c"', META) + "!progress\n!less\n!plain\n",
    '[[[[{\n\n\xff\n\xef\xbb\xbf{}\n1e999\n"\\ud800"\n',
    # resources, templates, completions, skills
    said("resources/read", '"uri":"test://plain"') + said("resources/read", '"uri":"test://static-binary"', "2", META),
    said("resources/read", '"uri":"test://template/7/data"') + "!updated\n!end\n",
    said("resources/read", '"uri":"found://a/items?page=1&size=%C3%A9#x"', "1", META) + "!form\n!end\n",
    said("resources/read", '"uri":"files:///a/../b"') + said("resources/read", '"uri":"files:///a/%2e%2e/b"', "2"),
    said("resources/templates/list") + said("resources/list", '"cursor":"1.0"', "2", META) + said("skills/list", "", "3", META),
    said("completion/complete", COMPLETION) + said("completion/complete", f'{TEMPLATE},"context":{{"arguments":{{"a":"b"}}}}', "2", META) + "!end\n",
    said("skills/get", SKILL, "1", META) + said("resources/directory/read", '"uri":"skill://release-notes"', "2", META),
    # subscriptions
    hello("2025-06-18") + said("resources/subscribe", '"uri":"test://plain"', "2") + call("echo", "3") + "!updated\n!changed\n!end\n" + said("resources/unsubscribe", '"uri":"test://plain"', "4"),
    said("subscriptions/listen", LISTEN, "9", META) + call("echo") + "!updated\n!changed\n!prompts\n!end\n" + CANCEL.replace("2}", "9}"),
    said("subscriptions/listen", LISTEN, '"l"', FULL) + call("long", "2", FULL) + "!wait\n!end\n",
    # questions
    hello("2025-11-25") + call("echo") + "!form\n" + ANSWER + "!end\n",
    hello("2025-06-18") + call("echo") + "!several\n" + ANSWER + ANSWER + "!several\n" + REFUSED + "!end\n",
    hello("2025-11-25") + call("echo") + "!model\n!link\n!tools\n!roots\n" + CANCEL + ANSWER,
    hello("2024-11-05", '{"sampling":{}}') + call("echo") + "!form\n!model\n" + REFUSED + "!wrong\n!end\n",
    hello("2025-03-26") + f"[{call('echo').strip()},{call('asking', '5').strip()}]\n!roots\n{ANSWER}!fail\n!end\n",
    hello("2025-03-26") + f"[{said('subscriptions/listen', LISTEN, '9', META).strip()},{call('echo', '8', FULL).strip()}]\n!updated\n!form\n",
    call("echo", "2", FULL) + "!form\n" + call("echo", "3", FULL, RESPONSES) + "!form\n!several\n",
    call("asking", "2", FULL) + call("asking", "3", FULL, RESPONSES) + "!end\n",
    call("asking", "2", META) + call("asking", "3", META, RESPONSES) + "!wrong\n!other\n!end\n",
    said("prompts/get", GREETING, "3", FULL) + "!several\n" + said("prompts/get", f"{GREETING}{RESPONSES}", "4", FULL) + "!several\n!end\n",
    # calls within calls, parting, limits
    call("echo", "2", FULL) + "!call\n!form\n!end\n!end\n",
    hello("2025-11-25") + call("echo") + "!call\n!form\n!call\n!end\n" + ANSWER + "!part\n!end\n!end\n",
    said("tools/call", '"name":"echo","arguments":{"text":"x"},"_meta":{"mcpc/timeout":1e-9}') + "!form\n!wait\n",
    # tasks
    call("long", "2", FULL) + "!wait\n" + said("tasks/get", '"taskId":"@TASK@"', "3", FULL) + said("tasks/update", UPDATE, "4", FULL) + "!wait\n!progress\n!form\n!wait\n" + said("tasks/cancel", '"taskId":"@TASK@"', "5", FULL) + "!wait\n",
    call("long", "2", META) + call("slow_compute", "3", FULL).replace('"text":"x"', '"seconds":1') + "!wait\n!roots\n!wait\n!end\n!wait\n" + said("tasks/get", '"taskId":"@TASK@"', "4", FULL) + "!wait\n",
    call("slow_compute", "3", FULL).replace('"text":"x"', '"seconds":1') + CANCEL.replace("2}", "3}") + "!wait\n!wait\n",
)  # fmt: skip
SEEDS: tuple[bytes, ...] = tuple(talk.encode("latin-1") if "\xff" in talk else talk.encode() for talk in TALKS)
TOKENS: tuple[bytes, ...] = (
    b'"jsonrpc":"2.0"', b'"id":', b'"method":', b'"params":', b'"tools/call"', b'"prompts/get"', b'"_meta":', b'"arguments":', b'"name":', b'"echo"', b'"measure"',
    b'"text":', b'"requestId":', b'"notifications/cancelled"', b'"initialize"', b'"protocolVersion":', b'"2025-03-26"', b'"2026-07-28"', b"{", b"}", b"[", b"]", b",",
    b":", b"null", b"true", b"1", b"-0", b"1e9", b'"\\ud800"', b'"\\u0000"', b"\n", b"\r\n", b"\xff", b"\xed\xa0\x80", b"NaN", b"9" * 400, b"[" * 2000,
    b'"io.modelcontextprotocol/protocolVersion":', b'"io.modelcontextprotocol/clientCapabilities":', b'"progressToken":', b'"io.modelcontextprotocol/logLevel":',
    b'"resources/read"', b'"resources/subscribe"', b'"subscriptions/listen"', b'"completion/complete"', b'"tasks/get"', b'"tasks/update"', b'"asking"', b'"long"',
    b'"uri":', b'"test://plain"', b'"files:///a"', b"%2e%2e%2f", b"%00", b'"ref":', b'"inputResponses":', b'"requestState":', b'"@STATE@"', b'"@ASKED@"', b'"@TASK@"',
    b'"elicitation":{}', b'"sampling":{}', b'"mcpc/timeout":', b'{"a":' * 300,
    b"\n!end\n", b"\n!fail\n", b"\n!error\n", b"\n!many\n", b"\n!plain\n", b"\n!form\n", b"\n!link\n", b"\n!model\n", b"\n!tools\n", b"\n!roots\n",
    b"\n!several\n", b"\n!call\n", b"\n!miscall\n", b"\n!turn\n", b"\n!wait\n", b"\n!progress\n", b"\n!log\n", b"\n!odd\n", b"\n!updated\n", b"\n!changed\n", b"\n!part\n",
)  # fmt: skip


class Fed(stdio.Channel):
    """The transport's own line splitter, which is given its bytes by hand."""

    def __init__(self) -> None:
        self.descriptor, self.output, self.ended, self._parent_end = -1, -1, False, stdio.UNKNOWN
        self._limit, self._chunks, self._size, self._overflow = LIMIT, [], 0, False


class Feeder:
    """Stands for `posix` while the splitter reads."""

    def __init__(self, pieces: list[bytes]) -> None:
        self.pieces = pieces

    def read(self, descriptor: int, size: int) -> bytes:
        return self.pieces.pop(0) if self.pieces else b""


def pieces_of(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


def lines_of(data: bytes, size: int) -> list[bytes | None]:
    """Return the lines of the data when it arrives in pieces of that size."""
    real = stdio.system
    channel = Fed()
    found: list[bytes | None] = []
    stdio.system = Feeder(pieces_of(data, size))  # type: ignore[assignment]
    try:
        while not channel.ended:
            found += channel.read()
    finally:
        stdio.system = real
    return found


class Quiet:
    """A channel that always has room; what goes through it is looked at before."""

    full = unsent = ended = False

    def write(self, data: bytes) -> None:
        """Take a line."""

    def flush(self) -> bool:
        return True


class Clock:
    """A reactor that waits for nothing: timers are called when it is told that time has passed."""

    def __init__(self) -> None:
        self.timers: list[tuple[float, Callable[[], None]]] = []
        self.clock = monotonic

    def after(self, seconds: float, callback: Callable[[], None]) -> None:
        self.timers.append((seconds, callback))

    def watch(self, descriptor: int, events: int, callback: Callable[[], None]) -> None:
        """Watch nothing."""

    def forget(self, descriptor: int) -> None:
        """Watch nothing."""

    def wake(self) -> None:
        """Sleep never."""

    def expect(self) -> None:
        """Sleep never."""

    def pass_by(self, everything: bool) -> int:
        """Call the timers that are due, or all of them; return how many."""
        found = [timer for timer in self.timers if everything or timer[0] <= 0]
        self.timers = [timer for timer in self.timers if timer not in found]
        for _, callback in found:
            callback()
        return len(found)


class Driver(StdioDriver):
    """The driver, without threads and descriptors; what goes wrong in answering is an exception."""

    def __init__(self, books: "Books") -> None:
        super().__init__(image(), books.session, Quiet(), LIMIT)  # type: ignore[arg-type]
        self.clock = self.reactor = Clock()  # type: ignore[assignment]
        self._books = books

    def watch(self) -> Any:
        return self.clock

    def _receive(self, line: bytes | None) -> None:
        self.post_effects(self.session.refuse_oversize(LIMIT) if line is None else self.session.receive(line))

    def _survive(self, problem: Exception, effect: Effect | None = None) -> None:
        raise problem

    def _perform(self, effect: Effect) -> None:
        self._books.note(effect)
        super()._perform(effect)

    def settle(self) -> None:
        self.run_queued()
        while self.clock.pass_by(False):
            self.run_queued()


class Watched(Session):
    """A session of which is known what it dropped."""

    def __init__(self, books: "Books") -> None:
        super().__init__(image())
        self._books = books

    def drop(self, identifier: str | int) -> list[Effect]:
        if identifier in self.running or identifier in self.listening:
            self._books.dropped[key(identifier)] += 1
        return super().drop(identifier)


class Books:
    """What was owed and paid in one conversation."""

    def __init__(self, thorough: bool) -> None:
        self.owed: Counter[str] = Counter()
        self.paid: Counter[str] = Counter()
        self.dropped: Counter[str] = Counter()
        self.session = Watched(self)
        self.asked: list[str] = []
        self.known = {"@STATE@": "", "@TASK@": ""}
        self.lines = 0
        self._thorough = thorough

    def read(self, line: bytes | None) -> None:
        try:
            message = None if line is None else parse(line)
        except ParseError:
            message = None
        single = type(message) is not list or not message or not self.session.handshake_wire().batches
        found = [NOBODY if type(message) is list else due(message)] if single else [due(one) for one in message]  # type: ignore[union-attr]
        self.owed.update(one for one in found if one is not None)

    def note(self, effect: Effect) -> None:
        if not isinstance(effect, SendResponse):
            return
        assert effect.data.endswith(b"\n") and effect.data.count(b"\n") == 1, effect.data
        self.lines += 1
        value = json.loads(effect.data)
        for message in value if type(value) is list else [value]:
            assert message["jsonrpc"] == "2.0"
            self._take(message, effect.request, is_aside=isinstance(effect, SendMessage))

    def _take(self, message: Any, request: Request | None, is_aside: bool) -> None:
        if "method" in message:
            assert is_aside
            if "id" in message:
                self._take_question(message, request)
        else:
            assert not is_aside and ("result" in message) != ("error" in message)
            identifier = message.get("id")
            self.paid[key(identifier) if is_identifier(identifier) else NOBODY] += 1
            if "result" in message and type(message["result"]) is dict:
                self._learn(message["result"], request)
        words = message.get("error", {}).get("message", "")
        assert "Error:" not in words and "Exception:" not in words, words
        if self._thorough:
            wire = self.session.handshake_wire() if request is None else request.wire
            batch_result = request is None and "result" in message
            check(message, wire.version, "" if batch_result or request is None else request.method)

    def _take_question(self, message: Any, request: Request | None) -> None:
        """Judge a question: its client said that it can be asked, when the conversation began."""
        assert request is not None and not request.wire.stateless, message
        assert declares(self.session.capabilities, message["method"], message["params"]), message
        assert message["id"] not in self.asked, "a question is put once"
        self.asked.append(message["id"])

    def _learn(self, result: Any, request: Request | None) -> None:
        """Remember what the client has to say again; and judge what it is asked."""
        if "requestState" in result:
            assert request is not None and request.wire.stateless
            self.known["@STATE@"] = result["requestState"]
            meta: Any = request.params["_meta"]
            for question in result["inputRequests"].values():
                assert declares(meta[CAPABILITIES], question["method"], question["params"]), question
        if "taskId" in result:
            self.known["@TASK@"] = result["taskId"]

    def filled(self, line: bytes) -> bytes:
        """Return a line with what the server said in the place of words for it."""
        for word, value in self.known.items():
            line = line.replace(word.encode(), value.encode())
        if b"@ASKED@" in line and self.asked:
            line = line.replace(b"@ASKED@", self.asked[-1].encode())
            self.asked = [*self.asked[-1:], *self.asked[:-1]]
        return line

    def bounded(self) -> None:
        """Hold that nothing is kept that was not asked for, and not too much of that."""
        session = self.session
        assert len(session.watched) <= MAX_WATCHED and len(session.listening) <= MAX_STREAMS
        assert len(session.asked) <= 64 * max(1, len(session.running))
        still = Counter(key(identifier) for identifier in [*session.running, *session.listening])
        held = Counter(
            key(json.loads(line).get("id"))
            for batch in {id(one.request.batch): one.request.batch for one in session.running.values()}.values()
            for line in (batch["replies"] if batch is not None else [])
        )
        held = Counter({NOBODY if name == "null" else name: count for name, count in held.items()})
        assert self.owed == self.paid + self.dropped + still + held, (self.owed, self.paid, self.dropped, still, held)


HABITS: tuple[tuple[str, ...], ...] = (
    (),
    (),
    ("end",),
    ("fail",),
    ("form", "end"),
    ("progress", "several"),
    ("call", "end"),
    ("wait",),
)
"""What handlers do after each line, beside what the lines tell them."""


def converse(data: bytes) -> int:
    """Have a conversation; return how many lines were sent."""
    if not data:
        return 0
    how, data = data[0], data[1:]
    lines = lines_of(data, 1 + how % 64)
    if lines != lines_of(data, 1 << 16):
        raise AssertionError("lines depend on how they arrive")
    books = Books(thorough=how % 16 == 0)
    driver = Driver(books)
    with playing() as stage:
        for line in lines:
            tell(driver, books, stage, line)
            for word in HABITS[how >> 5]:
                obey(driver, stage, word)
            driver.settle()
            books.bounded()
        part(driver, books, stage)
    return books.lines


def tell(driver: Driver, books: Books, stage: Stage, line: bytes | None) -> None:
    """Give a line to whom it is for."""
    if line is not None and line.startswith(b"!") and obey(driver, stage, line[1:].strip().decode("latin-1")):
        return
    if line is not None:
        line = books.filled(line)[:LIMIT]
    books.read(line)
    driver.lines.append(line)
    driver.run_queued()


def obey(driver: Driver, stage: Stage, word: str) -> bool:
    """Have a handler, or the clock, do what a word says."""
    if word == "wait":
        driver.clock.pass_by(True)
        return True
    return stage.obey(word)


def part(driver: Driver, books: Books, stage: Stage) -> None:
    """End in good order; then nothing is left."""
    session = books.session
    for _ in range(MOST_ROUNDS):
        if not session.running:
            break
        if not stage.obey("end") and not driver.clock.pass_by(True):
            break
        driver.settle()
    asking = [call for call in session.running.values() if isinstance(call, Call) and call.definition.asks]
    assert len(asking) == len(session.running), "a call that ended is still open"
    for open_call in asking:
        driver.post_effects(session.drop(open_call.request.identifier))
    driver.settle()
    driver.post_effects(close_listening(session, True))
    driver.settle()
    books.bounded()
    assert not session.asked and not session.listening
    if driver.dispatcher is not None:
        for _ in range(MOST_ROUNDS):
            if not driver.dispatcher.calls:
                break
            stage.obey("end")
            driver.clock.pass_by(True)
            driver.settle()
        assert (
            not driver.dispatcher.calls
            and not driver.dispatcher._admission.running
            and not driver.dispatcher._admission
        )
        driver.dispatcher.close()


STDIO = Subject(converse, SEEDS, TOKENS)
