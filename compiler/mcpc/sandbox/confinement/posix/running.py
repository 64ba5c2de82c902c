"""A confined program on POSIX systems: started by `launcher`, read by a selector, ended with its descendants."""

from __future__ import annotations

import json
import os
import pwd
import selectors
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from mcpc.sandbox import programs
from mcpc.sandbox.confinement import model
from mcpc.sandbox.confinement.posix import launcher
from mcpc.sandbox.confinement.posix.processes import Descendants, adopt_orphans, children, tasks_of_user

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
