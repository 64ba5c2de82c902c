"""Schemas in tests: plain values in, the two functions that judge by them out."""

import json
from collections.abc import Callable
from typing import Any

from mcpc.diagnostics import Diagnostics
from mcpc.reading import Node, Source, parse_json
from mcpc.schema import CompiledSchema, CompileRequest, compile_schema

Errors = list[tuple[str, str, object]]


def node_of(schema: object) -> Node:
    """Return a schema, a value or its JSON text, as the parser would."""
    text = schema if isinstance(schema, str) else json.dumps(schema)
    node, problems = parse_json(Source("schema.json", text.encode()))
    assert node is not None, problems
    assert problems == ()
    return node


def problems_of(schema: object, *, closed: bool = False) -> Diagnostics:
    return compile_schema(node_of(schema), CompileRequest(closed=closed))[1]


def compiled(schema: object, *, closed: bool = False) -> CompiledSchema:
    """Return the two modules of a schema that compiles."""
    modules, problems = compile_schema(node_of(schema), CompileRequest(closed=closed))
    assert modules is not None, problems
    return modules


def functions(modules: CompiledSchema) -> tuple[Callable[[Any], bool], Callable[[Any], Errors]]:
    """Return `accepts` and `errors`."""
    predicate: dict[str, Any] = {}
    collector: dict[str, Any] = {}
    exec(modules.predicate, predicate)
    exec(modules.collector, collector)
    return predicate["accepts"], collector["errors"]


def judge(modules: CompiledSchema, instance: object) -> tuple[bool, Errors]:
    """Return the answers of both functions, which must agree; on failure the test shows the generated code."""
    accepts, errors = functions(modules)
    answer, found = accepts(instance), errors(instance)
    assert answer is (found == []), explained(modules, instance)
    return answer, found


def explained(modules: CompiledSchema, instance: object) -> str:
    """Return what a failing test should show."""
    return f"instance {repr(instance)[:500]}\n{modules.predicate}\n{modules.collector}"
