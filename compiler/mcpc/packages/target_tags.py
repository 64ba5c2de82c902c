"""Tags of the wheels that a target accepts, best first: the order in which pip selects wheels for it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from packaging import tags
from packaging.markers import default_environment

from mcpc.packages.platforms import accepted_tags, marker_values

if TYPE_CHECKING:
    from collections.abc import Iterator

    from packaging.markers import Environment
    from packaging.tags import Tag

    from mcpc.packages.platforms import Target

MACOS = re.compile(r"macosx_(?P<major>\d+)_(?P<minor>\d+)_(?P<machine>\w+)")


def wheel_tags(target: Target) -> list[Tag]:
    """Return the tags of wheels that a target accepts, best first."""
    if target.is_here:
        return list(tags.sys_tags())
    major, minor = map(int, target.python.split("."))
    platforms = list(_platforms(target.platform)) if target.platform else None
    return [
        *tags.cpython_tags((major, minor), platforms=platforms),
        *tags.compatible_tags((major, minor), f"cp{major}{minor}", platforms),
    ]


def _platforms(platform: str) -> Iterator[str]:
    """Yield the platforms of wheels that run on a platform: those of earlier versions, in pip's order."""
    found = MACOS.fullmatch(platform)
    if found is None:
        yield from dict.fromkeys(tag for accepted in accepted_tags(platform) for tag in _with_older(accepted))
    else:
        yield from tags.mac_platforms((int(found["major"]), int(found["minor"])), found["machine"])


def _with_older(tag: str) -> Iterator[str]:
    """Yield a tag, and directly after one with a year the older ones of that kind."""
    yield tag
    kind, _, machine = tag.partition("_")
    if kind == "manylinux2014" and machine in ("i686", "x86_64"):
        yield f"manylinux2010_{machine}"
    if kind == "manylinux2010" or (kind == "manylinux2014" and machine in ("i686", "x86_64")):
        yield f"manylinux1_{machine}"


def target_environment(target: Target) -> Environment:
    """Return the values of all markers on a target."""
    known = {**default_environment(), **marker_values(target)}
    return {**known, "python_full_version": known["python_full_version"].removesuffix("+")}  # type: ignore[typeddict-item]
