"""State and lowest layer of the lexer of Bash: the frames of its stack, and quoted text, of which only the end matters.

Every step advances or leaves a frame, and every character is read at most a fixed number of times.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable


class FrameKind(Enum):
    """The kind of a frame: those before DQUOTE contain commands or words; of the others only the end matters."""

    FILE = auto()
    GROUP = auto()
    SUBSHELL = auto()
    SUBSTITUTION = auto()
    IF = auto()
    FOR = auto()
    LOOP = auto()
    CASE = auto()
    CONDITION = auto()
    ARRAY = auto()
    DQUOTE = auto()
    PARAMETER = auto()
    ARITHMETIC = auto()
    LET = auto()
    PATTERN = auto()
    INDEX = auto()


class LexerState(Enum):
    """The meaning of the next word of a command frame."""

    START = auto()
    ASSIGNED = auto()
    ARGUMENTS = auto()
    NAME = auto()
    BODY = auto()
    TIME = auto()
    COPROC = auto()
    COPROC_NAME = auto()
    FOR_NAME = auto()
    FOR_IN = auto()
    CASE_WORD = auto()
    CASE_IN = auto()
    CASE_PATTERN = auto()
    CONDITION = auto()
    REGEX = auto()


class Word(NamedTuple):
    """A word as written, with quotes; the `text` of a very long one is only its beginning."""

    text: str
    start: int
    end: int


class Heredoc(NamedTuple):
    """A here-document whose body has not been reached."""

    delimiter: str
    quoted: bool
    tabs: bool


@dataclass(slots=True)
class Frame:
    """One open construct.  `hidden`: its definitions do not exist after the file has been read."""

    kind: FrameKind
    start: int
    hidden: bool
    state: LexerState
    pending: list[Heredoc]
    word: int = -1
    redirection: str = ""
    fresh: bool = True
    depth: int = 0
    words: list[Word] | None = None


@dataclass(slots=True)
class Chunk:
    """A part of the file that can be removed without effect on others: whole commands.

    `definitions`: functions defined in it; `joined`: it has other commands; `open`: an `&&` or similar operator came
    last. `traps`: a command in it may change how the shell ends; `dynamic`: it may call what it does not name.
    """

    start: int
    end: int = 0
    definitions: list[Word] = field(default_factory=list)
    joined: bool = False
    open: bool = False
    traps: bool = False
    dynamic: bool = False


@dataclass(slots=True)
class Scan:
    """The results of the lexer.

    `commands`: relevant simple commands that run while the file is read; `literal`: ranges of comments or single-quoted
    text; `unclosed`: openers without an end; `chunks`: the parts of the file; `begun`: where simple commands begin.
    """

    functions: list[Word] = field(default_factory=list)
    commands: list[list[Word]] = field(default_factory=list)
    literal: list[tuple[int, int]] = field(default_factory=list)
    unclosed: list[Word] = field(default_factory=list)
    chunks: list[Chunk] = field(default_factory=list)
    begun: set[int] = field(default_factory=set)


class Quoted(NamedTuple):
    """How a quoted text is read: the literal run, its end, what nests in it."""

    run: re.Pattern[str]
    close: str
    open: str = ""


QUOTED = {
    FrameKind.DQUOTE: Quoted(re.compile(r'[^"\\$`]+'), '"'),
    FrameKind.PARAMETER: Quoted(re.compile(r"""[^}'"\\$`]+"""), "}"),
    FrameKind.ARITHMETIC: Quoted(re.compile(r"""[^()'"\\$`]+"""), ")", "("),
    FrameKind.LET: Quoted(re.compile(r"""[^()'"\\$`]+"""), ")", "("),
    FrameKind.PATTERN: Quoted(re.compile(r"""[^()'"\\$`]+"""), ")", "("),
    FrameKind.INDEX: Quoted(re.compile(r"""[^]['"\\$`]+"""), "]", "["),
}
FIRST_STATE = {
    FrameKind.FOR: LexerState.FOR_NAME,
    FrameKind.CASE: LexerState.CASE_WORD,
    FrameKind.CONDITION: LexerState.CONDITION,
    FrameKind.ARRAY: LexerState.ARGUMENTS,
}
EXPANSIONS = {
    "$(": FrameKind.SUBSTITUTION,
    "${": FrameKind.PARAMETER,
    "$[": FrameKind.INDEX,
    "$((": FrameKind.ARITHMETIC,
}
RETREAT = {FrameKind.ARITHMETIC: FrameKind.SUBSTITUTION, FrameKind.LET: FrameKind.SUBSHELL}

DOLLAR = re.compile(r"\$(?:\(\(|[({\['$])?")
ANSI_QUOTED = re.compile(r"\$'[^'\\]*(?:\\.[^'\\]*)*'", re.DOTALL)
BACKQUOTED = re.compile(r"`[^`\\]*(?:\\.[^`\\]*)*`", re.DOTALL)


class QuotedTextLexer:
    """The current position, the stack and the results."""

    __slots__ = ("at", "chunk", "found", "frames", "retries", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 1 if text.startswith("\ufeff") else 0
        self.frames = [Frame(FrameKind.FILE, 0, False, LexerState.START, [])]
        self.found = Scan()
        self.chunk = Chunk(self.at)
        # `((` may turn out to be two parentheses and be read again: in all no more than the length of the file.
        self.retries = len(text)

    def push(self, kind: FrameKind, start: int, hidden: bool = True) -> None:
        top = self.frames[-1]
        # A substitution has here-documents of its own; any other construct shares those of the line.
        pending: list[Heredoc] = [] if kind is FrameKind.SUBSTITUTION else top.pending
        self.frames.append(Frame(kind, start, hidden, FIRST_STATE.get(kind, LexerState.START), pending))

    def pop(self) -> None:
        frame = self.frames.pop()
        if frame.kind is FrameKind.SUBSTITUTION:
            # Bodies that were not read inside of the substitution follow the line in which it is.
            self.frames[-1].pending.extend(frame.pending)

    def step_in_quotes(self, frame: Frame, rule: Quoted) -> None:
        run = rule.run.match(self.text, self.at)
        if run is not None:
            self.at = run.end()
            return
        char = self.text[self.at]
        if char == rule.open:
            frame.depth += 1
            self.at += 1
        elif char != rule.close:
            QUOTES[char](self)
        elif frame.depth:
            frame.depth -= 1
            self.at += 1
        elif frame.kind in RETREAT:
            self._end_arithmetic(frame)
        else:
            self.pop()
            self.at += 1

    def skip_literal(self, end: int) -> None:
        self.found.literal.append((self.at, end))
        self.at = end

    def skip_heredocs(self, frame: Frame) -> None:
        """Skip the bodies of the here-documents begun on the line that ends here."""
        pending = frame.pending[:]
        frame.pending.clear()
        for heredoc in pending:
            start = self.at
            self._skip_heredoc(heredoc, frame.pending is not self.frames[0].pending)
            if heredoc.quoted:
                self.found.literal.append((start, self.at))

    def _skip_heredoc(self, heredoc: Heredoc, substitution: bool) -> None:
        carried = ""
        while self.at < len(self.text):
            newline = self.text.find("\n", self.at)
            end = len(self.text) if newline < 0 else newline
            line = self.text[self.at : end].removesuffix("\r")
            whole = carried + (line.lstrip("\t") if heredoc.tabs else line)
            # In a command substitution Bash takes `EOF)` for the end as well.
            if substitution and not carried and ")" in whole.removeprefix(heredoc.delimiter) != whole:
                self.at = self.text.index(heredoc.delimiter, self.at) + len(heredoc.delimiter)
                return
            self.at = min(end + 1, len(self.text))
            if whole == heredoc.delimiter:
                return
            goes_on = not heredoc.quoted and (len(line) - len(line.rstrip("\\"))) % 2 == 1
            # One character more than the delimiter shows that the line is another; the rest is not kept.
            carried = whole[:-1][: len(heredoc.delimiter) + 1] if goes_on else ""

    def _end_arithmetic(self, frame: Frame) -> None:
        """Close `((…))`; if one parenthesis is missing, the supposed arithmetic is commands: `((a); (b))`."""
        self.pop()
        if self.text.startswith("))", self.at):
            self.at += 2
        elif (length := self.at - frame.start) <= self.retries:
            self.retries -= length
            self.at = self.text.index("(", frame.start) + 1
            self.push(RETREAT[frame.kind], frame.start)
        else:
            self.at += 1

    def _escape(self) -> None:
        # The end of a continued line may be CR LF.
        self.at += 3 if self.text.startswith("\r\n", self.at + 1) else 2

    def _single_quote(self) -> None:
        end = self.text.find("'", self.at + 1)
        self.skip_literal(len(self.text) if end < 0 else end + 1)

    def _double_quote(self) -> None:
        self.push(FrameKind.DQUOTE, self.at)
        self.at += 1

    def _backquote(self) -> None:
        whole = BACKQUOTED.match(self.text, self.at)
        self.at = whole.end() if whole else len(self.text)

    def _dollar(self) -> None:
        match = DOLLAR.match(self.text, self.at)
        token = match[0] if match else "$"
        if token == "$'":
            self._ansi_quote()
            return
        kind = EXPANSIONS.get(token)
        if kind is not None:
            self.push(kind, self.at)
        self.at += len(token)

    def _ansi_quote(self) -> None:
        # Between double quotes, `$'` is a dollar sign and an apostrophe.
        if self.frames[-1].kind is FrameKind.DQUOTE:
            self.at += 1
            return
        whole = ANSI_QUOTED.match(self.text, self.at)
        self.skip_literal(whole.end() if whole else len(self.text))


QUOTES: dict[str, Callable[[QuotedTextLexer], None]] = {
    "\\": QuotedTextLexer._escape,
    "'": QuotedTextLexer._single_quote,
    '"': QuotedTextLexer._double_quote,
    "`": QuotedTextLexer._backquote,
    "$": QuotedTextLexer._dollar,
}
