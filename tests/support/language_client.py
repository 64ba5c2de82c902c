"""A client of the language server: pygls' own, with a real server process; requests wait for their answers.

One process serves all tests of a module: each test opens its own folder.
"""

import asyncio
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Self

from lsprotocol import types
from pygls.lsp.client import LanguageClient

SECONDS = 120
"""How long a test waits for an event before it fails."""
COMMAND = (sys.executable, "-m", "mcpc", "editor", "lsp")


class EditorClient:
    """An editor: opens files, types into them, and knows the last diagnostics of each."""

    def __init__(self, folder: Path, encodings: tuple[str, ...] = (), command: tuple[str, ...] = COMMAND) -> None:
        self.folder = folder
        self.encodings = encodings
        self.command = command
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.client = LanguageClient("tests", "1")
        self.found: dict[str, list[types.Diagnostic]] = defaultdict(list)
        self.arrived: dict[str, float] = {}
        self.log: list[str] = []
        self.versions: dict[str, int] = {}
        self.news = threading.Condition()

    def __enter__(self) -> Self:
        self.thread.start()
        self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda params: self._published(params))
        self.client.feature(types.WINDOW_LOG_MESSAGE)(lambda params: self.log.append(params.message))
        self.client.feature(types.CLIENT_REGISTER_CAPABILITY)(lambda params: None)
        self.run(self._start())
        return self

    async def _start(self) -> None:
        await self.client.start_io(*self.command)
        general = types.GeneralClientCapabilities(position_encodings=[*self.encodings] or None)
        root = self.folder.as_uri()
        params = types.InitializeParams(
            capabilities=types.ClientCapabilities(general=general),
            root_uri=root,
            workspace_folders=[types.WorkspaceFolder(root, self.folder.name)],
        )
        self.capabilities = (await self.client.initialize_async(params)).capabilities
        self.client.initialized(types.InitializedParams())

    def __exit__(self, *failure: object) -> None:
        self.run(self._stop())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()

    async def _stop(self) -> None:
        await self.client.shutdown_async(None)
        self.client.exit(None)
        await self.client.stop()

    def _published(self, params: types.PublishDiagnosticsParams) -> None:
        with self.news:
            self.found[params.uri] = list(params.diagnostics)
            self.arrived[params.uri] = self.loop.time()
            self.news.notify_all()

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(SECONDS)

    def uri(self, path: str) -> str:
        return (self.folder / path).as_uri()

    def open(self, path: str, text: str | None = None) -> None:
        """Open a file, by default with its text on disk."""
        uri = self.uri(path)
        content = (self.folder / path).read_bytes().decode() if text is None else text
        self.versions[uri] = 1
        self._send(
            "text_document_did_open", types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, "", 1, content))
        )

    def change(self, path: str, *changes: Any) -> None:
        uri = self.uri(path)
        self.versions[uri] += 1
        document = types.VersionedTextDocumentIdentifier(self.versions[uri], uri)
        self._send("text_document_did_change", types.DidChangeTextDocumentParams(document, [*changes]))

    def type(self, path: str, start: tuple[int, int], end: tuple[int, int], new: str) -> None:
        """Replace a range of an open file."""
        place = types.Range(types.Position(*start), types.Position(*end))
        self.change(path, types.TextDocumentContentChangePartial(place, new))

    def replace(self, path: str, text: str) -> None:
        self.change(path, types.TextDocumentContentChangeWholeDocument(text))

    def close(self, path: str) -> None:
        document = types.TextDocumentIdentifier(self.uri(path))
        self._send("text_document_did_close", types.DidCloseTextDocumentParams(document))

    def save(self, path: str) -> None:
        document = types.TextDocumentIdentifier(self.uri(path))
        self._send("text_document_did_save", types.DidSaveTextDocumentParams(document))

    def _send(self, method: str, params: object) -> None:
        async def send() -> None:
            getattr(self.client, method)(params)

        self.run(send())

    def wait(self, path: str, wanted: Callable[[list[types.Diagnostic]], bool]) -> list[types.Diagnostic]:
        """Return the diagnostics of a file when they are as wanted; fail after a time."""
        uri = self.uri(path)
        with self.news:
            if not self.news.wait_for(lambda: wanted(self.found[uri]), SECONDS):
                shown = [(each.code, each.message) for each in self.found[uri]]
                raise AssertionError(f"{path}: {shown}; log: {self.log}")
            return self.found[uri]

    def codes(self, path: str, *codes: str) -> list[types.Diagnostic]:
        """Return the diagnostics of a file when they have exactly these codes."""
        return self.wait(path, lambda found: sorted(str(each.code) for each in found) == sorted(codes))

    def ask(self, method: str, kind: Callable[..., Any], path: str, *more: Any) -> Any:
        """Return the answer to a request about a file."""
        params = kind(types.TextDocumentIdentifier(self.uri(path)), *more)
        return self.run(getattr(self.client, f"text_document_{method}_async")(params))

    def hover(self, path: str, line: int, character: int) -> str:
        """Return the text that is shown for a place."""
        found = self.ask("hover", types.HoverParams, path, types.Position(line, character))
        return "" if found is None else found.contents.value

    def complete(self, path: str, line: int, character: int) -> dict[str, types.CompletionItem]:
        """Return what is proposed for a place, by label."""
        found = self.ask("completion", types.CompletionParams, path, types.Position(line, character))
        return {item.label: item for item in found}

    def definition(self, path: str, line: int, character: int) -> tuple[str, int] | None:
        """Return the path and the line of what a place refers to."""
        found = self.ask("definition", types.DefinitionParams, path, types.Position(line, character))
        return None if found is None else (found.uri.removeprefix(f"{self.folder.as_uri()}/"), found.range.start.line)

    def fixes(self, path: str, place: types.Range) -> dict[str, types.CodeAction]:
        """Return the corrections that are offered for a range, by title."""
        found = self.ask("code_action", types.CodeActionParams, path, place, types.CodeActionContext([]))
        return {action.title: action for action in found}


def applied(text: str, edits: list[types.TextEdit]) -> str:
    """Return a text with edits, whose positions are in code points of lines that end at LF."""
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    places = [
        (
            starts[edit.range.start.line] + edit.range.start.character,
            starts[edit.range.end.line] + edit.range.end.character,
            edit.new_text,
        )
        for edit in edits
    ]
    for start, end, new in sorted(places, reverse=True):
        text = text[:start] + new + text[end:]
    return text
