"""The author's files on disk: where, with which rights, verified, and gone with the server."""

import hashlib
import marshal
import os
import posix
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from types import SimpleNamespace

import pytest

from mcpc.pack.archive import ArchiveEntry, build_archive
from mcpc_runtime.artifact import extraction as unpacking
from mcpc_runtime.artifact.extraction import ExtractionError, extracted_folder
from mcpc_runtime.transports.platforms.processes import TEMPORARY_FOLDERS, remove_tree
from mcpc_runtime.transports.platforms.reactor import Reactor
from mcpc_runtime.transports.platforms.supervisor import Supervisor

FILES = {
    "tool": (b"#!/bin/sh\necho ran\n", True),
    "lib/inner/data.txt": ("ä\n".encode() * 100_000, False),
    "lib/inner/odd\\name\n": (b"", False),
    "tools.bash": (b"x", False),
}


def image(files=None, archive: str = "/server.pyz", changed: str = "") -> SimpleNamespace:
    files = FILES if files is None else files
    entries = {f"handlers/{path}": data for path, (data, _) in files.items()}
    lines = []
    for name, data in sorted(entries.items()):
        escaped = name.replace("\\", "\\\\").replace("\n", "\\n")
        lines.append(f"{'' if escaped == name else chr(92)}{hashlib.sha256(data).hexdigest()}  {escaped}\n")
    entries["META-INF/manifest.sha256"] = "".join(lines).encode()
    if changed:
        entries[f"handlers/{changed}"] += b"!"
    index = {"unpack": tuple((path, executable) for path, (_, executable) in files.items())}
    return SimpleNamespace(hooks=lambda name: (), archive=archive, index=index, entry=entries.__getitem__)


@pytest.fixture(autouse=True)
def places(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(unpacking, "extracted", {})
    TEMPORARY_FOLDERS.clear()
    (tmp_path / "session").mkdir(mode=0o700)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setitem(posix.environ, b"XDG_RUNTIME_DIR", os.fsencode(tmp_path / "session"))
    monkeypatch.setitem(posix.environ, b"TMPDIR", os.fsencode(tmp_path / "temporary"))
    yield
    for each in TEMPORARY_FOLDERS:
        remove_tree(each)
    TEMPORARY_FOLDERS.clear()


@pytest.mark.parametrize("umask", [0, 0o022, 0o777])
def test_files_lie_as_they_lay_for_us_alone(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        found = Path(extracted_folder(image()))
    finally:
        os.umask(before)
    assert found.parent == tmp_path / "session"
    for path, (data, executable) in FILES.items():
        assert (found / path).read_bytes() == data
        assert (found / path).stat().st_mode & 0o777 == (0o700 if executable else 0o600)
    assert {each.stat().st_mode & 0o777 for each in (found, found / "lib", found / "lib/inner")} == {0o700}
    assert subprocess.check_output([found / "tool"]) == b"ran\n"


def test_once_for_each_server(tmp_path: Path) -> None:
    first = extracted_folder(image())
    assert extracted_folder(image()) == first
    other = extracted_folder(image(archive="/other.pyz"))
    assert other != first
    assert [first, other] == TEMPORARY_FOLDERS
    remove_tree(first)
    again = extracted_folder(image())
    assert again not in (first, other)
    assert Path(again, "tool").exists()


def test_many_threads_at_once_get_one_folder() -> None:
    together = Barrier(30)

    def begin(_: int) -> str:
        together.wait(30)
        return extracted_folder(image())

    with ThreadPoolExecutor(30) as threads:
        folders = {*threads.map(begin, range(30))}
    assert [*folders] == TEMPORARY_FOLDERS


def test_nothing_to_unpack_is_an_empty_folder() -> None:
    assert os.listdir(extracted_folder(image({}))) == []
    without = image({}, "/without.pyz")
    del without.index["unpack"]
    assert os.listdir(extracted_folder(without)) == []


@pytest.mark.parametrize("path", ["", "/etc/x", "../x", "a/../../x", "a//b", "./a", "a/", "a\0b", ".."])
def test_a_path_that_leads_elsewhere_is_refused(path: str, tmp_path: Path) -> None:
    with pytest.raises(ExtractionError, match="not a path below"):
        extracted_folder(image({"good": (b"", False), path: (b"", False)}))
    assert not list(tmp_path.glob("*/*"))


def test_what_was_changed_is_refused_and_nothing_stays(tmp_path: Path) -> None:
    with pytest.raises(ExtractionError, match=r"handlers/tools.bash has a wrong checksum"):
        extracted_folder(image(changed="tools.bash"))
    lacking = image()
    lacking.index["unpack"] += (("lacking", False),)
    with pytest.raises(KeyError):
        extracted_folder(lacking)
    assert not list(tmp_path.glob("*/*"))


def test_where_nothing_may_be_run_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = posix.statvfs

    def statvfs(place: str):
        return SimpleNamespace(f_flag=posix.ST_NOEXEC) if "session" in place else real(place)

    monkeypatch.setattr(unpacking.system, "statvfs", statvfs)
    assert Path(extracted_folder(image())).parent == tmp_path / "temporary"
    monkeypatch.setattr(unpacking.system, "statvfs", lambda _: SimpleNamespace(f_flag=posix.ST_NOEXEC))
    with pytest.raises(ExtractionError, match="its file system is mounted with noexec"):
        extracted_folder(image(archive="/other.pyz"))


def test_a_place_without_room_is_left_and_the_next_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = posix.write
    writes = []

    def write(file: int, data) -> int:
        writes.append(file)
        if len(writes) == 2:
            raise OSError(28, "No space left on device")
        return real(file, data[:100_000])

    monkeypatch.setattr(unpacking.system, "write", write)
    found = Path(extracted_folder(image()))
    assert found.parent == tmp_path / "temporary"
    assert (found / "lib/inner/data.txt").read_bytes() == FILES["lib/inner/data.txt"][0]
    assert not list((tmp_path / "session").iterdir())


def test_closing_removes_it_with_what_handlers_put_there() -> None:
    found = Path(extracted_folder(image()))
    (found / "lib/__pycache__").mkdir()
    (found / "lib/__pycache__/x.pyc").write_text("")
    Supervisor(Reactor()).close()
    assert not found.exists()
    assert TEMPORARY_FOLDERS == []


def as_one_entry(changed: bytes = b"", lacking: str = "") -> SimpleNamespace:
    """An image whose files lie in an archive of their own, as the compiler packs them."""
    packed = build_archive([ArchiveEntry(path, data) for path, (data, _) in FILES.items()], "")
    table = marshal.dumps(
        tuple((path, runs) for path, (_, runs) in FILES.items()) + ((lacking, False),) * bool(lacking)
    )
    lines = f"{hashlib.sha256(packed).hexdigest()}  handlers.zip\n".encode()
    entries = {"handlers.zip": packed + changed, "META-INF/manifest.sha256": lines}
    read = {(7, len(table)): table}
    return SimpleNamespace(
        archive="/server.pyz",
        index={"folded": (7, len(table))},
        entry=entries.__getitem__,
        read=lambda *place: read[place],
    )


def test_files_that_lie_in_one_entry():
    """Odd names, an empty file, and one that runs, as if each were an entry by itself."""
    found = Path(extracted_folder(as_one_entry()))
    for path, (data, runs) in FILES.items():
        assert (found / path).read_bytes() == data
        assert bool((found / path).stat().st_mode & 0o100) is runs
    assert sum(file.is_file() for file in found.rglob("*")) == len(FILES)


def test_one_entry_that_is_not_what_was_built():
    with pytest.raises(ExtractionError, match=r"handlers\.zip has a wrong checksum"):
        extracted_folder(as_one_entry(changed=b"!"))


def test_a_file_that_is_not_in_the_one_entry():
    with pytest.raises(ExtractionError, match=r"elsewhere is not in handlers\.zip"):
        extracted_folder(as_one_entry(lacking="elsewhere"))
    assert not any(Path(place).exists() for place in TEMPORARY_FOLDERS)
