"""Executable files: which files in `tools/` are tools, and whether the system or Bash can run them.

Packages that tools for Node import are reported, because `node_modules` is never part of a project. Only the tool's
file is read, and only imports at the beginning of a line; others fail when the tool is called.
"""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span
from mcpc.frontends.mcp_bash.reading import GROUP_WRITABLE, WORLD_WRITABLE
from mcpc.languages.bash.library import script_problems
from mcpc.languages.executable import BYTE_ORDER_MARK, SHEBANG, how_to_fix, is_binary, not_runnable

if TYPE_CHECKING:
    from mcpc.frontends.mcp_bash.reading import ProjectReader
    from mcpc.reading import Source

SCRIPT_ENDINGS = (".sh", ".bash")
EXECUTABLE = 0o111
SHELLS = (b"bash", b"sh")


def is_tool(source: Source) -> bool:
    """Tell whether mcp-bash would run a file: by its mode, its name, or its first line."""
    return bool(source.mode & EXECUTABLE) or source.path.endswith(SCRIPT_ENDINGS) or source.data.startswith(SHEBANG)


def is_bash(source: Source) -> bool:
    """Tell whether a file is a Bash script: by its first line, else by its suffix."""
    if source.data.removeprefix(BYTE_ORDER_MARK).startswith(SHEBANG):
        words = source.data.split(b"\n", 1)[0].replace(b"/", b" ").split()
        return any(word in SHELLS for word in words)
    return source.path.endswith(SCRIPT_ENDINGS)


def check_tool(source: Source, reader: ProjectReader) -> None:
    """Report why a tool cannot be run."""
    check_request_script(source, reader)
    report_packages(source, reader)
    if not source.mode & EXECUTABLE:
        hint = f"the server runs it anyway; to fix: `chmod +x {shlex.quote(source.path)}`"
        reader.report("MCP150", Span(source.path), f"`{source.path}` is not executable", "", hint)


def check_request_script(source: Source, reader: ProjectReader) -> None:
    """Report problems of a file that runs for requests; its group may change it."""
    if not reader.report_writable(source, WORLD_WRITABLE) and source.mode & GROUP_WRITABLE:
        reader.shared.append(source)
    _check_script(source, reader)


def check_server_script(source: Source, reader: ProjectReader) -> None:
    """Report problems of a file that the server itself runs; only its owner may change it."""
    reader.report_writable(source)
    _check_script(source, reader)


def _check_script(source: Source, reader: ProjectReader) -> None:
    begun = source.data.startswith((SHEBANG, BYTE_ORDER_MARK + SHEBANG))
    problem = not_runnable(source) if begun else ""
    if problem:
        reader.report("MCP244", Span(source.path), f"`{source.path}` cannot be run: {problem}", "", how_to_fix(problem))
    if is_binary(source):
        message = f"`{source.path}` runs on one platform only"
        reader.report("MCP246", Span(source.path), message, "", "the tool works only on machines of this platform")
    if is_bash(source):
        reader.problems += script_problems(source)


JAVASCRIPT_ENDINGS = (".js", ".mjs", ".cjs")
IMPORT = re.compile(
    r"^[ \t]{0,80}(?:import\b[^\"'\n]{0,500}|(?:const|let|var)[ \t][^=\n]{0,500}= ?require\()"
    r"[\"'](?P<name>[^\"'.#/\n][^\"'\n]*)",
    re.MULTILINE,
)
NAMES = """
    assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns domain events
    fs http http2 https inspector module net os path perf_hooks process punycode querystring readline repl stream
    string_decoder sys timers tls trace_events tty url util v8 vm wasi worker_threads zlib
"""
NODE_MODULES = frozenset(NAMES.split())
"""Built-in modules of Node, which may be imported without `node:`."""
HOW_TO_BUNDLE = "copy the needed files of the package beside the tool, or bundle the tool into one file"


def report_packages(source: Source, reader: ProjectReader) -> None:
    """Report packages that a tool imports and that will not be available."""
    if not source.path.endswith(JAVASCRIPT_ENDINGS) and b"node" not in source.data.split(b"\n", 1)[0]:
        return
    for found in IMPORT.finditer(source.text):
        name = found["name"]
        if name.partition(":")[0] != "node" and name.partition("/")[0] not in NODE_MODULES:
            span = Span(source.path, found.start("name"), found.end("name"))
            reader.report(
                "MCP234",
                span,
                f"the package `{name}` will not be available: `node_modules` is left out",
                "",
                HOW_TO_BUNDLE,
            )
