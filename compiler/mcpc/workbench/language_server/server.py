"""The features of the language server, each a function from a request to what a module of this package answers.

Only this module and `protocol_values` know the protocol. A mistake of ours is logged to the client with its traceback,
and the server keeps running.
"""

from __future__ import annotations

import gc
import sys
import traceback
from contextlib import contextmanager
from inspect import iscoroutinefunction
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method
from pygls.uris import to_fs_path

from mcpc import __version__
from mcpc.diagnostics import Span
from mcpc.workbench.language_server import protocol_values as values
from mcpc.workbench.language_server.completion import proposals_at
from mcpc.workbench.language_server.descriptions import hover_at
from mcpc.workbench.language_server.fixes import fixes_of
from mcpc.workbench.language_server.open_project import definition_at, definitions_in, handled_at
from mcpc.workbench.language_server.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from mcpc.options import Options
    from mcpc.workbench.language_server.open_project import BufferEdit, OpenProject, TextBuffer

WATCHED = "**/*"
SWITCH_SECONDS = 0.001
"""How soon an answer takes its turn while a check runs in its thread."""
TRIGGERS = ['"', ":", "$", "{", "[", ".", " "]
BEGINNING = types.Position(0, 0)


class Protocol(LanguageServerProtocol):
    """The protocol; texts are kept by this package alone, whose lines are those of the protocol."""

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> Generator[Any, Any, None]:
        yield self.fm.features[types.TEXT_DOCUMENT_DID_CHANGE], (params,), None


class FilePosition(NamedTuple):
    """A place in a file of a project, and the text of the file."""

    project: OpenProject
    path: str
    offset: int
    buffer: TextBuffer


class ProjectServer(LanguageServer):
    """The language server of mcpc: a client, and its workspace."""

    def __init__(self, options: Options) -> None:
        super().__init__("mcpc", __version__, protocol_cls=Protocol)
        self.open_workspace = Workspace(options, self.publish, self.log)

    def log(self, text: str) -> None:
        """Write to the client's log."""
        self.window_log_message(types.LogMessageParams(types.MessageType.Error, text))

    def publish(self, project: OpenProject, paths: set[str]) -> None:
        """Send the diagnostics of files."""
        for path in sorted(path for path in paths if path):
            diagnostics = values.diagnostics_of(project, path, self.open_workspace.encoding)
            # An empty list withdraws what was shown; of a closed file without either nothing is sent.
            if diagnostics or path in project.published or path in project.buffers:
                uri = values.uri_of(project, path)
                self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, diagnostics))
            (project.published.add if diagnostics else project.published.discard)(path)

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Log an error that no request waits for."""
        self.log("".join(traceback.format_exception(error)))

    async def place_of(
        self, document: types.TextDocumentIdentifier, position: types.Position = BEGINNING
    ) -> FilePosition | None:
        """Return the place that a position means; None outside of any project."""
        place = await self.open_workspace.find_checked(file_of(document.uri))
        if place is None or place[0].text(place[1]) is None:
            return None
        buffer = values.buffer_of(*place, self.open_workspace.encoding)
        return FilePosition(*place, buffer.offset(position.line, position.character), buffer)


def file_of(uri: str) -> Path:
    """Return the path of a file; of an unsaved one without a path, a path in no folder."""
    return Path(to_fs_path(uri) or uri) if uri.startswith("file:") else Path("/", "unsaved", uri.replace("/", "_"))


def make_server(options: Options) -> ProjectServer:
    server = ProjectServer(options)
    for method, feature in FEATURES.items():
        server.feature(method, OPTIONS.get(method))(_logging(server, feature))
    return server


def _logging(server: ProjectServer, feature: Callable[[ProjectServer, Any], Any]) -> Callable[[Any], Any]:
    """Return a feature whose mistakes are logged, and answered with nothing."""

    @contextmanager
    def logged() -> Iterator[None]:
        try:
            yield
        except Exception:  # noqa: BLE001 - it is logged, and the server keeps running
            server.log(traceback.format_exc())

    async def answer(params: Any) -> Any:
        with logged():
            return await feature(server, params)

    def notice(params: Any) -> None:
        with logged():
            feature(server, params)

    # Changes are taken over at once, in the order of their arrival; only questions wait for a check.
    return answer if iscoroutinefunction(feature) else notice


def initialized(server: ProjectServer, params: types.InitializedParams) -> None:
    """Take over the folders, the units and the options of the client; ask for notifications of changes on disk."""
    workspace = server.open_workspace
    workspace.encoding = str(getattr(server.workspace.position_encoding, "value", server.workspace.position_encoding))
    folders_changed(server, params)
    if not workspace.folders and server.workspace.root_path:
        workspace.folders = [Path(server.workspace.root_path)]
    watching = server.client_capabilities.workspace and server.client_capabilities.workspace.did_change_watched_files
    if watching and watching.dynamic_registration:
        watchers = [types.FileSystemWatcher(WATCHED)]
        method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
        options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
        server.client_register_capability(types.RegistrationParams([types.Registration("files", method, options)]))


def folders_changed(server: ProjectServer, params: Any) -> None:
    """Take over the folders that the client has open."""
    server.open_workspace.folders = [file_of(folder.uri) for folder in server.workspace.folders.values()]


def opened(server: ProjectServer, params: types.DidOpenTextDocumentParams) -> None:
    server.open_workspace.open(file_of(params.text_document.uri), params.text_document.text)


def changed(server: ProjectServer, params: types.DidChangeTextDocumentParams) -> None:
    def apply(buffer: TextBuffer) -> list[BufferEdit]:
        return [_apply(buffer, change) for change in params.content_changes]

    server.open_workspace.change(file_of(params.text_document.uri), apply)


def _apply(buffer: TextBuffer, change: Any) -> BufferEdit:
    if isinstance(change, types.TextDocumentContentChangeWholeDocument):
        return buffer.replace_all(change.text)
    start, end = (buffer.offset(each.line, each.character) for each in (change.range.start, change.range.end))
    return buffer.replace(start, end, change.text)


def closed(server: ProjectServer, params: types.DidCloseTextDocumentParams) -> None:
    server.open_workspace.close(file_of(params.text_document.uri))


def saved(server: ProjectServer, params: Any) -> None:
    """Read the disk again."""
    server.open_workspace.files_changed()


async def hover(server: ProjectServer, params: types.HoverParams) -> types.Hover | None:
    """Show what is known of a place."""
    place = await server.place_of(params.text_document, params.position)
    text, span = hover_at(*place[:3]) if place else ("", None)
    if place is None or not text:
        return None
    about = None if span is None else values.range_of(place.buffer, span.start, span.end)
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text), about)


async def completion(server: ProjectServer, params: types.CompletionParams) -> list[types.CompletionItem]:
    """Complete what is written at a place."""
    place = await server.place_of(params.text_document, params.position)
    return [values.completion_item(each, place.buffer) for each in proposals_at(*place[:3])] if place else []


async def definition(server: ProjectServer, params: types.DefinitionParams) -> types.Location | None:
    """Go from a definition to its handler, and back."""
    place = await server.place_of(params.text_document, params.position)
    if place is None:
        return None
    named, handled = definition_at(*place[:3]), handled_at(*place[:3])
    if named is not None and named.handled is not None and not named.is_function:
        span = named.handled
    elif handled is not None:
        span = handled.named
    else:
        return None
    return values.location_of(place.project, span, place.buffer.encoding)


async def symbols(server: ProjectServer, params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
    """List the definitions of a file."""
    place = await server.place_of(params.text_document)
    definitions = definitions_in(place.project) if place else ()
    return [values.symbol_of(each, place.buffer) for each in definitions if place and each.whole.path == place.path]


async def actions(server: ProjectServer, params: types.CodeActionParams) -> list[types.CodeAction]:
    """Offer the corrections of the problems in a range."""
    place = await server.place_of(params.text_document, params.range.start)
    if place is None:
        return []
    project, path, start, buffer = place
    end = buffer.offset(params.range.end.line, params.range.end.character)
    code_actions = []
    for problem in project.found.get(path, ()):
        span = problem.span or Span("")
        if span.start <= end and start <= max(span.end, span.start):
            shown = values.diagnostic_of(problem, buffer, project)
            code_actions += [
                values.code_action(fix, shown, project, buffer.encoding) for fix in fixes_of(problem, project)
            ]
    return code_actions


FEATURES: dict[str, Callable[[ProjectServer, Any], Any]] = {
    types.INITIALIZED: initialized,
    types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: folders_changed,
    types.WORKSPACE_DID_CHANGE_WATCHED_FILES: saved,
    types.TEXT_DOCUMENT_DID_OPEN: opened,
    types.TEXT_DOCUMENT_DID_CHANGE: changed,
    types.TEXT_DOCUMENT_DID_SAVE: saved,
    types.TEXT_DOCUMENT_DID_CLOSE: closed,
    types.TEXT_DOCUMENT_HOVER: hover,
    types.TEXT_DOCUMENT_COMPLETION: completion,
    types.TEXT_DOCUMENT_DEFINITION: definition,
    types.TEXT_DOCUMENT_DOCUMENT_SYMBOL: symbols,
    types.TEXT_DOCUMENT_CODE_ACTION: actions,
}
OPTIONS: dict[str, Any] = {
    types.TEXT_DOCUMENT_COMPLETION: types.CompletionOptions(trigger_characters=TRIGGERS),
    types.TEXT_DOCUMENT_CODE_ACTION: types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix]),
}
"""What the server says of its features."""


def serve(options: Options) -> None:
    """Serve one client over standard input and output, until it says goodbye."""
    gc.enable()  # a build lives shortly, a server does not
    gc.freeze()  # what is loaded by now stays, and need not be looked at again
    sys.setswitchinterval(SWITCH_SECONDS)
    make_server(options).start_io()
