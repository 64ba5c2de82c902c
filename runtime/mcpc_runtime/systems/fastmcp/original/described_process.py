"""Main program of the process with the original framework at build: it serves, and writes a report to a file.

The report is why the program does not serve, or which of its lists are made at run time.  Lifespans are not entered:
there is no network.  A list that one adds to, or that needs what one opens, is made at run time.  The description
starts this program; no server contains it.
"""

from __future__ import annotations

import faulthandler
import json
import os
import sys
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from typing import Any, NoReturn

from mcpc_runtime.artifact.build_time.machine import pretend_another_machine, watch_connections, watch_variables
from mcpc_runtime.artifact.build_time.settings import settings_facts
from mcpc_runtime.systems.fastmcp.dynamic_lists import (
    KINDS,
    METHODS,
    Reason,
    is_of_project,
    list_row,
    making,
    of_another_server,
    overriding,
    registering,
    wrapping,
)
from mcpc_runtime.systems.fastmcp.engine.server import place_of
from mcpc_runtime.systems.fastmcp.interfaces import Note, Object
from mcpc_runtime.systems.fastmcp.original.process import AdoptedServers, print_lines, run_original
from mcpc_runtime.systems.fastmcp.program import ProgramEndedError
from mcpc_runtime.systems.fastmcp.project_code import changed_names, why_varying

PROXIES = frozenset({"FastMCPProxy", "ProxyProvider"})
"""The classes of servers and providers whose components are those of another server."""
INNER = ("providers", "_inner")
"""The attributes of a provider with those that are in it."""


def high_level_lists(server: object, folder: str) -> Iterator[Reason]:
    """Yield the lists of a server that are not only those of what was registered."""
    providers = [*sources(getattr(server, "providers", ()))]
    if is_proxy(server) or any(map(is_proxy, providers)):
        yield from of_another_server(KINDS)
    yield from overriding(type(server))
    yield from wrapping(getattr(server, "middleware", ()))
    for each in providers:
        if getattr(each, "_reload", False) is True:
            for kind in KINDS:
                yield kind, Note(f"the list of {kind} is read again from files by `{type(each).__name__}`")
    transforms = (getattr(each, "transforms", ()) for each in (server, *providers))
    yield from providing([*providers, *(each for found in transforms for each in found)], folder)


def is_proxy(value: object) -> bool:
    """Tell whether the components of a server or a provider are those of another server."""
    return any(owner.__name__ in PROXIES for owner in type(value).__mro__)


def sources(providers: Iterable[object]) -> Iterator[object]:
    """Yield providers with those in them."""
    for each in providers:
        yield each
        for name in INNER:
            found = getattr(each, name, ())
            yield from sources(found if isinstance(found, list | tuple) else (found,))


def providing(sources_of_lists: Iterable[object], folder: str) -> Iterator[Reason]:
    """Yield the lists that providers and transforms of the project make."""
    changed = changed_names(folder)
    for source in sources_of_lists:
        for method, kind in METHODS.items():
            for name in (method, f"_{method}", method.replace("list_", "transform_")):
                function = getattr(type(source), name, None)
                if is_of_project(function) and why_varying(function, folder, changed) is not None:
                    text = f"the list of {kind} is made by `{type(source).__name__}.{name}` of the project"
                    yield kind, Note(text, *place_of(function))


STDERR = 2
HANDLERS = ("request_handlers", "_request_handlers")
"""The attribute of a low-level server with its handlers, in the versions of the official SDK."""
LISTS = {
    "ListToolsRequest": "tools",
    "ListPromptsRequest": "prompts",
    "ListResourcesRequest": "resources",
    "ListResourceTemplatesRequest": "resources",
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resources",
}
"""The list of a handler, by the class or the method of its request."""


def main(folder: str, place: str, report: str) -> None:
    """Run the program of the request file `place`, whose files are in `folder`; write a report to the file `report`."""
    with open(place, encoding="utf-8") as file:
        asked = json.load(file)
    faulthandler.enable(STDERR)
    faulthandler.dump_traceback_later(asked["seconds"], exit=True, file=STDERR)
    print_lines()
    watch_variables(folder)
    watch_connections()
    if asked.get("elsewhere"):
        pretend_another_machine(folder)
    servers = DescribedServers(asked["generation"], folder, report)
    try:
        run_original(asked, folder, servers)
    except BaseException as problem:  # noqa: BLE001 - whatever it raises is why there is no description
        from mcpc_runtime.systems.fastmcp.description import failure_line  # noqa: PLC0415 - it takes standard output

        line = failure_line(problem, folder)
        if line["failure"]["kind"] == "raised":
            line["failure"]["demonstrates"] = servers.demonstrated()
        write_report(line, report)
    # Threads of the program must not keep it from ending; what failed is in the report.
    os._exit(0)


class DescribedServers(AdoptedServers):
    """The servers of a program at build: their lifespans are not entered."""

    def __init__(self, generation: str, folder: str, report: str) -> None:
        self._folder = folder
        self._report = report
        self._lifespans: list[object] = []
        self._is_asked = False
        self._is_sdk = generation.startswith("sdk")
        super().__init__(generation)

    def made_high(self, server: object, lifespan: object) -> None:
        """Record a high-level server; FastMCP enters the lifespan that is in it then."""
        super().made_high(server, lifespan)
        self._lifespans.append(lifespan)
        if hasattr(server, "_lifespan"):
            server._lifespan = no_lifespan

    def made_low(self, server: Any, lifespan: object) -> None:
        """Record a low-level server; that of FastMCP enters the lifespan of FastMCP."""
        super().made_low(server, lifespan)
        server.run = self._noting(server.run)
        self._lifespans.append(lifespan)
        if self._is_sdk:
            server.lifespan = no_lifespan

    def _noting(self, run: Any) -> Any:
        """Return the method of a server that runs it, which clients in the same process call, too."""

        async def noted(*arguments: Any, **named: Any) -> Any:
            self._is_asked = self._is_asked or not self.has_served
            return await run(*arguments, **named)

        return noted

    def demonstrated(self) -> str:
        """Return the name of the one server that the program asked itself, and did not serve; else nothing."""
        if not self._is_asked:
            return ""
        try:
            names = vars(sys.modules["__main__"])
            server = self.only_server(names)
        except ProgramEndedError:
            return ""
        return next((name for name, value in names.items() if value is server), "")

    def begin(self, server: object) -> None:
        """Report which lists of the server are made at run time; those of all servers if it is not known."""
        super().begin(server)
        found: Object = {}
        for kind, reason in self._reasons(server):
            found.setdefault(kind, list_row(kind, reason, self._folder))
        demonstrated = self.demonstrated() if self.has_ended else ""
        report = {"dynamic": [*found.values()], "demonstrates": demonstrated, "settings": settings_facts(self._folder)}
        write_report(report, self._report)

    def _reasons(self, server: object) -> Iterator[Reason]:
        for lifespan in self._lifespans:
            yield from registering(lifespan, self._folder)
        for high in self.high:
            yield from high_level_lists(high, self._folder)
        changed = changed_names(self._folder)
        for low in self.low:
            if server in (None, low) or any(low is value for value in vars(server).values()):
                for kind, handler in list_handlers(low):
                    yield from making(kind, handler, self._folder, changed)


def list_handlers(low: object) -> Iterator[tuple[str, object]]:
    """Yield the list handlers of a low-level server, each with its list."""
    for attribute in HANDLERS:
        for request, handler in getattr(low, attribute, {}).items():
            kind = LISTS.get(request if isinstance(request, str) else request.__name__)
            if kind is not None:
                # From version 2 of the SDK on, handlers are in entries with the types of their parameters.
                yield kind, getattr(handler, "handler", handler)


class NotEnteredError(LookupError):
    """A list needs what the lifespan opens."""

    def __init__(self) -> None:
        super().__init__("it needs what the lifespan opens, which is not entered at build")


class NothingOpened(dict[str, object]):
    """What a lifespan yields that was not entered: it cannot be used."""

    def __getitem__(self, key: str) -> NoReturn:
        raise NotEnteredError

    def get(self, *_: object) -> NoReturn:
        raise NotEnteredError

    def __contains__(self, key: object) -> NoReturn:
        raise NotEnteredError


@asynccontextmanager
async def no_lifespan(_: object) -> AsyncIterator[dict[str, object]]:
    """Be a lifespan in which nothing is opened."""
    yield NothingOpened()


def write_report(report: Object, place: str) -> None:
    """Write a report to a file, in place of an earlier one."""
    with open(place, "w", encoding="utf-8") as file:
        json.dump(report, file)
    sys.stderr.flush()
