"""Versions that uv chooses, and packages that it installs: from wheels only, or as if sources could be installed, too.

uv skips a version that has no wheel, and takes an older one without a word.  So what it installed is compared with what
it chooses of each package alone, where sources count: that asks for no metadata, and runs nothing.
"""

from __future__ import annotations

import tempfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.pylock import Pylock
from packaging.requirements import Requirement
from packaging.version import Version

from mcpc.packages.uv import (
    NO_BUILD,
    InstallError,
    NoWheelError,
    UvError,
    UvRequest,
    absent_version,
    failure_of,
    run_uv,
)
from mcpc.reading.toml import parse_toml

if TYPE_CHECKING:
    from collections.abc import Container
    from typing import Any

    from packaging.specifiers import SpecifierSet

    from mcpc.model.ir.layer import Origins
    from mcpc.packages.pep508 import Closure

WRITTEN = "pylock.toml"
ALONE = "--no-deps"
MAX_TRIED = 8
"""Maximum number of newer versions that are tried, by the names of packages: each is a resolution."""


def choose(request: UvRequest, *options: str) -> Pylock:
    """Return the lock of what uv chooses; raise InstallError."""
    with tempfile.TemporaryDirectory(prefix="mcpc-") as made:
        folder = Path(made).resolve()
        try:
            run_uv(("compile", "--format", WRITTEN, "--output-file", WRITTEN, *options), request, folder)
        except UvError as problem:
            raise _with_newest(failure_of(problem), request) from None
        return Pylock.from_dict(parse_toml((folder / WRITTEN).read_text("utf-8")))


def install(request: UvRequest, folder: Path, *options: str) -> None:
    """Install packages below a prefix; raise InstallError."""
    with tempfile.TemporaryDirectory(prefix="mcpc-") as made:
        try:
            run_uv(
                ("install", "--prefix", str(folder), NO_BUILD, "--verify-hashes", *options),
                request,
                Path(made).resolve(),
            )
        except UvError as problem:
            raise _with_newest(failure_of(problem), request) from None


def newest_version(name: str, specifier: SpecifierSet, date: str, origins: Origins) -> str:
    """Return the newest version of a package that a specifier allows, up to a date; empty if there is none."""
    with suppress(InstallError):
        (package,) = choose(UvRequest([f"{name}{specifier}"], origins=origins, date=date), ALONE).packages
        return str(package.version)
    return ""


def check_newest(closure: Closure[Any], elsewhere: Container[str], request: UvRequest) -> None:
    """Raise NoWheelError if an older version was installed because a newer one, or what that needs, has no wheel.

    `elsewhere`: packages that do not come from a registry.
    """
    asked = {name: closure.specifiers[name] for name in closure.found if name not in elsewhere}
    # Of an exact version there is no newer one.
    lines = [f"{name}{specifier}" for name, specifier in sorted(asked.items()) if not _is_exact(specifier)]
    alone = choose(replace(request, lines=lines, taken=()), ALONE).packages if lines else ()
    newer = [item for item in alone if item.version and item.version > Version(closure.found[item.name].version)]
    for item in newer[:MAX_TRIED]:
        try:
            choose(replace(request, constraints=(*request.constraints, f"{item.name}=={item.version}")), NO_BUILD)
        except NoWheelError:
            raise
        except InstallError:
            continue  # it does not fit the others


def _is_exact(specifier: SpecifierSet) -> bool:
    return any(item.operator in ("==", "===") and not item.version.endswith(".*") for item in specifier)


def _with_newest(problem: InstallError, request: UvRequest) -> InstallError:
    """Return a failure for want of a version, with the newest one that there is."""
    name = absent_version(problem.said)
    if not name or problem.hint:
        return problem
    newest = newest_version(name, Requirement(name).specifier, request.date, request.origins)
    return InstallError(str(problem), f"the newest version is `{name}=={newest}`" if newest else "", problem.said)
