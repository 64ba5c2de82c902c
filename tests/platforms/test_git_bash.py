"""Bash functions on Windows, in Git Bash: they are answered as on this machine.

Git's own Bash does not run under Wine, so `bash.exe` passes on to this machine's (`support/git_bash.py`).
"""

import json
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

if not sys.platform.startswith("linux"):
    pytest.skip("Git Bash is taken from this machine under Wine", allow_module_level=True)

from support import artifact, machines
from support.conversations import held_again
from support.git_bash import GitBash, with_git
from support.needs import ROOT, needs
from support.pipe_client import HANDSHAKE, STATELESS, PipeClient
from support.witness import Witness

Start = Callable[..., AbstractContextManager[PipeClient]]

Message = dict[str, Any]

TEXT = {"text": {"type": "string"}}
TOOLS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "say": (TEXT, {}), "both": ({}, {}), "fail": ({}, {}), "missing": ({}, {}),
    "shape": (TEXT, {"outputSchema": {"type": "object", "properties": TEXT}}),
    "steps": ({}, {}), "ask_other": (TEXT, {}), "ask_user": ({}, {}), "size": (TEXT, {}), "where": ({}, {}),
    "environment": ({}, {}), "input": ({}, {}), "home": ({}, {}),
    "connect": ({"port": {"type": "integer"}}, {}),
}  # fmt: skip
LIBRARY = r"""
here=${BASH_SOURCE[0]%/*}
text() { local value=${1#*\"text\": \"}; printf '%s' "${value%\"*}"; }
tool_say() { printf 'said %s\r\n' "$(text "$1")"; }
tool_both() { echo one; echo two >&2; echo three; echo 'four ' >&2; }
tool_fail() { echo begun; echo 'it failed' >&2; return 3; }
tool_missing() { no_such_command; }
tool_shape() { echo 'a warning' >&2; printf '{"text": "%s"}' "$(text "$1")"; }
tool_steps() { echo before >&2; mcpc_progress 1 2 first; printf partial >&2; mcpc_progress 2 2 'second "one"'; mcpc_log info 'a line'; echo done; }
tool_ask_other() { mcpc_call say "{\"text\": \"$(text "$1")\"}"; }
tool_ask_user() { mcpc_elicit who 'Who are you?' '{"type":"object","properties":{"name":{"type":"string"}}}'; }
tool_size() { printf '%d' "${#1}"; }
tool_where() { cat "$here/data/notes.txt"; }
tool_environment() { printf '%s|%s|%s' "${GREETING-none}" "${MCPC_NOTES}" "$0"; }
tool_home() { printf '%s' "$here"; }
tool_input() { printf '%d' "$(wc -c)"; }
tool_connect() { local port=${1//[!0-9]/}; exec 9<>"/dev/tcp/127.0.0.1/$port"; ( read -r -u 9 ) & read -r -u 9; }
"""
CALLS: tuple[tuple[str, Message], ...] = (
    ("say", {"text": "Grüße 緑 $HOME `x` 'q' \\ %PATH%"}),
    ("say", {"text": ""}), ("both", {}), ("fail", {}), ("missing", {}),
    ("shape", {"text": "structured"}),
    ("steps", {}),
    ("ask_other", {"text": "through"}),
    ("ask_user", {}),
    ("size", {"text": "x" * 3_000_000}),
    ("where", {}), ("environment", {}), ("input", {}),
)  # fmt: skip


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bash")
    project = folder / "project"
    tools = [
        {"name": name, "description": name, "inputSchema": {"type": "object", "properties": given}, **more}
        for name, (given, more) in TOOLS.items()
    ]
    files = {
        "server.json": json.dumps({
            "serverInfo": {"name": "shells", "version": "1"},
            "capabilities": {"logging": {}},
            "mcpc/environment": {"GREETING": "hello"},
        }),
        "tools.json": json.dumps({"tools": tools}),
        "tools.bash": LIBRARY,
        "data/notes.txt": "a file beside the library\n",
    }  # fmt: skip
    for name, text in files.items():
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return artifact.build(project, folder / "server.pyz")


@pytest.fixture
def start(tmp_path: Path) -> Start:
    """Start a server on a machine and greet it."""

    @contextmanager
    def started(machine: machines.Machine, server: Path, revision: str = HANDSHAKE) -> Iterator[PipeClient]:
        environment = machine.environment({"MCPC_TASKS": "memory:"})
        command = machine.command(server)
        with PipeClient(command, environment, cwd=tmp_path, revision=revision, answer=answered) as client:
            client.greet()
            yield client

    return started


def answered(request: Message) -> Message:
    """Answer what a server asks."""
    return {"action": "accept", "content": {"name": "Ada"}}


@pytest.mark.parametrize(
    ("revision", "version", "names"), [(HANDSHAKE, "3.13", TOOLS), (STATELESS, "3.11", ("both", "ask_user", "where"))]
)
def test_every_call_is_answered_as_on_this_machine(
    revision: str, version: str, names: Collection[str], server: Path, git_bash: GitBash, start: Start
) -> None:
    needs("bash")
    found = []
    for machine in (with_git(version, git_bash), machines.machine(machines.NATIVE)):
        with start(machine, server, revision) as client:
            results = [(tool, given, client.call(tool, **given)) for tool, given in CALLS if tool in names]
            notices = [message for message in client.messages if "method" in message and "id" not in message]
            found.append((results, [(each["method"], each["params"]) for each in notices]))
    for _, _, result in (*found[0][0], *found[1][0]):
        result.pop("requestState", None)
    assert found[0][0] == found[1][0]
    assert found[0][1] == found[1][1]


@pytest.mark.parametrize("example", ["bash-sdk", "mcp-bash"])
def test_an_example_of_another_system_is_the_one_of_this_machine(
    example: str, git_bash: GitBash, tmp_path: Path
) -> None:
    needs("bash", "jq")
    project = ROOT / "examples" / example
    written = (project / "conversation.txt").read_text("utf-8")
    built = artifact.build(project, tmp_path / "server.pyz")
    assert held_again(built, written, 300, with_git("3.13", git_bash)) == written


def test_a_cancelled_call_and_the_end_of_the_server_end_what_bash_started(
    server: Path, git_bash: GitBash, start: Start
) -> None:
    needs("bash")
    with Witness() as witness, start(with_git("3.13", git_bash), server) as client:
        number = client.begin_call("connect", port=witness.port)
        assert witness.has_seen(1)
        client.send({"method": "notifications/cancelled", "params": {"requestId": number}})
        assert witness.left(2) <= 0
        assert client.text("size", text="next") == "20"
        client.begin_call("connect", port=witness.port)
        assert witness.has_seen(2)
        client.close_input()
        assert client.ends() == 0
        assert witness.left(2) <= 0


def test_without_git_bash_the_call_and_the_check_tell_what_to_install(
    server: Path, start: Start, tmp_path: Path
) -> None:
    machine = machines.machine("wine-3.13")
    with start(machine, server) as client:
        reply = client.reply(client.begin_call("say", text="x"))
        assert "Git Bash" in reply["error"]["message"]
        assert client.ask("tools/list")["result"]["tools"]
    with PipeClient(machine.command(server, "check"), machine.environment(), cwd=tmp_path) as client:
        client.close_input()
        assert client.ends() != 0
        assert b"Git Bash" in b"".join(client.noise) + client.errors


def test_the_folder_of_a_killed_server_is_removed_by_the_next_one(
    server: Path, git_bash: GitBash, start: Start
) -> None:
    needs("bash")
    machine = with_git("3.13", git_bash)

    def folder_of(client: PipeClient) -> Path:
        return machines.wine_folder() / "prefix/drive_c" / client.text("home").removeprefix("/c/")

    with start(machine, server) as running:
        kept = folder_of(running)
        with start(machine, server) as killed:
            left = folder_of(killed)
            killed.process.kill()
            killed.ends()
        assert left.is_dir()
        with start(machine, server) as after:
            assert folder_of(after).is_dir()
            assert not left.exists()
            assert kept.is_dir()
        assert running.text("where") == "a file beside the library"
