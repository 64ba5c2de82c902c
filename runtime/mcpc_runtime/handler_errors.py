"""What a handler may raise, and what is raised in it: cancellation, failures told to the caller, refused questions."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Cancelled(BaseException):
    """The call was cancelled, or its time is over; not an Exception, for those are often caught and passed over."""


class ToolError(Exception):
    """A failure whose text the caller is told as it is."""


class ProtocolError(Exception):
    """The request ends with this JSON-RPC error, instead of a result that says that it failed."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class AskError(ToolError):
    """The client did not answer what it was asked: it would not, or its answer cannot be used."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        Exception.__init__(self, message)
        self.code = code
        self.message = message
        self.data = data


class UnsupportedError(AskError, ProtocolError):
    """The client cannot be asked this; a handler that lets it pass ends the request with the error that says so."""
