"""What the commands say of resources: those of the compiler about a project, and those of a built file about itself."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from mcpc.cli.artifact import start_command
from support.artifact import build, converse, mcpc
from support.needs import needs

if TYPE_CHECKING:
    from pathlib import Path

RESOURCES = {
    "resources": [
        {"name": "app", "uri": "config://app", "description": "The configuration.", "text": "debug = no"},
        {
            "name": "now",
            "uri": "clock://now",
            "description": "The time.\nNow.",
            "_meta": {"mcpc/handler": {"timeout": 5}},
        },
    ],
    "resourceTemplates": [
        {"name": "user", "uriTemplate": "users://{id}", "description": "A user."},
        {"name": "nameless", "uriTemplate": "file:///{+path}", "description": "Any file.", "root": "/srv"},
    ],
}
COMPLETIONS = {
    "completions": [{"ref": {"type": "ref/resource", "uri": "users://{id}"}, "argument": "id", "values": ["1"]}]
}
FILES = {
    "server.json": '{"serverInfo": {"name": "reads", "version": "1.0"}}',
    "resources.json": json.dumps(RESOURCES),
    "resources.bash": 'resource_now() { date; }\nresource_user() { echo "$1"; }\nexport -f resource_now resource_user\n',
    "completions.json": json.dumps(COMPLETIONS),
}
LISTED = """\
resource config://app  The configuration.
resource clock://now  The time.
template users://{id}  A user.
template file:///{+path}  Any file.
"""
SUMMED = """\
  resource config://app  The configuration.
  resource clock://now  The time.
         timeout: 5.0
  template users://{id}  A user.
  template file:///{+path}  Any file.
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    needs("bash")
    folder = tmp_path_factory.mktemp("reads") / "project"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture(scope="module")
def server(project: Path) -> Path:
    return build(project, project.parent / "reads.pyz", "--resources-page-size", "1")


def say(server: Path, *words: str) -> str:
    done = converse([server, *words], b"")
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


def test_a_built_file_lists_what_can_be_read(server: Path) -> None:
    assert say(server, "list") == LISTED
    found: dict[str, Any] = json.loads(say(server, "list", "--json"))
    assert [one["uri"] for one in found["resources"]] == ["config://app", "clock://now"]
    assert [one["uriTemplate"] for one in found["resourceTemplates"]] == ["users://{id}", "file:///{+path}"]


def test_a_built_file_counts_what_it_has(server: Path) -> None:
    assert "0 tools, 0 prompts, 2 resources, 2 resource templates, 1 completion\n" in say(server, "info")
    facts = json.loads(say(server, "info", "--json"))
    assert {name: facts[name] for name in ("resources", "resourceTemplates", "completions", "handlers")} == {
        "resources": 2,
        "resourceTemplates": 2,
        "completions": 1,
        "handlers": ["mcbox"],
    }
    assert facts["running"] == [{"of": ["now"], "timeout": 5.0}]


def test_a_built_file_checks_itself(server: Path) -> None:
    assert json.loads(say(server, "check", "--json"))["ok"] is True


def test_a_check_looks_for_what_resources_need(server: Path, tmp_path: Path) -> None:
    done = converse(start_command(server, "check"), b"", env={"PATH": str(tmp_path), "HOME": str(tmp_path)})
    assert b"clock://now" in done.stdout
    assert b"bash" in done.stdout


def test_inspect_shows_them(server: Path, project: Path) -> None:
    for target in (server, project):
        done = mcpc("inspect", target)
        assert done.returncode == 0, done.stderr
        assert done.stdout.endswith(SUMMED), done.stdout
    whole = json.loads(mcpc("inspect", server, "--format", "json").stdout)
    assert [one["name"] for one in whole["resources"]] == ["app", "now"]
    assert [one["name"] for one in whole["resourceTemplates"]] == ["user", "nameless"]


def test_check_and_build_count_them(project: Path, tmp_path: Path) -> None:
    assert "reads 1.0: 0 tools, 0 prompts, 4 resources" in mcpc("check", project).stderr
    done = mcpc("build", project, "-o", tmp_path / "x.pyz", environment={"MCPC_CACHE_DIR": str(tmp_path)})
    assert "0 tools, 0 prompts, 4 resources, " in done.stderr
