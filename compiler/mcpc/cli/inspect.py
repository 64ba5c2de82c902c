"""`mcpc inspect`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from mcpc.cli import report
from mcpc.cli.artifact import built, contents
from mcpc.cli.packed import listing, packed_files
from mcpc.diagnostics.formats.visible import visible, visible_json


@report.command()
@click.argument("target", type=click.Path(path_type=Path, exists=True), default=Path())
@click.option("--tool", metavar="NAME", help="Show one tool whole, with its schemas.")
@click.option("--files", is_flag=True, help="List what is packed: path, size and why.")
@report.build_options
@report.JSON_OPTION
def command(target: Path, tool: str | None, files: bool, output: str, **given: Any) -> None:
    """Show what TARGET, a project's folder (this one by default) or a built file, offers.

    A built file is read, never run.
    """
    with built(target, given) as path:
        facts = contents(path)
        packed = packed_files(path) if files else []
    if files:
        click.echo(visible_json(packed) if output == "json" else listing(packed))
        return
    if tool is not None:
        facts = one_tool(facts, tool)
    click.echo(visible_json(facts) if output == "json" or tool else summary(facts))


def one_tool(facts: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the tool of this name."""
    for tool in facts.get("tools", []):
        if tool["name"] == name:
            found: dict[str, Any] = tool
            return found
    raise click.UsageError(f"there is no tool {name}")


def summary(facts: dict[str, Any]) -> str:
    """Return what a person wants to know first."""
    lines = [f"{facts['name']} {facts['version']}, speaks {', '.join(facts['revisions'])}"]
    running = running_by_name(facts)
    for kind in ("tools", "prompts"):
        offered = facts.get(kind)
        for item in offered if isinstance(offered, list) else []:
            schema = item.get("inputSchema", {}).get("properties", {})
            names = ", ".join(schema or [argument["name"] for argument in item.get("arguments", [])])
            description = item.get("description", "").partition("\n")[0]
            lines.append(f"  {kind[:-1]:<7}{item['name']}({names})  {description}")
            lines += [f"         {fact}" for fact in running.get(item["name"], ())]
    for kind, (word, key) in READ.items():
        listed = facts.get(kind)
        for item in listed if isinstance(listed, list) else []:
            lines.append(f"  {word} {item[key]}  {(item.get('description') or item['name']).partition(chr(10))[0]}")
            lines += [f"         {fact}" for fact in running.get(item["name"], ())]
    return "\n".join(visible(line) for line in lines)


READ = {"resources": ("resource", "uri"), "resourceTemplates": ("template", "uriTemplate")}
"""The lists of what clients read: what one of them is called, and the member by which it is asked for."""


def running_by_name(facts: dict[str, Any]) -> dict[str, list[str]]:
    """Return for each handler what is unusual about its running."""
    found: dict[str, list[str]] = {}
    for group in facts.get("running", ()):
        said = [f"{field}: {in_words(value)}" for field, value in group.items() if field != "of"]
        for name in group["of"]:
            found.setdefault(name, []).extend(said)
    return found


def in_words(value: Any) -> str:
    """Return a value as a person writes it."""
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value).lower()
