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

from mcpc.cli import command_options, messages, report
from mcpc.cli.artifact import artifact_contents, start_command
from mcpc.dev.building import BuildFacts, ProjectBuilder
from mcpc.dev.calls import CallLines, CallPipe, CallWatch
from mcpc.dev.http_server import Listener, ServerCommand
from mcpc.dev.messages import LISTS
from mcpc.dev.proxy import Messages, Proxy
from mcpc.dev.reporting import HEAD, Reporter
from mcpc.dev.screen import Screen
from mcpc.dev.watching import ProjectWatcher

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.dev.building import BuildResult

MAX_PORT = 65_535
HANDLERS_FOLDER = "handlers/"
"""Folder of the handlers' code in a built file."""
METADATA_FOLDER = "META-INF/"
"""Folder of a built file with its metadata, which is not served."""


def parse_address(_context: click.Context, _option: click.Parameter, value: str | None) -> str | None:
    """Return the address to serve at, with its host (default: the loopback address)."""
    if value is None:
        return None
    host, _, port = value.rpartition(":")
    if not port.isdecimal() or not 0 < int(port) <= MAX_PORT:
        raise click.BadParameter(messages.ADDRESS_EXPECTED.format(most=MAX_PORT))
    return f"{host or '127.0.0.1'}:{port}"


@command_options.command()
@command_options.PROJECT_ARGUMENT
@click.option("--http", "at", metavar="[HOST:]PORT", callback=parse_address, help="Serve over HTTP at this address.")
@command_options.build_options
def command(project: Path, at: str | None, **given: Any) -> None:
    """Serve PROJECT (a folder; this one by default) and rebuild it when files change.

    Clients see one server over standard input and output.  If a build fails, the errors are printed on standard error
    and the last build keeps serving.  If it succeeds, it takes over when the running calls have ended.  The tool
    `mcpc_reload` starts a build.
    """
    root = command_options.project_folder(project).resolve()
    words = [*option_arguments(given), *(["--http"] if at else ["--live"]), "--", str(root)]
    with tempfile.TemporaryDirectory(prefix="mcpc-dev-") as folder:
        place, screen = Path(folder), Screen(report.has_colours())
        builder = ProjectBuilder(words, place, read_build_facts)
        if at:
            pipe = CallPipe(place, CallLines(screen))
            start = ServerCommand(lambda path: start_command(path, "serve", "--http", at), pipe.variables)
            serve_http(builder, root, start, screen)
        else:
            serve_stdio(builder, root, screen)


# The address decides whether the project is served over HTTP.
command.params = [option for option in command.params if option.name != "http"]


def option_arguments(given: Mapping[str, Any]) -> Iterator[str]:
    """Yield build options in the form of command-line arguments."""
    for option in click.get_current_context().command.params:
        value = given.get(option.name or "")
        if not isinstance(option, click.Option) or value in (None, "", ()):
            continue
        for item in value if isinstance(value, tuple) else (value,):
            yield option.opts[0]
            yield from () if option.is_flag else (str(item),)


def read_build_facts(path: Path) -> BuildFacts:
    """Return the format, lists, tool names and digests of a built file, without running it."""
    found = artifact_contents(path)
    # A kind without definitions has a count in the build facts, but no list.
    items = {name: found[name] if isinstance(found.get(name), list) else [] for name in LISTS}
    lists = {name: json.dumps(listed) for name, listed in items.items()}
    names = tuple(str(tool["name"]) for tool in items["tools"])
    with zipfile.ZipFile(path) as archive:
        entries = [(entry.filename, entry.CRC, entry.file_size) for entry in archive.infolist()]
    code = [entry for entry in entries if entry[0].startswith(HANDLERS_FOLDER)]
    served = [entry for entry in entries if not entry[0].startswith(METADATA_FOLDER)]
    return BuildFacts(str(found["format"]), lists, names, repr(code), repr(served))


def serve_stdio(builder: ProjectBuilder, root: Path, screen: Screen) -> None:
    """Serve over standard input and output."""
    reporter = Reporter(screen)
    proxy = Proxy(builder, start_command, root, Messages(reporter, CallWatch(CallLines(screen)), screen))
    watcher = ProjectWatcher(root, proxy.changed)
    first = first_build(builder, reporter, screen)
    watcher.start()
    client = os.fdopen(os.dup(0), "rb")
    threading.Thread(target=proxy.read, args=(client,), daemon=True).start()
    proxy.run(first, 1)
    watcher.stop()


def serve_http(builder: ProjectBuilder, root: Path, start: ServerCommand, screen: Screen) -> None:
    """Serve over HTTP."""
    reporter = Reporter(screen)
    listener = Listener(builder, start, reporter, screen)
    watcher = ProjectWatcher(root, listener.changed)
    first = first_build(builder, reporter, screen)
    watcher.start()
    listener.run(first)


def first_build(builder: ProjectBuilder, reporter: Reporter, screen: Screen) -> BuildResult:
    """Return the first build; exit if it fails."""
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
