"""The server itself: its description, and what its parts are told when it runs.

    server.d/server.meta.json        name, version, title, description, websiteUrl, icons
    server.d/server.instructions.md  instructions
    config/roots.json                {"roots": [{"path": "data", "name": "Data"}]}

Nobody has to describe a server: it is called as its folder, and has the version of `VERSION` or `package.json`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from mcpc.definitions import ServerDefinition
from mcpc.diagnostics import Span
from mcpc.frontends.mcp_bash.icons import with_icons
from mcpc.frontends.mcp_bash.nodes import given, made, named, text, whole
from mcpc.frontends.mcp_bash.resources import own_providers
from mcpc.frontends.mcp_bash.scripts import judge_script
from mcpc.frontends.mcp_bash.tools import compact
from mcpc.sources import judge_encoding

if TYPE_CHECKING:
    from mcpc.frontends.mcp_bash.reading import Fields, Reading
    from mcpc.sources import Json

HOME = "server.d"
META = "server.d/server.meta.json"
INSTRUCTIONS = "server.d/server.instructions.md"
ROOTS = "config/roots.json"
HOOKS = {"policy": "server.d/policy.sh", "env": "server.d/env.sh", "health": "server.d/health-checks.sh"}
"""The scripts of a server, by what the runtime is told of them."""
SHOWN = ("name", "title", "version", "description", "websiteUrl", "icons")
BUNDLES = ("screenshots", "platform_overrides", "_meta", "localization")
"""What is only for the bundles of desktop clients."""
TEXTS = ("name", "version", "title", "description", "websiteUrl")
UNNAMED = "mcp-server"
FIRST = "0.0.0"


def described(reading: Reading) -> tuple[Fields, bool]:
    """Return what is known of the server, all that it needs among it, and whether somebody described it."""
    source = reading.tree.get(META)
    node = reading.object(META) if source is not None else None
    fields = given(node)
    reading.strangers(fields, (*SHOWN, *BUNDLES))
    span = Span(META) if node is None else node.span
    name = text(fields, "name") or reading.tree.name or UNNAMED
    usual = {"name": name, "title": title_of(name), "version": _version(reading)}
    added = {key: named(key, made(value, span)) for key, value in usual.items() if not _says(fields, key)}
    if "icons" in fields:
        fields["icons"] = with_icons(fields["icons"], HOME, reading)
    kept = {**fields, **added}
    return {key: kept[key] for key in SHOWN if key in kept}, source is not None


def _says(fields: Fields, key: str) -> bool:
    return key in fields and fields[key].node.value != ""


def title_of(name: str) -> str:
    """Return a name as a title: `my-cool_server` is `My Cool Server`."""
    return " ".join(word[:1].upper() + word[1:] for word in name.replace("-", " ").replace("_", " ").split())


def _version(reading: Reading) -> str:
    said = reading.tree.get("VERSION")
    if said is not None and "".join(said.text.split()):
        return "".join(said.text.split())
    package = reading.tree.get("package.json")
    try:
        version = json.loads(package.data).get("version") if package is not None else ""
    except (ValueError, AttributeError, RecursionError):
        version = ""  # whose file that is says what is wrong with it
    return version if isinstance(version, str) and version else FIRST


def definition(fields: Fields, reading: Reading, *, implied: bool, offers: tuple[bool, bool]) -> ServerDefinition:
    """Return the server's description; `offers`: whether it has tools, which log, and resources, which change."""
    members = fields.values()
    span = next(iter(members)).node.span
    has_tools, has_resources = offers
    capabilities: dict[str, Json] = {"logging": {}} if has_tools else {}
    capabilities.update({"resources": {"subscribe": True}} if has_resources else {})
    said = [named("serverInfo", whole(members, span)), named("capabilities", made(capabilities, span))]
    instructions = _instructions(reading)
    if instructions:
        said.append(named("instructions", made(instructions, Span(INSTRUCTIONS))))
    return ServerDefinition(whole(said, span), implied=implied)


def _instructions(reading: Reading) -> str:
    source = reading.tree.get(INSTRUCTIONS)
    if source is None:
        return ""
    problems, is_text = judge_encoding(source)
    reading.problems += problems
    return source.text.removeprefix("\ufeff").rstrip("\n") if is_text else ""


def settings(fields: Fields, reading: Reading) -> dict[str, Any]:
    """Return what the runtime is told of the server."""
    known = {key: text(fields, key) for key in TEXTS}
    icons = compact(fields["icons"].node.value) if "icons" in fields else ""
    hooks = {name: reading.tree.get(path) for name, path in HOOKS.items()}
    for source in hooks.values():
        if source is not None:
            judge_script(source, reading)
    return {
        "server": {**known, "icons": icons, "instructions": _instructions(reading)},
        "roots": _roots(reading),
        **{name: source is not None for name, source in hooks.items()},
        "allow": [*reading.options.allow],
        "providers": [*own_providers(reading)],
        "project": reading.tree.name,
        "dialect": reading.options.dialect,
    }


def _roots(reading: Reading) -> list[list[str]]:
    """Return the folders that tools may use unless a client says others: each its path and its name."""
    node = reading.object(ROOTS) if ROOTS in reading.tree.files else None
    listed = node.get("roots") if node is not None else None
    if node is not None and (listed is None or listed.kind != "array"):
        span = node.span if listed is None else listed.span
        reading.tell("MCP155", span, f"`{ROOTS}` lists no roots", '`{"roots": [{"path": "data", "name": "Data"}]}`')
    found = []
    for item in listed.items if listed is not None else ():
        said = given(item)
        if text(said, "path"):
            found.append([text(said, "path"), text(said, "name")])
        else:
            reading.tell("MCP155", item.span, "a root without a `path` is passed over", '`{"path": "data"}`')
    return found
