"""What is read in a file of marked functions: places, and nothing that only running it would tell."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpc.diagnostics import Diagnostics, Span
    from mcpc.sources import Source


@dataclass(frozen=True, slots=True)
class Parameter:
    """Where a parameter is written: its name, its annotation, its default."""

    name: Span
    annotation: Span | None
    default: Span | None


@dataclass(frozen=True, slots=True)
class Mark:
    """A function that is a definition.  `span`: the place of its name; `options`: of each keyword's value."""

    kind: str
    function: str
    span: Span
    options: Mapping[str, Span]
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    docstring: Span | None = None
    returns: Span | None = None


@dataclass(frozen=True, slots=True)
class ServerMark:
    """A `Server(...)` that has a name at the top of its file."""

    name: str
    span: Span
    options: Mapping[str, Span]


@dataclass(frozen=True, slots=True)
class MarkedFile:
    """What is marked in a file.

    `runs`: it may be run to learn more; if not, `problems` say why.  `seen`: every function on which a mark was read,
    be it followed or reported.
    """

    source: Source
    marks: tuple[Mark, ...]
    servers: tuple[ServerMark, ...]
    problems: Diagnostics
    seen: frozenset[str]
    runs: bool
