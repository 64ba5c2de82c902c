"""The tables of processes: that of Linux and that of macOS, which is served by a fake of its documented functions."""

import ctypes
import os
import posix
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcpc_runtime.transports.platforms.posix import system_features
from mcpc_runtime.transports.platforms.posix import system_features as ways
from mcpc_runtime.transports.platforms.posix.supervision import libproc, proc_files, process_table
from mcpc_runtime.transports.platforms.posix.supervision.termination import ProcessSnapshot, call_mark, start_time
from support.libproc import BsdInfo, FakeLibproc
from support.processes import until


@pytest.fixture(params=["proc", "libproc"])
def table(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[process_table.ProcessTable]:
    monkeypatch.setattr(process_table, "tables", [])
    monkeypatch.delitem(posix.environ, ways.WITHOUT, raising=False)
    if request.param == "libproc":
        monkeypatch.setitem(posix.environ, ways.WITHOUT, b"proc")
        monkeypatch.setattr(system_features, "address_of", FakeLibproc(hidden=("sleep",)).address_of)
    selected = process_table.process_table()
    assert selected is not None
    yield selected


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    """A process in its own group, with arguments that look like variables."""
    argv = [sys.executable, "-I", "-S", "-c", "input()", "MCPC_CALL=argument", ""]
    process = subprocess.Popen(argv, stdin=subprocess.PIPE, env={"A": "1", "MCPC_CALL": "1.x"}, process_group=0)
    with process:
        until(lambda: proc_files.environment_block(process.pid).startswith(b"A=1\0"))
        yield process
        process.kill()


def test_a_process_is_described(table: process_table.ProcessTable, child: subprocess.Popen[bytes]) -> None:
    assert {os.getpid(), child.pid} <= set(table.process_ids())
    entry = table.process_entry(child.pid)
    assert entry is not None
    has_ended, parent, group, started = entry
    assert (has_ended, parent, group) == (False, os.getpid(), child.pid)
    assert started >= start_time(os.getpid()) > 0


def test_variables_are_those_of_the_start(table: process_table.ProcessTable, child: subprocess.Popen[bytes]) -> None:
    assert table.environment_block(child.pid).startswith(b"A=1\0MCPC_CALL=1.x\0")
    assert call_mark(child.pid) == b"1.x"
    assert table.environment_block(999_999_999) == b""


def test_one_that_has_ended_is_a_zombie(table: process_table.ProcessTable) -> None:
    with subprocess.Popen(["true"]) as process:
        until(lambda: os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT))
        snapshot = ProcessSnapshot()
        assert snapshot.zombies[process.pid] == os.getpid()
        assert process.pid not in snapshot.groups
        assert process.pid in snapshot.started
    assert table.process_entry(process.pid) is None
    assert start_time(process.pid) == 0


def test_hidden_variables_are_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeLibproc(hidden=("sleep",))
    monkeypatch.setattr(system_features, "address_of", fake.address_of)
    assert libproc.exists()
    with subprocess.Popen(["sleep", "600"], env={"MCPC_CALL": "1.x", "PATH": os.environ["PATH"]}) as process:
        until(lambda: b"sleep" in proc_files.read_proc_file(f"/proc/{process.pid}/cmdline"))
        assert b"MCPC_CALL" not in libproc.environment_block(process.pid)
        fake.hidden = ()
        assert b"MCPC_CALL=1.x\0" in libproc.environment_block(process.pid)
        process.kill()


def test_a_long_file_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "environ"
    path.write_bytes(b"".join(b"A%d=1\0" % number for number in range(20_000)))
    assert proc_files.read_proc_file(str(path)) == path.read_bytes()


def test_more_processes_than_there_was_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first answer is an estimate: the list is read again until it does not fill the room."""
    fake = FakeLibproc()
    monkeypatch.setattr(system_features, "address_of", fake.address_of)
    monkeypatch.setattr(libproc, "SPARE_PIDS", 1)
    monkeypatch.setattr(os, "listdir", lambda path: [str(pid) for pid in range(1, 1001)])
    assert libproc.exists()
    rooms: list[int] = []

    def listed(buffer: int | None, size: int) -> int:
        rooms.append(size // 4)
        return fake._list_all(buffer, size) if buffer else 7

    function = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int)(listed)
    monkeypatch.setitem(libproc.addresses, "proc_listallpids", ctypes.cast(function, ctypes.c_void_p).value or 0)
    assert libproc.process_ids() == list(range(1, 1001))
    assert rooms[-1] > 1000


def test_the_struct_has_the_size_of_the_header() -> None:
    assert ctypes.sizeof(BsdInfo) == libproc.BSD_INFO_BYTES
    fields = (("status", libproc.STATUS), ("ppid", libproc.PARENT), ("pgid", libproc.GROUP))
    for name, offset in (*fields, ("start_tvsec", libproc.START_SECONDS), ("start_tvusec", libproc.START_MICROSECONDS)):
        assert getattr(BsdInfo, name).offset == offset


def test_linux_without_proc_has_no_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_table, "tables", [])
    monkeypatch.setitem(posix.environ, ways.WITHOUT, b"proc")
    assert process_table.process_table() is None
    assert ProcessSnapshot().groups == {}
