"""Change notifications: handshake-era clients watch resources, stateless clients open streams with a filter.

Only what was requested and promised is sent. A stream begins with the honoured part of its filter, every message on it
has the id of the request that opened it, and it ends with the response to that request or without a response.
"""

from __future__ import annotations

from mcpc_runtime.lazy import resolve
from mcpc_runtime.protocol.constants import (
    CAPABILITIES_KEY,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    SUBSCRIPTION_KEY,
    TASKS_EXTENSION,
)
from mcpc_runtime.protocol.effects import (
    Call,
    Effect,
    Failure,
    PublishChange,
    ResourceOutcome,
    SendMessage,
    SessionState,
    StartPolling,
)
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.protocol.jsonrpc import Json, encode, notification_line, result_line
from mcpc_runtime.protocol.requests import Request, SendResponse
from mcpc_runtime.protocol.resources import find_resource, locate_uri
from mcpc_runtime.protocol.tasks import missing_extension, visible_task

MAX_WATCHED = 1000
"""Maximum number of resources that a conversation may watch and a stream's filter may name."""
WATCH_COST = 200
"""Bytes that storing a URI takes, besides its characters."""
NO_ROOM = "the server's memory limit is reached: try again in a moment"
MAX_TASK_ID_LENGTH = 200
"""No task has a longer id (`tasks.MAX_ID_LENGTH`)."""
MAX_STREAMS = 1000
"""Maximum number of open streams of a conversation."""
LISTS = {"tools": "toolsListChanged", "prompts": "promptsListChanged", "resources": "resourcesListChanged"}
"""By the list that changes: the member of a filter that requests it."""
WATCHED, TASKS = "resourceSubscriptions", "taskIds"
NAME_MEMBER, NAME_PREFIX = "subscriptionId", "sub-"
"""The member that contains the name of a subscription, and the prefix of the name."""
UPDATED, ACKNOWLEDGED = "notifications/resources/updated", "notifications/subscriptions/acknowledged"


def subscribe(session: SessionState, request: Request) -> bytes | Failure | Call:
    """Subscribe the client to changes of a resource; a polled resource is read first, to compare it later."""
    resource = find_resource(session.image, request)
    if isinstance(resource, Failure):
        return resource
    uri = str(request.params["uri"])
    if len(session.watched) >= MAX_WATCHED and uri not in session.watched:
        return Failure(INVALID_PARAMS, f"Invalid params: at most {MAX_WATCHED} resources can be subscribed to")
    definition, arguments = resource
    if any(resolve(row)(definition) for row in session.image.hooks("is_polled")):
        return Call(request, definition, arguments)
    if not watch(session, uri):
        return Failure(INTERNAL_ERROR, f"Internal error: {NO_ROOM}")
    return subscription_result(session.image, uri)


def watch(session: SessionState, uri: str) -> bool:
    """Watch a resource; return False if the transport has no room for its URI."""
    if uri not in session.watched and session.account is not None and not session.account.charge(len(uri) + WATCH_COST):
        return False
    session.watched[uri] = None
    return True


def finish_subscription(call: Call, outcome: ResourceOutcome) -> bytes | Failure:
    """Subscribe the client to a resource that was read; return a failure if there is no room to watch it."""
    session, uri = call.request.session, str(call.request.params["uri"])
    if not watch(session, uri):
        return Failure(INTERNAL_ERROR, f"Internal error: {NO_ROOM}")
    return subscription_result(session.image, uri)


def subscription_result(image: Image, uri: str) -> bytes:
    """Return the result of a subscription: its name, if the server's clients expect one."""
    return encode({NAME_MEMBER: NAME_PREFIX + uri}) if names_subscriptions(image) else b"{}"


def names_subscriptions(image: Image) -> bool:
    """Tell whether the server's clients expect a name for each subscription."""
    return any(resolve(row)(image) for row in image.hooks("names_subscriptions"))


def unsubscribe(session: SessionState, request: Request) -> bytes | Failure:
    """Remove a subscription, if there is one."""
    name = request.params.get(NAME_MEMBER)
    if type(name) is str and "uri" not in request.params and names_subscriptions(session.image):
        return unwatch(session, name.removeprefix(NAME_PREFIX))
    resource = find_resource(session.image, request)
    return resource if isinstance(resource, Failure) else unwatch(session, str(request.params["uri"]))


def unwatch(session: SessionState, uri: str) -> bytes:
    """Watch a resource no longer, if it was watched; return the result of the request."""
    if uri in session.watched:
        del session.watched[uri]
        if session.account is not None:
            session.account.release(len(uri) + WATCH_COST)
    return b"{}"


def listen(session: SessionState, request: Request) -> list[Effect] | Failure:
    """Open a stream: send the honoured part of its filter; the response follows when the stream ends."""
    requested = request.params.get("notifications")
    if len(session.listening) >= MAX_STREAMS:
        return Failure(INVALID_PARAMS, f"Invalid params: at most {MAX_STREAMS} streams can be open")
    if type(requested) is not dict:
        return Failure(INVALID_PARAMS, "Invalid params: `notifications` must be an object")
    problem = filter_problem(requested)
    if problem:
        return Failure(INVALID_PARAMS, f"Invalid params: `notifications.{problem}")
    if (
        requested.get(TASKS)
        and knows_tasks(request.wire.capabilities())
        and not knows_tasks(declared_capabilities(request))
    ):
        refusal: Failure = missing_extension()
        return refusal
    filtered = honoured_filter(session.image, request, requested)
    request.params["notifications"] = filtered  # only the honoured part is stored
    session.listening[request.identifier] = request
    polling = [StartPolling()] if WATCHED in filtered and session.image.hooks("poll_resources") else []
    return [stream_message(session, request, ACKNOWLEDGED, {"notifications": filtered}), *polling]


def filter_problem(requested: dict[str, Json]) -> str:
    """Return which member of a filter is malformed, or an empty string."""
    for member in LISTS.values():
        if type(requested.get(member, False)) is not bool:
            return f"{member}` must be true or false"
    for member in (WATCHED, TASKS):
        items = requested.get(member, [])
        if type(items) is not list or len(items) > MAX_WATCHED or any(type(text) is not str for text in items):
            return f"{member}` must be a list of at most {MAX_WATCHED} strings"
        # A longer URI is no resource, and is left out as such.
        longest = max((len(text) for text in items if type(text) is str), default=0) if member == TASKS else 0
        if longest > MAX_TASK_ID_LENGTH:
            return f"{member}` must be ids of at most {MAX_TASK_ID_LENGTH} characters"
    return ""


def honoured_filter(image: Image, request: Request, requested: dict[str, Json]) -> dict[str, Json]:
    """Return the part of a filter that this server will act on."""
    capabilities = request.wire.capabilities()
    filtered: dict[str, Json] = {
        member: True
        for kind, member in LISTS.items()
        if requested.get(member) and promises(capabilities, kind, "listChanged")
    }
    watched = requested.get(WATCHED)
    if type(watched) is list and watched and promises(capabilities, "resources", "subscribe"):
        filtered[WATCHED] = [uri for uri in watched if is_resource(image, uri)]
    if requested.get(TASKS) and knows_tasks(capabilities) and knows_tasks(declared_capabilities(request)):
        filtered[TASKS] = requested[TASKS]
    return filtered


def promises(capabilities: dict[str, Json], kind: str, feature: str) -> bool:
    """Tell whether the server capabilities promise a feature of a kind of definition."""
    promised = capabilities.get(kind)
    return type(promised) is dict and promised.get(feature) is True


def knows_tasks(capabilities: Json) -> bool:
    """Tell whether capabilities, of either side, include tasks."""
    extensions = capabilities.get("extensions") if type(capabilities) is dict else None
    return type(extensions) is dict and TASKS_EXTENSION in extensions


def declared_capabilities(request: Request) -> Json:
    """Return the capabilities that the client of a stateless request declares."""
    meta = request.params.get("_meta")
    return meta.get(CAPABILITIES_KEY) if type(meta) is dict else None


def is_resource(image: Image, uri: Json) -> bool:
    """Tell whether this is the URI of a resource that can be read."""
    try:
        return locate_uri(image, uri) is not None
    except ValueError:
        return False


def stream_message(session: SessionState, request: Request, method: str, params: dict[str, Json]) -> SendMessage:
    """Return a notification on the stream that a request opened."""
    meta: Json = {SUBSCRIPTION_KEY: request.identifier}
    return SendMessage(notification_line(method, {**params, "_meta": meta}), session, request)


def change_messages(session: SessionState, event: PublishChange) -> list[Effect]:
    """Return the notifications of a change for a conversation."""
    if event.kind == "task":
        task = visible_task(session, event)
        return [] if task is None else task_messages(session, event.uri, task)
    effects: list[Effect] = []
    method = UPDATED if event.kind == "resource" else f"notifications/{event.kind}/list_changed"
    params: dict[str, Json] = {"uri": event.uri} if event.kind == "resource" else {}
    if is_notified(session, event):
        effects.append(SendMessage(notification_line(method, params), session))
    for request in session.listening.values():
        if filter_admits(request, event):
            effects.append(stream_message(session, request, method, params))
    return effects


def is_notified(session: SessionState, event: PublishChange) -> bool:
    """Tell whether a handshake-era client is notified: of watched resources, and of lists if that was promised."""
    if event.kind == "resource":
        return event.uri in session.watched
    return session.wire is not None and promises(session.wire.capabilities(), event.kind, "listChanged")


def filter_admits(request: Request, event: PublishChange) -> bool:
    """Tell whether a stream's filter includes an event."""
    if event.kind == "resource":
        return event.uri in filter_member(request, WATCHED)
    return event.kind in LISTS and LISTS[event.kind] in filter_member(request, "")


def filter_member(request: Request, member: str) -> list[Json] | dict[str, Json]:
    """Return a member of a stream's filter, or the whole filter."""
    filtered = request.params["notifications"]
    value = filtered.get(member) if member and type(filtered) is dict else filtered
    return value if type(value) is list or type(value) is dict else []


def task_messages(session: SessionState, task: str, params: dict[str, Json]) -> list[Effect]:
    """Return the notifications of a task's new status for the streams; `params` are the task as it is now."""
    streams = [request for request in session.listening.values() if task in filter_member(request, TASKS)]
    return [stream_message(session, request, "notifications/tasks", params) for request in streams]


def close_listening(session: SessionState, cancels: bool) -> list[Effect]:
    """End every stream with its response; on a shared channel (`cancels`) each is cancelled first."""
    effects: list[Effect] = []
    for identifier, request in session.listening.items():
        if cancels:
            effects.append(stream_message(session, request, "notifications/cancelled", {"requestId": identifier}))
        effects.append(
            SendResponse(result_line(identifier, request.wire.seal({}, {SUBSCRIPTION_KEY: identifier})), request)
        )
    session.listening.clear()
    return effects
