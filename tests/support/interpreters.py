"""The Pythons of this machine: one real interpreter for each version that mcpc supports.

Run as a program it prints them, a line each: version, a tab, path.  A version manager's shim is resolved to the
interpreter, because otherwise the shim would be measured; a broken shim is ignored.
"""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

VERSIONS = ("3.11", "3.12", "3.13", "3.14")
HERE = f"{sys.version_info[0]}.{sys.version_info[1]}"
"""The version of the Python that runs the tests."""
ASK = (
    "import sys; path = getattr(sys, '_base_executable', None) or sys.executable;"
    "sys.stdout.write('%d.%d\\t%s' % (sys.version_info[0], sys.version_info[1], path))"
)
"""A program for any Python there is."""
MADE = Path(__file__).parents[2] / ".cache"
"""Where `.ci/python314` puts a Python that the machine lacks."""


@cache
def interpreters() -> dict[str, Path]:
    found = ((version, answering(version)) for version in VERSIONS)
    return {version: path for version, path in found if path is not None}


def answering(version: str) -> Path | None:
    """Return the first interpreter of a version that can be run."""
    for candidate in candidates(version):
        said, _, path = answer(candidate, "-c", ASK).partition("\t")
        if said == version:
            return Path(path)
    return None


def candidates(version: str) -> Iterator[str]:
    """Yield what may be an interpreter of a version: this one, those on PATH, one of `.ci/python314`, those of pyenv."""
    yield sys.executable
    for command in (f"python{version}", "python3"):
        path = shutil.which(command)
        if path is not None:
            yield path
    yield str(MADE / f"python{version}/bin/python{version}")
    pyenv = shutil.which("pyenv")
    if pyenv is not None:
        root = Path(answer(pyenv, "root"))
        yield from map(str, sorted(root.glob(f"versions/{version}.*/bin/python{version}")))


def answer(*argv: str) -> str:
    """Return the line that a command prints, or nothing if it fails."""
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


if __name__ == "__main__":
    for version, path in interpreters().items():
        sys.stdout.write(f"{version}\t{path}\n")
