"""What is put in the place of what is missing, where nothing is, and that a default which cannot be is reported."""

import copy
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mcpc.diagnostics import Diagnostics
from mcpc.options import Options
from mcpc.schema import CompiledSchema, CompileRequest, compile_schema
from support.projects import SERVER_JSON, lowered
from support.schemas import node_of

COMPLETES = CompileRequest(completes=True)
FOLDER = Path(__file__).with_name("schema")


def modules_of(schema: object) -> CompiledSchema:
    modules, problems = compile_schema(node_of(schema), COMPLETES)
    assert modules is not None, problems
    return modules


def completing(schema: object) -> Callable[[Any], Any]:
    names: dict[str, Any] = {}
    exec(modules_of(schema).predicate, names)
    complete: Callable[[Any], Any] = names["complete"]
    return complete


def problems_of(schema: object) -> Diagnostics:
    return compile_schema(node_of(schema), COMPLETES)[1]


PORT = {"type": "object", "properties": {"port": {"type": "integer", "default": 80}}}
TREE = {
    "type": "object",
    "properties": {"size": {"default": 1}, "kids": {"type": "array", "items": {"$ref": "#"}, "default": []}},
}

# Schema, value, the value completed.
COMPLETED: list[tuple[Any, Any, Any]] = json.loads((FOLDER / "defaults.json").read_text("utf-8"))


@pytest.mark.parametrize(("schema", "value", "expected"), COMPLETED, ids=range(len(COMPLETED)))
def test_what_is_missing_is_filled_in(schema: Any, value: Any, expected: Any) -> None:
    before = copy.deepcopy(value)
    completed = completing(schema)(value)
    assert completed == expected, modules_of(schema).predicate
    assert value == before
    assert (completed is value) is (expected == before)
    assert completing(schema)(completed) is completed


# Defaults that may not be meant: nothing is filled in.
NOTHING: list[Any] = json.loads((FOLDER / "no_defaults.json").read_text("utf-8"))


@pytest.mark.parametrize("schema", NOTHING, ids=range(len(NOTHING)))
def test_where_a_default_may_not_be_meant_there_is_no_function(schema: Any) -> None:
    assert "complete" not in modules_of(schema).predicate
    assert compile_schema(node_of(schema))[0] == modules_of(schema)


def test_who_does_not_ask_for_it_gets_no_function() -> None:
    modules, _ = compile_schema(node_of(PORT))
    assert "complete" not in modules.predicate
    assert modules.collector == modules_of(PORT).collector


def test_a_default_is_a_new_value_each_time() -> None:
    complete = completing({"properties": {"a": {"default": {"l": [[]]}}}})
    first = complete({})
    first["a"]["l"][0].append(1)
    assert complete({}) == {"a": {"l": [[]]}}


def test_only_what_changes_is_copied() -> None:
    complete = completing({"properties": {"a": PORT, "b": PORT, "l": {"items": PORT}}})
    value: dict[str, Any] = {"a": {}, "b": {"port": 1}, "c": [1], "l": [{"port": 2}, {}]}
    completed = complete(value)
    assert completed == {"a": {"port": 80}, "b": {"port": 1}, "c": [1], "l": [{"port": 2}, {"port": 80}]}
    assert completed["b"] is value["b"]
    assert completed["c"] is value["c"]
    assert completed["l"][0] is value["l"][0]
    assert list(completed) == ["a", "b", "c", "l"]


# Text with marks at the defaults that are reported.
UNFIT = [
    '{"properties": {"next": {"$ref": "#", "default": «{}»}}}',
    ('{"properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"properties": {"b": {"$ref": "#/$defs/b"}}, "default": «{}»}, '
     '"b": {"default": «{}», "properties": {"a": {"$ref": "#/$defs/a"}}}}}'),
    '{"properties": {"deep": {"default": «' + "[" * 65 + "]" * 65 + "»}}}",
]  # fmt: skip


@pytest.mark.parametrize("marked", UNFIT)
def test_a_default_that_cannot_be_filled_in_is_reported_at_its_place(marked: str) -> None:
    places = [place - number for number, place in enumerate(n for n, char in enumerate(marked) if char in "«»")]
    problems = problems_of(marked.replace("«", "").replace("»", ""))
    assert {problem.code for problem in problems} == {"MCP123"}
    spans = [(problem.span.start, problem.span.end) for problem in problems if problem.span]
    assert spans == list(zip(places[::2], places[1::2], strict=True))


def test_a_default_that_doubles_at_every_step_ends_the_build() -> None:
    steps = {
        f"d{n}": {"properties": {name: {"$ref": f"#/$defs/d{n + 1}", "default": {}} for name in "ab"}}
        for n in range(30)
    }
    schema = {"properties": {"r": {"$ref": "#/$defs/d0", "default": {}}}, "$defs": {**steps, "d30": {}}}
    problems = problems_of(schema)
    assert {problem.code for problem in problems} == {"MCP123"}
    message = "this default cannot be filled in: with the defaults in it, it has more than 10,000 values"
    assert {problem.message for problem in problems} == {message}


@pytest.mark.parametrize(("count", "codes"), [(9_999, []), (10_000, ["MCP123"])])
def test_a_default_has_so_many_values_and_no_more(count: int, codes: list[str]) -> None:
    """A list is one value, and each item another; those that are filled in count."""
    for default in ([0] * count, [{}, *[0] * (count - 2)]):
        schema = {"properties": {"a": {"default": default, "prefixItems": [{"properties": {"b": {"default": 1}}}]}}}
        assert [problem.code for problem in problems_of(schema)] == codes


def test_such_a_default_harms_nobody_who_does_not_fill_in() -> None:
    assert compile_schema(node_of({"properties": {"next": {"$ref": "#", "default": {}}}}))[1] == ()


def nested(levels: int) -> Any:
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"kids": [value]}
    return value


def test_whatever_is_accepted_can_be_completed() -> None:
    """As deep as the predicate goes, so deep can the defaults be filled in."""
    names: dict[str, Any] = {}
    exec(modules_of(TREE).predicate, names)
    deepest = max(levels for levels in range(400) if names["accepts"](nested(levels)))
    assert 50 < deepest < 399
    value = names["complete"](nested(deepest))
    for _ in range(deepest):
        assert value["size"] == 1
        value = value["kids"][0]


def test_a_long_chain_of_schemas_is_followed() -> None:
    steps = {f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(350)}
    schema = {"properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": {**steps, "d350": {"default": 1}}}
    assert completing(schema)({}) == {"a": 1}
    schema = {"$ref": "#/$defs/d0", "$defs": {**steps, "d350": PORT}}
    assert completing(schema)({}) == {"port": 80}


@pytest.mark.parametrize("text", ["'", '"""', "\\", "\n", "{x}", "%s", "\u2028", "x');raise SystemExit('"])
def test_no_text_of_a_default_becomes_code(text: str) -> None:
    schema = {"properties": {text: {"default": {text: [text]}, "properties": {text + "2": {"default": text}}}}}
    assert completing(schema)({}) == {text: {text: [text], text + "2": text}}


def test_generated_code_is_code_people_read() -> None:
    schema = {"allOf": [PORT, TREE], "additionalProperties": PORT, "patternProperties": {"^x": PORT}, "items": PORT}
    ruff = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "E,F,W", "--ignore", "E501,F811", "-"]
    source = modules_of(schema).predicate
    run = subprocess.run(ruff, input=source, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr + source


def served(meta: str = "", **options: object) -> tuple[Any, Diagnostics]:
    tool = f'{{"name": "x", "description": "d", "inputSchema": {{"type": "object"}}, "outputSchema": {{"type": "object"}}{meta}}}'
    files = {
        "server.json": SERVER_JSON,
        "tools.json": f'{{"tools": [{tool}]}}',
        "tools.py": "def x(**given): return given\n",
    }
    server, problems = lowered(files, Options(**options))  # type: ignore[arg-type]
    assert not server.tools[0].output.completes
    return server.tools[0].input, problems


@pytest.mark.parametrize(
    ("meta", "options", "completes"),
    [
        ("", {}, True),
        ("", {"defaults": False}, False),
        ("", {"dialect": "mcbox"}, False),
        (', "_meta": {"mcpc/defaults": false}', {}, False),
        (', "_meta": {"mcpc/defaults": true, "x": 1}', {}, True),
        (', "_meta": {"mcpc/defaults": true}', {"defaults": False}, False),
    ],
)
def test_defaults_are_filled_in_unless_somebody_says_no(meta: str, options: dict[str, Any], completes: bool) -> None:
    schema, problems = served(meta, **options)
    assert problems == ()
    assert schema.completes is completes


def test_what_says_no_is_a_boolean() -> None:
    _, (problem,) = served(', "_meta": {"mcpc/defaults": "no"}')
    assert problem.code == "MCP101"
    assert "`mcpc/defaults`" in problem.message
