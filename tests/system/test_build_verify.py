"""`mcpc build --verify` writes a file only if a second build, with everything changed, has the same bytes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from mcpc.cli.build import command
from mcpc.options import Options
from mcpc.release.trust.second_build import BuildRequest, changed_variables, copy_project, request_from_json
from support.artifact import shared_cache
from support.files import write_files
from support.projects import SMOKETEST

CHANCE = '''"""Tools."""

import time

from mcpc import Server, tool

mcp = Server("chance", version="1.0.0")


def use() -> int:
    return 1


use.__doc__ = f"Return a number, since {time.time_ns()}."
use = tool(use)
'''


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    return write_files(folder, SMOKETEST)


def test_entries_that_differ_are_named_and_nothing_is_written(tmp_path: Path) -> None:
    project, target = tmp_path / "project", tmp_path / "server.pyz"
    project.mkdir()
    (project / "tools.py").write_text(CHANCE)
    target.write_text("an earlier file")
    with shared_cache():
        done = CliRunner().invoke(command, [str(project), "--verify", "-q", "-o", str(target)], catch_exceptions=False)
    assert done.exit_code == 6
    assert "mcpc_app/blob" in done.output
    assert target.read_text() == "an earlier file"


def test_the_environment_differs_from_this_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed, other in (("4242", "1"), ("1", "4242")):
        monkeypatch.setenv("PYTHONHASHSEED", seed)
        assert changed_variables(tmp_path)["PYTHONHASHSEED"] == other
    changed = changed_variables(tmp_path)
    assert not [name for name in ("TZ", "USER", "TMPDIR", "MCPC_CACHE_DIR") if os.environ.get(name) == changed[name]]
    program = "import sys, os; print(sys.flags.hash_randomization, os.environ['TZ'], os.environ['TMPDIR'])"
    argv = [sys.executable, "-P", "-s", "-c", program]
    done = subprocess.run(argv, env={**os.environ, **changed}, capture_output=True, text=True, check=True)
    assert done.stdout.split()[1:] == ["Pacific/Kiritimati", str(tmp_path / "temporary-files")]


def test_a_copied_project_has_the_same_files_with_other_times(project: Path, tmp_path: Path) -> None:
    (project / "tools.bash").chmod(0o755)
    copy = copy_project(project, tmp_path / "another/path")
    assert copy.name == project.name
    assert {path.name: path.read_bytes() for path in copy.iterdir()} == {
        path.name: path.read_bytes() for path in project.iterdir()
    }
    assert (copy / "tools.bash").stat().st_mode & 0o111
    assert {path.stat().st_mtime for path in copy.iterdir()} == {1_000_000_000}


def test_a_request_is_the_same_in_the_other_process() -> None:
    options = Options(extras=("more",), build_environment=(("NAME", "value"),), tools_page_size=3)
    request = BuildRequest("project", "target", options, embedded="linux_x86_64", left_out="server")
    assert request_from_json(request.as_json()) == request
