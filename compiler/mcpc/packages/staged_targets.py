"""Packages for all targets of a build: complete ones for the first Python of a platform, machine code for the others.

What a wheel of the first Python can be used for is not installed again: pure Python, and the stable ABI.  Where the
others need packages that the first does not, all are installed.  Versions are those of the first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from packaging.requirements import Requirement

from mcpc.diagnostics import diagnose
from mcpc.model.ir.layer import LayerTarget, RequestedPackage
from mcpc.packages.installed_files import packages_in
from mcpc.packages.lock_files import LockError
from mcpc.packages.model import StagedPackages
from mcpc.packages.pep508 import find_closure
from mcpc.packages.platforms import marker_values, wheel_tags

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.packages.model import Distribution
    from mcpc.packages.platforms import Target
    from mcpc.packages.targets import PlatformTargets

Stage = Callable[[Sequence[RequestedPackage], "Target"], tuple[StagedPackages | None, "Diagnostics"]]
"""Installs packages for one target; None, with reasons, or LockError if that fails."""


@dataclass(frozen=True, slots=True)
class StagedTargets:
    """What was installed, each with what was asked for, and the targets that it is for; nothing after an error."""

    installed: tuple[tuple[StagedPackages, Sequence[RequestedPackage]], ...] = ()
    targets: tuple[LayerTarget, ...] = ()
    problems: Diagnostics = ()

    @property
    def folders(self) -> list[StagedPackages]:
        """Return the folders of packages."""
        return [staged for staged, _ in self.installed]


NOTHING = StagedTargets()


def stage_targets(groups: Sequence[PlatformTargets], wanted: Sequence[RequestedPackage], stage: Stage) -> StagedTargets:
    """Return the packages for some targets; those of an optional one that cannot be had are left out, with a note."""
    installed: list[tuple[StagedPackages, Sequence[RequestedPackage]]] = []
    targets: list[LayerTarget] = []
    notes: list[Diagnostic] = []
    reasons: Diagnostics = ()
    for group in groups:
        # The versions of the first platform count, so that one that may be left out changes nothing.
        asked = pinned(wanted, installed[0][0]) if installed and not group.is_required else wanted
        first, problems = stage(asked, group.first) if group.is_required else attempted(stage, asked, group.first)
        if first is None and group.is_required:
            return StagedTargets(problems=problems)
        if first is None:
            reasons = reasons or problems
            notes.append(left_out((group.first, *group.others), problems))
            continue
        installed.append((first, asked))
        targets.append(target_of(first.distributions, group.first))
        notes += problems
        with ThreadPoolExecutor() as pool:
            others = [*pool.map(partial(stage_other, stage, first, wanted), group.others)]
        for target, (usable, lacking, staged, problems) in zip(group.others, others, strict=True):
            if lacking and staged is None:
                notes.append(left_out((target,), problems))
                continue
            installed += [(staged, lacking)] if staged is not None else []
            own = staged.distributions if staged is not None else ()
            names = {item.name for item in own}
            targets.append(target_of((*own, *(item for item in usable if item.name not in names)), target))
    return StagedTargets(tuple(installed), tuple(targets), tuple(notes) if installed else reasons)


def target_of(distributions: Iterable[Distribution], target: Target) -> LayerTarget:
    """Return a target with the wheels that it uses."""
    wheels = {item.tags for item in distributions if item.tags and not any(tag.endswith("-any") for tag in item.tags)}
    return LayerTarget(target.platform, target.python, tuple(sorted(wheels)))


def stage_other(
    stage: Stage, first: StagedPackages, wanted: Sequence[RequestedPackage], target: Target
) -> tuple[Sequence[Distribution], Sequence[RequestedPackage], StagedPackages | None, Diagnostics]:
    """Return what another Python can use of the first one's packages, what it lacks, and that staged, or why not."""
    usable, lacking = wheels_for(first, wanted, target)
    return usable, lacking, *(attempted(stage, lacking, target) if lacking else (None, ()))


def attempted(
    stage: Stage, wanted: Sequence[RequestedPackage], target: Target
) -> tuple[StagedPackages | None, Diagnostics]:
    """Return what a stage returns; a lock that lacks something is a reason, too."""
    try:
        return stage(wanted, target)
    except LockError as problem:
        return None, (diagnose("MCP421", None, str(problem)),)


def left_out(targets: Sequence[Target], problems: Diagnostics) -> Diagnostic:
    """Return the note that the file will not run on some targets, and why."""
    first = targets[0]
    reason = problems[0].message.removeprefix(f"the packages for {first.name} cannot be installed: ")
    names = first.name + "".join(f" and {target.python}" for target in targets[1:])
    return diagnose(
        "MCP429",
        problems[0].span,
        f"the built file does not run on {names}: {reason}",
        "",
        "a version that has wheels for it, or `--python` and `--platform` without it",
    )


def wheels_for(
    first: StagedPackages, wanted: Sequence[RequestedPackage], target: Target
) -> tuple[Sequence[Distribution], Sequence[RequestedPackage]]:
    """Return which installed packages another Python can use, and what must be installed for it.

    That is all that is wanted, if the other Python needs more packages; else those whose wheels it cannot use.
    """
    there = packages_in(first.root)
    closure = find_closure((item.text for item in wanted), there.get, marker_values(target))
    accepted = {str(tag) for tag in wheel_tags(target)}
    needed = [item for item in first.distributions if item.name in closure.found]
    usable = [item for item in needed if not item.tags or not accepted.isdisjoint(item.tags)]
    unfit = [item for item in needed if item not in usable]
    # Where one requirement has hashes all must have them, which single packages of the closure do not.
    if closure.missing or (unfit and any(item.hashes for item in wanted)):
        return usable, pinned(wanted, first)
    named = {item.name: item for item in wanted}
    plain = replace(wanted[0], local=None, repository=None, registry="", extracted=False, span=None)
    items = [
        named.get(item.name) or replace(plain, name=item.name, text=f"{item.name}=={item.version}") for item in unfit
    ]
    return usable, pinned(items, first)


def pinned(wanted: Sequence[RequestedPackage], first: StagedPackages) -> Sequence[RequestedPackage]:
    """Return requirements that nothing but the installed versions satisfies; addresses name one already."""
    elsewhere = {item.name for item in wanted if item.local or item.repository or Requirement(item.text).url}
    versions = tuple(f"{item.name}=={item.version}" for item in first.distributions if item.name not in elsewhere)
    return tuple(replace(item, constraints=(*item.constraints, *versions)) for item in wanted)
