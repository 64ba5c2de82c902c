"""Reader of Bash libraries: their functions by the lexer, their mistakes by `bash -n`.

The library is not run.  What is not determined before it runs (a function defined by `eval`, or in another file) is not
found.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

from mcpc.diagnostics import Diagnostic, Diagnostics, Span, diagnose
from mcpc.languages.bash.lexer import scan_library
from mcpc.languages.bash.syntax import check_syntax
from mcpc.languages.module import Function, HandlerModule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.languages.bash.lexer_state import Scan, Word
    from mcpc.reading import Source

NAME = re.compile(r"""[^"'\\$`]+""")
FILES_VARIABLE = "MCPC_FILES"
"""The variable with the folder of the project's files; libraries name it in texts for other programs, too."""
OPTIONS = re.compile(r"-[A-Za-z]+")
LINE_END = "\r\n"

OWN_PLACE = re.compile(
    r"\$\{?[#!]?(?P<variable>BASH_SOURCE)\b"
    r"|(?P<name>\b(?:dirname|readlink|realpath)\b[^\n;|&)]{0,80}?\$(?:0|\{0\})|\$\{0%)"
)
EQUALS = r"[ \t]*(?:==?|!=|-ef)[ \t]*"
RUN_OR_READ = re.compile(
    rf'(?P<left>BASH_SOURCE)(?:\[[^]\n]{{0,8}}\])?\}}?"?{EQUALS}"?\$\{{?0'
    rf'|\$\{{?0\}}?"?{EQUALS}"?\$\{{?(?P<right>BASH_SOURCE)'
)
"""`[[ "${BASH_SOURCE[0]}" == "$0" ]]` tests whether the library is run or read, and does not locate files."""


def read_library(source: Source) -> tuple[HandlerModule, Diagnostics]:
    """Return the functions of the Bash library `source`, and its problems."""
    scanned = scan_library(source.text)
    problems = (*_common_problems(source, scanned), *_looks_beside(source, scanned), *_exits(source, scanned))
    asks_place = FILES_VARIABLE in source.text or any(_own_places(source, scanned, "variable"))
    return HandlerModule(_functions(source, scanned), asks_place=asks_place), problems


def script_problems(source: Source) -> Diagnostics:
    """Return the problems of a Bash script, which may do more than a library."""
    return _common_problems(source, scan_library(source.text))


def _common_problems(source: Source, scanned: Scan) -> Diagnostics:
    extglob = any(_switches_on_extglob(command) for command in scanned.commands)
    return (*_windows_line_endings(source), *_null_bytes(source), *check_syntax(source, extglob, scanned.unclosed))


def _functions(source: Source, scanned: Scan) -> dict[str, Function]:
    exported = {name for command in scanned.commands for name in _exports(command)}
    # A quoted name passes `bash -n` and is refused when the library is read.
    return {
        word.text: Function(word.text, Span(source.path, word.start, word.end), word.text in exported)
        for word in scanned.functions
        if NAME.fullmatch(word.text)
    }


def _letters_and_names(command: list[Word]) -> tuple[set[str], list[str]]:
    """Return the letters of the options of `command`, and its other arguments without their quotes."""
    letters: set[str] = set()
    names: list[str] = []
    for word in command[1:]:
        if not names and OPTIONS.fullmatch(word.text):
            letters.update(word.text[1:])
        elif word.text != "--":
            names.append(word.text.strip("\"'"))
    return letters, names


def _exports(command: list[Word]) -> list[str]:
    wanted = {"export": {"f"}, "declare": {"f", "x"}, "typeset": {"f", "x"}}.get(command[0].text)
    letters, names = _letters_and_names(command)
    # `export -nf` takes the export back.
    return names if wanted is not None and wanted <= letters and "n" not in letters else []


def _switches_on_extglob(command: list[Word]) -> bool:
    letters, names = _letters_and_names(command)
    return command[0].text == "shopt" and "s" in letters and "extglob" in names


def _windows_line_endings(source: Source) -> Iterator[Diagnostic]:
    count = source.text.count(LINE_END)
    if count:
        start = source.text.index(LINE_END)
        message = (
            f"{'1 line ends' if count == 1 else f'{count} lines end'} with CR LF, which Bash takes for part of them"
        )
        yield diagnose("MCP501", Span(source.path, start, start + 2), message, "LF", "save it with Unix line endings")


def _null_bytes(source: Source) -> Iterator[Diagnostic]:
    start = source.text.find("\0")
    if start >= 0:
        yield diagnose("MCP204", Span(source.path, start, start + 1), "a null byte, which Bash cannot read")


def _looks_beside(source: Source, scanned: Scan) -> Iterator[Diagnostic]:
    """Yield the places where the library takes `$0` for its own name, which differs in every server."""
    reported = -1
    for match in _own_places(source, scanned, "name"):
        line = source.position(match.start())[0]
        if line != reported:
            reported = line
            hint = "`$MCPC_FILES` is the folder of the project's files: the server unpacks them for that"
            message = "`$0` names the program that runs, not the file of this library"
            yield diagnose("MCP211", Span(source.path, *match.span()), message, hint=hint)


def _own_places(source: Source, scanned: Scan, group: str) -> Iterator[re.Match[str]]:
    """Yield where the library reads its own path: by BASH_SOURCE, or by `$0`."""
    literal = sorted(scanned.literal)
    starts = [start for start, _ in literal]
    comparisons = {match.start(match.lastgroup or 0) for match in RUN_OR_READ.finditer(source.text)}
    for match in OWN_PLACE.finditer(source.text):
        before = bisect_right(starts, match.start()) - 1
        is_literal = before >= 0 and match.start() < literal[before][1]
        if match[group] and not is_literal and match.start("variable") not in comparisons:
            yield match


def _exits(source: Source, scanned: Scan) -> Iterator[Diagnostic]:
    for command in scanned.commands:
        name = command[0]
        # `exec` with nothing but redirections goes on.
        if name.text == "exit" or (name.text == "exec" and len(command) > 1):
            hint = "`return` stops reading the library and keeps what it has defined" if name.text == "exit" else ""
            message = f"`{name.text}` outside a function ends the shell that reads the library, and every call with it"
            yield diagnose("MCP212", Span(source.path, name.start, name.end), message, hint=hint)
