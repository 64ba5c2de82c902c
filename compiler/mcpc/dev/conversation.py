"""What a client has said that the next server has to hear, and which of its requests wait for an answer.

Nothing of the client's is rewritten.  What is said again in its name has ids of ours, and the answers go no further;
only a stream is opened again under the id that it has, since everything on it carries that.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcpc.dev.words import FILTERS, answered, encode, key, list_changed, messages, notification, parameters
from mcpc_runtime.protocol.facts import LOG_LEVELS, SUBSCRIPTION_KEY

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcpc.dev.words import Message

ACKNOWLEDGED = b'{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged"'
LISTEN, LIST = "subscriptions/listen", "tools/list"


@dataclass(slots=True)
class Conversation:
    """The state of one client's conversation.

    `open`: requests without an answer; `streams`: subscriptions of the stateless era; the rest is what a client of the
    handshake era said, as far as it was heard: `greeting`, whether that was concluded, the log level, what is watched.
    """

    open: dict[str, Message] = field(default_factory=dict)
    streams: dict[str, Message] = field(default_factory=dict)
    greeting: Message | None = None
    is_greeted: bool = False
    level: Message | None = None
    watched: dict[str, Message] = field(default_factory=dict)
    _ours: set[str] = field(default_factory=set)
    _reopened: set[str] = field(default_factory=set)
    _token: str = field(default_factory=lambda: secrets.token_hex(8))
    _said: int = 0

    def handed_on(self, said: Sequence[Message]) -> None:
        """Remember what the server has been told."""
        for message in said:
            method = message.get("method")
            if method == "notifications/cancelled":
                called_off = key(parameters(message).get("requestId"))
                self.open.pop(called_off, None)
                self.streams.pop(called_off, None)
            elif method == "notifications/initialized":
                self.is_greeted = True
            elif method == LISTEN and "id" in message:
                self.streams[key(message["id"])] = message
            elif isinstance(method, str) and "id" in message:
                self.open[key(message["id"])] = message

    def waits(self, said: Sequence[Message]) -> bool:
        """Tell whether a line has a request in it, or calls off one that has not been handed on."""
        for message in said:
            if "method" in message and "id" in message:
                return True
            if message.get("method") == "notifications/cancelled":
                called_off = key(parameters(message).get("requestId"))
                return called_off not in self.open and called_off not in self.streams
        return False

    def heard(self, line: bytes) -> tuple[bool, bool]:
        """Take in what the server says; return whether it is for the client, and whether it is a list of tools."""
        if self._reopened and line.startswith(ACKNOWLEDGED):
            meta = parameters(messages(line)[0]).get("_meta", {})
            stream = key(meta.get(SUBSCRIPTION_KEY))
            is_known = stream in self._reopened
            self._reopened.discard(stream)
            return not is_known, False
        listed = False
        for identifier, is_done in answered(line):
            if identifier in self._ours:
                self._ours.remove(identifier)
                return False, False
            self.streams.pop(identifier, None)
            self._reopened.discard(identifier)
            request = self.open.pop(identifier, None)
            if request is not None and is_done:
                self._remember(request)
                listed = request["method"] == LIST and not line.startswith(b"[")
        return True, listed

    def _remember(self, request: Message) -> None:
        method, uri = request["method"], str(parameters(request).get("uri"))
        if method == "initialize":
            self.greeting, self.level = request, None
            self.watched.clear()
        elif method == "logging/setLevel":
            self.level = request
        elif method == "resources/subscribe":
            self.watched[uri] = request
        elif method == "resources/unsubscribe":
            self.watched.pop(uri, None)

    def again(self) -> Iterator[bytes]:
        """Yield what a new server has to hear before anything else."""
        self._ours.clear()
        for request in (self.greeting, self.level, *self.watched.values()):
            if request is not None:
                self._said += 1
                identifier = f"mcpc dev {self._token} {self._said}"
                self._ours.add(key(identifier))
                yield encode({**request, "id": identifier})
            if request is self.greeting and self.is_greeted:
                yield encode({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self._reopened = set(self.streams)
        yield from (encode(request) for request in self.streams.values())

    def told_of(self, kinds: Sequence[str]) -> Iterator[bytes]:
        """Yield what a client is told of lists that changed: in the handshake era always, on a stream if it asked."""
        for kind in kinds:
            if self.greeting is not None:
                yield list_changed(kind)
            for request in self.streams.values():
                wanted = parameters(request).get("notifications")
                if isinstance(wanted, dict) and wanted.get(FILTERS[kind]) is True:
                    yield list_changed(kind, request["id"])

    def told_of_problem(self, text: str) -> Iterator[bytes]:
        """Yield the log message of a problem, if the client wants to see any that is as grave."""
        level = parameters(self.level or {}).get("level")
        if level in LOG_LEVELS and LOG_LEVELS.index(level) <= LOG_LEVELS.index("error"):
            yield notification("notifications/message", {"level": "error", "logger": "mcpc dev", "data": text})
