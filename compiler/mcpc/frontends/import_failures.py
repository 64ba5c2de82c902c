"""Files of decorated functions that cannot be imported: why, by its cause, and what their syntax says nevertheless."""

from __future__ import annotations

import builtins
import re
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span, diagnose
from mcpc.frontends.causes import IMPORTED, explained, line_span, span_of
from mcpc.frontends.causes.names import undefined_help
from mcpc.frontends.introspection.process import syntax_description
from mcpc.frontends.static_faults import bound_names, undefined_names
from mcpc.languages import LANGUAGES, imports
from mcpc.languages.python import parse_python
from mcpc.packages import missing_module_hint

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.frontends.causes import Raised
    from mcpc.frontends.introspection import DecoratedFile, ImportFailure, ImportResults
    from mcpc.reading import Source, SourceTree

UNDEFINED = re.compile(r"`(?P<name>\w+)` is undefined when the file runs")
"""The message about an annotation that cannot be evaluated (`mcpc.frontends.introspection.describe`)."""
PROCESS_ENDED = "do what ends the process, or takes long, inside the function that needs it"


def import_failure(path: str, failure: ImportFailure, tree: SourceTree) -> Diagnostics:
    """Return why a file could not be imported, at the place of the project that shows it."""
    source, raised = tree.get(failure.path), failure.raised
    if raised is None or source is None:
        span = line_span(source, failure.line) if source is not None and failure.line else Span(failure.path)
        hint = PROCESS_ENDED if raised is None else explained(raised, tree, IMPORTED).text
        return (cannot_be_imported(path, failure.message, span, hint),)
    if raised.type in ("SyntaxError", "IndentationError", "TabError"):
        # The reader of Python files reports a syntax error at its exact place.
        problems = LANGUAGES["python"](source)[1]
        if problems:
            return problems
    own = {name.partition("/")[0].removesuffix(".py") for name in tree.files if name.endswith(".py")}
    if raised.type == "ModuleNotFoundError" and raised.name and raised.name.partition(".")[0] not in own:
        return (missing_module(raised, source, own),)
    span = span_of(raised, source) if raised.path == source.path else line_span(source, failure.line)
    return (cannot_be_imported(path, failure.message, span, explained(raised, tree, IMPORTED).text),)


def cannot_be_imported(path: str, why: str, span: Span, hint: str) -> Diagnostic:
    """Return that a file cannot be imported."""
    return diagnose("MCP216", span, f"`{path}` cannot be imported: {why}", "", hint)


def missing_module(raised: Raised, source: Source, own: Collection[str]) -> Diagnostic:
    """Return that a module is missing, at its import, or at the import of the module that needs it."""
    top = raised.name.partition(".")[0]
    there = (span for module, span in imports(source) if module == top)
    hint = missing_module_hint(top, (*sorted(own), *sorted(sys.stdlib_module_names)))
    message = f"the module `{top}` will not be available"
    return diagnose("MCP209", next(there, span_of(raised, source)), message, "", hint)


def with_meant_name(problem: Diagnostic, source: Source) -> Diagnostic:
    """Return a problem; that of an undefined name in an annotation with its place, and the meant name."""
    match, tree = UNDEFINED.fullmatch(problem.message), parse_python(source)
    if match is None or tree is None or problem.span is None:
        return problem
    name, bound = match["name"], bound_names(tree)
    written = re.search(rf"\b{name}\b", source.text[problem.span.start : problem.span.end])
    if name in bound or written is None:
        return problem
    span = Span(source.path, problem.span.start + written.start(), problem.span.start + written.end())
    hint = undefined_help(name, (*sorted(bound), *dir(builtins)), source, source.position(span.start)[0])
    return replace(problem, span=span, hint=hint)


def other_faults(file: DecoratedFile, answers: ImportResults, tree: SourceTree) -> Iterator[Diagnostic]:
    """Yield what else an import would raise, of a file that cannot be imported."""
    answer = answers.files.get(file.source.path)
    if tree.options.imports and (answer is None or answer.failure is not None):
        for fault in undefined_names(file.source):
            why = f"it raises {fault.type}: {fault.message}"
            yield cannot_be_imported(file.source.path, why, fault.span, fault.hint)


def with_syntax(files: Sequence[DecoratedFile], answers: ImportResults) -> ImportResults:
    """Return descriptions in which files that could not be imported have what their syntax says: for other checks."""
    by_path = dict(answers.files)
    for file in files:
        answer = by_path.get(file.source.path)
        if not file.runs or (answer is not None and answer.failure is not None):
            by_path[file.source.path] = replace(syntax_description(file), failure=answer.failure if answer else None)
    return replace(answers, files=by_path)
