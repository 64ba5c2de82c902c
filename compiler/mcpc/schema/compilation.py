"""Compile a schema: return the sources of its two modules, or everything that is wrong with it."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcpc.diagnostics import in_order
from mcpc.schema.analysis import analyse
from mcpc.schema.codegen.defaults import NONE, defaults_of
from mcpc.schema.codegen.emit import module
from mcpc.schema.subschemas import PLAIN, CompileRequest

if TYPE_CHECKING:
    from types import CodeType

    from mcpc.diagnostics import Diagnostics
    from mcpc.model.ir import Schema
    from mcpc.reading import Node

LABEL = sys.intern("server.pyz/mcpc_app/validator.py")
"""What tracebacks call a generated module: the same wherever it was built."""
MAX_PROBLEMS = 50
"""Maximum number of reported problems of one schema."""

compiled: dict[tuple[CompileRequest, str], CompiledSchema] = {}
"""Cache of this process: the pass that checks schemas, and then the emitter, compile each."""


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
    """Return the compiled modules of a server's schema (see `compile_schema`)."""
    question = CompileRequest(closed=schema.closed, completes=schema.completes, assert_formats=schema.assert_formats)
    return compile_schema(schema.node, question)


def compile_schema(schema: Node, question: CompileRequest = PLAIN) -> tuple[CompiledSchema | None, Diagnostics]:
    """Return the modules of `schema`, None if it has errors, and its problems.

    A schema without problems is compiled once for all its places; one with problems has them at each place, and one
    with references to other files may differ at each place.
    """
    key = question, json.dumps(schema.value)
    known = compiled.get(key)
    if known is not None:
        return known, ()
    surveyed, problems = analyse(schema, question)
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
    """Return a limited number of problems, errors first."""
    if len(problems) <= MAX_PROBLEMS:
        return problems
    return in_order(sorted(problems, key=lambda problem: problem.severity != "error")[:MAX_PROBLEMS])


def _compiled(source: str) -> CodeType:
    return compile(source, LABEL, "exec", dont_inherit=True, optimize=2)
