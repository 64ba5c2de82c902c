"""Programs beside Python: which are there, which are too old, and whether `mcpc` is this one.

A missing one is a note: only some projects need it.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING

from mcpc.sandbox import programs
from mcpc.workbench.doctor.model import fine, note, problem
from mcpc_runtime.transports.platforms.program_search import find_program

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.workbench.doctor.model import Examination, Symptom

SECONDS = 20.0
VERSION = re.compile(r"\d+(?:\.\d+)+")
OURS, OTHER = b"mcp_compiler", "@apify"
HEAD_BYTES = 4096
COMMAND = "mcpc on PATH"


@dataclass(frozen=True, slots=True)
class Program:
    """A program: the oldest version that works, and who needs it."""

    name: str
    oldest: tuple[int, ...]
    needed_by: str


PROGRAMS = (
    Program("bash", (4, 4), "handlers in Bash"),
    Program("node", (18,), "tools in JavaScript"),
    Program("npm", (8,), "packages of tools in JavaScript"),
    Program("jq", (1, 5), "scripts that read JSON with jq"),
    Program("git", (2,), "requirements from repositories, and provenance"),
)


def check_programs(_: Examination) -> Iterator[Symptom]:
    """Yield each program with its version."""
    for program in PROGRAMS:
        path = found_program(program.name)
        if not path:
            text = f"not found; it is needed by {program.needed_by}"
            yield note(program.name, text, f"install {program.name} if you need it")
            continue
        version = program_version(path)
        if not version:
            advice = f"reinstall {program.name}, or take its folder out of PATH"
            yield problem(program.name, f"{path} does not tell its version", advice)
        elif tuple(map(int, version.split("."))) < program.oldest:
            oldest = ".".join(map(str, program.oldest))
            text = f"{path} is {version}; {program.needed_by} need {oldest} or newer"
            yield problem(program.name, text, f"install a newer {program.name}, and put it first on PATH")
        else:
            yield fine(program.name, f"{version} at {path}")


def found_program(name: str) -> str:
    """Return the path of a program, or an empty text."""
    return find_program(name, {os.fsencode(key): os.fsencode(value) for key, value in os.environ.items()})


def program_version(path: str) -> str:
    """Return the version that a program prints, or an empty text."""
    try:
        done = programs.run_program("version of a program", [path, "--version"], SECONDS)
    except (OSError, TimeoutError):
        return ""
    found = VERSION.search(done.stdout.decode("utf-8", "replace"))
    return found[0] if found and done.returncode == 0 else ""


def check_command(_: Examination) -> Iterator[Symptom]:
    """Yield every `mcpc` on PATH that is not this one; the first is the one that a shell starts."""
    found = [path for path in _named_mcpc() if path.is_file()]
    for place, path in enumerate(found):
        what = other_program(path)
        if what and place == 0:
            advice = "put the folder of this mcpc first on PATH, or start it as `python -m mcpc`"
            yield problem(COMMAND, f"{path} is {what}, not this compiler", advice)
        elif what:
            yield note(COMMAND, f"{path} is {what}; it comes after this compiler")
    if found and not other_program(found[0]):
        yield fine(COMMAND, str(found[0]))
    if not found:
        yield note(COMMAND, "not found", "start it as `python -m mcpc`, or activate its environment")
    yield from _other_package()


def _named_mcpc() -> Iterator[Path]:
    names = ("mcpc", "mcpc.exe", "mcpc.cmd")
    folders = dict.fromkeys(filter(None, os.environ.get("PATH", "").split(os.pathsep)))
    yield from (Path(folder) / name for folder in folders for name in names)


def other_program(path: Path) -> str:
    """Return what a program with our name is, or an empty text if it is ours."""
    if OTHER in str(path.resolve()):
        return "npm's @apify/mcpc"
    try:
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
    except OSError:
        return ""
    if OTHER.encode() in head:
        return "npm's @apify/mcpc"
    is_script = head.startswith(b"#!") and b"mcpc" in head
    return "of another package" if is_script and OURS not in head and b"-m mcpc" not in head else ""


def _other_package() -> Iterator[Symptom]:
    try:
        other = distribution("mcpc")
    except PackageNotFoundError:
        return
    text = f"the package `mcpc` {other.version} of PyPI is installed here; it is another project with the same import"
    yield problem(COMMAND, text, "pip uninstall mcpc, then pip install --force-reinstall mcp-compiler")
