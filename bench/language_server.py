"""Measure how soon the language server shows what a keystroke changes: `bench/language_server.py [--tools 10 1000]`.

A real client types into the middle of a project of N tools in one file. Printed are milliseconds from the change to
`publishDiagnostics`, the pause of 300 ms included: median and 95th percentile.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

from lsprotocol import types
from pygls.lsp.client import LanguageClient

COMMAND = (sys.executable, "-m", "mcpc", "editor", "lsp")


class Typist:
    """A client that types, and knows when diagnostics came."""

    def __init__(self) -> None:
        self.client = LanguageClient("bench", "1")
        self.came = asyncio.Event()
        self.last = 0.0
        self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda params: self.published(params.uri))
        self.uri = ""
        self.version = 1

    def published(self, uri: str) -> None:
        """Note the time of an answer."""
        if uri == self.uri:
            self.last = time.perf_counter()
            self.came.set()

    async def start(self, folder: Path, file: Path) -> str:
        """Start the server, open a file, and wait until the project has been checked."""
        await self.client.start_io(*COMMAND)
        await self.client.initialize_async(
            types.InitializeParams(
                capabilities=types.ClientCapabilities(),
                root_uri=folder.as_uri(),
                workspace_folders=[types.WorkspaceFolder(folder.as_uri(), "bench")],
            )
        )
        self.client.initialized(types.InitializedParams())
        text, self.uri = file.read_text(), file.as_uri()
        self.client.text_document_did_open(
            types.DidOpenTextDocumentParams(types.TextDocumentItem(self.uri, "", 1, text))
        )
        document = types.TextDocumentIdentifier(self.uri)
        await self.client.text_document_hover_async(types.HoverParams(document, types.Position(0, 0)))
        return text

    async def keystroke(self, line: int, character: int) -> float:
        """Type one character; return the seconds until diagnostics came."""
        self.came.clear()
        self.version += 1
        place = types.Position(line, character)
        change = types.TextDocumentContentChangePartial(types.Range(place, place), "x")
        document = types.VersionedTextDocumentIdentifier(self.version, self.uri)
        began = time.perf_counter()
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))
        await self.came.wait()
        return self.last - began


def write_project(folder: Path, count: int) -> Path:
    """Write a project of tools of the usual size; return the file that describes them."""
    schema = {
        "type": "object",
        "properties": {
            "path": {"type": "string", "minLength": 1, "description": "Where it is"},
            "mode": {"enum": ["a", "b"]},
            "count": {"type": "integer", "minimum": 0, "default": 3},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["path"],
        "additionalProperties": False,
    }
    tools = [
        {"name": f"tool_{number}", "description": f"Does thing {number}.", "inputSchema": schema}
        for number in range(count)
    ]
    functions = (f"def tool_{number}(path, mode=None, count=3, tags=()):\n    return path\n" for number in range(count))
    (folder / "server.json").write_text('{"serverInfo": {"name": "x", "version": "1"}}')
    (folder / "tools.py").write_text("\n\n".join(functions))
    file = folder / "tools.json"
    file.write_text(json.dumps({"tools": tools}, indent=2))
    return file


async def measure(count: int, keys: int) -> list[float]:
    """Return the seconds of each keystroke."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        typist = Typist()
        text = await typist.start(folder, write_project(folder, count))
        offset = text.index("Does", len(text) // 2) + len("Does")
        line = text.count("\n", 0, offset)
        character = offset - text.rfind("\n", 0, offset) - 1
        taken = [await typist.keystroke(line, character) for _ in range(keys)]
        await typist.client.shutdown_async(None)
        typist.client.exit(None)
        await typist.client.stop()
    return taken


def main() -> None:
    """Print a row for each number of tools."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--tools", type=int, nargs="*", default=[10, 100, 1000, 5000])
    options.add_argument("--keys", type=int, default=20)
    given = options.parse_args()
    print(f"{'tools':>6} {'median':>8} {'p95':>8}")
    for count in given.tools:
        taken = sorted(asyncio.run(measure(count, given.keys)))
        high = taken[int(len(taken) * 0.95) - 1]
        print(f"{count:>6} {statistics.median(taken) * 1e3:8.1f} {high * 1e3:8.1f}", flush=True)


if __name__ == "__main__":
    main()
