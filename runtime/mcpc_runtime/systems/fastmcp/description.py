"""Main program of the process in which a project's program is run at build: it writes what its server offers.

The program runs as a built server would run it, up to the moment at which it serves.  One line of JSON is written: the
server's description and its lists, or why there is none.  The compiler starts it; no server contains it.
"""

from __future__ import annotations

import asyncio
import faulthandler
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from inspect import unwrap
from types import FunctionType, MethodType, ModuleType
from typing import Any, NoReturn

from mcpc_runtime.artifact.build_time.machine import (
    absent_variables,
    pretend_another_machine,
    tried_hosts,
    watch_connections,
    watch_variables,
)
from mcpc_runtime.artifact.build_time.raised import raised_facts, relative, tracebacks
from mcpc_runtime.artifact.build_time.settings import settings_facts
from mcpc_runtime.systems.fastmcp import standins
from mcpc_runtime.systems.fastmcp.dynamic_lists import dynamic_lists, list_row, lists_after_lifespan, unhandled_lists
from mcpc_runtime.systems.fastmcp.engine.server import UnsupportedFeatureError, note, taken_notes, touched
from mcpc_runtime.systems.fastmcp.engine.web import own_application, route_patterns
from mcpc_runtime.systems.fastmcp.interfaces import ListEntry, Lists, Object, ProgramServer
from mcpc_runtime.systems.fastmcp.program import (
    NoServerError,
    ProgramEndedError,
    SeveralServersError,
    current_program,
    run_program,
)
from mcpc_runtime.systems.fastmcp.standins.exports import PlaceholderMeta, PlaceholderModule
from mcpc_runtime.transports.platforms.system_features import raise_after

STDERR = 2
OWN_FILE = re.compile(rf" \({re.escape(str(standins.__path__[0]))}[^()]*\)")
EXTRA_SECONDS = 2
"""Additional time for a program that catches the exception that ends it."""


class TooLateError(BaseException):
    """The time limit is exceeded; not an Exception, which programs often catch and ignore."""


def main(folder: str, descriptor: str, place: str) -> None:
    """Describe the program of the request file `place`, whose files are in `folder`; write to a descriptor, and end."""
    replies = int(descriptor)
    # A process that the program has started would keep the reply open, and the compiler waiting.
    os.set_inheritable(replies, False)
    with open(place, encoding="utf-8") as file:
        asked = json.load(file)
    # The exception comes first, because it has a place; the second limit ends what catches it, and code in C.
    raise_after(asked["seconds"], TooLateError)
    faulthandler.enable(STDERR)
    faulthandler.dump_traceback_later(asked["seconds"] + EXTRA_SECONDS, exit=True, file=STDERR)
    standins.install(asked["generation"], asked["version"])
    watch_variables(folder)
    watch_connections()
    if asked.get("elsewhere"):
        pretend_another_machine(folder)
    host = DescribedProgram(replies, folder, asked["names"])
    try:
        run_program(asked, folder, host)
    except BaseException as problem:  # noqa: BLE001 - whatever it raises is why there is no description
        host.end(failure_line(problem, folder))
    ended = ProgramEndedError("the program ended without serving")
    host.end(failure_line(ended, folder))


class DescribedProgram:
    """A program that ends when it serves: its server is described then."""

    def __init__(self, replies: int, folder: str, names: list[list[object]]) -> None:
        self.servers: list[ProgramServer] = []
        self.has_served = False
        self._names = names
        self._replies = replies
        self._folder = folder

    async def serve(self, server: ProgramServer) -> None:
        """Describe the server, and end."""
        self.end(await self._described(server))

    async def _described(self, server: ProgramServer) -> Object:
        try:
            lists = await server.mcpc_lists()
        except asyncio.CancelledError:
            raise
        except BaseException as problem:  # noqa: BLE001 - as above
            return failure_line(problem, self._folder)
        routes = described_routes(server)
        kinds = {"tools": lists.tools, "prompts": lists.prompts, "resources": lists.resources}
        return {
            "server": server.mcpc_information(),
            "arguments": server.mcpc_arguments,
            **{kind: self._rows(entries) for kind, entries in kinds.items()},
            "templates": self._rows(lists.templates),
            "completions": lists.completions,
            "unhandled": unhandled_lists(server),
            "dynamic": self._dynamic(server, lists),
            "imported": imported_files(self._folder),
            "lacking": [*lacking_names(self._names, self._folder)],
            "settings": settings_facts(self._folder),
            "routes": routes,
            "notes": [
                {"text": note.text, "path": relative(note.file, self._folder), "line": note.line, "kind": note.kind}
                for note in (*lists.notes, *taken_notes())
            ],
        }

    def _dynamic(self, server: ProgramServer, lists: Lists) -> list[Object]:
        """Return the lists that are made at run time: those that could not be made, and those of changing code."""
        found = dynamic_lists(server, self._folder)
        if not (found or lists.tools or lists.prompts or lists.resources or lists.templates):
            found = lists_after_lifespan(server, self._folder)
        rows = {kind: {"kind": kind, "text": "", "path": "", "line": 0} for kind in lists.dynamic}
        for kind, reason in found.items():
            rows[kind] = list_row(kind, reason, self._folder)
        return [rows[kind] for kind in sorted(rows)]

    def _rows(self, entries: Iterable[ListEntry]) -> list[Object]:
        return [{"entry": item.entry, **place_of(item.function, self._folder)} for item in entries]

    def end(self, line: Object) -> NoReturn:
        """Write the line, and end the process."""
        data = memoryview(json.dumps(line, default=str).encode() + b"\n")
        while data:
            data = data[os.write(self._replies, data) :]
        # Without the program's `atexit` functions and threads, which may not end.
        os._exit(0)


def lacking_names(names: list[list[Any]], folder: str) -> Iterator[Object]:
    """Yield what has no stand-in, with its place: what the run has touched, and what functions name that did not run.

    `names`: the dotted names of the framework in the program's files, each with its file and line.
    """
    found = {name: (relative(file, folder), line) for name, (file, line) in touched.items()}
    for name, path, line in names:
        if not is_there(name):
            found.setdefault(name, (path, line))
    for name, (path, line) in found.items():
        yield {"name": name, "path": path, "line": line if path else 0}


def is_there(name: str) -> bool:
    """Tell whether a dotted name is a module of the stand-ins, a name in one, or an attribute of a class in one."""
    module, *rest = name.split(".")
    try:
        value: Any = import_module(module)
        while rest and isinstance(value, ModuleType):
            module = f"{module}.{rest[0]}"
            value = getattr(value, rest[0]) if hasattr(value, rest[0]) else import_module(module)
            del rest[0]
    except ImportError:
        return False
    if isinstance(value, PlaceholderMeta | PlaceholderModule):
        return False
    return not (rest and isinstance(value, type)) or hasattr(value, rest[0])


def described_routes(server: ProgramServer) -> list[str]:
    """Return the paths of the program's own routes; its application is made for the notes of its middleware."""
    if current_program.application is None and (
        overrides_application(server) or getattr(server, "mcpc_asgi_middleware", None)
    ):
        try:
            own_application(server)
        except Exception as problem:  # noqa: BLE001 - it is made again when it is needed
            note(f"the web application cannot be made at build: {type(problem).__name__}: {problem}")
    return route_patterns(server)


def imported_files(folder: str) -> list[str]:
    """Return the paths of the program's own files that were imported."""
    paths = (relative(str(getattr(module, "__file__", None) or ""), folder) for module in [*sys.modules.values()])
    return [path for path in dict.fromkeys(paths) if path]


def overrides_application(server: object) -> bool:
    """Tell whether a class of the project makes the web application itself."""
    found = getattr(type(server), "http_app", None)
    return found is not None and not found.__module__.startswith("mcpc_runtime.")


def place_of(function: object, folder: str) -> Object:
    """Return where a function is defined; no place for what has no source in the folder."""
    called: Any = function
    called = getattr(called, "func", called)  # a partial function
    try:
        called = unwrap(called)
    except ValueError:
        return {"path": "", "line": 0}
    code = getattr(getattr(called, "__func__", called), "__code__", None)
    path = "" if code is None else relative(code.co_filename, folder)
    return {"path": path, "line": code.co_firstlineno if code is not None and path else 0}


def described_place(problem: BaseException, folder: str) -> Object:
    """Return the place of the function that was described when something away from the project was raised."""
    frames = [found.tb_frame for found in tracebacks(problem.__traceback__)]
    for frame in reversed(frames):
        names = {} if frame.f_locals is frame.f_globals else frame.f_locals  # of an annotation: those of its module
        for value in names.values():
            if isinstance(value, FunctionType | MethodType) and (place := place_of(value, folder))["path"]:
                return place
    return {}


def failure_line(problem: BaseException, folder: str) -> Object:
    """Return why a program has no description, with the last place in the folder of the traceback."""
    raised = {**raised_facts(problem, folder), "absent": absent_variables()}
    raised["message"], raised["owner"] = public_name(raised["message"]), public_name(raised.get("owner", ""))
    if not raised["path"]:
        raised.update(described_place(problem, folder))
    path, line = raised["path"], raised["line"]
    if isinstance(problem, SyntaxError) and problem.filename and relative(problem.filename, folder):
        path, line = relative(problem.filename, folder), problem.lineno or 0
    kind = next((kind for known, kind in KINDS if isinstance(problem, known)), "raised")
    if isinstance(problem, ModuleNotFoundError) and not problem.name:
        kind = "raised"
    text = public_name(str(problem).replace(folder + os.sep, ""))
    names = problem.names if isinstance(problem, SeveralServersError) else []
    missing = problem.name if isinstance(problem, ModuleNotFoundError) else None
    error: Object = {"type": type(problem).__name__, "missing": missing or "", "names": names, "raised": raised}
    error["hosts"] = tried_hosts()
    error["settings"] = settings_facts(folder)
    return {"failure": {"kind": kind, "message": text, "path": path, "line": line, **error}}


def public_name(text: str) -> str:
    """Return a text about a module of the stand-ins with the name that programs import it by, and without its file."""
    return OWN_FILE.sub("", text).replace(f"{standins.__name__}.", "")


KINDS: tuple[tuple[type[BaseException], str], ...] = (
    (TooLateError, "late"),
    (SystemExit, "exited"),
    (NoServerError, "no server"),
    (SeveralServersError, "several servers"),
    (ProgramEndedError, "ended"),
    (UnsupportedFeatureError, "unsupported"),
    (ModuleNotFoundError, "module"),
    (EOFError, "input"),
)
"""The kind of a failure by its exception; `raised` for all others."""


# What the program prints is no part of the reply, which has a descriptor of its own.
sys.stdout = sys.stderr
