"""The conversation that every real client holds with examples/everything over HTTP, and what must come of it.

A client's test brings a transcript: what its client made of the answers, in the words of this module.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from support.processes import until

HANDSHAKE, STATELESS = "2025-11-25", "2026-07-28"
INVALID_PARAMS = -32602
UNKNOWN_RESOURCE = {HANDSHAKE: -32002, STATELESS: INVALID_PARAMS}
NAME = "Ada"
SAMPLE = "a sample of what a model says"
QUESTION = {"message": "Who are you?"}
FORM = {"username": NAME, "email": "ada@example.com"}
WATCHED = "test://watched-resource"
TOOLS = {"test_simple_text", "test_elicitation", "test_input_required_result_elicitation", "slow_compute", "greet"}
PROMPTS = {"test_simple_prompt", "test_prompt_with_arguments", "test_prompt_with_image"}
RESOURCES = {"test://static-text", "test://static-binary", WATCHED, "ui://everything/clock"}
TEMPLATES = {"test://template/{id}/data"}


def duration() -> str:
    """Return seconds that are longer than a test, and by which the program that waits so long is found.

    The last digit is not 0, which no client that takes them for a number would hand on.
    """
    return f"{random.uniform(90, 99):.5f}{random.randint(1, 9)}"


def begins(seconds: str) -> None:
    """Wait until a process sleeps for so many seconds."""
    until(lambda: bool(sleepers(seconds)))


def ends(seconds: str) -> bool:
    """Wait until no process sleeps for so many seconds; tell whether that came true."""
    until(lambda: not sleepers(seconds))
    return True


def sleepers(seconds: str) -> list[int]:
    """Return the processes that were told to sleep for so many seconds."""
    wanted = f"sleep\0{seconds}\0".encode()
    return [int(path.parent.name) for path in Path("/proc").glob("[0-9]*/cmdline") if told(path).endswith(wanted)]


def told(path: Path) -> bytes:
    """Return a process's words; nothing of one that has ended."""
    try:
        return path.read_bytes()
    except OSError:
        return b""


def check(transcript: dict[str, Any], version: str) -> None:
    """Assert that a client understood every answer."""
    assert transcript["protocol"] == version
    assert set(transcript["tools"]) >= TOOLS
    assert set(transcript["prompts"]) >= PROMPTS
    assert set(transcript["resources"]) >= RESOURCES
    assert set(transcript["templates"]) == TEMPLATES
    assert transcript["text"] == "This is a simple text response for testing."
    assert transcript["failed"] == "This tool intentionally returns an error for testing"
    assert transcript["unknown_tool"] == INVALID_PARAMS
    assert transcript["prompt"] == "Prompt with arguments: arg1='one', arg2='two'"
    assert transcript["read"] == "This is the content of the static text resource."
    assert '"id":"123"' in transcript["templated"].replace(" ", "")
    assert transcript["unknown_resource"] == UNKNOWN_RESOURCE[version]
    assert transcript["completed"] == ["park", "party"]
    assert transcript["progress"] == [0, 50, 100]
    check_asking(transcript)
    assert transcript["updated"] == WATCHED
    assert transcript["cancelled"] is True


def check_asking(transcript: dict[str, Any]) -> None:
    """Assert that the client's user and model were asked, and that their answers came where they belong."""
    said = transcript["elicited"]
    assert "action=accept" in said and all(value in said for value in FORM.values()), said
    assert transcript["greeted"] == f"Hello, {NAME}!"
    assert transcript["sampled"] == f"LLM response: {SAMPLE}"
