"""Ask marked files, in a process of their own, what their functions offer.

The process sees a copy of the project as it was read, the packages the project asks for, and this compiler's, and is
confined (`mcpc.confinement`).  What it does not say in time is said for it: which file it was at, and how it ended; the
files after that one are asked in another process.  What it says is read as what a stranger says.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mcpc
import mcpc_runtime
from mcpc import confinement
from mcpc.asked import GRACE_SECONDS, LATE, SECONDS
from mcpc.confinement import REPLIES, Job
from mcpc.dependencies import requirements, stage, with_versions
from mcpc.introspection.answering import is_answer, is_end
from mcpc.introspection.marks import MENTION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpc.confinement import Outcome
    from mcpc.diagnostics import Diagnostics
    from mcpc.introspection.model import MarkedFile
    from mcpc.sources import Json, SourceTree

DESCRIBING = ("pydantic", "pydantic-core", "docstring-parser")
LAST = b'{"end"'
HUNG, CRASHED = "Timeout (", "Fatal Python error: "
"""How `faulthandler` begins to tell where Python was, when it took too long or crashed."""
BOOT = "import sys;sys.path[:0]=sys.argv[4:];from mcpc.introspection.inspector import main;main(*sys.argv[1:4])"
ISOLATED = ("-P", "-s", "-B", "-W", "ignore")
"""As `-I`, but with the variables of `environment`, which is all there is: one seed of hashes, one text encoding."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a file could not be asked: what was raised, and the last place in the project that was on the way to it."""

    message: str
    path: str
    line: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """What a file says: a row for each of its marks, the servers by name; or why it says nothing."""

    marks: tuple[dict[str, Json], ...] = ()
    servers: dict[str, dict[str, Json]] = field(default_factory=dict)
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers by file; `strays` are functions that were marked where no mark was read."""

    files: dict[str, Answer]
    strays: tuple[dict[str, Json], ...] = ()


def decisive(tree: SourceTree) -> tuple[str, ...]:
    """Return what decides the answers of a project beside its sources, the compiler and the interpreter."""
    if not any(path.endswith(".py") and MENTION.search(source.data) for path, source in tree.files.items()):
        return ()
    return tuple(f"{package} {version(package)}" for package in DESCRIBING)


def ask(files: Sequence[MarkedFile], tree: SourceTree) -> tuple[Answers | None, Diagnostics]:
    """Return what the functions that are marked in `files` offer; None if their packages cannot be had."""
    wanted, problems = requirements(tree, [file.source for file in files])
    packages: list[str] = []
    if wanted:
        staged, found = stage(wanted)
        problems += found
        if staged is None:
            return None, problems
        problems = with_versions(problems, {one.name: one.version for one in staged.distributions})
        packages.append(str(staged.root))
    with tempfile.TemporaryDirectory(prefix="mcpc-") as folder:
        root = Path(folder).resolve()
        copy(tree, root / "project")
        return asked(files, root, packages), problems


def asked(files: Sequence[MarkedFile], root: Path, packages: Sequence[str]) -> Answers:
    """Return what files say; one that ends its process is asked no more, and those after it are asked in another."""
    found: dict[str, Answer] = {}
    strays: tuple[dict[str, Json], ...] = ()
    silent = list(files)
    while silent:
        heard = answers(run(silent, root, packages), silent, root)
        found |= heard.files
        strays = (*strays, *heard.strays)
        silent = [file for file in silent if file.source.path not in found]
    return Answers(found, strays)


def copy(tree: SourceTree, folder: Path) -> None:
    """Write the project as it was read."""
    folder.mkdir()
    for path, source in tree.files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(source.data)


def question(file: MarkedFile) -> Json:
    """Return what is asked of a file."""
    return {
        "path": file.source.path,
        "marks": [{"kind": mark.kind, "function": mark.function} for mark in file.marks],
        "servers": [server.name for server in file.servers],
        "seconds": SECONDS,
    }


def run(files: Sequence[MarkedFile], root: Path, packages: Sequence[str]) -> Outcome:
    """Return what the process says, and how it ended; its questions are where no process of the project may write."""
    asks: list[Json] = [question(file) for file in files]
    mine = [str(Path(module.__file__ or "").parent.parent) for module in (mcpc, mcpc_runtime)]
    seconds = SECONDS * len(files) + GRACE_SECONDS
    with tempfile.TemporaryDirectory(prefix="mcpc-", ignore_cleanup_errors=True) as folder:
        questions = Path(folder).resolve() / "questions.json"
        questions.write_text(json.dumps(asks), encoding="utf-8")
        words = [sys.executable, *ISOLATED, "-c", BOOT, str(root), str(REPLIES), str(questions), *packages, *mine]
        needed = [str(questions), *packages, *mine]
        job = Job(words, root, root / "project", seconds, {"PYTHONHASHSEED": "0"}, needed, is_whole=is_whole)
        return confinement.run(job)


def is_whole(data: bytes | bytearray) -> bool:
    """Tell whether the process has said its last line."""
    return data.endswith(b"\n") and data[data.rfind(b"\n", 0, -1) + 1 :].startswith(LAST)


def answers(outcome: Outcome, files: Sequence[MarkedFile], root: Path) -> Answers:
    """Return what was answered; the first file that did not is why the process ended, or was ended."""
    kinds = {file.source.path: len(file.marks) for file in files}
    lines = [line for line in map(confinement.parsed, outcome.answer.split(b"\n")[:-1]) if line is not None]
    found = {line["path"]: answer(line) for line in lines if is_answer(line, kinds)}
    ends = [line for line in lines if is_end(line)]
    silent = next((file.source.path for file in files if file.source.path not in found), "")
    if silent:
        found[silent] = Answer(failure=failure(outcome, silent, root, said_all=is_whole(outcome.answer)))
    return Answers(found, tuple(stray for line in ends for stray in line["strays"]))


def failure(outcome: Outcome, path: str, root: Path, *, said_all: bool) -> Failure:
    """Return why the process ended at a file, and the last line of the project that Python was at, if it says so."""
    if said_all:
        return Failure("what it answers instead of the compiler's own program is not an answer", path)
    dump = outcome.output.decode("utf-8", "replace")
    begin = max(dump.rfind(sign) for sign in (HUNG, CRASHED))
    place = re.search(rf'File "{re.escape(str(root / "project"))}/([^"\n]+)", line (\d+)', dump[max(begin, 0) :])
    found = Failure(LATE if begin >= 0 and dump.startswith(HUNG, begin) else outcome.how, path)
    return replace(found, path=place[1], line=int(place[2])) if begin >= 0 and place else found


def answer(line: dict[str, Any]) -> Answer:
    """Return what one file said."""
    failure = line["failure"]
    return Answer(tuple(line["marks"]), line["servers"], Failure(**failure) if failure else None)
