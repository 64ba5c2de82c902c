"""`mcpc export`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from mcpc.cli import report
from mcpc.cli.artifact import built, contents
from mcpc.exports import EXPORTS, Deployment, UnfitError, base_image


@report.command()
@click.argument("kind", type=click.Choice(list(EXPORTS)))
@click.argument("target", type=click.Path(path_type=Path, exists=True), default=Path())
@click.option("--host", default="mcp.example.com", show_default=True, help="The name that clients use.")
@click.option("--path", default="/mcp", show_default=True, help="The endpoint's path.")
@click.option("--image", default="", metavar="NAME", help="kubernetes: the image (NAME:VERSION of the server).")
@click.option("--replicas", type=click.IntRange(1, 1000), default=3, show_default=True, help="kubernetes: how many.")
@click.option("--valkey", is_flag=True, help="kubernetes: Valkey as well, for tasks and changes.")
@click.option("--server", "upstreams", multiple=True, metavar="HOST:PORT", help="nginx: a replica; may be repeated.")
@report.build_options
def command(kind: str, target: Path, upstreams: tuple[str, ...], **given: Any) -> None:
    """Write how TARGET, a project's folder (this one by default) or a built file, is run: manifests, or nginx's site.

    What is written is a beginning to be read and kept with the rest of a system's configuration; it has no secrets.
    """
    chosen = {name: given.pop(name) for name in ("host", "path", "image", "replicas", "valkey")}
    given["http"] = True
    given["redis"] = given.get("redis") or chosen["valkey"]
    with built(target, given) as artifact:
        facts = contents(artifact)
    refuse_lacking(target, facts, valkey=chosen["valkey"])
    if upstreams:
        chosen["upstreams"] = upstreams
    try:
        base = base_image(facts["python"]["bytecode"], facts.get("platforms", ()))
        made = Deployment(facts["name"], facts["version"], base=base, **chosen).checked()
    except UnfitError as problem:
        raise click.UsageError(str(problem)) from None
    click.echo(EXPORTS[kind](made), nl=False)


def refuse_lacking(target: Path, facts: dict[str, Any], *, valkey: bool) -> None:
    """Refuse to write how a file is run that does not carry what would run it."""
    carried = {package.split()[0] for package in facts.get("serving", ())}
    if "uvicorn" not in carried:
        raise click.UsageError(f"{target} was built without HTTP; build it with `mcpc build --http`")
    if valkey and "redis" not in carried:
        raise click.UsageError(
            f"{target} was built without Redis; for --valkey build it with `mcpc build --http --redis`"
        )
