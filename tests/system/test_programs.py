"""Programs for the official SDK in built files: calls, questions, lifespans, sessions and ends, with real processes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.artifact import built_fixture, mcpc
from support.needs import ROOT
from support.processes import until
from support.stdio import StdioClient, only_text, replies

PROGRAMS = ROOT / "tests/system/programs"
ELICITS = {"elicitation": {}}


orders = built_fixture(PROGRAMS / "sdk", "--http")


notes = built_fixture(PROGRAMS / "lowlevel")


@pytest.fixture
def client(orders: Path, tmp_path: Path) -> Iterator[StdioClient]:
    found = StdioClient(orders, environment={"ORDERS_VARIABLE": "given", "LEFT_FILE": str(tmp_path / "left")})
    yield found
    found.close()


def test_calls(client: StdioClient) -> None:
    client.initialize()
    assert client.call_tool("order", item="nails", count="3")["structuredContent"] == {"item": "nails", "count": 3}
    assert only_text(client.call_tool("inform", kind="notice")) == "Orders are final."
    assert only_text(client.call_tool("inform", kind="variable")) == "given"
    assert client.call_tool("fail") == {
        "content": [{"type": "text", "text": "Error executing tool fail: no such order"}],
        "isError": True,
    }
    assert client.call_tool("picture")["content"] == [{"type": "image", "data": "iVBORw==", "mimeType": "image/png"}]
    refused = client.call_tool("order", count=2)
    assert refused["isError"]
    assert only_text(refused).startswith("Error executing tool order: 1 validation error for orderArguments\nitem\n")
    assert client.call_tool("lie")["isError"]


def test_prompts_resources_and_completions(client: StdioClient) -> None:
    client.initialize()
    prompt = client.ask("prompts/get", {"name": "ask", "arguments": {"item": "nuts"}})["result"]
    assert prompt["messages"] == [{"role": "user", "content": {"type": "text", "text": "Order nuts in a kind tone."}}]
    (read,) = client.ask("resources/read", {"uri": "orders://nuts/state"})["result"]["contents"]
    assert read == {"uri": "orders://nuts/state", "mimeType": "text/plain", "text": "nuts: open"}
    (read,) = client.ask("resources/read", {"uri": "orders://all"})["result"]["contents"]
    assert (read["mimeType"], read["text"].split()) == ("application/json", ["{", '"nails":', "3", "}"])
    params = {"ref": {"type": "ref/prompt", "name": "ask"}, "argument": {"name": "item", "value": "n"}}
    completed = client.ask("completion/complete", params)["result"]["completion"]
    assert completed["values"] == ["nails", "nuts"]


def test_the_lifespan_is_entered_once_and_left_at_the_end(client: StdioClient, tmp_path: Path) -> None:
    client.initialize()
    client.ask("tools/list")
    assert client.call_tool("opened")["structuredContent"] == {"result": ["2.0.1", "again"]}
    assert client.call_tool("opened")["structuredContent"] == {"result": ["2.0.1", "again", "again"]}
    _, complained = client.end()
    assert complained.count(b"lifespan begins") == 1
    assert (tmp_path / "left").read_text() == "left, then ended"


def test_a_signal_ends_a_program_as_the_end_of_input_does(client: StdioClient, tmp_path: Path) -> None:
    client.initialize()
    client.call_tool("opened")
    client.process.terminate()
    until(lambda: (tmp_path / "left").exists() and (tmp_path / "left").read_text() == "left, then ended")


def test_synchronous_functions_run_in_the_main_thread_as_in_version_1(client: StdioClient) -> None:
    client.initialize()
    before = only_text(client.call_tool("inform", kind="worker"))
    assert only_text(client.call_tool("inform", kind="limited")) == "stopped in time"
    assert only_text(client.call_tool("inform", kind="worker")) == before


def test_a_program_that_cannot_be_started_is_started_again_by_the_next_call(orders: Path, tmp_path: Path) -> None:
    with StdioClient(orders, environment={"NEEDED_FILE": str(tmp_path / "needed")}) as client:
        client.initialize()
        for _ in range(2):
            failed = client.call_tool("opened")
            assert failed["isError"]
            assert "FileNotFoundError" in only_text(failed)
        (tmp_path / "needed").write_text("")
        assert client.call_tool("opened")["structuredContent"] == {"result": ["2.0.1", "again"]}
        assert client.call_tool("opened")["structuredContent"] == {"result": ["2.0.1", "again", "again"]}
        assert client.end()[1].count(b"lifespan begins") == 3


def test_progress_and_log(client: StdioClient) -> None:
    client.initialize()
    client.ask("logging/setLevel", {"level": "debug"})
    params = {"name": "wait", "arguments": {"seconds": 0.1}, "_meta": {"progressToken": "p"}}
    assert client.ask("tools/call", params)["result"]["content"][0]["text"] == "done"
    told = [(message["method"], message["params"]) for message in client.said if "method" in message]
    progress = [params["progress"] for method, params in told if method == "notifications/progress"]
    assert progress in ([0, 1, 2], [0, 2])  # what comes close together is sent once
    assert [params["data"] for method, params in told if method == "notifications/message"] == ["waited"]


def test_a_call_is_cancelled_and_the_program_lives_on(client: StdioClient) -> None:
    client.initialize()
    before = only_text(client.call_tool("inform", kind="worker"))
    number = begin_waiting(client, "t")
    client.send({"method": "notifications/cancelled", "params": {"requestId": number}})
    assert only_text(client.call_tool("inform", kind="worker")) == before


def begin_waiting(client: StdioClient, token: str) -> int:
    """Call the tool that waits, and return the request's id when the tool has begun."""
    params = {"name": "wait", "arguments": {"seconds": 600}, "_meta": {"progressToken": token}}
    number = client.begin("tools/call", params)
    while client.message().get("params", {}).get("progressToken") != token:
        continue
    return number


@pytest.mark.parametrize(
    ("answer", "told"),
    [({"action": "accept", "content": {"sure": True}}, "accept: True"), ({"action": "decline"}, "decline: None")],
)
def test_a_question_to_the_user(client: StdioClient, answer: dict[str, object], told: str) -> None:
    client.answers = lambda _: {"result": answer}
    client.initialize(capabilities=ELICITS)
    assert only_text(client.call_tool("delete", item="nuts")) == told
    (asked,) = [message for message in client.said if message.get("method") == "elicitation/create"]
    assert asked["params"]["message"] == "Delete nuts?"
    assert asked["params"]["requestedSchema"]["required"] == ["sure"]


def test_a_question_in_the_stateless_era(client: StdioClient) -> None:
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
    }
    params = {"name": "delete", "arguments": {"item": "nuts"}, "_meta": meta}
    result = client.ask("tools/call", params)["result"]
    assert result["resultType"] == "input_required"
    ((key, _),) = result["inputRequests"].items()
    again = {
        **params,
        "requestState": result["requestState"],
        "inputResponses": {key: {"action": "accept", "content": {"sure": True}}},
    }
    assert only_text(client.ask("tools/call", again)["result"]) == "accept: True"


def test_arguments_of_the_program(orders: Path) -> None:
    params = {"name": "inform", "arguments": {"kind": "arguments"}}
    found = replies([orders, "--", "--verbose", "a b"], [("tools/call", params)])
    assert only_text(found[0]["result"]) == "--verbose a b"


def test_a_low_level_server(notes: Path) -> None:
    with StdioClient(notes) as client:
        assert client.initialize()["serverInfo"] == {"name": "notes", "version": "0.3"}
        assert client.ask("resources/list")["result"]["resources"][0]["uri"] == "note://first"
        assert client.ask("resources/read", {"uri": "note://first"})["result"]["contents"][0]["text"] == "Buy nails."
        assert only_text(client.call_tool("add-note", text="x")) == "add-note: x"
        refused = client.call_tool("add-note", text=3)
        assert refused["isError"]
        assert "/text" in only_text(refused)
        prompt = client.ask("prompts/get", {"name": "sum", "arguments": {"style": "brief"}})["result"]
        assert prompt["messages"][0]["content"]["text"] == "sum brief"


def test_the_same_sources_make_the_same_bytes(tmp_path: Path) -> None:
    for name, place in (("one", "Asia/Tokyo"), ("other", "Etc/UTC")):
        done = mcpc(
            "build", PROGRAMS / "sdk", "-o", tmp_path / f"{name}.pyz", "--http",
            environment={"MCPC_CACHE_DIR": str(tmp_path / name), "PYTHONHASHSEED": str(len(name)), "TZ": place},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "one.pyz").read_bytes() == (tmp_path / "other.pyz").read_bytes()
