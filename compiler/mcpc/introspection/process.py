"""Ask marked files, in a process of their own, what their functions offer.

The process sees a copy of the project as it was read, the packages the project asks for, and this compiler's; of the
caller it has neither input, nor output, nor environment.  It has a time and a size to answer in, and what it does not
say in time is said for it: which file it was at, and how it ended.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mcpc
import mcpc_runtime
from mcpc.asked import GRACE_SECONDS, SECONDS, ended, gather
from mcpc.dependencies import requirements, stage
from mcpc.introspection.marks import MENTION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpc.diagnostics import Diagnostics
    from mcpc.introspection.model import MarkedFile
    from mcpc.sources import Json, SourceTree

DESCRIBING = ("pydantic", "pydantic-core", "docstring-parser")
LAST = b'{"end"'
BOOT = "import sys;sys.path[:0]=sys.argv[3:];from mcpc.introspection.inspector import main;main(*sys.argv[1:3])"
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
        packages.append(str(staged.root))
    with tempfile.TemporaryDirectory(prefix="mcpc-") as folder:
        root = Path(folder).resolve()
        copy(tree, root / "project")
        questions: list[Json] = [question(file) for file in files]
        (root / "questions.json").write_text(json.dumps(questions), encoding="utf-8")
        data, how = run(root, packages, SECONDS * len(files) + GRACE_SECONDS)
        errors = (root / "errors").read_bytes()
    return answers(data, how, files, errors), problems


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


def run(root: Path, packages: Sequence[str], seconds: int) -> tuple[bytes, str]:
    """Return what the process says, and how it ended if it did not say all."""
    mine = [str(Path(module.__file__ or "").parent.parent) for module in (mcpc, mcpc_runtime)]
    replies, said = os.pipe()
    words = [sys.executable, *ISOLATED, "-c", BOOT, str(root), str(said), *packages, *mine]
    with open(replies, "rb", buffering=0), (root / "errors").open("wb") as errors:  # noqa: PTH123 - a descriptor
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=errors,
            stderr=errors,
            cwd=root / "project",
            env=environment(root),
            pass_fds=(said,),
            start_new_session=True,
        )
        os.close(said)
        data, why = gather(replies, seconds, is_whole)
        how = ended(process, GRACE_SECONDS if not why and not is_whole(data) else 0)
    return data, why or ("" if is_whole(data) else how)


def environment(root: Path) -> dict[str, str]:
    """Return the whole environment of the process."""
    fixed = {"HOME": str(root), "TMPDIR": str(root), "LANG": "C.UTF-8", "TZ": "UTC", "PYTHONHASHSEED": "0"}
    return {"PATH": os.environ.get("PATH", os.defpath), **fixed}


def is_whole(data: bytes | bytearray) -> bool:
    """Tell whether the process has said its last line."""
    return data.endswith(b"\n") and data[data.rfind(b"\n", 0, -1) + 1 :].startswith(LAST)


def answers(data: bytes, ended: str, files: Sequence[MarkedFile], errors: bytes) -> Answers:
    """Return the answers; of the files after the last one that answered, the first is why the process ended."""
    lines = [json.loads(line) for line in data.split(b"\n")[:-1]]
    found = {line["path"]: answer(line) for line in lines if "path" in line}
    silent = [file.source.path for file in files if file.source.path not in found]
    strays = tuple(stray for line in lines for stray in line.get("strays", ()))
    if ended and not silent:
        raise RuntimeError(f"{ended} after every file had answered: {errors[-2000:].decode('utf-8', 'replace')}")
    if ended:
        found[silent[0]] = Answer(failure=Failure(ended, silent[0]))
    return Answers(found, strays)


def answer(line: dict[str, Any]) -> Answer:
    """Return what one file said."""
    failure = line["failure"]
    return Answer(tuple(line["marks"]), line["servers"], Failure(**failure) if failure else None)
