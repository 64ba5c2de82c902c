"""The compiler's cache: for one user alone, and not believed where somebody else could have written."""

from __future__ import annotations

import hashlib
import os
import stat
import zipfile
from io import BytesIO
from typing import TYPE_CHECKING

import pytest

from mcpc import cache, cache_dir
from support.artifact import mcpc
from support.projects import SMOKETEST

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture(autouse=True)
def forget() -> None:
    cache_dir.trusted_folder.cache_clear()


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MCPC_CACHE_DIR", str(tmp_path / "a/b/mcpc"))
    return tmp_path / "a/b/mcpc"


@pytest.mark.parametrize("umask", [0, 0o002, 0o022])
def test_every_folder_is_for_its_user_alone(root: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        cache_dir.store_entry("builds", "name", b"data")
    finally:
        os.umask(before)
    made = (root.parent.parent, root.parent, root, root / "builds")
    assert [stat.S_IMODE(path.stat().st_mode) for path in made] == [0o700] * 4
    assert cache_dir.load_entry("builds", "name") == b"data"


def linked(root: Path) -> None:
    root.rename(root.parent / "elsewhere")
    root.symlink_to("elsewhere")


def given_away(path: Path) -> None:
    os.chown(path, 65534, -1)


UNSAFE: dict[str, Callable[[Path], object]] = {
    "the folder, for a group": lambda root: root.chmod(0o770),
    "the folder, for all": lambda root: root.chmod(0o707),
    "the folder is a symlink": linked,
    "a folder above": lambda root: root.parent.chmod(0o777),
    "a kind": lambda root: (root / "builds").chmod(0o777),
    "an entry": lambda root: (root / "builds/name").chmod(0o666),
    "the folder is another's": lambda root: given_away(root),
    "a folder above is another's": lambda root: given_away(root.parent),
    "an entry is another's": lambda root: given_away(root / "builds/name"),
}


@pytest.mark.parametrize("name", UNSAFE)
def test_what_somebody_else_could_have_written_is_not_believed(
    root: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if "another's" in name and os.geteuid() != 0:
        pytest.skip("only root can give a folder away")
    cache_dir.store_entry("builds", "name", b"data")
    cache_dir.trusted_folder.cache_clear()
    UNSAFE[name](root)
    assert cache_dir.load_entry("builds", "name") is None
    cache_dir.store_entry("packages", "other", b"data")
    assert cache_dir.load_entry("packages", "other") == b"data", "another folder is used for this process"
    told = capsys.readouterr().err.splitlines()
    assert len(told) == (1 if "folder" in name else 0)
    assert all("is not trusted" in line and "MCPC_CACHE_DIR" in line for line in told)


def test_an_entry_that_is_a_symlink_is_not_believed(root: Path, tmp_path: Path) -> None:
    cache_dir.store_entry("builds", "name", b"data")
    (root / "builds/name").rename(tmp_path / "moved")
    (root / "builds/name").symlink_to(tmp_path / "moved")
    assert cache_dir.load_entry("builds", "name") is None


def changed(data: bytes) -> bytes:
    """Return an archive with another handler, and everything else as it was."""
    target = BytesIO()
    with zipfile.ZipFile(BytesIO(data)) as packed, zipfile.ZipFile(target, "w") as made:
        for name in packed.namelist():
            made.writestr(name, b"tool_smoketest() { echo evil; }\n" if name.endswith(".bash") else packed.read(name))
    return target.getvalue()


def test_a_kept_archive_is_held_against_its_manifest(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    for name, text in SMOKETEST.items():
        (tmp_path / "project" / name).write_text(str(text))
    environment = {"MCPC_CACHE_DIR": str(tmp_path / "mcpc")}
    first = tmp_path / "first.pyz"
    assert mcpc("build", tmp_path / "project", "-o", first, environment=environment).returncode == 0
    (entry,) = (tmp_path / "mcpc/builds").iterdir()
    _, head, data = entry.read_bytes().split(b"\n", 2)
    evil = head + b"\n" + changed(data)
    entry.write_bytes(hashlib.sha256(evil).hexdigest().encode() + b"\n" + evil)
    second = tmp_path / "second.pyz"
    assert mcpc("build", tmp_path / "project", "-o", second, environment=environment).returncode == 0
    assert second.read_bytes() == first.read_bytes()


def test_a_kept_archive_that_is_as_built_is_taken() -> None:
    empty = cache.CachedBuild(b"", "", "", "", 0, 0, 0, ())
    assert not cache.is_as_built(empty)
