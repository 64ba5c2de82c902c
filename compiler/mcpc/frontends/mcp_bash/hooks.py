"""`server.d/register.sh`: run once, at the build and only if that was asked for, and asked what it registers.

It runs in a copy of the project, confined (`mcpc.confinement`); of the caller's variables it finds PATH alone.  What
it calls `mcp_register_tool` and the like with, or prints as one object, is read as a `register.json` is; all of it
stands, for what is said of it, at the beginning of the script.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from mcpc import confinement
from mcpc.confinement import Job
from mcpc.diagnostics import Severity, Span
from mcpc.frontends.mcp_bash.nodes import made
from mcpc.sources import Source, parse_json

if TYPE_CHECKING:
    from mcpc.frontends.mcp_bash.reading import Reading
    from mcpc.sources import Json, Node, SourceTree

SECONDS = 20
LIMIT = 1 << 20
PRELUDE = Path(__file__).with_name("register.bash")
RECORD, PART = b"\x1e", b"\x1f"
ABORTED = "aborted"
KINDS = ("tools", "resources", "resourceTemplates", "prompts", "completions")
Registered = dict[str, list["Json"]]


class HookError(Exception):
    """The hook did not end as it should; the message says how it did."""


def hooked(source: Source, reading: Reading) -> dict[str, tuple[Node, ...]]:
    """Return the entries that the hook registers, by kind."""
    span = Span(source.path)
    if reading.refuse_writable(source):
        return {}
    try:
        printed, recorded = _run(reading.tree)
        registered = _registered(recorded)
        if printed.strip() and not registered:
            registered = _printed(printed)
    except HookError as problem:
        hint = "`bash -x server.d/register.sh` may show why; it finds no variable but those of the build"
        reading.tell("MCP154", span, f"`{source.path}` {problem}", "", hint)
        return {}
    return {kind: tuple(made(entry, span) for entry in entries) for kind, entries in registered.items()}


def _run(tree: SourceTree) -> tuple[bytes, bytes]:
    """Return what the hook prints, and what it registers by calling."""
    bash = shutil.which("bash")
    if bash is None:
        raise HookError("cannot be run: there is no `bash`")
    with tempfile.TemporaryDirectory(prefix="mcpc-") as folder:
        root = Path(folder).resolve()
        project = root / "project"
        _copy(tree, project)
        words = [bash, "--norc", "--noprofile", str(PRELUDE), str(root / "recorded")]
        done = confinement.run(Job(words, root, project, SECONDS, _environment(root), [str(PRELUDE)], replies=1))
        if done.status is None:
            raise HookError(done.how.removeprefix("it "))
        if done.status:
            raise HookError(_why(done.status, done.output))
        return _limited(done.answer), _recorded(root / "recorded")


def _copy(tree: SourceTree, folder: Path) -> None:
    for path, source in tree.files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(source.data)
        place.chmod(0o700 if source.mode & 0o111 else 0o600)


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


def _recorded(path: Path) -> bytes:
    """Return what the hook registered by calling; what it put in the place of that file is not read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return b""
    with os.fdopen(descriptor, "rb") as file:
        return _limited(file.read(LIMIT + 1)) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""


def _limited(data: bytes) -> bytes:
    if len(data) > LIMIT:
        raise HookError(f"says more than {LIMIT} bytes")
    return data


def _why(status: int, errors: bytes) -> str:
    lines = errors.decode("utf-8", "replace").strip().splitlines()
    how = f"ended with status {status}" if status > 0 else f"was ended by signal {-status}"
    return f"{how}: {lines[-1][:200]}" if lines else how


def _registered(recorded: bytes) -> Registered:
    """Return the entries of calls, by kind: of two with one name the first, all in the order of their names."""
    found: Registered = {}
    for record in recorded.split(RECORD)[:-1]:
        kind, _, payload = record.decode("utf-8", "replace").partition(PART.decode())
        if payload == ABORTED:
            found.pop(kind, None)
        else:
            found.setdefault(kind, []).append(_json(payload, f"registers something in `{kind}` that"))
    return {kind: _once(entries) for kind, entries in found.items()}


def _once(entries: list[Json]) -> list[Json]:
    unique: dict[str, Json] = {}
    for entry in entries:
        unique.setdefault(str(entry.get("name")) if isinstance(entry, dict) else "", entry)
    return [unique[name] for name in sorted(unique)]


def _printed(printed: bytes) -> Registered:
    value = _json(printed.decode("utf-8", "replace"), "prints what")
    if not isinstance(value, dict):
        raise HookError("prints no object")
    lists = ((kind, value.get(kind)) for kind in KINDS)
    return {kind: entries for kind, entries in lists if isinstance(entries, list)}


def _json(payload: str, what: str) -> Json:
    node, problems = parse_json(Source("", payload.encode("utf-8", "replace")))
    wrong = next((problem for problem in problems if problem.severity is Severity.ERROR), None)
    if node is None or wrong is not None:
        raise HookError(f"{what} is not JSON: {wrong.message if wrong else 'nothing'}")
    return node.value
