"""The contract of mcp-bash: what a tool finds, what each way of ending means, and what it does when things go wrong."""

from __future__ import annotations

import json
import os
import stat
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from mcpc_runtime.handlers.invocations import ProcessResult
from mcpc_runtime.protocol.effects import Call, Outcome, Request
from mcpc_runtime.protocol.globs import matches
from mcpc_runtime.systems.mcp_bash import (
    completion_contract,
    files,
    prompt_contract,
    resource_contract,
    roots,
    script_output,
)
from mcpc_runtime.systems.mcp_bash import contract as mcp_bash
from mcpc_runtime.systems.mcp_bash.elicitation import encode_answer, parse_elicitation
from mcpc_runtime.systems.mcp_bash.embedded_resources import parse_file_list
from mcpc_runtime.systems.mcp_bash.policy import Policy
from mcpc_runtime.systems.mcp_bash.policy_result import parse_policy_result
from mcpc_runtime.systems.mcp_bash.providers.requests import ProviderResult
from mcpc_runtime.systems.mcp_bash.scripts import EmbeddedFile, ScriptResult
from mcpc_runtime.systems.mcp_bash.settings import McpBashSettings
from support.contracts import GOLDEN, became, filled, process_result

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

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


@pytest.mark.parametrize(
    ("params", "facts", "environment", "seconds"),
    [
        ({}, {}, {}, 30),
        ({}, {}, {"MCPBASH_DEFAULT_TOOL_TIMEOUT": "7"}, 7),
        ({}, {}, {"MCPBASH_DEFAULT_TOOL_TIMEOUT": "no"}, 30),
        ({}, {"timeoutSecs": 5}, {"MCPBASH_DEFAULT_TOOL_TIMEOUT": "7"}, 5),
        ({"timeoutSecs": 90}, {"timeoutSecs": 5}, {}, 90),
        ({"timeoutSecs": "9"}, {"timeoutSecs": 5}, {}, 9),
        ({"timeoutSecs": 0}, {"timeoutSecs": 5}, {}, 5),
        ({"timeoutSecs": -1}, {"timeoutSecs": 5}, {}, 5),
        ({"timeoutSecs": 1e9}, {"timeoutSecs": 5}, {}, 5),
        ({"timeoutSecs": 90}, {"progressExtendsTimeout": True, "maxTimeoutSecs": 60}, {}, 60),
        ({"timeoutSecs": 90}, {}, {"MCPBASH_PROGRESS_EXTENDS_TIMEOUT": "true", "MCPBASH_MAX_TIMEOUT_SECS": "20"}, 20),
        ({"_meta": {"mcpc/timeout": 2.5}}, {"timeoutSecs": 5}, {}, 2.5),
    ],
)
def test_how_long_a_call_may_take(
    params: Any, facts: Any, environment: dict[str, str], seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert mcp_bash.limit(call(params, **facts)) == seconds


SECONDS = [("0", 0), ("9", 9), ("999999999", 999_999_999), ("1000000000", 0), ("-1", 0), ("1.5", 0), ("", 0), ("\u0665", 0),
           (1, 1), (0, 0), (-1, 0), (True, 0), (2.0, 0), (None, 0)]  # fmt: skip


@pytest.mark.parametrize(("value", "seconds"), SECONDS)
def test_seconds_are_a_positive_number_or_its_digits(value: Any, seconds: int) -> None:
    assert script_output.parse_seconds(value) == seconds


def test_progress_gives_more_time_up_to_a_limit() -> None:
    patient = call(timeoutSecs=5, progressExtendsTimeout=True, maxTimeoutSecs=12)
    assert mcp_bash.extended(patient, 4.0) == 5
    assert mcp_bash.extended(patient, 10.0) == 2
    assert mcp_bash.extended(patient, 13.0) == 0.001
    assert mcp_bash.extended(call(timeoutSecs=5), 4.0) is None


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


@pytest.mark.parametrize(
    ("listed", "usual", "built", "name", "words"),
    [
        ("", "", [], "x", "blocked by policy. Set"), ("", "deny", ["*"], "x", "blocked by policy. Set"),
        ("", "allow", [], "x", ""), ("", "all", [], "x", ""), ("x, y", "", [], "y", ""), ("x y", "allow", [], "z", "not in"),
        ("*", "", [], "z", ""), ("all", "", [], "z", ""), ("z*", "", [], "zz", "not in"), (" ", "allow", [], "x", "not in"),
        ("", "", ["z*"], "zz", ""), ("", "", ["z*"], "y", "not in"), ("y", "", ["z*"], "zz", "not in"),
    ],
)  # fmt: skip
def test_what_may_be_called(listed: str, usual: str, built: list[str], name: str, words: str) -> None:
    refusal = Policy(listed, usual, built).refusal(name)
    assert (words in refusal) if words else refusal == ""


@pytest.mark.parametrize(
    ("pattern", "name", "means"),
    [("a*", "a", True), ("*", "", True), ("a*b", "ab", True), ("a*b", "a", False), ("ab*b", "ab", False),
     ("a*c*b", "axcyb", True), ("a*c*b", "acb", True), ("a*cc*b", "acb", False), ("a**b", "ab", True), ("a", "ab", False)],
)  # fmt: skip
def test_patterns(pattern: str, name: str, means: bool) -> None:
    assert matches(pattern, name) is means


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///a/b%20c", "/a/b c"), ("FILE://localhost/a", "/a"), ("file://other/a", ""), ("http://x/a", ""),
        ("file:a", ""), ("file://", ""), ("file:///a%zz%4", "/a%zz%4"), ("file:///%C3%A4", "/ä"),
    ],
)  # fmt: skip
def test_the_path_of_a_root(uri: str, path: str) -> None:
    assert roots.file_uri_path(uri) == path


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


@pytest.mark.parametrize(
    ("data", "rows"),
    [
        (
            b'["a",{"path":"b","mimeType":"m","uri":"u"},{"uri":"u"},5,null,{"path":5}]',
            [("a", "", ""), ("b", "m", "u")],
        ),
        (b'{"path":"b"}', [("b", "", "")]),
        (b"a\tm\tu\textra\n\nb\n", [("a", "m", "u"), ("b", "", "")]),
        (b"", []),
        (b"[broken", [("[broken", "", "")]),
    ],
)
def test_files_that_are_named(data: bytes, rows: list[Any]) -> None:
    assert parse_file_list(data) == rows


@pytest.mark.parametrize("data", [b"", b"no", b"[]", b"{}", b'{"message":5}'])
def test_what_is_no_question(data: bytes) -> None:
    assert parse_elicitation(data, 1) is None


def test_questions_and_answers() -> None:
    asked = parse_elicitation(b'{"message":"m","schema":{"type":"object"},"mode":"form"}', 2)
    assert asked is not None
    assert asked["reply"] == 2
    assert asked["ask"]["elicit-2"]["params"]["requestedSchema"] == {"type": "object"}  # type: ignore[index,call-overload]
    url = parse_elicitation(b'{"message":"m","url":"https://x","mode":"url"}', 1)
    assert url is not None
    assert url["ask"]["elicit-1"]["params"] == {"mode": "url", "message": "m", "url": "https://x"}  # type: ignore[index,call-overload]
    given = {"answers": {"elicit-1": {"action": "accept", "content": {"a": 1}, "more": 2}}}
    assert json.loads(encode_answer(given, 1)) == {"action": "accept", "content": {"a": 1}}  # type: ignore[arg-type]
    assert json.loads(encode_answer({"error": {"code": -32021}}, 1)) == {"action": "decline", "content": None}
    assert json.loads(encode_answer({"error": {"code": -1}}, 1)) == {"action": "error", "content": None}


@pytest.mark.parametrize(
    ("printed", "status", "wanted"),
    [
        (b"allowed\0000\0\0\0", 0, None),
        (b'denied\000-5\0no\0{"a":1}\0', 0, (-5, "no", {"a": 1})),
        (b"denied\0000\0\0text\0", 0, (-32602, "Tool 't' blocked by policy", "text")),
        (b"denied\000nonsense\0no\0\0", 0, (-32602, "no", None)),
        (b"", 0, (-32603, "Tool 't' blocked by policy: the policy script failed", None)),
        (b"allowed", 0, (-32603, "Tool 't' blocked by policy: the policy script failed", None)),
        (b"allowed\0000\0\0\0", 1, (-32603, "Tool 't' blocked by policy: the policy script failed", None)),
    ],
)
def test_verdicts(printed: bytes, status: int, wanted: Any) -> None:
    completed = ProcessResult()
    completed.printed, completed.status = printed, status
    assert parse_policy_result("t", completed) == wanted


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
