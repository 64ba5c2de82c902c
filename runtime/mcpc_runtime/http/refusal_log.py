"""The log of refused requests: a line for each, with its status, what it asked for, and the reason.

Rule: nothing that a client sent is logged.  A path is logged if something is served there, a method if HTTP has it, a
reason if it is the server's own text: of an error that answers a message, which may repeat the message, only its code;
a message's method if it is the protocol's, and its tool if the server has it.
A flood of refusals becomes a number: MOST lines at once, one a second from then on.  Requests that clients make to any
server, to find out what it offers, are not logged.
"""

from __future__ import annotations

from time import monotonic

from mcpc_runtime.operator_log import log_line
from mcpc_runtime.protocol.jsonrpc import ParseError, parse
from mcpc_runtime.protocol.session import METHODS as PROTOCOL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container
    from typing import Any

    from mcpc_runtime.http.replies import Client, Message, Send
    from mcpc_runtime.http.request import HttpRequest
    from mcpc_runtime.image.image import Image

MAX_LINES = 16
FIRST = 400
"""From this status on, an answer is a refusal."""
METHODS = ("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT")
MAX_TEXT_LENGTH = 200
WELL_KNOWN = "/.well-known/"
REGISTRATION = ("/register", "/authorize", "/token")
"""Where clients of earlier revisions look for an authorization server that does not say where it is."""
MAX_BODY_BYTES = 1 << 16
"""A longer message is not read a second time to tell what it asked."""
UNREADABLE = "a request that cannot be read"


class RefusalLog:
    """The refusals of one server.

    `paths`: returns where something is served; `named`: what a message to one of them asks, as far as that may be told.
    """

    def __init__(self, paths: Callable[[], Container[str]], named: Callable[[str, bytes], str] = lambda *_: "") -> None:
        self._paths = paths
        self._named = named
        self._room = float(MAX_LINES)
        self._since = monotonic()
        self._untold = 0

    def watching(self, request: HttpRequest, send: Send) -> Send:
        """Return a `send` that logs a refusal when its body is sent."""
        status = 200

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            elif status >= FIRST:
                asked = request.method, request.path, request.client
                self.add(status, asked, message.get("body", b""), request.body)
                status = 200
            await send(message)

        return watched

    def add(self, status: int, request: tuple[str, str, Client], body: bytes, message: bytes = b"") -> None:
        """Log a refused request: its method, path and client (address and port, or None), and the response's body.

        `message`: its body, if that was read.
        """
        method, path, client = request
        if not is_usual(status, method, path, self._paths()) and self._has_room():
            asked = f"{method if method in METHODS else 'a request'} {path if path in self._paths() else 'elsewhere'}"
            told = ": ".join(filter(None, (self._named(path, message), reason(body))))
            self._tell(status, f"{asked} from {client[0]}" if client else asked, told)

    def add_unreadable(self, status: int, client: Client, words: str) -> None:
        """Log input that is not a request."""
        if self._has_room():
            self._tell(status, f"{UNREADABLE} from {client[0]}" if client else UNREADABLE, words)

    def close(self) -> None:
        """Log how many refusals were not logged."""
        if self._untold:
            log_line(f"refused: {self._untold} more")
            self._untold = 0

    def _has_room(self) -> bool:
        now = monotonic()
        self._room = min(float(MAX_LINES), self._room + now - self._since)
        self._since = now
        if self._room < 1:
            self._untold += 1
            return False
        self._room -= 1
        return True

    def _tell(self, status: int, asked: str, words: str) -> None:
        more = f" ({self._untold} more before it)" if self._untold else ""
        self._untold = 0
        log_line(f"refused: {status} {asked}{': ' if words else ''}{words}{more}")


def is_usual(status: int, method: str, path: str, paths: Container[str]) -> bool:
    """Tell whether clients ask this of any server: for a stream that it need not have, and where tokens come from."""
    if status == 405:
        return method == "GET" and path in paths
    return status == 404 and (path.startswith(WELL_KNOWN) or path in REGISTRATION)


def asked_of(message: bytes, image: Image) -> str:
    """Return the method of a message and the tool that it names, if they are ours; nothing of what else it says."""
    try:
        said: Any = parse(message) if len(message) <= MAX_BODY_BYTES else None
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
    return (
        "".join(letter if letter.isprintable() else "?" for letter in words[:MAX_TEXT_LENGTH])
        if type(words) is str
        else ""
    )
