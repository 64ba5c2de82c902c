"""What a provider is asked for, and what it brings: every one speaks as a provider's script does, by an exit status.

A part of this server that provides something ends with the status that a script would end with, so that what each of
them means is said in one place.
"""

from __future__ import annotations

from hashlib import sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.commands import Command

DONE, FAILED, OUTSIDE, MISSING, INVALID, UNREACHABLE, TOO_LARGE = range(7)
"""How a provider ends; whatever else it ends with is a failure, too."""


class File:
    """A file below one of these folders, by its path; of one that is larger than `most` bytes no more is read."""

    __slots__ = ("most", "path", "roots")

    def __init__(self, path: str, roots: tuple[str, ...], most: int) -> None:
        self.path = path
        self.roots = roots
        self.most = most


class Place:
    """Something on the network: the uri, and which hosts may be asked.

    `allowed` and `denied` are hosts; all may be asked that are not denied if `everywhere`.
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


class Page(Place):
    """A page, by an address with https."""

    __slots__ = ()


class Repository(Place):
    """A file of a repository: first it is found where that is, then `command` gets it from there and nowhere else."""

    __slots__ = ("command",)

    def __init__(self, uri: str, seconds: float, most: int, command: Command) -> None:
        super().__init__(uri, seconds, most)
        self.command = command


class Script:
    """A provider that a project brings."""

    __slots__ = ("command",)

    def __init__(self, command: Command) -> None:
        self.command = command


class Brought:
    """What a provider brought: its status, and the bytes or the words that go with it.

    `dropped`: so many bytes were more than is kept.  `mime`: what it said that this is.  `addresses`: those of a
    repository's host.
    """

    __slots__ = ("addresses", "data", "dropped", "mime", "status", "words")

    def __init__(self, status: int = DONE, data: bytes = b"", words: str = "") -> None:
        self.status = status
        self.data = data
        self.words = words
        self.dropped = 0
        self.mime = ""
        self.addresses: tuple[str, ...] = ()


first_seen: dict[str, bytes] = {}
"""What was read when somebody began to watch it, by uri: until it is compared for the first time."""
MOST_SEEN = 10_000


def digest(brought: Brought) -> bytes:
    """Return what stands for what was brought, to compare it."""
    return sha256(b"%d %d %b" % (brought.status, brought.dropped, brought.data)).digest()


def see(uri: str, brought: Brought) -> None:
    """Remember what was read when somebody began to watch it."""
    if len(first_seen) < MOST_SEEN:
        first_seen[uri] = digest(brought)


def too_large(most: int) -> str:
    """Return what is said of something larger."""
    return f"Resource content exceeds {most} bytes"
