"""`mcpc inspect`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from mcpc.cli import command_options, messages
from mcpc.cli.artifact import artifact_contents, built_artifact
from mcpc.cli.file_list import format_listing, packed_files
from mcpc.diagnostics.formats.visible import visible, visible_json


@command_options.command()
@click.argument("target", type=click.Path(path_type=Path, exists=True), default=Path())
@click.option("--tool", metavar="NAME", help="Show one tool with its schemas.")
@click.option("--files", is_flag=True, help="List packed files: path, size and reason.")
@command_options.build_options
@command_options.JSON_OPTION
def command(target: Path, tool: str | None, files: bool, output: str, **given: Any) -> None:
    """Show what TARGET, a project's folder (this one by default) or a built file, offers.

    A built file is read, not run.
    """
    with built_artifact(target, given) as path:
        facts = artifact_contents(path)
        packed = packed_files(path) if files else []
    if files:
        click.echo(visible_json(packed) if output == "json" else format_listing(packed))
        return
    if tool is not None:
        facts = find_tool(facts, tool)
    click.echo(visible_json(facts) if output == "json" or tool else summary(facts))


def find_tool(facts: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the tool with this name, or exit."""
    for tool in facts.get("tools", []):
        if tool["name"] == name:
            found: dict[str, Any] = tool
            return found
    raise click.UsageError(messages.UNKNOWN_TOOL.format(name=name))


def summary(facts: dict[str, Any]) -> str:
    """Return the overview of a built file as text."""
    lines = [f"{facts['name']} {facts['version']}, revisions {', '.join(facts['revisions'])}"]
    running = handler_options_by_name(facts)
    for kind in ("tools", "prompts"):
        offered = facts.get(kind)
        for item in offered if isinstance(offered, list) else []:
            schema = item.get("inputSchema", {}).get("properties", {})
            names = ", ".join(schema or [argument["name"] for argument in item.get("arguments", [])])
            description = item.get("description", "").partition("\n")[0]
            lines.append(f"  {kind[:-1]:<7}{item['name']}({names})  {description}")
            lines += [f"         {fact}" for fact in running.get(item["name"], ())]
    for kind, (word, key) in RESOURCE_LISTS.items():
        listed = facts.get(kind)
        for item in listed if isinstance(listed, list) else []:
            lines.append(f"  {word} {item[key]}  {(item.get('description') or item['name']).partition(chr(10))[0]}")
            lines += [f"         {fact}" for fact in running.get(item["name"], ())]
    return "\n".join(visible(line) for line in lines)


RESOURCE_LISTS = {"resources": ("resource", "uri"), "resourceTemplates": ("template", "uriTemplate")}
"""Lists of readable items: the name of an item, and the member that identifies it."""


def handler_options_by_name(facts: dict[str, Any]) -> dict[str, list[str]]:
    """Return the options of each handler that differ from the defaults."""
    found: dict[str, list[str]] = {}
    for group in facts.get("running", ()):
        text = [f"{field}: {as_text(value)}" for field, value in group.items() if field != "of"]
        for name in group["of"]:
            found.setdefault(name, []).extend(text)
    return found


def as_text(value: Any) -> str:
    """Return a value as readable text."""
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value).lower()
