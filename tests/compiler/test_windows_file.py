"""A built file behind the launcher for Windows, and the launchers themselves."""

import hashlib
import json
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from mcpc.interpreters.launchers.windows_file import MACHINES, launcher_of
from support.artifact import mcpc
from support.needs import ROOT, lacking

LAUNCHERS = ROOT / "compiler/mcpc/interpreters/launchers/windows"
MACHINE_CODES = {"x64": 0x8664, "arm64": 0xAA64}
PROJECT = ROOT / "examples/files"


@pytest.mark.parametrize("machine", MACHINES)
def test_a_launcher_is_for_its_machine_and_without_a_time(machine: str) -> None:
    launcher = launcher_of(machine)
    (header,) = struct.unpack_from("<L", launcher, 0x3C)
    assert launcher[header : header + 4] == b"PE\0\0"
    code, _, time = struct.unpack_from("<HHL", launcher, header + 4)
    assert code == MACHINE_CODES[machine]
    assert time == 315532800  # 1980
    assert len(launcher) < 60_000


@pytest.mark.parametrize("machine", MACHINES)
def test_a_launcher_has_its_digest(machine: str) -> None:
    name = MACHINES[machine]
    assert f"{hashlib.sha256(launcher_of(machine)).hexdigest()}  {name}" in (LAUNCHERS / "SHA256SUMS").read_text()


@pytest.mark.slow
def test_launchers_are_what_their_sources_make(tmp_path: Path) -> None:
    compilers = (sys.executable, ROOT / ".cache/launchers/bin/python")
    found = [python for python in compilers if Path(python).exists() and has_zig(python)]
    if not found:
        lacking("the C compiler of requirements-launchers.lock is not installed (`make launchers`)")
    subprocess.run([ROOT / ".ci/launchers", found[0], tmp_path], check=True, capture_output=True, timeout=600)
    for name in (*MACHINES.values(), "SHA256SUMS"):
        assert (tmp_path / name).read_bytes() == (LAUNCHERS / name).read_bytes(), name


def has_zig(python: str | Path) -> bool:
    return (
        subprocess.run([python, "-c", "import ziglang"], capture_output=True, timeout=60, check=False).returncode == 0
    )


def test_a_program_serves_with_the_python_of_the_build(tmp_path: Path) -> None:
    """Its archive is an ordinary one, which is how the build tries it on other systems."""
    assert mcpc("build", PROJECT, "--exe", "-o", tmp_path / "server.exe").returncode == 0
    done = subprocess.run(
        [sys.executable, tmp_path / "server.exe", "info", "--json"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert json.loads(done.stdout)["name"] == "files"


def test_a_program_is_reproducible_and_has_the_archive_of_the_file(tmp_path: Path) -> None:
    for name in ("one.exe", "other.exe"):
        assert mcpc("build", PROJECT, "--exe", "-o", tmp_path / name).returncode == 0
    assert mcpc("build", PROJECT, "-o", tmp_path / "server.pyz").returncode == 0
    assert (tmp_path / "one.exe").read_bytes() == (tmp_path / "other.exe").read_bytes()
    with zipfile.ZipFile(tmp_path / "one.exe") as program, zipfile.ZipFile(tmp_path / "server.pyz") as file:
        assert program.namelist() == file.namelist()
        assert all(program.read(name) == file.read(name) for name in file.namelist())
