"""Calls of a project's server with its original framework: each is a request to the program's process.

The first call starts the process, and pays for the import of the framework; after a crash the next one starts it
again.  Each function takes what `contract.py` sends and returns an awaitable of a result in the protocol's form.
"""

from __future__ import annotations

import asyncio
import sys

from mcpc_runtime.handlers.python.context import Context, capabilities_of
from mcpc_runtime.handlers.python.errors import ProtocolError, ToolError
from mcpc_runtime.protocol.constants import (
    CAPABILITIES_KEY,
    CLIENT_INFO_KEY,
    LOG_LEVEL_KEY,
    METHOD_NOT_FOUND,
    VERSION_KEY,
)
from mcpc_runtime.protocol.jsonrpc import encode
from mcpc_runtime.systems.fastmcp.calls import Program, refusal_of
from mcpc_runtime.systems.fastmcp.interfaces import Object
from mcpc_runtime.systems.fastmcp.original.client import (
    LEAVE_SECONDS,
    STATELESS,
    ProcessEndedError,
    ProgramClient,
    start_client,
)

BOOT = (
    "import sys;sys.path.insert(0,sys.argv[1]);"
    "from mcpc_runtime.systems.fastmcp.original.process import main;main(*sys.argv[1:])"
)
CLIENT = {"name": "mcpc", "version": "1"}
"""The client that a program sees where the client does not describe itself with each request."""
ALL_CAPABILITIES: dict[str, object] = {"elicitation": {"form": {}, "url": {}}, "roots": {}, "sampling": {"tools": {}}}
"""Capabilities where many clients are served: a request to one that lacks a capability is refused then."""
ENVELOPE = frozenset({CAPABILITIES_KEY, CLIENT_INFO_KEY, LOG_LEVEL_KEY, VERSION_KEY})
"""Keys of `_meta` that describe a client with each request: the program got them with its handshake."""
CLIENT_REQUESTS = ("elicitation/create", "sampling/createMessage", "roots/list")
LISTS = {
    "notifications/prompts/list_changed": "prompts",
    "notifications/resources/list_changed": "resources",
    "notifications/tools/list_changed": "tools",
}


async def start_program(program: Program, name: str, values: Object, session: Object, context: Context) -> Object:
    """Start the program's process before its first call, and have it make a list, as any of its clients would."""
    return await forward("tools/list", {}, program, CallListener(context, session))


async def call_tool(program: Program, name: str, values: Object, session: Object, context: Context) -> Object:
    """Call a tool; what ends the process is an error of the tool."""
    listener, choice = CallListener(context, session), session.get("choice")

    async def page_at(cursor: str | None) -> Object:
        return await forward("tools/list", {} if cursor is None else {"cursor": cursor}, program, listener)

    try:
        refusal = None if choice is None else await refusal_of(name, choice, page_at)
        return refusal or await forward("tools/call", {"name": name, "arguments": values}, program, listener)
    except ProcessEndedError as problem:
        raise ToolError(str(problem)) from None


async def get_prompt(program: Program, name: str, values: Object, session: Object, context: Context) -> Object:
    return await forward("prompts/get", {"name": name, "arguments": values}, program, CallListener(context, session))


async def read_resource(program: Program, name: str, values: Object, session: Object, context: Context) -> Object:
    """Return the contents of a resource; its variables are the server's to find in the URI."""
    return await forward("resources/read", {"uri": name}, program, CallListener(context, session))


async def complete(program: Program, name: Object, values: Object, session: Object, context: Context) -> Object:
    more = {"context": {"arguments": values["arguments"]}} if values["arguments"] else {}
    params = {"ref": name["ref"], "argument": name["argument"], **more}
    found = await forward("completion/complete", params, program, CallListener(context, session))
    completion: Object = found.get("completion", {})
    return completion


async def list_definitions(program: Program, name: str, values: Object, session: Object, context: Context) -> Object:
    """Return a list, or a page of it; `name`: the method of the request."""
    params = {} if values["cursor"] is None else {"cursor": values["cursor"]}
    return await forward(name, params, program, CallListener(context, session))


async def answer_request(program: Program, name: str, values: Object, session: Object, context: Context) -> Object:
    """Return the answer to a request of an extension; `name`: its method.

    A framework that knows the stateless era answers a request of that era in a second process, which has no handshake.
    """
    listener = CallListener(context, session)
    stateless = VERSION_KEY in context.meta and program["entry"]["generation"] in STATELESS
    if stateless:
        listener.meta = context.meta
    return await forward(name, values, program, listener, stateless=stateless)


async def forward(
    method: str, params: Object, program: Program, listener: CallListener, *, stateless: bool = False
) -> Object:
    """Send a request to the program's process of an era."""
    if stateless not in _programs:
        _programs[stateless] = OriginalProgram(program, stateless=stateless)
    client = await _programs[stateless].client(listener)
    if listener.meta:
        params = {**params, "_meta": listener.meta}
    return await client.request(method, params, listener)


class OriginalProgram:
    """The process of a program, started again after it has ended.  `stateless`: it gets no handshake."""

    def __init__(self, program: Program, *, stateless: bool) -> None:
        self.loop = asyncio.get_running_loop()
        self._program = program
        self._stateless = stateless
        self._start: asyncio.Task[ProgramClient] | None = None

    async def client(self, listener: CallListener) -> ProgramClient:
        """Return the connection to the process; a call that is cancelled does not stop the start."""
        if self._start is None or (self._start.done() and self._has_ended(self._start)):
            self._start = asyncio.create_task(self._started(listener))
        return await asyncio.shield(self._start)

    def _has_ended(self, start: asyncio.Task[ProgramClient]) -> bool:
        return start.cancelled() or start.exception() is not None or start.result().has_ended

    async def _started(self, listener: CallListener) -> ProgramClient:
        archive = sys.argv[0]
        entry: Object = {**self._program["entry"]}
        if self._program["arguments"] is not None:
            entry["arguments"] = self._program["arguments"]
        row = encode(entry).decode()
        # Isolated: no packages of this Python, nor of the environment; BOOT puts the built file on the path.
        words = [sys.executable, "-I", "-S", "-c", BOOT, archive, row, self._program["folder"]]
        client = await start_client(words)
        if not self._stateless:
            await client.initialize(listener.capabilities, listener.information, listener)
        return client

    async def close(self) -> None:
        """End the process."""
        if self._start is not None and self._start.done() and not self._has_ended(self._start):
            await self._start.result().close()


_programs: dict[bool, OriginalProgram] = {}
"""The program's processes, by whether they serve the stateless era."""


def leave() -> None:
    """Let the program leave its lifespan and end."""
    for program in _programs.values():
        ended = asyncio.run_coroutine_threadsafe(program.close(), program.loop)
        try:
            # `close` waits half of this for the process before it ends it.
            ended.result(2 * LEAVE_SECONDS)
        except TimeoutError:
            return


class CallListener:
    """A call, to which messages of the program go through the context of the worker."""

    def __init__(self, context: Context, session: Object) -> None:
        self._context = context
        self._asked = 0
        self.client: str = session["session_id"]
        self.meta: Object = {key: value for key, value in context.meta.items() if key not in ENVELOPE}
        self.information: Object = session["client_info"] or CLIENT
        self.capabilities: Object = capabilities_of(context) if session["transport"] == "stdio" else ALL_CAPABILITIES

    async def answer(self, method: str, params: Object) -> Object:
        """Return the client's answer to a request; its key is the same when the call is run again."""
        if method not in CLIENT_REQUESTS:
            raise ProtocolError(METHOD_NOT_FOUND, f"Method not found: {method}")
        self._asked += 1
        key = f"{method}-{self._asked}"
        params = {name: value for name, value in params.items() if name != "_meta"}
        answers = await self._context.ask({key: {"method": method, "params": params}})
        found: Object = answers[key]
        return found

    def notify(self, method: str, params: Object) -> None:
        """Pass on progress, a log message, or a change."""
        if method == "notifications/progress":
            self._context.report_progress(params.get("progress", 0), params.get("total"), params.get("message"))
        elif method == "notifications/message":
            self._context.log(str(params.get("level")), params.get("data"), params.get("logger"))
        elif method == "notifications/resources/updated":
            self._context.resource_updated(str(params.get("uri")))
        elif method in LISTS:
            self._context.list_changed(LISTS[method])
