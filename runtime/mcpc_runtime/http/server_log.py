"""The log of refused requests: a line for each, with its status, what it asked for, and the reason.

Rule: nothing that a client sent is logged.  A path is logged if something is served there, a method if HTTP has it, a
reason if it is the server's own text: of an error that answers a message, which may repeat the message, only its code;
a message's method if it is the protocol's, and its tool if the server has it. The owner of the request is logged if it
is known, and that its list of tools lacks the tool, which its answer hides.
A flood of refusals becomes a number: MAX_LINES lines at once, then one a second.  Requests with which clients probe any
server are not logged.

Each line begins with a timestamp (RFC 3339) where nothing else adds one: systemd's journal does, a terminal needs none.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Mapping
from time import monotonic

from mcpc_runtime.http.principals import ANONYMOUS, Principal
from mcpc_runtime.http.replies import Client, Message, Send
from mcpc_runtime.http.request import HttpRequest
from mcpc_runtime.log import LineFormat, log_line
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.protocol.jsonrpc import ParseError, parse
from mcpc_runtime.protocol.session import METHODS as PROTOCOL
from mcpc_runtime.server.call_log import timestamp

MAX_LINES = 16
FIRST_REFUSAL = 400
"""The lowest status of a refusal."""
METHODS = ("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT")
MAX_TEXT_LENGTH = 200
WELL_KNOWN = "/.well-known/"
REGISTRATION = ("/register", "/authorize", "/token")
"""Where clients of earlier revisions look for an authorization server without metadata."""
MAX_BODY_BYTES = 1 << 16
"""A longer message is not parsed again to log its method."""
UNREADABLE = "a request that cannot be read"


class RefusalLog:
    """The refusals of one server.

    `paths`: returns the served paths.  `describe`: returns what may be logged of an owner's message to a path.
    """

    def __init__(
        self, paths: Callable[[], Container[str]], describe: Callable[[str, bytes, Principal], str] = lambda *_: ""
    ) -> None:
        self._paths = paths
        self._describe = describe
        self._room = float(MAX_LINES)
        self._since = monotonic()
        self._skipped = 0

    def watching(self, request: HttpRequest, send: Send) -> Send:
        """Return a `send` that logs a refusal when its body is sent."""
        status = 200

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            elif status >= FIRST_REFUSAL:
                target = request.method, request.path, request.client
                self.add(status, target, message.get("body", b""), request.body, request.principal)
                # The reason is in the first part of the body; a request has one line.
                status = 200
            await send(message)

        return watched

    def add(
        self,
        status: int,
        request: tuple[str, str, Client],
        body: bytes,
        message: bytes = b"",
        principal: Principal = ANONYMOUS,
    ) -> None:
        """Log a refused request: its method, path and client (address and port, or None), and the response's body.

        `message`: its body, if that was read.  `principal`: its owner.
        """
        method, path, client = request
        if not is_probe(status, method, path, self._paths()) and self._has_room():
            subject = f"{method if method in METHODS else 'a request'} {path if path in self._paths() else 'elsewhere'}"
            details = ": ".join(filter(None, (self._describe(path, message, principal), refusal_reason(body))))
            subject += f" from {client[0]}" if client else ""
            subject += f" by {printable_name(principal)}" if principal.name else ""
            self._write_line(status, subject, details)

    def add_unreadable(self, status: int, client: Client, text: str) -> None:
        """Log input that is not a request."""
        if self._has_room():
            self._write_line(status, f"{UNREADABLE} from {client[0]}" if client else UNREADABLE, text)

    def close(self) -> None:
        """Log how many refusals were not logged."""
        if self._skipped:
            log_line(f"refused: {self._skipped} more")
            self._skipped = 0

    def _has_room(self) -> bool:
        """Tell whether another line may be written now; count it as skipped if not."""
        now = monotonic()
        self._room = min(float(MAX_LINES), self._room + now - self._since)
        self._since = now
        if self._room < 1:
            self._skipped += 1
            return False
        self._room -= 1
        return True

    def _write_line(self, status: int, subject: str, text: str) -> None:
        more = f" ({self._skipped} more before it)" if self._skipped else ""
        self._skipped = 0
        log_line(f"refused: {status} {subject}{': ' if text else ''}{text}{more}")


def is_probe(status: int, method: str, path: str, paths: Container[str]) -> bool:
    """Tell whether clients send this to any server: to open an optional stream, or to find an authorization server."""
    if status == 405:
        return method == "GET" and path in paths
    return status == 404 and (path.startswith(WELL_KNOWN) or path in REGISTRATION)


def printable_name(principal: Principal) -> str:
    """Return the name of an owner for a line of the log."""
    return "".join(letter if letter.isprintable() else "?" for letter in principal.name[:MAX_TEXT_LENGTH])


def describe_message(message: bytes, image: Image, principal: Principal = ANONYMOUS) -> str:
    """Return the method of a message and its tool, if the protocol and the server have them, and nothing else.

    A tool that the list of its owner lacks is named as such.
    """
    try:
        fields = parse(message) if len(message) <= MAX_BODY_BYTES else None
    except ParseError:
        return ""
    if type(fields) is not dict:
        return ""
    method, params = fields.get("method"), fields.get("params")
    if type(method) is not str or method not in PROTOCOL:
        return ""
    name = params.get("name") if type(params) is dict else None
    is_known = method == "tools/call" and type(name) is str and "tools" not in image.run_time_kinds
    has_tool = is_known and type(name) is str and image.tool(name) is not None
    if not has_tool:
        return method
    is_allowed = principal.allows is None or principal.allows(str(name))
    return f"{method} {name}" if is_allowed else f"{method} {name}, which is not in its list of tools"


def refusal_reason(body: bytes) -> str:
    """Return why a request was refused, as far as it is the server's own text."""
    try:
        fields = parse(body) if body.startswith(b"{") else {}
    except ParseError:
        return ""
    if type(fields) is not dict:
        return ""
    error = fields.get("error")
    # It answers a message, and its text may repeat parts of that.
    if type(error) is dict and "id" in fields:
        return f"error {error.get('code')}"
    text = error.get("message", "") if type(error) is dict else error
    return (
        "".join(letter if letter.isprintable() else "?" for letter in text[:MAX_TEXT_LENGTH])
        if type(text) is str
        else ""
    )


ERRORS = 2
JOURNAL = "JOURNAL_STREAM"
"""The variable in which systemd names the stream to its journal: `device:inode`."""


def stamp_lines(environment: Mapping[str, str], descriptor: int = ERRORS) -> None:
    """Begin every line with its time from now on, unless standard error is a terminal or the journal."""
    if not os.isatty(descriptor) and not is_journal(environment.get(JOURNAL, ""), descriptor):
        LineFormat.prefix = prefix


def is_journal(stream: str, descriptor: int) -> bool:
    """Tell whether a descriptor is the stream that systemd names."""
    try:
        status = os.fstat(descriptor)
    except OSError:
        return False
    return stream == f"{status.st_dev}:{status.st_ino}"


def prefix() -> str:
    """Return the beginning of a line."""
    return f"{timestamp()} "
