"""`mcpc ship image`."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from mcpc.cli import command_options
from mcpc.cli.carrier_files import program_of, report_unusable, server_of, write_file, write_folder
from mcpc.release.carriers import UnusableValueError
from mcpc.release.carriers.image import ImageOptions, image_layout, layout_archive, missing_in_image, read_base

EPOCH_VARIABLE = "SOURCE_DATE_EPOCH"
DEFAULT_PORT = 8000


@command_options.command()
@command_options.TARGET_ARGUMENT
@click.option(
    "-o", "--output", "place", type=click.Path(path_type=Path), help="New folder, or file NAME.tar (default: NAME.tar)."
)
@click.option("--base", type=click.Path(exists=True, path_type=Path), help="OCI layout, as a folder or an archive.")
@click.option("--base-digest", default="", metavar="SHA256", help="Digest of the base; selects one of several.")
@click.option("--base-name", default="", metavar="NAME", help="Name of the base in its registry, for the annotation.")
@click.option(
    "--program",
    "programs",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Self-contained file of the server for another processor; can be repeated.",
)
@click.option(
    "--port", type=click.IntRange(1, 65535), help=f"Serve over HTTP at this port (with --http: {DEFAULT_PORT})."
)
@click.option("--revision", default="", metavar="COMMIT", help="Commit of the sources, for the annotation.")
@command_options.build_options
def command(target: Path, place: Path | None, base: Path | None, base_digest: str, **given: Any) -> None:
    """Write a container image of TARGET, a project's folder (this one by default) or a built file, as an OCI layout.

    No daemon and no network is used.  A self-contained file needs no base.
    """
    programs = given.pop("programs")
    chosen = {name: given.pop(name) for name in ("base_name", "revision")}
    port = given.pop("port")
    if given.get("http") and port is None:
        port = DEFAULT_PORT
    server = server_of(target, {**given, "http": True if port else given.get("http")})
    with report_unusable():
        servers = (server, *(program_of(server, path) for path in programs))
        bases = read_base(base, base_digest) if base is not None else ()
        options = ImageOptions(bases, port=port or 0, created=creation_time(), **chosen)
        files = image_layout(servers, options)
    missing = missing_in_image(server, options)
    if missing:
        click.echo(f"note: {missing}", err=True)
    place = place or Path(f"{server.slug}.tar")
    if place.suffix == ".tar":
        write_file(place, layout_archive(files))
    else:
        write_folder(place, files)


def creation_time() -> str:
    """Return the time of SOURCE_DATE_EPOCH, or the beginning of time: builds at another hour are the same."""
    text = os.environ.get(EPOCH_VARIABLE, "0")
    try:
        return datetime.fromtimestamp(int(text), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        raise UnusableValueError(f"{EPOCH_VARIABLE} is `{text}`; expected seconds since 1970") from None
