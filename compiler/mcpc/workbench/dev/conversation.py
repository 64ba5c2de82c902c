"""State of a client's conversation that the next server needs, and its unanswered requests.

Messages of the client are not rewritten. Requests that are repeated for it get new ids, and their answers are not
passed on; only a stream is reopened with its original id, because its messages contain that id.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcpc.workbench.dev.messages import (
    FILTERS,
    answered_requests,
    encode_message,
    id_key,
    list_changed,
    notification,
    params_of,
    parse_messages,
)
from mcpc_runtime.protocol.constants import LOG_LEVELS, SUBSCRIPTION_KEY

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcpc.workbench.dev.messages import Message

ACKNOWLEDGED = b'{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged"'
LISTEN, LIST = "subscriptions/listen", "tools/list"


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
