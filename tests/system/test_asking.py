"""Handlers of built servers that ask their client, over standard input and output, in both eras and every form."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import mcp.types as types
import pytest
import yaml
from mcp import Client as PythonClient
from mcp import StdioServerParameters

from support.artifact import build
from support.files import write_files
from support.needs import ROOT, needs
from support.stdio import StdioClient, initialization

Answer = Callable[[dict[str, Any]], dict[str, Any]]

MODERN, LEGACY = "2026-07-28", "2025-11-25"
ALL = {"elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}}, "roots": {"listChanged": True}}
FORMS = ["worker", "loop", "inline", "bash"]

DATA = yaml.safe_load(Path(__file__).with_name("asking.yaml").read_text("utf-8"))
PYTHON = DATA["PYTHON"]

OK = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
DECLARED = {
    "ok": {"method": "elicitation/create", "params": {"message": "Delete {file}?", "requestedSchema": OK}},
    "where": {"method": "roots/list", "params": {}},
}


def tool(name: str, properties: dict[str, Any] | None = None, **running: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties or {}}
    return {"name": name, "description": f"{name}.", "inputSchema": schema, "_meta": {"mcpc/handler": running}}


FILE = {"file": {"type": "string"}}
TOOLS = [
    tool("who_bash"),
    tool("confirm", FILE),
    tool("alone", isolated=True),
    tool("declared", FILE, asks=DECLARED),
    tool("program", FILE, asks=DECLARED, command="bin/program"),
    tool("length", asks={"long": {"method": "roots/list", "params": {}}}, command="bin/length"),
]
PROGRAM = '#!/bin/sh\nprintf %s "$mcpc_answers"\n'
LENGTH = '#!/bin/sh\necho "${#mcpc_answers}"\n'
BASH = DATA["BASH"]


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The two servers, by language."""
    needs("bash", "sed")
    folder = tmp_path_factory.mktemp("asking")
    for name, files in {
        "python": {"server.py": PYTHON},
        "bash": {
            "server.json": json.dumps({"serverInfo": {"name": "b", "version": "1"}, "capabilities": {"tools": {}}}),
            "tools.json": json.dumps({"tools": TOOLS}),
            "tools.bash": BASH,
            "bin/program": PROGRAM,
            "bin/length": LENGTH,
        },
    }.items():
        (folder / name / "bin").mkdir(parents=True)
        write_files(folder / name, files)
    return {name: build(folder / name, folder / f"{name}.pyz") for name in ("python", "bash")}


class Client(StdioClient):
    def __init__(self, server: Path, version: str = LEGACY, capabilities: Any = None, **environment: str) -> None:
        self.version = version
        self.capabilities = ALL if capabilities is None else capabilities
        self.asked: list[dict[str, Any]] = []
        super().__init__(server, environment=environment)
        if version != MODERN:
            self.ask("initialize", initialization(version, self.capabilities))

    def begin(self, method: str, params: Any = None) -> int:
        if self.version == MODERN:
            prefix = "io.modelcontextprotocol/"
            meta = {f"{prefix}protocolVersion": MODERN, f"{prefix}clientCapabilities": self.capabilities}
            params = {"_meta": meta, **params}
        return super().begin(method, params)

    def until(self, number: int, answer: Answer | None = None) -> dict[str, Any]:
        """The reply to a request; what the server asks before it is answered."""
        while (found := self.message()).get("id") != number or "method" in found:
            if "method" in found and "id" in found and answer is not None:
                self.asked.append(found)
                self.send({"id": found["id"], **answer(found)})
        return found

    def run(
        self, name: str, answer: Answer, method: str = "tools/call", meta: Any = None, **arguments: Any
    ) -> dict[str, Any]:
        """The last reply to a call, whose questions are answered as its era has them."""
        params: dict[str, Any] = {"name": name, "arguments": arguments}
        for _ in range(10):
            reply = self.until(self.begin(method, params), answer)
            result = reply.get("result", {})
            if result.get("resultType") != "input_required":
                return reply
            assert not result.get("ttlMs")
            self.asked += result["inputRequests"].values()
            responses = {key: answer(one)["result"] for key, one in result["inputRequests"].items()}
            params = {**params, "requestState": result["requestState"], "inputResponses": responses}
        raise AssertionError("too many rounds")

    def text(self, name: str, answer: Answer, **arguments: Any) -> str:
        reply = self.run(name, answer, **arguments)
        return reply["result"]["content"][0]["text"]


@pytest.fixture
def connect(servers: dict[str, Path]) -> Iterator[Callable[..., Client]]:
    clients: list[Client] = []

    def make(language: str = "python", *given: Any, **more: Any) -> Client:
        clients.append(Client(servers[language], *given, **more))
        return clients[-1]

    yield make
    for client in clients:
        client.close()


def filled(request: dict[str, Any]) -> dict[str, Any]:
    """An answer to any question that fits it."""
    if request["method"] == "roots/list":
        return {"result": {"roots": [{"uri": "file:///home", "name": "home"}]}}
    if request["method"] == "sampling/createMessage":
        content = {"type": "text", "text": "Paris"}
        return {"result": {"role": "assistant", "model": "m", "content": content}}
    fields = request["params"]["requestedSchema"]["properties"]
    sample = {"string": "Ann", "integer": 7, "number": 1.5, "boolean": True}
    content = {name: one["enum"][0] if "enum" in one else sample[one["type"]] for name, one in fields.items()}
    return {"result": {"action": "accept", "content": content}}


def does(action: str) -> Answer:
    return lambda _: {"result": {"action": action}}


def asker(form: str) -> tuple[str, str]:
    """The server's language, and the tool that asks in a form."""
    return ("bash" if form == "bash" else "python"), f"who_{form}"


@pytest.mark.parametrize("version", [MODERN, LEGACY, "2025-06-18"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.sampled(2)
def test_what_the_user_does_is_what_the_handler_finds(connect: Callable[..., Client], form: str, version: str) -> None:
    language, name = asker(form)
    client = connect(language, version)
    assert client.text(name, filled) == "accept Ann"
    assert client.text(name, does("decline")) == "decline None"
    assert client.text(name, does("cancel")) == "cancel None"
    assert len(client.asked) == 3


@pytest.mark.parametrize("version", [MODERN, LEGACY])
@pytest.mark.parametrize(
    ("name", "said", "asked"),
    [
        ("gathered", "Ann x", 2),
        ("several", "Ann m file:///home", 3),
        ("rounds", "Ann Ann Paris", 3),
        ("outer", "7 7", 2),
        ("able", "elicitation elicitation.url sampling sampling.tools roots", 0),
    ],
)
def test_more_than_one_question(connect: Callable[..., Client], version: str, name: str, said: str, asked: int) -> None:
    client = connect("python", version)
    assert client.text(name, filled) == said
    assert len(client.asked) == asked


@pytest.mark.parametrize("form", FORMS)
def test_a_call_that_is_cancelled_while_it_asks(connect: Callable[..., Client], form: str) -> None:
    language, name = asker(form)
    client = connect(language)
    number = client.begin("tools/call", {"name": name, "arguments": {}})
    request = client.message()
    assert request["method"] == "elicitation/create"
    client.send({"method": "notifications/cancelled", "params": {"requestId": number}})
    notice = client.message()
    assert (notice["method"], notice["params"]["requestId"]) == ("notifications/cancelled", request["id"])
    client.send({"id": request["id"], **filled(request)})
    assert client.text(name, filled) == "accept Ann"


@pytest.mark.parametrize("version", [MODERN, LEGACY])
@pytest.mark.parametrize("without", ["", "proc", "memfd"])
def test_bash_asks_in_every_way_it_is_run(connect: Callable[..., Client], version: str, without: str) -> None:
    client = connect("bash", version, MCPC_WITHOUT=without)
    assert client.text("who_bash", filled) == "accept Ann"
    assert client.text("alone", filled) == "accept Ann"
    assert client.asked[0]["params"]["message"] == 'Who "is" it?'
    assert client.text("confirm", does("accept"), file="a\tb") == "{}\nstatus 0"
    assert client.text("confirm", does("cancel"), file="a") == "status 2"
    assert client.asked[-1]["params"]["message"] == "Delete a?"


@pytest.mark.parametrize("name", ["declared", "program"])
@pytest.mark.parametrize("version", [MODERN, LEGACY])
def test_a_definition_asks_before_its_handler_runs(connect: Callable[..., Client], version: str, name: str) -> None:
    client = connect("bash", version)
    found = json.loads(client.text(name, filled, file="{x} & co"))
    assert found["ok"] == {"action": "accept", "content": {"ok": True}}
    assert found["where"]["roots"][0]["uri"] == "file:///home"
    messages = [one["params"].get("message") for one in client.asked]
    assert messages == ["Delete {x} & co?", None]
    declined = json.loads(
        client.text(name, lambda one: filled(one) if one["method"] == "roots/list" else does("decline")(one))
    )
    assert declined["ok"] == {"action": "decline"}
    unable = connect("bash", version, {"elicitation": {}}).run(name, filled)
    if version == MODERN:
        assert unable["error"]["data"] == {"requiredCapabilities": {"roots": {}}}
    else:
        assert unable["result"]["isError"]


@pytest.mark.parametrize("version", [MODERN, LEGACY])
def test_answers_that_no_environment_holds_are_refused_in_words(connect: Callable[..., Client], version: str) -> None:
    client = connect("bash", version)
    for length, words in ((100_000, "100050"), (150_000, "too long for a program")):
        root = {"uri": f"file:///{'x' * length}", "name": "n"}
        reply = client.run("length", lambda one, root=root: {"result": {"roots": [root]}})
        assert words in json.dumps(reply), reply
    assert json.loads(client.text("program", filled, file="a"))["where"]


def begun(client: Client, name: str = "who_worker") -> dict[str, Any]:
    return client.until(client.begin("tools/call", {"name": name, "arguments": {}}))["result"]


def continued(client: Client, state: str, name: str = "who_worker") -> dict[str, Any]:
    answers = {"who": {"action": "accept", "content": {"name": "Ann"}}}
    params = {"name": name, "arguments": {}, "requestState": state, "inputResponses": answers}
    return client.until(client.begin("tools/call", params))


def test_processes_with_one_key_file_continue_each_other_s_conversations(
    connect: Callable[..., Client], tmp_path: Path
) -> None:
    keys = tmp_path / "keys"
    keys.write_text("the first key of them all\n")
    keys.chmod(0o600)
    one, other = (connect("python", MODERN, MCPC_STATE_KEYS_FILE=str(keys)) for _ in range(2))
    state = begun(one)["requestState"]
    assert continued(other, state)["result"]["content"][0]["text"] == "accept Ann"
    one.close()
    keys.write_text("the second key of them all\nthe first key of them all\n")
    assert "result" in continued(connect("python", MODERN, MCPC_STATE_KEYS_FILE=str(keys)), state)
    keys.write_text("the second key of them all\n")
    error = continued(connect("python", MODERN, MCPC_STATE_KEYS_FILE=str(keys)), state)["error"]
    assert error["code"] == -32602 and "requestState" in error["message"]
    assert "error" in continued(connect("python", MODERN), state)


def test_keys_that_cannot_be_used_are_not_used(connect: Callable[..., Client], tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_text("the first key of them all\n")
    keys.chmod(0o644)
    for given, words in (
        ({"MCPC_STATE_KEYS_FILE": str(keys)}, "accessed by other users"),
        ({"MCPC_STATE_KEYS": "short"}, "at least 16 are required"),
    ):
        client = connect("python", MODERN, **given)
        reply = client.until(client.begin("tools/call", {"name": "who_worker", "arguments": {}}))
        assert reply["error"]["code"] == -32603
        again = client.until(client.begin("tools/call", {"name": "who_worker", "arguments": {}, "requestState": "x"}))
        assert again["error"]["code"] == -32603
        _, complained = client.end()
        assert words in complained.decode()
        for said in (json.dumps([reply, again]), complained.decode()):
            assert "first key" not in said and "short" not in said and "Traceback" not in said
        assert str(keys) not in json.dumps([reply, again])


@pytest.mark.parametrize("mode", ["legacy", MODERN])
def test_the_python_sdk_answers_for_its_user(servers: dict[str, Path], mode: str) -> None:
    asked = []

    async def elicitation(_: Any, params: Any) -> types.ElicitResult:
        asked.append(params.message)
        fields = params.requested_schema["properties"]
        values = {name: one["enum"][0] if "enum" in one else "Ann" for name, one in fields.items() if name != "age"}
        return types.ElicitResult(action="accept", content=values)

    async def sampling(_: Any, params: Any) -> types.CreateMessageResult:
        content = types.TextContent(type="text", text="Paris")
        return types.CreateMessageResult(role="assistant", model="m", content=content)

    async def roots(_: Any) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri="file:///home")])

    async def converse() -> list[str]:
        server = StdioServerParameters(command=sys.executable, args=[str(servers["python"])])
        callbacks = {"elicitation_callback": elicitation, "sampling_callback": sampling, "list_roots_callback": roots}
        async with PythonClient(server, mode=mode, read_timeout_seconds=30, **callbacks) as client:
            names = ("who_worker", "who_loop", "who_inline", "several", "rounds")
            return [(await client.call_tool(name, {})).content[0].text for name in names]

    said = anyio.run(converse)
    assert said == ["accept Ann", "accept Ann", "accept Ann", "Ann m file:///home", "Ann Ann Paris"]
    assert asked[-1] == "Colour of Ann?"


def test_what_a_bash_function_says_has_changed(tmp_path: Path) -> None:
    read = "; ".join(f"source {ROOT}/templates/{name}.bash" for name in ("mcbox", "notes"))
    says = (
        'mcpc_updated $\'x://a"b\\n\'; mcpc_changed tools; mcpc_changed prompts; mcpc_changed cats || echo "status $?"'
    )
    program = f"set -eu; exec 7>{tmp_path}/notes; export MCPC_NOTES=7; {read}; {says}"
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "status 2\n" and 'no list of "cats"' in done.stderr
    notes = [json.loads(line) for line in (tmp_path / "notes").read_text().splitlines()]
    assert notes == [{"updated": 'x://a"b\n'}, {"changed": "tools"}, {"changed": "prompts"}]
    alone = (
        f'set -eu; {read}; mcpc_updated x; mcpc_ask k roots/list || echo failed; mcpc_elicit k Who || echo "status $?"'
    )
    done = subprocess.run(["bash", "-c", alone], capture_output=True, text=True, check=True)
    assert done.stdout == "failed\nstatus 3\n"
    assert done.stderr.count("no server is there") == 2
