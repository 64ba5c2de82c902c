"""Requests to providers and their results, which all have the exit status of a provider's script.

Built-in providers use the statuses of scripts, so that each status is converted in one place.
"""

from __future__ import annotations

from hashlib import sha256

from mcpc_runtime.handlers.invocations import Command

DONE, FAILED, OUTSIDE, MISSING, INVALID, UNREACHABLE, TOO_LARGE = range(7)
"""The statuses of providers; any other status is a failure, too."""


class FileRequest:
    """A file below one of these folders, by its path; at most `most` bytes are allowed."""

    __slots__ = ("most", "path", "roots")

    def __init__(self, path: str, roots: tuple[str, ...], most: int) -> None:
        self.path = path
        self.roots = roots
        self.most = most


class NetworkRequest:
    """A request over the network: the uri, and the hosts that may be contacted.

    `allowed` and `denied` are hosts; if `everywhere`, all hosts that are not denied are allowed.
    """

    __slots__ = ("agent", "allowed", "denied", "everywhere", "most", "seconds", "uri")

    def __init__(self, uri: str, seconds: float, most: int) -> None:
        self.uri = uri
        self.seconds = seconds
        self.most = most
        self.allowed: frozenset[str] = frozenset()
        self.denied: frozenset[str] = frozenset()
        self.everywhere = False
        self.agent = ""


class HttpsRequest(NetworkRequest):
    """A web page, by an https uri."""

    __slots__ = ()


class GitRequest(NetworkRequest):
    """A file of a Git repository: the host is resolved first, then `command` connects to these addresses only."""

    __slots__ = ("command",)

    def __init__(self, uri: str, seconds: float, most: int, command: Command) -> None:
        super().__init__(uri, seconds, most)
        self.command = command


class ProviderScript:
    """A script of the project as a provider."""

    __slots__ = ("command",)

    def __init__(self, command: Command) -> None:
        self.command = command


class ProviderResult:
    """The result of a provider: its status, and the content or the message.

    `dropped`: the number of bytes over the limit.  `mime`: the media type, if it is known.  `addresses`: those of a Git
    host.
    """

    __slots__ = ("addresses", "data", "dropped", "message", "mime", "status")

    def __init__(self, status: int = DONE, data: bytes = b"", message: str = "") -> None:
        self.status = status
        self.data = data
        self.message = message
        self.dropped = 0
        self.mime = ""
        self.addresses: tuple[str, ...] = ()


first_seen: dict[str, bytes] = {}
"""The digest of a resource when a client subscribed to it, by uri, until it is compared for the first time."""
MAX_SEEN = 10_000


def result_digest(result: ProviderResult) -> bytes:
    """Return a digest of a result, for comparisons."""
    # The status counts, so that an empty file is not taken for a failure without content.
    return sha256(b"%d %d %b" % (result.status, result.dropped, result.data)).digest()


def remember_first_seen(uri: str, result: ProviderResult) -> None:
    """Remember the state of a resource when a client subscribes to it."""
    # Without room, the first poll is what later ones are compared to.
    if len(first_seen) < MAX_SEEN:
        first_seen[uri] = result_digest(result)


def too_large_message(most: int) -> str:
    """Return the message for a resource over the limit."""
    return f"Resource content exceeds {most} bytes"
