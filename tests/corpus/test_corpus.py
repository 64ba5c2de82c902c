"""The same messages through pipes and through HTTP: equal answers, and every message what its revision's schema says."""

import json
import sys
import time
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from corpus.cases import CAPABILITIES, INITIALIZED, REVISIONS, STATELESS, Case, cases, encoded, envelope, initialize
from corpus.channels import Pipes, Posts, is_question, rounds, steady
from corpus.validity import judge
from support.artifact import converse
from support.reference import protocol_requests
from support.serving import Served
from support.stdio import StdioClient

STATUS = {-32700: 400, -32600: 400, -32602: 400, -32020: 400, -32021: 400, -32022: 400, -32601: 404}
"""The HTTP status of each error in the stateless era."""
WRONG = (AssertionError, jsonschema.ValidationError, OSError, LookupError, ValueError)
"""What a wrong answer raises here."""


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.sampled(5)
def test_pipes_and_http_give_equal_and_valid_answers(
    revision: str, everything_server: Path, http_server: Served
) -> None:
    pipes, posts = Pipes(everything_server, revision), Posts(http_server, revision)
    try:
        if revision != STATELESS:
            judge_greeting(revision, pipes.greeting, posts.greeting)
        wrong = [text for case in cases(revision) if (text := problem(revision, case, pipes, posts))]
    finally:
        pipes.close()
        posts.close()
    assert not wrong, "\n".join(wrong)


def judge_greeting(revision: str, piped: list[dict[str, Any]], posted: list[dict[str, Any]]) -> None:
    assert piped == posted and piped[-1]["result"]["protocolVersion"] == revision
    judge(revision, piped[-1], "initialize")
    judge(revision, initialize(revision))
    judge(revision, INITIALIZED)


def problem(revision: str, case: Case, pipes: Pipes, posts: Posts) -> str:
    try:
        if not case.is_bad and case.message:
            judge(revision, case.message)
        piped, posted = rounds(case, pipes), rounds(case, posts)
        for message in (*piped, *posted):
            judge(revision, message, case.message["method"] if case.message and not case.is_bad else "")
        for sent in (*pipes.sent, *posts.sent):
            judge(revision, sent)
        compare(revision, case, piped, posted, posts.status)
    except WRONG as found:
        return f"{revision} {case.name}: {type(found).__name__}: {str(found)[:600]}"
    finally:
        pipes.sent.clear()
        posts.sent.clear()
    return ""


def compare(revision: str, case: Case, piped: list[dict[str, Any]], posted: list[dict[str, Any]], status: int) -> None:
    """Assert that both ways gave the same, and the kind of answer that the corpus says."""
    if case.message is not None:  # of what cannot be read each says where it could not
        assert list(map(steady, piped)) == list(map(steady, posted)), f"\npipes {piped}\nhttp  {posted}"
    code = piped[-1].get("error", {}).get("code")
    assert code == posted[-1].get("error", {}).get("code") == case.code, (piped[-1], posted[-1])
    notes = [one["method"] for one in piped if "method" in one and not is_question(one)]
    assert notes == list(case.notes), piped
    if revision == STATELESS and len(posted) == 1:
        assert status == STATUS.get(code, 200), (status, piped[-1])


Message = dict[str, Any]
TASKS = "io.modelcontextprotocol/tasks"


def request(method: str, identifier: object, params: Message, capabilities: Message = CAPABILITIES) -> Message:
    meta = envelope(STATELESS, capabilities)
    return {"jsonrpc": "2.0", "id": identifier, "method": method, "params": {**params, "_meta": meta}}


def test_a_task_goes_its_way_by_either_way(everything_server: Path, http_server: Served) -> None:
    pipes, posts = Pipes(everything_server, STATELESS), Posts(http_server, STATELESS)
    try:
        assert course(pipes) == course(posts)
    finally:
        pipes.close()


def course(channel: Pipes | Posts) -> list[Message]:
    """Start a task that asks, answer it, and return what each step said, without what is another each time."""
    can = {**CAPABILITIES, "extensions": {TASKS: {}}}
    arguments = {"name": "confirm_delete", "arguments": {"filename": "a.txt"}}
    made = channel.say(encoded(request("tools/call", 1, arguments, can)))[-1]["result"]
    said = [made]
    task = {"taskId": made["taskId"]}
    said.append(until(channel, request("tasks/get", 2, task, can), "input_required"))
    answers = {key: {"action": "accept", "content": {"confirm": True}} for key in said[-1]["inputRequests"]}
    update = request("tasks/update", 3, {**task, "inputResponses": answers}, can)
    said.append(channel.say(encoded(update))[-1]["result"])
    said.append(until(channel, request("tasks/get", 4, task, can), "completed"))
    said.append(channel.say(encoded(request("tasks/cancel", 5, task, can)))[-1]["result"])
    assert "a.txt was deleted" in json.dumps(said[3])
    changing = ("taskId", "createdAt", "lastUpdatedAt", "ttlMs")  # the time to live counts from the end of the task
    return [{key: value for key, value in one.items() if key not in changing} for one in said]


def until(channel: Pipes | Posts, get: Message, status: str) -> Message:
    for _ in range(400):
        found: Message = channel.say(encoded(get))[-1]["result"]
        if found["status"] == status:
            return found
        time.sleep(0.05)
    raise AssertionError(f"the task stays {found['status']}")


ASKED = (
    "CallTool",
    "Complete",
    "Discover",
    "GetPrompt",
    "ListPrompts",
    "ListResourceTemplates",
    "ListResources",
    "ListTools",
)


@pytest.mark.parametrize("name", [*ASKED, "ReadResource"])
def test_the_examples_of_the_schema_are_answered(name: str, everything_server: Path, http_server: Served) -> None:
    found = protocol_requests(f"{name}Request")
    assert found
    pipes, posts = Pipes(everything_server, STATELESS), Posts(http_server, STATELESS)
    try:
        for message in found:
            judge(STATELESS, message)
            piped, over_http = (channel.say(encoded(message)) for channel in (pipes, posts))
            assert piped == over_http and piped[-1]["id"] == message["id"]
            judge(STATELESS, piped[-1], message["method"])
            assert piped[-1].get("error", {}).get("code") in (None, -32602), piped  # what it asks for is not here
    finally:
        pipes.close()


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
    with StdioClient(everything_server) as client:
        client.initialize(capabilities=CAPABILITIES)
        number = client.begin("tools/call", {"name": "test_elicitation", "arguments": {"message": "Who?"}})
        while client.message().get("method") != "elicitation/create":
            continue
        remaining, _ = client.end()
    found = [json.loads(line) for line in remaining.splitlines()]
    assert "elicitation/create" not in [message.get("method") for message in found]
    answer = answers(found).get(number)
    assert answer is None or "error" in answer or answer["result"]["isError"], answer
