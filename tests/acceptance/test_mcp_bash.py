"""mcp-bash's acceptance cases about tools, by number, against a built file and the real bash.

`PLAIN` is built as usual, where the specification of MCP wins; `EXACT` with `--dialect mcp-bash`, where results and
refusals look as mcp-bash's own.  What differs on purpose says so.  Prompts and resources are in their own file.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from support.artifact import build
from support.mcp_bash_client import ALLOW, BASH, SDK, clients, error, text, write
from support.needs import needs
from support.processes import until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from support.mcp_bash_client import Client

MODERN = "2026-07-28"
ENVELOPE = {
    "type": "object",
    "required": ["success", "result"],
    "properties": {"success": {"type": "boolean"}, "result": {"type": "object"}},
}
TOOLS: dict[str, tuple[str, dict[str, Any]]] = {
    "hello": (SDK + 'mcp_result_success "$(mcp_json_obj message Hello)"\n', {"outputSchema": ENVELOPE}),
    "say": (SDK + 'value="$(mcp_args_require .value)"\nmcp_emit_text "You sent: $value"\n', {}),
    "steps": (SDK + 'for n in 10 50 90; do mcp_progress $n "Working ($n%)"; sleep 0.1; done\nmcp_emit_text ok\n', {}),
    "endless": (
        BASH + 'echo began >>"$1${CASE_MARK:?}.began"; trap "" TERM\n'
        'until [ -e "$MCP_CANCEL_FILE" ]; do sleep 0.02; done; echo seen >>"$1${CASE_MARK:?}"\n',
        {},
    ),
    "interview": (
        SDK + 'one="$(mcp_elicit_confirm "Go on?")"\ntwo="$(mcp_elicit_choice "Mode?" safe fast)"\n'
        'mcp_emit_text "$one $two"\n',
        {},
    ),
    "fails": (BASH + "echo first err line >&2; echo second >&2; exit 3\n", {}),
}


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    needs("bash")
    folder = tmp_path_factory.mktemp("mcp-bash")
    project = write(folder / "case", TOOLS)
    return {
        "plain": build(project, folder / "plain.pyz"),
        "exact": build(project, folder / "exact.pyz", "--dialect", "mcp-bash"),
    }


@pytest.fixture
def client() -> Iterator[Callable[..., Client]]:
    with clients() as make:
        yield make


def test_case_2_nothing_may_be_called_that_nobody_allowed(servers, client) -> None:
    blocked = "Tool 'hello' blocked by policy. Set MCPBASH_TOOL_ALLOWLIST in your MCP client config."
    denied = client(servers["plain"], MCPBASH_X="1")
    denied.start()
    assert error(denied.call("hello")) == (-32602, blocked)
    assert denied.ask("tools/list")["result"]["tools"] == []  # mcp-bash shows what it then refuses
    assert b"MCPBASH_TOOL_ALLOWLIST" in denied.close()
    some = client(servers["plain"], MCPBASH_TOOL_ALLOWLIST="hello,say")
    some.start()
    assert {tool["name"] for tool in some.ask("tools/list")["result"]["tools"]} == {"hello", "say"}
    assert error(some.call("fails")) == (-32602, "Tool 'fails' blocked by policy (not in MCPBASH_TOOL_ALLOWLIST)")
    assert "result" in some.call("say", {"value": "x"})


def test_case_2_an_envelope(servers, client) -> None:
    envelope = {"success": True, "result": {"message": "Hello"}}
    plain = client(servers["plain"])
    plain.start()
    result = plain.call("hello")["result"]
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"] == envelope
    assert result["_meta"] == {"exitCode": 0}
    assert "name" not in result
    assert result.get("isError", False) is False
    exact = client(servers["exact"])
    exact.start()
    result = exact.call("hello")["result"]
    assert (result["name"], result["isError"], result["_meta"]) == ("hello", False, {"exitCode": 0})
    assert result["structuredContent"] == envelope


def test_case_3_arguments_are_the_tools_own_affair(servers, client) -> None:
    plain = client(servers["plain"])
    plain.start()
    assert text(plain.call("say", {"value": "hi"})) == "You sent: hi"
    assert error(plain.call("say")) == (-32602, ".value is required")


def test_case_5_progress_comes_while_the_tool_runs(servers, client) -> None:
    plain = client(servers["plain"])
    plain.start()
    plain.call("steps", _meta={"progressToken": "p1"})
    kinds = [one.get("method", "answer") for one in plain.said[1:]]
    assert kinds == ["notifications/progress"] * 3 + ["answer"]  # mcp-bash tells them after the answer
    told = [one["params"] for one in plain.said if one.get("method") == "notifications/progress"]
    wanted = [{"progressToken": "p1", "progress": n, "message": f"Working ({n}%)"} for n in (10, 50, 90)]
    assert told == wanted  # `total: null`, which the specification has not, is left out


def test_case_5_a_cancelled_call_is_not_answered(servers, client, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    plain = client(servers["plain"], **ALLOW, CASE_MARK=str(mark), MCPBASH_TOOL_ENV_MODE="allowlist",
                   MCPBASH_TOOL_ENV_ALLOWLIST="CASE_MARK")  # fmt: skip
    plain.start()
    number = plain.begin("tools/call", {"name": "endless", "arguments": {}})
    until(tmp_path.joinpath("mark.began").exists)
    plain.send({"method": "notifications/cancelled", "params": {"requestId": number}})
    until(mark.exists)  # the script saw the file, though it does not listen to signals
    assert "result" in plain.ask("ping")
    assert all(one.get("id") != number for one in plain.said)


def answered(message: dict) -> dict:
    if message["method"] == "roots/list":
        return {"result": {"roots": [{"uri": "file:///tmp", "name": "T"}]}}
    field = next(iter(message["params"]["requestedSchema"]["properties"]))
    return {"result": {"action": "accept", "content": {field: True if field == "confirmed" else "safe"}}}


def test_case_9_questions_are_asked_at_once(servers, client) -> None:
    plain = client(servers["plain"], answered)
    plain.start("2025-11-25", elicitation={})
    said = text(plain.call("interview"))  # mcp-bash asks when the client says something else
    asked = [one["params"] for one in plain.said if one.get("method") == "elicitation/create"]
    assert [one["message"] for one in asked] == ["Go on?", "Mode?"]
    assert '"confirmed":true' in said.replace(" ", "") and '"choice":"safe"' in said.replace(" ", "")


def test_case_9_in_the_stateless_era_the_call_is_repeated(servers, client) -> None:
    plain = client(servers["plain"])
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    }
    params: dict[str, Any] = {"name": "interview", "arguments": {}, "_meta": meta}
    given: dict[str, Any] = {}
    for round_ in range(2):
        answer = plain.ask("tools/call", {**params, **given})
        assert "result" in answer, answer
        result = answer["result"]
        assert result["resultType"] == "input_required"
        (key,) = result["inputRequests"]
        assert key == f"elicit-{round_ + 1}"
        answer = answered({"method": "", "params": result["inputRequests"][key]["params"]})["result"]
        given = {"requestState": result["requestState"], "inputResponses": {key: answer}}
    final = plain.ask("tools/call", {**params, **given})
    assert '"safe"' in text(final)


def test_the_dialects_refusals(servers, client) -> None:
    exact, plain = client(servers["exact"]), client(servers["plain"])
    exact.start()
    plain.start()
    assert error(exact.call("nope")) == (-32602, "Tool 'nope' not found")
    assert error(exact.ask("tools/call", {})) == (-32602, "Tool name is required")
    assert error(plain.call("nope")) == (-32602, "Unknown tool: nope")
