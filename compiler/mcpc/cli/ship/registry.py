"""`mcpc ship registry`."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mcpc.cli import command_options, messages
from mcpc.cli.carrier_files import report_unusable, server_of, write_file
from mcpc.release.carriers.registry import Publication, registry_file

if TYPE_CHECKING:
    from mcpc.release.carriers import BuiltServer

STANDARD_OUTPUT = Path("-")


@command_options.command()
@command_options.TARGET_ARGUMENT
@click.option(
    "-o",
    "--output",
    "place",
    type=click.Path(path_type=Path),
    default=STANDARD_OUTPUT,
    help="File to write (default: print).",
)
@click.option("--name", default="", help="Name in the registry, as io.github.ACCOUNT/NAME.")
@click.option("--mcpb", multiple=True, metavar="[URL=]FILE", help="Bundle of a release, and its file here.")
@click.option("--oci", multiple=True, metavar="IMAGE", help="Published image, with its tag or digest.")
@click.option("--remote", "remotes", multiple=True, metavar="URL", help="Address of a server that runs.")
@command_options.build_options
def command(target: Path, place: Path, name: str, **given: Any) -> None:
    """Write the `server.json` of the official registry for TARGET, a project's folder or a built file.

    Names and addresses are those of the options, else of `[tool.mcpc.registry]` in `pyproject.toml`.
    """
    chosen = {key: given.pop(key) for key in ("mcpb", "oci", "remotes")}
    server = server_of(target, given)
    publication = publication_of(server, name, **chosen)
    with report_unusable():
        text = registry_file(server, publication)
    if place == STANDARD_OUTPUT:
        click.echo(text, nl=False)
    else:
        write_file(place, text.encode("utf-8", "backslashreplace"))


def publication_of(
    server: BuiltServer, name: str, mcpb: tuple[str, ...], oci: tuple[str, ...], remotes: tuple[str, ...]
) -> Publication:
    """Return what is published, by the options and the project's table, with the server's version filled in."""
    entry = server.project.registry

    def filled(texts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(text.replace("{version}", server.version) for text in texts)

    known = filled(entry.mcpb)
    bundles = [bundle_row(text, known) for text in mcpb] or [(url, "") for url in known]
    return Publication(name or entry.name, tuple(bundles), oci or filled(entry.oci), remotes or filled(entry.remotes))


def bundle_row(text: str, known: tuple[str, ...]) -> tuple[str, str]:
    """Return the address and the SHA-256 of a bundle; a file alone belongs to the address that ends in its name."""
    url, sign, path = text.rpartition("=")
    file = Path(path if sign else text)
    try:
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError as problem:
        raise click.UsageError(messages.CANNOT_READ.format(path=file, problem=problem.strerror)) from None
    if not sign:
        url = next((address for address in known if address.rpartition("/")[2] == file.name), "")
    if not url:
        raise click.UsageError(messages.NO_ADDRESS_OF_BUNDLE.format(path=file))
    return url, digest
