"""What other servers get wrong on their pipes: each fault as a conversation, and what has to come of it."""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from corpus.cases import CAPABILITIES, INITIALIZED, REVISIONS, STATELESS, encoded, envelope, initialize
from corpus.channels import Pipes
from support.artifact import converse

if TYPE_CHECKING:
    from pathlib import Path

Message = dict[str, Any]
HANDSHAKES = REVISIONS[:-1]
LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"


def legacy(method: str, identifier: object, params: Message | None = None) -> Message:
    """Return a request of the handshake era."""
    message: Message = {"jsonrpc": "2.0", "id": identifier, "method": method}
    return {**message, "params": params} if params is not None else message


def modern(method: str, identifier: object, params: Message | None = None) -> Message:
    """Return a request of the stateless era."""
    return legacy(method, identifier, {**(params or {}), "_meta": envelope(STATELESS, CAPABILITIES)})


def call(name: str, identifier: object, arguments: Message | None = None) -> Message:
    """Return a call in the handshake era."""
    return legacy("tools/call", identifier, {"name": name, "arguments": arguments or {}})


def heard(server: Path, *messages: Message | list[Message] | bytes) -> list[Any]:
    """Say everything at once, close the pipe, and return everything that was said until the server ended."""
    lines = [message if isinstance(message, bytes) else json.dumps(message).encode() for message in messages]
    done = converse([sys.executable, server], b"".join(line + b"\n" for line in lines))
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def answers(found: list[Any]) -> dict[Any, Message]:
    """Return the answers by their ids."""
    return {message.get("id"): message for message in found if "method" not in message}


def code(message: Message) -> int | None:
    """Return an answer's error code."""
    found: Message = message.get("error", {})
    return found.get("code")


@pytest.mark.parametrize("version", HANDSHAKES)
def test_a_probe_does_not_pin_the_era_and_neither_does_a_handshake(everything_server: Path, version: str) -> None:
    found = answers(
        heard(
            everything_server,
            modern("server/discover", "probe"),
            initialize(version),
            INITIALIZED,
            legacy("tools/list", "old"),
            modern("tools/list", "new"),
            modern("server/discover", "again"),
            {**initialize("2025-11-25"), "id": "second"},
        )
    )
    assert found["first"]["result"]["protocolVersion"] == version
    assert found["second"]["result"]["protocolVersion"] == "2025-11-25"
    assert found["probe"]["result"] == found["again"]["result"]
    assert "resultType" not in found["old"]["result"]
    assert found["new"]["result"]["resultType"] == "complete"


def test_one_that_probes_and_then_greets_late_is_answered(everything_server: Path) -> None:
    channel = Pipes(everything_server, STATELESS)
    try:
        assert "result" in channel.say(encoded(modern("server/discover", 1)))[-1]
        time.sleep(0.6)  # as long as some clients wait for a probe before they greet
        assert channel.say(encoded(initialize("2025-11-25")))[-1]["result"]["protocolVersion"] == "2025-11-25"
    finally:
        channel.close()


@pytest.mark.parametrize("method", LISTS)
@pytest.mark.parametrize("cursor", ["nowhere", "MQ==", "1", "-1", "\0", "é" * 200])
def test_a_cursor_from_nowhere_is_refused_and_never_the_first_page(
    everything_server: Path, method: str, cursor: str
) -> None:
    found = answers(
        heard(
            everything_server,
            initialize("2025-11-25"),
            legacy(method, "old", {"cursor": cursor}),
            modern(method, "new", {"cursor": cursor}),
        )
    )
    assert (code(found["old"]), code(found["new"])) == (-32602, -32602)


def test_what_is_not_there_is_an_error_and_no_result(everything_server: Path) -> None:
    found = answers(
        heard(
            everything_server,
            initialize("2025-11-25"),
            call("no_such_tool", "tool"),
            legacy("prompts/get", "prompt", {"name": "no-such-prompt"}),
            legacy("resources/read", "resource", {"uri": "test://nothing/here"}),
            modern("tools/call", "new tool", {"name": "no_such_tool"}),
            modern("prompts/get", "new prompt", {"name": "no-such-prompt"}),
            modern("resources/read", "new resource", {"uri": "test://nothing/here"}),
            legacy("no/such", "method"),
            modern("no/such", "new method"),
        )
    )
    assert {identifier: code(found[identifier]) for identifier in found if identifier != "first"} == {
        "tool": -32602,
        "prompt": -32602,
        "resource": -32002,
        "new tool": -32602,
        "new prompt": -32602,
        "new resource": -32602,
        "method": -32601,
        "new method": -32601,
    }
    assert all(found[name]["error"]["data"]["uri"] == "test://nothing/here" for name in ("resource", "new resource"))


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        (b"garbage", -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping"', -32700),
        (b"\xff\xfe\x00", -32700),
        (b"17", -32600),
        (b"null", -32600),
        (b"{}", -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":[1],"method":"ping"}', -32600),
    ],
)
def test_what_cannot_be_read_is_answered_and_nothing_is_lost(everything_server: Path, line: bytes, wanted: int) -> None:
    found = heard(everything_server, line, legacy("ping", "after"))
    assert [(code(message), message["id"]) for message in found] == [(wanted, None), (None, "after")]


@pytest.mark.parametrize("version", HANDSHAKES[:2])
def test_a_batch_is_answered_as_one_where_the_revision_has_batches(everything_server: Path, version: str) -> None:
    batch = [legacy("ping", 1), {"jsonrpc": "2.0", "method": "notifications/initialized"}, call("no_such_tool", 2), {}]
    found = heard(everything_server, initialize(version), batch, legacy("ping", 3))
    (together,) = [message for message in found if isinstance(message, list)]
    assert sorted((str(one["id"]), code(one)) for one in together) == [("1", None), ("2", -32602), ("None", -32600)]
    assert [message["id"] for message in found if isinstance(message, dict)] == ["first", 3]


@pytest.mark.parametrize("version", HANDSHAKES[2:])
def test_a_batch_is_refused_as_one_elsewhere(everything_server: Path, version: str) -> None:
    found = heard(everything_server, initialize(version), [legacy("ping", 1), legacy("ping", 2)], legacy("ping", 3))
    assert [(message["id"], code(message)) for message in found] == [("first", None), (None, -32600), (3, None)]


@pytest.mark.parametrize("make", [legacy, modern])
def test_an_id_in_flight_is_not_taken_twice(everything_server: Path, make: Any) -> None:
    slow = {"name": "slow_compute", "arguments": {"seconds": 0.5, "label": "the first"}}
    found = heard(everything_server, make("tools/call", 7, slow), make("tools/list", 7))
    assert [code(message) for message in found] == [-32600, None]
    assert "the first" in found[1]["result"]["content"][0]["text"]


def test_answers_under_way_are_not_lost_at_the_end_of_input(everything_server: Path) -> None:
    slow = {"seconds": 0.7, "label": "late"}
    found = answers(
        heard(
            everything_server,
            initialize("2025-11-25"),
            call("slow_compute", "bash", slow),
            call("test_multiple_content_types", "program"),
            call("greet", "python", {"name": "Ada"}),
            modern("tools/call", "new", {"name": "slow_compute", "arguments": slow}),
        )
    )
    assert set(found) == {"first", "bash", "program", "python", "new"}
    assert all("result" in message for message in found.values()), found


def test_a_question_that_nobody_can_answer_any_more_ends_its_call(everything_server: Path) -> None:
    began = time.monotonic()
    found = heard(everything_server, initialize("2025-11-25"), call("test_elicitation", 1, {"message": "Who?"}))
    assert time.monotonic() - began < 30
    asked = [message for message in found if message.get("method") == "elicitation/create"]
    assert len(asked) == 1
    answer = answers(found).get(1)
    assert answer is None or "error" in answer or answer["result"]["isError"], answer


def test_listening_twice_on_one_pipe_is_kept_apart(everything_server: Path) -> None:
    channel = Pipes(everything_server, STATELESS)
    try:
        for identifier, wanted in (("a", "toolsListChanged"), ("b", "promptsListChanged")):
            channel.write(encoded(modern("subscriptions/listen", identifier, {"notifications": {wanted: True}})))
            first = read(channel)
            assert first["method"] == "notifications/subscriptions/acknowledged"
            assert first["params"]["_meta"][SUBSCRIPTION] == identifier
            assert first["params"]["notifications"] == {wanted: True}
        for kind, identifier in (("tool", "a"), ("prompt", "b")):
            said = modern("tools/call", kind, {"name": f"test_trigger_{kind}_change", "arguments": {}})
            channel.write(encoded(said))
            both = [read(channel), read(channel)]
            (told,) = [message for message in both if "method" in message]
            assert told["method"] == f"notifications/{kind}s/list_changed"
            assert told["params"]["_meta"][SUBSCRIPTION] == identifier
    finally:
        channel.close()


def test_a_subscriber_of_the_handshake_era_is_told_until_it_has_enough(everything_server: Path) -> None:
    watched = {"uri": "test://watched-resource"}
    channel = Pipes(everything_server, "2025-11-25")
    try:
        for verb, told in (("subscribe", ["notifications/resources/updated"]), ("unsubscribe", [])):
            assert channel.say(encoded(legacy(f"resources/{verb}", verb, watched)))[-1]["result"] == {}
            found = channel.say(encoded(call("change_watched_resource", f"after {verb}", {"text": verb})))
            assert [message["method"] for message in found if "method" in message] == told
    finally:
        channel.close()


def read(channel: Pipes) -> Message:
    """Return the next message."""
    assert channel.process.stdout is not None
    message: Message = json.loads(channel.process.stdout.readline())
    return message
