"""What handlers of each kind find of the environment, in a built server; and that no value of it is in the file."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.artifact import build, converse, with_bytecode
from support.needs import needs

SECRETS = {"SERVER_KEY": "s3cret-server", "TOOL_KEY": "s3cret-tool", "TOOL_2": "s3cret-two", "OTHER": "s3cret-other"}
POLICIES: dict[str, Any] = {"usual": None, "named": ["TOOL_*"], "all": "inherit", "few": "minimal"}
FOUND = {"usual": {"SERVER_KEY"}, "named": {"SERVER_KEY", "TOOL_KEY", "TOOL_2"}, "all": set(SECRETS), "few": set[str]()}
KINDS = ("bash", "python", "program")


def write(folder: Path, general: dict[str, Any] | None) -> Path:
    (folder / "bin").mkdir(parents=True)
    tools, bash, python = [], [], ["import json, os"]
    for kind in KINDS:
        for name, policy in POLICIES.items():
            handler = {} if policy is None else {"environment": policy}
            if kind == "program":
                handler["command"] = "bin/env"
            meta = {"_meta": {"mcpc/handler": handler}} if handler else {}
            tools.append({"name": f"{kind}_{name}", "description": "D.", "inputSchema": {"type": "object"}, **meta})
            bash.append(f"tool_bash_{name}() {{ env -0 | tr '\\n\\0' ' \\n'; }}\nexport -f tool_bash_{name}\n")
            python.append(f"def python_{name}(): return '\\n'.join(f'{{k}}={{v}}' for k, v in os.environ.items())")
    server: dict[str, Any] = {"serverInfo": {"name": "environments", "version": "1"}}
    if general is not None:
        server["_meta"] = {"mcpc/handlers": general}
    (folder / "server.json").write_text(json.dumps(server))
    (folder / "tools.json").write_text(json.dumps({"tools": tools}))
    (folder / "tools.bash").write_text("".join(line for line in bash if "bash_" in line))
    (folder / "tools.py").write_text("\n".join(python) + "\n")
    (folder / "bin/env").write_text("#!/bin/sh\nenv\n")
    return folder


def found_by(server: Path, tools: list[str]) -> dict[str, set[str]]:
    """Return which of SECRETS each tool found, its value exact."""
    lines = []
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    for name in tools:
        params = {"name": name, "arguments": {}, "_meta": meta}
        lines.append(json.dumps({"jsonrpc": "2.0", "id": name, "method": "tools/call", "params": params}))
    done = converse([sys.executable, server], "\n".join(lines).encode() + b"\n", env={**os.environ, **SECRETS})
    assert done.returncode == 0, done.stderr
    replies = {reply["id"]: reply["result"] for reply in map(json.loads, done.stdout.splitlines())}
    return {name: _secrets(replies[name]) for name in tools}


def _secrets(result: dict[str, Any]) -> set[str]:
    assert not result.get("isError"), result
    lines = result["content"][0]["text"].splitlines()
    return {name for name, value in SECRETS.items() if f"{name}={value}" in lines}


@pytest.fixture(scope="module")
def declared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    needs("bash")
    folder = tmp_path_factory.mktemp("declared")
    return build(write(folder / "project", {"environment": ["SERVER_KEY"]}), folder / "server.pyz")


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_finds_what_is_declared(declared: Path, kind: str) -> None:
    found = found_by(declared, [f"{kind}_{name}" for name in POLICIES])
    assert found == {f"{kind}_{name}": names for name, names in FOUND.items()}


def test_what_nobody_declares_is_the_contracts_own(tmp_path: Path) -> None:
    needs("bash")
    server = build(write(tmp_path / "project", None), tmp_path / "server.pyz")
    found = found_by(server, [f"{kind}_usual" for kind in KINDS])
    assert found == {"bash_usual": set(SECRETS), "python_usual": set(), "program_usual": set()}


def test_no_value_is_in_the_file_nor_shown(tmp_path: Path) -> None:
    environment = {"MCPC_CACHE_DIR": str(with_bytecode(tmp_path / "cache")), **SECRETS}
    folder = write(tmp_path / "project", {"environment": ["SERVER_KEY", "TOOL_*"]})
    before = dict(os.environ)
    os.environ.update(environment)
    try:
        server = build(folder, tmp_path / "server.pyz")
        shown = [
            subprocess.run([sys.executable, server, word], capture_output=True, check=False).stdout
            for word in ("info", "check", "list")
        ]
    finally:
        os.environ.clear()
        os.environ.update(before)
    assert b"SERVER_KEY" in shown[0]
    for text in (server.read_bytes(), *shown):
        assert b"s3cret" not in text
    assert b"mcpc/handler" not in shown[2]
