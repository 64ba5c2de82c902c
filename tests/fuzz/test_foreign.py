"""Whatever a handler of another system writes, returns or does, each request is answered once, as the protocol has it.

`TESTS_FOREIGN` sets how many answers of each system are tried in each revision (24).
"""

import json
import os
import random
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from corpus import validity
from corpus.cases import REVISIONS, STATELESS, encoded, envelope
from corpus.channels import Pipes
from fuzz import foreign
from support.artifact import build
from support.files import write_files
from support.needs import needs, needs_node
from support.processes import Token, until
from support.scale import seeds
from support.slack import slack

Json = Any

pytestmark = pytest.mark.slow

COUNT = int(os.environ.get("TESTS_FOREIGN", "24"))
QUICK = 0.75
"""Seconds that a call has which would never end, multiplied on a loaded machine."""
ABLE: dict[str, Json] = {"elicitation": {"form": {}, "url": {}}, "roots": {}}


@pytest.fixture
def token(monkeypatch: pytest.MonkeyPatch) -> Iterator[Token]:
    """What everything that is started carries; at the end nothing of it is left."""
    found = Token()
    name, _, value = found.text.decode().partition("=")
    monkeypatch.setenv(name, value)
    monkeypatch.setenv("MCPBASH_TOOL_ALLOW_DEFAULT", "allow")
    before = set(found.alive())
    yield found
    assert until(lambda: not set(found.alive()) - before), "a process was left"


@pytest.fixture(scope="module")
def artifacts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A server of each system, built when it is first asked for."""
    folder = tmp_path_factory.mktemp("foreign")
    os.environ.setdefault("MCPC_TOOLBOX_HOME", str(folder / "home"))
    return {name: folder / f"{name}.pyz" for name in foreign.REQUESTS}


def artifact_of(name: str, artifacts: dict[str, Path]) -> Path:
    needs("bash", "python3")
    if name == "toolbox":
        needs_node()
    target = artifacts[name]
    return target if target.exists() else build(write_files(target.parent / name, foreign.REQUESTS[name][0]), target)


class Talk(Pipes):
    """A conversation in one revision, every message of which is judged."""

    def __init__(self, artifact: Path, revision: str) -> None:
        self.number = 0
        self.revision = revision
        super().__init__(artifact, revision)
        self.watch = threading.Timer(300, self.process.kill)
        self.watch.start()

    def ask(self, method: str, params: Json) -> Json:
        """Return the answer to a request; whatever else is said meanwhile is judged, too."""
        self.number += 1
        meta = {**envelope(self.revision, ABLE), **params.get("_meta", {})}
        message = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": {**params, "_meta": meta}}
        *others, answer = self.say(encoded(message))
        assert answer["id"] == self.number, answer
        for other in others:
            assert "method" in other, other
            judged(self.revision, other, "")
        judged(self.revision, answer, method)
        return answer

    def close(self) -> None:
        """End it; every request was answered once, so nothing more was said."""
        assert self.process.stdin is not None and self.process.stdout is not None
        try:
            self.process.stdin.close()
            rest = [json.loads(line) for line in self.process.stdout]
            assert all("method" in message and "id" not in message for message in rest), rest
            assert self.process.wait(20) == 0
        finally:
            self.watch.cancel()
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()
            self.kept.cleanup()


def judged(revision: str, message: Json, method: str) -> None:
    """Hold a message against what every message is, and its revision's schema."""
    assert message["jsonrpc"] == "2.0"
    assert "method" in message or ("result" in message) != ("error" in message)
    assert "error" not in message or type(message["error"]["code"]) is int
    validity.judge(revision, message, method)


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("name", foreign.REQUESTS)
def test_whatever_is_answered_is_an_answer(name: str, revision: str, artifacts: dict[str, Path], token: Token) -> None:
    talk = Talk(artifact_of(name, artifacts), revision)
    try:
        for seed in seeds(COUNT):
            method, params = foreign.REQUESTS[name][1](random.Random(f"{name} {revision} {seed}"))
            try:
                talk.ask(method, params)
            except BaseException as problem:
                problem.add_note(f"{name} in {revision}, seed {seed}: {method} {json.dumps(params)[:3000]}")
                raise
    finally:
        talk.close()


def ends(kind: str) -> list[str]:
    return [foreign.file_name(kind, end) for end in {"js": foreign.ENDS, "py": foreign.PYTHON_ENDS}[kind]]


@pytest.mark.parametrize("kind", ["js", "py"])
def test_whatever_a_tool_does_the_others_are_answered(kind: str, artifacts: dict[str, Path], token: Token) -> None:
    """Each end, and after it a tool that answers; where a process was spoilt, within a call that may fail."""
    artifact = artifact_of("toolbox", artifacts)
    meta = {"mcpc/timeout": QUICK * slack()}
    sound = {"name": {"js": "answers", "py": "says"}[kind], "arguments": {"value": {"content": []}}, "_meta": meta}
    talk = Talk(artifact, STATELESS)
    try:
        for end in ends(kind):
            try:
                talk.ask("tools/call", {"name": end, "arguments": {}, "_meta": meta})
                answers = [talk.ask("tools/call", sound) for _ in range(3)]
                if end in foreign.SPOILING:
                    talk.ask("tools/call", {"name": "js_kill", "arguments": {}, "_meta": meta})
                    answers = [talk.ask("tools/call", sound)]
                assert "result" in answers[-1], answers
                assert answers[-1]["result"]["content"] == [] and "isError" not in answers[-1]["result"], answers
            except BaseException as problem:
                problem.add_note(f"{kind}: {end}")
                raise
        assert "result" in talk.ask("server/discover", {})
    finally:
        talk.close()
