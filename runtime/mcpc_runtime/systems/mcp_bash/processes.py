"""The processes of tools: a separate process, or a child of a shell that has read the SDK already.

A separate process is always correct.  The other is used for scripts that the compiler found unable to notice the
difference, if /proc and files in memory are available and no variable changes how Bash behaves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mcpc_runtime.handlers.bash.runner import ShellRunner
from mcpc_runtime.handlers.bash.shells import scripts as shell_scripts
from mcpc_runtime.handlers.bash.shells.job import ShellJob
from mcpc_runtime.handlers.executable.runner import ProcessJob, ProcessRunner
from mcpc_runtime.handlers.invocations import Command, ProcessResult
from mcpc_runtime.handlers.runner_context import RunnerContext
from mcpc_runtime.systems.mcp_bash.environment import FRAMEWORK_FOLDER
from mcpc_runtime.systems.mcp_bash.project_environment import ignore_note
from mcpc_runtime.systems.mcp_bash.script_start import ScriptStart, script_start
from mcpc_runtime.systems.mcp_bash.scripts import ScriptCall
from mcpc_runtime.transports.platforms import system_features

Variables = Mapping[bytes, bytes]
ScriptProcessJob = ShellJob | ProcessJob


class ScriptProcesses:
    """The processes of a server's tools; `alone` runs separate processes, started by the supervisor."""

    def __init__(self, host: RunnerContext) -> None:
        self._host = host
        self.alone = ProcessRunner(host)
        self._shells: tuple[str, ShellRunner | None] = "", None
        self._starts: dict[str, ScriptStart] = {}

    def start(
        self,
        script: ScriptCall,
        home: str,
        variables: tuple[Variables, Variables],
        done: Callable[[ProcessResult], None],
    ) -> tuple[ScriptProcessJob | None, Callable[[], None]]:
        """Run a tool in the folder of the project; return its job, and the function that ends it.

        `variables`: the environment of all tools, and the additional one of this call.
        """
        path = f"{home}/{script.file}"
        shells = self._shells_of(home, variables[0]) if script.facts.get("fork") else None
        if shells is not None:
            call = shell_scripts.script_call(path, variables[1], home, 0)
            call.account = script.account
            job = shells.start(call, done, ignore_note)
            return job, lambda: shells.stop(job)
        command = Command(self.start_of(path).argv, 0, {})
        command.exact, command.directory, command.stdin = {**variables[0], **variables[1]}, home, b""
        command.account = script.account
        process = self.alone.start(command, done, ignore_note)
        return process, lambda: None if process is None else self.alone.stop(process)

    def close(self) -> None:
        """Close the runners; the supervisor ends the processes."""
        self.alone.close()
        if self._shells[1] is not None:
            self._shells[1].close()

    def _shells_of(self, home: str, variables: Variables) -> ShellRunner | None:
        """Return the runner of scripts in shells that have read the SDK, None if it is not available."""
        if self._shells[0] != home:
            if self._shells[1] is not None:
                self._shells[1].close()
            shells = None
            if system_features.has("proc") and system_features.has("memfd") and shell_scripts.allows_forking(variables):
                libraries = shell_scripts.ScriptLibraries(f"{home}/{FRAMEWORK_FOLDER}/sdk", lambda number: variables)
                shells = ShellRunner(self._host, libraries)
            self._shells = home, shells
        return self._shells[1]

    def start_of(self, path: str) -> ScriptStart:
        """Return how a file is started."""
        start = self._starts.get(path)
        if start is None:
            start = self._starts[path] = script_start(path)
        return start
