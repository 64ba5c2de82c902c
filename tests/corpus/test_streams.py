"""What is more than a question and its answer, by pipes and by HTTP: batches, subscriptions, tasks, and the schema's own
examples."""

from __future__ import annotations

import http.client
import json
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from corpus.cases import CAPABILITIES, STATELESS, encoded, envelope
from corpus.channels import Pipes, Posts, events
from corpus.validity import judge
from support.reference import protocol_requests

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.serving import Served

Message = dict[str, Any]
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
TASKS = "io.modelcontextprotocol/tasks"
WATCHED = "test://watched-resource"
WANTED = {"toolsListChanged": True, "resourceSubscriptions": [WATCHED]}


def request(method: str, identifier: object, params: Message, capabilities: Message = CAPABILITIES) -> Message:
    """Return a request of the stateless era."""
    meta = envelope(STATELESS, capabilities)
    return {"jsonrpc": "2.0", "id": identifier, "method": method, "params": {**params, "_meta": meta}}


LISTEN = request("subscriptions/listen", "listener", {"notifications": WANTED})
CHANGES = (
    request("tools/call", "prompts", {"name": "test_trigger_prompt_change", "arguments": {}}),
    request("tools/call", "tools", {"name": "test_trigger_tool_change", "arguments": {}}),
    request("tools/call", "resource", {"name": "change_watched_resource", "arguments": {"text": "new"}}),
)
HEARD = [
    {"method": "notifications/subscriptions/acknowledged", "notifications": WANTED},
    {"method": "notifications/tools/list_changed"},
    {"method": "notifications/resources/updated", "uri": WATCHED},
]


def gist(message: Message) -> Message:
    """Return what a notification says, once its subscription was looked at."""
    judge(STATELESS, message)
    params = dict(message["params"])
    assert params.pop("_meta") == {SUBSCRIPTION: "listener"}
    return {"method": message["method"], **params}


def test_a_subscription_over_http(http_server: Served) -> None:
    judge(STATELESS, LISTEN)
    posts = Posts(http_server, STATELESS)
    with posted(http_server, posts.headers(encoded(LISTEN)), encoded(LISTEN)) as response:
        stream = events(response)
        heard = [next(stream)]
        for change in CHANGES:
            assert "result" in posts.say(encoded(change))[-1]
        heard += [next(stream), next(stream)]
    assert list(map(gist, heard)) == HEARD


@contextmanager
def posted(server: Served, headers: dict[str, str], data: bytes) -> Iterator[http.client.HTTPResponse]:
    """Give the answer to a post while it is being told; at the end hang up."""
    place = urlsplit(server.url)
    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=20)
    try:
        connection.request("POST", place.path, data, headers)
        response = connection.getresponse()
        assert response.getheader("Content-Type") == "text/event-stream"
        yield response
    finally:
        connection.close()


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
    """Ask for a task until it is at this point."""
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
