"""Main program of the description of a program with its original framework: a client that asks it for its lists.

The program's process is started as a built server starts it, and answers over pipes.  One line of JSON is written, as
by `mcpc_runtime.systems.fastmcp.description`.  The compiler starts it; no server contains it.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys

from mcpc_runtime.handlers.python.errors import ProtocolError
from mcpc_runtime.protocol.constants import METHOD_NOT_FOUND
from mcpc_runtime.systems.fastmcp.interfaces import Object
from mcpc_runtime.systems.fastmcp.original.client import STATELESS, ProcessEndedError, ProgramClient, start_client

BOOT = (
    "import sys;sys.path+=sys.argv[4:];"
    "from mcpc_runtime.systems.fastmcp.original.described_process import main;main(*sys.argv[1:4])"
)
ISOLATED = ("-P", "-s", "-S", "-B", "-W", "ignore")
CLIENT = {"name": "mcpc", "version": "1"}
LISTS = {
    "tools": ("tools/list", "tools", "tools"),
    "prompts": ("prompts/list", "prompts", "prompts"),
    "resources": ("resources/list", "resources", "resources"),
    "templates": ("resources/templates/list", "resourceTemplates", "resources"),
}
"""Each list of a description: its method, the member of the result, and its kind."""
KINDS = ("tools", "prompts", "resources")
NOWHERE: dict[str, object] = {"path": "", "line": 0}
"""The place of what has none in the project."""
MAX_PAGES = 1000


class Describer:
    """Who asks at build: no client is there to answer the program."""

    client = "build"

    async def answer(self, method: str, params: Object) -> Object:
        """Refuse a request of the program."""
        raise ProtocolError(METHOD_NOT_FOUND, f"Method not found: {method}")

    def notify(self, method: str, params: Object) -> None:
        """Ignore a notification of the program."""


def main(folder: str, descriptor: str, place: str, *paths: str) -> None:
    """Describe the program of the request file `place`, whose files are in `folder`; write to a descriptor, and end."""
    replies = int(descriptor)
    # A process of the program would keep the reply open, and the compiler waiting.
    os.set_inheritable(replies, False)
    report = f"{place}.failure"
    with open(place, encoding="utf-8") as file:
        asked = json.load(file)
    words = [sys.executable, *ISOLATED, "-c", BOOT, folder, place, report, *paths]
    line = with_report(asyncio.run(described(words, asked["generation"])), read_report(report))
    if line is not None:
        data = memoryview(json.dumps(line).encode() + b"\n")
        while data:
            data = data[os.write(replies, data) :]
    os._exit(0 if line is not None else 1)


async def described(words: list[str], generation: str) -> Object | None:
    """Return the description of a program; None if its process ends before.

    It is asked in the stateless era if its framework knows that: there it says which extensions it has.
    """
    client = None
    try:
        client = await start_client(words)
        if generation in STATELESS:
            await client.discover(CLIENT, Describer())
        else:
            await client.initialize({}, CLIENT, Describer())
        return await description_of(client)
    except ProtocolError as problem:
        text = f"it does not say what it is: {problem}"
        return {"failure": {"kind": "ended", "message": text, "path": "", "line": 0}}
    except ProcessEndedError as problem:
        sys.stderr.write(f"{problem}\n")
        return None
    finally:
        if client is not None:
            await client.close()


async def description_of(client: ProgramClient) -> Object:
    """Return what the server of an initialized client offers; a list that it cannot make is made at run time."""
    information = client.information
    lists: Object = {}
    failed: dict[str, str] = {}
    for name, (method, member, kind) in LISTS.items():
        try:
            lists[name] = await listed(client, method, member)
        except ProtocolError as problem:
            lists[name] = []
            failed.setdefault(kind, f"the list of {name} cannot be made without a client: {problem}")
    return {
        "server": {**information.get("serverInfo", {}), "instructions": information.get("instructions")},
        "arguments": "handler",
        **{name: [{"entry": entry, **NOWHERE} for entry in entries] for name, entries in lists.items()},
        "completions": "completions" in information.get("capabilities", {}),
        "unhandled": [kind for kind in KINDS if kind not in information.get("capabilities", {})],
        "dynamic": [{"kind": kind, "text": "", **NOWHERE} for kind in failed],
        "extensions": information.get("capabilities", {}).get("extensions", {}),
        "routes": [],
        "notes": [{"text": text, **NOWHERE} for text in failed.values()],
    }


async def listed(client: ProgramClient, method: str, member: str) -> list[Object]:
    """Return all entries of a list; none of one that the server does not have."""
    found: list[Object] = []
    params: Object = {}
    for _ in range(MAX_PAGES):
        try:
            page = await client.request(method, params, Describer())
        except ProtocolError as problem:
            if problem.code == METHOD_NOT_FOUND:
                break
            raise
        found += page.get(member, [])
        if not page.get("nextCursor"):
            break
        params = {"cursor": page["nextCursor"]}
    return found


def with_report(line: Object | None, report: Object) -> Object | None:
    """Return a description with the lists and settings that the program's process reported, or its failure.

    The reason of a list is that of the report: it has a place.
    """
    if line is None:
        return report if "failure" in report else None
    rows = {row["kind"]: row for row in (*line.get("dynamic", ()), *report.get("dynamic", ()))}
    more: Object = {name: report[name] for name in ("demonstrates", "settings") if name in report}
    return {**line, "dynamic": [*rows.values()], **more}


def read_report(place: str) -> Object:
    """Return what the program's process reported."""
    try:
        with open(place, encoding="utf-8") as file:
            found: Object = json.load(file)
    except (OSError, ValueError):
        return {}
    return found
