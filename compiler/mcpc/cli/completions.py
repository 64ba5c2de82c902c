"""What a shell offers while a command line is typed: names of a server's definitions, of clients, and of codes.

A built file is read and not run; a project is read without running its code, or its last build is.  Only plain names
are offered, because a shell may insert them as they are; a failure offers nothing.  A shell waits for the answer, so
nothing here imports the compiler's stages.
"""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcpc.cli.built_contents import artifact_contents
from mcpc.cli.project_lists import project_lists

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import click

    Item = Mapping[str, Any]

PLAIN = re.compile(r"[A-Za-z0-9_./:@%+,=-]+")
MOST = 1_000
"""How many names are offered."""


def offered(names: Iterable[str], incomplete: str) -> list[str]:
    """Return the plain names that begin as what is typed."""
    return [name for name in names if name.startswith(incomplete) and PLAIN.fullmatch(name)][:MOST]


def names_of(kind: str, key: str = "name") -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """Return the completion of the names in a list of the target: `tools`, `prompts`, `resources`."""

    def complete(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
        return offered((str(item[key]) for item in definitions(ctx.params.get("target"), kind)), incomplete)

    return complete


KINDS = {"read": ("resources", "uri"), "prompt": ("prompts", "name")}


def names_of_kind(ctx: click.Context, option: click.Parameter, incomplete: str) -> list[str]:
    """Complete the NAME of `mcpc call`: a tool's, or what its options say."""
    return names_of(*KINDS.get(ctx.params.get("kind") or "", ("tools", "name")))(ctx, option, incomplete)


def arguments_of_kind(ctx: click.Context, option: click.Parameter, incomplete: str) -> list[str]:
    """Complete the arguments of `mcpc call`."""
    kind = ctx.params.get("kind")
    return [] if kind == "read" else (prompt_arguments if kind else tool_arguments)(ctx, option, incomplete)


def tool_arguments(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Complete `NAME=VALUE` of a tool: names of its arguments, and values of an enumeration.

    Bash gives `NAME=VALUE` as three words.
    """
    tools = definitions(ctx.params.get("target"), "tools")
    tool: Item = next((item for item in tools if item["name"] == ctx.params.get("name")), {})
    properties = tool.get("inputSchema", {}).get("properties", {})
    given = [str(word) for word in ctx.params.get("arguments") or () if word != "="]
    if given and given[-1] in properties:
        return offered(values_of(properties[given[-1]]), incomplete)
    name, sign, _value = incomplete.partition("=")
    if sign and name in properties:
        return offered((f"{name}={value}" for value in values_of(properties[name])), incomplete)
    used = {word.partition("=")[0] for word in given}
    return offered((f"{name}=" for name in properties if name not in used), incomplete)


def values_of(schema: Any) -> list[str]:
    """Return the values of an enumeration as words."""
    if not isinstance(schema, dict):
        return []
    values = schema.get("enum", [True, False] if schema.get("type") == "boolean" else [])
    return [value if isinstance(value, str) else str(value).lower() for value in values if value is not None]


def prompt_arguments(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Complete names of a prompt's arguments."""
    prompts = definitions(ctx.params.get("target"), "prompts")
    prompt: Item = next((item for item in prompts if item["name"] == ctx.params.get("name")), {})
    return offered((f"{item['name']}=" for item in prompt.get("arguments", ())), incomplete)


def definitions(target: object, kind: str) -> list[Item]:
    """Return the items of a list that a target offers; an empty list if they are not known."""
    path = Path(str(target)) if target else Path()
    with suppress(Exception):  # whatever is wrong with a target, a shell has nothing to offer
        found = artifact_contents(path) if path.is_file() else project_lists(path)
        items = found.get(kind)
        return [*items] if isinstance(items, list) else []
    return []
