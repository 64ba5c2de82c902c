"""The diagnostics of a program that could not be described: what happened, where, and what to do about it.

A tool that returns what such a module makes would answer with something else, so the import is an error.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span, diagnose
from mcpc.diagnostics.model import quoted
from mcpc.frontends.causes import STARTED, Help, Raised, explained, line_span, span_of
from mcpc.frontends.causes.surroundings import NO_NETWORK, VARIABLE, absent_text, give, no_network, variables_text
from mcpc.frontends.fastmcp.frameworks import package_of
from mcpc.frontends.fastmcp.late_imports import missing_imports, reached_files
from mcpc.frontends.fastmcp.program import SECONDS
from mcpc.frontends.static_faults import imported_at_once, misspelt_decorators, misspelt_uses, undefined_names
from mcpc.languages import LANGUAGES, imports
from mcpc.packages import missing_module_hint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mcpc.diagnostics import Diagnostic
    from mcpc.frontends.fastmcp.entry_points import EntryPoint
    from mcpc.frontends.fastmcp.packages import ProgramPackages
    from mcpc.frontends.fastmcp.program import LackingName, ProgramFailure
    from mcpc.reading import Source, SourceTree

WORD = re.compile(r"\w")
"""What a line has that says something."""
FRAME = "│┃╭╮╰╯─━ "
"""What command lines draw around their messages."""
USAGE_STATUS = "2"
"""The status of a program that did not get the arguments that it needs."""
AS_OF_A_DATE = "take all packages as they were when the project was written: `--exclude-newer DATE`"
REQUIRED_ARGUMENTS = re.compile(
    r"(?:the following arguments are required: |Missing (?:argument|option|parameter) ')"
    r"(?P<names>[\w/-]+(?:, [\w/-]+)*)"
)
"""What `argparse` and `click` print."""
NAME_ENTRY = "name what makes the server: `--entry FILE:OBJECT`"
BUNDLE = "let the framework itself handle calls: `--framework original`"
STAND_IN_MODULES = ("fastmcp", "mcp", "mcp_types", "uvicorn")
SYNTAX_ERRORS = ("IndentationError", "SyntaxError", "TabError")
MISSING_PARTS = ("AttributeError", "ImportError", "NotImplementedError", "TypeError")
"""Exceptions of programs that use what a stand-in does not have."""
MAX_MESSAGE, MAX_LINES = 300, 3
SILENT = ("ended", "exited", "input", "late", "no server", "process")
"""The kinds of failures that do not say why: what the program printed does."""


def failure_diagnostic(
    failure: ProgramFailure, entry: EntryPoint, tree: SourceTree, *, carried: bool = False
) -> Diagnostic:
    """Return the diagnostic of a failure; `entry`: what was run; `carried`: with its original framework."""
    # The reader of Python files reports a syntax error at its exact place, of which the exception has the line only.
    broken = tree.get(failure.path) if failure.type in SYNTAX_ERRORS else None
    if broken is not None and (problems := LANGUAGES["python"](broken)[1]):
        return problems[0]
    # The kind comes from the process of the project, which may write anything.
    code, describe = DESCRIPTIONS.get(failure.kind, DESCRIPTIONS["raised"])
    message, hint = describe(failure, entry)
    message += printed_text(failure)
    advice = Help(hint, certain=False) if hint else raised_help(failure, tree)
    hint = advice.text
    said = failure.hosts or NO_NETWORK.search(f"{failure.message}\n{failure.output}")
    if failure.kind in SILENT and bool(said) and not tree.options.build_network:
        hint = f"{no_network(STARTED)}; or {hint}"
    if is_of_stand_in(failure) and not carried and not advice.certain:
        hint = f"{hint}; or {BUNDLE}"
    return diagnose(code, place_of(failure, entry, tree), message, "", hint)


def lacking_diagnostic(names: Sequence[LackingName], entry: EntryPoint, tree: SourceTree) -> Diagnostic:
    """Return the diagnostic of what has no stand-in: of the first name in the project, else of one in a package."""
    first = next((item for item in names if item.path), names[0])
    source = tree.get(first.path) if first.path else None
    span = Span(entry.file) if entry.file else None
    if source is not None:
        span = line_span(source, first.line)
        word = re.search(rf"\b{re.escape(first.name.rpartition('.')[2])}\b", source.text[span.start : span.end])
        span = span if word is None else Span(span.path, span.start + word.start(), span.start + word.end())
    who = "" if first.path else ", which a package of the program uses"
    return diagnose("MCP290", span, f"the adapter does not have `{first.name}`{who}", "", BUNDLE)


def is_of_stand_in(failure: ProgramFailure) -> bool:
    """Tell whether a program may fail because a stand-in lacks a part of the framework."""
    if failure.kind in ("module", "part of a package"):
        return failure.missing.partition(".")[0] in STAND_IN_MODULES
    return failure.kind == "unsupported" or (failure.kind == "raised" and failure.type in MISSING_PARTS)


def place_of(failure: ProgramFailure, entry: EntryPoint, tree: SourceTree) -> Span | None:
    """Return the place of a failure in the project, else the file of the entry."""
    source = tree.get(failure.path) if failure.path else None
    if source is None:
        return Span(entry.file) if entry.file else None
    return line_span(source, failure.line) if failure.raised is None else span_of(failure.raised, source)


def brief(text: str) -> str:
    """Return a message on one line, shortened."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_MESSAGE else f"{line[:MAX_MESSAGE]} …"


def printed_text(failure: ProgramFailure) -> str:
    """Return the end of what a program printed, of its usage the last line; nothing if the failure says why it is."""
    if failure.kind not in SILENT or (failure.kind == "exited" and not has_status(failure)):
        return ""
    lines = [text.strip(FRAME) for text in failure.output.splitlines() if WORD.search(text)]
    count = 1 if failure.message == USAGE_STATUS else MAX_LINES
    text = " / ".join(" ".join(line.split()) for line in lines[-count:])
    return f": {'… ' if len(text) > MAX_MESSAGE else ''}{text[-MAX_MESSAGE:].lstrip()}" if text else ""


def has_status(failure: ProgramFailure) -> bool:
    """Tell whether a program exited with a status, and not with a text."""
    return failure.message.isdecimal() or failure.message in ("", "None")


def variables_hint(*texts: str) -> str:
    """Return how to give the variables that messages mention, an empty string if they mention none."""
    names = [*dict.fromkeys(name for text in texts for name in VARIABLE.findall(text))]
    return f"if the program needs {variables_text(names)} to start, {give(names)}" if names else ""


def raised_of(failure: ProgramFailure) -> Raised:
    """Return the exception of a failure."""
    known = Raised(failure.type, (), failure.message, failure.path, failure.line)
    return known if failure.raised is None else failure.raised


def _late(failure: ProgramFailure, entry: EntryPoint) -> tuple[str, str]:
    message = f"the program `{entry.target}` did not serve within {SECONDS} seconds"
    return message, "let it connect and load when a tool is called, or in `lifespan`, not before it serves"


def _exited(failure: ProgramFailure, entry: EntryPoint) -> tuple[str, str]:
    is_status = has_status(failure)
    status = f"with status {failure.message if failure.message.isdecimal() else 0} " if is_status else ""
    message = f"the program `{entry.target}` exits {status}before it serves"
    reason = "" if is_status else brief(failure.message)
    names = required_arguments(failure) or ["ARGUMENTS"]
    words = " ".join(f"{word} VALUE" if word.startswith("-") else word for word in names)
    arguments = f"give it the arguments with which it serves: `--entry '{entry.target} {words}'`"
    variables = "" if failure.message == USAGE_STATUS else variables_hint(failure.output, failure.message)
    return message + (f": {reason}" if reason else ""), variables or arguments + absent_text(raised_of(failure).absent)


def required_arguments(failure: ProgramFailure) -> list[str]:
    """Return the arguments that a usage message requires; of alternatives (`-r/--root`) the last."""
    required = REQUIRED_ARGUMENTS.search(failure.output)
    return [] if required is None else [name.rpartition("/")[2] for name in required["names"].split(", ")]


def _no_server(failure: ProgramFailure, entry: EntryPoint) -> tuple[str, str]:
    return f"the program `{entry.target}` ends without making a server", variables_hint(failure.output) or NAME_ENTRY


def _several(failure: ProgramFailure, entry: EntryPoint) -> tuple[str, str]:
    message = f"the program `{entry.target}` makes {len(failure.names)} servers and serves none"
    return f"{message}: {quoted(failure.names)}", NAME_ENTRY


def _unsupported(failure: ProgramFailure, entry: EntryPoint) -> tuple[str, str]:
    return failure.message, "remove it"


def _module(failure: ProgramFailure, entry: EntryPoint) -> tuple[str, str]:
    name = failure.missing.partition(".")[0]
    return f"the module `{failure.missing}` is not available", missing_module_hint(name, ())


def _part(failure: ProgramFailure, entry: EntryPoint) -> tuple[str, str]:
    name = failure.missing.partition(".")[0]
    message = f"the module `{failure.missing}` is not in the version of `{name}` that is installed"
    return message, f"name a version that has it in the requirements, or {AS_OF_A_DATE}"


def _input(failure: ProgramFailure, entry: EntryPoint) -> tuple[str, str]:
    message = f"the program `{entry.target}` reads from the terminal before it serves"
    return message, "take what it needs from arguments or variables"


def _raised(failure: ProgramFailure, entry: EntryPoint) -> tuple[str, str]:
    text = brief(raised_of(failure).message)
    return f"the program `{entry.target}` cannot be run: {failure.type}" + (f": {text}" if text else ""), ""


def raised_help(failure: ProgramFailure, tree: SourceTree) -> Help:
    """Return what to do about an exception."""
    if failure.type == "ImportError" and not failure.path:
        return Help(f"a package may be too new for the one that imports it: {AS_OF_A_DATE}", certain=False)
    return explained(raised_of(failure), tree, STARTED, failure.output)


def _process(failure: ProgramFailure, entry: EntryPoint) -> tuple[str, str]:
    hint = "do what needs more than that when a tool is called, or in `lifespan`, not before the program serves"
    return f"the program `{entry.target}` cannot be described: {failure.message}", hint


DESCRIPTIONS: dict[str, tuple[str, Callable[[ProgramFailure, EntryPoint], tuple[str, str]]]] = {
    "ended": ("MCP284", _process),
    "exited": ("MCP284", _exited),
    "input": ("MCP284", _input),
    "late": ("MCP284", _late),
    "module": ("MCP209", _module),
    "no server": ("MCP284", _no_server),
    "process": ("MCP286", _process),
    "part of a package": ("MCP209", _part),
    "raised": ("MCP286", _raised),
    "several servers": ("MCP284", _several),
    "unsupported": ("MCP290", _unsupported),
}
"""The code and the texts of each kind of failure."""
FAILURE_CODES = frozenset(code for code, _ in DESCRIPTIONS.values())


def other_faults(tree: SourceTree, entry: EntryPoint, packages: frozenset[str]) -> Iterator[Diagnostic]:
    """Yield the faults of a program's files, which may have its failure among them; `packages`: the modules it has."""
    for source in reached_files(tree, entry):
        yield from faults_of(source, tree, entry, packages)


def explains(fault: Diagnostic, failure: Diagnostic) -> bool:
    """Tell whether a fault is the failure of a run, or the reason for it: a class that the framework does not have."""
    is_same = fault.code == failure.code and (fault.span == failure.span or fault.message == failure.message)
    return is_same or fault.code == "MCP219"


def faults_of(source: Source, tree: SourceTree, entry: EntryPoint, packages: frozenset[str]) -> Iterator[Diagnostic]:
    """Yield the faults of a file."""
    yield from LANGUAGES["python"](source)[1]
    at_once = imported_at_once(source)
    for name, span, hint in missing_imports(source, tree, packages):
        if name in at_once:
            yield diagnose("MCP209", span, f"the module `{name}` is not available", "", hint)
    yield from misspelt_uses(source)
    for fault in (*misspelt_decorators(source), *undefined_names(source, late=True)):
        message = f"the program `{entry.target}` cannot be run: {fault.type}: {fault.message}"
        yield diagnose("MCP286", fault.span, message, "", fault.hint)


MODULES = {("fastmcp", "prefab_ui"): "the adapter does not make results with Prefab UI (`prefab_ui`)"}
"""What is not available, by the framework's package and the module."""


def unsupported_modules(tree: SourceTree, entry: EntryPoint, packages: ProgramPackages) -> Iterator[Diagnostic]:
    """Yield each import of such a module in the files that an entry reaches, unless the framework itself is bundled."""
    package = package_of(packages.framework)
    for source in () if packages.has_framework else reached_files(tree, entry):
        for name, span in imports(source):
            if (package, name) in MODULES:
                yield diagnose("MCP290", span, MODULES[package, name], "", f"remove it; or {BUNDLE}")
