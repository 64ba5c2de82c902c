"""`server.d/register.sh`: run once at build time, only if `--hooks` is given, to register definitions.

It runs in a copy of the project, in a confined process (`mcpc.sandbox.confinement`), with PATH as the caller's only
variable. Its calls of `mcp_register_tool` and the like, or the object that it prints, are read like a `register.json`;
all spans are at the beginning of the script.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from mcpc.diagnostics import Severity, Span
from mcpc.reading import Source, is_executable, parse_json
from mcpc.reading.json_tree import implied_node
from mcpc.sandbox import confinement
from mcpc.sandbox.confinement import ConfinedProgram
from mcpc.sandbox.platforms.files import READ_FLAGS
from mcpc.sandbox.programs import find_bash

if TYPE_CHECKING:
    from mcpc.frontends.mcp_bash.reading import ProjectReader
    from mcpc.reading import Json, Node, SourceTree

TIMEOUT_SECONDS = 20
MAX_OUTPUT_BYTES = 1 << 20
PRELUDE = Path(__file__).with_name("register.bash")
RECORD_SEPARATOR, FIELD_SEPARATOR = b"\x1e", b"\x1f"
ABORTED = "aborted"
KINDS = ("tools", "resources", "resourceTemplates", "prompts", "completions")
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
        return _checked_size(file.read(MAX_OUTPUT_BYTES + 1)) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""


def _checked_size(data: bytes) -> bytes:
    if len(data) > MAX_OUTPUT_BYTES:
        raise HookError(f"prints more than {MAX_OUTPUT_BYTES} bytes")
    return data


def _failure(status: int, errors: bytes) -> str:
    lines = errors.decode("utf-8", "replace").strip().splitlines()
    how = f"ended with status {status}" if status > 0 else f"was killed by signal {-status}"
    return f"{how}: {lines[-1][:200]}" if lines else how


def _entries_of_records(recorded: bytes) -> Registered:
    """Return the entries of calls, by kind: the first of each name, ordered by name."""
    found: Registered = {}
    for record in recorded.split(RECORD_SEPARATOR)[:-1]:
        kind, _, payload = record.decode("utf-8", "replace").partition(FIELD_SEPARATOR.decode())
        if payload == ABORTED:
            found.pop(kind, None)
        else:
            found.setdefault(kind, []).append(_parse_payload(payload, f"registers an entry in `{kind}` that"))
    return {kind: _unique_entries(entries) for kind, entries in found.items()}


def _unique_entries(entries: list[Json]) -> list[Json]:
    unique: dict[str, Json] = {}
    for entry in entries:
        unique.setdefault(str(entry.get("name")) if isinstance(entry, dict) else "", entry)
    return [unique[name] for name in sorted(unique)]


def _entries_of_output(printed: bytes) -> Registered:
    value = _parse_payload(printed.decode("utf-8", "replace"), "prints output that")
    if not isinstance(value, dict):
        raise HookError("does not print an object")
    lists = ((kind, value.get(kind)) for kind in KINDS)
    return {kind: entries for kind, entries in lists if isinstance(entries, list)}


def _parse_payload(payload: str, what: str) -> Json:
    node, problems = parse_json(Source("", payload.encode("utf-8", "replace")))
    wrong = next((problem for problem in problems if problem.severity is Severity.ERROR), None)
    if node is None or wrong is not None:
        raise HookError(f"{what} is not JSON: {wrong.message if wrong else 'nothing'}")
    return node.value
