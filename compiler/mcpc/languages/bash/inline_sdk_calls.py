"""Rewriting of `$(…)` calls of the SDK in Bash tools to calls that need no process.

`name="$(mcp_args_get '.name')"` forks a shell only to read a variable.  It becomes, in the same line,

    if __mcpc_to_args_get '.name'; then name="$__mcpc_out"; else name="$(mcp_args_get '.name')"; fi

so that whatever the SDK cannot answer directly, and every error, is handled by the original text.

A line is changed only if it is one simple command, each word of it plain text or the value of a variable, in a script
that is forkable (`mcpc.languages.bash.forkable`), and that neither defines functions of these names nor reads the
effects of a substitution.  No line moves; so none is changed in a substitution over several lines, which Bash 5.2
rewrites with other lines before it reads it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache
from typing import TYPE_CHECKING

from mcpc.languages.bash.forkable import TRAP, without_comments
from mcpc.languages.bash.lexer import PARENTHESISED, Lexer, scan_library
from mcpc.languages.bash.lexer_state import FrameKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mcpc.reading import Source

FUNCTIONS = ("args_get", "args_require", "args_bool", "args_int", "json_obj", "json_arr", "json_escape")
"""The functions of the SDK with a `__mcpc_to_…` variant, without their `mcp_`."""
SDK_FUNCTION = rf"mcp_(?:{'|'.join(FUNCTIONS)})"
NAME = r"[A-Za-z_]\w*"
WORD = rf"""(?:'[^'\n]*'|"(?:[^"$`\\\n]|\$\{{{NAME}\}}|\${NAME})*"|[\w./:,@%+=-]+)"""
WORDS = rf"(?:[ \t]+{WORD})*"
FALLBACK = rf"(?:[ \t]+2>[ \t]*/dev/null)?(?:[ \t]*\|\|[ \t]*(?:true|:|echo{WORDS}))?"
SDK_CALL = re.compile(
    rf"\$\([ \t]*mcp_(?P<function>{'|'.join(FUNCTIONS)})(?P<words>{WORDS}){FALLBACK}[ \t]*\)", re.ASCII
)
ASSIGNMENT = re.compile(rf"(?:(?:local|declare|export|readonly)[ \t]+)?{NAME}=", re.ASCII)
COMMAND = re.compile(rf"{NAME}{WORDS}[ \t]+", re.ASCII)
MORE_WORDS = re.compile(WORDS, re.ASCII)
ONE_WORD = re.compile(WORD, re.ASCII)
LINE = re.compile(r"^[ \t]*([A-Za-z_].*)$", re.MULTILINE)
END = re.compile(r"(?:[ \t]+#.*|[ \t]*)$")
VARIABLES = re.compile(rf"\$\{{?({NAME})", re.ASCII)
DIFFERS_IN_SUBSHELL = frozenset({"RANDOM"})
"""Variables with another value in a shell that only substitutes."""
SDK_FOLDER = r"\$(?:MCP_SDK|\{MCP_SDK(?::?[-=?][^}\"'\n]*)?\})"
SOURCES_SDK = re.compile(
    rf"^(?:source|\.)[ \t]+\"?{SDK_FOLDER}\"?/tool-sdk\.sh\"?(?:[ \t]+#[^\n]*|[ \t]*)$", re.MULTILINE
)
LOCALS = "IFS|LC_ALL"
"""Local variables of the SDK's functions whose names scripts may use, and which fail if read-only."""
BUILTINS = (
    "local|declare|export|readonly|set|unset|return|printf|shift|mapfile|read|shopt|break|continue|source|exit|builtin"
)
BLANK = r"(?:[ \t]|\\\n)"
IN_LINE = r"(?:\\\n|[^\n]){0,200}?"
OPTIONS = r"(?:[ \t]+-\w+){0,4}"
EXIT_TRAP = TRAP % r"(?:(?i:EXIT)|0)"
OBSERVES_REWRITING = re.compile(
    rf"""
    {SDK_FUNCTION}{BLANK}*\( | \bfunction{BLANK}+{SDK_FUNCTION}\b    # not the SDK's any more
    | \bunset\b{IN_LINE}(?:\bmcp_|\$) | \beval\b
    | (?<![\w-])(?:{BUILTINS}|[.:[]){BLANK}*\({BLANK}*\) | \bfunction{BLANK}+(?:(?:{BUILTINS})\b|[.:[])    # not Bash's
    | \balias\b | (?i:_aliases)\b
    | \b(?:trap|unset|readonly)\b[^\n]{{200}}    # unknown: a long line is not searched from each of its words
    | \b(?:BASH_REMATCH|PIPESTATUS|FUNCNEST|BASH_COMPAT)\b | \$\{{?_(?!\w) | \$\{{!\w*[*@]\}}
    | {EXIT_TRAP}    # at any time, or for each process that ends
    | \bset\b[^\n;|&]{{0,100}}[ \t]-\w*[akr] | -\w*o\w*[ \t]+["']?(?:allexport|keyword|\$)    # what is exported
    | \b(?:declare|typeset|local){OPTIONS}[ \t]+-\w*n | \blocalvar_
    | \b(?:readonly|(?:declare|typeset){OPTIONS}[ \t]+-\w*r\w*)\b{IN_LINE}(?<![\w$.{{-])(?:{LOCALS})\b
    | \b(?:readonly|(?:declare|typeset)[ \t]+-\w*r\w*){OPTIONS}[ \t]+["']?\$
    | (?<![\w${{])LC_ALL\b(?!=["']?(?:C|POSIX)?["']?(?:[\s;&|)]|\Z))    # Bash may print a warning
    | \bMCP_SDK=(?!["']?\$\{{MCP_SDK:?[-=?]) | \b(?:for|read|printf)\b[^\n]{{0,100}}[ \t]["']?MCP_SDK\b
    """,
    re.VERBOSE | re.ASCII,
)


class SubstitutionLexer(Lexer):
    """A lexer that records the start and end of substitutions.

    `is_certain`: no parentheses only looked like arithmetic, in which case Bash 5.2 looks elsewhere for the text of a
    here-document.
    """

    __slots__ = ("is_certain", "substitutions")

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.is_certain = True
        self.substitutions: list[tuple[int, int]] = []

    def push(self, kind: FrameKind, start: int, hidden: bool = True) -> None:
        if kind in PARENTHESISED and self.text.startswith(("((", "$(("), start):
            self.is_certain = False
        super().push(kind, start, hidden)

    def pop(self) -> None:
        frame = self.frames[-1]
        if frame.kind is FrameKind.SUBSTITUTION:
            self.substitutions.append((frame.start, self.at))
        super().pop()


def without_substitutions(source: Source, closure: Iterable[Source]) -> bytes:
    """Return the rewritten text of a script, empty if unchanged; `closure`: the script, and the files that it reads."""
    if any(_observes_rewriting(item) for item in closure):
        return b""
    text = source.text
    reader = SubstitutionLexer(text)
    scanned = reader.run()
    certain = {chunk.start for chunk in scanned.chunks} & scanned.begun
    # Above this line the functions of the SDK do not exist.
    start = next((line.end() for line in SOURCES_SDK.finditer(text) if line.start() in certain), -1)
    if start < 0 or not reader.is_certain:
        return b""
    begun = _outside(scanned.begun, reader.substitutions)
    pieces, last = [], 0
    for line in LINE.finditer(text, start):
        changed = _rewritten(line[1]) if line.start(1) in begun else ""
        if changed:
            pieces += [text[last : line.start(1)], changed]
            last = line.end()
    return "".join([*pieces, text[last:]]).encode("utf-8", "surrogateescape") if pieces else b""


@lru_cache(maxsize=256)  # many scripts read one library
def _observes_rewriting(source: Source) -> bool:
    return OBSERVES_REWRITING.search(without_comments(source.text, scan_library(source.text))) is not None


def _outside(places: set[int], stretches: list[tuple[int, int]]) -> set[int]:
    """Return the positions that are outside all ranges."""
    outer: list[tuple[int, int]] = []
    for stretch in sorted(stretches):
        if not outer or stretch[0] >= outer[-1][1]:
            outer.append(stretch)
    within = ((place, bisect_right(outer, (place,)) - 1) for place in places)
    return {place for place, before in within if before < 0 or place >= outer[before][1]}


def _rewritten(line: str) -> str:
    """Return the rewritten line, or an empty string if it cannot be rewritten."""
    call = SDK_CALL.search(line)
    if call is None:
        return ""
    before, after = line[: call.start()], line[call.end() :]
    is_quoted = before.endswith('"') and after.startswith('"')
    if is_quoted:
        before, after = before[:-1], after[1:]
    more = MORE_WORDS.match(after)
    rest = after[more.end() :] if more is not None else after
    if ASSIGNMENT.fullmatch(before):
        more = None
        rest = after
    elif not is_quoted or COMMAND.fullmatch(before) is None:
        return ""
    if END.match(rest) is None:
        return ""
    command = line[: len(line) - len(rest)]
    direct = f'{before}"$__mcpc_out"{more[0] if more is not None else ""}'
    names = dict.fromkeys(_variables(call["words"]))
    if DIFFERS_IN_SUBSHELL & names.keys():
        return ""
    # A variable without a value may end the script (`set -u`), which is left to the original text.
    guards = "".join(f"[[ ${{{name}+x}} ]] && " for name in names)
    return f"if {guards}__mcpc_to_{call['function']}{call['words']}; then {direct}; else {command}; fi{rest}"


def _variables(words: str) -> Iterator[str]:
    """Yield the variables in some words: if one has no value, it may end the script or function."""
    for word in ONE_WORD.findall(words):
        if word.startswith('"'):
            yield from VARIABLES.findall(word)
