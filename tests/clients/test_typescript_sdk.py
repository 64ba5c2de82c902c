"""The official TypeScript SDK's clients: version 1, and version 2 in each of its modes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clients import conversation
from clients.conversation import CALLS, HANDSHAKE, INCOMPLETE_PROMPT, PROMPTS, STATELESS, UNKNOWN_TOOL
from support.processes import run_program

MODES = {"v1": HANDSHAKE, "legacy": HANDSHAKE, "auto": STATELESS, STATELESS: STATELESS}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.sampled(2)
def test_it_understands_the_server(mode: str, typescript: Path, files_server: Path, tmp_path: Path) -> None:
    check(typescript, conversation.place(files_server, tmp_path), mode)


def check(typescript: Path, place: conversation.Place, mode: str) -> None:
    """Hold the conversation, and assert that the client understood every answer."""
    asked = {"calls": CALLS, "prompts": PROMPTS, "unknown_tool": UNKNOWN_TOOL, "incomplete_prompt": INCOMPLETE_PROMPT}
    done = run_program(
        ["node", typescript / "transcript.mjs", mode, json.dumps(place.command), json.dumps(asked)],
        cwd=place.folder,
        env=place.environment,
        status=0,
    )
    conversation.check(json.loads(done.stdout), MODES[mode])
