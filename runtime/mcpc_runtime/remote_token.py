"""The token of servers behind a proxy: MCPBASH_REMOTE_TOKEN, which every request has to carry in its `_meta`.

It is compared in constant time, and never said.  One that is too short to keep anybody out is refused at the start.
"""

from __future__ import annotations

import posix
from time import monotonic

from mcpc_runtime.errors import tell
from mcpc_runtime.lazy import lazy
from mcpc_runtime.protocol.effects import Failure
from mcpc_runtime.protocol.facts import INVALID_PARAMS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _operator import _compare_digest

    from mcpc_runtime.image import Image
    from mcpc_runtime.protocol.effects import Request
else:
    _compare_digest = lazy("_operator:_compare_digest")

TOKEN, KEY, OTHER_KEY = b"MCPBASH_REMOTE_TOKEN", b"MCPBASH_REMOTE_TOKEN_KEY", b"MCPBASH_REMOTE_TOKEN_FALLBACK_KEY"
MOST_FAILURES = b"MCPBASH_REMOTE_TOKEN_MAX_FAILURES_PER_MIN"
USUAL_KEY, USUAL_OTHER_KEY, USUAL_FAILURES = "mcpbash/remoteToken", "remoteToken", 10
SHORTEST, USAGE = 32, 2
REFUSED, THROTTLED = "Remote token missing or invalid", "Remote token missing or invalid (throttled)"
TOO_SHORT = "MCPBASH_REMOTE_TOKEN has fewer than 32 characters, which keeps nobody out: nothing is served"
MINUTE = 60.0


class Guard:
    """Lets requests pass that carry the token."""

    def __init__(self, token: bytes, keys: tuple[str, ...], most: int) -> None:
        self._token = token
        self._keys = keys
        self._most = most
        self._began, self._failures = 0.0, 0

    def __call__(self, request: Request) -> Failure | None:
        """Return the refusal of a request, None if it may pass."""
        meta = request.params.get("_meta")
        given = [meta.get(key) for key in self._keys] if type(meta) is dict else []
        presented = next((value for value in given if type(value) is str and value), "")
        if _compare_digest(self._token, presented.encode("utf-8", "surrogatepass")):
            return None
        return Failure(INVALID_PARAMS, self._words())

    def _words(self) -> str:
        """Return what a refusal says, which is another thing when there have been many of late."""
        now = monotonic()
        if now - self._began > MINUTE:
            self._began, self._failures = now, 0
        self._failures += 1
        return THROTTLED if 0 < self._most < self._failures else REFUSED


def guard(image: Image) -> None:
    """Have every request looked at, if there is a token; leave if that would keep nobody out."""
    token = posix.environ.get(TOKEN, b"")
    if not token:
        return
    if len(token.decode("utf-8", "replace")) < SHORTEST:
        tell(TOO_SHORT)
        raise SystemExit(USAGE)
    most = posix.environ.get(MOST_FAILURES, b"")
    keys = (posix.environ.get(KEY, b"") or USUAL_KEY.encode(), posix.environ.get(OTHER_KEY, USUAL_OTHER_KEY.encode()))
    names = tuple(str(key, "utf-8", "surrogateescape") for key in keys if key)
    image.guard = Guard(token, names, int(most) if most.isdigit() and len(most) < 10 else USUAL_FAILURES)
