"""Installation of required packages into a cache folder, from those installed with the compiler or by pip.

A folder is named by the digest of all its inputs, written completely or not at all, and valid only as long as every
file in it has its recorded digest. pip runs in a separate process and installs only wheels; a wheel of a folder of the
project, or of a package that has none, is built before (`sdists.py`).
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sys
import tempfile
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.requirements import Requirement

from mcpc.cache_dir import cache_folder, is_private, kind_folder, prune_entries
from mcpc.dependencies.indexes import SEVERAL_HELP, several_registries
from mcpc.dependencies.installation_failures import installation_failure
from mcpc.dependencies.installed_files import UnfitPackageError, copy_package
from mcpc.dependencies.model import Distribution, StagedPackages
from mcpc.dependencies.pep508 import applies, find_closure, normalised_name
from mcpc.dependencies.pip_install import (
    NO_INDEX,
    Installation,
    InstallError,
    NoWheelError,
    install_wheels,
    target_options,
)
from mcpc.dependencies.platforms import HERE_AND_NOW, Target, marker_values, parse_target
from mcpc.dependencies.repositories import fetch_repository
from mcpc.dependencies.sdists import BuildError, BuiltWheel, build_wheel, fetch_sdist, fetch_wheel, unpack
from mcpc.dependencies.upload_dates import earliest, limit_options
from mcpc.diagnostics import Diagnostic, diagnose
from mcpc.ir.requirements import RequestedPackage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from mcpc.diagnostics import Diagnostics

FORMAT = 2
"""Increased whenever the same request would be staged differently."""
REGISTRIES = ("PIP_CONFIG_FILE", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_INDEX_URL", "PIP_NO_INDEX", "PIP_PRE")
"""Variables that may change what pip installs."""
NAMED_REGISTRIES = ("--index-url=", "--extra-index-url=")
FILES, DESCRIPTION = "files", "staged.json"
IMPORTABLE = re.compile(r"(?P<name>[^\W\d]\w*)(?:/|(?:\.[\w-]+)?\.(?:py|so)$)")
MAX_BUILT = 30
MAX_LEFT_OUT = 100
"""Maximum number of packages without a wheel that one installation builds."""


@dataclass(frozen=True, slots=True)
class PackageRequest:
    """The requirements, their target, matching packages beside the compiler, and versions that pip must use.

    `indexes`: options for pip about registries.
    """

    wanted: Sequence[RequestedPackage]
    goal: Target
    beside: Sequence[metadata.Distribution]
    known: Sequence[str]
    indexes: tuple[str, ...] = ()

    @property
    def offline(self) -> tuple[str, ...]:
        """The options for pip by which it asks no registry; none if it may."""
        return self.indexes if NO_INDEX in self.indexes else ()

    def exclude_newer(self) -> str:
        """Return the date up to which versions count, an empty text if all do."""
        return exclude_newer(self.wanted)

    def key(self) -> str:
        """Return the digest of all inputs of the installation."""
        inputs = {
            "format": FORMAT,
            "wanted": [(item.text, item.hashes) for item in self.wanted],
            "local": {item.name: item.local.digest() for item in self.wanted if item.local is not None},
            "constraints": _constraints(self.wanted),
            "elsewhere": [(item.index, item.indexes, repr(item.repository)) for item in self.wanted],
            "goal": (self.goal.platform, self.goal.python, sys.platform, sys.version),
            "beside": [hashlib.sha256((item.read_text("RECORD") or "").encode()).hexdigest() for item in self.beside],
            "known": [*self.known],
            "exclude newer": self.exclude_newer(),
            "registries": {name: os.environ.get(name, "") for name in REGISTRIES},
        }
        return hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()


def stage_packages(
    wanted: Sequence[RequestedPackage], platform: str, python: str
) -> tuple[StagedPackages | None, Diagnostics]:
    """Return the installed `wanted` packages with their requirements (see `mcpc.dependencies.stage_packages`)."""
    goal = parse_target(platform, python)
    if isinstance(goal, Diagnostic):
        return None, (goal,)
    indexes = tuple(dict.fromkeys(option for item in wanted for option in item.indexes))
    several = several_registries(indexes)
    if several:
        span = next((item.span for item in wanted if item.span), None)
        return None, (diagnose("MCP405", span, several, "", SEVERAL_HELP),)
    request = PackageRequest(wanted, goal, _matching_packages(wanted, goal), _preferred_versions(wanted), indexes)
    folder = cache_folder() / "packages" / request.key()
    distributions = load_folder(folder)
    if distributions is None:
        try:
            distributions = fill_folder(folder, partial(_filled, request))
        except (InstallError, BuildError, UnfitPackageError, OSError) as problem:
            return None, (installation_failure(problem, wanted, goal),)
    return StagedPackages(
        folder / FILES, distributions, importable_names(distributions), goal.platform, goal.python
    ), ()


def installed_package(name: str) -> metadata.Distribution | None:
    """Return the package that is installed with the compiler under this name."""
    try:
        return metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return None


def provider(module: str) -> str:
    """Return the package installed with the compiler that contains `module` (see `mcpc.dependencies.provider`)."""
    names = metadata.packages_distributions().get(module, ())
    return next((f"{name}=={metadata.version(name)}" for name in sorted(names)), "")


def _matching_packages(wanted: Sequence[RequestedPackage], goal: Target) -> tuple[metadata.Distribution, ...]:
    """Return the packages installed with the compiler that match the requirements exactly, or nothing.

    A hash is of a wheel, which installed files do not have any more.
    """
    is_limited = not goal.is_here or exclude_newer(wanted)
    if is_limited or any(item.hashes or _has_indexes(item) or _is_elsewhere(item) for item in wanted):
        return ()
    found = find_closure((item.text for item in wanted), installed_package, marker_values(goal))
    if found.missing or any(_excludes(text, found.found) for text in _constraints(wanted)):
        return ()
    return tuple(found.found[name] for name in sorted(found.found))


def exclude_newer(wanted: Iterable[RequestedPackage]) -> str:
    """Return the earliest date up to which versions count, an empty text if none of the requirements has one."""
    return earliest(item.exclude_newer for item in wanted)


def _has_indexes(item: RequestedPackage) -> bool:
    """Tell whether the project names registries: packages that are installed may be from others."""
    return any(option.startswith(NAMED_REGISTRIES) for option in item.indexes)


def _is_elsewhere(item: RequestedPackage) -> bool:
    """Tell whether a package comes from the project or an address, not from a registry."""
    named = item.local is not None or item.repository is not None or bool(item.index)
    return named or Requirement(item.text).url is not None


def _constraints(wanted: Iterable[RequestedPackage]) -> list[str]:
    """Return the requirements that apply to packages that anything brings."""
    return sorted({text for item in wanted for text in item.constraints})


def _excludes(text: str, found: Mapping[str, metadata.Distribution]) -> bool:
    """Tell whether a constraint excludes the version of a package that was found."""
    constraint = Requirement(text)
    package = found.get(normalised_name(constraint.name))
    return package is not None and not constraint.specifier.contains(package.version, prereleases=True)


def load_folder(folder: Path) -> tuple[Distribution, ...] | None:
    """Return the packages in a folder that was filled before; None if it was not, or was changed."""
    if not is_private(folder):
        return None
    try:
        rows = json.loads((folder / DESCRIPTION).read_bytes())
        found = tuple(Distribution(**{**row, "tags": tuple(row["tags"])}) for row in rows)
        is_whole = all(
            hashlib.sha256((folder / FILES / path).read_bytes()).hexdigest() == digest
            for item in found
            for path, digest in item.files.items()
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if not is_whole:
        return None
    with suppress(OSError):
        os.utime(folder)  # it was used
    return found


def fill_folder(folder: Path, install: Callable[[Path], tuple[Distribution, ...]]) -> tuple[Distribution, ...]:
    """Install into a folder beside `folder`, and rename it when it is complete."""
    kind_folder(folder.parent.name)
    made = Path(tempfile.mkdtemp(dir=folder.parent, prefix="new-"))
    try:
        distributions = install(made)
        (made / DESCRIPTION).write_text(
            json.dumps([asdict(distribution) for distribution in distributions]), encoding="utf-8"
        )
        _rename(made, folder)
    finally:
        shutil.rmtree(made, ignore_errors=True)
    prune_entries(folder.parent.name)
    return distributions


def _filled(request: PackageRequest, made: Path) -> tuple[Distribution, ...]:
    """Copy or install the packages into a folder."""
    found = _copied(made, request.beside) if request.beside else None
    return _installed(made, request) if found is None else found


def _copied(made: Path, beside: Sequence[metadata.Distribution]) -> tuple[Distribution, ...] | None:
    """Copy packages installed with the compiler; None if one was changed after its installation."""
    try:
        return tuple(copy_package(item, made / FILES) for item in beside)
    except UnfitPackageError:
        shutil.rmtree(made / FILES, ignore_errors=True)
        return None


def _installed(made: Path, request: PackageRequest) -> tuple[Distribution, ...]:
    """Install the packages with pip, and copy their files.

    pip evaluates the markers of requirements for the running Python (`; sys_platform == "win32"`), also when it
    installs for another platform. So those of the project are evaluated here, and what pip left out is named to it.
    """
    folder = made / "installed/packages"
    wheels = local_wheels(request, made / "installed/wheels")
    markers = marker_values(request.goal)
    wanted = [_without_marker(item) for item in request.wanted if applies(Requirement(item.text), "", markers)]
    while True:
        there = _install(folder, request, wanted, wheels) if wanted else {}
        found = find_closure((item.text for item in wanted), there.get, markers)
        absent = [text for _, text in found.missing if normalised_name(Requirement(text).name) not in there]
        if not absent or len(wanted) > len(request.wanted) + MAX_LEFT_OUT:
            break
        origin = RequestedPackage("", "", from_source=wanted[0].from_source, exclude_newer=request.exclude_newer())
        wanted += [replace(origin, name=normalised_name(Requirement(text).name), text=text) for text in absent]
        shutil.rmtree(folder)
    if found.missing:
        by, text = found.missing[0]
        raise UnfitPackageError(f"`{by}` needs `{text}` on {request.goal.name}, which pip left out or refused there")
    distributions = tuple(copy_package(found.found[name], made / FILES) for name in sorted(found.found))
    shutil.rmtree(folder.parent)
    return distributions


def _without_marker(item: RequestedPackage) -> RequestedPackage:
    requirement = Requirement(item.text)
    if requirement.marker is None:
        return item
    requirement.marker = None
    return replace(item, text=str(requirement))


def _install(
    folder: Path, request: PackageRequest, wanted: Sequence[RequestedPackage], wheels: dict[str, Path]
) -> dict[str, metadata.Distribution]:
    """Install packages with pip; build those that have no wheel, if that is allowed."""
    for _ in range(MAX_BUILT):
        folder.mkdir(parents=True)
        named = {item.text for item in wanted}
        known = [text for text in (*request.known, *_constraints(request.wanted)) if text not in named]
        try:
            install_wheels(Installation(wanted, request.goal, known, wheels, request.exclude_newer()), folder)
            break
        except NoWheelError as absent:
            _build_missing(absent, request, wheels, folder.parent)
            shutil.rmtree(folder)
    found = metadata.distributions(path=[str(folder)])
    return {normalised_name(distribution.metadata["Name"]): distribution for distribution in found}


def local_wheels(request: PackageRequest, folder: Path) -> dict[str, Path]:
    """Return the wheels of the packages that the project contains, or names a place for, by name."""
    folder.mkdir(parents=True)
    found: dict[str, Path] = {}
    stage = partial(stage_for_build, indexes=request.indexes)
    for item in request.wanted:
        if item.local is not None and item.local.is_wheel:
            ((file, data),) = item.local.files.items()
            found[item.name] = write_wheel(BuiltWheel(file, data), folder)
        elif item.local is not None:
            found[item.name] = write_wheel(build_wheel(item.name, item.local.files, stage), folder)
        elif item.repository is not None:
            if request.offline:
                raise BuildError(item.name, "it comes from a git repository, which `--offline` does not ask")
            with tempfile.TemporaryDirectory(prefix="git-", dir=folder.parent) as fetched:
                files = fetch_repository(item.name, item.repository, Path(fetched))
            found[item.name] = write_wheel(build_wheel(item.name, files, stage), folder)
        elif item.index:
            options = [*target_options(request.goal), *limit_options(request.exclude_newer())]
            found[item.name] = fetch_wheel(item, options, folder)
    return found


def _build_missing(absent: NoWheelError, request: PackageRequest, wheels: dict[str, Path], folder: Path) -> None:
    """Add the wheel of a package that has none, if that is allowed; raise NoWheelError or BuildError."""
    name = normalised_name(Requirement(absent.text).name)
    if name in wheels:
        raise BuildError(name, f"its wheel `{wheels[name].name}` is not for {request.goal.name}")
    if not any(item.from_source for item in request.wanted):
        raise absent
    hashes = tuple(checksum for item in request.wanted if item.name == name for checksum in item.hashes)
    with tempfile.TemporaryDirectory(prefix="sdist-", dir=folder) as fetched:
        options = [*limit_options(request.exclude_newer()), *request.indexes]
        found = fetch_sdist(absent.text, Path(fetched), hashes, options)
        files = unpack(name, found.file, found.data)
    stage = partial(stage_for_build, date=request.exclude_newer(), indexes=request.indexes)
    wheels[name] = write_wheel(build_wheel(name, files, stage), folder / "wheels")


def write_wheel(wheel: BuiltWheel, folder: Path) -> Path:
    place = folder / wheel.file
    place.write_bytes(wheel.data)
    return place


def stage_for_build(wanted: Sequence[RequestedPackage], date: str = "", indexes: tuple[str, ...] = ()) -> str:
    """Return the folder of packages that a build requires; an empty text if it requires none."""
    if not wanted:
        return ""
    staged, problems = stage_packages([replace(item, exclude_newer=date, indexes=indexes) for item in wanted], "", "")
    if staged is None:
        raise BuildError(wanted[0].name, f"what its build requires is missing: {problems[0].message}")
    return str(staged.root)


def _preferred_versions(wanted: Sequence[RequestedPackage]) -> tuple[str, ...]:
    """Return the versions of the requirements installed with the compiler, if all are installed.

    pip must use them, so that unpinned requirements are the same for every platform, and over time.
    """
    found = find_closure((item.text for item in wanted), installed_package, marker_values(HERE_AND_NOW))
    if found.missing or exclude_newer(wanted) or any(item.hashes for item in wanted):
        return ()
    elsewhere = {item.name for item in wanted if _is_elsewhere(item)}
    constraints = _constraints(wanted)
    return tuple(
        f"{name}=={found.found[name].version}"
        for name in sorted(found.found)
        if name not in elsewhere and not any(_excludes(text, {name: found.found[name]}) for text in constraints)
    )


def _rename(made: Path, folder: Path) -> None:
    """Rename a filled folder; another process may have created the same one, which is used unless it was changed."""
    try:
        made.rename(folder)
    except OSError:
        if load_folder(folder) is None:
            shutil.rmtree(folder, ignore_errors=True)
            with suppress(OSError):
                made.rename(folder)


def importable_names(distributions: Iterable[Distribution]) -> frozenset[str]:
    """Return the top-level names of packages."""
    names = (IMPORTABLE.match(path) for distribution in distributions for path in distribution.files)
    return frozenset(found["name"] for found in names if found)
