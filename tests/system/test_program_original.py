"""Programs that are built with their framework (`--framework original`): the lists are compiled, calls are forwarded."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcpc.options import Options
from support.artifact import build, built_fixture, mcpc
from support.files import write_files
from support.needs import ROOT
from support.processes import of_process, processes_with, until
from support.projects import marked, parsed, places
from support.stdio import StdioClient, only_text, replies

PROJECT = ROOT / "tests/system/programs/original"
OPTION = "--framework=original"
ELICITS = {"elicitation": {}}


server = built_fixture(PROJECT, OPTION, "--http")


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    files = {"LEFT_FILE": str(tmp_path / "left"), "CANCELLED_FILE": str(tmp_path / "cancelled")}
    return {"ORIGINAL_VARIABLE": "given", **files}


@pytest.fixture
def client(server: Path, variables: dict[str, str]) -> Iterator[StdioClient]:
    found = StdioClient(server, environment=variables)
    yield found
    found.close()


LACKING = {
    "a class": "from mcp.client.session_group import ClientSessionGroup\n»ClientSessionGroup()\n",
    "a name": "from mcp.server.auth.provider import »construct_redirect_uri\n",
    "an attribute": "mcp.»_event_store\n",
}
"""Parts of the official SDK without a stand-in."""
LACKING_HEAD = (
    'from mcp.server.fastmcp import FastMCP\nmcp = FastMCP("a")\n@mcp.tool()\ndef add() -> int:\n    return 1\n'
)
FASTMCP_HEAD = LACKING_HEAD.replace("mcp.server.fastmcp", "fastmcp")


LACKING_FASTMCP = {
    "middleware that is ready": "from fastmcp.server.middleware.»timing import TimingMiddleware\n",
    "a method in a function": "def later(server):\n    server.»add_provider(1)\n",
    "a hook of middleware": "class Hello:\n    async def »on_initialize(self, context, call_next):\n        pass\n",
    "a version of a component": "@»mcp.tool(version='1.0')\ndef one() -> int:\n    return 1\n",
}
"""Parts of FastMCP without a stand-in."""


@pytest.mark.parametrize("name", [*LACKING, *LACKING_FASTMCP])
@pytest.mark.sampled(4)
def test_what_has_no_stand_in_lets_the_framework_be_bundled(name: str) -> None:
    package, head = ("mcp 1.26.0", LACKING_HEAD) if name in LACKING else ("fastmcp 4.1.2", FASTMCP_HEAD)
    lines = {**LACKING, **LACKING_FASTMCP}[name]
    files, marks = marked({"server.py": f"{head}{lines}mcp.run()\n"})
    found, problems = parsed({**files, "requirements.txt": f"{package.replace(' ', '==')}\n"})
    assert found is not None, problems
    assert found.tools[0].node.value["name"] == "add"
    (note,) = [problem for problem in problems if problem.code == "MCP296"]
    assert [place[1:] for place in places([note], files)] == marks
    assert note.message.startswith(f"{package} itself handles calls, because ")
    assert "mcpc_runtime" not in note.message
    assert {item.name for item in found.requirements or ()} >= {package.partition(" ")[0]}


def test_an_object_that_makes_its_server_when_it_is_used_is_served() -> None:
    written = (
        "from mcp.server.fastmcp import FastMCP\n\n\nclass Late:\n    made = None\n\n    def __getattr__(self, name):\n"
        "        if Late.made is None:\n            Late.made = FastMCP('late')\n            Late.made.tool()(add)\n"
        "        return getattr(Late.made, name)\n\n\ndef add(a: int) -> int:\n    return a\n\n\nmcp = Late()\n"
    )
    files = {"server.py": written, "requirements.txt": "mcp==1.26.0\n"}
    for way in ("adapter", "original"):
        found, problems = parsed(files, Options(entry="server.py:mcp", framework=way))
        assert found is not None, problems
        assert [tool.node.value["name"] for tool in found.tools] == ["add"]


def test_a_framework_that_cannot_be_installed_is_not_bundled() -> None:
    written = f"{LACKING_HEAD}{LACKING['a class']}".replace("»", "")
    found, problems = parsed({"server.py": written, "requirements.txt": "mcp==1.26.999\n"})
    assert found is None
    (problem,) = [problem for problem in problems if problem.severity == "error"]
    assert problem.code == "MCP290"
    assert "`--framework original`" in problem.hint


def test_build_check_and_inspect_say_that_the_framework_is_bundled(server: Path) -> None:
    checked = mcpc("check", str(PROJECT), OPTION)
    assert "MCP296" in checked.stderr
    assert "first call" in checked.stderr
    assert "itself handles calls" in mcpc("inspect", str(server)).stdout
    built = mcpc("build", str(PROJECT), OPTION, "--http", "-o", str(server.with_name("again.pyz")))
    assert "itself handles calls" in built.stderr
    assert "runs on: " in built.stderr


def test_the_lists_are_there_without_the_program(server: Path) -> None:
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    initialized, tools = replies(server, [("initialize", hello), ("tools/list", None)])
    assert initialized["result"]["serverInfo"]["name"] == "Original"
    assert initialized["result"]["instructions"] == "Runs with its framework."
    named = {tool["name"]: tool for tool in tools["result"]["tools"]}
    assert named["add"]["inputSchema"]["required"] == ["a", "b"]
    assert named["add"]["outputSchema"]["properties"]["total"] == {"title": "Total", "type": "integer"}
    assert "through_a_client" in named


def test_calls(client: StdioClient) -> None:
    client.initialize()
    assert client.call_tool("add", a=1, b=2)["structuredContent"] == {"total": 3}
    assert client.call_tool("fail")["isError"]
    assert "1 validation error for addArguments" in only_text(client.call_tool("add", a=1))
    assert only_text(client.call_tool("through_a_client", a=4)) == "8"
    assert only_text(client.call_tool("state")) == "given 1"
    prompt = client.ask("prompts/get", {"name": "greet", "arguments": {"name": "Ann"}})["result"]
    assert prompt["messages"] == [{"role": "user", "content": {"type": "text", "text": "Greet Ann."}}]
    (read,) = client.ask("resources/read", {"uri": "original://bob/about"})["result"]["contents"]
    assert read["text"] == "about bob"
    params = {"ref": {"type": "ref/prompt", "name": "greet"}, "argument": {"name": "name", "value": "x"}}
    assert client.ask("completion/complete", params)["result"]["completion"]["values"] == ["x-1", "x-2"]
    assert "error" in client.ask("resources/read", {"uri": "original://nothing"})


def test_a_list_that_the_lifespan_adds_to_is_made_at_run_time(client: StdioClient) -> None:
    client.initialize()
    (listed,) = client.ask("resources/list")["result"]["resources"]
    assert (listed["uri"], listed["description"]) == ("original://late", "Read what the lifespan adds.")
    (read,) = client.ask("resources/read", {"uri": "original://late"})["result"]["contents"]
    assert read["text"] == "late"
    (template,) = client.ask("resources/templates/list")["result"]["resourceTemplates"]
    assert template["uriTemplate"] == "original://{name}/about"


def test_a_crash_is_a_tool_error_and_the_next_call_starts_the_program_again(client: StdioClient) -> None:
    client.initialize()
    assert client.call_tool("add", a=1, b=2)["structuredContent"] == {"total": 3}
    crashed = client.call_tool("crash")
    assert crashed["isError"]
    assert "exited with status 7" in only_text(crashed)
    assert only_text(client.call_tool("state")) == "given 0"


def test_the_user_is_asked_through_the_client(client: StdioClient) -> None:
    client.answers = lambda _: {"result": {"action": "accept", "content": {"color": "red"}}}
    client.initialize(capabilities=ELICITS)
    assert only_text(client.call_tool("ask")) == "accept red"


def test_a_cancelled_call_is_cancelled_in_the_program(client: StdioClient, variables: dict[str, str]) -> None:
    client.initialize()
    client.ask("logging/setLevel", {"level": "debug"})
    number = client.begin("tools/call", {"name": "forever", "arguments": {}})
    while client.message().get("method") != "notifications/message":
        continue
    client.send({"method": "notifications/cancelled", "params": {"requestId": number}})
    assert client.call_tool("add", a=1, b=2)["structuredContent"] == {"total": 3}
    until(Path(variables["CANCELLED_FILE"]).exists)


def test_a_cancellation_that_crosses_the_answer_ends_nothing(client: StdioClient, variables: dict[str, str]) -> None:
    """Its answer waits behind one that nobody reads yet; the program is talked to without the server between."""
    client.initialize()
    client.call_tool("add", a=1, b=2)
    (pid,) = program_processes(variables["LEFT_FILE"].encode())
    words = [word.decode() for word in of_process(pid, "cmdline").split(b"\0")[1:-1]]
    with StdioClient(*words, environment=variables) as program:
        assert program.process.stdout.readline() == b"printed to standard output\n"
        program.initialize()
        program.begin("tools/call", {"name": "long_text", "arguments": {}})
        crossed = program.begin("tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}})
        for _ in range(2):
            await_log(program, b"CallToolRequest")
        program.send({"method": "notifications/cancelled", "params": {"requestId": crossed}})
        assert program.call_tool("add", a=3, b=4)["structuredContent"] == {"total": 7}


def test_the_lifespan_is_left_at_the_end_and_prints_are_for_the_operator(
    client: StdioClient, variables: dict[str, str]
) -> None:
    client.initialize()
    assert only_text(client.call_tool("state")) == "given 0"
    said, complained = client.end()
    assert said == b""
    assert complained.count(b"lifespan begins") == 1
    assert b"printed to standard output" in complained
    assert Path(variables["LEFT_FILE"]).read_text() == "left"


def test_a_killed_server_leaves_no_process(client: StdioClient, variables: dict[str, str]) -> None:
    client.initialize()
    client.call_tool("add", a=1, b=2)
    mark = variables["LEFT_FILE"].encode()
    assert len(program_processes(mark)) == 1
    os.kill(client.process.pid, signal.SIGKILL)
    until(lambda: program_processes(mark) == [])


def await_log(client: StdioClient, said: bytes) -> None:
    """Read its standard error up to a line with `said`."""
    while said not in (line := client.process.stderr.readline()):
        assert line, "it has ended"


def program_processes(mark: bytes) -> list[int]:
    return [pid for pid in processes_with(b"original.process", "cmdline") if mark in of_process(pid, "environ")]


LOW_LEVEL = """
from contextlib import asynccontextmanager
from mcp.server.lowlevel import Server
from mcp.types import Prompt, Resource, Tool

opened = {}

@asynccontextmanager
async def lifespan(server):
    opened["names"] = ["a"]
    yield {"names": ["a"]}

server = Server("low", lifespan=lifespan)

@server.list_tools()
async def tools() -> list[Tool]:
    return [Tool(name="a", description="Be a tool.", inputSchema={"type": "object"})]
"""
OF_CONTEXT = """
@server.list_prompts()
async def prompts() -> list[Prompt]:
    return [Prompt(name=name) for name in server.request_context.lifespan_context["names"]]
"""
OF_CONTEXT_IF_ANY = OF_CONTEXT.replace('["names"]', '.get("names", [])')
OF_VARIABLE = """
@server.list_resources()
async def resources() -> list[Resource]:
    return [Resource(name=name, uri="x://a") for name in opened.get("names", [])]
"""
OWN_TRANSPORT = """
import asyncio
from mcp.server.stdio import stdio_server

async def main() -> None:
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())

asyncio.run(main())
"""
HIGH_LEVEL = """
from contextlib import asynccontextmanager
from mcp.server.fastmcp import FastMCP

@asynccontextmanager
async def lifespan(server):
    BODY
    yield {"names": ["a"]}

def late() -> str:
    return "late"

server = FastMCP("high", lifespan=lifespan)

@server.tool()
def a() -> str:
    return "a"
"""
FAILS = "the list of prompts cannot be made without a client: "
NEEDS = f"{FAILS}it needs what the lifespan opens, which is not entered at build"
AFTER = "is made after the lifespan, which calls"
RUN_TIME_LISTS: dict[str, tuple[str, dict[str, str], list[str]]] = {
    "it opens something else": (HIGH_LEVEL.replace("BODY", "print(server.name)"), {}, []),
    "it adds a tool": (HIGH_LEVEL.replace("BODY", "server.add_tool(late)"), {"tools": f"{AFTER} `add_tool`"}, []),
    "it adds a prompt": (HIGH_LEVEL.replace("BODY", "server.prompt()(late)"), {"prompts": f"{AFTER} `prompt`"}, []),
    "constant lists": (LOW_LEVEL, {}, []),
    "of its context": (LOW_LEVEL + OF_CONTEXT, {"prompts": "is made by `prompts`, which reads `server`"}, [NEEDS]),
    "of its context, if there is any": (LOW_LEVEL + OF_CONTEXT_IF_ANY, {"prompts": "which reads `server`"}, [NEEDS]),
    "of a variable": (LOW_LEVEL + OF_VARIABLE, {"resources": "is made by `resources`, which reads `opened`"}, []),
    "over its own transport": (LOW_LEVEL + OF_VARIABLE + OWN_TRANSPORT, {"resources": "which reads `opened`"}, []),
    "a list that fails": (
        LOW_LEVEL + OF_CONTEXT.replace("server.request", "SERVER.request"),
        {"prompts": "which reads `SERVER`"},
        [f"{FAILS}name 'SERVER' is not defined"],
    ),
}


@pytest.mark.parametrize("name", RUN_TIME_LISTS)
def test_lists_that_need_the_lifespan_are_made_at_run_time(name: str) -> None:
    written, reasons, fails = RUN_TIME_LISTS[name]
    found, problems = parsed({"server.py": written, "requirements.txt": "mcp<2\n"}, Options(framework="original"))
    assert found is not None, problems
    assert found.run_time.kinds == reasons.keys()
    told = [problem for problem in problems if problem.code == "MCP291"]
    assert len(told) == len(reasons)
    for problem, (kind, reason) in zip(told, reasons.items(), strict=True):
        assert problem.message.startswith(f"the list of {kind} ")
        assert reason in problem.message
        assert problem.span is not None
    assert [problem.message for problem in problems if problem.code == "MCP287"] == fails


MIDDLEWARE = """
from contextlib import asynccontextmanager
from fastmcp import FastMCP
from fastmcp.server.middleware import Middleware

@asynccontextmanager
async def lifespan(server):
    yield {"hidden": ["secret"]}

class Visible(Middleware):
    async def on_list_tools(self, context, call_next):
        hidden = context.fastmcp_context.request_context.lifespan_context["hidden"]
        return [tool for tool in await call_next(context) if tool.name not in hidden]

mcp = FastMCP("carried", lifespan=lifespan, middleware=[Visible()])
for name in ("ping", "secret"):
    mcp.tool(lambda: "x", name=name, description=name)
mcp.run()
"""


@pytest.mark.slow
def test_a_list_of_middleware_that_needs_the_lifespan_is_forwarded(tmp_path: Path) -> None:
    write_files(tmp_path / "project", {"server.py": MIDDLEWARE, "requirements.txt": "fastmcp==3.4.10\n"})
    with StdioClient(build(tmp_path / "project", tmp_path / "server.pyz", OPTION)) as client:
        client.initialize()
        assert [tool["name"] for tool in client.ask("tools/list")["result"]["tools"]] == ["ping"]
        assert only_text(client.call_tool("ping")) == "x"


FAULTS: dict[str, tuple[str, str, str]] = {
    "it ends the process": ("import os\nos._exit(3)\n", "MCP286", "it ended the process"),
    "a module is missing": ("»import not_there\n", "MCP209", "the module `not_there` is not available"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_of_a_program_with_its_framework(name: str) -> None:
    written, code, message = FAULTS[name]
    head = "from mcp.server.fastmcp import FastMCP\n"
    files, marks = marked({"server.py": f"{head}{written}", "requirements.txt": "mcp<2\n"})
    found, problems = parsed(files, Options(framework="original", entry="server.py"))
    assert found is None
    (problem,) = [problem for problem in problems if problem.severity == "error"]
    assert problem.code == code
    assert message in problem.message
    if marks:
        (place,) = places([problem], files)
        assert place[1:3] == marks[0][:2]
