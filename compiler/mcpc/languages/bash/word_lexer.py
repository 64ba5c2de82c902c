"""Middle layer of the lexer of Bash: words in each state, and the frames that they open and close."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcpc.languages.bash.lexer_state import Frame, FrameKind, Heredoc, LexerState, QuotedTextLexer, Word

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_WORD_LENGTH = 512
"""Maximum length of the recorded text of a word: longer nested words would cost quadratic time."""

TRAPPING = frozenset({".", "eval", "exec", "source", "trap"})
"""Commands after which the end of a shell may not be the configured one."""
DYNAMIC = frozenset({".", "eval", "source"})
"""Commands that run computed text."""
PREFIXES = frozenset({"builtin", "command"})

WATCHED = frozenset({"exit", "exec", "export", "declare", "typeset", "set", "shopt"})

BEFORE_COMMAND = frozenset({LexerState.START, LexerState.TIME, LexerState.COPROC, LexerState.COPROC_NAME})
"""The states in which a command may begin, with a redirection or an assignment."""

NO_ARGUMENTS = re.compile(r"(?:[ \t]|\\\r?\n)*\((?:[ \t]|\\\r?\n)*\)")
ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\[[^]]*\])?\+?=")
CONTINUATION = re.compile(r"\\\r?\n")
QUOTING = re.compile(r"""\\(.)|\$?["']|\\$""", re.DOTALL)


class WordLexer(QuotedTextLexer):
    """Reads words."""

    __slots__ = ()

    def begin_word(self, frame: Frame) -> None:
        if frame.word < 0:
            frame.word = self.at

    def end_word(self, frame: Frame) -> Frame:
        """Classify the word; return the frame that is then on top, because `fi` and similar words leave theirs."""
        start, frame.word = frame.word, -1
        if start < 0:
            return frame
        if frame.kind is FrameKind.FILE:
            self.chunk.open = False
        text = self.text[start : min(self.at, start + MAX_WORD_LENGTH)]
        word = Word(CONTINUATION.sub("", text) if "\\" in text else text, start, self.at)
        if frame.redirection:
            self._redirect(frame, word)
        else:
            WORDS[frame.state](self, frame, word)
        return self.frames[-1]

    def end_command(self, frame: Frame) -> Frame:
        frame = self.end_word(frame)
        frame.redirection = ""
        if frame.words is not None:
            self.found.commands.append(frame.words)
            frame.words = None
        return frame

    def _redirect(self, frame: Frame, word: Word) -> None:
        operator, frame.redirection = frame.redirection, ""
        if frame.state in BEFORE_COMMAND:
            frame.state = LexerState.ASSIGNED
        if operator in ("<<", "<<-"):
            # With any part of its delimiter quoted, a here-document is literal (POSIX, Shell Command Language, 2.7.4).
            bare = QUOTING.sub(lambda quote: quote[1] or "", word.text)
            frame.pending.append(Heredoc(bare, bare != word.text, operator == "<<-"))

    def _first_word(self, frame: Frame, word: Word) -> None:
        reserved = RESERVED.get(word.text)
        if reserved is not None:
            reserved(self, frame, word)
        elif NO_ARGUMENTS.match(self.text, self.at):
            self._function_name(frame, word)
        else:
            self.found.begun.add(word.start)
            self._command_word(frame, word)

    def _command_word(self, frame: Frame, word: Word) -> None:
        if ASSIGNMENT.match(word.text):
            frame.state = LexerState.ASSIGNED
            return
        frame.state = LexerState.ASSIGNED if word.text in PREFIXES else LexerState.ARGUMENTS
        if word.text in TRAPPING:
            self.chunk.traps = True
        if "$" in word.text or word.text in DYNAMIC:
            self.chunk.dynamic = True
        if word.text in WATCHED and not frame.hidden:
            frame.words = [word]

    def _argument(self, frame: Frame, word: Word) -> None:
        if frame.words is not None:
            frame.words.append(word)

    def _function_name(self, frame: Frame, word: Word) -> None:
        if not frame.hidden:
            self.found.functions.append(word)
        if frame.kind is FrameKind.FILE:
            self.chunk.definitions.append(word)
        frame.state = LexerState.BODY
        parentheses = NO_ARGUMENTS.match(self.text, self.at)
        if parentheses is not None:
            self.at = parentheses.end()

    def _time_word(self, frame: Frame, word: Word) -> None:
        # Options of `time`, before the command that it measures.
        if word.text not in ("-p", "--"):
            frame.state = LexerState.START
            self._first_word(frame, word)

    def _coproc_word(self, frame: Frame, word: Word) -> None:
        name_may_follow = frame.state is LexerState.COPROC
        if word.text in RESERVED:
            self._first_word(frame, word)
        else:
            frame.state = LexerState.COPROC_NAME if name_may_follow else LexerState.ARGUMENTS

    def _advance(self, frame: Frame, word: Word) -> None:
        frame.state = NEXT_STATE[frame.state]

    def _for_in(self, frame: Frame, word: Word) -> None:
        if word.text == "in":
            frame.state = LexerState.ARGUMENTS
        else:
            self._first_word(frame, word)

    def _case_in(self, frame: Frame, word: Word) -> None:
        frame.state, frame.fresh = LexerState.CASE_PATTERN, True

    def _case_pattern(self, frame: Frame, word: Word) -> None:
        if frame.fresh and word.text == "esac":
            self.pop()
        frame.fresh = False

    def _condition_word(self, frame: Frame, word: Word) -> None:
        if word.text == "]]":
            self.pop()
        frame.state = LexerState.REGEX if word.text == "=~" else LexerState.CONDITION

    def _opens(self, frame: Frame, word: Word) -> None:
        hidden = frame.hidden or frame.state is LexerState.BODY
        frame.state = LexerState.START
        # Bash also takes `for …; { …; }`, with braces in place of `do` and `done`.
        if word.text == "{" and frame.kind is FrameKind.FOR:
            frame.kind = FrameKind.GROUP
        else:
            self.push(OPENS[word.text], word.start, hidden)

    def _closes(self, frame: Frame, word: Word) -> None:
        frame.state = LexerState.START
        # One that closes nothing here is a mistake, which Bash itself reports.
        if frame.kind is CLOSES[word.text]:
            self.pop()

    def _goes_on(self, frame: Frame, word: Word) -> None:
        frame.state = GOES_ON[word.text]

    def _do(self, frame: Frame, word: Word) -> None:
        frame.state = LexerState.START
        if frame.kind is FrameKind.FOR:
            frame.kind = FrameKind.LOOP


OPENS = {
    "{": FrameKind.GROUP,
    "if": FrameKind.IF,
    "while": FrameKind.LOOP,
    "until": FrameKind.LOOP,
    "for": FrameKind.FOR,
    "select": FrameKind.FOR,
    "case": FrameKind.CASE,
    "[[": FrameKind.CONDITION,
}
NEXT_STATE = {LexerState.FOR_NAME: LexerState.FOR_IN, LexerState.CASE_WORD: LexerState.CASE_IN}
CLOSES = {"}": FrameKind.GROUP, "fi": FrameKind.IF, "done": FrameKind.LOOP, "esac": FrameKind.CASE}
GOES_ON = {
    "then": LexerState.START,
    "else": LexerState.START,
    "elif": LexerState.START,
    "!": LexerState.START,
    "time": LexerState.TIME,
    "function": LexerState.NAME,
    "coproc": LexerState.COPROC,
}
RESERVED: dict[str, Callable[[WordLexer, Frame, Word], None]] = {
    **dict.fromkeys(OPENS, WordLexer._opens),
    **dict.fromkeys(CLOSES, WordLexer._closes),
    **dict.fromkeys(GOES_ON, WordLexer._goes_on),
    "do": WordLexer._do,
}
WORDS: dict[LexerState, Callable[[WordLexer, Frame, Word], None]] = {
    LexerState.START: WordLexer._first_word,
    LexerState.BODY: WordLexer._first_word,
    LexerState.ASSIGNED: WordLexer._command_word,
    LexerState.ARGUMENTS: WordLexer._argument,
    LexerState.NAME: WordLexer._function_name,
    LexerState.TIME: WordLexer._time_word,
    LexerState.COPROC: WordLexer._coproc_word,
    LexerState.COPROC_NAME: WordLexer._coproc_word,
    LexerState.FOR_NAME: WordLexer._advance,
    LexerState.FOR_IN: WordLexer._for_in,
    LexerState.CASE_WORD: WordLexer._advance,
    LexerState.CASE_IN: WordLexer._case_in,
    LexerState.CASE_PATTERN: WordLexer._case_pattern,
    LexerState.CONDITION: WordLexer._condition_word,
    LexerState.REGEX: WordLexer._condition_word,
}
