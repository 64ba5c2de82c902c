"""The start of a built file before it gets its name: what counts as an answer, and what is said of anything else."""

import json
import sys
import zipfile
from pathlib import Path

import pytest

from mcpc.pack import prologue
from mcpc.pack.prologue import REQUESTS, START_ALONE, START_BY_PYTHON, SmokeError, is_result, start_of

ECHO = "print(json.dumps({'id': json.loads(line)['id'], 'result': {}}))"


def server(folder: Path, each: str, after: str = "") -> Path:
    """Write a file that runs a statement for each line of its input, and another one at its end."""
    path = folder / "server.py"
    path.write_text(f"import json, os, sys\nfor number, line in enumerate(sys.stdin):\n    {each}\n{after}\n")
    return path


def run(path: Path) -> str:
    """Return why a file is not kept; nothing if it answers."""
    try:
        prologue.smoke(path, (sys.executable, "-I"))
    except SmokeError as problem:
        return str(problem)
    return ""


def test_a_file_is_asked_three_times_and_finds_only_what_it_needs(tmp_path: Path) -> None:
    note = f"open({str(tmp_path / 'asked')!r}, 'a').write(line)"
    state = f"json.dump([os.getcwd(), os.listdir(), sorted(os.environ)], open({str(tmp_path / 'state')!r}, 'w'))"
    assert run(server(tmp_path, f"{note}; {ECHO}", state)) == ""
    asked = [json.loads(line) for line in (tmp_path / "asked").read_text().splitlines()]
    assert [(message["jsonrpc"], message["id"], message["method"], message["params"]) for message in asked] == [
        ("2.0", number, method, params) for number, (method, params) in enumerate(REQUESTS)
    ]
    folder, files, variables = json.loads((tmp_path / "state").read_text())
    assert folder != str(tmp_path)
    assert files == []
    assert set(variables) - {"LC_CTYPE", "__CF_USER_TEXT_ENCODING"} == {"PATH"}


FAULTS = {
    "says nothing": ("pass", "", "exit status 0 after 0 answers; output: nothing"),
    "answers too little": (f"number and {ECHO}", "", "exit status 0 after 2 answers; output: nothing"),
    "ends with an error": (ECHO, "sys.exit('no ')", "exit status 1 after 3 answers; output: no"),
    "answers with an error": ("print('{\"error\": %d}' % number)", "", 'unexpected answer to initialize: {"error": 0}'),
    "answers with anything": (f"{ECHO} if number < 2 else print('x')", "", "unexpected answer to ping: x"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_file_that_does_not_answer_is_not_kept(name: str, tmp_path: Path) -> None:
    each, after, expected = FAULTS[name]
    assert run(server(tmp_path, each, after)) == expected


def test_a_file_that_never_answers_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prologue, "SECONDS", 0.2)
    assert run(server(tmp_path, "import time; time.sleep(60)")) == "no answer in 0.2 seconds"


def test_a_file_that_brings_its_python_unpacks_it_where_it_is_removed(tmp_path: Path) -> None:
    path = server(tmp_path, ECHO, f"open({str(tmp_path / 'cache')!r}, 'w').write(os.environ['MCPC_RUNTIME_CACHE'])")
    path.write_text(f"#!{sys.executable}\n{path.read_text()}")
    path.chmod(0o755)
    prologue.smoke(path, ())
    assert (tmp_path / "cache").read_text() == "unpacked"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b'{"result": null}', True),
        (b'{"error": {}}', False),
        (b'["result"]', False),
        (b'"result"', False),
        (b"", False),
        (b"{", False),
    ],
)
def test_what_is_an_answer(line: bytes, expected: bool) -> None:
    assert is_result(line) is expected


@pytest.mark.parametrize(("name", "start"), [("__main__.pyc", START_BY_PYTHON), ("__main__.py", START_ALONE)])
def test_how_a_built_file_starts(name: str, start: tuple[str, ...], tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a", "w") as archive:
        archive.writestr(name, b"")
    assert start_of(tmp_path / "a") == start
