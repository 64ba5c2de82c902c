"""Whatever goes wrong in a build is said in words, and what was built before stays as it was."""

from __future__ import annotations

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
from contextlib import chdir
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from mcpc import cache, cache_dir
from mcpc.cli import COMMANDS, cli
from mcpc.cli import build_steps as making
from mcpc.diagnostics import CODES
from mcpc.options import Options
from mcpc.scan.codes import CODES as SCAN_CODES
from mcpc.smoke import SmokeError, smoke
from support.artifact import SOURCES, converse, mcpc, with_bytecode
from support.needs import needs
from support.scale import FULL
from system import mixed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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


def mcpc_in(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run `mcpc` as somebody does who stands in `folder`."""
    with chdir(folder):
        return mcpc(*words)


def build_of(project: Path, target: Path) -> list[str]:
    """Return the command that builds a project."""
    return [sys.executable, "-m", "mcpc", "build", str(project), "-o", str(target)]


def untouched(target: Path) -> None:
    """Find the file as it was, and nothing beside it."""
    assert target.read_bytes() == BEFORE
    assert [path.name for path in target.parent.iterdir()] == [target.name]


def serves(path: Path) -> None:
    """Find a whole server that answers."""
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


def test_errors_leave_the_file_as_it_was(project: Path, target: Path) -> None:
    (project / "tools.json").write_text("{")
    refused(mcpc("build", project, "-o", target), 1, "MCP002", "tools.json")
    untouched(target)


def test_a_good_build_takes_its_place(project: Path, target: Path) -> None:
    done = mcpc("build", project, "-o", target)
    assert done.returncode == 0, done.stderr
    serves(target)
    assert [path.name for path in target.parent.iterdir()] == [target.name]


@pytest.mark.parametrize("name", ["folder", "link to folder", "", "."])
def test_a_folder_is_no_target(name: str, project: Path, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link to folder").symlink_to("folder")
    target = tmp_path / name if name not in ("", ".") else name
    refused(mcpc("build", project, "-o", target), 2, "folder")
    assert list((tmp_path / "folder").iterdir()) == []


@pytest.mark.parametrize("kind", ["fifo", "device", "socket", "link to a device"])
def test_what_is_no_file_is_never_replaced(kind: str, project: Path, tmp_path: Path) -> None:
    """Built as root, a file in the place of /dev/null would end the machine."""
    target = tmp_path / "target"
    made = SPECIAL[kind](target)
    before = os.lstat(target)
    refused(mcpc("build", project, "-o", target), 2, str(target))
    after = os.lstat(target)
    assert (before.st_ino, before.st_mode, before.st_rdev) == (after.st_ino, after.st_mode, after.st_rdev)
    if isinstance(made, socket.socket):
        made.close()


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


def make_device(path: Path) -> None:
    """Make another null device, where that is allowed."""
    try:
        os.mknod(path, 0o600 | 0o020000, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("needs a root that may mknod")


SPECIAL: dict[str, Callable[[Path], object]] = {
    "fifo": os.mkfifo,
    "device": make_device,
    "socket": make_socket,
    "link to a device": lambda path: path.symlink_to("/dev/null"),
}


def test_a_symlink_is_written_through(project: Path, target: Path) -> None:
    link = target.parent / "link"
    link.symlink_to("server.pyz")
    assert mcpc("build", project, "-o", link).returncode == 0
    assert link.readlink() == Path("server.pyz")
    serves(target)


def test_a_folder_that_is_not_there_is_made(project: Path, tmp_path: Path) -> None:
    assert mcpc("build", project, "-o", tmp_path / "new/folder/server.pyz").returncode == 0
    assert (tmp_path / "new/folder/server.pyz").exists()


def test_a_folder_nobody_may_write_is_no_place(project: Path, target: Path) -> None:
    if os.geteuid() == 0:
        needs("mount", "umount", "unshare")
        program = 'mount -t tmpfs -o ro tmpfs "$1" 2>/dev/null || exit 77; shift; exec "$@"'
        argv = ["unshare", "-m", "sh", "-c", program, "sh", str(target.parent)]
    else:
        target.parent.chmod(0o555)
        argv = []
    command = [*argv, *build_of(project, target.parent / "new.pyz")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **PATHS}, timeout=60)
    target.parent.chmod(0o755)
    if done.returncode == 77:
        pytest.skip("needs a root that may mount")
    refused(done, 2, "new.pyz")
    untouched(target)


@pytest.mark.parametrize("kilobytes", [0, 1, 100])
def test_a_full_disk_leaves_the_file_as_it_was(kilobytes: int, project: Path, target: Path) -> None:
    program = f'ulimit -f {kilobytes}; exec "$@"'
    command = ["bash", "-c", program, "bash", *build_of(project, target)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **PATHS}, timeout=60)
    refused(done, 2, str(target), os.strerror(errno.EFBIG))
    untouched(target)


def test_a_full_disk_leaves_no_half_of_a_cache(project: Path, target: Path, own_cache: Path) -> None:
    program = 'ulimit -f 100; exec "$@"'
    command = ["bash", "-c", program, "bash", *build_of(project, target)]
    subprocess.run(command, capture_output=True, check=False, env={**os.environ, **PATHS}, timeout=60)
    assert list((own_cache / "builds").iterdir()) == []


STEPS = ("os.fdopen", "Path.chmod", "Path.replace")


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO])
def test_no_failing_step_damages_the_file(
    step: str, number: int, project: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_words: object, **_more: object) -> None:
        raise OSError(number, os.strerror(number))

    build = making.build_project(project, Options(), "json")
    with monkeypatch.context() as patched:
        patched.setattr(os if step == "os.fdopen" else Path, step.partition(".")[2], fail)
        with pytest.raises(Exception, match=re.escape(os.strerror(number))):
            making.write_artifact(build, target)
    untouched(target)


def test_a_build_that_does_not_serve_is_not_put_in_place(
    project: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_path: Path, _command: object) -> None:
        raise SmokeError("it answered ping with nonsense")

    monkeypatch.setattr(making, "smoke", fail)
    done = CliRunner().invoke(cli, ["build", str(project), "-o", str(target)])
    assert done.exit_code == 4
    assert "ping" in done.stderr
    untouched(target)
    done = CliRunner().invoke(cli, ["build", str(project), "-o", str(target), "--no-smoke"])
    assert done.exit_code == 0
    serves(target)


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("raise SystemExit(3)", "exit status 3"),
        ("print('hello')", "after 1 answers"),
        ("print('{}\\n{}\\n{}')", "unexpected answer to initialize:"),
        ("print('x\\ny\\nz')", "unexpected answer to initialize: x"),
        ("print('1\\n[]\\n\\0')", "unexpected answer to initialize: 1"),
        ("import sys; sys.stderr.write('told so'); sys.exit(1)", "told so"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "status -9"),
    ],
)
def test_smoke_notices_a_server_that_does_not_answer(program: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "broken.pyz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("__main__.pyc", "of another Python")
        archive.writestr("__main__.py", program)
    with pytest.raises(SmokeError, match=words):
        smoke(path)


def test_smoke_does_not_wait_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "slow.pyz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("__main__.pyc", "of another Python")
        archive.writestr("__main__.py", "import time; time.sleep(60)")
    monkeypatch.setattr("mcpc.smoke.SECONDS", 0.5)
    with pytest.raises(SmokeError, match="no answer in"):
        smoke(path)


LOST_EXIT = """
import signal, time, weakref
from mcpc.cli import exit_on_signals

exit_on_signals()
value = {1}
reference = weakref.ref(value, lambda reference: signal.raise_signal(signal.%s))
del value
time.sleep(60)
"""
"""A signal that comes in a callback, from which Python raises nothing."""


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_signal_in_a_callback_ends_a_command(name: str) -> None:
    done = subprocess.run([sys.executable, "-c", LOST_EXIT % name], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (128 + signal.Signals[name], "")


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


@pytest.mark.slow
def test_two_builds_at_once_leave_one_whole_file(project: Path, target: Path) -> None:
    other = mixed.write(project.parent / "other")
    (other / "server.json").write_text(mixed.FILES["server.json"].replace("1.2.3", "4.5.6"))
    whole = []
    for source in (project, other):
        assert mcpc("build", source, "-o", target).returncode == 0
        whole.append(target.read_bytes())
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "mcpc", "build", source, "-o", target, "-q"], env={**os.environ, **PATHS}
        )
        for source in (project, other, project, other)
    ]
    assert [process.wait(60) for process in processes] == [0, 0, 0, 0]
    assert target.read_bytes() in whole
    assert [path.name for path in target.parent.iterdir()] == [target.name]


# The target inside of the project.


@pytest.mark.slow
def test_what_was_built_into_the_project_is_no_part_of_the_next_build(project: Path) -> None:
    for name in ("server.pyz", "server", "data/server"):
        target = project / name
        assert mcpc("build", project, "-o", target).returncode == 0
        first = target.read_bytes()
        assert mcpc("build", project, "-o", target).returncode == 0
        assert target.read_bytes() == first
        assert mcpc_in(project, "build", ".", "-o", name).returncode == 0
        assert target.read_bytes() == first
        target.unlink()


@pytest.mark.parametrize("name", ["tools.py", "tools.json", "server.json", "tools.bash", "data/numbers.txt"])
def test_a_file_of_the_project_is_no_target(name: str, project: Path) -> None:
    refused(mcpc("build", project, "-o", project / name), 2, name)
    assert (project / name).read_text() == mixed.FILES[name]


# The cache.


def spoiled(build: Path, how: str) -> None:
    """Change a stored build."""
    data = bytearray(build.read_bytes())
    if how == "empty":
        data.clear()
    elif how == "half":
        del data[len(data) // 2 :]
    elif how == "longer":
        data += b"\0"
    elif how == "nonsense":
        data[:] = b"\xff" * 100 + b"\n[]\n"
    elif how == "another value":
        data[:] = b'"digest"\n' + b'"text"\n' + bytes(data)
    else:
        at = {"first byte": 0, "header": 100, "middle": len(data) // 2, "end": len(data) - 1}[how]
        data[at] ^= 1
    build.write_bytes(data)


SPOILED = ("empty", "half", "longer", "nonsense", "another value", "first byte", "header", "middle", "end")


@pytest.mark.parametrize("how", SPOILED)
def test_a_spoiled_cache_is_not_believed(how: str, project: Path, target: Path, own_cache: Path) -> None:
    words = ["build", str(project), "-o", str(target), "--no-smoke"]
    first = CliRunner().invoke(cli, words)
    right = target.read_bytes()
    (stored,) = (own_cache / "builds").iterdir()
    whole = stored.read_bytes()
    spoiled(stored, how)
    again = CliRunner().invoke(cli, words)
    assert (again.exit_code, target.read_bytes()) == (0, right)
    assert again.stderr.splitlines()[-2] == first.stderr.splitlines()[-2]
    assert stored.read_bytes() == whole


def test_every_bit_of_a_header_is_guarded(project: Path, target: Path, own_cache: Path) -> None:
    """What was said of a build is believed as little as its bytes."""
    assert mcpc("build", project, "-o", target).returncode == 0
    (stored,) = (own_cache / "builds").iterdir()
    whole = stored.read_bytes()
    header = len(whole) - len(target.read_bytes())
    for at in range(header):
        stored.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert cache.load_build(stored.name) is None
    stored.write_bytes(whole)
    assert cache.load_build(stored.name) is not None


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


@pytest.mark.slow
def test_the_cache_keeps_a_limited_number(project: Path, target: Path, own_cache: Path) -> None:
    assert mcpc("build", project, "-o", target).returncode == 0
    folder = own_cache / "builds"
    (stored,) = folder.iterdir()
    for number in range(cache_dir.MAX_ENTRIES_BY_KIND["builds"] + 10):
        (folder / f"{number:064}").write_bytes(b"old")
        os.utime(folder / f"{number:064}", (number, number))
    (project / "data/numbers.txt").write_text("4\n")
    assert mcpc("build", project, "-o", target).returncode == 0
    assert len(list(folder.iterdir())) == cache_dir.MAX_ENTRIES_BY_KIND["builds"]
    assert stored.exists()


# The project.


@pytest.mark.parametrize("kind", ["missing", "empty", "file", "only a readme", "link to nowhere", "no definitions"])
def test_what_is_no_project_is_refused(kind: str, target: Path, tmp_path: Path) -> None:
    place = tmp_path / "place"
    if kind == "file":
        place.write_text("{}")
    elif kind == "link to nowhere":
        place.symlink_to("nowhere")
    elif kind != "missing":
        place.mkdir()
    if kind == "only a readme":
        (place / "README.md").write_text("# A server\n")
    if kind == "no definitions":
        (place / "server.json").write_text(mixed.FILES["server.json"])
    status = 2 if kind in ("missing", "file", "link to nowhere") else 1
    refused(mcpc("build", place, "-o", target), status, "place" if status == 2 else "MCP00")
    untouched(target)


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


@pytest.mark.parametrize("name", DEFINITIONS + LIBRARIES)
def test_a_process_of_its_own_says_the_same(name: str, project: Path, target: Path) -> None:
    (project / name).write_bytes(random.Random(name).randbytes(2_000))
    done = mcpc("build", project, "-o", target)
    refused(done, 1, name, "error[MCP")
    assert done.stdout == ""
    assert [line for line in done.stderr.splitlines() if not line.isprintable()] == []
    untouched(target)


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


def test_a_file_nobody_may_read_is_said(project: Path, target: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root reads everything")
    (project / "tools.json").chmod(0)
    refused(mcpc("build", project, "-o", target), 1, "tools.json", "MCP006")
    untouched(target)


NO_PYTHON = {
    "another Python": b'print "two"\n',
    "null bytes": b"x = 1\0\n",
    "no text": b"\xff\xfe\n",
    "brackets": b"x = " + b"(" * 300 + b"\n",
    "signs": b"x = " + b"-" * 100_000 + b"1\n",
    "sums": b"x = 1" + b"+1" * 20_000 + b"\n",
    "attributes": b"x" + b".a" * 20_000 + b"\n",
}


@pytest.mark.parametrize("kind", NO_PYTHON)
def test_a_file_beside_the_handlers_may_be_anything(kind: str, project: Path, target: Path) -> None:
    """Nobody can tell whether a handler imports it, reads it as data, or has forgotten it."""
    (project / "old.py").write_bytes(NO_PYTHON[kind])
    done = mcpc("build", project, "-o", target)
    assert done.returncode == 0, done.stderr
    serves(target)
    with zipfile.ZipFile(target) as archive:
        assert archive.read("handlers/old.py") == NO_PYTHON[kind]


@pytest.mark.parametrize("kind", ["another Python", "null bytes", "brackets"])
def test_a_broken_module_that_a_handler_imports_is_said(kind: str, project: Path, target: Path) -> None:
    (project / "words.py").write_bytes(NO_PYTHON[kind])
    refused(mcpc("build", project, "-o", target), 1, "words.py", "MCP205")
    untouched(target)


def test_warnings_of_the_interpreter_are_none_of_ours(project: Path, target: Path) -> None:
    """An author's `"\\d"` is a matter between the author and the interpreter."""
    (project / "words.py").write_text('"\\d"\nassert (1, "x")\n\n\ndef split(text):\n    return text.split()\n')
    done = mcpc("build", project, "-o", target, environment={"PYTHONWARNINGS": "error"})
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr


# The report.


@pytest.fixture
def many_faults(project: Path) -> Path:
    """A project with a fault in nearly every file."""
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
    for name, text in faults.items():
        (project / name).write_text(text)
    return project


def test_all_problems_are_reported_in_one_run(many_faults: Path, target: Path) -> None:
    report = json.loads(mcpc("build", many_faults, "-o", target, "--format", "json").stdout)
    paths = {Path(problem["file"]).resolve() for problem in report["diagnostics"] if problem["severity"] == "error"}
    assert {str(path.relative_to(many_faults.resolve())) for path in paths} >= {
        "server.json",
        "tools.json",
        "tools.d/10-measure.json",
        "tools.d/20-reverse.json",
        "prompts.json",
        "prompts.d/part.json",
        "tools.bash",
    }
    assert len(report["diagnostics"]) >= 9
    untouched(target)


def errors_in(output: str, text: str) -> int:
    """Return how many errors a report has."""
    if output == "json":
        return int(json.loads(text)["errors"])
    if output == "sarif":
        (run,) = json.loads(text)["runs"]
        return sum(result["level"] == "error" for result in run["results"])
    if output == "github":
        assert all(line.startswith("::") for line in text.splitlines())
        return sum(line.startswith("::error ") for line in text.splitlines())
    return len(re.findall(r"^error\[MCP\d{3}\]: ", text, re.MULTILINE))


@pytest.mark.parametrize("command", ["build", "check", "show"])
@pytest.mark.slow
def test_every_format_says_the_same(command: str, many_faults: Path, target: Path) -> None:
    words = ["-o", str(target)] if command == "build" else []
    counts = {}
    for output in ("text", "json", "sarif", "github"):
        done = mcpc(command, many_faults, *words, "--format", output)
        refused(done, 1)
        assert (done.stdout == "") == (output == "text" and command != "show")
        assert (done.stderr == "") == (output != "text")
        counts[output] = errors_in(output, done.stderr if output == "text" else done.stdout)
    assert len(set(counts.values())) == 1, counts
    assert counts["json"] >= 9


@pytest.mark.parametrize("command", ["build", "check"])
@pytest.mark.parametrize("output", ["json", "sarif", "github"])
def test_a_report_without_problems_is_a_report(command: str, output: str, project: Path, target: Path) -> None:
    words = ["-o", str(target)] if command == "build" else []
    done = mcpc(command, project, *words, "--format", output)
    assert done.returncode == 0, done.stderr
    assert errors_in(output, done.stdout) == 0
    slow = [line for line in done.stderr.splitlines() if line.startswith("mcpc: ") and line.endswith(" …")]
    assert done.stderr.splitlines() == slow  # a build that takes long says what it is doing


# The command line.


@pytest.mark.parametrize("code", CODES)
def test_every_code_is_explained(code: str) -> None:
    for written in (code, code.lower()):
        done = CliRunner().invoke(cli, ["explain", written])
        assert done.exit_code == 0, done.output
        assert done.stdout.startswith(f"{code} ({CODES[code].severity}): ")
        assert len(done.stdout.splitlines()) > 2
    facts = json.loads(CliRunner().invoke(cli, ["explain", code, "--format", "json"]).stdout)
    assert facts["code"] == code


def test_all_codes_are_listed() -> None:
    done = mcpc("explain")
    assert done.returncode == 0
    codes = [*CODES, *SCAN_CODES]
    assert [line.split()[0] for line in done.stdout.splitlines()] == codes
    assert list(json.loads(mcpc("explain", "--format", "json").stdout)) == codes
    assert re.search(r"did you mean MCP\d{3}\?", mcpc("explain", "MCP011").stderr)


WRONG = (
    ("bild",),
    ("--bogus",),
    ("build", "--bogus"),
    ("build", "a", "b"),
    ("build", "--format", "xml"),
    ("build", "--dialect", "latin"),
    ("build", "--tools-page-size", "-1"),
    ("build", "--tools-page-size", "many"),
    ("build", "-o"),
    ("check", "nowhere"),
    ("show", "nowhere"),
    ("explain", "MCP999"),
    ("explain", "a", "b"),
    ("inspect", "nowhere"),
    ("inspect", __file__),
    ("call",),
    ("call", "nowhere", "x"),
    ("call", __file__, "x"),
    ("run", "nowhere"),
    ("run", __file__),
    ("new",),
    ("new", "/"),
    ("new", "x", "--template", "cobol"),
    ("new", "/proc/x"),
)


@pytest.mark.parametrize("words", WRONG, ids=" ".join)
def test_wrong_usage_is_told(words: tuple[str, ...], tmp_path: Path) -> None:
    folder = tmp_path / "here"  # the cache of these tests is beside it
    folder.mkdir()
    done = mcpc_in(folder, *words)
    refused(done, 2, "Error: ")
    assert done.stdout == ""
    assert list(folder.iterdir()) == []


def test_a_bad_variable_is_wrong_usage(project: Path, target: Path) -> None:
    for value in ("many", "-1", "1.5", "²"):
        done = mcpc("build", project, "-o", target, environment={"MCBOX_TOOLS_PAGE_SIZE": value})
        refused(done, 2, "MCBOX_TOOLS_PAGE_SIZE")
    untouched(target)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str) -> None:
    for option in ("--help", "-h"):
        done = CliRunner().invoke(cli, [command, option], prog_name="mcpc")
        assert done.exit_code == 0, done.output
        assert done.stdout.startswith(f"Usage: mcpc {command} ")
        assert "--help" in done.stdout


def test_help_lists_every_command_and_imports_none() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "mcpc", "--help"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **PATHS},
        timeout=60,
    )
    for command, summary in COMMANDS.items():
        assert re.search(rf"^  {command} +{re.escape(summary)}$", done.stdout, re.MULTILINE)
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time")}
    assert "click" in imported
    heavy = ("jsonschema", "pydantic", "jinja2", "mcpc.pipeline", "mcpc.schema", "mcpc.emit", "asyncio", "zipfile")
    assert sorted(imported.intersection(heavy)) == []
    assert sorted(name for name in imported if name.startswith("mcpc.cli.")) == ["mcpc.cli.messages"]


def test_its_version_is_told() -> None:
    done = mcpc("--version")
    assert re.fullmatch(r"mcpc, version \d+\.\d+\.\d+\S*\n", done.stdout)


@pytest.mark.parametrize("words", [("--help",), ("explain",), ("explain", "--format", "json"), ("build", "--help")])
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
    for words in (("--help",), ("explain",)):
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


def test_a_bug_is_told_as_one(project: Path, target: Path, tmp_path: Path) -> None:
    """A bug is made: in the place of a module that the build imports stands another."""
    (tmp_path / "startup").mkdir()
    (tmp_path / "startup/sitecustomize.py").write_text(
        "import mcpc.emit.templates as templates\n\n\n"
        "def render(*_words, **_values):\n    raise ZeroDivisionError('a bug')\n\n\n"
        "import mcpc.emit\nmcpc.emit.render = render\n"
    )
    environment = {"PYTHONPATH": os.pathsep.join((str(tmp_path / "startup"), SOURCES))}
    done = mcpc("build", project, "-o", target, environment=environment)
    assert (done.returncode, done.stdout) == (70, "")
    assert "mcpc: internal error: ZeroDivisionError: a bug\n" in done.stderr
    assert "Traceback" not in done.stderr
    untouched(target)
    done = mcpc("build", project, "-o", target, environment={**environment, "MCPC_TRACEBACK": "1"})
    assert done.returncode == 70
    assert "Traceback" in done.stderr


@pytest.fixture
def spoilt_servers(project: Path, tmp_path: Path) -> Iterator[list[Path]]:
    """Files that look like built servers, and are not whole."""
    server = tmp_path / "server.pyz"
    assert mcpc("build", project, "-o", server).returncode == 0
    with zipfile.ZipFile(server) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    made: list[Path] = []
    for name in ("META-INF/build.json", "mcpc_app/index.py", "mcpc_app/blob"):
        for number, data in enumerate((None, b"", b"\xff", b"[]", b"INDEX = 1", b"INDEX = {}", entries[name][:-40])):
            path = tmp_path / f"{len(made)}-{number}.pyz"
            with zipfile.ZipFile(path, "w") as archive:
                for other, content in entries.items():
                    if other != name or data is not None:
                        archive.writestr(other, content if other != name else data or b"")
            made.append(path)
    (tmp_path / "half.pyz").write_bytes(server.read_bytes()[: server.stat().st_size // 2])
    yield [*made, tmp_path / "half.pyz"]


def test_inspect_reads_anything(spoilt_servers: list[Path]) -> None:
    for path in spoilt_servers:
        for words in ([], ["--format", "json"]):
            done = CliRunner().invoke(cli, ["inspect", str(path), *words])
            assert done.exit_code in (0, 2), (path, done.exception)
            assert (done.exit_code == 2) is ("was not built by mcpc" in done.stderr)
