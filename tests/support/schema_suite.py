"""Runs the official JSON Schema test suite through a compiler of schemas, one draft and group at a time.

A factory takes a schema and a `Context` and returns what judges instances; a test that it does not pass is named
`draft/group/file/case/test`, with what became of it.
"""

import copy
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REMOTE = "http://localhost:1234/"
"""Where the suite says that its remote documents are."""
FOLDERS = {"required": "", "optional": "optional", "format": "optional/format"}
"""The folder of each group below the draft's."""
ASSERTING = "format-assertion.json"


@dataclass(frozen=True)
class Context:
    """What a test says besides its schema: remote documents by URI, its draft, whether `format` is asserted."""

    draft: str
    remotes: Mapping[str, Any]
    assert_format: bool


def remotes(suite: Path) -> dict[str, Any]:
    """Return the suite's remote documents by their URI."""
    root = suite / "remotes"
    found = sorted(root.rglob("*.json"))
    return {REMOTE + path.relative_to(root).as_posix(): json.loads(path.read_text()) for path in found}


def cases(suite: Path, draft: str, group: str) -> Iterator[tuple[str, dict[str, Any], bool]]:
    """Yield the cases of a group, each with its file's name and whether `format` is asserted in it."""
    for path in sorted((suite / "tests" / draft / FOLDERS[group]).glob("*.json")):
        for case in json.loads(path.read_text()):
            yield path.name, case, group == "format" or path.name == ASSERTING


def run(
    factory: Callable[[Any, Context], Callable[[Any], bool]], suite: Path, draft: str, group: str
) -> tuple[Counter[str], dict[str, str]]:
    """Return how many tests there are and how many pass, and each other test's name with what became of it."""
    counts: Counter[str] = Counter()
    failures: dict[str, str] = {}
    documents = remotes(suite)
    for file, case, asserts in cases(suite, draft, group):
        built = outcome_of(factory, copy.deepcopy(case["schema"]), Context(draft, documents, asserts))
        for test in case["tests"]:
            counts["tests"] += 1
            became = built if isinstance(built, str) else judged(built, test)
            if became:
                failures["/".join((draft, group, file, case["description"], test["description"]))] = became
            else:
                counts["pass"] += 1
    return counts, failures


def outcome_of(factory: Callable[..., Any], schema: Any, context: Context) -> Callable[[Any], bool] | str:
    """Return the validator of a schema, or why there is none."""
    try:
        judge: Callable[[Any], bool] = factory(schema, context)
    except Exception as problem:  # noqa: BLE001 - whatever goes wrong is what became of the test
        return f"not built: {type(problem).__name__}: {problem}"
    return judge


def judged(judge: Callable[[Any], bool], test: dict[str, Any]) -> str:
    """Return the result of a test, empty if it passes."""
    try:
        answer = judge(test["data"])
    except Exception as problem:  # noqa: BLE001 - whatever goes wrong is what became of the test
        return f"{type(problem).__name__}: {problem}"
    return "" if answer is test["valid"] else f"answered {answer}"
