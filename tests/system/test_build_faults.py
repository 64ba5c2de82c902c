"""Whatever goes wrong in a build is said in words, and what was built before stays as it was."""

import errno
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from mcpc.cli import cli
from mcpc.cli.commands import SECTIONS
from support.artifact import SOURCES, converse, mcpc, with_bytecode
from support.files import write_files
from support.needs import needs
from support.processes import run_program
from support.scale import FULL
from system import mixed

pytestmark = pytest.mark.sampled(4)

PATHS = {"PYTHONPATH": SOURCES}
BEFORE = b"what was built before\n"
PATIENCE = 10
"""Seconds in which even the worst project is refused."""


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep every build's cache in the test's own folder, outside the project."""
    place = with_bytecode(tmp_path / "cache")
    monkeypatch.setenv("MCPC_CACHE_DIR", str(place))
    return place


@pytest.fixture
def project(tmp_path: Path) -> Path:
    needs("bash")
    return mixed.write(tmp_path / "project")


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """A file that was built before, alone in its folder."""
    folder = tmp_path / "out"
    folder.mkdir()
    path = folder / "server.pyz"
    path.write_bytes(BEFORE)
    return path


def build_of(project: Path, target: Path) -> list[str]:
    return [sys.executable, "-m", "mcpc", "build", str(project), "-o", str(target)]


def untouched(target: Path) -> None:
    """Find the file as it was, and nothing beside it."""
    assert target.read_bytes() == BEFORE
    assert [path.name for path in target.parent.iterdir()] == [target.name]


def serves(path: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
    assert os.access(path, os.X_OK)
    done = converse([sys.executable, path], mixed.lines(("tools/list", {})))
    assert len(json.loads(done.stdout)["result"]["tools"]) == 4
    assert (done.returncode, done.stderr) == (0, b"")


def refused(done: subprocess.CompletedProcess[str], status: int, *words: str) -> None:
    """Hold a refusal against what every refusal is: a status, and words on standard error."""
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    assert "internal error" not in done.stderr
    for word in words:
        assert word in done.stderr


# The target.


def make_socket(path: Path) -> socket.socket:
    """Bind a socket; its address may be short only, so it is bound from its own folder."""
    made = socket.socket(socket.AF_UNIX)
    standing = Path.cwd()
    os.chdir(path.parent)
    try:
        made.bind(path.name)
    finally:
        os.chdir(standing)
    return made


@pytest.mark.parametrize("kilobytes", [0, 1, 100])
def test_a_full_disk_leaves_the_file_as_it_was(kilobytes: int, project: Path, target: Path) -> None:
    program = f'ulimit -f {kilobytes}; exec "$@"'
    command = ["bash", "-c", program, "bash", *build_of(project, target)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **PATHS}, timeout=60)
    refused(done, 2, str(target), os.strerror(errno.EFBIG))
    untouched(target)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_killed_build_leaves_one_whole_file(number: signal.Signals, project: Path, target: Path) -> None:
    chance = random.Random(number)
    started = time.monotonic()
    assert mcpc("build", project, "-o", target).returncode == 0
    whole, seconds = target.read_bytes(), time.monotonic() - started
    for _ in range(6):
        target.write_bytes(BEFORE)
        with subprocess.Popen(
            [sys.executable, "-m", "mcpc", "build", project, "-o", target],
            stderr=subprocess.PIPE,
            env={**os.environ, **PATHS, "MCPC_CACHE_DIR": "/nonexistent"},
        ) as process:
            time.sleep(chance.uniform(0.2, 1.1) * seconds)
            process.send_signal(number)
            _, said = process.communicate(timeout=60)
        assert target.read_bytes() in (BEFORE, whole)
        left = [path for path in target.parent.iterdir() if path != target]
        if number == signal.SIGKILL:
            assert all(path.name.startswith(".mcpc-") and path.suffix == ".pyz" for path in left)
            for path in left:
                path.unlink()
        else:
            assert left == []
            assert number == signal.SIGINT or b"Traceback" not in said, said.decode()


# The cache.


@pytest.mark.parametrize("kind", ["file", "file above", "folder in the place of a build", "link to nowhere", "proc"])
@pytest.mark.sampled(5)
def test_a_cache_that_cannot_be_used_is_no_problem(
    kind: str, project: Path, target: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert mcpc("build", project, "-o", target).returncode == 0
    right = target.read_bytes()
    (stored,) = (own_cache / "builds").iterdir()
    if kind == "folder in the place of a build":
        stored.unlink()
        stored.mkdir()
        (stored / "x").touch()
    else:
        shutil.rmtree(own_cache)
    if kind == "file":
        own_cache.mkdir()
        (own_cache / "builds").touch()
    elif kind == "file above":
        own_cache.touch()
    elif kind == "link to nowhere":
        own_cache.symlink_to("nowhere/at/all")
    elif kind == "proc":
        monkeypatch.setenv("MCPC_CACHE_DIR", "/proc/mcpc")
    target.write_bytes(BEFORE)
    done = mcpc("build", project, "-o", target)
    assert (done.returncode, target.read_bytes()) == (0, right), done.stderr


# The project.


DEFINITIONS = ("server.json", "tools.json", "tools.d/10-measure.json", "prompts.json", "prompts.d/part.json")
LIBRARIES = ("tools.py", "prompts.py", "tools.bash")


def with_bytes(data: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(data)


def changed(change: Callable[[bytes], bytes]) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(change(path.read_bytes()))


def replaced(make: Callable[[Path], object]) -> Callable[[Path], object]:
    def replace(path: Path) -> object:
        path.unlink()
        return make(path)

    return replace


def sparse(size: int) -> Callable[[Path], object]:
    def make(path: Path) -> None:
        with path.open("wb") as file:
            file.truncate(size)

    return make


def make_folder(path: Path) -> None:
    path.mkdir()
    (path / "file.txt").write_text("x")


RANDOM = random.Random(1)
EVERYWHERE: dict[str, Callable[[Path], object]] = {
    "random bytes": with_bytes(RANDOM.randbytes(3_000)),
    "more random bytes": with_bytes(RANDOM.randbytes(50)),
    "nothing": with_bytes(b""),
    "null bytes": with_bytes(bytes(1_000)),
    "a null byte at the end": changed(lambda data: data + b"\0"),
    "UTF-16": changed(lambda data: data.decode().encode("utf-16")),
    "UTF-16 without a mark": changed(lambda data: data.decode().encode("utf-16-be")),
    "UTF-32": changed(lambda data: data.decode().encode("utf-32")),
    "65 MiB": sparse(65 << 20),
    "deep brackets": with_bytes(b"[" * 100_000 + b"]" * 100_000),
    "a compressed file": with_bytes(b"\x1f\x8b\x08\x00" + RANDOM.randbytes(500)),
    "a FIFO": replaced(os.mkfifo),
    "a socket": replaced(make_socket),
    "a link to a device": replaced(lambda path: path.symlink_to("/dev/zero")),
    "a link to itself": replaced(lambda path: path.symlink_to(path.name)),
    "a link to nowhere": replaced(lambda path: path.symlink_to("nowhere.json")),
    "a link outside": replaced(lambda path: path.symlink_to("/etc/passwd")),
    "a folder": replaced(make_folder),
}
IN_DEFINITIONS: dict[str, Callable[[Path], object]] = {
    "an open bracket": with_bytes(b"{"),
    "deep objects": with_bytes(b'{"a":' * 100_000 + b"1" + b"}" * 100_000),
    "another value": with_bytes(b"[1, 2, 3]"),
    "a word": with_bytes(b"nonsense"),
    "a number of a million digits": with_bytes(b"9" * 1_000_000),
    "a string without an end": with_bytes(b'"' + b"x" * 1_000_000),
    "two values": changed(lambda data: data + data),
    "a comma at the end": changed(lambda data: data.rstrip()[:-1] + b",}"),
    "a comment": changed(lambda data: b"// a comment\n" + data),
    "a repeated key": changed(lambda data: data.replace(b'"name"', b'"name": "x", "name"', 1)),
    "Latin-1": changed(lambda data: data.replace(b".", b"\xe4.", 1)),
    "a lone surrogate": changed(lambda data: data.replace(b".", b"\\ud800.", 1)),
}


@pytest.mark.parametrize("fault", [*EVERYWHERE, *IN_DEFINITIONS])
def test_every_fault_of_every_file_is_said(fault: str, project: Path, target: Path) -> None:
    """Each definition and each library is spoilt by itself, and the report names it."""
    for name in spoilt_by(fault):
        path = project / name
        made = (EVERYWHERE | IN_DEFINITIONS)[fault](path)
        started = time.monotonic()
        done = CliRunner().invoke(cli, ["build", str(project), "-o", str(target)])
        assert time.monotonic() - started < PATIENCE
        assert done.exit_code == 1, (name, done.exception, done.stderr)
        assert name in done.stderr, (name, done.stderr)
        assert "error[MCP" in done.stderr
        untouched(target)
        if isinstance(made, socket.socket):
            made.close()
        restored(path, mixed.FILES[name])


def spoilt_by(fault: str) -> list[str]:
    """Return the files that a fault is made in: two of the definitions and two libraries, and all with TESTS_FULL=1.

    Two faults that follow each other have different files, so each file has every second or third fault.
    """
    names = [*DEFINITIONS, *LIBRARIES] if fault in EVERYWHERE else [*DEFINITIONS]
    if FULL:
        return names
    number = [*EVERYWHERE, *IN_DEFINITIONS].index(fault)
    chosen = {(2 * number + at) % len(DEFINITIONS) for at in range(2)}
    chosen |= {len(DEFINITIONS) + (2 * number + at) % len(LIBRARIES) for at in range(2)}
    return [name for at, name in enumerate(names) if at in chosen]


def restored(path: Path, text: str) -> None:
    """Put a file back in the place of whatever is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    path.write_text(text, encoding="utf-8", newline="")


HARMLESS: dict[str, Callable[[bytes], bytes]] = {
    "Windows line ends": lambda data: data.replace(b"\n", b"\r\n"),
    "old Macintosh line ends": lambda data: data.replace(b"\n", b"\r"),
    "no line end at the end": lambda data: data.rstrip(),
    "empty lines": lambda data: b"\n\n" + data + b"\n\n",
    "a byte order mark": lambda data: b"\xef\xbb\xbf" + data,
}


@pytest.mark.parametrize("habit", HARMLESS)
@pytest.mark.parametrize("name", DEFINITIONS)
@pytest.mark.sampled(8)
def test_a_habit_of_an_editor_is_no_error(habit: str, name: str, project: Path, target: Path) -> None:
    path = project / name
    path.write_bytes(HARMLESS[habit](path.read_bytes()))
    done = CliRunner().invoke(cli, ["build", str(project), "-o", str(target), "--no-smoke"])
    assert done.exit_code == 0, done.stderr
    assert ("MCP010" in done.stderr) == (habit == "a byte order mark")


@pytest.mark.parametrize("habit", ["Windows line ends", "old Macintosh line ends"])
def test_a_bash_file_with_wrong_line_ends_is_refused(habit: str, project: Path, target: Path) -> None:
    path = project / "tools.bash"
    path.write_bytes(HARMLESS[habit](path.read_bytes()))
    refused(mcpc("build", project, "-o", target), 1, "tools.bash")


NO_PYTHON = {
    "another Python": b'print "two"\n', "null bytes": b"x = 1\0\n", "no text": b"\xff\xfe\n",
    "brackets": b"x = " + b"(" * 300 + b"\n", "signs": b"x = " + b"-" * 100_000 + b"1\n",
    "sums": b"x = 1" + b"+1" * 20_000 + b"\n", "attributes": b"x" + b".a" * 20_000 + b"\n",
}  # fmt: skip


@pytest.mark.parametrize("kind", NO_PYTHON)
def test_a_file_beside_the_handlers_may_be_anything(kind: str, project: Path, target: Path) -> None:
    """Nobody can tell whether a handler imports it, reads it as data, or has forgotten it."""
    (project / "old.py").write_bytes(NO_PYTHON[kind])
    mcpc("build", project, "-o", target, status=0)
    serves(target)
    with zipfile.ZipFile(target) as archive:
        assert archive.read("handlers/old.py") == NO_PYTHON[kind]


@pytest.mark.parametrize("kind", ["another Python", "null bytes", "brackets"])
def test_a_broken_module_that_a_handler_imports_is_said(kind: str, project: Path, target: Path) -> None:
    (project / "words.py").write_bytes(NO_PYTHON[kind])
    refused(mcpc("build", project, "-o", target), 1, "words.py", "MCP205")
    untouched(target)


# The report.


@pytest.fixture
def many_faults(project: Path) -> Path:
    faults = {
        "server.json": '{"serverInfo": {"name": "x"}, "instructions": 1}',
        "tools.json": mixed.FILES["tools.json"].replace('"string"', '"text"'),
        "tools.d/10-measure.json": mixed.FILES["tools.d/10-measure.json"].replace("^[^#]*$", "["),
        "tools.d/20-reverse.json": mixed.FILES["tools.d/20-reverse.json"].replace("last-word", "last word"),
        "prompts.json": '{"prompts": [{"name": "greet", "name": "x"}]}',
        "prompts.d/part.json": "{]",
        "tools.py": mixed.FILES["tools.py"].replace("def count", "def counted"),
        "tools.bash": mixed.FILES["tools.bash"].replace("}\n", "\n", 1),
    }
    return write_files(project, faults)


def test_all_problems_are_reported_in_one_run(many_faults: Path, target: Path) -> None:
    report = json.loads(mcpc("build", many_faults, "-o", target, "--format", "json").stdout)
    paths = {Path(problem["file"]).resolve() for problem in report["diagnostics"] if problem["severity"] == "error"}
    assert {str(path.relative_to(many_faults.resolve())) for path in paths} >= {
        "server.json", "tools.json", "tools.d/10-measure.json", "tools.d/20-reverse.json", "prompts.json",
        "prompts.d/part.json", "tools.bash",
    }  # fmt: skip
    assert len(report["diagnostics"]) >= 9
    untouched(target)


# The command line.


def test_help_lists_every_command_and_imports_none() -> None:
    done = run_program(
        [sys.executable, "-X", "importtime", "-m", "mcpc", "--help"], check=True, env={**os.environ, **PATHS}
    )
    for command, summary in {name: words for rows in SECTIONS.values() for name, words in rows.items()}.items():
        assert re.search(rf"^  {command} +{re.escape(summary)}$", done.stdout, re.MULTILINE)
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time")}
    assert "click" in imported
    heavy = ("jsonschema", "pydantic", "jinja2", "mcpc.pipeline", "mcpc.schema", "mcpc.emit", "asyncio", "zipfile")
    assert sorted(imported.intersection(heavy)) == []
    assert sorted(name for name in imported if name.startswith("mcpc.cli.")) == [
        "mcpc.cli.commands",
        "mcpc.cli.messages",
    ]


@pytest.mark.parametrize(
    "words", [("--help",), ("help", "codes"), ("help", "codes", "--format", "json"), ("build", "--help")]
)
def test_a_full_disk_under_its_output_is_told(words: tuple[str, ...]) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("there is no /dev/full")
    with full.open("wb") as output:
        done = subprocess.run(
            [sys.executable, "-m", "mcpc", *words],
            stdout=output,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            env={**os.environ, **PATHS},
            timeout=60,
        )
    assert done.returncode == 2
    assert done.stderr == "mcpc: No space left on device\n"


def test_nobody_reading_its_output_is_no_traceback() -> None:
    for words in (("--help",), ("help", "codes")):
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run(
            [sys.executable, "-m", "mcpc", *words],
            stdout=writing,
            stderr=subprocess.PIPE,
            check=False,
            env={**os.environ, **PATHS},
            timeout=60,
        )
        os.close(writing)
        assert done.stderr == b""
