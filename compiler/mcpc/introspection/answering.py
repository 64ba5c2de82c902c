"""Whether what the process of a project says has the form of an answer: whatever a file runs may write there, too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpc.diagnostics import CODES

if TYPE_CHECKING:
    from collections.abc import Mapping


def is_answer(line: dict[str, Any], marks: Mapping[str, int]) -> bool:
    """Tell whether a line answers for one of the files; `marks`: how many each has."""
    path, rows, failure = line.get("path"), line.get("marks"), line.get("failure")
    if not isinstance(path, str) or path not in marks or not isinstance(rows, list):
        return False
    has_all = len(rows) == (0 if failure is not None else marks[path]) and all(map(is_row, rows))
    servers = line.get("servers")
    has_servers = isinstance(servers, dict) and all(map(is_server, servers.values()))
    return has_all and has_servers and (failure is None or is_failure(failure))


def is_end(line: dict[str, Any]) -> bool:
    """Tell whether a line is the last one of a process."""
    strays = line.get("strays")
    return line.get("end") is True and isinstance(strays, list) and all(map(is_stray, strays))


def is_row(row: object) -> bool:
    """Tell whether a value describes one marked function."""
    if not isinstance(row, dict) or not isinstance(row.get("definition"), dict):
        return False
    return are_texts(row.get("binding")) and isinstance(row.get("context"), str) and are_problems(row.get("problems"))


def is_server(said: object) -> bool:
    """Tell whether a value is what a `Server` says of itself."""
    if said == {}:
        return True
    return isinstance(said, dict) and isinstance(said.get("said"), dict) and are_problems(said.get("problems"))


def is_failure(failure: object) -> bool:
    """Tell whether a value says why a file cannot be imported."""
    if not isinstance(failure, dict) or failure.keys() != {"message", "path", "line"}:
        return False
    return are_texts([failure["message"], failure["path"]]) and is_line(failure["line"])


def is_stray(stray: object) -> bool:
    """Tell whether a value is a function that was marked while its file ran."""
    if not isinstance(stray, dict) or not are_texts([stray.get("path"), stray.get("function")]):
        return False
    return is_line(stray.get("line")) and are_texts(stray.get("kinds"))


def are_problems(rows: object) -> bool:
    """Tell whether a value lists problems, each with a code that there is."""
    texts = ("code", "where", "message", "hint")
    return isinstance(rows, list) and all(
        isinstance(row, dict) and are_texts([row.get(name) for name in texts]) and row["code"] in CODES for row in rows
    )


def are_texts(values: object) -> bool:
    """Tell whether a value is a list of texts."""
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


def is_line(value: object) -> bool:
    """Tell whether a value can be the number of a line."""
    return type(value) is int and 0 <= value < 1 << 31
