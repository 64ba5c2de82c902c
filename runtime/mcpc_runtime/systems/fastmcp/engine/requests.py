"""Requests to the client, and requests of the client as the SDK describes them."""

from __future__ import annotations

from mcpc_runtime.lazy import resolve
from mcpc_runtime.systems.fastmcp.engine.errors import FastMCPError, ProtocolError
from mcpc_runtime.systems.fastmcp.generation import selected

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable
    from typing import Any, TypeVar

    Answer = TypeVar("Answer")

SDK = "mcpc_runtime.systems.fastmcp.standins.mcp"
TYPES = "mcpc_runtime.systems.fastmcp.standins.mcp_types.selected"


async def request_result(answer: Awaitable[Answer]) -> Answer:
    """Return a client's answer; its error is one of the SDK's."""
    try:
        return await answer
    except ProtocolError as problem:
        raise sdk_error(problem) from problem


def sdk_error(problem: ProtocolError) -> Exception:
    """Return an error as the SDK's exception, which projects catch."""
    made: Exception = resolve(f"{SDK}.parts.exceptions:coded_error")(problem.code, problem.message, problem.data)
    return made


def protocol_error(problem: BaseException) -> ProtocolError | None:
    """Return the error of the protocol that an exception of the SDK stands for, None for other exceptions."""
    if isinstance(problem, ProtocolError):
        return problem
    error = getattr(problem, "error", None)
    if type(problem).__module__.startswith(SDK) and error is not None:
        return ProtocolError(error.code, error.message, error.data)
    return None


def request_context(context: Any) -> Any:
    """Return the request of a context."""
    call = context.mcpc_call
    request = resolve(f"{SDK}.parts.requests:http_request")(call)
    common = {"session": context.session, "lifespan_context": context.mcpc_lifespan_context, "request": request}
    if selected().sdk == "sdk2":
        made = resolve(f"{SDK}.parts.request_context:ServerRequestContext")
        meta = dict(call.meta) or None
        return made(
            protocol_version=call.protocol_version,
            method=context._method,
            request_id=call.request_id,
            meta=meta,
            **common,
        )
    known = resolve(f"{TYPES}:find_type")("RequestParams.Meta")
    meta = known.model_validate(call.meta) if call.meta else None
    return resolve(f"{SDK}.parts.request_context:RequestContext")(request_id=call.request_id, meta=meta, **common)


def is_raised_on_purpose(problem: BaseException) -> bool:
    """Tell whether an exception is meant for the client: an error of the framework or of the protocol."""
    return isinstance(problem, FastMCPError) or protocol_error(problem) is not None
