"""A lexer of Bash that finds where functions begin and end.

It reads any text, never raises, and takes linear time.  Open constructs (quotes, expansions, compound commands) are on
an explicit stack, so nothing recurses.  Its result for text that is not Bash is a guess: `syntax` lets Bash itself
check the text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcpc.languages.bash.lexer_state import QUOTED, QUOTES, Chunk, Frame, FrameKind, LexerState, Scan, Word
from mcpc.languages.bash.word_lexer import (
    ASSIGNMENT,
    BEFORE_COMMAND,
    CONTINUATION,
    MAX_WORD_LENGTH,
    NO_ARGUMENTS,
    WordLexer,
)

if TYPE_CHECKING:
    from collections.abc import Callable

KEPT_OVER_LINES = frozenset(
    {LexerState.BODY, LexerState.FOR_IN, LexerState.CASE_WORD, LexerState.CASE_IN, LexerState.CASE_PATTERN}
)
PARENTHESISED = (FrameKind.SUBSHELL, FrameKind.SUBSTITUTION)

# What neither ends a word nor begins a quotation, an expansion or an operator: read at once.
RUN = re.compile(r"""[^ \t\n\r;&|()<>"'\\$`#[]+""")
BLANKS = re.compile(r"[ \t]+")
EMPTY_LINES = re.compile(r"\n*")
SEMICOLONS = re.compile(r";;&|;;|;&|;")
AMPERSANDS = re.compile(r"&&|&>>|&>|&")
BARS = re.compile(r"\|\||\|&|\|")
ANGLES = re.compile(r"<<<|<<-|<<|<&|<>|<|>>|>&|>\||>")
DESCRIPTOR = re.compile(r"[0-9]+|\{[A-Za-z_][A-Za-z0-9_]*\}")
IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
OPENER = re.compile(r"[a-z]+|\$?\(\(?|\$\{|\$\[|\[\[|.", re.DOTALL)


def scan_library(text: str) -> Scan:
    """Return the functions of the Bash library `text` and other results of the lexer."""
    return Lexer(text).run()


class Lexer(WordLexer):
    """Reads commands: words and operators."""

    __slots__ = ()

    def run(self) -> Scan:
        end = len(self.text)
        while self.at < end:
            frame = self.frames[-1]
            rule = QUOTED.get(frame.kind)
            if rule is None:
                self._step(frame)
            else:
                self.step_in_quotes(frame, rule)
        self.at = end
        if self.frames[-1].kind not in QUOTED:
            self.end_command(self.frames[-1])
        self._end_chunk()
        for frame in self.frames[1:]:
            opener = OPENER.match(self.text, frame.start)
            if opener is not None:
                self.found.unclosed.append(Word(opener[0], opener.start(), opener.end()))
        return self.found

    def _step(self, frame: Frame) -> None:
        run = RUN.match(self.text, self.at)
        if run is None:
            TABLES.get(frame.kind, CHARACTERS)[self.text[self.at]](self, frame)
            return
        self.begin_word(frame)
        self.at = run.end()

    def _quote(self, frame: Frame) -> None:
        self.begin_word(frame)
        QUOTES[self.text[self.at]](self)

    def _backslash(self, frame: Frame) -> None:
        # Between words a continued line is a blank; a word goes on in the next line.
        line_goes_on = CONTINUATION.match(self.text, self.at)
        if line_goes_on is None or frame.word >= 0:
            self._quote(frame)
        else:
            self.at = line_goes_on.end()

    def _blank(self, frame: Frame) -> None:
        self.end_word(frame)
        blanks = BLANKS.match(self.text, self.at)
        if blanks is not None:
            self.at = blanks.end()

    def _carriage_return(self, frame: Frame) -> None:
        """Treat the CR of a CR LF as a blank: it is reported once, elsewhere."""
        if self.text.startswith("\r\n", self.at):
            self.end_word(frame)
        else:
            self.begin_word(frame)
        self.at += 1

    def _hash(self, frame: Frame) -> None:
        if frame.word >= 0:
            self.at += 1
            return
        end = self.text.find("\n", self.at)
        self.skip_literal(len(self.text) if end < 0 else end)

    def _bracket(self, frame: Frame) -> None:
        """Open the subscript of `name[…]=` and of `([…]=…)`; elsewhere `[` is a letter."""
        if frame.kind is FrameKind.ARRAY:
            subscript = frame.word < 0
        else:
            assignable = frame.state in BEFORE_COMMAND or frame.state is LexerState.ASSIGNED
            # Of a long word nothing is compared, since this happens at each `[` in it.
            assignable = assignable and frame.word >= max(0, self.at - MAX_WORD_LENGTH) and not frame.redirection
            subscript = assignable and IDENTIFIER.fullmatch(self.text, frame.word, self.at) is not None
        self.begin_word(frame)
        if subscript:
            self.push(FrameKind.INDEX, self.at)
        self.at += 1

    def _pass(self, frame: Frame) -> None:
        """End the word; skip the character, unless the word was `]]` and the rest belongs to another frame."""
        if self.end_word(frame) is frame:
            self.at += 1

    def _newline(self, frame: Frame) -> None:
        frame = self.end_command(frame)
        self.at += 1
        if frame.kind not in TABLES and frame.state not in KEPT_OVER_LINES:
            frame.state = LexerState.START
        # The bodies of here-documents come before anything else that follows the line.
        self.skip_heredocs(frame)
        if frame.state is not LexerState.START:
            return
        lines = EMPTY_LINES.match(self.text, self.at)
        self.at = lines.end() if lines is not None else self.at
        if frame.kind is FrameKind.FILE and not self.chunk.open:
            self._end_chunk()

    def _end_chunk(self) -> None:
        """Begin a new chunk here, where one command has ended and no other has begun."""
        self.chunk.end = self.at
        self.found.chunks.append(self.chunk)
        self.chunk = Chunk(self.at)

    def _semicolon(self, frame: Frame) -> None:
        token = self._separate(frame, SEMICOLONS)
        frame = self.frames[-1]
        # A here-document that has begun belongs to this chunk, and its body is still to come.
        if token == ";" and frame.kind is FrameKind.FILE and not frame.pending:
            self._end_chunk()
        if token != ";" and frame.kind is FrameKind.CASE:
            frame.state, frame.fresh = LexerState.CASE_PATTERN, True

    def _ampersand(self, frame: Frame) -> None:
        if self.text.startswith("&>", self.at):
            frame = self.end_word(frame)
            frame.redirection = self._take(AMPERSANDS)
        else:
            self._separate(frame, AMPERSANDS)

    def _bar(self, frame: Frame) -> None:
        if frame.state is LexerState.CASE_PATTERN:
            self._pass(frame)
            frame.fresh = False
        else:
            self._separate(frame, BARS)

    def _separate(self, frame: Frame, tokens: re.Pattern[str]) -> str:
        frame = self.end_command(frame)
        frame.state = LexerState.START
        token = self._take(tokens)
        if frame.kind is FrameKind.FILE and token != ";":
            self.chunk.joined = self.chunk.open = True
        return token

    def _take(self, tokens: re.Pattern[str]) -> str:
        match = tokens.match(self.text, self.at)
        token = match[0] if match else self.text[self.at]
        self.at += len(token)
        return token

    def _angle(self, frame: Frame) -> None:
        if self.text.startswith("(", self.at + 1):
            self._process_substitution(frame)
            return
        # The `2` of `2>` is not a word, but the number of a descriptor.
        if frame.word >= 0 and DESCRIPTOR.fullmatch(self.text, frame.word, self.at):
            frame.word = -1
        frame = self.end_word(frame)
        frame.redirection = self._take(ANGLES)

    def _process_substitution(self, frame: Frame) -> None:
        self.begin_word(frame)
        self.push(FrameKind.SUBSTITUTION, self.at)
        self.at += 2

    def _angle_among_words(self, frame: Frame) -> None:
        if self.text.startswith("(", self.at + 1):
            self._process_substitution(frame)
        else:
            self._pass(frame)

    def _bar_in_condition(self, frame: Frame) -> None:
        if frame.state is LexerState.REGEX and frame.word >= 0:
            self.at += 1
        else:
            self._pass(frame)

    def _open_parenthesis(self, frame: Frame) -> None:
        if frame.word >= 0:
            kind = self._continues(frame)
            if kind is None:
                self.end_word(frame)
            else:
                self.push(kind, self.at)
                self.at += 1
        elif frame.state is LexerState.CASE_PATTERN:
            frame.fresh = False
            self.at += 1
        else:
            kind = FrameKind.LET if self.text.startswith("((", self.at) else FrameKind.SUBSHELL
            frame.state = LexerState.START
            self.push(kind, self.at)
            self.at += 2 if kind is FrameKind.LET else 1

    def _continues(self, frame: Frame) -> FrameKind | None:
        """Return what a parenthesis directly after a word opens: `a=(…)`, `@(…)`; None if the word ends before it."""
        word = self.text[frame.word : min(self.at, frame.word + MAX_WORD_LENGTH)]
        if word.endswith("=") and ASSIGNMENT.fullmatch(word):
            return FrameKind.ARRAY
        # Where a command begins, `!(` negates a subshell.
        if self.text[self.at - 1] not in "?*+@!" or (word == "!" and frame.state is LexerState.START):
            return None
        if frame.state in (LexerState.START, LexerState.NAME) and NO_ARGUMENTS.match(self.text, self.at):
            return None
        return FrameKind.PATTERN

    def _open_among_words(self, frame: Frame) -> None:
        inside_word = frame.word >= 0 and self.text[self.at - 1] in "?*+@!"
        if inside_word or frame.state is LexerState.REGEX or frame.kind is FrameKind.ARRAY:
            self.begin_word(frame)
            self.push(FrameKind.PATTERN, self.at)
            self.at += 1
        else:
            self._pass(frame)

    def _close_array(self, frame: Frame) -> None:
        self.end_word(frame)
        self.pop()
        self.at += 1

    def _close_parenthesis(self, frame: Frame) -> None:
        frame = self.end_command(frame)
        self.at += 1
        if frame.state is LexerState.CASE_PATTERN:
            frame.state = LexerState.START
            return
        # In a file with a syntax error something may still be open in here: leave it, rather than the file unread.
        for above in range(1, min(8, len(self.frames))):
            if self.frames[-above].kind in PARENTHESISED:
                del self.frames[len(self.frames) - above + 1 :]
                self.pop()
                return


CHARACTERS: dict[str, Callable[[Lexer, Frame], None]] = {
    **dict.fromkeys("'\"`$", Lexer._quote),
    **dict.fromkeys(" \t", Lexer._blank),
    **dict.fromkeys("<>", Lexer._angle),
    "\\": Lexer._backslash,
    "\n": Lexer._newline,
    "\r": Lexer._carriage_return,
    "#": Lexer._hash,
    "[": Lexer._bracket,
    ";": Lexer._semicolon,
    "&": Lexer._ampersand,
    "|": Lexer._bar,
    "(": Lexer._open_parenthesis,
    ")": Lexer._close_parenthesis,
}
TABLES = {
    FrameKind.ARRAY: {
        **CHARACTERS,
        **dict.fromkeys(";&|", Lexer._pass),
        **dict.fromkeys("<>", Lexer._angle_among_words),
        "(": Lexer._open_among_words,
        ")": Lexer._close_array,
    },
    FrameKind.CONDITION: {
        **CHARACTERS,
        **dict.fromkeys(";&)", Lexer._pass),
        **dict.fromkeys("<>", Lexer._angle_among_words),
        "|": Lexer._bar_in_condition,
        "(": Lexer._open_among_words,
    },
}
