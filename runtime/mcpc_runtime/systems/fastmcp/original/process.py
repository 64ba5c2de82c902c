"""Main program of the process with the original framework: it runs the project's program, which serves MCP over pipes.

It ends when its standard input ends, as servers over pipes do; the worker closes that.
"""

from __future__ import annotations

import asyncio
import builtins
import json
import signal
import sys
from inspect import isawaitable

from mcpc_runtime.handlers.python.children import prepare_children
from mcpc_runtime.handlers.python.execution import activate_packages
from mcpc_runtime.systems.fastmcp.original.adoption import AdoptedServers
from mcpc_runtime.systems.fastmcp.program import EXITS, STARTS, awaited, exit_with

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mcpc_runtime.systems.fastmcp.program import Entry


def main(archive: str, row: str, folder: str) -> None:
    """Run the program of an entry (JSON), whose files are in `folder`, with the packages of a built file."""
    activate_packages(archive)
    signal.signal(signal.SIGTERM, leave_later)
    print_lines()
    entry: Entry = json.loads(row)
    prepare_children(archive, folder, entry["paths"])
    run_original(entry, folder, AdoptedServers(entry["generation"]))


def print_lines() -> None:
    """Let what the program prints be whole lines between messages: it is for the operator."""
    stdout: Any = sys.stdout
    stdout.reconfigure(line_buffering=True)


def leave_later(*_: object) -> None:
    """Ignore a signal: the input ends with the server, and then lifespans are left.  Not inherited by programs."""


def run_original(entry: Entry, folder: str, adopted: AdoptedServers) -> None:
    """Run an entry; serve what it made if it ends without serving, as the frameworks' commands do."""
    for name in EXITS:
        if not hasattr(builtins, name):
            setattr(builtins, name, sys.exit)
    if entry.get("web"):
        adopted.adopt_web_server()
    sys.path[:0] = [f"{folder}/{path}" if path else folder for path in entry["paths"]]
    found = STARTS[entry["kind"]](entry["target"], folder, entry["arguments"])
    if isawaitable(found):
        found = asyncio.run(awaited(found))
    if not adopted.has_served:
        exit_with(found)
        adopted.has_ended = True
        if found is not None and not adopted.is_server(found):
            getattr(found, "run", None)  # an object that stands for a server makes it when it is used
        names = vars(sys.modules["__main__"])
        asyncio.run(adopted.serve(found if adopted.is_server(found) else adopted.only_server(names)))
