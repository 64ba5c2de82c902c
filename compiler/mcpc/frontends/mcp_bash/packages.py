"""What tools for Node import that does not go along: `node_modules` is never part of a project.

Only the tool's own file is looked at, and only imports that begin a line; what is missed shows when the tool is called.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span

if TYPE_CHECKING:
    from mcpc.frontends.mcp_bash.reading import Reading
    from mcpc.sources import Source

ENDINGS = (".js", ".mjs", ".cjs")
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
OF_NODE = frozenset(NAMES.split())
"""The modules that Node has itself, and that may be named without `node:`."""
INSTEAD = "put what it needs of the package beside the tool, or bundle the tool into one file"


def tell_of_packages(source: Source, reading: Reading) -> None:
    """Report the packages that a tool will not find."""
    if not source.path.endswith(ENDINGS) and b"node" not in source.data.split(b"\n", 1)[0]:
        return
    for found in IMPORT.finditer(source.text):
        name = found["name"]
        if name.partition(":")[0] != "node" and name.partition("/")[0] not in OF_NODE:
            span = Span(source.path, found.start("name"), found.end("name"))
            reading.tell(
                "MCP234", span, f"the package `{name}` will not be there: `node_modules` is left out", "", INSTEAD
            )
