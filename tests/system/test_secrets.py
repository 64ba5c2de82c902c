"""What a handler can learn of the server that it belongs to, where both run as one user without privileges."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from threading import Timer
from typing import Any

import pytest
import yaml

from support.artifact import build
from support.processes import run_program

SECRET = "a-secret-that-no-handler-is-told"
NOBODY = 65534
SCHEMA = {"type": "object", "properties": {}}
TOOLS_BASH = """
tool_bash_looks() {
  local pid found= servers=0 descriptors=0
  for pid in /proc/[0-9]*; do
    if grep -qs "$SECRET_BEGINS" "$pid/environ"; then found+=" ${pid#/proc/}"; fi
    if grep -qs "[s]ecrets/server.pyz" "$pid/cmdline"; then
      servers=1
      ((descriptors += $(ls "$pid/fd" 2>/dev/null | wc -l))) || :
    fi
  done
  printf 'secrets:%s servers:%s descriptors:%s' "$found" "$servers" "$descriptors"
}
READ_IN=$BASHPID
tool_quick() { if [[ $READ_IN == "$BASHPID" ]]; then printf alone; else printf forked; fi; }
"""
DATA = yaml.safe_load(Path(__file__).with_name("secrets.yaml").read_text("utf-8"))
TOOLS_PY = DATA["TOOLS_PY"]


@pytest.fixture(scope="module")
def artifact() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="mcpc-secrets-") as made:
        folder = Path(made)
        folder.chmod(0o755)
        (folder / "secrets").mkdir()
        project = folder / "project"
        project.mkdir()
        tools = [{"name": name, "description": "Look.", "inputSchema": SCHEMA} for name in ("bash_looks", "quick")]
        (project / "server.json").write_text(json.dumps({"serverInfo": {"name": "secrets", "version": "1"}}))
        (project / "tools.json").write_text(json.dumps({"tools": tools}))
        (project / "tools.bash").write_text(TOOLS_BASH.replace("$SECRET_BEGINS", SECRET[:20]))
        (project / "tools.py").write_text(TOOLS_PY)
        file = build(project, folder / "secrets" / "server.pyz")
        file.chmod(0o755)
        yield file


def unprivileged() -> tuple[list[str], str]:
    """Return what makes a command another user's without privileges, and a Python that this user can start."""
    if os.geteuid() != 0:
        return [], sys.executable
    python = next(
        (path for path in map(shutil.which, ("python3.11", "python3.12", "python3.13", "python3")) if path), ""
    )
    setpriv = shutil.which("setpriv")
    for candidate in (python, "/usr/bin/python3", "/usr/local/bin/python3"):
        words = [setpriv or "", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        if setpriv and candidate and starts([*words, candidate]):
            return words, candidate
    pytest.skip("no Python that a user without privileges can start")


def starts(words: list[str]) -> bool:
    try:
        asked = run_program([*words, "-c", "import sys; sys.exit(sys.version_info < (3, 11))"], text=False)
    except OSError:
        return False
    return asked.returncode == 0


def answers(artifact: Path, *names: str) -> list[dict[str, Any]]:
    words, python = unprivileged()
    environment = {"PATH": os.environ["PATH"], "HOME": "/", "MCPC_TOKENS": SECRET, "MCPC_STATE_KEYS": SECRET}
    process = subprocess.Popen(
        [*words, python, "-I", str(artifact)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    )
    guard = Timer(60, process.kill)
    guard.start()
    found = []
    try:
        for number, name in enumerate(names, 1):
            params = {"name": name, "arguments": {}}
            line = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
            process.stdin.write(json.dumps(line).encode() + b"\n")
            process.stdin.flush()
            found.append(json.loads(process.stdout.readline()))
    finally:
        guard.cancel()
        process.communicate()
    return found


def test_a_python_handler_sees_nothing_of_the_server(artifact: Path) -> None:
    looked, own = answers(artifact, "looks", "own")
    found = json.loads(looked["result"]["content"][0]["text"])
    assert found.pop("parents") >= 2
    assert found == {"environ": [], "fd": [], "mem": [], "taken": []}
    assert own["result"]["content"][0]["text"] == "true"


def test_a_bash_handler_sees_nothing_of_the_server_and_is_still_forked(artifact: Path) -> None:
    looked, quick, again = answers(artifact, "bash_looks", "quick", "quick")
    assert looked["result"]["content"][0]["text"].split() == ["secrets:", "servers:1", "descriptors:0"], looked
    assert quick["result"]["content"][0]["text"] == "forked"
    assert again["result"]["content"][0]["text"] == "forked"
