"""`mcpc ship systemd` and others: files that deploy a server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mcpc.cli import command_options, messages
from mcpc.cli.carrier_files import report_unusable, server_of, write_file
from mcpc.cli.commands import SUBCOMMANDS
from mcpc.release.exports import EXPORTS, OVER_HTTP, Deployment, base_image

if TYPE_CHECKING:
    from mcpc.release.carriers import BuiltServer


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
