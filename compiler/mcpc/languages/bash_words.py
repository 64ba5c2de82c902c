"""The lexer of Bash, middle floor: what a word means where it stands, and what it opens and closes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcpc.languages.bash_frames import Frame, Heredoc, Kind, State, Word
from mcpc.languages.bash_quotes import Quotes

if TYPE_CHECKING:
    from collections.abc import Callable

LONGEST = 512
"""Of a word no more than this is cut out, or words nested in words would cost the square of their length."""

TRAPPING = frozenset({".", "eval", "exec", "source", "trap"})
"""Commands after which the end of a shell may not be what it was told to be at its start."""
UNNAMING = frozenset({".", "eval", "source"})
"""Commands that run what nobody can read beforehand."""
PREFIXES = frozenset({"builtin", "command"})

WATCHED = frozenset({"exit", "exec", "export", "declare", "typeset", "shopt"})

BEFORE_COMMAND = frozenset({State.START, State.TIME, State.COPROC, State.COPROC_NAME})
"""The states in which a command may begin, with a redirection or an assignment."""

NO_ARGUMENTS = re.compile(r"(?:[ \t]|\\\r?\n)*\((?:[ \t]|\\\r?\n)*\)")
ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\[[^]]*\])?\+?=")
CONTINUATION = re.compile(r"\\\r?\n")
QUOTING = re.compile(r"""\\(.)|\$?["']|\\$""", re.DOTALL)


class Words(Quotes):
    """Reads words."""

    __slots__ = ()

    def begin_word(self, frame: Frame) -> None:
        if frame.word < 0:
            frame.word = self.at

    def end_word(self, frame: Frame) -> Frame:
        """Give the word its meaning; return the frame then on top, for `fi` and its like leave theirs."""
        start, frame.word = frame.word, -1
        if start < 0:
            return frame
        if frame.kind is Kind.FILE:
            self.chunk.open = False
        text = self.text[start : min(self.at, start + LONGEST)]
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
            frame.state = State.ASSIGNED
        if operator in ("<<", "<<-"):
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
            frame.state = State.ASSIGNED
            return
        frame.state = State.ASSIGNED if word.text in PREFIXES else State.ARGUMENTS
        if word.text in TRAPPING:
            self.chunk.traps = True
        if "$" in word.text or word.text in UNNAMING:
            self.chunk.dynamic = True
        if word.text in WATCHED and not frame.hidden:
            frame.words = [word]

    def _argument(self, frame: Frame, word: Word) -> None:
        if frame.words is not None:
            frame.words.append(word)

    def _function_name(self, frame: Frame, word: Word) -> None:
        if not frame.hidden:
            self.found.functions.append(word)
        if frame.kind is Kind.FILE:
            self.chunk.definitions.append(word)
        frame.state = State.BODY
        parentheses = NO_ARGUMENTS.match(self.text, self.at)
        if parentheses is not None:
            self.at = parentheses.end()

    def _time_word(self, frame: Frame, word: Word) -> None:
        if word.text not in ("-p", "--"):
            frame.state = State.START
            self._first_word(frame, word)

    def _coproc_word(self, frame: Frame, word: Word) -> None:
        name_may_follow = frame.state is State.COPROC
        if word.text in RESERVED:
            self._first_word(frame, word)
        else:
            frame.state = State.COPROC_NAME if name_may_follow else State.ARGUMENTS

    def _for_name(self, frame: Frame, word: Word) -> None:
        frame.state = State.FOR_IN

    def _for_in(self, frame: Frame, word: Word) -> None:
        if word.text == "in":
            frame.state = State.ARGUMENTS
        else:
            self._first_word(frame, word)

    def _case_word(self, frame: Frame, word: Word) -> None:
        frame.state = State.CASE_IN

    def _case_in(self, frame: Frame, word: Word) -> None:
        frame.state, frame.fresh = State.CASE_PATTERN, True

    def _case_pattern(self, frame: Frame, word: Word) -> None:
        if frame.fresh and word.text == "esac":
            self.pop()
        frame.fresh = False

    def _condition_word(self, frame: Frame, word: Word) -> None:
        if word.text == "]]":
            self.pop()
        frame.state = State.REGEX if word.text == "=~" else State.CONDITION

    def _opens(self, frame: Frame, word: Word) -> None:
        hidden = frame.hidden or frame.state is State.BODY
        frame.state = State.START
        if word.text == "{" and frame.kind is Kind.FOR:
            frame.kind = Kind.GROUP
        else:
            self.push(OPENS[word.text], word.start, hidden)

    def _closes(self, frame: Frame, word: Word) -> None:
        frame.state = State.START
        if frame.kind is CLOSES[word.text]:
            self.pop()

    def _goes_on(self, frame: Frame, word: Word) -> None:
        frame.state = GOES_ON[word.text]

    def _do(self, frame: Frame, word: Word) -> None:
        frame.state = State.START
        if frame.kind is Kind.FOR:
            frame.kind = Kind.LOOP


OPENS = {
    "{": Kind.GROUP,
    "if": Kind.IF,
    "while": Kind.LOOP,
    "until": Kind.LOOP,
    "for": Kind.FOR,
    "select": Kind.FOR,
    "case": Kind.CASE,
    "[[": Kind.CONDITION,
}
CLOSES = {"}": Kind.GROUP, "fi": Kind.IF, "done": Kind.LOOP, "esac": Kind.CASE}
GOES_ON = {
    "then": State.START,
    "else": State.START,
    "elif": State.START,
    "!": State.START,
    "time": State.TIME,
    "function": State.NAME,
    "coproc": State.COPROC,
}
RESERVED: dict[str, Callable[[Words, Frame, Word], None]] = {
    **dict.fromkeys(OPENS, Words._opens),
    **dict.fromkeys(CLOSES, Words._closes),
    **dict.fromkeys(GOES_ON, Words._goes_on),
    "do": Words._do,
}
WORDS: dict[State, Callable[[Words, Frame, Word], None]] = {
    State.START: Words._first_word,
    State.BODY: Words._first_word,
    State.ASSIGNED: Words._command_word,
    State.ARGUMENTS: Words._argument,
    State.NAME: Words._function_name,
    State.TIME: Words._time_word,
    State.COPROC: Words._coproc_word,
    State.COPROC_NAME: Words._coproc_word,
    State.FOR_NAME: Words._for_name,
    State.FOR_IN: Words._for_in,
    State.CASE_WORD: Words._case_word,
    State.CASE_IN: Words._case_in,
    State.CASE_PATTERN: Words._case_pattern,
    State.CONDITION: Words._condition_word,
    State.REGEX: Words._condition_word,
}
