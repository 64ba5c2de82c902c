"""Measure how soon the language server answers a keystroke: `python bench/language_server.py [--tools 10 100 1000]`.

A real client types into the middle of a project of N tools, of ours or in another system's format (`--forms`); one
character in 250 ms, as people do. Printed are milliseconds from the change to `publishDiagnostics`: median and 95th
percentile, and the median's ratio to a server that only answers (a hover outside of any project).
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path

from editor_projects import FORMS
from lsprotocol import types
from pygls.lsp.client import LanguageClient

PAUSE = 0.25
COMMAND = (sys.executable, "-m", "mcpc", "lsp")


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
        await asyncio.sleep(PAUSE)
        self.came.clear()
        self.version += 1
        place = types.Position(line, character)
        change = types.TextDocumentContentChangePartial(types.Range(place, place), "x")
        document = types.VersionedTextDocumentIdentifier(self.version, self.uri)
        began = time.perf_counter()
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))
        await self.came.wait()
        return self.last - began

    async def answer(self) -> float:
        """Return the seconds of a request that needs nothing."""
        began = time.perf_counter()
        document = types.TextDocumentIdentifier("untitled:none")
        await self.client.text_document_hover_async(types.HoverParams(document, types.Position(0, 0)))
        return time.perf_counter() - began


async def measure(count: int, form: str, keys: int) -> tuple[list[float], float]:
    """Return the seconds of each keystroke, and those of an empty answer."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        typist = Typist()
        write, wanted = FORMS[form]
        text = await typist.start(folder, write(folder, count))
        offset = text.index(wanted, len(text) // 2 if text.count(wanted) > 1 else 0) + len(wanted)
        line = text.count("\n", 0, offset)
        character = offset - text.rfind("\n", 0, offset) - 1
        taken = [await typist.keystroke(line, character) for _ in range(keys)]
        empty = [await typist.answer() for _ in range(keys)]
        await typist.client.shutdown_async(None)
        typist.client.exit(None)
        await typist.client.stop()
    return taken, statistics.median(empty)


def main() -> None:
    """Print a row for each number of tools and form of the project."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--tools", type=int, nargs="*", default=[10, 100, 1000, 5000])
    options.add_argument("--keys", type=int, default=40)
    options.add_argument("--forms", nargs="*", default=["one file", "folder", "functions"], choices=[*FORMS])
    given = options.parse_args()
    print(f"{'tools':>6}  {'form':<13} {'median':>8} {'p95':>8} {'ratio':>7}")
    for count in given.tools:
        for form in given.forms:
            taken, empty = asyncio.run(measure(count, form, given.keys))
            median, high = statistics.median(taken), sorted(taken)[int(len(taken) * 0.95) - 1]
            print(f"{count:>6}  {form:<13} {median * 1e3:8.1f} {high * 1e3:8.1f} {median / empty:7.1f}", flush=True)


if __name__ == "__main__":
    main()
