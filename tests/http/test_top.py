"""`top`: a server that serves is shown, once and in a terminal; a token stays where it may be."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import struct
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from fcntl import ioctl
from termios import TIOCSWINSZ
from typing import TYPE_CHECKING

import pytest

from mcpc_runtime.tools.cli.top.command import InvalidOptionError, read_options
from mcpc_runtime.tools.cli.top.connection import MetricsConnection, UnusableAddressError, address_of, read_token
from mcpc_runtime.tools.cli.top.exposition import read_samples
from mcpc_runtime.tools.cli.top.frame import SORTS, View, frame, painted, seconds, width_of
from mcpc_runtime.tools.cli.top.measures import Reading, overview, quantile
from support.artifact import build, mcpc
from support.files import write_files
from support.serving import served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TOOLS = '''
import os

from mcpc import tool

@tool
def echo(text: str) -> str:
    """Return the text."""
    return text

@tool
def broken() -> str:
    """Fail."""
    raise ValueError("no")
'''
ENTER, LEAVE = b"\x1b[?1049h", b"\x1b[?1049l"
FRAME = re.compile(r"\x1b\[\?2026h(.*?)\x1b\[\?2026l", re.DOTALL)
ESCAPES = re.compile(r"\x1b\[[?0-9;]*[A-Za-z]")


@pytest.fixture(scope="module")
def artifact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("top")
    write_files(
        place / "project", {"server.json": '{"serverInfo": {"name": "seen", "version": "1.2.3"}}', "tools.py": TOOLS}
    )
    return build(place / "project", place / "server.pyz", "--http")


def call(url: str, tool: str, token: str = "", **arguments: object) -> None:
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    params = {"name": tool, "arguments": arguments, "_meta": meta}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": tool,
        **({"Authorization": f"Bearer {token}"} if token else {}),
    }
    request = urllib.request.Request(url, json.dumps(message).encode(), headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        answer.read()


def test_a_server_is_shown_once(artifact: Path) -> None:
    with served(artifact, "--metrics") as server:
        for _ in range(3):
            call(server.url, "echo", text="x")
        call(server.url, "broken")
        argv = [sys.executable, artifact, "top", server.url, "--once"]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=True)
        assert "\x1b" not in done.stdout and done.stderr == ""
        lines = done.stdout.splitlines()
        assert lines[0].startswith("seen 1.2.3  http://127.0.0.1:") and max(map(len, lines)) <= 80
        rows = {line.split()[1]: line.split() for line in lines if line.startswith("tool ")}
        assert (rows["echo"][2], rows["echo"][5]) == ("3", "0") and (rows["broken"][2], rows["broken"][5]) == ("1", "1")
        assert re.search(r"workers 1 \(\d+M\)", done.stdout) or sys.platform == "darwin"
        shown = json.loads(mcpc("top", server.url, "--format", "json").stdout)
        assert shown["server"] == "seen 1.2.3" and shown["calls"] == 4 and shown["errors"] == 1 and shown["uptime"] >= 0
        assert shown["gauges"]["mcpc_calls_waiting"] == 0
        assert {row["name"]: row["calls"] for row in shown["rows"]} == {"echo": 3, "broken": 1}


def test_what_does_not_answer_is_told_with_what_to_do(artifact: Path, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.touch(0o600)
    token.write_text("ann " + "t" * 40 + "\n")
    single = tmp_path / "single"
    single.touch(0o600)
    single.write_text("t" * 40 + "\n")
    with served(artifact, "--metrics", "--token-file", str(token)) as server:
        refused = mcpc("top", server.url, "--once")
        assert refused.returncode == 4 and "use --token-file FILE" in refused.stderr
        accepted = mcpc("top", server.url, "--once", "--token-file", single)
        assert accepted.returncode == 0, accepted.stderr
        assert "t" * 40 not in accepted.stdout + accepted.stderr
    with served(artifact) as server:
        off = mcpc("top", server.url, "--once")
        assert off.returncode == 4 and "serve with --metrics" in off.stderr
    gone = mcpc("top", server.url, "--once")
    assert gone.returncode == 4 and "does not answer" in gone.stderr and "Traceback" not in gone.stderr


@contextmanager
def in_terminal(*argv: str | Path, size: tuple[int, int] = (24, 80)) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """A program in a terminal of its own; its end is the block's."""
    ours, theirs = pty.openpty()
    ioctl(theirs, TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color"}
    for name in ("NO_COLOR", "COLUMNS", "LINES"):
        environment.pop(name, None)
    process = subprocess.Popen(
        argv, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True, env=environment
    )
    os.close(theirs)
    try:
        yield ours, process
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def read_until(terminal: int, wanted: str, seconds: float = 60.0) -> str:
    """What a terminal shows, up to some text."""
    until, shown = time.monotonic() + seconds, b""
    while wanted.encode() not in shown:
        assert time.monotonic() < until, f"{wanted!r} is not shown:\n{shown.decode(errors='replace')}"
        if select.select([terminal], [], [], 0.2)[0]:
            shown += os.read(terminal, 1 << 16)
    return shown.decode("utf-8", "replace")


def frame_of(terminal: int, lines: int, seconds: float = 60.0) -> str:
    """The first whole frame of so many lines."""
    until, shown = time.monotonic() + seconds, b""
    while True:
        for drawn in FRAME.findall(shown.decode("utf-8", "replace")):
            if len(drawn.split("\r\n")) == lines:
                return str(drawn)
        assert time.monotonic() < until, shown.decode(errors="replace")
        if select.select([terminal], [], [], 0.2)[0]:
            shown += os.read(terminal, 1 << 16)


def test_a_terminal_is_drawn_sorted_resized_and_given_back(artifact: Path) -> None:
    with served(artifact, "--metrics") as server:
        call(server.url, "echo", text="x")
        with in_terminal(sys.executable, artifact, "top", server.url, "--interval", "0.2") as (terminal, process):
            first = read_until(terminal, "space pause")
            assert ENTER.decode() in first and "\x1b[1m" in first and "echo" in first
            assert max(len(ESCAPES.sub("", line)) for line in first.split("\r\n")) <= 80
            call(server.url, "broken")
            read_until(terminal, "broken")
            os.write(terminal, b" ")
            read_until(terminal, "paused")
            ioctl(terminal, TIOCSWINSZ, struct.pack("HHHH", 12, 50, 0, 0))
            small = frame_of(terminal, 12)
            os.write(terminal, b"n\x1b[A")
            assert max(len(ESCAPES.sub("", line)) for line in small.split("\r\n")) <= 50
            os.write(terminal, b"eq")
            read_until(terminal, LEAVE.decode())
            assert process.wait(60) == 0


def test_without_a_terminal_there_is_one_frame_only(artifact: Path) -> None:
    done = mcpc("top", "1")
    assert done.returncode == 2 and "--once" in done.stderr


ADDRESSES = {
    "8000": "http://127.0.0.1:8000/metrics",
    "box:8000": "http://box:8000/metrics",
    "http://[::1]:8000/mcp": "http://[::1]:8000/metrics",
    "https://host/mcp": "https://host:443/metrics",
    "https://host/team/metrics": "https://host:443/team/metrics",
}


@pytest.mark.parametrize(("text", "url"), ADDRESSES.items())
def test_an_address_may_be_short(text: str, url: str) -> None:
    assert address_of(text).url == url


@pytest.mark.parametrize(
    "text", ["ftp://host", "http://", "http://me:secret@host", "http://host:99999", "http://host:x"]
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(UnusableAddressError):
        address_of(text)


def test_a_token_is_not_sent_to_another_machine_in_the_clear() -> None:
    with pytest.raises(UnusableAddressError, match="not sent"):
        MetricsConnection(address_of("http://other:8000"), "secret")
    for safe in ("8000", "http://localhost:1", "http://[::1]:1", "https://other"):
        MetricsConnection(address_of(safe), "secret")


def test_a_token_file_is_this_user_s_alone(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("secret\n")
    path.chmod(0o644)
    with pytest.raises(UnusableAddressError, match="chmod 600"):
        read_token(str(path))
    path.chmod(0o600)
    assert read_token(str(path)) == "secret"
    for wrong in ("", "two words", "a\nb"):
        path.write_text(wrong)
        with pytest.raises(UnusableAddressError):
            read_token(str(path))


@pytest.mark.parametrize("words", [["--nothing"], ["1", "2"], ["1", "--interval"], ["--once=1", "1"]])
def test_wrong_words_are_refused(words: list[str]) -> None:
    with pytest.raises(InvalidOptionError):
        read_options(words)


def histogram(*counts: int) -> str:
    bounds = ("0.01", "0.1", "1.0", "+Inf")
    return "".join(
        f'mcpc_call_seconds_bucket{{kind="tool",name="a",le="{bound}"}} {count}\n'
        for bound, count in zip(bounds, counts, strict=True)
    )


def calls(started: int, ended: int, failed: int = 0) -> str:
    label = 'kind="tool",name="a"'
    return (
        f"mcpc_calls_started_total{{{label}}} {started}\n"
        f'mcpc_calls_total{{{label},outcome="success"}} {ended - failed}\n'
        f'mcpc_calls_total{{{label},outcome="failure"}} {failed}\n'
    )


def test_rates_and_quantiles_are_of_the_time_between_two_readings() -> None:
    before = Reading(10.0, read_samples(calls(10, 10) + histogram(0, 0, 10, 10)))
    after = Reading(12.0, read_samples(calls(21, 20, 5) + histogram(10, 10, 20, 20)))
    seen = overview(after, before, 0.0)
    (row,) = seen.rows
    assert (row.calls, row.running, row.errors, row.rate) == (20, 1, 5, 5.0)
    assert row.p50 == pytest.approx(0.005) and row.p99 == pytest.approx(0.0099)
    assert seen.call_rate == 5.0


def test_a_server_that_was_started_again_has_no_negative_rates() -> None:
    before = Reading(10.0, read_samples(calls(100, 100)))
    (row,) = overview(Reading(12.0, read_samples(calls(1, 1))), before, 0.0).rows
    assert row.rate >= 0 and row.calls == 1


@pytest.mark.parametrize(
    ("buckets", "part", "value"),
    [
        ([], 0.5, None),
        ([(1.0, 0), (float("inf"), 0)], 0.5, None),
        ([(1.0, 0), (float("inf"), 4)], 0.5, 1.0),
        ([(1.0, 2), (2.0, 4), (float("inf"), 4)], 0.75, 1.5),
    ],
)
def test_quantiles_of_few_values(buckets: list[tuple[float, float]], part: float, value: float | None) -> None:
    assert quantile(buckets, part) == value


def test_what_is_no_sample_is_left_out() -> None:
    text = '# HELP a b\na 1\nb{x="1\\n\\"2"} 2 1234\nnonsense\nc{ 3\nd x\n'
    assert read_samples(text) == {"a": [({}, 1.0)], "b": [({"x": '1\n"2'}, 2.0)]}


EVIL = "\x1b[2Jname‮漢字" * 9


@pytest.mark.parametrize("columns", [1, 40, 80, 200])
@pytest.mark.parametrize("lines", [1, 5, 24])
def test_a_frame_fits_any_screen_and_no_name_moves_the_cursor(columns: int, lines: int) -> None:
    name = EVIL.replace("\\", "\\\\")
    samples = read_samples("".join(calls(9, 9).replace('"a"', f'"{name}{number}"') for number in range(50)))
    view = View(overview(Reading(1.0, samples), None, 0.0), "http://x", "rate", EVIL)
    drawn = [painted(line, has_colours=False) for line in frame(view, columns, lines)]
    assert len(drawn) <= lines and all(width_of(line) <= max(columns, 40) for line in drawn)
    assert all(line.isprintable() for line in drawn)


@pytest.mark.parametrize(("columns", "titles"), [(80, 7), (70, 6), (60, 5), (50, 3), (40, 2)])
def test_a_narrow_screen_has_fewer_columns(columns: int, titles: int) -> None:
    seen = overview(Reading(1.0, read_samples(calls(3, 3))), None, 0.0)
    header, row = frame(View(seen, "", "rate"), columns, 0)[5:7]
    assert len(painted(header, has_colours=False).split()) == 2 + titles
    assert len(painted(row, has_colours=False).split()) == 2 + titles


@pytest.mark.parametrize("sort", SORTS)
def test_rows_have_an_order(sort: str) -> None:
    samples = read_samples(calls(3, 3, 1).replace('"a"', '"b"') + calls(5, 5))
    shown = frame(View(overview(Reading(1.0, samples), None, 0.0), "", sort), 80, 0)
    names = [line[0][0].split()[1] for line in shown if line and line[0][0].startswith("tool")]
    assert names == (["b", "a"] if sort == "errors" else ["a", "b"])


@pytest.mark.parametrize(
    ("value", "text"), [(None, "-"), (0.00123, "1.2ms"), (0.5, "500ms"), (12.34, "12.3s"), (300.0, "300s")]
)
def test_times_are_short(value: float | None, text: str) -> None:
    assert seconds(value) == text
