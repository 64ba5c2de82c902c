"""Ranges of an entry are read in place, and no byte outside of it; an archive that was written to is not imported from."""

import os
import zipfile
import zipimport
from pathlib import Path
from zipimport import zipimporter

import pytest

from mcpc_runtime.transports.platforms import artifact_file
from mcpc_runtime.transports.platforms.artifact_file import entry_reader, file_state


def test_a_range_ends_with_its_entry(tmp_path: Path) -> None:
    path = str(tmp_path / "server.pyz")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a/entry", b"0123456789")
        archive.writestr("next", b"secret")
    descriptor = os.open(path, os.O_RDONLY)
    try:
        read = entry_reader(descriptor, file_state(descriptor), zipimporter(path), "a/entry")
        assert [read(0, 10), read(9, 1), read(10, 0)] == [b"0123456789", b"9", b""]
        for offset, length in ((0, 11), (10, 1), (11, 0), (-1, 1), (5, -1)):
            with pytest.raises(ImportError, match="outside of its entry a/entry"):
                read(offset, length)
    finally:
        os.close(descriptor)


def test_an_archive_that_was_written_to_is_not_imported_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zipimport, "_get_data", zipimport._get_data)  # type: ignore[attr-defined]
    monkeypatch.setattr(artifact_file, "watched", {})
    path = tmp_path / "server.pyz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("entry", b"served")
    importer = zipimporter(str(path))
    artifact_file.watch_archive(str(path))
    assert importer.get_data(f"{path}/entry") == b"served"
    path.write_bytes(path.read_bytes() + b"more")
    with pytest.raises(artifact_file.FileChangedError):
        importer.get_data(f"{path}/entry")
