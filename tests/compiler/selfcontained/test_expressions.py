"""Each module of self-contained files: what its functions return (`*.txt`)."""

import ast
import io
import json
import marshal
import struct
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from mcpc.interpreters import selfcontained
from mcpc.interpreters.launchers import archive_offsets, windows_file, windows_interpreter
from mcpc.interpreters.selfcontained import (
    embeddable_library,
    executable,
    import_closure,
    interpreter_components,
    library,
    licences,
    linux,
    program_format,
    relocatable,
    relocatable_file,
    server_archive,
    shared_objects,
)
from mcpc.interpreters.selfcontained.request import EmbeddingRequest
from mcpc.pack.archive import ArchiveEntry, build_archive
from support.expressions import Display, check_expressions
from support.needs import ROOT

GOLDEN = ROOT / "tests/golden/selfcontained"
MODULES = [
    *(archive_offsets, embeddable_library, executable, import_closure, interpreter_components, library, licences),
    *(linux, program_format, relocatable, relocatable_file, server_archive, shared_objects),
    *(windows_file, windows_interpreter),
]


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


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__.rpartition(".")[2])
def test_values(
    golden: Callable[[Path, str], None], module: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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
        monkeypatch.setattr(licences, "INSTALLED", written({"status": text.encode()}) / "status")
        monkeypatch.setattr(licences, "DOCUMENTATION", tmp_path / "documentation")

    names = {each.__name__: each for each in (elf, mach_o, packed, shared, written, shown, installed, asdict, Path)}
    names |= {"ast": ast, "io": io, "json": json, "marshal": marshal, "tarfile": tarfile, "zipfile": zipfile}
    check_expressions(
        golden,
        GOLDEN / f"{module.__name__.rpartition('.')[2]}.txt",
        module,
        **names,
        EmbeddingRequest=EmbeddingRequest,
        Named=SimpleNamespace,
        parts=relocatable,
        licences=licences,
        components=interpreter_components,
        objects=shared_objects,
    )


def test_a_file_is_made_by_the_row_of_its_target(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(selfcontained.TARGETS, "known", lambda request: f"file for {request.target}".encode())
    request: Any = SimpleNamespace(target="known")
    assert selfcontained.embed_server(request) == b"file for known"
    with pytest.raises(selfcontained.CannotEmbedError):
        selfcontained.embed_server(SimpleNamespace(target="unknown"))  # type: ignore[arg-type]
