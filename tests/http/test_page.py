"""The page's files and headers, what is answered beside them, and that other files have nothing of it."""

import asyncio
import io
import json
import re
import zipfile
from types import SimpleNamespace

import pytest

from mcpc.pack.runtime import page_sources, shortened
from mcpc_runtime.http.page import hidden_paths, page_routes, validation_reply
from mcpc_runtime.http.page_files import FOLDER, page_reply
from mcpc_runtime.http.principals import Principal
from mcpc_runtime.http.replies import PROTECTED
from mcpc_runtime.http.serve import ServeError, build_application
from mcpc_runtime.http.settings import HttpSettings
from support.images import archive, image_of, project, tool
from support.needs import ROOT

MOST_BYTES = 200_000
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
FILES = project([tool("count", SCHEMA, outputSchema=SCHEMA), tool("other")])
SOURCES = dict(page_sources())


def read(name: str) -> bytes:
    if name not in SOURCES:
        raise FileNotFoundError(name)
    return SOURCES[name]


def test_the_page_is_small():
    assert sum(map(len, SOURCES.values())) <= MOST_BYTES


def test_lines_of_modules_mean_the_same_without_indents():
    for path in (ROOT / "runtime/mcpc_runtime/tools/page").rglob("*.js"):
        text = path.read_text()
        assert all(line.count("`") % 2 == 0 for line in text.splitlines()), (
            f"{path.name} has a literal of several lines"
        )
        assert not re.search(r"^[ ]*/\*.*\*/[ ]*\S", text, re.MULTILINE), f"{path.name} has code behind a comment"
    assert shortened("// a\n/* b\n c */\n  d { \n\n  e // f\n") == "d {\ne // f\n"


def test_every_module_that_is_imported_is_there():
    imports = {name: re.findall(r'from "(\.[^"]+)"', data.decode()) for name, data in SOURCES.items()}
    assert imports["page.js"]
    for name, paths in imports.items():
        folder = name.rpartition("/")[0]
        for found in paths:
            parts = [*folder.split("/"), *found.split("/")]
            path: list[str] = []
            for part in filter(lambda part: part not in ("", "."), parts):
                path = path[:-1] if part == ".." else [*path, part]
            assert "/".join(path) in SOURCES, f"{name} imports {found}"


@pytest.mark.parametrize("name", ["", "index.html", "client/http.js", "arguments/arguments.css", "icon.svg"])
def test_the_page_may_load_from_its_own_server_only(name):
    status, headers, data = page_reply(f"/ui/{name}", read)
    found = dict(headers)
    assert (status, data) == (200, SOURCES[name or "index.html"])
    policy = found[b"content-security-policy"]
    assert policy.startswith(b"default-src 'self';")
    assert b"frame-ancestors 'none'" in policy
    assert b"unsafe" not in policy
    assert found[b"x-content-type-options"] == b"nosniff"
    assert found[b"referrer-policy"] == b"no-referrer"


def test_an_app_may_load_and_send_nothing():
    policy = dict(page_reply("/ui/app-frame.html", read)[1])[b"content-security-policy"]
    assert policy.startswith(b"sandbox allow-scripts; default-src 'none';")
    assert b"connect-src" not in policy
    assert b"http" not in policy
    assert b"'self'" not in policy.replace(b"frame-ancestors 'self'", b"")


@pytest.mark.parametrize(
    "name",
    ["../index.html", "a/../index.html", "client//http.js", "%2e%2e/x.js", "client/http.py", "x\0.js", "A.js", "/etc/x.js"],
)  # fmt: skip
def test_only_files_of_the_page_are_served(name):
    assert page_reply(f"/ui/{name}", lambda _: b"reached") is None


def test_arguments_and_results_are_judged_without_a_call():
    image = image_of(archive(FILES).data)

    def ask(body: object, allows=None):
        status, _, data = validation_reply(image, json.dumps(body).encode(), allows)
        return status, json.loads(data)

    assert ask({"tool": "count", "arguments": {"n": 1}}) == (200, {"checked": True, "problems": []})
    _, found = ask({"tool": "count", "arguments": {"n": "x"}})
    assert [(each["path"], "expected integer" in each["message"]) for each in found["problems"]] == [("/n", True)]
    for member in ("arguments", "result"):  # what is missing is told at its field
        assert ask({"tool": "count", member: {}})[1]["problems"][0]["path"] == "/n"
    assert ask({"tool": "other", "result": {}}) == (200, {"checked": False, "problems": []})
    assert ask({"tool": "absent", "arguments": {}})[0] == 404
    assert ask({"tool": "count", "arguments": {}}, lambda name: name == "other")[0] == 404
    for wrong in (5, [], {}, {"tool": 5, "arguments": {}}, {"tool": "count"}):
        assert ask(wrong)[0] == 400
    assert validation_reply(image, b"{", None)[0] == 400


@pytest.mark.parametrize("path", ["/ui", "/ui/", "/ui/mcp"])
def test_an_endpoint_where_the_page_is_refuses_to_start(path):
    image = image_of(archive(FILES, ui=True).data)
    with pytest.raises(ServeError, match=f"hide {path} of this server"):
        build_application(image, HttpSettings(path=path, has_page=True))
    build_application(image, HttpSettings(path=path))
    build_application(image, HttpSettings(path=f"/a{path}", has_page=True))


def test_routes_of_a_program_that_the_page_would_hide_are_named():
    routes = ("/health", "/{name}", "/ui/report", "/uix")
    assert hidden_paths(HttpSettings(has_page=True), routes) == ("/ui/report",)
    assert hidden_paths(HttpSettings(), routes) == ()
    image = image_of(archive(FILES, ui=True).data)
    image.index["fastmcp_routes"] = {"paths": routes}
    image.index["hooks"] = {**image.index["hooks"], "route_paths": ("mcpc_runtime.systems.fastmcp.routes:route_paths",)}
    with pytest.raises(ServeError, match="hide /ui/report of this server"):
        build_application(image, HttpSettings(has_page=True))


def test_other_files_have_nothing_of_the_page():
    plain = zipfile.ZipFile(io.BytesIO(archive(FILES, http=True).data))
    with_page = zipfile.ZipFile(io.BytesIO(archive(FILES, ui=True).data))
    pages = {name.removeprefix(FOLDER) for name in with_page.namelist() if name.startswith(FOLDER)}
    assert pages == set(SOURCES)
    assert not [name for name in plain.namelist() if name.startswith(FOLDER)]
    row = f"{page_routes.__module__}:{page_routes.__name__}"
    assert row in image_of(archive(FILES, ui=True).data).hooks("http_routes")
    assert row not in image_of(archive(FILES, http=True).data).hooks("http_routes")


def test_the_page_has_its_routes():
    driver = SimpleNamespace(image=image_of(archive(FILES, ui=True).data))
    driver.image.entry = lambda name: read(name.removeprefix(FOLDER))
    settings = HttpSettings(has_page=True, path="/m", body_limit=100)
    find = page_routes(SimpleNamespace(settings=settings), driver)
    assert page_routes(SimpleNamespace(settings=settings.but(has_page=False)), driver)("/ui/") is None
    assert find("/m") is find("/uix") is None

    def ask(method, path, body=b"", allows=None):
        async def receive():
            return {"type": "http.request", "body": body}

        route = find(path)
        headers = SimpleNamespace(content_length=len(body))
        request = SimpleNamespace(path=path, method=method, headers=headers, principal=Principal("a", allows))
        reply = asyncio.run(route.handlers[method](request, receive))
        return (route.is_open, route.auth_path, sorted(route.handlers)), reply[0], dict(reply[1]), reply[2]

    free = (True, "", ["GET", "HEAD"])
    assert ask("GET", "/ui") == (free, 308, {b"location": b"/ui/", **dict(PROTECTED)}, b"")
    shown = ask("HEAD", "/ui/icon.svg")
    assert (shown[:2], shown[2][b"content-type"], shown[3]) == ((free, 200), b"image/svg+xml", SOURCES["icon.svg"])
    assert ask("GET", "/ui/none.js")[1] == 404
    route, status, _, data = ask("GET", "/ui/facts")
    assert (route, status, json.loads(data)) == ((True, "/m", ["GET"]), 200, {"endpoint": "/m", "token": False})
    asked = json.dumps({"tool": "count", "arguments": {"n": "x"}}).encode()
    route, status, _, data = ask("POST", "/ui/validate", asked)
    assert (route, status) == ((False, "/m", ["POST"]), 200)
    assert json.loads(data) == {
        "checked": True,
        "problems": [{"path": "/n", "message": 'received "x" (string); expected integer'}],
    }
    assert ask("POST", "/ui/validate", asked, lambda name: name != "count")[1] == 404
    assert ask("POST", "/ui/validate", b"x" * 101)[1] == 413 and settings.budget.held == 0
    guarded = page_routes(SimpleNamespace(settings=settings.but(authenticator=1)), driver)
    reply = asyncio.run(guarded("/ui/facts").handlers["GET"](None, None))
    assert json.loads(reply[2])["token"] is True


def test_problems_are_told_at_their_fields():
    schema = {
        "type": "object",
        "required": ["a", "b"],
        "properties": {"a": {"type": "integer", "minimum": 3}, "o": {"type": "object", "required": ["x/y"]}},
    }
    image = image_of(archive(project([tool("t", schema)])).data)
    found = json.loads(validation_reply(image, b'{"tool": "t", "arguments": {"a": 1, "o": {}}}', None)[2])["problems"]
    assert [(each["path"], each["message"].partition("; ")[0]) for each in found] == [
        ("/a", "received 1 (number)"),
        ("/o/x~1y", 'missing required property "x/y"'),
        ("/b", 'missing required property "b"'),
    ]
