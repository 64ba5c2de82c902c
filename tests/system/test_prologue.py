"""A built file starts by its own first lines: under every shell, wherever it lies, and with the right Python."""

import json
import os
import shlex
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from mcpc.pack.prologue import shell_prologue
from support.artifact import build, built_fixture, converse, mcpc
from support.chroots import new_root, put_python, run_in
from support.needs import needs
from support.processes import run_program

Json = Any

pytestmark = pytest.mark.sampled(3)

EXACT = f"python3.{sys.version_info.minor}"
VERSIONS = "versions"
"""The folder of pyenv that has a folder for each Python."""
ANOTHER = f"python3.{25 - sys.version_info.minor}"
"""A minor version that is looked for, and is not this one."""
SHELLS = {"dash": ["dash"], "bash": ["bash", "--posix"], "BusyBox": ["busybox", "sh"]}
TEXT = 'it\'s "quoted" $HOME `id` $(id) * ? [x] \\ ; & | <> # %s {x}\n\ttwo  lines Ünïcödé 工程 🦆 -x --'
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}}
TOOLS = '''"""Tools."""

import sys

from mcpc import Server, tool

mcp = Server("prologue", version="1.0.0")


@tool(inline=True)
def echo(text: str) -> str:
    """Return the text."""
    return text


@tool
def place(text: str) -> str:
    """Return what this Python is."""
    return f"{sys.flags.isolated} {sys.flags.no_site}"
'''


server = built_fixture({"tools.py": TOOLS})


def echoed(argv: list[str | Path], **how: Any) -> str:
    """Return what a built file's `echo` says to a text with every kind of character."""
    done = converse([*argv, "call", "echo", "--json", json.dumps({"text": TEXT})], b"", **how)
    assert (done.returncode, done.stderr if done.returncode else b"") == (0, b"")
    return (done.stdout + done.stderr).decode()


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_starts_it_and_passes_all_arguments(shell: str, server: Path) -> None:
    needs(SHELLS[shell][0])
    assert TEXT in echoed([*SHELLS[shell], "-", server])


NAMES = {
    "spaces": "a folder/my server.pyz",
    "quotes": "it's \"quoted\"/'server'.pyz",
    "shell": "$HOME `id` $(id) ; & | < > * ? [x] \\ !/server.pyz",
    "letters": "Ünïcödé 工程 🦆/sérver.pyz",
    "dash": "-c/-c.pyz",
    "line break": "two\nlines/server\n.pyz",
}


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.sampled(3)
def test_it_starts_wherever_it_lies(name: str, shell: str, server: Path, tmp_path: Path) -> None:
    needs(SHELLS[shell][0])
    place = tmp_path / NAMES[name]
    place.parent.mkdir(parents=True)
    shutil.copy(server, place)
    assert TEXT in echoed([*SHELLS[shell], "-", place])
    assert TEXT in echoed([*SHELLS[shell], "-", place.name], cwd=place.parent)
    link = tmp_path / "link"
    link.symlink_to(place)
    assert TEXT in echoed([*SHELLS[shell], "-", link])


@pytest.mark.parametrize("name", [NAMES["spaces"], NAMES["letters"], "-c/-c.pyz"])
def test_it_is_found_on_path(name: str, server: Path, tmp_path: Path) -> None:
    place = tmp_path / name
    place.parent.mkdir(parents=True)
    shutil.copy(server, place)
    environment = {**os.environ, "PATH": f"{place.parent}:{os.environ['PATH']}"}
    assert TEXT in echoed(["sh", "-c", '"$0" "$@"', place.name], env=environment)
    nearby = {**os.environ, "PATH": f":{os.environ['PATH']}"}  # an empty element is the current folder
    assert TEXT in echoed(["sh", "-c", '"$0" "$@"', place.name], env=nearby, cwd=place.parent)


def test_python_is_isolated_and_reads_no_site(server: Path, tmp_path: Path) -> None:
    (tmp_path / "zipimport.py").write_text("raise SystemExit('a module of the folder was imported')\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = converse([server, "call", "place", "text=x"], b"", cwd=tmp_path, env=environment)
    assert done.stdout.decode().split()[-2:] == ["1", "1"], done.stderr


def test_nothing_of_the_shell_is_inherited(server: Path) -> None:
    """Neither the script's descriptor nor a variable of the search reaches the server."""
    program = "import os,sys;print(sorted(os.listdir('/proc/self/fd')),[n for n in os.environ if 'mcpc_' in n])"
    script = shell_prologue().replace(shell_prologue().split('-ISc "')[1].split('" "$0"')[0], program)
    for shell in SHELLS.values():
        if shutil.which(shell[0]):
            done = subprocess.run([*shell, "-c", script], capture_output=True, text=True, check=True)
            assert done.stdout == "['0', '1', '2', '3'] []\n"  # 3 is the listing itself


def test_it_stays_an_archive_for_python(server: Path) -> None:
    assert server.read_bytes().startswith(b"#!/bin/sh -\n")
    with zipfile.ZipFile(server) as archive:
        assert archive.testzip() is None
    assert TEXT in echoed([sys.executable, server])


def test_a_path_with_the_words_of_the_script_stays_as_it_is() -> None:
    written = shell_prologue("/opt/START/NAMES/FOLDERS/python3")
    assert "for mcpc_folder in /opt/START/NAMES/FOLDERS; do" in written
    assert written.count("zipimport.zipimporter") == 1


def test_the_script_is_clean() -> None:
    needs("shellcheck")
    for script in (shell_prologue(), shell_prologue("/opt/python/bin/python3"), shell_prologue("pypy3")):
        done = run_program(["shellcheck", "-s", "sh", "-"], input=script)
        assert done.stdout == ""


@pytest.mark.parametrize("named", ["python3.99", "/nowhere/python3"])
def test_a_named_interpreter_that_is_missing_is_one_line(named: str, server: Path, tmp_path: Path) -> None:
    made = tmp_path / "named.pyz"
    made.write_bytes(shell_prologue(named).encode() + b"PK")
    made.chmod(0o755)
    done = converse([made], b"")
    assert (done.returncode, done.stdout) == (8, b"")
    assert done.stderr.startswith(f"this server needs {named}, which ".encode())
    assert done.stderr.count(b"\n") == 1


def test_a_named_interpreter_is_taken(server: Path, tmp_path: Path) -> None:
    project = server.parent / "project"
    for word in (sys.executable, "a-python"):
        (tmp_path / "a-python").unlink(missing_ok=True)
        (tmp_path / "a-python").symlink_to(sys.executable)
        made = build(project, tmp_path / "server.pyz", "--python", word)
        environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
        assert TEXT in echoed([made], env=environment)
    done = mcpc("build", project, "-o", tmp_path / "x.pyz", "--python", "bin/python3", status=2)
    assert "--python" in done.stderr


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root folder with BusyBox and a script that prints which Python was found."""
    place = new_root(tmp_path / "root")
    (place / "server.pyz").write_bytes(shell_prologue().encode() + b"PK\0")
    (place / "server.pyz").chmod(0o755)
    return place


def put(root: Path, place: str, *, is_old: bool = False) -> None:
    """Put a program into a root folder that is a Python to the search, and prints where it lies."""
    path = root / place.lstrip("/")
    path.parent.mkdir(parents=True, exist_ok=True)
    verdict = int(is_old)
    path.write_text(f'#!/bin/sh\ncase $2 in *version_info*) exit {verdict};; esac\necho {shlex.quote(place)} "$3"\n')
    path.chmod(0o755)


def found(root: Path, environment: Mapping[str, str], cwd: str = "/") -> str:
    """Return which Python the search finds."""
    done = run_in(root, ["/server.pyz"], environment, cwd=cwd)
    assert (done.returncode, done.stderr) == (0, b"")
    place, file = done.stdout.decode().split()
    assert file == "/server.pyz"
    return place


def test_without_any_python_one_line_says_so(root: Path) -> None:
    put(root, "/usr/bin/python3", is_old=True)
    for environment in ({}, {"PATH": ""}, {"PATH": "/usr/bin:/bin"}, {"PATH": "/nowhere"}):
        done = run_in(root, ["/server.pyz"], environment)
        said = "this server needs Python 3.11 or newer; none was found on PATH or in the usual folders\n"
        assert (done.returncode, done.stdout, done.stderr.decode()) == (8, b"", said)


SHIMS = "/home/me/.pyenv/shims"
SEARCHES: dict[str, tuple[tuple[str, ...], str, str]] = {
    "the version of the bytecode first": ((f"/usr/local/bin/{EXACT}", "/usr/bin/python3", f"/opt/newer/{ANOTHER}"),
                                          "/opt/newer:/usr/bin:/bin", f"/usr/local/bin/{EXACT}"),
    "on PATH before elsewhere": ((f"/usr/local/bin/{EXACT}", f"/opt/newer/{EXACT}"), "/opt/newer:/usr/bin", f"/opt/newer/{EXACT}"),
    "python3 before another version": (("/usr/bin/python3", f"/opt/newer/{ANOTHER}"), "/opt/newer:/usr/bin:/bin", "/usr/bin/python3"),
    "one that is too old is passed over": (("old /usr/bin/python3", f"/usr/bin/{ANOTHER}"), "/usr/bin:/bin", f"/usr/bin/{ANOTHER}"),
    "a shim of a version that is not selected": ((f"old {SHIMS}/{EXACT}", "/usr/bin/python3"), f"{SHIMS}:/usr/bin", "/usr/bin/python3"),
    "a shim where there is nothing else": ((f"{SHIMS}/{EXACT}", "/usr/bin/python3"), f"{SHIMS}:/usr/bin", f"{SHIMS}/{EXACT}"),
    "the shim of another manager next": ((f"old /home/me/.asdf/shims/{EXACT}", f"{SHIMS}/{EXACT}"), "/home/me/.asdf/shims:/usr/bin",
                                         f"{SHIMS}/{EXACT}"),
    "another folder before a shim": ((f"{SHIMS}/{EXACT}", f"{SHIMS}/python3", f"/usr/bin/{EXACT}"), f"{SHIMS}:/usr/bin", f"/usr/bin/{EXACT}"),
    "another folder before a shim of any version": ((f"{SHIMS}/python3", "/usr/bin/python3"), f"{SHIMS}:/usr/bin", "/usr/bin/python3"),
    **{f"as graphical clients do not name: {folder}": (("old /usr/bin/python3", f"{folder}/{EXACT}"), "/usr/bin:/bin:/usr/sbin:/sbin", f"{folder}/{EXACT}")
       for folder in ("/opt/homebrew/bin", "/usr/local/bin", "/opt/local/bin", "/home/me/.local/bin", SHIMS,
                      f"/Library/Frameworks/Python.framework/Versions/{EXACT.removeprefix('python')}/bin")},
}  # fmt: skip
"""What is there, PATH, and what is found."""


@pytest.mark.parametrize("name", SEARCHES)
def test_which_python_is_found(name: str, root: Path) -> None:
    there, path, expected = SEARCHES[name]
    for place in there:
        put(root, place.removeprefix("old "), is_old=place.startswith("old "))
    assert found(root, {"PATH": path, "HOME": "/home/me"}) == expected


@pytest.mark.parametrize("manager", [
    (".pyenv/shims", f"/.pyenv/{VERSIONS}/{EXACT.removeprefix('python')}.9"),
    (".local/share/mise/shims", f"/.local/share/mise/installs/python/{EXACT.removeprefix('python')}.9"),
    (".asdf/shims", f"/.asdf/installs/python/{EXACT.removeprefix('python')}.9"),
])  # fmt: skip
def test_a_python_of_the_version_manager_comes_before_its_shim(manager: tuple[str, str], root: Path) -> None:
    """In any folder, and with a colon, a space and an asterisk in it."""
    for home in ("/home/me", "/home/m e*"):
        shims, version = f"{home}/{manager[0]}", f"{home}{manager[1]}"
        put(root, f"{shims}/{EXACT}")
        put(root, f"{version}/bin/{EXACT}")
        done = run_in(root, ["/server.pyz"], {"PATH": f"{shims}:/usr/bin", "HOME": home})
        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout.decode() == f"{version}/bin/{EXACT} /server.pyz\n"
    put(root, f"{shims}/python3")
    put(root, f"{version}/bin/python3", is_old=True)
    (root / f"{version}/bin/{EXACT}".lstrip("/")).unlink()
    (root / f"{shims}/{EXACT}".lstrip("/")).unlink()
    done = run_in(root, ["/server.pyz"], {"PATH": f"{shims}:/usr/bin", "HOME": "/home/none"})
    assert done.stdout.decode() == f"{shims}/python3 /server.pyz\n"


def test_the_shim_of_a_named_command_is_the_one_that_was_selected(root: Path) -> None:
    (root / "server.pyz").write_bytes(shell_prologue("python3").encode() + b"PK\0")
    put(root, "/home/me/.pyenv/shims/python3")
    put(root, f"/home/me/.pyenv/{VERSIONS}/3.12.9/bin/python3")
    put(root, "/usr/bin/python3")
    assert found(root, {"PATH": "/home/me/.pyenv/shims:/usr/bin"}) == "/home/me/.pyenv/shims/python3"


def test_the_current_folder_is_never_searched(root: Path) -> None:
    put(root, f"/project/{EXACT}")
    put(root, f"/project/bin/{EXACT}")
    put(root, "/usr/bin/python3")
    for path in (":/usr/bin", "/usr/bin:", ".:/usr/bin", "bin:/usr/bin", "::"):
        assert found(root, {"PATH": path}, cwd="/project") == "/usr/bin/python3"


def test_the_installer_of_macos_is_not_opened(root: Path) -> None:
    """Without its command line tools /usr/bin/python3 opens a window; `xcode-select -p` fails then."""
    put(root, "/usr/bin/python3")
    put(root, f"/opt/homebrew/bin/{ANOTHER}")
    (root / "usr/bin/xcode-select").write_text("#!/bin/sh\nexit 2\n")
    (root / "usr/bin/xcode-select").chmod(0o755)
    assert found(root, {"PATH": "/usr/bin:/bin"}) == f"/opt/homebrew/bin/{ANOTHER}"


@pytest.mark.parametrize("place", ["/usr/bin/python3", f"/usr/local/bin/{EXACT}"])
def test_it_serves_in_a_container_of_alpines_tools(place: str, server: Path, tmp_path: Path) -> None:
    """The shell and every other program are BusyBox's; only Python is not."""
    root = new_root(tmp_path / "root")
    put_python(root, place)
    shutil.copy(server, root / "server.pyz")
    said = run_in(root, ["/usr/bin/env", "-S", "sh"], {"PATH": "/usr/bin:/bin"})
    assert b"invalid option" in said.stderr  # what a first line with `env -S` would meet here
    calls = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HELLO},
        *(
            {"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": {"name": name, "arguments": {"text": TEXT}}}
            for n, name in enumerate(("echo", "place"), 1)
        ),
    ]
    lines = b"".join(json.dumps(call).encode() + b"\n" for call in calls)
    done = run_in(root, ["/server.pyz"], {"PATH": "/usr/bin:/bin"}, lines)
    assert (done.returncode, done.stderr) == (0, b"")
    results = {reply["id"]: reply["result"] for reply in map(json.loads, done.stdout.splitlines())}
    assert results[1]["content"][0]["text"] == TEXT
    assert results[2]["content"][0]["text"].split()[-2:] == ["1", "1"]


@pytest.mark.parametrize("share", [0.01, 0.5, 0.999])
def test_a_file_that_was_cut_off_says_that_in_a_line(server: Path, tmp_path: Path, share: float) -> None:
    cut = tmp_path / "cut.pyz"
    whole = server.read_bytes()
    cut.write_bytes(whole[: max(4096, int(len(whole) * share))])
    cut.chmod(0o755)
    done = run_program([cut, "list"], stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"{cut} is damaged, or was not downloaded completely: get it again\n"
