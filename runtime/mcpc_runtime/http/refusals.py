"""Who runs a server over HTTP is told what it refuses: the status, what was asked, and the reason, a line each.

Its law: nothing that a client sent is told.  A path is told if something is served there, a method if HTTP knows it, a
reason if it is ours alone: of an error that answers a message, which may repeat what the message says, only the code.
A flood of refusals is a number: MOST lines at once, one a second from then on.
"""

from __future__ import annotations

from time import monotonic

from mcpc_runtime.errors import tell
from mcpc_runtime.protocol.jsonrpc import ParseError, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container
    from typing import Any

    from mcpc_runtime.http.replies import Message, Send

MOST = 16
FIRST = 400
"""From this status on, an answer is a refusal."""
METHODS = ("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT")
LONGEST = 200
UNREADABLE = "a request that cannot be read"


class Refusals:
    """The refusals of one server.  `paths`: returns where something is served."""

    def __init__(self, paths: Callable[[], Container[str]]) -> None:
        self._paths = paths
        self._room = float(MOST)
        self._since = monotonic()
        self._untold = 0

    def watching(self, scope: Message, send: Send) -> Send:
        """Return a `send` that tells of a refusal, when its body is sent."""
        status = 200

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            elif status >= FIRST:
                self.add(status, scope["method"], scope["path"], scope.get("client"), message.get("body", b""))
                status = 200
            await send(message)

        return watched

    def add(self, status: int, method: str, path: str, client: Any, body: bytes) -> None:
        """Tell of a refused request; `client`: its address and port, if they are known."""
        if self._has_room():
            asked = f"{method if method in METHODS else 'a request'} {path if path in self._paths() else 'elsewhere'}"
            self._tell(status, f"{asked} from {client[0]}" if client else asked, reason(body))

    def add_unreadable(self, status: int, client: Any, words: str) -> None:
        """Tell of what was not even a request."""
        if self._has_room():
            self._tell(status, f"{UNREADABLE} from {client[0]}" if client else UNREADABLE, words)

    def close(self) -> None:
        """Tell how many were not told of."""
        if self._untold:
            tell(f"refused: {self._untold} more")
            self._untold = 0

    def _has_room(self) -> bool:
        now = monotonic()
        self._room = min(float(MOST), self._room + now - self._since)
        self._since = now
        if self._room < 1:
            self._untold += 1
            return False
        self._room -= 1
        return True

    def _tell(self, status: int, asked: str, words: str) -> None:
        more = f" ({self._untold} more before it)" if self._untold else ""
        self._untold = 0
        tell(f"refused: {status} {asked}{': ' if words else ''}{words}{more}")


def reason(body: bytes) -> str:
    """Return why a request was refused, as far as those are our own words."""
    try:
        said: Any = parse(body) if body.startswith(b"{") else {}
    except ParseError:
        return ""
    error = said.get("error")
    if type(error) is dict and "id" in said:
        return f"error {error.get('code')}"
    words = error.get("message", "") if type(error) is dict else error
    return "".join(letter if letter.isprintable() else "?" for letter in words[:LONGEST]) if type(words) is str else ""
