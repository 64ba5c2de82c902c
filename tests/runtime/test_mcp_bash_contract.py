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
from mcpc_runtime.protocol.effects import ABSENT, Call, Failure, FinishedResult, Outcome, Request
from mcpc_runtime.protocol.globs import matches
from mcpc_runtime.systems.mcp_bash import contract as mcp_bash
from mcpc_runtime.systems.mcp_bash import files, roots, script_output
from mcpc_runtime.systems.mcp_bash.elicitation import encode_answer, parse_elicitation
from mcpc_runtime.systems.mcp_bash.embedded_resources import parse_file_list
from mcpc_runtime.systems.mcp_bash.environment import server_environment
from mcpc_runtime.systems.mcp_bash.policy import Policy
from mcpc_runtime.systems.mcp_bash.policy_result import parse_policy_result
from mcpc_runtime.systems.mcp_bash.scripts import EmbeddedFile, ScriptResult
from mcpc_runtime.systems.mcp_bash.settings import McpBashSettings

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.sampled(2)

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


def ran(
    printed: bytes = b"", errors: bytes = b"", status: int = 0, error: bytes = b"", dropped: int = 0
) -> ScriptResult:
    completed = ProcessResult()
    completed.printed, completed.errors, completed.status = printed, errors, status
    completed.sizes, completed.dropped = (len(printed), len(errors)), dropped
    made = ScriptResult(completed)
    made.error = error
    return made


def failure(found: Any) -> tuple[int, str, Any]:
    assert isinstance(found, Failure)
    return found.code, found.message, found.data


LATE = ("result", "Tool timed out after 5s")
ENDINGS: list[tuple[str, ScriptResult, dict[str, Any], tuple[Any, ...]]] = [
    ("an error of its own", ran(b"x", error=b'{"code":-32000,"message":"m","data":[1]}'), {}, (-32000, "m", [1])),
    ("whatever the status", ran(b"", b"e", 9, b'{"code":7.0,"message":"m"}'), {}, (7, "m", None)),
    ("no code", ran(error=b'{"message":"m"}'), {}, (-32603, "Tool failed", '{"message":"m"}')),
    ("a truth as code", ran(error=b'{"code":true,"message":"m"}\n'), {},
     (-32603, "Tool failed", '{"code":true,"message":"m"}')),
    ("no JSON", ran(error=b"broken \0{\n\n"), {}, (-32603, "Tool failed", "broken {")),
    ("half a code", ran(error=b'{"code":1.5,"message":"m"}'), {}, (-32603, "Tool failed", '{"code":1.5,"message":"m"}')),
    ("124 with a limit", ran(status=124), {"timeoutSecs": 5}, LATE),
    ("KILL with a limit", ran(status=-9), {"timeoutSecs": 5}, LATE),
    ("TERM with a limit", ran(status=-15), {"timeoutSecs": 5}, LATE),
    ("124 without", ran(status=124), {}, (-32603, "Tool failed", {"exitCode": 124, "_meta": {"exitCode": 124}})),
    ("a signal", ran(status=-11), {}, (-32603, "Tool failed", {"exitCode": 139, "_meta": {"exitCode": 139}})),
    ("printed error", ran(b'{"code":-5,"message":"m"}\n', b"e", 1), {}, (-5, "m", None)),
    ("printed error after others", ran(b'{"p":1}\n[2] {"code":-5,"message":"m"}\nmore', b"e", 1), {}, (-5, "m", None)),
    ("printed error after a text", ran(b'why {"code":-5,"message":"m"}', b"", 1), {},
     (-32603, "Tool failed", 'why {"code":-5,"message":"m"}')),
    ("printed text", ran(b"why\n\n", b"e", 1), {}, (-32603, "Tool failed", "why")),
    ("line ends only", ran(b"\n", b"e\r\nf\n", 1), {},
     (-32603, "e", {"exitCode": 1, "_meta": {"exitCode": 1, "stderr": "e\r\nf"}, "stderrTail": "e\r\nf"})),
    ("not JSON for a schema", ran(b"x"), {"output": True},
     (-32603, "Tool output is not valid JSON for declared outputSchema", None)),
    ("nothing for a schema", ran(b"\n"), {"output": True},
     (-32603, "Tool output is empty for declared outputSchema", None)),
]  # fmt: skip


@pytest.mark.parametrize(("what", "became", "facts", "wanted"), ENDINGS, ids=[row[0] for row in ENDINGS])
def test_what_an_end_means(what: str, became: ScriptResult, facts: dict[str, Any], wanted: tuple[Any, ...]) -> None:
    found = mcp_bash.parse_result(call(**facts), became)
    if wanted[0] == "result":
        assert isinstance(found, Outcome)
        assert (found.is_error, found.content[0]["text"]) == (True, wanted[1])
    else:
        assert failure(found) == wanted


@pytest.mark.parametrize(
    ("printed", "structured"),
    [(b"", ABSENT), (b"text\n", ABSENT), (b"5", ABSENT), (b"[1]", ABSENT), (b'{"a":1}\n', {"a": 1}), (b"\xff", ABSENT)],
)
def test_what_is_printed_is_the_text_as_it_is(printed: bytes, structured: object) -> None:
    found = mcp_bash.parse_result(call(), ran(printed, b"note\n"))
    assert isinstance(found, Outcome)
    assert found.content == [{"type": "text", "text": printed.decode(errors="replace")}]
    assert found.structured == structured
    assert found.meta == {"exitCode": 0, "stderr": "note"}


def test_a_whole_result() -> None:
    blocks = [{"type": "text", "text": "t"}, {"type": "odd"}, 5]
    printed = {"content": blocks, "isError": False, "structuredContent": {"a": 1}, "_meta": {"k": 1, "exitCode": 9,
               "ui/resourceUri": "ui://s/t"}}  # fmt: skip
    found = mcp_bash.parse_result(call(), ran(json.dumps(printed).encode()))
    assert isinstance(found, Outcome)
    assert [one["type"] for one in found.content] == ["text", "text", "text"]
    assert (found.structured, found.is_error) == ({"a": 1}, False)
    assert found.meta == {"k": 1, "exitCode": 0, "ui": {"resourceUri": "ui://s/t"}}
    no_flag = mcp_bash.parse_result(call(), ran(b'{"content": []}'))
    assert isinstance(no_flag, Outcome) and no_flag.structured == {"content": []}


@pytest.mark.parametrize(
    ("printed", "fits"),
    [
        (b'{"a":1}', True), (b'{"a":1.0}', True), (b'{"a":null}', True), (b'{"a":"x"}', False), (b"{}", False),
        (b"[]", False), (b'{"a":1,"b":2}', False), (b'{"content":[],"isError":false}', False),
        (b'{"content":[],"isError":false,"structuredContent":{"a":1}}', True), (b'{"content":[],"isError":true}', True),
    ],
)  # fmt: skip
def test_the_dialect_looks_at_a_schema_as_mcp_bash_does(printed: bytes, fits: bool) -> None:
    found = mcp_bash.parse_result(call(output=True, dialect="mcp-bash"), ran(printed))
    assert isinstance(found, FinishedResult if fits else Failure)
    loose = mcp_bash.parse_result(call(output=True, dialect="mcp-bash", schema={"type": "array"}), ran(b"[]"))
    assert isinstance(loose, FinishedResult)


def test_in_the_stateless_era_the_dialect_is_the_protocols(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(mcp_bash.parse_result(call(dialect="mcp-bash"), ran(b"x")), FinishedResult)
    assert isinstance(mcp_bash.parse_result(call(dialect="mcp-bash", stateless=True), ran(b"x")), Outcome)
    reserved = mcp_bash.parse_result(call(stateless=True), ran(error=b'{"code":-32055,"message":"custom"}'))
    assert isinstance(reserved, Outcome) and reserved.is_error  # that code means something else there


def test_too_much_output(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCPBASH_MAX_TOOL_OUTPUT_SIZE", "10")
    assert failure(mcp_bash.parse_result(call(), ran(b"x" * 11)))[1] == "Tool output exceeded 10 bytes"
    assert failure(mcp_bash.parse_result(call(), ran(b"x", b"e" * 11)))[1] == "Tool stderr exceeded 10 bytes"
    monkeypatch.setenv("MCPBASH_MAX_TOOL_STDERR_SIZE", "20")
    assert isinstance(mcp_bash.parse_result(call(), ran(b"x" * 10, b"e" * 20)), Outcome)
    monkeypatch.setenv("MCPBASH_MAX_TOOL_OUTPUT_SIZE", "99999999999")
    assert failure(mcp_bash.parse_result(call(), ran(b"x", dropped=5)))[1] == "Tool output exceeded 18874368 bytes"


def test_the_tail_of_standard_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCPBASH_TOOL_STDERR_TAIL_LIMIT", "3")
    found = mcp_bash.parse_result(call(), ran(b"", b"abcdef"))
    assert isinstance(found, Outcome) and found.meta["stderr"] == "def"
    monkeypatch.setenv("MCPBASH_TOOL_STDERR_CAPTURE", "false")
    found = mcp_bash.parse_result(call(), ran(b"", b"abcdef"))
    assert isinstance(found, Outcome) and found.meta == {"exitCode": 0}


def test_files_in_an_answer() -> None:
    became = ran(b"ok")
    for path, mime, data in [("/r/a.txt", "", b"text\n"), ("/r/b", "", b"\0\1"), ("/r/c", "text/html", b"\xff"),
                             ("/r/d.png", "", b"PNG"), ("/r/e", "text/html;profile=mcp-app", b"<p>")]:  # fmt: skip
        file = EmbeddedFile(path, mime, f"file://{path}")
        file.data = data
        became.embedded.append(file)
    became.warnings = ["one was left out"]
    found = mcp_bash.parse_result(call(), became)
    assert isinstance(found, Outcome)
    made = [block["resource"] for block in found.content[1:]]
    assert [(one["mimeType"], one.get("text"), one.get("blob")) for one in made] == [
        ("text/plain", "text\n", None), ("application/octet-stream", None, "AAE="), ("text/html", None, "/w=="),
        ("image/png", None, "UE5H"), ("text/html;profile=mcp-app", "<p>", None),
    ]  # fmt: skip
    assert found.log == "one was left out"


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


def test_modes_of_the_environment() -> None:
    given = {b"FOO": b"1", b"BAR": b"2", b"MCP_X": b"3", b"MCPBASH_Y": b"4", b"PATH": b"/p", b"MCPC_TASKS": b"secret",
             b"MCPBASH_REMOTE_TOKEN": b"secret"}  # fmt: skip

    def found(**more: str) -> dict[bytes, bytes]:
        environ = {**given, **{name.encode(): value.encode() for name, value in more.items()}}
        return server_environment(McpBashSettings(Image(), environ), "/home", {b"SET": b"by env.sh"}, str)

    minimal = found()
    assert (minimal[b"MCP_X"], minimal[b"MCPBASH_Y"], minimal[b"SET"]) == (b"3", b"4", b"by env.sh")
    assert (minimal[b"PATH"], minimal[b"HOME"], minimal[b"LANG"], minimal[b"TMPDIR"]) == (
        b"/p",
        b"/home",
        b"C",
        b"/tmp",
    )
    assert not minimal.keys() & {b"FOO", b"BAR", b"MCPC_TASKS", b"MCPBASH_REMOTE_TOKEN"}
    listed = found(MCPBASH_TOOL_ENV_MODE="ALLOWLIST", MCPBASH_TOOL_ENV_ALLOWLIST="FOO, MCPC_TASKS")
    assert listed.keys() & {b"FOO", b"BAR", b"MCPC_TASKS"} == {b"FOO"}
    everything = found(MCPBASH_TOOL_ENV_MODE="inherit")
    assert everything.keys() & {b"FOO", b"BAR", b"MCPC_TASKS", b"MCPBASH_REMOTE_TOKEN"} == {b"FOO", b"BAR"}


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


@pytest.mark.parametrize("data", [b'"isError"', b'{"isError": true', b'\xff"isError"', b'{"isError":true,"content":1}'])
def test_what_is_no_result_of_a_failure(data: bytes) -> None:
    assert script_output.find_error_result(data) is None


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
