"""Report of packages that tools for Node import: `node_modules` is never part of a project.

Only the tool's file is read, and only imports at the beginning of a line; others fail when the tool is called.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span

if TYPE_CHECKING:
    from mcpc.frontends.mcp_bash.reading import ProjectReader
    from mcpc.sources import Source

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
