"""`ServerPage`: what the documentation of a server shows, in the order in which it shows it.

An example of arguments that is made has every required member, or there is none.  Paths of clients' files are those of
every system, and none of this machine; the built file is `/path/to/NAME.pyz`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcpc.model.ir.project import variable_text
from mcpc.workbench.documentation.schema_view import SchemaView, schema_view
from mcpc_runtime.tools.clients.entries import CannotWriteEntryError, ServerEntry, client_entry
from mcpc_runtime.tools.clients.installing import Target, rendered
from mcpc_runtime.tools.clients.request import variable_of
from mcpc_runtime.tools.clients.table import CLIENTS, USER, with_root

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mcpc_runtime.tools.clients.table import Client

    Item = Mapping[str, Any]

HINTS = {
    ("readOnlyHint", True): "reads only",
    ("destructiveHint", True): "may destroy data",
    ("destructiveHint", False): "destroys nothing",
    ("idempotentHint", True): "may be repeated",
    ("openWorldHint", True): "reaches other systems",
    ("openWorldHint", False): "reaches no other system",
}
"""Annotations of tools in words."""
# Without white space, quotes and angle brackets, which could end the attribute that has it.
LINK = re.compile(r"https://[A-Za-z0-9.-]+(?::\d+)?(?:/[^\s\"'<>\\^`{}|]*)?")
ICON = re.compile(r"data:image/(?:png|jpeg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/]+={0,2}")
MAX_ICON = 64 << 10
PLACEHOLDER = re.compile(r"\{[^{}]*\}")
MAX_EXAMPLES = 3
"""How many examples of one tool are shown."""
MISSING = object()
CONDITIONS = frozenset(
    {"$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "if", "dependentRequired", "dependentSchemas"}
    | {"dependencies", "minProperties", "maxProperties", "propertyNames", "patternProperties", "enum", "const"}
)
"""Keywords by which an object of valid members may be invalid."""

Cases = dict[str, list[tuple[str, Any]]]
"""Names and arguments of test cases, by tool."""
MAIN = ("claude-desktop", "claude-code", "vscode", "cursor", "codex", "gemini-cli", "windsurf", "zed")
"""Clients that are shown first."""
SYSTEMS = {"linux": "Linux", "darwin": "macOS", "win32": "Windows"}
PLACE = "/path/to"


@dataclass(frozen=True, slots=True)
class ToolSection:
    """A tool.  `hints`: annotations in words; `examples`: titles and JSON of arguments."""

    anchor: str
    name: str
    title: str
    description: str
    icon: str
    hints: tuple[str, ...]
    input: SchemaView
    output: SchemaView | None
    examples: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """A prompt, a resource, a template or a skill: `rows` are its arguments or its files."""

    name: str
    title: str
    description: str
    facts: tuple[str, ...] = ()
    rows: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class SettingRow:
    """A setting: `facts` are its type, choices and default in words."""

    name: str
    title: str
    description: str
    facts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ServerPage:
    """The documentation of a server.  `facts`: names and texts about the file; `links`: labels and https addresses."""

    name: str
    title: str
    version: str
    description: str
    instructions: str
    icon: str
    links: tuple[tuple[str, str], ...]
    tools: tuple[ToolSection, ...]
    prompts: tuple[Entry, ...]
    resources: tuple[Entry, ...]
    skills: tuple[Entry, ...]
    settings: tuple[SettingRow, ...]
    file: str
    clients: tuple[ClientSection, ...]
    facts: tuple[tuple[str, str], ...]


def page_of(facts: Mapping[str, Any], cases: Cases, about: Sequence[tuple[str, str]] = ()) -> ServerPage:
    """Return the page of a server.

    `facts`: those of a built file, or a snapshot.  `cases`: arguments of tests, by tool.  `about`: more about the file.
    """
    information = facts.get("serverInfo", {})
    settings = items(facts, "settings")
    file = re.sub(r"[^A-Za-z0-9_-]+", "-", str(facts["name"])).strip("-")[:42] or "server"
    project = facts.get("project", {})
    return ServerPage(
        name=str(facts["name"]),
        title=text_in(information, "title") or str(facts["name"]),
        version=str(facts.get("version", "")),
        description=text_in(information, "description") or text_in(project, "description"),
        instructions=text_in(facts, "instructions"),
        icon=icon_of(information),
        links=tuple(links_of(information, project)),
        tools=tuple(tools_of(items(facts, "tools"), cases)),
        prompts=tuple(prompt_entry(item) for item in items(facts, "prompts")),
        resources=tuple(
            resource_entry(item) for name in ("resources", "resourceTemplates") for item in items(facts, name)
        ),
        skills=tuple(skill_entry(item) for item in items(facts, "skills")),
        settings=tuple(setting_row(item) for item in settings),
        file=file,
        clients=tuple(client_sections(file, settings)),
        facts=(*about_of(facts), *about),
    )


def items(facts: Mapping[str, Any], name: str) -> list[Item]:
    """Return the items of a list; a built file has a number where there is no list."""
    listed = facts.get(name)
    return [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []


def text_in(item: object, name: str) -> str:
    """Return a text of an object, an empty one if it has none."""
    value = item.get(name) if isinstance(item, dict) else None
    return value.strip() if isinstance(value, str) else ""


def icon_of(item: object) -> str:
    """Return the first icon that is part of the definition: one at an address is never loaded."""
    icons = item.get("icons") if isinstance(item, dict) else None
    sources = (text_in(icon, "src") for icon in icons) if isinstance(icons, list) else ()
    return next((source for source in sources if len(source) <= MAX_ICON and ICON.fullmatch(source)), "")


def links_of(information: object, project: object) -> Iterator[tuple[str, str]]:
    """Yield the labels and addresses of https links."""
    rows = project.get("urls", {}) if isinstance(project, dict) else {}
    pairs = rows.items() if isinstance(rows, dict) else rows
    for label, url in (("Website", text_in(information, "websiteUrl")), *pairs):
        if isinstance(url, str) and LINK.fullmatch(url):
            yield str(label), url


def tools_of(tools: Sequence[Item], cases: Cases) -> Iterator[ToolSection]:
    """Yield the tools, each with an anchor that no other has."""
    used: dict[str, int] = {}
    for item in tools:
        name = str(item["name"])
        slug = re.sub(r"[^A-Za-z0-9_.-]+", "-", name)
        used[slug.lower()] = count = used.get(slug.lower(), 0) + 1
        output = item.get("outputSchema")
        yield ToolSection(
            anchor=f"tool-{slug}" if count == 1 else f"tool-{slug}--{count}",
            name=name,
            title=text_in(item, "title") or text_in(item.get("annotations"), "title"),
            description=text_in(item, "description"),
            icon=icon_of(item),
            hints=tuple(hints_of(item.get("annotations"))),
            input=schema_view(item.get("inputSchema")),
            output=None if output is None else schema_view(output),
            examples=tuple(examples_of(item.get("inputSchema"), cases.get(name, []))),
        )


def hints_of(annotations: object) -> Iterator[str]:
    if isinstance(annotations, dict):
        for (name, value), words in HINTS.items():
            # Not `==`: 1 equals True, but is no hint.
            if annotations.get(name) is value:
                yield words


def prompt_entry(item: Item) -> Entry:
    rows = [(text_in(argument, "name"), argument_text(argument)) for argument in items(item, "arguments")]
    return Entry(str(item["name"]), text_in(item, "title"), text_in(item, "description"), rows=tuple(rows))


def argument_text(argument: Item) -> str:
    """Return what is said about an argument of a prompt."""
    words = "required" if argument.get("required") is True else "optional"
    return ": ".join(filter(None, (words, text_in(argument, "description"))))


def resource_entry(item: Item) -> Entry:
    address = text_in(item, "uri") or text_in(item, "uriTemplate")
    size = item.get("size")
    facts = [text_in(item, "mimeType"), f"{size:,} bytes" if isinstance(size, int) else ""]
    facts.append("template" if "uriTemplate" in item else "")
    named = text_in(item, "title") or text_in(item, "name")
    return Entry(address, named, text_in(item, "description"), tuple(filter(None, facts)))


def skill_entry(item: Item) -> Entry:
    frontmatter = item.get("frontmatter", {})
    files = [(text_in(file, "uri"), f"{file.get('size', 0):,} bytes") for file in items(item, "resources")]
    return Entry(text_in(frontmatter, "name"), "", text_in(frontmatter, "description"), rows=tuple(files))


def setting_row(item: Item) -> SettingRow:
    choices = item.get("choices")
    facts = [
        "required" if item.get("required") else "optional",
        text_in(item, "type"),
        "secret" if item.get("secret") else "",
        f"one of {', '.join(map(variable_text, choices))}" if isinstance(choices, list) else "",
        f"default {variable_text(item['default'])}" if "default" in item else "",
    ]
    return SettingRow(
        str(item["name"]), text_in(item, "title"), text_in(item, "description"), tuple(filter(None, facts))
    )


def about_of(facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield names and texts about a built file: what it runs on, and what it speaks."""
    python = facts.get("python")
    if isinstance(python, dict) and isinstance(python.get("requires"), str):
        yield "Python", python["requires"]
    rows = {"Protocol revisions": "revisions", "Platforms": "platforms", "Packages of the HTTP server": "serving"}
    for title, name in rows.items():
        value = facts.get(name)
        if isinstance(value, list) and value:
            yield title, ", ".join(map(str, value))


def examples_of(schema: object, cases: list[tuple[str, Any]]) -> list[tuple[str, str]]:
    """Return titles and JSON of examples; one without arguments, or that is shown already, is left out."""
    by_text: dict[str, str] = {}
    for title, value in [*cases, *schema_examples(schema)]:
        if value == {}:
            continue
        # The first title stays: an example that is also a test case keeps the name of the case.
        by_text.setdefault(json.dumps(value, ensure_ascii=False, indent=2), title)
    return [(title, text) for text, title in by_text.items()][:MAX_EXAMPLES]


def schema_examples(schema: object) -> Iterator[tuple[str, Any]]:
    if not isinstance(schema, dict):
        return
    own = schema.get("examples")
    if isinstance(own, list) and own:
        yield from (("", value) for value in own)
        return
    made = made_example(schema)
    if made:
        yield "", made


def made_example(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object of the members' examples; empty if a required member has none."""
    if not CONDITIONS.isdisjoint(schema):
        return {}
    properties, required = schema.get("properties"), schema.get("required")
    known = properties if isinstance(properties, dict) else {}
    values = {name: example_value(inner) for name, inner in known.items()}
    if any(values.get(name, MISSING) is MISSING for name in (required if isinstance(required, list) else ())):
        return {}
    return {name: value for name, value in values.items() if value is not MISSING}


def example_value(schema: object) -> Any:
    if not isinstance(schema, dict):
        return MISSING
    for key in ("examples", "enum"):
        if isinstance(schema.get(key), list) and schema[key]:
            return schema[key][0]
    return schema.get("const", schema.get("default", MISSING))


@dataclass(frozen=True, slots=True)
class ClientSection:
    """A client: its name for commands, the places of its file by system, an entry, and what to do afterwards."""

    label: str
    title: str
    places: tuple[str, ...]
    entry: str
    note: str
    is_main: bool


def client_sections(name: str, settings: Sequence[Mapping[str, Any]]) -> Iterator[ClientSection]:
    """Yield the clients, main ones first.  `name`: of the entry and the file; `settings`: the declared ones."""
    required = [row for row in settings if row.get("required") and "default" not in row]
    variables = tuple(variable_of(str(row["name"]), f"<{row['name']}>", row) for row in required)
    server = ServerEntry(name, "python3", ("-I", f"{PLACE}/{name}.pyz"), variables)
    for label in (*MAIN, *(label for label in CLIENTS if label not in MAIN)):
        client = CLIENTS[label]
        if client.refusal or not client.user:
            continue
        try:
            entry = client_entry(client, server, USER)
        except CannotWriteEntryError:
            continue
        text = rendered(Target(client, label, USER, ""), name, entry)
        yield ClientSection(label, client.title, tuple(places_of(client)), text, client.note, label in MAIN)


def places_of(client: Client) -> Iterator[str]:
    """Yield the places of a client's file; one for all systems, or one for each."""
    path = next((path for path in reversed(client.user) if not path.startswith("$")), client.user[-1])
    places = {title: with_root(path, system, {}) for system, title in SYSTEMS.items()}
    if len({*places.values()}) == 1:
        yield path
        return
    for title, place in places.items():
        if place:
            yield f"{title}: {place}"
