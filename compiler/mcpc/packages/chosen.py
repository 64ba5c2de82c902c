"""The requirements of a project with the extras and the dependency groups that were chosen.

A project may require itself with extras (`pkg[all]`): that stands for what these extras require.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from packaging.requirements import InvalidRequirement, Requirement

from mcpc.diagnostics import Diagnostic, diagnose
from mcpc.diagnostics.suggestions import did_you_mean, quoted
from mcpc.packages.pep508 import normalised_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mcpc.diagnostics import Diagnostics, Span
    from mcpc.packages.model import ProjectRequirements, WrittenRequirement

KINDS = {"extra": "extra", "group": "dependency group"}
INCLUDE_GROUP = "include-group"


@dataclass(frozen=True, slots=True)
class ChosenOption:
    """An extra or a group that was chosen, and where; no place is the command line."""

    name: str
    kind: str
    span: Span | None = None


def chosen_requirements(
    project: ProjectRequirements, choices: Iterable[ChosenOption]
) -> tuple[tuple[WrittenRequirement, ...], Diagnostics]:
    """Return the requirements of a project with these extras and groups, without those on itself."""
    found: list[WrittenRequirement] = []
    problems: list[Diagnostic] = []
    seen: set[tuple[str, str]] = set()
    waiting = [*choices]
    found += _without_own(project.required, project.name, waiting)
    while waiting:
        choice = waiting.pop(0)
        known = project.extras if choice.kind == "extra" else project.groups
        key = choice.kind, normalised_name(choice.name)
        if key in seen:
            continue
        seen.add(key)
        if key[1] in known:
            found += _without_own(known[key[1]], project.name, waiting)
        else:
            problems.append(_unknown(choice, known))
    return tuple(dict.fromkeys(found)), tuple(problems)


def _without_own(
    items: Iterable[WrittenRequirement], own: str, waiting: list[ChosenOption]
) -> Iterator[WrittenRequirement]:
    """Yield requirements on other packages; extras of the project and included groups are added to `waiting`."""
    for item in items:
        if item.source is not None and INCLUDE_GROUP in item.source:
            waiting.append(ChosenOption(item.source[INCLUDE_GROUP], "group", item.span))
            continue
        parsed = None
        with suppress(InvalidRequirement):
            parsed = Requirement(item.text)
        if parsed is not None and own and normalised_name(parsed.name) == own:
            waiting += [ChosenOption(name, "extra", item.span) for name in sorted(parsed.extras)]
        else:
            yield item


def _unknown(choice: ChosenOption, known: Iterable[str]) -> Diagnostic:
    names = sorted(known)
    kind = KINDS[choice.kind]
    message = f"the project has no {kind} `{choice.name}`"
    there = f"it has {quoted(names)}" if names else f"it has no {kind}s"
    return diagnose("MCP419", choice.span, message, "", did_you_mean(normalised_name(choice.name), names, there))
