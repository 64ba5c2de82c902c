"""The exceptions of the engine; the call that is handled, the token that came with it, and notes about the project.

Errors that projects raise and catch are exported under the names of their framework.
"""

from __future__ import annotations

import json
import logging
import sys
from base64 import urlsafe_b64decode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from inspect import unwrap
from types import FrameType

from mcpc_runtime.systems.fastmcp.interfaces import Call, Function, Note, Object
from mcpc_runtime.systems.fastmcp.program import current_program

INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603


@contextmanager
def raised_as(make: Callable[[Exception], Exception], *kept: type[Exception]) -> Iterator[None]:
    """Raise what `make` makes of an exception in its place, unless it is one of those that are kept."""
    try:
        yield
    except Exception as problem:
        if isinstance(problem, kept):
            raise
        raise make(problem) from problem


class ProtocolError(Exception):
    """An error that the client gets as the answer to its request."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class UnsupportedFeatureError(Exception):
    """A project uses a part of its framework that the adapter does not have.  `feature`: its dotted name."""

    def __init__(self, feature: str) -> None:
        super().__init__(f"the adapter does not have `{feature}`")
        self.feature = feature


class FastMCPError(Exception):
    """The base of the errors that a project may raise and catch."""

    def __init__(self, *arguments: object, log_level: int = logging.ERROR) -> None:
        super().__init__(*arguments)
        self.log_level = log_level


class ValidationError(FastMCPError):
    """Arguments, or a result, are not valid."""


class ResourceError(FastMCPError):
    """A resource cannot be read."""


class ResourceNotFoundError(ResourceError):
    """There is no such resource (version 2 of the SDK)."""


class ToolError(FastMCPError):
    """A tool failed."""


class PromptError(FastMCPError):
    """A prompt cannot be made."""


class AuthorizationError(FastMCPError):
    """A call is not permitted."""


class InvalidSignature(Exception):  # noqa: N818 - the frameworks' name
    """A function cannot be a tool or a prompt."""


class NotFoundError(Exception):
    """There is no such component."""


class ResourceSecurityError(NotFoundError):
    """A value of an address is not permitted; the client gets the error of an unknown resource."""


class DisabledError(Exception):
    """The component is disabled."""


class ClientError(Exception):
    """A client failed."""


LISTS = {
    "tools/list": ("tools", "tools"),
    "prompts/list": ("prompts", "prompts"),
    "resources/list": ("resources", "resources"),
    "resources/templates/list": ("templates", "resourceTemplates"),
}
"""By method: the attribute of `Lists`, and the member of the protocol's result."""
UNKNOWN_CURSOR = -32602, "Invalid params: unknown cursor"


current_call: ContextVar[Call | None] = ContextVar("current_call", default=None)
"""The request that is handled, None outside of one."""


PARTS = 3
"""The parts of a signed token (RFC 7519)."""


def token_fields(call: Call | None) -> Object | None:
    """Return the fields of an access token, None if the server asks for none.

    The claims are those of a signed token, whose signature the server has verified; other tokens have none.
    """
    if call is None or call.principal is None:
        return None
    token = call.headers.get("authorization", "").partition(" ")[2].strip()
    claims = claims_of(token)
    expires = call.principal["expires"]
    return {
        "token": token,
        "client_id": str(claims.get("client_id") or claims.get("azp") or claims.get("sub") or call.principal["name"]),
        "scopes": list(call.principal["scopes"] or ()),
        "expires_at": None if expires is None else int(expires),
        "claims": claims,
    }


def claims_of(token: str) -> Object:
    """Return the claims in a signed token; none if it is of another kind."""
    parts = token.split(".")
    if len(parts) != PARTS:
        return {}
    try:
        # Tokens have no padding (RFC 7515, section 2), but the decoder wants it.
        found = json.loads(urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


OWN = __name__.partition(".")[0]
MOST = 1000
"""How many notes are kept: at run time nobody takes them."""


_notes: dict[Note, None] = {}


def note(text: str, function: Function | None = None, kind: str = "") -> None:
    """Take a note about a function, or about the line of the project that is running; the same one only once."""
    if len(_notes) < MOST:
        _notes[Note(text, *(running_place() if function is None else place_of(function)), kind)] = None


def taken_notes() -> tuple[Note, ...]:
    """Return the notes taken so far, in their order."""
    return tuple(_notes)


def place_of(function: Function) -> tuple[str, int]:
    """Return the file and line of a function."""
    code = getattr(unwrap(getattr(function, "__func__", function)), "__code__", None)
    return (code.co_filename, code.co_firstlineno) if code is not None else ("", 0)


def running_place() -> tuple[str, int]:
    """Return the file and line of the innermost code that is not of the stand-ins, and not of Python's imports."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in (OWN, "importlib"):
        frame = frame.f_back
    return (frame.f_code.co_filename, frame.f_lineno) if frame is not None else ("", 0)


touched: dict[str, tuple[str, int]] = {}
"""The names without a stand-in that code has touched, each with its first place."""


def lack(feature: str) -> None:
    """Record that code uses what the adapter does not have; refuse it while the server runs."""
    if current_program.is_serving:
        raise UnsupportedFeatureError(feature)
    touched.setdefault(feature, running_place())
