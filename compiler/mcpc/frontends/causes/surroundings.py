"""Causes in what a build does not have: files, programs, a network, input, time and memory."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from mcpc.diagnostics.model import quoted
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
    present = wanted if wanted in run.tree.files else ""
    present = present or next((path for path in run.tree.files if posixpath.basename(path) == name), "")
    place = posixpath.relpath(present or posixpath.join(folder, wanted), folder or ".")
    there = f'`Path(__file__).parent / "{place}"`'
    if present:
        return f"the project has `{present}`; a path is relative to where the server is started: open {there}"
    return (
        f"no `{wanted}` is among the packed files of the project: add it, and open {there}, wherever the server is "
        f"started; open what exists only later {run.other_time}"
    )


def network(run: FailedRun) -> str:
    """A connection or a port."""
    message = f"{run.raised.type}: {run.raised.message}"
    # An error without a path is not one of a file, but of a socket.
    refused = message == "PermissionError: [Errno 13] Permission denied"
    if run.tree.options.build_network or not (refused or NO_NETWORK.search(message) or run.has(*NETWORK_ERRORS)):
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


VARIABLE = re.compile(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b")
"""What looks like the name of an environment variable."""
MAX_SHOWN = 8
SETTINGS = "`[[tool.mcpc.settings]]` in `pyproject.toml` asks those who install the server for it"


def variables_text(names: list[str]) -> str:
    """Return names of variables for a message."""
    return f"the variable{'' if len(names) == 1 else 's'} {quoted(names)}"


def give(names: list[str]) -> str:
    """Return how to give variables to a build."""
    options = " ".join(f"--build-env {name}=VALUE" for name in names[:MAX_SHOWN])
    what = "a value" if len(names) == 1 else "values"
    return f"give the build {what}: `{options}`, or `build-environment` in `[tool.mcpc]`"


def absent_text(absent: tuple[str, ...]) -> str:
    """Return which variables the code looked up and did not find, an empty string if there are none."""
    if not absent:
        return ""
    # The last ones: they were looked up just before the exception.
    return f"; variables that it looked up and that are not set (`--build-env`): {quoted(absent[-5:])}"


def settings_class(run: FailedRun) -> str:
    """Settings that are made without their variables (pydantic-settings)."""
    names = [*run.raised.variables]
    if not names:
        return ""
    owner = run.raised.owner
    return f"`{owner}` reads {variables_text(names)}: {give(names)}, or make `{owner}()` {run.other_time}; {SETTINGS}"


def absent_key(run: FailedRun) -> str:
    """A variable that is read as `os.environ["NAME"]`."""
    name = run.raised.name
    if not run.has("KeyError") or name not in run.raised.absent:
        return ""
    return f"the variable `{name}` is not set in a build: read it {run.other_time}, or {give([name])}; {SETTINGS}"


def absent_value(run: FailedRun) -> str:
    """A variable that is not set, and whose value is used as if it were."""
    if not run.raised.absent or "None" not in run.raised.message or not run.has("TypeError", "AttributeError"):
        return ""
    name = run.raised.absent[-1]
    return (
        f"the variable `{name}` is not set in a build, so it is None here: {give([name])}, or use it {run.other_time}"
    )


def invalid_fields(run: FailedRun) -> str:
    """Values that a model of pydantic refuses."""
    names = [*dict.fromkeys(run.raised.fields)]
    return f"correct the value of {quoted(names[:MAX_SHOWN])} of `{run.raised.owner}`" if names else ""
