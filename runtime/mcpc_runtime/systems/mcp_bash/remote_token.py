"""The token of servers behind a proxy: MCPBASH_REMOTE_TOKEN, which every request must include in its `_meta`.

It is compared in constant time, and never printed.  A token that is too short is refused at start.
"""

from __future__ import annotations

from _operator import _compare_digest
from time import monotonic

from mcpc_runtime.log import log_line
from mcpc_runtime.protocol.constants import INVALID_PARAMS
from mcpc_runtime.protocol.effects import Failure
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.protocol.requests import Request
from mcpc_runtime.transports.platforms import system

TOKEN_VARIABLE, KEY_VARIABLE, FALLBACK_KEY_VARIABLE = (
    b"MCPBASH_REMOTE_TOKEN",
    b"MCPBASH_REMOTE_TOKEN_KEY",
    b"MCPBASH_REMOTE_TOKEN_FALLBACK_KEY",
)
MAX_FAILURES_VARIABLE = b"MCPBASH_REMOTE_TOKEN_MAX_FAILURES_PER_MIN"
DEFAULT_KEY, DEFAULT_FALLBACK_KEY, DEFAULT_MAX_FAILURES = "mcpbash/remoteToken", "remoteToken", 10
MIN_LENGTH, USAGE_STATUS = 32, 2
REFUSED, THROTTLED = "Remote token missing or invalid", "Remote token missing or invalid (throttled)"
TOO_SHORT = "MCPBASH_REMOTE_TOKEN must have at least 32 characters: the server does not start"
WINDOW_SECONDS = 60.0


class RemoteTokenGuard:
    """Accepts requests that include the token."""

    def __init__(self, token: bytes, keys: tuple[str, ...], most: int) -> None:
        self._token = token
        self._keys = keys
        self._most = most
        self._began, self._failures = 0.0, 0

    def __call__(self, request: Request) -> Failure | None:
        """Return the refusal of a request, None if it is accepted."""
        meta = request.params.get("_meta")
        tokens = [meta.get(key) for key in self._keys] if type(meta) is dict else []
        presented = next((value for value in tokens if type(value) is str and value), "")
        if _compare_digest(self._token, presented.encode("utf-8", "surrogatepass")):
            return None
        return Failure(INVALID_PARAMS, self._message())

    def _message(self) -> str:
        """Return the message of a refusal, which mentions throttling after too many failures in a minute."""
        now = monotonic()
        if now - self._began > WINDOW_SECONDS:
            self._began, self._failures = now, 0
        self._failures += 1
        return THROTTLED if 0 < self._most < self._failures else REFUSED


def install_token_check(image: Image) -> None:
    """Check the token of every request, if one is configured; exit if it is too short."""
    token = system.environ.get(TOKEN_VARIABLE, b"")
    if not token:
        return
    if len(token.decode("utf-8", "replace")) < MIN_LENGTH:
        log_line(TOO_SHORT)
        raise SystemExit(USAGE_STATUS)
    most = system.environ.get(MAX_FAILURES_VARIABLE, b"")
    keys = (
        system.environ.get(KEY_VARIABLE, b"") or DEFAULT_KEY.encode(),
        # Set to nothing, the variable turns the second key off; the first one cannot be turned off.
        system.environ.get(FALLBACK_KEY_VARIABLE, DEFAULT_FALLBACK_KEY.encode()),
    )
    names = tuple(str(key, "utf-8", "surrogateescape") for key in keys if key)
    image.check_request = RemoteTokenGuard(
        token, names, int(most) if most.isdigit() and len(most) < 10 else DEFAULT_MAX_FAILURES
    )
