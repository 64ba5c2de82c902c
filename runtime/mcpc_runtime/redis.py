"""Redis or Valkey as servers use it: its package, a connection, and no secret in anything that is said about either."""

from __future__ import annotations

from mcpc_runtime.lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any
    from urllib.parse import unquote

    import redis
    from redis import exceptions

    from mcpc_runtime.layer.serving import bring
else:
    bring = lazy("mcpc_runtime.layer.serving:bring")
    unquote = lazy("urllib.parse:unquote")
    redis = lazy("redis")
    exceptions = lazy("redis.exceptions")

SCHEMES = ("redis", "rediss", "unix", "valkey", "valkeys")
NOT_CARRIED = "this server was built without Redis (`mcpc build --redis`)"
ANSWER_SECONDS = 3.0
"""How long Redis may take for an answer, or a connection."""
IDLE_SECONDS = 30
"""A connection that was not used for so long is looked at before it is used again."""


class RedisError(Exception):
    """Redis cannot be used at all; the message says why."""


def is_address(url: str) -> bool:
    """Tell whether this is meant to be the address of Redis."""
    return url.partition(":")[0] in SCHEMES


def connect(url: str, archive: str) -> Any:
    """Return a connection that is made when it is first used, and again when it was lost.

    Nothing is tried a second time by itself: whether that is right, only who asks can tell.
    """
    try:
        client = package(archive)
    except ImportError:
        raise RedisError(NOT_CARRIED) from None
    usual = "redis" + url[len("valkey") :] if url.startswith("valkey") else url
    limits = {"socket_timeout": ANSWER_SECONDS, "socket_connect_timeout": ANSWER_SECONDS}
    try:
        return client.from_url(usual, retry=None, health_check_interval=IDLE_SECONDS, **limits)
    except ValueError as problem:
        raise RedisError(f"this is no address of Redis: {without_secrets(problem, url)}") from None


def package(archive: str) -> Any:
    """Return the class of connections, which the archive brings if it is not there; raise ImportError."""
    try:
        return redis.Redis
    except ImportError:
        if not archive:
            raise
        bring(archive)
        return redis.Redis


def failures() -> tuple[type[Exception], ...]:
    """Return what is raised when something is wrong with Redis, or with the way to it."""
    return (exceptions.RedisError, OSError)


def without_secrets(problem: object, url: str) -> str:
    """Return what went wrong, without the password that is in an address, as it stands there or as it is meant."""
    words = str(problem).replace(url, "(its address)")
    login, at, _ = url.partition("//")[2].rpartition("@")
    secret = login.partition(":")[2] if at else ""
    for one in (secret, unquote(secret)):
        words = words.replace(one, "***") if one else words
    return words
