"""The end of the language server: what a client sends after it is not read, whatever the project holds."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from support.language_client import COMMAND, SECONDS


def framed(method: str, params: Any = None, **more: Any) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def test_what_comes_after_the_end_is_ignored(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pyproject.toml")
    root = tmp_path.as_uri()
    document = {"uri": f"{root}/server.json", "languageId": "json", "version": 1, "text": "{}"}
    opened = framed("textDocument/didOpen", {"textDocument": document})
    folders = [{"uri": root, "name": "project"}]
    begun: dict[str, Any] = {"processId": None, "rootUri": root, "capabilities": {}, "workspaceFolders": folders}
    messages = framed("initialize", begun, id=1) + framed("initialized", {}) + opened
    messages += framed("shutdown", id=2) + framed("exit") + opened * 2000
    done = subprocess.run(COMMAND, input=messages, capture_output=True, timeout=SECONDS, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b'"id": 2' in done.stdout
