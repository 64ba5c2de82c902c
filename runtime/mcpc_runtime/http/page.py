"""The page for people over HTTP (`serve --http --ui`): its files, and what its argument editor asks the server.

The files are public, since they are the same in every server.  All else needs what a call needs: the page sends its
messages to the MCP endpoint like any client, and `/ui/validate` is for those who may call the tool.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from mcpc_runtime.http.app import Application
from mcpc_runtime.http.driver import HttpDriver
from mcpc_runtime.http.page_files import FOLDER, PATH, page_reply
from mcpc_runtime.http.replies import JSON, PROTECTED, Receive, Reply, refuse
from mcpc_runtime.http.request import HttpRequest, read_body, refuse_values
from mcpc_runtime.http.routes import Route
from mcpc_runtime.http.settings import HttpSettings
from mcpc_runtime.protocol.definitions import Validator
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.protocol.jsonrpc import Json, encode, parse
from mcpc_runtime.protocol.union_errors import pointer_step
from mcpc_runtime.protocol.validation_errors import error_lines, error_objects

VALIDATE, FACTS = f"{PATH}validate", f"{PATH}facts"
PLACES = {"arguments": "input", "result": "output"}
"""The members of a request to validate, with the schema of the tool that each has to match."""


def page_routes(app: Application, driver: HttpDriver) -> Callable[[str], Route | None]:
    """Return what finds the route of a path (hook `http_routes`); nothing without `--ui`."""
    return PageRoutes(driver, app.settings) if app.settings.has_page else lambda _: None


def hidden_paths(settings: HttpSettings, paths: Iterable[str]) -> tuple[str, ...]:
    """Return those paths of a server that the page would hide (hook `hidden_paths`); none without `--ui`."""
    return tuple(path for path in paths if settings.has_page and f"{path.rstrip('/')}/".startswith(PATH))


class PageRoutes:
    """Finds the routes of the page, for the server at the main endpoint."""

    def __init__(self, driver: HttpDriver, settings: HttpSettings) -> None:
        self._driver = driver
        self._settings = settings
        checked = Route({"POST": self._validate}, settings.path, b"POST")
        facts = Route({"GET": self._send_facts}, settings.path)
        facts.is_open = True
        self._routes = {VALIDATE: checked, FACTS: facts}

    def __call__(self, path: str) -> Route | None:
        """Return the route of a path, None if it is not the page's."""
        if path != PATH[:-1] and not path.startswith(PATH):
            return None
        return self._routes.get(path) or _open_route(self._send_file)

    async def _send_file(self, request: HttpRequest, _: Receive) -> Reply:
        if request.path == PATH[:-1]:
            # The page names its files relatively, so its own address has to end with a slash.
            return 308, [(b"location", PATH.encode()), *PROTECTED], b""
        image = self._driver.image
        reply = page_reply(request.path, lambda name: image.entry(FOLDER + name))
        return reply or refuse(404, "the page has no such file")

    async def _send_facts(self, request: HttpRequest, _: Receive) -> Reply:
        """Send what the page has to know before it connects; nothing of it is secret."""
        facts: Json = {"endpoint": self._settings.path, "token": self._settings.authenticator is not None}
        return 200, JSON, encode(facts)

    async def _validate(self, request: HttpRequest, receive: Receive) -> Reply | None:
        """Answer what is wrong with the arguments of a tool, or with its structured result; no handler is run."""
        account = self._settings.budget.account(request.principal.name)
        try:
            length = request.headers.content_length
            body = await read_body(receive, length, self._settings.body_limit, self._settings.body_seconds, account)
        finally:
            account.clear()
        if not isinstance(body, bytes):
            return body
        return refuse_values(body) or validation_reply(self._driver.image, body, request.principal.allows)


def _open_route(handler: Callable[..., object]) -> Route:
    """Return a route without a token; Host and Origin are checked."""
    route = Route({"GET": handler, "HEAD": handler})  # type: ignore[dict-item]
    route.is_open = True
    return route


def validation_reply(image: Image, body: bytes, allows: Callable[[str], bool] | None) -> Reply:
    """Return the reply to a request to validate: `{"tool": NAME, "arguments" or "result": VALUE}`."""
    try:
        asked = parse(body)
    except (ValueError, RecursionError):
        return refuse(400, "expected JSON")
    name = asked.get("tool") if type(asked) is dict else None
    place = next((place for place in PLACES if type(asked) is dict and place in asked), None)
    if type(name) is not str or place is None or type(asked) is not dict:
        return refuse(400, 'expected {"tool": NAME, "arguments": VALUE} or {"tool": NAME, "result": VALUE}')
    tool = image.tool(name) if allows is None or allows(name) else None
    if tool is None:
        return refuse(404, "there is no such tool")
    problems: Json = problems_of(getattr(tool, PLACES[place]), asked[place])
    return 200, JSON, encode({"checked": getattr(tool, PLACES[place]) is not None, "problems": problems})


def problems_of(schema: Validator | None, value: Json) -> list[Json]:
    """Return what is wrong with a value: each problem with its `path` (a JSON Pointer) and its `message`."""
    if schema is None or schema.accepts(value):
        return []
    errors = schema.errors(value)
    places: dict[str, list[tuple[str, str, object]]] = {}
    for row in errors:
        places.setdefault(_field_path(*row), []).append(row)
    facts = [error for error in error_objects(value, errors) if type(error) is dict]
    paths = dict.fromkeys(_field_path(*map(error.get, ("path", "keyword", "expected"))) for error in facts)
    return [{"path": path, "message": _message(value, places.get(path, errors))} for path in paths]


def _field_path(path: object, keyword: object, expected: object) -> str:
    """Return the path of the field that a problem belongs to: of a missing property, the property's."""
    if keyword == "required" and type(expected) is str:
        return f"{path}{pointer_step(expected)}"
    return str(path)


def _message(value: Json, errors: list[tuple[str, str, object]]) -> str:
    """Return the message of the errors at one place, without the place."""
    line = error_lines(value, errors)[0][0]
    return line.partition(": ")[2] or line
