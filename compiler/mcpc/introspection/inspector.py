"""The process of the project: import the marked files as a built server would, and say what their functions offer.

A line of JSON a file, then one with what nobody had marked.  The file's own output goes elsewhere, and nothing of the
compiler can be imported by it but what it will find in a built server.
"""

from __future__ import annotations

import faulthandler
import importlib
import json
import os
import signal
import sys
import traceback
import types
import typing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pydantic
import typing_extensions

from mcpc.introspection.describe import NO_ROW, Subject, brief, describe, plain
from mcpc.introspection.stated import kind_of, options_of
from mcpc_runtime import authoring

if TYPE_CHECKING:
    from collections.abc import Iterator

TYPED_DICTS = (3, 12)
"""Since this Python pydantic describes the TypedDict of `typing`."""


ERRORS = 2
"""The descriptor on which Python itself tells where it was when it was ended."""
PATIENCE_SECONDS = 2
"""How much longer a file may take that catches what ends it."""


class TooLateError(BaseException):
    """The time is over; not an Exception, for those are often caught and passed over."""


def main(root: str, descriptor: str, place: str) -> None:
    """Answer the questions in the file `place` about the project in `root` over a descriptor, and end."""
    replies = int(descriptor)
    os.set_inheritable(replies, False)
    folder = os.path.join(root, "project")  # noqa: PTH118 - as it stands in tracebacks
    questions = json.loads(Path(place).read_text(encoding="utf-8"))
    become_the_server(folder)
    known: set[int] = set()
    modules: list[types.ModuleType] = []
    for asked in questions:
        line = answered(asked, folder, known, modules)
        say(replies, line)
    say(replies, {"end": True, "strays": list(strays(modules, known, folder))})
    os._exit(0)


def say(replies: int, line: dict[str, Any]) -> None:
    """Write one line."""
    data = memoryview(json.dumps(line, allow_nan=False).encode() + b"\n")
    while data:
        data = data[os.write(replies, data) :]


def become_the_server(folder: str) -> None:
    """Let files find what they will find in a built server, in the same order; constraints are pydantic's here."""
    authoring.__dict__["Field"] = pydantic.Field
    if sys.version_info < TYPED_DICTS:
        typing.__dict__["TypedDict"] = typing_extensions.TypedDict
    mine = types.ModuleType("mcpc")
    mine.__dict__.update((name, getattr(authoring, name)) for name in authoring.PUBLIC)
    for name in [name for name in sys.modules if name.partition(".")[0] == "mcpc"]:
        del sys.modules[name]
    sys.modules["mcpc"] = mine
    sys.path.insert(0, folder)
    signal.signal(signal.SIGALRM, late)
    faulthandler.enable(ERRORS)


def late(*_: object) -> None:
    """End what takes too long, where it is."""
    raise TooLateError


def answered(asked: dict[str, Any], folder: str, known: set[int], modules: list[types.ModuleType]) -> dict[str, Any]:
    """Return the line of one file."""
    name = asked["path"].removesuffix(".py").replace("/", ".")
    signal.alarm(asked["seconds"])
    faulthandler.dump_traceback_later(asked["seconds"] + PATIENCE_SECONDS, exit=True, file=ERRORS)
    try:
        module = importlib.import_module(name)
    except BaseException as problem:  # noqa: BLE001 - whatever a file raises is an answer
        unlimited()
        return line(asked, failure=failure(problem, asked, folder))
    unlimited()
    modules.append(module)
    marks = [marked(module, mark, folder, known) for mark in asked["marks"]]
    return line(asked, marks=marks, servers={name: server(module, name, folder) for name in asked["servers"]})


def unlimited() -> None:
    """Let what follows take its time: the file has been imported."""
    signal.alarm(0)
    faulthandler.cancel_dump_traceback_later()


def line(asked: dict[str, Any], **said: Any) -> dict[str, Any]:
    """Return a line about a file."""
    return {"path": asked["path"], "marks": [], "servers": {}, "failure": None, **said}


def failure(problem: BaseException, asked: dict[str, Any], folder: str) -> dict[str, Any]:
    """Return why a file cannot be imported, and where in the project that shows last."""
    path, number = asked["path"], 0
    places = [(frame.filename, frame.lineno or 0) for frame in traceback.extract_tb(problem.__traceback__)]
    if isinstance(problem, SyntaxError) and problem.filename:
        places.append((problem.filename, problem.lineno or 0))
    for file, found in places:
        if file.startswith(f"{folder}/"):
            path, number = file[len(folder) + 1 :], found
    return {"message": words(problem, asked, folder), "path": path, "line": number}


def words(problem: BaseException, asked: dict[str, Any], folder: str) -> str:
    """Return what happened."""
    if isinstance(problem, TooLateError):
        return f"it was not imported in {asked['seconds']} seconds"
    text = str(problem).replace(f"{folder}/", "")
    kind = type(problem).__name__
    if isinstance(problem, SystemExit):
        return f"it ends the program ({kind}: {text})"
    return f"it raises {kind}: {text}" if text else f"it raises {kind}"


def marked(module: types.ModuleType, mark: dict[str, str], folder: str, known: set[int]) -> dict[str, Any]:
    """Return the row of one mark."""
    function = vars(module).get(mark["function"])
    own = [options for kind, options in getattr(function, authoring.MARK, ()) if kind == mark["kind"]]
    if function is None or not own:
        message = f"what is called `{mark['function']}` when the file has run is not the function that is marked"
        row = {"code": "MCP220", "where": "function", "message": message, "hint": "put the mark above other decorators"}
        return {"definition": {}, "binding": [], "context": "", "problems": [row]}
    known.add(id(getattr(function, authoring.MARK)))
    again = own[1:]
    defined_here = getattr(function, "__module__", None) == module.__name__
    name = mark["function"] if defined_here else getattr(function, "__name__", mark["function"])
    subject = Subject(kind_of(mark["kind"]), name, function, options_of(mark["kind"], name, own[0]), folder)
    if again:
        subject.report("MCP220", "function", f"`{mark['function']}` is marked as a {mark['kind']} more than once")
    return described(subject)


def described(subject: Subject) -> dict[str, Any]:
    """Return the row of one mark: whatever is raised while its function is described is a problem of that function."""
    try:
        return describe(subject)
    except Exception as problem:  # noqa: BLE001 - types say for themselves how they are described
        message = f"`{subject.name}` cannot be described: {type(problem).__name__}: {brief(problem)}"
        subject.report("MCP217", "function", message, NO_ROW)
        return {"definition": {}, "binding": [], "context": "", "problems": subject.problems}


def server(module: types.ModuleType, name: str, folder: str) -> dict[str, Any]:
    """Return what a `Server` says of itself."""
    found = vars(module).get(name)
    if not isinstance(found, authoring.Server):
        return {}
    subject = Subject("server", name, found.run, {}, folder)
    said = {"name": found.name, "instructions": found.instructions, **found.options}
    plainly = {key: plain(subject, key, value) for key, value in said.items() if value}
    return {"said": plainly, "problems": subject.problems}


def strays(modules: list[types.ModuleType], known: set[int], folder: str) -> Iterator[dict[str, Any]]:
    """Yield the functions that have a mark which nobody read in the source."""
    for function in dict.fromkeys(function for module in modules for function in marked_in(module)):
        code = getattr(function, "__code__", None)
        if id(getattr(function, authoring.MARK, None)) in known or code is None:
            continue
        if code.co_filename.startswith(f"{folder}/"):
            path = code.co_filename[len(folder) + 1 :]
            kinds = [kind for kind, _ in getattr(function, authoring.MARK, ())]
            yield {"function": function.__name__, "path": path, "line": code.co_firstlineno, "kinds": kinds}


def marked_in(module: types.ModuleType) -> Iterator[Any]:
    """Yield the functions a module holds that have a mark, and those its servers were given."""
    for value in vars(module).values():
        if isinstance(value, authoring.Server):
            yield from value.marked
        elif isinstance(value, types.FunctionType) and hasattr(value, authoring.MARK):
            yield value
