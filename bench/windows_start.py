"""Measure starts on Windows, under Wine: `python bench/windows_start.py [--rounds 20]`; `make wine` installs it.

Each row is over a bare `python -I -c pass` of the same run, in a prefix whose services run. A program that ends at once
shows what a launcher adds; a server is measured from its start to its first answer. A file with bytecode for the Python
under Wine is needed for the latter, so run this with Python 3.13 or 3.11.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zipapp
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import places
import wire

from mcpc.interpreters.launchers.windows_file import PythonChoice, windows_file
from mcpc.interpreters.launchers.windows_interpreter import bundled_interpreter, read_embeddable
from mcpc.pack.prologue import START
from support import machines
from support.windows_prefix import own_prefix, windows_path
from support.windows_programs import reporter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from support.windows_prefix import Prefix

CONVERSATION = wire.request(wire.FIRST_ID, "initialize", wire.CLIENT)
MINOR = sys.version_info.minor


class Starts:
    """Programs in one prefix, and where their interpreter is unpacked."""

    def __init__(self, prefix: Prefix, folder: Path) -> None:
        self.prefix = prefix
        self.folder = folder
        self.python = prefix.pythons[f"3.{MINOR}"] / "python.exe"
        self.cache = folder / "cache"
        self.environment = prefix.environment(
            {"MCPC_RUNTIME_CACHE": windows_path(self.cache)}, [windows_path(self.python.parent)]
        )

    def written(self, name: str, data: bytes) -> str:
        """Write a program, and return its path."""
        path = self.folder / name
        path.write_bytes(data)
        path.chmod(0o755)
        return str(path)

    def seconds(self, command: Sequence[str], *, serves: bool) -> float:
        """Return the seconds that a start takes: to the first answer, or to the end."""
        pipe = subprocess.PIPE
        began = time.perf_counter()
        with subprocess.Popen(
            [machines.WINE, *command], stdin=pipe, stdout=pipe, stderr=pipe, env=self.environment
        ) as process:
            if not serves:
                output, errors = process.communicate()
                taken = time.perf_counter() - began
                if process.returncode:
                    raise SystemExit(f"{command}: {output!r} {errors!r}")
                return taken
            output, errors = b"", b""
            if process.stdin and process.stdout and process.stderr:
                process.stdin.write(CONVERSATION)
                process.stdin.flush()
                output = process.stdout.readline()
                taken = time.perf_counter() - began
                process.stdin.close()
                errors = b"" if b"result" in output else process.stderr.read()
        if b"result" not in output:
            raise SystemExit(f"{command} does not serve: {errors.decode(errors='replace')}")
        return taken


def subjects(starts: Starts) -> dict[str, tuple[Sequence[str], bool]]:
    """Return the command of each row, and whether it is a server."""
    python, end = str(starts.python), ("exit", "0")
    interpreter = bundled_interpreter(read_embeddable(starts.python.parent, "x64"))
    server = starts.folder / "server.pyz"
    project = places.write_project(starts.folder / "project", 10)
    subprocess.run([sys.executable, "-m", "mcpc", "build", project, "-o", server, "-q"], check=True)
    archive, choice = server.read_bytes(), PythonChoice((MINOR,))
    program = starts.written("program.exe", reporter(MINOR))
    alone = starts.written("alone.exe", reporter(MINOR, interpreter=interpreter))
    server_exe = starts.written("server.exe", windows_file(archive, "x64", choice))
    server_alone = starts.written("server-alone.exe", windows_file(archive, "x64", choice, interpreter))
    empty = starts.folder / "empty.pyz"
    zipapp.create_archive(empty_program(starts.folder / "empty"), empty)
    by_python = (python, "-I", "-S", "-c", START)
    return {
        "python -I -c pass": ((python, "-I", "-c", "pass"), False),
        "a program, by Python": ((*by_python, windows_path(program), *end), False),
        "a program, by the launcher": ((program, *end), False),
        "a program, self-contained": ((alone, *end), False),
        "an empty archive, by its name": ((python, windows_path(empty)), False),
        "server.pyz, by its name": ((python, windows_path(server)), True),
        "server.pyz, by the first line": ((*by_python, windows_path(server)), True),
        "server.exe": ((server_exe,), True),
        "server.exe, self-contained": ((server_alone,), True),
    }


def empty_program(folder: Path) -> Path:
    """Write a program that does nothing: Python imports `runpy` for an archive, whatever is in it."""
    folder.mkdir()
    (folder / "__main__.py").write_text("")
    return folder


def main() -> None:
    """Measure in turns, and print a line for each row."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    with own_prefix() as prefix, tempfile.TemporaryDirectory() as place:
        starts = Starts(prefix, Path(place))
        rows = subjects(starts)
        first = [first_start(starts, rows["a program, self-contained"][0]) for _ in range(3)]
        taken: dict[str, list[float]] = {name: [] for name in rows}
        for _ in range(rounds):
            for name, (command, serves) in rows.items():
                taken[name].append(starts.seconds(command, serves=serves))
        base = taken["python -I -c pass"]
        for name, times in {**taken, "a program, self-contained, first start": first}.items():
            ratio = statistics.median(times) / statistics.median(base)
            print(f"{name:40} {ratio:6.2f}   fastest {min(times) / min(base):6.2f}")


def first_start(starts: Starts, command: Sequence[str]) -> float:
    """Return the seconds of a start that unpacks the interpreter."""
    shutil.rmtree(starts.cache, ignore_errors=True)
    return starts.seconds(command, serves=False)


if __name__ == "__main__":
    main()
