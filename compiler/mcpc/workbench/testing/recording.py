"""Cases that are recorded: from a call log, or one at a time from the page of `mcpc dev`.

Secrets are replaced before a case is written.  A file is written whole or not at all, and only below the `tests` folder
of a project; what it had before stays as it was.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from mcpc.reading.yaml_tree import YamlError, read_yaml
from mcpc.sandbox.platforms.files import replace_file
from mcpc.workbench.testing.redaction import redacted
from mcpc.workbench.testing.yaml_text import list_item

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    Case = Mapping[str, Any]

FOLDER = "tests"
FILE_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,80}\.ya?ml\Z", re.ASCII)
HEAD = "tests:\n"
MAX_LINE = 4 << 20
"""Longer lines of a call log are passed over."""
MAX_CASES = 1000
KINDS = ("tool", "prompt", "resource", "completion")


class RecordingError(ValueError):
    """A case that cannot be written; the message says why and what to do."""


def append_case(project: Path, case: Case, file: str = "recorded.yaml") -> Path:
    """Add a case to a file of the project's `tests` folder, without its secrets; return the path of the file.

    `case`: as in a case file (`name`, `tool`, `arguments`, `expect` …).  `file`: a name that ends in `.yaml` or `.yml`.
    Raise RecordingError for a name that is not one, or a file to which nothing can be added.
    """
    if not FILE_NAME.match(file):
        raise RecordingError(f"`{file}` is not the name of a file for cases; expected for example `recorded.yaml`")
    folder = project.resolve() / FOLDER
    path = folder / file
    if folder.is_symlink() or path.is_symlink():
        raise RecordingError(f"`{FOLDER}/{file}` is a link; expected a file of the project")
    before = path.read_text("utf-8") if path.exists() else ""
    text = with_cases(before, [redacted(dict(case))])
    folder.mkdir(exist_ok=True)
    write_whole(path, text)
    return path


def with_cases(text: str, cases: Sequence[Case]) -> str:
    """Return the text of a case file with more cases at its end; raise RecordingError."""
    if not text.strip():
        return HEAD + "".join(list_item(case, "") for case in cases)
    tests, before = _tests_of(text)
    indent = _indent(text, tests.items[-1].start) if tests.items else "  "
    if indent is None:
        raise RecordingError("its `tests` are not a list with an item on each line; add the case by hand")
    at = _line_end(text, tests.items[-1].end) if tests.items else len(text)
    head = text[:at] if text[:at].endswith("\n") else f"{text[:at]}\n"
    written = head + "".join(list_item(case, indent) for case in cases) + text[at:]
    if json.dumps(_value(written)) != json.dumps({**before, FOLDER: [*before[FOLDER], *map(dict, cases)]}):
        raise RecordingError("nothing can be added to it without changing it; add the case by hand")
    return written


def _tests_of(text: str) -> tuple[Any, dict[str, Any]]:
    try:
        root = read_yaml(text, "")
    except YamlError as problem:
        raise RecordingError(f"it is not valid YAML: {problem}") from None
    tests = root.get(FOLDER)
    if not isinstance(root.value, dict) or tests is None or not isinstance(tests.value, list):
        raise RecordingError("it has no list `tests`; use another file")
    return tests, root.value


def _value(text: str) -> Any:
    try:
        return read_yaml(text, "").value
    except YamlError:
        return None


def _indent(text: str, start: int) -> str | None:
    """Return what is before the dash of an item; None if the item does not begin a line."""
    line = text[text.rfind("\n", 0, start) + 1 : start]
    found = re.fullmatch(r"( *)- +", line)
    return found[1] if found else None


def _line_end(text: str, at: int) -> int:
    """Return where the line after a value begins; a block text ends before its next token."""
    end = text.find("\n", max(at - 1, 0))
    return len(text) if end < 0 else end + 1


def write_whole(path: Path, text: str) -> None:
    """Write a file, whole or not at all."""
    temporary = path.with_name(f".{path.name}.mcpc~")
    try:
        temporary.write_text(text, "utf-8", newline="\n")
        replace_file(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def cases_of_log(lines: Iterable[bytes], patterns: Sequence[re.Pattern[str]] = ()) -> Iterator[dict[str, Any]]:
    """Yield a case for each different call of a call log, in order; calls of one tool by another are left out.

    `patterns`: what is redacted besides secrets of known names and forms.
    """
    seen: set[str] = set()
    for line in lines:
        case = _case_of_line(line, patterns) if len(line) <= MAX_LINE else None
        key = json.dumps({**case, "name": ""}, sort_keys=True) if case else ""
        if case and key not in seen and len(seen) < MAX_CASES:
            seen.add(key)
            yield {**case, "name": f"{case['name']} {len(seen)}"}


def _case_of_line(line: bytes, patterns: Sequence[re.Pattern[str]]) -> dict[str, Any] | None:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    kind = next((kind for kind in KINDS if isinstance(entry, dict) and isinstance(entry.get(kind), str)), None)
    if kind is None or entry.get("chain"):
        return None
    if kind == "completion":
        return _completion_of(entry, patterns)
    arguments = redacted(entry.get("arguments") or {}, patterns)
    expect: dict[str, Any] = {"error": entry.get("status") != "success"}
    case = {"name": entry[kind], kind: entry[kind]}
    return {**case, **({"arguments": arguments} if arguments and kind != "resource" else {}), "expect": expect}


def _completion_of(entry: Mapping[str, Any], patterns: Sequence[re.Pattern[str]]) -> dict[str, Any] | None:
    """Return the case of a completion, which a log names by what has the argument, a space, and the argument."""
    ref, _, argument = entry["completion"].rpartition(" ")
    given = entry.get("arguments")
    value, chosen = (given.get("value"), given.get("arguments")) if isinstance(given, dict) else (None, None)
    if not ref or not isinstance(value, str):
        return None  # a log without values has their sizes
    kind = "resource" if "{" in ref and ":" in ref else "prompt"
    complete = redacted({kind: ref, "argument": argument, **({"value": value} if value else {})}, patterns)
    case = {"name": entry["completion"], "complete": complete}
    arguments = {"arguments": redacted(chosen, patterns)} if isinstance(chosen, dict) and chosen else {}
    return {**case, **arguments, "expect": {"error": entry.get("status") != "success"}}
