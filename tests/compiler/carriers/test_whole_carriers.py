"""What registry, bundles and plugins get of rich and of plain servers, whole, and the limits of the registry."""

import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mcpc.release.carriers import UnusableValueError
from mcpc.release.carriers.built_server import (
    BuiltServer,
    ProgramTarget,
    UnusableFileError,
    built_server,
    label_of,
    program_target,
    python_range,
)
from mcpc.release.carriers.bundle import bundle_archive, systems_of
from mcpc.release.carriers.plugin import FORMS, plugin_files
from mcpc.release.carriers.registry import Publication, published_icon, registry_file
from support.needs import ROOT

ELF = b"\x7fELF" + bytes(14) + (62).to_bytes(2, "little") + b"\1"
WINDOWS = b"MZ" + bytes(58) + (64).to_bytes(4, "little") + b"PE\0\0" + (0xAA64).to_bytes(2, "little") + b"\1"
MAC = b"#!/bin/sh\ncase x in\n'Darwin arm64')\n"
URL = "https://github.com/e/w/releases/download/v1/mcp.mcpb"
WHERE = Publication("io.github.e/w", ((URL, "0" * 64),), ("ghcr.io/e/w:1", "e/w:1"), ("https://w.example.org/mcp",))
GIVEN = json.loads((Path(__file__).parent / "servers.json").read_text("utf-8"))
BLOB = GIVEN["blob"].encode()
RICH, PLAIN = built_server(GIVEN["rich"], BLOB, b"built"), built_server(GIVEN["plain"], b"", b"built")


def contained(data: bytes) -> dict[str, Any]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        files = [f"{info.filename} {info.external_attr >> 16:o} {info.file_size}" for info in archive.infolist()]
        return {"files": files, "manifest": json.loads(archive.read("manifest.json"))}


def plugged(server: BuiltServer, *words: Any) -> dict[str, Any]:
    files = plugin_files(server, *words)
    return {f"{file.path} {file.mode:o}": file.data.decode("latin-1").splitlines() for file in files}


def program(data: bytes) -> BuiltServer:
    return replace(RICH, data=data, target=program_target(data))


def answer_of_the_registry(row: dict[str, Any]) -> str:
    """Return why a server is refused that differs in this from one that is accepted, or that it is not."""
    server = {name: value for name, value in row.items() if name in ("description", "version")}
    where = {name: value for name, value in row.items() if name not in server}
    try:
        registry_file(replace(PLAIN, **server), replace(WHERE, **where))
    except UnusableValueError as problem:
        return str(problem)
    return "accepted"


CARRIERS: dict[str, Callable[[], Any]] = {
    "registry-rich": lambda: json.loads(registry_file(RICH, WHERE)),
    "registry-plain": lambda: json.loads(registry_file(PLAIN, replace(WHERE, mcpb=(), oci=()))),
    "registry-limits": lambda: [*map(answer_of_the_registry, GIVEN["limits"])],
    "bundle-rich": lambda: contained(bundle_archive(RICH)),
    "bundle-uv": lambda: contained(bundle_archive(RICH, "0.4")),
    "bundle-plain": lambda: contained(bundle_archive(PLAIN)),
    "bundle-windows": lambda: contained(bundle_archive(PLAIN, "0.3", (WINDOWS,))),
    "bundle-programs": lambda: contained(bundle_archive(program(ELF), "0.4", (WINDOWS, MAC))),
    "bundle-program-alone": lambda: contained(bundle_archive(program(WINDOWS), "0.4")),
    "plugin-rich": lambda: plugged(RICH, "", (*FORMS, *FORMS)),
    "plugin-plain": lambda: plugged(PLAIN, "py", [*FORMS]),
    "plugin-windows": lambda: plugged(program(WINDOWS), "", ["gemini", "claude"]),
    "plugin-linux": lambda: plugged(program(ELF)),
}


@pytest.mark.parametrize("name", CARRIERS)
def test_a_carrier_is_whole(name: str, golden: Callable[[Path, str], None]) -> None:
    text = json.dumps(CARRIERS[name](), indent=1, ensure_ascii=False)
    golden(ROOT / f"tests/golden/carriers/{name}.json", text + "\n")


def test_small_parts_at_their_limits() -> None:
    long = "https://" + "x" * 247
    assert (published_icon({"src": long}), published_icon({"src": long + "x"})) == ({"src": long}, None)
    names = ("a" * 43, "a" * 41 + "-b", "A_b ", "!")
    assert [*map(label_of, names)] == ["a" * 42, "a" * 41, "a-b", "mcp-server"]
    tags = ("cp312-cp312-win_amd64", "cp310-cp310-macosx_11", "cp313-abi3-linux")
    ranges = [((3, 11), (3, 13)), ((3, 12), (3, 13)), ((3, 13), None), ((3, 11), None)]
    assert [python_range(each) for each in (tags, tags[:1], tags[2:], ())] == ranges
    assert systems_of(replace(PLAIN, platforms=tags[:2])) == ("darwin", "win32")
    assert program_target(b"#!/bin/sh\n") is program_target(ELF[:18] + b"\1\0") is program_target(b"PK") is None
    assert program_target(MAC) == ProgramTarget("darwin", "arm64", is_script=True)


def test_a_built_server_is_what_its_facts_and_its_blob_say() -> None:
    (skill,) = RICH.skills
    files = (("a b/SKILL.md", "é".encode()), ("a b/a", b"\xff"))
    assert (skill.folder, skill.frontmatter, skill.files) == ("a b", {"name": "s"}, files)
    rich = (RICH.has_http, RICH.contracts, RICH.source_digest, RICH.bytecode, RICH.target)
    assert rich == (True, frozenset({"python", "bash"}), "d", "3.12.1", None)
    assert (PLAIN.has_http, PLAIN.tools, PLAIN.display, RICH.display) == (False, (), "plain", "T" * 101)
    with pytest.raises(UnusableFileError):
        built_server(GIVEN["rich"], BLOB[:-20], b"")
