"""Scripts as a fork server runs them: the texts its shell reads, and what a call of one is.

Its law: the compiler found that a script cannot tell this from a process of its own (`mcpc.languages.scripts`), and the
environment is one that decides nothing but variables (`fits`); whoever calls sees to both.
"""

from __future__ import annotations

from mcpc_runtime.commands import ShellCall
from mcpc_runtime.shells.libraries import is_kept_out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

PROGRAMS = "fork"
"""The folder beside the SDK's."""


class Scripts:
    """What ShellRunner asks of libraries, for scripts that read the SDK; `environments`: by number, what each is."""

    def __init__(self, sdk: str, environments: Callable[[int], Mapping[bytes, bytes]]) -> None:
        self._sdk = sdk
        self._programs: dict[str, str] = {}
        self.environment = environments
        self.name = "scripts"

    def program(self, name: str) -> str:
        """Return a text that Bash is started with."""
        if name not in self._programs:
            with open(f"{self._sdk.rpartition('/')[0]}/{PROGRAMS}/{name}", encoding="utf-8") as file:
                self._programs[name] = file.read()
        return self._programs[name]

    def texts(self, part: bytes = b"") -> list[bytes]:
        """Return what the shell reads before it knows of a call."""
        return [self._sdk.encode()]


def libraries(sdk: str, environments: Callable[[int], Mapping[bytes, bytes]]) -> Scripts:
    """Return what a ShellRunner runs scripts with; `sdk` is the folder of tool-sdk.sh."""
    return Scripts(sdk, environments)


def script_call(path: str, variables: Mapping[bytes, bytes], directory: str, number: int) -> ShellCall:
    """Return the call of a script in a folder: `variables` on top of the environment of that number."""
    # The argument is several texts: Bash takes the variables at once, which one by one would be a tenth of the call.
    texts = [directory.encode("utf-8", "surrogateescape")]
    texts += [b"%b=%b" % pair for pair in variables.items()]
    return ShellCall(path, path, b"\0".join(texts), number)


def fits(names: Iterable[bytes]) -> bool:
    """Tell whether no variable of an environment decides how Bash itself behaves."""
    return not any(is_kept_out(name) for name in names)
