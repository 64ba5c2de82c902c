"""Calls of cases in both eras: requests, answers to questions, replies and headers, with a transport in this process."""

import json
from queue import SimpleQueue
from threading import Thread
from typing import Any

import pytest

from mcpc.client.client import CAPABILITIES as CLIENT_CAPABILITIES
from mcpc.client.client import STATELESS, ConversationError, Deadline
from mcpc.client.processes import SharedProcess
from mcpc.workbench.testing import client
from mcpc.workbench.testing.client import (
    CAPABILITIES,
    DECLINED,
    AnswerList,
    EraClient,
    call_params,
    completed_values,
    completion_params,
    repeated_headers,
    reply_of,
)
from mcpc.workbench.testing.model import NOTHING, CompletedArgument, Reply

Object = dict[str, Any]
TEXT = {"content": [{"type": "text", "text": "done"}]}


class FakeTransport:
    """A server in this process: each request gets the next of some responses, or what a function makes of it."""

    def __init__(self, *responses: Any) -> None:
        self.responses = [*responses]
        self.sent: list[Object] = []
        self.revisions: list[str] = []
        self.answer: Any = None

    def use_revision(self, version: str) -> None:
        self.revisions.append(version)

    def notify(self, message: Object, _deadline: Deadline) -> None:
        self.sent.append(message)

    def request(self, message: Object, deadline: Deadline) -> Object:
        assert deadline.seconds() <= 7
        self.sent.append(message)
        if message["method"] == "initialize":
            return {"result": {"protocolVersion": "2025-11-25", "serverInfo": {"name": "x"}, "capabilities": {}}}
        found = self.responses.pop(0)
        return found(self) if callable(found) else found


def methods(transport: FakeTransport) -> list[str]:
    return [message["method"] for message in transport.sent]


def test_the_handshake_era_begins_once_and_asks_by_requests() -> None:
    def ask(server: FakeTransport) -> Object:
        answers = [
            server.answer({"id": 5, "method": "roots/list"}),
            server.answer({"id": 6, "method": "elicitation/create", "params": {"message": "Who?"}}),
            server.answer({"id": 7, "method": "elicitation/create", "params": {"message": "Where?"}}),
            server.answer({"id": 8, "method": "ping"}),
            server.answer({"id": 9, "method": "unknown"}),
        ]
        return {"result": {"content": [{"type": "text", "text": json.dumps(answers)}]}}

    transport = FakeTransport(ask, {"result": TEXT})
    era = EraClient(transport, "handshake", {})
    reply = era.call("tool", {"name": "t"}, [{"action": "accept", "content": {"a": 1}}], 7)
    assert transport.revisions[:1] == [""]
    assert json.loads(reply.text) == [
        {"jsonrpc": "2.0", "id": 5, "result": {"roots": []}},
        {"jsonrpc": "2.0", "id": 6, "result": {"action": "accept", "content": {"a": 1}}},
        {"jsonrpc": "2.0", "id": 7, "result": {"action": "decline"}},
        {"jsonrpc": "2.0", "id": 8, "result": {}},
        {"jsonrpc": "2.0", "id": 9, "error": {"code": -32601, "message": "not supported by this client"}},
    ]
    assert reply.questions == ("elicitation/create: Where?",)
    assert era.call("tool", {"name": "t"}, [], 7).text == "done"
    assert methods(transport) == ["initialize", "notifications/initialized", "tools/call", "tools/call"]
    assert transport.sent[0]["params"]["capabilities"] == CAPABILITIES
    assert transport.sent[2]["params"] == {"name": "t"}


def test_the_stateless_era_asks_by_results() -> None:
    asked = {
        "resultType": "input_required",
        "requestState": "s1",
        "inputRequests": {
            "one": {"method": "sampling/createMessage", "params": {"message": ""}},
            "two": {"method": "elicitation/create"},
        },
    }
    odd = {"resultType": "input_required", "inputRequests": 3}
    transport = FakeTransport({"result": asked}, {"result": odd}, {"result": {**TEXT, "isError": True}})
    reply = EraClient(transport, "stateless", {}).call("tool", {"name": "t"}, [{"action": "accept"}], 7)
    assert transport.revisions == [STATELESS]
    assert (reply.is_error, reply.text, reply.questions) == (True, "done", ("sampling/createMessage",))
    first, second, third = (message["params"] for message in transport.sent)
    assert set(first) == {"name", "_meta"}
    assert first["_meta"][CLIENT_CAPABILITIES] == CAPABILITIES
    assert second["inputResponses"] == {"one": DECLINED["sampling/createMessage"], "two": {"action": "accept"}}
    assert (second["requestState"], third["requestState"], third["inputResponses"]) == ("s1", None, {})


@pytest.mark.parametrize(("rounds", "is_answered"), [(31, True), (32, False)])
def test_a_server_asks_at_most_so_many_times(rounds: int, is_answered: bool) -> None:
    transport = FakeTransport(*[{"result": {"resultType": "input_required"}}] * rounds, {"result": TEXT})
    era = EraClient(transport, "stateless", {})
    if is_answered:
        assert era.call("tool", {}, [], 7).text == "done"
    else:
        with pytest.raises(ConversationError, match="32"):
            era.call("tool", {}, [], 7)


def test_an_error_is_a_reply_and_time_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter((1.0, 1.25, 2.0, 2.0, 3.0))
    monkeypatch.setattr(client.time, "perf_counter", lambda: next(times))
    transport = FakeTransport({"error": {"code": -32602, "message": "no"}}, {"error": "odd"})
    transport.is_undecided = True  # type: ignore[attr-defined]
    era = EraClient(transport, "stateless", {})
    open_question = ("a question, while several calls were made at a time",)
    assert era.call("tool", {}, [], 7) == Reply(True, "no", -32602, milliseconds=250, questions=open_question)
    assert era.call("tool", {}, [], 7) == Reply(True, "odd", 0, questions=open_question)
    with pytest.raises(ConversationError):
        EraClient(FakeTransport({}), "stateless", {}).call("tool", {}, [], 7)


def test_answers_are_taken_by_their_kind_in_order() -> None:
    accept, decline, roots, sampled = {"action": "accept"}, {"action": "decline"}, {"roots": [1]}, {"content": {}}
    answers = AnswerList([sampled, accept, decline, roots])
    assert [answers.answer(method, {}) for method in ("elicitation/create", "roots/list", "elicitation/create")] == [
        accept,
        roots,
        decline,
    ]
    assert (answers.answer("other", {}), answers.answer("other", {"message": "m" * 201})) == (sampled, {})
    assert answers.answer("roots/list", {}) == {"roots": []}
    assert answers.open == ["other: " + "m" * 200]
    asked = AnswerList([accept])
    assert asked.respond({"id": 1, "method": "elicitation/create", "params": 3})["result"] == accept


@pytest.mark.parametrize(
    ("kind", "params"),
    [
        ("tool", {"name": "x", "arguments": {"a": 1}}),
        ("prompt", {"name": "x", "arguments": {"a": 1}}),
        ("resource", {"uri": "x"}),
    ],
)
def test_the_parameters_of_a_call(kind: str, params: Object) -> None:
    assert call_params(kind, "x", {"a": 1}) == params


def test_the_parameters_of_a_completion() -> None:
    prompt, template = CompletedArgument("prompt", "p", "a", "v"), CompletedArgument("resource", "a://{b}", "b")
    assert completion_params(prompt, {"c": "d"}) == {
        "ref": {"type": "ref/prompt", "name": "p"},
        "argument": {"name": "a", "value": "v"},
        "context": {"arguments": {"c": "d"}},
    }
    assert completion_params(template, {}) == {
        "ref": {"type": "ref/resource", "uri": "a://{b}"},
        "argument": {"name": "b", "value": ""},
    }


COMPLETION = {"values": ["a", 1], "total": 2}
PROBLEM = {"path": "/a"}


@pytest.mark.parametrize(
    ("kind", "result", "reply"),
    [
        ("tool", TEXT, {"text": "done"}),
        ("tool", {"isError": 1, "content": 3, "structuredContent": None}, {"structured": None}),
        ("tool", {**TEXT, "_meta": {"mcpc/problems": [PROBLEM]}}, {"text": "done", "problems": (PROBLEM,)}),
        ("tool", {"_meta": {"mcpc/problems": PROBLEM}, "content": ["x", {"text": 3}]}, {}),
        ("tool", {"_meta": 3, "completion": COMPLETION}, {}),
        ("prompt", {"messages": [{"content": {"text": "a"}}, 7, {"content": [1]}, {"content": {"text": "b"}}]}, {"text": "a\nb"}),
        ("resource", {"contents": [{"text": "a"}, {"blob": "b"}]}, {"text": "a"}),
        ("complete", {"completion": COMPLETION, "structuredContent": 1}, {"text": "a\n1", "structured": COMPLETION}),
        ("complete", {"completion": {"values": 3}}, {"structured": {"values": 3}}),
        ("complete", {}, {}),
    ],
)  # fmt: skip
def test_a_result_is_a_reply(kind: str, result: Object, reply: Object) -> None:
    assert reply_of(kind, result) == Reply(is_error=False, result=result, **{"structured": NOTHING, **reply})
    assert reply_of("tool", {"isError": True}).is_error is True
    assert completed_values(3) == []


SCHEMA = {
    "properties": {
        "region": {"x-mcp-header": "Region"},
        "count": {"x-mcp-header": "Count"},
        "inner": {"properties": {"deep": {"x-mcp-header": "Deep"}, "odd": True}},
        "list": {"x-mcp-header": "List"},
        "other": {},
    }
}


@pytest.mark.parametrize(
    ("message", "headers"),
    [
        ({"method": "tools/list", "params": {}}, {}),
        ({"method": "tools/call"}, {}),
        ({"method": "tools/call", "params": {"name": "t"}}, {"Mcp-Name": "t"}),
        ({"method": "tools/call", "params": {"name": "u", "arguments": {"region": "x"}}}, {"Mcp-Name": "u"}),
        ({"method": "tools/call", "params": {"name": "odd", "arguments": {"region": "x"}}}, {"Mcp-Name": "odd"}),
        ({"method": "tools/call", "params": {"name": "t", "arguments": 3}}, {"Mcp-Name": "t"}),
        (
            {
                "method": "tools/call",
                "params": {
                    "name": "t",
                    "arguments": {
                        "region": "eu",
                        "count": 3,
                        "inner": {"deep": True, "odd": 1},
                        "list": [],
                        "other": 1,
                    },
                },
            },
            {"Mcp-Name": "t", "Mcp-Param-Region": "eu", "Mcp-Param-Count": "3", "Mcp-Param-Deep": "true"},
        ),
        ({"method": "resources/read", "params": {"uri": "a://b"}}, {"Mcp-Name": "a://b"}),
    ],
)
def test_headers_repeat_names_and_arguments(message: Object, headers: dict[str, str]) -> None:
    tools = {"t": SCHEMA, "odd": {"properties": 3}}
    assert repeated_headers(message, tools) == headers
    transport = FakeTransport()
    transport.headers_of = None  # type: ignore[attr-defined]
    EraClient(transport, "stateless", tools)
    assert transport.headers_of(message) == headers  # type: ignore[attr-defined]


SECONDS = 60
DECLINED_ANSWER = {"id": 7, "result": "declined"}


class Pipes:
    """A process that says what a test puts into `said`; None ends it."""

    def __init__(self) -> None:
        self.said: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
        self.written: SimpleQueue[dict[str, Any]] = SimpleQueue()

    def notify(self, message: dict[str, Any], _deadline: Deadline) -> None:
        self.written.put(message)

    def receive(self, _deadline: Deadline) -> dict[str, Any]:
        found = self.said.get()
        if found is None:
            raise ConversationError("it ended")
        return found


class Calls:
    """Calls of a process, each made by a thread."""

    def __init__(self, count: int) -> None:
        self.pipes = Pipes()
        process = SharedProcess(self.pipes, lambda _question: DECLINED_ANSWER)
        self.transports = [process.conversation() for _ in range(count)]
        self.replies: list[Any] = [None] * count
        self.threads = [Thread(target=self._call, args=(number,)) for number in range(count)]
        self.numbers = []
        for number, transport in enumerate(self.transports):
            transport.answer = lambda question, number=number: {"id": question["id"], "result": number}
            self.threads[number].start()
            self.numbers.append(self.pipes.written.get(timeout=SECONDS)["id"])

    def _call(self, number: int) -> None:
        try:
            self.replies[number] = self.transports[number].request({"id": 1, "method": "x"}, Deadline(SECONDS))
        except ConversationError as problem:
            self.replies[number] = str(problem)

    def end(self) -> list[Any]:
        for thread in self.threads:
            thread.join(SECONDS)
        return self.replies


def test_each_reply_reaches_its_call_in_any_order() -> None:
    calls = Calls(3)
    for number in reversed(calls.numbers):
        calls.pipes.said.put({"id": number, "result": number})
    assert calls.end() == [{"id": 1, "result": number} for number in calls.numbers]


def test_a_question_belongs_to_the_only_call_that_it_can_be_for() -> None:
    calls = Calls(2)
    calls.transports[0].use_revision(STATELESS)
    calls.pipes.said.put({"id": 7, "method": "elicitation/create"})
    assert calls.pipes.written.get(timeout=SECONDS) == {"id": 7, "result": 1}
    calls.pipes.said.put(None)
    calls.end()
    assert [each.is_undecided for each in calls.transports] == [False, False]


@pytest.mark.parametrize("method", ["elicitation/create", "ping"])
def test_a_question_that_can_be_for_several_calls_is_declined(method: str) -> None:
    calls = Calls(2)
    calls.pipes.said.put({"id": 7, "method": method})
    assert calls.pipes.written.get(timeout=SECONDS) == DECLINED_ANSWER
    calls.pipes.said.put(None)
    calls.end()
    assert {each.is_undecided for each in calls.transports} == {method != "ping"}


def test_a_pipe_that_another_call_has_closed_is_an_error_of_the_conversation() -> None:
    pipes = Pipes()
    transport = SharedProcess(pipes).conversation()

    def notify(*_: object) -> None:
        raise ValueError("write to closed file")

    pipes.notify = notify
    with pytest.raises(ConversationError, match="it was ended"):
        transport.request({"id": 1, "method": "x"}, Deadline(SECONDS))
    pipes.said.put(None)


def test_all_calls_learn_that_the_process_has_ended() -> None:
    calls = Calls(2)
    calls.pipes.said.put(None)
    assert calls.end() == ["it ended", "it ended"]
    with pytest.raises(ConversationError, match="it ended"):
        calls.transports[0].request({"id": 1, "method": "x"}, Deadline(SECONDS))
