"""Tools of mcp-bash in a built server: what the project and the client say first, and what goes wrong."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mcpc.languages.bash.forkable import is_forkable
from mcpc.reading import Source
from support.artifact import build
from support.mcp_bash_client import ALLOW, BASH, SDK, Client, clients, error, text, write
from support.needs import needs

TOOLS: dict[str, tuple[str, dict[str, Any]]] = {
    "roots": (BASH + 'printf "%s|%s|%s" "$MCP_ROOTS_COUNT" "$MCP_ROOTS_PATHS" "$MCP_ROOTS_JSON"\n', {}),
    "variables": (BASH + 'printf "%s|%s" "${FROM_FILE-unset}" "${MCPBASH_TOOL_ALLOWLIST-unset}"\n', {}),
    "no_stream": (BASH + 'rm "$MCP_PROGRESS_STREAM"; echo x >>"$MCP_PROGRESS_STREAM"; echo ok\n', {}),
    "no_folder": (BASH + 'rm -r "$(dirname "$MCP_ERROR_FILE$MCP_TOOL_ERROR_FILE")"; echo ok\n', {}),
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


@pytest.mark.parametrize("name", ["no_stream", "no_folder"])
def test_what_a_tool_does_to_its_files(name: str, plain: Client) -> None:
    assert text(plain.call(name)) == "ok\n"
    assert calls_left(plain) == []


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
