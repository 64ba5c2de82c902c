"""`mcpc editor schema`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from mcpc.cli import messages
from mcpc.cli.build_steps import refuse_unwritable
from mcpc.cli.diff import write_text_file
from mcpc.diagnostics.suggestions import did_you_mean
from mcpc.workbench.file_schemas import FILES, schema_text


@click.command()
@click.argument("name", default="")
@click.option("-o", "--output", "folder", type=click.Path(path_type=Path), help="Write all schemas to this folder.")
@click.option("--format", "output", type=click.Choice(["text", "json"]), default="text", help="Format of the list.")
def command(name: str, folder: Path | None, output: str) -> None:
    """Print the JSON Schema of a kind of file, for editors; without a NAME, list the kinds.

    With `-o`, every schema is written to the folder, or only the one called NAME. The schemas are draft-07.
    """
    known = {kind.name: kind for kind in FILES}
    if name and name not in known:
        raise click.UsageError(messages.UNKNOWN_SCHEMA.format(name=name, hint=did_you_mean(name, known, LIST_THEM)))
    if folder is not None:
        write_schemas(folder, [name] if name else [*known])
    elif name:
        click.echo(schema_text(name), nl=False)
    elif output == "json":
        rows = [{"name": kind.name, "title": kind.title, "id": kind.identifier, "files": kind.globs} for kind in FILES]
        click.echo(json.dumps(rows, indent=2))
    else:
        for kind in FILES:
            click.echo(f"{kind.name:<20} {', '.join(kind.globs) or kind.title}")


LIST_THEM = "`mcpc editor schema` lists them"


def write_schemas(folder: Path, names: list[str]) -> None:
    """Write schemas as `NAME.schema.json`, each whole or not at all."""
    with refuse_unwritable(folder):
        folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        write_text_file(folder / f"{name}.schema.json", schema_text(name))
