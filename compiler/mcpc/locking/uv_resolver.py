"""Versions by `uv pip compile --universal`: one resolution for all targets, from wheels only.

uv is run outside of the project: the registries that the project names are handed to it as options.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mcpc import programs
from mcpc.dependencies.lock_files import PYLOCK, LockError, LockFile, read_lock
from mcpc.dependencies.pip_install import NO_INDEX, TIMEOUT_SECONDS, requirement_line, shorten_errors
from mcpc.dependencies.upload_dates import earliest, upload_limit
from mcpc.locking.failures import ResolutionError
from mcpc.sources import Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mcpc.dependencies.lock_files import LockedFile
    from mcpc.dependencies.platforms import Target
    from mcpc.locking.request import LockRequest

OPTIONS = ("--universal", "--only-binary=:all:", "--no-header", "--no-annotate", "--fork-strategy=fewest", "--quiet")
INDEX_OPTIONS = {
    "--index-url": "--default-index",
    "--extra-index-url": "--index",
    "--find-links": "--find-links",
    NO_INDEX: NO_INDEX,
}
"""uv's options, by those of pip."""
OFFLINE = dict.fromkeys(("UV_EXTRA_INDEX_URL", "UV_FIND_LINKS", "UV_INDEX"), "")
"""Variables by which uv uses none of the user's registries and pages."""


CAUSE = re.compile(r"^ +(?:cause:|╰─▶) *(.*(?:\n {3,}\S.*)*)", re.MULTILINE)
"""What uv writes below its error: the conflict."""


def find_uv() -> str:
    """Return the path of uv, beside this Python or on PATH; an empty text if it is not installed."""
    beside = Path(sys.executable).with_name("uv")
    return str(beside) if beside.is_file() else shutil.which("uv") or ""


def resolve_by_uv(request: LockRequest, local: Mapping[str, Path]) -> dict[Target, dict[str, LockedFile]]:
    """Return the files of each target; raise ResolutionError."""
    uv = find_uv()
    if not uv or any(item.index for item in request.wanted):
        raise ResolutionError("uv is not installed, or cannot do what the project asks for")
    with tempfile.TemporaryDirectory(prefix="mcpc-") as made:
        folder = Path(made).resolve()
        lines = [requirement_line(replace(item, hashes=()), local) for item in request.wanted]
        constraints = [f"{name}=={version}" for name, version in sorted(request.preferred.items())]
        constraints += sorted({text for item in request.wanted for text in item.constraints})
        for name, rows in (("requirements.in", lines), ("constraints.txt", constraints)):
            (folder / name).write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
        words = [uv, "pip", "compile", "requirements.in", "--constraints", "constraints.txt", *OPTIONS]
        words += ["--format", PYLOCK, "--output-file", PYLOCK, *_options(request)]
        try:
            more = OFFLINE if NO_INDEX in request.indexes else {}
            done = programs.run_program("uv", words, TIMEOUT_SECONDS, cwd=folder, more=more)
        except (TimeoutError, OSError) as problem:
            raise ResolutionError(f"uv cannot be used: {problem}") from None
        if done.returncode:
            raise ResolutionError(f"uv found no versions: {reason(done.stderr.decode(errors='replace'))}")
        source = Source(PYLOCK, (folder / PYLOCK).read_bytes())
        return _files(source, request.targets, folder, frozenset(local))


def reason(said: str) -> str:
    """Return why uv chose nothing, in one line: the cause that it names, else its last errors."""
    cause = CAUSE.search(said)
    return shorten_errors("error: " + " ".join(cause[1].split()) if cause else said)


def _options(request: LockRequest) -> Iterator[str]:
    lowest = min(request.targets, key=lambda target: int(target.python.removeprefix("3.")))
    yield from ("--python-version", lowest.python)
    for option in request.indexes:
        name, _, value = option.partition("=")
        yield INDEX_OPTIONS[name]
        yield from (value,) if value else ()
    date = earliest(item.exclude_newer for item in request.wanted)
    if date:
        yield from ("--exclude-newer", upload_limit(date) or date)


def _files(
    source: Source, targets: Sequence[Target], folder: Path, local: frozenset[str]
) -> dict[Target, dict[str, LockedFile]]:
    """Return the file of each package for each target in uv's output."""
    try:
        lock = replace(read_lock(source), source=Source("uv's output", source.data))
        lock = replace(lock, pylock=replace(lock.pylock, environments=None, requires_python=None))
        names = sorted(lock.names() - local)
        return {target: dict(_target_files(lock, names, target, folder)) for target in targets}
    except LockError as problem:
        raise ResolutionError(str(problem)) from None


def _target_files(
    lock: LockFile, names: Sequence[str], target: Target, folder: Path
) -> Iterator[tuple[str, LockedFile]]:
    for name in names:
        file = lock.file_for(name, target)
        if file is not None:
            yield name, replace(file, path=str(folder / file.path) if file.path else "", needs=())
