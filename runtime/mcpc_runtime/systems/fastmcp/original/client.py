"""The MCP client of a program with the original framework: requests go to its process, one line of JSON each.

    request ─▶ standard input of the process        its standard output ─▶ answer, or a message for a listener

A message that does not say to which request it belongs goes to the last request that is under way, unless requests of
several clients are: then it is dropped, and a request to the client is refused.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from typing import Protocol

from mcpc_runtime.handlers.python.errors import ProtocolError
from mcpc_runtime.protocol.constants import (
    CAPABILITIES_KEY,
    CLIENT_INFO_KEY,
    INTERNAL_ERROR,
    METHOD_NOT_FOUND,
    SERVER_INFO_KEY,
    VERSION_KEY,
)
from mcpc_runtime.protocol.jsonrpc import ParseError, encode, parse
from mcpc_runtime.systems.fastmcp.interfaces import Object


class Listener(Protocol):
    """Who sent a request: it gets what the program sends meanwhile.  `client`: a name of the client."""

    client: str

    async def answer(self, method: str, params: Object) -> Object:
        """Return the client's answer to a request of the program."""

    def notify(self, method: str, params: Object) -> None:
        """Handle a notification of the program."""


REVISION, STATELESS_REVISION = "2025-11-25", "2026-07-28"
STATELESS = ("fastmcp4", "sdk2")
"""The generations of frameworks that know the stateless era."""
LINE_BYTES = 64 << 20
"""How large a message of the program may be."""
MAX_CLIENT_REQUESTS = 64
"""How many requests to the client a program may have under way."""
START_SECONDS = 120.0
LEAVE_SECONDS = 1.5
"""How long a program may take to leave its lifespan."""
AMBIGUOUS = "calls of several clients are under way, and the program does not say whose client it asks"


class ProcessEndedError(Exception):
    """The program's process has ended, or could not be started."""


class SentRequest:
    """A request that was sent: its answer, and who sent it."""

    __slots__ = ("answer", "listener")

    def __init__(self, answer: asyncio.Future[Object], listener: Listener) -> None:
        self.answer = answer
        self.listener = listener


class ProgramClient:
    """The connection to one process.  `has_ended`: it answers nothing any more; `information`: what it initialized."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.has_ended = False
        self.information: Object = {}
        self._envelope: Object = {}
        self._process = process
        self._sent: dict[int, SentRequest] = {}
        self._number = 0
        self._reason = "the program's process has ended"
        self._answering: set[asyncio.Task[None]] = set()
        self._reading = asyncio.create_task(self._read())

    async def initialize(self, capabilities: Object, client: Object, listener: Listener) -> None:
        """Do the handshake; raise ProcessEndedError if the program does not serve in time."""
        params = {"protocolVersion": REVISION, "capabilities": capabilities, "clientInfo": client}
        try:
            async with asyncio.timeout(START_SECONDS):
                self.information = await self.request("initialize", params, listener)
        except TimeoutError:
            await self.close()
            raise ProcessEndedError(f"the program did not serve within {START_SECONDS:g} seconds") from None
        except BaseException:
            await self.close()
            raise
        self._send({"method": "notifications/initialized"})

    async def discover(self, client: Object, listener: Listener) -> None:
        """Ask what the program is, in the stateless era; each request describes the client from now on."""
        self._envelope = {VERSION_KEY: STATELESS_REVISION, CAPABILITIES_KEY: {}, CLIENT_INFO_KEY: client}
        found = await self.request("server/discover", {}, listener)
        meta = found.get("_meta")
        self.information = {**found, "serverInfo": meta.get(SERVER_INFO_KEY, {}) if type(meta) is dict else {}}

    async def request(self, method: str, params: Object, listener: Listener) -> Object:
        """Return the result of a request; raise ProtocolError for an error, ProcessEndedError without an answer."""
        if self.has_ended:
            raise ProcessEndedError(self._reason)
        self._number = number = self._number + 1
        if self._envelope:
            params = {**params, "_meta": self._envelope}
        meta = params.get("_meta")
        # By the number, `_notify` finds the request; the tokens of several clients may be equal.
        if type(meta) is dict and "progressToken" in meta:
            params = {**params, "_meta": {**meta, "progressToken": number}}
        sent = self._sent[number] = SentRequest(asyncio.get_running_loop().create_future(), listener)
        try:
            self._send({"id": number, "method": method, "params": params})
            return await sent.answer
        except asyncio.CancelledError:
            self._send({"method": "notifications/cancelled", "params": {"requestId": number}})
            raise
        finally:
            self._sent.pop(number, None)

    def _send(self, message: Object) -> None:
        """Send a message, as soon as the program reads it; one to a process that has ended is dropped."""
        pipe = self._process.stdin
        if pipe is not None and not pipe.is_closing():
            pipe.write(encode({"jsonrpc": "2.0", **message}) + b"\n")

    async def _read(self) -> None:
        pipe = self._process.stdout
        try:
            while pipe is not None and (line := await pipe.readline()):
                self._receive(line)
        # `readline` raises it for a line over the limit, after which the next message cannot be found.
        except ValueError:
            self._reason = f"the program sent a message of more than {LINE_BYTES >> 20} MiB"
            self._process.kill()
        status = await self._process.wait()
        if self._reason.endswith("has ended"):
            how = f"exited with status {status}" if status >= 0 else f"was killed by signal {-status}"
            self._reason = f"the program's process {how}"
        self.has_ended = True
        for sent in self._sent.values():
            if not sent.answer.done():
                sent.answer.set_exception(ProcessEndedError(self._reason))

    def _receive(self, line: bytes) -> None:
        """Handle a line of the program; one that is not a message was printed, and is for the operator."""
        try:
            message = parse(line)
        except ParseError:
            message = None
        if type(message) is not dict or message.get("jsonrpc") != "2.0":
            sys.stderr.write(line.decode("utf-8", "replace"))
            return
        method, params = message.get("method"), message.get("params")
        params = params if type(params) is dict else {}
        if type(method) is not str:
            self._take_answer(message)
        elif "id" in message:
            task = asyncio.create_task(self._answer(message["id"], method, params))
            # The event loop itself refers to its tasks only weakly.
            self._answering.add(task)
            task.add_done_callback(self._answering.discard)
        else:
            self._notify(method, params)

    def _take_answer(self, message: Object) -> None:
        number = message.get("id")
        sent = self._sent.get(number) if type(number) is int else None
        if sent is None or sent.answer.done():
            return
        error, result = message.get("error"), message.get("result")
        if type(error) is dict:
            code, text = error.get("code"), str(error.get("message", ""))
            problem = ProtocolError(code if type(code) is int else INTERNAL_ERROR, text, error.get("data"))
            sent.answer.set_exception(problem)
        elif type(result) is dict:
            sent.answer.set_result(result)
        else:
            sent.answer.set_exception(ProtocolError(INTERNAL_ERROR, "the program's answer has no result"))

    def _notify(self, method: str, params: Object) -> None:
        token = params.get("progressToken")
        sent = self._sent.get(token) if type(token) is int else None
        listener = sent.listener if sent is not None else self._listener()
        if listener is not None and (sent is not None or method != "notifications/progress"):
            listener.notify(method, params)

    def _listener(self) -> Listener | None:
        """Return who sent the last request that is under way; None if several clients have sent some."""
        listeners = [sent.listener for sent in self._sent.values()]
        return listeners[-1] if len({listener.client for listener in listeners}) == 1 else None

    async def _answer(self, identifier: object, method: str, params: Object) -> None:
        try:
            reply: Object = {"result": await self._client_answer(method, params)}
        except Exception as problem:  # noqa: BLE001 - whatever fails is the program's to handle
            code = getattr(problem, "code", INTERNAL_ERROR)
            reply = {"error": {"code": code if type(code) is int else INTERNAL_ERROR, "message": str(problem)}}
        self._send({"id": identifier, **reply})

    async def _client_answer(self, method: str, params: Object) -> Object:
        if method == "ping":
            return {}
        if "/" not in method:
            raise ProtocolError(METHOD_NOT_FOUND, f"Method not found: {method}")
        if len(self._answering) > MAX_CLIENT_REQUESTS:
            raise ProtocolError(INTERNAL_ERROR, f"more than {MAX_CLIENT_REQUESTS} requests to the client")
        listener = self._listener()
        if listener is None:
            raise ProtocolError(INTERNAL_ERROR, AMBIGUOUS if self._sent else "no call is under way")
        return await listener.answer(method, params)

    async def close(self) -> None:
        """Close the input of the process, and end it if it does not end by itself."""
        pipe = self._process.stdin
        if pipe is not None:
            pipe.close()
        try:
            async with asyncio.timeout(LEAVE_SECONDS):
                await self._process.wait()
        except TimeoutError:
            self._process.kill()
            await self._process.wait()


async def start_client(words: Sequence[str]) -> ProgramClient:
    """Start the process of a command; raise ProcessEndedError if that is not possible."""
    pipe = asyncio.subprocess.PIPE
    try:
        process = await asyncio.create_subprocess_exec(*words, stdin=pipe, stdout=pipe, limit=LINE_BYTES)
    except OSError as problem:
        raise ProcessEndedError(f"the program cannot be started: {problem.strerror}") from None
    return ProgramClient(process)
