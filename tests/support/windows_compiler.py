"""mcpc on Windows: a Python for Windows that imports this checkout's compiler, and a process that runs its commands.

One process runs all commands of a test run, since opening the compiler's files takes seconds under Wine.
"""

import json
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from support import machines
from support.forwarding_dll import add_missing_libraries
from support.machines import Machine
from support.needs import ROOT, lacking
from support.slack import slack
from support.windows_prefix import linked_or_copied, windows_path

VERSION = "3.13"
SECONDS = 120
DRIVER = Path(__file__).with_name("windows_command_driver.py")


@dataclass(frozen=True)
class WindowsCompiler:
    """The machine, with the Python that imports mcpc, and the process that runs commands."""

    machine: Machine
    process: subprocess.Popen[bytes]

    def run(self, *words: str, folder: Path) -> subprocess.CompletedProcess[str]:
        """Run `mcpc` in a folder of this machine, to its end."""
        request = {"words": words, "folder": self.machine.path(folder)}
        with suppress(BrokenPipeError):  # it ended, and its output says why
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()
        timer = threading.Timer(SECONDS * slack(), self.process.kill)
        timer.start()
        line = self.process.stdout.readline()
        timer.cancel()
        assert line.startswith(b"["), (line + self.process.stdout.read()).decode()
        status, output, errors = json.loads(line)
        return subprocess.CompletedProcess(["mcpc", *words], status, output, errors)

    def python(self, *words: str) -> list[str]:
        return [*self.machine.python, *words]


def packages_folder() -> Path:
    """Return the folder of mcpc's dependencies for Windows; skip the test where there is none."""
    folder = machines.wine_folder() / f"packages-{VERSION}"
    if not (folder / "made-from").exists():
        lacking("mcpc's dependencies for Windows are not installed (`make wine` installs them)")
    return folder.resolve()


def python_with_compiler(folder: Path) -> Path:
    """Make a Python for Windows in a folder which imports this checkout, and return its program."""
    shutil.copytree(machines.wine_folder() / VERSION, folder, copy_function=linked_or_copied)
    add_missing_libraries(folder)
    add_missing_libraries(packages_folder() / "bin")  # uv
    places = (packages_folder(), ROOT / "compiler", ROOT / "runtime")
    lines = [f"python{VERSION.replace('.', '')}.zip", ".", *map(windows_path, places)]
    paths = folder / f"{lines[0].removesuffix('.zip')}._pth"
    paths.unlink()  # it is linked to that of the plain Python
    paths.write_text("\n".join(lines), "utf-8")
    return folder / "python.exe"


@contextmanager
def windows_compiler() -> Iterator[WindowsCompiler]:
    """Yield mcpc on Windows; skip the test where Wine is not installed."""
    plain = machines.machine(f"wine-{VERSION}")
    packages_folder()
    with tempfile.TemporaryDirectory(prefix="windows-compiler-") as place:
        python = python_with_compiler(Path(place) / "python")
        machine = machines.Machine(plain.name, plain.system, (machines.WINE, str(python)), VERSION, plain.variables)
        kept = {name: value for name, value in os.environ.items() if not name.startswith("MCPC_")}
        words = [*machine.python, machine.path(DRIVER)]
        pipe = subprocess.PIPE
        with subprocess.Popen(
            words, stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT, env={**kept, **machine.variables}
        ) as process:
            yield WindowsCompiler(machine, process)
            with suppress(BrokenPipeError):
                process.stdin.close()
            process.wait(SECONDS)
