"""Bash tools that ask the SDK by `$(…)`: the same without a process, where nobody can tell the difference.

`name="$(mcp_args_get '.name')"` forks a shell only to read a variable.  It becomes, in the same line,

    if __mcpc_to_args_get '.name'; then name="$__mcpc_out"; else name="$(mcp_args_get '.name')"; fi

so that whatever the SDK cannot say at once, and whatever goes wrong, is left to what the author wrote.

Its law: only a line is changed that is one simple command, each word of it plain text or the value of a variable, in a
script that a shell which has read the SDK may run (`mcpc.languages.scripts`), and that neither has functions of these
names of its own nor looks at what a substitution leaves behind.  No line moves.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcpc.languages.bash_lexer import scan

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mcpc.sources import Source

FUNCTIONS = ("args_get", "args_require", "args_bool", "args_int", "json_obj", "json_arr", "json_escape")
"""The functions of the SDK that have a `__mcpc_to_…` beside them, without their `mcp_`."""
OURS = rf"mcp_(?:{'|'.join(FUNCTIONS)})"
NAME = r"[A-Za-z_]\w*"
WORD = rf"""(?:'[^'\n]*'|"(?:[^"$`\\\n]|\$\{{{NAME}\}}|\${NAME})*"|[\w./:,@%+=-]+)"""
WORDS = rf"(?:[ \t]+{WORD})*"
OTHERWISE = rf"(?:[ \t]+2>[ \t]*/dev/null)?(?:[ \t]*\|\|[ \t]*(?:true|:|echo{WORDS}))?"
ASKED = re.compile(rf"\$\([ \t]*mcp_(?P<function>{'|'.join(FUNCTIONS)})(?P<words>{WORDS}){OTHERWISE}[ \t]*\)", re.ASCII)
ASSIGNS = re.compile(rf"(?:(?:local|declare|export|readonly)[ \t]+)?{NAME}=", re.ASCII)
COMMANDS = re.compile(rf"{NAME}{WORDS}[ \t]+", re.ASCII)
MORE = re.compile(WORDS, re.ASCII)
EACH = re.compile(WORD, re.ASCII)
LINES = re.compile(r"^[ \t]*([A-Za-z_].*)$", re.MULTILINE)
END = re.compile(r"[ \t]*(?:#.*)?$")
VARIABLES = re.compile(rf"\$\{{?({NAME})", re.ASCII)
READS_SDK = re.compile(
    r"^(?:source|\.)[ \t]+[\"']?\$\{?MCP_SDK\b[^\n]*/tool-sdk\.sh[\"']?[ \t]*(?:#[^\n]*)?$", re.MULTILINE
)
TELLING = re.compile(
    rf"""
    {OURS}[ \t]*\( | \bfunction[ \t]+{OURS}\b | \bunset\b[^\n]{{0,200}}\bmcp_    # not the SDK's any more
    | \b(?:trap|unset)\b[^\n]{{200}}    # who knows, without looking at a long line from each of its words
    | \b(?:BASH_REMATCH|PIPESTATUS|alias)\b | \$\{{?_(?!\w)
    | \btrap\b[^\n]{{0,200}}\b(?:SIG\w+|HUP|INT|QUIT|USR[12]|PIPE|ALRM|TERM|CHLD|CONT|WINCH|[1-9]\d?)\b  # at any time
    """,
    re.VERBOSE | re.ASCII,
)


def without_substitutions(source: Source, closure: Iterable[Source]) -> bytes:
    """Return what a script is compiled to, nothing if that is itself; `closure`: it, and the files that it reads."""
    text = source.text
    start = READS_SDK.search(text)
    if start is None or any(TELLING.search(one.text) for one in closure):
        return b""
    begun = scan(text).begun
    pieces, last = [], 0
    for line in LINES.finditer(text, start.end()):
        changed = _changed(line[1]) if line.start(1) in begun else ""
        if changed:
            pieces += [text[last : line.start(1)], changed]
            last = line.end()
    return "".join([*pieces, text[last:]]).encode("utf-8", "surrogateescape") if pieces else b""


def _changed(line: str) -> str:
    """Return what a line becomes, nothing if it is not such a line."""
    asked = ASKED.search(line)
    if asked is None:
        return ""
    before, after = line[: asked.start()], line[asked.end() :]
    is_quoted = before.endswith('"') and after.startswith('"')
    if is_quoted:
        before, after = before[:-1], after[1:]
    more = MORE.match(after)
    rest = after[more.end() :] if more is not None else after
    if ASSIGNS.fullmatch(before):
        more = None
        rest = after
    elif not is_quoted or COMMANDS.fullmatch(before) is None:
        return ""
    if END.match(rest) is None:
        return ""
    command = line[: len(line) - len(rest)]
    known = f'{before}"$__mcpc_out"{more[0] if more is not None else ""}'
    guards = "".join(f"[[ ${{{name}+x}} ]] && " for name in dict.fromkeys(_variables(asked["words"])))
    return f"if {guards}__mcpc_to_{asked['function']}{asked['words']}; then {known}; else {command}; fi{rest}"


def _variables(words: str) -> Iterator[str]:
    """Yield the names of the variables in some words: without a value, they end what they stand in."""
    for word in EACH.findall(words):
        if word.startswith('"'):
            yield from VARIABLES.findall(word)
