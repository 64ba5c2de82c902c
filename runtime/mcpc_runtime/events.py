"""Changes from one server to all others that serve the same: what is published by one is told by each to its clients.

Redis or Valkey passes them on.  Two threads do it, one that says and one that listens; neither holds up the server, and
what is said while Redis is away is lost: clients that must know look for themselves.  What happens to tasks is told by
what keeps them (`mcpc_runtime.tasks`), and not here a second time.
"""

from __future__ import annotations

import posix
from _queue import SimpleQueue
from _thread import start_new_thread
from time import monotonic, sleep

from mcpc_runtime.errors import tell
from mcpc_runtime.protocol.effects import Publish
from mcpc_runtime.protocol.jsonrpc import ParseError, encode, parse
from mcpc_runtime.redis import connect, failures, without_secrets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

KINDS = ("resource", "tools", "prompts", "resources", "session", "message")
MOST_WAITING = 1000
"""So many changes wait to be said; more are dropped while Redis is slow."""
LISTEN_SECONDS = 1.0
AGAIN_SECONDS = 1.0
TOLD_SECONDS = 30.0
LONGEST = {"message": 1 << 20}
LONGEST_URI = 4096
"""Characters of what a change is of: a message of a client may have more."""


class Events:
    """Carries changes: `publish` those of this server, `deliver` (called from another thread) gets those of others.

    `name`: that of the server; servers of one name at one Redis are told of each other's changes.
    """

    def __init__(self, url: str, name: str, archive: str, deliver: Callable[[Publish], None]) -> None:
        self._url = url
        self._redis: Any = connect(url, archive)
        self._errors = failures()
        self._channel = f"mcpc:{{{name}}}:changes"
        self._origin = posix.urandom(8).hex()
        self._deliver = deliver
        self._waiting: SimpleQueue[bytes | None] = SimpleQueue()
        self._told = 0.0
        self._ended = False
        self.listens = False
        start_new_thread(self._say, ())
        start_new_thread(self._listen, ())

    def publish(self, event: Publish) -> None:
        """Have the other servers told of a change."""
        if event.kind in KINDS and self._waiting.qsize() < MOST_WAITING:
            self._waiting.put(encode({"from": self._origin, "kind": event.kind, "uri": event.uri}))

    def close(self) -> None:
        """Say no more, and listen no more."""
        self._ended = True
        self._waiting.put(None)

    def _say(self) -> None:
        while not self._ended:
            message = self._waiting.get()
            if message is None:
                return
            try:
                self._redis.publish(self._channel, message)
            except self._errors as problem:
                self._warn(problem)

    def _listen(self) -> None:
        while not self._ended:
            heard = self._redis.pubsub(ignore_subscribe_messages=True)
            try:
                heard.subscribe(self._channel)
                self._hear(heard)
            except self._errors as problem:
                self._warn(problem)
                sleep(AGAIN_SECONDS)
            finally:
                self.listens = False
                heard.close()

    def _hear(self, heard: Any) -> None:
        heard.ping()
        while not self._ended:
            message = heard.get_message(timeout=LISTEN_SECONDS)
            self.listens = True
            event = None if message is None else self._event(message.get("data"))
            if event is not None:
                self._deliver(event)

    def _event(self, data: object) -> Publish | None:
        """Return the change that a message tells of; None for one of our own, or for what nobody of us says."""
        try:
            said = parse(data) if isinstance(data, bytes) else None
        except ParseError:
            return None
        if type(said) is not dict or said.get("from") == self._origin:
            return None
        kind, uri = said.get("kind"), said.get("uri")
        if kind not in KINDS or type(uri) is not str or len(uri) > LONGEST.get(str(kind), LONGEST_URI):
            return None
        return Publish(str(kind), uri)

    def _warn(self, problem: Exception) -> None:
        """Say what is wrong, not too often."""
        now = monotonic()
        if now >= self._told and not self._ended:
            self._told = now + TOLD_SECONDS
            tell(f"events: Redis: {without_secrets(problem, self._url)}")
