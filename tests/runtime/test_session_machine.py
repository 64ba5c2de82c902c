"""A conversation in any order: one answer for each id, none after it was cancelled, and nothing forgotten or invented.

The machine keeps books of its own and compares.  `MCPC_STEPS` sets how many steps each of its runs has (40).
"""

from __future__ import annotations

import itertools
import json
import os
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from images import MODERN, small_session
from mcpc_runtime.protocol.effects import Failure, Outcome, Send, Start, Stop, Tell, text
from mcpc_runtime.transports.stdio import Channel

if TYPE_CHECKING:
    from mcpc_runtime.protocol.effects import Call, Effect

STEPS = int(os.environ.get("MCPC_STEPS", "40"))
IDS = st.one_of(st.integers(0, 4), st.sampled_from(["0", "1", "a", ""]), st.just(10**30))
VERSIONS = st.sampled_from(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "1999-01-01"])
GARBAGE = st.one_of(
    st.binary(max_size=40),
    st.sampled_from(
        [b"", b"[]", b"{}", b"[[]]", b'{"id":1}', b"[" * 2000, b'{"jsonrpc":"2.0","id":{},"method":"x"}', b"null"]
    ),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5), lambda inner: st.lists(inner, max_size=3)
    ).map(lambda value: json.dumps(value).encode()),
)


def key(identifier: object) -> str:
    """Keep 1 and "1" apart."""
    return json.dumps(identifier)


class Conversation(RuleBasedStateMachine):
    """One session, and what is known of it from outside."""

    def __init__(self) -> None:
        super().__init__()
        self.session = small_session()
        self.open: dict[str, Call] = {}
        self.asked: dict[str, int] = {}
        self.answered: dict[str, int] = {}
        self.cancelled: set[int] = set()
        self.calls: list[Call] = []
        self.batches: list[tuple[set[str], list[str]]] = []

    def perform(self, effects: list[Effect]) -> list[Any]:
        """Take effects as the engine does; return the messages that were sent."""
        sent: list[Any] = []
        for effect in effects:
            if isinstance(effect, Send):
                assert effect.data.endswith(b"\n") and effect.data.count(b"\n") == 1
                value = json.loads(effect.data)
                sent.append(value)
                for message in value if isinstance(value, list) else [value]:
                    assert message["jsonrpc"] == "2.0"
                    if "method" not in message:
                        assert ("result" in message) != ("error" in message)
                        self.answered[key(message["id"])] = self.answered.get(key(message["id"]), 0) + 1
            elif isinstance(effect, Start):
                self.calls.append(effect.call)
                self.open[key(effect.call.request.identifier)] = effect.call
            elif isinstance(effect, Stop):
                assert self.open.pop(key(effect.call.request.identifier)) is effect.call
                self.cancelled.add(id(effect.call))
            else:
                assert isinstance(effect, Tell)
        return sent

    def receive(self, message: Any) -> list[Any]:
        """Give it a message."""
        return self.perform(
            self.session.receive(message if isinstance(message, bytes) else json.dumps(message).encode())
        )

    def ask(self, identifier: Any, method: str, params: Any) -> list[Any]:
        """Give it a request; if it does not start a handler, it is answered at once and once."""
        before = len(self.calls)
        self.asked[key(identifier)] = self.asked.get(key(identifier), 0) + 1
        sent = self.receive({"jsonrpc": "2.0", "id": identifier, "method": method, "params": params})
        assert len(sent) == (0 if len(self.calls) > before else 1)
        assert all(key(message["id"]) == key(identifier) for message in sent)
        return sent

    @rule(identifier=IDS, version=VERSIONS)
    def initialize(self, identifier: Any, version: str) -> None:
        free = key(identifier) not in self.open
        [reply] = self.ask(identifier, "initialize", {"protocolVersion": version})
        assert ("result" in reply) == free

    @rule(
        identifier=IDS,
        modern=st.booleans(),
        method=st.sampled_from(["tools/list", "prompts/list", "ping", "nope", "server/discover"]),
    )
    def simple(self, identifier: Any, modern: bool, method: str) -> None:
        self.ask(identifier, method, {"_meta": MODERN} if modern else {})

    @rule(
        identifier=IDS, modern=st.booleans(), tool=st.sampled_from(["echo", "measure"]), given=st.sampled_from(["x", 5])
    )
    def call(self, identifier: Any, modern: bool, tool: str, given: Any) -> None:
        params = {"name": tool, "arguments": {"text": given}, **({"_meta": MODERN} if modern else {})}
        free = key(identifier) not in self.open
        sent = self.ask(identifier, "tools/call", params)
        assert (not sent) == (free and given == "x")

    @precondition(lambda self: self.open)
    @rule(data=st.data(), how=st.sampled_from(["good", "error", "structured", "failure"]))
    def finish(self, data: st.DataObject, how: str) -> None:
        identifier = data.draw(st.sampled_from(sorted(self.open)))
        call = self.open.pop(identifier)
        endings = {
            "good": Outcome([text("é\u2028")]),
            "error": Outcome([text("no")], is_error=True),
            "structured": Outcome([text("{}")], {"length": 1}),
            "failure": Failure(-32603, "no"),
        }
        before = self.answered.get(identifier, 0)
        self.perform(self.session.finish(call, endings[how]))
        if call.request.batch is None:
            assert self.answered.get(identifier, 0) == before + 1

    @precondition(lambda self: self.calls)
    @rule(data=st.data())
    def finish_late(self, data: st.DataObject) -> None:
        """A runner that reports an end which nobody waits for any more is not heard."""
        over = [call for call in self.calls if self.open.get(key(call.request.identifier)) is not call]
        if over:
            assert self.session.finish(data.draw(st.sampled_from(over)), Outcome([text("late")])) == []

    @rule(identifier=st.one_of(IDS, st.just(True), st.none(), st.just([])))
    def cancel(self, identifier: Any) -> None:
        was_open = not isinstance(identifier, bool) and key(identifier) in self.open
        batch = self.open[key(identifier)].request.batch if was_open else None
        sent = self.receive(
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": identifier}}
        )
        assert batch is not None or not sent
        assert not was_open or key(identifier) not in self.open

    @rule(method=st.sampled_from(["notifications/initialized", "tools/call", "nope", "ping"]))
    def notify(self, method: str) -> None:
        assert self.receive({"jsonrpc": "2.0", "method": method}) == []

    @rule(line=GARBAGE)
    def garbage(self, line: bytes) -> None:
        sent = self.receive(line)
        assert len(sent) <= 1
        found = [message for value in sent for message in (value if isinstance(value, list) else [value])]
        assert all(message["error"]["code"] in (-32700, -32600) for message in found)

    @rule(first=IDS, second=IDS, tool=st.booleans())
    def batch(self, first: Any, second: Any, tool: bool) -> None:
        before = len(self.calls)
        messages = [
            {"jsonrpc": "2.0", "id": first, "method": "tools/call" if tool else "ping", "params": {"name": "echo", "arguments": {"text": "x"}}},
            {"jsonrpc": "2.0", "id": second, "method": "tools/list"},
            {"jsonrpc": "2.0", "method": "nope"},
        ]  # fmt: skip
        sent = self.receive(messages)
        started = len(self.calls) > before
        assert len(sent) == (0 if started else 1)
        if sent and isinstance(sent[0], list):
            assert len(sent[0]) == 2

    @invariant()
    def books_agree(self) -> None:
        assert {key(identifier) for identifier in self.session.running} == set(self.open)
        assert all(self.session.running[call.request.identifier] is call for call in self.open.values())
        assert not any(id(call) in self.cancelled for call in self.open.values())


Conversation.TestCase.settings = settings(
    stateful_step_count=STEPS,
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
TestConversation = Conversation.TestCase


class Fed(Channel):
    """A channel that is fed by hand."""

    def __init__(self, limit: int) -> None:
        self.descriptor, self.output, self.ended = -1, -1, False
        self._limit, self._chunks, self._size, self._overflow = limit, [], 0, False


def split(data: bytes, cuts: list[int], limit: int, monkeypatch: pytest.MonkeyPatch) -> list[bytes | None]:
    """Return the lines of `data` when it arrives in these pieces."""
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    pieces = [data[start:end] for start, end in itertools.pairwise(places) if end > start] + [b""]
    channel = Fed(limit)
    monkeypatch.setattr("mcpc_runtime.transports.stdio.posix.read", lambda descriptor, size: pieces.pop(0))
    found: list[bytes | None] = []
    while not channel.ended:
        found += channel.read()
    monkeypatch.undo()
    return found


STREAMS = st.lists(
    st.sampled_from([b"\n", b"a", b" ", b"\r", b"{", b"xyz", "é".encode(), b"\xff", b"b" * 30]), max_size=60
).map(b"".join)


@given(STREAMS, st.lists(st.integers(0, 10_000), max_size=20), st.integers(1, 50))
@settings(max_examples=300, deadline=None)
def test_lines_do_not_depend_on_how_they_arrive(data: bytes, cuts: list[int], limit: int) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        whole = split(data, [], limit, monkeypatch)
        assert split(data, cuts, limit, monkeypatch) == whole
        assert split(data, list(range(len(data))), limit, monkeypatch) == whole
    wanted = [line if len(line) <= limit else None for line in data.split(b"\n")]
    assert whole == [line for line in wanted if line is None or line.strip()]
