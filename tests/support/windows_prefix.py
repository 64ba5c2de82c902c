"""A Wine prefix of one test file: a copy, whose registry and folders tests may change, and programs run in it.

The copy shares the files of the system by hard links, so it takes no time and no space.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from support import machines
from support.slack import slack

VERSIONS = ("3.11", "3.13")
SECONDS = 60


@dataclass(frozen=True)
class Ended:
    """What a program wrote, and how it ended."""

    status: int
    output: bytes
    errors: str


@dataclass(frozen=True)
class Prefix:
    """A prefix, and the folders of the Pythons for Windows that can be put on its PATH."""

    folder: Path
    pythons: Mapping[str, Path]

    @property
    def local_data(self) -> Path:
        _, _, place = self.python("import os; print(os.environ['LOCALAPPDATA'])").strip().partition("C:")
        return self.folder / "drive_c" / place.strip("\\").replace("\\", "/")

    def environment(self, variables: Mapping[str, str] | None = None, path: Sequence[str] = ()) -> dict[str, str]:
        """Return the variables of a program, with folders added to PATH."""
        own = {"WINEPREFIX": str(self.folder), "WINEDEBUG": "-all", "WINEPATH": ";".join(path)}
        kept = {name: value for name, value in os.environ.items() if not name.startswith("MCPC_")}
        return {**kept, **own, **(variables or {})}

    def start(self, program: Path, *words: str, path: Sequence[str] = (), **variables: str) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        environment = self.environment(variables, path)
        return subprocess.Popen(
            [machines.WINE, str(program), *words], stdin=pipe, stdout=pipe, stderr=pipe, env=environment
        )

    def run(self, program: Path, *words: str, path: Sequence[str] = (), told: bytes = b"", **variables: str) -> Ended:
        with self.start(program, *words, path=path, **variables) as process:
            output, errors = process.communicate(told, SECONDS * slack())
            return Ended(process.returncode, output, errors.decode())

    def python(self, code: str, *words: str) -> str:
        """Run a script with a Python for Windows, and return what it prints."""
        ended = self.run(self.pythons["3.13"] / "python.exe", "-X", "utf8", "-I", "-c", code, *words)
        assert ended.status == 0, ended
        return ended.output.decode()

    def set_registry(self, root: str, key: str, values: Mapping[str, str]) -> None:
        """Set the texts of a key; the name of its default value is empty."""
        code = (
            "import sys, winreg; root, path, *pairs = sys.argv[1:]; key = winreg.CreateKey(getattr(winreg, root), path)\n"
            "for name, value in zip(pairs[::2], pairs[1::2]): winreg.SetValueEx(key, name, 0, winreg.REG_SZ, value)"
        )
        self.python(code, root, key, *(text for pair in values.items() for text in pair))

    def clear_registry(self) -> None:
        """Remove what is registered of Pythons."""
        code = (
            "import winreg\n"
            "def remove(root, path):\n"
            "    try:\n"
            "        with winreg.OpenKey(root, path) as key:\n"
            "            below = [winreg.EnumKey(key, row) for row in range(winreg.QueryInfoKey(key)[0])]\n"
            "    except OSError:\n"
            "        return\n"
            "    for name in below: remove(root, path + chr(92) + name)\n"
            "    winreg.DeleteKey(root, path)\n"
            r"for root in (winreg.HKEY_CURRENT_USER, winreg.HKEY_LOCAL_MACHINE): remove(root, r'Software\Python')"
        )
        self.python(code)


def windows_path(path: Path | str) -> str:
    """Return the name that a file of this machine has under Wine."""
    return "Z:" + str(path).replace("/", "\\")


@contextmanager
def own_prefix() -> Iterator[Prefix]:
    """Yield a prefix without a registered Python; skip the test where Wine is not installed."""
    machine = machines.machine("wine-3.13")
    pythons = {version: Path(machines.wine_folder(), version).resolve() for version in VERSIONS}
    with tempfile.TemporaryDirectory(prefix="wine-") as place:
        folder = Path(place, "prefix")
        shutil.copytree(machine.variables["WINEPREFIX"], folder, symlinks=True, copy_function=linked_or_copied)
        prefix = Prefix(folder, pythons)
        with running_services(prefix):
            prefix.clear_registry()
            yield prefix
        subprocess.run(["wineserver", "-k"], env=prefix.environment(), check=False, timeout=SECONDS)
        subprocess.run(["wineserver", "-w"], env=prefix.environment(), check=False, timeout=SECONDS)


@contextmanager
def running_services(prefix: Prefix) -> Iterator[None]:
    """Keep a program that has started Wine's services: they would inherit the pipes of a test's."""
    pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(
        [machines.WINE, "cmd"], stdin=pipe, stdout=pipe, stderr=nowhere, env=prefix.environment()
    ) as kept:
        kept.stdout.read(1)
        yield
        kept.kill()


def linked_or_copied(source: str, target: str) -> None:
    """Link a file of the system; copy what Wine writes again."""
    if source.endswith((".reg", "update-timestamp")) or sys.platform == "win32":
        shutil.copy2(source, target)
    elif not source.endswith("/wineserver"):
        os.link(source, target)
