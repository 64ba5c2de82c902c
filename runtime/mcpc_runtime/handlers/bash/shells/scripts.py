"""Scripts that are run by a fork server: the texts that its shell reads, and the call of a script.

The caller ensures two conditions: the compiler found that a script cannot notice the difference to a separate process
(`mcpc.languages.bash.forkable`), and no variable of the environment changes how Bash behaves (`allows_forking`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from mcpc_runtime.handlers.bash.shells.libraries import is_excluded_variable
from mcpc_runtime.handlers.invocations import ShellCall

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
