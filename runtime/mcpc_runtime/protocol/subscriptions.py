"""Who is told what changed: clients of the handshake era by what they watch, streams of the stateless one by a filter.

Nothing is sent that was not asked for and promised.  A stream begins with what of its filter is honoured, everything
on it carries the id of the request that opened it, and it ends with that request's answer or without a word.
"""

from __future__ import annotations

from mcpc_runtime.lazy import lazy
from mcpc_runtime.protocol.effects import Call, Failure, Look, Say, Send
from mcpc_runtime.protocol.facts import (
    CAPABILITIES_KEY,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    SUBSCRIPTION_KEY,
    TASKS_EXTENSION,
)
from mcpc_runtime.protocol.jsonrpc import encode, notification_line, result_line
from mcpc_runtime.protocol.resources import find, locate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.protocol.effects import Effect, Publish, Request, ResourceOutcome
    from mcpc_runtime.protocol.jsonrpc import Json
    from mcpc_runtime.protocol.ports import Image, Wire
    from mcpc_runtime.protocol.session_state import SessionState
    from mcpc_runtime.protocol.tasks import missing, seen_by
else:
    missing = lazy("mcpc_runtime.protocol.tasks:missing")
    seen_by = lazy("mcpc_runtime.protocol.tasks:seen_by")

MOST_WATCHED = 1000
"""So many resources a conversation may watch, and a stream's filter may name."""
KEPT_COST = 200
"""What it takes to keep a uri, beside its characters."""
NO_ROOM = "the server keeps as much as it may: try again in a moment"
LONGEST_TASK_ID = 200
"""No task has a longer id (`tasks.MOST_LETTERS`)."""
MOST_STREAMS = 1000
"""So many streams a conversation may have open."""
LISTS = {"tools": "toolsListChanged", "prompts": "promptsListChanged", "resources": "resourcesListChanged"}
"""By the list that changes: how a filter asks for that."""
WATCHED, TASKS = "resourceSubscriptions", "taskIds"
FORMAT, UNTOLD = "mcp_bash", frozenset({"mcp_bash_resource"})
"""What the index calls a format whose resources change without anybody's telling, and their contracts."""
NAMING, NAMED, NAMES = "mcp-bash", "subscriptionId", "sub-"
"""The dialect whose subscriptions have names, where a name stands, and how it begins."""
UPDATED, ACKNOWLEDGED = "notifications/resources/updated", "notifications/subscriptions/acknowledged"


def subscribe(session: SessionState, request: Request) -> bytes | Failure | Call:
    """Have the client told when a resource changes; one whose changes nobody tells is read first, to compare it."""
    found = find(session.image, request)
    if isinstance(found, Failure):
        return found
    uri = str(request.params["uri"])
    if len(session.watched) >= MOST_WATCHED and uri not in session.watched:
        return Failure(INVALID_PARAMS, f"Invalid params: {MOST_WATCHED} resources are watched, and no more can be")
    definition, arguments = found
    if definition.contract in UNTOLD:
        return Call(request, definition, arguments)
    if not watch(session, uri):
        return Failure(INTERNAL_ERROR, f"Internal error: {NO_ROOM}")
    return named(session.image, uri)


def watch(session: SessionState, uri: str) -> bool:
    """Watch a resource; False if the transport has no room for its uri."""
    if uri not in session.watched and session.account is not None and not session.account.charge(len(uri) + KEPT_COST):
        return False
    session.watched[uri] = None
    return True


def subscribed(call: Call, outcome: ResourceOutcome) -> bytes | Failure:
    """Have the client told when a resource changes that was read; a failure if there is no room to watch it."""
    session, uri = call.request.session, str(call.request.params["uri"])
    if not watch(session, uri):
        return Failure(INTERNAL_ERROR, f"Internal error: {NO_ROOM}")
    return named(session.image, uri)


def named(image: Image, uri: str) -> bytes:
    """Return the result of a subscription: its name, if clients were written for a server that gives it one."""
    return encode({NAMED: NAMES + uri}) if names_subscriptions(image) else b"{}"


def names_subscriptions(image: Image) -> bool:
    """Tell whether clients were written for a server that gives each subscription a name."""
    said = image.index.get(FORMAT)
    return said is not None and said.get("dialect") == NAMING


def unsubscribe(session: SessionState, request: Request) -> bytes | Failure:
    """Have the client told no more; whether it was told before does not matter."""
    name = request.params.get(NAMED)
    if type(name) is str and "uri" not in request.params and names_subscriptions(session.image):
        session.watched.pop(name.removeprefix(NAMES), None)
        return b"{}"
    found = find(session.image, request)
    if isinstance(found, Failure):
        return found
    uri = str(request.params["uri"])
    if uri in session.watched:
        del session.watched[uri]
        if session.account is not None:
            session.account.release(len(uri) + KEPT_COST)
    return b"{}"


def listen(session: SessionState, request: Request) -> list[Effect] | Failure:
    """Open a stream: say what of its filter is honoured, and answer nothing until it ends."""
    wanted = request.params.get("notifications")
    if len(session.listening) >= MOST_STREAMS:
        return Failure(INVALID_PARAMS, f"Invalid params: {MOST_STREAMS} streams are open, and no more can be")
    if type(wanted) is not dict:
        return Failure(INVALID_PARAMS, "Invalid params: `notifications` must be an object")
    problem = misshapen(wanted)
    if problem:
        return Failure(INVALID_PARAMS, f"Invalid params: `notifications.{problem}")
    if wanted.get(TASKS) and knows_tasks(request.wire.capabilities()) and not knows_tasks(client_capabilities(request)):
        refusal: Failure = missing()
        return refusal
    filtered = honoured(session.image, request, wanted)
    request.params["notifications"] = filtered  # all that is kept of what was asked for
    session.listening[request.identifier] = request
    looking = [Look()] if WATCHED in filtered and FORMAT in session.image.index else []
    return [on_stream(session, request, ACKNOWLEDGED, {"notifications": filtered}), *looking]


def misshapen(wanted: dict[str, Json]) -> str:
    """Return what of a filter is not what it has to be, or nothing."""
    for member in LISTS.values():
        if type(wanted.get(member, False)) is not bool:
            return f"{member}` must be true or false"
    for member in (WATCHED, TASKS):
        texts = wanted.get(member, [])
        if type(texts) is not list or len(texts) > MOST_WATCHED or any(type(text) is not str for text in texts):
            return f"{member}` must be a list of at most {MOST_WATCHED} strings"
        longest = max(map(len, texts), default=0) if member == TASKS else 0  # type: ignore[arg-type]
        if longest > LONGEST_TASK_ID:
            return f"{member}` must be ids of at most {LONGEST_TASK_ID} characters"
    return ""


def honoured(image: Image, request: Request, wanted: dict[str, Json]) -> dict[str, Json]:
    """Return the part of a filter that this server will act on."""
    capabilities = request.wire.capabilities()
    filtered: dict[str, Json] = {
        member: True for kind, member in LISTS.items() if wanted.get(member) and can(capabilities, kind, "listChanged")
    }
    if wanted.get(WATCHED) and can(capabilities, "resources", "subscribe"):
        filtered[WATCHED] = [uri for uri in wanted[WATCHED] if is_resource(image, uri)]  # type: ignore[union-attr]
    if wanted.get(TASKS) and knows_tasks(capabilities) and knows_tasks(client_capabilities(request)):
        filtered[TASKS] = wanted[TASKS]
    return filtered


def can(capabilities: dict[str, Json], kind: str, what: str) -> bool:
    """Tell whether clients are promised something about a kind of definition."""
    promised = capabilities.get(kind)
    return type(promised) is dict and promised.get(what) is True


def knows_tasks(capabilities: Json) -> bool:
    """Tell whether capabilities, of either side, have tasks."""
    extensions = capabilities.get("extensions") if type(capabilities) is dict else None
    return type(extensions) is dict and TASKS_EXTENSION in extensions


def client_capabilities(request: Request) -> Json:
    """Return what the client of a stateless request says it can do."""
    meta = request.params.get("_meta")
    return meta.get(CAPABILITIES_KEY) if type(meta) is dict else None


def is_resource(image: Image, uri: Json) -> bool:
    """Tell whether this is the uri of something that can be read."""
    try:
        return locate(image, uri) is not None
    except ValueError:
        return False


def on_stream(session: SessionState, request: Request, method: str, params: dict[str, Json]) -> Say:
    """Return a notification on the stream that a request opened."""
    meta: Json = {SUBSCRIPTION_KEY: request.identifier}
    return Say(notification_line(method, {**params, "_meta": meta}), session, request)


def changed(session: SessionState, event: Publish) -> list[Effect]:
    """Return what a conversation is told of a change."""
    if event.kind == "task":
        task = seen_by(session, event)
        return [] if task is None else status_event(session, event.uri, task)
    effects: list[Effect] = []
    method = UPDATED if event.kind == "resource" else f"notifications/{event.kind}/list_changed"
    params: dict[str, Json] = {"uri": event.uri} if event.kind == "resource" else {}
    if wants(session, event):
        effects.append(Say(notification_line(method, params), session))
    for request in session.listening.values():
        if admits(request, event):
            effects.append(on_stream(session, request, method, params))
    return effects


def wants(session: SessionState, event: Publish) -> bool:
    """Tell whether a client of the handshake era is told: of what it watches, and of lists if that was promised."""
    if event.kind == "resource":
        return event.uri in session.watched
    return session.wire is not None and can(session.wire.capabilities(), event.kind, "listChanged")


def admits(request: Request, event: Publish) -> bool:
    """Tell whether a stream's filter lets an event through."""
    if event.kind == "resource":
        return event.uri in kept(request, WATCHED)
    return event.kind in LISTS and LISTS[event.kind] in kept(request, "")


def kept(request: Request, member: str) -> list[Json] | dict[str, Json]:
    """Return a member of a stream's filter, or the whole of it."""
    filtered = request.params["notifications"]
    return filtered.get(member, []) if member and type(filtered) is dict else filtered  # type: ignore[return-value]


def status_event(session: SessionState, task: str, params: dict[str, Json]) -> list[Effect]:
    """Return what streams are told of a task whose status is another one; `params` are the task as it is now."""
    streams = [request for request in session.listening.values() if task in kept(request, TASKS)]
    return [on_stream(session, request, "notifications/tasks", params) for request in streams]


def close_listening(session: SessionState, cancels: bool) -> list[Effect]:
    """End every stream in good order; on a channel that they share (`cancels`) each is called off first."""
    effects: list[Effect] = []
    for identifier, request in session.listening.items():
        if cancels:
            effects.append(on_stream(session, request, "notifications/cancelled", {"requestId": identifier}))
        effects.append(Send(result_line(identifier, closing(request.wire, identifier)), request))
    session.listening.clear()
    return effects


def closing(wire: Wire, identifier: str | int) -> bytes:
    """Return the result with which a stream ends."""
    return wire.seal({}, {SUBSCRIPTION_KEY: identifier})
