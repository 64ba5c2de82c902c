"""A confined program on Windows: created in a job object with limits, read by threads, ended with its job.

The job bounds memory, processor time, processes and the use of the desktop.  Windows has no counterpart here of
namespaces and Landlock: such a program can write where its user can, and use the network.
"""

from __future__ import annotations

import sys

assert sys.platform == "win32"

import _winapi
import ctypes
import os
import shutil
import threading
from contextlib import ExitStack, contextmanager, suppress
from ctypes import wintypes
from msvcrt import get_osfhandle
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, NamedTuple

from mcpc.sandbox.confinement import model
from mcpc.sandbox.platforms import NEEDED_VARIABLES
from mcpc.sandbox.programs import variables_like
from mcpc_runtime.transports.platforms.windows.supervision import kernel
from mcpc_runtime.transports.platforms.windows.supervision.programs import command_line, environment_block

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.sandbox.confinement.model import ConfinedProgram

__all__ = ["base_environment", "free_space", "start_confined", "used_space"]

NOT_STARTED = 127
"""The status of a program that cannot be started, as on POSIX systems."""
END_SECONDS = 10.0
"""How long is waited for the ends of a job's streams when it has been ended."""


class CreatedProcess(NamedTuple):
    """A suspended process: handles, and its number."""

    process: int
    thread: int
    number: int


class WindowsProgram:
    """A program that runs in a job; threads put what arrives into a queue."""

    def __init__(self, job: int) -> None:
        self._job = job
        self._arrived: SimpleQueue[tuple[str, bytes]] = SimpleQueue()
        self._readers: list[threading.Thread] = []

    def follow(self, stream: str, descriptor: int) -> None:
        """Read a descriptor to its end, and close it."""
        reader = threading.Thread(target=self._read_stream, args=(stream, descriptor), daemon=True)
        self._readers.append(reader)
        reader.start()

    def report_status(self, status: int) -> None:
        """Report an exit status."""
        self._arrived.put(("status", str(status).encode()))

    def report_output(self, text: str) -> None:
        """Report text as output of the program."""
        self._arrived.put(("output", text.encode()))

    def await_end(self, process: int) -> None:
        """Wait for the end of a process, end all that it started, and report its status after all output."""
        _winapi.WaitForSingleObject(process, _winapi.INFINITE)
        status = _winapi.GetExitCodeProcess(process)
        # What it has left running would keep its streams open.
        kernel.terminate_job(self._job)
        for reader in self._readers:
            reader.join(END_SECONDS)
        self.report_status(status)

    def read(self, seconds: float) -> Iterator[tuple[str, bytes]]:
        """Yield what has arrived within so many seconds."""
        with suppress(Empty):
            yield self._arrived.get(timeout=seconds)
            while True:
                yield self._arrived.get_nowait()

    def usage(self) -> tuple[int, int]:
        """Return the number of its processes, and how many bytes of memory they use together."""
        return job_usage(self._job)

    def _read_stream(self, stream: str, descriptor: int) -> None:
        with os.fdopen(descriptor, "rb", buffering=0) as file, suppress(OSError):
            while data := file.read(1 << 16):
                self._arrived.put((stream, data))
        self._arrived.put((stream, b""))


@contextmanager
def start_confined(job: ConfinedProgram, variables: Mapping[str, str], *, namespaces: bool) -> Iterator[WindowsProgram]:
    """Run a program within a context; there are no namespaces to separate it in."""
    with ExitStack() as stack:
        limited = kernel.create_job()
        stack.callback(_winapi.CloseHandle, limited)
        limit_job(limited, model.MEMORY_BYTES, model.PROCESSES, int(job.seconds) + model.EXTRA_PROCESSOR_SECONDS)
        program = WindowsProgram(limited)
        try:
            created = _create(job, variables, program)
        except OSError as problem:
            program.report_output(f"{job.words[0]}: {problem.strerror}")
            program.report_status(NOT_STARTED)
            yield program
            return
        stack.callback(_winapi.CloseHandle, created.process)
        stack.callback(_winapi.WaitForSingleObject, created.process, int(END_SECONDS * 1000))
        stack.callback(kernel.terminate_job, limited)
        # It is still suspended, so that it can start nothing outside of the job.
        kernel.put_in_job(limited, created.process)
        kernel.resume(created.thread)
        _winapi.CloseHandle(created.thread)
        waiter = threading.Thread(target=program.await_end, args=(created.process,), daemon=True)
        waiter.start()
        yield program
        kernel.terminate_job(limited)
        waiter.join(END_SECONDS)


def _create(job: ConfinedProgram, variables: Mapping[str, str], program: WindowsProgram) -> CreatedProcess:
    """Create the process of a program, suspended, with its streams: it has no input."""
    answer, output = os.pipe(), os.pipe()
    program.follow("answer", answer[0])
    program.follow("output", output[0])
    null = os.open(os.devnull, os.O_RDWR)
    # If the answer goes to the standard output, the last item replaces that of the output.
    numbers = {0: null, 1: output[1], 2: output[1], job.replies: answer[1]}
    handles: dict[int, int] = {}
    try:
        for number, descriptor in numbers.items():
            handles[number] = _inheritable(get_osfhandle(descriptor))
        block = environment_block({**variables})
        return CreatedProcess(*kernel.create_process(command_line([*job.words]), block, str(job.folder), handles))
    finally:
        for descriptor in (null, answer[1], output[1]):
            os.close(descriptor)
        for handle in handles.values():
            _winapi.CloseHandle(handle)


def _inheritable(handle: int) -> int:
    """Return a duplicate that a process may inherit."""
    own = _winapi.GetCurrentProcess()
    return _winapi.DuplicateHandle(own, handle, own, 0, True, _winapi.DUPLICATE_SAME_ACCESS)


def base_environment(home: str, temporary: str) -> dict[str, str]:
    """Return the variables that every program needs, and those that name the folders of a confined one."""
    folders = dict.fromkeys(("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"), home)
    return {**variables_like(NEEDED_VARIABLES), **folders, **dict.fromkeys(("TEMP", "TMP"), temporary)}


def free_space(folder: Path) -> tuple[int, int]:
    """Return the free bytes on the disk of a folder; the number of files is not limited."""
    return shutil.disk_usage(folder).free, 0


def used_space(folder: Path) -> tuple[int, int]:
    """Return the bytes and the number of the files below a folder."""
    size = count = 0
    for root, folders, files in os.walk(folder):
        count += len(folders) + len(files)
        for name in files:
            with suppress(OSError):
                size += Path(root, name).lstat().st_size
    return size, count


ACTIVE_PROCESSES, JOB_TIME, JOB_MEMORY, DIE_ON_UNHANDLED_EXCEPTION = 0x8, 0x4, 0x200, 0x400
UNITS_OF_SECOND = 10_000_000
"""Times of a job are in hundreds of nanoseconds."""
PROCESS_LIST, UI_RESTRICTIONS = 3, 4
ALL_UI_RESTRICTIONS = 0xFF
"""No windows of other programs, clipboard, atoms, desktops or settings of the system, and no end of the session."""
MAX_LISTED = 1024
QUERY_INFORMATION, READ_MEMORY = 0x400, 0x10


class ProcessList(ctypes.Structure):
    """JOBOBJECT_BASIC_PROCESS_ID_LIST."""

    _fields_ = (
        ("assigned", wintypes.DWORD),
        ("listed", wintypes.DWORD),
        ("numbers", ctypes.c_size_t * MAX_LISTED),
    )


class MemoryCounters(ctypes.Structure):
    """PROCESS_MEMORY_COUNTERS."""

    _fields_ = (
        ("cb", wintypes.DWORD),
        ("PageFaultCount", wintypes.DWORD),
        ("PeakWorkingSetSize", ctypes.c_size_t),
        ("WorkingSetSize", ctypes.c_size_t),
        ("Quotas", ctypes.c_size_t * 4),
        ("PagefileUsage", ctypes.c_size_t),
        ("PeakPagefileUsage", ctypes.c_size_t),
    )


def limit_job(job: int, memory: int, processes: int, seconds: int) -> None:
    """Bound the memory, the number and the processor time of all processes of a job together."""
    limits = kernel.ExtendedLimits()
    basic = limits.BasicLimitInformation
    enforced = ACTIVE_PROCESSES | JOB_TIME | JOB_MEMORY | DIE_ON_UNHANDLED_EXCEPTION
    basic.LimitFlags = kernel.KILL_ON_JOB_CLOSE | enforced
    basic.ActiveProcessLimit = processes
    basic.PerJobUserTimeLimit = seconds * UNITS_OF_SECOND
    limits.JobMemoryLimit = memory
    size = ctypes.sizeof(limits)
    kernel.library.SetInformationJobObject(job, kernel.EXTENDED_LIMITS, ctypes.byref(limits), size)
    restrictions = wintypes.DWORD(ALL_UI_RESTRICTIONS)
    kernel.library.SetInformationJobObject(job, UI_RESTRICTIONS, ctypes.byref(restrictions), 4)


def job_usage(job: int) -> tuple[int, int]:
    """Return the number of processes of a job, and how many bytes of memory they have committed together."""
    processes = ProcessList()
    kernel.library.QueryInformationJobObject(job, PROCESS_LIST, ctypes.byref(processes), ctypes.sizeof(processes), None)
    return kernel.job_size(job), sum(map(committed_memory, processes.numbers[: processes.listed]))


def committed_memory(number: int) -> int:
    """Return how many bytes a process has committed; none of one that has ended."""
    counters = MemoryCounters()
    counters.cb = ctypes.sizeof(counters)
    with suppress(OSError):
        handle = _winapi.OpenProcess(QUERY_INFORMATION | READ_MEMORY, False, number)
        try:
            ctypes.windll.kernel32.K32GetProcessMemoryInfo(ctypes.c_void_p(handle), ctypes.byref(counters), counters.cb)
        finally:
            _winapi.CloseHandle(handle)
    return int(counters.PagefileUsage)
