"""`server.d/register.json`: definitions of a kind that replace discovery in the project's files.

It runs in a copy of the project, in a confined process (`mcpc.sandbox.confinement`), with PATH as the caller's only
variable. Its calls of `mcp_register_tool` and the like, or the object that it prints, are read like a `register.json`;
all spans are at the beginning of the script.

    {"version": 1, "tools": [{"name": "x", "path": "x.sh"}]}   these tools and no others; the rest is looked for

Only templates are added to the discovered ones.  `register.sh` registers the same by running (`hooks`); it does not run
if there is a `register.json`.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mcpc.diagnostics import Severity, Span
from mcpc.diagnostics.model import did_you_mean, quoted
from mcpc.frontends.mcp_bash import prompts, resources, tools
from mcpc.frontends.mcp_bash.reading import ProjectItem, folder_of, path_inside
from mcpc.model.definitions import KIND_NAMES, kind_mismatch
from mcpc.reading import Source, is_executable, parse_json
from mcpc.reading.json_tree import fields_of, implied_node, text_of
from mcpc.sandbox import confinement
from mcpc.sandbox.confinement import ConfinedProgram
from mcpc.sandbox.platforms import READ_FLAGS
from mcpc.sandbox.programs import find_bash

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mcpc.frontends.mcp_bash.reading import ProjectReader
    from mcpc.reading import Json, Node, SourceTree


def _entries_of_records(recorded: bytes) -> Registered:
    """Return the entries of calls, by kind: the first of each name, ordered by name."""
    registered: Registered = {}
    # Every record ends with the separator, so nothing follows the last one.
    for record in recorded.split(RECORD_SEPARATOR)[:-1]:
        kind, _, payload = record.decode("utf-8", "replace").partition(FIELD_SEPARATOR.decode())
        if payload == ABORTED:
            registered.pop(kind, None)
        else:
            registered.setdefault(kind, []).append(_parse_payload(payload, f"registers an entry in `{kind}` that"))
    return {kind: _unique_entries(entries) for kind, entries in registered.items()}


def _unique_entries(entries: list[Json]) -> list[Json]:
    unique: dict[str, Json] = {}
    for entry in entries:
        unique.setdefault(str(entry.get("name")) if isinstance(entry, dict) else "", entry)
    return [unique[name] for name in sorted(unique)]


def _entries_of_output(printed: bytes) -> Registered:
    value = _parse_payload(printed.decode("utf-8", "replace"), "prints output that")
    if not isinstance(value, dict):
        raise HookError("does not print an object")
    lists = ((kind, value.get(kind)) for kind in HOOK_KINDS)
    return {kind: entries for kind, entries in lists if isinstance(entries, list)}


def _parse_payload(payload: str, what: str) -> Json:
    node, problems = parse_json(Source("", payload.encode("utf-8", "replace")))
    wrong = next((problem for problem in problems if problem.severity is Severity.ERROR), None)
    if node is None or wrong is not None:
        raise HookError(f"{what} is not JSON: {wrong.message if wrong else 'nothing'}")
    return node.value


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
    if reader.options.hooks and reader.tree.options.imports:
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
    return {key: value.items for key, value in lists.items() if value.kind == "array"}


def _check_members(node: Node, reader: ProjectReader) -> None:
    said = fields_of(node)
    version = node.get("version")
    # In Python `True == 1`, and `true` is not a version.
    if version is None or version.value is True or version.value != VERSION:
        span = node.span if version is None else version.span
        version_text = "missing" if version is None else f"{version.value!r}"
        reader.report("MCP143", span, f"unsupported register version: {version_text}", f'`"version": {VERSION}`')
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
    register: Register = {}
    for kind in KINDS:
        if kind.key in lists:
            entries = [_entry(node, kind, reader) for node in lists[kind.key]]
            kept = [entry for entry in entries if entry is not None]
            # Programs receive an entry of the file as it was written, and one of a hook as of a file that was found.
            register[kind.key] = tuple(kept if word_for_word else [replace(entry, entry=None) for entry in kept])
    return register


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


TIMEOUT_SECONDS = 20
MAX_OUTPUT_BYTES = 1 << 20
PRELUDE = Path(__file__).with_name("register.bash")
RECORD_SEPARATOR, FIELD_SEPARATOR = b"\x1e", b"\x1f"
ABORTED = "aborted"
HOOK_KINDS = ("tools", "resources", "resourceTemplates", "prompts", "completions")
Registered = dict[str, list["Json"]]


class HookError(Exception):
    """The hook failed; the message describes how."""


def run_hook(source: Source, reader: ProjectReader) -> dict[str, tuple[Node, ...]]:
    """Return the entries that the hook registers, by kind."""
    span = Span(source.path)
    if reader.report_writable(source):
        return {}
    try:
        printed, recorded = _run(reader.tree)
        registered = _entries_of_records(recorded)
        # What is printed counts only without calls.
        if printed.strip() and not registered:
            registered = _entries_of_output(printed)
    except HookError as problem:
        hint = "run `bash -x server.d/register.sh` to see why; the hook sees only the variables of the build"
        reader.report("MCP154", span, f"`{source.path}` {problem}", "", hint)
        return {}
    return {kind: tuple(implied_node(entry, span) for entry in entries) for kind, entries in registered.items()}


def _run(tree: SourceTree) -> tuple[bytes, bytes]:
    """Return the hook's output, and what it registers by calls."""
    bash = find_bash()
    if not bash:
        raise HookError("cannot be run: there is no `bash`")
    with tempfile.TemporaryDirectory(prefix="mcpc-") as folder:
        root = Path(folder).resolve()
        project = root / "project"
        _copy_project(tree, project)
        words = [bash, "--norc", "--noprofile", str(PRELUDE), str(root / "recorded")]
        done = confinement.run_confined(
            # With `replies=1` the answer is what the hook prints on standard output.
            ConfinedProgram(words, root, project, TIMEOUT_SECONDS, _environment(root), [str(PRELUDE)], replies=1)
        )
        if done.status is None:
            raise HookError(done.how.removeprefix("it "))
        if done.status:
            raise HookError(_failure(done.status, done.output))
        return _checked_size(done.answer), _read_records(root / "recorded")


def _copy_project(tree: SourceTree, folder: Path) -> None:
    for path, source in tree.files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(source.data)
        # Only their owner may change the copies, as mcp-bash requires of what it runs.
        place.chmod(0o700 if is_executable(source) else 0o600)


def _environment(root: Path) -> dict[str, str]:
    project = f"{root}/project"
    tool = next((name for name in ("jq", "gojq") if shutil.which(name)), "")
    folders = {name: f"{project}/{name.lower()}" for name in ("TOOLS", "RESOURCES", "PROMPTS", "PROVIDERS", "UI")}
    return {
        "MCPBASH_PROJECT_ROOT": project,
        "MCPBASH_SERVER_DIR": f"{project}/server.d",
        "MCPBASH_JSON_TOOL": tool or "none",
        "MCPBASH_JSON_TOOL_BIN": shutil.which(tool) or "",
        **{f"MCPBASH_{name}_DIR": path for name, path in folders.items()},
    }


def _read_records(path: Path) -> bytes:
    """Return what the hook registered by calls; if it replaced that file by something else, this is not read."""
    try:
        descriptor = os.open(path, READ_FLAGS)
    except OSError:
        return b""
    with os.fdopen(descriptor, "rb") as file:
        # One byte more than is allowed shows that there is too much, without reading all of it.
        return _checked_size(file.read(MAX_OUTPUT_BYTES + 1)) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""


def _checked_size(data: bytes) -> bytes:
    if len(data) > MAX_OUTPUT_BYTES:
        raise HookError(f"prints more than {MAX_OUTPUT_BYTES} bytes")
    return data


def _failure(status: int, errors: bytes) -> str:
    lines = errors.decode("utf-8", "replace").strip().splitlines()
    how = f"ended with status {status}" if status > 0 else f"was killed by signal {-status}"
    return f"{how}: {lines[-1][:200]}" if lines else how
