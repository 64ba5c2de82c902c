"""`server.d/register.json`: definitions of a kind that replace discovery in the project's files.

    {"version": 1, "tools": [{"name": "x", "path": "x.sh"}]}   these tools and no others; the rest is looked for

Only templates are added to the discovered ones.  `register.sh` registers the same by running (`hooks`); it does not run
if there is a `register.json`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span
from mcpc.diagnostics.suggestions import did_you_mean, quoted
from mcpc.frontends.mcp_bash import prompts, resources, tools
from mcpc.frontends.mcp_bash.hooks import run_hook
from mcpc.frontends.mcp_bash.reading import ProjectItem, folder_of, path_inside
from mcpc.model.definitions import KIND_NAMES, kind_mismatch
from mcpc.reading.json_tree import fields_of, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mcpc.frontends.mcp_bash.reading import ProjectReader
    from mcpc.reading import Node, Source

JSON, HOOK = "server.d/register.json", "server.d/register.sh"
VERSION = 1
MAX_REGISTER_BYTES = 1 << 20
MAX_COMPARED_FILES = 2000
"""Maximum number of files for a suggestion; a register may name thousands of missing files."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class RegisteredKind:
    """The required and allowed members of one kind's entries, and the base folder of their `path`, if any."""

    key: str
    needs: tuple[str, ...]
    known: tuple[str, ...]
    home: str | None
    noun: str


KINDS = (
    RegisteredKind("tools", ("name", "path"), tools.KNOWN_FIELDS, "tools", "a tool"),
    RegisteredKind("resources", ("name", "uri"), resources.KNOWN_FIELDS, None, "a resource"),
    RegisteredKind("resourceTemplates", ("name", "uriTemplate"), resources.KNOWN_FIELDS, None, "a resource template"),
    RegisteredKind("prompts", ("name", "path"), prompts.KNOWN_FIELDS, "prompts", "a prompt"),
    RegisteredKind("completions", ("name", "path"), ("name", "path", "timeoutSecs"), "", "a completion"),
)
KEYS = ("version", *(kind.key for kind in KINDS), "_meta")


Register = dict[str, tuple[ProjectItem, ...]]
"""The registered items, by the keys of their kinds; a missing kind is discovered in the project."""


def read_register(reader: ProjectReader) -> Register:
    """Return the registered items."""
    source = reader.tree.get(JSON)
    if source is not None:
        return _entries(_lists(source, reader), reader, word_for_word=True)
    hook = reader.tree.get(HOOK)
    if hook is None:
        return {}
    if reader.options.hooks and reader.tree.imports:
        return _entries(run_hook(hook, reader), reader, word_for_word=False)
    hint = "`--hooks` runs it during the build, in a separate process, for at most 20 seconds"
    reader.report("MCP153", Span(hook.path), f"`{hook.path}` was not run: what it would register is missing", "", hint)
    return {}


def _lists(source: Source, reader: ProjectReader) -> dict[str, tuple[Node, ...]]:
    """Return the entries by kind; an invalid file registers nothing."""
    reader.report_writable(source)
    if len(source.data) > MAX_REGISTER_BYTES:
        reader.report("MCP143", Span(source.path), f"`{source.path}` has more than {MAX_REGISTER_BYTES} bytes")
        return {}
    if source.data.startswith(BYTE_ORDER_MARK):
        message = f"`{source.path}` begins with a byte order mark"
        reader.report("MCP143", Span(source.path), message, "", "save it as UTF-8 without one")
    node = reader.read_object(source.path)
    if node is None:
        return {}
    _check_members(node, reader)
    said = fields_of(node)
    lists = {kind.key: said[kind.key].node for kind in KINDS if kind.key in said}
    return {key: found.items for key, found in lists.items() if found.kind == "array"}


def _check_members(node: Node, reader: ProjectReader) -> None:
    said = fields_of(node)
    version = node.get("version")
    if version is None or version.value is True or version.value != VERSION:
        span = node.span if version is None else version.span
        found = "missing" if version is None else f"{version.value!r}"
        reader.report("MCP143", span, f"unsupported register version: {found}", f'`"version": {VERSION}`')
    for key, member in said.items():
        wanted = "object" if key == "_meta" else "array"
        if key not in KEYS:
            expected = quoted(KEYS)
            reader.report(
                "MCP143", member.key_span, f"unknown member `{key}` of a register", expected, did_you_mean(key, KEYS)
            )
        elif key != "version" and member.node.kind != wanted:
            message = kind_mismatch(f"`{key}`", wanted, member.node)
            reader.report(
                "MCP143", member.node.span, message, f"{KIND_NAMES[wanted]}, or null for the files found in the project"
            )


def _entries(lists: Mapping[str, Iterable[Node]], reader: ProjectReader, *, word_for_word: bool) -> Register:
    found: Register = {}
    for kind in KINDS:
        if kind.key in lists:
            entries = [_entry(node, kind, reader) for node in lists[kind.key]]
            kept = [entry for entry in entries if entry is not None]
            found[kind.key] = tuple(kept if word_for_word else [replace(entry, entry=None) for entry in kept])
    return found


def _entry(node: Node, kind: RegisteredKind, reader: ProjectReader) -> ProjectItem | None:
    if node.kind != "object":
        reader.report("MCP144", node.span, kind_mismatch(kind.noun, "object", node))
        return None
    fields = fields_of(node)
    missing = [key for key in kind.needs if not text_of(fields, key).strip()]
    for key in missing:
        reader.report("MCP144", node.span, f"{kind.noun} in a register has no `{key}`", f'`"{key}": "…"`')
    if missing:
        return None
    reader.report_unknown_fields(fields, kind.known)
    if kind.home is None:
        return ProjectItem(None, fields, node.span, "", node)
    file = _file(fields["path"].node, kind, reader)
    return None if file is None else ProjectItem(file, fields, node.span, folder_of(file.path), node)


def _file(written: Node, kind: RegisteredKind, reader: ProjectReader) -> Source | None:
    """Return the file that an entry names, if it is in the folder of its kind."""
    path = path_inside(kind.home or "", str(written.value))
    where = f"`{kind.home}/`" if kind.home else "the project"
    if path is None or (kind.home and not path.startswith(f"{kind.home}/")):
        reader.report("MCP703", written.span, f"`{written.value}` leads out of {where}", f"a path below {where}")
        return None
    source = reader.tree.get(path)
    if source is None:
        known = reader.tree.files if len(reader.tree.files) <= MAX_COMPARED_FILES else ()
        reader.report("MCP145", written.span, f"file `{path}` does not exist", "", did_you_mean(path, known))
    return source
