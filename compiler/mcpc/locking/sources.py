"""Packages that have no wheel: their source distributions are locked, and built, so that a resolver can choose them.

A resolver never runs a package's code: it is offered the wheel that was built of the sources, confined, and what it
chooses of these is replaced by the source distribution.
"""

from __future__ import annotations

import hashlib
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.requirements import Requirement
from packaging.utils import parse_wheel_filename

from mcpc.dependencies.lock_files import LockedFile
from mcpc.dependencies.locked_files import keep_file
from mcpc.dependencies.pep508 import normalised_name
from mcpc.dependencies.sdists import build_wheel, check_fits, fetch_sdist, unpack
from mcpc.dependencies.staging import stage_for_build, write_wheel
from mcpc.dependencies.upload_dates import earliest, limit_options
from mcpc.locking.failures import OnlySourcesError

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc.dependencies.platforms import Target
    from mcpc.locking.request import LockRequest

    TargetFiles = dict[Target, dict[str, LockedFile]]
    Resolver = Callable[[LockRequest], TargetFiles]

MAX_BUILT = 30
"""Maximum number of packages without a wheel that a lock may have."""


def resolve_with_sources(request: LockRequest, resolver: Resolver) -> TargetFiles:
    """Return what a resolver chooses, with sources where there is no wheel if these may be built.

    It raises ResolutionError, and BuildError for sources that no wheel for the target can be built of.
    """
    with tempfile.TemporaryDirectory(prefix="mcpc-") as made:
        folder = Path(made).resolve()
        built: dict[str, LockedFile] = {}
        while True:
            try:
                found = resolver(replace(request, built=str(folder) if built else ""))
            except OnlySourcesError as problem:
                if not request.builds_sources or len(built) == MAX_BUILT:
                    raise
                name, file = build_sources(problem, request, folder)
                built[name] = file
            else:
                return {
                    target: {name: built.get(file.file, file) for name, file in files.items()}
                    for target, files in found.items()
                }


def build_sources(problem: OnlySourcesError, request: LockRequest, folder: Path) -> tuple[str, LockedFile]:
    """Write the wheel of a package into a folder; return the wheel's name, and the file that is to be locked."""
    requirement = Requirement(problem.absent.text)
    name = normalised_name(requirement.name)
    if name in request.preferred and requirement.specifier.contains(request.preferred[name], prereleases=True):
        requirement = Requirement(f"{name}=={request.preferred[name]}")
    date = earliest(item.exclude_newer for item in request.wanted)
    hashes = tuple(text for item in request.wanted if item.name == name for text in item.hashes)
    with tempfile.TemporaryDirectory(prefix="mcpc-") as fetched:
        options = [*limit_options(date), *request.indexes]
        found = fetch_sdist(str(requirement), Path(fetched).resolve(), hashes, options)
    stage = partial(stage_for_build, date=date, indexes=request.indexes)
    wheel = build_wheel(name, unpack(name, found.file, found.data), stage)
    check_fits(name, wheel, problem.target)
    write_wheel(wheel, folder)
    keep_file(found.data)
    version = str(parse_wheel_filename(wheel.file)[1])
    digest = hashlib.sha256(found.data).hexdigest()
    return wheel.file, LockedFile(name, version, found.file, digest, len(found.data), found.address)
