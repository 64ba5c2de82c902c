"""The files of cases in a project's `tests` folder: how they are read into cases.

    env: {LANG: C}                          for all cases of the file; so are settings, era and transport
    tests:
    - name: greets by name
      tool: greet                           or prompt, resource, or complete
      arguments: {name: Ada}
      expect: {text: "Hello, Ada!"}

Every problem is reported with its place.  A file without the list `tests` is not one of cases, and is passed over.
"""

from __future__ import annotations

import base64
import json
from itertools import product
from typing import TYPE_CHECKING, Any

from mcpc.diagnostics import Span, diagnose
from mcpc.diagnostics.model import did_you_mean, nearest, quoted
from mcpc.reading import Source, judge_encoding, parse_json
from mcpc.reading.yaml_tree import YamlError, read_yaml
from mcpc.workbench.testing.case_fields import (
    CASE_FIELDS,
    COMPLETE_FIELDS,
    COMPLETION_ONLY,
    EXPECT_FIELDS,
    FILE_FIELDS,
    GIVEN_FIELDS,
    KINDS,
    REFERENCES,
    REQUEST_FIELDS,
    RESPONSE_FIELDS,
    TESTS,
    CaseField,
)
from mcpc.workbench.testing.model import BOTH, ERAS, TRANSPORTS, Case, CompletedArgument, StubResponse, Variant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.reading import Node


FOLDER = "tests"
SUFFIXES = (".yaml", ".yml", ".json")
MAX_BYTES = 8 << 20
# By aliases a small file of YAML can mean any number of values.
MAX_VALUES = 200_000
UNKNOWN_FIELD = "MCP602"
"""The code of a problem that leaves the rest of a case usable, so that it is checked, too."""
MISSPELT = ("test", "cases", "Tests")


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
        for name, fields in (("expect", EXPECT_FIELDS), ("complete", COMPLETE_FIELDS), ("given", GIVEN_FIELDS)):
            part = node.get(name)
            if part is not None and part.kind == "object":
                self._has_fields(part, fields, f"`{name}`")
        self._check_requests(node)
        self._check_one(node, KINDS, f"case {number}")
        self._check_completion(node, number)
        is_usable = all(problem.code == UNKNOWN_FIELD for problem in self._problems[before:])
        return self._made(node, root, number) if is_usable else None

    def _check_requests(self, node: Node) -> None:
        """Report what is wrong with the responses that are given, and the requests that are expected."""
        responses, requests = _within(node, "given", "response"), _within(node, "expect", "request")
        for part, fields, where in (responses, RESPONSE_FIELDS, "a response"), (requests, REQUEST_FIELDS, "a request"):
            for item in _each(part):
                if item.kind == "object":
                    self._has_fields(item, fields, where)
                if item.get("body") is not None and item.get("base64") is not None:
                    self._report("MCP603", item.span, f"{where} has `body` and `base64`", "one of them")
        if requests is not None and responses is None:
            message = "`request` is expected of a case that answers none"
            self._report("MCP602", requests.span, message, "`given: {response: …}`")

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
        responses = _within(node, "given", "response")
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
            responses=None if responses is None else tuple(map(_response, _each(responses))),
            is_repeated=responses is not None and responses.kind == "object",
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


def unanswerable(cases: list[Case], requests: Mapping[str, str], bases: Mapping[str, str]) -> Diagnostics:
    """Report cases with responses whose tool sends to a fixed address.

    `requests`: by tool, as `GET $BASE/path`; `bases`: the settings that have addresses.
    """
    problems = []
    for case in cases:
        is_answered = " $" in requests[case.target] if case.target in requests else bool(bases)
        if case.responses is not None and not is_answered:
            message = f"the requests of `{case.target}` cannot be answered here: no setting has their address"
            problems.append(diagnose("MCP605", case.node.span_of("given"), message, '`"base": {"setting": NAME}`'))
    return tuple(problems)


def _within(node: Node, *keys: str) -> Node | None:
    """Return a member of a member, None if one is not there or no object."""
    place: Node | None = node
    for key in keys:
        place = place.get(key) if place is not None and place.kind == "object" else None
    return place


def _each(node: Node | None) -> tuple[Node, ...]:
    """Return the items of a list, or the one value."""
    if node is None:
        return ()
    return tuple(node.items) if node.kind == "array" else (node,)


def _response(node: Node) -> StubResponse:
    row = _value(node)
    body, kind = row.get("body"), ""
    if "base64" in row:
        data = base64.b64decode(row["base64"])
    elif isinstance(body, str):
        data, kind = body.encode(), "text/plain; charset=utf-8"
    else:
        data, kind = (json.dumps(body, ensure_ascii=False).encode(), "application/json") if "body" in row else (b"", "")
    headers = {str(name): str(value) for name, value in row.get("headers", {}).items()}
    if kind and "content-type" not in map(str.lower, headers):
        headers["Content-Type"] = kind
    return StubResponse(row.get("status", 200), headers, data, row.get("to", ""))


def _environment(*objects: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return the variables of a file and of a case, sorted; a setting is the variable of its name."""
    variables: dict[str, str] = {}
    for each in objects:
        for values in (each.get("settings") or {}, each.get("env") or {}):
            variables.update(
                # As JSON: the variable of a boolean is `true`, not Python's `True`.
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
