"""`mcpc attest licenses`: the licences of what a built file contains, as the file itself prints them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mcpc.cli import command_options
from mcpc.cli.artifact import built_artifact
from mcpc.cli.evidence import read_artifact
from mcpc.diagnostics.formats.visible import visible, visible_json
from mcpc.release.trust.statements import inner_bill
from mcpc_runtime.tools.cli.licence_texts import licence_name, licence_texts

if TYPE_CHECKING:
    from pathlib import Path

UNDECLARED = "no licence is declared"


@command_options.command()
@command_options.TARGET_ARGUMENT
@click.option("--texts", is_flag=True, help="Print the texts, too.")
@command_options.build_options
@command_options.JSON_OPTION
def command(target: Path, texts: bool, output: str, **given: Any) -> None:
    """Print the licence of everything that TARGET, a project (this one by default) or a built file, contains."""
    with built_artifact(target, given) as path:
        rows = licence_rows(inner_bill(read_artifact(path)))
        found = [*licence_texts(str(path))] if texts else []
    if output == "json":
        named = [{"of": heading, "text": text} for heading, text in found]
        click.echo(visible_json({"components": rows, **({"texts": named} if texts else {})}))
        return
    for row in rows:
        click.echo(visible(licence_line(row)))
    for heading, text in found:
        click.echo(f"\n=== {visible(heading)}\n\n{text.rstrip()}")


def licence_rows(bill: dict[str, Any]) -> list[dict[str, str]]:
    """Return the name, the version and the licence of each component of an SBOM."""
    return [
        {
            "name": str(component.get("name", "")),
            "version": str(component.get("version", "")),
            "licence": " and ".join(map(licence_name, component.get("licenses", ()))),
        }
        for component in bill["components"]
    ]


def licence_line(row: dict[str, str]) -> str:
    """Return the name, the version and the licence of a component in one line."""
    name = " ".join(filter(None, (row["name"], row["version"])))
    return f"{name}: {row['licence'] or UNDECLARED}"
