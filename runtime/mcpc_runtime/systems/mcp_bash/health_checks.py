"""The health checks of a mcp-bash project, run by `server.pyz check`.

They are one script, sourced after the functions of `lib/health.sh`; the check fails if the script does.
"""

from __future__ import annotations

from collections.abc import Callable

from mcpc_runtime.artifact.extraction import extracted_folder
from mcpc_runtime.handlers.executable.runner import ProcessRunner
from mcpc_runtime.handlers.invocations import Command, ProcessResult
from mcpc_runtime.handlers.runner_context import RunnerContext
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.systems.mcp_bash.environment import as_path
from mcpc_runtime.systems.mcp_bash.script_start import write_shell_path
from mcpc_runtime.systems.mcp_bash.settings import INDEX_KEY
from mcpc_runtime.transports.platforms import system
from mcpc_runtime.transports.platforms.reactor import Reactor

HEALTH_KEY = "health"
SCRIPT, FUNCTIONS = "server.d/health-checks.sh", ".mcpc/mcp-bash/lib/health.sh"
# The functions are read first, then the checks; what these print is kept apart from the protocol's output.
PROGRAM = '. "$1" && shift && . "$1" >&2'
MAX_SECONDS = 60.0
MAX_LINES = 50


def health_check(image: Image) -> Callable[[Image], list[str]] | None:
    """Return the check of a server whose project has health checks (hook `self_check`)."""
    return health_problems if image.index[INDEX_KEY].get(HEALTH_KEY) else None


def health_problems(image: Image) -> list[str]:
    """Return the output of failed checks, line by line; nothing if they succeed."""
    completed = run_health_script(image)
    if completed is None:
        return [f"{SCRIPT} was stopped: its timeout is {MAX_SECONDS:g} s"]
    if completed.problem:
        return [f"{SCRIPT}: {completed.problem}"]
    if not completed.status:
        return []
    lines = [line.strip() for line in str(completed.output, "utf-8", "replace").split("\n")]
    return [f"{SCRIPT} ended with status {completed.status}", *filter(None, lines)][:MAX_LINES]


def run_health_script(image: Image) -> ProcessResult | None:
    """Return the result of the script, None after its timeout."""
    host = RunnerContext(Reactor(), image)
    results: list[ProcessResult | None] = []
    try:
        home = extracted_folder(image)
        files = (write_shell_path(f"{home}/{file}") for file in (FUNCTIONS, SCRIPT))
        command = Command(["bash", "--norc", "-c", PROGRAM, "health", *files], 0, {})
        command.exact = {**system.environ, b"MCPBASH_PROJECT_ROOT": as_path(home, write_shell_path)}
        command.stdin = b""
        command.directory = home
        runner = ProcessRunner(host)
        job = runner.start(command, results.append, lambda note: None)
        host.reactor.after(MAX_SECONDS, lambda: results.append(None))
        while not results:
            host.reactor.turn()
        if results[0] is None and job is not None:
            runner.stop(job)
    finally:
        host.close()
    return results[0]
