"""Data that is read in the source of a file of decorated functions, without running it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpc.diagnostics import Diagnostics, Span
    from mcpc.reading import Source


@dataclass(frozen=True, slots=True)
class DescribedParameter:
    """The spans of a parameter: its name, its annotation, its default."""

    name: Span
    annotation: Span | None
    default: Span | None


@dataclass(frozen=True, slots=True)
class Decorator:
    """A function that is a definition.  `span`: the place of its name; `options`: of each keyword's value."""

    kind: str
    function: str
    span: Span
    options: Mapping[str, Span]
    parameters: Mapping[str, DescribedParameter] = field(default_factory=dict)
    docstring: Span | None = None
    returns: Span | None = None


@dataclass(frozen=True, slots=True)
class ServerObject:
    """A `Server(...)` that has a name at the top of its file."""

    name: str
    span: Span
    options: Mapping[str, Span]


@dataclass(frozen=True, slots=True)
class DecoratedFile:
    """The decorated functions and servers of a file.

    `runs`: it may be run for descriptions; if not, `problems` have the reason.  `seen`: every function with a
    decorator, also if it was only reported.  `unknown`: keywords of `Field` that do not exist, as `problems` say.
    """

    source: Source
    marks: tuple[Decorator, ...]
    servers: tuple[ServerObject, ...]
    problems: Diagnostics
    seen: frozenset[str]
    runs: bool
    unknown: frozenset[str] = frozenset()
