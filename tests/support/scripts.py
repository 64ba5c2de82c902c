"""Golden files of shell scripts, each followed by what it printed; `make golden` writes what is found.

    $ echo "one" && false
    'one\\n' status 1
    $ echo why >&2
    '' errors 'why\\n'

A script is a line after `$ `, continued by `> `.  Other input lines are empty or begin with `#`.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

INPUT, CONTINUED = "$ ", "> "


class Ended(NamedTuple):
    """How a script ended; `errors` are left empty where their wording is the shell's."""

    status: int
    output: str
    errors: str = ""


def check_scripts(golden: Callable[[Path, str], None], path: Path, run: Callable[[str], Ended]) -> None:
    """Compare what scripts print with what a golden file has."""
    golden(path, "".join(f"{line}\n" for line in _lines(path, run)))


def scripts_in(path: Path) -> list[str]:
    return [script for _, script in _read(path) if script]


def _read(path: Path) -> Iterator[tuple[list[str], str]]:
    """Yield the input lines of a file: those of a script with the script, others with nothing."""
    script: list[str] = []
    for line in path.read_text("utf-8").split("\n")[:-1]:
        if script and not line.startswith(CONTINUED):
            yield script, "\n".join(part[2:] for part in script)
            script = []
        if line.startswith((INPUT, CONTINUED)):
            script.append(line)
        elif not line or line.startswith("#"):
            yield [line], ""
    if script:
        yield script, "\n".join(part[2:] for part in script)


def _lines(path: Path, run: Callable[[str], Ended]) -> Iterator[str]:
    for lines, script in _read(path):
        yield from lines
        if script:
            ended = run(script)
            status = f" status {ended.status}" if ended.status else ""
            yield f"{ended.output!r}{status}{f' errors {ended.errors!r}' if ended.errors else ''}"
