"""`mcpc ship bundle`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mcpc.cli import command_options, messages
from mcpc.cli.carrier_files import program_of, report_unusable, server_of, write_file
from mcpc.interpreters.launchers.windows_file import PythonChoice, windows_file
from mcpc.interpreters.selfcontained import CannotEmbedError, EmbeddingRequest, embed_server, this_machine
from mcpc.release.carriers import UnusableValueError
from mcpc.release.carriers.bundle import VERSIONS, bundle

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.release.carriers import BuiltServer

BYTECODE = re.compile(r"3\.(\d+)")


@command_options.command()
@command_options.TARGET_ARGUMENT
@click.option("-o", "--output", "place", type=click.Path(path_type=Path), help="File to write (default: NAME.mcpb).")
@click.option(
    "--manifest", type=click.Choice(VERSIONS), default=VERSIONS[0], show_default=True, help="Version; 0.4 starts by uv."
)
@click.option("--exe", is_flag=True, help="Add a program for Windows, which finds Python better than clients do.")
@click.option("--self-contained", "embeds", is_flag=True, help="Include Python itself, for this machine's system.")
@click.option(
    "--program",
    "programs",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Include this self-contained file of the server, for its system; can be repeated.",
)
@command_options.build_options
def command(target: Path, place: Path | None, manifest: str, programs: tuple[Path, ...], **given: Any) -> None:
    """Write an MCP Bundle of TARGET, a project's folder (this one by default) or a built file.

    Desktop clients install it with a double click, and ask for the server's settings.
    """
    chosen = {name: given.pop(name) for name in ("exe", "embeds")}
    server = server_of(target, given)
    with report_unusable():
        more = [program_of(server, path).data for path in programs]
        data = bundle(server, manifest, (*made_programs(server, **chosen), *more))
    write_file(place or Path(f"{server.slug}.mcpb"), data)


def made_programs(server: BuiltServer, *, exe: bool, embeds: bool) -> Iterator[bytes]:
    """Yield the programs to make of a built file: one for Windows, and one with this machine's Python."""
    if (exe or embeds) and server.target is not None:
        raise UnusableValueError(messages.PROGRAM_ALREADY)
    if exe:
        minors = tuple(int(found) for found in BYTECODE.findall(server.bytecode))
        yield windows_file(server.data, "x64", PythonChoice(minors))
    if embeds:
        try:
            yield embed_server(EmbeddingRequest(server.data, this_machine()))
        except CannotEmbedError as problem:
            raise UnusableValueError(f"{problem}; {problem.diagnostic.hint}") from None
