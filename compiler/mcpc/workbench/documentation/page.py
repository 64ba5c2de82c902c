"""`ServerPage`: what the documentation of a server shows, in the order in which it shows it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcpc.model.ir.project import variable_text
from mcpc.workbench.documentation.examples import examples_of
from mcpc.workbench.documentation.installation import ClientSection, client_sections
from mcpc.workbench.documentation.schema_view import SchemaView, schema_view

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mcpc.workbench.documentation.examples import Cases

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
LINK = re.compile(r"https://[A-Za-z0-9.-]+(?::\d+)?(?:/[^\s\"'<>\\^`{}|]*)?")
ICON = re.compile(r"data:image/(?:png|jpeg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/]+={0,2}")
MAX_ICON = 64 << 10
PLACEHOLDER = re.compile(r"\{[^{}]*\}")


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
    found = facts.get(name)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def text_in(item: object, name: str) -> str:
    """Return a text of an object, an empty one if it has none."""
    found = item.get(name) if isinstance(item, dict) else None
    return found.strip() if isinstance(found, str) else ""


def icon_of(item: object) -> str:
    """Return the first icon that is part of the definition: one at an address is never loaded."""
    found = item.get("icons") if isinstance(item, dict) else None
    sources = (text_in(icon, "src") for icon in found) if isinstance(found, list) else ()
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
    """Yield the annotations of a tool in words."""
    if isinstance(annotations, dict):
        for (name, value), words in HINTS.items():
            if annotations.get(name) is value:
                yield words


def prompt_entry(item: Item) -> Entry:
    """Return the entry of a prompt."""
    rows = [(text_in(argument, "name"), argument_text(argument)) for argument in items(item, "arguments")]
    return Entry(str(item["name"]), text_in(item, "title"), text_in(item, "description"), rows=tuple(rows))


def argument_text(argument: Item) -> str:
    """Return what is said about an argument of a prompt."""
    words = "required" if argument.get("required") is True else "optional"
    return ": ".join(filter(None, (words, text_in(argument, "description"))))


def resource_entry(item: Item) -> Entry:
    """Return the entry of a resource or a template."""
    address = text_in(item, "uri") or text_in(item, "uriTemplate")
    size = item.get("size")
    facts = [text_in(item, "mimeType"), f"{size:,} bytes" if isinstance(size, int) else ""]
    facts.append("template" if "uriTemplate" in item else "")
    named = text_in(item, "title") or text_in(item, "name")
    return Entry(address, named, text_in(item, "description"), tuple(filter(None, facts)))


def skill_entry(item: Item) -> Entry:
    """Return the entry of a skill."""
    frontmatter = item.get("frontmatter", {})
    files = [(text_in(file, "uri"), f"{file.get('size', 0):,} bytes") for file in items(item, "resources")]
    return Entry(text_in(frontmatter, "name"), "", text_in(frontmatter, "description"), rows=tuple(files))


def setting_row(item: Item) -> SettingRow:
    """Return the row of a setting."""
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
        found = facts.get(name)
        if isinstance(found, list) and found:
            yield title, ", ".join(map(str, found))
