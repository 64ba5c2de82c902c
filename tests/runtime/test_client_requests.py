"""What calls ask of their client in both eras, message by message, without a process."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest

from mcpc_runtime.protocol.client_requests import definitions, eras, handshake, stateless
from mcpc_runtime.protocol.constants import INTERNAL_ERROR, INVALID_PARAMS, MISSING_CAPABILITY
from mcpc_runtime.protocol.effects import (
    Call,
    DeliverAnswer,
    Failure,
    FinishedResult,
    Outcome,
    SendMessage,
    StartHandler,
)
from mcpc_runtime.protocol.session import Session
from mcpc_runtime.replicas.signed_tokens import TokenSigner
from support.images import archive, image_of, project, tool
from support.messages import valid

MODERN, LEGACY = "2026-07-28", "2025-11-25"
KEY = b"a key of sixteen bytes"
ALL = {"elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}}, "roots": {}}
NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


def form(message: str = "Who?", schema: Any = None) -> dict[str, Any]:
    return {"method": "elicitation/create", "params": {"message": message, "requestedSchema": schema or NAME}}


def link(url: str = "https://example.com/") -> dict[str, Any]:
    return {"method": "elicitation/create", "params": {"mode": "url", "message": "Go", "url": url}}


def model(**more: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": {"type": "text", "text": "Hi"}}]
    return {"method": "sampling/createMessage", "params": {"messages": messages, "maxTokens": 5, **more}}


ROOTS: dict[str, Any] = {"method": "roots/list", "params": {}}
ANN = {"action": "accept", "content": {"name": "Ann"}}
TEXT = {"role": "assistant", "model": "m", "content": {"type": "text", "text": "Hello"}}
PLACES = {"roots": [{"uri": "file:///a", "name": "A"}]}


@cache
def image() -> Any:
    anything = {"type": "object", "additionalProperties": True}
    files = project([tool("asks", anything), tool("inner", anything)], capabilities={"tools": {}})
    files["prompts.json"] = json.dumps({"prompts": [{"name": "greet", "description": "d"}]})
    files["prompts.py"] = "def greet(): return ''\n"
    return image_of(archive(files).data)


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


class Client:
    """A conversation with what a client can, in one revision."""

    def __init__(self, version: str = MODERN, capabilities: Any = None, principal: str = "") -> None:
        self.clock = Clock()
        self.seals = TokenSigner([KEY], self.clock)
        self.version = version
        self.capabilities = ALL if capabilities is None else capabilities
        self.session = Session(image())
        self.session.principal = principal
        self.number = 0
        if version != MODERN:
            params = {"protocolVersion": version, "capabilities": self.capabilities, "clientInfo": {}}
            self.send({"id": 0, "method": "initialize", "params": params})

    def send(self, message: dict[str, Any]) -> list[Any]:
        return self.session.receive(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def call(self, name: str = "asks", method: str = "tools/call", **params: Any) -> Call:
        """Start a call, as a repeated one if it says so; a refusal is the test's failure."""
        (effect,) = self.request(name, method, **params)
        assert isinstance(effect, StartHandler), effect
        call = effect.call
        if self.version == MODERN:
            assert stateless.resume_call(call, self.seals) is None
        return call

    def request(self, name: str, method: str, **params: Any) -> list[Any]:
        self.number += 1
        meta = {}
        if self.version == MODERN:
            prefix = "io.modelcontextprotocol/"
            meta = {"_meta": {f"{prefix}protocolVersion": MODERN, f"{prefix}clientCapabilities": self.capabilities}}
        return self.send({"id": self.number, "method": method, "params": {"name": name, **meta, **params}})

    def refusal(self, **params: Any) -> Failure:
        (effect,) = self.request(params.pop("name", "asks"), params.pop("method", "tools/call"), **params)
        failure = stateless.resume_call(effect.call, self.seals)
        assert failure is not None
        assert failure.code == INVALID_PARAMS
        return failure

    def ask(self, call: Call, **questions: Any) -> Any:
        return eras.ask_client(call, 1, questions, self.seals)

    def answer(self, identifier: str, result: Any) -> list[Any]:
        return self.send({"id": identifier, "result": result})


def asked(made: Any, client: Client) -> dict[str, Any]:
    """The result that asks, as it is on the wire; it must fit the revision's schema."""
    assert isinstance(made, FinishedResult), made
    call = next(iter(client.session.running.values()))
    (sent,) = client.session.finish(call, made)
    message = json.loads(sent.data)
    valid(MODERN, "InputRequiredResult", message["result"])
    return message["result"]


def sent(effects: Any, version: str = LEGACY) -> list[dict[str, Any]]:
    """The requests to the client, which fit the revision's schema and go where the call's answer goes."""
    assert isinstance(effects, list)
    assert all(type(effect) is SendMessage and effect.request is not None for effect in effects)
    messages = [json.loads(effect.data) for effect in effects]
    for message in messages:
        valid(version, "ServerRequest", message)
    return messages


# The stateless era: MR1-MR7.


def test_a_call_asks_and_is_repeated_with_the_answer() -> None:
    client = Client()
    result = asked(client.ask(client.call(), who=form()), client)
    assert result["resultType"] == "input_required"
    assert result["inputRequests"] == {"who": form()}
    assert "ttlMs" not in result and "cacheScope" not in result
    call = client.call(requestState=result["requestState"], inputResponses={"who": ANN})
    assert client.ask(call, who=form()) == {"answers": {"who": ANN}}
    assert call.answers == {"who": ANN}
    (reply,) = client.session.finish(call, Outcome([]))
    assert json.loads(reply.data)["result"]["resultType"] == "complete"


def test_several_rounds_keep_what_was_answered() -> None:
    client = Client()
    first = asked(client.ask(client.call(), a=form("A?")), client)
    call = client.call(requestState=first["requestState"], inputResponses={"a": ANN})
    assert client.ask(call, a=form("A?")) == {"answers": {"a": ANN}}
    second = asked(client.ask(call, b=model(), c=ROOTS), client)
    assert second["requestState"] != first["requestState"]
    assert set(second["inputRequests"]) == {"b", "c"}
    call = client.call(requestState=second["requestState"], inputResponses={"b": TEXT, "c": PLACES})
    assert client.ask(call, a=form("A?")) == {"answers": {"a": ANN}}
    assert client.ask(call, b=model(), c=ROOTS) == {"answers": {"b": TEXT, "c": PLACES}}


def test_what_is_missing_is_asked_again_and_what_is_not_asked_is_passed_over() -> None:
    client = Client()
    both = {"a": form("A?"), "b": form("B?")}
    first = asked(client.ask(client.call(), **both), client)
    answers = {"a": ANN, "other": {"action": "accept", "content": {"x": 1}}}
    second = asked(client.ask(client.call(requestState=first["requestState"], inputResponses=answers), **both), client)
    assert set(second["inputRequests"]) == {"b"}
    call = client.call(requestState=second["requestState"], inputResponses={"b": ANN})
    assert client.ask(call, **both) == {"answers": {"a": ANN, "b": ANN}}
    again = asked(client.ask(client.call(inputResponses={"wrong": ANN}), **both), client)
    assert set(again["inputRequests"]) == {"a", "b"}


def test_answers_are_kept_though_the_handler_asks_in_another_order() -> None:
    client = Client()
    first = asked(client.ask(client.call(), a=form("A?"), b=form("B?")), client)
    call = client.call(requestState=first["requestState"], inputResponses={"a": ANN, "b": ANN})
    second = asked(client.ask(call, c=form("C?")), client)
    call = client.call(requestState=second["requestState"], inputResponses={"c": ANN})
    assert client.ask(call, a=form("A?"), b=form("B?")) == {"answers": {"a": ANN, "b": ANN}}


def test_an_answer_to_what_was_not_asked_does_not_stay() -> None:
    client = Client()
    first = asked(client.ask(client.call(inputResponses={"later": ANN}), now=form()), client)
    call = client.call(requestState=first["requestState"], inputResponses={"now": ANN})
    assert client.ask(call, now=form()) == {"answers": {"now": ANN}}
    assert set(asked(client.ask(call, later=form("Delete everything?")), client)["inputRequests"]) == {"later"}


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_what_nobody_accepted_and_nobody_looked_at_is_not_handed_on(action: str) -> None:
    """It was not held against the form, so a handler that does not look at the action must not find it."""
    answer, plain = {"action": action, "content": {"name": 1}}, {"action": action}
    client = Client()
    assert client.ask(client.call(inputResponses={"k": answer}), k=form()) == {"answers": {"k": plain}}
    accepted = {"action": "accept", "content": {"x": 1}}
    assert client.ask(client.call(inputResponses={"k": accepted}), k=link()) == {"answers": {"k": {"action": "accept"}}}
    client = Client(LEGACY)
    (request,) = sent(client.ask(client.call(), k=form()))
    (give,) = client.answer(request["id"], answer)
    assert give.value == {"answers": {"k": plain}}


def test_an_answer_that_did_not_fit_is_asked_for_again_though_the_state_had_it() -> None:
    client = Client()
    first = asked(client.ask(client.call(), k=form()), client)
    call = client.call(requestState=first["requestState"], inputResponses={"k": ANN})
    other = form("?", {"type": "object", "properties": {"name": {"type": "integer"}}})
    second = asked(client.ask(call, k=other), client)
    number = {"action": "accept", "content": {"name": 1}}
    call = client.call(requestState=second["requestState"], inputResponses={"k": number})
    assert client.ask(call, k=other) == {"answers": {"k": number}}


def state(client: Client, **params: Any) -> str:
    return asked(client.ask(client.call(**params), who=form()), client)["requestState"]


def test_no_byte_of_a_state_can_be_changed() -> None:
    client = Client()
    token = state(client)
    for place in range(len(token)):
        for letter in "Az":
            changed = token[:place] + letter + token[place + 1 :]
            if changed != token:
                assert "not issued by this server" in client.refusal(requestState=changed).message
    for wrong in (f"{token}-TAMPERED", token[:-1], "", "x", token * 2, "é" * 40, "x" * (1 << 20)):
        assert "requestState" in client.refusal(requestState=wrong).message
    for wrong in (None, 7, {}, [token]):
        assert "must be a string issued" in client.refusal(requestState=wrong).message


def test_a_state_is_of_one_request() -> None:
    client = Client()
    arguments = {"a": 1, "b": {"c": [1, 2], "d": None}}
    token = state(client, arguments=arguments)
    spelt = {"b": {"d": None, "c": [1, 2]}, "a": 1}
    assert client.ask(client.call(arguments=spelt, requestState=token, inputResponses={"who": ANN}), who=form())
    others: list[dict[str, Any]] = [
        {"name": "inner", "arguments": arguments},
        {"arguments": {**arguments, "a": 2}},
        {"arguments": {}},
        {},
        {"name": "greet", "method": "prompts/get"},
    ]
    for other in others:
        assert "another request" in client.refusal(requestState=token, **other).message


def test_a_state_is_of_one_principal_and_of_one_hour() -> None:
    ann, eve = Client(principal="ann"), Client(principal="eve")
    token = state(ann)
    assert "another client" in eve.refusal(requestState=token).message
    assert "another client" in Client().refusal(requestState=token).message
    ann.clock.now += 3600
    assert ann.call(requestState=token)
    ann.clock.now += 1
    assert "expired" in ann.refusal(requestState=token).message


def test_a_state_of_another_purpose_or_key_is_refused() -> None:
    client = Client()
    assert "not issued by this server" in client.refusal(requestState=client.seals.sign("session", b"[]", 60)).message
    other = Client()
    other.seals = TokenSigner([b"another key of sixteen bytes"])
    assert "not issued by this server" in other.refusal(requestState=state(client)).message


def test_a_refusal_shows_neither_a_key_nor_an_answer() -> None:
    client = Client()
    secret = {"action": "accept", "content": {"name": "s3cret"}}
    first = asked(client.ask(client.call(), a=form()), client)
    call = client.call(requestState=first["requestState"], inputResponses={"a": secret})
    client.ask(call, a=form())
    token = asked(client.ask(call, b=form()), client)["requestState"]
    for failure in (client.refusal(requestState=token + "x"), client.refusal(requestState=token, name="inner")):
        assert "s3cret" not in failure.message and KEY.decode() not in failure.message
        assert failure.data is None


def test_answers_that_would_be_too_much_to_keep_are_refused() -> None:
    client = Client()
    large = {"action": "accept", "content": {"name": "x" * (200 << 10)}}
    call = client.call(inputResponses={"a": large, "b": large})
    assert client.ask(call, a=form()) == {"answers": {"a": large}}
    assert isinstance(client.ask(call, c=form()), FinishedResult)
    assert client.ask(call, b=form()) == {"answers": {"b": large}}
    made = client.ask(call, c=form())
    assert isinstance(made, Failure)
    assert made.code == INTERNAL_ERROR and "262144" in made.message


def test_a_state_takes_the_place_of_what_the_client_says_again() -> None:
    client = Client()
    first = asked(client.ask(client.call(), a=form()), client)
    call = client.call(requestState=first["requestState"], inputResponses={"a": ANN})
    client.ask(call, a=form())
    second = asked(client.ask(call, b=form()), client)
    bob = {"action": "accept", "content": {"name": "Bob"}}
    call = client.call(requestState=second["requestState"], inputResponses={"a": bob, "b": bob})
    assert client.ask(call, a=form(), b=form()) == {"answers": {"a": ANN, "b": bob}}


def test_a_prompt_may_ask_and_a_completion_may_not() -> None:
    client = Client()
    call = client.call("greet", "prompts/get")
    assert set(asked(client.ask(call, who=form()), client)["inputRequests"]) == {"who"}
    call = client.call()
    call.request.method = "completion/complete"
    assert "requests to the client are not possible" in client.ask(call, who=form())["error"]["message"]


# What a client must be able to do: MR3, in both eras.

NEEDS = {
    "elicitation.form": (form(), {"elicitation": {"form": {}}}),
    "elicitation.url": (link(), {"elicitation": {"url": {}}}),
    "sampling": (model(), {"sampling": {}}),
    "sampling.tools": (model(tools=[]), {"sampling": {"tools": {}}}),
    "roots": (ROOTS, {"roots": {}}),
}
UNDECLARED = [{}, {"experimental": {}}, {"elicitation": None, "sampling": True, "roots": []}]


@pytest.mark.parametrize("name", NEEDS)
@pytest.mark.parametrize("version", [MODERN, LEGACY])
def test_what_a_client_did_not_declare_is_not_asked(name: str, version: str) -> None:
    question, required = NEEDS[name]
    for declared in UNDECLARED:
        client = Client(version, declared)
        error = client.ask(client.call(), k=question)["error"]
        assert (error["code"], error["data"]) == (MISSING_CAPABILITY, {"requiredCapabilities": required})
        assert name in error["message"]
        valid(MODERN, "ClientCapabilities", error["data"]["requiredCapabilities"])
        assert not client.session.asked
    client = Client(version, required)
    assert type(client.ask(client.call(), k=question)) is not dict


# The handshake era: real requests.


def test_requests_go_out_together_and_the_answers_come_in_any_order() -> None:
    client = Client(LEGACY)
    call = client.call()
    first, second, third = sent(client.ask(call, a=form(), b=model(), c=ROOTS))
    assert [one["method"] for one in (first, second, third)] == [
        "elicitation/create",
        "sampling/createMessage",
        "roots/list",
    ]
    assert len({one["id"] for one in (first, second, third)}) == 3
    assert client.answer(third["id"], PLACES) == client.answer(first["id"], ANN) == []
    (give,) = client.answer(second["id"], TEXT)
    assert isinstance(give, DeliverAnswer) and give.call is call and give.reply == 1
    assert give.value == {"answers": {"c": PLACES, "a": ANN, "b": TEXT}}
    assert not client.session.asked
    assert client.answer(second["id"], TEXT) == []


def test_a_key_stands_for_one_question_in_this_era_too() -> None:
    client = Client(LEGACY)
    call = client.call()
    (request,) = sent(client.ask(call, a=form()))
    client.answer(request["id"], ANN)
    assert client.ask(call, a=form()) == {"answers": {"a": ANN}}
    (other,) = sent(client.ask(call, a=form(), b=form()))
    (give,) = client.answer(other["id"], ANN)
    assert give.value == {"answers": {"a": ANN, "b": ANN}}


def test_a_call_that_ends_withdraws_its_own_questions_only() -> None:
    client = Client(LEGACY)
    one, other = client.call(), client.call()
    first, second = sent(client.ask(one, a=form(), b=ROOTS))
    (third,) = sent(client.ask(other, a=form()))
    notices = [json.loads(effect.data)["params"]["requestId"] for effect in handshake.withdraw_requests(one)]
    assert notices == [first["id"], second["id"]]
    assert list(client.session.asked) == [third["id"]]
    assert handshake.withdraw_requests(one) == []


def test_a_question_is_put_as_its_revision_has_it() -> None:
    client = Client(LEGACY)
    (request,) = sent(client.ask(client.call(), k=link()))
    assert request["params"]["elicitationId"]
    client = Client()
    given = {**link()["params"], "elicitationId": "mine"}
    (shown,) = asked(client.ask(client.call(), k={**link(), "params": given}), client)["inputRequests"].values()
    assert "elicitationId" not in shown["params"]
    client = Client("2025-06-18")
    question = form()
    question["params"]["mode"] = "form"
    (request,) = sent(client.ask(client.call(), k=question), "2025-06-18")
    assert "mode" not in request["params"]
    lists = form("?", {"type": "object", "properties": {"l": {"type": "array", "items": {"enum": ["a"]}}}})
    assert "forms cannot have lists" in client.ask(client.call(), k=lists)["error"]["message"]


# What cannot be asked at all.


# Tools that other tools call.


def within(parent: Call, name: str = "inner", **arguments: Any) -> Call:
    definition = image().tool(name)
    return Call(parent.request, definition, arguments, (*parent.chain, parent.definition.name))


def test_what_two_tools_ask_does_not_mix() -> None:
    client = Client()
    root = client.call()
    wanted: dict[str, Any] = {}
    for child in (root, within(root, n=1), within(root, n=2), within(within(root, n=1), n=1)):
        made = client.ask(child, k=form())
        assert isinstance(made, FinishedResult)
        wanted |= made.result["inputRequests"]  # type: ignore[operator]
    assert len(wanted) == 4 and "k" in wanted
    client = Client()
    first = asked(client.ask(within(client.call(), n=1), k=form()), client)
    (key,) = first["inputRequests"]
    root = client.call(requestState=first["requestState"], inputResponses={key: ANN})
    child = within(root, n=1)
    assert client.ask(child, k=form()) == {"answers": {"k": ANN}}
    assert child.answers == {"k": ANN}
    assert isinstance(client.ask(within(root, n=2), k=form()), FinishedResult)


# What a definition asks.


def test_arguments_stand_in_the_place_of_their_names_once(monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client()
    arguments = {"file": "{other} {{", "other": "no", "n": 1.5, "l": [1], "flag": True, "a.b-c": "dots"}
    message = "Delete {file}? {n} {l} {flag} {a.b-c} {absent}| { x } {} {1} {\n} }{"
    schema = {"type": "object", "properties": {"ok": {"type": "boolean", "title": "{other}"}}}
    call = client.call(arguments={**arguments, "q": "a b&c=d/é~"})
    questions = {"ok": form(message, schema), "go": link("https://x/?q={q}&f={file}"), "r": ROOTS}
    written = tuple((key, one["method"], json.dumps(one["params"]).encode()) for key, one in questions.items())
    monkeypatch.setattr(call.definition, "asks", written)
    made: Any = definitions.declared_requests(call)
    said = made["ok"]["params"]["message"]
    assert said == "Delete {other} {{? 1.5 [1] true dots | { x } {} {1} {\n} }{"
    assert made["ok"]["params"]["requestedSchema"]["properties"]["ok"]["title"] == "no"
    assert made["go"]["params"]["url"] == "https://x/?q=a%20b%26c%3Dd%2F%C3%A9~&f=%7Bother%7D%20%7B%7B"
    assert made["r"] == ROOTS
    assert set(asked(eras.ask_client(call, 1, made, client.seals), client)["inputRequests"]) == {"ok", "go", "r"}


def test_a_definition_s_question_that_is_not_answered_ends_the_call() -> None:
    missing = {"code": MISSING_CAPABILITY, "message": "lacking", "data": {"requiredCapabilities": {"roots": {}}}}
    refused = {"code": -1, "message": "no"}
    modern, legacy = Client(), Client(LEGACY)
    failure = definitions.unanswered_ending(modern.call(), missing)
    assert isinstance(failure, Failure)
    assert (failure.code, failure.message, failure.data) == (MISSING_CAPABILITY, "lacking", missing["data"])
    for call, error in ((legacy.call(), missing), (modern.call(), refused), (within(modern.call()), missing)):
        outcome = definitions.unanswered_ending(call, error)
        assert isinstance(outcome, Outcome)
        assert outcome.is_error and outcome.content[0]["text"] == error["message"]  # type: ignore[index,call-overload]
    prompt = definitions.unanswered_ending(legacy.call("greet", "prompts/get"), missing)
    assert isinstance(prompt, Failure) and prompt.code == INTERNAL_ERROR
