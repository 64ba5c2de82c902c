"""The prompts of examples/files in Python."""

from __future__ import annotations


def code_review() -> str:
    """Return the text of the prompt."""
    return "Review this code. Name what is wrong first, then what is unclear, each with its line; praise nothing."


def summarize_file(path: str) -> str:
    """Return the text of the prompt."""
    return f"Find out how large {path} is, read it, and summarize it in three sentences."
