"""Bundles: the owner's program accepts, unpacks and describes them, and what they start serves."""

import io
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mcpc.interpreters.launchers.windows_file import BundledInterpreter, PythonChoice, windows_file
from mcpc.model.ir.project import ProjectMetadata
from mcpc.release.carriers import BuiltServer, UnusableValueError
from mcpc.release.carriers.built_server import ProgramTarget, program_target
from mcpc.release.carriers.bundle import bundle_archive
from support.artifact import mcpc
from support.carriers import assert_valid

Program = Callable[..., subprocess.CompletedProcess[str]]

ELF = b"\x7fELF" + bytes(14) + (62).to_bytes(2, "little")


def manifest(data: bytes) -> dict[str, Any]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        found: dict[str, Any] = json.loads(archive.read("manifest.json"))
    return found


def windows_program(server: BuiltServer) -> bytes:
    return windows_file(server.data, "x64", PythonChoice((11,)))


FORMS: dict[str, tuple[str, Callable[[BuiltServer], tuple[bytes, ...]]]] = {
    "python": ("0.3", lambda _: ()),
    "python and a program for Windows": ("0.3", lambda server: (windows_program(server),)),
    "programs": ("0.4", lambda server: (ELF, windows_program(server))),
    "uv": ("0.4", lambda _: ()),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_owner_accepts_every_form(tmp_path: Path, server: BuiltServer, mcpb: Program, form: str) -> None:
    version, programs = FORMS[form]
    data = bundle_archive(server, version, programs(server))
    assert_valid(f"mcpb/mcpb-manifest-v{version}.schema.json", manifest(data))
    file, folder = tmp_path / "weather.mcpb", tmp_path / "unpacked"
    file.write_bytes(data)
    unpacked = mcpb("unpack", file, folder)
    assert unpacked.returncode == 0, unpacked.stderr + unpacked.stdout
    judged = mcpb("validate", folder)
    assert judged.returncode == 0, judged.stdout + judged.stderr
    assert "weather.mcpb" in mcpb("info", file).stdout
    entry = folder / manifest(data)["server"]["entry_point"]
    assert entry.is_file()
    assert form == "uv" or entry.stat().st_mode & 0o111


def test_the_owner_would_find_a_mistake(tmp_path: Path, server: BuiltServer, mcpb: Program) -> None:
    wrong = {**manifest(bundle_archive(server)), "user_config": {"a": {"type": "text"}}}
    (tmp_path / "manifest.json").write_text(json.dumps(wrong))
    assert mcpb("validate", tmp_path / "manifest.json").returncode != 0


def test_every_entry_is_at_one_time_and_stored(server: BuiltServer) -> None:
    with zipfile.ZipFile(io.BytesIO(bundle_archive(server))) as archive:
        found = archive.infolist()
    assert [info.filename for info in found] == ["icon.png", "manifest.json", "server.pyz"]
    assert {info.date_time for info in found} == {(1980, 1, 1, 0, 0, 0)}
    assert {info.create_system for info in found} == {3}
    assert {info.compress_type for info in found} == {zipfile.ZIP_STORED}
    assert [info.external_attr >> 16 for info in found] == [0o100644, 0o100644, 0o100755]


def test_what_a_bundle_starts_serves(tmp_path: Path, server: BuiltServer, mcpb: Program) -> None:
    plain = replace(server, settings=())
    (tmp_path / "b.mcpb").write_bytes(bundle_archive(plain, "0.4"))
    assert mcpb("unpack", tmp_path / "b.mcpb", tmp_path / "b").returncode == 0
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}}
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    first = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
    sent = "".join(json.dumps(message) + "\n" for message in (first, call))
    argv = [sys.executable, str(tmp_path / "b/src/server.py")]
    done = subprocess.run(argv, input=sent, capture_output=True, text=True, timeout=60, check=False)
    initialized, listed = (json.loads(line)["result"] for line in done.stdout.splitlines())
    assert listed["tools"][0]["name"] == "forecast", done.stderr
    # By these results Windows knows a server that it has not started.
    static = manifest(bundle_archive(plain))["_meta"]["com.microsoft.windows"]["static_responses"]
    assert static == {"initialize": initialized, "tools/list": listed}


def test_missing_metadata_is_one_message_that_says_where(server: BuiltServer) -> None:
    with pytest.raises(UnusableValueError, match=r"authors = .* and a description .*\[project\]` of `pyproject.toml`"):
        bundle_archive(replace(server, project=ProjectMetadata()))


def test_a_program_for_windows_needs_python_unless_it_has_one(server: BuiltServer) -> None:
    """The launcher has the bytes that begin its record, too."""
    interpreter = BundledInterpreter("0" * 64, (), b"")
    alone = windows_file(server.data, "x64", PythonChoice((11,)), interpreter)
    for data, needs_python in ((windows_program(server), True), (alone, False)):
        target = program_target(data)
        assert target == ProgramTarget("win32", "amd64", needs_python=needs_python)
        found = manifest(bundle_archive(replace(server, data=data, target=target)))
        assert found["server"]["type"] == "binary"
        assert found["compatibility"]["platforms"] == ["win32"]
        assert ("runtimes" in found["compatibility"]) is needs_python


@pytest.mark.parametrize("source", ["data:image/png;base64,%%%", "data:image/png;base64,R0lGODlh", "icons/a.png"])
def test_an_icon_that_no_client_shows_is_left_out(server: BuiltServer, source: str) -> None:
    found = manifest(bundle_archive(replace(server, icons=({"src": source},))))
    assert "icon" not in found


@pytest.mark.parametrize(("programs", "named"), [((ELF, ELF + b"x"), "two"), ((b"#!/bin/sh\n",), "self-contained")])
def test_programs_that_no_client_could_start_are_refused(
    server: BuiltServer, programs: tuple[bytes, ...], named: str
) -> None:
    with pytest.raises(UnusableValueError, match=named):
        bundle_archive(server, "0.3", programs)


def test_native_packages_narrow_systems_and_pythons(server: BuiltServer) -> None:
    tags = ("cp311-cp311-manylinux_2_17_x86_64", "cp312-cp312-macosx_11_0_arm64")
    native = replace(server, platforms=tags, python=((3, 11), (3, 13)))
    assert manifest(bundle_archive(native))["compatibility"] == {
        "platforms": ["darwin", "linux"],
        "runtimes": {"python": ">=3.11.0 <3.13.0"},
    }


def test_the_command_writes_a_bundle_or_nothing(tmp_path: Path, artifact: Path) -> None:
    place = tmp_path / "new/weather.mcpb"
    mcpc("ship", "bundle", artifact, "-o", place, "--exe", status=0)
    assert "platform_overrides" in json.dumps(manifest(place.read_bytes()))
    mcpc("ship", "bundle", artifact, "-o", tmp_path / "no.mcpb", "--program", artifact, status=2)
    assert not (tmp_path / "no.mcpb").exists()
