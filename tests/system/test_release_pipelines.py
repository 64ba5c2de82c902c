"""The pipelines that `mcpc ship` writes: their shell steps are run as they are written, in a repository with a change.

Left out are the steps that install mcpc from a registry, and the one that publishes on GitHub.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from mcpc.release.exports import EXPORTS, Deployment
from support.needs import ROOT, needs
from support.processes import run_program

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
