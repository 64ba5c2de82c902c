"""What a server and `mcpc` say to a person at a terminal: hints for slips, help where it is looked for, and Ctrl-C."""

from __future__ import annotations

import errno
import json
import os
import shlex
import signal
import subprocess
import sys
import time
import tty
from pathlib import Path

import pytest
from click.testing import CliRunner

from mcpc.cli import cli
from mcpc.cli.explain import fill_paragraph
from mcpc.diagnostics import CODES, explain
from support.artifact import SOURCES, build

pytestmark = pytest.mark.sampled(3)

TOOLS = '''
import asyncio
import time
from pathlib import Path

from mcpc import Context, Server, ToolError

mcp = Server("terminal", version="1")


@mcp.tool
def greet(name: str) -> str:
    """Greet."""
    return f"Hello, {name}!"


@mcp.tool(meta={"mcpc/handler": {"inline": True}})
def inside(name: str) -> str:
    """Greet in the server's own process."""
    print("a print")
    return f"Hi, {name}!"


@mcp.tool
def wait(mark: str) -> str:
    """Wait."""
    Path(mark).write_text("began")
    time.sleep(60)
    return ""


@mcp.tool
async def tells(go: str, ctx: Context) -> str:
    """Tell of something, and wait until a file is there."""
    await ctx.report_progress(1, 3, "one of three")
    await ctx.warning("not \\x1b[31m yet")
    while not Path(go).exists():
        await asyncio.sleep(0.01)
    return "done"


@mcp.resource("docs://guide")
def guide() -> str:
    """Guide."""
    return "Read this."


@mcp.resource("docs://raw")
def raw() -> bytes:
    """Raw."""
    return b"\\x00\\xff"


@mcp.prompt
def ask(topic: str, count: int = 1) -> str:
    """Ask."""
    return f"About {topic!r}, {count}"


HOSTILE = "a\\tb\\x1b]0;title\\x07 \\u202eright\\x9b1m\\x7f\\r\\nend\\n"


@mcp.tool
def hostile() -> str:
    """Say what steers a terminal."""
    return HOSTILE


@mcp.tool
def fails() -> str:
    """Say it in an error."""
    raise ToolError(HOSTILE)


@mcp.resource("docs://hostile")
def hostile_text() -> str:
    """Say it in a resource."""
    return HOSTILE


@mcp.prompt
def hostile_prompt() -> str:
    """Say it in a prompt."""
    return HOSTILE


@mcp.completion("ask", "topic")
def topics(value: str) -> list[str]:
    """Complete."""
    return [one for one in ("cats", "dogs") if one.startswith(value)]
'''
SUCCESS, USAGE, TOOL_ERROR, INTERRUPTED = 0, 2, 5, 130


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("console") / "project"
    folder.mkdir()
    (folder / "server.py").write_text(TOOLS)
    return folder


@pytest.fixture(scope="module")
def server(project: Path) -> Path:
    return build(project, project.parent / "server.pyz")


def environment(server: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": SOURCES, "MCPC_CACHE_DIR": str(server.parent / "mcpc-cache")}


@pytest.mark.parametrize(("tool", "answer"), [("greet", "Hello, Ada!\n"), ("inside", "Hi, Ada!\n")])
def test_an_answer_is_on_standard_output(server: Path, tool: str, answer: str) -> None:
    run = ran(server, "call", tool, "name=Ada")
    assert (run.returncode, run.stdout) == (SUCCESS, answer)
    assert run.stderr == ("a print\n" if tool == "inside" else "")


def test_which_one_it_is(server: Path) -> None:
    run = ran(server, "--version")
    assert (run.returncode, run.stdout, run.stderr) == (SUCCESS, "terminal 1\n", "")


def ran(server: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a built file to its end."""
    argv = [sys.executable, str(server), *words]
    return subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False, stdin=subprocess.DEVNULL)


SLIPS = {
    ("serv",): (USAGE, "did you mean serve?"),
    ("zzz",): (USAGE, "unknown command 'zzz'\n"),
    ("call", "gret", "name=x"): (TOOL_ERROR, "error -32602: Unknown tool: gret; did you mean greet?\n"),
    ("call", "zzz"): (TOOL_ERROR, "server.pyz list` prints all names\n"),
    ("call", "greet", "Ada"): (USAGE, "error: 'Ada' is not NAME=VALUE\n"),
    ("call", "greet", "name=a", "name=b"): (USAGE, "error: name is given twice"),
    ("read",): (USAGE, "error: read needs the URI of a resource\n"),
    ("read", "docs://gide"): (TOOL_ERROR, "Resource not found: docs://gide; did you mean docs://guide?\n"),
    ("prompt",): (USAGE, "error: prompt needs the name of a prompt\n"),
    ("prompt", "asks"): (TOOL_ERROR, "Unknown prompt: asks; did you mean ask?\n"),
    ("prompt", "ask", "cats"): (USAGE, "error: 'cats' is not NAME=VALUE\n"),
    ("complete", "ask"): (USAGE, "error: complete needs the name of a prompt"),
}


@pytest.mark.parametrize("words", SLIPS, ids=" ".join)
def test_a_slip_is_answered_with_a_hint(server: Path, words: tuple[str, ...]) -> None:
    done = ran(server, *words)
    status, said = SLIPS[words]
    assert (done.returncode, done.stdout) == (status, "")
    assert said in done.stderr


def test_arguments_that_are_nested_too_deeply_are_wrong_usage(server: Path) -> None:
    done = ran(server, "call", "greet", "--json", '{"name": ' + "[" * 60_000)
    assert (done.returncode, done.stdout, "Traceback" in done.stderr) == (USAGE, "", False)
    assert done.stderr.startswith("error: the arguments are ")


RAW = "a\tb\x1b]0;title\x07 \u202eright\x9b1m\x7f\r\nend\n"
SHOWN = "a\tb\\x1b]0;title\\x07 \\u202eright\\x9b1m\\x7f\nend\n"
"""What hostile handlers say, and what of it a terminal gets."""
HOSTILE = {
    ("call", "hostile"): "{}\n",
    ("read", "docs://hostile"): "{}",
    ("prompt", "hostile_prompt"): "user:\n{}\n",
    ("call", "fails"): "{}\n",
}


def on_terminal(argv: list[str], **settings: dict[str, str]) -> str:
    """Run a command whose standard output is a terminal, and return what that gets."""
    ours, theirs = os.openpty()
    tty.setraw(theirs)  # line ends arrive as they are written
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.DEVNULL, **settings):
        os.close(theirs)
        said = b""
        try:
            while piece := os.read(ours, 65536):
                said += piece
        except OSError as problem:
            assert problem.errno == errno.EIO  # nobody has the other end any more
    os.close(ours)
    return said.decode()


@pytest.mark.parametrize("command", ["server.pyz --help", "mcpc explain MCP119"])
def test_help_is_as_wide_as_a_terminal_of_80_columns(server: Path, command: str) -> None:
    program = [sys.executable, str(server)] if command.startswith("server") else [sys.executable, "-m", "mcpc"]
    said = on_terminal([*program, *command.split()[1:]], env={**environment(server), "COLUMNS": "80"}).splitlines()
    copied = ("    ", '  {"mcpServers"', f"  {server}")
    assert [line for line in said if len(line) > 80 and not line.startswith(copied)] == []
    assert any(len(line) > 60 for line in said), "lines are not shorter than they have to be"


@pytest.mark.parametrize("words", HOSTILE, ids=" ".join)
def test_a_terminal_gets_nothing_that_could_steer_it(server: Path, words: tuple[str, ...]) -> None:
    assert HOSTILE[words].format(SHOWN) in on_terminal([sys.executable, str(server), *words])
    argv = [sys.executable, str(server), *words]
    done = subprocess.run(argv, capture_output=True, timeout=30, check=False, stdin=subprocess.DEVNULL)
    assert HOSTILE[words].format(RAW) in done.stdout.decode(), "what is piped is exact"


def test_a_terminal_gets_json_that_is_the_same_value(server: Path) -> None:
    said = on_terminal([sys.executable, str(server), "read", "docs://hostile", "--json"])
    assert said.replace("\n", "").isprintable()
    assert json.loads(said)["contents"][0]["text"] == RAW


def test_an_error_steers_no_terminal_either(server: Path) -> None:
    words = ["call", "\x1b[31mnone"]
    argv = ["sh", "-c", '"$@" 2>&1', "sh", sys.executable, str(server), *words]
    assert "Unknown tool: \\x1b[31mnone" in on_terminal(argv)


@pytest.mark.parametrize("words", [("call", "hostile"), ("read", "docs://hostile"), ("prompt", "hostile_prompt")])
def test_a_terminal_gets_the_same_of_a_project(server: Path, project: Path, words: tuple[str, ...]) -> None:
    argv = [sys.executable, "-m", "mcpc", words[0], str(project), *words[1:]]
    assert HOSTILE[words].format(SHOWN) in on_terminal(argv, env=environment(server))


ANSWERS = {
    ("call", "greet", "name=5"): "Hello, 5!\n",
    ("call", "greet", "name=null"): "Hello, null!\n",
    ("read", "docs://guide"): "Read this.",
    ("prompt", "ask", "topic=5", "count=2"): "user:\nAbout '5', 2\n",
    ("complete", "ask", "topic", "d"): "dogs\n",
    ("complete", "ask", "topic"): "cats\ndogs\n",
}


@pytest.mark.parametrize("words", ANSWERS, ids=" ".join)
def test_what_is_asked_for_is_printed(server: Path, words: tuple[str, ...]) -> None:
    done = ran(server, *words)
    assert (done.returncode, done.stdout, done.stderr) == (SUCCESS, ANSWERS[words], "")


def test_a_resource_of_bytes_is_written_as_it_is(server: Path) -> None:
    argv = [sys.executable, str(server), "read", "docs://raw"]
    assert subprocess.run(argv, capture_output=True, timeout=30, check=True).stdout == b"\x00\xff"
    whole = json.loads(ran(server, "read", "docs://raw", "--json").stdout)
    assert whole["contents"][0]["blob"] == "AP8="


@pytest.mark.parametrize("by", ["server.pyz", "mcpc"])
def test_progress_and_log_messages_come_while_the_call_runs(
    by: str, server: Path, project: Path, tmp_path: Path
) -> None:
    mark = tmp_path / "go"
    argv = [str(server), "call"] if by == "server.pyz" else ["-m", "mcpc", "call", str(project)]
    process = subprocess.Popen(
        [sys.executable, *argv, "tells", f"go={mark}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(server),
    )
    lines = (line for line in process.stderr if not line.startswith("mcpc: "))
    assert next(lines) == "progress 1/3: one of three\n"
    assert next(lines) == "warning: not \\x1b[31m yet\n"
    assert process.poll() is None
    mark.touch()
    assert process.communicate(timeout=30) == ("done\n", "")
    assert process.returncode == SUCCESS


def mcpc(server: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the compiler to its end."""
    argv = [sys.executable, "-m", "mcpc", *words]
    return subprocess.run(
        argv,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=environment(server),
        stdin=subprocess.DEVNULL,
    )


def test_a_project_answers_as_its_built_file(server: Path, project: Path) -> None:
    assert mcpc(server, "call", str(project), "greet", "name=5").stdout == "Hello, 5!\n"
    assert mcpc(server, "read", str(project), "docs://guide").stdout == "Read this."
    assert mcpc(server, "prompt", str(project), "ask", "topic=5", "count=2").stdout == "user:\nAbout '5', 2\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("call", "{}", "greet", "Ada"), "mcpc call {} TOOL [NAME=VALUE ...]"),
        (("call", "{}", "zzz"), "; `mcpc inspect {}` prints all names"),
        (("read", "{}", "zzz:"), "; `mcpc inspect {}` prints all names"),
    ],
    ids=["call", "unknown tool", "unknown resource"],
)
def test_messages_name_the_project_and_no_temporary_file(
    server: Path, project: Path, words: tuple[str, ...], said: str
) -> None:
    done = mcpc(server, *(word.format(project) for word in words))
    assert said.format(project) in done.stderr
    assert "server.pyz" not in done.stderr.replace("-o server.pyz", "")


def test_a_person_who_runs_a_project_is_told_of_the_project(server: Path, project: Path) -> None:
    ours, theirs = os.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "mcpc", "run", str(project)],
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(server),
    ) as process:
        said = ""
        for line in process.stderr:
            said += line
            if line.startswith("Serving"):
                break
        os.write(ours, b"\x04")
        process.wait(timeout=30)
    os.close(ours)
    os.close(theirs)
    assert f"mcpc run {project} " in said
    assert "server.pyz" not in said.replace("-o server.pyz", "")


@pytest.mark.parametrize("words", [("list",), ("info",), ("check",), ("call",), ("call", "greet")], ids=" ".join)
def test_every_command_has_help(server: Path, words: tuple[str, ...]) -> None:
    for option in ("--help", "-h"):
        done = ran(server, *words, option)
        assert (done.returncode, done.stderr) == (SUCCESS, "")
        assert done.stdout == ran(server, "--help").stdout


@pytest.mark.parametrize("by", ["server.pyz", "mcpc"])
def test_ctrl_c_ends_a_call_without_a_word(by: str, server: Path, project: Path, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    argv = [str(server), "call"] if by == "server.pyz" else ["-m", "mcpc", "call", str(project)]
    process = subprocess.Popen(
        [sys.executable, *argv, "wait", f"mark={mark}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env=environment(server),
    )
    until = time.monotonic() + 30
    while not mark.exists() and time.monotonic() < until:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all that were started from it
    out, said = process.communicate(timeout=20)
    assert (process.returncode, out) == (INTERRUPTED, b"")
    assert [line for line in said.decode().splitlines() if not line.startswith("mcpc: ")] == []


def test_the_next_command_can_be_pasted(project: Path, tmp_path: Path) -> None:
    for words in (("new",), ("import", str(project), "-o")):
        target = str(tmp_path / f"{words[0]} me")
        done = CliRunner().invoke(cli, [*words, target], prog_name="mcpc")
        assert done.exit_code == SUCCESS, done.output
        assert f"mcpc build {shlex.quote(target)} -o server.pyz" in done.stderr


def test_a_project_that_finds_no_room_is_not_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write, written = Path.write_bytes, []

    def fails_at_the_third(path: Path, data: bytes) -> int:
        written.append(path)
        if len(written) == 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        return write(path, data)

    monkeypatch.setattr(Path, "write_bytes", fails_at_the_third)
    done = CliRunner().invoke(cli, ["new", str(tmp_path / "new"), "--template", "bash"], prog_name="mcpc")
    assert done.exit_code == USAGE
    assert done.stderr.splitlines()[-1] == f"Error: cannot write {tmp_path / 'new'}: No space left on device"
    assert list((tmp_path / "new").iterdir()) == []


def test_explanations_fit_a_narrow_terminal() -> None:
    long = [
        line
        for code in CODES
        for paragraph in explain(code).split("\n\n")
        if not paragraph.startswith(" ")
        for line in fill_paragraph(paragraph, 60).splitlines()
        if len(line) > 60 and " " in line.strip()
    ]
    assert not long
    lists = explain("MCP125").split("\n\n")[2]
    assert [line[:6] for line in fill_paragraph(lists, 60).splitlines() if line.startswith("-")] == [
        "- `tex",
        "- `roo",
        "- `com",
    ]


def test_a_code_that_nobody_knows_leads_to_the_list() -> None:
    done = CliRunner().invoke(cli, ["explain", "nonsense"], prog_name="mcpc")
    assert done.exit_code == USAGE
    assert "nonsense" in done.stderr and "`mcpc explain`" in done.stderr
