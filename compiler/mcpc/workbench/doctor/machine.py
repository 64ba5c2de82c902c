"""What the machine has: Pythons, virtual environments, other programs, `mcpc`, the cache, temporary files."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING

from mcpc.sandbox import programs
from mcpc.sandbox.platforms import cache_home
from mcpc.workbench.doctor.report import fine, note, problem
from mcpc_runtime.tools.clients.request import NEWEST, OLDEST, version_of
from mcpc_runtime.transports.platforms import files
from mcpc_runtime.transports.platforms.program_search import find_program, installed_pythons

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.workbench.doctor.report import Examination, Symptom

PYTHON, VENV, COMMAND, CACHE, TEMPORARY = "python", "virtual environment", "mcpc on PATH", "cache", "temporary files"
VENV_PYTHONS = ("bin/python", "Scripts/python.exe")
PROGRAMS = {
    "bash": ((4, 4), "handlers in Bash"),
    "node": ((18,), "tools in JavaScript"),
    "npm": ((8,), "packages of tools in JavaScript"),
    "jq": ((1, 5), "scripts that read JSON with jq"),
    "git": ((2,), "requirements from repositories, and provenance"),
}
"""The oldest version of each program that works, and who needs it: a missing one is a note."""
VERSION = re.compile(r"\d+(?:\.\d+)+")
VERSION_SECONDS = 20.0
LEAST_FREE = 256 << 20


def check_pythons(_: Examination) -> Iterator[Symptom]:
    """Yield the Pythons of each version that do not start, and which one starts a file that is built here."""
    working: dict[str, str] = {}
    for minor in (f"3.{number}" for number in range(NEWEST, OLDEST - 1, -1)):
        # `lexists`, because a link to a Python that is gone is what is to be found.
        for path in dict.fromkeys(path for path in installed_pythons(minor) if os.path.lexists(path)):
            if version_of(path) == minor:
                working[minor] = path
                break
            if not Path(path).exists():
                yield problem(PYTHON, f"{path} is a link to a Python that is gone", f"remove the link: rm {path}")
            elif not os.access(path, os.X_OK):
                yield problem(PYTHON, f"{path} is not executable", f"chmod +x {path}, or reinstall that Python")
    here = "{}.{}".format(*sys.version_info[:2])
    if here in working:
        yield fine(PYTHON, f"files that are built here start with {working[here]}")
    elif working:
        newest = next(iter(working))
        text = f"files built with this Python {here} are started by Python {newest}, which compiles them at first"
        yield note(PYTHON, text, f"install Python {here} for all users, or build with the Python {newest}")
    else:
        text = "no Python 3.11 or newer was found where built files look for it"
        yield problem(PYTHON, text, "install Python 3.11 or newer, from your system's packages or python.org")


def check_environments(examined: Examination) -> Iterator[Symptom]:
    """Yield the virtual environments of the shell and of the project that have no Python.  None is run."""
    active = os.environ.get("VIRTUAL_ENV", "")
    if active and not Path(active).is_dir():
        yield problem(VENV, f"VIRTUAL_ENV names {active}, which is gone", "deactivate, or open a new terminal")
    folders = [*([Path(active)] if active else []), *(examined.folder / name for name in (".venv", "venv"))]
    for folder in dict.fromkeys(folders):
        if folder.is_dir() and not any((folder / name).exists() for name in VENV_PYTHONS):
            again = f"remove it, and make it again: rm -r {folder} && python3 -m venv {folder}"
            yield problem(VENV, f"{folder} has no Python, or a link to one that is gone", again)


def check_programs(_: Examination) -> Iterator[Symptom]:
    for name, (oldest, needed_by) in PROGRAMS.items():
        path = found_program(name)
        version = program_version(path) if path else ""
        if not path:
            yield note(name, f"not found; it is needed by {needed_by}", f"install {name} if you need it")
        elif not version:
            advice = f"reinstall {name}, or take its folder out of PATH"
            yield problem(name, f"{path} does not tell its version", advice)
        elif tuple(map(int, version.split("."))) < oldest:
            text = f"{path} is {version}; {needed_by} need {'.'.join(map(str, oldest))} or newer"
            yield problem(name, text, f"install a newer {name}, and put it first on PATH")
        else:
            yield fine(name, f"{version} at {path}")


def found_program(name: str) -> str:
    """Return the path of a program, or an empty text."""
    return find_program(name, {os.fsencode(key): os.fsencode(value) for key, value in os.environ.items()})


def program_version(path: str) -> str:
    """Return the version that a program prints, or an empty text."""
    try:
        done = programs.run_program("version of a program", [path, "--version"], VERSION_SECONDS)
    except (OSError, TimeoutError):
        return ""
    version = VERSION.search(done.stdout.decode("utf-8", "replace"))
    return version[0] if version and done.returncode == 0 else ""


def check_command(_: Examination) -> Iterator[Symptom]:
    """Yield whether the first `mcpc` on PATH is this one, and whether another package hides it."""
    path = found_program("mcpc")
    other = other_program(Path(path)) if path else ""
    if not path:
        yield note(COMMAND, "not found", "start it as `python -m mcpc`, or activate its environment")
    elif other:
        advice = "put the folder of this mcpc first on PATH, or start it as `python -m mcpc`"
        yield problem(COMMAND, f"{path} is {other}, not this compiler", advice)
    else:
        yield fine(COMMAND, path)
    try:
        text = f"the package `mcpc` {distribution('mcpc').version} of PyPI is installed here"
    except PackageNotFoundError:
        return
    advice = "pip uninstall mcpc, then pip install --force-reinstall mcp-compiler"
    yield problem(COMMAND, f"{text}; it is another project with the same import", advice)


def other_program(path: Path) -> str:
    """Return what a program with our name is, or an empty text if it is ours."""
    try:
        with path.open("rb") as file:
            head = file.read(4096)
    except OSError:
        return ""
    if "@apify" in str(path.resolve()) or b"@apify" in head:
        return "npm's @apify/mcpc"
    # A console script of ours imports `mcp_compiler`; a wrapper may start the module.
    is_ours = b"mcp_compiler" in head or b"-m mcpc" in head
    return "of another package" if head.startswith(b"#!") and b"mcpc" in head and not is_ours else ""


def check_cache(_: Examination) -> Iterator[Symptom]:
    """Yield why the cache of the compiler is not used."""
    # `parents` needs a path without `..`, which `absolute` keeps; `resolve` would follow the link that is checked.
    path = Path(os.path.abspath(os.environ.get("MCPC_CACHE_DIR") or cache_home() / "mcpc"))  # noqa: PTH100
    elsewhere = "set MCPC_CACHE_DIR to a folder that only you can write to"
    existing = next(folder for folder in (path, *path.parents) if folder.is_dir())
    if os.path.lexists(path) and not path.is_dir():
        yield problem(CACHE, f"{path} is not a folder", f"remove it, or {elsewhere}")
    elif not os.access(existing, os.W_OK | os.X_OK):
        yield problem(CACHE, f"{existing} cannot be written to, so every build starts anew", elsewhere)
    else:
        try:
            files.check_unshared(os.path.realpath(existing.parent if existing == path else existing))
            if existing == path:
                files.check_private(str(path), path.lstat())
        except files.UnusableFolderError as refusal:
            yield problem(CACHE, f"{refusal}, so it is not used", f"chmod go-w that folder, or {elsewhere}")
        yield from little_space(CACHE, existing)


def little_space(subject: str, folder: Path) -> Iterator[Symptom]:
    free = shutil.disk_usage(folder).free
    if free < LEAST_FREE:
        yield problem(subject, f"only {free / 1e6:.0f} MB are free in {folder}", "free some space there")


def check_temporary(_: Examination) -> Iterator[Symptom]:
    """Yield what is wrong with the folder for temporary files, where built files unpack and load native modules."""
    named = os.environ.get("TMPDIR", "")
    # `gettempdir` passes over a TMPDIR that cannot be used, which is what is to be found.
    folder = Path(named or tempfile.gettempdir())
    if not folder.is_dir():
        yield problem(TEMPORARY, f"TMPDIR names {named}, which is not there", "unset TMPDIR, or make the folder")
    elif not os.access(folder, os.W_OK | os.X_OK):
        yield problem(TEMPORARY, f"{folder} cannot be written to", "set TMPDIR to a folder that can")
    else:
        yield from little_space(TEMPORARY, folder)
        if is_noexec(folder):
            text = f"{folder} is mounted with noexec: packages with native modules cannot be loaded from there"
            yield note(TEMPORARY, text, "set TMPDIR to a folder from which programs run")


def is_noexec(folder: Path) -> bool:
    """Tell whether no program runs from a folder, where the system tells it."""
    flag, statvfs = getattr(os, "ST_NOEXEC", 0), getattr(os, "statvfs", None)
    return bool(flag and statvfs is not None and statvfs(folder).f_flag & flag)
