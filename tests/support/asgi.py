"""An HTTP client of an ASGI application in this process: complete responses, and streams that are read incrementally."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from functools import wraps
from pathlib import Path
from typing import Any

from mcpc_runtime.http.app import Application
from mcpc_runtime.http.auth.authenticator import TokenAuthenticator
from mcpc_runtime.http.principals import Denied, Principal, deny
from mcpc_runtime.http.settings import HttpSettings
from mcpc_runtime.protocol.image import Image
from support.knocks import LEGACY, mirrors, request, stateless

HOST = (b"host", b"127.0.0.1:8000")
TYPE = (b"content-type", b"application/json")
SECONDS = 20


class Answer:
    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.chunks: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.buffer = b""
        self.over = False
        self.left = asyncio.Event()
        self.begun = asyncio.Event()
        self.task: asyncio.Task[None]

    async def send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            assert not self.status, "an answer begins once"
            self.status = message["status"]
            names = [name for name, _ in message["headers"]]
            assert len(names) == len(set(names)), names
            self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
            self.begun.set()
            return
        assert self.status, "a body comes after its head"
        await self.chunks.put(message.get("body", b""))
        if not message.get("more_body"):
            await self.chunks.put(None)

    async def body(self) -> bytes:
        while not self.over:
            await self.more()
        body, self.buffer = self.buffer, b""
        return body

    async def more(self) -> None:
        """Wait for more of the body."""
        chunk = await asyncio.wait_for(self.chunks.get(), SECONDS)
        if chunk is None:
            self.over = True
        else:
            self.buffer += chunk

    async def event(self) -> dict[str, str] | None:
        """Return the next event, without comments; None at the end."""
        while True:
            while b"\n\n" not in self.buffer and not self.over:
                await self.more()
            if not self.buffer:
                return None
            raw, _, self.buffer = self.buffer.partition(b"\n\n")
            fields = [line.partition(": ") for line in raw.decode().split("\n")]
            found = {name: value for name, _, value in fields if name and not name.startswith(":")}
            if found:
                return found

    async def message(self) -> Any:
        """Return the next message of a stream; None at its end."""
        while True:
            event = await self.event()
            if event is None:
                return None
            if event.get("data"):
                return json.loads(event["data"])

    async def messages(self) -> list[Any]:
        found = []
        while (message := await self.message()) is not None:
            found.append(message)
        return found

    async def leave(self) -> None:
        self.left.set()
        await asyncio.wait_for(asyncio.gather(self.task, return_exceptions=True), SECONDS)

    @property
    def is_stream(self) -> bool:
        return self.headers.get("content-type") == "text/event-stream"


class Client:
    """A client of an application, which posts JSON."""

    def __init__(self, application: Application) -> None:
        self.application = application
        self.session = ""
        self.version = LEGACY

    async def open(
        self, method: str, path: str, headers: list[tuple[bytes, bytes]], chunks: list[bytes] | None = None
    ) -> Answer:
        """Send a request; return its answer when that has begun."""
        answer = Answer()
        parts = [b""] if chunks is None else chunks
        queue = [{"type": "http.request", "body": part, "more_body": n < len(parts)} for n, part in enumerate(parts, 1)]

        async def receive() -> Any:
            if queue:
                return queue.pop(0)
            await answer.left.wait()
            return {"type": "http.disconnect"}

        where, _, query = path.partition("?")
        scope = {
            "type": "http", "method": method, "path": where, "query_string": query.encode(), "headers": headers,
            "http_version": "1.1",
        }  # fmt: skip
        answer.task = asyncio.create_task(self.application(scope, receive, answer.send))
        begun = asyncio.create_task(answer.begun.wait())
        await asyncio.wait({answer.task, begun}, timeout=SECONDS, return_when=asyncio.FIRST_COMPLETED)
        begun.cancel()
        if answer.task.done():
            answer.task.result()
        return answer

    async def post(self, message: Any, *headers: tuple[str, str], path: str = "/mcp") -> Answer:
        """Post a message (bytes as they are), with the usual headers and these; a later one replaces one of its name."""
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        given = dict([HOST, TYPE, (b"accept", b"application/json, text/event-stream")])
        given.update((name.lower().encode(), value.encode("latin-1")) for name, value in headers)
        pairs = [(name, value) for name, value in given.items() if value != b"-"]
        return await self.open("POST", path, [*pairs, (b"content-length", b"%d" % len(body))], [body])

    async def send(self, method: str, *headers: tuple[str, str], path: str = "/mcp", bare: bool = False) -> Answer:
        """Send a request without a body."""
        given = {} if bare else dict([HOST])
        given.update((name.lower().encode(), value.encode("latin-1")) for name, value in headers)
        return await self.open(method, path, list(given.items()))

    async def modern(
        self, method: str, params: dict | None = None, *headers: tuple[str, str], identifier: Any = 1, **meta: Any
    ) -> Answer:
        """Post a stateless request as a good client does; `meta` are capabilities."""
        return await self.post(stateless(method, params, identifier, **meta), *mirrors(method, params), *headers)

    async def ask(self, method: str, params: dict | None = None, *headers: tuple[str, str], **more: Any) -> Any:
        """Post a stateless request and return its one answer, decoded."""
        answer = await self.modern(method, params, *headers, **more)
        return await reply(answer)

    async def initialize(self, version: str = LEGACY, capabilities: dict | None = None) -> Answer:
        """Begin a session."""
        params = {
            "protocolVersion": version,
            "capabilities": capabilities or {},
            "clientInfo": {"name": "t", "version": "1"},
        }
        answer = await self.post(request("initialize", params))
        self.session = answer.headers.get("mcp-session-id", "")
        self.version = version
        return answer

    async def say(self, message: Any, *headers: tuple[str, str]) -> Answer:
        return await self.post(message, *self.names, *headers)

    @property
    def names(self) -> list[tuple[str, str]]:
        version = [] if self.version < "2025-06-18" else [("mcp-protocol-version", self.version)]
        return [("mcp-session-id", self.session), *version]


class Doorman(TokenAuthenticator):
    """Lets in whom `who` says of what stands in for a token, and of the path; refuses calls of the tool `late`."""

    def __init__(self, who: Callable[[str, str], Principal | None]) -> None:
        super().__init__()
        self.who = who

    def check(self, headers: Any, path: str, client: Any = None) -> Principal | Denied:
        return self.who(dict(headers).get(b"authorization", b"").decode(), path) or deny(401, "Bearer")

    def permit(self, principal: Principal, method: str, name: str, path: str = "") -> Denied | None:
        return deny(403, "Bearer") if (method, name) == ("tools/call", "late") else None

    def document(self, path: str) -> bytes | None:
        return b"{}" if path == "/.well-known/oauth-protected-resource" else None


async def reply(answer: Answer) -> Any:
    """Return the answer to one request, however it came."""
    if answer.is_stream:
        return (await answer.messages())[-1]
    return json.loads(await answer.body())


async def until(condition: Callable[[], object]) -> None:
    """Wait until something is so, as long as `served` lets it."""
    while not condition():
        await asyncio.sleep(0.01)


async def written(path: Path) -> None:
    """Wait until a handler has written a file: `marked` writes one when it begins and another when it ends."""
    await until(path.exists)


def served(image: Callable[[], Image], **chosen: Any) -> Callable[..., Callable[..., None]]:
    """Run a test, a coroutine function, with a client of a server that begins and ends with it."""

    def decorate(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
        @wraps(test)
        def run(**given: Any) -> None:
            async def scenario() -> None:
                application = Application(image(), HttpSettings(**{"grace_seconds": 2.0, **chosen}))
                application.begin()
                try:
                    async with asyncio.timeout(60):
                        await test(Client(application), **given)
                finally:
                    await application.shutdown()
                if not any(driver.sessions.by_session for driver in application.drivers):
                    assert not application.settings.budget.held, "every charge is released in the end"

            asyncio.run(scenario())

        del run.__wrapped__  # pytest must not see the client as a fixture
        parameters = list(__import__("inspect").signature(test).parameters.values())[1:]
        run.__signature__ = __import__("inspect").Signature(parameters)  # type: ignore[attr-defined]
        return run

    return decorate
