"""`mcpc scan`: what in servers' definitions can attack or mislead a model or a person."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mcpc.cli import command_options, messages
from mcpc.cli.scan_clients import Start, scan_of_clients
from mcpc.cli.scan_targets import RequestOptions, ignored_of_project, scanned_command, scanned_target
from mcpc.cli.server_targets import CommandWithServer, connection_options, request_headers, server_command
from mcpc.diagnostics.formats.visible import visible
from mcpc.release.scan import scan_groups, scan_pins
from mcpc.release.scan.model import RISKS
from mcpc.release.scan.reports import SCAN_FORMATS, ScanReport
from mcpc.release.scan.scanning import (
    MAX_PIN_BYTES,
    IgnoreError,
    PinError,
    parse_ignored,
    parse_pins,
    pins_of,
    pins_text,
    without_ignored,
)
from mcpc.sandbox.platforms import replace_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpc.release.scan import Finding, ScannedServer
    from mcpc.release.scan.scanning import Ignored

CHANGED, GATE = 6, 7
WIDTH = 80


@click.command(cls=CommandWithServer)
@click.argument("targets", nargs=-1)
@click.option(
    "--fail-on",
    type=click.Choice([risk.value for risk in RISKS]),
    help="Exit with status 7 for findings of this risk or a higher one.",
)
@click.option("--ignore", "entries", multiple=True, metavar="'CODE [PLACE]'", help="Leave out these findings.")
@click.option(
    "--pin", type=click.Path(path_type=Path), metavar="FILE", help="Write the digest of each definition to a file."
)
@click.option(
    "--check-pin",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Report definitions that differ from a file of `--pin`, with status 6.",
)
@click.option("--clients", is_flag=True, help="Scan the servers in the files of this machine's clients, too.")
@click.option(
    "--start", "started", multiple=True, metavar="NAME", help="With --clients: start this server; `all`: each."
)
@click.option("--trust-project", is_flag=True, help="With --clients: also what files of the project name.")
@click.option("--lists-only", is_flag=True, help="Neither get prompts nor read resources of running servers.")
@click.option("--format", "output", type=click.Choice([*SCAN_FORMATS]), default="text", help="Format of the report.")
@connection_options
@command_options.build_options
def command(targets: tuple[str, ...], output: str, **given: Any) -> None:
    """Report what could attack or mislead a model or a person in what servers offer.

    TARGETS are projects (this folder by default), built files, snapshots and addresses; the command of a server follows
    `--`.  Several servers are scanned together, as a client uses them.  Nothing leaves this machine, and no tool is
    called.  With --clients, entries of clients' files are checked and addresses are asked; no command is started
    unless --start names its server.
    """
    own = {name: given.pop(name) for name in ("fail_on", "entries", "pin", "check_pin")}
    pins = read_pins(own["check_pin"]) if own["check_pin"] else None
    groups, ignored = read_groups(targets, given)
    servers = [server for group in groups for server in group]
    # A server that was not asked has no lists: compared with pins, all its definitions would seem to be gone.
    asked = [server for server in servers if server.entry is None or server.lists]
    findings = scan_groups(groups)
    changes = () if pins is None else scan_pins(asked, pins)
    left, unused = without_ignored((*changes, *findings), [*ignored, *ignored_entries(own["entries"])])
    total = len(findings) + len(changes)
    report = ScanReport(servers, left, total - len(left), f"{Path.cwd().as_uri()}/", text_width())
    click.echo(SCAN_FORMATS[output](report), nl=False)
    for entry in unused:
        click.echo(messages.IGNORES_NOTHING.format(entry=entry), err=True)
    for server in asked:
        if server.unread:
            click.echo(messages.NOTE_OF_SERVER.format(name=visible(server.name), text=server.unread), err=True)
    if own["pin"]:
        write_pins(own["pin"], asked)
    exit_with_status(left, own["fail_on"])


def read_groups(targets: Sequence[str], given: dict[str, Any]) -> tuple[list[Sequence[ScannedServer]], list[Ignored]]:
    """Return the servers of the arguments, and those of each client; with what the settings of projects ignore."""
    of_clients, start = given.pop("clients"), Start(given.pop("started"), given.pop("trust_project"))
    if start != Start() and not of_clients:
        raise click.UsageError(messages.START_WITHOUT_CLIENTS)
    headers = request_headers(given.pop("headers"), given.pop("token_file"))
    request = RequestOptions(headers, given.pop("timeout"), given.pop("lists_only"))
    words = server_command()
    chosen = targets or (() if words or of_clients else (".",))
    ignored = [entry for target in chosen for entry in ignored_of_project(target)]
    servers = [scanned_target(target, given, request) for target in chosen]
    if words:
        servers.append(scanned_command(words, request))
    return [servers, *(read_clients(start, request) if of_clients else ())], ignored


def read_clients(start: Start, request: RequestOptions) -> Sequence[Sequence[ScannedServer]]:
    """Return the servers of each client of this machine; say what is not read of them."""
    found = scan_of_clients(Path(), start, request)
    for text in found.notes:
        click.echo(messages.NOTE.format(text=text), err=True)
    if not found.groups:
        click.echo(messages.NO_CLIENTS, err=True)
    if found.waiting:
        count = f"{found.waiting} server{'' if found.waiting == 1 else 's'}"
        click.echo(messages.START_SERVERS.format(count=count), err=True)
    return found.groups


def ignored_entries(entries: Sequence[str]) -> tuple[Ignored, ...]:
    """Return the entries of `--ignore`."""
    try:
        return parse_ignored(entries)
    except IgnoreError as problem:
        raise click.UsageError(f"--ignore: {problem}") from None


def read_pins(path: Path) -> Any:
    """Return the pins of a file."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_PIN_BYTES + 1)
        if len(data) > MAX_PIN_BYTES:
            raise PinError("it is too large")
        return parse_pins(data)
    except PinError as problem:
        raise click.UsageError(messages.NOT_PINS.format(path=path, problem=problem)) from None
    except OSError as problem:
        raise click.UsageError(messages.CANNOT_READ.format(path=path, problem=problem.strerror or problem)) from None


def write_pins(path: Path, servers: Sequence[ScannedServer]) -> None:
    """Write the pins of servers to a file, as a whole or not at all."""
    # In the same folder, because a rename cannot cross file systems.
    fresh = path.with_name(f".{path.name}.new")
    try:
        fresh.write_text(pins_text(pins_of(servers)), encoding="utf-8")
        replace_file(fresh, path)
    except OSError as problem:
        raise click.UsageError(messages.CANNOT_WRITE.format(path=path, problem=problem.strerror or problem)) from None
    finally:
        fresh.unlink(missing_ok=True)


def text_width() -> int:
    """Return the columns of the text format: those of a terminal, and 80 for a file."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else WIDTH


def exit_with_status(findings: Sequence[Finding], fail_on: str | None) -> None:
    """Exit with the status of differences from pins, or of a gate."""
    if any(finding.code.startswith("SCAN7") for finding in findings):
        raise click.exceptions.Exit(CHANGED)
    # `RISKS` begins with the highest.
    if fail_on is not None and any(RISKS.index(one.risk) <= RISKS.index(fail_on) for one in findings):
        raise click.exceptions.Exit(GATE)
