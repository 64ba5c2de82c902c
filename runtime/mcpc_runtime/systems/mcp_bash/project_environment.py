"""The project's own environment file and policy script, which run before tools.

Nothing here blocks.  `server.d/env.sh` is read once, by the first call; the policy script runs before each call, since
its result may depend on anything.  Both are trusted, and get the server's environment without its secrets.
"""

from __future__ import annotations

from collections.abc import Callable

from mcpc_runtime.handlers.executable.runner import ProcessJob, ProcessRunner
from mcpc_runtime.handlers.invocations import Command, ProcessResult
from mcpc_runtime.handlers.runner_context import RunnerContext
from mcpc_runtime.log.operator_log import log_line
from mcpc_runtime.protocol.jsonrpc import Json
from mcpc_runtime.systems.mcp_bash.environment import FRAMEWORK_FOLDER, server_environment, server_variables
from mcpc_runtime.systems.mcp_bash.policy_result import parse_policy_result
from mcpc_runtime.systems.mcp_bash.script_start import WritePath, write_shell_path
from mcpc_runtime.systems.mcp_bash.scripts import ScriptCall
from mcpc_runtime.transports.platforms.environments import SECRETS

ENV_FILE, POLICY_FILE = "server.d/env.sh", "server.d/policy.sh"
POLICY_PROGRAM = f"{FRAMEWORK_FOLDER}/lib/tool-policy.sh"
BASH = ("bash", "--norc", "--noprofile")
PRINT = 'if command -v cygpath >/dev/null; then {0}env -0 "PATH=$(cygpath -wp -- "$PATH")" >&3; else {0}env -0 >&3; fi'
"""Prints the variables; the shells of Git and MSYS2 have written PATH in their own way."""
PRINT_ENVIRONMENT = f"exec 3>&1 1>&2; {PRINT.format('')}; printf '=\\0' >&3; . \"$1\"; {PRINT.format('exec ')}"
"""Prints the variables before and after the environment file, with `=` between them."""
SHELL_VARIABLES = frozenset((b"_", b"MCPC_CALL", b"OLDPWD", b"PWD", b"SHLVL"))
ENV_SECONDS = 10.0


class ProjectEnvironment:
    """The environment of one project; `process` is the runner of its programs."""

    def __init__(self, host: RunnerContext, process: ProcessRunner) -> None:
        self._host = host
        self._process = process
        self._exported: dict[bytes, bytes] | None = None
        self._variables: dict[tuple[str, WritePath], dict[bytes, bytes]] = {}
        self._waiting: list[Callable[[], None]] = []

    def environment(self, script: ScriptCall, home: str, then: Callable[[], None]) -> None:
        """Call `then` when the environment file is read; raise OSError if there is no room to run it."""
        settings = script.settings
        if self._exported is None and not (settings.built.get("env") and not settings.flag("MCPBASH_NO_ENV_FILE")):
            self._exported = {}
        if self._exported is not None:
            then()
            return
        self._waiting.append(then)
        if len(self._waiting) == 1:
            try:
                self._read(script, home)
            except OSError:
                self._waiting.clear()
                raise

    def _read(self, script: ScriptCall, home: str) -> None:
        command = Command([*BASH, "-c", PRINT_ENVIRONMENT, "mcp-bash", write_shell_path(f"{home}/{ENV_FILE}")], 0, {})
        command.exact, command.directory, command.stdin = self._inherited(script, home), home, b""

        def done(completed: ProcessResult) -> None:
            if self._exported is None:
                self._take(parse_exported(completed))

        inner = self._process.start(command, done, ignore_note)

        def give_up() -> None:
            if self._exported is None:
                if inner is not None:
                    self._process.stop(inner)
                log_line(f"{ENV_FILE} did not end within {ENV_SECONDS:g} s: tools run without its variables")
                self._take({})

        self._host.reactor.after(ENV_SECONDS, give_up)

    def _take(self, exported: dict[bytes, bytes]) -> None:
        self._exported = exported
        waiting, self._waiting = self._waiting, []
        for then in waiting:
            then()

    @staticmethod
    def _inherited(script: ScriptCall, home: str) -> dict[bytes, bytes]:
        """Return the environment of the project's programs."""
        inherited = {name: value for name, value in script.settings.environ.items() if name not in SECRETS}
        return {**inherited, **server_variables(script.settings, home, write_shell_path)}

    def policy(
        self, script: ScriptCall, home: str, then: Callable[[tuple[int, str, Json] | None], None]
    ) -> ProcessJob | None:
        """Run the policy script for a tool; `then` gets the error of a denied tool, or None."""
        programs = (write_shell_path(f"{home}/{program}") for program in (POLICY_PROGRAM, POLICY_FILE))
        argv = [*BASH, *programs, script.name]
        command = Command([*argv, script.settings.policy.refusal(script.name)], 0, {})
        command.exact = {**self._inherited(script, home), **(self._exported or {})}
        command.directory, command.stdin = home, script.facts["metadata"].encode()
        return self._process.start(
            command, lambda completed: then(parse_policy_result(script.name, completed)), ignore_note
        )

    def variables(self, script: ScriptCall, home: str, write_path: WritePath) -> dict[bytes, bytes]:
        """Return the environment of all tools that read paths as `write_path` writes them; do not change it."""
        found = self._variables.get((home, write_path))
        if found is None:
            found = server_environment(script.settings, home, self._exported or {}, write_path)
            self._variables[home, write_path] = found
        return found


def parse_exported(completed: ProcessResult) -> dict[bytes, bytes]:
    """Return the variables that the environment file has set, none if it failed."""
    if completed.status or completed.problem:
        reason = completed.problem or str(completed.errors.strip(), "utf-8", "replace")
        log_line(f"{ENV_FILE} failed, and tools run without its variables: {reason or f'status {completed.status}'}")
        return {}
    before, _, after = completed.printed.partition(b"\0=\0")
    inherited = parse_variables(before)
    exported = parse_variables(after)
    return {
        name: value for name, value in exported.items() if inherited.get(name) != value and name not in SHELL_VARIABLES
    }


def parse_variables(printed: bytes) -> dict[bytes, bytes]:
    """Return variables that `env -0` has printed."""
    rows = (row.partition(b"=") for row in printed.split(b"\0"))
    return {name: value for name, equals, value in rows if equals}


def ignore_note(note: object) -> None:
    """Ignore a note."""
