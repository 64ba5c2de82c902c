"""Versions and files for each target, by `uv pip compile`: one resolution for each, from wheels only.

Versions of an existing lock are taken if they fit, and one version for all targets if there is one.  A package that has
no wheel is built, confined, if that is allowed: uv is offered the wheel, and the lock has the sources.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from packaging.requirements import Requirement
from packaging.utils import parse_wheel_filename
from packaging.version import Version

from mcpc.packages.choosing import choose
from mcpc.packages.downloads import fetch
from mcpc.packages.lock_files import LockedFile, LockError, LockFile
from mcpc.packages.pep508 import normalised_name
from mcpc.packages.platforms import HERE_AND_NOW
from mcpc.packages.sdists import build_wheel, check_fits, fetch_sdist, unpack
from mcpc.packages.staging import stage_for_build, write_wheel
from mcpc.packages.uv import NO_BUILD, InstallError, NoWheelError, uv_request
from mcpc.reading import Source
from mcpc.release.locking.request import OnlySourcesError, ResolutionError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from mcpc.packages.platforms import Target
    from mcpc.packages.uv import UvRequest
    from mcpc.release.locking.request import LockRequest

    TargetFiles = dict[Target, dict[str, LockedFile]]

REGISTRY = "the registry"


@dataclass(frozen=True, slots=True)
class ResolvedFiles:
    """The files that uv has chosen, by target and package: selected as those of a lock (`FileSelection`)."""

    files: Mapping[Target, Mapping[str, LockedFile]]
    request: UvRequest
    path: str = "what was resolved"

    def check_target(self, target: Target) -> None:
        """Accept every target: each was resolved."""

    def file_for(self, name: str, target: Target) -> LockedFile | None:
        """Return the file of a package for a target; None if there is none."""
        return self.files[target].get(name)


def resolve(request: LockRequest, local: Mapping[str, Path], built: Mapping[str, LockedFile]) -> ResolvedFiles:
    """Return files for all targets; raise ResolutionError, which is OnlySourcesError for a package without a wheel.

    `local`: wheels of the project's packages; `built`: sources by the names of the wheels that were built of them.
    """
    fitting = _fitting(request)
    if fitting:
        try:
            return _with_one_version(replace(request, preferred=dict(fitting)), local, built)
        # A preferred version without a wheel may be built, so it is no reason to choose other versions.
        except OnlySourcesError:
            raise
        except ResolutionError:
            pass
    return _with_one_version(replace(request, preferred={}), local, built)


def _fitting(request: LockRequest) -> tuple[tuple[str, str], ...]:
    """Return the preferred versions that no requirement of the project excludes."""
    specifiers = {item.name: Requirement(item.text).specifier for item in request.wanted}
    return tuple(
        (name, version)
        for name, version in sorted(request.preferred.items())
        if name not in specifiers or specifiers[name].contains(version, prereleases=True)
    )


def _with_one_version(
    request: LockRequest, local: Mapping[str, Path], built: Mapping[str, LockedFile]
) -> ResolvedFiles:
    """Return the files of all targets, with one version of each package if that is possible."""
    resolved = _resolved(request, local, built)
    versions: dict[str, set[Version]] = {}
    for files in resolved.files.values():
        for name, file in files.items():
            if file.version:
                versions.setdefault(name, set()).add(Version(file.version))
    # Newer versions drop old Pythons, so that the lowest is the likeliest to fit all targets.
    several = {name: str(min(there)) for name, there in versions.items() if len(there) > 1}
    if several:
        with suppress(ResolutionError):
            return _resolved(replace(request, preferred={**request.preferred, **several}), local, built)
    return resolved


def _resolved(request: LockRequest, local: Mapping[str, Path], built: Mapping[str, LockedFile]) -> ResolvedFiles:
    asked = _asked(request, local)
    files = {target: _target_files(replace(asked, target=target), local, built) for target in request.targets}
    return ResolvedFiles(files, asked)


def _asked(request: LockRequest, local: Mapping[str, Path]) -> UvRequest:
    """Return the request to uv; the digests of requirements are compared later, with those of the files."""
    constraints = [f"{name}=={version}" for name, version in sorted(request.preferred.items())]
    constraints += sorted({text for item in request.wanted for text in item.constraints})
    asked = uv_request([replace(item, hashes=()) for item in request.wanted], local, None, constraints)
    built = (request.built,) if request.built else ()
    return replace(asked, origins=replace(asked.origins, find_links=(*built, *asked.origins.find_links)))


def _target_files(
    asked: UvRequest, local: Mapping[str, Path], built: Mapping[str, LockedFile]
) -> dict[str, LockedFile]:
    target = asked.target or HERE_AND_NOW
    try:
        chosen = choose(asked, NO_BUILD)
    except NoWheelError as absent:
        raise OnlySourcesError(absent, target) from None
    except InstallError as problem:
        raise ResolutionError(f"no versions for {target.name}: {problem}", problem.hint) from None
    lock = LockFile(Source(REGISTRY, b""), replace(chosen, environments=None, requires_python=None))
    files: dict[str, LockedFile] = {}
    for name in sorted(lock.names() - local.keys()):
        try:
            file = lock.file_for(name, target)
        except LockError as problem:
            raise ResolutionError(str(problem).replace(f"`{REGISTRY}`", REGISTRY)) from None
        if file is not None:
            # A wheel that was built here stands for its sources, which are what is locked.
            files[name] = replace(built.get(file.file, file), needs=())
    return {name: _with_digest(file, asked) for name, file in files.items()}


def _with_digest(file: LockedFile, asked: UvRequest) -> LockedFile:
    # A registry need not name a digest (PEP 503): then the file itself is fetched.
    data = b"" if file.sha256 else fetch(file, "", asked.origins)
    return replace(file, sha256=hashlib.sha256(data).hexdigest(), size=len(data)) if data else file


def build_sources(absent: NoWheelError, request: LockRequest, folder: Path) -> tuple[str, LockedFile]:
    """Write the wheel of a package into a folder; return the wheel's name, and the file that is to be locked.

    It raises BuildError for sources that no wheel can be built of.
    """
    requirement = Requirement(absent.text)
    name = normalised_name(requirement.name)
    if name in request.preferred and requirement.specifier.contains(request.preferred[name], prereleases=True):
        requirement = Requirement(f"{name}=={request.preferred[name]}")
    hashes = tuple(text for item in request.wanted if item.name == name for text in item.hashes)
    wanted = [item for item in request.wanted if item.local is None and item.repository is None]
    asked = _asked(replace(request, wanted=tuple(wanted), preferred={}, built=""), {})
    sdist = fetch_sdist(str(requirement), hashes, asked)
    stage = partial(stage_for_build, date=asked.date, origins=asked.origins)
    wheel = build_wheel(name, unpack(name, sdist.file, sdist.data), stage)
    for target in request.targets:
        check_fits(name, wheel, target)
    write_wheel(wheel, folder)
    version = str(parse_wheel_filename(wheel.file)[1])
    digest = hashlib.sha256(sdist.data).hexdigest()
    return wheel.file, LockedFile(name, version, sdist.file, digest, len(sdist.data), sdist.address)
