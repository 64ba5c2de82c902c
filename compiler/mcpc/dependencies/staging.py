"""What is asked for, installed into a folder of the cache: from what lies beside the compiler if that will do, or pip.

A folder is named by the digest of all that decides what is in it, written whole or not at all, and believed only as
long as every file in it has the digest it was written with.
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
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from mcpc.dependencies.closure import closure
from mcpc.dependencies.installer import InstallError, install
from mcpc.dependencies.model import Distribution, Staged
from mcpc.dependencies.platforms import HERE_AND_NOW, Target, markers, target
from mcpc.dependencies.spelling import normalised
from mcpc.dependencies.tree import UnfitError, copy
from mcpc.diagnostics import Diagnostic, diagnose
from mcpc.kept import folder_of, is_own, place, prune

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mcpc.dependencies.model import Requirement
    from mcpc.diagnostics import Diagnostics, Span

FORMAT = 1
"""Changes whenever the same request would be staged as something else."""
REGISTRIES = ("PIP_CONFIG_FILE", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_INDEX_URL", "PIP_NO_INDEX", "PIP_PRE")
"""What may have pip find something else under the same name."""
FILES, FACTS = "files", "staged.json"
IMPORTABLE = re.compile(r"(?P<name>[^\W\d]\w*)(?:/|(?:\.[\w-]+)?\.(?:py|so)$)")
MORE = "without an exact version of a package, or a wheel of it for the platform, it cannot be carried"


@dataclass(frozen=True, slots=True)
class _Order:
    """What is wanted, for what; what lies beside the compiler and is just that; the versions that pip is held to."""

    wanted: Sequence[Requirement]
    goal: Target
    beside: Sequence[metadata.Distribution]
    known: Sequence[str]

    def key(self) -> str:
        """Return the digest of all that decides what will be installed."""
        decisive = {
            "format": FORMAT,
            "wanted": [(one.text, one.hashes) for one in self.wanted],
            "goal": (self.goal.platform, self.goal.python, sys.platform, sys.version),
            "beside": [hashlib.sha256((one.read_text("RECORD") or "").encode()).hexdigest() for one in self.beside],
            "known": [*self.known],
            "registries": {name: os.environ.get(name, "") for name in REGISTRIES},
        }
        return hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()


def stage(wanted: Sequence[Requirement], platform: str, python: str) -> tuple[Staged | None, Diagnostics]:
    """Return what `wanted` and all that it needs was installed as (see `mcpc.dependencies.stage`)."""
    goal = target(platform, python)
    if isinstance(goal, Diagnostic):
        return None, (goal,)
    order = _Order(wanted, goal, _beside(wanted, goal), _known(wanted))
    folder = place() / "packages" / order.key()
    distributions = _load(folder)
    if distributions is None:
        try:
            distributions = _fill(folder, order)
        except (InstallError, UnfitError, OSError) as problem:
            return None, (_refusal(problem, wanted, goal),)
    return Staged(folder / FILES, distributions, importable(distributions), goal.platform, goal.python), ()


def installed(name: str) -> metadata.Distribution | None:
    """Return the package that is installed beside the compiler under this name."""
    try:
        return metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return None


def provider(module: str) -> str:
    """Return the package beside the compiler that has `module` (see `mcpc.dependencies.provider`)."""
    names = metadata.packages_distributions().get(module, ())
    return next((f"{name}=={metadata.version(name)}" for name in sorted(names)), "")


def _beside(wanted: Sequence[Requirement], goal: Target) -> tuple[metadata.Distribution, ...]:
    """Return the packages beside the compiler that are just what is wanted; nothing if they are not, or another's.

    A hash is that of a wheel, which what was installed does not have any more.
    """
    if not goal.is_here or any(one.hashes for one in wanted):
        return ()
    found = closure((one.text for one in wanted), installed, markers(goal))
    return () if found.missing else tuple(found.found[name] for name in sorted(found.found))


def _load(folder: Path) -> tuple[Distribution, ...] | None:
    """Return the packages in a folder that was filled before; None if it was not, or something of it was changed."""
    if not is_own(folder):
        return None
    try:
        rows = json.loads((folder / FACTS).read_bytes())
        found = tuple(Distribution(**{**row, "tags": tuple(row["tags"])}) for row in rows)
        is_whole = all(
            hashlib.sha256((folder / FILES / path).read_bytes()).hexdigest() == digest
            for one in found
            for path, digest in one.files.items()
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if not is_whole:
        return None
    with suppress(OSError):
        os.utime(folder)  # it was used
    return found


def _fill(folder: Path, order: _Order) -> tuple[Distribution, ...]:
    """Install into a folder beside `folder`, and give it that name when it is complete."""
    folder_of(folder.parent.name)
    made = Path(tempfile.mkdtemp(dir=folder.parent, prefix="new-"))
    try:
        distributions = _copied(made, order.beside) if order.beside else None
        if distributions is None:
            distributions = _installed(made, order)
        (made / FACTS).write_text(json.dumps([asdict(one) for one in distributions]), encoding="utf-8")
        _rename(made, folder)
    finally:
        shutil.rmtree(made, ignore_errors=True)
    prune(folder.parent.name)
    return distributions


def _copied(made: Path, beside: Sequence[metadata.Distribution]) -> tuple[Distribution, ...] | None:
    """Copy what is installed beside the compiler; None if it is not as it was installed, so that pip must do it."""
    try:
        return tuple(copy(one, made / FILES) for one in beside)
    except UnfitError:
        shutil.rmtree(made / FILES, ignore_errors=True)
        return None


def _installed(made: Path, order: _Order) -> tuple[Distribution, ...]:
    """Have pip install what is wanted, and copy what belongs to it."""
    folder = made / "installed/packages"
    folder.mkdir(parents=True)
    install(order.wanted, order.goal, folder, order.known)
    there = {normalised(one.metadata["Name"]): one for one in metadata.distributions(path=[str(folder)])}
    found = closure((one.text for one in order.wanted), there.get, markers(order.goal))
    if found.missing:
        by, text = found.missing[0]
        raise UnfitError(f"`{by}` needs `{text}` on {order.goal.name}, which pip leaves out when it installs elsewhere")
    distributions = tuple(copy(found.found[name], made / FILES) for name in sorted(found.found))
    shutil.rmtree(folder.parent)
    return distributions


def _known(wanted: Sequence[Requirement]) -> tuple[str, ...]:
    """Return the versions that lie beside the compiler of all that is wanted, if all of it is there.

    pip is held to them, so that what nobody pinned is the same for every platform, and the same tomorrow.
    """
    found = closure((one.text for one in wanted), installed, markers(HERE_AND_NOW))
    if found.missing or any(one.hashes for one in wanted):
        return ()
    return tuple(f"{name}=={found.found[name].version}" for name in sorted(found.found))


def _rename(made: Path, folder: Path) -> None:
    """Give a filled folder its name; whoever was faster has made the same, unless what is there was changed."""
    try:
        made.rename(folder)
    except OSError:
        if _load(folder) is None:
            shutil.rmtree(folder, ignore_errors=True)
            with suppress(OSError):
                made.rename(folder)


def importable(distributions: Iterable[Distribution]) -> frozenset[str]:
    """Return the top-level names by which packages are imported."""
    names = (IMPORTABLE.match(path) for one in distributions for path in one.files)
    return frozenset(found["name"] for found in names if found)


def _refusal(problem: Exception, wanted: Sequence[Requirement], goal: Target) -> Diagnostic:
    """Return the diagnostic of a failure, at the requirement that its words name."""
    words = str(problem)
    if isinstance(problem, UnfitError):
        return diagnose("MCP407", _named(words, wanted), words, "", "name another version of it")
    if isinstance(problem, OSError):
        message = f"packages cannot be kept in `{place()}`: {problem.strerror or problem}"
        return diagnose("MCP405", None, message, "", "set MCPC_CACHE_DIR to a folder that can be written to")
    message = f"pip could not install what is asked for, for {goal.name}: {words}"
    return diagnose("MCP405", _named(words, wanted), message, "", MORE)


def _named(words: str, wanted: Sequence[Requirement]) -> Span | None:
    named = [one.span for one in wanted if re.search(rf"\b{re.escape(one.name)}\b", normalised_words(words))]
    return next((span for span in (*named, *(one.span for one in wanted)) if span is not None), None)


def normalised_words(words: str) -> str:
    """Return a text in which packages are spelt as they are normalised."""
    return re.sub(r"[-_.]+", "-", words).lower()
