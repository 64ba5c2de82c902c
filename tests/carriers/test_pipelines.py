"""The exported pipelines, followed in a repository with an earlier release: every command that is not the platform's."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from mcpc.release.exports import EXPORTS, Deployment
from support.artifact import SOURCES, with_bytecode
from support.files import write_files
from support.needs import ROOT, needs

SERVER = Deployment("weather", "1.0.0", project="servers/weather").checked()
PINNED = re.compile(r"actions/[a-z-]+@[0-9a-f]{40}")
TOOL = '''
from mcpc import Server

mcp = Server("weather", version="1.0.0")


@mcp.tool(readOnlyHint=True)
def temperature(city: str) -> str:
    """Tell the temperature of a city."""
    return city
'''
CASES = """
tests:
  - name: A city
    tool: temperature
    arguments: {city: Cairo}
    expect: {text: Cairo}
"""


def jobs(kind: str) -> dict[str, list[str]]:
    """Return the commands of a pipeline's jobs, without those of the platform."""
    text = yaml.safe_load(EXPORTS[kind](SERVER))
    if kind == "gitlab-ci":
        return {name: text[name]["script"] for name in text["stages"]}
    return {
        name: [step["run"] for step in job["steps"] if not step.get("run", "gh ").startswith(("gh ", "python -m pip "))]
        for name, job in text["jobs"].items()
    }


def test_both_pipelines_run_the_same_commands_with_pinned_actions() -> None:
    github, gitlab = jobs("github-actions"), jobs("gitlab-ci")
    words = {name: [each.replace(" --format github", "") for each in commands] for name, commands in github.items()}
    assert words == gitlab
    first = [shlex.split(command[command.index("mcpc ") :])[1] for command in github["check"]]
    assert first == ["check", "test", "scan", "build", "diff"]
    workflow: dict[str, Any] = yaml.safe_load(EXPORTS["github-actions"](SERVER))
    uses = [step["uses"] for job in workflow["jobs"].values() for step in job["steps"] if "uses" in step]
    assert len(uses) == 5 and all(map(PINNED.fullmatch, uses))
    assert workflow["concurrency"]["group"].endswith("${{ github.ref }}")
    assert workflow["jobs"]["release"]["needs"] == "check"


def test_the_pages_show_what_is_written() -> None:
    plain = Deployment("demo", "1.0.0")
    for kind in ("github-actions", "gitlab-ci"):
        assert (ROOT / f"docs/pipelines/{kind}.yml").read_text(encoding="utf-8") == EXPORTS[kind](plain)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository whose release v1 has one tool; what was committed since then adds an optional argument."""
    needs("git", "bash")
    place = tmp_path / "repository"
    write_files(place / "servers/weather", {"server.py": TOOL, "tests/tools.yaml": CASES})
    git(place, "init", "-q", "-b", "main")
    commit(place, "v1.0.0")
    release(place, TOOL.replace("city: str)", 'city: str, unit: str = "celsius")'))
    return place


def git(place: Path, *words: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, *words], cwd=place, check=True, capture_output=True)


def commit(place: Path, tag: str) -> None:
    git(place, "add", "-A")
    git(place, "commit", "-qm", tag)
    git(place, "tag", tag)


def release(place: Path, text: str, tag: str = "v1.1.0") -> None:
    (place / "servers/weather/server.py").write_text(text)
    commit(place, tag)


def run(command: str, place: Path, cache: Path) -> subprocess.CompletedProcess[str]:
    programs = place.parent / "bin"
    programs.mkdir(exist_ok=True)
    (programs / "mcpc").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m mcpc "$@"\n')
    (programs / "mcpc").chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{programs}:{os.environ['PATH']}",
        "PYTHONPATH": SOURCES,
        "MCPC_CACHE_DIR": str(cache),
    }
    return subprocess.run(
        ["bash", "-e", "-c", command],
        cwd=place,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize(("file", "status"), [("", 0), ("unit.py", 0), ("tools.yaml", 1)])
def test_a_project_without_cases_is_not_tested(file: str, status: int, tmp_path: Path) -> None:
    needs("bash")
    write_files(
        tmp_path / "place/servers/weather", {"server.py": TOOL, **({f"tests/{file}": "tests: 1"} if file else {})}
    )
    done = run(jobs("github-actions")["check"][1], tmp_path / "place", tmp_path / "cache")
    assert done.returncode == status, done.stdout + done.stderr


@pytest.mark.slow
def test_the_commands_make_a_release_and_stop_one_that_breaks_clients(
    repository: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    cache = with_bytecode(tmp_path_factory.getbasetemp() / "cache-of-pipelines")
    check, making = jobs("github-actions").values()
    for command in (*check, *making):
        done = run(command, repository, cache)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    assert {"SHA256SUMS", "weather.pyz"} <= {path.name for path in (repository / "dist").iterdir()}
    git(repository, "worktree", "remove", "--force", "../last")
    release(repository, TOOL.replace("city", "place"), "v1.2.0")
    broken = run(check[-1], repository, cache)
    assert broken.returncode == 7, broken.stdout + broken.stderr
    assert "::error" in broken.stdout
