"""A tool, a prompt and a resource in Python."""

import os
from dataclasses import dataclass

from mcpc import prompt, resource, tool


@dataclass
class Count:
    """How many there are, and of what."""

    number: int
    unit: str


@tool(readOnlyHint=True)
def count(text: str, least: int = 0) -> Count:
    """Count the words of a text."""
    return Count(max(least, len(text.split())), os.environ["KEPT_UNIT"])


@prompt
def summary(topic: str) -> str:
    """Ask for a summary."""
    return f"Summarise {topic}."


@resource("kept://about", mime_type="text/plain")
def about() -> str:
    """Say what this is."""
    return "a server that was built by the last version"
