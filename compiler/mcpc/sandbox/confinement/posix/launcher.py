"""Launcher of one confined program: run as a script, by a Python that has only its standard library.

    compiler ── this process (adopts orphans) ── first process of the namespaces (waits) ── the program

Namespaces, where available, remove the network, other processes and their files in /proc, and what lies in folders of
the user but for what the program needs; Landlock, where the kernel has it, prevents writing outside of one folder, TCP,
and signals to other processes; resource limits bound the rest.  A program has no keys of its user's session.
Missing mechanisms are skipped: `mcpc.sandbox.confinement` also watches from outside.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import sys
from contextlib import suppress
from typing import Any

SET_PDEATHSIG, SET_DUMPABLE, SET_CHILD_SUBREAPER, SET_NO_NEW_PRIVS = 1, 4, 36, 38
NEW_NS, NEW_IPC, NEW_USER, NEW_PID, NEW_NET = 0x00020000, 0x08000000, 0x10000000, 0x20000000, 0x40000000
PRIVATE = 1 << 14 | 1 << 18
"""MS_REC and MS_PRIVATE: mounts made here do not propagate."""
NO_SUID_NO_DEVICES = 6
MOUNTED_OVER = ("/dev/shm", "/dev/pts")
SHARED_MEMORY = b"size=64m"
BIND = 1 << 12 | 1 << 14
"""MS_BIND and MS_REC."""
KEYCTL = {
    "x86_64": 250,
    "aarch64": 219,
    "riscv64": 219,
    "loongarch64": 219,
    "armv7l": 311,
    "ppc64le": 271,
    "s390x": 280,
}
JOIN_SESSION_KEYRING = 1
O_PATH = getattr(os, "O_PATH", 0)
"""A flag of Linux, as all of Landlock."""
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
"""System calls of Landlock, the same numbers on every architecture but Alpha."""
VERSION, PATH_BENEATH = 1, 1
WRITE_FILE, TRUNCATE = 1 << 1, 1 << 14
WRITING = {1: WRITE_FILE | sum(1 << bit for bit in range(4, 13)), 2: 1 << 13, 3: TRUNCATE}
"""The write access rights that each Landlock version added."""
NET_SINCE, BIND_AND_CONNECT = 4, 3
SCOPES_SINCE, ABSTRACT_SOCKETS_AND_SIGNALS = 6, 3
UNREADABLE = b"unreadable"
"""Reported in place of a status if namespaces hide files that the program needs."""
REPLIES = 3
CAPBSET_DROP, CAPABILITIES = 24, range(64)
KEPT_CAPABILITIES = (1, 2, 3)
"""CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER: the superuser reads files of others; Landlock bounds writing."""

LIBC = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    """Start the program that the command line describes, and end when it has ended."""
    plan = json.loads(sys.argv[1])
    prctl(SET_PDEATHSIG, signal.SIGKILL)
    prctl(SET_CHILD_SUBREAPER, 1)
    separate = bool(plan["namespaces"]) and enter_namespaces(0 if plan["network"] else NEW_NET)
    if separate:
        hide(plan["hidden"], plan["kept"])
    if separate and not all(os.access(path, os.R_OK) for path in plan["readable"]):
        os.write(plan["status"], UNREADABLE)
        os._exit(0)
    prctl(SET_DUMPABLE, 0)
    # Only children are in the new namespace of processes: this one becomes its first process.
    first = os.fork()
    if first == 0:
        supervise(plan, separate)
    os.close(plan["status"])
    os.waitpid(first, 0)
    os._exit(0)


def prctl(option: int, value: int) -> None:
    """Set a process option that not every kernel supports."""
    with suppress(AttributeError):
        LIBC.prctl(option, value, 0, 0, 0)


def enter_namespaces(network: int) -> bool:
    """Leave the caller's namespaces, that of the network by a flag; False, and nothing has changed, if it may not."""
    user, group = os.getuid(), os.getgid()
    try:
        if LIBC.unshare(NEW_USER | NEW_PID | network | NEW_IPC | NEW_NS):
            return False
    except AttributeError:
        return False
    # The kernel takes a map of groups from an ordinary user only after `setgroups` was denied.
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w") as file:  # noqa: PTH123
            file.write(text)
    LIBC.mount(b"none", b"/", None, PRIVATE, None)
    for place in MOUNTED_OVER:
        LIBC.mount(b"tmpfs", place.encode(), b"tmpfs", NO_SUID_NO_DEVICES, SHARED_MEMORY)
    return True


def hide(folders: list[str], kept: list[str]) -> None:
    """Mount empty folders over these, and in them what is kept, at its place; of a link its last target is kept, too.

    What cannot be mounted again is missing, which the caller finds if the program needs it.
    """
    present = [path for path in kept if os.path.exists(path)]  # noqa: PTH110
    links = {path: os.path.realpath(path) for path in present if os.path.islink(path)}  # noqa: PTH114
    # Opened before empty folders cover them: afterwards only the descriptors lead there.
    opened = {path: os.open(path, O_PATH | os.O_CLOEXEC) for path in present if path not in links}
    for folder in folders:
        if os.path.isdir(folder):  # noqa: PTH112 - it may lie in one before it
            LIBC.mount(b"tmpfs", os.fsencode(folder), b"tmpfs", NO_SUID_NO_DEVICES, SHARED_MEMORY)
    for path, descriptor in opened.items():
        here = f"/proc/self/fd/{descriptor}"
        with suppress(OSError):
            if os.path.isdir(here):  # noqa: PTH112
                os.makedirs(path, exist_ok=True)  # noqa: PTH103
            else:
                os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120
                os.close(os.open(path, os.O_CREAT | os.O_CLOEXEC))
            LIBC.mount(here.encode(), os.fsencode(path), None, BIND, None)
        os.close(descriptor)
    for path, target in links.items():  # a program finds its libraries from where it is
        with suppress(OSError):
            os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120
            os.symlink(target, path)  # noqa: PTH211


def supervise(plan: dict[str, Any], separate: bool) -> None:
    """Start the program, reap all orphans, and report the program's status; then end with all that is left.

    In a namespace this is the first process, and its end ends all others.
    """
    # A fork does not keep this setting of its parent.
    prctl(SET_PDEATHSIG, signal.SIGKILL)
    if separate:
        # The /proc of the namespace outside would show all processes of the machine.
        LIBC.mount(b"proc", b"/proc", b"proc", NO_SUID_NO_DEVICES, None)
    program = os.fork()
    if program == 0:
        execute(plan, separate)
    # While this process has them open, too, the caller does not see the end of the output.
    for descriptor in plan["pass"]:
        os.close(descriptor)
    while True:
        pid, status = os.wait()
        if pid == program:
            os.write(plan["status"], str(os.waitstatus_to_exitcode(status)).encode())
            os._exit(0)


def execute(plan: dict[str, Any], separate: bool) -> None:
    """Execute the program in this process."""
    os.setsid()
    replies, output = plan["pass"]
    os.dup2(output, 2)
    os.dup2(output if plan["replies"] != 1 else replies, 1)
    if plan["replies"] != 1:
        # Duplicated onto itself, a descriptor would still be closed when the program is executed.
        replies = os.dup(replies) if replies == REPLIES else replies
        os.dup2(replies, REPLIES)
    os.chdir(plan["folder"])
    for name, most in plan["limits"].items():
        with suppress(ValueError, OSError, AttributeError):
            resource.setrlimit(getattr(resource, name), (most, most))
    for capability in CAPABILITIES:
        if capability not in KEPT_CAPABILITIES:
            prctl(CAPBSET_DROP, capability)
    prctl(SET_NO_NEW_PRIVS, 1)
    prctl(SET_DUMPABLE, 1)
    with suppress(AttributeError, KeyError):
        # Without a name the keyring is a new and empty one.
        LIBC.syscall(KEYCTL[os.uname().machine], JOIN_SESSION_KEYRING, None)
    restrict(plan["root"], MOUNTED_OVER[:1] if separate else (), 0 if plan["network"] else BIND_AND_CONNECT)
    # Nothing but the standard streams and the answer stays open.
    os.closerange(REPLIES + 1 if plan["replies"] != 1 else REPLIES, 256)
    try:
        os.execve(plan["words"][0], plan["words"], plan["environment"])
    except OSError as problem:
        os.write(2, f"{plan['words'][0]}: {problem.strerror}".encode())
    os._exit(127)


def restrict(root: str, others: tuple[str, ...], tcp: int) -> None:
    """Let Landlock refuse writing except below `root` and `others`, uses of TCP, and signals to others, if it can."""
    with suppress(OSError, AttributeError):
        version = LIBC.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), VERSION)
        if version < 1:
            return
        writing = sum(rights for since, rights in WRITING.items() if since <= version)
        net = tcp if version >= NET_SINCE else 0
        scopes = ABSTRACT_SOCKETS_AND_SIGNALS if version >= SCOPES_SINCE else 0
        # A kernel may refuse a structure that is longer than the one it knows.
        known = 3 if scopes else 2 if net else 1
        rules = (ctypes.c_uint64 * known)(*(writing, net, scopes)[:known])
        ruleset = LIBC.syscall(CREATE_RULESET, rules, ctypes.c_size_t(8 * known), 0)
        for path, rights in ((root, writing), *((other, writing) for other in others), ("/dev/null", WRITE_FILE)):
            place = os.open(path, O_PATH | os.O_CLOEXEC)
            beneath = rights.to_bytes(8, sys.byteorder) + place.to_bytes(4, sys.byteorder)
            LIBC.syscall(ADD_RULE, ruleset, PATH_BENEATH, beneath, 0)
            os.close(place)
        LIBC.syscall(RESTRICT_SELF, ruleset, 0)
        os.close(ruleset)


if __name__ == "__main__":
    main()
