"""Causes in what a build does not have: files, programs, a network, input, time and memory."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from mcpc.frontends.causes.model import STARTED

if TYPE_CHECKING:
    from mcpc.frontends.causes.model import FailedRun, Occasion

NO_NETWORK = re.compile(
    r"Network is unreachable|[Nn]ame or service not known|[Nn]ame resolution|getaddrinfo failed|Connection refused"
    r"|Max retries exceeded|attempting to bind|Address .*in use|All connection attempts failed"
)
NETWORK_ERRORS = frozenset(
    {"gaierror", "ConnectionError", "ConnectError", "ConnectTimeout", "URLError", "NetworkError"}
)
NO_WRITING = re.compile(r"^(?:PermissionError|OSError|FileNotFoundError): .*: '/|Read-only file system|unable to open")


def missing_program(run: FailedRun) -> str:
    """A program that is started, and that a build does not have."""
    name = run.raised.file
    if not run.raised.is_program or not name:
        return ""
    return f"a build finds no program `{name}`: start it {run.other_time}, and declare it there: `requires`"


def missing_file(run: FailedRun) -> str:
    """A file with a relative path, which is looked for where the server is started."""
    raised = run.raised
    if not raised.file or raised.file.startswith("/") or not run.has("FileNotFoundError", "NotADirectoryError"):
        return ""
    wanted, folder = posixpath.normpath(raised.file), posixpath.dirname(raised.path)
    name = posixpath.basename(wanted)
    found = wanted if wanted in run.tree.files else ""
    found = found or next((path for path in run.tree.files if posixpath.basename(path) == name), "")
    place = posixpath.relpath(found or posixpath.join(folder, wanted), folder or ".")
    there = f'`Path(__file__).parent / "{place}"`'
    if found:
        return f"the project has `{found}`; a path is relative to where the server is started: open {there}"
    return (
        f"no `{wanted}` is among the packed files of the project: add it, and open {there}, wherever the server is "
        f"started; open what exists only later {run.other_time}"
    )


def network(run: FailedRun) -> str:
    """A connection or a port."""
    message = f"{run.raised.type}: {run.raised.message}"
    refused = message == "PermissionError: [Errno 13] Permission denied"
    if run.tree.build_network or not (refused or NO_NETWORK.search(message) or run.has(*NETWORK_ERRORS)):
        return ""
    return no_network(run.occasion)


def no_network(occasion: Occasion) -> str:
    """Return what to do about code that needs a network during a build."""
    option = "; or let the program use the network until it serves: `--build-network`" if occasion is STARTED else ""
    return f"a build has no network: open ports and connections {occasion.later}{option}"


def limits(run: FailedRun) -> str:
    """The limits of a build: memory, what is written, and where."""
    message = f"{run.raised.type}: {run.raised.message}"
    later = run.other_time
    if run.has("MemoryError"):
        return f"a build may use 2 GiB of memory; load what is large {later}"
    if re.search("File too large|No space left", message):
        return f"a build may write 256 MiB; write more {later}"
    if NO_WRITING.search(message):
        return f"a build may use files in its folder, its home and its temporary folder only; use others {later}"
    return ""


def ended(run: FailedRun) -> str:
    """The end of the program."""
    if not run.has("SystemExit"):
        return ""
    return 'end it only when the file is run by hand: `if __name__ == "__main__":`, also before a command line is read'


def terminal(run: FailedRun) -> str:
    """Input, of which there is none."""
    if not run.has("EOFError"):
        return ""
    return f"a build has no input: take this from a variable or an argument, or ask {run.other_time}"


def late(run: FailedRun) -> str:
    """The limit of time."""
    return f"do what takes long {run.other_time}" if run.has("TooLateError") else ""
