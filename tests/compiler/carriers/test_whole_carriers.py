"""What registry, bundles and plugins get of rich and of plain servers, whole, and the limits of the registry."""

from __future__ import annotations

import base64
import io
import json
import zipfile
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from mcpc.carriers import UnusableValueError
from mcpc.carriers.built_server import BuiltServer, DeclaredSetting, SkillFolder, built_server, label_of, python_range
from mcpc.carriers.bundle import bundle, systems_of
from mcpc.carriers.plugin import FORMS, plugin
from mcpc.carriers.programs import ProgramTarget, program_target
from mcpc.carriers.registry import Publication, published_icon, registry_file
from mcpc.ir.project import Author, ProjectMetadata
from support.needs import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ELF = b"\x7fELF" + bytes(14) + (62).to_bytes(2, "little")
WINDOWS = b"MZ" + bytes(58) + (64).to_bytes(4, "little") + b"PE\0\0" + (0xAA64).to_bytes(2, "little")
MAC = b"#!/bin/sh\ncase x in\n'Darwin arm64')\n"
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n1").decode()
URL = "https://github.com/e/w/releases/download/v1/mcp.mcpb"
WHERE = Publication("io.github.e/w", ((URL, "0" * 64),), ("ghcr.io/e/w:1", "e/w:1"), ("https://w.example.org/mcp",))
PLAIN = BuiltServer("plain", "1", "", "Does it.", project=ProjectMetadata(authors=(Author("A"),)), data=b"built")
RICH = BuiltServer(
    "Rich server!", "1.4.0", "T" * 101, website="https://site.example.org", data=b"built",
    icons=(
        {"src": "data:image/png;base64,R0lGODlh"}, {"src": f"data:image/png;base64,{PNG}"}, {"src": "http://e.org/i"},
        {"src": "https://e.org/i", "mimeType": "image/png", "sizes": ["48x48", "any", "x"], "theme": "dark", "x": 1},
        {"src": "https://e.org/j", "mimeType": "text/html", "sizes": ["1"], "theme": "red"},
    ),
    project=ProjectMetadata(
        "Of the project", (Author("", "x@e.org"), Author("A", "a@e.org"), Author("B")), "MIT",
        (("Docs", "https://docs.e.org"), ("Home Page", "no"), ("Source", "https://gitlab.com/e/w"),
         ("GitHub", "https://github.com/e/w"), ("bug-tracker", "https://e.org/issues")), ("a", "b"),
    ),
    tools=({"name": "t", "description": "D", "inputSchema": {}}, {"name": "u", "description": ""}),
    prompts=({"name": "p"},),
    skills=(SkillFolder("s", {}, (("s/SKILL.md", b"skill"), ("s/a", b"a"))),),
    settings=(
        DeclaredSetting("API_KEY", title="Key", description="The key!", required=True, secret=True),
        DeclaredSetting("LIMIT", "integer"), DeclaredSetting("RATIO", "number", default=0), DeclaredSetting("ON", "boolean"),
        DeclaredSetting("OFF", "boolean", default=False), DeclaredSetting("HOME_DIR", "directory", required=True),
        DeclaredSetting("UNITS", description="Units", default="a", choices=("a", 1, True)),
    ),
)  # fmt: skip


def contained(data: bytes) -> dict[str, Any]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        files = [f"{info.filename} {info.external_attr >> 16:o} {info.file_size}" for info in archive.infolist()]
        return {"files": files, "manifest": json.loads(archive.read("manifest.json"))}


def plugged(server: BuiltServer, *words: Any) -> dict[str, Any]:
    files = plugin(server, *words)
    return {f"{file.path} {file.mode:o}": file.data.decode("latin-1").splitlines() for file in files}


def program(data: bytes) -> BuiltServer:
    return replace(RICH, data=data, target=program_target(data))


CARRIERS: dict[str, Callable[[], Any]] = {
    "registry-rich": lambda: json.loads(registry_file(RICH, WHERE)),
    "registry-plain": lambda: json.loads(registry_file(PLAIN, replace(WHERE, mcpb=(), oci=()))),
    "bundle-rich": lambda: contained(bundle(RICH)),
    "bundle-uv": lambda: contained(bundle(RICH, "0.4")),
    "bundle-plain": lambda: contained(bundle(PLAIN)),
    "bundle-windows": lambda: contained(bundle(PLAIN, "0.3", (WINDOWS,))),
    "bundle-programs": lambda: contained(bundle(program(ELF), "0.4", (WINDOWS, MAC))),
    "bundle-program-alone": lambda: contained(bundle(program(WINDOWS), "0.4")),
    "plugin-rich": lambda: plugged(RICH, "", (*FORMS, *FORMS)),
    "plugin-plain": lambda: plugged(PLAIN, "py", [*FORMS]),
    "plugin-windows": lambda: plugged(program(WINDOWS), "", ["gemini", "claude"]),
    "plugin-linux": lambda: plugged(program(ELF)),
}


@pytest.mark.parametrize("name", CARRIERS)
def test_a_carrier_is_whole(name: str, golden: Callable[[Path, str], None]) -> None:
    text = json.dumps(CARRIERS[name](), indent=1, ensure_ascii=False)
    golden(ROOT / f"tests/golden/carriers/{name}.json", text + "\n")


LIMITS: list[tuple[bool, dict[str, Any], dict[str, Any]]] = [
    (True, {"description": "x" * 100}, {}), (False, {"description": "x" * 101}, {}), (False, {"description": ""}, {}),
    (True, {"version": "1" * 255}, {}), (False, {"version": "1" * 256}, {}), (False, {"version": "latest"}, {}),
    (True, {}, {"name": "a/b"}), (True, {}, {"name": "a/" + "b" * 198}), (False, {}, {"name": "a/" + "b" * 199}),
    (False, {}, {"name": ""}), (True, {}, {"mcpb": ((URL.replace("hub", "lab"), "a" * 64),)}),
    (False, {}, {"mcpb": ((URL, "0" * 63),)}), (False, {}, {"mcpb": ((URL.replace("https", "http"), "0" * 64),)}),
    (False, {}, {"mcpb": ((URL.replace("/download", ""), "0" * 64),)}), (True, {}, {"oci": ("a.pkg.dev/e/w:1",)}),
    (False, {}, {"oci": ("localhost:5000/w:1",)}), (False, {}, {"oci": ("ghcr.io/w",)}),
    (True, {}, {"remotes": ("http://e.org/",)}), (False, {}, {"remotes": ("http://127.0.0.1/mcp",)}),
    (False, {}, {"remotes": ("ftp://e.org/",)}), (True, {}, {"mcpb": (), "oci": ()}), (True, {}, {"oci": (), "remotes": ()}),
    (True, {}, {"mcpb": (), "remotes": ()}), (False, {}, {"mcpb": (), "oci": (), "remotes": ()}),
]  # fmt: skip


@pytest.mark.parametrize(("is_accepted", "server", "where"), LIMITS)
def test_what_the_registry_accepts(is_accepted: bool, server: dict[str, Any], where: dict[str, Any]) -> None:
    try:
        registry_file(replace(PLAIN, **server), replace(WHERE, **where))
    except UnusableValueError:
        assert not is_accepted
    else:
        assert is_accepted


def test_small_parts_at_their_limits() -> None:
    long = "https://" + "x" * 247
    assert (published_icon({"src": long}), published_icon({"src": long + "x"})) == ({"src": long}, None)
    assert [label_of(name) for name in ("a" * 43, "a" * 41 + "-b", "A_b ", "!")] == [
        "a" * 42,
        "a" * 41,
        "a-b",
        "mcp-server",
    ]
    tags = ("cp312-cp312-win_amd64", "cp310-cp310-macosx_11", "cp313-abi3-linux")
    assert [python_range(each) for each in (tags, tags[:1], tags[2:], ())] == [
        ((3, 11), (3, 13)), ((3, 12), (3, 13)), ((3, 13), None), ((3, 11), None),
    ]  # fmt: skip
    assert systems_of(replace(PLAIN, platforms=tags[:2])) == ("darwin", "win32")
    assert program_target(b"#!/bin/sh\n") is program_target(ELF[:18] + b"\x01\0") is program_target(b"PK") is None
    assert program_target(MAC) == ProgramTarget("darwin", "arm64", is_script=True)


def test_a_built_server_has_what_its_facts_say() -> None:
    facts = {
        "name": "n", "version": "1", "serverInfo": {"title": "T", "icons": [{"src": "i"}, 1]}, "tools": 2,
        "prompts": [{"name": "p"}], "settings": [{"name": "A", "later": 1, "choices": ["x"]}],
        "python": {"bytecode": "3.12.1"}, "serving": ["uvicorn 1"], "handlers": ["python"], "sourceDigest": "d",
    }  # fmt: skip
    expected = BuiltServer(
        "n", "1", "T", icons=({"src": "i"},), prompts=({"name": "p"},), bytecode="3.12.1", data=ELF, source_digest="d",
        settings=(DeclaredSetting("A", choices=("x",)),), serving=frozenset({"uvicorn"}),
        contracts=frozenset({"python"}), target=ProgramTarget("linux", "amd64"),
    )  # fmt: skip
    assert built_server(facts, b"", ELF) == expected
    assert (expected.has_http, PLAIN.has_http) == (True, False)
