"""`mcpc dev`."""

from __future__ import annotations

import json
import os
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mcpc.cli import report
from mcpc.cli.artifact import argv, contents
from mcpc.dev.building import Builder
from mcpc.dev.listening import Listener
from mcpc.dev.proxy import Proxy
from mcpc.dev.watching import Watcher
from mcpc.dev.words import LISTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.dev.building import Facts

MOST_PORT = 65_535


def address(_context: click.Context, _option: click.Parameter, value: str | None) -> str | None:
    """Return the address to serve at, with its host: the loopback if none is said."""
    if value is None:
        return None
    host, _, port = value.rpartition(":")
    if not port.isdecimal() or not 0 < int(port) <= MOST_PORT:
        raise click.BadParameter(f"expected PORT or HOST:PORT, with a port from 1 to {MOST_PORT}")
    return f"{host or '127.0.0.1'}:{port}"


@click.command()
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
        builder = Builder(words, Path(folder), facts)
        if at:
            serve_http(builder, root, at)
        else:
            serve(builder, root)


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
    lists = {name: json.dumps(found.get(name, [])) for name in LISTS}
    names = tuple(str(tool["name"]) for tool in found.get("tools", ()))
    return str(found["format"]), lists, names


def serve(builder: Builder, root: Path) -> None:
    """Serve standard input and output."""
    proxy = Proxy(builder, argv, root, tell)
    watcher = Watcher(root, proxy.changed)
    first = built(builder)
    watcher.start()
    client = os.fdopen(os.dup(0), "rb")
    threading.Thread(target=proxy.read, args=(client,), daemon=True).start()
    proxy.run(first, 1)
    watcher.stop()


def serve_http(builder: Builder, root: Path, at: str) -> None:
    """Serve over HTTP at an address."""
    listener = Listener(builder, lambda path: argv(path, "serve", "--http", at), tell)
    watcher = Watcher(root, listener.changed)
    first = built(builder)
    watcher.start()
    listener.run(first)


def built(builder: Builder) -> Any:
    """Return the first build; without one there is nothing to serve."""
    try:
        first = builder.build()
    except BaseException:
        builder.close()
        raise
    tell(first.said)
    if first.path is None:
        raise click.exceptions.Exit(first.status)
    return first


def tell(text: str) -> None:
    """Say something on standard error."""
    if text:
        click.echo(text.rstrip("\n"), err=True)
