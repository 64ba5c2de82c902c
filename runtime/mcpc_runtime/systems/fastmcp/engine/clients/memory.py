"""A server object in this process: its side of a session, which answers messages of a client.

Calls run in tasks with the context variables of the moment of connecting, as in a session of a separate process, so
that the call in which a client is used is not the server's own.
"""

from __future__ import annotations

import asyncio
import logging
from contextvars import copy_context
from typing import Any
from uuid import uuid4

from mcpc_runtime.systems.fastmcp.engine.clients.server_info import initialize_result
from mcpc_runtime.systems.fastmcp.engine.contents import wire
from mcpc_runtime.systems.fastmcp.engine.context import current
from mcpc_runtime.systems.fastmcp.engine.errors import ProtocolError
from mcpc_runtime.systems.fastmcp.engine.requests import protocol_error
from mcpc_runtime.systems.fastmcp.engine.server import LISTS
from mcpc_runtime.systems.fastmcp.program import note_client

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from contextvars import Context

    from mcpc_runtime.systems.fastmcp.engine.clients.connection import Deliver
    from mcpc_runtime.systems.fastmcp.engine.server import BaseServer

    Object = dict[str, Any]

log = logging.getLogger(__name__)
LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
CHANGED = "notifications/{}/list_changed"


class MemoryTransport:
    """The way to a server object; its lifespan is entered for the time of the connection."""

    def __init__(self, server: BaseServer) -> None:
        self._server = server
        self.session_id = uuid4().hex
        self._deliver: Any = None
        self._context: Context = copy_context()
        self._running: dict[object, asyncio.Task[None]] = {}
        self._number = 0
        self._asked: dict[int, asyncio.Future[Object]] = {}
        self._served: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()
        self.level = 0
        self.around: Any = None
        self.client: Object = {}

    async def start(self, deliver: Deliver, ended: Callable[[BaseException | None], None]) -> None:
        """Enter the server's lifespan, in a task that also leaves it."""
        self._deliver = deliver
        note_client(self._server)
        around = current.get()
        self.around = None if around is None else around._call
        self._context = copy_context()
        self._context.run(current.set, None)
        entered = asyncio.get_running_loop().create_future()
        self._served = asyncio.create_task(self._serve(entered, ended), context=self._context)
        await entered

    async def _serve(self, entered: asyncio.Future[None], ended: Callable[[BaseException | None], None]) -> None:
        problem: BaseException | None = None
        try:
            async with self._server.mcpc_lifespan():
                entered.set_result(None)
                await self._stop.wait()
        except Exception as found:
            problem = found
            if not entered.done():
                entered.set_exception(found)
            else:
                log.exception("the lifespan of a server has failed")
        ended(problem)

    def negotiated(self, version: str) -> None:
        """Do nothing: no message depends on the revision."""

    async def close(self) -> None:
        """Cancel what still runs, and leave the lifespan."""
        for task in [*self._running.values()]:
            task.cancel()
        await asyncio.gather(*self._running.values(), return_exceptions=True)
        self._stop.set()
        if self._served is not None:
            await self._served

    async def send(self, message: Object) -> None:
        """Let the server handle a message of the client."""
        method, identifier = message.get("method"), message.get("id")
        if method is None:
            self._answered(message)
        elif identifier is None:
            if method == "notifications/cancelled":
                task = self._running.get((message.get("params") or {}).get("requestId"))
                if task is not None:
                    task.cancel()
        else:
            work = self._answer(identifier, method, message.get("params") or {})
            task = asyncio.create_task(work, context=self._context.copy())
            self._running[identifier] = task
            task.add_done_callback(lambda _: self._running.pop(identifier, None))

    def _answered(self, message: Object) -> None:
        asked = self._asked.get(message["id"])
        if asked is None or asked.done():
            return
        error = message.get("error")
        if error is None:
            asked.set_result(message.get("result") or {})
        else:
            asked.set_exception(ProtocolError(error["code"], error["message"], error.get("data")))

    async def _answer(self, identifier: object, method: str, params: Object) -> None:
        answer: Object = {"jsonrpc": "2.0", "id": identifier}
        try:
            answer["result"] = wire(await self._result(identifier, method, params))
        except Exception as problem:
            error = protocol_error(problem)
            if error is None:
                log.exception("a server cannot answer %s", method)
                error = ProtocolError(-32603, str(problem))
            data = {} if error.data is None else {"data": error.data}
            answer["error"] = {"code": error.code, "message": error.message, **data}
        await self._deliver(answer)

    async def _result(self, identifier: object, method: str, params: Object) -> Object:
        call = MemoryCall(self, str(identifier), params)
        if method in LISTS:
            return await self._server.mcpc_list(method, params.get("cursor"), call)
        handler = HANDLERS.get(method)
        if handler is not None:
            return await handler(self, params, call)
        respond = getattr(self._server, "respond", None)
        if respond is None or not getattr(self._server, "handles", lambda _: False)(method):
            raise ProtocolError(-32601, "Method not found")
        found: Object = await respond(method, params, call)
        return found

    async def initialize(self, params: Object, _: MemoryCall) -> Object:
        """Answer the first request of a session."""
        self.client = params
        return initialize_result(self._server, params.get("protocolVersion"))

    async def set_level(self, params: Object, call: MemoryCall) -> Object:
        """Set which messages of the log are sent."""
        self.level = LEVELS.index(params["level"]) if params.get("level") in LEVELS else 0
        if getattr(self._server, "handles", lambda _: False)("logging/setLevel"):
            await self._server.respond("logging/setLevel", params, call)  # type: ignore[attr-defined]
        return {}

    async def call_tool(self, params: Object, call: MemoryCall) -> Object:
        """Call a tool."""
        return await self._server.mcpc_call_tool(params["name"], params.get("arguments") or {}, call)

    async def get_prompt(self, params: Object, call: MemoryCall) -> Object:
        """Return the messages of a prompt."""
        return await self._server.mcpc_get_prompt(params["name"], params.get("arguments") or {}, call)

    async def read_resource(self, params: Object, call: MemoryCall) -> Object:
        """Return the contents of a resource."""
        return await self._server.mcpc_read_resource(params["uri"], call)

    async def complete(self, params: Object, call: MemoryCall) -> Object:
        """Return the values that complete an argument."""
        context = params.get("context") or {}
        return {"completion": await self._server.mcpc_complete(params["ref"], params["argument"], context, call)}

    async def ping(self, _: Object, __: MemoryCall) -> Object:
        """Answer."""
        return {}

    async def ask(self, method: str, params: Object) -> Object:
        """Send a request to the client; return its result."""
        self._number += 1
        number = self._number
        answer = self._asked[number] = asyncio.get_running_loop().create_future()
        try:
            await self._deliver({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
            result: Object = await answer
        finally:
            del self._asked[number]
        return result

    async def notify(self, method: str, params: Object | None = None) -> None:
        """Send a notification to the client."""
        await self._deliver({"jsonrpc": "2.0", "method": method, **({} if params is None else {"params": params})})


HANDLERS: dict[str, Callable[[MemoryTransport, Object, MemoryCall], Awaitable[Object]]] = {
    "completion/complete": MemoryTransport.complete,
    "initialize": MemoryTransport.initialize,
    "logging/setLevel": MemoryTransport.set_level,
    "ping": MemoryTransport.ping,
    "prompts/get": MemoryTransport.get_prompt,
    "resources/read": MemoryTransport.read_resource,
    "tools/call": MemoryTransport.call_tool,
}


class MemoryCall:
    """A request of a client in this process."""

    client_id: str | None = None
    transport = "stdio"

    def __init__(self, session: MemoryTransport, identifier: str, params: Object) -> None:
        self._session = session
        self.request_id = identifier
        self.session_id = session.session_id
        self.meta: Object = params.get("_meta") or {}
        client = session.client
        self.protocol_version: str = client.get("protocolVersion") or ""
        self.client_capabilities: Object = client.get("capabilities") or {}
        self.client_info: Object = client.get("clientInfo") or {}
        around = session.around  # the call in which the client connects: its HTTP request is this one's, too
        self.headers: dict[str, str] = getattr(around, "headers", {})
        self.http: Object = getattr(around, "http", {})
        self.principal: Object | None = getattr(around, "principal", None)

    async def log(self, level: str, data: Any, logger: str | None = None) -> None:
        """Send a log message, if the client wants messages of its level."""
        if level not in LEVELS or LEVELS.index(level) >= self._session.level:
            params = {"level": level, **({} if logger is None else {"logger": logger}), "data": data}
            await self._session.notify("notifications/message", params)

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Report the progress of the call."""
        given = {"progress": progress, "total": total, "message": message}
        told = {name: value for name, value in given.items() if value is not None}
        await self._session.notify("notifications/progress", {"progressToken": self.meta.get("progressToken"), **told})

    async def elicit(self, message: str, schema: Object, url: str = "") -> Object:
        """Ask the user."""
        form: Object = {"mode": "url", "url": url} if url else {"mode": "form", "requestedSchema": schema}
        if url:
            form["elicitationId"] = uuid4().hex
        return await self._session.ask("elicitation/create", {"message": message, **form})

    async def sample(self, params: Object) -> Object:
        """Send messages to the client's model."""
        return await self._session.ask("sampling/createMessage", params)

    async def list_roots(self) -> list[Object]:
        """Return the client's roots."""
        found: list[Object] = (await self._session.ask("roots/list", {}))["roots"]
        return found

    async def resource_updated(self, uri: str) -> None:
        """Notify the client that a resource has new contents."""
        await self._session.notify("notifications/resources/updated", {"uri": uri})

    async def list_changed(self, kind: str) -> None:
        """Notify the client that a list has changed."""
        await self._session.notify(CHANGED.format(kind))
