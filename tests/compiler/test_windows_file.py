"""A built file behind the launcher for Windows, and the launchers themselves."""

import hashlib
import json
import os
import struct
import subprocess
import sys
import threading
import zipfile
from pathlib import Path
from queue import SimpleQueue

import pytest

from mcpc.interpreters.launchers.windows_file import MACHINES, launcher_of
from mcpc.reading import Source, is_executable
from mcpc.sandbox.platforms import posix, windows
from support.artifact import mcpc
from support.needs import ROOT, lacking

LAUNCHERS = ROOT / "compiler/mcpc/interpreters/launchers/windows"
UP = "../../../../.."
"""The way from there to the project."""
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


def test_launchers_and_what_they_were_made_of_have_their_digests() -> None:
    digests = dict(reversed(line.split("  ")) for line in (LAUNCHERS / "SHA256SUMS").read_text().splitlines())
    lying_beside = {path.name for path in LAUNCHERS.iterdir()} - {"SHA256SUMS"}
    assert digests.keys() == lying_beside | {f"{UP}/.ci/launchers", f"{UP}/requirements-launchers.lock"}
    assert digests == {name: hashlib.sha256((LAUNCHERS / name).read_bytes()).hexdigest() for name in digests}


@pytest.mark.nightly
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


@pytest.mark.parametrize(
    ("path", "command"),
    [
        ("server.pyz", "python server.pyz"),
        (r"C:\my servers\one.pyz", r'python "C:\my servers\one.pyz"'),
        ("server.exe", r".\server.exe"),
        (r"..\out\SERVER.EXE", r"..\out\SERVER.EXE"),
        (r"C:\my servers\one.exe", r'"C:\my servers\one.exe"'),
    ],
)
def test_a_built_file_is_started_by_what_windows_starts(path: str, command: str) -> None:
    assert windows.start_of_file(path) == command


@pytest.mark.parametrize(
    ("data", "is_program"),
    [(b"#!/usr/bin/env bash\n", True), (b"\x7fELF\x02", True), (b"MZ\x90", True), (b"plain", False), (b"", False)],
)
def test_a_file_is_executable_by_its_first_bytes_as_well_as_by_its_mode(data: bytes, is_program: bool) -> None:
    mode = windows.permissions(os.stat("."), is_program=is_program)
    assert bool(mode & 0o111) == is_program
    assert is_executable(Source("bin/it", data, 0o644)) == is_program
    assert is_executable(Source("bin/it", data, 0o755))


class FileInUse:
    """A new file that Windows refuses to rename so many times."""

    def __init__(self, refusals: int) -> None:
        self.refusals = refusals
        self.attempts = 0

    def replace(self, target: object) -> None:
        self.attempts += 1
        if self.attempts <= self.refusals:
            raise PermissionError(13, "Access is denied")


def test_a_file_that_is_in_use_for_a_moment_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(windows, "PAUSE_SECONDS", 0)
    new = FileInUse(refusals=3)
    windows.replace_file(new, tmp_path / "server.pyz")  # type: ignore[arg-type]
    assert new.attempts == 4


@pytest.mark.parametrize(("exists", "reason"), [(True, windows.IN_USE), (False, "Access is denied")])
def test_a_file_that_stays_in_use_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exists: bool, reason: str
) -> None:
    monkeypatch.setattr(windows, "PAUSE_SECONDS", 0)
    target = tmp_path / "server.pyz"
    if exists:
        target.write_bytes(b"")
    with pytest.raises(OSError, match=reason) as refused:
        windows.replace_file(FileInUse(refusals=99), target)  # type: ignore[arg-type]
    assert (refused.value.strerror, refused.value.filename) == (reason, str(target))


def test_a_log_is_read_from_one_writer_to_the_next(tmp_path: Path) -> None:
    with posix.open_log_pipe(tmp_path / "calls") as stream:
        for line in (b"one\n", b"two\n"):
            (tmp_path / "calls").write_bytes(line)
            assert stream.read(1 << 16) == line


def test_what_is_appended_to_a_log_is_read_and_its_removal_ends_it(tmp_path: Path) -> None:
    path = tmp_path / "calls"
    stream = windows.open_log_pipe(path)
    found: SimpleQueue[bytes] = SimpleQueue()
    reader = threading.Thread(target=lambda: [found.put(data) for data in iter(lambda: stream.read(1 << 16), b"")])
    with path.open("ab") as log:
        log.write(b"one\n")
    assert stream.read(1 << 16) == b"one\n"
    reader.start()
    with path.open("ab") as log:
        log.write(b"two\n")
    assert found.get(timeout=60) == b"two\n"
    path.unlink()
    reader.join(60)
    assert not reader.is_alive()


def test_text_is_written_or_dropped_but_never_waited_for_without_end() -> None:
    reading, writing = os.pipe()
    assert windows.write_within(writing, b"first", 60)
    assert os.read(reading, 100) == b"first"
    taken = [windows.write_within(writing, bytes(1 << 16), 0) for _ in range(200)]
    assert taken[0] and not taken[-1], "the pipe is full, and what waits is bounded"
    os.close(reading)  # which ends all writing
    windows.writing_thread(writing)._pieces.join()
    os.close(writing)
