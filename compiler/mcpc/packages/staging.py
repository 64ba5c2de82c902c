"""Installation of required packages into a cache folder, from those installed with the compiler or by uv.

A folder is named by the digest of all its inputs, written completely or not at all, and valid only as long as every
file in it has its recorded digest. uv installs wheels only; that of a folder of the project, or of a package that has
none, is built before (`sdists.py`).
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sys
import tempfile
from dataclasses import dataclass, replace
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urldefrag

from packaging.requirements import Requirement

from mcpc.diagnostics import Diagnostic, diagnose
from mcpc.packages.cached_packages import FILES, fill_folder, load_folder
from mcpc.packages.choosing import check_newest, install
from mcpc.packages.downloads import all_origins, earliest
from mcpc.packages.installed_files import UnfitPackageError, copy_package, copy_packages, installed_packages
from mcpc.packages.model import Distribution, StagedPackages
from mcpc.packages.pep508 import find_closure, installed_package, normalised_name
from mcpc.packages.platforms import HERE_AND_NOW, Target, marker_values, parse_target
from mcpc.packages.sdists import BuildError, BuiltWheel, build_wheel, fetch_repository, fetch_sdist, unpack
from mcpc.packages.uv import REGISTRIES, InstallError, NoWheelError, UvRequest, uv_request
from mcpc.sandbox.cache_dir import cache_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mcpc.diagnostics import Diagnostics, Span
    from mcpc.model.ir.layer import Origins, RequestedPackage
    from mcpc.packages.pep508 import Closure, Installed


FORMAT = 3
"""Increased whenever the same request would be staged differently."""
# The first folder of a path, or a module that is in none, without the tag of a Python.
IMPORTABLE = re.compile(r"(?P<name>[^\W\d]\w*)(?:/|(?:\.[\w-]+)?\.(?:py|so)$)")
MAX_BUILT = 30
"""Maximum number of packages without a wheel that one installation builds."""


@dataclass(frozen=True, slots=True)
class PackageRequest:
    """The requirements, their target, matching packages beside the compiler, and versions that must be used."""

    wanted: Sequence[RequestedPackage]
    goal: Target
    beside: Sequence[metadata.Distribution] = ()
    known: Sequence[str] = ()

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
            "elsewhere": [(item.registry, repr(item.origins), repr(item.repository)) for item in self.wanted],
            "goal": (self.goal.platform, self.goal.python, sys.platform, sys.version),
            # RECORD has the digests of all files of a package.
            "beside": [hashlib.sha256((item.read_text("RECORD") or "").encode()).hexdigest() for item in self.beside],
            "known": [*self.known],
            "exclude newer": self.exclude_newer(),
            "registries": {name: os.environ.get(name, "") for name in REGISTRIES},
        }
        return hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()


def stage_packages(
    wanted: Sequence[RequestedPackage], platform: str, python: str
) -> tuple[StagedPackages | None, Diagnostics]:
    """Return the installed `wanted` packages with their requirements (see `mcpc.packages.stage_packages`)."""
    goal = parse_target(platform, python)
    if isinstance(goal, Diagnostic):
        return None, (goal,)
    beside = find_closure((item.text for item in wanted), installed_package, marker_values(HERE_AND_NOW))
    matching = _matching_packages(wanted, goal, beside)
    request = PackageRequest(wanted, goal, matching, _preferred_versions(wanted, beside))
    folder = cache_folder() / "packages" / request.key()
    distributions = load_folder(folder)
    if distributions is None:
        try:
            distributions = fill_folder(folder, partial(_filled, request))
        except (InstallError, BuildError, UnfitPackageError, OSError) as problem:
            return None, (installation_failure(problem, wanted, goal),)
    names = importable_names(distributions)
    return StagedPackages(folder / FILES, distributions, names, goal.platform, goal.python), shared_files(distributions)


def shared_files(distributions: Iterable[Distribution]) -> Diagnostics:
    """Return a note for each package of which another one has a file."""
    notes: list[Diagnostic] = []
    for item in distributions:
        for owner in sorted(set(item.replaced.values())):
            paths = [path for path, name in item.replaced.items() if name == owner]
            others = f" and {len(paths) - 1} more files" if len(paths) > 1 else ""
            message = f"`{paths[0]}`{others} of `{item.name}` is that of `{owner}`, which is installed after it"
            notes.append(diagnose("MCP428", None, message, "", "require only one of the two to have its files"))
    return tuple(notes)


def provider(module: str) -> str:
    """Return the package installed with the compiler that contains `module` (see `mcpc.packages.provider`)."""
    names = metadata.packages_distributions().get(module, ())
    return next((f"{name}=={metadata.version(name)}" for name in sorted(names)), "")


def _matching_packages(
    wanted: Sequence[RequestedPackage], goal: Target, beside: Closure[metadata.Distribution]
) -> tuple[metadata.Distribution, ...]:
    """Return the packages installed with the compiler (`beside`) that match the requirements exactly, or nothing.

    A hash is of a wheel, which installed files do not have any more.
    """
    is_limited = not goal.is_here or exclude_newer(wanted)
    if is_limited or any(item.hashes or item.origins.registries or _is_elsewhere(item) for item in wanted):
        return ()
    if beside.missing or any(_excludes(text, beside.found) for text in _constraints(wanted)):
        return ()
    return tuple(beside.found[name] for name in sorted(beside.found))


def exclude_newer(wanted: Iterable[RequestedPackage]) -> str:
    """Return the earliest date up to which versions count, an empty text if none of the requirements has one."""
    return earliest(item.exclude_newer for item in wanted)


def _is_elsewhere(item: RequestedPackage) -> bool:
    """Tell whether a package comes from the project or an address, not from a registry."""
    named = item.local is not None or item.repository is not None or bool(item.registry)
    return named or Requirement(item.text).url is not None


def _constraints(wanted: Iterable[RequestedPackage]) -> list[str]:
    """Return the requirements that apply to packages that anything brings."""
    return sorted({text for item in wanted for text in item.constraints})


def _excludes(text: str, found: Mapping[str, metadata.Distribution]) -> bool:
    """Tell whether a constraint excludes the version of a package that was found."""
    constraint = Requirement(text)
    package = found.get(normalised_name(constraint.name))
    return package is not None and not constraint.specifier.contains(package.version, prereleases=True)


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
    """Install the packages with uv, and copy their files; build those that have no wheel, if that is allowed."""
    folder = made / "installed/packages"
    wheels = local_wheels(request, made / "installed/wheels")
    most = len(wheels) + MAX_BUILT
    while True:
        try:
            closure = _install(folder, request, wheels)
            break
        except NoWheelError as absent:
            # Each round builds one package, and its wheel may bring the next one that has none.
            if len(wheels) == most:
                raise
            _build_missing(absent, request, wheels, folder.parent)
            shutil.rmtree(folder, ignore_errors=True)
    if closure.missing:
        by, text = closure.missing[0]
        raise UnfitPackageError(f"`{by}` needs `{text}` on {request.goal.name}, which was not installed")
    lines = {name: package_line(name, item.version, wheels) for name, item in closure.found.items()}
    again = UvRequest((), target=request.goal, origins=all_origins(request.wanted), date=request.exclude_newer())
    distributions = copy_packages(
        closure, made / FILES, lambda name, fresh: reinstall(lines[name], again, folder, fresh)
    )
    shutil.rmtree(folder.parent)
    return distributions


def _asked(request: PackageRequest, wheels: Mapping[str, Path]) -> UvRequest:
    return uv_request(request.wanted, wheels, request.goal, (*request.known, *_constraints(request.wanted)))


def package_line(name: str, version: str, wheels: Mapping[str, Path]) -> str:
    """Return a requirement on one version of a package."""
    return f"{name} @ {wheels[name].as_uri()}" if name in wheels else f"{name}=={version}"


def reinstall(line: str, request: UvRequest, folder: Path, fresh: bool) -> None:
    """Install one package over the others in a folder; `fresh`: not from uv's cache."""
    install(replace(request, lines=[line]), folder, "--no-deps", "--reinstall", *(("--no-cache",) if fresh else ()))


def _install(folder: Path, request: PackageRequest, wheels: Mapping[str, Path]) -> Closure[Installed]:
    """Install packages; raise NoWheelError if one that would be chosen has no wheel."""
    asked = _asked(request, wheels)
    install(asked, folder, *(("--require-hashes",) if any(item.hashes for item in request.wanted) else ()))
    there = installed_packages(folder)
    found = find_closure((item.text for item in request.wanted), there.get, marker_values(request.goal))
    elsewhere = {item.name for item in request.wanted if _is_elsewhere(item)} | wheels.keys()
    check_newest(found, elsewhere, asked)
    return found


def local_wheels(request: PackageRequest, folder: Path) -> dict[str, Path]:
    """Return the wheels of the packages that the project contains, or names a place for, by name."""
    folder.mkdir(parents=True)
    found: dict[str, Path] = {}
    stage = partial(stage_for_build, origins=all_origins(request.wanted))
    for item in request.wanted:
        if item.local is not None and item.local.is_wheel:
            ((file, data),) = item.local.files.items()
            found[item.name] = write_wheel(BuiltWheel(file, data), folder)
        elif item.local is not None:
            found[item.name] = write_wheel(build_wheel(item.name, item.local.files, stage), folder)
        elif item.repository is not None:
            if item.origins.offline:
                raise BuildError(item.name, "it comes from a git repository, which `--offline` does not ask")
            with tempfile.TemporaryDirectory(prefix="git-", dir=folder.parent) as fetched:
                files = fetch_repository(item.name, item.repository, Path(fetched))
            found[item.name] = write_wheel(build_wheel(item.name, files, stage), folder)
    return found


def _build_missing(absent: NoWheelError, request: PackageRequest, wheels: dict[str, Path], folder: Path) -> None:
    """Add the wheel of a package that has none, if that is allowed; raise NoWheelError or BuildError."""
    name = normalised_name(Requirement(absent.text).name)
    if name in wheels:
        raise BuildError(name, f"its wheel `{wheels[name].name}` is not for {request.goal.name}")
    if not any(item.from_source for item in request.wanted):
        raise absent
    hashes = tuple(checksum for item in request.wanted if item.name == name for checksum in item.hashes)
    sdist = fetch_sdist(absent.text, hashes, _asked(request, wheels))
    files = unpack(name, sdist.file, sdist.data)
    stage = partial(stage_for_build, date=request.exclude_newer(), origins=all_origins(request.wanted))
    wheels[name] = write_wheel(build_wheel(name, files, stage), folder / "wheels")


def write_wheel(wheel: BuiltWheel, folder: Path) -> Path:
    place = folder / wheel.file
    place.write_bytes(wheel.data)
    return place


def stage_for_build(wanted: Sequence[RequestedPackage], origins: Origins, date: str = "") -> str:
    """Return the folder of packages that a build requires; an empty text if it requires none."""
    if not wanted:
        return ""
    staged, problems = stage_packages([replace(item, exclude_newer=date, origins=origins) for item in wanted], "", "")
    if staged is None:
        raise BuildError(wanted[0].name, f"what its build requires is missing: {problems[0].message}")
    return str(staged.root)


def _preferred_versions(wanted: Sequence[RequestedPackage], beside: Closure[metadata.Distribution]) -> tuple[str, ...]:
    """Return the versions of the requirements installed with the compiler, if all are installed.

    They must be used, so that unpinned requirements are the same for every platform, and over time.
    """
    if beside.missing or exclude_newer(wanted) or any(item.hashes for item in wanted):
        return ()
    elsewhere = {item.name for item in wanted if _is_elsewhere(item)}
    constraints = _constraints(wanted)
    return tuple(
        f"{name}=={beside.found[name].version}"
        for name in sorted(beside.found)
        if name not in elsewhere and not any(_excludes(text, {name: beside.found[name]}) for text in constraints)
    )


def importable_names(distributions: Iterable[Distribution]) -> frozenset[str]:
    """Return the top-level names of packages."""
    names = (IMPORTABLE.match(path) for distribution in distributions for path in distribution.files)
    return frozenset(found["name"] for found in names if found)


HOW_TO_ALLOW = "`--allow-sdist`, or `allow-sdist = true` in `[tool.mcpc]`, builds one: that runs its code, confined"
HOW_TO_BUILD = "name a version that has a wheel, or put a wheel of it into the project (`NAME @ ./NAME.whl`)"
HOW_TO_REQUIRE = "a package needs an exact version and a wheel for the platform to be bundled"
HOW_TO_OFFLINE = "put wheels of it and of what it needs into a folder, and name that with `--find-links`"


def installation_failure(problem: Exception, wanted: Sequence[RequestedPackage], goal: Target) -> Diagnostic:
    """Return the diagnostic of a failure, at the requirement that its message names."""
    words = str(problem)
    if isinstance(problem, UnfitPackageError):
        return diagnose("MCP407", span_of_package(words, wanted), words, "", "name another version of it")
    if isinstance(problem, OSError):
        message = f"packages cannot be cached in `{cache_folder()}`: {problem.strerror or problem}"
        return diagnose("MCP405", None, message, "", "set MCPC_CACHE_DIR to a writable folder")
    if isinstance(problem, NoWheelError):
        span = span_of_package(f"{words} {problem.by}", wanted)
        return diagnose("MCP417", span, problem.describe(goal), "", HOW_TO_ALLOW)
    if isinstance(problem, BuildError):
        message = f"`{problem.name}` could not be built: {words}"
        return diagnose("MCP418", span_of_package(problem.name, wanted), message, "", HOW_TO_BUILD)
    message = f"the packages for {goal.name} cannot be installed: {words}"
    span = _span_of_address(problem, wanted) or span_of_package(words, wanted)
    if any(item.origins.offline for item in wanted):
        return diagnose("MCP423", span, message, "", HOW_TO_OFFLINE)
    hint = problem.hint if isinstance(problem, InstallError) else ""
    return diagnose("MCP405", span, message, "", hint or HOW_TO_REQUIRE)


def _span_of_address(problem: Exception, wanted: Sequence[RequestedPackage]) -> Span | None:
    """Return the place of the requirement whose address uv could not read."""
    said = problem.said if isinstance(problem, InstallError) else ""
    addresses = ((urldefrag(Requirement(item.text).url or "").url, item.span) for item in wanted)
    return next((span for address, span in addresses if address and address in said), None)


def span_of_package(words: str, wanted: Sequence[RequestedPackage]) -> Span | None:
    """Return the place of the requirement that a message names, else of the first one."""
    # Names are normalised (PEP 503), as uv does not always write them so.
    named = [
        item.span for item in wanted if re.search(rf"\b{re.escape(item.name)}\b", re.sub(r"[-_.]+", "-", words).lower())
    ]
    return next((span for span in (*named, *(item.span for item in wanted)) if span is not None), None)
