"""The connection to Redis or Valkey: its package and client, and messages about it without secrets.

Change events between replicas over Redis or Valkey: each replica notifies its own clients of them.

Two threads do it, one publishes and one listens; neither blocks the server, and events are lost while Redis is
unavailable: clients that must know poll. Changes of tasks are published by the task stores
(`mcpc_runtime.server.tasks`), not here.
"""

from __future__ import annotations

import sys
from _queue import SimpleQueue
from _thread import start_new_thread
from collections.abc import Callable
from importlib import import_module
from time import monotonic, sleep
from typing import Any
from urllib.parse import unquote

import redis
from redis import exceptions

from mcpc_runtime.artifact.packages import activate_server_packages
from mcpc_runtime.log import log_line
from mcpc_runtime.protocol.effects import PublishChange
from mcpc_runtime.protocol.jsonrpc import ParseError, encode, parse
from mcpc_runtime.transports.platforms import system

SCHEMES = ("redis", "rediss", "unix", "valkey", "valkeys")
NOT_BUNDLED = "this server was built without Redis (`mcpc build --redis`)"
RESPONSE_SECONDS = 3.0
"""Time limit of a response or a connection."""
IDLE_SECONDS = 30
"""A connection that was idle for so long is checked before it is used again."""


class RedisError(Exception):
    """Redis cannot be used; the message contains the reason."""


def is_redis_address(url: str) -> bool:
    """Tell whether this has the scheme of a Redis address."""
    return url.partition(":")[0] in SCHEMES


def connect_redis(url: str, archive: str) -> Any:
    """Return a client that connects when it is first used, and again after a lost connection.

    Nothing is retried automatically: only the caller can decide whether that is correct.
    """
    try:
        client = redis_class(archive)
    except ImportError as problem:
        raise RedisError(why_not_imported(problem)) from None
    redis_url = "redis" + url[len("valkey") :] if url.startswith("valkey") else url
    limits = {"socket_timeout": RESPONSE_SECONDS, "socket_connect_timeout": RESPONSE_SECONDS}
    try:
        return client.from_url(redis_url, retry=None, health_check_interval=IDLE_SECONDS, **limits)
    except ValueError as problem:
        raise RedisError(f"not a Redis address: {hide_secrets(problem, url)}") from None


def redis_class(archive: str) -> Any:
    """Return the client class, from the archive's bundled package if it is not installed; raise ImportError."""
    if sys.version_info < (3, 11, 3):
        # There the package wants another one, for what is not used here; a file may be built by a later 3.11.
        sys.modules.setdefault("async_timeout", import_module("asyncio"))
    # The import at the top is made late (`mcpc.pack.late_imports`): here is where it may fail.
    try:
        return redis.Redis
    except ImportError:
        if not archive:
            raise
        activate_server_packages(archive)
        return redis.Redis


def why_not_imported(problem: ImportError) -> str:
    """Return why the package, or what uses it, cannot be imported: it is not in the file, or lacks something."""
    is_absent = (problem.name or "").partition(".")[0] in ("redis", "mcpc_runtime")
    return NOT_BUNDLED if is_absent else f"the package for Redis cannot be imported: {problem}"


def redis_errors() -> tuple[type[Exception], ...]:
    """Return the exceptions that Redis or its connection raises."""
    return (exceptions.RedisError, OSError)


def hide_secrets(problem: object, url: str) -> str:
    """Return the text of a problem without the password of an address, percent-encoded or decoded."""
    # A word that is not an address has no password, and may be a word of the message.
    text = str(problem).replace(url, "(its address)") if "//" in url else str(problem)
    login, at, _ = url.partition("//")[2].rpartition("@")
    secret = login.partition(":")[2] if at else ""
    for spelling in (secret, unquote(secret)):
        text = text.replace(spelling, "***") if spelling else text
    return text


KINDS = ("resource", "tools", "prompts", "resources", "session", "message")
MAX_QUEUED = 1000
"""Maximum number of changes to publish; further ones are dropped while Redis is slow."""
LISTEN_SECONDS = 1.0
RETRY_SECONDS = 1.0
WARNING_SECONDS = 30.0
MAX_LENGTHS = {"message": 1 << 20}
MAX_URI_LENGTH = 4096
"""Maximum characters of a change's URI; a message of a client may have more."""


class ReplicaEvents:
    """Exchanges changes: `publish` sends those of this server, `deliver` (in another thread) receives those of others.

    `name`: the server's name; servers of one name at one Redis receive each other's changes.
    """

    def __init__(self, url: str, name: str, archive: str, deliver: Callable[[PublishChange], None]) -> None:
        self._url = url
        self._redis: Any = connect_redis(url, archive)
        self._errors = redis_errors()
        self._channel = f"mcpc:{{{name}}}:changes"
        self._origin = system.urandom(8).hex()
        self._deliver = deliver
        self._queue: SimpleQueue[bytes | None] = SimpleQueue()
        self._next_warning = 0.0
        self._ended = False
        self.listens = False
        start_new_thread(self._publish_queued, ())
        start_new_thread(self._listen, ())

    def publish(self, event: PublishChange) -> None:
        """Send a change to the other replicas."""
        # The queue itself has no limit: without this one it would grow while Redis is slow.
        if event.kind in KINDS and self._queue.qsize() < MAX_QUEUED:
            self._queue.put(encode({"from": self._origin, "kind": event.kind, "uri": event.uri}))

    def close(self) -> None:
        """Stop publishing and listening."""
        self._ended = True
        self._queue.put(None)

    def _publish_queued(self) -> None:
        while not self._ended:
            message = self._queue.get()
            if message is None:
                break
            try:
                self._redis.publish(self._channel, message)
            except self._errors as problem:
                self._warn(problem)
        self._redis.connection_pool.disconnect(inuse_connections=False)  # the other thread has its own

    def _listen(self) -> None:
        while not self._ended:
            subscription = self._redis.pubsub(ignore_subscribe_messages=True)
            try:
                subscription.subscribe(self._channel)
                self._receive(subscription)
            except self._errors as problem:
                self._warn(problem)
                sleep(RETRY_SECONDS)
            finally:
                self.listens = False
                subscription.close()

    def _receive(self, subscription: Any) -> None:
        subscription.ping()
        while not self._ended:
            # Returns after this time at the latest, so that `close` is noticed.
            message = subscription.get_message(timeout=LISTEN_SECONDS)
            self.listens = True
            event = None if message is None else self._parse_event(message.get("data"))
            if event is not None:
                self._deliver(event)

    def _parse_event(self, data: object) -> PublishChange | None:
        """Return the change in a message; None for one of this server, or for a message of another form."""
        try:
            fields = parse(data) if isinstance(data, bytes) else None
        except ParseError:
            return None
        # Redis sends a message to its publisher as well, whose clients know of the change already.
        if type(fields) is not dict or fields.get("from") == self._origin:
            return None
        kind, uri = fields.get("kind"), fields.get("uri")
        if kind not in KINDS or type(uri) is not str or len(uri) > MAX_LENGTHS.get(str(kind), MAX_URI_LENGTH):
            return None
        return PublishChange(str(kind), uri)

    def _warn(self, problem: Exception) -> None:
        """Log a problem, but not too often."""
        now = monotonic()
        if now >= self._next_warning and not self._ended:
            self._next_warning = now + WARNING_SECONDS
            log_line(f"events: Redis: {hide_secrets(problem, self._url)}")
