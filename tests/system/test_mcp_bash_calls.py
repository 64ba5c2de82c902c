"""Tools of mcp-bash in a built server: what the project and the client say first, and what goes wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from subprocess import DEVNULL
from typing import TYPE_CHECKING, Any

import pytest

from mcpc.languages.bash.forkable import is_forkable
from mcpc.sources import Source
from support.artifact import build
from support.mcp_bash_client import ALLOW, BASH, SDK, clients, error, text, write
from support.needs import needs
from support.processes import until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from support.mcp_bash_client import Client

TOOLS: dict[str, tuple[str, dict[str, Any]]] = {
    "roots": (BASH + 'printf "%s|%s|%s" "$MCP_ROOTS_COUNT" "$MCP_ROOTS_PATHS" "$MCP_ROOTS_JSON"\n', {}),
    "variables": (BASH + 'printf "%s|%s" "${FROM_FILE-unset}" "${MCPBASH_TOOL_ALLOWLIST-unset}"\n', {}),
    "flood": (BASH + "head -c 30000000 /dev/zero\n", {}),
    "flood_errors": (BASH + "head -c 30000000 /dev/zero >&2\n", {}),
    "daemon": (BASH + '(setsid sleep 600 & echo $! >"$MCPBASH_PROJECT_ROOT/daemon")\ncat daemon\n', {}),
    "no_line_end": (BASH + 'head -c 3000000 /dev/zero | tr "\\0" x >"$MCP_PROGRESS_STREAM"; echo ok\n', {}),
    "nonsense": (BASH + 'printf "%s\\n" no "{" "[]" "{}" \'{"method":"notifications/progress"}\' '
                 '\'{"method":5,"params":{}}\' >>"$MCP_LOG_STREAM"; echo ok\n', {}),
    "no_stream": (BASH + 'rm "$MCP_PROGRESS_STREAM"; echo x >>"$MCP_PROGRESS_STREAM"; echo ok\n', {}),
    "no_folder": (BASH + 'rm -r "$(dirname "$MCP_ERROR_FILE$MCP_TOOL_ERROR_FILE")"; echo ok\n', {}),
    "long_error": (BASH + 'head -c 2000000 /dev/zero | tr "\\0" x >"$MCP_TOOL_ERROR_FILE"\n', {}),
    "linked_error": (BASH + 'rm "$MCP_TOOL_ERROR_FILE"; ln -s /etc/passwd "$MCP_TOOL_ERROR_FILE"; echo ok\n', {}),
    "fifo_error": (BASH + 'rm "$MCP_TOOL_ERROR_FILE"; mkfifo "$MCP_TOOL_ERROR_FILE"; echo ok\n', {}),
    "files": (BASH + 'ln -sf /etc/passwd link; ln -sf inside ok; echo in >inside; mkdir -p folder\n'
              'printf "%s\\n" link /etc/passwd ../../etc/passwd missing folder inside ok "inside\ttext/x-y\tx:y" '
              '>"$MCP_TOOL_RESOURCES_FILE"; echo ok\n', {}),
    "stubborn": (BASH + 'trap "" TERM; echo $$ >"$MCPBASH_PROJECT_ROOT/stubborn"; while :; do sleep 0.1; done\n',
                 {"timeoutSecs": 1}),
    "bad_question": (BASH + 'echo "{" >"$MCP_ELICIT_REQUEST_FILE"\n'
                     'until [ -e "$MCP_ELICIT_RESPONSE_FILE" ]; do sleep 0.01; done; cat "$MCP_ELICIT_RESPONSE_FILE"\n', {}),
    "silent_question": (BASH + 'echo \'{"message":"m","schema":{"type":"object","properties":{}}}\' '
                        '>"$MCP_ELICIT_REQUEST_FILE.tmp"; mv "$MCP_ELICIT_REQUEST_FILE.tmp" "$MCP_ELICIT_REQUEST_FILE"\n'
                        'until [ -e "$MCP_ELICIT_RESPONSE_FILE" ]; do sleep 0.01; done; cat "$MCP_ELICIT_RESPONSE_FILE"\n', {}),
    "together": (BASH + 'read -r name <<<"$MCP_TOOL_ARGS_JSON"; sleep 0.3; printf "%s %s" "$name" "$MCP_TOOL_ERROR_FILE"\n', {}),
    "size": (BASH + 'printf "%s %s" "${#MCP_TOOL_ARGS_JSON}" "$(wc -c <"${MCP_TOOL_ARGS_FILE:-/dev/null}" | tr -d " ")"\n', {}),
    "input": (BASH + "wc -c | tr -d ' '; echo $#; echo $PWD; echo $0\n", {}),
    "no_first_line": ("echo run by bash\n", {}),
    "odd": (SDK + 'mcp_emit_text "$(mcp_args_get .text)"\n', {}),
}  # fmt: skip


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Path:
    needs("bash")
    folder = tmp_path_factory.mktemp("calls")
    extra = {"config/roots.json": '{"roots": [{"path": "data", "name": "D"}]}', "data/x": ""}
    project = write(folder / "calls", TOOLS, **extra)
    (project / "tools/no_first_line/tool.sh").chmod(0o755)
    return build(project, folder / "calls.pyz")


@pytest.fixture
def client() -> Iterator[Callable[..., Client]]:
    with clients() as make:
        yield make


def own(folder: Path, tools: dict[str, tuple[str, dict[str, Any]]], *options: str, **files: str) -> Path:
    return build(write(folder / "own", tools, **files), folder / "own.pyz", *options)


def test_roots_of_the_client_are_asked_for_once(server: Path, client, tmp_path: Path) -> None:
    places = [tmp_path / "one", tmp_path / "two"]
    for place in places:
        place.mkdir()
    now = [places[0]]

    def answer(message: dict) -> dict:
        return {"result": {"roots": [{"uri": f"file://{now[0]}", "name": "N"}]}}

    one = client(server, answer)
    one.start(roots={"listChanged": True})
    told = [{"uri": f"file://{places[0]}", "name": "N", "path": str(places[0])}]
    for _ in range(2):
        count, path, rows = text(one.call("roots")).split("|")
        assert (count, path, json.loads(rows)) == ("1", str(places[0]), told)
    assert sum(message.get("method") == "roots/list" for message in one.said) == 1
    now[0] = places[1]
    one.send({"method": "notifications/roots/list_changed"})
    assert text(one.call("roots")).split("|")[1] == str(places[1])


@pytest.mark.slow
def test_roots_of_a_client_that_does_not_answer(server: Path, client) -> None:
    one = client(server)
    one.start(roots={})
    began = time.monotonic()
    assert text(one.call("roots")).split("|")[1].endswith("/data")
    assert time.monotonic() - began > 4
    asked = [message for message in one.said if message.get("method") == "roots/list"]
    taken_back = [
        message["params"]["requestId"] for message in one.said if message.get("method") == "notifications/cancelled"
    ]
    assert taken_back == [asked[0]["id"]]


def test_roots_of_a_client_that_answers_with_an_error(server: Path, client) -> None:
    one = client(server, lambda message: {"error": {"code": -1, "message": "no"}})
    one.start(roots={})
    assert text(one.call("roots")).split("|")[1].endswith("/data")


def test_roots_in_the_stateless_era(server: Path, client, tmp_path: Path) -> None:
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {"roots": {}}}  # fmt: skip
    one = client(server)
    params: dict[str, Any] = {"name": "roots", "arguments": {}, "_meta": meta}
    asked = one.ask("tools/call", params)["result"]
    assert asked["inputRequests"]["roots"]["method"] == "roots/list"
    answers = {"roots": {"roots": [{"uri": f"file://{tmp_path}"}]}}
    again = one.ask("tools/call", {**params, "requestState": asked["requestState"], "inputResponses": answers})
    assert text(again).split("|")[1] == str(tmp_path)


def test_roots_of_the_environment(server: Path, client, tmp_path: Path) -> None:
    one = client(server, **ALLOW, MCPBASH_ROOTS=f"{tmp_path}:/nowhere")
    one.start()
    assert text(one.call("roots")).split("|")[1] == str(tmp_path)
    assert b"/nowhere" in one.close()


ENVIRONMENT = {"variables": TOOLS["variables"]}


@pytest.mark.parametrize(
    ("script", "wanted", "told"),
    [
        ("export FROM_FILE=set\nNOT=1\necho said\nexport MCPBASH_TOOL_ALLOWLIST=none\n", "set|none", b""),
        ("exit 3\n", "unset|unset", b"server.d/env.sh failed"),
        ("export FROM_FILE=set\nset -e\nfalse\n", "unset|unset", b"server.d/env.sh failed"),
    ],
)
@pytest.mark.sampled(3)
def test_what_the_project_sets(script: str, wanted: str, told: bytes, tmp_path: Path, client) -> None:
    one = client(own(tmp_path, ENVIRONMENT, **{"server.d/env.sh": BASH + script}))
    one.start()
    assert text(one.call("variables")) == wanted
    assert text(one.call("variables")) == wanted
    assert told in one.close()


def test_what_the_project_sets_can_be_left_out(tmp_path: Path, client) -> None:
    file = tmp_path / "count"
    made = own(tmp_path, ENVIRONMENT, **{"server.d/env.sh": f"{BASH}echo x >>{file}\nexport FROM_FILE=set\n"})
    one = client(made)
    one.start()
    numbers = [one.begin("tools/call", {"name": "variables", "arguments": {}}) for _ in range(5)]
    found = {one.message()["id"] for _ in numbers}
    assert found == set(numbers)
    assert file.read_text() == "x\n"  # once, however many wait for it
    without = client(made, **ALLOW, MCPBASH_NO_ENV_FILE="1")
    without.start()
    assert text(without.call("variables")) == "unset|unset"
    assert file.read_text() == "x\n"


POLICY = (
    BASH
    + """
echo to standard output
mcp_tools_policy_check() {
  case $1 in
  yes) return 0 ;;
  coded) _MCP_TOOLS_ERROR_CODE=-32011; _MCP_TOOLS_ERROR_MESSAGE="not $1"; _MCP_TOOLS_ERROR_DATA='{"k":1}'; return 1 ;;
  meta) [[ $2 == *'"description":"D."'* ]] ;;
  dies) exit 7 ;;
  *) return 1 ;;
  esac
}
"""
)


def test_a_policy_of_the_project(tmp_path: Path, client) -> None:
    say = BASH + "echo ran\n"
    tools = {name: (say, {}) for name in ("yes", "coded", "meta", "dies", "other")}
    one = client(own(tmp_path, tools, **{"server.d/policy.sh": POLICY}), MCPBASH_X="1")  # nothing is allowed by name
    one.start()
    assert len(one.ask("tools/list")["result"]["tools"]) == 5
    assert text(one.call("yes")) == "ran\n"
    assert text(one.call("meta")) == "ran\n"
    assert one.call("coded")["error"] == {"code": -32011, "message": "not coded", "data": {"k": 1}}
    assert error(one.call("other")) == (-32602, "Tool 'other' blocked by policy")
    assert error(one.call("dies")) == (-32603, "Tool 'dies' blocked by policy: the policy script failed")
    assert b"to standard output" not in json.dumps(one.said).encode()


def test_a_policy_that_says_nothing_leaves_the_servers_own(tmp_path: Path, client) -> None:
    made = own(tmp_path, {"a": (BASH + "echo a\n", {}), "b": (BASH + "echo b\n", {})}, **{"server.d/policy.sh": BASH})
    one = client(made, MCPBASH_TOOL_ALLOWLIST="a")
    one.start()
    assert text(one.call("a")) == "a\n"
    assert error(one.call("b")) == (-32602, "Tool 'b' blocked by policy (not in MCPBASH_TOOL_ALLOWLIST)")


def test_tools_allowed_at_the_build(tmp_path: Path, client) -> None:
    tools = {name: (BASH + "echo ran\n", {}) for name in ("read-one", "read-two", "write")}
    made = own(tmp_path, tools, "--allow", "read-*")
    one = client(made, MCPBASH_X="1")
    one.start()
    assert [tool["name"] for tool in one.ask("tools/list")["result"]["tools"]] == ["read-one", "read-two"]
    assert text(one.call("read-two")) == "ran\n"
    assert error(one.call("write"))[0] == -32602
    other = client(made, MCPBASH_TOOL_ALLOWLIST="write")
    other.start()
    assert text(other.call("write")) == "ran\n"  # who runs it decides
    assert error(other.call("read-one"))[0] == -32602


def console(made: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("MCPBASH_")}
    return subprocess.run([made, *words], env={**clean, **environment}, stdin=DEVNULL, capture_output=True, text=True)


def test_who_may_call_nothing_is_told_why(tmp_path: Path) -> None:
    tools = {name: (BASH + "echo ran\n", {}) for name in ("one", "two")}
    made = own(tmp_path, tools)
    listed = console(made, "list")
    assert listed.stdout.count("tool ") == 2  # a person sees what there is, and on standard error who may call it
    assert listed.stderr.startswith("note: clients do not see any of these tools: no tool is allowed to be called")
    assert "--allow NAME" in listed.stderr
    some = console(made, "list", MCPBASH_TOOL_ALLOWLIST="two")
    assert some.stderr == "note: hidden from clients because not allowed: one\n"
    assert console(made, "list", MCPBASH_TOOL_ALLOWLIST="*").stderr == ""
    assert console(made, "list", MCPBASH_TOOL_ALLOW_DEFAULT="allow").stderr == ""


def test_a_list_that_names_no_tool_is_told_of_at_the_start(tmp_path: Path) -> None:
    made = own(tmp_path, {"one": (BASH + "echo ran\n", {})})
    said = "no tool is allowed to be called: MCPBASH_TOOL_ALLOWLIST matches none (only a single * allows all): "
    assert console(made, MCPBASH_TOOL_ALLOWLIST="o* One,two").stderr == f"{said}One o* two\n"
    assert console(made, MCPBASH_TOOL_ALLOWLIST="o* one").stderr == ""
    assert console(made, MCPBASH_TOOL_ALLOWLIST="one").stderr == ""
    assert console(made, MCPBASH_TOOL_ALLOWLIST="one *").stderr == ""


def test_a_build_says_that_nothing_is_allowed_yet(tmp_path: Path) -> None:
    project = write(tmp_path / "own", {"one": (BASH + "echo ran\n", {})})
    command = [sys.executable, "-m", "mcpc", "build", project]
    for options, is_told in (((), True), (("--allow", "one", "-o", "../own.pyz"), False), (("-q",), False)):
        run = subprocess.run([*command, *options], capture_output=True, text=True, cwd=project)
        assert ("try `../own.pyz list`" in run.stderr) == ("../own.pyz" in options)
        assert (run.returncode, "note: clients will not see the tools" in run.stderr) == (0, is_told)


def test_a_child_of_a_shell_finds_what_a_process_of_its_own_does(tmp_path: Path, client) -> None:
    tool = BASH + 'env -0 | tr "\\n\\0" " \\n" | sort; echo "$0 $# $PWD"; wc -c; exit 0\n'
    assert is_forkable(Source("tools/shows/tool.sh", tool.encode(), 0o755))
    made = own(tmp_path, {"shows": (tool, {})})
    found = []
    for without in ("", "proc,memfd"):  # without them no script is run in a child of a shell
        one = client(made, **ALLOW, MCPC_WITHOUT=without, FOO="hidden", MCPBASH_KEPT="x", MCP_KEPT="y")
        one.start()
        said = text(one.call("shows", {"a": [1, {"b": "ü\n"}]}, _meta={"progressToken": "t"}))
        home = next(line.split("=")[1] for line in said.split("\n") if line.startswith("MCPBASH_PROJECT_ROOT="))
        lines = said.replace(home, "HOME").split("\n")
        found.append([line for line in lines if not line.startswith(("MCPC_CALL=", "_=", "SHLVL="))])
    assert found[0] == found[1]
    names = {line.partition("=")[0] for line in found[0]}
    assert "MCPBASH_KEPT" in names and "MCP_KEPT" in names and "FOO" not in names
    assert {name for name in names if name.startswith("MCPC_")} == {"MCPC_PYTHON"}  # beside the mark of the call


@pytest.fixture
def plain(server: Path, client) -> Client:
    one = client(server)
    one.start("2025-11-25", elicitation={})
    return one


def calls_left(client: Client) -> list[str]:
    home = text(client.call("input")).split("\n")[2]
    place = f"{home}/.mcpc/calls"
    return [name for call in os.listdir(place) for name in os.listdir(f"{place}/{call}")]


def test_floods(plain: Client) -> None:
    assert error(plain.call("flood")) == (-32603, "Tool output exceeded 10485760 bytes")
    assert error(plain.call("flood_errors")) == (-32603, "Tool stderr exceeded 10485760 bytes")
    assert plain.call("no_line_end")["result"]["content"][0]["text"] == "ok\n"
    assert calls_left(plain) == []


def test_a_daemon_does_not_hold_the_answer(plain: Client) -> None:
    began = time.monotonic()
    pid = int(text(plain.call("daemon")))
    assert time.monotonic() - began < 20
    plain.close()
    until(lambda: not os.path.exists(f"/proc/{pid}"))


@pytest.mark.parametrize("name", ["nonsense", "no_stream", "no_folder", "linked_error", "fifo_error"])
def test_what_a_tool_does_to_its_files(name: str, plain: Client) -> None:
    assert text(plain.call(name)) == "ok\n"
    assert calls_left(plain) == []


def test_an_error_that_is_too_long(plain: Client) -> None:
    found = plain.call("long_error")["error"]
    assert (found["code"], found["message"], len(found["data"])) == (-32603, "Tool failed", 1 << 20)


def test_only_files_below_a_root_are_in_an_answer(client, tmp_path: Path, server: Path) -> None:
    made = own(tmp_path, {"files": TOOLS["files"]})
    one = client(made)
    one.start()
    one.ask("logging/setLevel", {"level": "debug"})
    content = one.call("files")["result"]["content"]
    assert [block["resource"]["text"] for block in content[1:]] == ["in\n"] * 3
    assert content[3]["resource"] == {"uri": "x:y", "mimeType": "text/x-y", "text": "in\n"}
    log = json.dumps([message for message in one.said if message.get("method") == "notifications/message"])
    assert log.count("left out of the answer") == 5
    other = client(server)
    other.start()
    assert len(other.call("files")["result"]["content"]) == 1  # here only `data` is a root


@pytest.mark.slow
def test_a_tool_that_does_not_listen_to_signals(plain: Client) -> None:
    result = plain.call("stubborn")["result"]
    assert result["structuredContent"]["error"]["reason"] == "fixed"
    home = text(plain.call("input")).split("\n")[2]
    with open(f"{home}/stubborn") as file:
        pid = int(file.read())
    until(lambda: not os.path.exists(f"/proc/{pid}"))
    until(lambda: calls_left(plain) == [])


def test_questions(server: Path, client) -> None:
    one = client(server, lambda message: {"result": {"action": "accept", "content": {}}})
    one.start("2025-11-25", elicitation={})
    assert json.loads(text(one.call("bad_question"))) == {"action": "error", "content": None}
    began = time.monotonic()
    assert json.loads(text(one.call("silent_question"))) == {"action": "accept", "content": {}}
    assert time.monotonic() - began < 10


def test_calls_at_once_have_files_of_their_own(plain: Client) -> None:
    began = time.monotonic()
    numbers = [plain.begin("tools/call", {"name": "together", "arguments": {"n": n}}) for n in range(6)]
    replies = [plain.message() for _ in numbers]
    assert {reply["id"] for reply in replies} == set(numbers)
    said = [text(reply).split(" ") for reply in replies]
    assert {json.loads(given)["n"] for given, _ in said} == set(range(6))
    assert len({file for _, file in said}) == 6
    assert time.monotonic() - began < 20


@pytest.mark.parametrize(
    ("length", "wanted"), [(10, "20 0"), (65_526, "65536 0"), (65_527, "0 65537"), (200_000, "0 200010")]
)
def test_long_arguments_come_in_a_file(length: int, wanted: str, plain: Client) -> None:
    assert text(plain.call("size", {"text": "x" * (length - 1)})) == wanted


def test_arguments_of_many_bytes_and_few_characters(plain: Client) -> None:
    data = json.dumps({"text": "€" * 50_000}, ensure_ascii=False, separators=(",", ":")).encode()
    assert text(plain.call("size", {"text": "€" * 50_000})) == f"0 {len(data)}"  # no variable holds as much


def test_what_a_tool_finds(plain: Client) -> None:
    size, words, place, name, _ = text(plain.call("input")).split("\n")
    assert (size, words) == ("0", "0")
    assert name == f"{place}/tools/input/tool.sh"
    assert text(plain.call("no_first_line")) == "run by bash\n"
    odd = 'sécret \\ " $(id) `id` \u2028 \u0001'
    assert text(plain.call("odd", {"text": odd})) == odd


def test_a_folder_that_cannot_be_made(server: Path, client) -> None:
    one = client(server)
    one.start()
    home = text(one.call("input")).split("\n")[2]
    os.rename(f"{home}/.mcpc/calls", f"{home}/.mcpc/before")
    with open(f"{home}/.mcpc/calls", "w") as file:
        file.write("in the way")
    assert one.call("input")["error"]["code"] == -32603
    os.unlink(f"{home}/.mcpc/calls")
    assert "result" in one.call("input")
