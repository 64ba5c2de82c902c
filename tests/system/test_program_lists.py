"""Lists of programs that are made at run time: in every revision, over pipes and over HTTP, with real processes."""

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mcpc.frontends.fastmcp import runs
from mcpc.options import Options
from support.artifact import build, built_fixture
from support.files import write_files
from support.knocks import mirrors, stateless
from support.needs import ROOT
from support.posts import TYPES, post, post_stateless
from support.projects import lowered, marked, parsed, places
from support.serving import served
from support.stdio import StdioClient

PROGRAMS = ROOT / "tests/system/programs"
CHANGED = "notifications/tools/list_changed"
LATER_FIELDS = {
    "2024-11-05": set(),
    "2025-03-26": {"annotations"},
    "2025-06-18": {"annotations", "title"},
    "2025-11-25": {"annotations", "title"},
}
"""The fields of a tool that each revision added."""


changing = built_fixture(PROGRAMS / "changing", "--http")


sessions = built_fixture(PROGRAMS / "sessions", "--http")


@pytest.fixture
def client(changing: Path) -> Iterator[StdioClient]:
    found = StdioClient(changing)
    yield found
    found.close()


@pytest.fixture
def visitor(sessions: Path) -> Iterator[StdioClient]:
    found = StdioClient(sessions)
    yield found
    found.close()


def names(client: StdioClient, kind: str = "tools") -> list[str]:
    return [item["name"] for item in client.ask(f"{kind}/list")["result"][kind]]


@pytest.mark.parametrize("version", LATER_FIELDS)
def test_a_list_depends_on_the_environment_in_every_revision(changing: Path, version: str) -> None:
    with StdioClient(changing, environment={"TOOLS_TOKEN": "x"}) as client:
        client.initialize(version)
        tools = {tool["name"]: tool for tool in client.ask("tools/list")["result"]["tools"]}
        assert [*tools] == ["add", "secret"]
        assert tools["secret"].keys() == {"name", "description", "inputSchema"} | LATER_FIELDS[version]


READ_ONLY = [("secret", "called secret"), ("add", None), ("absent", None)]


def test_what_is_chosen_of_a_list_is_decided_by_what_the_program_answers(changing: Path) -> None:
    with StdioClient(changing, "--read-only", environment={"TOOLS_TOKEN": "x"}) as client:
        client.initialize()
        assert names(client) == ["secret"]
        for name, text in READ_ONLY:
            answer = client.ask("tools/call", {"name": name, "arguments": {"name": "x"}})
            assert (answer["result"]["content"][0]["text"] if text else answer["error"]["message"]) == (
                text or f"Unknown tool: {name}"
            )


def test_a_chosen_name_needs_no_list_in_the_stateless_era(changing: Path) -> None:
    with served(changing, "--tools", "add,new", environment={"TOOLS_TOKEN": "x"}) as server:
        for name, text in (("add", "called add"), ("secret", "Unknown tool: secret")):
            message = post_stateless(server.url, "tools/call", {"name": name, "arguments": {"name": "new"}}).message
            assert text in json.dumps(message)
        listed = post_stateless(server.url, "tools/list").message["result"]["tools"]
        assert [tool["name"] for tool in listed] == ["add"]
        listed = post_stateless(server.url, "tools/list", {"cursor": "2"}).message["result"]["tools"]
        assert [tool["name"] for tool in listed] == ["new"]


def test_a_list_of_the_stateless_era_is_for_its_client_only(changing: Path) -> None:
    with served(changing) as server:
        result = post_stateless(server.url, "tools/list").message["result"]
        assert [tool["name"] for tool in result["tools"]] == ["add"]
        assert (result["ttlMs"], result["cacheScope"], result["resultType"]) == (0, "private", "complete")
        built = post_stateless(server.url, "prompts/list").message["result"]
        assert built["cacheScope"] == "public"


def test_what_is_added_is_listed_called_and_notified_of(client: StdioClient) -> None:
    assert client.initialize()["capabilities"]["tools"] == {"listChanged": True}
    assert names(client) == ["add"]
    assert (
        client.call_tool("new")["content"][0]["text"] == "called new"
    )  # as with the SDK, whose handlers get every name
    assert client.call_tool("add", name="new")["content"][0]["text"] == "called add"
    assert any(message.get("method") == CHANGED for message in client.said)
    assert names(client) == ["add", "new"]


def test_a_list_that_cannot_be_made_is_an_error_and_the_server_lives_on(changing: Path) -> None:
    with StdioClient(changing, environment={"TOOLS_FAIL": "1"}) as client:
        client.initialize()
        assert "the service is not there" in client.ask("tools/list")["error"]["message"]
        assert names(client, "prompts") == ["ask"]


def test_other_lists_need_no_program(changing: Path, tmp_path: Path) -> None:
    with StdioClient(changing, environment={"PATH": "", "HOME": str(tmp_path)}) as client:
        client.initialize()
        assert names(client, "prompts") == ["ask"]
        assert not [*tmp_path.iterdir()]  # nothing was unpacked


def test_lists_over_http_with_sessions_and_subscriptions(changing: Path) -> None:
    listen = stateless("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, "s")
    headers = {**TYPES, **dict(mirrors("subscriptions/listen"))}
    with served(changing) as server:
        request = urllib.request.Request(server.url, json.dumps(listen).encode(), headers)
        with urllib.request.urlopen(request, timeout=30) as stream:
            assert event(stream)["params"]["notifications"] == {"toolsListChanged": True}
            params = {"name": "add", "arguments": {"name": "new"}}
            assert post_stateless(server.url, "tools/call", params).status == 200
            assert event(stream)["method"] == CHANGED
        initialize = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        begun = post(server.url, {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize})
        session = {"mcp_session_id": begun.headers["mcp-session-id"]}
        listed = post(server.url, {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}, **session).message["result"]
        assert [tool["name"] for tool in listed["tools"]] == ["add", "new"]
        assert "ttlMs" not in listed


def event(stream: Any) -> Any:
    """Return the message of the next event of a stream."""
    while not (line := stream.readline()).startswith(b"data: {"):
        assert line
    return json.loads(line[6:])


def test_a_token_for_some_tools_sees_only_those(changing: Path, tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    tokens.touch(0o600)
    tokens.write_text("all the-token-of-all-of-them\nsome the-token-of-some-tools other*\n")
    with served(changing, "--token-file", str(tokens), environment={"TOOLS_TOKEN": "x"}) as server:
        every, some = ({"authorization": f"Bearer the-token-of-{name}"} for name in ("all-of-them", "some-tools"))
        seen = post_stateless(server.url, "tools/list", **every).message["result"]["tools"]
        assert [tool["name"] for tool in seen] == ["add", "secret"]
        assert post_stateless(server.url, "tools/list", **some).message["result"]["tools"] == []
        refused = post_stateless(server.url, "tools/call", {"name": "secret", "arguments": {}}, **some)
        assert refused.message["error"] == {"code": -32602, "message": "Unknown tool: secret"}


def test_middleware_of_lists_and_lifespans_that_register(visitor: StdioClient) -> None:
    visitor.initialize()
    assert names(visitor, "prompts") == ["first"]  # built
    assert names(visitor) == ["unlock", "grow"]
    (late,) = visitor.ask("resources/list")["result"]["resources"]
    assert late["uri"] == "data://late"
    assert visitor.ask("resources/read", {"uri": "data://late"})["result"]["contents"][0]["text"] == "late"
    assert "error" in visitor.ask("resources/read", {"uri": "data://none"})
    assert visitor.call_tool("hidden")["content"][0]["text"] == "hidden"  # it is not listed, and may be called
    assert visitor.ask("tools/list", {"cursor": "1"})["error"]["code"] == -32602


def test_a_session_sees_what_it_was_shown(sessions: Path) -> None:
    with served(sessions) as server:
        first, second = (begin(server.url) for _ in range(2))
        assert in_session(server.url, first, "tools/call", {"name": "rule", "arguments": {}})["isError"]
        in_session(server.url, first, "tools/call", {"name": "unlock", "arguments": {}})
        seen = {who: in_session(server.url, who, "tools/list")["tools"] for who in (first, second)}
        assert [tool["name"] for tool in seen[first]] == ["rule", "unlock", "grow"]
        assert [tool["name"] for tool in seen[second]] == ["unlock", "grow"]
        assert not in_session(server.url, first, "tools/call", {"name": "rule", "arguments": {}}).get("isError")
        assert in_session(server.url, second, "tools/call", {"name": "rule", "arguments": {}})["isError"]


def begin(url: str) -> str:
    """Begin a session, and return its id."""
    initialize = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    begun = post(url, {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize})
    return begun.headers["mcp-session-id"]


def in_session(url: str, session: str, method: str, params: object = None) -> Any:
    """Return the result of a request in a session."""
    message = {"jsonrpc": "2.0", "id": 2, "method": method, **({} if params is None else {"params": params})}
    answer = post(url, message, mcp_session_id=session).body.decode()
    lines = [line.removeprefix("data: ") for line in answer.splitlines() if line.removeprefix("data: ").startswith("{")]
    (found,) = [each for each in map(json.loads, lines) if "id" in each]
    return found["result"]


def test_a_list_that_was_built_is_made_at_run_time_once_it_has_changed(visitor: StdioClient) -> None:
    visitor.initialize()
    assert names(visitor, "prompts") == ["first"]
    assert "error" in visitor.ask("prompts/get", {"name": "fresh", "arguments": {"word": "x"}})
    visitor.call_tool("grow")
    assert any(message.get("method") == "notifications/prompts/list_changed" for message in visitor.said)
    assert names(visitor, "prompts") == ["first", "fresh"]
    fresh = visitor.ask("prompts/get", {"name": "fresh", "arguments": {"word": "x"}})["result"]
    assert fresh["messages"][0]["content"]["text"] == "fresh x"
    assert visitor.ask("prompts/get", {"name": "first"})["result"]["messages"][0]["content"]["text"] == "first"


def test_the_context_of_the_sdk_is_an_argument_of_a_tool_of_fastmcp(tmp_path: Path) -> None:
    """FastMCP injects its own context only: the framework itself runs this, and an object of a client is no context."""
    source = """
from fastmcp import FastMCP
from mcp.server.fastmcp import Context

mcp = FastMCP("mixed")


@mcp.tool
async def run(path: str, ctx: Context) -> str:
    '''Run.'''
    await ctx.info("running")
    return path
"""
    project = '[project]\nname = "mixed"\nversion = "1.0"\ndependencies = ["fastmcp>=3.4,<4"]\n'
    write_files(tmp_path / "project", {"server.py": source, "pyproject.toml": project})
    with StdioClient(build(tmp_path / "project", tmp_path / "server.pyz")) as client:
        client.initialize()
        (tool,) = client.ask("tools/list")["result"]["tools"]
        assert tool["inputSchema"]["required"] == ["path", "ctx"]
        assert tool["inputSchema"]["properties"]["ctx"]["type"] == "object"
        assert client.call_tool("run", path="x")["isError"]
        answer = client.call_tool("run", path="x", ctx={})["content"][0]["text"]
        assert answer == "Error calling tool 'run': Context is not available outside of a request"


LOW = """import asyncio, MODULES
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.types import Tool

async def main():
    server = Server("x", version="1")
    told = TOLD

    @server.list_tools()
    async def list_tools():
        return [Tool(name="now", description=f"Uses {told}", inputSchema={"type": "object"})]

    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())

asyncio.run(main())
"""
TOLD = {
    "zone": "time.tzname[0]", "variable": "os.environ.get('USER', 'nobody')", "account": "pwd.getpwuid(0).pw_name",
    "host": "socket.gethostname()", "system": "platform.system()", "folder": "os.getcwd()",
    "home": "pathlib.Path.home()", "temporary": "tempfile.gettempdir()", "locale": "locale.getlocale()[0]",
    "chance": "uuid.uuid4()",
}  # fmt: skip


def test_what_depends_on_the_machine_is_not_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    modules = "import locale, os, pathlib, platform, pwd, socket, tempfile, time, uuid\n"
    tools = [f"@server.tool(description='Uses ' + str({told}))\ndef {name}(): ...\n" for name, told in TOLD.items()]
    code = f"server = FastMCP('x', instructions=socket.gethostname())\n{''.join(tools)}server.run()\n"
    described: list[Any] = []
    compare = runs.with_machine_state
    monkeypatch.setattr(
        runs, "with_machine_state", lambda here, there: described.extend((here, there)) or compare(here, there)
    )
    files, marks = marked(
        {"server.py": f"{modules}from mcp.server.fastmcp import FastMCP\n{code}".replace("@", "»@", 1)}
    )
    found, problems = parsed({**files, "requirements.txt": "mcp<2"})
    assert found is not None, problems
    assert found.run_time.kinds == {"tools"}
    here, there = (
        {item.entry["name"]: item.entry["description"] for item in each.lists["tools"]} for each in described
    )
    assert [name for name in TOLD if here[name] == there[name]] == []
    told = [problem for problem in problems if problem.code in ("MCP291", "MCP304")]
    assert "`zone` has `Uses UTC` here and `Uses JST` on another machine" in told[1].message
    assert "`instructions` of the server depends on where the program runs" in told[0].message
    assert "`another-host` on another machine" in told[0].message
    assert [place[1:] for place in places(told[1:], files)] == [marks[0]]


def test_a_list_of_a_low_level_server_knows_its_machine_from_outside() -> None:
    code = LOW.replace("MODULES", "time").replace("TOLD", "time.tzname[0]")
    found, problems = parsed({"server.py": code, "requirements.txt": "mcp<2"})
    assert found is not None, problems
    assert found.run_time.kinds == {"tools"}
    assert "`now` has `Uses UTC` here and `Uses JST` on" in " ".join(problem.message for problem in problems)


@pytest.mark.parametrize("carried", [False, True], ids=["stand-ins", "framework"])
def test_a_low_level_server_announces_only_what_it_has_handlers_for(carried: bool) -> None:
    code = LOW.replace("MODULES", "json").replace("TOLD", "'x'")
    options = "server.create_initialization_options(NotificationOptions(resources_changed=True, tools_changed=True))"
    code = code.replace("server.create_initialization_options()", options)
    code = code.replace("import Server", "import NotificationOptions, Server")
    server, problems = lowered(
        {"server.py": code, "requirements.txt": "mcp<2"}, Options(framework="original" if carried else "")
    )
    assert server is not None, problems
    assert server.run_time.changing == {"tools"}
    assert not server.has_resources


def test_what_is_the_same_on_every_machine_is_compiled() -> None:
    told = LOW.replace("MODULES", "os, time").replace("TOLD", "f'{os.sep}{time.__name__}'")
    found, problems = parsed({"server.py": told, "requirements.txt": "mcp<2"})
    assert found is not None, problems
    assert (found.run_time.kinds, [problem.code for problem in problems]) == (frozenset(), ["MCP289"])


def test_the_framework_itself_is_asked_on_another_machine_too() -> None:
    told = LOW.replace("MODULES", "time").replace("TOLD", "time.tzname[0]")
    files = {"server.py": told, "requirements.txt": "mcp<2"}
    found, problems = parsed(files, Options(framework="original"))
    assert found is not None, problems
    assert "`now` has `Uses UTC` here and `Uses JST` on" in " ".join(problem.message for problem in problems)


LATE = """
from contextlib import asynccontextmanager
from fastmcp import FastMCP
class Application:
    def __init__(self):
        self.server = FastMCP("late", lifespan=self.lifespan)
    @asynccontextmanager
    async def lifespan(self, server):
        self.register()
        yield {}
    def register(self):
        getattr(self.server, "to" + "ol")(len)
application = Application()
"""


def test_all_lists_of_a_server_that_offers_nothing_before_its_lifespan_are_made_at_run_time() -> None:
    for more, kinds in (("", 3), ("application.server.tool(lambda: 1, name='early')\n", 0)):
        found, problems = parsed({"server.py": f"{LATE}{more}application.server.run()\n"})
        assert found is not None, problems
        told = [problem.message for problem in problems if problem.code == "MCP291"]
        assert [text.partition(":")[0] for text in told] == [
            f"the list of {kind} is empty before the lifespan" for kind in ("prompts", "resources", "tools")[:kinds]
        ]
