"""What is more than a question and its answer, by pipes and by HTTP: tasks, and the schema's own examples."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from corpus.cases import CAPABILITIES, STATELESS, encoded, envelope
from corpus.channels import Pipes, Posts
from corpus.validity import judge
from support.reference import protocol_requests
from support.serving import Served

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
