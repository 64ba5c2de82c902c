"""The process of a tool: one of its own, or a child of a shell that has read the SDK already.

Its law: a process of its own is always right.  The compiler said which scripts cannot tell the other from it; it takes
/proc, files in memory, and an environment that does not decide how Bash behaves.
"""

from __future__ import annotations

import posix

from mcpc_runtime import ways
from mcpc_runtime.commands import Command
from mcpc_runtime.lazy import lazy
from mcpc_runtime.mcp_bash.environment import OURS
from mcpc_runtime.mcp_bash.preparing import pass_over

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from mcpc_runtime.commands import Completed
    from mcpc_runtime.host import Host
    from mcpc_runtime.mcp_bash.scripts import Script

    Variables = Mapping[bytes, bytes]
    from mcpc_runtime.runners.process import ProcessRunner
    from mcpc_runtime.runners.shell import ShellRunner
    from mcpc_runtime.shells.scripts import fits, libraries, script_call
else:
    ProcessRunner = lazy("mcpc_runtime.runners.process:ProcessRunner")
    ShellRunner = lazy("mcpc_runtime.runners.shell:ShellRunner")
    fits = lazy("mcpc_runtime.shells.scripts:fits")
    libraries = lazy("mcpc_runtime.shells.scripts:libraries")
    script_call = lazy("mcpc_runtime.shells.scripts:script_call")

PROGRAMS = (b"#!", b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")
"""How a file begins that the system can run itself."""


class Processes:
    """The processes of one server's tools; `alone` runs those that are nobody's child but the supervisor's."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self.alone = ProcessRunner(host)
        self._shells: tuple[str, Any] = "", None
        self._words: dict[str, list[str]] = {}

    def start(
        self, script: Script, home: str, found: tuple[Variables, Variables], done: Callable[[Completed], None]
    ) -> tuple[Any, Callable[[], None]]:
        """Run a tool in the folder of the project; return what runs it, and what ends that.

        `found`: what all tools find, and on top of it this one.
        """
        path = f"{home}/{script.file}"
        shells = self._shells_of(home, found[0]) if script.facts.get("fork") else None
        if shells is not None:
            call = script_call(path, found[1], home, 0)
            call.account = script.account
            job = shells.start(call, done, pass_over)
            return job, lambda: shells.stop(job)
        command = Command(self._words_of(path), 0, {})
        command.exact, command.directory, command.told = {**found[0], **found[1]}, home, b""
        command.account = script.account
        job = self.alone.start(command, done, pass_over)
        return job, lambda: None if job is None else self.alone.stop(job)

    def close(self) -> None:
        """Leave the processes to the supervisor."""
        self.alone.close()
        if self._shells[1] is not None:
            self._shells[1].close()

    def _shells_of(self, home: str, variables: Variables) -> Any:
        """Return what runs scripts in shells that have read the SDK, None if that cannot be."""
        if self._shells[0] != home:
            if self._shells[1] is not None:
                self._shells[1].close()
            made = None
            if ways.has("proc") and ways.has("memfd") and fits(variables):
                given = libraries(f"{home}/{OURS}/sdk", lambda number: variables)
                made = ShellRunner(self._host, given)
            self._shells = home, made
        return self._shells[1]

    def _words_of(self, path: str) -> list[str]:
        """Return how a file is run: by itself, or by Bash if it does not say by what."""
        found = self._words.get(path)
        if found is None:
            found = self._words[path] = [path] if runs_itself(path) else ["bash", path]
        return found


def runs_itself(path: str) -> bool:
    """Tell whether the system can run a file: it may, and it is a program or says what runs it."""
    if not posix.access(path, posix.X_OK):
        return False
    file = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC)
    try:
        return posix.read(file, 4).startswith(PROGRAMS)
    finally:
        posix.close(file)
