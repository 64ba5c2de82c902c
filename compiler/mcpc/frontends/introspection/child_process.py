"""Main program of the project's process: imports the decorated files as a built server would, and describes them.

It writes a line of JSON for each file, then one with functions whose decorators were not found in the source. The
file's output goes elsewhere, and it can import only those parts of the compiler that a built server has.
"""

from __future__ import annotations

import faulthandler
import importlib
import json
import os
import sys
import types
import typing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pydantic
import typing_extensions

from mcpc.frontends.introspection.describe import (
    USE_JSON_TYPES,
    FunctionDescription,
    brief_message,
    describe,
    json_option,
)
from mcpc.frontends.introspection.keyword_decorators import definition_kind, native_options
from mcpc.frontends.introspection.settings import SettingTypeError, describe_settings
from mcpc_runtime.artifact.build_time.machine import absent_variables, watch_variables
from mcpc_runtime.artifact.build_time.raised import raised_facts, relative
from mcpc_runtime.artifact.build_time.settings import settings_facts
from mcpc_runtime.handlers.python import authoring
from mcpc_runtime.transports.platforms.system_features import raise_after, stop_timer

if TYPE_CHECKING:
    from collections.abc import Iterator

TYPED_DICT_PYTHON = (3, 12)
"""Since this version of Python, pydantic describes the TypedDict of `typing`."""


STDERR = 2
"""The descriptor to which Python dumps its traceback when it is ended."""
EXTRA_SECONDS = 2
"""Additional time for a file that catches the exception that ends it."""


class TooLateError(BaseException):
    """The time limit is exceeded; not an Exception, which files often catch and ignore."""


def main(root: str, descriptor: str, place: str) -> None:
    """Describe the files of the request file `place` for the project in `root`, write to a descriptor, and end."""
    replies = int(descriptor)
    # A program that a file starts must not answer in its place, or hold the channel open after the end.
    os.set_inheritable(replies, False)
    folder = os.path.join(root, "project")  # noqa: PTH118 - as it stands in tracebacks
    questions = json.loads(Path(place).read_text(encoding="utf-8"))
    imitate_server(folder)
    known: set[int] = set()
    modules: list[types.ModuleType] = []
    for asked in questions:
        line = describe_file(asked, folder, known, modules)
        write_line(replies, line)
    settings = [row for row in settings_facts(folder) if "type" in row]  # of classes, not of single look-ups
    strays = list(undetected_functions(modules, known, folder))
    write_line(replies, {"end": True, "strays": strays, "settings": settings})
    # Neither threads of the project nor its functions of `atexit` run after the last line.
    os._exit(0)


def write_line(replies: int, line: dict[str, Any]) -> None:
    data = memoryview(json.dumps(line, allow_nan=False).encode() + b"\n")
    while data:
        # A pipe may take only a part of what is written.
        data = data[os.write(replies, data) :]


def imitate_server(folder: str) -> None:
    """Let files import what a built server has, in the same order; constraints are pydantic's here."""
    authoring.__dict__["Field"] = pydantic.Field
    if sys.version_info < TYPED_DICT_PYTHON:
        typing.__dict__["TypedDict"] = typing_extensions.TypedDict
    mine = types.ModuleType("mcpc")
    mine.__dict__.update((name, getattr(authoring, name)) for name in authoring.PUBLIC)
    # A file that imports a module of the compiler fails here, too: a built server does not contain it.
    for name in [name for name in sys.modules if name.partition(".")[0] == "mcpc"]:
        del sys.modules[name]
    sys.modules["mcpc"] = mine
    sys.path.insert(0, folder)
    sys.argv = [folder]
    watch_variables(folder)
    faulthandler.enable(STDERR)


def describe_file(
    asked: dict[str, Any], folder: str, known: set[int], modules: list[types.ModuleType]
) -> dict[str, Any]:
    """Return the line of one file."""
    name = asked["path"].removesuffix(".py").replace("/", ".")
    raise_after(asked["seconds"], TooLateError)
    # Code in C may delay the exception, and a file may catch it: then the dump says where, and ends the process.
    faulthandler.dump_traceback_later(asked["seconds"] + EXTRA_SECONDS, exit=True, file=STDERR)
    try:
        module = importlib.import_module(name)
    except BaseException as problem:  # noqa: BLE001 - whatever a file raises is an answer
        remove_time_limit()
        return file_line(asked, failure=import_failure(problem, asked, folder))
    remove_time_limit()
    modules.append(module)
    marks = [describe_decorated(module, mark, folder, known) for mark in asked["marks"]]
    return file_line(
        asked, marks=marks, servers={name: describe_server(module, name, folder) for name in asked["servers"]}
    )


def remove_time_limit() -> None:
    """Remove the time limit: the file has been imported."""
    stop_timer()
    faulthandler.cancel_dump_traceback_later()


def file_line(asked: dict[str, Any], **said: Any) -> dict[str, Any]:
    """Return a line about a file."""
    return {"path": asked["path"], "marks": [], "servers": {}, "failure": None, **said}


def import_failure(problem: BaseException, asked: dict[str, Any], folder: str) -> dict[str, Any]:
    """Return why a file cannot be imported, and the last place in the project of its traceback."""
    raised = {**raised_facts(problem, folder), "absent": absent_variables()}
    path, number = raised["path"] or asked["path"], raised["line"]
    if isinstance(problem, SyntaxError) and problem.filename and relative(problem.filename, folder):
        path, number = relative(problem.filename, folder), problem.lineno or 0
    return {"message": failure_message(raised, problem, asked), "path": path, "line": number, "raised": raised}


def failure_message(raised: dict[str, Any], problem: BaseException, asked: dict[str, Any]) -> str:
    """Return the message of an exception."""
    if isinstance(problem, TooLateError):
        return f"the import took longer than {asked['seconds']} seconds"
    text, kind = raised["message"], raised["type"]
    if isinstance(problem, SystemExit):
        return f"it ends the program ({kind}: {text})"
    return f"it raises {kind}: {text}" if text else f"it raises {kind}"


def describe_decorated(module: types.ModuleType, mark: dict[str, str], folder: str, known: set[int]) -> dict[str, Any]:
    """Return the row of one decorated function."""
    function = vars(module).get(mark["function"])
    own = [options for kind, options in getattr(function, authoring.MARK, ()) if kind == mark["kind"]]
    if function is None or not own:
        message = f"`{mark['function']}` is not the decorated function after the file has run"
        row = {
            "code": "MCP220",
            "where": "function",
            "message": message,
            "hint": "write the decorator above other decorators",
        }
        return {"definition": {}, "binding": [], "context": "", "problems": [row]}
    # By the mark, not the function: a wrapper made with `functools.wraps` has the same one.
    known.add(id(getattr(function, authoring.MARK)))
    again = own[1:]
    defined_here = getattr(function, "__module__", None) == module.__name__
    name = mark["function"] if defined_here else getattr(function, "__name__", mark["function"])
    subject = FunctionDescription(
        definition_kind(mark["kind"]), name, function, native_options(mark["kind"], name, own[0]), folder
    )
    if again:
        subject.report("MCP220", "function", f"`{mark['function']}` is decorated as a {mark['kind']} more than once")
    return describe_safely(subject)


def describe_safely(subject: FunctionDescription) -> dict[str, Any]:
    """Return the row of one decorated function; an exception of its description is a problem of it."""
    try:
        return describe(subject)
    except Exception as problem:  # noqa: BLE001 - types say for themselves how they are described
        message = f"`{subject.name}` cannot be described: {type(problem).__name__}: {brief_message(problem)}"
        subject.report("MCP217", "function", message, USE_JSON_TYPES)
        return {"definition": {}, "binding": [], "context": "", "problems": subject.problems}


def describe_server(module: types.ModuleType, name: str, folder: str) -> dict[str, Any]:
    """Return the description of a `Server`."""
    server = vars(module).get(name)
    if not isinstance(server, authoring.Server):
        return {}
    subject = FunctionDescription("server", name, server.run, {}, folder)
    said = {"name": server.name, "instructions": server.instructions, **server.options}
    if "settings" in said:
        said["settings"] = settings_option(subject, said["settings"])
    plainly = {key: json_option(subject, key, value) for key, value in said.items() if value}
    return {"said": plainly, "problems": subject.problems}


def settings_option(subject: FunctionDescription, declared: Any) -> list[Any]:
    """Return the settings of a `Server`; what cannot be one is a problem of its option."""
    try:
        return describe_settings(declared)
    except (SettingTypeError, NameError, TypeError) as problem:
        subject.report("MCP160", "option settings", str(problem))
        return []


def undetected_functions(modules: list[types.ModuleType], known: set[int], folder: str) -> Iterator[dict[str, Any]]:
    """Yield decorated functions whose decorators were not found in the source."""
    for function in dict.fromkeys(function for module in modules for function in decorated_functions(module)):
        code = getattr(function, "__code__", None)
        if id(getattr(function, authoring.MARK, None)) in known or code is None:
            continue
        path = relative(code.co_filename, folder)
        if path:
            kinds = [kind for kind, _ in getattr(function, authoring.MARK, ())]
            yield {"function": function.__name__, "path": path, "line": code.co_firstlineno, "kinds": kinds}


def decorated_functions(module: types.ModuleType) -> Iterator[Any]:
    """Yield the decorated functions of a module, and those registered with its servers."""
    for value in vars(module).values():
        if isinstance(value, authoring.Server):
            yield from value.marked
        elif isinstance(value, types.FunctionType) and hasattr(value, authoring.MARK):
            yield value
