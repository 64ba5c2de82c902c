"""The contract of mcp-bash: what a tool finds, what each way of ending means, and what it does when things go wrong."""

import json
import os
import stat
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mcpc_runtime.handlers.invocations import ProcessResult
from mcpc_runtime.protocol.effects import Call, Outcome
from mcpc_runtime.protocol.requests import Request
from mcpc_runtime.systems.mcp_bash import (
    completion_contract,
    files,
    prompt_contract,
    resource_contract,
    roots,
    runner,
    scripts,
    settings,
)
from mcpc_runtime.systems.mcp_bash import contract as mcp_bash
from mcpc_runtime.systems.mcp_bash.processes import parse_policy_result
from mcpc_runtime.systems.mcp_bash.providers.requests import ProviderResult
from mcpc_runtime.systems.mcp_bash.scripts import EmbeddedFile, ScriptResult
from mcpc_runtime.systems.mcp_bash.settings import McpBashSettings
from support.contracts import GOLDEN, became, filled, process_result
from support.expressions import check_expressions
from support.needs import ROOT

SYSTEMS = ROOT / "tests/golden/runtime/systems"
SCHEMA = {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}}


class Image:
    """As much of an image as settings look at."""

    def __init__(self, **said: Any) -> None:
        self.index = {"mcp_bash": {"server": {"name": "s"}, "allow": ["*"], **said}}


class Wire:
    stateless = False
    content = ("text", "image", "audio", "resource", "resource_link")


class Session:
    def __init__(self, image: Image) -> None:
        self.image = image
        self.capabilities: dict[str, Any] = {}
        self.roots = None


class Definition:
    name = "tool"
    contract = "mcp_bash"
    seconds = 30.0

    def __init__(self, **facts: Any) -> None:
        entry = {"name": "tool", "outputSchema": facts.pop("schema", SCHEMA)}
        usual = {"metadata": json.dumps(entry), "output": False}
        self.handler = "tools/t/tool.sh", tuple(sorted({**usual, **facts}.items()))


def call(params: dict[str, Any] | None = None, *, dialect: str = "mcp", stateless: bool = False, **facts: Any) -> Call:
    wire = Wire()
    wire.stateless = stateless
    request = Request(Session(Image(dialect=dialect)), 1, "tools/call", params or {}, wire)  # type: ignore[arg-type]
    return Call(request, Definition(**facts), {})  # type: ignore[arg-type]


def script_result(end: dict[str, Any]) -> ScriptResult:
    own = {name: end.pop(name) for name in ("error", "refused", "warnings", "problem") if name in end}
    embedded = [
        filled(EmbeddedFile(path, mime, uri), {"data": data}) for path, mime, uri, data in end.pop("embedded", ())
    ]
    problem = end.pop("completed_problem", "")
    completed = process_result({**end, "problem": problem})
    result: ScriptResult = filled(ScriptResult(completed), {**own, "embedded": embedded})
    return result


CONTRACTS: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "mcp_bash": (mcp_bash, script_result),
    "mcp_bash_completion": (completion_contract, process_result),
    "mcp_bash_prompt": (prompt_contract, str),
    "mcp_bash_resource": (resource_contract, lambda end: filled(ProviderResult(), end)),
}


@pytest.mark.parametrize("name", CONTRACTS)
def test_invocations_and_endings(
    name: str, golden: Callable[[Path, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    golden(GOLDEN / f"{name}.txt", became(name, *CONTRACTS[name], monkeypatch))


def test_what_its_functions_return(golden: Callable[[Path, str], None], monkeypatch: pytest.MonkeyPatch) -> None:
    def seconds(params: Any, facts: Any, **variables: str) -> float:
        with monkeypatch.context() as patch:
            for name, value in variables.items():
                patch.setenv(f"MCPBASH_{name}", value)
            return mcp_bash.limit(call(params, **facts))

    def verdict(printed: bytes, status: int = 0) -> Any:
        completed = ProcessResult()
        completed.printed, completed.status = printed, status
        return parse_policy_result("t", completed)

    modules = mcp_bash, scripts, settings, roots, runner
    helpers = {"seconds": seconds, "verdict": verdict, "call": lambda **facts: call(**facts)}
    check_expressions(golden, SYSTEMS / "mcp_bash_contract.txt", *modules, **helpers)


class Work:
    """A call that is under way, as its expiry looks at it."""

    def __init__(self, of: Call, began: float, errors: bytes = b"") -> None:
        self.call = self.handler_call = of
        self.began = began
        self.job = type("Job", (), {"errors": lambda self: errors})()


def test_why_time_was_over() -> None:
    patient = call(timeoutSecs=5, progressExtendsTimeout=True, maxTimeoutSecs=12, timeoutHint="Less.")
    for age, reason, words in [(6, "idle", "Tool timed out after 5s (no progress reported)"),
                               (12, "max_exceeded", "Tool exceeded maximum runtime of 12s")]:  # fmt: skip
        found = mcp_bash.expired(Work(patient, time.monotonic() - age, b"last\n"))  # type: ignore[arg-type]
        assert isinstance(found, Outcome)
        error = found.structured["error"]  # type: ignore[index]
        assert error == {
            "type": "timeout", "message": f"{words}\n\nSuggestion: Less.", "timeoutSecs": 5, "reason": reason,
            "exitCode": 124, "progressExtendsTimeout": True, "maxTimeoutSecs": 12, "hint": "Less.",
        }  # fmt: skip
        assert found.meta == {"exitCode": 124, "stderr": "last"}


def test_roots_are_what_is_there(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    answer = {"roots": [{"uri": f"file://{tmp_path}/link", "name": "L"}, {"uri": f"file://{tmp_path}/real"},
                        {"uri": "file:///nowhere/at/all"}, {"uri": 5}, "x"]}  # fmt: skip
    found = roots.parse_client_roots(answer)  # type: ignore[arg-type]
    assert found == [(f"file://{tmp_path}/link", "L", f"{tmp_path}/real")]
    assert roots.root_variables(found, str)[b"MCP_ROOTS_COUNT"] == b"1"
    assert roots.containing_root(found, f"{tmp_path}/real/x") == f"{tmp_path}/real"
    assert roots.containing_root(found, f"{tmp_path}/realx") is None
    assert roots.containing_root([("", "", "/")], "/x") == "/"
    settings = McpBashSettings(Image(roots=[["real", "R"], ["gone", ""]]), {})
    assert roots.fallback_roots(settings, str(tmp_path)) == [(f"file://{tmp_path}/real", "R", f"{tmp_path}/real")]
    settings = McpBashSettings(Image(), {b"MCPBASH_ROOTS": f"{tmp_path}/real:/".encode()})
    assert [path for _, _, path in roots.fallback_roots(settings, "/")] == [f"{tmp_path}/real", "/"]
    assert [path for _, _, path in roots.fallback_roots(McpBashSettings(Image(), {}), str(tmp_path))] == [str(tmp_path)]


def test_the_folder_of_a_call(tmp_path: Path) -> None:
    folder = files.CallFolder(str(tmp_path), "w1")
    folder.make()
    place = tmp_path / "w1"
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    assert {one.name for one in place.iterdir()} == {"stream", "error", "resources"}
    with pytest.raises(FileExistsError):
        files.CallFolder(str(tmp_path), "w1").make()
    (place / "secret").write_text("secret")
    os.unlink(place / "error")
    for trap in (lambda: os.symlink(place / "secret", place / "error"), lambda: os.mkfifo(place / "error"),
                 lambda: os.mkdir(place / "error")):  # fmt: skip
        trap()
        assert folder.read("error") == b""  # no link is followed, and nothing waited for
        os.rename(place / "error", place / f"trap{time.monotonic_ns()}")
    (place / "error").write_bytes(b"x" * (files.READ_LIMIT + 5))
    assert len(folder.read("error")) == files.READ_LIMIT
    assert folder.write("answer", b"{}") == str(place / "answer").encode()
    assert folder.take("answer") == b"{}"
    assert not (place / "answer").exists()
    folder.remove()
    assert not place.exists()


@pytest.mark.slow
def test_a_file_that_is_written_while_it_is_taken_is_not_lost(tmp_path: Path) -> None:
    folder = files.CallFolder(str(tmp_path), "w1")
    folder.make()
    written = 1000

    def write_each() -> None:
        for number in range(written):
            while (tmp_path / "w1/question").exists():
                continue
            folder.write("question", b"%d" % number)

    writer = threading.Thread(target=write_each)
    writer.start()
    taken: list[bytes] = []
    while writer.is_alive() or (tmp_path / "w1/question").exists():
        taken += filter(None, [folder.take("question")])
    assert taken == [b"%d" % number for number in range(written)]
    folder.remove()


def test_folders_of_calls_that_are_over_serve_again(tmp_path: Path) -> None:
    pool = files.CallFolders()
    first, second = pool.take(str(tmp_path)), pool.take(str(tmp_path))
    (tmp_path / ".mcpc/calls/w1/deep").mkdir()
    (tmp_path / ".mcpc/calls/w1/deep/file").write_text("left by a tool")
    pool.give_back(first)
    third = pool.take(str(tmp_path))
    assert sorted(one.name for one in (tmp_path / ".mcpc/calls").iterdir()) == ["w2", "w3"]
    assert sorted(one.name for one in (tmp_path / ".mcpc/calls/w3").iterdir()) == ["error", "resources", "stream"]
    (tmp_path / ".mcpc/calls/w3").rename(tmp_path / "away")
    pool.give_back(third)
    pool.give_back(second)
    (tmp_path / ".mcpc/calls/w2").chmod(0o777)
    with pytest.raises(FileExistsError):  # a folder that others may enter is no call's
        pool.take(str(tmp_path))
    assert pool.take(str(tmp_path)).location.endswith("/w5")
    for one in [pool.take(str(tmp_path)) for _ in range(files.MAX_SPARE + 5)]:
        pool.give_back(one)
    assert len(list((tmp_path / ".mcpc/calls").iterdir())) == files.MAX_SPARE + 2
