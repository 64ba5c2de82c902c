"""Signed tokens: state that a client stores for the server, for one purpose and a limited time.

    token = base64url(key id, 4 bytes | end of validity, 8 bytes | payload | HMAC-SHA256, 32 bytes)

The HMAC covers the purpose, too, so a token for one purpose is not valid for another. Any process with the key can read
a token. A client can read the payload, but cannot change a bit of it, not even the spelling of the same bytes. The
first key signs, every key verifies: a new key is put before the old one, and the old one is removed when its tokens
have expired.
"""

from __future__ import annotations

import hashlib
import hmac
import stat
from binascii import Error as NotBase64
from binascii import a2b_base64, b2a_base64
from collections.abc import Callable, Sequence
from errno import ELOOP
from time import time

from mcpc_runtime.transports.platforms import system
from mcpc_runtime.transports.platforms.files import access_of_others, is_credential, is_own_file

KEYS, KEYS_FILE = b"MCPC_STATE_KEYS", b"MCPC_STATE_KEYS_FILE"
MIN_KEY_BYTES = 16
MAX_FILE_BYTES = 4096
ID, END, MAC = 4, 8, 32
FORGED, EXPIRED = "not issued by this server, or modified", "expired"
TO_URL = bytes.maketrans(b"+/", b"-_")
FROM_URL = bytes.maketrans(b"-_", b"+/")


class StateKeysError(ValueError):
    """The configured keys cannot be used; the message contains the reason, and no part of the keys."""


class TokenSigner:
    """Signs and verifies tokens."""

    def __init__(self, keys: Sequence[bytes], now: Callable[[], float] = time) -> None:
        if not keys:
            raise StateKeysError("missing state key")
        for number, key in enumerate(keys, 1):
            if len(key) < MIN_KEY_BYTES:
                raise StateKeysError(f"state key {number} has {len(key)} bytes; at least {MIN_KEY_BYTES} are required")
        self._keys = [(hashlib.sha256(b"mcpc key " + key).digest()[:ID], key) for key in keys]
        self._now = now

    def sign(self, purpose: str, payload: bytes, seconds: float) -> str:
        """Return a signed token of URL-safe ASCII, valid for so many seconds."""
        identifier, key = self._keys[0]
        body = identifier + int(self._now() + seconds).to_bytes(END, "big") + payload
        return to_text(body + token_mac(key, purpose, body))

    def open(self, purpose: str, token: str) -> bytes | None:
        """Return the payload of a token; None if it is forged, expired, or for another purpose."""
        payload = self.verify(purpose, token)
        return payload if isinstance(payload, bytes) else None

    def verify(self, purpose: str, token: str) -> bytes | str:
        """Return the payload of a token, or why it is refused."""
        data = from_text(token)
        if data is None or len(data) < ID + END + MAC:
            return FORGED
        body, signature = data[:-MAC], data[-MAC:]
        # Two keys may have the same four bytes as identifier.
        keys = [key for identifier, key in self._keys if identifier == body[:ID]]
        if not any([hmac.compare_digest(token_mac(key, purpose, body), signature) for key in keys]):  # noqa: C419 - all of them
            return FORGED
        if int.from_bytes(body[ID : ID + END], "big") < self._now():
            return EXPIRED
        return body[ID + END :]

    def digest(self, data: bytes) -> str:
        """Return a digest of `data`, used where data is too long or not for the client to read."""
        return hashlib.sha256(data).hexdigest()

    def unique(self) -> str:
        """Return a new random identifier that cannot be guessed."""
        return system.urandom(16).hex()

    def __repr__(self) -> str:
        """Show no key."""
        return f"<TokenSigner with {len(self._keys)} keys>"


def token_mac(key: bytes, purpose: str, body: bytes) -> bytes:
    """Return the signature of a token's body for a purpose."""
    encoded = purpose.encode()
    # With the length of the purpose: else bytes could pass from the body to the purpose under the same signature.
    return hmac.digest(key, len(encoded).to_bytes(4, "big") + encoded + body, "sha256")


def to_text(data: bytes) -> str:
    """Return bytes as URL-safe Base64 without padding."""
    return b2a_base64(data, newline=False).rstrip(b"=").translate(TO_URL).decode()


def from_text(token: str) -> bytes | None:
    """Return the bytes of a token; None for any spelling but the canonical one."""
    try:
        data = a2b_base64(token.encode("ascii").translate(FROM_URL) + b"=" * (-len(token) % 4), strict_mode=True)
    except (NotBase64, UnicodeEncodeError):
        return None
    return data if to_text(data) == token else None


def read_secret_file(path: str, kind: str) -> bytes:
    """Return the content of a file of secrets; raise StateKeysError if another user could read or write it."""
    try:
        # Opening a FIFO would wait for a writer without O_NONBLOCK; checks are of what was opened, not of the path.
        descriptor = system.open(path, system.O_RDONLY | system.O_NOFOLLOW | system.O_CLOEXEC | system.O_NONBLOCK)
    except OSError as problem:
        why = "it is a symbolic link" if problem.errno == ELOOP else problem.strerror
        raise StateKeysError(f"cannot open the file of {kind}: {why}: {path}") from None
    try:
        status = system.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise StateKeysError(f"the file of {kind} is not a regular file: {path}")
        is_given = is_credential(path, status)
        if not (is_given or is_own_file(status)):
            raise StateKeysError(
                f"the file of {kind} belongs to user {status.st_uid}, not to the user of the server: {path}"
            )
        if not is_given and access_of_others(status):
            raise StateKeysError(
                f"the file of {kind} can be accessed by other users (mode {status.st_mode & 0o777:o}): chmod 600 {path}"
            )
        data = system.read(descriptor, MAX_FILE_BYTES + 1)
    finally:
        system.close(descriptor)
    if len(data) > MAX_FILE_BYTES:
        raise StateKeysError(f"the file of {kind} has more than {MAX_FILE_BYTES} bytes: {path}")
    if not data.strip():
        raise StateKeysError(f"the file of {kind} is empty: {path}")
    return data


def state_keys(environment: dict[bytes, bytes]) -> list[bytes]:
    """Return the keys from the environment, or from the file it names; raise StateKeysError if they are invalid."""
    path = environment.get(KEYS_FILE, b"")
    if path:
        lines = read_secret_file(path.decode("utf-8", "surrogateescape"), "state keys").splitlines()
        return [line.strip() for line in lines if line.strip()]
    return environment.get(KEYS, b"").replace(b",", b" ").split()


PROCESS_SIGNER: list[TokenSigner] = []
"""The token signer of this process, once it was requested."""


def token_signer() -> TokenSigner:
    """Return the token signer of this process: with the configured keys, else with a random key."""
    if not PROCESS_SIGNER:
        PROCESS_SIGNER.append(TokenSigner(state_keys(system.environ) or [system.urandom(32)]))
    return PROCESS_SIGNER[0]
