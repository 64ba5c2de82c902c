"""Programs of a project as handlers, in a built server: what they find, what they answer, and that nothing stays."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

from support.artifact import built_fixture, converse, mcpc, with_bytecode
from support.needs import ROOT

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/logLevel": "debug",
}
PROJECT = ROOT / "tests/system/programs/executables"


server = built_fixture(PROJECT, programs=("bash", "python3"))


class Told:
    """What a server answered to some calls, and what it left in its folder for temporary files."""

    def __init__(self, server: Path, calls: list[tuple[str, dict[str, Any]]], folder: Path, **variables: str) -> None:
        lines = [self._line(number, name, given) for number, (name, given) in enumerate(calls)]
        inherited = {name: value for name, value in os.environ.items() if name != "XDG_RUNTIME_DIR"}
        done = converse(
            [sys.executable, server],
            "".join(lines).encode(),
            cwd=folder,
            env={**inherited, "TMPDIR": str(folder), **variables},
        )
        assert done.returncode == 0, done.stderr
        messages = [json.loads(line) for line in done.stdout.splitlines()]
        self.logs = [message["params"] for message in messages if "method" in message]
        self.replies = {message["id"]: message for message in messages if "id" in message}
        self.left = sorted(path.name for path in folder.iterdir())
        assert len(self.replies) == len(calls)

    @staticmethod
    def _line(number: int, name: str, given: dict[str, Any]) -> str:
        method = "prompts/get" if name == "ask" else "tools/call"
        params = {"name": name, "arguments": given, "_meta": META}
        return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n"

    def text(self, number: int = 0) -> str:
        return str(self.replies[number]["result"]["content"][0]["text"])


def test_arguments_come_exactly(server: Path, tmp_path: Path) -> None:
    texts = ["", "é\n\0 x", "'; touch x; '", "x" * 3_000_000]
    told = Told(server, [("echo", {"text": text}) for text in texts], tmp_path)
    assert [json.loads(told.text(number)) for number in range(len(texts))] == [{"text": text} for text in texts]
    assert told.left == []


def test_what_a_program_finds(server: Path, tmp_path: Path) -> None:
    told = Told(server, [("look", {"text": "t"}), ("look", {})], tmp_path, SECRET_OF_MINE="x")
    first, second = (json.loads(told.text(number)) for number in (0, 1))
    assert first["home"] == second["home"]
    assert (first["tool"], first["cwd"], first["data"]) == ("look", str(tmp_path), "here")
    assert (first["told"], first["argv"]) == ('{"text":"t"}\n', [])
    assert first["mode"] == stat.S_IRWXU
    found = {name: mode for name, mode in first["files"] if not name.endswith(".json")}
    packed = (path for folder in ("bin", "data") for path in (PROJECT / folder).iterdir())
    assert found == {
        f"{path.parent.name}/{path.name}": 0o700 if path.parent.name == "bin" else 0o600 for path in packed
    }
    assert "SECRET_OF_MINE" not in first["variables"]
    assert {"PATH", "MCPC_TOOL", "MCPC_FILES", "MCPC_CALL", "MCPC_NOTES"} <= set(first["variables"])
    assert told.left == []


def test_every_way_of_ending(server: Path, tmp_path: Path) -> None:
    told = Told(server, [(name, {}) for name in ("shaped", "broken", "killed", "interpreter")], tmp_path)
    result = told.replies[0]["result"]
    assert (result["structuredContent"], result["content"][0]["text"]) == ({"n": 1}, '{"n": 1}')
    assert [log["data"] for log in told.logs if "thinking" in str(log["data"])] != []
    assert told.replies[1]["result"]["isError"] is True
    assert sorted(told.text(1).split()) == ["err", "out"]
    assert told.text(2) == "ended by SIGTERM"
    assert "bin/interpreter" in told.replies[3]["error"]["message"]


def test_requirements(server: Path, tmp_path: Path) -> None:
    told = Told(server, [("lacking", {}), ("satisfied", {}), ("satisfied", {})], tmp_path)
    assert told.replies[0]["result"]["isError"] is True
    assert told.text(0) == "lacking requires no-such-program >= 2, which is not installed"
    assert (told.text(1), told.text(2)) == ("{}", "{}")


def test_prompts(server: Path, tmp_path: Path) -> None:
    told = Told(server, [("ask", {"q": "why"})], tmp_path)
    (message,) = told.replies[0]["result"]["messages"]
    assert message == {"role": "user", "content": {"type": "text", "text": '{"q":"why"}'}}


def test_check_says_what_is_missing(server: Path) -> None:
    done = converse([sys.executable, server, "check", "--json"], b"")
    found = {check["name"]: check["problems"] for check in json.loads(done.stdout)["checks"]}
    assert done.returncode == 1
    assert found["required programs are installed"] == ["lacking: no-such-program >= 2, which is not installed"]
    assert found["interpreters of bundled programs are installed"] == [
        "bin/interpreter: /no/such/interpreter is not installed"
    ]
    assert [name for name, problems in found.items() if problems] == list(found)[1:3]


def test_a_build_that_misses_a_program_is_looked_at_again(tmp_path: Path) -> None:
    environment = {"MCPC_CACHE_DIR": str(with_bytecode(tmp_path / "cache")), "PATH": os.environ["PATH"]}
    target = tmp_path / "server.pyz"
    assert "MCP241" in mcpc("build", PROJECT, "-o", target, environment=environment).stderr
    program = tmp_path / "path" / "no-such-program"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    environment["PATH"] = f"{program.parent}:{environment['PATH']}"
    assert "MCP241" not in mcpc("build", PROJECT, "-o", target, environment=environment).stderr
