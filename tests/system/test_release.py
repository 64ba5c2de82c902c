"""`mcpc release` writes the same every time, or nothing; and the pipelines that `mcpc ship` writes run as they are written.

Left out are the steps that install mcpc from a registry, and the one that publishes on GitHub.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from mcpc.cli import cli
from mcpc.release.exports import EXPORTS, Deployment
from support.needs import ROOT, needs
from support.processes import run_program

PYPROJECT = """[project]
name = "files"
version = "1.0.0"
description = "Sizes and checksums of files"
authors = [{name = "A. Author"}]
license = "MIT"

[tool.mcpc.registry]
name = "io.github.author/files"
mcpb = ["https://github.com/author/files/releases/download/v{version}/files.mcpb"]

[tool.mcpc.release]
files = ["pyz", "exe", "bundle", "plugin", "registry", "sbom", "provenance"]
options = ["--from", "native"]
"""
RELEASED = {
    *("files.pyz", "files.exe", "files.mcpb", "files-plugin.zip", "server.json", "files.cdx.json"),
    *("files.provenance.json", "SHA256SUMS", ".gitignore"),
}


def mcpc(*words: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mcpc", *map(str, words)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the project `files` and its release in `dist`."""
    folder = tmp_path_factory.mktemp("release")
    shutil.copytree(ROOT / "examples/files", folder / "files")
    (folder / "files/pyproject.toml").write_text(PYPROJECT)
    done = mcpc("release", "files", folder=folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_everything_that_is_declared_is_written_with_its_checksum(home: Path) -> None:
    dist = home / "dist"
    assert {path.name for path in dist.iterdir()} == RELEASED
    sums = dict(reversed(line.split("  ")) for line in (dist / "SHA256SUMS").read_text().splitlines())
    assert set(sums) == RELEASED - {"SHA256SUMS", ".gitignore"}
    assert sums == {name: hashlib.sha256((dist / name).read_bytes()).hexdigest() for name in sums}
    entry = json.loads((dist / "server.json").read_text())
    assert [package["fileSha256"] for package in entry["packages"]] == [sums["files.mcpb"]]
    assert (
        json.loads((dist / "files.provenance.json").read_text())["subject"][0]["digest"]["sha256"] == sums["files.pyz"]
    )
    with zipfile.ZipFile(dist / "files-plugin.zip") as plugin:
        assert "files/plugin.json" in plugin.namelist()
    listed = subprocess.run([dist / "files.pyz", "list"], capture_output=True, text=True, check=True).stdout
    assert "file_size" in listed


def test_the_same_sources_make_the_same_release_in_their_own_folder_too(home: Path) -> None:
    first = (home / "dist/SHA256SUMS").read_bytes()
    for _ in range(2):  # the second one finds the first one's files in the project
        assert mcpc("release", ".", folder=home / "files").returncode == 0
        assert (home / "files/dist/SHA256SUMS").read_bytes() == first
    shutil.rmtree(home / "files/dist")


WRONG = {
    "unknown product": ('files = ["pyz", "deb"]', "`deb` is not one of the words of `files`", 1),
    "unknown key": ('file = ["pyz"]', "unknown key `file`", 1),
    "not a list": ('files = "pyz"', "`files` is not a list of strings", 1),
    "registry alone": ('files = ["registry"]', "`registry` needs another file of the release", 1),
    "image alone": ('files = ["image"]', "`image` needs another file of the release", 1),
    "unknown option": ('options = ["--htp"]', "`options` of `[tool.mcpc.release]`: No such option", 2),
    "unknown target": ('self-contained = ["beos"]', "`beos` is not one of the words of `self-contained`", 1),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_told_and_nothing_is_written(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line, message, status = WRONG[case]
    shutil.copytree(ROOT / "examples/files", tmp_path / "files")
    (tmp_path / "files/pyproject.toml").write_text(f"[tool.mcpc.release]\n{line}\n")
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(cli, ["release", "files"])
    assert (done.exit_code, message in done.output) == (status, True), done.output
    assert not (tmp_path / "dist").exists()


ELSEWHERE = ("Install mcpc", "Publish the files")
TOOL = {"name": "size", "description": "Tell a size.", "inputSchema": {"type": "object", "properties": {}}}
BASH = "tool_size() { echo 1; }\nexport -f tool_size\n"


class Repository:
    """A repository with a project, whose second commit makes an argument required."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.variables = {
            **os.environ,
            "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "PYTHONPATH": f"{ROOT}/compiler:{ROOT}/runtime",
        }
        command = folder / "bin/mcpc"
        command.parent.mkdir(parents=True)
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m mcpc "$@"\n')
        command.chmod(0o755)
        project = self.project = folder / "project"
        project.mkdir()
        self.git("init", "-q")
        (project / "server.json").write_text('{"serverInfo": {"name": "sizes", "version": "1.0.0"}}')
        (project / "tools.bash").write_text(BASH)
        self.base = self.commit(TOOL)
        schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
        self.commit({**TOOL, "inputSchema": schema})

    def git(self, *words: str) -> str:
        who = ("-c", "user.name=a", "-c", "user.email=a@example.com")
        command = ["git", *who, *words]
        return run_program(command, cwd=self.project, env=self.variables, check=True).stdout.strip()

    def commit(self, tool: dict[str, Any]) -> str:
        (self.project / "tools.json").write_text(json.dumps({"tools": [tool]}))
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "A change")
        return self.git("rev-parse", "HEAD")

    def run(self, script: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a step as runners do: a shell that ends with the first command that fails."""
        command = ["bash", "-e", "-c", script]
        environment = {**self.variables, **variables}
        return subprocess.run(command, cwd=self.project, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    needs("git")
    return Repository(tmp_path)


def pipeline(kind: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(EXPORTS[kind](Deployment("sizes", "1.0.0")))
    return found


@pytest.mark.parametrize(("kind", "name"), [("github-actions", "github-actions.yml"), ("gitlab-ci", "gitlab-ci.yml")])
def test_the_examples_are_what_is_exported(kind: str, name: str) -> None:
    assert (ROOT / "docs/pipelines" / name).read_text() == EXPORTS[kind](Deployment("sizes", "1.0.0"))


def test_the_steps_of_the_workflow_run(repository: Repository) -> None:
    jobs = pipeline("github-actions")["jobs"]
    steps = {
        job: [step for step in jobs[job]["steps"] if "run" in step and step["name"] not in ELSEWHERE] for job in jobs
    }
    (compare,), (release,) = steps["compare"], steps["release"]
    assert compare["env"].keys() == {"BASE"}
    done = repository.run(compare["run"], BASE=repository.base)
    assert done.returncode == 7, done.stderr
    assert "::error" in done.stdout
    assert repository.run(release["run"]).returncode == 0
    assert (repository.project / "dist/SHA256SUMS").is_file()


def test_the_scripts_of_the_pipeline_run(repository: Repository) -> None:
    jobs = pipeline("gitlab-ci")
    compare, release = ("\n".join(jobs[job]["script"]) for job in ("compare", "release"))
    done = repository.run(compare, CI_MERGE_REQUEST_DIFF_BASE_SHA=repository.base)
    assert done.returncode == 7, done.stderr
    assert "size" in done.stdout
    assert repository.run(release).returncode == 0
    sums = subprocess.run(["sha256sum", "-c", "SHA256SUMS"], cwd=repository.project / "dist", check=False)
    assert sums.returncode == 0
