"""Locks: what `mcpc lock` writes, a `pylock.toml` (PEP 751) with one file of each package for each target.

    project ─requirements─▶ LockRequest ─resolve, by uv─▶ ResolvedFiles ─assemble─▶ table ─lock_text─▶ bytes

uv chooses versions only.  What is locked is decided here, by the tags of each target and the metadata of what is
installed there, so that the same versions give the same bytes.

A check makes the lock again of its own files: what would be written then must be what is there.  It asks for no newer
versions, so that an old state of a project stays valid.
"""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span, diagnose, has_errors, in_order
from mcpc.frontends import parse_project
from mcpc.lower import lower
from mcpc.packages.downloads import all_origins, fetch
from mcpc.packages.lock_files import LOCK_AGAIN, SHA256, LockError, LockFile, lock_problem, read_lock
from mcpc.packages.locked_layer import check_pythons
from mcpc.packages.sdists import BuildError
from mcpc.packages.staging import MAX_BUILT, PackageRequest, installation_failure, local_wheels, span_of_package
from mcpc.packages.uv import InstallError, NoWheelError
from mcpc.release.locking.assembly import assemble_lock, lock_text
from mcpc.release.locking.request import LockRequest, OnlySourcesError, ResolutionError, existing_lock, read_request
from mcpc.release.locking.resolution import build_sources, resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from mcpc.diagnostics import Diagnostics
    from mcpc.options import Options
    from mcpc.packages.lock_files import LockedFile
    from mcpc.packages.locked_layer import FileSelection
    from mcpc.packages.platforms import Target
    from mcpc.packages.uv import UvRequest
    from mcpc.reading import SourceTree
    from mcpc.release.locking.resolution import ResolvedFiles

__all__ = ["LockOrder", "MadeLock", "make_lock"]

HOW_TO_LOCK = "name versions that have wheels for all targets, or fewer targets with `--platform` and `--python`"
LOCK_SOURCES = "`--allow-sdist` locks its sources; that, and each build from the lock, runs their code, confined"


@dataclass(frozen=True, slots=True)
class LockOrder:
    """What is asked for: the name of the lock, packages to upgrade (None for all), a check, and the locked files."""

    name: str
    upgraded: tuple[str, ...] | None = ()
    is_check: bool = False
    with_files: bool = False


@dataclass(frozen=True, slots=True)
class MadeLock:
    """The text of a lock, its files by name if they were asked for, what it is for, and the problems."""

    text: str = ""
    files: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    targets: tuple[Target, ...] = ()
    problems: Diagnostics = ()

    def counts(self) -> dict[str, str]:
        """Return what messages say about it."""
        pythons = ", ".join(dict.fromkeys(target.python for target in self.targets))
        count = self.text.count("[[packages]]\n")
        sources = self.text.count("\nsdist = {")
        packages = "1 package" if count == 1 else f"{count} packages"
        return {"count": f"{packages} ({sources} as sources)" if sources else packages, "pythons": pythons}


def make_lock(
    tree: SourceTree, diagnostics: Diagnostics, options: Options, order: LockOrder, tell: Callable[[str], None]
) -> MadeLock:
    """Return the lock of a project that was read."""
    lock = order.name if tree.get(order.name) is not None else ""
    options = replace(options, lock=lock, locked=order.is_check)
    tree = replace(tree, options=options)
    tell("parsing")
    definition, problems = parse_project(tree, options)
    server, more = lower(definition, options) if definition is not None else (None, ())
    diagnostics = in_order((*diagnostics, *problems, *more))
    if server is None or has_errors(diagnostics):
        return MadeLock(problems=diagnostics)
    request, problems = read_request(server, tree, options, order.upgraded)
    if request is None:
        return MadeLock(problems=problems)
    tell("locking packages")
    try:
        return _checked(request, tree, order) if order.is_check else _resolved(request, tree, order)
    except ResolutionError as problem:
        span = span_of_package(str(problem), request.wanted)
        return MadeLock(problems=(diagnose("MCP424", span, str(problem), "", _hint(problem)),))
    except BuildError as problem:
        return MadeLock(problems=(installation_failure(problem, request.wanted, request.targets[0]),))


def _hint(problem: ResolutionError) -> str:
    """Return what to do if nothing could be locked."""
    if isinstance(problem, OnlySourcesError):
        return f"{LOCK_SOURCES}; or {HOW_TO_LOCK}"
    return problem.hint or HOW_TO_LOCK


def _resolved(request: LockRequest, tree: SourceTree, order: LockOrder) -> MadeLock:
    """Return a lock of the versions that uv chooses; what has no wheel is built, if that is allowed."""
    built: dict[str, LockedFile] = {}
    with _local(request) as local, tempfile.TemporaryDirectory(prefix="mcpc-") as made:
        folder = Path(made).resolve()
        # Each round builds one package that has no wheel, and asks for all versions again.
        while True:
            try:
                asked = replace(request, built=str(folder) if built else "")
                resolved = resolve(asked, local, built)
                check_unchanged(resolved, tree, order.upgraded)
                return _assembled(request, resolved, tree, (local, order, resolved.request))
            except (NoWheelError, OnlySourcesError) as problem:
                absent = problem.absent if isinstance(problem, OnlySourcesError) else problem
                if not request.builds_sources or len(built) == MAX_BUILT:
                    raise OnlySourcesError(absent, request.targets[0]) from None
                name, file = build_sources(absent, request, folder)
                built[name] = file
            except InstallError as problem:
                raise ResolutionError(str(problem), problem.hint) from None
            except LockError as problem:
                if problem.kind in ("stale", "target"):
                    raise ResolutionError(str(problem)) from None
                return MadeLock(problems=lock_problem(problem, None, request.wanted, locked=True))


def check_unchanged(resolved: ResolvedFiles, tree: SourceTree, upgraded: tuple[str, ...] | None) -> None:
    """Raise LockError for a file that is another one than the lock has, unless its package is upgraded."""
    lock = existing_lock(tree)
    if lock is None or upgraded is None:
        return
    files = (file for package in lock.pylock.packages for file in (package.sdist, *(package.wheels or ())) if file)
    known = {file.filename: file.hashes.get(SHA256, "") for file in files}
    for file in (file for files in resolved.files.values() for file in files.values()):
        before = known.get(file.file, "").lower()
        if before and before != file.sha256 and file.package not in upgraded:
            message = f"`{file.file}` has SHA-256 {file.sha256} now, and the lock says {before}"
            raise LockError("mismatch", message, file.package)


def _checked(request: LockRequest, tree: SourceTree, order: LockOrder) -> MadeLock:
    """Return the lock that a project has, if it is up to date."""
    source = tree.get(order.name)
    if source is None:
        message = f"the project has no `{order.name}`"
        return MadeLock(problems=(diagnose("MCP422", None, message, "", LOCK_AGAIN),))
    lock: LockFile | None = None
    try:
        lock = read_lock(source, tree.options.extras, tree.options.groups)
        check_pythons(lock, tree)
        with _local(request) as local:
            assembled = _assembled(request, lock, tree, (local, order, None))
    except LockError as problem:
        if problem.kind == "invalid":
            return MadeLock(problems=(diagnose("MCP422", Span(order.name), str(problem), "", LOCK_AGAIN),))
        return MadeLock(problems=lock_problem(problem, lock, request.wanted, locked=True))
    # Locks of other programs may have more packages, in another order.
    if lock.is_ours and assembled.text.encode() != source.data:
        place = _first_difference(source.text, assembled.text)
        message = f"`{order.name}` has what the project does not need, or was changed by hand"
        return MadeLock(problems=(diagnose("MCP422", Span(order.name, place, place), message, "", LOCK_AGAIN),))
    return assembled


def _first_difference(text: str, other: str) -> int:
    """Return the offset of the first line that differs."""
    offset = 0
    for line, wanted in zip(text.splitlines(keepends=True), other.splitlines(keepends=True), strict=False):
        if line != wanted:
            break
        offset += len(line)
    return offset


@contextmanager
def _local(request: LockRequest) -> Iterator[dict[str, Path]]:
    """Yield the wheels of what the project contains, by name."""
    with tempfile.TemporaryDirectory(prefix="mcpc-") as folder:
        wanted = [item for item in request.wanted if item.local is not None or item.repository is not None]
        need = PackageRequest(wanted, request.targets[0])
        yield local_wheels(need, Path(folder).resolve() / "wheels")


def _assembled(
    request: LockRequest,
    selection: FileSelection,
    tree: SourceTree,
    how: tuple[Mapping[str, Path], LockOrder, UvRequest | None],
) -> MadeLock:
    local, order, asked = how
    table, named = assemble_lock(request, selection, tree.root, local, asked)
    origins = all_origins(request.wanted)
    files = {file.file: fetch(file, tree.root, origins) for file in named if order.with_files}
    return MadeLock(lock_text(table), files, request.targets)
