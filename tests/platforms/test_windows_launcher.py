"""`server.exe` under Wine: which Python it finds, and what the server gets of its client."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from support.slack import slack
from support.windows_prefix import Prefix, windows_path
from support.windows_programs import report, reporter

FOLDERS = (
    r"Python\pythoncore-3.13-64",
    r"Microsoft\WindowsApps\PythonSoftwareFoundation.Python.3.13_qbz5n2kfra8p0",
    r"Programs\Python\Python313",
)
"""Folders of installers, below LOCALAPPDATA."""
CORE = r"Software\Python\PythonCore"


@pytest.fixture
def program(tmp_path: Path) -> Callable[..., Path]:

    def written(*minors: int, is_only: bool = False, name: str = "server.exe", more: bytes = b"") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(reporter(*minors, is_only=is_only) + more)
        path.chmod(0o755)
        return path

    return written


@dataclass(frozen=True)
class Machine:
    """What a machine has: registered Pythons, and folders on PATH; and the minor that starts the file, 0 for none."""

    starts: int
    path: tuple[str, ...] = ()
    registered: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    minors: tuple[int, ...] = (13,)
    is_only: bool = False
    root: str = "HKEY_CURRENT_USER"
    says: str = "none was found"


def registered(tag: str, version: str, **values: str) -> dict[str, Mapping[str, str]]:
    """Return the keys of a Python as python.org's installer writes them."""
    path = {"ExecutablePath": f"{{{version}}}\\python.exe", "": f"{{{version}}}\\"}
    return {f"{CORE}\\{tag}": {"SysVersion": tag[:4], **values}, f"{CORE}\\{tag}\\InstallPath": path}


MACHINES = {
    "nothing": Machine(0),
    "on PATH": Machine(13, path=("{3.13}",)),
    "on PATH, quoted, with a backslash": Machine(13, path=('"{3.13}\\"',)),
    "another minor on PATH": Machine(11, path=("{3.11}",)),
    "the minor of the bytecode before the first on PATH": Machine(11, path=("{3.13}", "{3.11}"), minors=(11,)),
    "several minors with bytecode, the best one first": Machine(11, path=("{3.13}", "{3.11}"), minors=(11, 13)),
    "the newest of the others": Machine(13, path=("{3.11}", "{3.13}"), minors=(12,)),
    "only another minor than the required one": Machine(
        0, path=("{3.13}",), minors=(12,), is_only=True, says="needs Python 3.12; none"
    ),
    "the required minor": Machine(11, path=("{3.13}", "{3.11}"), minors=(11,), is_only=True),
    "the stub of the Store": Machine(0, path=("{stub}",)),
    "the stub of the Store, then a Python": Machine(13, path=("{stub}", "{3.13}")),
    "a text file, then a Python": Machine(11, path=("{text}", "{3.11}")),
    "a broken Python of the right minor, then another": Machine(11, path=("{broken}", "{3.11}")),
    "a relative folder": Machine(0, path=("stub\\..",)),
    "too old, by its library": Machine(0, path=("{old}",), says="python.exe is Python 3.8"),
    "too old, then new enough": Machine(13, path=("{old}", "{3.13}")),
    "too old, by its environment's file": Machine(0, path=("{environment}",), says="python.exe is Python 3.9"),
    "found by asking it": Machine(13, path=("{alone}", "{library}")),
    "registered by its user": Machine(13, registered=registered("3.13", "3.13")),
    "registered by the machine": Machine(13, registered=registered("3.13", "3.13"), root="HKEY_LOCAL_MACHINE"),
    "registered, without ExecutablePath": Machine(
        13, registered={f"{CORE}\\3.13": {}, f"{CORE}\\3.13\\InstallPath": {"": "{3.13}"}}
    ),
    "registered, and removed": Machine(
        11, path=("{3.11}",), registered={f"{CORE}\\3.13\\InstallPath": {"ExecutablePath": "C:\\gone\\python.exe"}}
    ),
    "registered by another company": Machine(
        13,
        registered={
            r"Software\Python\Other\three": {"SysVersion": "3.13"},
            r"Software\Python\Other\three\InstallPath": {"ExecutablePath": "{3.13}\\python.exe"},
        },
    ),
    "the launcher's own key": Machine(0, registered={r"Software\Python\PyLauncher": {"": "{3.13}\\python.exe"}}),
    # The same minor three times: the folder tells which one started.
    "free-threaded, then usual": Machine(
        13, registered={**registered("3.12t", "text"), **registered("3.13t", "stub"), **registered("3.13", "3.13")}
    ),
    "32 bits, then 64": Machine(
        13, registered={**registered("3.13-32", "stub", SysArchitecture="32bit"), **registered("3.13", "3.13")}
    ),
    "registered and too old": Machine(0, registered=registered("3.9", "3.11"), says="python.exe is Python 3.9"),
    "registered with another minor, on PATH with the right one": Machine(
        13, registered=registered("3.11", "3.11"), path=("{3.13}",)
    ),
}


@pytest.fixture(scope="module")
def places(prefix: Prefix, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The folders that the table names."""
    folder = tmp_path_factory.mktemp("pythons")
    real = (prefix.pythons["3.13"] / "python.exe").read_bytes()
    files = {
        "stub/python.exe": b"", "text/python.exe": b"print('this is a script')\n",
        "broken/python.exe": b"MZ this is no program", "broken/python313.dll": b"", "old/python.exe": real,
        "old/python38.dll": b"",
        "environment/pyvenv.cfg": b"home = C:\\nowhere\nimplementation = CPython\nversion_info = 3.9.1\n",
        "environment/Scripts/python.exe": real, "alone/python.exe": real,
    }  # fmt: skip
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        path.chmod(0o755)
    # What a program without its library beside it loads from PATH; its own folder is not one of a Python.
    library = folder / "library"
    library.mkdir()
    for source in prefix.pythons["3.13"].iterdir():
        if source.suffix != ".exe":
            (library / source.name).symlink_to(source)
    named = {name: folder / name for name in ("stub", "text", "broken", "old", "alone", "library")}
    named["environment"] = folder / "environment/Scripts"
    return {name: windows_path(path) for name, path in {**named, **prefix.pythons}.items()}


def in_places(text: str, places: Mapping[str, str]) -> str:
    for name, place in places.items():
        text = text.replace(f"{{{name}}}", place)
    return text


@pytest.mark.parametrize("name", MACHINES)
def test_python_is_found(name: str, prefix: Prefix, places: dict[str, str], program: Callable[..., Path]) -> None:
    machine = MACHINES[name]
    for key, values in machine.registered.items():
        prefix.set_registry(machine.root, key, {each: in_places(text, places) for each, text in values.items()})
    try:
        path = [in_places(folder, places) for folder in machine.path]
        ended = prefix.run(program(*machine.minors, is_only=machine.is_only), "a", path=path)
    finally:
        if machine.registered:
            prefix.clear_registry()
    if machine.starts:
        assert (ended.status, ended.errors) == (0, "")
        assert report(ended.output)["minor"] == machine.starts
    else:
        assert (ended.status, ended.output) == (8, b"")
        assert machine.says in ended.errors
        assert ended.errors.count("\n") == 1


@pytest.mark.parametrize("folder", FOLDERS)
def test_python_is_found_in_the_folder_of_an_installer(
    folder: str, prefix: Prefix, program: Callable[..., Path]
) -> None:
    place = prefix.local_data / folder.replace("\\", "/")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(prefix.pythons["3.13"])
    try:
        ended = prefix.run(program())
    finally:
        place.unlink()
    assert (ended.status, ended.errors) == (0, "")
    assert report(ended.output)["python"].endswith(f"{folder}\\python.exe")


WORDS = {
    "plain": ("list", "--json"),
    "spaces": ("two words", " leading", "trailing ", "tab\tin it"),
    "quotes": ('say "hello"', '"', "it's", '\\"', 'a\\\\"b'),
    "backslashes": ("C:\\folder\\", "\\", "\\\\server\\share\\"),
    "empty": ("", "after"),
    "characters of shells": ("%PATH%", "^&|<>!", "$HOME", "*.py"),
    "other scripts": ("Grüße", "日本語", "🙂"),
    "options of Python": ("-c", "-m", "-"),
}


@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS)
def test_arguments_arrive_as_they_are(words: tuple[str, ...], prefix: Prefix, program: Callable[..., Path]) -> None:
    path = program()
    ended = prefix.run(path, *words, path=[windows_path(prefix.pythons["3.13"])])
    assert (ended.status, ended.errors) == (0, "")
    found = report(ended.output)
    assert (found["words"], found["archive"], found["flags"]) == ([*words], windows_path(path), [1, 1])


NAMES = {
    "spaces": "my servers/a server.exe",
    "quotes": "it's/ser'ver.exe",
    "other scripts": "Größe/サーバー.exe",
    "percent and others": "100%/a^b&c/s(1);!.exe",
    "long": "/".join(["a folder with a long name of fifty characters here"] * 6) + "/server.exe",
}


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_the_file_may_be_anywhere(name: str, prefix: Prefix, program: Callable[..., Path]) -> None:
    path = program(name=name)
    ended = prefix.run(path, path=[windows_path(prefix.pythons["3.13"])])
    assert (ended.status, ended.errors) == (0, "")
    found = report(ended.output)
    assert found["data"] == "the archive's data"
    # More than 260 characters need the prefix that says so.
    prefixed = "\\\\?\\" if len(windows_path(path)) >= 260 else ""
    assert found["archive"] == prefixed + windows_path(path)


def test_the_handles_are_those_of_the_client(prefix: Prefix, program: Callable[..., Path]) -> None:
    told = bytes(range(256)) * 4096
    ended = prefix.run(program(), "copy", path=[windows_path(prefix.pythons["3.13"])], told=told)
    assert (ended.status, ended.errors) == (0, "copying")
    assert ended.output == told


@pytest.mark.parametrize("status", [0, 1, 8, 77, 255])
def test_the_exit_status_is_the_servers(status: int, prefix: Prefix, program: Callable[..., Path]) -> None:
    assert prefix.run(program(), "exit", str(status), path=[windows_path(prefix.pythons["3.13"])]).status == status


def test_the_server_ends_with_its_launcher(prefix: Prefix, program: Callable[..., Path]) -> None:
    """Both the server and what it started: nothing is left when a client kills what it knows of."""
    path = program(name="killed/server.exe")
    with prefix.start(path, "wait", path=[windows_path(prefix.pythons["3.13"])]) as process:
        assert process.stdout.readline().strip() == b"waiting"
        assert len(processes_of(path)) == 2, "the server runs in the launcher's own process"
        process.kill()
        process.wait()
        deadline = time.monotonic() + 5 * slack()
        while processes_of(path) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not processes_of(path)


def processes_of(path: Path) -> list[str]:
    """Return the command lines of running processes that name a file."""
    found = []
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = command.read_bytes().replace(b"\\", b"/")
        except OSError:
            continue
        if str(path).encode() in words:
            found.append(words.decode(errors="replace"))
    return found


DAMAGED = {
    "cut off": lambda data: data[:-100],
    "the launcher alone": lambda data: data[: data.rindex(b"MCPCEXE1")],
    "half of the record": lambda data: data[: data.rindex(b"MCPCEXE1") + 40],
}


@pytest.mark.parametrize("damage", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_file_says_so(damage: Callable[[bytes], bytes], prefix: Prefix, program: Callable[..., Path]) -> None:
    path = program()
    path.write_bytes(damage(path.read_bytes()))
    ended = prefix.run(path, path=[windows_path(prefix.pythons["3.13"])])
    assert (ended.status, ended.output) == (8, b"")
    assert ended.errors == f"{windows_path(path)} is damaged or incomplete: copy or download it again\n"


def test_a_signature_may_follow_the_archive(prefix: Prefix, program: Callable[..., Path]) -> None:
    path = program(more=bytes(5000))
    ended = prefix.run(path, path=[windows_path(prefix.pythons["3.13"])])
    assert (ended.status, report(ended.output)["data"]) == (0, "the archive's data")
