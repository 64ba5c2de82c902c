"""A project's own program: its entry is run until it serves, and then its server answers calls.

The entry runs in the main thread, as it would run alone: what it calls to serve (`mcp.run()`, `asyncio.run(main())`
with `server.run(...)` in it) enters the server's lifespan and waits; coroutines of calls run on its event loop.  A
program that makes one server and ends without serving it is served, too, as the frameworks' own commands do.

An entry is a row of plain data:

    kind        `script` (a function to call), `module` (run as with `python -m`), `file` (run as a script), or `object`
                (a server, or a function that returns one)
    target      `package.module:name`, `package.module`, `path/file.py`, or `path/file.py:name`
    arguments   of the command line
    paths       folders below the project's that modules are imported from
    generation, version   see `generation.py`
    calls       the module that handles calls in the worker
    web         whether the project imports a web server; for the original framework only
"""

from __future__ import annotations

import asyncio
import builtins
import os
import signal
import sys
import threading
from collections.abc import Awaitable, Callable, Sequence
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from inspect import isawaitable
from types import ModuleType
from typing import Any, Protocol, TypedDict

from mcpc_runtime.handlers.python.children import VARIABLE
from mcpc_runtime.handlers.python.program_bytecode import ProgramLoader, program_code
from mcpc_runtime.systems.fastmcp.interfaces import ProgramServer


class Entry(TypedDict):
    """How a program is started; see the module."""

    kind: str
    target: str
    arguments: list[str]
    paths: list[str]
    generation: str
    version: str
    calls: str
    web: bool


class ProgramHost(Protocol):
    """What runs a program: the worker, or the description at build.

    `servers`: those that the program made; `has_served`: it has served one of them.
    """

    servers: list[ProgramServer]
    has_served: bool

    async def serve(self, server: ProgramServer) -> None:
        """Serve until the program has to end."""


EXITS = ("exit", "quit")
"""Functions that programs call, and that only Python's `site` module defines: it is not imported here."""
LEAVE_SECONDS = 2.0
"""How long the end of a lifespan may take."""
HEARD_SECONDS = 0.3
"""How long the program's event loop may take until it begins to leave."""
ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class NotStartedError(Exception):
    """A server was told to serve where no program runs."""


class ProgramEndedError(Exception):
    """A program ended, or could not be started, before it served; the message says why."""


class SeveralServersError(ProgramEndedError):
    """A program made several servers and served none.  `names`: theirs."""

    def __init__(self, names: list[str]) -> None:
        super().__init__(f"the program made {len(names)} servers and served none of them: {', '.join(names)}")
        self.names = names


class NoServerError(ProgramEndedError):
    """A program made no server."""

    def __init__(self) -> None:
        super().__init__("the program ended without making a server")


class RunningProgram:
    """The program of this process.

    `host`: what runs it; `application`: the web application that it serves; `is_serving`: changes of lists are noted.
    """

    def __init__(self) -> None:
        self.host: ProgramHost | None = None
        self.application: object = None
        self.is_serving = False
        self._changed: dict[str, bool] = {}

    def note_server(self, server: ProgramServer) -> None:
        """Record a server that the project made."""
        if self.host is not None:
            self.host.servers.append(server)

    def serve(self, server: ProgramServer) -> None:
        """Serve a server until the program has to end: what a framework's `run` does."""
        asyncio.run(self.serve_async(server))

    async def serve_async(self, server: ProgramServer | None = None) -> None:
        """Serve a server on the running event loop; the one that the project made, whatever it was put into, if None.

        In a process that a handler started it ends at once, as the input of that process has ended.
        """
        if self.host is not None:
            await self.host.serve(made_server(self.host.servers) if server is None else server)
        elif VARIABLE not in os.environ:
            raise NotStartedError("no program runs that could serve")

    def note_change(self, *kinds: str) -> None:
        """Note that components of these kinds were added, removed, shown or hidden; of all kinds without any."""
        if self.is_serving:
            self._changed.update(dict.fromkeys((LIST_OF[kind] for kind in kinds or LIST_OF), True))

    def hush(self) -> None:
        """Let clients not be notified of what has changed so far: the lifespan has begun."""
        self._changed = dict.fromkeys(self._changed, False)

    def taken_changes(self) -> dict[str, bool]:
        """Return the lists that have changed since the last time, each with whether clients are to be notified."""
        changed, self._changed = self._changed, {}
        return changed


LIST_OF = {"tool": "tools", "prompt": "prompts", "resource": "resources", "template": "resources"}
"""The list of each kind of component."""
current_program = RunningProgram()


def made_server(servers: Sequence[ProgramServer]) -> ProgramServer:
    """Return the server that is not part of another one; raise an exception if there are several, or none."""
    # By identity: a class of the project may define when its servers are equal.
    parts = {id(part) for server in servers for part in server.mcpc_parts()}
    whole = [server for server in servers if id(server) not in parts]
    if not whole:
        raise NoServerError
    if len(whole) > 1:
        raise SeveralServersError([str(server.mcpc_information().get("name", "")) for server in whole])
    return whole[0]


def run_program(entry: Entry, folder: str, host: ProgramHost) -> None:
    """Run an entry whose files are in `folder`; serve what it made if it ends without serving."""
    current_program.host = host
    for name in EXITS:
        if not hasattr(builtins, name):
            setattr(builtins, name, sys.exit)
    sys.path[:0] = [f"{folder}/{path}" if path else folder for path in entry["paths"]]
    found = STARTS[entry["kind"]](entry["target"], folder, entry["arguments"])
    if isawaitable(found):
        found = asyncio.run(awaited(found))
    if not host.has_served:
        exit_with(found)
        server: Any = found if hasattr(found, "mcpc_lists") else made_server(host.servers)
        current_program.serve(server)


def exit_with(result: object) -> None:
    """Exit as the command of a package does with what its function returns: a status or a text is a failure."""
    if isinstance(result, int | str) and result:
        sys.exit(result)


async def awaited(value: Awaitable[object]) -> object:
    """Return the result of an awaitable."""
    return await value


def start_script(target: str, folder: str, arguments: list[str]) -> object:
    """Call a function as an installed command does."""
    module, _, name = target.partition(":")
    sys.argv = [f"{folder}/{name}", *arguments]
    function = attribute(import_module(module), name)
    result: object = function()
    return result


def start_module(target: str, folder: str, arguments: list[str]) -> object:
    """Run a module, or the `__main__` of a package, as `python -m` does."""
    module = import_module(target)
    name = f"{target}.__main__" if hasattr(module, "__path__") else target
    spec = module.__spec__ if name == target else find_spec(name)
    if spec is None or spec.origin is None:
        raise ProgramEndedError(f"{name} is not a module that can be run")
    sys.argv = [spec.origin, *arguments]
    main = main_module(spec.origin)
    main.__spec__, main.__package__ = spec, spec.parent
    run_as_main(main, spec.origin)
    return None


def start_file(target: str, folder: str, arguments: list[str]) -> object:
    """Run a file as `python file.py` does."""
    path = f"{folder}/{target}"
    sys.argv = [path, *arguments]
    sys.path.insert(0, path.rpartition("/")[0])
    run_as_main(main_module(path), path)
    return None


def main_module(path: str) -> ModuleType:
    """Return a new `__main__` module."""
    main = ModuleType("__main__")
    main.__file__ = path
    main.__dict__["__builtins__"] = __builtins__
    sys.modules["__main__"] = main
    return main


def run_as_main(main: ModuleType, path: str) -> None:
    """Run a file's code in a module."""
    exec(program_code(path), main.__dict__)  # noqa: S102 - the project's own program


def start_object(target: str, folder: str, arguments: list[str]) -> object:
    """Return the object of a module or a file; the result if it is a function."""
    place, _, name = target.partition(":")
    sys.argv = [place, *arguments]
    found = attribute(module_at(f"{folder}/{place}") if place.endswith(".py") else import_module(place), name)
    return found() if callable(found) and not hasattr(found, "mcpc_lists") else found


def module_at(path: str) -> ModuleType:
    """Return the module of a file, imported under the file's name."""
    sys.path.insert(0, path.rpartition("/")[0])
    name = path.rpartition("/")[2].removesuffix(".py")
    spec = spec_from_file_location(name, path, loader=ProgramLoader(name, path))
    if spec is None or spec.loader is None:
        raise ProgramEndedError(f"{path} is not a module")
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def attribute(found: Any, name: str) -> Any:
    for part in name.split("."):
        found = getattr(found, part)
    return found


STARTS: dict[str, Callable[[str, str, list[str]], object]] = {
    "file": start_file,
    "module": start_module,
    "object": start_object,
    "script": start_script,
}
"""How each kind of entry is started."""


class ServedProgram:
    """The program of a worker.  `servers`: those it made; `server`, `loop`: set once it serves; `thread`: runs it."""

    def __init__(self) -> None:
        self.servers: list[ProgramServer] = []
        self.has_served = False
        self.server: ProgramServer | None = None
        self.loop: asyncio.AbstractEventLoop | None = None
        self.thread = 0
        self._started: tuple[Entry, str] | None = None
        self._is_started = threading.Event()
        self._ready = threading.Event()
        self._over = threading.Event()
        self._heard = threading.Event()
        self._stop: asyncio.Event | None = None
        self._problem = ""

    @property
    def is_started(self) -> bool:
        """Whether it is known which program runs."""
        return self._is_started.is_set()

    def start(self, entry: Entry, folder: str) -> None:
        """Let the program run, whose files are in a folder."""
        self._started = entry, folder
        self._is_started.set()

    def run(self) -> None:
        """Run the program in this thread as soon as it is started, to its end."""
        self._is_started.wait()
        self.thread = threading.get_ident()
        keep_ending_signals()
        try:
            if self._started is not None:
                run_program(*self._started, self)
            self._problem = "the program has ended"
        except SystemExit as problem:
            self._problem = f"the program exited with status {problem.code or 0} before it served"
        except ProgramEndedError as problem:
            self._problem = str(problem)
        except BaseException as problem:  # noqa: BLE001 - whatever it raises is why there is no server
            self._problem = f"the program ended: {type(problem).__name__}: {problem}"
            sys.excepthook(type(problem), problem, problem.__traceback__)
        self.server = None
        # After the problem and the server: `wait` reads them once this is set.
        self._ready.set()
        self._over.set()

    async def serve(self, server: ProgramServer) -> None:
        """Enter the server's lifespan, and wait until the process ends."""
        if self._stop is not None:
            raise NotStartedError("the server is served already")
        self._stop = asyncio.Event()
        self.has_served = True
        current_program.is_serving = True
        async with server.mcpc_lifespan():
            current_program.hush()
            self.server, self.loop = server, asyncio.get_running_loop()
            self._ready.set()
            await self._stop.wait()
            self._heard.set()
            self.server = None

    def wait(self) -> ProgramServer:
        """Return the server, as soon as it is served; raise ProgramEndedError if the program ended."""
        self._ready.wait()
        if self.server is None:
            raise ProgramEndedError(self._problem)
        return self.server

    def leave(self) -> None:
        """Leave the lifespan, and let the program end, unless one of its functions keeps its thread busy."""
        if self.loop is not None and self._stop is not None and not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self._stop.set)
            if self._heard.wait(HEARD_SECONDS):
                self._over.wait(LEAVE_SECONDS)


def keep_ending_signals() -> None:
    """Let the program's handlers of signals that end the process be ignored: the worker has its own."""
    set_handler, add_handler = signal.signal, asyncio.SelectorEventLoop.add_signal_handler

    def set_unless_ending(number: int, handler: Any) -> Any:
        # In another thread `signal.signal` raises an exception, which the program may expect.
        is_kept = number in ENDING_SIGNALS and threading.current_thread() is threading.main_thread()
        return signal.getsignal(number) if is_kept else set_handler(number, handler)

    def add_unless_ending(loop: Any, number: int, callback: Any, *words: Any) -> None:
        if number not in ENDING_SIGNALS:
            add_handler(loop, number, callback, *words)

    signal.signal = set_unless_ending  # type: ignore[assignment]
    asyncio.SelectorEventLoop.add_signal_handler = add_unless_ending  # type: ignore[method-assign, assignment]
