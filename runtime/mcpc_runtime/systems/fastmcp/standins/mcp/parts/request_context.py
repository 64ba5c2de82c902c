"""What handlers of both versions of the SDK know of a request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

SessionT = TypeVar("SessionT")
LifespanContextT = TypeVar("LifespanContextT")
RequestT = TypeVar("RequestT")


@dataclass
class RequestContext(Generic[SessionT, LifespanContextT, RequestT]):
    """A request's context."""

    request_id: str | int
    meta: Any
    session: SessionT
    lifespan_context: LifespanContextT
    experimental: Any = None
    request: RequestT | None = None
    close_sse_stream: Any = None
    close_standalone_sse_stream: Any = None


HandlerResult = Any
CallNext = Any
ServerMiddleware = Any


@dataclass(kw_only=True)
class ServerRequestContext(Generic[LifespanContextT, RequestT]):
    """A request's context."""

    session: Any
    lifespan_context: LifespanContextT
    protocol_version: str
    method: str
    params: Any = None
    request_id: str | int | None = None
    meta: Any = None
    request: RequestT | None = None
    close_sse_stream: Any = None
    close_standalone_sse_stream: Any = None
