"""Messages that the proxy sends itself, and the state of a client's conversation that the next server needs.

Only client messages are parsed completely, and none is rewritten. Of a server line only the beginning is parsed, and
its bytes are passed on. Requests that are repeated for the client get new ids, and their answers are not passed on;
only a stream is reopened with its original id, because its messages contain that id.
"""

from __future__ import annotations

import json
import re
import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mcpc.frontends import BuildOutcome, frontends_of
from mcpc_runtime.protocol.constants import INTERNAL_ERROR, LOG_LEVELS, SUBSCRIPTION_KEY, VERSION_KEY

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from mcpc.frontends import ReloadTool
    from mcpc.workbench.dev.building import BuildFacts, BuildResult


Message = dict[str, Any]
RELOAD = "mcpc_reload"
"""The tool by which a client requests a build."""
# As built servers write an answer: these members first, in this order, without spaces.
RESPONSE_HEAD = re.compile(rb'\{"jsonrpc":"2\.0","id":(-?\d+|"(?:[^"\\]|\\.)*"),"(result|error)":')
LISTS = {"tools": "tools", "prompts": "prompts", "resources": "resources", "resourceTemplates": "resources"}
"""The kind of list-changed notification, by list of a built file."""
FILTERS = {"tools": "toolsListChanged", "prompts": "promptsListChanged", "resources": "resourcesListChanged"}
ACKNOWLEDGED = b'{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged"'
LISTEN, LIST = "subscriptions/listen", "tools/list"


def parse_messages(line: bytes) -> list[Message]:
    """Return the messages of a client's line; none if the server should report what is wrong with it."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return []
    return [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, dict)]


def id_key(identifier: object) -> str:
    """Return the key of a request id: `1` and `"1"` differ."""
    return json.dumps(identifier)


def answered_requests(line: bytes) -> list[tuple[str, bool]]:
    """Return the requests that a server's line answers, each with its success."""
    head = RESPONSE_HEAD.match(line)
    if head:
        return [(id_key(json.loads(head[1])), head[2] == b"result")]
    if not line.startswith(b"["):
        return []
    return [
        (id_key(item["id"]), "result" in item) for item in parse_messages(line) if "id" in item and "method" not in item
    ]


def encode_message(message: Message) -> bytes:
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace") + b"\n"


def error_response(identifier: object, why: str) -> bytes:
    """Return the error response for a request whose server has ended."""
    return encode_message({"jsonrpc": "2.0", "id": identifier, "error": {"code": INTERNAL_ERROR, "message": why}})


def notification(method: str, params: Message) -> bytes:
    return encode_message({"jsonrpc": "2.0", "method": method, "params": params})


def list_changed(kind: str, stream: object = None) -> bytes:
    """Return the notification of a changed list; on a stream it names the request that opened it."""
    params = {} if stream is None else {"_meta": {SUBSCRIPTION_KEY: stream}}
    return notification(f"notifications/{kind}/list_changed", params)


def changed_lists(earlier: BuildFacts, later: BuildFacts) -> list[str]:
    """Return the kinds of lists that differ between two builds."""
    changed = {kind for name, kind in LISTS.items() if earlier.lists.get(name) != later.lists.get(name)}
    return sorted(changed)


def added_tools(build: BuildResult) -> list[Message]:
    """Return the tools that are added to the project's own."""
    tool = {
        "description": "Rebuild this server from its sources, and serve the new build if it succeeds.",
        "inputSchema": {"type": "object", "properties": {}, "additionalProperties": False},
    }
    return [{"name": name, **tool} for name in reload_tool_names(build) if name not in build.facts.names]


def reload_tool_names(build: BuildResult) -> list[str]:
    """Return the names of tools that request a build; a project's own tool of that kind is not run."""
    own = [] if RELOAD in build.facts.names else [RELOAD]
    theirs = reload_tool(build.facts)
    return own if theirs is None else [*own, theirs.name]


def reload_tool(facts: BuildFacts) -> ReloadTool | None:
    """Return the tool by which projects of a format request a build, or None."""
    return next((item.reload for item in frontends_of(facts.format) if item.reload is not None), None)


def extend_tool_list(line: bytes, build: BuildResult) -> bytes:
    """Return the last page of `tools/list` with the added tools; other pages unchanged."""
    more = added_tools(build)
    message = json.loads(line) if more else {}
    result = message.get("result", {})
    if "nextCursor" in result or not isinstance(result.get("tools"), list):
        return line
    result["tools"] += more
    return encode_message(message)


def reload_result(request: Message, build: BuildResult, project: Path, tool: ReloadTool | None) -> bytes:
    """Return the result of a build request, in the form of the project's own `tool` if it has one."""
    if tool is None:
        first = build.summary if build.path is not None else "the build failed; the last successful build keeps serving"
        text = "\n\n".join(filter(None, [first, build.output]))
    else:
        count = len(build.facts.names)
        text = tool.answer(BuildOutcome(build.path is not None, build.output, build.status, count, project))
    result: Message = {"content": [{"type": "text", "text": text}]}
    if build.path is None:
        result["isError"] = True
    if is_stateless(request):
        result["resultType"] = "complete"
    return encode_message({"jsonrpc": "2.0", "id": request["id"], "result": result})


def is_stateless(request: Message) -> bool:
    """Tell whether a request states its protocol version itself."""
    meta = params_of(request).get("_meta")
    return isinstance(meta, dict) and VERSION_KEY in meta


def params_of(message: Message) -> Message:
    """Return the parameters of a message, if they are an object."""
    params = message.get("params")
    return params if isinstance(params, dict) else {}


@dataclass(slots=True)
class Conversation:
    """The state of one client's conversation.

    `open`: unanswered requests; `streams`: subscriptions of the stateless era; the other fields are the state of the
    handshake era: `greeting` (the initialize request), whether the handshake is complete, log level, and subscribed
    resources.
    """

    open: dict[str, Message] = field(default_factory=dict)
    streams: dict[str, Message] = field(default_factory=dict)
    greeting: Message | None = None
    is_greeted: bool = False
    level: Message | None = None
    watched: dict[str, Message] = field(default_factory=dict)
    _replayed: set[str] = field(default_factory=set)
    _reopened: set[str] = field(default_factory=set)
    _token: str = field(default_factory=lambda: secrets.token_hex(8))
    _count: int = 0

    def record_sent(self, batch: Sequence[Message]) -> None:
        """Record a message that was sent to the server."""
        for message in batch:
            method = message.get("method")
            if method == "notifications/cancelled":
                cancelled = id_key(params_of(message).get("requestId"))
                self.open.pop(cancelled, None)
                self.streams.pop(cancelled, None)
            elif method == "notifications/initialized":
                self.is_greeted = True
            elif method == LISTEN and "id" in message:
                self.streams[id_key(message["id"])] = message
            elif isinstance(method, str) and "id" in message:
                self.open[id_key(message["id"])] = message

    def must_wait(self, batch: Sequence[Message]) -> bool:
        """Tell whether a line contains a request, or cancels one that has not been sent."""
        for message in batch:
            if "method" in message and "id" in message:
                return True
            if message.get("method") == "notifications/cancelled":
                cancelled = id_key(params_of(message).get("requestId"))
                return cancelled not in self.open and cancelled not in self.streams
        return False

    def record_received(self, line: bytes) -> tuple[bool, bool]:
        """Process a server message; return whether to forward it, and whether it is a tool list."""
        if self._reopened and line.startswith(ACKNOWLEDGED):
            meta = params_of(parse_messages(line)[0]).get("_meta", {})
            stream = id_key(meta.get(SUBSCRIPTION_KEY))
            is_known = stream in self._reopened
            self._reopened.discard(stream)
            return not is_known, False
        listed = False
        for identifier, is_done in answered_requests(line):
            if identifier in self._replayed:
                self._replayed.remove(identifier)
                return False, False
            self.streams.pop(identifier, None)
            self._reopened.discard(identifier)
            request = self.open.pop(identifier, None)
            if request is not None and is_done:
                self._remember(request)
                listed = request["method"] == LIST and not line.startswith(b"[")
        return True, listed

    def _remember(self, request: Message) -> None:
        method, uri = request["method"], str(params_of(request).get("uri"))
        if method == "initialize":
            # A new handshake begins without a level and without subscriptions.
            self.greeting, self.level = request, None
            self.watched.clear()
        elif method == "logging/setLevel":
            self.level = request
        elif method == "resources/subscribe":
            self.watched[uri] = request
        elif method == "resources/unsubscribe":
            self.watched.pop(uri, None)

    def replayed_messages(self) -> Iterator[bytes]:
        """Yield the messages that a new server needs first."""
        self._replayed.clear()
        for request in (self.greeting, self.level, *self.watched.values()):
            if request is not None:
                self._count += 1
                identifier = f"mcpc dev {self._token} {self._count}"
                self._replayed.add(id_key(identifier))
                yield encode_message({**request, "id": identifier})
            if request is self.greeting and self.is_greeted:
                yield encode_message({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self._reopened = set(self.streams)
        yield from (encode_message(request) for request in self.streams.values())

    def change_notifications(self, kinds: Sequence[str]) -> Iterator[bytes]:
        """Yield notifications of changed lists: always in the handshake era, else on subscribed streams."""
        for kind in kinds:
            if self.greeting is not None:
                yield list_changed(kind)
            for request in self.streams.values():
                wanted = params_of(request).get("notifications")
                if isinstance(wanted, dict) and wanted.get(FILTERS[kind]) is True:
                    yield list_changed(kind, request["id"])

    def problem_notifications(self, text: str) -> Iterator[bytes]:
        """Yield the log message of a problem if the client's log level includes it."""
        level = params_of(self.level or {}).get("level")
        if level in LOG_LEVELS and LOG_LEVELS.index(level) <= LOG_LEVELS.index("error"):
            yield notification("notifications/message", {"level": "error", "logger": "mcpc dev", "data": text})
