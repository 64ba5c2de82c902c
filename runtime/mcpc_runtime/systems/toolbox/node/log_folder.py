"""The folder where tools write and their calls are logged: one per user and server, which is never removed.

MCPC_TOOLBOX_HOME selects another folder; MCPC_TOOLBOX_LOG selects another log file, or `off`.  If no such folder can be
created, a temporary one is used and removed with the server.
"""

from __future__ import annotations

from mcpc_runtime.artifact.image.image import Image
from mcpc_runtime.log.operator_log import log_line
from mcpc_runtime.transports.platforms import system
from mcpc_runtime.transports.platforms.processes import TEMPORARY_FOLDERS

HOME_VARIABLE, LOG_VARIABLE = b"MCPC_TOOLBOX_HOME", b"MCPC_TOOLBOX_LOG"
OFF = "off"
PRIVATE = 0o700
SAFE_CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
data_folders: dict[str, str] = {}
"""The folder of each artifact."""
prepared_logs: set[str] = set()
"""The log files whose folders were created."""


def data_folder(image: Image) -> str:
    """Return the folder, created if missing."""
    if image.archive not in data_folders:
        data_folders[image.archive] = make_first_folder(image.index["toolbox"]["name"])
    return data_folders[image.archive]


def make_first_folder(server: str) -> str:
    """Return the first folder that exists or can be created."""
    for path in candidate_folders(server):
        try:
            make_folder(path)
        except OSError:
            continue
        return path
    path = f"{environment_text(b'TMPDIR') or '/tmp'}/mcpc-toolbox-{system.urandom(12).hex()}"
    system.mkdir(path, PRIVATE)
    TEMPORARY_FOLDERS.append(path)
    return path


def candidate_folders(server: str) -> tuple[str, ...]:
    """Return the folders to try, in order."""
    configured = environment_text(HOME_VARIABLE)
    if configured:
        return (absolute_path(configured),)
    name = "".join(character if character in SAFE_CHARACTERS else "_" for character in server).lstrip(".") or "server"
    state = environment_text(b"XDG_STATE_HOME")
    user = environment_text(b"HOME")
    roots = (state if state.startswith("/") else "", f"{user}/.local/state" if user.startswith("/") else "")
    return tuple(f"{root.rstrip('/')}/mcpc/{name}" for root in roots if root)


def make_folder(path: str) -> None:
    """Create a folder and its parents; raise OSError if it is not writable."""
    for end in (at for at, character in enumerate(f"{path}/") if character == "/" and at):
        try:
            system.mkdir(path[:end], PRIVATE)
        except OSError:  # mostly because it exists; other failures are found below
            continue
    if not system.access(path, system.W_OK | system.X_OK):
        raise PermissionError(path)


def call_log_file(image: Image) -> str:
    """Return the file for the log of calls, its folder created; an empty string if logging is off."""
    configured = environment_text(LOG_VARIABLE)
    if configured == OFF:
        return ""
    inside = "test/log" if environment_text(b"NODE_ENV") == "test" else "log"
    file = absolute_path(configured) if configured else f"{data_folder(image)}/{inside}/ToolBox.log"
    if file not in prepared_logs:
        prepared_logs.add(file)
        try:
            make_folder(file.rpartition("/")[0] or "/")
        except OSError as problem:
            log_line(f"calls are not logged: {file}: {problem.strerror or 'not writable'}")
    return file


def absolute_path(path: str) -> str:
    """Return a path as absolute."""
    return path if path.startswith("/") else f"{system.getcwd()}/{path}"


def environment_text(name: bytes) -> str:
    """Return a variable of the server's environment."""
    return str(system.environ.get(name, b""), "utf-8", "surrogateescape")
