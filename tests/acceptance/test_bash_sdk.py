"""Servers of the MCP Server Bash SDK, built and as they are: the same calls, and the same answers.

The forms of the projects are those of public ones: an API wrapper with defaults from the environment, a server whose
functions are in files that it reads, one with state that is made when it starts, one with options and traps, one that
looks at how it was started.
"""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from support.artifact import build, mcpc
from support.bash_sdk_projects import BEGIN, CORES, MERGED, RESULT, project, tools_json, written
from support.needs import needs
from support.processes import until
from support.projects import Files
from support.stdio import StdioClient, initialization

Call = tuple[str, dict[str, Any]]

FUNCTIONS = r"""
GREETING="${GREETING:-Hello}"
tool_greet() {
  local name
  name=$(echo "$1" | jq -r '.name // "nobody"')
  echo "$GREETING, $name!"
}
tool_lines() { printf 'one\ntwo\n\n\n'; }
tool_arguments() { printf '%s' "$1"; }
tool_nothing() { :; }
tool_fails() { echo 'Invalid "age": it is text'; echo why >&2; return 3; }
tool_silent() { return 4; }
tool_null() { echo null; return 1; }
tool_leaves() { exit 5; }
tool_warns() { echo careful >&2; echo done; }
tool_reads() { local line=none; read -r line; echo "read: $line"; }
tool_unicode() { printf 'ä€😀\\t"quoted"'; }
tool_counts() { COUNT=$((${COUNT:-0} + 1)); echo "$COUNT"; }
tool_traps() { trap 'echo cleaned' EXIT; echo working; }
tool_dies() { echo before; kill -KILL "$BASHPID"; }
tool_goes_on() { false; echo "after $?"; }
tool_stops() { set -e; false; echo "after $?"; }
tool_subshell() ( set -e; trap 'echo cleaned' EXIT; false; echo "after $?" )
"""
NAMES = (
    "greet", "lines", "arguments", "nothing", "fails", "silent", "null", "leaves", "warns", "unicode", "counts",
    "traps", "goes_on", "stops", "subshell", "dies", "reads",
)  # fmt: skip
CALLS: list[Call] = [
    *((name, {}) for name in NAMES if name != "reads"),
    ("greet", {"name": "Ada"}),
    ("counts", {}),
    ("arguments", {"a": [1, 2.5, None, True, "x\ny"], "b": {}, "c": {"d": []}, "é": "ü"}),
]
CONVERSATION: list[dict[str, Any]] = [
    {"id": 1, "method": "initialize", "params": initialization("2024-11-05")},
    {"method": "notifications/initialized"},
    {"id": 2, "method": "tools/list"},
]


def original(folder: Path, calls: list[Call], script: str = "server.sh") -> list[dict[str, Any]]:
    """Return what a project answers as it is."""
    messages = [*CONVERSATION, *(request(number, call) for number, call in enumerate(calls, 10))]
    lines = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MCP_")}
    ran = subprocess.run(
        ["bash", script], cwd=folder, input=lines, capture_output=True, text=True, check=True, env=environment
    )
    return [json.loads(line) for line in ran.stdout.splitlines()]


def request(number: int, call: Call) -> dict[str, Any]:
    return {"id": number, "method": "tools/call", "params": {"name": call[0], "arguments": call[1]}}


def plain(answer: dict[str, Any]) -> dict[str, Any]:
    """Return an answer without what means nothing: `isError: false` is the default."""
    result = answer.get("result", {})
    kept = {key: value for key, value in result.items() if (key, value) != ("isError", False)}
    return {"error": answer["error"]} if "error" in answer else kept


@pytest.fixture
def client() -> Iterator[Callable[..., StdioClient]]:
    opened: list[StdioClient] = []

    def make(server: Path, **environment: str) -> StdioClient:
        made = StdioClient(server, environment=environment)
        opened.append(made)
        made.initialize("2025-06-18", {})
        return made

    yield make
    for one in opened:
        one.close()


def answers(client: StdioClient, calls: list[Call]) -> list[dict[str, Any]]:
    return [plain(client.ask("tools/call", request(0, call)["params"])) for call in calls]


@pytest.mark.parametrize("style", CORES)
def test_what_is_built_answers_like_what_it_was_built_from(style: str, tmp_path: Path, client) -> None:
    needs("bash", "jq")
    folder = written(tmp_path / "demo", project(FUNCTIONS, *NAMES, core=CORES[style]))
    told, listed, *expected = original(folder, CALLS)
    made = client(build(folder, tmp_path / "x.pyz"))
    assert made.ask("tools/list")["result"]["tools"] == listed["result"]["tools"]
    assert answers(made, CALLS) == [plain(answer) for answer in expected]
    assert made.initialize("2024-11-05", {})["serverInfo"] == told["result"]["serverInfo"]


@pytest.mark.parametrize("missing", ["memfd", "proc,memfd"])
def test_answers_are_the_same_without_a_fork_server(missing: str, tmp_path: Path, client) -> None:
    needs("bash", "jq")
    folder = written(tmp_path / "demo", project(FUNCTIONS, *NAMES))
    _, _, *expected = original(folder, CALLS)
    made = client(build(folder, tmp_path / "x.pyz"), MCPC_WITHOUT=missing)
    assert answers(made, CALLS) == [plain(answer) for answer in expected]


def built(tmp_path: Path, files: Files, *options: str) -> Path:
    needs("bash", "jq")
    return build(written(tmp_path / "demo", files), tmp_path / "x.pyz", *options)


def text(client: StdioClient, name: str, **arguments: Any) -> str:
    return client.ask("tools/call", {"name": name, "arguments": arguments})["result"]["content"][0]["text"]


def test_files_in_messages_are_those_of_the_project(tmp_path: Path, client) -> None:
    functions = 'source "$(dirname "${BASH_SOURCE[0]}")/lib/a.sh"\n'
    more = {"lib/a.sh": "tool_a() {\n  no_such_program\n}\n"}
    server = built(tmp_path, project(functions, "a", core=MERGED, **more))
    expected = "Error executing a: lib/a.sh: line 2: no_such_program: command not found"
    for environment in ({}, {"MCPC_WITHOUT": "memfd"}):
        assert text(client(server, **environment), "a") == expected


def test_functions_have_no_input(tmp_path: Path, client) -> None:
    # As it is, a function reads the client's next message.
    assert text(client(built(tmp_path, project(FUNCTIONS, *NAMES))), "reads") == "read: "


def test_the_script_is_read_once(tmp_path: Path, client) -> None:
    functions = 'echo read >>"$READINGS"\nDATE=$(date +%s%N)\ntool_date() { echo "$DATE"; }\n'
    made = client(built(tmp_path, project(functions, "date")), READINGS=str(tmp_path / "readings"))
    assert text(made, "date") == text(made, "date")
    assert (tmp_path / "readings").read_text() == "read\n"


def test_functions_may_be_in_files_that_the_script_reads(tmp_path: Path, client) -> None:
    begin = BEGIN.replace("mcpserver_core.sh", "../shared/mcpserver_core.sh")
    script = begin + 'HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"\nsource "$HERE/lib/one.sh"\n'
    script += 'for file in "$HERE"/lib/more/*.sh; do source "$file"; done\nrun_mcp_server "$@"\n'
    files: Files = {
        "server/server.sh": script,
        "server/assets/demo_config.json": "{}",
        "server/assets/demo_tools.json": tools_json("one", "two"),
        "server/lib/one.sh": "tool_one() { helper 1; }\n",
        "server/lib/more/two.sh": 'tool_two() { helper 2; }\nhelper() { echo "number $1"; }\n',
        "shared/mcpserver_core.sh": MERGED,
    }
    made = client(built(tmp_path, files))
    assert [text(made, "one"), text(made, "two")] == ["number 1", "number 2"]
    assert made.initialize("2025-06-18", {})["serverInfo"] == {"name": "BashMCPServer", "version": "0.0.0"}


def test_a_script_may_be_strict_and_set_traps(tmp_path: Path, client) -> None:
    functions = """
set -euo pipefail
shopt -s inherit_errexit
declare -A KNOWN=([a]=1 [b]=2)
trap 'echo "line $LINENO" >&2' ERR
trap 'echo over >>"$ENDED"' EXIT
tool_known() { false; echo "${#KNOWN[@]} ${KNOWN[a]}"; }
tool_unset() { echo "$NOT_SET"; }
"""
    server = built(tmp_path, project(functions, "known", "unset", core=MERGED))
    # Together, so that some end while a child has just been forked.
    ended = [tmp_path / f"ended{number}" for number in range(8)]
    made = [client(server, ENDED=str(file)) for file in ended]
    for one in made:
        assert text(one, "known") == "2 1"
        assert "NOT_SET: unbound variable" in text(one, "unset")
    for one in made:
        one.process.kill()
    until(lambda: all(file.exists() and file.read_text() for file in ended))
    assert [file.read_text() for file in ended] == ["over\n"] * len(ended)


def test_a_script_sees_how_it_was_started(tmp_path: Path, client) -> None:
    end = """
cd "${PLACE:?}"
export EXPORTED=yes
tool_place() { pwd; bash -c 'echo "$EXPORTED"'; }
if [[ "${BASH_SOURCE[0]}" == "${0}" ]]; then
  case "${1:-}" in
    --http) exit 9 ;;
    *) run_mcp_server "$@" ;;
  esac
  echo "not yet" >&2
fi
"""
    files = {**project("", "place"), "server.sh": BEGIN + end}
    server = built(tmp_path, files)
    for environment in ({}, {"MCPC_WITHOUT": "memfd"}):
        assert text(client(server, PLACE="/usr", **environment), "place") == "/usr\nyes"


def test_the_log_goes_to_standard_error(tmp_path: Path) -> None:
    functions = 'log INFO "starting"\ntool_log() { log INFO "called"; echo "$MCP_LOG_FILE"; }\n'
    server = built(tmp_path, project(functions, "log", core=MERGED))
    kept = tmp_path / "own.log"
    for environment in ({"MCPC_WITHOUT": "memfd"}, {}, {"MCP_LOG_FILE": str(kept)}):
        made = StdioClient(server, environment=environment)
        made.initialize("2025-06-18", {})
        place = text(made, "log")
        assert place == str(kept) if "MCP_LOG_FILE" in environment else place.startswith("/dev/fd/")
        made.process.stdin.close()
        made.process.stdin = None
        said = made.process.communicate(timeout=20)[1].decode()
        if place == str(kept):
            said = kept.read_text()
        assert ["starting" in said, "called" in said] == [True, True]


def test_a_script_that_does_not_get_as_far_fails_every_call(tmp_path: Path) -> None:
    functions = 'echo "no configuration" >&2\nexit 1\ntool_x() { echo never; }\n'
    made = StdioClient(built(tmp_path, project(functions, "x")))
    made.initialize("2025-06-18", {})
    for _ in range(2):
        result = made.ask("tools/call", {"name": "x", "arguments": {}})["result"]
        assert result["isError"] is True
        assert result["content"][0]["text"] == "server.sh: the script ended before it called run_mcp_server"
    made.process.stdin.close()
    made.process.stdin = None
    assert b"no configuration" in made.process.communicate(timeout=20)[1]


def test_a_call_ends_with_what_it_started(tmp_path: Path, client) -> None:
    functions = 'tool_slow() { sleep 60 & echo $BASHPID $! >"$PLACE/pids"; wait; }\n'
    made = client(built(tmp_path, project(functions, "slow")), PLACE=str(tmp_path))
    number = made.begin("tools/call", {"name": "slow", "arguments": {}})
    until(lambda: (tmp_path / "pids").exists() and (tmp_path / "pids").read_text().strip())
    started = (tmp_path / "pids").read_text().split()
    assert [pid for pid in started if os.path.exists(f"/proc/{pid}")] == started
    made.send({"method": "notifications/cancelled", "params": {"requestId": number}})
    until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in started))


def texts_at_once(made: StdioClient, name: str, count: int) -> list[str]:
    for _ in range(count):
        made.begin("tools/call", {"name": name, "arguments": {}})
    return [made.message()["result"]["content"][0]["text"] for _ in range(count)]


SETTING = {"pyproject.toml": "[tool.mcpc]\nconcurrent = true\n"}


def test_calls_run_at_the_same_time_if_the_project_says_so(tmp_path: Path, client) -> None:
    waits = ': >"$PLACE/in.$BASHPID"; while set -- "$PLACE"/in.*; (($# < 4)); do sleep 0.05; done; echo ok'
    files = project(f"tool_waits() {{ {waits}; }}\n", "waits", **SETTING)
    assert texts_at_once(client(built(tmp_path, files), PLACE=str(tmp_path)), "waits", 4) == ["ok"] * 4


def test_a_call_begins_when_the_one_before_has_ended(tmp_path: Path, client) -> None:
    """The function would see the file of another call that runs beside it."""
    works = ': >"$PLACE/in.$BASHPID"; for i in {1..20}; do set -- "$PLACE"/in.*; (($# < 2)) || break; sleep 0.02; done'
    functions = f'tool_works() {{ {works}; echo $#; rm "$PLACE/in.$BASHPID"; }}\ntool_quick() {{ echo q; }}\n'
    made = client(built(tmp_path, project(functions, "works", "quick")), PLACE=str(tmp_path))
    assert texts_at_once(made, "works", 3) == ["1"] * 3
    first = made.begin("tools/call", {"name": "works", "arguments": {}})
    second = made.begin("tools/call", {"name": "quick", "arguments": {}})
    assert [made.message()["id"] for _ in range(2)] == [first, second]


def test_calls_at_once_have_numbers_of_their_own(tmp_path: Path, client) -> None:
    """`$$` is that of the one shell in a server whose calls follow each other, as the SDK's."""
    for name, settings, count in (("one", {}, 1), ("several", SETTING, 3)):
        files = project("WORK=/tmp/x.$$\ntool_number() { echo $WORK; }\n", "number", **settings)
        made = client(built(tmp_path / name, files))
        assert len(set(texts_at_once(made, "number", 3))) == count


def test_arguments_are_validated_if_the_sdk_does_so_or_on_request(tmp_path: Path, client) -> None:
    needs("bash", "jq")
    schema = {"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]}
    files = {**project("tool_n() { echo ran; }\n"), "assets/demo_tools.json": tools_json(n=schema)}
    validating = {**files, "mcpserver_core.sh": RESULT + "\nvalidate_tool_arguments() { :; }\n"}
    cases = (("plain", files, (), True), ("own", validating, (), False), ("asked", files, ("--validate",), False))
    for name, found, options, runs in cases:
        server = build(written(tmp_path / name, found), tmp_path / f"{name}.pyz", *options)
        answer = client(server).ask("tools/call", {"name": "n", "arguments": {"n": "1"}})
        assert (plain(answer).get("content") == [{"type": "text", "text": "ran"}]) is runs


def test_a_promised_value_is_kept(tmp_path: Path, client) -> None:
    listed = json.loads(tools_json("good", "bad"))
    for tool in listed["tools"]:
        tool["outputSchema"] = {"type": "object", "properties": {"n": {"type": "number"}}}
    functions = "tool_good() { echo '{\"n\": 1}'; }\ntool_bad() { echo nothing; }\n"
    made = client(built(tmp_path, {**project(functions), "assets/demo_tools.json": json.dumps(listed)}))
    result = made.ask("tools/call", {"name": "good", "arguments": {}})["result"]
    assert result["structuredContent"] == {"n": 1}
    assert "error" in made.ask("tools/call", {"name": "bad", "arguments": {}})


@pytest.mark.parametrize("folder", ["assets/demo_", ""])
def test_an_imported_project_is_the_same_server(folder: str, tmp_path: Path, client) -> None:
    needs("bash", "jq")
    files = project(FUNCTIONS, *NAMES)
    files = {path.replace("assets/demo_", folder): text for path, text in files.items()}
    files["server.sh"] = str(files["server.sh"]).replace("assets/demo_", folder)
    source, target = written(tmp_path / "demo", files), tmp_path / "imported"
    done = mcpc("new", target, "--import", source)
    assert done.returncode == 0, done.stderr
    made, again = client(build(source, tmp_path / "x.pyz")), client(build(target, tmp_path / "y.pyz"))
    assert again.ask("tools/list")["result"] == made.ask("tools/list")["result"]
    assert answers(again, CALLS) == answers(made, CALLS)


def test_one_of_several_servers_is_chosen(tmp_path: Path, client) -> None:
    other = BEGIN.replace("demo_tools", "other_tools") + 'tool_other() { echo other; }\nrun_mcp_server "$@"\n'
    files = {**project("tool_x() { :; }\n", "x"), "other.sh": other, "assets/other_tools.json": tools_json("other")}
    needs("bash", "jq")
    folder = written(tmp_path / "demo", files)
    refused = mcpc("check", folder)
    assert (refused.returncode, "MCP292" in refused.stdout + refused.stderr) == (1, True)
    made = client(build(folder, tmp_path / "x.pyz", "--script", "other.sh"))
    assert [tool["name"] for tool in made.ask("tools/list")["result"]["tools"]] == ["other"]
    assert text(made, "other") == "other"
