"""Validators of schemas in plain JSON, which can be called directly: the result of `mcpc.schema.compile`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpc.diagnostics import diagnose
from mcpc.schema.compilation import compile_schema
from mcpc.schema.dialects import DIALECTS, DRAFT_2020_12, DRAFT_BY_NAME
from mcpc.schema.resources import Documents, parse_document
from mcpc.schema.subschemas import CompileRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcpc.diagnostics import Diagnostics
    from mcpc.reading import Json
    from mcpc.schema.compilation import CompiledSchema
    from mcpc.schema.dialects import Dialect

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
    found = DRAFT_BY_NAME.get(draft) or DIALECTS.get(draft.removesuffix("#"))
    if found is None:
        raise ValueError(f"unknown draft {draft!r}; expected one of {', '.join(DRAFT_BY_NAME)}")
    return found


def _defined(source: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(source, names)  # noqa: S102 - what the compiler itself has just written
    return names
