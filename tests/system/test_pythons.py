"""A built file serves under every Python it supports, however it was started, wherever it lies, whatever is missing."""

from __future__ import annotations

import json
import os
import pty
import random
import shutil
import signal
import stat
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from support.artifact import build, converse
from support.interpreters import HERE, VERSIONS, answering
from support.needs import needs, python
from support.scale import scaled, under_pythons
from system import mixed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Json = Any

pytestmark = pytest.mark.slow

TOO_OLD = ("2.7", "3.6", "3.7", "3.8", "3.9", "3.10")
BASICS = "/usr/bin:/bin"
REQUESTS: tuple[tuple[str, dict[str, Json]], ...] = (
    ("initialize", mixed.HELLO),
    ("tools/list", {}),
    ("tools/call", {"name": "count", "arguments": {"text": "zwei Wörter"}}),
    ("tools/call", {"name": "shout", "arguments": {"text": "hey 🦆"}}),
    ("tools/call", {"name": "count", "arguments": {"text": 1}}),
    ("tools/call", {"name": "measure", "arguments": {"text": "größe", "unit": "bytes"}}),
    ("tools/call", {"name": "last-word", "arguments": {"text": "the last"}}),
    ("prompts/get", {"name": "greet", "arguments": {"name": "Ada"}}),
    ("tools/call", {"name": "nothing", "arguments": {}}),
    ("server/discover", {"_meta": mixed.STATELESS}),
)
CONSOLE: dict[str, tuple[tuple[str, ...], int]] = {
    "info": (("info",), 0),
    "info for programs": (("info", "--json"), 0),
    "check": (("check",), 0),
    "check for programs": (("check", "--json"), 0),
    "list": (("list",), 0),
    "list for programs": (("list", "--json"), 0),
    "call in Python": (("call", "count", "text=zwei Wörter"), 0),
    "call in Bash": (("call", "shout", "text=hey"), 0),
    "call with JSON": (("call", "measure", "--json", '{"text": "größe"}'), 0),
    "a refused call": (("call", "count", "--json", '{"text": 1}'), 5),
    "a call of nothing": (("call", "nothing"), 5),
    "help": (("--help",), 0),
    "no command": (("dance",), 2),
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The artifact of the mixed project."""
    needs("bash")
    folder = tmp_path_factory.mktemp("pythons")
    return build(mixed.write(folder / "project"), folder / "server.pyz")


@pytest.fixture(scope="module")
def expected(server: Path) -> dict[int, Json]:
    """What it answers under the Python that built it."""
    return answers(sys.executable, server)


def answers(*argv: str | Path, **how: Any) -> dict[int, Json]:
    """Return the replies to the requests by their ids, from a server that says nothing else and ends well."""
    done = converse(argv, mixed.lines(*REQUESTS), **how)
    assert (done.returncode, own_words(done.stderr)) == (0, "")
    replies = {(reply := json.loads(line))["id"]: reply for line in done.stdout.splitlines()}
    assert sorted(replies) == list(range(len(REQUESTS)))
    return replies


def finding(interpreter: Path, folder: Path) -> dict[str, str]:
    """Return an environment of nothing but a PATH on which every Python is this interpreter."""
    programs = folder / "bin"
    programs.mkdir(parents=True)
    for name in ("python3", *(f"python{version}" for version in VERSIONS)):
        (programs / name).symlink_to(interpreter)
    return {"PATH": f"{programs}:{BASICS}"}


def text_of(reply: Json) -> str:
    """Return the text of a call's only block."""
    (block,) = reply["result"]["content"]
    return str(block["text"])


def test_the_answers_are_right(expected: dict[int, Json]) -> None:
    assert expected[0]["result"]["serverInfo"]["title"] == "Gemischt — 混合"
    assert [tool["name"] for tool in expected[1]["result"]["tools"]] == ["count", "shout", "measure", "last-word"]
    assert text_of(expected[2]) == "2 words"
    assert text_of(expected[3]) == "HEY 🦆!"
    assert expected[4]["result"]["isError"] is True
    assert expected[5]["result"]["structuredContent"] == {"length": 7}
    assert text_of(expected[6]) == "last"
    assert expected[7]["result"]["messages"][0]["content"]["text"] == "Hello, Ada."
    assert "nothing" in expected[8]["error"]["message"]
    assert expected[9]["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "mixed"


@pytest.mark.parametrize("version", VERSIONS)
def test_every_python_serves(version: str, server: Path, expected: dict[int, Json]) -> None:
    assert answers(python(version), server) == expected


@pytest.mark.parametrize("version", VERSIONS)
def test_the_first_line_finds_every_python(
    version: str, server: Path, expected: dict[int, Json], tmp_path: Path
) -> None:
    shutil.copy(server, tmp_path / "server.pyz")
    environment = finding(python(version), tmp_path)
    assert answers("./server.pyz", cwd=tmp_path, env=environment) == expected


@pytest.mark.parametrize(("name", "version"), under_pythons(CONSOLE))
def test_the_console_is_the_same_under_every_python(name: str, version: str, server: Path, tmp_path: Path) -> None:
    words, status = CONSOLE[name]
    said = []
    for argv, environment in (
        ([python(version), server], {"PATH": BASICS}),
        ([server], finding(python(version), tmp_path)),
    ):
        done = converse([*argv, *words], b"", env=environment)
        assert done.returncode == status, done.stderr.decode()
        assert b"Traceback" not in done.stderr
        assert bool(done.stdout) == (status == 0 or name == "a refused call")
        assert bool(done.stderr) == (status == 2 or name == "a call of nothing")
        said.append(done.stdout if name != "help" else b"")
    assert said[0] == said[1]
    if words[-1] == "--json":
        json.loads(said[0])


def test_the_console_says_what_is_there(server: Path) -> None:
    listed = json.loads(converse([sys.executable, server, "list", "--json"], b"").stdout)
    assert [tool["name"] for tool in listed["tools"]] == ["count", "shout", "measure", "last-word"]
    assert [prompt["name"] for prompt in listed["prompts"]] == ["greet", "part"]
    checked = json.loads(converse([sys.executable, server, "check", "--json"], b"").stdout)
    assert checked["ok"] is True
    assert all(check["problems"] == [] for check in checked["checks"])
    assert converse([sys.executable, server, "call", "shout", "text=hey"], b"").stdout == b"HEY!\n"


@pytest.mark.parametrize("version", TOO_OLD)
def test_a_python_that_is_too_old_is_told_so(version: str, server: Path, tmp_path: Path) -> None:
    old = answering(version)
    if old is None:
        pytest.skip(f"Python {version} is not here")
    ways: list[tuple[list[str | Path], dict[str, str]]] = [([old, server], {"PATH": BASICS})]
    if version != "2.7":  # which does not know the options of the prologue
        ways.append(([server], finding(old, tmp_path)))  # and has the name of one that is not asked for its version
    for argv, environment in ways:
        for words in ([], ["info"], ["call", "count"]):
            done = converse([*argv, *words], mixed.lines(*REQUESTS), env=environment)
            assert (done.returncode, done.stdout) == (8, b"")
            said = done.stderr.decode()
            assert said.count("\n") == 1
            assert said.startswith("this server needs Python 3.11 or newer; ")
            assert said.endswith(f" is Python {version}\n")


NAMES = {
    "spaces": "a folder with  spaces/my server.pyz",
    "quotes": "it's \"quoted\"/'server'.pyz",
    "shell": "$HOME `id` $(id) ; & | < > * ? [x] \\ !/server.pyz",
    "letters": "Ünïcödé 工程 🦆/sérver.pyz",
    "combining": "e\u0301/se\u0301rver.pyz",
    "percent": "100%/%s %d.pyz",
    "python": "{x}/import os;.pyz",
    "package": "mcpc_app.py/mcpc_app",
    "dots": "...//./server.tar.gz.pyz",
    "dash": "-c/-m.pyz",
    "line break": "two\nlines/server\n.pyz",
    "long": f"{'x' * 200}/{'y' * 200}/{'z' * 200}.pyz",
}


@pytest.mark.parametrize("name", NAMES)
def test_it_serves_wherever_it_lies(name: str, server: Path, expected: dict[int, Json], tmp_path: Path) -> None:
    place = tmp_path / NAMES[name]
    place.parent.mkdir(parents=True)
    shutil.copy(server, place)
    environment = finding(Path(sys.executable), tmp_path / "found")
    assert answers(sys.executable, place, env=environment) == expected
    assert answers(place, env=environment) == expected
    for argv in ([sys.executable, f"./{place.name}"], [f"./{place.name}"]):
        assert answers(*argv, cwd=place.parent, env=environment) == expected
        done = converse([*argv, "check"], b"", cwd=place.parent, env=environment)
        assert (done.returncode, done.stderr) == (0, b"")


def test_it_serves_through_links(server: Path, expected: dict[int, Json], tmp_path: Path) -> None:
    environment = finding(Path(sys.executable), tmp_path)
    (tmp_path / "one").symlink_to(server)
    (tmp_path / "two").symlink_to("one")
    (tmp_path / "folder").symlink_to(server.parent)
    for path in (tmp_path / "two", tmp_path / "folder" / server.name):
        assert answers(path, env=environment) == expected
        assert answers(sys.executable, path, env=environment) == expected
        assert converse([path, "check"], b"", env=environment).returncode == 0


def test_it_serves_from_a_folder_nobody_may_write(server: Path, expected: dict[int, Json], tmp_path: Path) -> None:
    folder = tmp_path / "read-only"
    folder.mkdir()
    shutil.copy(server, folder)
    (folder / server.name).chmod(0o555)
    folder.chmod(0o555)
    try:
        assert answers(sys.executable, folder / server.name, cwd=folder) == expected
        assert [path.name for path in folder.iterdir()] == [server.name]
    finally:
        folder.chmod(0o755)


ENVIRONMENTS: dict[str, dict[str, str]] = {
    "only PATH": {},
    "a home that is not there": {"HOME": "/nonexistent"},
    "no place for temporary files": {"TMPDIR": "/nonexistent", "TMP": "/nonexistent", "TEMP": "/nonexistent"},
    "the C locale": {"LC_ALL": "C"},
    "the C locale, taken literally": {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
    "a locale that is not there": {"LC_ALL": "xx_YY.UTF-8"},
    "an unreadable Python path": {"PYTHONPATH": "/nonexistent:\udcff", "PYTHONHOME": ""},
    "an optimizing Python": {"PYTHONOPTIMIZE": "2"},
    "a Python that warns": {"PYTHONWARNINGS": "error"},
    "values that are not text": {"LATIN": "\udce4\udcff", "EMPTY": ""},
    "a Bash that reads a file first": {"BASH_ENV": "/nonexistent/bash", "ENV": "/nonexistent/sh"},
    "Bash options": {"SHELLOPTS": "noglob", "BASHOPTS": "nullglob", "CDPATH": "/", "IFS": "x"},
}


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_it_serves_in_any_environment(name: str, server: Path, expected: dict[int, Json], tmp_path: Path) -> None:
    environment = {**finding(Path(sys.executable), tmp_path), **ENVIRONMENTS[name]}
    assert answers(server, env=environment) == expected
    assert answers(sys.executable, server, env=environment) == expected
    done = converse([server, "call", "shout", "text=hey 🦆"], b"", env=environment)
    assert (done.returncode, done.stdout.decode()) == (0, "HEY 🦆!\n")


@pytest.mark.parametrize("locale", ["C", "C.UTF-8", "xx_YY"])
def test_every_text_is_shown_in_every_locale(locale: str, server: Path, tmp_path: Path) -> None:
    """A terminal of the C locale gets UTF-8, or escapes, and never a traceback."""
    environment = {"PATH": BASICS, "LC_ALL": locale, "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    started = {**environment, **finding(Path(sys.executable), tmp_path)}
    for words in (["info"], ["info", "--json"], ["list"], ["list", "--json"], ["call", "shout", "text=größe 🦆"]):
        for argv, given in (([sys.executable, server], environment), ([server], started)):
            done = converse([*argv, *words], b"", env=given)
            assert (done.returncode, own_words(done.stderr)) == (0, "")


def own_words(stderr: bytes) -> str:
    """Return what was said, less what Bash itself says to the person of a locale that is not there."""
    lines = stderr.decode().splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("bash: warning: setlocale:"))


def test_at_a_terminal_it_greets_and_serves(server: Path) -> None:
    master, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, server],
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={"PATH": BASICS},
    )
    os.close(terminal)
    try:
        os.write(master, mixed.lines(REQUESTS[0]))
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["result"]["serverInfo"]["name"] == "mixed"
        os.write(master, b"\x04")  # the end of the input, as Ctrl-D at the beginning of a line
        rest, said = process.communicate(timeout=30)
    finally:
        process.kill()
        os.close(master)
    assert (process.returncode, rest) == (0, b"")
    assert "waiting for a client" in said.decode()
    assert "mixed 1.2.3" in said.decode()
    assert str(server) in said.decode()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("called", [False, True])
def test_a_signal_ends_it_quietly(number: signal.Signals, called: bool, server: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, server], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(mixed.lines(REQUESTS[2] if called else REQUESTS[0]))
        process.stdin.flush()
        assert process.stdout.readline()
        process.send_signal(number)
        _, said = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode in (-number, 128 + number)
    assert said == b""


def starts_without(*descriptors: int) -> Callable[[], None]:
    """Return what closes these descriptors in the new process before the server is there."""

    def close() -> None:
        for number in descriptors:
            os.close(number)

    return close


CLOSED = ("0", "1", "2", "01", "02", "12", "012")
"""The descriptors that are closed."""


@pytest.mark.parametrize(("closed", "version"), under_pythons(CLOSED))
def test_it_ends_well_without_a_stream(closed: str, version: str, server: Path) -> None:
    done = subprocess.run(
        [python(version), server],
        input=mixed.lines(*REQUESTS),
        capture_output=True,
        timeout=60,
        check=False,
        preexec_fn=starts_without(*map(int, closed)),
    )
    assert done.stderr[:2000].decode(errors="replace") == ""
    expected = range(0 if {*"01"} & set(closed) else len(REQUESTS))
    assert sorted(json.loads(line)["id"] for line in done.stdout.splitlines()) == list(expected)
    assert done.returncode == 0


@pytest.mark.parametrize("closed", CLOSED)
@pytest.mark.parametrize("words", [("info",), ("check",), ("list",), ("call", "count", "text=x"), ("bad",)])
def test_the_console_ends_well_without_a_stream(closed: str, words: tuple[str, ...], server: Path) -> None:
    done = subprocess.run(
        [sys.executable, server, *words],
        input=b"",
        capture_output=True,
        timeout=60,
        check=False,
        preexec_fn=starts_without(*map(int, closed)),
    )
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    assert done.returncode in ((2,) if words == ("bad",) else (0, 1) if "1" in closed else (0,))
    assert bool(done.stdout) == ("1" not in closed and words != ("bad",))


@pytest.mark.parametrize("words", [("info",), ("check",), ("list",), ("call", "count", "text=x")])
def test_a_full_disk_is_no_traceback(words: tuple[str, ...], server: Path) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("there is no /dev/full")
    with full.open("wb") as output:
        done = subprocess.run(
            [sys.executable, server, *words], stdout=output, stderr=subprocess.PIPE, timeout=60, check=False
        )
    assert done.returncode not in (0, -signal.SIGSEGV)
    assert b"Traceback" not in done.stderr, done.stderr.decode()


def test_nobody_reading_is_no_traceback(server: Path) -> None:
    for words in ([], ["info"], ["list", "--json"], ["check"], ["--help"]):
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run(
            [sys.executable, server, *words],
            input=mixed.lines(*REQUESTS),
            stdout=writing,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
        os.close(writing)
        assert done.stderr.decode() == "", words


def listing(*folders: Path) -> list[tuple[str, int, int]]:
    """Return every path below the folders, with its kind and its time."""
    found = [(path, path.lstat()) for folder in folders for path in sorted(folder.rglob("*"))]
    return [(str(path), stat.S_IFMT(facts.st_mode), facts.st_mtime_ns) for path, facts in found]


@pytest.mark.parametrize("version", VERSIONS)
def test_it_writes_no_file(version: str, server: Path, tmp_path: Path) -> None:
    names = {"HOME": "home", "XDG_CACHE_HOME": "cache", "XDG_DATA_HOME": "data", "TMPDIR": "tmp"}
    for name in (*names.values(), "standing", "lying"):
        (tmp_path / name).mkdir()
    shutil.copy(server, tmp_path / "lying/server.pyz")
    environment = {
        **finding(python(version), tmp_path),
        **{variable: str(tmp_path / name) for variable, name in names.items()},
    }
    kept = tmp_path / "cache/mcpc/bytecode"  # of any other Python than the build's, bytecode is cached
    kept.mkdir(mode=0o700, parents=True)
    before = [row for row in listing(tmp_path) if not row[0].startswith(str(kept))]
    for argv in ([tmp_path / "lying/server.pyz"], [python(version), "../lying/server.pyz"]):
        answers(*argv, cwd=tmp_path / "standing", env=environment)
        for words, status in CONSOLE.values():
            done = converse([*argv, *words], b"", cwd=tmp_path / "standing", env=environment)
            assert done.returncode == status
    assert [row for row in listing(tmp_path) if not row[0].startswith(str(kept))] == before
    is_cached = version != HERE
    assert sorted(path.suffix for path in kept.iterdir()) == ([".modules", ".start"] if is_cached else [])


def contents(path: Path) -> dict[str, bytes]:
    """Return the entries of an archive."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(path: Path, entries: Sequence[tuple[str, bytes]], method: int, *, prefix: bytes = b"") -> Path:
    """Write an archive as some other program would."""
    path.write_bytes(prefix)
    with zipfile.ZipFile(path, "a", method) as archive:
        for name, data in entries:
            archive.writestr(zipfile.ZipInfo(name, (2024, 2, 29, 12, 30, 2)), data, method)
        archive.comment = b"packed again"
    return path


def with_folders(entries: dict[str, bytes]) -> list[tuple[str, bytes]]:
    """Return the entries, each folder before what lies in it."""
    folders = {f"{parent}/": b"" for name in entries for parent in list(Path(name).parents)[:-1]}
    return sorted({**folders, **entries}.items())


REPACKED: dict[str, Callable[[Path, dict[str, bytes]], Path]] = {
    "stored": lambda path, entries: packed(path, list(entries.items()), zipfile.ZIP_STORED),
    "deflated": lambda path, entries: packed(path, list(entries.items()), zipfile.ZIP_DEFLATED),
    "backwards": lambda path, entries: packed(path, list(entries.items())[::-1], zipfile.ZIP_STORED),
    "backwards and deflated": lambda path, entries: packed(path, list(entries.items())[::-1], zipfile.ZIP_DEFLATED),
    "with folders": lambda path, entries: packed(path, with_folders(entries), zipfile.ZIP_DEFLATED),
    "another first line": lambda path, entries: packed(
        path, list(entries.items()), zipfile.ZIP_STORED, prefix=b"#!/usr/bin/env python3\n"
    ),
    "a long beginning": lambda path, entries: packed(
        path, list(entries.items()), zipfile.ZIP_STORED, prefix=b"MZ" + b"\0" * 99_999
    ),
    "sources only": lambda path, entries: packed(
        path, [(name, data) for name, data in entries.items() if not name.endswith(".pyc")], zipfile.ZIP_DEFLATED
    ),
}


@pytest.mark.parametrize(("way", "version"), under_pythons(REPACKED))
def test_packed_again_it_serves(
    way: str, version: str, server: Path, expected: dict[int, Json], tmp_path: Path
) -> None:
    again = REPACKED[way](tmp_path / "again.pyz", contents(server))
    assert answers(python(version), again) == expected
    done = converse([python(version), again, "check"], b"")
    missing = way == "sources only"
    assert done.returncode == missing, done.stdout.decode()
    assert (b"is missing" in done.stdout) == missing


def test_packed_again_by_zip_it_serves(server: Path, expected: dict[int, Json], tmp_path: Path) -> None:
    needs("zip")
    folder = tmp_path / "folder"
    for name, data in contents(server).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    subprocess.run(["zip", "-q", "-r", "-9", "../again.pyz", "."], check=True, cwd=folder, timeout=60)
    assert answers(sys.executable, tmp_path / "again.pyz") == expected
    adjusted = tmp_path / "adjusted.pyz"
    shutil.copy(server, adjusted)
    subprocess.run(["zip", "-q", "-A", adjusted], check=True, timeout=60)
    assert answers(sys.executable, adjusted) == expected
    assert converse([sys.executable, adjusted, "check"], b"").returncode == 0


def changed(server: Path, target: Path, name: str, data: bytes | None) -> Path:
    """Write the server with another content of one entry, or without it."""
    entries = contents(server)
    kept = [(other, data if other == name and data is not None else found) for other, found in entries.items()]
    if name not in entries and data is not None:
        kept.append((name, data))
    return packed(target, [row for row in kept if row[0] != name or data is not None], zipfile.ZIP_STORED)


LATE = (
    "handlers/tools.py",
    "handlers/tools.pyc",
    "handlers/tools.bash",
    "handlers/data/numbers.txt",
    "mcpc_app/blob",
    "mcpc_app/bash/launcher.bash",
    "mcpc_runtime/bytecode",
    "mcpc_runtime/sources.zip",
    "META-INF/sbom.cdx.json",
)
"""Entries that `check` itself can do without."""


@pytest.mark.parametrize("name", LATE)
def test_check_names_an_entry_that_was_changed(name: str, server: Path, tmp_path: Path) -> None:
    for number, data in enumerate((b"", contents(server)[name] + b"\n")):
        target = changed(server, tmp_path / f"{number}.pyz", name, data)
        assert_refused(target, name, "has a wrong checksum")


@pytest.mark.parametrize("name", [name for name in LATE if name != "mcpc_app/blob"])
def test_check_names_an_entry_that_is_missing(name: str, server: Path, tmp_path: Path) -> None:
    assert_refused(changed(server, tmp_path / "server.pyz", name, None), name, "is missing")


@pytest.mark.parametrize("name", ["handlers/json.py", "mcpc_runtime/evil.py", "handlers/tools/__init__.py", "x"])
def test_check_names_an_entry_that_was_added(name: str, server: Path, tmp_path: Path) -> None:
    assert_refused(changed(server, tmp_path / "server.pyz", name, b"raise SystemExit\n"), name, "")


@pytest.mark.parametrize("name", ["META-INF/manifest.sha256", "META-INF/build.json"])
def test_check_names_what_it_reads_itself(name: str, server: Path, tmp_path: Path) -> None:
    for number, data in enumerate((None, b"\xff\xfe nonsense\n")):
        assert_refused(changed(server, tmp_path / f"{number}.pyz", name, data), name, "")
    for number, data in enumerate((b"", contents(server)[name].replace(b"a", b"b"))):
        assert_refused(changed(server, tmp_path / f"{number}.pyz", name, data), "", "")


def assert_refused(target: Path, name: str, words: str) -> None:
    """Run `check`, which must fail, name the entry, and show no traceback."""
    done = converse([sys.executable, target, "check"], b"")
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    said = done.stdout.decode()
    assert done.returncode == 1, said
    assert f"{name} {words}".strip() in said
    told = converse([sys.executable, target, "check", "--json"], b"")
    assert told.returncode == 1
    assert json.loads(told.stdout)["ok"] is False


def test_any_byte_of_the_blob_is_guarded(server: Path, tmp_path: Path) -> None:
    """A changed byte may be anywhere: in an answer, in a record, in bytecode that must then not be run."""
    blob = contents(server)["mcpc_app/blob"]
    for at in places(len(blob), scaled(40, 10)):
        data = bytearray(blob)
        data[at] ^= 0xFF
        target = changed(server, tmp_path / "server.pyz", "mcpc_app/blob", bytes(data))
        assert_refused(target, "mcpc_app/blob", "has a wrong checksum")


def places(size: int, count: int) -> Iterator[int]:
    """Yield places spread over the whole, the same ones every time."""
    chosen = random.Random(0)
    for number in range(count):
        yield min(size - 1, size * number // count + chosen.randrange(size // count))
