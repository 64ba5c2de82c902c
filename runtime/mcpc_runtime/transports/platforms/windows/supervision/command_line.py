"""The words of a command as one line, and variables as one block: that is how a process receives them on Windows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

BLANKS = ' \t\n\v"'
UNSAFE_IN_BATCH = '"%!&|<>^\r\n\0'
"""What the command interpreter would act on, even between quotes or in a batch file that removes them."""


def command_line(words: Iterable[str]) -> str:
    """Return words as one line, from which the C runtime of a program reads them again; raise ValueError for NUL."""
    line = " ".join(quoted(word) for word in words)
    if "\0" in line:
        raise ValueError("embedded null character")
    return line


def quoted(word: str) -> str:
    """Return a word, in quotes if need be: backslashes before a quote are doubled, and the quote gets one more."""
    if word and not any(character in word for character in BLANKS):
        return word
    made, backslashes = '"', 0
    for character in word:
        if character == "\\":
            backslashes += 1
        elif character == '"':
            made += "\\" * (backslashes + 1)
            backslashes = 0
        else:
            backslashes = 0
        made += character
    return made + "\\" * backslashes + '"'


def batch_line(interpreter: str, words: Iterable[str]) -> str:
    """Return the line that runs a batch file; raise ValueError for a word that the interpreter would act on."""
    inner = []
    for word in words:
        found = next((character for character in word if character in UNSAFE_IN_BATCH), None)
        if found is not None:
            raise ValueError(f"a batch file cannot safely be given the character {found!r}")
        inner.append(f'"{word}"')
    return f'{quoted(interpreter)} /d /v:off /s /c "{" ".join(inner)}"'


def environment_block(variables: Mapping[str, str]) -> str:
    """Return variables as a block: sorted by name, each ended by NUL; raise ValueError for one that cannot be."""
    rows = []
    for name, value in sorted(variables.items(), key=lambda row: row[0].upper()):
        if "\0" in name or "\0" in value or not name or "=" in name[1:]:
            raise ValueError(f"the variable {name!r} cannot be passed to a program")
        rows.append(f"{name}={value}\0")
    return "".join(rows) or "\0"
