"""Values of the Language Server Protocol from those of the compiler: diagnostics, ranges, edits, symbols.

A range in an open file is in the client's units and its current text; in another file, in that on disk.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.uris import from_fs_path

from mcpc.diagnostics import CODES, Severity, Span
from mcpc.diagnostics.formats.source_location import advice_lines
from mcpc.workbench.language_server.open_project import TextBuffer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcpc.diagnostics import Diagnostic
    from mcpc.workbench.language_server.completion import Proposal
    from mcpc.workbench.language_server.fixes import Fix
    from mcpc.workbench.language_server.open_project import OpenProject, PlacedDefinition

SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.NOTE: types.DiagnosticSeverity.Information,
}
UNUSED = ("MCP142", "MCP202", "MCP222")
"""Codes of what has no effect, which editors show faded."""
KINDS = {
    "tool": types.SymbolKind.Function,
    "prompt": types.SymbolKind.String,
    "resource": types.SymbolKind.File,
    "resource template": types.SymbolKind.Namespace,
    "completion": types.SymbolKind.Enum,
}
PROPOSED = {
    "field": types.CompletionItemKind.Field,
    "value": types.CompletionItemKind.Value,
    "variable": types.CompletionItemKind.Variable,
    "function": types.CompletionItemKind.Function,
}
OTHER_PLACE = re.compile(r"\b(?:is|is at|other one is at) (?:at )?([^\s:;]+):([0-9]+):([0-9]+)")
MAX_SHOWN = 1_000
"""Maximum number of diagnostics of one file that are sent."""
SOURCE = "mcpc"
QUOTES = ('"', "'")


def uri_of(project: OpenProject, path: str) -> str:
    return from_fs_path(str(project.root / path)) or ""


def buffer_of(project: OpenProject, path: str, encoding: str) -> TextBuffer:
    buffer = project.buffers.get(path)
    return TextBuffer(project.text(path) or "", encoding) if buffer is None else buffer


def range_of(buffer: TextBuffer, start: int, end: int) -> types.Range:
    return types.Range(types.Position(*buffer.position(start)), types.Position(*buffer.position(end)))


def location_of(project: OpenProject, span: Span, encoding: str) -> types.Location:
    buffer = buffer_of(project, span.path, encoding)
    return types.Location(uri_of(project, span.path), range_of(buffer, span.start, span.end))


def diagnostics_of(project: OpenProject, path: str, encoding: str) -> list[types.Diagnostic]:
    problems = project.found.get(path, [])[:MAX_SHOWN]
    buffer = buffer_of(project, path, encoding) if problems else TextBuffer("", encoding)
    return [diagnostic_of(problem, buffer, project) for problem in problems]


def diagnostic_of(problem: Diagnostic, buffer: TextBuffer, project: OpenProject) -> types.Diagnostic:
    """Return one diagnostic; its advice is part of the message, because not every editor shows anything else."""
    span = problem.span or Span("")
    # An empty span at 0 is that of the whole file, of which the first line is shown.
    is_whole = span.start == span.end == 0
    place = range_of(buffer, 0, buffer.line_end(0)) if is_whole else range_of(buffer, span.start, span.end)
    advice = [f"{label}: {text}" for label, text in advice_lines(problem)]
    return types.Diagnostic(
        range=place,
        message="\n".join((problem.message, *advice)),
        severity=SEVERITIES[problem.severity],
        code=problem.code,
        source=SOURCE,
        tags=[types.DiagnosticTag.Unnecessary] if problem.code in UNUSED else None,
        related_information=[*_related(problem, project, buffer.encoding)] or None,
        data={"title": CODES[problem.code].title},
    )


def _related(problem: Diagnostic, project: OpenProject, encoding: str) -> Iterable[types.DiagnosticRelatedInformation]:
    """Yield the other place that a hint names, if it is in the project."""
    match = OTHER_PLACE.search(problem.hint)
    if match is None or project.text(match[1]) is None:
        return
    buffer = buffer_of(project, match[1], encoding)
    line = int(match[2]) - 1
    if line < len(buffer.starts):
        start = buffer.starts[line] + int(match[3]) - 1
        place = types.Location(uri_of(project, match[1]), range_of(buffer, start, start))
        yield types.DiagnosticRelatedInformation(place, problem.hint)


def completion_item(proposal: Proposal, buffer: TextBuffer) -> types.CompletionItem:
    quote = buffer.text[proposal.start : proposal.start + 1]
    return types.CompletionItem(
        label=proposal.label,
        kind=PROPOSED[proposal.kind],
        documentation=proposal.about or None,
        # Editors filter by what is in the range, which begins with the quote.
        filter_text=quote + proposal.label if quote in QUOTES else proposal.label,
        text_edit=types.TextEdit(range_of(buffer, proposal.start, proposal.end), proposal.new),
    )


def code_action(fix: Fix, diagnostic: types.Diagnostic, project: OpenProject, encoding: str) -> types.CodeAction:
    return types.CodeAction(
        title=fix.title,
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[diagnostic],
        is_preferred=fix.preferred or None,
        edit=workspace_edit(fix, project, encoding),
    )


def workspace_edit(fix: Fix, project: OpenProject, encoding: str) -> types.WorkspaceEdit:
    """Return the changes of a fix: by file, and with a new file first if one is needed."""
    created = [types.CreateFile(uri_of(project, each.path)) for each in fix.changes if each.creates]
    changes: dict[str, list[types.TextEdit]] = {}
    for each in fix.changes:
        buffer = buffer_of(project, each.path, encoding)
        edit = types.TextEdit(range_of(buffer, each.start, each.end), each.new)
        changes.setdefault(uri_of(project, each.path), []).append(edit)
    # Only document changes can create a file; every client knows the simpler form.
    if not created:
        return types.WorkspaceEdit(changes=changes)
    edits = [
        types.TextDocumentEdit(types.OptionalVersionedTextDocumentIdentifier(uri, None), [*those])
        for uri, those in changes.items()
    ]
    return types.WorkspaceEdit(document_changes=[*created, *edits])


def symbol_of(definition: PlacedDefinition, buffer: TextBuffer) -> types.DocumentSymbol:
    whole, named = definition.whole, definition.named
    # LSP demands that the selection range is inside the range; a name may be in another file.
    inside = whole.start <= named.start and named.end <= whole.end and named.path == whole.path
    place = range_of(buffer, whole.start, whole.end)
    return types.DocumentSymbol(
        name=definition.name or definition.kind,
        kind=KINDS[definition.kind],
        detail=definition.kind,
        range=place,
        selection_range=range_of(buffer, named.start, named.end) if inside else types.Range(place.start, place.start),
    )
