"""Subscriptions of both eras: who asked is told, of what was asked and promised, and of nothing else."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from mcpc_runtime.protocol.effects import PublishChange, SendMessage, SendResponse
from mcpc_runtime.protocol.session import Session
from mcpc_runtime.protocol.subscriptions import (
    close_listening,
)
from support.images import MODERN, archive, ask, image_of, request
from support.messages import HANDSHAKE, STATELESS, valid

if TYPE_CHECKING:
    from mcpc_runtime.image.image import Image
    from mcpc_runtime.protocol.effects import Effect

ID = "io.modelcontextprotocol/subscriptionId"
SERVER = {"serverInfo": {"name": "watched", "version": "1"}}
RESOURCES = {
    "resources.json": json.dumps(
        {
            "resources": [{"uri": f"test://{name}", "name": name, "description": "d", "text": ""} for name in "abc"],
            "resourceTemplates": [{"uriTemplate": "users://{id}", "name": "user", "description": "d"}],
        }
    ),
    "resources.py": "def resource_user(id): return id\n",
}
TOOLS = {
    "tools.json": json.dumps(
        {"tools": [{"name": "change", "description": "d", "inputSchema": {"type": "object"}}]},
    ),
    "tools.py": "from mcpc import Context\n\n\ndef change(context: Context, **given):\n"
    '    context.resource_updated("test://a")\n    context.list_changed("tools")\n    context.list_changed("resources")\n',
}
PROMPTS = {
    "prompts.json": json.dumps({"prompts": [{"name": "hi", "description": "d"}]}),
    "prompts.py": "def hi(): return 'hi'\n",
}


@cache
def image(kind: str = "telling") -> Image:
    """Compile a server that tells of changes of tools, resources and contents, or one that tells of nothing."""
    files = {"server.json": json.dumps(SERVER), **RESOURCES, **PROMPTS}
    return image_of(archive({**files, **TOOLS} if kind == "telling" else files).data)


def handshaken(revision: str = "2025-11-25", kind: str = "telling") -> Session:
    session = Session(image(kind))
    params = {"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    ask(session, request("initialize", params))
    return session


def decoded(effects: list[Effect]) -> list[dict]:
    return [json.loads(effect.data) for effect in effects if isinstance(effect, SendResponse)]


def listen(session: Session, identifier: object = 1, **wanted: Any) -> dict:
    return ask(session, request("subscriptions/listen", {"notifications": wanted, "_meta": MODERN}, identifier))


EVENTS = (
    PublishChange("resource", "test://a"),
    PublishChange("tools"),
    PublishChange("prompts"),
    PublishChange("resources"),
)
LIST_CHANGED = {"tools": "Tool", "prompts": "Prompt", "resources": "Resource"}


def told(session: Session) -> list[tuple[str, object]]:
    """What a session is told of all events: the method, and the stream or nothing."""
    messages = [message for event in EVENTS for message in decoded(session.changed(event))]
    return [(message["method"], message["params"].get("_meta", {}).get(ID)) for message in messages]


@pytest.mark.parametrize("revision", HANDSHAKE)
def test_a_client_is_told_of_the_lists_that_were_said_to_change(revision: str) -> None:
    session = handshaken(revision)
    assert told(session) == [("notifications/tools/list_changed", None), ("notifications/resources/list_changed", None)]
    for event in (EVENTS[1], EVENTS[3]):
        (effect,) = session.changed(event)
        assert isinstance(effect, SendMessage) and effect.session is session and effect.request is None
        valid(revision, f"{LIST_CHANGED[event.kind]}ListChangedNotification", json.loads(effect.data))


@pytest.mark.parametrize("method", ["resources/subscribe", "resources/unsubscribe", "subscriptions/listen"])
def test_a_server_that_tells_of_nothing_has_none_of_it(method: str) -> None:
    params: dict[str, Any] = {"uri": "test://a"}
    if method == "subscriptions/listen":
        params = {"notifications": {"toolsListChanged": True}, "_meta": MODERN}
    assert ask(handshaken(kind="silent"), request(method, params))["error"]["code"] == -32601


ALL = {"toolsListChanged": True, "promptsListChanged": True, "resourcesListChanged": True}


def test_everything_on_a_stream_is_what_the_revision_says() -> None:
    session = Session(image())
    listen(session, "s", **ALL, resourceSubscriptions=["test://a"])
    kinds = []
    for event in EVENTS:
        for effect in session.changed(event):
            assert isinstance(effect, SendMessage) and effect.request is session.listening["s"]
            name = f"{LIST_CHANGED[event.kind]}ListChanged" if event.kind in LIST_CHANGED else "ResourceUpdated"
            message = valid(STATELESS, f"{name}Notification", json.loads(effect.data))
            assert message["params"]["_meta"] == {ID: "s"}
            kinds.append(name)
    assert kinds == ["ResourceUpdated", "ToolListChanged", "ResourceListChanged"]


@pytest.mark.parametrize("cancels", [True, False])
def test_streams_end_with_their_answers(cancels: bool) -> None:
    session = Session(image())
    for identifier in ("one", 2):
        listen(session, identifier, toolsListChanged=True)
    effects = close_listening(session, cancels)
    messages = decoded(effects)
    expected = []
    for identifier in ("one", 2):
        expected += [("notifications/cancelled", identifier)] if cancels else []
        expected.append((None, identifier))
    assert [(one.get("method"), one.get("id", one.get("params", {}).get("requestId"))) for one in messages] == expected
    for message in messages:
        if "method" in message:
            valid(STATELESS, "CancelledNotification", message)
            assert message["params"]["_meta"] == {ID: message["params"]["requestId"]}
        else:
            valid(STATELESS, "JSONRPCResultResponse", message)
            valid(STATELESS, "SubscriptionsListenResult", message["result"])
            assert message["result"]["_meta"][ID] == message["id"] and message["result"]["resultType"] == "complete"
    finals = [effect for effect in effects if type(effect) is SendResponse]
    assert [effect.request.identifier for effect in finals] == ["one", 2]  # type: ignore[union-attr]
    assert session.listening == {} and close_listening(session, cancels) == [] and told(session) == []
