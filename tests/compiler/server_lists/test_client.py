"""The client of a server's lists, over a transport that answers from a table: what it sends, takes and refuses."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from mcpc.client import client as lists_client
from mcpc.client.client import (
    CLIENT,
    HANDSHAKE,
    META,
    STATELESS,
    AnsweredError,
    ConversationError,
    Deadline,
    ServerClient,
    conversation,
    read_lists,
    read_server,
    refusal,
)
from mcpc.client.contents import Content, ServerContents, read_contents
from mcpc.client.http_requests import events
from mcpc.client.model import ServerLists, lists_from_json
from mcpc.passes.clients import CLAUDE_CODE_TOKENS, VS_CODE_TOOLS, check_client_limits
from support.projects import SERVER_JSON, lowered

Object = dict[str, Any]

TOOL = {"name": "t", "inputSchema": {"type": "object"}}
NOT_FOUND = {"error": {"code": -32601, "message": "no"}}
REFUSED = {"error": {"code": -32000, "message": "later"}}
INITIALIZED = {
    "result": {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}}
}
DISCOVERED = {"result": {"supportedVersions": [STATELESS], "capabilities": {"tools": {}}, "serverInfo": {"name": "s"}}}


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Answers:
    """A transport that has its answers by method, the last one for all further requests."""

    def __init__(self, **answers: Any) -> None:
        self.answers = {
            name.replace("_", "/"): given if isinstance(given, list) else [given] for name, given in answers.items()
        }
        self.sent: list[Object] = []
        self.revisions: list[str] = []
        self.answer = refusal

    def request(self, message: Object, deadline: Deadline) -> Object:
        self.sent.append(message)
        deadline.count(1)
        found = self.answers[message["method"]]
        return found.pop(0) if len(found) > 1 else found[0]

    def notify(self, message: Object, deadline: Deadline) -> None:
        self.sent.append(message)

    def use_revision(self, version: str) -> None:
        self.revisions.append(version)


def client_of(**answers: Any) -> tuple[ServerClient, Answers]:
    transport = Answers(**answers)
    return ServerClient(transport, Deadline(60.0)), transport


def page(name: str, items: list[Any], cursor: object = None) -> Object:
    return {"result": {name: items, **({} if cursor is None else {"nextCursor": cursor})}}


def test_requests_are_numbered_and_name_the_revision_in_the_stateless_era() -> None:
    client, transport = client_of(a=[{"result": {"x": 1}}, {"result": {}}])
    assert (client.request("a", {"p": 2}), client.request("a", {})) == ({"x": 1}, {})
    client.is_stateless, client.capabilities = True, {"roots": {}}
    client.request("a", {"p": 2})
    capabilities = {"io.modelcontextprotocol/clientCapabilities": {"roots": {}}}
    assert transport.sent == [
        {"jsonrpc": "2.0", "id": 1, "method": "a", "params": {"p": 2}},
        {"jsonrpc": "2.0", "id": 2, "method": "a", "params": {}},
        {"jsonrpc": "2.0", "id": 3, "method": "a", "params": {"p": 2, "_meta": {**META, **capabilities}}},
    ]


@pytest.mark.parametrize("answer", [{}, {"result": None}, {"result": []}, {"result": [{}]}, {"result": "x"}])
def test_a_result_is_an_object(answer: Object) -> None:
    with pytest.raises(ConversationError) as problem:
        client_of(a=answer)[0].request("a", {})
    assert (type(problem.value), problem.value.status) == (ConversationError, 0)


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        ({"code": 5, "message": "m"}, 5, "m"),
        ({}, None, "{}"),
        ("broken", None, "broken"),
        ({"code": "x"}, "x", "{'code': 'x'}"),
    ],
)
def test_an_error_is_that_of_the_server(error: object, code: object, text: str) -> None:
    with pytest.raises(AnsweredError) as problem:
        client_of(a={"error": error, "result": {}})[0].request("a", {})
    assert (problem.value.code, problem.value.text) == (code, text)
    assert str(AnsweredError("a", 1, "x" * 301)).endswith(" " + "x" * 300)


def test_a_server_of_the_stateless_era_is_discovered() -> None:
    client, transport = client_of(server_discover=DISCOVERED)
    assert client.discover() == DISCOVERED["result"]
    assert (client.is_stateless, transport.revisions) == (True, [STATELESS])
    own = {**DISCOVERED["result"], "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "own"}}}
    assert client_of(server_discover={"result": own})[0].discover()["serverInfo"] == {"name": "own"}
    for versions in ([], None, ["2025-11-25"]):
        with pytest.raises(ConversationError):
            client_of(server_discover={"result": {"supportedVersions": versions}})[0].discover()


def test_a_server_of_the_handshake_era_is_greeted() -> None:
    client, transport = client_of(initialize=INITIALIZED)
    client.is_stateless = True
    assert client.initialize() == INITIALIZED["result"]
    assert (client.is_stateless, transport.revisions) == (False, ["", "2025-06-18"])
    assert [message["method"] for message in transport.sent] == ["initialize", "notifications/initialized"]
    assert transport.sent[0]["params"] == {"protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": CLIENT}
    assert "id" not in transport.sent[1]
    with pytest.raises(ConversationError):
        client_of(initialize={"result": {"protocolVersion": 5}})[0].initialize()


@pytest.mark.parametrize(
    ("discovered", "connections", "methods"),
    [
        (DISCOVERED, 1, ["server/discover"]),
        (NOT_FOUND, 1, ["server/discover", "initialize", "notifications/initialized"]),
        (REFUSED, 2, ["server/discover", "initialize", "notifications/initialized"]),
        ({"result": []}, 2, ["server/discover", "initialize", "notifications/initialized"]),
    ],
)
def test_only_what_may_have_broken_is_replaced(discovered: Object, connections: int, methods: list[str]) -> None:
    opened: list[Answers] = []
    closed: list[Answers] = []

    @contextmanager
    def connect() -> Iterator[Answers]:
        opened.append(Answers(server_discover=discovered, initialize=INITIALIZED))
        yield opened[-1]
        closed.append(opened[-1])

    with conversation(connect, 60.0) as (client, about):
        assert client.transport is opened[-1]
        assert about["serverInfo"]["name"] == "s"
    assert (len(opened), closed) == (connections, opened)
    assert [message["method"] for each in opened for message in each.sent] == methods


def test_all_pages_of_a_list_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    pages = [page("tools", [1, 2], "a"), page("tools", [], "b"), page("tools", [3])]
    client, transport = client_of(tools_list=pages)
    assert [*client.items("tools/list", "tools")] == [1, 2, 3]
    assert [message["params"] for message in transport.sent] == [{}, {"cursor": "a"}, {"cursor": "b"}]
    for most, fits in ((3, True), (2, False)):
        monkeypatch.setattr(lists_client, "MAX_ITEMS", most)
        client, _ = client_of(tools_list=[page("tools", [1, 2], "a"), page("tools", [3])])
        if fits:
            assert [*client.items("tools/list", "tools")] == [1, 2, 3]
        else:
            with pytest.raises(ConversationError):
                list(client.items("tools/list", "tools"))


@pytest.mark.parametrize(
    "pages",
    [
        [page("tools", [1], "a"), page("tools", [2], "a")],
        [page("tools", [1], 5)],
        [{"result": {"tools": {}}}],
        [{"result": {}}],
    ],
)
def test_pages_that_do_not_end_or_are_no_lists(pages: list[Object]) -> None:
    with pytest.raises(ConversationError):
        list(client_of(tools_list=pages)[0].items("tools/list", "tools"))


def test_only_promised_lists_are_read_and_templates_may_be_missing() -> None:
    client, transport = client_of(
        tools_list=page("tools", [TOOL]),
        resources_list=page("resources", [{"name": "r", "uri": "a:b"}]),
        resources_templates_list=NOT_FOUND,
    )
    about = {
        "capabilities": {"tools": {}, "resources": {}},
        "serverInfo": {"name": "s", "version": "2"},
        "instructions": "i",
    }
    found = read_lists(client, about)
    assert found == lists_from_json(
        {"name": "s", "version": "2", "serverInfo": about["serverInfo"], "instructions": "i", "capabilities": about["capabilities"],
         "tools": [TOOL], "resources": [{"name": "r", "uri": "a:b"}], "resourceTemplates": []}
    )  # fmt: skip
    assert [each["method"] for each in transport.sent] == ["tools/list", "resources/list", "resources/templates/list"]
    assert read_lists(client_of()[0], {"capabilities": [], "serverInfo": 5}) == lists_from_json(
        {"name": "", "version": "", "serverInfo": {}, "instructions": None, "capabilities": {}}
    )
    for answer in (REFUSED, page("tools", [5])):
        with pytest.raises(ConversationError):
            read_lists(client_of(tools_list=answer)[0], {"capabilities": {"tools": {}}})


def test_a_server_is_read_over_one_connection() -> None:
    @contextmanager
    def connect() -> Iterator[Answers]:
        yield Answers(server_discover=DISCOVERED, tools_list=page("tools", [TOOL]))

    found = read_server(connect)
    assert isinstance(found, ServerLists)
    assert [tool["name"] for tool in found.tools] == ["t"]


def test_requests_of_a_server_are_refused_but_ping() -> None:
    assert refusal({"id": 1, "method": "ping"}) == {"jsonrpc": "2.0", "id": 1, "result": {}}
    answer = refusal({"id": "a", "method": "roots/list"})
    assert (answer["id"], answer["error"]["code"], "result" in answer) == ("a", -32601, False)


def test_a_deadline_ends_by_time_and_by_bytes() -> None:
    clock = Clock()
    whole = Deadline(10.0, 100, clock)
    part = whole.limited(4.0, 60)
    assert (whole.seconds(), part.seconds(), whole.limited(99.0).seconds()) == (10.0, 4.0, 10.0)
    part.count(60)
    assert (part.is_used_up, whole.is_used_up) == (True, False)
    with pytest.raises(ConversationError):
        part.count(1)
    assert whole.limited(5.0).is_used_up is False
    whole.count(39)
    assert (whole.is_used_up, whole.limited(5.0).is_used_up) == (True, True)
    with pytest.raises(ConversationError):
        whole.count(1)
    clock.now += 3.9
    assert part.seconds() == pytest.approx(0.1)
    clock.now += 6.1
    assert whole.is_used_up
    for deadline in (part, whole):
        with pytest.raises(ConversationError):
            deadline.seconds()


PROMPT = {
    "name": "p",
    "arguments": [{"name": "a", "required": True}, {"name": "b"}, {"required": True}, 5, {"name": "c", "required": 1}],
}


def test_contents_of_prompts_and_resources() -> None:
    lists = lists_from_json(
        {
            "name": "",
            "version": "",
            "prompts": [PROMPT],
            "resources": [{"name": "r", "uri": "a:b"}, {"name": "s", "uri": "a:b"}],
        }
    )
    blocks = [
        {"text": "one"},
        {"text": 5},
        5,
        {"resource": {"text": "two", "blob": "dGhyZWU="}},
        {"blob": "AA=="},
        {"blob": "/w=="},
        {"blob": "!"},
    ]
    client, transport = client_of(
        prompts_get={
            "result": {"description": "about", "messages": [{"content": blocks}, {"content": {"text": "four"}}, 5]}
        },
        resources_read={"result": {"contents": [{"text": ""}, {"text": "five"}], "description": 5}},
    )
    found = read_contents(client, lists)
    texts = ["about", "one", "two", "three", "four"]
    assert found == ServerContents(
        (*(Content("prompt", "p", text) for text in texts), Content("resource", "a:b", "five")), 2
    )
    assert [each["params"] for each in transport.sent] == [{"name": "p", "arguments": {"a": "a"}}, {"uri": "a:b"}]


def test_what_is_not_read_is_counted_with_the_first_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    lists = lists_from_json(
        {"name": "", "version": "", "resources": [{"name": "r", "uri": f"a:{number}"} for number in range(3)]}
    )
    more = {"result": {"resultType": "input_required", "contents": [{"text": "x"}]}}
    client, _ = client_of(resources_read=[more, {"result": {"contents": [{"text": "x"}]}}, REFUSED])
    found = read_contents(client, lists)
    assert (found.found, found.total, found.unread) == ((Content("resource", "a:1", "x"),), 3, 2)
    assert found.why.startswith("resource a:0: ")
    monkeypatch.setattr("mcpc.client.contents.MAX_REQUESTS", 2)
    cut = read_contents(client_of(resources_read={"result": {}})[0], lists)
    assert (cut.total, cut.unread, "2" in cut.why) == (3, 1, True)
    spent, transport = client_of(resources_read={"result": {}})
    spent.deadline.count(lists_client.MAX_BYTES)
    assert (read_contents(spent, lists).unread, len(transport.sent)) == (3, 1)


def test_events_of_a_stream() -> None:
    lines = [b": comment\n", b"event: a\r\n", b"data: 1\r\n", b"data:2\n", b"\n", b"\n", b"event: b\n", b"\n", b"id: 5\n",
             b"data:  3\n", b"\n", b"data: cut"]  # fmt: skip
    assert [*events(lines)] == [(b"a", b"1\n2"), (b"message", b" 3")]


def told(count: int, description: str = "d") -> list[str]:
    tools = [{"name": f"t{n}", "description": description, "inputSchema": {"type": "object"}} for n in range(count)]
    handlers = "".join(f"def t{n}(): ...\n" for n in range(count))
    server, _ = lowered({"server.json": SERVER_JSON, "tools.json": json.dumps({"tools": tools}), "tools.py": handlers})
    assert server is not None
    return [problem.message for problem in check_client_limits(server)]


@pytest.mark.parametrize("more", [0, 1])
def test_so_many_tools_that_vs_code_does_not_send_all(more: int) -> None:
    expected = [f"the server has {VS_CODE_TOOLS + 1} tools: VS Code sends at most {VS_CODE_TOOLS} of all servers"]
    assert told(VS_CODE_TOOLS + more) == expected * more


def test_a_list_of_so_many_tokens_that_claude_code_warns() -> None:
    rest = len(json.dumps(["t0", "", {"type": "object"}]))
    assert told(1, "d" * (CLAUDE_CODE_TOKENS * 4 + 3 - rest)) == []
    assert told(1, "d" * (CLAUDE_CODE_TOKENS * 4 + 4 - rest)) == [
        f"the list of tools has about {CLAUDE_CODE_TOKENS + 1} tokens: Claude Code warns of more than {CLAUDE_CODE_TOKENS}"
    ]
