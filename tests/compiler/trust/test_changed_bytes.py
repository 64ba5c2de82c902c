"""A built file with any byte changed, and all its sums corrected, is never what its project builds.

TESTS_CHANGES=20000 tries so many of each kind of file: 140,000, in half an hour.
"""

import io
import os
import random
import shutil
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mcpc.cli.build import windows_program
from mcpc.interpreters.selfcontained import CannotEmbedError, EmbeddingRequest, embed_server, this_machine
from mcpc.options import Options
from mcpc.release.trust.comparison import EQUIVALENT, IDENTICAL, CauseFinder, compare_contents, verdict
from mcpc.release.trust.contents import ArtifactContents, UnreadableArtifactError, place_of_nested, take_apart
from support import wheels
from support.artifact import build
from support.needs import lacking
from support.scale import scaled, seeds

TOOLS = """from pure import value
from mcpc import Server, tool

mcp = Server("changed", version="1")


@tool
def use() -> int:
    return value
"""
KINDS = {
    "packages": (),
    "HTTP": ("--http",),
    "compact": ("--compact",),
    "two Pythons": ("--python", "3.11,3.12"),
    "machine code for others": ("--platform", "manylinux2014_x86_64", "--platform", "manylinux2014_aarch64"),
    "Windows": (),
    "self-contained": (),
}
PROGRAMS: dict[str, Callable[[bytes], bytes]] = {
    "Windows": lambda data: windows_program(data, Options()),
    "self-contained": lambda data: embed_server(EmbeddingRequest(data, this_machine(), None, minimal=True)),
}
"""What makes a program of a built file."""
CHANGES = int(os.environ.get("TESTS_CHANGES") or scaled(2_000, 200))
"""How many changes of each kind of file are tried."""
ROW = b"PK\1\2"
CRC_IN_LOCAL, CRC_IN_ROW = 14, 16
"""Where a header and a row of the directory have the checksum, which both lengths follow."""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("changed") / "project"
    folder.mkdir()
    # Of files that are not modules some are deflated, and some are extracted.
    files = {"pure/__init__.py": "value = 1\n" * 50, "pure/more.py": "", "pure/data.txt": "some text " * 100}
    wheel = wheels.wheel(folder, "pure", "1.0", files)
    (folder / "tools.py").write_text(TOOLS)
    (folder / "requirements.txt").write_text(f"pure @ ./{wheel.name}\n")
    return folder


@pytest.fixture(scope="module")
def native(project: Path) -> Path:
    """The same with a package that has machine code for two machines."""
    folder = shutil.copytree(project, project.with_name("native"))
    for arch in ("x86_64", "aarch64"):
        files = {"nat/__init__.py": "", f"nat/lib{arch}.so": f"native {arch} " * 99}
        wheels.wheel(folder.parent / "shop", "nat", "1.0", files, tag=f"py3-none-manylinux2014_{arch}")
    with (folder / "requirements.txt").open("a") as file:
        file.write("nat==1.0\n")
    return folder


@pytest.mark.slow
@pytest.mark.timeout(CHANGES)  # a second for each
@pytest.mark.parametrize("kind", KINDS)
def test_a_file_with_a_changed_byte_is_another_file(
    kind: str, project: Path, native: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ArtifactContents, "altered_entries", lambda self: ())  # as if the manifest had been corrected
    wheels.only(native.with_name("shop"), monkeypatch)
    chosen = native if "--platform" in KINDS[kind] else project
    data = build(chosen, tmp_path / "server.pyz", *KINDS[kind]).read_bytes()
    try:
        data = PROGRAMS.get(kind, bytes)(data)
    except CannotEmbedError as problem:
        lacking(f"{problem} ({problem.diagnostic.hint})")
    rebuilt = take_apart(data)
    assert rebuilt.is_exact
    for seed in seeds(CHANGES // 2):
        for place, value in chosen_changes(data, random.Random(seed)):
            found = verdict_of(corrected(data, place, value), rebuilt)
            assert found not in (IDENTICAL, EQUIVALENT), f"seed {seed}: byte {place} is {value}"


def chosen_changes(data: bytes, chance: random.Random) -> Iterator[tuple[int, int]]:
    """Yield the place of a byte and another value: one of the whole file, or one of what describes its entries."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        row = chance.choice(archive.infolist())
        place = chance.choice(
            [
                chance.randrange(len(data)),
                row.header_offset + chance.randrange(30 + len(row.filename) + min(row.compress_size, 40)),
                chance.randrange(archive.start_dir, len(data)),
            ]
        )
    yield place, data[place] ^ chance.randrange(1, 256)
    yield place, data[place] ^ 1 << chance.randrange(8)


def verdict_of(data: bytes, rebuilt: ArtifactContents) -> str:
    try:
        contents = take_apart(data)
    except UnreadableArtifactError:
        return "unreadable"
    differences = CauseFinder(contents, rebuilt).with_causes(compare_contents(contents, rebuilt))
    return verdict(differences, same_lists=True)


def corrected(data: bytes, place: int, value: int) -> bytes:
    """Return an archive with another byte: checksums and lengths fit to it, in archives inside too."""
    changed = bytearray(data)
    changed[place] = value
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        rows, directory = {info.filename: info for info in archive.infolist()}, archive.start_dir
    for name, info in rows.items():
        begin = info.header_offset + 30 + len(name.encode())
        if begin <= place < begin + info.compress_size:
            if info.compress_type == zipfile.ZIP_STORED and place_of_nested(name):
                content = corrected(data[begin : begin + info.compress_size], place - begin, value)
                changed[begin : begin + info.compress_size] = content
            else:
                content = inflated(info, bytes(changed[begin : begin + info.compress_size]))
            write_sums(changed, info, directory, content)
    return bytes(changed)


def inflated(info: zipfile.ZipInfo, stored: bytes) -> bytes:
    if info.compress_type == zipfile.ZIP_STORED:
        return stored
    try:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(stored)
    except zlib.error:
        return b""


def write_sums(changed: bytearray, info: zipfile.ZipInfo, directory: int, content: bytes) -> None:
    """Write the checksum and the lengths of an entry into its header, and into its row."""
    sums = struct.pack("<III", zlib.crc32(content), info.compress_size, len(content))
    name = info.filename.encode()
    row = changed.index(name, directory) - 46
    while changed[row : row + 4] != ROW or changed[row + 28 : row + 30] != len(name).to_bytes(2, "little"):
        row = changed.index(name, row + 47) - 46
    for place in (info.header_offset + CRC_IN_LOCAL, row + CRC_IN_ROW):
        changed[place : place + len(sums)] = sums
