"""The exceptions of the engine: errors for the client, and those that projects raise and catch.

The stand-ins export the latter under the names of their framework.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
RESOURCE_NOT_FOUND = -32002


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
