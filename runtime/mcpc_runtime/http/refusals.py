"""Who runs a server over HTTP is told what it refuses: the status, what was asked, and the reason, a line each.

Its law: nothing that a client sent is told.  A path is told if something is served there, a method if HTTP knows it, a
reason if it is ours alone: of an error that answers a message, which may repeat what the message says, only the code;
a message's method if it is the protocol's, and its tool if the server has it.
A flood of refusals is a number: MOST lines at once, one a second from then on.  What clients ask as a matter of course,
to find out what there is, is not told.
"""

from __future__ import annotations

from time import monotonic

from mcpc_runtime.errors import tell
from mcpc_runtime.protocol.jsonrpc import ParseError, parse
from mcpc_runtime.protocol.session import METHODS as PROTOCOL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container
    from typing import Any

    from mcpc_runtime.http.replies import Message, Send
    from mcpc_runtime.image import Image

MOST = 16
FIRST = 400
"""From this status on, an answer is a refusal."""
METHODS = ("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT")
LONGEST = 200
SENT = "mcpc.message"
"""Where the scope of a refused request has the message that it sent."""
WELL_KNOWN = "/.well-known/"
REGISTRATION = ("/register", "/authorize", "/token")
"""Where clients of earlier revisions look for an authorization server that does not say where it is."""
LONGEST_ASKED = 1 << 16
"""A longer message is not read a second time to tell what it asked."""
UNREADABLE = "a request that cannot be read"


class Refusals:
    """The refusals of one server.

    `paths`: returns where something is served; `named`: what a message to one of them asks, as far as that may be told.
    """

    def __init__(self, paths: Callable[[], Container[str]], named: Callable[[str, bytes], str] = lambda *_: "") -> None:
        self._paths = paths
        self._named = named
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
                request = scope["method"], scope["path"], scope.get("client")
                self.add(status, request, message.get("body", b""), scope.get(SENT, b""))
                status = 200
            await send(message)

        return watched

    def add(self, status: int, request: tuple[str, str, Any], body: bytes, message: bytes = b"") -> None:
        """Tell of a refused request: its method, path and client (address and port, or None), and the answer's body.

        `message`: what it sent, if that was read.
        """
        method, path, client = request
        if not is_usual(status, method, path, self._paths()) and self._has_room():
            asked = f"{method if method in METHODS else 'a request'} {path if path in self._paths() else 'elsewhere'}"
            told = ": ".join(filter(None, (self._named(path, message), reason(body))))
            self._tell(status, f"{asked} from {client[0]}" if client else asked, told)

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


def is_usual(status: int, method: str, path: str, paths: Container[str]) -> bool:
    """Tell whether clients ask this of any server: for a stream that it need not have, and where tokens come from."""
    if status == 405:
        return method == "GET" and path in paths
    return status == 404 and (path.startswith(WELL_KNOWN) or path in REGISTRATION)


def asked_of(message: bytes, image: Image) -> str:
    """Return the method of a message and the tool that it names, if they are ours; nothing of what else it says."""
    try:
        said: Any = parse(message) if len(message) <= LONGEST_ASKED else None
    except ParseError:
        return ""
    method = said.get("method") if type(said) is dict else None
    if type(method) is not str or method not in PROTOCOL:
        return ""
    params = said.get("params")
    name = params.get("name") if type(params) is dict else None
    is_known = method == "tools/call" and type(name) is str and image.tool(name) is not None
    return f"{method} {name}" if is_known else method


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
