"""From a schema as written to the sources of its two modules, or to everything that is wrong with it."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcpc.diagnostics import in_order
from mcpc.schema.defaults import NONE, defaults_of
from mcpc.schema.emit import module
from mcpc.schema.search import PLAIN, Question
from mcpc.schema.survey import survey

if TYPE_CHECKING:
    from types import CodeType

    from mcpc.diagnostics import Diagnostics
    from mcpc.ir import Schema
    from mcpc.sources import Node

LABEL = sys.intern("server.pyz/mcpc_app/validator.py")
"""What tracebacks call a generated module: the same wherever it was built."""
MOST = 50
"""As many problems are reported of one schema."""

compiled: dict[tuple[Question, str], CompiledSchema] = {}
"""What was compiled before in this process: the pass that judges schemas, and then the emitter, ask for each."""


@dataclass(frozen=True, slots=True)
class CompiledSchema:
    """The sources of two modules: `predicate` defines `accepts(x) -> bool`, `collector` `errors(x) -> list`.

    A complaint is a tuple of a JSON Pointer, a keyword, and what was expected as a plain value.
    `accepts(x)` is `errors(x) == []` for every value a JSON parser makes.  `code`: the predicate, compiled.
    """

    predicate: str
    collector: str
    code: CodeType = field(repr=False, compare=False)


def compile_of(schema: Schema) -> tuple[CompiledSchema | None, Diagnostics]:
    """Return the modules of a server's schema as `compile_schema` does, with everything that is known of it."""
    question = Question(
        closed=schema.closed,
        completes=schema.completes,
        assert_formats=schema.assert_formats,
    )
    return compile_schema(schema.node, question)


def compile_schema(schema: Node, question: Question = PLAIN) -> tuple[CompiledSchema | None, Diagnostics]:
    """Return the modules of `schema`, None if anything is wrong with it, and what is.

    A schema without a problem is compiled once, wherever it stands; one with problems has them at its own places, and
    one that other files are part of may mean something else there.
    """
    key = question, json.dumps(schema.value)
    known = compiled.get(key)
    if known is not None:
        return known, ()
    surveyed, problems = survey(schema, question)
    problems = _first(problems)
    if surveyed is None:
        return None, problems
    defaults, unfit = defaults_of(surveyed) if question.completes else (NONE, ())
    if unfit:
        return None, in_order((*problems, *unfit))
    predicate, collector = module(surveyed, "accepts", defaults), module(surveyed, "errors")
    code = _compiled(predicate)
    _compiled(collector)  # Python must be able to read and compile it, too
    made = CompiledSchema(str(predicate), str(collector), code)
    if not problems and not surveyed.uses_remotes:
        compiled[key] = made
    return made, problems


def _first(problems: Diagnostics) -> Diagnostics:
    """Return as many problems as tell an author anything new, errors before all others."""
    if len(problems) <= MOST:
        return problems
    return in_order(sorted(problems, key=lambda problem: problem.severity != "error")[:MOST])


def _compiled(source: str) -> CodeType:
    return compile(source, LABEL, "exec", dont_inherit=True, optimize=2)
