"""`mcpc export`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from mcpc.cli import command_options, messages
from mcpc.cli.artifact import artifact_contents, built_artifact
from mcpc.exports import EXPORTS, Deployment, UnusableValueError, base_image


@command_options.command()
@click.argument("kind", type=click.Choice(list(EXPORTS)))
@click.argument("target", type=click.Path(path_type=Path, exists=True), default=Path())
@click.option("--host", default="mcp.example.com", show_default=True, help="Host name that clients use.")
@click.option("--path", default="/mcp", show_default=True, help="Path of the endpoint.")
@click.option(
    "--image", default="", metavar="NAME", help="kubernetes: container image (default: NAME:VERSION of the server)."
)
@click.option(
    "--replicas", type=click.IntRange(1, 1000), default=3, show_default=True, help="kubernetes: number of replicas."
)
@click.option("--valkey", is_flag=True, help="kubernetes: add Valkey, for tasks and change events.")
@click.option(
    "--server", "upstreams", multiple=True, metavar="HOST:PORT", help="nginx: address of a replica; can be repeated."
)
@command_options.build_options
def command(kind: str, target: Path, upstreams: tuple[str, ...], **given: Any) -> None:
    """Write deployment files for TARGET, a project folder (this one by default) or a built file.

    The output is a starting point: review it and keep it with the rest of your configuration.  It contains no secrets.
    """
    chosen = {name: given.pop(name) for name in ("host", "path", "image", "replicas", "valkey")}
    given["http"] = True
    given["redis"] = given.get("redis") or chosen["valkey"]
    with built_artifact(target, given) as artifact:
        facts = artifact_contents(artifact)
    require_packages(target, facts, valkey=chosen["valkey"])
    if upstreams:
        chosen["upstreams"] = upstreams
    try:
        base = base_image(facts["python"]["bytecode"], facts.get("platforms", ()))
        made = Deployment(facts["name"], facts["version"], base=base, **chosen).checked()
    except UnusableValueError as problem:
        raise click.UsageError(str(problem)) from None
    click.echo(EXPORTS[kind](made), nl=False)


def require_packages(target: Path, facts: dict[str, Any], *, valkey: bool) -> None:
    """Refuse a built file that lacks the packages its deployment needs."""
    carried = {package.split()[0] for package in facts.get("serving", ())}
    if "uvicorn" not in carried:
        raise click.UsageError(messages.BUILT_WITHOUT_HTTP.format(path=target))
    if valkey and "redis" not in carried:
        raise click.UsageError(messages.BUILT_WITHOUT_REDIS.format(path=target))
