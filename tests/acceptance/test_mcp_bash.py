"""mcp-bash's acceptance cases about tools, by number, against a built file and the real bash.

`PLAIN` is built as usual, where the specification of MCP wins; `EXACT` with `--dialect mcp-bash`, where results and
refusals look as mcp-bash's own.  What differs on purpose says so.  Prompts and resources are in their own file.
"""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from support.artifact import build
from support.mcp_bash_client import ABOUT, ALLOW, BASH, SDK, Client, clients, error, text, write
from support.needs import needs
from support.posts import post_stateless
from support.processes import until
from support.serving import served

MODERN = "2026-07-28"
ENVELOPE = {
    "type": "object",
    "required": ["success", "result"],
    "properties": {"success": {"type": "boolean"}, "result": {"type": "object"}},
}
TOOLS: dict[str, tuple[str, dict[str, Any]]] = {
    "hello": (SDK + 'mcp_result_success "$(mcp_json_obj message Hello)"\n', {"outputSchema": ENVELOPE}),
    "say": (SDK + 'value="$(mcp_args_require .value)"\nmcp_emit_text "You sent: $value"\n', {}),
    "logs": (SDK + 'mcp_log_info case.logger "working"\nmcp_log_debug case.logger "details"\nmcp_emit_text ok\n', {}),
    "steps": (SDK + 'for n in 10 50 90; do mcp_progress $n "Working ($n%)"; sleep 0.1; done\nmcp_emit_text ok\n', {}),
    "endless": (
        BASH + 'echo began >>"$MCPBASH_PROJECT_ROOT/began"; trap "" TERM\n'
        'until [ -e "$MCP_CANCEL_FILE" ]; do sleep 0.02; done; echo seen >>"$1${CASE_MARK:?}"\n',
        {},
    ),
    "report": (
        BASH + 'mkdir -p resources; printf "Embedded report" >resources/report.txt\n'
        'printf \'["resources/report.txt"]\' >"$MCP_TOOL_RESOURCES_FILE"; printf \'{"a":1}\'\n',
        {},
    ),
    "interview": (
        SDK + 'one="$(mcp_elicit_confirm "Go on?")"\ntwo="$(mcp_elicit_choice "Mode?" safe fast)"\n'
        'mcp_emit_text "$one $two"\n',
        {},
    ),
    "fails": (BASH + "echo first err line >&2; echo second >&2; exit 3\n", {}),
    "fails_text": (BASH + "echo some text; exit 2\n", {}),
    "fails_own": (BASH + """echo '{"code":-32055,"message":"custom","data":{"k":1}}'; exit 1\n""", {}),
    "slow_hint": (BASH + "echo starting >&2; sleep 20\n", {"timeoutSecs": 1, "timeoutHint": "Ask for less."}),
    "slow_progress": (
        SDK + 'for n in 10 20 30 40 50 60; do mcp_progress $n "at $n"; sleep 0.4; done; mcp_emit_text ok\n',
        {"timeoutSecs": 1, "progressExtendsTimeout": True, "maxTimeoutSecs": 30},
    ),
    "environment": (BASH + 'printf "%s" "${FOO-unset}"\n', {}),
    "number": (BASH + "echo 0\n", {}),
    "goes_on": (
        SDK + 'mcp_error permission_denied "Path is outside" --hint "Try /data"\nmcp_error not_found "No file"\n'
        'mcp_result_success "$(mcp_json_obj a b)"\n',
        {"outputSchema": ENVELOPE},
    ),
    "not_json": (BASH + "echo no json\n", {"outputSchema": ENVELOPE}),
    "no_output": (BASH + ":\n", {"outputSchema": ENVELOPE}),
    "unfit": (BASH + "echo '{\"success\": 1}'\n", {"outputSchema": ENVELOPE}),
}
HEADER = BASH + '# mcp: {"name":"inline","description":"By a header.","timeoutSecs":1}\nsleep 5\n'


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    needs("bash")
    folder = tmp_path_factory.mktemp("mcp-bash")
    project = write(folder / "case", TOOLS, **{"tools/inline/tool.sh": HEADER})
    return {
        "plain": build(project, folder / "plain.pyz", "--http"),
        "exact": build(project, folder / "exact.pyz", "--dialect", "mcp-bash"),
    }


@pytest.fixture
def client() -> Iterator[Callable[..., Client]]:
    with clients() as make:
        yield make


def test_case_1_initialize_tells_of_the_server(servers, client) -> None:
    told = client(servers["plain"]).start()
    assert told["protocolVersion"] == "2025-06-18"
    shown = {name: ABOUT[name] for name in ("name", "title", "version")}
    assert told["serverInfo"] == shown  # this revision has no description; mcp-bash shows it to every one


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


def test_case_4_log_messages_of_the_level_that_is_wanted(servers, client) -> None:
    plain = client(servers["plain"])
    plain.start()
    plain.call("logs")
    told = [one["params"] for one in plain.said if one.get("method") == "notifications/message"]
    assert told == [{"level": "info", "logger": "case.logger", "data": "working"}]
    plain.ask("logging/setLevel", {"level": "debug"})
    plain.said.clear()
    plain.call("logs")
    levels = [one["params"]["level"] for one in plain.said if one.get("method") == "notifications/message"]
    assert levels == ["info", "debug"]


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
    time.sleep(0.5)
    plain.send({"method": "notifications/cancelled", "params": {"requestId": number}})
    until(mark.exists)  # the script saw the file, though it does not listen to signals
    assert "result" in plain.ask("ping")
    assert all(one.get("id") != number for one in plain.said)


def test_case_7_a_file_in_the_answer(servers, client) -> None:
    plain = client(servers["plain"])
    plain.start()
    content = plain.call("report")["result"]["content"]
    assert content[0] == {"type": "text", "text": '{"a":1}'}
    resource = content[1]["resource"]
    assert (resource["text"], resource["mimeType"]) == ("Embedded report", "text/plain")
    assert resource["uri"].startswith("file:///") and resource["uri"].endswith("/resources/report.txt")


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


def test_case_9_a_client_that_cannot_be_asked(servers, client) -> None:
    plain = client(servers["plain"])
    plain.start()
    reply = plain.call("interview")
    assert reply["error"]["message"] == "mcp_elicit: the client cannot ask its user"
    assert not [one for one in plain.said if one.get("method") == "elicitation/create"]


def test_case_14_how_a_tool_fails(servers, client) -> None:
    plain = client(servers["plain"])
    plain.start()
    reply = plain.call("fails")
    lines = "first err line\nsecond"
    data = {"exitCode": 3, "_meta": {"exitCode": 3, "stderr": lines}, "stderrTail": lines}
    assert reply["error"] == {"code": -32603, "message": "first err line", "data": data}
    assert plain.call("fails_text")["error"] == {"code": -32603, "message": "Tool failed", "data": "some text"}
    assert plain.call("fails_own")["error"] == {"code": -32055, "message": "custom", "data": {"k": 1}}


def test_case_15_time_that_is_over(servers, client) -> None:
    plain = client(servers["plain"])
    plain.start()
    words = "Tool timed out after 1s\n\nSuggestion: Ask for less."
    result = plain.call("slow_hint")["result"]
    assert (text({"result": result}), result["isError"]) == (words, True)
    wanted = {"type": "timeout", "message": words, "timeoutSecs": 1, "reason": "fixed", "exitCode": 124}
    assert result["structuredContent"] == {"success": False, "error": {**wanted, "hint": "Ask for less."}}
    assert result["_meta"] == {"exitCode": 124, "stderr": "starting"}
    inline = plain.call("inline")["result"]
    assert (text({"result": inline}), inline["_meta"]["exitCode"]) == ("Tool timed out after 1s", 124)


def test_case_15_progress_gives_more_time(servers, client) -> None:
    plain = client(servers["plain"])
    plain.start()
    assert text(plain.call("slow_progress", _meta={"progressToken": 7})) == "ok"
    result = plain.call("slow_progress", timeoutSecs=0)["result"]  # no token: the library reports nothing
    error = result["structuredContent"]["error"]
    assert (error["reason"], error["progressExtendsTimeout"], error["maxTimeoutSecs"]) == ("idle", True, 30)
    assert text({"result": result}) == "Tool timed out after 1s (no progress reported)"


def test_case_16_a_foreign_variable(servers, client) -> None:
    modes = {"minimal": "unset", "": "unset", "nonsense": "unset", "allowlist": "there"}
    for mode, found in modes.items():
        one = client(servers["plain"], **ALLOW, FOO="there", MCPBASH_TOOL_ENV_MODE=mode,
                     MCPBASH_TOOL_ENV_ALLOWLIST="X,FOO")  # fmt: skip
        one.start()
        assert text(one.call("environment")) == found, mode
    guarded = client(servers["plain"], **ALLOW, FOO="there", MCPBASH_TOOL_ENV_MODE="inherit")
    guarded.start()
    words = "MCPBASH_TOOL_ENV_MODE=inherit requires MCPBASH_TOOL_ENV_INHERIT_ALLOW=true"
    assert error(guarded.call("environment")) == (-32602, words)  # mcp-bash says `Tool execution failed`
    free = client(servers["plain"], **ALLOW, FOO="there", MCPBASH_TOOL_ENV_MODE="inherit",
                  MCPBASH_TOOL_ENV_INHERIT_ALLOW="true", MCPC_STATE_KEYS="k" * 64)  # fmt: skip
    free.start()
    assert text(free.call("environment")) == "there"


def test_what_a_script_said_first_counts(servers, client) -> None:
    """`mcp_error` does not end a script: mcp-bash makes an error of the schema of what it prints after it."""
    plain = client(servers["plain"])
    plain.start()
    result = plain.call("goes_on")["result"]
    assert result["isError"] is True
    assert result["structuredContent"]["error"]["type"] == "permission_denied"


def test_outputs_that_are_not_what_was_declared(servers, client) -> None:
    plain, exact = client(servers["plain"]), client(servers["exact"])
    for one in (plain, exact):
        one.start()
        assert error(one.call("not_json")) == (-32603, "Tool output is not valid JSON for declared outputSchema")
        assert error(one.call("no_output")) == (-32603, "Tool output is empty for declared outputSchema")
    assert error(exact.call("unfit")) == (-32603, "Tool output does not satisfy outputSchema")
    assert error(plain.call("unfit")) == (-32603, "Internal error: tool output does not match outputSchema")


def test_only_objects_are_structured(servers, client) -> None:
    plain, exact = client(servers["plain"]), client(servers["exact"])
    plain.start()
    exact.start()
    assert plain.call("number")["result"] == {"content": [{"type": "text", "text": "0\n"}], "_meta": {"exitCode": 0}}
    assert exact.call("number")["result"]["structuredContent"] == 0


def test_the_dialects_refusals(servers, client) -> None:
    exact, plain = client(servers["exact"]), client(servers["plain"])
    exact.start()
    plain.start()
    assert error(exact.call("nope")) == (-32602, "Tool 'nope' not found")
    assert error(exact.ask("tools/call", {})) == (-32602, "Tool name is required")
    assert error(plain.call("nope")) == (-32602, "Unknown tool: nope")


def test_over_http(servers) -> None:
    meta = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
    with served(servers["plain"], environment={"MCPBASH_TOOL_ALLOWLIST": "say hello"}) as server:
        listed = post_stateless(server.url, "tools/list", {"_meta": meta}).message
        assert {tool["name"] for tool in listed["result"]["tools"]} == {"say", "hello"}
        assert text(
            post_stateless(
                server.url, "tools/call", {"name": "say", "arguments": {"value": "x"}, "_meta": meta}
            ).message
        )
        refused = post_stateless(server.url, "tools/call", {"name": "fails", "arguments": {}, "_meta": meta}).message
        assert error(refused) == (-32602, "Tool 'fails' blocked by policy (not in MCPBASH_TOOL_ALLOWLIST)")
