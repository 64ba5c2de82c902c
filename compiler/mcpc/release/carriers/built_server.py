"""`BuiltServer`: one built file and what it says about itself, as a frozen value; every carrier is a function of it.

It is made from a file's bytes, build facts and lists, and has neither a path nor a time: equal files make equal
carriers.  What a file needs of its machine is told by its first bytes: a Python, a shell, or only a system and a
processor.

Nothing is compressed: other implementations of zlib give other bytes.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
import tarfile
import zipfile
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from mcpc.interpreters.launchers.windows_file import LENGTH, MAGIC
from mcpc.interpreters.selfcontained.relocatable_file import SYSTEMS
from mcpc.model.ir.project import ProjectMetadata, metadata_from_facts, variable_text
from mcpc.pack.archive import EPOCH, UNIX
from mcpc.reading import compact_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

if TYPE_CHECKING:
    Item = dict[str, Any]


class UnusableValueError(ValueError):
    """A value is missing or invalid in its place; the message names it, what is allowed, and where to write it."""


class UnusableFileError(UnusableValueError):
    """A file is not what it should be: damaged, or for another machine."""


HEADER_BYTES = 1 << 16
"""Where the script of a self-contained file names the systems that run it."""
ELF, PE, SCRIPT = b"\x7fELF", b"MZ", b"#!"
ELF_MACHINES = {62: "amd64", 183: "arm64"}
PE_MACHINES = {0x8664: "amd64", 0xAA64: "arm64"}
TARGETS = {
    "linux_x86_64": ("linux", "amd64"),
    "linux_aarch64": ("linux", "arm64"),
    "macosx_x86_64": ("darwin", "amd64"),
    "macosx_arm64": ("darwin", "arm64"),
}
DIGEST_FIELD, MAX_RECORD = 5, 1 << 24
"""The field of the record of a program for Windows that has the digest of its Python, and the longest record."""
LINUX, WINDOWS, MACOS = "linux", "win32", "darwin"
"""Systems, by the names of Node and of bundles."""


@dataclass(frozen=True, slots=True)
class ProgramTarget:
    """The system and the processor of a program.

    `is_script`: a shell starts it, which unpacks its Python.  `needs_python`: it looks for a Python of the machine.
    Any other program runs on a bare kernel.
    """

    system: str
    machine: str
    is_script: bool = False
    needs_python: bool = False


def program_target(data: bytes) -> ProgramTarget | None:
    """Return the target of a self-contained file or a program for Windows; None for a file that any Python runs."""
    if data.startswith(ELF):
        # The field `e_machine` of the header of ELF.
        machine = ELF_MACHINES.get(int.from_bytes(data[18:20], "little"))
        return ProgramTarget(LINUX, machine) if machine else None
    if data.startswith(PE):
        # This field has the offset of the header of PE, in which the machine follows a signature of four bytes.
        header = int.from_bytes(data[0x3C:0x40], "little")
        machine = PE_MACHINES.get(int.from_bytes(data[header + 4 : header + 6], "little"))
        return ProgramTarget(WINDOWS, machine, needs_python=not has_interpreter(data)) if machine else None
    if data.startswith(SCRIPT):
        beginning = data[:HEADER_BYTES].decode("utf-8", "replace")
        for target, pattern in SYSTEMS.items():
            if f"{pattern})" in beginning:
                return ProgramTarget(*TARGETS[target], is_script=True)
    return None


def has_interpreter(program: bytes) -> bool:
    """Tell whether a program for Windows contains Python: its record has the digest of one."""
    place = program.find(MAGIC)
    while place >= 0:  # the launcher has these bytes, too, by which it finds its record
        start = place + len(MAGIC) + LENGTH.size
        (length,) = LENGTH.unpack_from(program.ljust(start), place + len(MAGIC))
        fields = program[start : start + length].decode("utf-16-le", "replace").split("\0")
        if length <= MAX_RECORD and len(fields) > DIGEST_FIELD + 1 and fields[0].isdigit():
            return bool(fields[DIGEST_FIELD])
        place = program.find(MAGIC, place + 1)
    return False


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
        sentence = self.description or self.label
        if not self.choices:
            return sentence
        ending = "" if sentence.endswith((".", "!", "?")) else "."
        return f"{sentence}{ending} One of: {', '.join(map(variable_text, self.choices))}."


def label_of(name: str) -> str:
    """Return a name in `a-z 0-9 -`, of at most 42 characters: a label of RFC 1123 with room for suffixes."""
    label = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:42].strip("-")
    return label or "mcp-server"


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
        address = next((url for known, url in urls if known == kind and LINK.fullmatch(url)), "")
        return address or (self.website if kind == "homepage" and LINK.fullmatch(self.website) else "")


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
    items = contents.get(name)
    return tuple(items) if isinstance(items, list) else ()


def declared_setting(row: Mapping[str, Any]) -> DeclaredSetting:
    """Return a setting of the facts; members that this version does not know are ignored."""
    known = {name: row[name] for name in DeclaredSetting.__slots__ if name in row}
    return DeclaredSetting(**{**known, "choices": tuple(row.get("choices", ()))})


def python_range(platforms: tuple[str, ...]) -> tuple[tuple[int, int], tuple[int, int] | None]:
    """Return the minor versions that load the native packages with these tags: the oldest, and one after the newest."""
    exact = {int(match[1]) for tag in platforms if (match := EXACT_TAG.match(tag))}
    # What is built for the stable ABI of a version is loaded by every later one (PEP 384).
    stable = max((int(match[1]) for tag in platforms if (match := STABLE_TAG.match(tag))), default=OLDEST_PYTHON[1])
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
    # Without the closing `}]`, behind which the other members follow.
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


WHERE = "in `[project]` of `pyproject.toml`; a file that is built already does not get it, so build it again"
"""The end of a message about missing metadata."""


def required_author(server: BuiltServer) -> str:
    is_there = any(author.name for author in server.project.authors)
    return "" if is_there else 'an author (`authors = [{name = "…"}]`)'


def required_description(server: BuiltServer) -> str:
    return "" if server.summary else 'a description (`description = "…"`)'


PLAIN, EXECUTABLE = 0o644, 0o755


@dataclass(frozen=True, slots=True, order=True)
class CarrierFile:
    """One file: its path with `/`, its mode, and its bytes."""

    path: str
    mode: int
    data: bytes


def text_file(path: str, text: str) -> CarrierFile:
    """Return a file with a text; a lone surrogate is written as an escape."""
    return CarrierFile(path, PLAIN, text.encode("utf-8", "backslashreplace"))


def json_file(path: str, value: Mapping[str, Any]) -> CarrierFile:
    return text_file(path, json_text(value))


def json_text(value: Mapping[str, Any]) -> str:
    """Return indented JSON that ends with a new line."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def archive_bytes(files: Iterable[CarrierFile]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for file in sorted(files):
            info = zipfile.ZipInfo(file.path, EPOCH)
            info.create_system = UNIX
            info.external_attr = (0o100000 | file.mode) << 16
            archive.writestr(info, file.data)
    return buffer.getvalue()


def tar_bytes(files: Iterable[CarrierFile], folders: Iterable[tuple[str, int]] = ()) -> bytes:
    """Return an uncompressed archive (USTAR) of files and folders: sorted, of root, at the beginning of time."""
    entries = [(folder, mode, None) for folder, mode in folders] + [(file.path, file.mode, file.data) for file in files]
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        # By the name alone: the `data` of a folder cannot be compared with those of a file.
        for name, mode, data in sorted(entries, key=lambda entry: entry[0]):
            info = tarfile.TarInfo(name)
            info.type, info.mode = tarfile.DIRTYPE if data is None else tarfile.REGTYPE, mode
            info.size = len(data or b"")
            archive.addfile(info, io.BytesIO(data or b""))
    return buffer.getvalue()
