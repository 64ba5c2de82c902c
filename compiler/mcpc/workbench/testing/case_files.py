"""The files of cases in a project's `tests` folder: their fields as tables, and how they are read into cases.

    env: {LANG: C}                          for all cases of the file; so are settings, era and transport
    tests:
    - name: greets by name
      tool: greet                           or prompt, resource, or complete
      arguments: {name: Ada}
      expect: {text: "Hello, Ada!"}

Every problem is reported with its place.  A file without the list `tests` is not one of cases, and is passed over.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from mcpc.diagnostics import Span, diagnose
from mcpc.diagnostics.model import did_you_mean, nearest, quoted
from mcpc.reading import Source, judge_encoding, parse_json
from mcpc.reading.yaml_tree import YamlError, read_yaml
from mcpc.workbench.testing.model import BOTH, ERAS, TRANSPORTS, Case, CompletedArgument, Variant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.reading import Json, Node


TESTS = "tests"
KINDS = ("tool", "prompt", "resource", "complete")
"""The fields that say what a case calls."""
POINTER = re.compile(r"(?:/(?:[^~/]|~[01])*)*\Z")
HEADER = re.compile(r"[A-Za-z0-9-]+\Z")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
FOLDER = "tests"
SUFFIXES = (".yaml", ".yml", ".json")
MAX_BYTES = 8 << 20
MAX_VALUES = 200_000
UNKNOWN_FIELD = "MCP602"
"""The code of a problem that leaves the rest of a case usable, so that it is checked, too."""
MISSPELT = ("test", "cases", "Tests")


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


def _count_problem(value: Json) -> str:
    return "" if isinstance(value, int) and value >= 0 else "it is not an integer from 0"


def _positive(value: Json) -> str:
    return "" if isinstance(value, int | float) and value > 0 else "it is not above 0"


VARIABLES = CaseField(("object",), "an object of texts", _variables_problem)
SHARED_FIELDS = {
    "era": _choice(*ERAS, BOTH),
    "transport": _choice(*TRANSPORTS, BOTH),
    "env": VARIABLES,
    "settings": VARIABLES,
    "headers": CaseField(("object",), "an object of texts", _headers_problem),
    "serial": CaseField(("boolean",), "true or false"),
}
"""Fields of a file, and of a case, which counts more."""
FILE_FIELDS = {TESTS: CaseField(("array",), "a list of cases"), **SHARED_FIELDS}
CASE_FIELDS = {
    "name": CaseField(("string",), "a text", lambda value: "" if str(value).strip() else "it is empty"),
    "tool": CaseField(("string",), "a name"),
    "prompt": CaseField(("string",), "a name"),
    "resource": CaseField(("string",), "a URI"),
    "complete": CaseField(("object",), "an object such as `{prompt: NAME, argument: NAME, value: TEXT}`"),
    "arguments": CaseField(("object",), "an object"),
    "answers": CaseField(("array",), "a list of results, such as `{action: accept, content: {}}`", _answers_problem),
    "expect": CaseField(("object",), "an object"),
    **SHARED_FIELDS,
}
REFERENCES = ("prompt", "resource")
"""What has an argument that is completed: a prompt by its name, or a resource by its template."""
COMPLETE_FIELDS = {
    "prompt": CaseField(("string",), "a name"),
    "resource": CaseField(("string",), "a URI template"),
    "argument": CaseField(("string",), "the name of an argument or a variable"),
    "value": CaseField(("string",), "a text"),
}
COMPLETION_ONLY = ("values", "total", "hasMore")
"""Fields of `expect` that only a case with `complete` may have."""
EXPECT_FIELDS = {
    "error": CaseField(("boolean", "number"), "true, false, or the number of a JSON-RPC error", _error_problem),
    "text": CaseField(("string",), "a text"),
    "contains": CaseField(("string", "array"), "a text, or a list of texts", _text_problem),
    "matches": CaseField(("string", "array"), "a regular expression, or a list of them", _pattern_problem),
    "json": CaseField(("object",), "an object of values by JSON Pointer", _pointer_problem),
    "structured": CaseField(("object", "array", "string", "number", "boolean", "null"), "a value"),
    "schema": CaseField(("boolean",), "true or false"),
    "problems": CaseField(("array",), "a list of JSON Pointers", _pointer_problem),
    "values": CaseField(("array",), "a list of texts", _text_problem),
    "total": CaseField(("number",), "a number of values", _count_problem),
    "hasMore": CaseField(("boolean",), "true or false"),
    "within_ms": CaseField(("number",), "a number of milliseconds", _positive),
}


def case_sources(folder: Path, prefix: str = f"{FOLDER}/") -> tuple[dict[str, Source], Diagnostics]:
    """Return the files of a folder that may have cases, by path, sorted; and those that are too large."""
    sources: dict[str, Source] = {}
    problems: list[Diagnostic] = []
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.suffix not in SUFFIXES or path.name.startswith(".") or not path.is_file():
            continue
        name = f"{prefix}{path.name}"
        if path.stat().st_size > MAX_BYTES:
            problems.append(diagnose("MCP601", Span(name), f"the file is larger than {MAX_BYTES >> 20} MB"))
        else:
            sources[name] = Source(name, path.read_bytes())
    return sources, tuple(problems)


def read_cases(sources: Mapping[str, Source]) -> tuple[list[Case], Diagnostics]:
    """Return the cases of files, in order, and all problems of the files."""
    cases: list[Case] = []
    problems: list[Diagnostic] = []
    for source in sources.values():
        root, wrong = _root_of(source)
        problems += wrong
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
        return None, (*problems, diagnose("MCP601", span, words, "", problem.hint))


def _misspelt(root: Node) -> Iterator[Diagnostic]:
    """Report a file whose list of cases has nearly the right name."""
    for member in root.members:
        if member.key in MISSPELT and member.node.kind == "array":
            yield diagnose(
                "MCP602", member.key_span, f"unknown field `{member.key}`", "`tests`", "did you mean `tests`?"
            )


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
            self._report("MCP603", node.span, f"a case is an object, found {_kind(node)}", "`name`, `tool` …")
            return None
        before = len(self._problems)
        self._has_fields(node, CASE_FIELDS, "a case")
        for name, fields in (("expect", EXPECT_FIELDS), ("complete", COMPLETE_FIELDS)):
            part = node.get(name)
            if part is not None and part.kind == "object":
                self._has_fields(part, fields, f"`{name}`")
        self._check_one(node, KINDS, f"case {number}")
        self._check_completion(node, number)
        is_usable = all(problem.code == UNKNOWN_FIELD for problem in self._problems[before:])
        return self._made(node, root, number) if is_usable else None

    def _check_one(self, node: Node, names: Iterable[str], where: str) -> None:
        """Report an object that does not have exactly one of some members."""
        keys = [member.key for member in node.members if member.key in names]
        if len(keys) != 1:
            what = "calls nothing" if not keys else f"has {quoted(keys, ' and ')}"
            self._report("MCP604", _head(node), f"{where} {what}", f"one of {quoted(names)}")

    def _check_completion(self, node: Node, number: int) -> None:
        """Report what a completion has to have, and what only a completion may have."""
        completed, expect, arguments = node.get("complete"), node.get("expect"), node.get("arguments")
        if completed is None:
            for member in expect.members if expect else ():
                if member.key in COMPLETION_ONLY:
                    message = f"`{member.key}` is expected of something that is not a completion"
                    self._report("MCP602", member.key_span, message, "a case with `complete`")
            return
        if completed.kind != "object":
            return
        self._check_one(completed, REFERENCES, f"`complete` of case {number}")
        if completed.get("argument") is None:
            self._report("MCP604", completed.span, f"`complete` of case {number} has no `argument`", "its name")
        for member in arguments.members if arguments else ():
            if member.node.kind != "string":
                message = f"`arguments` of a completion are texts, found {_kind(member.node)}"
                self._report("MCP603", member.node.span, message, "a text")

    def _made(self, node: Node, root: Node, number: int) -> Case:
        kind = next(kind for kind in KINDS if kind in _value(node))
        completed = _completed(_value(node)["complete"]) if kind == "complete" else None
        target = completed.name if completed else _value(node)[kind]
        name = str(_value(node).get("name") or f"{target} #{number}")
        self._check_name(name, node)
        shared: dict[str, Any] = {**_value(root), **_value(node)}
        transports = TRANSPORTS if shared.get("transport", BOTH) == BOTH else (shared["transport"],)
        eras = ERAS if shared.get("era", BOTH) == BOTH else (shared["era"],)
        return Case(
            name=name,
            kind=kind,
            target=target,
            arguments=_value(node).get("arguments", {}),
            variants=tuple(Variant(*each) for each in product(transports, eras)),
            environment=_environment(_value(root), _value(node)),
            headers=tuple(sorted({**_value(root).get("headers", {}), **_value(node).get("headers", {})}.items())),
            answers=tuple(_value(node).get("answers", ())),
            expect=node.get("expect"),
            node=node,
            number=number,
            completed=completed,
            serial=shared.get("serial"),
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
                f"found {_kind(member.node)}" if member.node.kind not in row.kinds else row.check(member.node.value)
            )
            if problem:
                self._report("MCP603", member.node.span, f"`{member.key}`: {problem}", row.expected)
        return len(self._problems) == before

    def _report(self, code: str, span: Span, message: str, expected: str = "", hint: str = "") -> None:
        self._problems.append(diagnose(code, span, message, expected, hint))


NOUNS = {"complete": "argument of a prompt or template"}
"""What messages call that which a case calls, where the field's name does not say it."""


def unknown_targets(cases: list[Case], offered: Mapping[str, list[str]]) -> Diagnostics:
    """Report cases that call or complete what is not offered, unless they expect an error.

    `offered`: names by kind; a kind that is not there is not checked.
    """
    problems = []
    for case in cases:
        names = offered.get(case.kind)
        error = case.expect.get("error") if case.expect is not None else None
        if names is None or case.target in names or (error is not None and error.value is not False):
            continue
        near = nearest(case.target, names)
        noun = NOUNS.get(case.kind, case.kind)
        listed = f"the {noun}s are {quoted(names[:8])}" if names else f"the server has no {noun}s"
        message = f"the server has no {noun} `{case.target}`"
        hint = f"did you mean `{near}`?" if near else listed
        problems.append(diagnose("MCP605", case.node.span_of(case.kind), message, "", hint))
    return tuple(problems)


def _environment(*objects: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return the variables of a file and of a case, sorted; a setting is the variable of its name."""
    variables: dict[str, str] = {}
    for each in objects:
        for values in (each.get("settings") or {}, each.get("env") or {}):
            variables.update(
                {name: value if isinstance(value, str) else json.dumps(value) for name, value in values.items()}
            )
    return tuple(sorted(variables.items()))


def _completed(given: Mapping[str, Any]) -> CompletedArgument:
    kind = next(kind for kind in REFERENCES if kind in given)
    return CompletedArgument(kind, given[kind], given["argument"], given.get("value", ""))


def _value(node: Node) -> dict[str, Any]:
    return node.value if isinstance(node.value, dict) else {}


def _kind(node: Node) -> str:
    return node.kind if node.kind == "null" else f"{'an' if node.kind[0] in 'ao' else 'a'} {node.kind}"


def _head(node: Node) -> Span:
    """Return the place of the first member of a case, which is where it begins."""
    first = node.members[0] if node.members else None
    return first.key_span if first else node.span
