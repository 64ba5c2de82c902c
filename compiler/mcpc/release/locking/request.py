"""What is to be locked: the requirements of a project as a build reads them, its targets, and versions to keep.

A build adds packages to those that are declared (pydantic for models, what a framework brings); they are locked, too.
So are frameworks that are replaced in the built file: their versions decide how a program is read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from packaging.requirements import Requirement

from mcpc.diagnostics import Diagnostic, has_errors
from mcpc.packages import locked_versions, read_requirements, with_origins
from mcpc.packages.declared import LOCK_FILES
from mcpc.packages.layer import ANY_PYDANTIC, PYDANTIC, with_pydantic
from mcpc.packages.lock_files import LockError, lock_source, read_lock
from mcpc.packages.module_packages import handler_files, needs_models
from mcpc.packages.pep508 import pinned_version
from mcpc.packages.platforms import Target, parse_target
from mcpc.packages.required_python import MINORS, required_python

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcpc.diagnostics import Diagnostics
    from mcpc.model.ir import Server
    from mcpc.model.ir.layer import RequestedPackage
    from mcpc.options import Options
    from mcpc.packages.lock_files import LockFile
    from mcpc.packages.uv import NoWheelError
    from mcpc.reading import SourceTree


class ResolutionError(Exception):
    """No versions, or no files, satisfy the requirements; the message describes why, `hint` what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class OnlySourcesError(ResolutionError):
    """A package has no wheel for a target, but a source distribution."""

    def __init__(self, absent: NoWheelError, target: Target) -> None:
        super().__init__(absent.describe(target))
        self.absent = absent
        self.target = target


THIS_MACHINE = re.compile(r"cp3(?P<minor>\d+)")
"""How the lock names this machine with a Python."""


@dataclass(frozen=True, slots=True)
class LockRequest:
    """Requirements, targets, the project's `requires-python` (or empty), and versions that are taken if they fit.

    `built`: a folder of wheels that were built of sources, because there are no others; empty if there is none.
    """

    wanted: tuple[RequestedPackage, ...]
    targets: tuple[Target, ...]
    requires_python: str = ""
    preferred: Mapping[str, str] = field(default_factory=dict, hash=False)
    built: str = ""

    @property
    def builds_sources(self) -> bool:
        """Tell whether packages may be built that have no wheel, which runs their code."""
        return any(item.from_source for item in self.wanted)


def read_request(
    server: Server, tree: SourceTree, options: Options, upgraded: Sequence[str] | None
) -> tuple[LockRequest | None, Diagnostics]:
    """Return what is to be locked for a project; `upgraded`: packages whose versions are chosen anew, None for all."""
    wanted, problems = lock_requirements(server, tree)
    targets = tuple(lock_targets(tree, options))
    problems += tuple(found for found in targets if isinstance(found, Diagnostic))
    if has_errors(problems):
        return None, problems
    preferred: dict[str, str] = {}
    if needs_models(server) and all(item.name != PYDANTIC for item in wanted):
        pins, _ = with_pydantic(())
        # The compiler's own versions, which are taken unless a requirement of the project excludes them.
        preferred = {item.name: version for item in pins if (version := pinned_version(item.text))}
        wanted = (*wanted, ANY_PYDANTIC)
    if upgraded is not None:
        versions = existing_versions(tree)
        preferred |= {name: version for name, version in versions.items() if name not in upgraded}
    linked = tuple(with_origins(item, options) for item in wanted)
    python = required_python(tree)
    known = tuple(target for target in targets if isinstance(target, Target))
    return LockRequest(linked, known, python.specifier if python else "", preferred), ()


def lock_requirements(server: Server, tree: SourceTree) -> tuple[tuple[RequestedPackage, ...], Diagnostics]:
    """Return all requirements of a project, without the versions that a lock gave them."""
    files = MappingProxyType({path: source for path, source in tree.files.items() if path not in LOCK_FILES})
    plain = replace(tree, files=files, options=replace(tree.options, lock=""))
    declared, problems = read_requirements(plain, handler_files(server))
    locked, _ = locked_versions(tree)
    known = {item.name for item in declared}
    added = [_without_locked(item, locked) for item in server.requirements or () if item.name not in known]
    errors = tuple(problem for problem in problems if has_errors((problem,)))
    return (*declared, *sorted(added, key=lambda item: item.name)), errors


def _without_locked(item: RequestedPackage, locked: Mapping[str, str]) -> RequestedPackage:
    """Return a requirement that a front end has added, without what a lock has added to it."""
    constraints = tuple(text for text in item.constraints if pinned_version(text) != locked.get(Requirement(text).name))
    version = pinned_version(item.text)
    text = item.name if version and locked.get(item.name) == version else item.text
    return replace(item, text=text, constraints=constraints)


def lock_targets(tree: SourceTree, options: Options) -> list[Target | Diagnostic]:
    """Return the targets: those of the options, else those of the lock, else this machine and the project's Pythons."""
    before = () if options.platforms or options.minors else existing_targets(tree)
    if before:
        return [*before]
    python = required_python(tree)
    minors = options.minors or (python.minors if python else MINORS) or MINORS
    named = options.platform_tags or ("",)
    chosen: dict[Target | Diagnostic, None] = {}
    for platform in named:
        # A tag may name its Python already.
        for minor in minors if not re.search(r"-cp3\d+$", platform) else ("",):
            chosen[parse_target(platform, minor)] = None
    return sorted(
        chosen, key=lambda item: (item.platform, int(item.python[2:])) if isinstance(item, Target) else ("", 0)
    )


def existing_lock(tree: SourceTree) -> LockFile | None:
    """Return the lock that the project has; None if it has none, or one that cannot be read."""
    source = lock_source(tree)
    try:
        return None if source is None else read_lock(source)
    except LockError:
        return None


def existing_targets(tree: SourceTree) -> tuple[Target, ...]:
    """Return the targets of the project's lock, if `mcpc lock` wrote it."""
    lock = existing_lock(tree)
    table = (lock.pylock.tool or {}).get("mcpc", {}) if lock is not None and lock.is_ours else {}
    named = table.get("targets", []) if isinstance(table, dict) else []
    targets = [read_target(name) for name in named if isinstance(name, str)]
    return tuple(target for target in targets if isinstance(target, Target))


def target_name(target: Target) -> str:
    """Return the name of a target in the lock: `manylinux2014_x86_64-cp312`, or `cp312` for the machine of the lock."""
    python = f"cp{target.python.replace('.', '')}"
    return f"{target.platform}-{python}" if target.platform else python


def read_target(name: str) -> Target | Diagnostic:
    here = THIS_MACHINE.fullmatch(name)
    return parse_target("", f"3.{here['minor']}") if here else parse_target(name)


def existing_versions(tree: SourceTree) -> dict[str, str]:
    """Return the versions of the project's lock, of packages that have one there."""
    lock = existing_lock(tree)
    versions: dict[str, set[str]] = {}
    for package in lock.pylock.packages if lock is not None else ():
        if package.version is not None:
            versions.setdefault(package.name, set()).add(str(package.version))
    # Of several versions none is to be preferred.
    return {name: next(iter(numbers)) for name, numbers in versions.items() if len(numbers) == 1}
