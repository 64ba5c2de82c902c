"""`BuiltServer`: one built file and what it says about itself, as a frozen value; every carrier is a function of it.

It is made from a file's bytes, build facts and lists, and has neither a path nor a time: equal files make equal
carriers.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from mcpc.model.ir.project import ProjectMetadata, metadata_from_facts
from mcpc.model.ir.settings import variable_text
from mcpc.reading import compact_json
from mcpc.release.carriers.errors import UnusableFileError
from mcpc.release.carriers.programs import ProgramTarget, program_target

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Item = dict[str, Any]

DECODER = json.JSONDecoder()
NO_METADATA = ProjectMetadata()
OLDEST_PYTHON = (3, 11)
LINKS = {
    "homepage": "homepage",
    **dict.fromkeys(("source", "repository", "sourcecode", "github"), "repository"),
    **dict.fromkeys(("documentation", "docs"), "documentation"),
    **dict.fromkeys(("issues", "bugs", "issue", "tracker", "issuetracker", "bugtracker"), "issues"),
    **dict.fromkeys(("changelog", "changes", "whatsnew", "history", "releasenotes"), "changelog"),
}
"""Well-known labels of addresses, and what they are."""
LINK = re.compile(r"https?://[^\s\"'<>\\^`{}|]+")
EXACT_TAG, STABLE_TAG = re.compile(r"cp3(\d+)-cp3\d+-"), re.compile(r"cp3(\d+)-abi3-")


@dataclass(frozen=True, slots=True)
class DeclaredSetting:
    """A setting of a server, as its build facts have it.  `name`: its environment variable."""

    name: str
    type: str = "string"
    title: str = ""
    description: str = ""
    required: bool = False
    secret: bool = False
    default: str | int | float | bool | None = None
    choices: tuple[str | int | float | bool, ...] = ()

    @property
    def label(self) -> str:
        """A short text for people."""
        return self.title or self.name.replace("_", " ").capitalize()

    @property
    def purpose(self) -> str:
        """A sentence for people, with the choices if there are any."""
        said = self.description or self.label
        if not self.choices:
            return said
        ending = "" if said.endswith((".", "!", "?")) else "."
        return f"{said}{ending} One of: {', '.join(map(variable_text, self.choices))}."


def label_of(name: str) -> str:
    """Return a name in `a-z 0-9 -`, of at most 42 characters: a label of RFC 1123 with room for suffixes."""
    found = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:42].strip("-")
    return found or "mcp-server"


@dataclass(frozen=True, slots=True)
class SkillFolder:
    """A skill: its folder below `skills/`, its frontmatter, and its files with paths relative to `skills/`."""

    folder: str
    frontmatter: Item
    files: tuple[tuple[str, bytes], ...]


@dataclass(frozen=True)
class BuiltServer:
    """A built server.

    `introduction`: the members of its answer to `initialize` that are known.  `tools`, `prompts`: items of its lists.
    `python`: the minor versions of Python that it runs on: the oldest, and one after the newest, or None.  `platforms`:
    tags of bundled native packages.  `serving`: packages of its HTTP server.  `contracts`: kinds of its handlers.
    `target`: of a program that needs no other.  `data`: the file.
    """

    name: str
    version: str
    title: str = ""
    description: str = ""
    website: str = ""
    icons: tuple[Item, ...] = ()
    introduction: Mapping[str, Any] = field(default_factory=dict)
    project: ProjectMetadata = NO_METADATA
    tools: tuple[Item, ...] = ()
    prompts: tuple[Item, ...] = ()
    skills: tuple[SkillFolder, ...] = ()
    settings: tuple[DeclaredSetting, ...] = ()
    python: tuple[tuple[int, int], tuple[int, int] | None] = (OLDEST_PYTHON, None)
    bytecode: str = ""
    platforms: tuple[str, ...] = ()
    serving: frozenset[str] = frozenset()
    contracts: frozenset[str] = frozenset()
    source_digest: str = ""
    target: ProgramTarget | None = None
    data: bytes = b""

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the file."""
        return hashlib.sha256(self.data).hexdigest()

    @property
    def has_http(self) -> bool:
        """Whether it serves over HTTP."""
        return "uvicorn" in self.serving

    @property
    def slug(self) -> str:
        """Its name in `a-z 0-9 -`, for files and other systems; at most 42 characters."""
        return label_of(self.name)

    @property
    def display(self) -> str:
        """Its name for people."""
        return self.title or self.name

    @property
    def summary(self) -> str:
        """What it is, in one text; empty if it is not written."""
        return self.description or self.project.description

    def link(self, kind: str) -> str:
        """Return the address of a kind (`repository`, `homepage` …) that the project names, or an empty text."""
        urls = ((LINKS.get(re.sub(r"[\W_]+", "", label).lower()), url) for label, url in self.project.urls)
        found = next((url for known, url in urls if known == kind and LINK.fullmatch(url)), "")
        return found or (self.website if kind == "homepage" and LINK.fullmatch(self.website) else "")


def built_server(contents: Mapping[str, Any], blob: bytes, data: bytes) -> BuiltServer:
    """Return the value of a built file: of its facts and lists, its blob, and all its bytes."""
    info = contents.get("serverInfo", {})
    return BuiltServer(
        name=contents["name"],
        version=contents["version"],
        title=str(info.get("title", "")),
        description=str(info.get("description", "")),
        website=str(info.get("websiteUrl", "")),
        icons=tuple(icon for icon in info.get("icons", ()) if isinstance(icon, dict)),
        introduction={
            name: contents[name] for name in ("capabilities", "serverInfo", "instructions") if name in contents
        },
        project=metadata_from_facts(contents.get("project", {}), contents.get("registry", {})),
        tools=listed(contents, "tools"),
        prompts=listed(contents, "prompts"),
        skills=tuple(skill_folder(skill, blob) for skill in listed(contents, "skills")),
        settings=tuple(declared_setting(row) for row in contents.get("settings", ())),
        python=python_range(contents.get("platforms", ())),
        bytecode=contents["python"]["bytecode"],
        platforms=tuple(contents.get("platforms", ())),
        serving=frozenset(package.split()[0] for package in contents.get("serving", ())),
        contracts=frozenset(contents.get("handlers", ())),
        source_digest=contents.get("sourceDigest", ""),
        target=program_target(data),
        data=data,
    )


def listed(contents: Mapping[str, Any], name: str) -> tuple[Item, ...]:
    """Return the items of a list; facts have a number where there is no list."""
    found = contents.get(name)
    return tuple(found) if isinstance(found, list) else ()


def declared_setting(row: Mapping[str, Any]) -> DeclaredSetting:
    """Return a setting of the facts; members that this version does not know are ignored."""
    known = {name: row[name] for name in DeclaredSetting.__slots__ if name in row}
    return DeclaredSetting(**{**known, "choices": tuple(row.get("choices", ()))})


def python_range(platforms: tuple[str, ...]) -> tuple[tuple[int, int], tuple[int, int] | None]:
    """Return the minor versions that load the native packages with these tags: the oldest, and one after the newest."""
    exact = {int(found[1]) for tag in platforms if (found := EXACT_TAG.match(tag))}
    stable = max((int(found[1]) for tag in platforms if (found := STABLE_TAG.match(tag))), default=OLDEST_PYTHON[1])
    if exact:
        return (3, max(min(exact), OLDEST_PYTHON[1])), (3, max(exact) + 1)
    return (3, max(stable, OLDEST_PYTHON[1])), None


def skill_folder(skill: Item, blob: bytes) -> SkillFolder:
    """Return a skill with the bytes of its files, each verified by the digest in the list."""
    folder = skill["uri"].removeprefix("skill://").removesuffix("/SKILL.md")
    return SkillFolder(unquote(folder), skill["frontmatter"], tuple(sorted(skill_files(skill, blob))))


def skill_files(skill: Item, blob: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield path and bytes of each file of a skill.  O(bytes of the blob) a file."""
    text = blob.decode("latin-1")  # JSON is read as if each byte were a character: so any bytes may surround it
    for resource in skill["resources"]:
        path = unquote(resource["uri"].removeprefix("skill://"), errors="surrogateescape")
        data = next(
            (data for data in stored_contents(resource["uri"], text) if sha256(data) == resource["digest"]), None
        )
        if data is None or {"", ".", ".."} & {*path.split("/")}:
            raise UnusableFileError(f"the built file is damaged: {resource['uri']} is not what its digest says")
        yield path, data


def stored_contents(uri: str, text: str) -> Iterator[bytes]:
    """Yield what the blob may have as the content of a resource: an answer of `resources/read` that begins with it."""
    beginning = compact_json([{"uri": uri}])[:-2].decode("latin-1") + ',"mimeType":'
    place = text.find(beginning)
    while place >= 0:
        with suppress(ValueError, LookupError, TypeError, AttributeError):
            content = DECODER.raw_decode(text, place)[0][0]
            yield base64.b64decode(content["blob"]) if "blob" in content else content["text"].encode("latin-1")
        place = text.find(beginning, place + 1)


def sha256(data: bytes) -> str:
    """Return the digest of bytes in the form of the protocol and of OCI."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"
