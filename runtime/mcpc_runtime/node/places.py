"""Where tools may write, and where their calls are logged: in one folder a user and a server, which outlives both.

MCPC_TOOLBOX_HOME names another one; MCPC_TOOLBOX_LOG names another file for the log, or `off`.  Where no such folder
can be made, one is made that goes with the server.
"""

from __future__ import annotations

import posix

from mcpc_runtime.errors import tell
from mcpc_runtime.supervision.folders import FOLDERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.image import Image

HOME, LOG = b"MCPC_TOOLBOX_HOME", b"MCPC_TOOLBOX_LOG"
OFF = "off"
PRIVATE = 0o700
LEGAL = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
found: dict[str, str] = {}
"""The folder of each archive."""
logs: set[str] = set()
"""The logs whose folders were made."""


def home(image: Image) -> str:
    """Return the folder; it is made if it is not there."""
    if image.archive not in found:
        found[image.archive] = made(image.index["toolbox"]["name"])
    return found[image.archive]


def made(server: str) -> str:
    """Return the first folder that can be made, or is there."""
    for place in wanted(server):
        try:
            make(place)
        except OSError:
            continue
        return place
    place = f"{variable(b'TMPDIR') or '/tmp'}/mcpc-toolbox-{posix.urandom(12).hex()}"
    posix.mkdir(place, PRIVATE)
    FOLDERS.append(place)
    return place


def wanted(server: str) -> tuple[str, ...]:
    """Return the folders to try."""
    given = variable(HOME)
    if given:
        return (absolute(given),)
    name = "".join(mark if mark in LEGAL else "_" for mark in server).lstrip(".") or "server"
    state = variable(b"XDG_STATE_HOME")
    user = variable(b"HOME")
    roots = (state if state.startswith("/") else "", f"{user}/.local/state" if user.startswith("/") else "")
    return tuple(f"{root.rstrip('/')}/mcpc/{name}" for root in roots if root)


def make(place: str) -> None:
    """Make a folder and those above it; raise OSError if it cannot be written to."""
    for end in (at for at, mark in enumerate(f"{place}/") if mark == "/" and at):
        try:
            posix.mkdir(place[:end], PRIVATE)
        except OSError:  # mostly because it is there; else what comes is not, either
            continue
    if not posix.access(place, posix.W_OK | posix.X_OK):
        raise PermissionError(place)


def log(image: Image) -> str:
    """Return the file that calls are logged to, in a folder that is there; nothing for none."""
    given = variable(LOG)
    if given == OFF:
        return ""
    inside = "test/log" if variable(b"NODE_ENV") == "test" else "log"
    file = absolute(given) if given else f"{home(image)}/{inside}/ToolBox.log"
    if file not in logs:
        logs.add(file)
        try:
            make(file.rpartition("/")[0] or "/")
        except OSError as problem:
            tell(f"calls are not logged: {file}: {problem.strerror or 'it cannot be written to'}")
    return file


def absolute(path: str) -> str:
    """Return a path as it is seen from anywhere."""
    return path if path.startswith("/") else f"{posix.getcwd()}/{path}"


def variable(name: bytes) -> str:
    """Return a variable of the server's environment."""
    return str(posix.environ.get(name, b""), "utf-8", "surrogateescape")
