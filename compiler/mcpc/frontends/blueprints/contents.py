"""The contents of tools, resources and prompts of a knowledge base; every file is read at build time.

    servers.json                     the project is the knowledge base
    dev/knowledge_base/servers.json  it is a folder of the project, and may name files beside that folder

A path is relative to the knowledge base, whichever file contains it.  It is resolved as text: the source tree was read
before, with its symlinks, and the disk is not accessed.  All errors of an object are reported, not only the first.

{"type": "file", "path": "guide.md"}    {"type": "text", "text": …}                 in a tool
                                        {"uri": its own, "mimeType": …, "text": …}  in a resource, or a blob
"""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span, diagnose
from mcpc.diagnostics.model import did_you_mean, nearest, quoted
from mcpc.model.definitions import kind_mismatch
from mcpc.model.revisions import REVISIONS
from mcpc.reading import Member
from mcpc.reading.source import resolve_relative
from mcpc_runtime.protocol.media import is_text, is_textual, media_type

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.options import Options
    from mcpc.reading import Json, Node, Source, SourceTree

SERVERS = "servers.json"
# The beginning of a JSON array, perhaps after a byte order mark.
LISTED = re.compile(rb"(?:\xef\xbb\xbf)?\s*\[")
FEATURES_KEY = b'"features"'
HINT = "build the folder that contains both: a knowledge base below it is found"
MAX_COMPARED_PATHS = 5000
"""Maximum number of paths that are compared for a suggestion."""


@dataclass(frozen=True, slots=True)
class KnowledgeBase:
    """A knowledge base: its folder; empty if it is the project itself."""

    folder: str
    tree: SourceTree

    @property
    def servers(self) -> Source:
        """The file that lists its servers."""
        return self.tree.files[self.path(SERVERS)]

    def path(self, name: str) -> str:
        """Return the path in the project of a file of the knowledge base."""
        return f"{self.folder}/{name}" if self.folder else name

    def resolve(self, written: str) -> str | None:
        """Return the path in the project to which a written path leads, None if it is outside."""
        return resolve_relative(self.folder, written)

    def find_file(self, written: Node, what: str) -> tuple[Source | None, Diagnostics]:
        """Return the file that a path names, or its problems; `what` names the user of the file in messages."""
        place = self.resolve(str(written.value))
        source = None if place is None else self.tree.get(place)
        return source, () if source is not None else tuple(self._missing_file(written, place, what))

    def files_below(self, place: str) -> tuple[Source, ...]:
        """Return the files of a folder."""
        return tuple(source for path, source in self.tree.files.items() if path.startswith(f"{place}/"))

    def _missing_file(self, written: Node, place: str | None, what: str) -> Iterator[Diagnostic]:
        shown = f"`{written.value}`, {what},"
        if place is None:
            yield diagnose("MCP710", written.span, f"{shown} is outside the project", "a path inside it", HINT)
            return
        state = "is a folder" if self.files_below(place) else "does not exist"
        kb = f"the knowledge base `{self.folder}`" if self.folder else "the knowledge base"
        expected = f"a file, by its path from {kb}"
        yield diagnose("MCP271", written.span, f"{shown} {state}", expected, self._nearest(place))

    def _nearest(self, place: str) -> str:
        paths = list(self.tree.files)
        start = f"{self.folder}/" if self.folder else ""
        near = nearest(place, paths, 0.75) if len(paths) <= MAX_COMPARED_PATHS else ""
        return f"did you mean `{near.removeprefix(start)}`?" if near else ""


def knowledge_base_folders(tree: SourceTree) -> tuple[str, ...]:
    """Return the folders of a project that are knowledge bases: the project itself, or else those in it."""
    if SERVERS in tree.files:
        return ("",) if FEATURES_KEY in tree.files[SERVERS].data else ()
    files = (path for path in tree.files if path.endswith(f"/{SERVERS}"))
    return tuple(path.rpartition("/")[0] for path in files if _lists_servers(tree.files[path]))


def _lists_servers(source: Source) -> bool:
    """Tell whether a file is a list of servers: other files may have the same name."""
    return LISTED.match(source.data) is not None and FEATURES_KEY in source.data


def knowledge_base(tree: SourceTree, options: Options) -> tuple[KnowledgeBase | None, Diagnostics]:
    """Return the selected knowledge base, or why it cannot be determined."""
    if options.kb:
        return _chosen(tree, options.kb)
    # A file without features is not recognised; if this format is asked for, what is wrong in the file is the answer.
    folders = knowledge_base_folders(tree) or (("",) if SERVERS in tree.files else ())
    if len(folders) == 1:
        return KnowledgeBase(folders[0], tree), ()
    hint = "choose one with `--kb FOLDER`"
    if folders:
        shown = quoted(folders[:5])
        return None, (diagnose("MCP270", None, f"found {len(folders)} knowledge bases: {shown}", "one", hint),)
    message = f"there is no `{SERVERS}` here"
    return None, (diagnose("MCP270", None, message, "an array of servers, each with its `features`", hint),)


def _chosen(tree: SourceTree, written: str) -> tuple[KnowledgeBase | None, Diagnostics]:
    folder = KnowledgeBase("", tree).resolve(written)
    if folder is not None and KnowledgeBase(folder, tree).path(SERVERS) in tree.files:
        return KnowledgeBase(folder, tree), ()
    message = f"the folder `{written}` has no `{SERVERS}`"
    expected = "the path of a folder in the project, such as `dev/knowledge_base`"
    return None, (diagnose("MCP270", None, message, expected),)


def start_span(node: Node) -> Span:
    """Return a span at the first character of an object: the whole object would be too long to show."""
    return Span(node.path, node.start, min(node.start + 1, node.end))


@dataclass(frozen=True, slots=True)
class KnowledgeBaseReader:
    """A knowledge base that is being read, and the problems found so far."""

    base: KnowledgeBase
    problems: list[Diagnostic] = field(default_factory=list)

    def report(self, code: str, span: Span, message: str, expected: str = "", hint: str = "") -> None:
        """Record a problem."""
        self.problems.append(diagnose(code, span, message, expected, hint))

    def check_kind(self, node: Node, kind: str, label: str) -> bool:
        """Tell whether a value is of a kind; report it otherwise."""
        if node.kind != kind:
            self.report("MCP101", node.span, kind_mismatch(label, kind, node))
        return node.kind == kind

    def required_member(self, node: Node, key: str, kind: str, label: str) -> Node | None:
        """Return a required member of a kind, or report it."""
        value = node.get(key)
        if value is None:
            self.report("MCP102", start_span(node), f"{label} has no `{key}`")
            return None
        return value if self.check_kind(value, kind, f"`{key}` of {label}") else None

    def required_text(self, node: Node, key: str, label: str) -> str | None:
        """Return a required string, or report it."""
        text = self.required_member(node, key, "string", label)
        return None if text is None else str(text.value)

    def report_unknown_members(self, node: Node, known: tuple[str, ...], label: str) -> None:
        for member in node.members:
            if member.key not in known:
                hint = did_you_mean(member.key, known, "it has no effect: remove it")
                self.report("MCP103", member.key_span, f"unknown member `{member.key}` in {label}", "", hint)

    def optional_objects(self, node: Node, key: str, label: str) -> tuple[Node, ...]:
        """Return the objects of an optional array."""
        listed = node.get(key)
        if listed is None or not self.check_kind(listed, "array", f"`{key}` of {label}"):
            return ()
        return tuple(item for item in listed.items if self.check_kind(item, "object", f"an item of `{key}` of {label}"))


def renamed_members(node: Node, names: dict[str, str]) -> Iterable[Member]:
    """Yield the members of an object with these names, each under its new name."""
    for key, name in names.items():
        # Of two members with one key the last one counts.
        source_member = next((member for member in reversed(node.members) if member.key == key), None)
        if source_member is not None:
            yield Member(name, source_member.key_start, source_member.key_end, source_member.node)


if TYPE_CHECKING:
    Item = Callable[[KnowledgeBaseReader, Node, str], Json]

FILE_SCHEME = "file://"
KINDS = tuple(dict.fromkeys(kind for revision in REVISIONS for kind in revision.content))
ROLES = ("user", "assistant")
SYSTEM = "system"


def tool_content(reader: KnowledgeBaseReader, node: Node, label: str) -> list[Json]:
    """Return the content blocks of a tool's result."""
    content = reader.required_member(node, "content", "array", label)
    return _items(reader, content, IN_TOOLS, label) if content is not None else []


def resource_contents(reader: KnowledgeBaseReader, node: Node, uri: Node, label: str) -> list[Json]:
    """Return the contents of a resource: those of its items, or else those of its URI."""
    if node.get("content") is None:
        return _contents_of_uri(reader, node, uri, label)
    content = reader.required_member(node, "content", "array", label)
    items = _items(reader, content, IN_RESOURCES, label) if content is not None else []
    return [_with_uri(item, str(uri.value), _declared_mime(node)) for item in items if isinstance(item, dict)]


def prompt_messages(reader: KnowledgeBaseReader, node: Node, label: str) -> list[Json]:
    messages = [_message(reader, item, label) for item in reader.optional_objects(node, "messages", label)]
    return [message for message in messages if message is not None]


def _items(reader: KnowledgeBaseReader, content: Node, known: Mapping[str, Item], label: str) -> list[Json]:
    """Return the values of a content's items; an item of an unknown type is left out."""
    values: list[Json] = []
    for item in content.items:
        if not reader.check_kind(item, "object", f"an item of `content` of {label}"):
            continue
        kind = reader.required_member(item, "type", "string", f"an item of {label}")
        read = None if kind is None else known.get(str(kind.value))
        if kind is not None and read is None:
            message = f"content of the type `{kind.value}` in {label} is left out"
            reader.report("MCP274", kind.span, message, f"one of {quoted(known)}")
        made = None if read is None else read(reader, item, label)
        values += [] if made is None else [made]
    return values


def _text(reader: KnowledgeBaseReader, item: Node, label: str) -> Json:
    text = reader.required_text(item, "text", f"a text of {label}")
    return None if text is None else {"type": "text", "text": text}


def _source(reader: KnowledgeBaseReader, item: Node, label: str) -> Source | None:
    path = reader.required_member(item, "path", "string", f"a file of {label}")
    if path is None:
        return None
    source, problems = reader.base.find_file(path, f"a file of {label}")
    reader.problems.extend(problems)
    return source


def _file(reader: KnowledgeBaseReader, item: Node, label: str) -> Json:
    """Return a file as text; a tool's result cannot contain a file in another form."""
    source = _source(reader, item, label)
    if source is None:
        return None
    try:
        return {"type": "text", "text": source.data.decode()}
    except UnicodeDecodeError as problem:
        span = (item.get("path") or item).span
        what = f"`{source.path}`, a file of {label}, is not UTF-8 at byte {problem.start}"
        reader.report("MCP001", span, what, "a text", "save it as UTF-8; in a resource it may be any file")
        return None


def _link(reader: KnowledgeBaseReader, item: Node, label: str) -> Json:
    uri = reader.required_text(item, "uri", f"a link of {label}")
    if uri is None:
        return None
    optional = {key: item.get(key) for key in ("name", "mimeType", "description")}
    said = {
        key: value.value
        for key, value in optional.items()
        if value is not None and reader.check_kind(value, "string", f"`{key}` of a link of {label}")
    }
    return {"type": "resource_link", "uri": uri, "name": uri, **said}  # the protocol wants a name


def _bytes(reader: KnowledgeBaseReader, item: Node, label: str) -> Json:
    source = _source(reader, item, label)
    return None if source is None else _file_contents(source)


def _file_contents(source: Source) -> dict[str, Json]:
    """Return a file as resource contents: text if it is textual, else a blob."""
    mime = media_type(source.path, source.data)
    if is_textual(mime) and is_text(source.data):
        return {"mimeType": mime, "text": source.data.decode()}
    return {"mimeType": mime, "blob": b64encode(source.data).decode()}


def _reference(reader: KnowledgeBaseReader, item: Node, label: str) -> Json:
    uri = reader.required_text(item, "uri", f"a uri of {label}")
    return None if uri is None else _reference_contents(uri)


def _reference_contents(uri: str) -> dict[str, Json]:
    return {"uri": uri, "text": f"Resource available at: {uri}"}


IN_TOOLS: dict[str, Item] = {"text": _text, "file": _file, "resource_link": _link}
IN_RESOURCES: dict[str, Item] = {"text": _text, "file": _bytes, "uri": _reference}


def _declared_mime(node: Node) -> str:
    declared = node.get("mimeType")
    return str(declared.value) if declared is not None and declared.kind == "string" else ""


def _with_uri(item: dict[str, Json], uri: str, mime: str) -> Json:
    """Return resource contents with the resource's URI and type, unless they have their own URI."""
    if "uri" in item:
        return item
    # A blob whose declared type is textual has bytes that are no text: its own type says more.
    said = mime if "text" in item or not is_textual(mime) else ""
    kind: Json = said or item.get("mimeType")
    typed: dict[str, Json] = {"mimeType": kind} if kind else {}
    return {"uri": uri, **typed, **{key: value for key, value in item.items() if key in ("text", "blob")}}


def _contents_of_uri(reader: KnowledgeBaseReader, node: Node, uri: Node, label: str) -> list[Json]:
    """Return the contents of a resource without `content`: the file of its URI, its folder's files, or the URI."""
    written = str(uri.value)
    if not written.startswith(FILE_SCHEME):
        return [_reference_contents(written)]
    path = written.removeprefix(FILE_SCHEME)
    place = reader.base.resolve(path)
    if place is None:
        reader.report("MCP710", uri.span, f"`{written}`, the URI of {label}, is outside the project")
        return []
    source = reader.base.tree.get(place)
    if source is not None:
        return [_with_uri(_file_contents(source), written, _declared_mime(node))]
    inside = reader.base.files_below(place)
    if not inside:
        message = f"`{written}`, the URI of {label}, is not a file of the knowledge base"
        reader.report("MCP278", uri.span, message, "", "the resource will only contain its URI")
        return [_reference_contents(written)]
    folder = FILE_SCHEME + path.rstrip("/")
    return [{"uri": folder + file.path.removeprefix(place), **_file_contents(file)} for file in inside]


def _message(reader: KnowledgeBaseReader, node: Node, label: str) -> Json:
    """Return a message unchanged, except that the role `system` becomes `user`."""
    where = f"a message of {label}"
    role, content = reader.required_member(node, "role", "string", where), node.get("content")
    if content is not None and content.kind == "string":
        hint = '`{"type": "text", "text": …}`'
        reader.report("MCP101", content.span, f"`content` of {where} must be an object, found a string", hint)
        return None
    content = reader.required_member(node, "content", "object", where)
    if role is None or content is None or not _is_content(reader, content, where):
        return None
    value = node.value if isinstance(node.value, dict) else {}
    if role.value == SYSTEM:
        reader.report(
            "MCP277", role.span, f"{where} has the role `system`, and is sent as the user's", f"one of {quoted(ROLES)}"
        )
        return {**value, "role": "user"}
    if role.value not in ROLES:
        reader.report("MCP107", role.span, f"{where} has the role `{role.value}`", f"one of {quoted(ROLES)}")
    return value


def _is_content(reader: KnowledgeBaseReader, content: Node, where: str) -> bool:
    kind = reader.required_member(content, "type", "string", f"`content` of {where}")
    if kind is not None and kind.value not in KINDS:
        reader.report("MCP107", kind.span, f"unknown content type `{kind.value}`", f"one of {quoted(KINDS)}")
    return kind is not None and (
        kind.value != "text" or reader.required_text(content, "text", f"the text of {where}") is not None
    )
