"""The web application of a program: its own HTTP routes, with the middleware that it has around them.

Requests come from the built server, one at a time and whole; MCP itself never comes here.  A program's routes are those
of its servers (`custom_route`), of the application that `http_app()` returns, or of the application that it serves.
"""

from __future__ import annotations

import asyncio
import traceback
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

from mcpc_runtime.systems.fastmcp.engine.server import note
from mcpc_runtime.systems.fastmcp.interfaces import Decorator, Function, Object, ProgramServer
from mcpc_runtime.systems.fastmcp.program import current_program


def note_middleware(found: Sequence[object]) -> None:
    """Note middleware of a web application, which has no effect on MCP."""
    for each in found:
        owner = getattr(each, "cls", each)
        name = getattr(owner, "__name__", type(owner).__name__)
        note(f"the middleware `{name}` runs around the program's own HTTP routes, and not around requests of MCP")


class ServedApplication:
    """What `http_app()` returns: the server that it serves, and the program's own routes and middleware around them."""

    def __init__(self, server: ProgramServer, middleware: Sequence[object] | None = None) -> None:
        self.mcpc_server = server
        self.mcpc_routes: list[tuple[str, list[str] | None, Function]] = []
        self.mcpc_mounts: list[tuple[str, object]] = []
        self.routes: list[object] = []
        self.user_middleware: list[object] = [*(middleware or ())]
        self.exception_handlers: dict[object, object] = {}
        self.state = ModuleType("state")
        self.router = self
        self._made: Any = None
        self.lifespan = self.lifespan_context = lambda _: server.mcpc_lifespan()
        if middleware is not getattr(server, "mcpc_asgi_middleware", None):
            note_middleware(self.user_middleware)

    def add_middleware(self, middleware_class: object, *arguments: object, **options: object) -> None:
        """Let middleware run around the program's own routes."""
        note_middleware([middleware_class])
        # The middleware that is added last is outermost, as in Starlette.
        self.user_middleware.insert(0, (middleware_class, arguments, options))

    def add_route(self, path: str, route: Function, methods: list[str] | None = None, *_: object, **__: object) -> None:
        self.mcpc_routes.append((path, methods, route))

    def route(self, path: str, methods: list[str] | None = None, *_: object, **__: object) -> Decorator:
        """Return a decorator that adds a route."""

        def decorate(function: Function) -> Function:
            self.add_route(path, function, methods)
            return function

        return decorate

    def mount(self, path: str, app: object = None, *_: object, **__: object) -> None:
        """Add an application below a path; other servers of the protocol are not served."""
        if not isinstance(app, ServedApplication):
            self.mcpc_mounts.append((path, app))

    def accept(self, *_: object, **__: object) -> None:
        """Accept what the built server does in its own way."""

    add_exception_handler = add_event_handler = add_websocket_route = accept

    async def __call__(self, scope: object, receive: object, send: object) -> None:
        """Answer a request for a route of the program, as a part of another application."""
        if self._made is None:
            self._made = made_application(self.mcpc_server, self)
        await self._made(scope, receive, send)


def made_application(server: ProgramServer, own: ServedApplication) -> object:
    """Return an application of the program's own routes and middleware."""
    routing: Any = import_module("starlette.routing")
    middleware: Any = import_module("starlette.middleware")
    applications: Any = import_module("starlette.applications")
    functions = (*server.mcpc_routes(), *own.mcpc_routes)
    routes = [routing.Route(path, endpoint=function, methods=methods) for path, methods, function in functions]
    routes += [*own.routes, *(routing.Mount(path, app=app) for path, app in own.mcpc_mounts)]
    around = [
        middleware.Middleware(each[0], *each[1], **each[2]) if isinstance(each, tuple) else each
        for each in own.user_middleware
    ]
    return applications.Starlette(routes=routes, middleware=around)


MCP_FUNCTIONS = frozenset({"connect_sse", "handle_post_message", "handle_request"})
"""What functions call that hand a request to the framework's transports: the built server serves those."""
MAX_BODY = 8 << 20
"""Bytes of a response's body."""
FAILED = 500, "Internal Server Error"
REST = "{path:path}"


class TooLargeError(Exception):
    """A response is too large."""


def route_patterns(server: ProgramServer) -> list[str]:
    """Return the paths of a program's own routes, as Starlette writes them; what leads to MCP is left out."""
    served = current_program.application
    if served is None or isinstance(served, ServedApplication):
        return list(dict.fromkeys(own_patterns(server, served)))
    return list(dict.fromkeys(patterns_of(getattr(served, "routes", ()))))


def own_patterns(server: ProgramServer, served: ServedApplication | None) -> Iterator[str]:
    """Yield the paths of a server's routes, and of those of its application."""
    yield from (path for path, _, _ in server.mcpc_routes())
    if served is not None:
        yield from (path for path, _, _ in served.mcpc_routes)
        yield from patterns_of(served.routes)
        yield from (pattern for path, _ in served.mcpc_mounts for pattern in below(path))


def patterns_of(routes: Iterable[object], prefix: str = "") -> Iterator[str]:
    """Yield the paths of routes and of what is mounted."""
    for route in routes:
        path = prefix + str(getattr(route, "path", ""))
        inner = getattr(route, "app", None)
        if isinstance(inner, ServedApplication):
            yield from (path + pattern for pattern in own_patterns(inner.mcpc_server, inner))
        elif leads_to_mcp(inner) or leads_to_mcp(getattr(route, "endpoint", None)):
            continue
        elif hasattr(route, "methods"):
            yield path
        elif inner is not None:
            yield from below(path)


def below(path: str) -> list[str]:
    """Return the patterns of everything at and below a path."""
    return [path or "/", f"{path.rstrip('/')}/{REST}"]


def leads_to_mcp(found: object) -> bool:
    """Tell whether an application is the framework's own, or a function that hands requests to its transports."""
    if type(found).__module__.startswith("mcpc_runtime."):
        return True
    function = getattr(found, "__func__", found)
    called = vars(type(found)).get("__call__")
    code = getattr(function, "__code__", None) or getattr(called, "__code__", None)
    return code is not None and not MCP_FUNCTIONS.isdisjoint(code.co_names)


def application(server: ProgramServer) -> Any:
    served: object = current_program.application
    if served is None:
        served = server.mcpc_application = server.mcpc_application or own_application(server)
    return served


def own_application(server: ProgramServer) -> ServedApplication:
    """Return what `http_app()` of a server returns, which a project may override."""
    make = getattr(server, "http_app", None) or getattr(server, "streamable_http_app", None)
    middleware = getattr(server, "mcpc_asgi_middleware", None)
    made = None if make is None else make(middleware=middleware) if middleware else make()
    return made if isinstance(made, ServedApplication) else ServedApplication(server)


async def answer(server: ProgramServer, request: Object) -> Object:
    """Return the response of the program to a request: status, headers, and the body in base64."""
    collected = Response()
    try:
        await application(server)(scope_of(request), Incoming(request["body"]).receive, collected.send)
    except TooLargeError:
        return response(FAILED[0], [], f"the response is larger than {MAX_BODY >> 20} MiB".encode())
    except Exception as problem:  # noqa: BLE001 - whatever a route raises is its own error, after its response perhaps
        traceback.print_exception(problem)
        if not collected.is_complete:
            return response(FAILED[0], [["content-type", "text/plain; charset=utf-8"]], FAILED[1].encode())
    return response(collected.status, collected.headers, b"".join(collected.parts))


def response(status: int, headers: list[list[str]], body: bytes) -> Object:
    """Return a response as the built server takes it."""
    return {"status": status, "headers": headers, "body": b64encode(body).decode("ascii")}


def scope_of(request: Object) -> Object:
    raw: bytes = request["path"].encode("latin-1")
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": request["method"],
        "scheme": request["scheme"],
        "path": unquoted(raw),
        "raw_path": raw,
        "root_path": "",
        "query_string": request["query"],
        "headers": [(name, value) for name, value in request["headers"]],
        "client": tuple(request["client"]) if request["client"] else None,
        "server": None,
        "state": {},
    }


def unquoted(raw: bytes) -> str:
    """Return a path without its percent encoding."""
    unquote: Any = import_module("urllib.parse").unquote_to_bytes
    decoded: bytes = unquote(raw)
    return decoded.decode("utf-8", "replace")


class Incoming:
    """The body of a request, which is there as a whole; the client stays until the response is sent."""

    def __init__(self, body: bytes) -> None:
        self._body: bytes | None = body

    async def receive(self) -> Object:
        """Return the body; then wait."""
        body, self._body = self._body, None
        if body is None:
            # An application waits for more to learn that the client has left, which does not happen here.
            await asyncio.Event().wait()
        return {"type": "http.request", "body": body or b"", "more_body": False}


class Response:
    """Collects what an application sends."""

    def __init__(self) -> None:
        self.status = FAILED[0]
        self.headers: list[list[str]] = []
        self.parts: list[bytes] = []
        self.is_complete = False
        self._size = 0

    async def send(self, message: Object) -> None:
        """Take a part of the response."""
        if message["type"] == "http.response.start":
            self.status = int(message["status"])
            self.headers = [
                [bytes(name).decode("latin-1"), bytes(value).decode("latin-1")]
                for name, value in message.get("headers", ())
            ]
        elif message["type"] == "http.response.body":
            body = bytes(message.get("body", b""))
            self._size += len(body)
            if self._size > MAX_BODY:
                raise TooLargeError
            self.parts.append(body)
            self.is_complete = not message.get("more_body", False)


class Config:
    """Stands for uvicorn's: what an application is served with; only the application counts."""

    def __init__(self, app: object = None, *_: object, **options: object) -> None:
        self.app = app
        self.__dict__.update(options)

    def load(self) -> None:
        """Do nothing: there is nothing to load."""


class Server:
    """Stands for uvicorn's: serves the server that an application contains."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.should_exit = self.force_exit = self.started = False

    def run(self, *_: object, **__: object) -> None:
        """Serve until the process ends."""
        asyncio.run(self.serve())

    async def serve(self, *_: object, **__: object) -> None:
        """Serve until the process ends."""
        app = self.config.app
        current_program.application = None if isinstance(app, str) else app
        await current_program.serve_async(app.mcpc_server if isinstance(app, ServedApplication) else None)


def run(app: object = None, **options: object) -> None:
    """Serve the server that an application contains until the process ends."""
    Server(Config(app, **options)).run()
