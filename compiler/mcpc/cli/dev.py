"""`mcpc dev`."""

from __future__ import annotations

import json
import os
import tempfile
import threading
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mcpc.cli import report
from mcpc.cli.artifact import argv, contents
from mcpc.dev.building import Builder, Facts
from mcpc.dev.calls import CallLines, CallPipe, CallWatch
from mcpc.dev.listening import Listener, Start
from mcpc.dev.proxy import Proxy, Telling
from mcpc.dev.reporting import HEAD, Reporter
from mcpc.dev.screen import Screen
from mcpc.dev.watching import Watcher
from mcpc.dev.words import LISTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.dev.building import Made

MOST_PORT = 65_535
HANDLERS = "handlers/"
"""Where in a built file the handlers' code is."""
BESIDE = "META-INF/"
"""What tells of a built file and is not served."""


def address(_context: click.Context, _option: click.Parameter, value: str | None) -> str | None:
    """Return the address to serve at, with its host: the loopback if none is said."""
    if value is None:
        return None
    host, _, port = value.rpartition(":")
    if not port.isdecimal() or not 0 < int(port) <= MOST_PORT:
        raise click.BadParameter(f"expected PORT or HOST:PORT, with a port from 1 to {MOST_PORT}")
    return f"{host or '127.0.0.1'}:{port}"


@report.command()
@report.PROJECT
@click.option("--http", "at", metavar="[HOST:]PORT", callback=address, help="Serve over HTTP at this address instead.")
@report.build_options
def command(project: Path, at: str | None, **given: Any) -> None:
    """Serve PROJECT (a folder; this one by default) while it is written: what is saved is served.

    To a client this is one server over standard input and output.  A build that fails changes nothing and is told of on
    standard error; one that succeeds takes over once the calls under way have ended.  The tool `mcpc_reload` asks for
    the next build.
    """
    root = report.project_folder(project).resolve()
    words = [*worded(given), *(["--http"] if at else ["--live"]), "--", str(root)]
    with tempfile.TemporaryDirectory(prefix="mcpc-dev-") as folder:
        place, screen = Path(folder), Screen(report.colourful())
        builder = Builder(words, place, facts)
        if at:
            pipe = CallPipe(place, CallLines(screen))
            start = Start(lambda path: argv(path, "serve", "--http", at), pipe.variables)
            serve_http(builder, root, start, screen)
        else:
            serve(builder, root, screen)


# Whether anything is served over HTTP is said by the address.
command.params = [option for option in command.params if option.name != "http"]


def worded(given: Mapping[str, Any]) -> Iterator[str]:
    """Yield the options of a build as they are written on a command line."""
    for option in click.get_current_context().command.params:
        value = given.get(option.name or "")
        if not isinstance(option, click.Option) or value in (None, "", ()):
            continue
        for one in value if isinstance(value, tuple) else (value,):
            yield option.opts[0]
            yield from () if option.is_flag else (str(one),)


def facts(path: Path) -> Facts:
    """Return what a built file is made of, its lists, and the names of its tools; nothing of it runs."""
    found = contents(path)
    # A kind that a server does not offer has a number in the build's facts, and no list.
    items = {name: found[name] if isinstance(found.get(name), list) else [] for name in LISTS}
    lists = {name: json.dumps(listed) for name, listed in items.items()}
    names = tuple(str(tool["name"]) for tool in items["tools"])
    with zipfile.ZipFile(path) as archive:
        entries = [(entry.filename, entry.CRC, entry.file_size) for entry in archive.infolist()]
    code = [entry for entry in entries if entry[0].startswith(HANDLERS)]
    served = [entry for entry in entries if not entry[0].startswith(BESIDE)]
    return Facts(str(found["format"]), lists, names, repr(code), repr(served))


def serve(builder: Builder, root: Path, screen: Screen) -> None:
    """Serve standard input and output."""
    reporter = Reporter(screen)
    proxy = Proxy(builder, argv, root, Telling(reporter, CallWatch(CallLines(screen)), screen))
    watcher = Watcher(root, proxy.changed)
    first = built(builder, reporter, screen)
    watcher.start()
    client = os.fdopen(os.dup(0), "rb")
    threading.Thread(target=proxy.read, args=(client,), daemon=True).start()
    proxy.run(first, 1)
    watcher.stop()


def serve_http(builder: Builder, root: Path, start: Start, screen: Screen) -> None:
    """Serve over HTTP."""
    reporter = Reporter(screen)
    listener = Listener(builder, start, reporter, screen)
    watcher = Watcher(root, listener.changed)
    first = built(builder, reporter, screen)
    watcher.start()
    listener.run(first)


def built(builder: Builder, reporter: Reporter, screen: Screen) -> Made:
    """Return the first build; without one there is nothing to serve."""
    screen.working(f"{HEAD}building …")
    try:
        first = builder.build()
    except BaseException:
        builder.close()
        raise
    finally:
        screen.done()
    reporter.first(first)
    if first.path is None:
        raise click.exceptions.Exit(first.status)
    return first
