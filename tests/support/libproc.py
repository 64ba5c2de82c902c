"""The functions of macOS that list processes, as its headers and manual pages describe them, over Linux's /proc.

They are real C functions to the caller: pointers, sizes and structs pass through the C library's calling convention.
"""

import ctypes
import os
from ctypes import CFUNCTYPE, POINTER, Structure, c_char, c_int, c_int32, c_size_t, c_uint, c_uint32, c_uint64, c_void_p
from pathlib import Path

CTL_KERN, KERN_PROCARGS2 = 1, 49
PROC_PIDTBSDINFO = 3
SIDL, SRUN, SSLEEP, SSTOP, SZOMB = range(1, 6)
STATES = {"R": SRUN, "S": SSLEEP, "D": SSLEEP, "I": SSLEEP, "T": SSTOP, "t": SSTOP, "Z": SZOMB, "X": SZOMB}
TICKS = os.sysconf("SC_CLK_TCK")


class BsdInfo(Structure):
    """`struct proc_bsdinfo` of sys/proc_info.h."""

    _fields_ = (
        *((name, c_uint32) for name in ("flags", "status", "xstatus", "pid", "ppid", "uid", "gid", "ruid", "rgid")),
        *((name, c_uint32) for name in ("svuid", "svgid", "rfu_1")),
        ("comm", c_char * 16),
        ("name", c_char * 32),
        *((name, c_uint32) for name in ("nfiles", "pgid", "pjobc", "tdev", "tpgid")),
        ("nice", c_int32),
        ("start_tvsec", c_uint64),
        ("start_tvusec", c_uint64),
    )


class FakeLibproc:
    """The three functions; `hidden` are programs whose variables the system does not show (those of Apple)."""

    def __init__(self, hidden: tuple[str, ...] = ()) -> None:
        self.hidden = hidden
        self.functions = {
            "proc_listallpids": CFUNCTYPE(c_int, c_void_p, c_int)(self._list_all),
            "proc_pidinfo": CFUNCTYPE(c_int, c_int, c_int, c_uint64, c_void_p, c_int)(self._describe),
            "sysctl": CFUNCTYPE(c_int, POINTER(c_int), c_uint, c_void_p, POINTER(c_size_t), c_void_p, c_size_t)(
                self._read_kernel
            ),
        }

    def address_of(self, name: str) -> int:
        """Return the address of a function; raise OSError if there is none, as `dlsym` does."""
        if name not in self.functions:
            raise OSError(f"dlsym: symbol not found: {name}")
        address = ctypes.cast(self.functions[name], c_void_p).value
        assert address
        return address

    def _list_all(self, buffer: int | None, size: int) -> int:
        """Without a buffer return a count with some room, else the number of ids that were written."""
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
        if not buffer:
            return len(pids) + 20
        pids = pids[: size // ctypes.sizeof(c_int)]
        ctypes.memmove(buffer, (c_int * len(pids))(*pids), len(pids) * ctypes.sizeof(c_int))
        return len(pids)

    def _describe(self, pid: int, flavor: int, argument: int, buffer: int, size: int) -> int:
        """Return the size of what was written, or 0; zombies are found with an argument only."""
        if flavor != PROC_PIDTBSDINFO or size < ctypes.sizeof(BsdInfo):
            return 0
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0
        if fields[0] in "ZX" and not argument:
            return 0
        started = int(fields[19]) * 1_000_000 // TICKS
        info = BsdInfo(status=STATES[fields[0]], pid=pid, ppid=int(fields[1]), pgid=int(fields[2]))
        info.start_tvsec, info.start_tvusec = divmod(started, 1_000_000)
        ctypes.memmove(buffer, ctypes.byref(info), ctypes.sizeof(info))
        return ctypes.sizeof(info)

    def _read_kernel(self, name: object, length: int, old: int | None, size: object, new: int | None, rest: int) -> int:
        """`sysctl` of KERN_PROCARGS2: without a buffer the size, else as much as fits; -1 if it may not be read."""
        if length != 3 or (name[0], name[1]) != (CTL_KERN, KERN_PROCARGS2) or new or rest:  # type: ignore[index]
            return -1
        data = self._arguments(name[2])  # type: ignore[index]
        if not data:
            return -1
        if old:
            data = data[: size[0]]  # type: ignore[index]
            ctypes.memmove(old, data, len(data))
        size[0] = len(data)  # type: ignore[index]
        return 0

    def _arguments(self, pid: int) -> bytes:
        try:
            program = os.readlink(f"/proc/{pid}/exe")
            words = Path(f"/proc/{pid}/cmdline").read_bytes()
            variables = Path(f"/proc/{pid}/environ").read_bytes()
        except OSError:
            return b""
        if program.rpartition("/")[2] in self.hidden:
            variables = b""
        count = words.count(b"\0").to_bytes(4, "little")
        return (
            count + program.encode() + b"\0" * 4 + words + variables + b"\0executable_path=" + program.encode() + b"\0"
        )
