"""Tests of `server.d/register.sh`, run at the build if that is asked for."""

import json
from pathlib import Path
from typing import Any

import pytest

from mcpc.diagnostics import Diagnostics
from mcpc.frontends import mcp_bash
from mcpc.frontends.mcp_bash import hooks
from mcpc.frontends.mcp_bash.hooks import HookError
from mcpc.options import Options
from mcpc.reading import read_tree
from support.mcp_bash_projects import SH, codes, facts, read, values
from support.needs import needs
from support.processes import running
from support.projects import Files, tree

PAYLOAD = '{"name": "p", "path": "x/run.sh", "description": "d"}'
HOOKED: Files = {"tools/x/run.sh": SH, "prompts/p.txt": "x"}


def hooked(script: str, **files: str) -> tuple[Any, Diagnostics]:
    needs("bash")
    return read({**HOOKED, **files, "server.d/register.sh": script}, hooks=True)


@pytest.mark.parametrize(
    ("script", "names"),
    [
        (f"mcp_register_tool '{PAYLOAD}'\n", ["p"]),
        (f"set -euo pipefail\nmcp_tools_manual_begin\nmcp_tools_register_manual '{PAYLOAD}'\n", ["p"]),
        (f"mcp_register_tool '{PAYLOAD}'\nmcp_tools_manual_abort\n", ["run"]),
        (f"mcp_register_tool '{PAYLOAD}'\nmcp_register_tool '{PAYLOAD}'\n", ["p"]),
        (f"""mcp_register_tool '{PAYLOAD.replace('"p"', '"z"')}'\nmcp_register_tool '{PAYLOAD}'\n""", ["p", "z"]),
        (f"printf '%s' '{{\"tools\": [{PAYLOAD}]}}'\n", ["p"]),
        (f"echo noise >&2; mcp_register_tool '{PAYLOAD}'\n", ["p"]),
        (f"( mcp_register_tool '{PAYLOAD}' )\n[ -z \"${{SECRET:-}}\" ]\n", ["p"]),
        ('[ -f tools/x/run.sh ] && [ "$MCPBASH_PROJECT_ROOT" = "$PWD" ] && [ $# = 0 ]\n', ["run"]),
        ("mcp_register_tool ''\n", ["run"]),
    ],
)
def test_a_hook_registers(script: str, names: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "x")
    definition, problems = hooked(script)
    assert codes(problems) == []
    assert [tool["name"] for tool in values(definition, "tools")] == names


def test_what_a_hook_registers_has_an_entry_as_the_registry_would() -> None:
    definition, _ = hooked(f"mcp_register_tool '{PAYLOAD}'\n")
    assert json.loads(facts(definition.tools[0])["metadata"]) == {
        "name": "p",
        "description": "d",
        "path": "x/run.sh",
        "inputSchema": {"type": "object", "properties": {}},
        "timeoutSecs": None,
    }


@pytest.mark.parametrize(
    ("script", "named"),
    [
        ("echo why >&2\nexit 3\n", "3: why"),
        ("kill -KILL $$\n", "signal 9"),
        ('set -u\necho "$nothing"\n', "status 1"),
        ("echo hello\n", "JSON"),
        ("echo '[1]'\n", ""),
        ("mcp_register_tool '{'\n", "`tools`"),
        ("head -c 2000000 /dev/zero\n", ""),
        ("if\n", "status"),
    ],
)
def test_a_hook_that_fails_registers_nothing(script: str, named: str) -> None:
    definition, problems = hooked(script)
    (problem,) = [problem for problem in problems if problem.code == "MCP154"]
    assert named in problem.message
    assert problem.span is not None
    assert problem.span.path == "server.d/register.sh"
    assert not definition.complete


def test_a_hook_that_does_not_end_is_ended_with_all_it_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hooks, "TIMEOUT_SECONDS", 0.5)
    _, problems = hooked("sleep 600.125 &\nwait\n")
    assert [problem.message for problem in problems if problem.code == "MCP154"] == [
        "`server.d/register.sh` did not end within 0.5 seconds"
    ]
    assert not running("sleep", "600.125")


def test_a_hook_changes_nothing_of_the_project(tmp_path: Path) -> None:
    needs("bash")
    (tmp_path / "server.d").mkdir()
    (tmp_path / "server.d/register.sh").write_text("echo changed >VERSION; rm -rf server.d\n")
    (tmp_path / "server.d/register.sh").chmod(0o644)
    mcp_bash.parse(read_tree(tmp_path)[0], Options(hooks=True))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["server.d"]


def test_without_bash_a_hook_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hooks, "find_bash", lambda: "")
    with pytest.raises(HookError, match="no `bash`"):
        hooks._run(tree({}))


def test_a_register_keeps_the_hook_from_running() -> None:
    definition, problems = hooked("exit 1\n", **{"server.d/register.json": '{"version": 1, "tools": []}'})
    assert codes(problems) == []
    assert definition.tools == ()
