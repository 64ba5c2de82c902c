"""Syntax check of Bash libraries by Bash itself: `bash -n` reads them and runs nothing.

Bash's messages are reworded, with the span that they mean; messages that are not in `KNOWN_ERRORS` are reported
unchanged.
"""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mcpc.diagnostics import Diagnostic, Diagnostics, Severity, Span, diagnose
from mcpc.sandbox import programs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mcpc.languages.bash.lexer_state import Word
    from mcpc.reading import Source

LOOPS = ("while", "until", "for", "select")
CLOSERS = {
    "if": "fi",
    **dict.fromkeys(LOOPS, "done"),
    "case": "esac",
    "{": "}",
    "${": "}",
    **dict.fromkeys(("(", "$("), ")"),
    **dict.fromkeys(("((", "$(("), "))"),
    "[[": "]]",
}
"""What closes each construct."""
BODIES = {"if": "then", **dict.fromkeys(LOOPS, "do"), "case": "in"}
"""The word before the body of each construct."""
OPENERS = {"fi": ("if",), "else": ("if",), "elif": ("if",), "done": LOOPS, "esac": ("case",)}
ALONE = {
    **dict.fromkeys(("}", ")", "fi", "done", "esac"), "nothing is open that it closes"),
    **dict.fromkeys(("then", "else", "elif"), "it belongs between `if` and `fi`"),
    "do": "it belongs between `while`, `until` or `for`, and `done`",
}
"""What is wrong with a word where no construct is open."""
OUTSIDE_TEXT = re.compile(r"\}|(?:function\s+)?[\w.:-]+\s*\(\)")
"""Matches a line that is hardly one of a text in quotes: a function begins or ends."""


def unexpected_word(source: Source, word: str, at: int, unclosed: Sequence[Word]) -> str:
    """Return why Bash did not expect a word; `unclosed`: the openers without an end."""
    above = [opener for opener in unclosed if opener.start < at]
    if above and CLOSERS.get(above[-1].text, word) != word:
        opener, start = above[-1].text, above[-1].start
        lacking = CLOSERS[opener] if _has_body(source, opener, start, at) else BODIES[opener]
        return f"the `{opener}` of line {source.position(start)[0]} has no `{lacking}` before it"
    openers = "|".join(OPENERS.get(word, ()))
    matches = [*re.finditer(rf"\b(?:{openers})\b", source.text[:at])] if openers else []
    if matches and not _has_body(source, (opener := matches[-1][0]), matches[-1].start(), at):
        return f"the `{opener}` of line {source.position(matches[-1].start())[0]} has no `{BODIES[opener]}` before it"
    return "" if above else ALONE.get(word, "")


def _has_body(source: Source, opener: str, start: int, end: int) -> bool:
    body = BODIES.get(opener)
    return body is None or re.search(rf"\b{body}\b", source.text[start:end]) is not None


def never_closed(source: Source, unclosed: Sequence[Word]) -> str:
    """Return the innermost opener without an end."""
    if not unclosed:
        return ""
    innermost = unclosed[-1]
    return f"the `{innermost.text}` of line {source.position(innermost.start)[0]} is never closed"


def open_quote(source: Source, quote: str) -> str:
    """Return the line of a quote that seems to be closed by another one: functions end and begin between them."""
    begun = 0
    for number, line in enumerate(source.text.split("\n"), 1):
        if begun and OUTSIDE_TEXT.match(line):
            return f"is the `{quote}` of line {begun} closed where it should be?"
        if line.replace(f"\\{quote}", "").count(quote) % 2:
            begun = 0 if begun else number
    return ""


def indented_end(source: Source, delimiter: str) -> str:
    """Return the line of a here-document's end that does not count, because blanks are before or behind it."""
    for number, line in enumerate(source.text.split("\n"), 1):
        if line.strip() == delimiter and line != delimiter:
            return f"line {number} has blanks beside `{delimiter}`: it has to stand alone (`<<-` allows tabs before it)"
    return f"write `{delimiter}` alone on the line after the text"


SECONDS = 10
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

LINE = re.compile(r"line ([0-9]+): (.*)", re.DOTALL)
QUOTATION = re.compile(r"`([^`]*?)'(?!')|`(')'")


@dataclass(frozen=True, slots=True)
class BashMessage:
    """A message of Bash: `pattern` matches it, `message` is the reworded text; `line` and `token` name groups of it.

    `cause`: returns which construct it is about, from the file, the token, its place, and the openers without an end.
    """

    pattern: re.Pattern[str]
    message: str
    cause: Callable[[Source, str, int, list[Word]], str] = unexpected_word
    line: int = 0
    token: int = 0


def _never_closed(source: Source, token: str, _at: int, unclosed: list[Word]) -> str:
    return "" if unclosed and unclosed[-1].text == token else never_closed(source, unclosed)


def _open_quote(source: Source, token: str, _at: int, unclosed: list[Word]) -> str:
    return open_quote(source, token) if token in "\"'`" else never_closed(source, unclosed)


def _indented_end(source: Source, token: str, _at: int, _unclosed: list[Word]) -> str:
    return indented_end(source, token)


KNOWN_ERRORS = (
    BashMessage(re.compile(r"syntax error near unexpected token `newline'"), "unexpected end of line"),
    BashMessage(re.compile(r"syntax error near unexpected token `(.*)'", re.DOTALL), r"unexpected `\1`", token=1),
    BashMessage(re.compile(r"syntax error near `(.*)'", re.DOTALL), r"syntax error near `\1`", token=1),
    BashMessage(
        re.compile(r"syntax error: unexpected end of file from `(.*)' command on line ([0-9]+)"),
        r"the file ends inside the `\1` of line \2",
        _never_closed,
        line=2,
        token=1,
    ),
    BashMessage(re.compile(r"syntax error: unexpected end of file"), "the file ends too early", _never_closed),
    BashMessage(
        re.compile(r"unexpected EOF while looking for matching `(.*)'"),
        r"the file ends before a closing `\1`",
        _open_quote,
        token=1,
    ),
    BashMessage(
        re.compile(r"warning: here-document at line ([0-9]+) delimited by end-of-file \(wanted `(.*)'\)"),
        r"no line `\2` ends the here-document",
        _indented_end,
        line=1,
        token=2,
    ),
)
CONSEQUENCE = "the file ends too early"


def check_syntax(source: Source, extglob: bool, unclosed: list[Word]) -> Diagnostics:
    """Return Bash's errors; `extglob`: the library enables it; `unclosed`: openers without an end."""
    bash = programs.find_bash()
    if not bash:
        return (_unchecked(source, "there is no `bash` to check the file with"),)
    try:
        status, output = _run_bash(bash, source.data, extglob)
    except TimeoutError:
        return (_unchecked(source, f"`bash` did not finish checking the file in {SECONDS} seconds"),)
    except OSError as problem:
        return (_unchecked(source, f"`{bash}` cannot be run: {problem.strerror}"),)
    problems = _problems(source, output, unclosed)
    if status and not problems:
        problems = (
            diagnose("MCP204", Span(source.path), "Bash cannot read the file", hint="is it nested too deeply?"),
        )
    return problems


def _run_bash(bash: str, data: bytes, extglob: bool) -> tuple[int, str]:
    """Run `bash -n` on a copy without separately reported parts, so that nothing is reported twice."""
    text = data.removeprefix(BYTE_ORDER_MARK).replace(b"\0", b"").replace(b"\r\n", b"\n")
    # `bash -n` does not run the `shopt -s extglob` that the following lines of the library need to be read.
    options = ["-O", "extglob"] if extglob else []
    # A file, not the standard input: for that Bash tells no line numbers.
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "library")
        copy.write_bytes(text)
        words = [bash, "--norc", "--noprofile", *options, "-n", str(copy)]
        done = programs.run_program("bash -n", words, SECONDS, cwd=folder, more={"LC_ALL": "C"})
        return done.returncode, done.stderr.decode("utf-8", "surrogateescape").replace(f"{copy}: ", "")


def _unchecked(source: Source, message: str) -> Diagnostic:
    hint = "install Bash 4.4 or newer; the server will need it too"
    return diagnose("MCP210", Span(source.path), message, hint=hint)


def _problems(source: Source, output: str, unclosed: list[Word]) -> Diagnostics:
    problems: list[Diagnostic] = []
    for message in output.splitlines():
        matched = LINE.match(message)
        # A line in quotes is Bash's echo of the line it stumbled over.
        if matched is None or matched[2].startswith("`"):
            continue
        problem = _problem(source, int(matched[1]), matched[2], unclosed)
        # After another error, that the file ends too early says nothing more.
        if problem.message != CONSEQUENCE or all(earlier.severity is Severity.WARNING for earlier in problems):
            problems.append(problem)
    return tuple(problems)


def _problem(source: Source, line: int, message: str, unclosed: list[Word]) -> Diagnostic:
    for known in KNOWN_ERRORS:
        matched = known.pattern.search(message)
        if matched is not None:
            break
    else:
        text = QUOTATION.sub(r"`\1\2`", message).removeprefix("syntax error: ")
        return diagnose("MCP204", _place(source, line, ""), text)
    line = int(matched[known.line]) if known.line else line
    token = matched[known.token] if known.token else ""
    span = _place(source, line, token)
    hint = known.cause(source, token, span.start, unclosed)
    problem = diagnose("MCP204", span, matched.expand(known.message), hint=hint)
    return replace(problem, severity=Severity.WARNING) if message.startswith("warning:") else problem


def _place(source: Source, line: int, token: str) -> Span:
    """Return the span of `token` in `line` as Bash counts lines, or of the whole line; at the end, of the last one."""
    lines = source.text.split("\n")
    line = min(line, len(lines)) - 1
    # At the end of a file, Bash names a line behind the last one that has a text.
    while line > 0 and not lines[line].strip():
        line -= 1
    text = lines[line]
    start = sum(len(earlier) + 1 for earlier in lines[:line])
    # Of several in the line it is not known which one Bash means.
    if token and text.count(token) == 1:
        start += text.index(token)
        return Span(source.path, start, start + len(token))
    stripped = text.strip("\ufeff \t\r")
    start += text.index(stripped)
    return Span(source.path, start, start + len(stripped))
