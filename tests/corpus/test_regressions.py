"""What other servers get wrong on their pipes: each fault as a conversation, and what has to come of it."""

import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from corpus.cases import CAPABILITIES, INITIALIZED, REVISIONS, STATELESS, envelope, initialize
from support.artifact import converse

Message = dict[str, Any]
HANDSHAKES = REVISIONS[:-1]


def legacy(method: str, identifier: object, params: Message | None = None) -> Message:
    message: Message = {"jsonrpc": "2.0", "id": identifier, "method": method}
    return {**message, "params": params} if params is not None else message


def modern(method: str, identifier: object, params: Message | None = None) -> Message:
    return legacy(method, identifier, {**(params or {}), "_meta": envelope(STATELESS, CAPABILITIES)})


def call(name: str, identifier: object, arguments: Message | None = None) -> Message:
    return legacy("tools/call", identifier, {"name": name, "arguments": arguments or {}})


def heard(server: Path, *messages: Message | list[Message] | bytes) -> list[Any]:
    """Say everything at once, close the pipe, and return everything that was said until the server ended."""
    lines = [message if isinstance(message, bytes) else json.dumps(message).encode() for message in messages]
    done = converse([sys.executable, server], b"".join(line + b"\n" for line in lines))
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def answers(found: list[Any]) -> dict[Any, Message]:
    return {message.get("id"): message for message in found if "method" not in message}


def code(message: Message) -> int | None:
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
