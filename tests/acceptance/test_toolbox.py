"""ToolBox's acceptance cases, by number, against a built file and the real Node.

`EXACT` is a server built with `--dialect toolbox`; `PLAIN` is the default, where lists have each thing in its place and
an unknown tool is a protocol error.
"""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from support.artifact import build, converse, mcpc
from support.needs import ROOT, lacking, needs, needs_node
from support.serving import served

PROJECT = Path(__file__).parent / "toolbox"
ORIGINAL = "TESTS_TOOLBOX"
"""The variable that names a checkout of ToolBox, whose own tools are tried."""


class Server:
    """A built server with a folder of its own for what its tools write."""

    def __init__(self, artifact: Path, home: Path) -> None:
        self.artifact = artifact
        self.home = home
        self.errors = ""

    @property
    def log(self) -> list[dict]:
        return [json.loads(line) for line in (self.home / "log/ToolBox.log").read_text().splitlines()]

    def ask(self, *requests: tuple[str, dict], **variables: str) -> list[dict]:
        found: list[dict] = []
        environment = {**os.environ, "MCPC_TOOLBOX_HOME": str(self.home), **variables}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with subprocess.Popen([self.artifact], env=environment, text=True, **pipes) as process:
            for number, (method, params) in enumerate(requests):
                message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
                process.stdin.write(json.dumps(message) + "\n")
                process.stdin.flush()
                found.append(json.loads(process.stdout.readline()))
            rest, self.errors = process.communicate(timeout=60)
        assert (process.returncode, rest) == (0, "")
        return found

    def call(self, name: str, arguments: object = None) -> dict:
        return self.ask(calling(name, arguments))[0]


def calling(name: str, arguments: object = None) -> tuple[str, dict]:
    return "tools/call", {"name": name} if arguments is None else {"name": name, "arguments": arguments}


def text(reply: dict) -> str:
    (block,) = reply["result"]["content"]
    return block["text"]


def failed(reply: dict) -> str:
    assert reply["result"]["isError"] is True
    return text(reply)


@pytest.fixture(scope="session")
def artifacts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    needs_node()
    folder = tmp_path_factory.mktemp("toolbox")
    return {name: build(PROJECT, folder / f"{name}.pyz", "--http", "--dialect", name) for name in ("mcp", "toolbox")}


@pytest.fixture
def plain(artifacts: dict[str, Path], tmp_path: Path) -> Server:
    return Server(artifacts["mcp"], tmp_path / "home")


@pytest.fixture
def exact(artifacts: dict[str, Path], tmp_path: Path) -> Server:
    return Server(artifacts["toolbox"], tmp_path / "home")


def test_case_1_greetings(plain: Server) -> None:
    asked = [("fr", "Bonjour, Al!"), ("zh", "你好,Al!"), ("en", "Hello, Al!")]
    replies = plain.ask(*(calling("hello_world", {"name": "Al", "language": language}) for language, _ in asked))
    assert [text(reply) for reply in replies] == [greeting for _, greeting in asked]
    assert text(plain.call("hello_world", {"name": "Al"})) == "Hello, Al!"


def test_case_2_no_argument_is_missed_by_the_server(plain: Server) -> None:
    assert failed(plain.call("hello_world", {})) == "Error: The name parameter must be a non-empty string"


def test_case_3_without_arguments_there_are_none(plain: Server) -> None:
    assert failed(plain.call("hello_world")).startswith("Error: Cannot destructure property 'name'")
    reply = plain.call("verbatim")
    assert json.loads(text(reply)) == {"name": "verbatim"}
    assert reply["result"]["structuredContent"] == {"seen": False}
    assert reply["result"]["_meta"]["example.org/mark"] == 1


def test_case_4_the_name_of_the_file_holds(plain: Server, exact: Server) -> None:
    assert text(plain.call("hello_world", {"name": "Al"})) == "Hello, Al!"
    assert text(plain.call("hello_world_other", {"name": "Al"})) == "Hello, Al!"  # better: the other name as well
    assert failed(exact.call("hello_world_other", {"name": "Al"})) == '"Unknown tool: hello_world_other"'


def test_case_5_what_is_thrown_is_json(plain: Server) -> None:
    assert failed(plain.call("thrower")) == r'"boom \"q\""'
    assert failed(plain.call("py_add", {"a": -1, "b": 1})) == r'"no \"less\" than nothing"'


def test_case_6_an_unknown_tool(plain: Server, exact: Server) -> None:
    assert failed(exact.call("x")) == '"Unknown tool: x"'
    assert plain.call("x")["error"] == {"code": -32602, "message": "Unknown tool: x"}  # as MCP says
    assert failed(plain.call("greet_chain", {"call": "x"})) == '"Unknown tool: x"'  # among tools it is a result


def test_case_7_a_chain(plain: Server) -> None:
    assert text(plain.call("greet_chain")) == "Hello, Chain!"
    assert [(row["tool"], row.get("caller")) for row in plain.log[1:]] == [
        ("hello_world", "greet_chain_1"),
        ("greet_chain", "ai"),
    ]


def test_case_7_a_chain_through_another_language(plain: Server) -> None:
    assert text(plain.call("py_add", {"a": 1, "b": 2})) == "Hello, 3!"
    assert [(row["tool"], row.get("caller")) for row in plain.log if row["tool"] != "system"] == [
        ("hello_world", "py_add_1"),
        ("py_add", "ai"),
    ]
    assert "py_add is destroyed" in plain.errors


def test_case_7_a_chain_of_an_asynchronous_function(plain: Server) -> None:
    reply = plain.call("py_later", {"names": ["A", "B"]})
    assert [block["text"] for block in reply["result"]["content"]] == ["Hello, A!", "Hello, B!"]
    *callees, last = ((row["tool"], row.get("caller")) for row in plain.log if row["tool"] != "system")
    assert sorted(callees) == [("hello_world", "py_later_A"), ("hello_world", "py_later_B")]
    assert last == ("py_later", "ai")


def test_case_8_a_result_reaches_its_caller_whole(plain: Server) -> None:
    assert text(plain.call("weather_report", {"city": "Rome"})) == "Rome: clear, 4 degrees"
    assert json.loads(text(plain.call("weather_source", {"city": "Rome"}))) == {"sky": "clear", "degrees": 4}


def test_case_9_lines_of_the_log(plain: Server) -> None:
    plain.ask(calling("hello_world", {"name": "Al"}), calling("thrower", {"a": 1}), calling("verbatim"))
    started, success, failure, bare = plain.log
    assert list(started) == ["ts", "tool", "args", "stat", "err"]
    assert started["tool"], started["stat"] == ("system", "info")
    assert list(success) == ["ts", "tool", "caller", "args", "stat", "cost"]
    assert success | {"ts": "", "cost": 0} == {
        "ts": "",
        "tool": "hello_world",
        "caller": "ai",
        "args": {"name": "Al"},
        "stat": "success",
        "cost": 0,
    }
    assert list(failure) == ["ts", "tool", "args", "stat", "err", "trace", "cost"]
    assert (failure["stat"], failure["err"], failure["args"]) == ("error", 'boom "q"', {"a": 1})
    assert failure["trace"].startswith('Error: boom "q"\n    at ')
    assert list(bare) == ["ts", "tool", "caller", "stat", "cost"]
    for row in plain.log:
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", row["ts"])
        assert isinstance(row.get("cost", 0), int)


def test_case_9_python_writes_the_same_lines(plain: Server) -> None:
    plain.ask(calling("py_add", {"a": 1, "b": 2}), calling("py_add", {"a": -1, "b": 2}))
    success, failure = (row for row in plain.log if row["tool"] == "py_add")
    assert list(success) == ["ts", "tool", "caller", "args", "stat", "cost"]
    assert list(failure) == ["ts", "tool", "args", "stat", "err", "trace", "cost"]


def test_case_10_notes(plain: Server) -> None:
    created, listed, read, missing, prompt, unknown = plain.ask(
        calling("create_note", {"title": "T", "content": "C"}),
        ("resources/list", {}),
        ("resources/read", {"uri": "note:///1"}),
        ("resources/read", {"uri": "note:///9"}),
        ("prompts/get", {"name": "summarize_notes"}),
        ("prompts/get", {"name": "zz"}),
    )
    assert text(created) == '{\n  "message": "Created note 1: T",\n  "id": "1"\n}'
    assert listed["result"]["resources"] == [{"uri": "note:///1", "name": "T"}]
    assert read["result"]["contents"] == [{"uri": "note:///1", "mimeType": "text/plain", "text": "C"}]
    assert missing["error"] == {"code": -32603, "message": "Note 9 not found"}
    messages = prompt["result"]["messages"]
    assert [message["content"]["type"] for message in messages] == ["text", "resource", "text"]
    assert messages[1]["content"]["resource"]["text"] == "C"
    assert unknown["error"]["code"] == -32602  # as MCP says; -32603 in the dialect


def test_case_10_the_dialect_has_the_code_of_toolbox(exact: Server) -> None:
    assert exact.ask(("prompts/get", {"name": "zz"}))[0]["error"] == {"code": -32603, "message": "Unknown prompt"}


def test_case_12_steps_with_what_makes_good(plain: Server) -> None:
    steps = [
        {"tool": "create_note", "args": {"title": "A", "content": "a"}},
        {"tool": "thrower", "args": {"title": "B", "content": "b"}, "instead": "create_note"},
    ]
    reply = plain.ask(calling("steps", {"steps": steps}), ("resources/list", {}))
    assert text(reply[0]) == "create_note: done\nthrower: failed"
    assert [one["name"] for one in reply[1]["result"]["resources"]] == ["A", "B"]
    callers = [row["caller"] for row in plain.log if row["tool"] == "create_note"]
    assert callers == ["steps_step_0", "steps_instead_1"]


def test_case_13_loading_anew_destroys_once(plain: Server) -> None:
    replies = plain.ask(*map(calling, ("counted", "counted", "reloading", "counted")))
    assert [text(replies[at]) for at in (0, 1, 3)] == ["1", "2", "1"]
    assert "counted" in text(replies[2]).split()
    assert plain.errors.count("counted is destroyed after 2") == 1
    assert plain.errors.count("counted is destroyed after 1") == 1  # at the end


def test_case_13_a_built_server_says_what_builds(plain: Server) -> None:
    said = json.loads(failed(plain.call("buildReload_tool")))
    assert said["error"] == "BuildReload_FAILED"
    assert "mcpc dev" in said["details"]["message"]


def test_case_14_over_http(plain: Server) -> None:
    """`serve --http` is what `PORT` was; sessions are signed, and a request without one is answered as MCP says."""
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    variables = {"MCPC_TOOLBOX_HOME": str(plain.home), "PORT": "1"}  # the variable means nothing any more
    with served(plain.artifact, environment=variables) as server:
        begun = posted(server.url, "initialize", client)
        session = re.search(r"(?im)^mcp-session-id: (\S+)", begun)
        assert begun.startswith("HTTP/1.1 200")
        called = posted(server.url, *calling("hello_world", {"name": "Al"}), f"mcp-session-id: {session[1]}")
        assert "Hello, Al!" in called
        refused = posted(server.url, *calling("hello_world", {"name": "Al"}), "mcp-session-id: nobody")
        assert refused.startswith("HTTP/1.1 404")


def posted(url: str, method: str, params: dict, *headers: str) -> str:
    needs("curl")
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    accepted = ("accept: application/json, text/event-stream", "content-type: application/json", *headers)
    words = [word for header in accepted for word in ("-H", header)]
    done = subprocess.run(
        ["curl", "-si", "--noproxy", "*", *words, "-d", body, url],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout


def test_nothing_is_an_empty_answer(plain: Server) -> None:
    assert plain.call("nothing")["result"]["content"] == []


def test_a_list_has_each_thing_in_its_place(plain: Server, exact: Server) -> None:
    tools = {tool["name"]: tool for tool in plain.ask(("tools/list", {}))[0]["result"]["tools"]}
    assert tools["verbatim"] == {
        "name": "verbatim",
        "title": "As it is",
        "description": "Give back a whole result.",
        "inputSchema": {"type": "object", "properties": {}},
        "annotations": {"readOnlyHint": True},
    }
    assert {"hello_world", "hello_world_other", "py_add"} <= tools.keys()
    shown = {tool["name"]: tool for tool in exact.ask(("tools/list", {}))[0]["result"]["tools"]}
    assert shown["hello_world"].keys() == {"name", "inputSchema"}
    assert list(shown["hello_world"]["inputSchema"])[:2] == ["name", "description"]
    assert "hello_world_other" not in shown
    info = exact.ask(("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}}))[0]["result"]["serverInfo"]
    assert info == {"name": "ToolBox", "version": "0.1.0"}


@pytest.fixture(scope="session")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """ToolBox's own project, built; packages come from npm."""
    needs_node()
    target = tmp_path_factory.mktemp("shipped") / "toolbox.pyz"
    done = mcpc("build", os.environ[ORIGINAL], "-o", target)
    if "MCP409" in done.stderr and "ENOTFOUND" in done.stderr:
        lacking("npm reaches no registry")
    assert done.returncode == 0, done.stderr
    return target


@pytest.mark.checkout(ORIGINAL)
def test_case_10_as_shipped(shipped: Path, tmp_path: Path) -> None:
    replies = Server(shipped, tmp_path / "home").ask(
        calling("create_note", {"title": "T", "content": "C"}),
        ("resources/list", {}),
        ("resources/read", {"uri": "note:///1"}),
        ("resources/read", {"uri": "note:///9"}),
        ("prompts/get", {"name": "summarize_notes"}),
    )
    created, listed, read, missing, prompt = replies
    assert json.loads(text(created)) == {"message": "Created note 1: T", "id": "1"}
    assert [one["uri"] for one in listed["result"]["resources"]] == ["note:///1"]
    assert read["result"]["contents"][0]["text"] == "C"
    assert missing["error"] == {"code": -32603, "message": "Note 9 not found"}
    assert len(prompt["result"]["messages"]) == 3


@pytest.mark.checkout(ORIGINAL)
def test_case_11_time(shipped: Path, tmp_path: Path) -> None:
    zero = {"action": "from_timestamp", "timestamp": 0, "timezone": "UTC"}
    right, wrong = Server(shipped, tmp_path / "home").ask(
        calling("time_tool", zero), calling("time_tool", {**zero, "timezone": "No/Where"})
    )
    assert text(right) == '{\n  "result": "1/1/1970"\n}'
    assert failed(wrong)


@pytest.mark.checkout(ORIGINAL)
def test_case_12_as_shipped(shipped: Path, tmp_path: Path) -> None:
    server = Server(shipped, tmp_path / "home")
    steps = [{"tool": "create_note", "args": {"title": "A", "content": "a"}}, {"tool": "nobody", "args": {}}]
    report = json.loads(text(server.call("workflow_tool", {"steps": steps})))
    assert [step["status"] for step in report["steps"]] == ["success", "success"]  # an error result is no failure there
    assert [(row["tool"], row.get("caller")) for row in server.log[1:]] == [
        ("create_note", "workflow_tool_step_0"),
        ("nobody", None),
        ("workflow_tool", "ai"),
    ]


@pytest.mark.checkout(ORIGINAL)
def test_shipped_tools_that_need_no_network(shipped: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("inside")
    evaluate = {"calculation_type": "evaluate_expression", "expression": "2 * (3 + 4)"}
    listed, calculated = Server(shipped, tmp_path / "home").ask(
        ("tools/list", {}), calling("calculator_tool", evaluate)
    )
    names = {tool["name"] for tool in listed["result"]["tools"]}
    assert {"buildReload_tool", "calculator_tool", "cli_tool", "compress_tool", "create_note", "excel_tool"} <= names
    assert {"fileSystem_tool", "log_tool", "schedule_tool", "time_tool", "workflow_tool"} <= names
    assert "14" in text(calculated)


def test_the_example_answers_as_it_was_recorded(tmp_path: Path) -> None:
    needs_node()
    project = ROOT / "examples/toolbox"
    server = build(project, tmp_path / "s.pyz", "--strict")
    lines = (project / "conversation.txt").read_text(encoding="utf-8").splitlines()
    asked = [line.removeprefix("--> ") for line in lines if line.startswith("--> ")]
    answers = {reply["id"]: reply for reply in (json.loads(line[4:]) for line in lines if line.startswith("<-- "))}
    variables = {**os.environ, "MCPC_TOOLBOX_HOME": str(tmp_path / "home")}
    done = converse([server], "\n".join(asked).encode() + b"\n", env=variables)
    assert {reply["id"]: reply for reply in map(json.loads, done.stdout.splitlines())} == answers
    assert len(answers) == len(lines) - len(asked)
    assert b"the report is closed" in done.stderr
