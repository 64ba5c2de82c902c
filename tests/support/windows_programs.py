"""An archive behind the launcher that reports how it was started, in place of a server."""

import json
from typing import Any

from mcpc.interpreters.launchers.windows_file import BundledInterpreter, PythonChoice, windows_file
from mcpc.pack.archive import ArchiveEntry, build_archive
from mcpc.pack.prologue import shell_prologue

REPORTER = b"""
import json, sys, zlib
archive, words = sys.argv[1], sys.argv[2:]
facts = {"archive": archive, "words": words, "python": sys.executable, "minor": sys.version_info[1],
         "flags": [sys.flags.isolated, sys.flags.no_site], "data": z.get_data("data.txt").decode()}
if words[:1] == ["exit"]:
    sys.exit(int(words[1]))
if words[:1] == ["copy"]:
    sys.stderr.write("copying")
    sys.stderr.flush()
    sys.stdout.buffer.write(sys.stdin.buffer.read())
elif words[:1] == ["wait"]:
    import subprocess
    child = subprocess.Popen([sys.executable, "-I", "-c", "import sys; sys.stdin.read()", archive], stdin=subprocess.PIPE)
    sys.stdout.write("waiting\\n")
    sys.stdout.flush()
    sys.stdin.read()
else:
    sys.stdout.write(json.dumps(facts))
"""


def reporter(*minors: int, is_only: bool = False, interpreter: BundledInterpreter | None = None) -> bytes:
    """Return the program; `minors` are those of its bytecode."""
    entries = [*program_entries(REPORTER), ArchiveEntry("data.txt", b"the archive's data")]
    archive = build_archive(entries, shell_prologue())
    return windows_file(archive, "x64", PythonChoice(minors or (13,), is_only), interpreter)


def program_entries(source: bytes) -> list[ArchiveEntry]:
    """Return the entries of a program that every Python runs from its source: the bytecode is of none."""
    return [ArchiveEntry("__main__.pyc", b"none"), ArchiveEntry("__main__.py", source)]


def report(output: bytes) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads(output)
    return facts
