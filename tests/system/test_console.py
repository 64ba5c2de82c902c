"""What a server and `mcpc` say to a person at a terminal: hints for slips, help where it is looked for, and Ctrl-C."""

import errno
import os
import signal
import subprocess
import sys
import time
import tty
from pathlib import Path

import pytest
import yaml

from support.artifact import SOURCES, build
from support.processes import run_program

pytestmark = pytest.mark.sampled(3)

DATA = yaml.safe_load(Path(__file__).with_name("console.yaml").read_text("utf-8"))
TOOLS = DATA["TOOLS"]
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


def ran(server: Path, *words: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, str(server), *words]
    return subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False, stdin=subprocess.DEVNULL)


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


@pytest.mark.parametrize("words", HOSTILE, ids=" ".join)
def test_a_terminal_gets_nothing_that_could_steer_it(server: Path, words: tuple[str, ...]) -> None:
    assert HOSTILE[words].format(SHOWN) in on_terminal([sys.executable, str(server), *words])
    argv = [sys.executable, str(server), *words]
    done = subprocess.run(argv, capture_output=True, timeout=30, check=False, stdin=subprocess.DEVNULL)
    assert HOSTILE[words].format(RAW) in done.stdout.decode(), "what is piped is exact"


def test_an_error_steers_no_terminal_either(server: Path) -> None:
    words = ["call", "\x1b[31mnone"]
    argv = ["sh", "-c", '"$@" 2>&1', "sh", sys.executable, str(server), *words]
    assert "Unknown tool: \\x1b[31mnone" in on_terminal(argv)


KINDS = {"read": ["--resource"], "prompt": ["--prompt"]}
"""The options of `mcpc call` for what are commands of a built file."""


@pytest.mark.parametrize("words", [("call", "hostile"), ("read", "docs://hostile"), ("prompt", "hostile_prompt")])
def test_a_terminal_gets_the_same_of_a_project(server: Path, project: Path, words: tuple[str, ...]) -> None:
    argv = [sys.executable, "-m", "mcpc", "call", str(project), *KINDS.get(words[0], ()), *words[1:]]
    assert HOSTILE[words].format(SHOWN) in on_terminal(argv, env=environment(server))


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
    argv = [sys.executable, "-m", "mcpc", *words]
    return run_program(argv, env=environment(server), stdin=subprocess.DEVNULL)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("call", "{}", "greet", "Ada"), "; did you mean name=Ada?\nsee `mcpc call --help`"),
        (("call", "{}", "zzz"), "; `mcpc inspect {}` prints all names"),
        (("call", "{}", "--resource", "zzz:"), "; `mcpc inspect {}` prints all names"),
    ],
    ids=["call", "unknown tool", "unknown resource"],
)
def test_messages_name_the_project_and_no_temporary_file(
    server: Path, project: Path, words: tuple[str, ...], said: str
) -> None:
    done = mcpc(server, *(word.format(project) for word in words))
    assert said.format(project) in done.stderr
    assert "server.pyz" not in done.stderr.replace("-o server.pyz", "")


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
