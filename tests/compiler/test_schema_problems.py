"""What the compiler says of schemas that are wrong or foreign: all of it at once, each at its place."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mcpc.schema import CompileRequest, compile_schema
from mcpc.schema.analysis import analyse
from mcpc.schema.dialects import DIALECTS, DRAFT_2020_12, DRAFT_BY_NAME, Dialect
from mcpc.schema.jsonschema_oracle import check_by_metaschema
from mcpc.schema.resources import Documents
from support.needs import ROOT
from support.reference import SCHEMA_SUITE
from support.schemas import compiled, judge, node_of, problems_of

DIALECT_7 = "http://json-schema.org/draft-07/schema#"
FOLDER = ROOT / "tests/golden/schemas"


def reported(case: dict[str, Any]) -> Iterator[str]:
    """Yield a schema and all that is said of it, each with the text it is said of."""
    remotes = Documents(case.get("files", {}))
    dialect = DRAFT_BY_NAME.get(case.get("draft", ""), DRAFT_2020_12)
    request = CompileRequest(closed=case.get("closed", False), dialect=dialect, remotes=remotes)
    node = node_of(case["schema"])
    modules, problems = compile_schema(node, request)
    yield f"{json.dumps(case, ensure_ascii=False)}: {'refused' if modules is None else 'compiled'}\n"
    assert (modules is None) == any(problem.severity == "error" for problem in problems)
    for problem in problems:
        span = problem.span
        text = case["schema"] if span.path == "schema.json" else json.dumps(case["files"][span.path])
        yield f"    {problem.code} {span.path} {span.start} {text[span.start : span.end]}\n"
        yield from (f"        {line}\n" for line in (problem.message, problem.expected, problem.hint) if line)


def test_every_problem_is_reported_at_its_place(golden: Callable[[Path, str], None]) -> None:
    cases = json.loads((FOLDER / "problems.json").read_text("utf-8"))
    golden(FOLDER / "problems.txt", "".join(line for case in cases for line in reported(case)))


def test_a_warning_does_not_keep_a_schema_from_compiling() -> None:
    modules, problems = compile_schema(node_of({"requires": ["a"]}))
    assert modules is not None
    assert [(problem.code, problem.severity) for problem in problems] == [("MCP103", "warning")]


@pytest.mark.parametrize(
    "key", ["x-requires", "x-items", "nullable", "order", "discriminator", "xml", "note", "id", "propertyOrdering"]
)
def test_unknown_keywords_are_annotations(key: str) -> None:
    assert problems_of({key: 1}) == ()


@pytest.mark.parametrize(("unknown", "reported"), [(49, 1), (50, 0)])
def test_so_many_unknown_keywords_are_compared_with_known_ones(unknown: int, reported: int) -> None:
    assert len(problems_of({**{f"q{number}": 1 for number in range(unknown)}, "propertiess": {}})) == reported


def test_a_cycle_that_steps_into_the_value_is_fine() -> None:
    for keyword in ("properties", "patternProperties"):
        assert judge(compiled({keyword: {"a": {"$ref": "#"}}}), {"a": {}})[0]
    for keyword in ("items", "additionalProperties", "contains", "propertyNames"):
        assert problems_of({keyword: {"$ref": "#"}}) == ()


VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 1.5, 2.0, "", "string", "^a", [], ["string"], ["a", "a"], [1], [None], [True], [{}],
    [[]], [{}, 1], {}, {"a": 1}, {"a": "b"}, {"a": []}, {"a": ["b"]}, {"a": ["b", "b"]}, {"a": {}}, {"a": True},
    {"type": "string"}, {"type": "x"}, {"a": {"type": "x"}}, [{"type": "x"}], {"items": {"minLength": -1}},
]  # fmt: skip


@pytest.mark.parametrize("dialect", list(DIALECTS.values()), ids=lambda dialect: dialect.name)
def test_the_shape_check_agrees_with_the_metaschema(dialect: Dialect) -> None:
    extra = (
        {"$defs", "readOnly", "writeOnly"} if dialect.lone_reference else set()
    )  # what later drafts brought, and any draft may hold
    for keyword in set(dialect.keywords) - extra:
        for value in VALUES:
            node = node_of({keyword: value})
            codes = {problem.code for problem in compile_schema(node, CompileRequest(dialect=dialect))[1]}
            refused = check_by_metaschema(node, dialect) != ()
            if "MCP111" in codes or (keyword == "$schema" and "MCP112" in codes):
                continue
            assert ("MCP110" in codes) is refused, (keyword, value, codes, check_by_metaschema(node, dialect))


def test_the_metaschema_speaks_at_the_place() -> None:
    node = node_of({"type": "object", "properties": {"a": {"minLength": -1}}, "required": ["a", "a"]})
    spans = [(problem.span.start, problem.span.end) for problem in check_by_metaschema(node) if problem.span]
    text = '{"type": "object", "properties": {"a": {"minLength": -1}}, "required": ["a", "a"]}'
    assert [text[start:end] for start, end in spans] == ["-1", '["a", "a"]']


def test_a_schema_too_deep_for_the_metaschema_is_a_problem_and_no_crash() -> None:
    text = "{}"
    for _ in range(500):
        text = f'{{"not":{text}}}'
    assert {problem.code for problem in check_by_metaschema(node_of(text))} <= {"MCP008"}


def test_the_metaschema_accepts_the_suite() -> None:
    folder = SCHEMA_SUITE / "tests/draft2020-12"
    text = (folder / "properties.json").read_text()
    assert all(check_by_metaschema(schema) == () for item in node_of(text).items if (schema := item.get("schema")))


def test_a_text_that_is_too_long_is_not_searched_for_its_complaints_either() -> None:
    modules = compiled({"maxLength": 10, "pattern": "^(a+)+$"})
    assert judge(modules, "a" * 60 + "!") == (False, [("", "maxLength", 10)])


def names(count: int) -> list[str]:
    return [f"n{number}" for number in range(count)]


def chain(length: int) -> dict[str, Any]:
    """Return a schema whose references lead through so many schemas, the last one included."""
    steps = {f"d{number}": {"$ref": f"#/$defs/d{number + 1}"} for number in range(length - 1)}
    return {"properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": {**steps, f"d{length - 1}": {}}}


def work(most: int) -> dict[str, Any]:
    """Return a schema that makes so many schemas judge one value."""
    steps: dict[str, Any] = {
        f"d{number}": {"allOf": [{"$ref": f"#/$defs/d{number - 1}"}] * 10} for number in (1, 2, 3, 4)
    }
    parts = [{"$ref": "#/$defs/d4"}] * 4 + [{"$ref": "#/$defs/d3"}] * 5 + [{}] * (most - 99_999)
    return {"allOf": parts, "$defs": {"d0": {}, **steps}}


LIMITS: list[tuple[int, Callable[[int], object]]] = [
    (20_000, lambda count: {"required": names(count)}),
    (20_000, lambda count: {"dependentRequired": {"a": names(count - 2), "b": []}}),
    (20_000, lambda count: {"$schema": DIALECT_7, "dependencies": {"a": names(count - 2), "b": {}}}),
    (2_000, lambda count: {"patternProperties": dict.fromkeys(names(count), True)}),
    (398, chain),
    (100_000, work),
]


@pytest.mark.parametrize(("most", "schema"), LIMITS)
def test_a_schema_may_have_so_much_and_no_more(most: int, schema: Callable[[int], Any]) -> None:
    for count, codes in ((most, []), (most + 1, ["MCP008"])):
        _, problems = analyse(node_of(schema(count)), CompileRequest())
        assert [problem.code for problem in problems] == codes


def test_of_very_many_problems_the_errors_are_reported() -> None:
    warnings = {"require" + number * "_" + "d": 1 for number in range(1, 61)}
    errors = {f"p{number}": {"type": "int"} for number in range(49)}
    found = problems_of({**warnings, "properties": errors})
    assert Counter(problem.code for problem in found) == {"MCP103": 1, "MCP110": 49}
    assert len(problems_of({"properties": {**errors, "x": 1}})) == 50
    assert len(problems_of({"properties": {**errors, "x": 1, "y": 1}})) == 50
    assert [problem.code for problem in analyse(node_of(warnings), CompileRequest())[1]] == ["MCP103"] * 50
