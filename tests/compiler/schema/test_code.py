"""The code of many small schemas, compared as a whole, and what it says of values."""

import ast
import enum
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mcpc.schema
from mcpc.schema import CompiledSchema, CompileRequest, compilation, compile_schema
from mcpc.schema.code import NESTING_LIMIT, PythonCode, fill, indented, join_code, literal, numbered
from mcpc.schema.codegen.emit import EMITTERS
from mcpc.schema.codegen.program import SUPPORT
from mcpc.schema.dialects import DRAFT_2020_12, DRAFT_BY_NAME
from mcpc.schema.keywords import KEYWORDS
from support.needs import ROOT
from support.schemas import compiled, explained, functions, judge, node_of, problems_of

FOLDER = ROOT / "tests/golden/schemas"
SUBJECTS = ("arrays", "combinations", "defaults", "drafts", "objects", "references", "texts", "unevaluated", "values")


def compiled_case(case: dict[str, Any]) -> CompiledSchema:
    request = CompileRequest(
        closed=case.get("closed", False),
        completes=case.get("completes", False),
        assert_formats=case.get("asserts", False),
        dialect=DRAFT_BY_NAME.get(case.get("draft", ""), DRAFT_2020_12),
    )
    modules, problems = compile_schema(node_of(case["schema"]), request)
    assert modules is not None, (case["name"], problems)
    return modules


def without_support(source: str) -> str:
    """Return the text of a module with only the first lines of the functions that are the same in all modules."""
    for text in SUPPORT.values():
        source = source.replace(text, text.partition("\n")[0] + " ...")
    return source


def described(case: dict[str, Any]) -> Iterator[str]:
    """Yield what is compared of one case; its values are judged as it says."""
    modules = compiled_case(case)
    accepts, errors = functions(modules)
    names: dict[str, Any] = {}
    exec(modules.predicate, names)
    yield from (f"# {case['name']}\n\n", without_support(modules.predicate), "\n", without_support(modules.collector))
    for value in case["accepted"]:
        assert (accepts(value), errors(value)) == (True, []), (case["name"], value)
        if "complete" in names:
            yield f"{json.dumps(value)} is completed to {json.dumps(names['complete'](value))}\n"
    for value in case["refused"]:
        assert not accepts(value), (case["name"], value)
        yield f"{json.dumps(value)}: {errors(value)}\n"
    yield "\n"


@pytest.mark.parametrize("subject", SUBJECTS)
def test_the_code_of_a_schema(subject: str, golden: Callable[[Path, str], None]) -> None:
    compilation.compiled.clear()  # another test may have compiled the same schema
    cases = json.loads((FOLDER / f"{subject}.json").read_text("utf-8"))
    golden(FOLDER / f"{subject}.txt", "".join(text for case in cases for text in described(case)))


MILLION = 10**6


def items() -> list[int]:
    return [1] * MILLION


def members() -> dict[str, None]:
    return dict.fromkeys(map(str, range(MILLION)))


ROWS: list[tuple[Any, Callable[[], Any]]] = [
    ({"items": {"type": "string"}}, items),
    ({"prefixItems": [True], "items": {"type": "string"}}, items),
    ({"items": {"anyOf": [{"type": "string"}, {"minimum": 5}]}}, items),
    ({"additionalProperties": False}, members),
    ({"additionalProperties": {"type": "string"}}, members),
    ({"patternProperties": {"^": {"type": "string"}}}, members),
    ({"propertyNames": {"maxLength": 0}}, members),
    ({"unevaluatedProperties": False}, members),
    ({"unevaluatedItems": False}, items),
    ({"items": {"items": {"type": "string"}}}, lambda: [[1] * 1000] * 1000),
]


@pytest.mark.parametrize(("schema", "made"), ROWS, ids=range(len(ROWS)))
@pytest.mark.sampled(3)
def test_a_million_wrong_parts_are_not_all_looked_at(schema: Any, made: Callable[[], Any]) -> None:
    value = made()
    accepts, errors = functions(compiled(schema))
    assert not accepts(value)
    begun = time.process_time()
    assert 100 < len(errors(value)) < 110
    assert time.process_time() - begun < 0.3


def test_what_lies_behind_is_still_looked_at() -> None:
    schema = {"properties": {"a": {"items": {"type": "string"}}, "b": {"const": 1}}, "contains": {"const": 2}}
    found = functions(compiled(schema))[1]({"a": [1] * 1000, "b": 2})
    assert found[-1] == ("/b", "const", 1)


def test_alternatives_that_hold_each_other_are_not_all_compared() -> None:
    """Each level of the value doubles the comparisons: forty levels would take days."""
    branches = [{"properties": {"a": {"$ref": "#/$defs/t"}}, "required": [name]} for name in "bc"]
    accepts, errors = functions(compiled({"$ref": "#/$defs/t", "$defs": {"t": {"anyOf": branches}}}))
    value: dict[str, Any] = {}
    for _ in range(40):
        value = {"a": value}
    begun = time.process_time()
    assert not accepts(value)
    assert errors(value) == [("", "work", None)]
    assert time.process_time() - begun < 3
    assert errors({"a": {}})[0][0] in ("", "/a")


def test_code_grows_with_the_schema_and_not_with_the_ways_through_it() -> None:
    def bomb(levels: int) -> int:
        steps = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(levels)}
        modules = compiled({"$ref": "#/$defs/d0", "$defs": {**steps, f"d{levels}": {"type": "string"}}})
        assert judge(modules, "a")[0]
        return len(modules.predicate) + len(modules.collector)

    assert bomb(14) < 2.2 * bomb(7)


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf", "allOf"])
def test_ways_that_double_at_every_step_are_refused(keyword: str) -> None:
    steps = {f"d{n}": {keyword: [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(30)}
    schema = {"$ref": "#/$defs/d0", "$defs": {**steps, "d30": {"type": "string"}}}
    assert [problem.code for problem in problems_of(schema)] == ["MCP008"]


@pytest.mark.parametrize(("count", "guarded"), [(100, False), (101, True)])
def test_of_so_many_subschemas_the_depth_is_guarded(count: int, guarded: bool) -> None:
    modules = compiled({"properties": {f"p{n}": True for n in range(count - 1)}})
    assert ["except RecursionError" in source for source in (modules.predicate, modules.collector)] == [guarded] * 2


def test_a_shared_schema_is_written_once() -> None:
    shared_schema = {"properties": {f"p{n}": {"minLength": n} for n in range(20)}}
    few, many = (
        compiled({"properties": {f"q{n}": {"$ref": "#/$defs/s"} for n in range(count)}, "$defs": {"s": shared_schema}})
        for count in (1, 21)
    )
    assert len(many.predicate) - len(few.predicate) < 20 * 80


HOSTILE = [
    "'", '"', "\\", "'''", '"""', "\n", "\r", "\x00", "{}", "{x}", "%s", "%", "%(x)s", "\u2028", "\ud7ff\U0001f600",
    "x');raise SystemExit('", "\\N{DIGIT ONE}", "__import__('os').system('false')", "#", "\\x41", "~0", "/", "é" * 99,
]  # fmt: skip
NAMES = re.compile(
    r"[xvkimnf]\d*|C\d+|PATTERNS|(accepts|errors)(_\d+)?|path|found|depth|match|number|text|pattern|one|other|kind|name|"
    r"items?|value|room|step|scale|digits|_|whole|fraction|shift|branches|keywords?|wants?|at|values|weight|"
    r"is_constant|is_near|search(_\d+)?|same|distinct|identity|multiple|nearest|wanted|distance|"
    r"about|best|branches|common|fits|is_foreign|keyword|known|label|meant|missing|names|numbers|others|untagged|"
    r"row|rows|extent|only|new|w|complete(_\d+)?|shared|shown|tag|tags|any|range|get|"
    r"type|dict|list|str|int|float|bool|len|set|all|map|max|min|frozenset|enumerate|repr|RecursionError|re|"
    r"append|extend|items|keys|count|issuperset|is_integer|compile|ASCII|replace|partition|setdefault"
)


def identifiers(source: str) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        for field in ("id", "attr", "arg", "name", "module"):
            value = getattr(node, field, None)
            if isinstance(value, str):
                found.add(value)
    return found


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_of_a_schema_becomes_code(text: str) -> None:
    pattern = re.sub(r"[^\w]", lambda match: f"\\u{{{ord(match[0]):x}}}", text)
    schema = {
        "title": text,
        "type": "object",
        "properties": {text: {"enum": [text, {text: [text, 1]}]}, "p": {"pattern": pattern}, "c": {"const": {text: 0}}},
        "required": [text],
        "dependentRequired": {text: [text]},
        "dependentSchemas": {text: {"minProperties": 1}},
        "patternProperties": {pattern: {}},
        "additionalProperties": False,
        "not": {"const": text},
        text: text,
    }
    modules = compiled(schema)
    for source in (modules.predicate, modules.collector):
        assert source.isascii()
        assert [name for name in identifiers(source) if not NAMES.fullmatch(name)] == []
    assert judge(modules, {text: text, "p": text, "c": {text: 0}})[0], explained(modules, text)
    assert judge(modules, {text: {text: [text, 1]}})[0]
    assert not judge(modules, {text: {text: [text, True]}})[0]


EVERYTHING = {
    "type": "object",
    "properties": {
        "a": {"type": "string", "pattern": "^a", "maxLength": 9},
        "b": {"type": ["integer", "null"], "multipleOf": 0.5, "minimum": -1},
        "c": {"items": {"$ref": "#"}, "uniqueItems": True, "contains": {"const": [0]}},
        "d": {"prefixItems": [{}, False], "items": {"enum": list("abcdefgh")}},
        "e": {"oneOf": [{"type": "null"}, {"$ref": "#/$defs/e"}], "not": {"const": 1}},
        "f": {"if": {"type": "string"}, "then": {"minLength": 1}, "else": {"type": "array", "items": {"items": {}}}},
    },
    "patternProperties": {"^x": {"anyOf": [{"type": "null"}, {"minProperties": 1}]}},
    "additionalProperties": {"propertyNames": {"minLength": 2}, "dependentRequired": {"a": ["b"]}},
    "$defs": {"e": {"properties": {"k": {"const": "e"}, "l": {"properties": {"m": {"properties": {"n": {}}}}}}}},
}


def test_the_same_schema_gives_the_same_text_in_every_process() -> None:
    script = (
        "import json, sys; from mcpc.schema import compile_schema; from mcpc.reading import Source, parse_json\n"
        "print(compile_schema(parse_json(Source('s', sys.argv[1].encode()))[0])[0])"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", script, json.dumps(EVERYTHING)],
            env={"PYTHONPATH": ":".join(sys.path), "PYTHONHASHSEED": seed},
            check=True, capture_output=True, text=True,
        ).stdout
        for seed in ("0", "1", "5")
    }  # fmt: skip
    assert len(texts) == 1
    assert str(compiled(EVERYTHING)) + "\n" in texts


def test_generated_code_is_code_people_read() -> None:
    modules = compiled(EVERYTHING)
    for source in (modules.predicate, modules.collector):
        ruff = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "E,F,W", "--ignore", "E501,F811", "-"]
        run = subprocess.run(ruff, input=source, capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stdout + run.stderr + source


def test_a_module_imports_nothing_but_re_and_that_only_when_a_pattern_is_asked() -> None:
    modules = compiled({"properties": {"a": {"pattern": "^a"}}})
    for source in (modules.predicate, modules.collector):
        tree = ast.parse(source)
        assert not any(isinstance(node, ast.Import | ast.ImportFrom) for node in tree.body)
        imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
        assert [ast.unparse(node) for node in imports] == ["import re"]
    script = (
        f"import sys; before = 're' in sys.modules; exec({modules.predicate!r}); accepts({{'a': 1}}); accepts({{}})\n"
    )
    script += "assert not before and 're' not in sys.modules; accepts({'a': 'b'}); assert 're' in sys.modules"
    subprocess.run([sys.executable, "-I", "-S", "-c", script], check=True)


def test_every_keyword_that_judges_has_a_way_to_become_code() -> None:
    assert set(EMITTERS) == {name for name, row in KEYWORDS.items() if row.judges}


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters()),
    st.binary(),
)
KEYS = st.one_of(st.text(st.characters()), st.integers(), st.binary(), st.none())
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.lists(inner, max_size=4).map(tuple), st.dictionaries(KEYS, inner, max_size=4)
    ),
    max_leaves=12,
)


def same(one: Any, other: Any) -> bool:
    """Compare with types: `True` is not 1, and `-0.0` is not 0.0."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return repr(one) == repr(other)


@settings(max_examples=400, deadline=None)
@given(VALUES)
def test_a_literal_means_the_value_it_was_made_of(value: Any) -> None:
    written = literal(value)
    assert type(written) is PythonCode
    assert written.isascii()
    assert written.isprintable()
    assert same(ast.literal_eval(written), value)


@pytest.mark.parametrize(
    "text",
    [
        "", "'", '"', "'\"", "'''", '"""', "\\", "\\'", "\\\\", "\n", "\r\n", "\0", "\x1b[0m", "{", "}", "{0}", "%s", "%(a)s", "#",
        "\u2028", "\u202e", "\ud800", "\udfff\ud800", "\U0001f600", "\N{DIGIT ONE}", "\\N{DIGIT ONE}", "\\u0041", "\\x41",
        "');import os;('", "\ufeff", "é" * 5_000,
    ],
)  # fmt: skip
def test_no_text_escapes_from_its_literal(text: str) -> None:
    for value in (text, [text], (text,), {text: text}):
        written = literal(value)
        assert written.isascii()
        assert "\n" not in written
        tree = ast.parse(written, mode="eval")
        kinds = {type(node) for node in ast.walk(tree)}
        assert kinds <= {ast.Expression, ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Load}
        assert ast.literal_eval(written) == value


def test_integers_of_any_length_come_back() -> None:
    for number in (10**3999, 10**4000, -(10**5000), 2**20000, -(2**20000) + 1):
        assert ast.literal_eval(literal(number)) == number


class Text(str):
    __slots__ = ()


class Color(enum.IntEnum):
    RED = 1


@pytest.mark.parametrize(
    "value",
    [
        float("nan"), float("inf"), -float("inf"), [float("nan")], {1, 2}, frozenset(), object(), print, 1j, bytearray(b"a"),
        range(3), ..., Text("a"), Color.RED, PythonCode("x"), [PythonCode("x")], {PythonCode("x"): 1}, {"a": Text("b")}, iter(()),
    ],
)  # fmt: skip
def test_what_has_no_literal_is_refused(value: object) -> None:
    with pytest.raises(TypeError):
        literal(value)


def test_nesting_is_limited_to_what_python_can_read() -> None:
    value: object = 1
    for _ in range(NESTING_LIMIT - 1):
        value = [value]
    assert ast.literal_eval(literal(value)) == value
    with pytest.raises(ValueError, match="nested deeper"):
        literal([value])


def test_templates_take_code_and_nothing_else() -> None:
    x = fill("x")
    assert fill("%s in %s", literal("a%s{}"), x) == "'a%s{}' in x"
    assert join_code(" and ", [x, literal(1)]) == "x and 1"
    assert join_code(", ", []) == ""
    assert numbered("v", 3) == "v3"
    assert indented(2, x) == "        x"
    wrong: Any
    for wrong in ("x", Text("x"), 1, None):
        with pytest.raises(TypeError):
            fill("%s", wrong)
        with pytest.raises(TypeError):
            join_code(" ", [x, wrong])


def test_code_is_made_in_one_module_only() -> None:
    folder = Path(mcpc.schema.__file__).parent
    makers = [path.name for path in sorted(folder.rglob("*.py")) if re.search(r"\bPythonCode\(", path.read_text())]
    assert makers == ["code.py"]
