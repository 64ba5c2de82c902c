"""`mcpc diff` and `mcpc diff --notes` over everything that they read: projects, files, snapshots, commands and addresses."""

import json
import sys
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from support.artifact import build, mcpc
from support.projects import SERVER_JSON
from support.serving import served

OLD = {"type": "object", "properties": {"city": {"type": "string"}, "unit": {"enum": ["C", "F"]}}, "required": ["city"]}
NEW = {"type": "object", "properties": {"city": {"type": "string"}, "unit": {"enum": ["C"]}}, "required": ["city"]}


def write_project(folder: Path, schema: object, version: str) -> Path:
    folder.mkdir(parents=True)
    (folder / "server.json").write_text(SERVER_JSON.replace("1.0.0", version))
    (folder / "tools.json").write_text(json.dumps({"tools": [{"name": "weather", "inputSchema": schema}]}))
    (folder / "tools.bash").write_text("tool_weather() { echo; }\nexport -f tool_weather\n")
    return folder


@pytest.fixture(scope="module")
def versions(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """Return the old version as a built file, the new one as a project, and as a built file."""
    folder = tmp_path_factory.mktemp("versions")
    old = build(write_project(folder / "old", OLD, "1.0.0"), folder / "old.pyz")
    project = write_project(folder / "new", NEW, "1.0.1")
    return old, project, build(project, folder / "new.pyz", "--http")


def narrowed(done: CompletedProcess[str]) -> None:
    """Check that a report has the one change that breaks."""
    found = json.loads(done.stdout)
    breaking = [each["place"] for each in found["changes"] if each["verdict"] == "breaking"]
    assert breaking == ["tool:weather/inputSchema/properties/unit/enum"]
    assert found["version"] == {"level": "major", "suggested": "2.0.0", "fits": False}


def test_files_projects_snapshots_commands_and_addresses_are_compared(
    versions: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    old, project, new = versions
    snapshot = tmp_path / "lists.json"
    done = mcpc("diff", old, "--snapshot", snapshot)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    inspected = tmp_path / "inspected.json"
    inspected.write_text(mcpc("inspect", old, "--format", "json").stdout)
    with served(new) as server:
        for words in (
            (old, project),
            (old, new),
            (snapshot, new),
            (inspected, new),
            (old, server.url),
            (old, "--", sys.executable, new),
        ):
            report = mcpc("diff", "--format", "json", "--fail-on", "breaking", *words, status=7)
            narrowed(report)
    assert mcpc("diff", old, new).returncode == 0
    assert mcpc("diff", new, old, "--fail-on", "breaking", "--fail-on", "undecided").returncode == 0
    same = mcpc("diff", old, snapshot, "--fail-on", "routing")
    assert (same.returncode, "no changes" in same.stdout) == (0, True)
