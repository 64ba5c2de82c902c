"""Runner of the functions of a server script: a fork server reads the script once, and forks a child for each call.

The script is read in the folder where the server was started, as if it had been started there, and finds its files
beside itself.  Where no fork server can be used, each call reads the script again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mcpc_runtime.artifact.extraction import extracted_folder
from mcpc_runtime.handlers.bash.job import ShellJob
from mcpc_runtime.handlers.bash.libraries import LINE_MARK, is_excluded_variable
from mcpc_runtime.handlers.bash.runner import ShellRunner
from mcpc_runtime.handlers.invocations import ProcessResult, ShellCall
from mcpc_runtime.handlers.runner_context import RunnerContext
from mcpc_runtime.interfaces import Note, Notify
from mcpc_runtime.transports.platforms.program_search import shell_path

SETTING = "bash_sdk"
"""The key of the index with the path of the script."""
PROGRAMS = ".mcpc/bash-sdk"
"""The folder of the programs that read the script, in the project's folder."""


class ScriptLibrary:
    """The server script as the library of a ShellRunner; `home`: the folder with the project's files."""

    def __init__(self, host: RunnerContext, home: str) -> None:
        self._host = host
        self._home = home
        self._programs: dict[str, str] = {}
        self._environments: dict[int, dict[bytes, bytes]] = {}
        self._shell_home = shell_path(home)
        self.name = f"{self._shell_home}/{host.image.index[SETTING]['script']}"

    def program(self, name: str) -> str:
        """Return the program with which Bash is started."""
        if name not in self._programs:
            with open(f"{self._home}/{PROGRAMS}/{name}", encoding="utf-8") as file:
                self._programs[name] = file.read()
        return self._programs[name]

    def environment(self, number: int) -> Mapping[bytes, bytes]:
        """Return the environment of the script: no variable in it changes how Bash itself behaves."""
        if number not in self._environments:
            inherited = self._host.environment(number).items()
            self._environments[number] = {name: value for name, value in inherited if not is_excluded_variable(name)}
        return self._environments[number]

    def texts(self, part: bytes = b"") -> list[bytes]:
        """Return the texts that a shell reads before any call: the paths of the script and of the project."""
        return [text.encode("utf-8", "surrogateescape") for text in (self.name, self._shell_home)]


class ServerScriptRunner:
    """Calls the functions of the server script; the folder of its files is made by the first call."""

    def __init__(self, host: RunnerContext) -> None:
        self._host = host
        self._home = ""
        self._shells: ShellRunner | None = None

    def start(self, call: ShellCall, done: Callable[[ProcessResult], None], note: Notify) -> ShellJob | None:
        """Call a function; `done` is called with its result."""
        shells = self._current()
        # The folder of this call: there may be another one when it ends.
        prefix = f"{shell_path(self._home)}/".encode("utf-8", "surrogateescape")
        return shells.start(call, lambda completed: done(name_files(completed, prefix)), note)

    def stop(self, job: ShellJob | None) -> None:
        """End the call, and all processes that it started."""
        self._current().stop(job)

    def answer(self, job: ShellJob, reply: int, result: Note) -> None:
        """Send the function a reply."""
        self._current().answer(job, reply, result)

    def close(self) -> None:
        """Close the shells; the supervisor ends the processes."""
        if self._shells is not None:
            self._shells.close()

    def _current(self) -> ShellRunner:
        """Return the runner for the folder of the project, which is made again if it was removed."""
        home = extracted_folder(self._host.image)
        if self._shells is None or home != self._home:
            self.close()
            self._home = home
            self._shells = ShellRunner(self._host, ScriptLibrary(self._host, home))
        return self._shells


def name_files(completed: ProcessResult, prefix: bytes) -> ProcessResult:
    """Name files by their paths in the project where Bash's messages begin with a file: O(output)."""
    if prefix in completed.output and LINE_MARK in completed.output:
        for field in ("output", "printed", "errors"):
            lines = getattr(completed, field).split(b"\n")
            named = (line.removeprefix(prefix) if LINE_MARK in line else line for line in lines)
            setattr(completed, field, b"\n".join(named))
    return completed
