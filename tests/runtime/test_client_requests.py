"""What calls ask of their client in both eras, message by message, without a process."""

import json
from functools import cache
from typing import Any

import pytest

from mcpc_runtime.protocol.client_requests import eras
from mcpc_runtime.protocol.client_requests.handler_requests import checked_requests
from mcpc_runtime.protocol.constants import INVALID_PARAMS, MISSING_CAPABILITY
from mcpc_runtime.protocol.effects import Call, Failure, FinishedResult, SendMessage, StartHandler
from mcpc_runtime.protocol.session import Session
from mcpc_runtime.server.replicas.signed_tokens import TokenSigner
from support.clocks import StoppedClock
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


@cache
def image() -> Any:
    anything = {"type": "object", "additionalProperties": True}
    files = project([tool("asks", anything), tool("inner", anything)], capabilities={"tools": {}})
    files["prompts.json"] = json.dumps({"prompts": [{"name": "greet", "description": "d"}]})
    files["prompts.py"] = "def greet(): return ''\n"
    return image_of(archive(files).data)


class Client:
    """A conversation with what a client can, in one revision."""

    def __init__(self, version: str = MODERN, capabilities: Any = None, principal: str = "") -> None:
        self.clock = StoppedClock()
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
            assert eras.resume_call(call, self.seals) is None
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
        failure = eras.resume_call(effect.call, self.seals)
        assert failure.code == INVALID_PARAMS
        return failure

    def ask(self, call: Call, **questions: Any) -> Any:
        checked, refusal = checked_requests(call, questions)
        return refusal or eras.ask_client(call, 1, checked, self.seals)

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
