"""What a front end is: a format's names, how it is recognised, and how it is read into a `Definition`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc.definitions import Definition
    from mcpc.diagnostics import Diagnostics
    from mcpc.options import Options
    from mcpc.sources import SourceTree


def nothing(tree: SourceTree) -> tuple[str, ...]:
    """Return what decides the build of a project whose files say all."""
    return ()


@dataclass(frozen=True, slots=True)
class Frontend:
    """One format.  `looks_for` tells a person which files `recognises` wants to see.

    `decisive`: what decides the build of such a project beside its files.
    """

    name: str
    aliases: tuple[str, ...]
    recognises: Callable[[SourceTree], bool]
    parse: Callable[[SourceTree, Options], tuple[Definition | None, Diagnostics]]
    looks_for: str
    decisive: Callable[[SourceTree], tuple[str, ...]] = nothing
