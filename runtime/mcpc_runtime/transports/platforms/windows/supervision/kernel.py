"""Calls of the system that no module of Python has: job objects, and processes that inherit descriptors by number.

Imported with the first process: `ctypes` would cost a start more than all else.
"""

from __future__ import annotations

import sys

assert sys.platform == "win32"

import ctypes
from ctypes import wintypes
from typing import Any

# JobObjectExtendedLimitInformation and JobObjectBasicAccountingInformation.
EXTENDED_LIMITS, BASIC_COUNTS = 9, 1
KILL_ON_JOB_CLOSE = 0x2000
CURRENT_PROCESS = -1  # the pseudo handle that GetCurrentProcess returns
HANDLE_LIST = 0x20002
"""PROC_THREAD_ATTRIBUTE_HANDLE_LIST: the child inherits these handles, and no others."""
CREATION_FLAGS = 0x4 | 0x400 | 0x80000 | 0x08000000
"""CREATE_SUSPENDED, CREATE_UNICODE_ENVIRONMENT, EXTENDED_STARTUPINFO_PRESENT, CREATE_NO_WINDOW."""
USE_STANDARD_HANDLES = 0x100
MISSING = 2
"""The error of a call that fails without one."""


class BasicLimits(ctypes.Structure):
    """JOBOBJECT_BASIC_LIMIT_INFORMATION."""

    _fields_ = (
        ("PerProcessUserTimeLimit", ctypes.c_int64),
        ("PerJobUserTimeLimit", ctypes.c_int64),
        ("LimitFlags", wintypes.DWORD),
        ("MinimumWorkingSetSize", ctypes.c_size_t),
        ("MaximumWorkingSetSize", ctypes.c_size_t),
        ("ActiveProcessLimit", wintypes.DWORD),
        ("Affinity", ctypes.c_size_t),
        ("PriorityClass", wintypes.DWORD),
        ("SchedulingClass", wintypes.DWORD),
    )


class ExtendedLimits(ctypes.Structure):
    """JOBOBJECT_EXTENDED_LIMIT_INFORMATION."""

    _fields_ = (
        ("BasicLimitInformation", BasicLimits),
        ("IoInfo", ctypes.c_uint64 * 6),
        ("ProcessMemoryLimit", ctypes.c_size_t),
        ("JobMemoryLimit", ctypes.c_size_t),
        ("PeakProcessMemoryUsed", ctypes.c_size_t),
        ("PeakJobMemoryUsed", ctypes.c_size_t),
    )


class JobCounts(ctypes.Structure):
    """JOBOBJECT_BASIC_ACCOUNTING_INFORMATION."""

    _fields_ = (
        ("Times", ctypes.c_int64 * 4),
        ("TotalPageFaultCount", wintypes.DWORD),
        ("TotalProcesses", wintypes.DWORD),
        ("ActiveProcesses", wintypes.DWORD),
        ("TotalTerminatedProcesses", wintypes.DWORD),
    )


class StartupInfo(ctypes.Structure):
    """STARTUPINFOEXW."""

    _fields_ = (
        ("cb", wintypes.DWORD),
        ("lpReserved", wintypes.LPWSTR),
        ("lpDesktop", wintypes.LPWSTR),
        ("lpTitle", wintypes.LPWSTR),
        ("numbers", wintypes.DWORD * 7),
        ("dwFlags", wintypes.DWORD),
        ("wShowWindow", wintypes.WORD),
        ("cbReserved2", wintypes.WORD),
        ("lpReserved2", ctypes.c_void_p),
        ("standard", wintypes.HANDLE * 3),
        ("lpAttributeList", ctypes.c_void_p),
    )


class ProcessInformation(ctypes.Structure):
    """PROCESS_INFORMATION."""

    _fields_ = (
        ("process", wintypes.HANDLE),
        ("thread", wintypes.HANDLE),
        ("pid", wintypes.DWORD),
        ("thread_number", wintypes.DWORD),
    )


library = ctypes.WinDLL("kernel32", use_last_error=True)
P, D = ctypes.c_void_p, wintypes.DWORD
SIGNATURES: dict[str, tuple[Any, ...]] = {
    "CreateJobObjectW": (P, P, P),
    "SetInformationJobObject": (D, P, ctypes.c_int, P, D),
    "QueryInformationJobObject": (D, P, ctypes.c_int, P, D, P),
    "AssignProcessToJobObject": (D, P, P),
    "TerminateJobObject": (D, P, D),
    "ResumeThread": (D, P),
    "InitializeProcThreadAttributeList": (D, P, D, D, P),
    "UpdateProcThreadAttribute": (D, P, D, P, P, ctypes.c_size_t, P, P),
    "DeleteProcThreadAttributeList": (None, P),
    "CreateProcessW": (D, wintypes.LPCWSTR, P, P, P, D, D, P, wintypes.LPCWSTR, P, P),
}
for called, (result, *arguments) in SIGNATURES.items():
    getattr(library, called).restype = result
    getattr(library, called).argtypes = arguments


def checked(value: Any) -> int:
    """Return what a call returned; raise OSError if that says that it failed."""
    if not value:
        raise ctypes.WinError(ctypes.get_last_error())
    return int(value)


def create_job() -> int:
    """Return a job whose processes end when its last handle is closed."""
    job = checked(library.CreateJobObjectW(None, None))
    limits = ExtendedLimits()
    limits.BasicLimitInformation.LimitFlags = KILL_ON_JOB_CLOSE
    checked(library.SetInformationJobObject(job, EXTENDED_LIMITS, ctypes.byref(limits), ctypes.sizeof(limits)))
    return job


def enter_job(job: int) -> None:
    """Put this process into a job, and with it all that it will start."""
    checked(library.AssignProcessToJobObject(job, CURRENT_PROCESS))


def put_in_job(job: int, process: int) -> None:
    """Put a process into a job."""
    checked(library.AssignProcessToJobObject(job, process))


def terminate_job(job: int) -> None:
    """End all that is in a job, at once."""
    library.TerminateJobObject(job, 1)


def job_size(job: int) -> int:
    """Return how many processes are in a job."""
    counts = JobCounts()
    checked(library.QueryInformationJobObject(job, BASIC_COUNTS, ctypes.byref(counts), ctypes.sizeof(counts), None))
    return int(counts.ActiveProcesses)


def resume(thread: int) -> None:
    """Have a process that was created suspended run."""
    library.ResumeThread(thread)


def create_process(command_line: str, variables: str, directory: str, handles: dict[int, int]) -> tuple[int, int, int]:
    """Create a suspended process that inherits `handles` by the numbers of its descriptors, of which 0 to 2 are there.

    Return the handles of the process and of its thread, and its number.  From 3 on, the C runtime of the program reads
    the descriptors from a field that is reserved for it.
    """
    information, created = StartupInfo(), ProcessInformation()
    information.cb = ctypes.sizeof(information)
    information.dwFlags = USE_STANDARD_HANDLES
    for number in range(3):
        information.standard[number] = handles[number]
    table = ctypes.create_string_buffer(descriptor_table(handles))
    # `create_string_buffer` has added a zero byte.
    information.lpReserved2, information.cbReserved2 = ctypes.addressof(table), len(table.raw) - 1
    inherited = (wintypes.HANDLE * len(set(handles.values())))(*set(handles.values()))
    size = ctypes.c_size_t()
    # The first call fails, but tells the size.
    library.InitializeProcThreadAttributeList(None, 1, 0, ctypes.byref(size))
    attributes = ctypes.create_string_buffer(size.value)
    checked(library.InitializeProcThreadAttributeList(attributes, 1, 0, ctypes.byref(size)))
    try:
        bytes_of = ctypes.sizeof(inherited)
        checked(library.UpdateProcThreadAttribute(attributes, 0, HANDLE_LIST, inherited, bytes_of, None, None))
        information.lpAttributeList = ctypes.addressof(attributes)
        # CreateProcessW may change the line in its place; the zero that the buffer adds ends the block.
        line, block = ctypes.create_unicode_buffer(command_line), ctypes.create_unicode_buffer(variables)
        flags, folder = CREATION_FLAGS, directory or None
        pointers = ctypes.byref(information), ctypes.byref(created)
        checked(library.CreateProcessW(None, line, None, None, 1, flags, block, folder, *pointers))
    finally:
        library.DeleteProcThreadAttributeList(attributes)
    return created.process, created.thread, created.pid


def descriptor_table(handles: dict[int, int]) -> bytes:
    """Return what the C runtime of a program reads its descriptors from: their count, flags, and handles.

    The three standard streams are left to the other fields, so that a program has them as it always has.
    """
    count = max(handles) + 1
    # FOPEN and FPIPE of the C runtime, and INVALID_HANDLE_VALUE.
    is_open_pipe, none = 0x01 | 0x08, (1 << 64) - 1
    kept = [number in handles and number > 2 for number in range(count)]
    flags = bytes(is_open_pipe if is_kept else 0 for is_kept in kept)
    values = b"".join(
        (handles[number] if is_kept else none).to_bytes(8, "little") for number, is_kept in enumerate(kept)
    )
    return count.to_bytes(4, "little") + flags + values
