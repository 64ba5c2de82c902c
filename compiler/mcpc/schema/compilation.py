"""Compile a schema: return the sources of its two modules, or everything that is wrong with it."""

from __future__ import annotations

import builtins
import json
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mcpc.diagnostics import diagnose, in_order
from mcpc.schema.analysis import analyse
from mcpc.schema.codegen.defaults import NONE, defaults_of
from mcpc.schema.codegen.emit import module
from mcpc.schema.dialects import DIALECTS, DRAFT_2020_12, DRAFT_BY_NAME
from mcpc.schema.keywords import without_texts
from mcpc.schema.resources import Documents, parse_document
from mcpc.schema.subschemas import PLAIN, CompileRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import CodeType

    from mcpc.diagnostics import Diagnostics
    from mcpc.model.ir import Schema
    from mcpc.reading import Json, Node
    from mcpc.schema.dialects import Dialect

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

    A schema without problems is compiled once for all its places, whatever its texts; one with problems has them at
    each place, and one with references to other files may differ at each place.
    """
    key = question, json.dumps(without_texts(schema.value))
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
    # As in a packed file: without docstrings, and without the `__future__` of this module.
    return builtins.compile(source, LABEL, "exec", dont_inherit=True, optimize=2)


if TYPE_CHECKING:
    Complaint = tuple[str, str, Json]
    """A JSON Pointer to an error, its keyword, and the expected value."""

NAME = "schema.json"
"""Name in diagnostics of a schema without a file."""


class SchemaError(ValueError):
    """A schema that cannot be compiled.  `diagnostics`: all its problems."""

    def __init__(self, diagnostics: Diagnostics) -> None:
        super().__init__("\n".join(problem.message for problem in diagnostics if problem.severity == "error"))
        self.diagnostics = diagnostics


class Validator:
    """A compiled schema.

    `accepts(instance)` validates; `errors(instance)` lists every error, and is empty exactly if the instance is valid.
    An instance is a JSON parser's output: dict, list, str, int, float, bool and None themselves.
    """

    def __init__(self, modules: CompiledSchema, diagnostics: Diagnostics) -> None:
        self.modules = modules
        self.diagnostics = diagnostics
        self.accepts: Callable[[Any], bool] = _defined(modules.predicate)["accepts"]
        self._errors: Callable[[Any], list[Complaint]] | None = None

    def errors(self, instance: Any) -> list[Complaint]:
        """Return the errors of `instance`: where, by which keyword, and what was expected."""
        if self.accepts(instance):  # of a valid value with very many parts the collector would say `work`
            return []
        if self._errors is None:
            self._errors = _defined(self.modules.collector)["errors"]
        return self._errors(instance)


def compile(
    schema: Json, *, remotes: Mapping[str, Json] | None = None, draft: str | None = None, assert_format: bool = False
) -> Validator:
    """Compile a JSON Schema; raise SchemaError with every problem if it cannot be compiled exactly.

    `remotes`: schemas by the URIs of references to them; nothing is ever fetched.  `draft`: the dialect of a schema
    without `$schema` (`draft2020-12`, `draft2019-09`, `draft7`, `draft6`, or a metaschema's URI). `assert_format`:
    `format` is asserted, instead of only an annotation.
    """
    node = parse_document(schema, NAME)
    question = CompileRequest(assert_formats=assert_format, dialect=_dialect(draft), remotes=Documents(remotes or {}))
    if node is None:
        raise SchemaError((diagnose("MCP110", None, "the schema is no JSON value"),))
    modules, problems = compile_schema(node, question)
    if modules is None:
        raise SchemaError(problems)
    return Validator(modules, problems)


def _dialect(draft: str | None) -> Dialect:
    if draft is None:
        return DRAFT_2020_12
    dialect = DRAFT_BY_NAME.get(draft) or DIALECTS.get(draft.removesuffix("#"))
    if dialect is None:
        raise ValueError(f"unknown draft {draft!r}; expected one of {', '.join(DRAFT_BY_NAME)}")
    return dialect


def _defined(source: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(source, names)  # noqa: S102 - what the compiler itself has just written
    return names
