"""A conversation in any order: one answer for each id, none after it was cancelled, and nothing forgotten or invented.

The machine keeps books of its own and compares.  `TESTS_STEPS` sets how many steps each of its runs has (40).
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from fuzz.subject import image
from mcpc_runtime.protocol.client_requests import eras, handshake, stateless
from mcpc_runtime.protocol.effects import (
    DeliverAnswer,
    Failure,
    LogToOperator,
    Outcome,
    PublishChange,
    SendMessage,
    SendResponse,
    StartHandler,
    StopHandler,
    text,
)
from mcpc_runtime.protocol.session import Session
from mcpc_runtime.replicas.signed_tokens import TokenSigner
from support.images import MODERN

if TYPE_CHECKING:
    from mcpc_runtime.protocol.effects import Call, Effect

STEPS = int(os.environ.get("TESTS_STEPS", "40"))
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


NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
QUESTIONS: dict[str, Any] = {
    "who": {"method": "elicitation/create", "params": {"message": "Who?", "requestedSchema": NAME}},
    "where": {"method": "roots/list", "params": {}},
}
ANSWERS: dict[str, Any] = {
    "elicitation/create": {"action": "accept", "content": {"name": "Ann"}},
    "roots/list": {"roots": [{"uri": "file:///a"}]},
}
ABLE = {**MODERN, "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}, "roots": {}}}
NAMES = st.sampled_from([["who"], ["where"], ["who", "where"]])
HOWS = st.sampled_from(["good", "good", "unfit", "error", "nothing"])
CAPABILITIES = st.sampled_from([{}, {"elicitation": {}, "roots": {}}, {"roots": {}}, {"elicitation": True}])
URIS = st.sampled_from(["test://plain", "test://static-text", "test://template/7/data"])
EVENTS = st.one_of(
    URIS.map(lambda uri: PublishChange("resource", uri)),
    st.sampled_from(["tools", "prompts", "resources"]).map(PublishChange),
)
LISTS = {"tools": "toolsListChanged", "prompts": "promptsListChanged"}
"""What the server promises to tell of."""


def key(identifier: object) -> str:
    """Keep 1 and "1" apart."""
    return json.dumps(identifier)


class Conversation(RuleBasedStateMachine):
    """One session, and what is known of it from outside."""

    def __init__(self) -> None:
        super().__init__()
        self.session = Session(image())
        self.seals = TokenSigner([b"a key of sixteen bytes"])
        self.version = ""
        self.capabilities: dict[str, Any] = {}
        self.number = 0
        self.waiting: dict[str, tuple[int, str]] = {}
        self.rounds: dict[int, tuple[Call, set[str]]] = {}
        self.asked_for: dict[int, dict[str, str]] = {}
        self.given: list[tuple[int, dict[str, Any]]] = []
        self.states: list[tuple[str, str, list[str]]] = []
        self.answers: dict[Call, dict[str, str]] = {}
        self.watched: set[str] = set()
        self.streams: dict[str, tuple[Any, dict[str, Any]]] = {}
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
            if isinstance(effect, SendResponse):
                assert effect.data.endswith(b"\n") and effect.data.count(b"\n") == 1
                value = json.loads(effect.data)
                sent.append(value)
                for message in value if isinstance(value, list) else [value]:
                    assert message["jsonrpc"] == "2.0"
                    if "method" not in message:
                        assert ("result" in message) != ("error" in message)
                        self.answered[key(message["id"])] = self.answered.get(key(message["id"]), 0) + 1
            elif isinstance(effect, StartHandler):
                self.calls.append(effect.call)
                self.open[key(effect.call.request.identifier)] = effect.call
            elif isinstance(effect, StopHandler):
                assert self.open.pop(key(effect.call.request.identifier)) is effect.call
                self.cancelled.add(id(effect.call))
                self.withdraw(effect.call)
            elif isinstance(effect, DeliverAnswer):
                self.given.append((effect.reply, effect.value))
            else:
                assert isinstance(effect, LogToOperator)
        return sent

    def withdraw(self, call: Call) -> None:
        """End a call's questions, as whoever runs it does: each is called off, once."""
        rounds = [number for number, (asker, _) in self.rounds.items() if asker is call]
        open_ones = {identifier for number in rounds for identifier in self.rounds.pop(number)[1]}
        effects = handshake.withdraw_requests(call)
        sent = [json.loads(effect.data) for effect in effects]
        assert all(isinstance(effect, SendMessage) and effect.request is call.request for effect in effects)
        assert [message["method"] for message in sent] == ["notifications/cancelled"] * len(open_ones)
        assert {message["params"]["requestId"] for message in sent} == open_ones
        for identifier in open_ones:
            del self.waiting[identifier]

    def is_free(self, identifier: Any) -> bool:
        """Tell whether no request with this id is open."""
        return key(identifier) not in self.open and key(identifier) not in self.streams

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

    @initialize(version=st.sampled_from(["", "2025-06-18", "2025-11-25"]))
    def begin(self, version: str) -> None:
        """Most clients begin as they should, and can be asked."""
        if version:
            self.handshake(0, version, {"elicitation": {}, "roots": {}})

    @rule(identifier=IDS, version=VERSIONS, capabilities=CAPABILITIES)
    def handshake(self, identifier: Any, version: str, capabilities: dict[str, Any]) -> None:
        free = self.is_free(identifier)
        [reply] = self.ask(identifier, "initialize", {"protocolVersion": version, "capabilities": capabilities})
        assert ("result" in reply) == free
        if free:
            self.version, self.capabilities = reply["result"]["protocolVersion"], capabilities

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
        params = {"name": tool, "arguments": {"text": given}, **({"_meta": ABLE} if modern else {})}
        free = self.is_free(identifier)
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
        self.withdraw(call)
        self.end(call, endings[how])

    def end(self, call: Call, ending: Any) -> list[Any]:
        """End a call; return what was sent."""
        identifier = key(call.request.identifier)
        before = self.answered.get(identifier, 0)
        sent = self.perform(self.session.finish(call, ending))
        if call.request.batch is None:
            assert self.answered.get(identifier, 0) == before + 1
        return sent

    def can_be_asked(self, call: Call, name: str) -> bool:
        """Tell whether the client of a call said that it can be asked this."""
        if call.request.wire.stateless:
            return call.request.params["_meta"] == ABLE
        if name == "where":
            return "roots" in self.capabilities
        return self.capabilities.get("elicitation") == {} and call.request.wire.version >= "2025-06-18"

    @precondition(lambda self: self.open)
    @rule(data=st.data(), names=NAMES, again=st.booleans())
    def question(self, data: st.DataObject, names: list[str], again: bool) -> None:
        """Any handler asks."""
        self.put(data.draw(st.sampled_from(sorted(self.open))), names, again)

    @rule(identifier=IDS, modern=st.booleans(), questions=st.lists(st.tuples(NAMES, HOWS), min_size=1, max_size=3))
    def discuss(self, identifier: Any, modern: bool, questions: list[tuple[list[str], str]]) -> None:
        """A call is made, asks several things, one after the other, and is answered."""
        if not self.is_free(identifier):
            return
        self.call(identifier, modern, "echo", "x")
        for names, how in questions:
            if key(identifier) in self.open:
                self.put(key(identifier), names, again=True)
            if self.waiting:
                self.take(next(reversed(self.waiting)), how)
            for waiting in list(self.waiting):
                self.take(waiting, "good") if waiting in self.waiting else None

    def put(self, identifier: str, names: list[str], again: bool) -> None:
        """Have a call ask: in its client's era, once for each key, and only who can be asked."""
        call = self.open[identifier]
        self.number += 1
        keys = {name if again else f"{name}{self.number}": QUESTIONS[name] for name in names}
        known = self.answers.setdefault(call, {})
        fresh = [name for name in keys if name not in known]
        made = eras.ask_client(call, self.number, keys, self.seals)
        if not all(self.can_be_asked(call, name) for name in names):
            assert made["error"]["code"] == -32021, made
        elif not fresh:
            assert made == {"answers": {name: ANSWERS[keys[name]["method"]] for name in keys}}
        elif call.request.wire.stateless:
            self.open.pop(identifier)
            [message] = self.end(call, made)
            assert sorted(message["result"]["inputRequests"]) == sorted(fresh)
            self.states.append((message["result"]["requestState"], call.definition.name, [*known, *fresh]))
        else:
            self.wait_for(call, self.perform(made), fresh)
            self.asked_for[self.number] = {name: keys[name]["method"] for name in keys}

    def wait_for(self, call: Call, sent: list[Any], fresh: list[str]) -> None:
        """Note what the client was asked."""
        assert len(sent) == len(fresh) and not any(message["id"] in self.waiting for message in sent)
        self.rounds[self.number] = call, {message["id"] for message in sent}
        self.waiting.update({message["id"]: (self.number, message["method"]) for message in sent})

    @rule(data=st.data(), how=HOWS)
    def reply(self, data: st.DataObject, how: str) -> None:
        """The client answers, perhaps what it was not asked."""
        self.take(data.draw(st.sampled_from([*self.waiting, "mcpc-0", 0])), how)

    def take(self, identifier: Any, how: str) -> None:
        """Take an answer: a round is over with its last one, or with the first that is none."""
        number, method = self.waiting.pop(identifier, (0, "roots/list"))
        body = {"good": {"result": ANSWERS[method]}, "error": {"error": {"code": -1, "message": "no"}}}
        before = len(self.given)
        sent = self.receive(
            {"jsonrpc": "2.0", "id": identifier, **body.get(how, {"result": {} if how == "unfit" else 5})}
        )
        if not number:
            assert not sent and len(self.given) == before
            return
        self.rounds[number][1].discard(identifier)
        over = how != "good" or not self.rounds[number][1]
        assert len(self.given) == before + over
        if over:
            call, left = self.rounds.pop(number)
            if how == "good":
                self.answers[call].update(self.asked_for[number])
            assert {message["params"]["requestId"] for message in sent} == left
            assert self.given[-1][0] == number and ("answers" in self.given[-1][1]) == (how == "good")
            for other in left:
                del self.waiting[other]

    @precondition(lambda self: self.states)
    @rule(
        data=st.data(), identifier=IDS, tool=st.sampled_from(["echo", "measure"]), how=st.sampled_from(["", "x", "-"])
    )
    def repeat(self, data: st.DataObject, identifier: Any, tool: str, how: str) -> None:
        """The client makes a call again, with answers; what it changed of the state is not taken."""
        state, asker, keys = data.draw(st.sampled_from(self.states))
        kinds = {name: QUESTIONS["who" if name.startswith("who") else "where"]["method"] for name in keys}
        answers = {name: ANSWERS[kind] for name, kind in kinds.items()}
        before = len(self.calls)
        params = {"name": tool, "arguments": {"text": "x"}, "requestState": how + state, "inputResponses": answers}
        self.ask(identifier, "tools/call", {**params, "_meta": ABLE})
        if len(self.calls) == before:
            return
        call = self.calls[-1]
        refused = stateless.resume_call(call, self.seals)
        if refused is None:
            assert not how and tool == asker and set(call.answers) == set(keys)
            self.answers[call] = kinds
        else:
            assert how or tool != asker
            self.open.pop(key(identifier))
            [message] = self.end(call, refused)
            assert message["error"]["code"] == -32602

    @rule(identifier=IDS, uri=st.one_of(URIS, st.just("test://none"), st.just(5)), on=st.booleans())
    def watch(self, identifier: Any, uri: Any, on: bool) -> None:
        free = self.is_free(identifier)
        [answer] = self.ask(identifier, "resources/subscribe" if on else "resources/unsubscribe", {"uri": uri})
        good = free and uri not in ("test://none", 5)
        assert ("result" in answer) == good
        if good:
            (self.watched.add if on else self.watched.discard)(uri)

    @rule(
        identifier=IDS,
        uris=st.lists(URIS, min_size=1, max_size=2),
        lists=st.sets(st.sampled_from(sorted(LISTS))),
        wrong=st.booleans(),
    )
    def listen(self, identifier: Any, uris: list[str], lists: set[str], wrong: bool) -> None:
        wanted = {**{LISTS[kind]: True for kind in lists}, "resourceSubscriptions": 5 if wrong else uris}
        free = self.is_free(identifier)
        params = {"notifications": wanted, "_meta": MODERN}
        [message] = self.receive(
            {"jsonrpc": "2.0", "id": identifier, "method": "subscriptions/listen", "params": params}
        )
        assert (message.get("method") == "notifications/subscriptions/acknowledged") == (free and not wrong)
        if free and not wrong:
            assert message["params"]["notifications"] == wanted
            self.streams[key(identifier)] = identifier, wanted

    @rule(event=EVENTS)
    def change(self, event: PublishChange) -> None:
        """Something changes: who wants to know is told, once on each stream, and nobody else."""
        sent = self.perform(self.session.changed(event))
        ids = [message["params"].get("_meta", {}).get("io.modelcontextprotocol/subscriptionId", ()) for message in sent]
        if event.kind == "resource":
            loose = event.uri in self.watched
            wanted = [one for one, asked in self.streams.values() if event.uri in asked["resourceSubscriptions"]]
        else:
            loose = bool(self.version) and event.kind in LISTS
            wanted = [one for one, asked in self.streams.values() if LISTS.get(event.kind) in asked]
        assert sorted(map(key, ids)) == sorted(map(key, [*wanted, *[()] * loose]))

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
        self.streams.pop(key(identifier), None)
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
        assert set(self.session.asked) == set(self.waiting)
        assert set(self.session.watched) == self.watched
        assert {key(identifier) for identifier in self.session.listening} == set(self.streams)


Conversation.TestCase.settings = settings(
    stateful_step_count=STEPS,
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
TestConversation = Conversation.TestCase
