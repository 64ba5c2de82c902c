"""The machines that tests/platforms runs on: this one, and Windows under Wine where `.ci/wine` has installed it.

Programs under Wine are ordinary processes of this machine: their pipes, ports and files are those of the test, and only
paths are written differently.  The first Windows process of a prefix starts Wine's services, which takes seconds; one is
kept while tests run, so that the others start at once.  These services inherit what the first process has open, so the
end of an output may come long after the end of a program.
"""

import atexit
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

from support.needs import ROOT, lacking
from support.slack import slack

POSIX, WINDOWS = "posix", "windows"
NATIVE = "native"
FOLDER = "TESTS_WINE"
"""The variable that names the folder which `.ci/wine` filled, where it is not `.cache/wine`."""
READY = "ready"
START_SECONDS = 60.0
WINE = "/usr/lib/wine/wine64"
"""The loader itself: the command `wine` complains of the missing 32-bit half first."""
VERSIONS = ("3.13", "3.11")
"""The Pythons for Windows that `.ci/wine` unpacks."""


@dataclass(frozen=True)
class Machine:
    """Where a built file runs.  `python`: the command of its interpreter; `variables`: what every process there needs."""

    name: str
    system: str
    python: tuple[str, ...]
    version: str
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_wine(self) -> bool:
        return self.name != NATIVE

    def path(self, path: Path | str) -> str:
        """Return the name that a file of this machine has there."""
        return "Z:" + str(path).replace("/", "\\") if self.is_wine else str(path)

    def command(self, artifact: Path, *words: str) -> list[str]:
        """Return the command that runs a built file with the machine's Python."""
        return [*self.python, self.path(artifact), *words]

    def environment(self, variables: Mapping[str, str | None] | None = None) -> dict[str, str]:
        """Return the variables of this process, those of the machine, and these; None: without it."""
        found: dict[str, str | None] = {**os.environ, **self.variables, **(variables or {})}
        return {name: value for name, value in found.items() if value is not None}


def machine(name: str) -> Machine:
    """Return a machine by its name, ready to start processes; skip the test where it is not to be had."""
    if name == NATIVE:
        system = WINDOWS if sys.platform == "win32" else POSIX
        return Machine(NATIVE, system, (sys.executable,), f"{sys.version_info[0]}.{sys.version_info[1]}")
    version = name.removeprefix("wine-")
    if not sys.platform.startswith("linux"):
        pytest.skip(f"{sys.platform} runs the tests of tests/platforms itself, without Wine")
    folder = wine_folder()
    python = folder / version / "python.exe"
    if not (Path(WINE).exists() and python.exists() and (folder / "prefix/made-by").exists()):
        lacking("Wine and its Pythons are not installed (`make wine` installs them)")
    variables = {"WINEPREFIX": str(folder / "prefix"), "WINEDEBUG": "-all"}
    keep_warm(variables["WINEPREFIX"])
    return Machine(name, WINDOWS, (WINE, str(python)), version, variables)


NAMES = (NATIVE, *(f"wine-{version}" for version in VERSIONS))


def wine_folder() -> Path:
    """Return the folder that `.ci/wine` fills."""
    return Path(os.environ.get(FOLDER) or ROOT / ".cache/wine")


@cache
def keep_warm(prefix: str) -> None:
    """Keep one Windows process of a prefix until this process ends."""
    log = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the process
    environment = {**os.environ, "WINEPREFIX": prefix, "WINEDEBUG": "-all"}
    words = [WINE, "cmd", "/k", f"echo {READY}"]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=log, stderr=log, env=environment)

    def end() -> None:
        process.kill()
        process.communicate()
        log.close()

    atexit.register(end)
    deadline = time.monotonic() + START_SECONDS * slack()
    while READY.encode() not in os.pread(log.fileno(), 1 << 16, 0):
        assert process.poll() is None and time.monotonic() < deadline, "Wine does not start"
        time.sleep(0.02)
