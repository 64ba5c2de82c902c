"""The register: `server.d/register.json` says what there is of a kind, in place of what lies in the project.

    {"version": 1, "tools": [{"name": "x", "path": "x.sh"}]}   these tools and no others; the rest is looked for

Templates alone are added to those that are found.  `register.sh` says the same by running (`hooks`); where there is a
`register.json`, it does not run.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mcpc.definitions.kinds import WORDS, mismatch
from mcpc.diagnostics import Span
from mcpc.frontends.mcp_bash import prompts, resources, tools
from mcpc.frontends.mcp_bash.hooks import hooked
from mcpc.frontends.mcp_bash.nodes import given, text
from mcpc.frontends.mcp_bash.reading import Found, folder_of, inside

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mcpc.frontends.mcp_bash.reading import Reading
    from mcpc.sources import Node, Source

JSON, HOOK = "server.d/register.json", "server.d/register.sh"
VERSION = 1
LIMIT = 1 << 20
COMPARED = 2000
"""Among so many files one that is meant is looked for; a register may name thousands that are not there."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Kind:
    """What entries of one kind must have and may have, and where their `path` begins, if they are files."""

    key: str
    needs: tuple[str, ...]
    known: tuple[str, ...]
    home: str | None
    noun: str


KINDS = (
    Kind("tools", ("name", "path"), tools.KNOWN, "tools", "a tool"),
    Kind("resources", ("name", "uri"), resources.KNOWN, None, "a resource"),
    Kind("resourceTemplates", ("name", "uriTemplate"), resources.KNOWN, None, "a resource template"),
    Kind("prompts", ("name", "path"), prompts.KNOWN, "prompts", "a prompt"),
    Kind("completions", ("name", "path"), ("name", "path", "timeoutSecs"), "", "a completion"),
)
KEYS = ("version", *(kind.key for kind in KINDS), "_meta")


Register = dict[str, tuple[Found, ...]]
"""What is registered, by the keys of the kinds; a kind that is not there is looked for in the project."""


def registration(reading: Reading) -> Register:
    """Return what the register says, which may be nothing."""
    source = reading.tree.get(JSON)
    if source is not None:
        return _entries(_lists(source, reading), reading, word_for_word=True)
    hook = reading.tree.get(HOOK)
    if hook is None:
        return {}
    if reading.options.hooks and reading.tree.imports:
        return _entries(hooked(hook, reading), reading, word_for_word=False)
    hint = "`--hooks` runs it at the build, in a process of its own, for as long as it takes and at most 20 seconds"
    reading.tell("MCP153", Span(hook.path), f"`{hook.path}` was not run: what it registers is not there", "", hint)
    return {}


def _lists(source: Source, reading: Reading) -> dict[str, tuple[Node, ...]]:
    """Return the entries by kind; a file with anything wrong with it registers nothing."""
    reading.refuse_writable(source)
    if len(source.data) > LIMIT:
        reading.tell("MCP143", Span(source.path), f"`{source.path}` has more than {LIMIT} bytes")
        return {}
    if source.data.startswith(BYTE_ORDER_MARK):
        message = f"`{source.path}` begins with a byte order mark"
        reading.tell("MCP143", Span(source.path), message, "", "save it as UTF-8 without one")
    node = reading.object(source.path)
    if node is None:
        return {}
    _judge(node, reading)
    said = given(node)
    lists = {kind.key: said[kind.key].node for kind in KINDS if kind.key in said}
    return {key: found.items for key, found in lists.items() if found.kind == "array"}


def _judge(node: Node, reading: Reading) -> None:
    said = given(node)
    version = node.get("version")
    if version is None or version.value is True or version.value != VERSION:
        span = node.span if version is None else version.span
        found = "no version" if version is None else f"the version {version.value!r}"
        reading.tell("MCP143", span, f"a register of {found}", f'`"version": {VERSION}`')
    for key, member in said.items():
        wanted = "object" if key == "_meta" else "array"
        if key not in KEYS:
            near = difflib.get_close_matches(key, KEYS, n=1)
            hint = f"did you mean `{near[0]}`?" if near else ""
            expected = ", ".join(f"`{one}`" for one in KEYS)
            reading.tell("MCP143", member.key_span, f"a register has no `{key}`", expected, hint)
        elif key != "version" and member.node.kind != wanted:
            message = mismatch(f"`{key}`", wanted, member.node)
            reading.tell("MCP143", member.node.span, message, f"{WORDS[wanted]}, or null for what lies in the project")


def _entries(lists: Mapping[str, Iterable[Node]], reading: Reading, *, word_for_word: bool) -> Register:
    found: Register = {}
    for kind in KINDS:
        if kind.key in lists:
            entries = [_entry(node, kind, reading) for node in lists[kind.key]]
            kept = [entry for entry in entries if entry is not None]
            found[kind.key] = tuple(kept if word_for_word else [replace(entry, entry=None) for entry in kept])
    return found


def _entry(node: Node, kind: Kind, reading: Reading) -> Found | None:
    if node.kind != "object":
        reading.tell("MCP144", node.span, mismatch(kind.noun, "object", node))
        return None
    fields = given(node)
    missing = [key for key in kind.needs if not text(fields, key).strip()]
    for key in missing:
        reading.tell("MCP144", node.span, f"{kind.noun} in a register has no `{key}`", f'`"{key}": "…"`')
    if missing:
        return None
    reading.strangers(fields, kind.known)
    if kind.home is None:
        return Found(None, fields, node.span, "", node)
    file = _file(fields["path"].node, kind, reading)
    return None if file is None else Found(file, fields, node.span, folder_of(file.path), node)


def _file(written: Node, kind: Kind, reading: Reading) -> Source | None:
    """Return the file that an entry names, if it lies where files of its kind do."""
    path = inside(kind.home or "", str(written.value))
    where = f"`{kind.home}/`" if kind.home else "the project"
    if path is None or (kind.home and not path.startswith(f"{kind.home}/")):
        reading.tell("MCP703", written.span, f"`{written.value}` leads out of {where}", f"a path below {where}")
        return None
    source = reading.tree.get(path)
    if source is None:
        known = reading.tree.files if len(reading.tree.files) <= COMPARED else ()
        near = difflib.get_close_matches(path, known, n=1)
        reading.tell("MCP145", written.span, f"there is no file `{path}`", "", f"is it `{near[0]}`?" if near else "")
    return source
