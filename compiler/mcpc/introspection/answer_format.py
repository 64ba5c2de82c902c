"""Checks of the results of a project's process, to whose channel project code can write, too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpc.diagnostics import CODES

if TYPE_CHECKING:
    from collections.abc import Mapping


def is_file_result(line: dict[str, Any], marks: Mapping[str, int]) -> bool:
    """Tell whether a line is the result of one of the files; `marks`: the number of decorators of each."""
    path, rows, failure = line.get("path"), line.get("marks"), line.get("failure")
    if not isinstance(path, str) or path not in marks or not isinstance(rows, list):
        return False
    has_all = len(rows) == (0 if failure is not None else marks[path]) and all(map(is_function_row, rows))
    servers = line.get("servers")
    has_servers = isinstance(servers, dict) and all(map(is_server_row, servers.values()))
    return has_all and has_servers and (failure is None or is_import_failure(failure))


def is_last_line(line: dict[str, Any]) -> bool:
    """Tell whether a line is the last one of a process."""
    strays = line.get("strays")
    return line.get("end") is True and isinstance(strays, list) and all(map(is_undetected_function, strays))


def is_function_row(row: object) -> bool:
    """Tell whether a value describes one decorated function."""
    if not isinstance(row, dict) or not isinstance(row.get("definition"), dict):
        return False
    return are_strings(row.get("binding")) and isinstance(row.get("context"), str) and are_problems(row.get("problems"))


def is_server_row(said: object) -> bool:
    """Tell whether a value describes a `Server`."""
    if said == {}:
        return True
    return isinstance(said, dict) and isinstance(said.get("said"), dict) and are_problems(said.get("problems"))


def is_import_failure(failure: object) -> bool:
    """Tell whether a value is the reason why a file cannot be imported."""
    if not isinstance(failure, dict) or failure.keys() != {"message", "path", "line"}:
        return False
    return are_strings([failure["message"], failure["path"]]) and is_line_number(failure["line"])


def is_undetected_function(stray: object) -> bool:
    """Tell whether a value is a function that was decorated while its file ran."""
    if not isinstance(stray, dict) or not are_strings([stray.get("path"), stray.get("function")]):
        return False
    return is_line_number(stray.get("line")) and are_strings(stray.get("kinds"))


def are_problems(rows: object) -> bool:
    """Tell whether a value lists problems, each with an existing code."""
    texts = ("code", "where", "message", "hint")
    return isinstance(rows, list) and all(
        isinstance(row, dict) and are_strings([row.get(name) for name in texts]) and row["code"] in CODES
        for row in rows
    )


def are_strings(values: object) -> bool:
    """Tell whether a value is a list of strings."""
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


def is_line_number(value: object) -> bool:
    """Tell whether a value can be a line number."""
    return type(value) is int and 0 <= value < 1 << 31
