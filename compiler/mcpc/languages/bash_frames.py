"""What the lexer of Bash keeps: the frames of its stack, the words it cuts, and what it found in the end."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto
from typing import NamedTuple


class Kind(Enum):
    """What a frame is: before DQUOTE what holds commands or words, from there on text of which only the end counts."""

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


class State(Enum):
    """What the next word of a command frame means."""

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
    """A word as written, quotes included; of a very long one `text` is only the beginning."""

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
    """One thing that is open.  `hidden`: what is defined in it is not there once the file has been read."""

    kind: Kind
    start: int
    hidden: bool
    state: State
    pending: list[Heredoc]
    word: int = -1
    redirection: str = ""
    fresh: bool = True
    depth: int = 0
    words: list[Word] | None = None


@dataclass(slots=True)
class Chunk:
    """A piece of the file that can be taken out without harm to the others: whole commands.

    `definitions`: functions defined in it; `joined`: something else is in it; `open`: an `&&` or its like came last.
    `traps`: a command in it may take the shell's end in its own hands; `dynamic`: it may call what it does not name.
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
    """What was found.

    `commands`: those simple commands worth knowing that run while the file is read; `literal`: stretches that are
    comments or stand in single quotes; `unclosed`: the openers that nothing closes; `chunks`: the file in pieces;
    `begun`: where simple commands begin.
    """

    functions: list[Word] = field(default_factory=list)
    commands: list[list[Word]] = field(default_factory=list)
    literal: list[tuple[int, int]] = field(default_factory=list)
    unclosed: list[Word] = field(default_factory=list)
    chunks: list[Chunk] = field(default_factory=list)
    begun: set[int] = field(default_factory=set)
