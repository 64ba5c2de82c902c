"""The health checks that a project of mcp-bash brings: run by `server.pyz check`, each telling what it found.

They are one script, read by a shell that knows two functions for it (`lib/health.sh`); it fails if the script does.
"""

from __future__ import annotations

import posix

from mcpc_runtime.commands import Command
from mcpc_runtime.host import Host
from mcpc_runtime.lazy import lazy
from mcpc_runtime.reactor import Reactor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.commands import Completed
    from mcpc_runtime.image import Image
    from mcpc_runtime.runners.process import ProcessRunner
    from mcpc_runtime.unpacking import folder
else:
    ProcessRunner = lazy("mcpc_runtime.runners.process:ProcessRunner")
    folder = lazy("mcpc_runtime.unpacking:folder")

FORMAT, SAID = "mcp_bash", "health"
SCRIPT, FUNCTIONS = "server.d/health-checks.sh", ".mcpc/mcp-bash/lib/health.sh"
RUN = '. "$1" && shift && . "$1" >&2'
SECONDS = 60.0
MOST_LINES = 50


def has_checks(image: Image) -> bool:
    """Tell whether the project brought any."""
    return bool(image.index.get(FORMAT, {}).get(SAID))


def unhealthy(image: Image) -> list[str]:
    """Return what the checks say if they fail, line by line."""
    completed = run(image)
    if completed is None:
        return [f"{SCRIPT} was stopped: its limit is {SECONDS:g} s"]
    if completed.problem:
        return [f"{SCRIPT}: {completed.problem}"]
    if not completed.status:
        return []
    lines = [line.strip() for line in str(completed.output, "utf-8", "replace").split("\n")]
    return [f"{SCRIPT} ended with status {completed.status}", *filter(None, lines)][:MOST_LINES]


def run(image: Image) -> Completed | None:
    """Return what became of the script, None if it took too long."""
    host = Host(Reactor(), image)
    found: list[Completed | None] = []
    try:
        home: str = folder(image)
        command = Command(["bash", "--norc", "-c", RUN, "health", f"{home}/{FUNCTIONS}", f"{home}/{SCRIPT}"], 0, {})
        place = home.encode("utf-8", "surrogateescape")
        command.exact = {**posix.environ, b"MCPBASH_PROJECT_ROOT": place}
        command.told = b""
        command.directory = home
        runner = ProcessRunner(host)
        job = runner.start(command, found.append, lambda note: None)
        host.reactor.after(SECONDS, lambda: found.append(None))
        while not found:
            host.reactor.turn()
        if found[0] is None and job is not None:
            runner.stop(job)
    finally:
        host.close()
    return found[0]
