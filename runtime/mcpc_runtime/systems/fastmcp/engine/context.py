"""What functions see of the call in which they run, the current one, and requests to the client."""

from __future__ import annotations

from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import GenericAlias
from typing import Any, ClassVar, TypeVar

from mcpc_runtime.lazy import resolve
from mcpc_runtime.systems.fastmcp.engine import elicitation
from mcpc_runtime.systems.fastmcp.engine.contents import TYPES, wire
from mcpc_runtime.systems.fastmcp.engine.server import FastMCPError, ProtocolError
from mcpc_runtime.systems.fastmcp.generation import selected
from mcpc_runtime.systems.fastmcp.interfaces import Call, Object

Answer = TypeVar("Answer")


STANDINS = "mcpc_runtime.systems.fastmcp.standins"
current: ContextVar[BaseContext | None] = ContextVar("current", default=None)


class BaseContext:
    """The context of a call.  Outside of one, there is no call, and what needs a client raises an exception."""

    __class_getitem__: ClassVar[Any] = classmethod(GenericAlias)
    is_injected = True
    """Functions of FastMCP get it as a parameter with its type."""

    def __init__(self, server: Any = None, call: Call | None = None, parent: BaseContext | None = None) -> None:
        self._server = server
        self._call = call
        self._root: BaseContext = parent._root if parent is not None else self
        # A copy: a mounted server sees the state of the outer one, but does not change it.
        self._state: Object = dict(parent._state) if parent is not None else {}
        self._method: str = parent._method if parent is not None else ""

    def mcpc_inner(self, server: object) -> BaseContext:
        """Return the context of a mounted server in the same call."""
        return type(self)(server, self._call, self)

    @property
    def mcpc_call(self) -> Call:
        """The call."""
        if self._call is None:
            raise self.mcpc_outside()
        return self._call

    def mcpc_outside(self) -> Exception:
        """Return what is raised for a use of the context outside of a call."""
        return RuntimeError("This method can only be called within an active MCP request context.")

    @property
    def fastmcp(self) -> Any:
        if self._server is None:
            raise RuntimeError("FastMCP instance is no longer available")
        return self._server

    @property
    def mcp_server(self) -> object:
        """The server, by its name in version 2 of the SDK."""
        return self.fastmcp

    @property
    def request_id(self) -> str:
        return self.mcpc_call.request_id

    @property
    def client_id(self) -> str | None:
        """What the client calls itself."""
        return self.mcpc_call.client_id

    @property
    def session_id(self) -> str:
        return self.mcpc_call.session_id

    @property
    def protocol_version(self) -> str:
        """The protocol's revision of the session."""
        return self.mcpc_call.protocol_version

    @property
    def session(self) -> Any:
        """The client's session."""
        return resolve(f"{SDK}.session:ServerSession")(self.mcpc_call)

    @property
    def request_context(self) -> object:
        """The request as the SDK describes it."""
        return request_context(self)

    @property
    def mcpc_lifespan_context(self) -> object:
        """What the lifespan of the server that clients see has given."""
        return getattr(self._root._server, "mcpc_lifespan_result", None)

    async def mcpc_log(self, level: str, data: object, logger: str | None = None) -> None:
        """Send a message of the log."""
        await self.mcpc_call.log(level, wire(data), logger)

    async def report_progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Report the progress of the call, to clients that asked for it."""
        if self.mcpc_call.meta.get("progressToken") is not None:
            await self.session.report_progress(progress, total, message)

    async def elicit_url(self, message: str, url: str, elicitation_id: str = "") -> object:
        """Ask the user to open an address."""
        return elicitation.url_answer(await self.mcpc_elicit(message, {}, url))

    async def mcpc_elicit(self, message: str, schema: Object, url: str = "") -> Object:
        """Ask the user; return the client's answer."""
        return await request_result(self.mcpc_call.elicit(message, schema, url))

    async def close_sse_stream(self) -> None:
        """Do nothing: the built server decides about its streams."""

    async def close_standalone_sse_stream(self) -> None:
        """Do nothing: the built server decides about its streams."""

    async def notify_tools_changed(self) -> None:
        """Notify clients that the list of tools has changed."""
        await self.mcpc_call.list_changed("tools")

    async def notify_prompts_changed(self) -> None:
        """Notify clients that the list of prompts has changed."""
        await self.mcpc_call.list_changed("prompts")

    async def notify_resources_changed(self) -> None:
        """Notify clients that the list of resources has changed."""
        await self.mcpc_call.list_changed("resources")

    async def notify_resource_updated(self, uri: object) -> None:
        """Notify clients that a resource has new contents."""
        await self.mcpc_call.resource_updated(str(uri))


def current_context() -> BaseContext | None:
    return current.get()


@contextmanager
def entered(context: BaseContext) -> Iterator[BaseContext]:
    """Let a context be the current one."""
    token = current.set(context)
    try:
        yield context
    finally:
        current.reset(token)


SDK = f"{STANDINS}.sdk_parts"


async def request_result(answer: Awaitable[Answer]) -> Answer:
    """Return a client's answer; its error is one of the SDK's."""
    try:
        return await answer
    except ProtocolError as problem:
        raise sdk_error(problem) from problem


def sdk_error(problem: ProtocolError) -> Exception:
    """Return an error as the SDK's exception, which projects catch."""
    made: Exception = resolve(f"{SDK}.session:coded_error")(problem.code, problem.message, problem.data)
    return made


def protocol_error(problem: BaseException) -> ProtocolError | None:
    """Return the error of the protocol that an exception of the SDK stands for, None for other exceptions."""
    if isinstance(problem, ProtocolError):
        return problem
    error = getattr(problem, "error", None)
    if type(problem).__module__.startswith(SDK) and error is not None:
        return ProtocolError(error.code, error.message, error.data)
    return None


def request_context(context: Any) -> object:
    call = context.mcpc_call
    request = resolve(f"{SDK}.requests:http_request")(call)
    common = {"session": context.session, "lifespan_context": context.mcpc_lifespan_context, "request": request}
    if selected().sdk == "sdk2":
        made = resolve(f"{SDK}.requests:ServerRequestContext")
        meta = dict(call.meta) or None
        return made(
            protocol_version=call.protocol_version,
            method=context._method,
            request_id=call.request_id,
            meta=meta,
            **common,
        )
    known = resolve(TYPES)().find("RequestParams.Meta")
    meta = known.model_validate(call.meta) if call.meta else None
    return resolve(f"{SDK}.requests:RequestContext")(request_id=call.request_id, meta=meta, **common)


def is_raised_on_purpose(problem: BaseException) -> bool:
    """Tell whether an exception is meant for the client: an error of the framework or of the protocol."""
    return isinstance(problem, FastMCPError) or protocol_error(problem) is not None
