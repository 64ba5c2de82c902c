"""The distribution is `mcp-compiler`: PyPI's `mcpc`, another project with a package of that name, is told apart."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.needs import ROOT

pytestmark = pytest.mark.slow


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder in which the packages of this project lie, as in site-packages."""
    folder = tmp_path / "site-packages"
    for name in ("compiler/mcp_compiler", "compiler/mcpc", "runtime/mcpc_runtime", "templates"):
        shutil.copytree(ROOT / name, folder / name.rpartition("/")[2])
    return folder


def run(*folders: Path) -> subprocess.CompletedProcess[str]:
    """Run the command, its packages found in these folders."""
    code = "from mcp_compiler import main; main()"
    argv = [sys.executable, "-c", code, "--version"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders))}
    return subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False, env=environment)


def test_alone_it_runs(place: Path) -> None:
    done = run(place)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("mcpc, version ")


def test_another_project_installed_over_it_is_named(place: Path) -> None:
    (place / "mcpc-0.2.6.dist-info").mkdir()
    done = run(place)
    assert (done.returncode, done.stdout) == (8, "")
    assert "`mcpc` 0.2.6, another project of PyPI, is installed over `mcp-compiler`" in done.stderr
    assert "python -m pip uninstall --yes mcpc mcp-compiler\n" in done.stderr
    assert "Traceback" not in done.stderr


def test_another_project_that_replaced_the_package_is_named(place: Path) -> None:
    """Its files came last: nothing of `mcpc` is imported before it is noticed."""
    (place / "mcpc-0.2.6.dist-info").mkdir()
    (place / "mcpc/__init__.py").write_text("raise SystemExit('the other project was imported')\n")
    shutil.rmtree(place / "mcpc/cli")
    done = run(place)
    assert done.returncode == 8
    assert "the other project" not in done.stderr
    assert "pip uninstall" in done.stderr


def test_another_package_earlier_on_the_path_is_named(place: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / "mcpc").mkdir(parents=True)
    (other / "mcpc/__init__.py").write_text("raise SystemExit('the other project was imported')\n")
    done = run(other, place)
    assert done.returncode == 8
    assert f"is imported from {other}/mcpc/__init__.py, which is not part of `mcp-compiler`" in done.stderr
