"""`mcpc build --compact`: half the size, the same content, the same start, and the same answers."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

import pytest

from mcpc.pack.archive import sha256_hex
from mcpc.trust.contents import take_apart
from mcpc_runtime import BYTECODE
from support.artifact import build, contents
from support.interpreters import interpreters
from support.needs import ROOT, needs

if TYPE_CHECKING:
    from pathlib import Path

MOST_BYTES = 630_000
PROJECT = ROOT / "examples/files"
CALL = ("call", "file_size", f"path={ROOT / 'LICENSE'}")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The same project as a compact file, and as an ordinary one."""
    needs("bash", "jq")
    folder = tmp_path_factory.mktemp("compact")
    return build(PROJECT, folder / "compact.pyz", "--compact"), build(PROJECT, folder / "plain.pyz")


def test_it_has_the_same_content_in_half_the_bytes(files: tuple[Path, Path]) -> None:
    compact, plain = files
    assert compact.stat().st_size < MOST_BYTES
    assert compact.stat().st_size < 0.55 * plain.stat().st_size
    of_facts = ("META-INF/build.json", "META-INF/manifest.sha256")
    one, other = (
        {name: sha256_hex(data) for name, data in contents(path).items() if name not in of_facts} for path in files
    )
    assert one == other
    assert take_apart(compact.read_bytes()).facts["options"] == {"compact": True}
    with zipfile.ZipFile(compact) as archive:
        assert archive.getinfo("__main__.pyc").compress_type == zipfile.ZIP_STORED
        assert archive.getinfo(BYTECODE).compress_type == zipfile.ZIP_DEFLATED


@pytest.mark.parametrize("version", sorted(interpreters()))
def test_every_python_calls_its_tools(version: str, files: tuple[Path, Path]) -> None:
    compact, plain = files
    answers = [
        subprocess.run([interpreters()[version], path, *CALL], capture_output=True, text=True, timeout=120, check=True)
        for path in (compact, plain)
    ]
    assert answers[0].stdout == answers[1].stdout
    assert answers[0].stderr == answers[1].stderr


def test_it_checks_itself(files: tuple[Path, Path]) -> None:
    argv = [sys.executable, files[0], "check", "--json"]
    assert json.loads(subprocess.run(argv, capture_output=True, timeout=120, check=True).stdout)["ok"] is True
