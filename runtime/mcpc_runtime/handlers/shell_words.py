"""What a handler would run, as words for a shell that are not quoted yet."""

from __future__ import annotations

from mcpc_runtime.protocol.contents import base64_of

DryRun = tuple[list[list[str]], list[str]]
"""The words of a command, those of one line together, and notes about it."""
PIPE = "\0|"
"""The word between two commands that is not quoted; no argument of a program has such a character."""


def text_in(data: bytes) -> str | None:
    """Return bytes as a text that can be a word of a command, None if they cannot be one."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def piped(data: bytes) -> list[str]:
    """Return the words that give bytes to the standard input of the command that follows."""
    text = text_in(data)
    if text is not None:
        return ["printf", "%s", text, PIPE]
    return ["printf", "%s", base64_of(data), PIPE, "base64", "--decode", PIPE]
