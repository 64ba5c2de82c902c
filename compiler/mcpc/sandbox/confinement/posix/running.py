"""A confined program on POSIX systems: started by `launcher`, read by a selector, ended with its descendants.

The processes that a program leaves are found from outside, as descendants or adopted orphans.
"""

from __future__ import annotations

import ctypes
import json
import os
import pwd
import selectors
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from mcpc.sandbox import programs
from mcpc.sandbox.confinement import model
from mcpc.sandbox.confinement.posix import launcher
from mcpc_runtime.transports.platforms.process_tree import ProcessSnapshot, signal_group, signal_process, start_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.sandbox.confinement.model import ConfinedProgram


__all__ = ["base_environment", "free_space", "start_confined", "used_space"]


class PosixProgram:
    """A program that runs, with the pipes of its answer, its output and its status."""

    def __init__(self, descendants: Descendants, streams: Mapping[int, str]) -> None:
        self._descendants = descendants
        self._streams = streams
        self._selector = selectors.DefaultSelector()
        for descriptor in streams:
            os.set_blocking(descriptor, False)
            self._selector.register(descriptor, selectors.EVENT_READ)

    def read(self, seconds: float) -> Iterator[tuple[str, bytes]]:
        """Yield what has arrived within so many seconds."""
        for key, _ in self._selector.select(seconds):
            data = os.read(key.fd, 1 << 20)
            if not data:
                self._selector.unregister(key.fd)
            yield self._streams[key.fd], data

    def usage(self) -> tuple[int, int]:
        """Return the number of its processes, and how many bytes of memory they use together."""
        return self._descendants.count()

    def close(self) -> None:
        """Close the selector."""
        self._selector.close()


@contextmanager
def start_confined(job: ConfinedProgram, variables: Mapping[str, str], *, namespaces: bool) -> Iterator[PosixProgram]:
    """Run a program within a context, in separate namespaces if that is asked for and allowed."""
    with ExitStack() as stack:
        pipes = [os.pipe() for _ in range(3)]
        ours = [stack.enter_context(os.fdopen(reading, "rb", buffering=0)) for reading, _ in pipes]
        theirs = [writing for _, writing in pipes]
        stack.enter_context(adopt_orphans())
        before = children()
        try:
            process = _start(job, variables, theirs, namespaces)
        finally:
            # While these are open here, no end of the streams is seen.
            for descriptor in theirs:
                os.close(descriptor)
        descendants = Descendants(before, process.pid)
        stack.callback(_end, process, descendants)
        names = ("answer", "output", "status")
        program = PosixProgram(descendants, {file.fileno(): name for file, name in zip(ours, names, strict=True)})
        stack.callback(program.close)
        yield program


def _start(
    job: ConfinedProgram, variables: Mapping[str, str], pipes: list[int], namespaces: bool
) -> subprocess.Popen[bytes]:
    """Start the launcher with what it has to do; `pipes`: those of the answer, the output and the status."""
    hidden, kept = visible_files(job)
    plan = {
        "words": [*job.words],
        "environment": {**variables},
        "folder": str(job.folder),
        "root": str(job.root),
        "readable": [job.words[0], *job.readable],
        "hidden": hidden,
        "kept": kept,
        "replies": job.replies,
        "pass": pipes[:2],
        "status": pipes[2],
        "limits": _limits(job.seconds),
        "namespaces": namespaces,
        "network": job.network,
    }
    words = programs.python_command("-S", "-B", launcher.__file__, json.dumps(plan))
    return programs.start_program(
        "confined",
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        pass_fds=pipes,
        start_new_session=True,
    )


def _end(process: subprocess.Popen[bytes], descendants: Descendants) -> None:
    descendants.end()
    process.kill()
    process.wait()
    # Orphans of the launcher come to this process when the launcher has ended.
    descendants.end()


def _limits(seconds: float) -> dict[str, int]:
    limits = {"RLIMIT_DATA": model.MEMORY_BYTES, "RLIMIT_FSIZE": model.FILE_BYTES, "RLIMIT_CORE": 0}
    if os.getuid():
        limits["RLIMIT_NPROC"] = tasks_of_user() + model.THREADS
    return {**limits, "RLIMIT_CPU": int(seconds) + model.EXTRA_PROCESSOR_SECONDS}


def base_environment(home: str, temporary: str) -> dict[str, str]:
    """Return the variables that name the folders of a confined program."""
    return {"HOME": home, "TMPDIR": temporary}


def free_space(folder: Path) -> tuple[int, int]:
    """Return the free bytes and files on the disk of a folder."""
    status = os.statvfs(folder)
    return status.f_bavail * status.f_frsize, status.f_favail


def used_space(folder: Path) -> tuple[int, int]:
    """Return the bytes and the number of the files below a folder."""
    size = count = 0
    for root, folders, files in os.walk(folder):
        count += len(folders) + len(files)
        for name in files:
            with ExitStack() as stack:
                stack.push(lambda kind, *_: kind is not None and issubclass(kind, OSError))
                # In units of 512 bytes: of a sparse file only what it takes.  A file may vanish meanwhile.
                size += os.lstat(os.path.join(root, name)).st_blocks * 512  # noqa: PTH118 - there may be many
    return size, count


SHARED = ("/run", "/var/run", "/tmp", "/var/tmp")
"""Folders with sockets of agents and services, and files of other programs."""
BESIDE_PROGRAMS = ("lib", "lib64", "pyvenv.cfg")
"""What an interpreter finds beside the folder of its program."""


def visible_files(job: ConfinedProgram) -> tuple[list[str], list[str]]:
    """Return the folders that are hidden, and the paths in them that are not; of either, none is in another.

    Hidden are homes of the user and SHARED.  A program sees its folder, what it must be able to read, its interpreter
    with its libraries and packages, and the folders of PATH.
    """
    needed = _needed_paths(job)
    homes = (os.environ.get("HOME", ""), pwd.getpwuid(os.getuid()).pw_dir)
    folders = {path.resolve() for path in map(Path, (*homes, *SHARED)) if path.is_absolute()}
    hidden = _outermost({folder for folder in folders if folder.is_dir() and folder != Path("/")} - needed)
    return [*map(str, hidden)], [*map(str, _outermost({path for path in needed if hidden.keys() & {*path.parents}}))]


def _needed_paths(job: ConfinedProgram) -> set[Path]:
    program = Path(job.words[0])
    programs = {program, program.resolve()}
    needed = {job.root, *map(Path, job.readable), *programs}
    needed |= {place.parent.parent / name for place in programs for name in BESIDE_PROGRAMS}
    packages = map(Path, sys.path) if job.words[0] == sys.executable else ()  # an environment may extend another one
    needed |= {folder for folder in (*map(Path, os.get_exec_path()), *packages) if folder.is_absolute()}
    return needed | {path.resolve() for path in needed}


def _outermost(paths: set[Path]) -> dict[Path, None]:
    return dict.fromkeys(sorted(path for path in paths if not paths & {*path.parents}))


SET_DUMPABLE, GET_DUMPABLE, SET_CHILD_SUBREAPER, GET_CHILD_SUBREAPER = 4, 3, 36, 37
PAGE = os.sysconf("SC_PAGE_SIZE")
ENDING_SECONDS = 10.0
HAS_PROC = Path("/proc/self/stat").exists()


def prctl(option: int, value: object) -> int:
    """Set or get a process option; -1 if this is not Linux."""
    try:
        return int(ctypes.CDLL(None).prctl(option, value, 0, 0, 0))
    except AttributeError:
        return -1


@contextmanager
def adopt_orphans() -> Iterator[None]:
    """Within this context, adopt orphans, and deny processes of the same user access to this one's memory."""
    adopted = ctypes.c_int(0)
    prctl(GET_CHILD_SUBREAPER, ctypes.byref(adopted))
    dumpable = prctl(GET_DUMPABLE, 0)
    prctl(SET_CHILD_SUBREAPER, 1)
    prctl(SET_DUMPABLE, 0)
    try:
        yield
    finally:
        # 2, for the superuser alone, can be read but not set.
        prctl(SET_DUMPABLE, 1 if dumpable == 1 else 0)
        prctl(SET_CHILD_SUBREAPER, adopted.value)


class Descendants:
    """All descendants of a process that was started here, whatever their current parent is."""

    def __init__(self, before: frozenset[int], leader: int) -> None:
        self._before = before
        self._leader = leader
        self._began = start_time(leader)

    def now(self) -> tuple[ProcessSnapshot, set[int]]:
        """Return the machine's processes, and which of them are descendants.  O(processes of the machine)."""
        snapshot = ProcessSnapshot()
        itself = os.getpid()
        roots = [pid for pid in snapshot.children.get(itself, ()) if pid not in self._before]
        roots = [pid for pid in roots if snapshot.started[pid] >= self._began]
        return snapshot, snapshot.below([self._leader, *roots]) - {itself}

    def count(self) -> tuple[int, int]:
        """Return their number, and how many bytes of memory they use together."""
        _, pids = self.now()
        return len(pids), sum(map(memory_of, pids))

    def end(self) -> None:
        """Kill them until none is left, by process group: a group cannot outrun that by forking."""
        signal_group(self._leader, signal.SIGKILL)
        deadline = time.monotonic() + ENDING_SECONDS
        while HAS_PROC and time.monotonic() < deadline:
            snapshot, pids = self.now()
            groups = {snapshot.groups[pid] for pid in pids} - {os.getpgrp()}
            # Only groups that a descendant founded: a process can also move into a group of its session.
            for group in groups & (pids | {self._leader}):
                signal_group(group, signal.SIGKILL)
            for pid in pids:
                signal_process(pid, signal.SIGKILL)
            is_left = self._reap(snapshot)
            if not pids and not is_left:
                return
            time.sleep(0.002)

    def _reap(self, snapshot: ProcessSnapshot) -> bool:
        """Reap exited orphans; tell whether there were any."""
        ours = [
            pid
            for pid, parent in snapshot.zombies.items()
            if parent == os.getpid() and pid not in self._before and pid != self._leader
        ]
        for pid in ours:
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        return bool(ours)


def children() -> frozenset[int]:
    """Return the processes that this one started before, or adopted."""
    return frozenset(ProcessSnapshot().children.get(os.getpid(), ())) if HAS_PROC else frozenset()


def memory_of(pid: int) -> int:
    """Return the resident memory of a process in bytes."""
    with suppress(OSError, IndexError, ValueError):
        return int(Path(f"/proc/{pid}/statm").read_bytes().split()[1]) * PAGE
    return 0


def tasks_of_user() -> int:
    """Return how many threads run for this user, which the process limit counts."""
    count = 0
    for entry in Path("/proc").iterdir() if HAS_PROC else ():
        with suppress(OSError):
            if entry.name.isdigit() and entry.stat().st_uid == os.getuid():
                # A folder's links: its name, its own `.`, and the `..` of each folder in it, which are the threads.
                count += (entry / "task").stat().st_nlink - 2
    return count
