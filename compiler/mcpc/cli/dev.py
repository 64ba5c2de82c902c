"""`mcpc dev`."""

from __future__ import annotations

import json
import os
import secrets
import socket
import sys
import tempfile
import threading
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from mcpc.cli import command_options, messages, report
from mcpc.cli.artifact import artifact_environment, built_artifact, start_command
from mcpc.cli.built_contents import artifact_contents
from mcpc.cli.dotenv import project_variables
from mcpc.client.model import lists_from_json
from mcpc.pack.runtime import page_sources
from mcpc.sandbox import programs
from mcpc.workbench.dev.building import BuildFacts, ProjectBuilder, ProjectWatcher
from mcpc.workbench.dev.conversation import LISTS
from mcpc.workbench.dev.http_server import Listener, ServerCommand
from mcpc.workbench.dev.page import BuildHistory, Front, PageReporter, PageServer
from mcpc.workbench.dev.proxy import Messages, Proxy
from mcpc.workbench.dev.reporting import HEAD, LOG_REQUESTS, CallLines, CallPipe, CallWatch, Reporter, Screen
from mcpc.workbench.testing.writing import append_case
from mcpc_runtime.http.options import DEFAULT_HOST
from mcpc_runtime.http.settings import HttpSettings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.client import ServerLists
    from mcpc.workbench.dev.building import BuildResult

MAX_PORT = 65_535
HANDLERS_FOLDER = "handlers/"
"""Folder of the handlers' code in a built file."""
PAGE_PORT = 7357
"""The port of the page if none is named, and if it is free."""
HIDDEN_LINES = (b"serving http://", b"the page for people is ")
"""Lines of a built server that name its own port, behind the page."""
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


@command_options.command(command_options.WordsCommand)
@command_options.TARGET_ARGUMENT
@click.option("--http", "at", metavar="[HOST:]PORT", callback=parse_address, help="Serve over HTTP at this address.")
@click.option("--ui", "has_page", is_flag=True, help="Serve over HTTP, with a page on which to call the server.")
@click.option("--once", is_flag=True, help="Serve one build until the client leaves: a project's, or a built file.")
@command_options.build_options
def command(target: Path, at: str | None, has_page: bool, once: bool, words: tuple[str, ...], **given: Any) -> None:
    """Serve TARGET (a project's folder; this one by default) and rebuild it when files change.

    Clients see one server over standard input and output.  If a build fails, the errors are printed on standard error
    and the last build keeps serving.  If it succeeds, it takes over when the running calls have ended.  The tool
    `mcpc_reload` starts a build.

    With --once nothing stands between the client and the built file; WORDS are for the program of a server for FastMCP
    or the SDK.
    """
    if once:
        serve_once(target, words, at or has_page, given)
    if target.is_file() or words:
        raise click.UsageError(messages.WORDS_NEED_ONCE if words else messages.FILE_NEEDS_ONCE.format(path=target))
    root = target.resolve()
    kind = "--ui" if has_page else "--http" if at else "--live"
    build_words = [*option_arguments(given), kind, "--", str(root)]
    with tempfile.TemporaryDirectory(prefix="mcpc-dev-") as folder:
        place, screen = Path(folder), Screen(report.has_colours())
        variables = {LOG_REQUESTS: os.environ.get(LOG_REQUESTS, "1"), **project_variables(root)}
        start = ServerCommand(start_command, empty_folder(place), variables)
        builder = ProjectBuilder(build_words, place, read_build_facts)
        if has_page:
            serve_page(builder, root, at, with_calls(start, CallPipe(place, CallLines(screen))), screen)
        elif at:
            require_free(at)
            start = with_calls(start, CallPipe(place, CallLines(screen)))
            start = replace(start, argv=lambda path: start_command(path, "serve", "--http", at))
            serve_http(builder, root, start, screen)
        else:
            serve_stdio(builder, root, start, screen)


# The address decides whether the project is served over HTTP, and `--ui` of this command whether with the page.
command.params = [option for option in command.params if option.name not in ("http", "ui")]


def serve_once(target: Path, words: tuple[str, ...], is_http: object, given: dict[str, Any]) -> NoReturn:
    """Serve a built file, or one that is built of a project, over standard input and output, and exit."""
    if is_http:
        raise click.UsageError(messages.ONCE_IS_STDIO)
    with built_artifact(target, given) as path, tempfile.TemporaryDirectory(prefix="mcpc-dev-") as empty:
        # The server prints a hint for people, with the command that calls it.
        variables = artifact_environment(target) if sys.stdin.isatty() else {}
        start = start_command(path, *(("--", *words) if words else ()))
        folder = None if target.is_file() else Path(empty)
        status = programs.run_in_foreground("server", start, {**project_variables(target), **variables}, folder)
    raise click.exceptions.Exit(report.UNREACHABLE if status < 0 else status)


def option_arguments(given: Mapping[str, Any]) -> Iterator[str]:
    """Yield build options in the form of command-line arguments."""
    for option in click.get_current_context().command.params:
        value = given.get(option.name or "")
        # `False` is a value: the one that `--no-defaults` sets. A flag that was not given is None.
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
    # Checksum and size are in the directory of the archive: nothing is inflated to see whether a file has changed.
    code = [entry for entry in entries if entry[0].startswith(HANDLERS_FOLDER)]
    served = [entry for entry in entries if not entry[0].startswith(METADATA_FOLDER)]
    return BuildFacts(str(found["format"]), lists, names, repr(code), repr(served))


def empty_folder(place: Path) -> Path:
    """Return a new folder in which servers run, as where clients start them: all that they find is in the file."""
    folder = place / "empty"
    folder.mkdir()
    return folder


def with_calls(start: ServerCommand, pipe: CallPipe) -> ServerCommand:
    """Return how a server is started whose calls are written to a pipe."""
    return replace(start, variables={**start.variables, **pipe.variables})


def serve_stdio(builder: ProjectBuilder, root: Path, start: ServerCommand, screen: Screen) -> None:
    """Serve over standard input and output."""
    reporter = Reporter(screen)
    proxy = Proxy(builder, start, root, Messages(reporter, CallWatch(CallLines(screen)), screen))
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


def serve_page(builder: ProjectBuilder, root: Path, at: str | None, start: ServerCommand, screen: Screen) -> None:
    """Serve over HTTP behind the page, which is there before the first build, and stays when it fails."""
    host = at.rpartition(":")[0] if at else DEFAULT_HOST
    if not HttpSettings(host=host).is_loopback:
        raise click.UsageError(messages.PAGE_IS_LOCAL.format(host=host))
    history, inner = BuildHistory(), free_port()
    reporter = PageReporter(screen, history, read_lists)
    files, token = dict(page_sources()), secrets.token_urlsafe(24)
    front = Front(token, inner, project_target(root), files, history, lambda case: append_case(root, case))
    server = listening(front, at)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    screen.write(messages.PAGE_ADDRESS.format(address=f"http://{host}:{server.server_port}", token=token))
    start = replace(
        start,
        argv=lambda path: start_command(path, "serve", "--http", f"{DEFAULT_HOST}:{inner}", "--ui"),
        hidden=HIDDEN_LINES,
        heard=history.hear,
    )
    listener = Listener(builder, start, reporter, screen, history.serve_last)
    watcher = ProjectWatcher(root, listener.changed)
    first = first_build(builder, reporter, screen, needed=False)
    watcher.start()
    listener.run(first)


def listening(front: Front, at: str | None) -> PageServer:
    """Return the server of the page at an address; without one at PAGE_PORT, or at any port if that is taken."""
    host, _, port = (at or f"{DEFAULT_HOST}:{PAGE_PORT}").rpartition(":")
    try:
        return PageServer(host, int(port), front)
    except OSError as problem:
        if at is None:
            return PageServer(host, 0, front)
        raise click.UsageError(messages.CANNOT_LISTEN.format(address=at, problem=problem.strerror)) from None


def require_free(at: str) -> None:
    """Refuse an address at which something listens already: the server could not start at any build."""
    host, _, port = at.rpartition(":")
    host = host.strip("[]")
    try:
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
            if os.name == "posix":  # a port whose last connections are still being closed is free
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, int(port)))
    except OSError as problem:
        raise click.UsageError(messages.CANNOT_LISTEN.format(address=at, problem=problem.strerror)) from None


def free_port() -> int:
    """Return a port of this machine that is free."""
    with socket.socket() as probe:
        probe.bind((DEFAULT_HOST, 0))
        return int(probe.getsockname()[1])


def project_target(root: Path) -> str:
    """Return a project as a command in this folder names it."""
    here = Path.cwd()
    return "." if root == here else str(root.relative_to(here)) if root.is_relative_to(here) else str(root)


def read_lists(path: Path) -> ServerLists:
    """Return what a built file offers, without running it."""
    return lists_from_json(artifact_contents(path), is_built=True)


def first_build(builder: ProjectBuilder, reporter: Reporter, screen: Screen, *, needed: bool = True) -> BuildResult:
    """Return the first build; exit if it fails and is needed."""
    screen.working(f"{HEAD}building …")
    try:
        first = builder.build()
    # Also for Ctrl-C: the process of the build would go on without this one.
    except BaseException:
        builder.close()
        raise
    finally:
        screen.done()
    reporter.first(first)
    if first.path is None and needed:
        raise click.exceptions.Exit(first.status)
    return first
