"""`mcpc release` writes the same every time, or nothing."""

import hashlib
import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from mcpc.cli import cli
from support.needs import ROOT

PYPROJECT = """[project]
name = "files"
version = "1.0.0"
description = "Sizes and checksums of files"
authors = [{name = "A. Author"}]
license = "MIT"

[tool.mcpc.registry]
name = "io.github.author/files"
mcpb = ["https://github.com/author/files/releases/download/v{version}/files.mcpb"]

[tool.mcpc.release]
files = ["pyz", "exe", "bundle", "plugin", "registry", "sbom", "provenance"]
options = ["--from", "native"]
"""
RELEASED = {
    *("files.pyz", "files.exe", "files.mcpb", "files-plugin.zip", "server.json", "files.cdx.json"),
    *("files.provenance.json", "SHA256SUMS", ".gitignore"),
}


def mcpc(*words: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mcpc", *map(str, words)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the project `files` and its release in `dist`."""
    folder = tmp_path_factory.mktemp("release")
    shutil.copytree(ROOT / "examples/files", folder / "files")
    (folder / "files/pyproject.toml").write_text(PYPROJECT)
    done = mcpc("release", "files", folder=folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_everything_that_is_declared_is_written_with_its_checksum(home: Path) -> None:
    dist = home / "dist"
    assert {path.name for path in dist.iterdir()} == RELEASED
    sums = dict(reversed(line.split("  ")) for line in (dist / "SHA256SUMS").read_text().splitlines())
    assert set(sums) == RELEASED - {"SHA256SUMS", ".gitignore"}
    assert sums == {name: hashlib.sha256((dist / name).read_bytes()).hexdigest() for name in sums}
    entry = json.loads((dist / "server.json").read_text())
    assert [package["fileSha256"] for package in entry["packages"]] == [sums["files.mcpb"]]
    assert (
        json.loads((dist / "files.provenance.json").read_text())["subject"][0]["digest"]["sha256"] == sums["files.pyz"]
    )
    with zipfile.ZipFile(dist / "files-plugin.zip") as plugin:
        assert "files/plugin.json" in plugin.namelist()
    listed = subprocess.run([dist / "files.pyz", "list"], capture_output=True, text=True, check=True).stdout
    assert "file_size" in listed


def test_the_same_sources_make_the_same_release_in_their_own_folder_too(home: Path) -> None:
    first = (home / "dist/SHA256SUMS").read_bytes()
    for _ in range(2):  # the second one finds the first one's files in the project
        assert mcpc("release", ".", folder=home / "files").returncode == 0
        assert (home / "files/dist/SHA256SUMS").read_bytes() == first
    shutil.rmtree(home / "files/dist")


WRONG = {
    "unknown product": ('files = ["pyz", "deb"]', "`deb` is not one of the words of `files`", 1),
    "unknown key": ('file = ["pyz"]', "unknown key `file`", 1),
    "not a list": ('files = "pyz"', "`files` is not a list of strings", 1),
    "registry alone": ('files = ["registry"]', "`registry` needs another file of the release", 1),
    "image alone": ('files = ["image"]', "`image` needs another file of the release", 1),
    "unknown option": ('options = ["--htp"]', "`options` of `[tool.mcpc.release]`: No such option", 2),
    "unknown target": ('self-contained = ["beos"]', "`beos` is not one of the words of `self-contained`", 1),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_told_and_nothing_is_written(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line, message, status = WRONG[case]
    shutil.copytree(ROOT / "examples/files", tmp_path / "files")
    (tmp_path / "files/pyproject.toml").write_text(f"[tool.mcpc.release]\n{line}\n")
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(cli, ["release", "files"])
    assert (done.exit_code, message in done.output) == (status, True), done.output
    assert not (tmp_path / "dist").exists()
