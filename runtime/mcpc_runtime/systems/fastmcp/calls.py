"""Calls of a project's server in the worker: the program is started by the first one, and answers on its event loop.

Each function takes what `contract.py` sends and returns an awaitable of a result in the protocol's form.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, NoReturn, TypedDict

import mcpc_runtime
from mcpc_runtime.handlers.python.children import prepare_children
from mcpc_runtime.handlers.python.context import Context, capabilities_of, port_of
from mcpc_runtime.handlers.python.errors import ProtocolError
from mcpc_runtime.handlers.python.program_bytecode import use_program_code
from mcpc_runtime.protocol.tool_choice import ToolChoice
from mcpc_runtime.systems.fastmcp import standins
from mcpc_runtime.systems.fastmcp.engine import web
from mcpc_runtime.systems.fastmcp.engine.server import current_call
from mcpc_runtime.systems.fastmcp.generation import selected
from mcpc_runtime.systems.fastmcp.interfaces import Object, ProgramServer
from mcpc_runtime.systems.fastmcp.program import Entry, ProgramEndedError, ServedProgram, current_program


class Program(TypedDict):
    """The project's program: its entry, the folder of its files, and arguments in place of the entry's."""

    entry: Entry
    folder: str
    arguments: list[str] | None


# A program whose cursors never end must not keep the call for ever.
MAX_PAGES = 1000


async def refusal_of(name: str, choice: Object, page_at: Callable[[str | None], Awaitable[Object]]) -> Object | None:
    """Return the result that a call of an unknown tool has, if this one is not chosen; `page_at` returns a page."""
    chosen = ToolChoice(choice["patterns"], choice["tags"], read_only=choice["read_only"])
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        page = await page_at(cursor)
        for tool in page["tools"]:
            if tool["name"] == name:
                return None if chosen.takes(tool) else unknown(name, *choice["refusal"])
        cursor = page.get("nextCursor")
        if not cursor:
            break
    return unknown(name, *choice["refusal"])


def unknown(name: str, code: int, message: str) -> Object:
    """Return the result of a call of an unknown tool, or raise the error."""
    text = message.replace("{name}", name)
    if code:
        raise ProtocolError(code, text)
    return {"content": [{"type": "text", "text": text}], "isError": True}


served_program = ServedProgram()
_starting = threading.Lock()


async def done() -> Object:
    """Return an empty result."""
    return {}


def start_program(program: Program, name: str, values: Object, session: Object, context: Context) -> Awaitable[Object]:
    """Start the program before its first call."""
    served_server(program, context)
    return done()


def call_tool(program: Program, name: str, values: Object, session: Object, context: Context) -> Awaitable[Object]:
    server, call = served_server(program, context), CallOfWorker(context, session)
    choice = session.get("choice")
    if choice is not None:
        return reported(call_chosen(server, name, values, call, choice), call)
    return reported(server.mcpc_call_tool(name, values, call), call)


async def call_chosen(server: ProgramServer, name: str, values: Object, call: CallOfWorker, choice: Object) -> Object:
    """Call a tool if it is chosen, by its entry in the list of this moment."""

    async def page_at(cursor: str | None) -> Object:
        return await server.mcpc_list("tools/list", cursor, call)

    return await refusal_of(name, choice, page_at) or await server.mcpc_call_tool(name, values, call)


def get_prompt(program: Program, name: str, values: Object, session: Object, context: Context) -> Awaitable[Object]:
    server, call = served_server(program, context), CallOfWorker(context, session)
    return reported(server.mcpc_get_prompt(name, values, call), call)


def read_resource(program: Program, name: str, values: Object, session: Object, context: Context) -> Awaitable[Object]:
    """Return the contents of a resource; its variables are the server's to find in the URI."""
    server, call = served_server(program, context), CallOfWorker(context, session)
    return reported(server.mcpc_read_resource(name, call), call)


def complete(program: Program, name: Object, values: Object, session: Object, context: Context) -> Awaitable[Object]:
    more = {"arguments": values["arguments"]} if values["arguments"] else {}
    server = served_server(program, context)
    return server.mcpc_complete(name["ref"], name["argument"], more, CallOfWorker(context, session))


def list_definitions(
    program: Program, name: str, values: Object, session: Object, context: Context
) -> Awaitable[Object]:
    """Return a list, or a page of it; `name`: the method of the request."""
    server, call = served_server(program, context), CallOfWorker(context, session)
    return reported(server.mcpc_list(name, values["cursor"], call), call)


def answer_route(program: Program, name: str, values: Object, session: Object, context: Context) -> Awaitable[Object]:
    """Answer a request for an HTTP route of the program."""
    return reported(web.answer(served_server(program, context), values), CallOfWorker(context, session))


async def reported(result: Awaitable[Object], call: CallOfWorker) -> Object:
    """Return the result of a call; before it, report which lists are others now."""
    current_call.set(call)
    try:
        return await result
    finally:
        for kind, announced in current_program.taken_changes().items():
            if announced and selected().family == "fastmcp":
                await call.list_changed(kind)
            # A server of the SDK announces no change by itself: the list is asked for anew, and no client is notified.
            else:
                call.relist(kind)


def served_server(program: Program, context: Context) -> ProgramServer:
    """Return the program's server, which the first call starts; calls of the worker run on its event loop.

    A program that cannot be served ends its worker with the calls that wait for it: the next one starts it again.
    """
    with _starting:
        if not served_program.is_started:
            entry, arguments = program["entry"], program["arguments"]
            if arguments is not None:
                entry["arguments"] = arguments
            standins.install(entry["generation"], entry["version"])
            use_program_code(mcpc_runtime.__loader__, program["folder"])
            framework = entry["generation"], entry["version"]
            prepare_children(sys.argv[0], program["folder"], entry["paths"], framework)
            served_program.start(entry, program["folder"])
    call: Any = port_of(context)
    try:
        server = served_program.wait()
    except ProgramEndedError:
        call.retire_worker()
        raise
    if served_program.loop is not None:
        call.use_event_loop(served_program.loop, served_program.thread)
    return server


def run_in_main_thread() -> NoReturn:
    """Run the program as soon as the first call has made it; the worker ends the process from another thread."""
    served_program.run()
    while True:
        threading.Event().wait()


def leave() -> None:
    """Let the program end: its lifespan is left."""
    served_program.leave()


class CallOfWorker:
    """A request, as the servers of programs see it; its messages go through the context of the worker."""

    def __init__(self, context: Context, session: Object) -> None:
        self._context = context
        self._asked = 0
        self.request_id = str(session["request_id"])
        self.session_id: str = session["session_id"]
        self.protocol_version: str = session["protocol_version"]
        self.client_info: Object = session["client_info"]
        self.transport: str = session["transport"]
        self.http: Object = session.get("http") or {}
        self.headers = headers_of(self.http.get("headers") or ())
        self.principal: Object | None = session.get("principal")
        self.tolerant: bool = session.get("tolerant", False)
        self.meta: Object = context.meta
        client_id = self.meta.get("client_id")
        self.client_id = client_id if isinstance(client_id, str) else None
        self.client_capabilities: Object = capabilities_of(context)

    async def log(self, level: str, data: object, logger: str | None = None) -> None:
        """Send a log message."""
        self._context.log(level, data, logger)

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        self._context.report_progress(progress, total, message)

    async def elicit(self, message: str, schema: Object | None, url: str = "") -> Object:
        """Ask the user; `schema` is that of a form, `url` an address to visit."""
        params: Object = {"message": message}
        params.update({"mode": "url", "url": url} if url else {"requestedSchema": schema})
        return await self._ask("elicitation/create", params)

    async def sample(self, params: Object) -> Object:
        """Send messages to the client's model."""
        return await self._ask("sampling/createMessage", params)

    async def list_roots(self) -> list[Object]:
        """Return the client's roots."""
        found: list[Object] = (await self._ask("roots/list", {}))["roots"]
        return found

    async def _ask(self, method: str, params: Object) -> Object:
        """Send a request to the client; its key is the same when the call is run again."""
        self._asked += 1
        key = f"{method}-{self._asked}"
        answers = await self._context.ask({key: {"method": method, "params": params}})
        found: Object = answers[key]
        return found

    async def resource_updated(self, uri: str) -> None:
        """Notify clients that a resource has new contents."""
        self._context.resource_updated(uri)

    async def list_changed(self, kind: str) -> None:
        """Notify clients that a list has changed."""
        self._context.list_changed(kind)

    def relist(self, kind: str) -> None:
        """Let the server ask for a list from now on, without a notification."""
        port_of(self._context).say({"relisted": kind})


def headers_of(pairs: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return headers by their names in lower case; several with one name are joined."""
    found: dict[str, str] = {}
    for name, value in pairs:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found
