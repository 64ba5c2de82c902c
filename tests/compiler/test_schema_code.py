"""What compiled schemas look like: no text of a schema is code, equal schemas are equal text, and size is linear."""

import ast
import json
import re
import subprocess
import sys

import pytest

from mcpc.schema.codegen.emit import EMITTERS
from mcpc.schema.keywords import KEYWORDS
from support.schemas import compiled, explained, judge, problems_of


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
