"""Hostile files of a project, imported at the build: each is ended in time and named, and leaves nothing behind."""

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from mcpc.sandbox import confinement
from mcpc.sandbox.confinement import model, watching
from mcpc.sandbox.confinement.posix import launcher
from mcpc.sandbox.confinement.posix import running as confined
from support.expressions import check_expressions
from support.needs import ROOT
from support.processes import running

TOOLS = "from mcpc import tool\n@tool\ndef fine() -> str:\n    'Is fine.'\n    return ''\n"
WRONG = '{"resources": [{"uri": "x://y", "name": "other", "description": "d", "nonsense": 1}]}'
"""Another problem of the project, which has to be reported beside."""
MARK = "from mcpc import prompt\n@prompt\ndef ask() -> str:\n    'Asks.'\n    return ''\n"
LANDLOCK = launcher.LIBC.syscall(launcher.CREATE_RULESET, None, launcher.ctypes.c_size_t(0), launcher.VERSION)
"""Which version of Landlock there is."""

HOSTILE: dict[str, tuple[str, str | None]] = {
    name: (row["program"], row["message"])
    for name, row in yaml.safe_load(Path(__file__).with_name("hostile.yaml").read_text("utf-8")).items()
}


@pytest.fixture
def listening() -> Iterator[tuple[int, list[int]]]:
    """Give a port at which connections are counted."""
    hits: list[int] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        ends = threading.Event()

        def count() -> None:
            while not ends.is_set():
                try:
                    connection, _ = server.accept()
                except TimeoutError:
                    continue
                hits.append(1)
                connection.close()

        thread = threading.Thread(target=count)
        thread.start()
        yield server.getsockname()[1], hits
        ends.set()
        thread.join()


BY_LANDLOCK = frozenset(
    {
        "connects",
        "forks into sessions of their own",
        "kills its parent and its group",
        "leaves a daemon",
        "poisons mcpc's cache",
        "reads the parent's environment",
        "writes to the caller's home",
    }
)
"""What is tried without namespaces, too."""
BY_TIME = ("closes what it answers on", "never ends")
"""What only its time limit ends."""
WITHOUT = "run = confinement._run; confinement._run = lambda job, namespaces: run(job, namespaces=False)"

CHECK = """
import sys
sys.path[:0] = {paths!r}
from mcpc.sandbox import confinement
from mcpc.sandbox.confinement import model as limits
from mcpc.frontends.introspection import process
process.IMPORT_SECONDS = {seconds}
limits.MEMORY_BYTES = {memory}
limits.FOLDER_BYTES, limits.FILE_BYTES = 128 << 20, 32 << 20
{last}
from mcpc.cli import main
sys.argv = ["mcpc", "check", sys.argv[1], "--format", "json"]
main()
"""


def left(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@pytest.mark.skipif(LANDLOCK < 4, reason="the kernel has no Landlock that knows of TCP")
@pytest.mark.parametrize(
    ("kind", "namespaces"), [*((kind, True) for kind in HOSTILE), *((kind, False) for kind in sorted(BY_LANDLOCK))]
)
@pytest.mark.sampled(7)
def test_a_hostile_file_is_ended_and_named_and_leaves_nothing(
    tmp_path: Path, listening: tuple[int, list[int]], kind: str, namespaces: bool
) -> None:
    text, message = HOSTILE[kind]
    port, hits = listening
    home, cache, temporary, project = (tmp_path / name for name in ("home", "cache", "tmp", "project"))
    for folder in (home, cache, temporary, project):
        folder.mkdir()
    names = f"CALLERS_HOME, CALLERS_CACHE, LISTENING = {str(home)!r}, {str(cache)!r}, {port}\n"
    names += f"COMPILER, LIMIT = {os.getpid()}, '33.{os.getpid()}'\n"
    (project / "prompts.py").write_text(MARK + names + text)
    (project / "tools.py").write_text(TOOLS)
    (project / "server.json").write_text('{"serverInfo": {"name": "s", "version": "1"}}')
    (project / "resources.json").write_text(WRONG)
    paths = [path for path in sys.path if Path(path).is_absolute()]
    memory = 256 << 20 if "in many" in kind else model.MEMORY_BYTES
    if "forks" in kind:
        memory *= 8  # what children share counts for each: on a slow machine 60 of them are over the limit of memory
    seconds = 3 if kind in BY_TIME else 60  # a slow machine fills a folder slowly
    program = CHECK.format(paths=paths, memory=memory, seconds=seconds, last="" if namespaces else WITHOUT)
    environment = {
        **os.environ,
        "HOME": str(home),
        "MCPC_CACHE_DIR": str(cache),
        "TMPDIR": str(temporary),
        "SECRET": "s3cret",
    }
    done = subprocess.run(
        [sys.executable, "-c", program, str(project)],
        env=environment,
        capture_output=True,
        timeout=600,
        start_new_session=True,
    )
    found = json.loads(done.stdout)["diagnostics"]
    about = [row["message"] for row in found if row["code"] == "MCP216"]
    assert [message in one for one in about] == [True] if message else about == [], (about, done.stderr[-2000:])
    assert all(one.startswith("`prompts.py` cannot be imported: ") for one in about)
    assert any("nonsense" in row["message"] for row in found), "the other problem of the project"
    assert hits == []
    assert not [path for path in left(temporary) | left(home) | left(cache) if "bytecode" not in path], left(tmp_path)
    assert not running("sleep", f"33.{os.getpid()}")


def confinement_has_namespaces() -> bool:
    return subprocess.run(["unshare", "--user", "--mount", "true"], capture_output=True, check=False).returncode == 0


def job(tmp_path: Path, text: str, seconds: float = 30) -> confinement.ConfinedProgram:
    return confinement.ConfinedProgram([sys.executable, "-I", "-c", text], tmp_path, tmp_path, seconds)


def test_a_program_answers_and_its_end_is_told(tmp_path: Path) -> None:
    outcome = confinement.run_confined(
        job(tmp_path, "import os\nos.write(3, b'yes')\nprint('said')\nraise SystemExit(3)")
    )
    assert (outcome.answer, outcome.output, outcome.status, outcome.why) == (b"yes", b"said\n", 3, "")
    assert outcome.how == "it ended the process with status 3"


def test_a_program_that_is_not_there_is_told(tmp_path: Path) -> None:
    (tmp_path / "it").write_text("no program")
    outcome = confinement.run_confined(confinement.ConfinedProgram([str(tmp_path / "it")], tmp_path, tmp_path, 30))
    assert outcome.status == 127
    assert b"Permission denied" in outcome.output


def test_without_what_the_kernel_offers_a_program_runs_and_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = confinement._run
    monkeypatch.setattr(confinement, "_run", lambda job, namespaces: real(job, namespaces=False))
    text = "import os, subprocess\nsubprocess.run(['setsid', '-f', 'env', '-i', 'sleep', '33.79'], check=True)\nos.write(3, b'x')"
    assert confinement.run_confined(job(tmp_path, text)).answer == b"x"
    assert not running("sleep", "33.79")


def test_what_cannot_be_read_in_namespaces_is_run_without_them(tmp_path: Path) -> None:
    one = job(tmp_path, "import os\nos.write(3, b'yes')")
    hidden = confinement.ConfinedProgram(one.words, one.root, one.folder, 30, readable=[str(tmp_path / "is not there")])
    assert confinement.run_confined(hidden).answer == b"yes"


LOOKS = """
import os, socket, sys
seen = [path for path in {paths} if os.path.exists(path)]
seen += ["its program is a link"] if os.path.islink(sys.executable) else []
with socket.socket(socket.AF_UNIX) as agent:
    try: agent.connect({agent})
    except OSError: pass
    else: seen.append("the agent")
os.write(3, "\\n".join([*seen, *os.listdir("/run")]).encode())
"""


@pytest.mark.skipif(not confinement_has_namespaces(), reason="no namespaces can be made here")
def test_folders_of_the_user_are_empty_but_for_what_the_program_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, root, programs = tmp_path / "home", tmp_path / "root", tmp_path / "home/version/bin"
    for folder in (root, programs, home / "needed", home / "other", home / "path"):
        folder.mkdir(parents=True)
    (programs / "python").symlink_to("python3")
    (programs / "python3").symlink_to(Path(sys.executable).resolve())
    for name in ("version/pyvenv.cfg", "version/other", "needed/file", "other/file", "path/program", ".secret"):
        (home / name).write_text("")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", f"{home}/path{os.pathsep}{os.environ['PATH']}")
    with socket.socket(socket.AF_UNIX) as agent:
        agent.bind(str(tmp_path / "agent"))
        agent.listen()
        paths = [*map(str, sorted(home.rglob("*")))]
        text = LOOKS.format(paths=paths, agent=repr(str(tmp_path / "agent")))
        words = [str(programs / "python"), "-I", "-c", text]
        seen = confinement.run_confined(
            confinement.ConfinedProgram(words, root, root, 30, readable=[str(home / "needed")])
        )
    assert seen.status == 0, seen.output
    names = ["needed", "needed/file", "path", "path/program", "version", "version/bin", "version/bin/python"]
    expected = [f"{home}/{name}" for name in [*names, "version/pyvenv.cfg"]]
    assert seen.answer.decode().split("\n") == [*expected, "its program is a link"]


@pytest.mark.skipif(not Path("/proc/keys").exists(), reason="the kernel keeps no keys")
def test_a_program_has_no_keys_of_its_users_session(tmp_path: Path) -> None:
    syscall = f"ctypes.CDLL(None).syscall({launcher.KEYCTL[os.uname().machine]}, 0, -3, 0)"
    show = f"import ctypes, os; os.write({{}}, str({syscall}).encode())"  # the number of the session's keyring
    outside = subprocess.run([sys.executable, "-c", show.format(1)], capture_output=True, check=True).stdout
    inside = confinement.run_confined(job(tmp_path, show.format(3))).answer
    assert inside != outside
    assert int(inside) > 0


def test_the_compiler_is_as_it_was_afterwards(tmp_path: Path) -> None:
    def state() -> tuple[int, int]:
        adopts = launcher.ctypes.c_int(7)
        confined.prctl(confined.GET_CHILD_SUBREAPER, launcher.ctypes.byref(adopts))
        return confined.prctl(confined.GET_DUMPABLE, 0), adopts.value

    before = state()
    confinement.run_confined(job(tmp_path, "pass"))
    assert state() == before


def test_children_from_before_are_let_be(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "44.5"]) as other:
        confinement.run_confined(job(tmp_path, "pass"))
        assert other.poll() is None
        other.kill()


SMALL = {"ANSWER_BYTES": 4, "OUTPUT_BYTES": 6, "MAX_OUTPUT_KEPT": 3, "FOLDER_BYTES": 600, "FOLDER_FILES": 10}


def test_output_and_use_have_limits(
    golden: Callable[[Path, str], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in SMALL.items():
        monkeypatch.setattr(model, name, value)

    def watched(
        *rounds: list[tuple[str, bytes]],
        use: tuple[int, int] = (1, 1),
        whole: bytes = b"none",
        lost: tuple[int, int] = (0, 0),
        used: tuple[int, int] = (0, 0),
    ) -> model.ProgramOutcome:
        """The outcome of a program with this output; each look at the clock is a fifth of a second after the last."""
        clock, free, reads = iter(range(999)), iter([(5000, 500)]), iter(rounds)
        left = 5000 - lost[0], 500 - lost[1]
        monkeypatch.setattr(watching, "time", SimpleNamespace(monotonic=lambda: next(clock) / 5))
        monkeypatch.setattr(watching, "free_space", lambda _: next(free, left))
        monkeypatch.setattr(watching, "used_space", lambda _: used)
        program = SimpleNamespace(read=lambda _: next(reads, []), usage=lambda: use)
        job = model.ConfinedProgram((), tmp_path, tmp_path, 30.0, is_whole=lambda answer: answer == whole)
        found = watching.WatchedProgram(job, program)
        found.follow()
        return found.outcome()

    check_expressions(golden, ROOT / "tests/golden/confinement/watching.txt", model, watched=watched)


def test_without_the_call_an_option_is_minus_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confined, "ctypes", SimpleNamespace(CDLL=lambda _: object()))
    assert confined.prctl(confined.GET_DUMPABLE, 0) == -1


@pytest.mark.skipif(sys.platform != "linux", reason="there is no /proc")
def test_what_is_measured_of_a_process() -> None:
    itself = confined.memory_of(os.getpid())
    assert (itself > 1 << 20, itself % confined.PAGE, confined.memory_of(0)) == (True, 0, 0)
    threads = len(os.listdir("/proc/self/task"))
    assert confined.tasks_of_user() >= threads
    before = confined.children()
    pid = os.posix_spawn("/bin/sleep", ["sleep", "100"], {})
    assert confined.children() - before == {pid}
    found = confined.Descendants(before, pid)
    assert found.now()[1] == {pid}
    assert found.count()[0] == 1
    found.end()
    assert os.waitpid(pid, 0)[1] == 9


def test_each_group_is_killed_that_a_descendant_leads(monkeypatch: pytest.MonkeyPatch) -> None:
    groups, killed = {9: 8, 10: 10, 11: 11, 12: 11, os.getpgrp(): os.getpgrp()}, list[tuple[str, int]]()
    snapshot = SimpleNamespace(children={}, started={}, zombies={}, groups=groups)
    rounds = iter([{*groups}, set()])
    snapshot.below = lambda _: next(rounds)
    monkeypatch.setattr(confined, "HAS_PROC", True)
    monkeypatch.setattr(confined, "ProcessSnapshot", lambda: snapshot)
    for name in ("signal_group", "signal_process"):
        monkeypatch.setattr(confined, name, lambda pid, _, kind=name[7:]: killed.append((kind, pid)))
    confined.Descendants(frozenset(), 10).end()
    assert sorted(killed) == [
        ("group", 10),
        ("group", 10),
        ("group", 11),
        *(("process", pid) for pid in sorted(groups)),
    ]


@pytest.mark.skipif(sys.platform != "linux", reason="there is no Landlock")
def test_only_what_has_a_rule_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rules, restricted = list[str](), list[int]()

    def syscall(number: int, *words: Any) -> int:
        if number == launcher.CREATE_RULESET:
            return 7 if words[0] is None else os.open("/dev/null", os.O_RDONLY)
        if number == launcher.ADD_RULE:
            rules.append(os.readlink(f"/proc/self/fd/{int.from_bytes(words[2][8:], sys.byteorder)}"))
        else:
            restricted.append(len(rules))
        return 0

    monkeypatch.setattr(launcher, "LIBC", SimpleNamespace(syscall=syscall))
    launcher.restrict(str(tmp_path), ("/",), launcher.BIND_AND_CONNECT)
    assert (rules, restricted) == ([str(tmp_path), "/", "/dev/null"], [3])
