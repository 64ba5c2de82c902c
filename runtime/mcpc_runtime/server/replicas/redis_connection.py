"""The connection to Redis or Valkey: its package and client, and messages about it without secrets."""

from __future__ import annotations

from mcpc_runtime.lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any
    from urllib.parse import unquote

    import redis
    from redis import exceptions

    from mcpc_runtime.artifact.packages import activate_server_packages
else:
    activate_server_packages = lazy("mcpc_runtime.artifact.packages:activate_server_packages")
    unquote = lazy("urllib.parse:unquote")
    redis = lazy("redis")
    exceptions = lazy("redis.exceptions")

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
    except ImportError:
        raise RedisError(NOT_BUNDLED) from None
    redis_url = "redis" + url[len("valkey") :] if url.startswith("valkey") else url
    limits = {"socket_timeout": RESPONSE_SECONDS, "socket_connect_timeout": RESPONSE_SECONDS}
    try:
        return client.from_url(redis_url, retry=None, health_check_interval=IDLE_SECONDS, **limits)
    except ValueError as problem:
        raise RedisError(f"not a Redis address: {hide_secrets(problem, url)}") from None


def redis_class(archive: str) -> Any:
    """Return the client class, from the archive's bundled package if it is not installed; raise ImportError."""
    try:
        return redis.Redis
    except ImportError:
        if not archive:
            raise
        activate_server_packages(archive)
        return redis.Redis


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
