"""Commands below `mcpc ship`: forms in which a built file reaches its users, and files that deploy it."""

from __future__ import annotations

import hashlib
import os
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mcpc.cli import command_options, messages
from mcpc.cli.carrier_files import program_of, report_unusable, server_of, write_file, write_folder
from mcpc.cli.commands import SUBCOMMANDS
from mcpc.interpreters.launchers.windows_file import PythonChoice, windows_file
from mcpc.interpreters.selfcontained import CannotEmbedError, EmbeddingRequest, embed_server, this_machine
from mcpc.release.carriers import UnusableValueError
from mcpc.release.carriers.bundle import VERSIONS, bundle_archive
from mcpc.release.carriers.image import ImageOptions, image_layout, layout_archive, missing_in_image, read_base
from mcpc.release.carriers.plugin import FORMS, plugin_files
from mcpc.release.carriers.registry import Publication, registry_file
from mcpc.release.exports import EXPORTS, OVER_HTTP, Deployment, base_image

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
def bundle(target: Path, place: Path | None, manifest: str, programs: tuple[Path, ...], **given: Any) -> None:
    """Write an MCP Bundle of TARGET, a project's folder (this one by default) or a built file.

    Desktop clients install it with a double click, and ask for the server's settings.
    """
    chosen = {name: given.pop(name) for name in ("exe", "embeds")}
    server = server_of(target, given, for_clients=True)
    with report_unusable():
        more = [program_of(server, path).data for path in programs]
        data = bundle_archive(server, manifest, (*made_programs(server, **chosen), *more))
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


def read_forms(_: click.Context, option: click.Parameter, given: str) -> tuple[str, ...]:
    """Return the names in a list with commas."""
    names = tuple(name.strip() for name in given.split(",") if name.strip())
    unknown = next((name for name in names if name not in FORMS), None)
    if unknown is not None:
        raise click.BadParameter(f"`{unknown}` is not one of {', '.join(FORMS)}", param=option)
    return names


@command_options.command()
@command_options.TARGET_ARGUMENT
@click.option(
    "-o", "--output", "place", type=click.Path(path_type=Path), help="New folder to write (default: NAME-plugin)."
)
@click.option(
    "--also", default="", callback=read_forms, metavar="NAMES", help=f"Clients' own forms: {','.join(FORMS)}."
)
@click.option("--command", "starter", default="", help="Program that starts the file (default: python3).")
@command_options.build_options
def plugin(target: Path, place: Path | None, also: tuple[str, ...], starter: str, **given: Any) -> None:
    """Write an Agent Plugin of TARGET, a project's folder (this one by default) or a built file.

    The folder has the server and its skills; agents install it as it is.
    """
    server = server_of(target, given, for_clients=True)
    with report_unusable():
        files = plugin_files(server, starter, also)
    write_folder(place or Path(f"{server.slug}-plugin"), files)


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
def image(target: Path, place: Path | None, base: Path | None, base_digest: str, **given: Any) -> None:
    """Write a container image of TARGET, a project's folder (this one by default) or a built file, as an OCI layout.

    No daemon and no network is used.  A self-contained file needs no base.
    """
    programs = given.pop("programs")
    chosen = {name: given.pop(name) for name in ("base_name", "revision")}
    port = given.pop("port")
    if given.get("http") and port is None:
        port = DEFAULT_PORT
    # A port asks for the HTTP server in the file as well.
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
def registry(target: Path, place: Path, name: str, **given: Any) -> None:
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
    # The last sign: the address may have others in its query.
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


OPTIONS = {
    "host": click.option("--host", default="mcp.example.com", show_default=True, help="Host name that clients use."),
    "path": click.option("--path", default="/mcp", show_default=True, help="Path of the endpoint."),
    "image": click.option("--image", default="", metavar="NAME", help="Container image (default: NAME:VERSION)."),
    "replicas": click.option(
        "--replicas", type=click.IntRange(1, 1000), default=3, show_default=True, help="Number of replicas."
    ),
    "valkey": click.option("--valkey", is_flag=True, help="Add Valkey, for tasks and change events."),
    "upstreams": click.option(
        "--server", "upstreams", multiple=True, metavar="HOST:PORT", help="Address of a replica; can be repeated."
    ),
    "url": click.option("--url", default="", help="Address of the published file."),
    "project": click.option(
        "--in-repository", "project", default=".", metavar="FOLDER", help="The project's folder in the repository."
    ),
}
"""An option for each field of `Deployment` that people choose."""
KINDS = {
    "systemd": ("host", "path"),
    "compose": ("host", "path", "image"),
    "kubernetes": ("host", "path", "image", "replicas", "valkey"),
    "nginx": ("host", "path", "upstreams"),
    "github-actions": ("project",),
    "gitlab-ci": ("project",),
    "homebrew": ("url",),
}
"""The options of each kind of export."""


def export_command(kind: str) -> click.Command:
    """Return the command that writes an export."""

    def write(target: Path, place: Path | None, **given: Any) -> None:
        # A repeatable option that was not given leaves the default of `Deployment`.
        fields = {name: value for name in KINDS[kind] if (value := given.pop(name)) != ()}
        given["http"] = kind in OVER_HTTP or given.get("http")
        if fields.get("valkey"):
            given["redis"] = True
        server = server_of(target, given)
        require_packages(target, server, serves=kind in OVER_HTTP, valkey=bool(fields.get("valkey")))
        with report_unusable():
            text = EXPORTS[kind](deployment_of(server, kind, fields))
        if place is None:
            click.echo(text, nl=False)
        else:
            write_file(place, text.encode("utf-8", "backslashreplace"))

    write.__doc__ = f"""{SUBCOMMANDS["ship"][kind]}

    TARGET is a project's folder (this one by default) or a built file.

    The output is a starting point: review it and keep it with the rest of your configuration.  It contains no secrets.
    """
    output = click.option(
        "-o", "--output", "place", type=click.Path(path_type=Path), help="File to write (default: print)."
    )
    function = output(command_options.build_options(write))
    for name in reversed(KINDS[kind]):
        function = OPTIONS[name](function)
    return command_options.command()(command_options.TARGET_ARGUMENT(function))


def deployment_of(server: BuiltServer, kind: str, fields: dict[str, Any]) -> Deployment:
    """Return how a server is to run; raise UnusableValueError for an invalid value."""
    base = base_image(server.bytecode, server.platforms) if kind in OVER_HTTP else ""
    return Deployment(
        server.name,
        server.version,
        base=base,
        settings=server.settings,
        summary=server.summary,
        homepage=server.link("homepage") or server.link("repository"),
        license=server.project.license,
        digest=server.digest,
        python=".".join(server.bytecode.split(",")[0].split(".")[:2]),
        **fields,
    ).checked()


def require_packages(target: Path, server: BuiltServer, *, serves: bool, valkey: bool) -> None:
    """Refuse a built file that lacks the packages its deployment needs."""
    if serves and not server.has_http:
        raise click.UsageError(messages.BUILT_WITHOUT_HTTP.format(path=target))
    if valkey and "redis" not in server.serving:
        raise click.UsageError(messages.BUILT_WITHOUT_REDIS.format(path=target))


systemd, compose, kubernetes, nginx = map(export_command, ("systemd", "compose", "kubernetes", "nginx"))
github_actions, gitlab_ci, homebrew = map(export_command, ("github-actions", "gitlab-ci", "homebrew"))
