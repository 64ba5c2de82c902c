"""What the commands of a built file share: exit statuses, invalid words, and the project that a file was built from."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from mcpc_runtime.tools.cli import messages as console_text

SUCCESS, FINDINGS, USAGE, TOOL_ERROR, NOT_RUNNABLE, INTERRUPTED = 0, 1, 2, 5, 8, 130


class UsageError(Exception):
    """The command line is invalid; the message states why."""


def suggestion(word: str, names: Iterable[str]) -> str:
    """Return a suggestion for an unknown word, or nothing."""
    near: list[str] = get_close_matches(word, names, 1)
    return f"; did you mean {near[0]}?" if near else ""


def wants_json(words: list[str]) -> bool:
    """Tell whether the option is `--json`; raise UsageError for other words."""
    if words not in ([], ["--json"]):
        raise UsageError(console_text.UNEXPECTED.format(words=" ".join(words)))
    return bool(words)


class BuildOrigin:
    """The project that `mcpc` built this file from for one command; empty for a file that was built to stay."""

    project = ""


origin = BuildOrigin()
