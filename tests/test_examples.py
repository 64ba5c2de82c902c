"""Every example that has a `conversation.txt` is built without a complaint, and holds that conversation to the letter.

`make golden` writes down what is heard now: a new conversation begins as a file of what is said.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from support.artifact import build
from support.conversations import held_again
from support.needs import ROOT, needs

EXAMPLES = sorted(file.parent.name for file in ROOT.glob("examples/*/conversation.txt"))
COMMANDS = {"bash-sdk": ("bash", "jq"), "files": ("bash", "jq"), "mcp-bash": ("bash",)}
"""What an example wants of the machine."""


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_conversation(
    name: str, tmp_path: Path, golden: Callable[[Path, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    needs(*COMMANDS.get(name, ()))
    project = ROOT / "examples" / name
    server = build(project, tmp_path / "server.pyz", "--strict")
    monkeypatch.chdir(project)
    written = project / "conversation.txt"
    golden(written, held_again(server, written.read_text(encoding="utf-8")))
