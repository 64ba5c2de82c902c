"""Read files with secrets, only if no other user can read or replace them.

A symlink is always refused, because any user who can change the link can choose the secret.
"""

from __future__ import annotations

import os
import stat

from mcpc_runtime.http.auth.principals import MisconfiguredError
from mcpc_runtime.transports.platforms import system
from mcpc_runtime.transports.platforms.files import access_of_others, is_credential, is_own_file

MAX_BYTES = 4096
FLAGS = system.O_RDONLY | system.O_NOFOLLOW | system.O_NONBLOCK | system.O_CLOEXEC


def read_secret(path: str) -> str:
    """Return the text of a file that only this user can access; raise MisconfiguredError."""
    try:
        descriptor = system.open(path, FLAGS)
    except OSError as problem:
        why = "it is a symlink" if os.path.islink(path) else problem.strerror
        raise MisconfiguredError(f"{path} cannot be used: {why}") from None
    try:
        status = os.fstat(descriptor)
        wrong = "" if is_credential(path, status) else access_problem(status)
        data = b"" if wrong else os.read(descriptor, MAX_BYTES + 1)
    finally:
        os.close(descriptor)
    wrong = wrong or secret_problem(data)
    if wrong:
        raise MisconfiguredError(f"{path} cannot be used: {wrong}")
    return data.decode("ascii")


def access_problem(status: os.stat_result) -> str:
    """Return why a file is not safe, or an empty string."""
    if not stat.S_ISREG(status.st_mode):
        return "it is no file"
    if not is_own_file(status):
        return "it belongs to another user"
    if access_of_others(status):
        return f"others can get at it (its mode is {stat.S_IMODE(status.st_mode):04o}; chmod 600 fixes that)"
    return "" if status.st_size <= MAX_BYTES else f"it has more than {MAX_BYTES} bytes"


def secret_problem(data: bytes) -> str:
    """Return why the contents are not valid as a secret, or an empty string."""
    if not data.strip():
        return "it is empty"
    if len(data) > MAX_BYTES:
        return f"it has more than {MAX_BYTES} bytes"
    return "" if data.isascii() and b"\0" not in data else "it is no ASCII text"
