"""The files of cases in a project's `tests` folder, read into cases; every problem is reported with its place.

    env: {LANG: C}                          for all cases of the file; so are settings, era and transport
    tests:
    - name: greets by name
      tool: greet                           or prompt, or resource
      arguments: {name: Ada}
      expect: {text: "Hello, Ada!"}

A file without the list `tests` is not one of cases, and is passed over.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from mcpc.diagnostics import Span, diagnose
from mcpc.diagnostics.suggestions import did_you_mean, nearest, quoted
from mcpc.sources import Source, judge_encoding, parse_json
from mcpc.sources.yaml_tree import YamlError, read_yaml
from mcpc.testing.model import BOTH, ERAS, TRANSPORTS, Case, Variant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.sources import Json, Node

FOLDER = "tests"
SUFFIXES = (".yaml", ".yml", ".json")
TESTS = "tests"
MAX_BYTES = 8 << 20
MAX_VALUES = 200_000
KINDS = ("tool", "prompt", "resource")
MISSPELT = ("test", "cases", "Tests")
POINTER = re.compile(r"(?:/(?:[^~/]|~[01])*)*\Z")
HEADER = re.compile(r"[A-Za-z0-9-]+\Z")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def case_sources(folder: Path, prefix: str = f"{FOLDER}/") -> tuple[dict[str, Source], Diagnostics]:
    """Return the files of a folder that may have cases, by path, sorted; and those that are too large."""
    found: dict[str, Source] = {}
    problems: list[Diagnostic] = []
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.suffix not in SUFFIXES or path.name.startswith(".") or not path.is_file():
            continue
        name = f"{prefix}{path.name}"
        if path.stat().st_size > MAX_BYTES:
            problems.append(diagnose("MCP601", Span(name), f"the file is larger than {MAX_BYTES >> 20} MB"))
        else:
            found[name] = Source(name, path.read_bytes())
    return found, tuple(problems)


def read_cases(sources: Mapping[str, Source]) -> tuple[list[Case], Diagnostics]:
    """Return the cases of files, in order, and all problems of the files."""
    cases: list[Case] = []
    problems: list[Diagnostic] = []
    for source in sources.values():
        root, found = _root_of(source)
        problems += found
        if root is not None and root.get(TESTS) is not None:
            reader = _Reader(source, problems)
            cases += reader.cases(root)
        elif root is not None:
            problems += _misspelt(root)
    return cases, tuple(problems)


def _root_of(source: Source) -> tuple[Node | None, Diagnostics]:
    if source.path.endswith(".json"):
        return parse_json(source)
    problems, is_text = judge_encoding(source)
    if not is_text:
        return None, problems
    try:
        return read_yaml(source.text, source.path, most=MAX_VALUES), problems
    except YamlError as problem:
        span = Span(source.path, problem.start, problem.end)
        words = f"the file is not valid YAML: {problem}" if problem.is_syntax else str(problem)
        return None, (*problems, diagnose("MCP601", span, words))


def _misspelt(root: Node) -> Iterator[Diagnostic]:
    """Report a file whose list of cases has nearly the right name."""
    for member in root.members:
        if member.key in MISSPELT and member.node.kind == "array":
            yield diagnose(
                "MCP602", member.key_span, f"unknown field `{member.key}`", "`tests`", "did you mean `tests`?"
            )


@dataclass(frozen=True, slots=True)
class CaseField:
    """A field of an object: the types that its value may have, and a check that returns what is wrong beside them."""

    kinds: tuple[str, ...]
    expected: str
    check: Callable[[Json], str] = lambda _: ""


def _choice(*names: str) -> CaseField:
    expected = quoted(names, " or ")
    return CaseField(("string",), expected, lambda value: "" if value in names else f"found `{value}`")


def _texts_of(value: Json) -> list[Json]:
    return value if isinstance(value, list) else [value]


def _text_problem(value: Json) -> str:
    return "" if all(isinstance(each, str) for each in _texts_of(value)) else "an item is not a text"


def _pattern_problem(value: Json) -> str:
    try:
        for each in _texts_of(value):
            re.compile(each if isinstance(each, str) else str(each))
    except re.error as problem:
        return f"not a regular expression: {problem}"
    return _text_problem(value)


def _pointer_problem(value: Json) -> str:
    """Return the first key or item that is not a JSON Pointer."""
    wrong = [each for each in value or () if not (isinstance(each, str) and POINTER.match(each))]  # type: ignore[union-attr]
    return f"{json.dumps(wrong[0])} is not a JSON Pointer; one begins with `/`" if wrong else ""


def _variables_problem(value: Json) -> str:
    for name, each in value.items() if isinstance(value, dict) else ():
        if not VARIABLE.match(name):
            return f"`{name}` is not the name of a variable"
        if isinstance(each, dict | list) or each is None:
            return f"the value of `{name}` is not a text, a number or a boolean"
    return ""


def _headers_problem(value: Json) -> str:
    for name, each in value.items() if isinstance(value, dict) else ():
        if not HEADER.match(name):
            return f"`{name}` is not the name of a header"
        if not isinstance(each, str) or not each.isascii() or not each.isprintable():
            return f"the value of `{name}` is not a text of printable ASCII characters"
    return ""


def _answers_problem(value: Json) -> str:
    return "" if all(isinstance(each, dict) for each in _texts_of(value)) else "an item is not an object"


def _error_problem(value: Json) -> str:
    return "" if isinstance(value, bool | int) else "the number of a JSON-RPC error is an integer"


def _positive(value: Json) -> str:
    return "" if isinstance(value, int | float) and value > 0 else "it is not above 0"


VARIABLES = CaseField(("object",), "an object of texts", _variables_problem)
SHARED_FIELDS = {
    "era": _choice(*ERAS, BOTH),
    "transport": _choice(*TRANSPORTS, BOTH),
    "env": VARIABLES,
    "settings": VARIABLES,
    "headers": CaseField(("object",), "an object of texts", _headers_problem),
}
"""Fields of a file, and of a case, which counts more."""
FILE_FIELDS = {TESTS: CaseField(("array",), "a list of cases"), **SHARED_FIELDS}
CASE_FIELDS = {
    "name": CaseField(("string",), "a text", lambda value: "" if str(value).strip() else "it is empty"),
    **{kind: CaseField(("string",), "a name" if kind != "resource" else "a URI") for kind in KINDS},
    "arguments": CaseField(("object",), "an object"),
    "answers": CaseField(("array",), "a list of results, such as `{action: accept, content: {}}`", _answers_problem),
    "expect": CaseField(("object",), "an object"),
    **SHARED_FIELDS,
}
EXPECT_FIELDS = {
    "error": CaseField(("boolean", "number"), "true, false, or the number of a JSON-RPC error", _error_problem),
    "text": CaseField(("string",), "a text"),
    "contains": CaseField(("string", "array"), "a text, or a list of texts", _text_problem),
    "matches": CaseField(("string", "array"), "a regular expression, or a list of them", _pattern_problem),
    "json": CaseField(("object",), "an object of values by JSON Pointer", _pointer_problem),
    "structured": CaseField(("object", "array", "string", "number", "boolean", "null"), "a value"),
    "schema": CaseField(("boolean",), "true or false"),
    "problems": CaseField(("array",), "a list of JSON Pointers", _pointer_problem),
    "within_ms": CaseField(("number",), "a number of milliseconds", _positive),
}


class _Reader:
    """Reads the cases of one file; what is wrong is added to `problems`."""

    def __init__(self, source: Source, problems: list[Diagnostic]) -> None:
        self._source = source
        self._problems = problems
        self._places: dict[str, Node] = {}

    def cases(self, root: Node) -> Iterator[Case]:
        """Yield the cases of a file that can be used."""
        if not self._has_fields(root, FILE_FIELDS, "a file of cases"):
            return
        tests = root.get(TESTS)
        for number, node in enumerate(tests.items if tests else (), 1):
            case = self._case(node, root, number)
            if case is not None:
                yield case

    def _case(self, node: Node, root: Node, number: int) -> Case | None:
        if node.kind != "object":
            self._report("MCP603", node.span, f"a case is an object, found a {node.kind}", "`name`, `tool` …")
            return None
        expect = node.get("expect")
        is_right = self._has_fields(node, CASE_FIELDS, "a case")
        is_right &= expect is None or expect.kind != "object" or self._has_fields(expect, EXPECT_FIELDS, "`expect`")
        called = [member for member in node.members if member.key in KINDS]
        if len(called) != 1:
            what = "calls nothing" if not called else f"has {quoted((each.key for each in called), ' and ')}"
            self._report("MCP604", _head(node), f"case {number} {what}", f"one of {quoted(KINDS)}")
        if len(called) != 1 or not is_right:
            return None
        return self._made(node, root, number)

    def _made(self, node: Node, root: Node, number: int) -> Case:
        kind = next(kind for kind in KINDS if kind in _value(node))
        name = str(_value(node).get("name") or f"{_value(node)[kind]} #{number}")
        self._check_name(name, node)
        shared: dict[str, Any] = {**_value(root), **_value(node)}
        return Case(
            name=name,
            kind=kind,
            target=_value(node)[kind],
            arguments=_value(node).get("arguments", {}),
            variants=variants_of(shared.get("transport", BOTH), shared.get("era", BOTH)),
            environment=_environment(_value(root), _value(node)),
            headers=tuple(sorted({**_value(root).get("headers", {}), **_value(node).get("headers", {})}.items())),
            answers=tuple(_value(node).get("answers", ())),
            expect=node.get("expect"),
            node=node,
            number=number,
        )

    def _check_name(self, name: str, node: Node) -> None:
        first = self._places.setdefault(name, node)
        if first is not node:
            place = first.span.place_in((self._source,))
            self._report("MCP606", node.span_of("name") or _head(node), f"a case is named `{name}` already", "", place)

    def _has_fields(self, node: Node, fields: Mapping[str, CaseField], where: str) -> bool:
        """Report the members of an object that are not fields, or not of their types; tell whether there is none."""
        before = len(self._problems)
        for member in node.members:
            row = fields.get(member.key)
            if row is None:
                hint = did_you_mean(member.key, fields, f"the fields are {quoted(fields)}")
                self._report("MCP602", member.key_span, f"unknown field `{member.key}` of {where}", "", hint)
                continue
            problem = (
                f"found a {member.node.kind}" if member.node.kind not in row.kinds else row.check(member.node.value)
            )
            if problem:
                self._report("MCP603", member.node.span, f"`{member.key}`: {problem}", row.expected)
        return len(self._problems) == before

    def _report(self, code: str, span: Span, message: str, expected: str = "", hint: str = "") -> None:
        self._problems.append(diagnose(code, span, message, expected, hint))


def variants_of(transport: str, era: str) -> tuple[Variant, ...]:
    """Return the ways to run a case."""
    transports = TRANSPORTS if transport == BOTH else (transport,)
    eras = ERAS if era == BOTH else (era,)
    return tuple(Variant(*pair) for pair in product(transports, eras))


def unknown_targets(cases: list[Case], offered: Mapping[str, list[str]]) -> Diagnostics:
    """Report cases that call a tool or prompt that is not offered, unless they expect an error.

    `offered`: names by kind; a kind that is not there is not checked.
    """
    found = []
    for case in cases:
        names = offered.get(case.kind)
        error = case.expect.get("error") if case.expect is not None else None
        if names is None or case.target in names or (error is not None and error.value is not False):
            continue
        near = nearest(case.target, names)
        listed = f"the {case.kind}s are {quoted(names[:8])}" if names else f"the server has no {case.kind}s"
        message = f"the server has no {case.kind} `{case.target}`"
        hint = f"did you mean `{near}`?" if near else listed
        found.append(diagnose("MCP605", case.node.span_of(case.kind), message, "", hint))
    return tuple(found)


def _environment(*objects: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return the variables of a file and of a case, sorted; a setting is the variable of its name."""
    found: dict[str, str] = {}
    for each in objects:
        for values in (each.get("settings") or {}, each.get("env") or {}):
            found.update(
                {name: value if isinstance(value, str) else json.dumps(value) for name, value in values.items()}
            )
    return tuple(sorted(found.items()))


def _value(node: Node) -> dict[str, Any]:
    return node.value if isinstance(node.value, dict) else {}


def _head(node: Node) -> Span:
    """Return the place of the first member of a case, which is where it begins."""
    first = node.members[0] if node.members else None
    return first.key_span if first else node.span
