"""Handing a call to its process where files in memory cannot be written, or not to their whole length."""

import json
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from support.artifact import build
from support.stdio import StdioClient

LARGE = 200_000
SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}}
COUNT = "#!/bin/sh\ntr -cd z | wc -c\n"
IDENTITY = json.dumps({"serverInfo": {"name": "large", "version": "1.0"}})
FUNCTIONS = {
    "server.json": IDENTITY,
    "tools.json": json.dumps({"tools": [{"name": "shell", "description": "Count in Bash.", "inputSchema": SCHEMA}]}),
    "tools.bash": 'tool_shell() { local kept=${1//[^z]/}; printf "%s" "${#kept}"; }\n',
    "tools.py": '''
from mcpc import tool


@tool
def count(text: str) -> int:
    """Count in Python."""
    return len(text)
''',
}
META = {"mcpc/handler": {"command": ["bin/count"]}}
PROGRAMS = {
    "server.json": IDENTITY,
    "tools.json": json.dumps(
        {"tools": [{"name": "program", "description": "Count in a program.", "inputSchema": SCHEMA, "_meta": META}]}
    ),
    "bin/count": COUNT,
    "tools.py": FUNCTIONS["tools.py"],
}


@pytest.fixture(scope="module")
def artifacts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("large")
    functions = built(folder, "functions", FUNCTIONS)
    return {"count": functions, "shell": functions, "program": built(folder, "programs", PROGRAMS)}


def built(folder: Path, name: str, files: dict[str, str]) -> Path:
    for path, text in files.items():
        target = folder / name / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        target.chmod(0o755)
    return build(folder / name, folder / f"{name}.pyz")


class Client(StdioClient):
    """A client that calls tools with large arguments."""

    def call(self, name: str, size: int) -> dict[str, Any]:
        return self.ask("tools/call", {"name": name, "arguments": {"text": "z" * size}})


@contextmanager
def talking(artifact: Path, limit: int | None = None) -> Iterator[Client]:
    """Start a server that may write files of at most so many bytes."""
    limited = None if limit is None else lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    with Client(artifact, preexec_fn=limited) as client:
        client.initialize()
        yield client
        client.end()


def text_of(answer: dict[str, Any]) -> str:
    assert "result" in answer, answer
    assert not answer["result"].get("isError"), answer
    text: str = answer["result"]["content"][0]["text"]
    return text.strip()


@pytest.mark.parametrize(
    ("name", "limit"), [("count", 0), ("count", 100_000), ("shell", 0), ("shell", 100_000), ("program", 100_000)]
)
@pytest.mark.sampled(5)
def test_large_arguments_arrive_where_memory_files_cannot_hold_them(
    artifacts: dict[str, Path], name: str, limit: int
) -> None:
    with talking(artifacts[name], limit) as client:
        for size in (LARGE, 10, LARGE):
            assert text_of(client.call(name, size)) == str(size)


@pytest.mark.parametrize("name", ["count", "shell", "program"])
def test_a_call_that_cannot_be_handed_over_harms_no_other(artifacts: dict[str, Path], name: str) -> None:
    with talking(artifacts[name]) as client:
        assert text_of(client.call(name, 10)) == "10"
        resource.prlimit(client.process.pid, resource.RLIMIT_FSIZE, (100_000, 100_000))
        client.call(name, LARGE)
        assert text_of(client.call(name, 10)) == "10"
        assert text_of(client.call(name, 20)) == "20"


def test_a_program_that_cannot_be_unpacked_fails_alone(artifacts: dict[str, Path]) -> None:
    with talking(artifacts["program"], 0) as client:
        assert "cannot be unpacked" in client.call("program", 10)["error"]["message"]
        assert text_of(client.call("count", LARGE)) == str(LARGE)
