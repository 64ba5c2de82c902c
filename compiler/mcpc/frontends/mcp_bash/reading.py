"""A project of mcp-bash while it is read: its files, what is written about each of them, and what is wrong so far.

What is written about a file lies beside it, `x.sh.meta.json` or `x.meta.json`, or in one of its first ten lines: `mcp:`
and an object.  A path that somebody wrote is followed inside the project or not at all.
"""

from __future__ import annotations

import difflib
import re
import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcpc.definitions.kinds import mismatch
from mcpc.diagnostics import Span, diagnose
from mcpc.frontends.mcp_bash.nodes import given, made, named
from mcpc.sources import Source, parse_json
from mcpc.sources.paths import led_to

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from mcpc.diagnostics import Diagnostic
    from mcpc.options import Options
    from mcpc.sources import Json, Member, Node, SourceTree

DIALECT = "mcp-bash"
META = ".meta.json"
YAML = (".meta.yaml", ".meta.yml")
HEADER_LINES = 10
HEADER = re.compile(r"mcp:[ \t]*(?=\{)")
NO_HEADER = re.compile(r"[ \t]*(?:#|//|--|;|/?\*|<!--)[-#/*!; \t]*(mcp:)[ \t]*[^\s{]")
"""A comment that mcp-bash takes for a header, and that has no object."""
AFTER = re.compile(r"[ \t]*(?:-->|\*/)?[ \t]*\Z")
"""What may follow a header: the end of a comment that has one."""
GROUP, EVERYBODY = 0o020, 0o002
"""Permission bits by which others than the owner may change a file."""
UNUSABLE = ("\n", "\r")
Fields = dict[str, "Member"]


@dataclass(frozen=True, slots=True)
class Found:
    """Something that a project offers.

    `file`: the one that is run or read, if it is one; `fields`: what is written of it; `span`: where it stands; `home`:
    the folder at which paths in `fields` begin; `entry`: the whole of it, if a register says it word for word.
    """

    file: Source | None
    fields: Fields
    span: Span
    home: str
    entry: Node | None = None

    @property
    def path(self) -> str:
        """The path of its file, or nothing."""
        return "" if self.file is None else self.file.path


@dataclass(slots=True)
class Reading:
    """The project, and what has been found out about it so far.

    `server`: what the server is called; `read`: the files that definitions stand in, by their paths; `used`: the paths
    of descriptions of which something is described; `entries`: what mcp-bash's registry would have of prompts, by their
    names, and of resources, by their uris; `shared`: programs that their group may change.
    """

    tree: SourceTree
    options: Options
    server: str = ""
    read: dict[str, Source] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    entries: dict[str, str] = field(default_factory=dict)
    named: dict[str, list[Source]] = field(default_factory=dict)
    shared: list[Source] = field(default_factory=list)
    problems: list[Diagnostic] = field(default_factory=list)

    @property
    def by_name(self) -> Mapping[str, list[Source]]:
        """The files of the project by their names without folders; made once."""
        if not self.named:
            for source in self.tree.files.values():
                self.named.setdefault(base(source.path), []).append(source)
        return self.named

    def tell(self, code: str, span: Span | None, message: str, expected: str = "", hint: str = "") -> None:
        """Report a problem."""
        self.problems.append(diagnose(code, span, message, expected, hint))

    def object(self, path: str) -> Node | None:
        """Return the object that a JSON file is, None if it is none."""
        source = self.read.setdefault(path, self.tree.files[path])
        node, problems = parse_json(source)
        self.problems += problems
        if node is not None and node.kind != "object":
            self.tell("MCP101", node.span, mismatch(f"`{path}`", "object", node))
        return node if node is not None and node.kind == "object" else None

    def files(self, folder: str) -> Iterator[Source]:
        """Yield the files below a folder that may be something: none that only describes others, and no symlink."""
        for path, source in self.tree.files.items():
            if source.linked:
                continue
            if path.startswith(f"{folder}/") and not base(path).startswith(".") and not path.endswith((META, *YAML)):
                if any(character in path for character in UNUSABLE):
                    self.tell("MCP147", Span(path), "a line ends inside the name of this file", "", "rename it")
                else:
                    yield source

    def written(self, source: Source, known: Collection[str]) -> Fields:
        """Return what the file beside `source` says of it."""
        path = next((path for path in beside(source.path) if path in self.tree.files), "")
        self.used.add(path)
        fields = given(self.object(path)) if path else {}
        self.strangers(fields, known)
        return fields

    def strangers(self, fields: Fields, known: Collection[str]) -> None:
        """Report fields that nobody reads."""
        for key, member in fields.items():
            if key not in known and not key.startswith("$"):
                near = difflib.get_close_matches(key, known, n=1)
                hint = f"did you mean `{near[0]}`?" if near else ""
                self.tell("MCP142", member.key_span, f"nobody reads a field `{key}` here", "", hint)

    def header(self, source: Source) -> Fields:
        """Return what one of the first lines of `source` says of it."""
        start, odd = 0, None
        for line in source.text.split("\n")[:HEADER_LINES]:
            match = HEADER.search(line)
            if match:
                node = self._header(source, start + match.end(), line[match.end() :])
                return given(node)
            comment = NO_HEADER.match(line)
            if comment and odd is None:
                odd = Span(source.path, start + comment.start(1), start + comment.end(1))
            start += len(line) + 1
        if odd is not None:
            self.tell("MCP155", odd, "a header that is no object is passed over", '`mcp: {"name": "…"}` in one line')
        return {}

    def _header(self, source: Source, start: int, text: str) -> Node | None:
        """Read the object in a line as if nothing but it stood in the file, so that it has its own place."""
        above = re.sub(r"[^\r\n]", " ", source.text[:start])
        text = re.sub(AFTER, "", text.rstrip("\r"))
        node, problems = parse_json(Source(source.path, (above + text).encode("utf-8", "surrogateescape")))
        self.read.setdefault(source.path, source)
        for problem in problems:
            hint = "the rest of the line after `mcp:` is one JSON object"
            self.tell("MCP141", problem.span, problem.message, problem.expected, problem.hint or hint)
        return node if node is not None and node.kind == "object" else None

    def refuse_writable(self, source: Source, bits: int = GROUP | EVERYBODY) -> bool:
        """Report a file that others may change, as what is run must not be; tell whether it is one."""
        if source.mode & bits:
            message = f"`{source.path}` can be changed by others (mode {source.mode & 0o777:o}), and it is run"
            self.tell("MCP704", Span(source.path), message, "", f"`chmod go-w {shlex.quote(source.path)}`")
        return bool(source.mode & bits)

    def tell_of_shared(self) -> None:
        """Say that its group may change what is run, as in every checkout under a umask of 002: once for all of it."""
        if self.shared:
            first, *others = self.shared
            more = f" and {len(others)} other program{'s' * (len(others) > 1)}" if others else ""
            message = f"`{first.path}`{more} can be changed by the group (mode {first.mode & 0o777:o})"
            hint = "the built file has modes of its own; in the project, `chmod -R go-w .`, as mcp-bash wants it"
            self.tell("MCP711", Span(first.path), message, "", hint)

    def shown_besides(self, entry: Mapping[str, Json], keys: Collection[str], span: Span) -> Iterator[Member]:
        """Yield what mcp-bash's own lists show of an entry and the protocol does not know: under its dialect alone."""
        if self.options.dialect == DIALECT:
            yield from (named(key, made(entry[key], span)) for key in keys if key in entry)

    def whole_seconds(self, fields: Mapping[str, Member], key: str) -> int | None:
        """Return a number of seconds as mcp-bash understands it: digits, also in a string."""
        member = fields.get(key)
        if member is None:
            return None
        value = member.node.value
        number = int(value) if isinstance(value, float) and value.is_integer() else value
        seconds = 0 if isinstance(number, bool) or not re.fullmatch("[0-9]{1,9}", str(number)) else int(str(number))
        if not seconds:
            message = f"`{key}` is no time limit, and is passed over"
            self.tell("MCP155", member.node.span, message, "whole seconds, more than 0")
        return seconds or None


def base(path: str) -> str:
    """Return the name of a file without its folder."""
    return path.rpartition("/")[2]


def folder_of(path: str) -> str:
    """Return the folder of a file, nothing for one at the top."""
    return path.rpartition("/")[0]


def stem(path: str) -> str:
    """Return a path without its last suffix."""
    head, dot, _ = base(path).rpartition(".")
    return path if not dot or not head else path[: len(path) - len(base(path)) + len(head)]


def beside(path: str) -> tuple[str, ...]:
    """Return where a file may be described, the first place first."""
    return tuple(dict.fromkeys((path + META, stem(path) + META)))


def inside(home: str, written: str) -> str | None:
    """Return a path of the project, None if what is written leads out of it; `home` is where it begins."""
    return None if written.startswith(("/", "~")) or "\0" in written else led_to(home, written)
