"""The project's own workflows: their owner's schema, least rights, pinned actions; and the release's steps run here.

Left out are the steps that need a registry or the forge.
"""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from mcpc import __version__
from support.needs import ROOT, lacking, needs
from support.processes import run_program

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
PINNED = re.compile(r"[\w-]+/[\w./-]+@[0-9a-f]{40}|\./\.github/workflows/\w+\.yml")
OUTSIDE = re.compile(r"\$\{\{\s*(?:github\.(?:ref|head_ref|event\.)|inputs)")
"""What whoever pushes can write: in a script it would be commands."""
ELSEWHERE = ("Install what it needs, as locked", "Publish the release on GitHub")
PACKAGED = {"compiler/mcpc": "mcpc", "compiler/mcp_compiler": "mcp_compiler", "runtime/mcpc_runtime": "mcpc_runtime",
            "templates": "mcpc/templates"}  # fmt: skip
VENV = """#!/bin/sh
mkdir -p "$1/bin"
printf '#!/bin/sh\\nexec "%s" "$@"\\n' '{python}' >"$1/bin/python"
chmod +x "$1/bin/python"
"""
BESIDE = ("pyproject.toml", "README.md", "LICENSE", "Makefile", ".gitignore")


def jobs(workflow: Path) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = yaml.safe_load(workflow.read_text())["jobs"]
    return found


def steps(job: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from job.get("steps", [])


def test_the_schema_of_their_owner_holds(tmp_path: Path) -> None:
    if importlib.util.find_spec("check_jsonschema") is None:
        lacking("check-jsonschema is not installed")
    argv = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows"]
    run_program([*argv, *WORKFLOWS], status=0)
    broken = tmp_path / "broken.yml"
    broken.write_text(WORKFLOWS[0].read_text().replace("runs-on:", "run-on:", 1))
    run_program([*argv, broken], status=1)


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_rights_are_few_and_no_text_of_others_is_a_script(workflow: Path) -> None:
    whole = yaml.safe_load(workflow.read_text())
    assert "concurrency" in whole
    assert set(whole["permissions"].items()) <= {("contents", "read")}
    for job in jobs(workflow).values():
        used = [each["uses"] for each in (job, *steps(job)) if "uses" in each]
        assert [one for one in used if not PINNED.fullmatch(one)] == []
        assert not any(OUTSIDE.search(step.get("run", "")) for step in steps(job))
        if "write" in job.get("permissions", {}).values():  # what is built there could use them
            assert not any("actions/checkout" in one or "setup" in one for one in used)


def test_a_release_is_checked_built_attested_and_published_in_this_order() -> None:
    release = jobs(ROOT / ".github/workflows/release.yml")
    assert [*release] == ["check", "build", "attest", "publish", "announce"]
    assert [job.get("needs") for job in release.values()] == [None, *list(release)[:-1]]
    called = (ROOT / release["check"]["uses"]).read_text()
    assert "workflow_call" in yaml.safe_load(called)[True]  # `on`, as YAML 1.1 reads it
    assert ".ci/run" in called


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what a wheel is built from, with other rights of files, and the environment that `.ci/venv` would make."""
    place = tmp_path_factory.mktemp("release") / "checkout"
    for folder in PACKAGED:
        shutil.copytree(ROOT / folder, place / folder)
    for name in BESIDE:
        shutil.copy(ROOT / name, place / name)
    run_program(["chmod", "-R", "go-rwx", place], status=0)
    (place / ".ci").mkdir()
    (place / ".ci/venv").write_text(VENV.format(python=sys.executable))
    (place / ".ci/venv").chmod(0o755)
    return place


def environment(folder: Path) -> None:
    """Make the environment of the step that is left out: the packages of the tests', without the project itself."""
    run_program([sys.executable, "-m", "venv", "--without-pip", folder], status=0)
    library = next(folder.glob("lib/python*/site-packages"))
    (library / "dependencies.pth").write_text(f"{sysconfig.get_path('purelib')}\n")


@pytest.mark.slow
def test_the_steps_of_the_release_run(checkout: Path) -> None:
    needs("make")
    runner = checkout.parent
    environment(runner / "installed")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "MCPC_", "MAKE"))}
    variables = {**kept, "RUNNER_TEMP": str(runner), "SOURCE_DATE_EPOCH": "1", "HOME": str(runner)}
    ran = []
    for step in steps(jobs(ROOT / ".github/workflows/release.yml")["build"]):
        if "run" in step and step.get("name") not in ELSEWHERE:
            given = dict.fromkeys(step.get("env", {}), f"v{__version__}")
            command = ["bash", "-e", "-c", step["run"]]
            done = run_program(command, cwd=checkout, env={**variables, **given}, stdin=subprocess.DEVNULL)
            assert done.returncode == 0, done.stdout + done.stderr
            ran.append(step["run"].split()[0])
    assert ran == ["make", "test", '"$RUNNER_TEMP/installed/bin/python"', "cd"]
    script = "import mcpc, mcpc_runtime; print(mcpc.__file__, mcpc_runtime.__file__)"
    where = run_program([runner / "installed/bin/python", "-I", "-c", script], status=0).stdout.split()
    assert all(Path(place).is_relative_to(runner / "installed") for place in where)
    refused = run_program(["bash", "-e", "-c", 'test -f "dist/mcp_compiler-${TAG#v}-py3-none-any.whl"'],
                          cwd=checkout, env={**variables, "TAG": f"v{__version__}.1"})  # fmt: skip
    assert refused.returncode == 1
    check_contents(*(checkout / "dist").iterdir(), runner)


def check_contents(wheel: Path, runner: Path) -> None:
    """Every file of the packages is in the wheel, and another tree, with other rights, gives the same bytes."""
    wanted = {
        f"{name}/{file.relative_to(ROOT / folder).as_posix()}"
        for folder, name in PACKAGED.items()
        for file in (ROOT / folder).rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    with zipfile.ZipFile(wheel) as archive:
        inside = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert inside == wanted
    again = runner / "again"
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", again]
    kept = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"}
    run_program(command, cwd=ROOT, env=kept, status=0)
    assert (again / wheel.name).read_bytes() == wheel.read_bytes()
