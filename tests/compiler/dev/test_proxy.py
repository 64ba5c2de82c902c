"""One client, and builds that replace each other: every message that passes, with servers in this process."""

import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue
from types import SimpleNamespace
from typing import Any

import pytest

from mcpc.workbench.dev import proxy as proxying
from mcpc.workbench.dev.building import BuildFacts, BuildResult
from mcpc.workbench.dev.conversation import (
    Conversation,
    added_tools,
    answered_requests,
    changed_lists,
    encode_message,
    error_response,
    extend_tool_list,
    id_key,
    list_changed,
    params_of,
    parse_messages,
    reload_result,
)
from mcpc.workbench.dev.http_server import ServerCommand
from mcpc.workbench.dev.proxy import Messages, Proxy

Message = dict[str, Any]
TOOLS = json.dumps([{"name": "t"}])


class Server:
    """A server in this process: it answers a request with the next of `answers`, or not at all; `None` ends it."""

    made: list["Server"]

    def __init__(self, start: ServerCommand, path: Path, receive: Callable[[Any, bytes | None], None]) -> None:
        self.argv, self.receive = start.argv(path), receive
        self.got: list[Message] = []
        self.done: list[Any] = []
        self.made.append(self)

    def send(self, line: bytes) -> None:
        message = json.loads(line)
        self.got.append(message)
        if str(message.get("id")).startswith("mcpc dev"):
            self.say({"id": message["id"], "result": {}})

    def say(self, message: Message) -> None:
        self.receive(self, encode_message({"jsonrpc": "2.0", **message}))

    def answer(self, identifier: object, **result: Any) -> None:
        self.say({"id": identifier, "result": result})

    def close(self) -> None:
        self.done.append("close")
        self.receive(self, None)

    def kill(self) -> None:
        self.done.append("kill")

    def end(self, seconds: float) -> None:
        self.done.append(seconds)

    def status(self, seconds: float) -> int:
        return 3


class Play:
    """A proxy between a client whose steps are played one by one, and servers in this process."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.log = folder, list[Any]()
        self.clock = [100.0]
        monkeypatch.setattr(Server, "made", [], raising=False)
        monkeypatch.setattr(proxying, "ServerProcess", Server)
        monkeypatch.setattr(proxying, "time", SimpleNamespace(monotonic=lambda: self.clock[0]))
        self.built: list[BuildResult] = []
        self.waiting: list[Callable[[BuildResult], None]] = []
        reporter = SimpleNamespace(
            failed=lambda build: self.log.append("failed"),
            rebuilt=lambda facts, build: self.log.append(("rebuilt", facts.names)) or "rebuilt: text",
        )
        calls = SimpleNamespace(
            begin=lambda batch: None, finish=lambda line: None, end=lambda *given: self.log.append(("end", *given))
        )
        messages: Any = Messages(reporter, calls, SimpleNamespace(write=self.log.append))  # type: ignore[arg-type]
        builder: Any = SimpleNamespace(begin=self.begin, close=lambda: self.log.append("closed"))
        self.proxy = Proxy(builder, ServerCommand(lambda path: [path.name], folder, {}), folder, messages)
        self.first = self.build("1")

    def build(self, digest: str, *names: str, **lists: str) -> BuildResult:
        path = self.folder / f"{digest}.pyz"
        path.write_text("")
        return BuildResult(path, 0, digest, BuildFacts("native", lists, names))

    def begin(self, done: Callable[[BuildResult], None]) -> None:
        self.log.append("begin")
        if self.built:
            done(self.built.pop(0))
        else:
            self.waiting.append(done)

    def feed(self, message: Message | bytes) -> None:
        line = message if isinstance(message, bytes) else encode_message(message)
        kept, self.proxy.events = self.proxy.events, SimpleQueue()
        self.proxy.read(io.BytesIO(line))
        event = self.proxy.events.get()
        self.proxy.events = kept
        kept.put(event)

    def play(self, *steps: Any, leaves: bool = True) -> list[Message]:
        """Play the steps, each when nothing is left to do of those before; return what the client received."""
        todo: list[Any] = [*steps, *([lambda: self.proxy.read(io.BytesIO(b""))] if leaves else [])]
        rounds = [0]

        def turn() -> None:
            rounds[0] += 1
            if rounds[0] % 8 == 0 and todo:
                step = todo.pop(0)
                step() if callable(step) else self.feed(step)
            if rounds[0] < 8 * (len(steps) + 12):
                self.proxy.events.put(turn)
            else:
                self.proxy.is_over = True
                self.log.append("still there")

        self.proxy.events.put(turn)
        read, write = os.pipe()
        try:
            self.proxy.run(self.first, write)
        finally:
            os.close(write)
            with os.fdopen(read, "rb") as stream:
                received = stream.read()
        return [json.loads(line) for line in received.splitlines()]


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Play:
    return Play(tmp_path, monkeypatch)


def call(identifier: object, name: str = "t", **params: Any) -> Message:
    return {"jsonrpc": "2.0", "id": identifier, "method": "tools/call", "params": {"name": name, **params}}


def request(identifier: object, method: str, **params: Any) -> Message:
    return {"jsonrpc": "2.0", "id": identifier, "method": method, "params": params}


def reply(identifier: object, result: Any = None) -> Message:
    return {"jsonrpc": "2.0", "id": identifier, "result": result or {}}


def cancel(identifier: object) -> Message:
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": identifier}}


INITIALIZE = request(1, "initialize", protocolVersion="2025-11-25")
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def server(number: int = 0) -> Server:
    return Server.made[number]


def test_messages_pass_unchanged(play: Play) -> None:
    found = play.play(
        call(1),
        lambda: server().answer(1, content=[]),
        lambda: server().say({"method": "notifications/progress"}),
        call("x"),
        lambda: server().answer("x", content=[1]),
    )
    assert found == [
        reply(1, {"content": []}),
        {"jsonrpc": "2.0", "method": "notifications/progress"},
        reply("x", {"content": [1]}),
    ]
    assert (server().argv, server().got) == (["1.pyz"], [call(1), call("x")])
    assert (server().done, play.log, len(Server.made)) == (["close"], ["closed"], 1)


def test_without_a_request_no_server_is_started(play: Play) -> None:
    assert play.play() == []
    assert (Server.made, play.log) == ([], ["closed"])


def test_a_build_takes_over_when_the_running_calls_have_ended(play: Play) -> None:
    play.built = [play.build("2", "t", tools=TOOLS)]
    found = play.play(
        INITIALIZE,
        lambda: server().answer(1),
        INITIALIZED,
        request(2, "logging/setLevel", level="error"),
        lambda: server().answer(2),
        request(3, "resources/subscribe", uri="a://b"),
        lambda: server().answer(3),
        request(4, "resources/subscribe", uri="a://c"),
        lambda: server().answer(4),
        request(5, "resources/unsubscribe", uri="a://b"),
        lambda: server().answer(5),
        call(6),
        play.proxy.changed,
        call(7),
        {"jsonrpc": "2.0", "method": "notifications/progress"},
        cancel(7),
        lambda: play.log.append(len(Server.made)),
        lambda: server().answer(6, old=True),
        lambda: server(1).answer(7, new=True),
    )
    assert [message.get("id", message.get("method")) for message in found] == [
        *range(1, 7),
        "notifications/tools/list_changed",
        7,
    ]
    assert (found[5]["result"], found[7]["result"]) == ({"old": True}, {"new": True})
    assert server().got[-2:] == [call(6), {"jsonrpc": "2.0", "method": "notifications/progress"}]
    first, initialized, level, watched, *rest = server(1).got
    assert (first["method"], first["params"], initialized) == ("initialize", INITIALIZE["params"], INITIALIZED)
    assert (level["params"], watched["params"]) == ({"level": "error"}, {"uri": "a://c"})
    assert len({first["id"], level["id"], watched["id"]}) == 3
    assert rest == [call(7), cancel(7)]
    assert play.log == ["begin", ("rebuilt", ()), 1, "closed"]
    assert [path.name for path in play.folder.iterdir()] == ["2.pyz"]


def test_calls_that_take_too_long_are_refused(play: Play) -> None:
    play.built = [play.build("2")]

    def wait(seconds: float) -> Callable[[], None]:
        return lambda: play.clock.__setitem__(0, play.clock[0] + seconds)

    found = play.play(
        call(1), call(2), play.proxy.changed, lambda: server().answer(2), wait(4.9), lambda: None, wait(0.2)
    )
    assert [message["id"] for message in found] == [2, 1]
    assert found[1]["error"] == {"code": -32603, "message": proxying.REPLACED}
    assert ("end", "1", "error") in play.log
    assert len(Server.made) == 2


def test_a_server_that_does_not_end_is_killed(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    play.built = [play.build("2")]
    monkeypatch.setattr(Server, "close", lambda self: self.done.append("close"))
    play.play(
        call(1),
        lambda: server().answer(1),
        play.proxy.changed,
        lambda: play.clock.__setitem__(0, play.clock[0] + 9.9),
        lambda: server().done.append("waited"),
        lambda: play.clock.__setitem__(0, play.clock[0] + 0.2),
        lambda: server().answer(9),
        lambda: server().receive(server(), None),
        leaves=False,
    )
    assert server().done == ["close", "waited", "kill"]
    assert (len(Server.made), server(1).done) == (2, [2.0])


def test_a_server_that_dies_is_started_again(play: Play) -> None:
    found = play.play(call(1), lambda: server().receive(server(), None), call(2), lambda: server(1).answer(2))
    assert found == [
        {"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": proxying.DIED.format(status=3)}},
        reply(2),
    ]
    assert play.log == [proxying.ENDED.format(status=3), ("end", "1", "error"), "closed"]
    assert server(1).argv == ["1.pyz"]


def test_a_build_that_fails_is_told_to_clients_that_log_errors(play: Play) -> None:
    failed = BuildResult(None, 1, more="Error: x")
    play.built = [failed, failed, failed]
    found = play.play(
        play.proxy.changed,
        request(1, "logging/setLevel", level="error"),
        lambda: server().answer(1),
        play.proxy.changed,
        request(2, "logging/setLevel", level="critical"),
        lambda: server().answer(2),
        play.proxy.changed,
    )
    told = {"level": "error", "logger": "mcpc dev", "data": "Error: x"}
    assert found[1] == {"jsonrpc": "2.0", "method": "notifications/message", "params": told}
    assert [message.get("id") for message in found] == [1, None, 2]
    assert play.log.count("failed") == 3
    assert len(Server.made) == 1


def test_a_client_can_ask_for_a_build(play: Play) -> None:
    play.built = [play.build("2"), BuildResult(None, 1, more="Error: x"), play.build("2")]
    found = play.play(call(1, "mcpc_reload"), call(2, "mcpc_reload"), call(3, "mcpc_reload"))
    texts = [(message["id"], message["result"]["content"][0]["text"]) for message in found]
    assert texts[0] == (1, "rebuilt: text")
    assert texts[1] == (2, "the build failed; the last successful build keeps serving\n\nError: x")
    assert [message["result"].get("isError") for message in found] == [None, True, None]
    assert [each.argv for each in Server.made] == [["2.pyz"], ["2.pyz"]]


def test_an_equal_build_is_served_only_on_request(play: Play) -> None:
    again = BuildResult(play.folder / "again.pyz", 0, "1", BuildFacts())
    (play.folder / "again.pyz").write_text("")
    play.built = [again]
    play.play(call(1), lambda: server().answer(1), play.proxy.changed)
    assert len(Server.made) == 1
    assert [path.name for path in play.folder.iterdir()] == ["1.pyz"]


def test_changes_during_a_build_start_another_one(play: Play) -> None:
    found = play.play(
        play.proxy.changed,
        play.proxy.changed,
        play.proxy.changed,
        call(1, "mcpc_reload"),
        lambda: play.waiting[0](play.build("2")),
        lambda: play.waiting[1](play.build("3")),
        call(2),
        lambda: server(1).answer(2),
    )
    assert [message["id"] for message in found] == [1, 2]
    assert play.log.count("begin") == 2
    assert [each.argv for each in Server.made] == [["2.pyz"], ["3.pyz"]]


def test_a_call_for_a_build_can_be_cancelled(play: Play) -> None:
    found = play.play(
        call(1, "mcpc_reload"),
        call(2, "mcpc_reload"),
        cancel(1),
        cancel(3),
        cancel(2),
        lambda: play.waiting[0](play.build("2")),
        lambda: play.waiting[1](play.build("3")),
    )
    assert found == []
    assert server().got == [cancel(3)]


def test_a_client_that_leaves_gets_its_answers_first(play: Play) -> None:
    def leave() -> None:
        play.proxy.read(io.BytesIO(b""))

    found = play.play(call(1, "mcpc_reload"), leave, lambda: play.waiting[0](play.build("2")), leaves=False)
    assert [message["id"] for message in found] == [1]
    assert play.log[-1] == "closed"
    assert "still there" not in play.log


def test_a_newer_build_replaces_one_that_was_never_served(play: Play) -> None:
    play.built = [play.build("2"), play.build("3")]
    play.play(call(1), play.proxy.changed, play.proxy.changed, lambda: server().answer(1))
    assert [each.argv for each in Server.made] == [["1.pyz"], ["3.pyz"]]
    assert [path.name for path in play.folder.iterdir()] == ["3.pyz"]


def line(message: Message) -> bytes:
    return encode_message({"jsonrpc": "2.0", **message})


def listen(identifier: object, **notifications: bool) -> Message:
    return request(identifier, "subscriptions/listen", notifications=notifications)


def test_what_must_wait_for_a_server() -> None:
    conversation = Conversation()
    conversation.record_sent([call(1), listen(2)])
    waits = [[call(3)], [cancel(1)], [cancel(2)], [cancel(3)], [INITIALIZED], [], [INITIALIZED, call(3)], [reply(1)]]
    assert [conversation.must_wait(batch) for batch in waits] == [True, False, False, True, False, False, True, False]
    conversation.record_sent([cancel(1), cancel(2), {"method": 3, "id": 4}, {"method": "x"}])
    assert (conversation.open, conversation.streams) == ({}, {})


def test_streams_are_opened_again() -> None:
    conversation = Conversation()
    streams = [listen(7, toolsListChanged=True), listen("8", promptsListChanged=True)]
    conversation.record_sent(streams)
    assert [json.loads(each) for each in conversation.replayed_messages()] == streams
    acknowledged = {
        "method": "notifications/subscriptions/acknowledged",
        "params": {"_meta": {"io.modelcontextprotocol/subscriptionId": 7}},
    }
    assert conversation.record_received(line(acknowledged)) == (False, False)
    assert conversation.record_received(line(acknowledged)) == (True, False)
    changes = [json.loads(each) for each in conversation.change_notifications(["prompts", "tools"])]
    assert [
        (each["method"], each["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"]) for each in changes
    ] == [("notifications/prompts/list_changed", "8"), ("notifications/tools/list_changed", 7)]
    [*conversation.replayed_messages()]
    assert conversation.record_received(line(reply(7))) == (True, False)
    assert [*conversation.streams] == ['"8"']
    assert conversation.record_received(line(acknowledged)) == (True, False)
    assert [*Conversation().change_notifications(["tools"])] == []


def test_the_state_of_the_handshake_era_is_replayed() -> None:
    conversation = Conversation()
    for sent in (INITIALIZE, request(2, "logging/setLevel", level="info"), request(3, "resources/subscribe", uri="a")):
        conversation.record_sent([sent])
        conversation.record_received(line({"id": sent["id"], "error": {}} if sent["id"] == 3 else reply(sent["id"])))
    first, level = (json.loads(each) for each in conversation.replayed_messages())
    assert (first["method"], level["method"]) == ("initialize", "logging/setLevel")
    assert conversation.record_received(line(reply(first["id"]))) == (False, False)
    assert conversation.record_received(line(reply(first["id"]))) == (True, False)
    conversation.record_sent([INITIALIZED, INITIALIZE])
    conversation.record_received(line(reply(1)))
    assert [json.loads(each)["method"] for each in conversation.replayed_messages()] == [
        "initialize",
        "notifications/initialized",
    ]
    assert [json.loads(each) for each in conversation.change_notifications(["tools"])] == [
        {"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": {}}
    ]


@pytest.mark.parametrize(
    ("level", "is_told"), [("debug", True), ("error", True), ("critical", False), ("odd", False), (None, False)]
)
def test_problems_are_logged_at_the_level_of_errors(level: str | None, is_told: bool) -> None:
    conversation = Conversation()
    if level:
        conversation.record_sent([request(1, "logging/setLevel", level=level)])
        conversation.record_received(line(reply(1)))
    assert bool([*conversation.problem_notifications("x")]) is is_told


def test_a_list_of_tools_is_known_by_its_answer() -> None:
    conversation = Conversation()
    conversation.record_sent([request(1, "tools/list"), request(2, "tools/list"), request(3, "prompts/list")])
    assert conversation.record_received(line({"id": 1, "error": {}})) == (True, False)
    assert conversation.record_received(line(reply(2))) == (True, True)
    assert conversation.record_received(line(reply(3))) == (True, False)
    conversation.record_sent([request(4, "tools/list")])
    assert conversation.record_received(b"[" + line(reply(4)).strip() + b"]\n") == (True, False)


def test_messages_are_parsed_and_written() -> None:
    assert [parse_messages(each) for each in (b"x", b"3", b"{}", b'[{"a":1},2]')] == [[], [], [{}], [{"a": 1}]]
    assert answered_requests(b'{"jsonrpc":"2.0","id":"a\\"b","error":{}}') == [('"a\\"b"', False)]
    assert answered_requests(b'{"jsonrpc":"2.0","id":-1,"result":{}}') == [("-1", True)]
    assert answered_requests(b'{"id":1}') == []
    assert answered_requests(b'[{"id":1,"result":0},{"id":2,"error":0},{"id":3,"method":"x"},{}]') == [
        ("1", True),
        ("2", False),
    ]
    assert encode_message({"a": "é\ud83d"}) == '{"a":"é\\ud83d"}\n'.encode()
    assert json.loads(error_response(1, "why")) == {
        "jsonrpc": "2.0",
        "id": 1,
        "error": {"code": -32603, "message": "why"},
    }
    assert id_key(1) != id_key("1")
    assert [params_of(each) for each in ({}, {"params": 3}, {"params": {"a": 1}})] == [{}, {}, {"a": 1}]
    assert json.loads(list_changed("tools"))["params"] == {}


def test_lists_that_differ_are_named_once() -> None:
    lists = {"tools": "1", "resources": "1", "resourceTemplates": "1"}
    changed = {"resources": "2", "resourceTemplates": "2", "prompts": "1", "tools": "1"}
    assert changed_lists(BuildFacts(lists=lists), BuildFacts(lists=changed)) == ["prompts", "resources"]


def test_the_tool_that_builds_is_added_to_the_last_page() -> None:
    build = BuildResult(Path("a"), facts=BuildFacts("native"))
    listed = reply(1, {"tools": [{"name": "t"}]})
    added = json.loads(extend_tool_list(line(listed), build))["result"]["tools"]
    assert [tool["name"] for tool in added] == ["t", "mcpc_reload"]
    for other in (reply(1, {"tools": [], "nextCursor": "x"}), reply(1, {"tools": 3}), {"id": 1, "error": {}}):
        assert extend_tool_list(line(other), build) == line(other)
    own = BuildResult(Path("a"), facts=BuildFacts("native", names=("mcpc_reload",)))
    assert (added_tools(own), extend_tool_list(line(listed), own)) == ([], line(listed))


def test_the_result_of_a_build_is_that_of_its_era() -> None:
    build = BuildResult(Path("a"), summary="done")
    stateless = call(1, _meta={"io.modelcontextprotocol/protocolVersion": "2026-07-28"})
    text = {"content": [{"type": "text", "text": "done"}]}
    assert json.loads(reload_result(call(1), build, Path(), None)) == reply(1, text)
    assert json.loads(reload_result(stateless, build, Path(), None)) == reply(1, {**text, "resultType": "complete"})
    assert json.loads(reload_result(call(1, _meta=3), build, Path(), None)) == reply(1, text)
