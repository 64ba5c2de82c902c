"""`mcpc build --compact`: less than half the size, the same start, and the same answers."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from mcpc.pack.archive import sha256_hex
from mcpc.release.trust.contents import take_apart
from mcpc_runtime import BYTECODE, OTHER_PYTHONS, SOURCES
from support.artifact import build, contents
from support.interpreters import interpreters
from support.needs import ROOT, needs
from support.processes import run_program

MOST_BYTES = 550_000
PROJECT = ROOT / "examples/files"
CALL = ("call", "file_size", f"path={ROOT / 'LICENSE'}")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The same project as a compact file, and as an ordinary one."""
    needs("bash", "jq")
    folder = tmp_path_factory.mktemp("compact")
    return build(PROJECT, folder / "compact.pyz", "--compact"), build(PROJECT, folder / "plain.pyz")


def test_it_has_the_same_code_in_less_than_half_the_bytes(files: tuple[Path, Path]) -> None:
    compact, plain = files
    assert compact.stat().st_size < MOST_BYTES
    assert compact.stat().st_size < 0.45 * plain.stat().st_size
    one, other = ({name: sha256_hex(data) for name, data in contents(path).items()} for path in files)
    assert one.keys() == other.keys()
    differing = {name for name in one if one[name] != other[name] and not name.startswith("META-INF/")}
    ours = {name for name in one if name.endswith(".py") and not name.startswith("handlers/")}
    assert differing <= ours | {BYTECODE, OTHER_PYTHONS, SOURCES, "__main__.pyc", "mcpc_runtime/__init__.pyc"}
    assert take_apart(compact.read_bytes()).facts["options"] == {"compact": True}
    with zipfile.ZipFile(compact) as archive:
        assert archive.getinfo("__main__.pyc").compress_type == zipfile.ZIP_STORED
        assert archive.getinfo(BYTECODE).compress_type == zipfile.ZIP_DEFLATED


def test_a_module_of_the_start_path_is_found_by_a_process_that_has_not_its_bundle(files: tuple[Path, Path]) -> None:
    program = "import mcpc_runtime.protocol.session as found; print(found.Session.__name__, found.__file__)"
    done = run_program(
        [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(files[0])!r}); {program}"], check=True
    )
    assert done.stdout == f"Session {files[0]}/mcpc_runtime/protocol/session.py\n"


@pytest.mark.parametrize("version", sorted(interpreters()))
def test_every_python_calls_its_tools(version: str, files: tuple[Path, Path]) -> None:
    compact, plain = files
    answers = [
        subprocess.run([interpreters()[version], path, *CALL], capture_output=True, text=True, timeout=120, check=True)
        for path in (compact, plain)
    ]
    assert answers[0].stdout == answers[1].stdout
    assert answers[0].stderr == answers[1].stderr
