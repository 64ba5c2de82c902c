"""`mcpc generate models`: the file it writes, when it refuses, and what it never does to a file that is there."""

import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from mcpc.languages import MODELS_LINE
from support.artifact import mcpc
from support.needs import ROOT

TOOL = {
    "name": "file_read",
    "description": "Read.",
    "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    "outputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
}
CLIENT = """
from models import FileReadInput, FileReadOutput


def ask(path: str) -> dict[str, object]:
    return FileReadInput(path=path).model_dump(mode="json", by_alias=True, exclude_unset=True)


def answer(value: object) -> str:
    return FileReadOutput.model_validate(value).text
"""
WRONG_CLIENT = "from models import FileReadInput\nprint(FileReadInput(path=3))\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "server.json").write_text('{"serverInfo": {"name": "typed", "version": "1.0.0"}}')
    (folder / "tools.json").write_text(json.dumps({"tools": [TOOL]}))
    (folder / "tools.py").write_text(
        "from models import FileReadInput, FileReadOutput\n"
        "def file_read(args: FileReadInput) -> FileReadOutput:\n    return FileReadOutput(text=args.path)\n"
    )
    return folder


def models(project: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    return mcpc("generate", "models", project, *words, environment={"MCPC_CACHE_DIR": str(project.parent / "cache")})


def typed(folder: Path, client: str) -> subprocess.CompletedProcess[str]:
    (folder / "client.py").write_text(client)
    argv = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(ROOT / ".cache/mypy-clients"), "client.py"]
    return subprocess.run(argv, capture_output=True, text=True, cwd=folder, check=False)


@pytest.mark.slow
def test_a_file_for_type_checkers(project: Path) -> None:
    target = project / "models.py"
    done = models(project, "-o", target)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    text = target.read_text()
    assert text.splitlines()[0] == MODELS_LINE
    assert stat.S_IMODE(target.stat().st_mode) & 0o600 == 0o600
    assert typed(project, CLIENT).returncode == 0
    assert 'incompatible type "int"; expected "str"' in typed(project, WRONG_CLIENT).stdout
    assert models(project).stdout == text
    assert models(project, "-o", target).returncode == 0
    assert target.read_text() == text
    assert sorted(path.name for path in project.iterdir() if path.name.startswith(".mcpc")) == []
