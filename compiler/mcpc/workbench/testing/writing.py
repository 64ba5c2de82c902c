"""Cases that are written: recorded from a call log or the page of `mcpc dev`, and expectations written anew.

Secrets are replaced before a case is written.  A file is written whole or not at all, and only below the `tests` folder
of a project; what it had before stays as it was.  Of an expectation only the text of its value is replaced, so that
comments and the order of a file stay.  What is written is read back before it is used.
"""

from __future__ import annotations

import copy
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcpc.reading import Source, parse_json
from mcpc.reading.yaml_tree import YamlError, read_yaml
from mcpc.release.scan.leaks import IN_ADDRESS, KNOWN, PRIVATE_KEY
from mcpc.sandbox.platforms import replace_file
from mcpc.workbench.testing.case_files import MAX_VALUES
from mcpc.workbench.testing.model import Absent
from mcpc.workbench.testing.yaml_text import block_text, flow_value, list_item

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from mcpc.reading import Node
    from mcpc.workbench.testing.reports import CaseResult

if TYPE_CHECKING:
    Case = Mapping[str, Any]
    Json = Any

FOLDER = "tests"
FILE_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,80}\.ya?ml\Z", re.ASCII)
HEAD = "tests:\n"
MAX_LINE = 4 << 20
"""Longer lines of a call log are passed over."""
MAX_CASES = 1000
KINDS = ("tool", "prompt", "resource", "completion")
REDACTED = "REDACTED"
NAME = re.compile(
    r"(?:^|[_.\s-]|(?<=[a-z0-9])(?=[A-Z]))"
    r"(?i:api_?-?key|secret|token|password|passwd|passphrase|credential|auth|authorization|bearer|cookie|pin|otp"
    r"|private_?-?key|access_?-?key|key)s?(?=$|[_.\s-]|[A-Z])"
)
"""Names whose values are secrets, as whole words of a name: `api_key` and `dbPassword`, but not `monkey`."""
BEARER = re.compile(r"(?i)\b(?:bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}")
FORMS = (*(pattern for _, pattern in KNOWN), PRIVATE_KEY, BEARER)


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
    # A link could lead out of the project.
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
    indent = _indent_of_item(text, tests.items[-1].start) if tests.items else "  "
    if indent is None:
        raise RecordingError("its `tests` are not a list with an item on each line; add the case by hand")
    at = _line_end(text, tests.items[-1].end) if tests.items else len(text)
    head = text[:at] if text[:at].endswith("\n") else f"{text[:at]}\n"
    written = head + "".join(list_item(case, indent) for case in cases) + text[at:]
    # Compared as JSON, in which the order of members counts, and 1 is not true.
    if json.dumps(_read_value(written)) != json.dumps({**before, FOLDER: [*before[FOLDER], *map(dict, cases)]}):
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


def _read_value(text: str) -> Any:
    try:
        return read_yaml(text, "").value
    except YamlError:
        return None


def _indent_of_item(text: str, start: int) -> str | None:
    """Return what is before the dash of an item; None if the item does not begin a line."""
    line = text[text.rfind("\n", 0, start) + 1 : start]
    match = re.fullmatch(r"( *)- +", line)
    return match[1] if match else None


def _line_end(text: str, at: int) -> int:
    """Return where the line after a value begins; a block text ends before its next token."""
    end = text.find("\n", max(at - 1, 0))
    return len(text) if end < 0 else end + 1


def write_whole(path: Path, text: str) -> None:
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


def redacted(value: Json, patterns: Sequence[re.Pattern[str]] = ()) -> Json:
    """Return a value without its secrets.  `patterns`: what is hidden besides, in texts and as names of members."""
    if isinstance(value, dict):
        return {name: _member(name, each, patterns) for name, each in value.items()}
    if isinstance(value, list):
        return [redacted(each, patterns) for each in value]
    return _without_secrets(value, patterns) if isinstance(value, str) else value


def _member(name: str, value: Json, patterns: Sequence[re.Pattern[str]]) -> Json:
    is_secret = NAME.search(name) or any(pattern.search(name) for pattern in patterns)
    if is_secret and isinstance(value, str | int | float) and not isinstance(value, bool):
        return REDACTED
    return redacted(value, patterns)


def _without_secrets(text: str, patterns: Sequence[re.Pattern[str]]) -> str:
    for pattern in (*FORMS, *patterns):
        text = pattern.sub(REDACTED, text)
    return IN_ADDRESS.sub(lambda match: match[0].replace(match[1], REDACTED), text)


@dataclass(frozen=True, slots=True)
class Edit:
    """A value of a file that gets another one."""

    node: Node
    value: Json


def updates(results: Iterable[CaseResult], sources: Mapping[str, Source]) -> tuple[dict[str, str], int]:
    """Return the new texts of files by path, and how many expectations they change."""
    edits: dict[str, list[Edit]] = {}
    for result in results:
        edits.setdefault(result.case.file, []).extend(edits_of(result))
    texts, count = {}, 0
    for path, file_edits in edits.items():
        text = edited(sources[path], file_edits) if file_edits else None
        if text is not None:
            texts[path] = text
            count += len(file_edits)
    return texts, count


def edits_of(result: CaseResult) -> list[Edit]:
    """Return the edits of a case: of what differs in the same way in all of its ways."""
    ways = set(result.variants)
    return [
        Edit(failure.mismatch.node, failure.mismatch.update)
        for failure in result.failures
        if failure.mismatch.node is not None
        and not isinstance(failure.mismatch.update, Absent)
        and set(failure.variants) == ways
    ]


def edited(source: Source, edits: Sequence[Edit]) -> str | None:
    """Return the text of a file with other values; None if anything else of it would change."""
    root = read_tree(source.path, source.text)
    wanted = None if root is None else json.dumps(with_values(root, edits))
    # A block may not read back as the same text; a value on one line does.
    for has_blocks in (True, False):
        text = replaced(source.text, edits, has_blocks=has_blocks)
        after = read_tree(source.path, text)
        if after is not None and json.dumps(after.value) == wanted:
            return text
    return None


def replaced(text: str, edits: Sequence[Edit], *, has_blocks: bool) -> str:
    """Return a text with other values in place of some; with `has_blocks` a block of lines stays one."""
    # From the end, so that the places of the others stay.
    for edit in sorted(edits, key=lambda each: each.node.start, reverse=True):
        start = edit.node.start
        end = start + len(text[start : edit.node.end].rstrip())
        is_block = has_blocks and text[start] in "|>" and isinstance(edit.value, str) and "\n" in edit.value
        written = block_text(edit.value, _indent_of_block(text, start)) if is_block else flow_value(edit.value)
        text = text[:start] + written + text[end:]
    return text


def _indent_of_block(text: str, at: int) -> str:
    """Return what is before the lines of a block whose key is on the line of `at`."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return " " * (len(line) - len(line.lstrip(" -")) + 2)


def with_values(root: Node, edits: Sequence[Edit]) -> Json:
    """Return the value of a file with other values at the positions of some."""
    by_place = {(edit.node.start, edit.node.end): edit.value for edit in edits}
    value = copy.deepcopy(root.value)
    for node, pointer in root.pointers():
        if (node.start, node.end) in by_place and pointer:
            above, key = _above(value, pointer)
            above[key] = by_place[node.start, node.end]
    return value


def _above(value: Json, pointer: str) -> tuple[Json, Json]:
    """Return what holds the value at a pointer, and its key there."""
    *path, last = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
    for part in path:
        value = value[int(part)] if isinstance(value, list) else value[part]
    return value, int(last) if isinstance(value, list) else last


def read_tree(path: str, text: str) -> Node | None:
    """Return the value of a case file; None if it cannot be read."""
    if path.endswith(".json"):
        return parse_json(Source(path, text.encode("utf-8", "surrogateescape")))[0]
    try:
        return read_yaml(text, path, most=MAX_VALUES)
    except YamlError:
        return None
