"""`mcpc export`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mcpc.cli import command_options, messages
from mcpc.cli.carrier_files import report_unusable, server_of, write_file
from mcpc.release.exports import EXPORTS, OVER_HTTP, Deployment, base_image

if TYPE_CHECKING:
    from mcpc.release.carriers import BuiltServer


@command_options.command()
@click.argument("kind", metavar="KIND", type=click.Choice(list(EXPORTS)))
@command_options.TARGET_ARGUMENT
@click.option("--host", default="mcp.example.com", show_default=True, help="Host name that clients use.")
@click.option("--path", default="/mcp", show_default=True, help="Path of the endpoint.")
@click.option(
    "--image", default="", metavar="NAME", help="compose, kubernetes: container image (default: NAME:VERSION)."
)
@click.option(
    "--replicas", type=click.IntRange(1, 1000), default=3, show_default=True, help="kubernetes: number of replicas."
)
@click.option("--valkey", is_flag=True, help="kubernetes: add Valkey, for tasks and change events.")
@click.option(
    "--server", "upstreams", multiple=True, metavar="HOST:PORT", help="nginx: address of a replica; can be repeated."
)
@click.option("--url", default="", help="homebrew: address of the published file.")
@click.option(
    "--in-repository", "project", default=".", metavar="FOLDER", help="github-actions, gitlab-ci: the project's folder."
)
@click.option("-o", "--output", "place", type=click.Path(path_type=Path), help="File to write (default: print).")
@command_options.build_options
def command(kind: str, target: Path, upstreams: tuple[str, ...], place: Path | None, **given: Any) -> None:
    """Write deployment files for TARGET, a project folder (this one by default) or a built file.

    KIND is systemd, compose, kubernetes, nginx, github-actions, gitlab-ci or homebrew.

    The output is a starting point: review it and keep it with the rest of your configuration.  It contains no secrets.
    """
    chosen = {name: given.pop(name) for name in ("host", "path", "image", "replicas", "valkey", "url", "project")}
    given["http"] = kind in OVER_HTTP or given.get("http")
    given["redis"] = given.get("redis") or chosen["valkey"]
    server = server_of(target, given)
    require_packages(target, server, serves=kind in OVER_HTTP, valkey=chosen["valkey"])
    if upstreams:
        chosen["upstreams"] = upstreams
    with report_unusable():
        text = EXPORTS[kind](deployment_of(server, kind, chosen))
    if place is None:
        click.echo(text, nl=False)
    else:
        write_file(place, text.encode("utf-8", "backslashreplace"))


def deployment_of(server: BuiltServer, kind: str, chosen: dict[str, Any]) -> Deployment:
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
        **chosen,
    ).checked()


def require_packages(target: Path, server: BuiltServer, *, serves: bool, valkey: bool) -> None:
    """Refuse a built file that lacks the packages its deployment needs."""
    if serves and not server.has_http:
        raise click.UsageError(messages.BUILT_WITHOUT_HTTP.format(path=target))
    if valkey and "redis" not in server.serving:
        raise click.UsageError(messages.BUILT_WITHOUT_REDIS.format(path=target))
