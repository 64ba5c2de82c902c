"""What a server owes for what it was sent, reckoned without it, and whether what it says is what its revision says."""

import json
from typing import Any

from support.messages import valid

NOBODY = "null"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
NEEDED = {"elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots"}
RESULTS = {
    "completion/complete": "CompleteResult", "initialize": "InitializeResult", "logging/setLevel": "EmptyResult",
    "ping": "EmptyResult", "prompts/get": "GetPromptResult", "prompts/list": "ListPromptsResult",
    "resources/list": "ListResourcesResult", "resources/read": "ReadResourceResult",
    "resources/subscribe": "EmptyResult", "resources/templates/list": "ListResourceTemplatesResult",
    "resources/unsubscribe": "EmptyResult", "server/discover": "DiscoverResult",
    "subscriptions/listen": "SubscriptionsListenResult", "tools/call": "CallToolResult",
    "tools/list": "ListToolsResult",
}  # fmt: skip
REQUESTS = {
    "elicitation/create": "ElicitRequest",
    "roots/list": "ListRootsRequest",
    "sampling/createMessage": "CreateMessageRequest",
}
NOTIFICATIONS = {
    "notifications/cancelled": "CancelledNotification", "notifications/message": "LoggingMessageNotification",
    "notifications/progress": "ProgressNotification",
    "notifications/prompts/list_changed": "PromptListChangedNotification",
    "notifications/resources/updated": "ResourceUpdatedNotification",
    "notifications/subscriptions/acknowledged": "SubscriptionsAcknowledgedNotification",
    "notifications/tools/list_changed": "ToolListChangedNotification",
}  # fmt: skip


def key(identifier: object) -> str:
    """Keep 1 and "1" apart."""
    return json.dumps(identifier)


def is_identifier(value: object) -> bool:
    return type(value) is str or type(value) is int


def due(message: Any) -> str | None:
    """Return the id that a message is answered by; None if it is not answered at all."""
    if type(message) is not dict:
        return NOBODY
    if "method" not in message and ("result" in message or "error" in message):
        return None
    identifier = message.get("id")
    if is_identifier(identifier):
        return key(identifier)
    plain = message.get("jsonrpc") == "2.0" and type(message.get("method")) is str
    return None if plain and "id" not in message else NOBODY


def declares(capabilities: Any, method: str, params: Any) -> bool:
    """Tell whether a client said that it can be asked this."""
    needed = NEEDED[method]
    own = capabilities.get(needed) if type(capabilities) is dict else None
    if type(own) is not dict:
        return False
    return params.get("mode") != "url" or type(own.get("url")) is dict


def check(message: Any, version: str, method: str = "") -> None:
    """Raise what is wrong with a message of a revision; `method`: of the request that it answers."""
    if "error" in message:
        if "id" in message and message["id"] is not None:
            valid(version, "JSONRPCError" if version < "2025-11-25" else "JSONRPCErrorResponse", message)
        return
    if "method" in message:
        name = (REQUESTS if "id" in message else NOTIFICATIONS).get(message["method"])
        assert name is not None or message["method"] == "notifications/tasks", message
        if name is not None:
            valid(version, name, message)
        return
    result = message["result"]
    assert type(result) is dict, message
    kind = result.get("resultType", "complete")
    if kind == "input_required":
        valid(version, "InputRequiredResult", result)
    elif kind == "complete" and method in RESULTS:
        valid(version, RESULTS[method], result)
    else:
        assert kind in ("complete", "task"), kind
