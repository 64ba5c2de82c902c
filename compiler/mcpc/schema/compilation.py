"""From a schema as written to the sources of its two modules, or to everything that is wrong with it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.schema.emit import module
from mcpc.schema.survey import survey

if TYPE_CHECKING:
    from mcpc.diagnostics import Diagnostics
    from mcpc.sources import Node


compiled: dict[tuple[bool, str], CompiledSchema] = {}
"""What was compiled before in this process: the pass that judges schemas, and then the emitter, ask for each."""


@dataclass(frozen=True, slots=True)
class CompiledSchema:
    """The sources of two modules: `predicate` defines `accepts(x) -> bool`, `collector` `errors(x) -> list`.

    A complaint is a tuple of a JSON Pointer, a keyword, and what was expected as a plain value.
    `accepts(x)` is `errors(x) == []` for every value a JSON parser makes.
    """

    predicate: str
    collector: str


def compile_schema(schema: Node, *, closed: bool = False) -> tuple[CompiledSchema | None, Diagnostics]:
    """Return the modules of `schema`, None if anything is wrong with it, and what is.

    `closed`: the root refuses properties that it does not name, unless it says itself which it takes.  A schema without
    a problem is compiled once, wherever it stands; one with problems has them at its own places.
    """
    key = closed, json.dumps(schema.value)
    known = compiled.get(key)
    if known is not None:
        return known, ()
    made, problems = _compile(schema, closed)
    if made is not None and not problems:
        compiled[key] = made
    return made, problems


def _compile(schema: Node, closed: bool) -> tuple[CompiledSchema | None, Diagnostics]:
    surveyed, problems = survey(schema, closed)
    if surveyed is None:
        return None, problems
    return CompiledSchema(_checked(module(surveyed, "accepts")), _checked(module(surveyed, "errors"))), problems


def _checked(source: str) -> str:
    """Return `source`, which Python must be able to read and compile."""
    compile(source, "<schema>", "exec", dont_inherit=True)
    return str(source)
