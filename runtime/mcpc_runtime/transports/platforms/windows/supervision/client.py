"""Processes, each in a separate job within the server's: the system ends all of them when the server ends.

A process is created suspended and runs only when it is in its job, which neither it nor what it starts can leave.
There is no signal to end it by: `end` ends a job at once.
"""

from __future__ import annotations

import sys

assert sys.platform == "win32"

import _winapi
import nt
from collections.abc import Callable, Mapping
from msvcrt import get_osfhandle
from time import monotonic
from typing import Any

from mcpc_runtime.transports.platforms.cleanup import TEMPORARY_FOLDERS, remove_tree
from mcpc_runtime.transports.platforms.windows import system
from mcpc_runtime.transports.platforms.windows.processes import CALL_VARIABLE
from mcpc_runtime.transports.platforms.windows.supervision import kernel
from mcpc_runtime.transports.platforms.windows.supervision.git_registry import git_folders
from mcpc_runtime.transports.platforms.windows.supervision.programs import (
    HEAD_SIZE,
    SHELLS,
    Installed,
    base_name,
    batch_line,
    command_line,
    environment_block,
    find_program,
    is_batch,
    located,
)

Variables = Mapping[bytes, bytes]


MAX_DESCRIPTOR = 9
"""The highest number of a child's descriptors."""
CLOSE_MILLISECONDS = 1500
"""How long the server waits at its end for processes that were ended, before it removes their folders."""
LEAVE_SECONDS = 5.5
"""How long those may take before that which end by themselves."""
NEEDED = (b"SYSTEMROOT",)
"""Variables without which a program cannot load libraries of the system."""
own_job: list[int] = []


class SupervisedProcess:
    """One process; `pid` is 0 if it did not start.  `is_left`: it has ended, but others of its job have not."""

    __slots__ = ("callback", "ended", "is_left", "job", "mark", "pid", "process")

    def __init__(self, callback: Callable[[int, str], None], mark: str) -> None:
        self.callback = callback
        self.mark = mark
        self.pid = self.job = self.process = 0
        self.ended = self.is_left = False


class Supervisor:
    """Starts processes and ends them with everything that descends from them."""

    def __init__(self, reactor: Any) -> None:
        self.errors = -1
        """Where outputs go that are not redirected; if negative, standard error is the server's."""
        self._reactor = reactor
        self._children: dict[int, SupervisedProcess] = {}
        self._leaving: list[SupervisedProcess] = []
        if not own_job:
            # Its handle is never closed by the server: the system does that at its end, and ends what is in the job.
            own_job.append(kernel.create_job())
            kernel.enter_job(own_job[0])

    @property
    def pids(self) -> list[int]:
        """The processes that run."""
        return [child.pid for child in self._children.values() if child.pid]

    def spawn(
        self,
        argv: list[str],
        environment: Variables,
        descriptors: Mapping[int, int],
        callback: Callable[[int, str], None],
        directory: str = "",
    ) -> SupervisedProcess:
        """Start a process whose descriptors are `descriptors` (its number: ours; it has 0 to 2 in any case).

        `callback(status, problem)` is called once: with the exit status, or with the reason why it could not be
        started.
        """
        if max(descriptors, default=0) > MAX_DESCRIPTOR:
            raise ValueError(f"a child's descriptors are numbered up to {MAX_DESCRIPTOR}")
        child = SupervisedProcess(callback, environment.get(CALL_VARIABLE.encode(), b"").decode())
        try:
            variables = text_variables(environment)
            line = start_line(argv, variables)
            self._create(child, line, environment_block(variables), directory, descriptors)
        except (OSError, ValueError) as problem:
            reason = problem.strerror if isinstance(problem, OSError) else str(problem)
            message = f"cannot run {argv[0] if argv else 'nothing'}: {reason}"
            child.ended = True
            # After this call has returned: only then the caller knows the child.
            self._reactor.after(0, lambda: callback(-1, message))
        return child

    def _create(
        self, child: SupervisedProcess, line: str, block: str, directory: str, descriptors: Mapping[int, int]
    ) -> None:
        errors = self.errors if self.errors >= 0 else 2
        null = system.open(system.NULL, system.O_RDWR)
        handles: dict[int, int] = {}
        try:
            for number, descriptor in {0: null, 1: errors, 2: errors, **descriptors}.items():
                handles[number] = inheritable(get_osfhandle(descriptor))
            child.job = kernel.create_job()
            child.process, thread, child.pid = kernel.create_process(line, block, directory, handles)
            kernel.put_in_job(child.job, child.process)
            kernel.resume(thread)
            _winapi.CloseHandle(thread)
        except BaseException:
            discard(child)
            raise
        finally:
            nt.close(null)
            for handle in handles.values():
                _winapi.CloseHandle(handle)
        self._children[child.pid] = child
        self._reactor.when_ended(child.process, lambda: self._report(child))

    def _report(self, child: SupervisedProcess) -> None:
        """Report the end of a process; what it started runs until it is ended."""
        child.ended = True
        child.is_left = kernel.job_size(child.job) > 0
        status = _winapi.GetExitCodeProcess(child.process)
        if not child.is_left:
            self._close(child)
        child.callback(status, "")

    def _close(self, child: SupervisedProcess) -> None:
        self._children.pop(child.pid, None)
        discard(child)

    def end(self, pid: int, mark: str = "") -> None:
        """End a process, or those of this call, with everything that they started."""
        for child in list(self._children.values()):
            if child.pid == pid or (mark and child.mark == mark):
                self._end_job(child)

    def end_rest(self, child: SupervisedProcess) -> None:
        """End what is left of a child that has ended."""
        if child.is_left:
            self._end_job(child)

    def _end_job(self, child: SupervisedProcess) -> None:
        kernel.terminate_job(child.job)
        if child.ended:
            child.is_left = False
            self._close(child)

    def give_time(self, child: SupervisedProcess) -> None:
        """Let a process end by itself when the server closes, within LEAVE_SECONDS."""
        self._leaving = [*(known for known in self._leaving if not known.ended), child]

    def close(self) -> None:
        """End all processes and wait until they have ended; no callback is called any more."""
        children, self._children = self._children, {}
        deadline = monotonic() + LEAVE_SECONDS
        for child in self._leaving:
            if not child.ended:
                _winapi.WaitForSingleObject(child.process, max(0, int((deadline - monotonic()) * 1000)))
        for child in children.values():
            kernel.terminate_job(child.job)
        for child in children.values():
            _winapi.WaitForSingleObject(child.process, CLOSE_MILLISECONDS)
        for folder in TEMPORARY_FOLDERS:
            remove_tree(folder)
        TEMPORARY_FOLDERS.clear()


def discard(child: SupervisedProcess) -> None:
    """Close the handles of a child; its job ends with the last one."""
    for handle in (child.process, child.job):
        if handle:
            _winapi.CloseHandle(handle)
    child.process = child.job = 0


def inheritable(handle: int) -> int:
    """Return a duplicate that a child may inherit."""
    own = _winapi.GetCurrentProcess()
    return _winapi.DuplicateHandle(own, handle, own, 0, True, _winapi.DUPLICATE_SAME_ACCESS)


def text_variables(environment: Variables) -> dict[str, str]:
    """Return an environment as text, with the variables that every program needs."""
    needed = {name: system.environ[name] for name in NEEDED if name in system.environ}
    pairs = {**needed, **environment}
    return {name.decode("utf-8", "surrogatepass"): pairs[name].decode("utf-8", "surrogatepass") for name in pairs}


def start_line(argv: list[str], variables: dict[str, str]) -> str:
    """Return the command line that starts a program, whatever runs it; a shell has its other programs on PATH."""
    words = located(argv, first_bytes(argv[0]), variables, Installed(sys.executable, exists, git_folders))
    if base_name(words[0]) in SHELLS:
        variables["PATH"] = ";".join(filter(None, (words[0].rpartition("\\")[0], variables.get("PATH"))))
    if is_batch(words[0]):
        # Searched in System32 alone, so that no other program of this name is run.
        interpreter = find_program("cmd.exe", {"PATH": f"{variables.get('SYSTEMROOT', '')}\\System32"}, exists)
        return batch_line(interpreter or "cmd.exe", [words[0].replace("/", "\\"), *words[1:]])
    return command_line(words)


def exists(path: str) -> bool:
    """Tell whether a file is there."""
    return nt.access(path, nt.F_OK)


def first_bytes(path: str) -> bytes:
    """Return the first bytes of a file; none of one that cannot be read, which starting it will report."""
    try:
        descriptor = system.open(path, system.O_RDONLY)
    except OSError:
        return b""
    try:
        return system.read(descriptor, HEAD_SIZE)
    finally:
        nt.close(descriptor)
