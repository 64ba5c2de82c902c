"""What a server offers, read from a file, from a snapshot and from running servers, some of which misbehave."""

import json
import sys
from pathlib import Path

import click
import pytest

from mcpc.cli.server_targets import artifact_lists, read_command, read_target, request_headers
from mcpc.client import SnapshotError, read_snapshot
from mcpc.client.model import lists_from_json, snapshot_text
from support.artifact import build
from support.projects import SERVER_JSON
from support.serving import served

TOOL = {"name": "echo", "description": "Repeat.", "inputSchema": {"type": "object"}}
SECONDS = 60


ENDS = "import sys; sys.stdin.readline(); sys.exit(3)"


@pytest.mark.parametrize(
    ("command", "text"),
    [([sys.executable, "-c", ENDS], "ended with status 3"), (["no-such-program-of-mcpc"], "cannot be started")],
)
def test_a_command_that_does_not_serve_has_exit_code_4(command: list[str], text: str) -> None:
    with pytest.raises(click.ClickException, match=text) as caught:
        read_command(command, SECONDS)
    assert caught.value.exit_code == 4


def test_a_command_that_does_not_answer_is_ended() -> None:
    with pytest.raises(click.ClickException, match="did not answer"):
        read_command([sys.executable, "-c", "import time; time.sleep(1000)"], 0.5)


@pytest.fixture(scope="module")
def artifact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = tmp_path_factory.mktemp("project")
    (project / "server.json").write_text(
        SERVER_JSON.replace('"capabilities"', '"instructions": "Ask.", "capabilities"')
    )
    (project / "tools.json").write_text(json.dumps({"tools": [TOOL]}))
    (project / "tools.bash").write_text("tool_echo() { echo; }\nexport -f tool_echo\n")
    return build(project, project.with_suffix(".pyz"), "--http")


def test_a_file_and_the_server_that_it_is_offer_the_same(artifact: Path) -> None:
    read = artifact_lists(artifact)
    assert (read.name, read.version, read.instructions, read.python) == ("demo", "1.0.0", "Ask.", "3.11")
    assert [tool["name"] for tool in read.tools] == ["echo"]
    started = read_command([sys.executable, str(artifact)], SECONDS)
    with served(artifact) as server:
        reached = read_target(server.url, {}, {}, SECONDS)
    for other in (started, reached):
        assert (other.tools, other.information, other.instructions) == (read.tools, read.information, "Ask.")
        assert other.capabilities == read.capabilities
        assert other.python is None


def test_a_server_over_http_that_wants_a_token_gets_it(artifact: Path, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("0123456789abcdef-s3cret\n")
    token.chmod(0o600)
    with served(artifact, "--token-file", str(token)) as server:
        with pytest.raises(click.ClickException, match="it wants a token") as caught:
            read_target(server.url, {}, {}, SECONDS)
        assert caught.value.exit_code == 4
        assert read_target(server.url, {}, request_headers((), token), SECONDS).name == "demo"


@pytest.mark.parametrize("header", ["no-colon-s3cret", ": s3cret", "a b: s3cret", "X-Key: s3cret\nX: y"])
def test_a_wrong_header_is_refused_without_repeating_it(header: str) -> None:
    with pytest.raises(click.UsageError) as caught:
        request_headers((header,), None)
    assert "s3cret" not in caught.value.message


def test_a_snapshot_is_the_same_value_again(artifact: Path, tmp_path: Path) -> None:
    lists = artifact_lists(artifact)
    path = tmp_path / "lists.json"
    path.write_text(snapshot_text(lists))
    assert read_snapshot(path) == lists
    assert snapshot_text(read_snapshot(path)) == path.read_text()


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{}", "[" * 100_000, '{"name": "a", "tools": {}}', '{"name": 1}', "\xff",
        '{"name": "a", "paths": "/b"}', '{"name": "a", "paths": ["/b", 1]}',
        '{"name": "a", "running": [1]}', '{"name": "a", "running": [{"of": 1}]}',
    ],
)  # fmt: skip
def test_a_file_that_is_not_a_snapshot_is_an_error(text: str, tmp_path: Path) -> None:
    path = tmp_path / "lists.json"
    path.write_text(text)
    with pytest.raises(SnapshotError):
        read_snapshot(path)
    with pytest.raises(click.UsageError):
        read_target(str(path), {}, {}, SECONDS)


def test_a_built_file_knows_which_tools_are_tasks() -> None:
    facts = {"name": "a", "tools": [{**TOOL, "name": "slow"}], "running": [{"of": ["slow"], "task": "optional"}]}
    assert lists_from_json(facts, is_built=True).tasks == {"slow": "optional"}
    assert lists_from_json({"name": "a", "tools": [TOOL]}).tasks is None
