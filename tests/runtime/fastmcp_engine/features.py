"""Uses the parts of the stand-in that calls of the demo server do not: `python features.py GENERATION`; it asserts."""

import asyncio
import functools
import importlib
import sys
import threading
from contextlib import asynccontextmanager
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[2] / "runtime")]
from replay import RecordingCall  # noqa: E402

from mcpc_runtime.systems.fastmcp import program, standins  # noqa: E402
from mcpc_runtime.systems.fastmcp.engine.server import ProtocolError, UnsupportedFeatureError, taken_notes, touched  # noqa: E402  # noqa: E402

GENERATION = sys.argv[1]
standins.install(GENERATION)
from fastmcp import Context, FastMCP  # noqa: E402
from fastmcp.resources import FileResource, TextResource  # noqa: E402
from fastmcp.tools import Tool  # noqa: E402

from mcpc_runtime.systems.fastmcp.standins.exports import TABLES, names_of  # noqa: E402
from mcpc_runtime.systems.fastmcp.standins.fastmcp_parts import context as contexts  # noqa: E402

LATER = GENERATION != "fastmcp2"


def raised(error, function, *arguments, **options):
    try:
        function(*arguments, **options)
    except error as problem:
        return str(problem)
    raise AssertionError(f"{function} did not raise {error}")


def text(result):
    return result["content"][0]["text"]


def call(server, name, **arguments):
    return asyncio.run(server.mcpc_call_tool(name, arguments, RecordingCall({}, None)))


def names(server, kind="tools"):
    return [each.entry.get("name") for each in getattr(asyncio.run(server.mcpc_lists()), kind)]


def test_every_module_and_name():
    for module, row in TABLES["fastmcp"].items():
        found = importlib.import_module(f"fastmcp.{module}".rstrip("."))
        for name in names_of(row):
            assert name == "*" or getattr(found, name) is not None, (module, name)
    auth = importlib.import_module("fastmcp.server.auth.providers.jwt")
    assert auth.JWTVerifier(jwks_uri="x").required_scopes == []
    unknown = importlib.import_module("fastmcp.client.oauth_callback")
    raised(Exception, unknown.create_oauth_callback_server, "x")


def test_a_server_and_its_options():
    server = FastMCP(
        "n", "i", version="1", website_url="https://x", stateless_http=True, auth=object(), mask_error_details=True
    )
    told = {"name": "n", "version": "1", "instructions": "i", "websiteUrl": "https://x"}
    assert server.mcpc_information() == told
    noted = " ".join(note.text for note in taken_notes())
    assert "stateless_http" in noted and "`auth` has no effect" in noted
    assert {Path(note.file).name for note in taken_notes()} == {"features.py"}

    @server.tool
    def fails():
        raise ValueError("secret")

    assert text(call(server, "fails")) == "Error calling tool 'fails'"


def test_names_and_descriptions_of_what_is_not_a_function():
    def multiply(x: int, y: int) -> int:
        """Multiply."""
        return x * y

    class Adder:
        """Adds."""

        def __call__(self, x: int) -> int:
            """Ignored."""
            return x

    server = FastMCP("n")
    server.add_tool(Tool.from_function(functools.partial(multiply, y=2)))
    server.add_tool(Tool.from_function(Adder()))
    found = [(each.entry["name"], each.entry["description"]) for each in asyncio.run(server.mcpc_lists()).tools]
    assert found[1] == ("Adder", "Adds.")
    assert found[0][0] == ("multiply" if GENERATION == "fastmcp4" else "partial")
    assert found[0][1] == "Multiply." or GENERATION != "fastmcp4"


def test_a_query_of_a_template_may_be_continued_or_written_out():
    if not LATER:
        return
    server, outer = FastMCP("n"), FastMCP("outer")

    @server.resource("data://items{?page}{&size}")
    def items(page: int = 1, size: int = 2) -> str:
        return f"{page} {size}"

    @server.resource("search://{$top}/x?q={q}")
    def search(_top: str, q: str) -> str:
        return f"{_top} {q}"

    outer.mount(server, "in")
    for uri, expected in {
        "data://items?page=3&size=4": "3 4",
        "data://items": "1 2",
        "search://5/x?q=a%20b": "5 a b",
    }.items():
        for one, address in ((server, uri), (outer, uri.replace("://", "://in/"))):
            read = asyncio.run(one.mcpc_read_resource(address, RecordingCall({}, None)))
            assert read["contents"][0]["text"] == expected, address
    assert "RFC 6570" in raised(ValueError, server.resource("x://{+path}"), items)


def test_a_hidden_resource_is_not_served_by_a_template():
    server = FastMCP("n")

    @server.resource("data://{name}")
    def named(name: str) -> str:
        return name

    server.resource("data://x", name="hidden")(lambda: "x")
    if LATER:
        server.disable(names={"hidden"})
        assert "data://x" in raised(
            ProtocolError, asyncio.run, server.mcpc_read_resource("data://x", RecordingCall({}, None))
        )


def test_the_time_limit_of_a_tool_is_not_its_own_error():
    if not LATER:
        return
    server = FastMCP("n")

    @server.tool(timeout=30)
    def upstream() -> str:
        raise TimeoutError("upstream timed out")

    @server.tool(timeout=0.01)
    async def slow() -> str:
        await asyncio.sleep(30)

    assert "upstream timed out" in str(result_or_error(server, "upstream"))
    assert "execution timed out after 0.01s" in str(result_or_error(server, "slow"))


def result_or_error(server, name, **arguments):
    try:
        return call(server, name, **arguments)
    except ProtocolError as problem:
        return problem


def test_a_generator_is_read_where_it_is_made():
    if GENERATION != "fastmcp4":
        return
    threads = []
    server = FastMCP("n")

    @server.tool
    def numbers():
        threads.append(threading.get_ident())
        yield 1
        threads.append(threading.get_ident())
        yield 2

    assert text(call(server, "numbers")) == "[1,2]"
    assert len(set(threads)) == 1 and threading.get_ident() not in threads


def test_duplicates():
    option = {"on_duplicate": "error"} if LATER else {"on_duplicate_tools": "error"}
    server = FastMCP("n", **option)
    server.tool(lambda: 1, name="x")
    assert "already exists" in raised(ValueError, server.tool, lambda: 2, name="x")
    replacing = FastMCP("n")
    replacing.tool(lambda: 1, name="x")
    replacing.tool(lambda: 2, name="x")
    assert text(call(replacing, "x")) == "2"


def test_mounted_servers():
    outer, middle, inner = FastMCP("outer"), FastMCP("middle"), FastMCP("inner")

    @inner.tool
    def deep(x: int) -> int:
        return x

    @inner.resource("data://x")
    def x() -> str:
        return "x"

    middle.mount(inner, "i")
    outer.mount(middle, "m")
    assert names(outer) == ["m_i_deep"]
    assert text(call(outer, "m_i_deep", x=1)) == "1"
    read = asyncio.run(outer.mcpc_read_resource("data://m/i/x", RecordingCall({}, None)))
    assert read["contents"] == [{"uri": "data://m/i/x", "mimeType": "text/plain", "text": "x"}]
    assert [id(each) for each in outer.mcpc_parts()] == [id(middle)]
    copied = FastMCP("copied")
    asyncio.run(copied.import_server(inner, "c"))
    assert names(copied) == ["c_deep"]


def test_visibility():
    def made():
        server = FastMCP("n")
        server.tool(lambda: 1, name="a", tags={"x"})
        server.tool(lambda: 2, name="b", tags={"y"})
        return server

    tagged = FastMCP("n", include_tags={"x"})
    tagged.tool(lambda: 1, name="a", tags={"x"})
    tagged.tool(lambda: 1, name="b")
    assert names(tagged) == ["a"]
    assert "Unknown tool" in text(call(tagged, "b"))
    server = made()
    server.disable(tags={"x"})
    assert names(server) == ["b"]
    server.enable(names={"a"})
    assert names(server) == ["a", "b"]
    server.enable(tags={"y"}, only=True)
    assert names(server) == ["b"]
    if GENERATION == "fastmcp2":
        asyncio.run(made().get_tool("a")).disable()


def test_lifespans_and_routes():
    entered = []

    @asynccontextmanager
    async def lifespan(server):
        entered.append("in")
        yield {"a": 1}
        entered.append("out")

    server = FastMCP("n", lifespan=lifespan)

    @server.tool
    def of_lifespan(ctx: Context) -> dict:
        return ctx.request_context.lifespan_context

    @server.custom_route("/health", methods=["GET"])
    async def health(request):
        return None

    async def run():
        async with server.mcpc_lifespan():
            return await server.mcpc_call_tool("of_lifespan", {}, RecordingCall({}, None))

    assert asyncio.run(run())["structuredContent"] == {"a": 1}
    assert entered == ["in", "out"]
    assert [(path, methods) for path, methods, _ in server.mcpc_routes()] == [("/health", ["GET"])]


def test_resources():
    server = FastMCP("n")
    server.add_resource(TextResource(uri="data://t", name="t", text="hello"))
    server.add_resource(FileResource(uri="data://f", name="f", path=__file__, mime_type="text/x-python"))
    found = asyncio.run(server.mcpc_read_resource("data://t", RecordingCall({}, None)))
    assert found["contents"][0]["text"] == "hello"
    found = asyncio.run(server.mcpc_read_resource("data://f", RecordingCall({}, None)))
    assert found["contents"][0]["text"].startswith('"""Uses')


def test_what_the_adapter_lacks_says_so():
    for name in ("providers", "transforms", "tool_transformations"):
        assert name in raised(UnsupportedFeatureError, FastMCP, "n", **{name: [1]})
    assert "dereference" in raised(UnsupportedFeatureError, FastMCP, "n", dereference_schemas=False)
    assert "versions" in raised(UnsupportedFeatureError, FastMCP("n").tool, lambda: 1, name="x", version="1.9")
    raised(AttributeError, lambda: FastMCP("n").add_provider)
    assert "tool_names" in raised(UnsupportedFeatureError, FastMCP("n").mount, FastMCP("m"), tool_names={"a": "b"})
    touched.clear()
    type("Own", (Tool,), {"__module__": "own"})
    FastMCP("n").tool(lambda: 1, name="x", app={"resource_uri": "ui://x"})

    def documented():
        """Do.

        Parameters
        ----------
        x
            How much.
        """

    if LATER:
        FastMCP("n").tool(documented)
        FastMCP("m").tool(documented, tags={"a"})
        FastMCP("n").add_tool(documented)
    lacking = ["subclasses of Tool", "fastmcp.FastMCP.tool(app=…)", "docstrings in NumPy's style"]
    lacking.append("functions that a decorator of FastMCP was given options for")
    assert [*touched] == lacking[: 4 if LATER else 2]
    FastMCP("n").tool(lambda: 1, name="y", task=True)
    FastMCP("n").completion(print)
    type("Server", (FastMCP,), {"__module__": "own", "_list_tools_mcp": None, "list_tools": None, "_get_key": 1})
    assert [each.removeprefix("fastmcp.FastMCP.") for each in [*touched][-3:]] == [
        "tool(task=…)",
        "completion",
        "_list_tools_mcp",
    ]
    touched.clear()


def test_changes_while_the_server_runs():
    running = program.current_program
    running.is_serving = True
    server = FastMCP("n")
    try:
        server.tool(lambda: 1, name="x")
        assert running.taken_changes() == {"tools": True}
        server.remove_tool("x")
        assert running.taken_changes() == {"tools": True}
        server.mount(FastMCP("inner"))
        assert [*running.taken_changes()] == ["tools", "prompts", "resources"]
        if LATER:
            for change in (server.enable, server.disable):
                change(names={"x"})
                assert len(running.taken_changes()) == 3
    finally:
        running.is_serving = False


def test_the_state_of_so_many_sessions_is_kept():
    first = contexts.session_state("first")
    for number in range(contexts.MAX_SESSIONS - 1):
        contexts.session_state(str(number))
    assert contexts.session_state("first") is first
    contexts.session_state("one more")
    assert len(contexts._sessions) == contexts.MAX_SESSIONS
    assert contexts.session_state("first") is first
    contexts._sessions.clear()


if __name__ == "__main__":
    for test in [value for name, value in sorted(globals().items()) if name.startswith("test_")]:
        test()
