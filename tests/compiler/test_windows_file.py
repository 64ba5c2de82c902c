"""A built file behind the launcher for Windows, and the launchers themselves."""

from __future__ import annotations

import hashlib
import io
import json
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from mcpc.launchers.archive_offsets import replace_prefix
from mcpc.launchers.windows_file import MACHINES, PythonChoice, launcher_of, windows_file
from mcpc.pack.archive import ArchiveEntry, build_archive
from mcpc.pack.prologue import START
from support.artifact import mcpc
from support.needs import ROOT, lacking

LAUNCHERS = ROOT / "compiler/mcpc/launchers/windows"
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


ENTRIES = [ArchiveEntry("a.txt", b"first"), ArchiveEntry("b/c.txt", b"second" * 100), ArchiveEntry("d", b"")]


@pytest.mark.parametrize("before", ["", "#!/bin/sh\n"])
@pytest.mark.parametrize("after", [b"", b"MZ" * 5000])
def test_an_archive_behind_other_bytes_has_offsets_of_the_file(before: str, after: bytes) -> None:
    moved = replace_prefix(build_archive(ENTRIES, before), after)
    assert moved.startswith(after + b"PK\3\4")
    with zipfile.ZipFile(io.BytesIO(moved)) as packed:
        assert packed.testzip() is None
        for info in packed.infolist():
            assert moved[info.header_offset :].startswith(b"PK\3\4")  # zipfile itself would accept others
        assert [(info.filename, packed.read(info)) for info in packed.infolist()] == [
            (entry.name, entry.data) for entry in ENTRIES
        ]


def test_an_archive_without_entries_can_be_moved() -> None:
    assert zipfile.ZipFile(io.BytesIO(replace_prefix(build_archive([], ""), b"before"))).namelist() == []


@pytest.mark.parametrize("archive", [b"PK" * 40, build_archive(ENTRIES, "") + b"more"])
def test_what_is_no_archive_of_ours_is_refused(archive: bytes) -> None:
    with pytest.raises(ValueError, match="not a zip archive"):
        replace_prefix(archive, b"")


def test_the_record_is_what_the_launcher_reads() -> None:
    archive = build_archive(ENTRIES, "#!/bin/sh\n")
    whole = windows_file(archive, "x64", PythonChoice((13, 12), is_only=True))
    launcher = launcher_of("x64")
    assert whole.startswith(launcher + b"MCPCEXE1")
    (length,) = struct.unpack_from("<L", whole, len(launcher) + 8)
    record = whole[len(launcher) + 12 :][:length].decode("utf-16-le").split("\0")
    assert record == [f"{len(whole):012}", "13 12", "1", START, "Python 3.13 or Python 3.12", "", "", "", ""]
    assert whole[len(launcher) + 12 + length :].startswith(b"PK\3\4")


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


def test_the_default_name_of_a_program_is_server_exe(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mcpc", "build", PROJECT, "--exe", "--quiet"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=120)
    assert [path.name for path in tmp_path.iterdir()] == ["server.exe"]


@pytest.mark.parametrize("python", ["/usr/bin/python3", "pypy3"])
def test_a_program_finds_python_by_its_version_only(python: str, tmp_path: Path) -> None:
    done = mcpc("build", PROJECT, "--exe", "--python", python, "-o", tmp_path / "server.exe")
    assert done.returncode == 2
    assert f"not `{python}`" in done.stderr
