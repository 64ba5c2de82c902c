"""The processes of tools: a separate process, or a child of a shell that has read the SDK already.

A separate process is always correct.  The other is used for scripts that the compiler found unable to notice the
difference, if /proc and files in memory are available and no variable changes how Bash behaves.

The project's own environment file and policy script, which run before tools.

Nothing here blocks.  `server.d/env.sh` is read once, by the first call; the policy script runs before each call, since
its result may depend on anything.  Both are trusted, and get the server's environment without its secrets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from mcpc_runtime.handlers.bash.job import ShellJob
from mcpc_runtime.handlers.bash.libraries import is_excluded_variable
from mcpc_runtime.handlers.bash.runner import ShellRunner
from mcpc_runtime.handlers.executable.runner import ProcessJob, ProcessRunner
from mcpc_runtime.handlers.invocations import Command, ProcessResult, ShellCall
from mcpc_runtime.handlers.runner_context import RunnerContext
from mcpc_runtime.log import log_line
from mcpc_runtime.protocol.constants import INTERNAL_ERROR, INVALID_PARAMS
from mcpc_runtime.protocol.jsonrpc import Json, ParseError, parse
from mcpc_runtime.systems.mcp_bash.environment import FRAMEWORK_FOLDER, server_environment, server_variables
from mcpc_runtime.systems.mcp_bash.script_start import ScriptStart, WritePath, script_start, write_shell_path
from mcpc_runtime.systems.mcp_bash.scripts import ScriptCall
from mcpc_runtime.transports.platforms import system_features
from mcpc_runtime.transports.platforms.environments import SECRETS

PROGRAM_FOLDER = "fork"
"""The folder of the programs, beside the SDK's folder."""


class ScriptLibraries:
    """The libraries of a ShellRunner for scripts that read the SDK.

    `sdk`: the folder of tool-sdk.sh; `environments` returns an environment by its number.
    """

    def __init__(self, sdk: str, environments: Callable[[int], Mapping[bytes, bytes]]) -> None:
        self._sdk = sdk
        self._programs: dict[str, str] = {}
        self.environment = environments
        self.name = "scripts"

    def program(self, name: str) -> str:
        """Return the program with which Bash is started."""
        if name not in self._programs:
            with open(f"{self._sdk.rpartition('/')[0]}/{PROGRAM_FOLDER}/{name}", encoding="utf-8") as file:
                self._programs[name] = file.read()
        return self._programs[name]

    def texts(self, part: bytes = b"") -> list[bytes]:
        """Return the texts that the shell reads before any call."""
        return [self._sdk.encode()]


def script_call(path: str, variables: Mapping[bytes, bytes], directory: str, number: int) -> ShellCall:
    """Return the call of a script in a folder, with `variables` added to the environment of that number."""
    # The argument joins several texts: setting the variables one by one would take a tenth of the call's time.
    texts = [directory.encode("utf-8", "surrogateescape")]
    texts += [b"%b=%b" % pair for pair in variables.items()]
    return ShellCall(path, path, b"\0".join(texts), number)


def allows_forking(names: Iterable[bytes]) -> bool:
    """Tell whether no variable of an environment changes how Bash itself behaves."""
    return not any(is_excluded_variable(name) for name in names)


ALLOWED = b"allowed"


def parse_policy_result(name: str, completed: ProcessResult) -> tuple[int, str, Json] | None:
    """Return the error of a denied tool: code, message, data; None if it is allowed."""
    # Decision, code, message and data end with a zero byte each; anything else that is printed denies the tool.
    decision, *fields = completed.printed.split(b"\0")
    if completed.status or completed.problem or decision not in (ALLOWED, b"denied") or len(fields) != 4:
        reason = completed.problem or str(completed.errors.strip(), "utf-8", "replace") or f"status {completed.status}"
        log_line(f"the project's policy script failed for {name}: {reason}")
        return INTERNAL_ERROR, f"Tool '{name}' blocked by policy: the policy script failed", None
    if decision == ALLOWED:
        return None
    code, message, data = (str(text, "utf-8", "replace") for text in fields[:3])
    message = message or f"Tool '{name}' blocked by policy"
    return parse_code(code) or INVALID_PARAMS, message, parse_data(data)


def parse_code(text: str) -> int:
    """Return the integer in a text, 0 for anything else."""
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) < 10 else 0


def parse_data(text: str) -> Json:
    """Return the JSON value in a text, or the text itself if it is not JSON."""
    try:
        return parse(text.encode()) if text else None
    except ParseError:
        return text


ENV_FILE, POLICY_FILE = "server.d/env.sh", "server.d/policy.sh"
POLICY_PROGRAM = f"{FRAMEWORK_FOLDER}/lib/tool-policy.sh"
BASH = ("bash", "--norc", "--noprofile")
PRINT = 'if command -v cygpath >/dev/null; then {0}env -0 "PATH=$(cygpath -wp -- "$PATH")" >&3; else {0}env -0 >&3; fi'
"""Prints the variables; the shells of Git and MSYS2 have written PATH in their own way."""
# Descriptor 3 is the output of `env`; what the file itself prints goes to standard error.
PRINT_ENVIRONMENT = f"exec 3>&1 1>&2; {PRINT.format('')}; printf '=\\0' >&3; . \"$1\"; {PRINT.format('exec ')}"
"""Prints the variables before and after the environment file, with `=` between them."""
# What Bash sets by itself, and the mark of the call.
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
        # The first call has the file read, and the others wait for the same process.
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
        cached = self._variables.get((home, write_path))
        if cached is None:
            cached = server_environment(script.settings, home, self._exported or {}, write_path)
            self._variables[home, write_path] = cached
        return cached


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
            call = script_call(path, variables[1], home, 0)
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
        # The shells have read the SDK of the folder in which the project was before.
        if self._shells[0] != home:
            if self._shells[1] is not None:
                self._shells[1].close()
            shells = None
            if system_features.has("proc") and system_features.has("memfd") and allows_forking(variables):
                libraries = ScriptLibraries(f"{home}/{FRAMEWORK_FOLDER}/sdk", lambda number: variables)
                shells = ShellRunner(self._host, libraries)
            self._shells = home, shells
        return self._shells[1]

    def start_of(self, path: str) -> ScriptStart:
        """Return how a file is started."""
        start = self._starts.get(path)
        if start is None:
            start = self._starts[path] = script_start(path)
        return start
