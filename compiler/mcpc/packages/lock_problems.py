"""What a build says about a lock that it cannot use: which problems it reports, and where.

Without `--locked` a lock that does not fit is reported as a warning, and the build chooses the packages itself; one
that names no files gives versions only (`declared.py`).  A file without a SHA-256 is a warning of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span, diagnose
from mcpc.packages.lock_files import UV_LOCK, lock_source

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcpc.diagnostics import Diagnostic
    from mcpc.model.ir.layer import RequestedPackage
    from mcpc.packages.lock_files import LockError, LockFile
    from mcpc.reading import SourceTree

LOCK_AGAIN = "run `mcpc lock`"
UV_LOCK_AGAIN = "run `uv lock`, or `mcpc lock`, which writes a `pylock.toml`"


@dataclass(frozen=True, slots=True)
class ProblemKind:
    """A kind of problem: the code without and with `--locked` (empty for none), and what to do."""

    plain: str
    locked: str
    hint: str


KINDS = {
    "stale": ProblemKind("MCP421", "MCP422", LOCK_AGAIN),
    "target": ProblemKind("MCP421", "MCP422", "run `mcpc lock` with `--platform` and `--python` for all its targets"),
    "unnamed": ProblemKind("", "MCP422", LOCK_AGAIN),
    "unhashed": ProblemKind("MCP426", "MCP422", LOCK_AGAIN),
    "mismatch": ProblemKind(
        "MCP422", "MCP422", "get the file again; if the new one is right, run `mcpc lock --upgrade`"
    ),
    "absent": ProblemKind("MCP423", "MCP423", "put it into a folder, and name that with `--find-links`"),
}


def lock_problem(
    problem: LockError, lock: LockFile | None, wanted: Iterable[RequestedPackage], *, locked: bool
) -> tuple[Diagnostic, ...]:
    """Return what is reported about a lock: one diagnostic or none."""
    kind = KINDS[problem.kind]
    code = kind.locked if locked else kind.plain
    if not code:
        return ()
    hint = UV_LOCK_AGAIN if kind.hint == LOCK_AGAIN and lock is not None and lock.path.endswith(UV_LOCK) else kind.hint
    span = next((item.span for item in wanted if item.span and item.name == problem.package), None)
    if lock is not None and (span is None or problem.kind == "mismatch"):
        span = lock.place_of(problem.package)
    return (diagnose(code, span, str(problem), "", hint),)


def unreadable_lock(path: str, words: str) -> Diagnostic:
    """Return that a lock cannot be read, and why."""
    return diagnose("MCP414", Span(path), words, "", "write the lock again, or remove it")


def missing_lock(tree: SourceTree) -> Diagnostic:
    """Return that there is no lock to build from."""
    named = f"`{tree.lock}`" if tree.lock else "`pylock.toml` or `uv.lock`"
    source = lock_source(tree)
    span = Span(source.path) if source is not None else None
    message = f"the project has no {named}, and `--locked` builds from nothing else"
    return diagnose("MCP422", span, message, "", LOCK_AGAIN)
