"""The cache folder of native packages as Windows has it: by path, named by its digest, never changed in place."""

import hashlib
from pathlib import Path

import pytest

from mcpc_runtime.artifact.packages import profile_folders
from mcpc_runtime.artifact.packages.folders import CACHE_VARIABLE, digest_name
from mcpc_runtime.transports.platforms.files import UnusableFolderError

CONTENT = {"nat/_n.pyd": b"one", "nat.libs/a.dll": b"two", "top.pyd": b"three"}
FILES = {name: hashlib.sha256(data).hexdigest() for name, data in CONTENT.items()}


@pytest.fixture
def root(tmp_path: Path) -> str:
    return profile_folders.make_trusted_folder(str(tmp_path / "profile"), ("mcpc", "native"))


def contents(folder: str) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}


def test_files_are_written_once_and_verified_again(root: str) -> None:
    reads: list[str] = []

    def read(name: str) -> bytes:
        reads.append(name)
        return CONTENT[name]

    path = profile_folders.extract_folder(root, FILES, read)
    assert contents(path) == CONTENT
    assert Path(path).name == digest_name(FILES)
    assert profile_folders.extract_folder(root, FILES, read) == path
    assert sorted(reads) == sorted(CONTENT)
    assert [each.name for each in Path(root).iterdir()] == [digest_name(FILES)]


@pytest.mark.parametrize("damage", ["changed", "missing", "a file in its place", "a link in its place"])
def test_a_damaged_folder_is_replaced(damage: str, root: str, tmp_path: Path) -> None:
    path = Path(profile_folders.extract_folder(root, FILES, CONTENT.__getitem__))
    if damage == "changed":
        (path / "top.pyd").write_bytes(b"other")
    elif damage == "missing":
        (path / "nat/_n.pyd").unlink()
    else:
        path.rename(tmp_path / "away")
        if damage.startswith("a file"):
            path.write_text("file")
        else:
            (tmp_path / "away/top.pyd").write_bytes(b"other")
            path.symlink_to(tmp_path / "away")
    assert contents(profile_folders.extract_folder(root, FILES, CONTENT.__getitem__)) == CONTENT
    assert not path.is_symlink()
    assert [each.name for each in Path(root).iterdir()] == [digest_name(FILES)]


def test_a_folder_that_is_in_use_and_damaged_is_refused(root: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows renames no folder from which a module is loaded."""
    path = Path(profile_folders.extract_folder(root, FILES, CONTENT.__getitem__))
    (path / "top.pyd").write_bytes(b"other")

    def refuse(source: str, target: str) -> None:
        raise PermissionError(13, "Access is denied", source)

    monkeypatch.setattr(profile_folders.os, "rename", refuse)
    monkeypatch.setattr(profile_folders, "PAUSE_SECONDS", 0)
    with pytest.raises(UnusableFolderError, match="does not keep what is written to it"):
        profile_folders.extract_folder(root, FILES, CONTENT.__getitem__)
    assert [each.name for each in Path(root).iterdir()] == [digest_name(FILES)]


def test_the_folders_are_those_of_the_profile(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(CACHE_VARIABLE, raising=False)
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    monkeypatch.setenv("TEMP", "relative")
    assert [*profile_folders.cache_roots()] == [(str(tmp_path), ("mcpc", "native"))]
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "own/cache"))
    assert [*profile_folders.cache_roots()] == [(str(tmp_path / "own"), ("cache",))]
    (tmp_path / "file").write_text("")
    with pytest.raises(UnusableFolderError):
        profile_folders.make_trusted_folder(str(tmp_path / "file"), ("x",))
