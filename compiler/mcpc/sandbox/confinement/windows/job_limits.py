"""Limits of a job object, and what is in it: memory, processor time, the number of processes, and the user interface.

A limit that this Windows does not enforce is skipped: `mcpc.sandbox.confinement.watching` also compares from outside.
"""

from __future__ import annotations

import sys

assert sys.platform == "win32"

import _winapi
import ctypes
from contextlib import suppress
from ctypes import wintypes

from mcpc_runtime.transports.platforms.windows.supervision import kernel

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
