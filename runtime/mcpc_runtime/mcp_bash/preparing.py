"""What must be known before any tool runs: what the project's own file sets, and what its policy says.

Its law: nothing here waits.  `server.d/env.sh` is read once, by the first call; a project's policy is asked before each
call, for what it says may depend on anything.  Both are the server's own programs, and find its whole environment.
"""

from __future__ import annotations

from mcpc_runtime.commands import Command
from mcpc_runtime.environments import SECRETS
from mcpc_runtime.errors import tell
from mcpc_runtime.mcp_bash.environment import OURS, of_server, told
from mcpc_runtime.mcp_bash.verdicts import verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mcpc_runtime.commands import Completed
    from mcpc_runtime.host import Host
    from mcpc_runtime.mcp_bash.scripts import Script
    from mcpc_runtime.protocol.jsonrpc import Json

ENV_FILE, POLICY_FILE = "server.d/env.sh", "server.d/policy.sh"
POLICY_PROGRAM = f"{OURS}/lib/tool-policy.sh"
BASH = ("bash", "--norc", "--noprofile")
SOURCE = 'exec 3>&1 1>&2; . "$1"; exec env -0 >&3'
MADE_BY_BASH = frozenset((b"_", b"MCPC_CALL", b"OLDPWD", b"PWD", b"SHLVL"))
ENV_SECONDS = 10.0


class Preparation:
    """One server's; `process` is the runner of its programs."""

    def __init__(self, host: Host, process: Any) -> None:
        self._host = host
        self._process = process
        self._exported: dict[bytes, bytes] | None = None
        self._variables: tuple[str, dict[bytes, bytes]] = "", {}
        self._waiting: list[Callable[[], None]] = []

    def environment(self, script: Script, home: str, then: Callable[[], None]) -> None:
        """Go on when it is known what the project's own file sets; raise OSError if there is no room to ask it."""
        settings = script.settings
        if self._exported is None and not (settings.said.get("env") and not settings.yes("MCPBASH_NO_ENV_FILE")):
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

    def _read(self, script: Script, home: str) -> None:
        given = self._own(script, home)
        command = Command([*BASH, "-c", SOURCE, "mcp-bash", f"{home}/{ENV_FILE}"], 0, {})
        command.exact, command.directory, command.told = given, home, b""

        def done(completed: Completed) -> None:
            if self._exported is None:
                self._take(exported(completed, given))

        inner = self._process.start(command, done, pass_over)

        def late() -> None:
            if self._exported is None:
                self._process.stop(inner)
                tell(f"{ENV_FILE} did not end within {ENV_SECONDS:g} s: tools run without what it sets")
                self._take({})

        self._host.reactor.after(ENV_SECONDS, late)

    def _take(self, found: dict[bytes, bytes]) -> None:
        self._exported = found
        waiting, self._waiting = self._waiting, []
        for then in waiting:
            then()

    @staticmethod
    def _own(script: Script, home: str) -> dict[bytes, bytes]:
        """Return the environment of the project's own programs."""
        given = {name: value for name, value in script.settings.environ.items() if name not in SECRETS}
        return {**given, **told(script.settings, home.encode("utf-8", "surrogateescape"))}

    def policy(self, script: Script, home: str, then: Callable[[tuple[int, str, Json] | None], None]) -> Any:
        """Ask the project's policy about a tool; `then` is given the error of one that is not allowed, or None."""
        argv = [*BASH, f"{home}/{POLICY_PROGRAM}", f"{home}/{POLICY_FILE}", script.name]
        command = Command([*argv, script.settings.policy.refusal(script.name)], 0, {})
        command.exact = {**self._own(script, home), **(self._exported or {})}
        command.directory, command.told = home, script.facts["metadata"].encode()
        return self._process.start(command, lambda completed: then(verdict(script.name, completed)), pass_over)

    def variables(self, script: Script, home: str) -> dict[bytes, bytes]:
        """Return what all tools find; not to be changed."""
        if self._variables[0] != home:
            self._variables = home, of_server(script.settings, home, self._exported or {})
        return self._variables[1]


def exported(completed: Completed, given: dict[bytes, bytes]) -> dict[bytes, bytes]:
    """Return what the project's file has set, nothing if it failed."""
    if completed.status or completed.problem:
        words = completed.problem or str(completed.errors.strip(), "utf-8", "replace")
        tell(f"{ENV_FILE} failed, and tools run without what it sets: {words or f'status {completed.status}'}")
        return {}
    rows = (row.partition(b"=") for row in completed.printed.split(b"\0"))
    found = {name: value for name, equals, value in rows if equals and name not in MADE_BY_BASH}
    return {name: value for name, value in found.items() if given.get(name) != value}


def pass_over(said: Any) -> None:
    """Do without what is said here."""
