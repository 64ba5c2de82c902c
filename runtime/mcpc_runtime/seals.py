"""State that a client keeps for us: signed, bound to a purpose, good for a while; any process with the key can read it.

    token = base64url(key id, 4 bytes | end of validity, 8 bytes | payload | HMAC-SHA256, 32 bytes)

What the HMAC covers is the purpose, too, so that a token made for one thing is none for another.  A client can read the
payload, and change nothing of it: not a bit, not even the spelling of the same bytes.  The first key signs, every key
verifies: a new one is put before the old one, and the old one removed when what it signed has ended.
"""

from __future__ import annotations

import hashlib
import hmac
import posix
import stat
from binascii import Error as NotBase64
from binascii import a2b_base64, b2a_base64
from errno import ELOOP
from time import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

KEYS, KEYS_FILE = b"MCPC_STATE_KEYS", b"MCPC_STATE_KEYS_FILE"
LEAST_KEY = 16
MOST_FILE = 4096
ID, END, MAC = 4, 8, 32
FORGED, EXPIRED = "it was not made by this server, or was changed", "its time is over"
TO_URL = bytes.maketrans(b"+/", b"-_")
FROM_URL = bytes.maketrans(b"-_", b"+/")


class KeysError(ValueError):
    """The keys that were given cannot be used; the message says why, and nothing of them."""


class Seals:
    """Makes tokens and reads them."""

    def __init__(self, keys: Sequence[bytes], now: Callable[[], float] = time) -> None:
        if not keys:
            raise KeysError("there is no key for state")
        for number, key in enumerate(keys, 1):
            if len(key) < LEAST_KEY:
                raise KeysError(f"key {number} for state has {len(key)} bytes: it needs {LEAST_KEY} or more")
        self._keys = [(hashlib.sha256(b"mcpc key " + key).digest()[:ID], key) for key in keys]
        self._now = now

    def seal(self, purpose: str, payload: bytes, seconds: float) -> str:
        """Return a token of visible ASCII that is safe in a URL, good for so many seconds."""
        identifier, key = self._keys[0]
        body = identifier + int(self._now() + seconds).to_bytes(END, "big") + payload
        return to_text(body + mac(key, purpose, body))

    def open(self, purpose: str, token: str) -> bytes | None:
        """Return what a token carries; None if it is forged, or of another purpose, or its time is over."""
        found = self.examine(purpose, token)
        return found if isinstance(found, bytes) else None

    def examine(self, purpose: str, token: str) -> bytes | str:
        """Return what a token carries, or why it is not taken."""
        data = from_text(token)
        if data is None or len(data) < ID + END + MAC:
            return FORGED
        body, found = data[:-MAC], data[-MAC:]
        keys = [key for identifier, key in self._keys if identifier == body[:ID]]
        if not any([hmac.compare_digest(mac(key, purpose, body), found) for key in keys]):  # noqa: C419 - all of them
            return FORGED
        if int.from_bytes(body[ID : ID + END], "big") < self._now():
            return EXPIRED
        return body[ID + END :]

    def digest(self, data: bytes) -> str:
        """Return what stands for `data` where it is too long, or not the client's to read."""
        return hashlib.sha256(data).hexdigest()

    def unique(self) -> str:
        """Return what nobody has had before, and nobody can guess."""
        return posix.urandom(16).hex()

    def __repr__(self) -> str:
        """Show no key."""
        return f"<Seals of {len(self._keys)} keys>"


def mac(key: bytes, purpose: str, body: bytes) -> bytes:
    """Return the signature of a token's body, made for a purpose."""
    words = purpose.encode()
    return hmac.digest(key, len(words).to_bytes(4, "big") + words + body, "sha256")


def to_text(data: bytes) -> str:
    """Return bytes as URL-safe Base64 without padding."""
    return b2a_base64(data, newline=False).rstrip(b"=").translate(TO_URL).decode()


def from_text(token: str) -> bytes | None:
    """Return the bytes of a token; None for any spelling of them but our own."""
    try:
        data = a2b_base64(token.encode("ascii").translate(FROM_URL) + b"=" * (-len(token) % 4), strict_mode=True)
    except (NotBase64, UnicodeEncodeError):
        return None
    return data if to_text(data) == token else None


def secret_file(path: str, what: str) -> bytes:
    """Return the content of a file of secrets; raise KeysError if anybody else could have read or written it."""
    try:
        descriptor = posix.open(path, posix.O_RDONLY | posix.O_NOFOLLOW | posix.O_CLOEXEC | posix.O_NONBLOCK)
    except OSError as problem:
        why = "it is a symbolic link" if problem.errno == ELOOP else problem.strerror
        raise KeysError(f"the file of {what} cannot be opened: {why}: {path}") from None
    try:
        found = posix.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise KeysError(f"the file of {what} is no regular file: {path}")
        if found.st_uid != posix.geteuid():
            raise KeysError(f"the file of {what} belongs to user {found.st_uid}, not to the server's: {path}")
        if found.st_mode & 0o077:
            raise KeysError(f"the file of {what} is open to others (mode {found.st_mode & 0o777:o}): chmod 600 {path}")
        data = posix.read(descriptor, MOST_FILE + 1)
    finally:
        posix.close(descriptor)
    if len(data) > MOST_FILE:
        raise KeysError(f"the file of {what} has more than {MOST_FILE} bytes: {path}")
    if not data.strip():
        raise KeysError(f"the file of {what} is empty: {path}")
    return data


def keys_of(environment: dict[bytes, bytes]) -> list[bytes]:
    """Return the keys that the environment gives, or names the file of; raise KeysError for those that are none."""
    path = environment.get(KEYS_FILE, b"")
    if path:
        lines = secret_file(path.decode("utf-8", "surrogateescape"), "state keys").splitlines()
        return [line.strip() for line in lines if line.strip()]
    return environment.get(KEYS, b"").replace(b",", b" ").split()


PROCESS: list[Seals] = []
"""The seals of this process, once they were asked for."""


def seals() -> Seals:
    """Return what signs for this process: with the keys it was given, else with one that ends with it."""
    if not PROCESS:
        PROCESS.append(Seals(keys_of(posix.environ) or [posix.urandom(32)]))
    return PROCESS[0]
