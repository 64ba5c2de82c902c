"""State of reading a project of mcp-bash: its files, their metadata, and the problems found so far.

A file is described beside it, in `x.sh.meta.json` or `x.meta.json`, or in one of its first ten lines: `mcp:` and an
object.  A written path is followed inside the project only.  An icon that is a file of the project becomes a `data:`
URI.
"""

from __future__ import annotations

import base64
import re
import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span, diagnose
from mcpc.diagnostics.model import did_you_mean
from mcpc.model.definitions import kind_mismatch
from mcpc.reading import Member, Source, judge_encoding, parse_json
from mcpc.reading.json_tree import array_node, fields_of, implied_member, object_node
from mcpc.reading.source import resolve_relative
from mcpc_runtime.protocol.media import media_type

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from mcpc.diagnostics import Diagnostic
    from mcpc.options import Options
    from mcpc.reading import Json, Node, SourceTree

DIALECT = "mcp-bash"
META = ".meta.json"
YAML = (".meta.yaml", ".meta.yml")
HEADER_LINES = 10
HEADER = re.compile(r"mcp:[ \t]*(?=\{)")
INVALID_HEADER = re.compile(r"[ \t]*(?:#|//|--|;|/?\*|<!--)[-#/*!; \t]*(mcp:)[ \t]*[^\s{]")
"""A comment that mcp-bash takes for a header, but that has no object."""
HEADER_END = re.compile(r"[ \t]*(?:-->|\*/)?[ \t]*\Z")
"""Text that may follow a header: the end of its comment."""
GROUP_WRITABLE, WORLD_WRITABLE = 0o020, 0o002
"""Permission bits by which the group, or all other users, may change a file."""
LINE_BREAKS = ("\n", "\r")
Fields = dict[str, "Member"]


@dataclass(frozen=True, slots=True)
class ProjectItem:
    """An item that a project offers.

    `file`: the file that is run or read, if any; `fields`: its description; `span`: its place; `home`: the base folder
    of paths in `fields`; `entry`: its complete entry in a `register.json`.
    """

    file: Source | None
    fields: Fields
    span: Span
    home: str
    entry: Node | None = None

    @property
    def path(self) -> str:
        """Path of its file, or an empty string."""
        return "" if self.file is None else self.file.path


@dataclass(slots=True)
class ProjectReader:
    """The project, and the results of reading it so far.

    `server`: the server's name; `read`: files with definitions, by path; `used`: paths of descriptions that describe
    something; `entries`: entries of mcp-bash's registry, of prompts by name, and of resources by URI; `shared`:
    programs that their group may change.
    """

    tree: SourceTree
    options: Options
    server: str = ""
    read: dict[str, Source] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    entries: dict[str, str] = field(default_factory=dict)
    files_by_name: dict[str, list[Source]] = field(default_factory=dict)
    shared: list[Source] = field(default_factory=list)
    problems: list[Diagnostic] = field(default_factory=list)

    @property
    def by_name(self) -> Mapping[str, list[Source]]:
        """The files of the project by their names without folders; computed once."""
        if not self.files_by_name:
            for source in self.tree.files.values():
                self.files_by_name.setdefault(base_name(source.path), []).append(source)
        return self.files_by_name

    def report(self, code: str, span: Span | None, message: str, expected: str = "", hint: str = "") -> None:
        """Record a problem."""
        self.problems.append(diagnose(code, span, message, expected, hint))

    def read_object(self, path: str) -> Node | None:
        """Return the object in a JSON file, None if it has another value."""
        source = self.read.setdefault(path, self.tree.files[path])
        node, problems = parse_json(source)
        self.problems += problems
        if node is not None and node.kind != "object":
            self.report("MCP101", node.span, kind_mismatch(f"`{path}`", "object", node))
        return node if node is not None and node.kind == "object" else None

    def read_text(self, source: Source) -> str | None:
        """Return the text of a file without a byte order mark; None if it is not UTF-8, which is reported."""
        problems, is_text = judge_encoding(source)
        self.problems += problems
        return source.text.removeprefix("\ufeff") if is_text else None

    def item_files(self, folder: str) -> Iterator[Source]:
        """Yield files below a folder that may be items: no descriptions, and no symlinks."""
        for path, source in self.tree.files.items():
            if source.linked:
                continue
            if (
                path.startswith(f"{folder}/")
                and not base_name(path).startswith(".")
                and not path.endswith((META, *YAML))
            ):
                if any(character in path for character in LINE_BREAKS):
                    self.report("MCP147", Span(path), "the name of this file contains a line break", "", "rename it")
                else:
                    yield source

    def described_fields(self, source: Source, known: Collection[str]) -> Fields:
        """Return the description in the file beside `source`."""
        path = next((path for path in description_paths(source.path) if path in self.tree.files), "")
        self.used.add(path)
        fields = fields_of(self.read_object(path)) if path else {}
        self.report_unknown_fields(fields, known)
        return fields

    def report_unknown_fields(self, fields: Fields, known: Collection[str]) -> None:
        """Report fields that are not used."""
        for key, member in fields.items():
            if key not in known and not key.startswith("$"):
                message = f"field `{key}` is not used here"
                self.report("MCP142", member.key_span, message, "", did_you_mean(key, known))

    def header_fields(self, source: Source, known: Collection[str]) -> Fields:
        """Return the description in one of the first lines of `source`; it has the known fields only."""
        fields = self._header_fields(source)
        self.report_unknown_fields(fields, known)
        return {key: member for key, member in fields.items() if key in known}

    def _header_fields(self, source: Source) -> Fields:
        start, odd = 0, None
        for line in source.text.split("\n")[:HEADER_LINES]:
            match = HEADER.search(line)
            if match:
                node = self._header(source, start + match.end(), line[match.end() :])
                return fields_of(node)
            comment = INVALID_HEADER.match(line)
            if comment and odd is None:
                odd = Span(source.path, start + comment.start(1), start + comment.end(1))
            start += len(line) + 1
        if odd is not None:
            self.report("MCP155", odd, "a header that is not an object is ignored", '`mcp: {"name": "…"}` in one line')
        return {}

    def _header(self, source: Source, start: int, text: str) -> Node | None:
        """Parse the object in a line as if the file contained nothing else, so that its spans are correct."""
        above = re.sub(r"[^\r\n]", " ", source.text[:start])
        text = re.sub(HEADER_END, "", text.rstrip("\r"))
        node, problems = parse_json(Source(source.path, (above + text).encode("utf-8", "surrogateescape")))
        self.read.setdefault(source.path, source)
        for problem in problems:
            hint = "the rest of the line after `mcp:` is one JSON object"
            self.report("MCP141", problem.span, problem.message, problem.expected, problem.hint or hint)
        return node if node is not None and node.kind == "object" else None

    def report_writable(self, source: Source, bits: int = GROUP_WRITABLE | WORLD_WRITABLE) -> bool:
        """Report a program that others may change; tell whether there was a problem."""
        if source.mode & bits:
            message = (
                f"`{source.path}` can be changed by other users (mode {source.mode & 0o777:o}), and the server runs it"
            )
            self.report("MCP704", Span(source.path), message, "", f"`chmod go-w {shlex.quote(source.path)}`")
        return bool(source.mode & bits)

    def report_shared_programs(self) -> None:
        """Report once that the group may change programs, as in checkouts with a umask of 002."""
        if self.shared:
            first, *others = self.shared
            more = f" and {len(others)} other program{'s' * (len(others) > 1)}" if others else ""
            message = f"`{first.path}`{more} can be changed by the group (mode {first.mode & 0o777:o})"
            hint = (
                "the built file does not keep these modes; in the project, run `chmod -R go-w .`, as mcp-bash requires"
            )
            self.report("MCP711", Span(first.path), message, "", hint)

    def dialect_members(self, entry: Mapping[str, Json], keys: Collection[str], span: Span) -> Iterator[Member]:
        """Yield members that only mcp-bash's lists have, if its dialect is selected."""
        if self.options.dialect == DIALECT:
            yield from (implied_member(key, entry[key], span) for key in keys if key in entry)

    def whole_seconds(self, fields: Mapping[str, Member], key: str) -> int | None:
        """Return a number of seconds in mcp-bash's form: digits, also in a string."""
        member = fields.get(key)
        if member is None:
            return None
        value = member.node.value
        # `5.0` is a whole number in JSON; a boolean is an int in Python, and no number here.
        number = int(value) if isinstance(value, float) and value.is_integer() else value
        seconds = 0 if isinstance(number, bool) or not re.fullmatch("[0-9]{1,9}", str(number)) else int(str(number))
        if not seconds:
            message = f"`{key}` is not a valid timeout and is ignored"
            self.report("MCP155", member.node.span, message, "whole seconds, more than 0")
        return seconds or None


def base_name(path: str) -> str:
    """Return the name of a file without its folder."""
    return path.rpartition("/")[2]


def folder_of(path: str) -> str:
    """Return the folder of a file, an empty string at the top."""
    return path.rpartition("/")[0]


def without_suffix(path: str) -> str:
    """Return a path without its last suffix."""
    head, dot, _ = base_name(path).rpartition(".")
    # A name that begins with its only dot, such as `.env`, has no suffix.
    return path if not dot or not head else path[: len(path) - len(base_name(path)) + len(head)]


def name_of_file(source: Source) -> Member:
    """Return the default name of a file's item: that of the file."""
    return implied_member("name", without_suffix(base_name(source.path)), Span(source.path))


def description_paths(path: str) -> tuple[str, ...]:
    """Return the possible paths of a file's description, the first choice first."""
    return tuple(dict.fromkeys((path + META, without_suffix(path) + META)))


def path_inside(home: str, written: str) -> str | None:
    """Return a path of the project, None if `written` leads out of it; it is relative to `home`."""
    return None if written.startswith(("/", "~")) or "\0" in written else resolve_relative(home, written)


EXTERNAL_SCHEMES = ("data:", "http:", "https:")


def with_icons(member: Member, home: str, reader: ProjectReader) -> Member:
    """Return a member `icons` with files of the project as data URIs; their paths are relative to `home`."""
    node = member.node
    if node.kind != "array":
        return member
    items = [_with_data_uri(item, home, reader) if item.kind == "object" else item for item in node.items]
    return Member(member.key, member.key_start, member.key_end, array_node(items, node.span))


def _with_data_uri(icon: Node, home: str, reader: ProjectReader) -> Node:
    source = icon.get("src")
    if source is None or not isinstance(source.value, str) or source.value.startswith(EXTERNAL_SCHEMES):
        return icon
    path = path_inside(home, source.value)
    file = None if path is None else reader.tree.get(path)
    if path is None:
        reader.report(
            "MCP703", source.span, f"the icon `{source.value}` is outside the project", "a file in the same folder"
        )
    elif file is None:
        reader.report(
            "MCP145", source.span, f"file `{path}` does not exist", "an image of the project, or an https: URI"
        )
    if file is None:
        return icon
    mime = media_type(file.path, file.data)
    uri = f"data:{mime};base64,{base64.b64encode(file.data).decode()}"
    fields = {"mimeType": implied_member("mimeType", mime, source.span), **fields_of(icon)}
    # Of several members with one key the last one counts: this replaces the written `src`.
    return object_node([*fields.values(), implied_member("src", uri, source.span)], icon.span)
