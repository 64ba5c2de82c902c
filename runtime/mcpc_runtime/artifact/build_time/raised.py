"""What is known of an exception that a project's code raised: type, place, and what it was about, as JSON.

The compiler explains it by its cause (`mcpc.frontends.causes`).  The place is the last one in the project's folder; its
columns are those of Python's traceback, in bytes, as in syntax trees.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import os
import re
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from types import FrameType, TracebackType
from typing import Any, TypeVar

Facts = dict[str, Any]
Result = TypeVar("Result")


MAX_NAMES = 2000
"""How many names are told in which the meant one may be."""
UNKNOWN_KEYWORD = re.compile(r"\bgot an unexpected keyword argument '(?P<name>\w+)'")
MISSING_NAME = re.compile(
    r"cannot import name '(?P<name>\w+)' from (?:partially initialized module )?'(?P<module>[\w.]+)'"
)
PARTIAL = re.compile(r"partially initialized module '(?P<module>[\w.]+)'")
SETTINGS = "BaseSettings"
"""The class of pydantic-settings from which a project derives its settings."""


def raised_facts(problem: BaseException, folder: str) -> Facts:
    """Return what is known of an exception."""
    place = last_place(problem.__traceback__, folder)
    facts: Facts = {
        "type": type(problem).__name__,
        "bases": [kind.__name__ for kind in type(problem).__mro__],
        # The folder is one of the build; the author knows the paths below it.
        "message": message_of(problem).replace(folder + os.sep, ""),
        **place_facts(place, folder),
    }
    for kind, read in ABOUT:
        if isinstance(problem, kind):
            facts.update(read(problem, place))
    if hasattr(type(problem), "errors") and "ValidationError" in facts["bases"]:
        facts.update(validation_facts(problem))
    return facts


def message_of(problem: BaseException) -> str:
    """Return the text of an exception, empty if making it fails."""
    return guarded(lambda: str(problem), "")


def guarded(read: Callable[[], Result], default: Result) -> Result:
    """Return what a function reads of an object of the project; the default if the project's code raises anything."""
    try:
        return read()
    except Exception:  # noqa: BLE001 - `__str__`, `__dir__` and properties of the project; its first exception is described
        return default


def relative(path: str, folder: str) -> str:
    """Return the path of a file below the folder, with slashes; an empty string for others."""
    inside = path.removeprefix(folder + os.sep)
    return "" if inside == path else inside.replace(os.sep, "/")


def tracebacks(traceback: TracebackType | None) -> Iterator[TracebackType]:
    """Yield the places of a traceback, the innermost last."""
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def last_place(traceback: TracebackType | None, folder: str) -> TracebackType | None:
    """Return the innermost place in a file of the folder."""
    inside = [place for place in tracebacks(traceback) if relative(place.tb_frame.f_code.co_filename, folder)]
    return inside[-1] if inside else None


def place_facts(traceback: TracebackType | None, folder: str) -> Facts:
    """Return the file, line and columns of a place; without columns, `column` is -1."""
    if traceback is None:
        return {"path": "", "line": 0, "column": -1, "end_line": 0, "end_column": -1}
    code = traceback.tb_frame.f_code
    # `tb_lasti` is in bytes; `co_positions` has a row for each code unit, of two bytes.
    span = next(islice(code.co_positions(), traceback.tb_lasti // 2, None), (None, None, None, None))
    line, end_line, column, end_column = span
    whole = None not in span and line == traceback.tb_lineno
    return {
        "path": relative(code.co_filename, folder),
        "line": traceback.tb_lineno,
        "column": column if whole else -1,
        "end_line": end_line if whole else 0,
        "end_column": end_column if whole else -1,
    }


def about_name(problem: NameError, traceback: TracebackType | None) -> Facts:
    """Return an undefined name, and those that are defined there."""
    frame = None if traceback is None else traceback.tb_frame
    return {"name": problem.name or "", "known": [] if frame is None else names_in(frame)}


def names_in(frame: FrameType) -> list[str]:
    """Return the names that code of a frame can use."""
    return public({**frame.f_builtins, **frame.f_globals, **frame.f_locals})


def about_attribute(problem: AttributeError, traceback: TracebackType | None) -> Facts:
    """Return a missing attribute, what lacks it, and what that has."""
    owner: Any = problem.obj
    partial = PARTIAL.search(message_of(problem))
    is_module = isinstance(owner, type(sys))
    label = getattr(owner, "__name__", "") if is_module or isinstance(owner, type) else type(owner).__name__
    return {
        "name": problem.name or "",
        "owner": str(label),
        "of_module": is_module,
        # A module that is half imported lacks names that it will have.
        "known": [] if partial or owner is None else public(attributes(owner)),
        "partial": partial["module"] if partial else "",
    }


def attributes(owner: object) -> list[str]:
    """Return the names of an object's attributes; none if its class refuses to say."""
    return guarded(lambda: dir(owner), [])


def about_import(problem: ImportError, traceback: TracebackType | None) -> Facts:
    """Return the name that a module lacks, and those that it has."""
    message = message_of(problem)
    missing, partial = MISSING_NAME.search(message), PARTIAL.search(message)
    if missing is None:
        return {"name": problem.name or ""}
    module = sys.modules.get(missing["module"])
    return {
        "name": missing["name"],
        "owner": missing["module"],
        "of_module": True,
        "known": [] if module is None or partial else public(attributes(module)),
        "partial": missing["module"] if partial else "",
    }


def about_key(problem: KeyError, traceback: TracebackType | None) -> Facts:
    """Return the key that was not found, if it is a text."""
    key = problem.args[0] if problem.args else None
    return {"name": key} if isinstance(key, str) else {}


def about_file(problem: OSError, traceback: TracebackType | None) -> Facts:
    """Return the file that an error is about, and whether it should have been started as a program."""
    name = problem.filename if isinstance(problem.filename, str) else ""
    frames = (place.tb_frame.f_code.co_filename for place in tracebacks(problem.__traceback__))
    return {"file": name, "is_program": any(file.endswith("subprocess.py") for file in frames)}


def about_call(problem: TypeError, traceback: TracebackType | None) -> Facts:
    """Return the keyword that a function does not have, and those that it has."""
    unknown = UNKNOWN_KEYWORD.search(message_of(problem))
    if unknown is None or traceback is None:
        return {}
    return {"name": unknown["name"], "known": public(called_parameters(traceback)), "is_keyword": True}


def called_parameters(traceback: TracebackType) -> list[str]:
    """Return the parameters of the function that a line calls; none if it cannot be found by its name."""
    frame = traceback.tb_frame
    source = "".join(linecache.getlines(frame.f_code.co_filename))
    try:
        nodes = ast.walk(ast.parse(source))
    except (SyntaxError, ValueError, RecursionError):
        return []
    calls = [
        node for node in nodes if isinstance(node, ast.Call) and node.lineno <= traceback.tb_lineno <= end_of(node)
    ]
    # Of calls over several lines the one that begins last is the most likely.
    for call in sorted(calls, key=lambda call: call.lineno, reverse=True):
        names: list[str] = guarded(partial(parameters, call.func, frame), [])
        if names:
            return names
    return []


def parameters(function: ast.expr, frame: FrameType) -> list[str]:
    """Return the parameters of what an expression names."""
    return list(inspect.signature(resolved(function, frame)).parameters)


def end_of(node: ast.Call) -> int:
    """Return the last line of a call."""
    return node.end_lineno or node.lineno


def resolved(function: ast.expr, frame: FrameType) -> Any:
    """Return what a dotted name means in a frame."""
    if isinstance(function, ast.Attribute):
        return getattr(resolved(function.value, frame), function.attr)
    if not isinstance(function, ast.Name):
        raise LookupError
    return {**frame.f_builtins, **frame.f_globals, **frame.f_locals}[function.id]


def public(names: Any) -> list[str]:
    """Return the names that code may use, without those that begin with an underscore, and ours."""
    public_names = (name for name in names if isinstance(name, str) and not name.startswith(("_", "mcpc_")))
    return sorted(islice(public_names, MAX_NAMES))


def validation_facts(problem: Any) -> Facts:
    """Return the fields that a model of pydantic refused, and the variables from which its settings come."""
    # Another library may have an exception of this name, without these members.
    rows = guarded(lambda: [(".".join(map(str, row["loc"])), str(row["msg"])) for row in problem.errors()], None)
    title = guarded(lambda: str(problem.title), None)
    if rows is None or title is None:
        return {}
    mistakes = "; ".join(f"`{place}`: {text}" if place else text for place, text in rows)
    settings = settings_class(problem.__traceback__)
    fields = [place.partition(".")[0] for place, _ in rows if place]
    variables = [] if settings is None else [*dict.fromkeys(variable_of(settings, field) for field in fields)]
    return {"message": f"{title}: {mistakes}", "fields": fields, "variables": variables, "owner": title}


def settings_class(traceback: TracebackType | None) -> Any:
    """Return the class of settings whose instance was being made, None if there was none."""
    for place in tracebacks(traceback):
        for value in list(place.tb_frame.f_locals.values()):
            if any(kind.__name__ == SETTINGS for kind in type(value).__mro__):
                return type(value)
    return None


def variable_of(settings: Any, field: str) -> str:
    """Return the environment variable of a field; an error names a field with an alias by that."""
    is_plain = field in getattr(settings, "model_fields", {})
    prefix = str(settings.model_config.get("env_prefix", "")) if is_plain else ""
    return f"{prefix}{field}".upper()


ABOUT: tuple[tuple[type[BaseException], Any], ...] = (
    (NameError, about_name),
    (AttributeError, about_attribute),
    (ImportError, about_import),
    (KeyError, about_key),
    (OSError, about_file),
    (TypeError, about_call),
)
"""What exceptions of a type are about."""
