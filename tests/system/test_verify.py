"""`mcpc attest verify` says whether a project is the source of a file, and why not: a case for each kind of cause."""

import io
import json
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from mcpc import pipeline
from mcpc.cli.build import windows_program
from mcpc.cli.verify import verify as command
from mcpc.emit.interpreters import HERE, MissingPythonError, interpreter
from mcpc.options import Options
from mcpc.pack.archive import MANIFEST, ArchiveEntry, build_archive, checksum_line, sha256_hex
from mcpc.pack.manifest import FACTS, readable_json
from mcpc.release.trust.contents import ArtifactContents, UnreadableArtifactError, take_apart
from mcpc_runtime import BYTECODE
from support.artifact import build, shared_cache
from support.files import write_files
from support.interpreters import interpreters
from support.projects import SMOKETEST


@pytest.fixture(scope="module", autouse=True)
def _cache() -> Iterator[None]:
    with shared_cache():
        yield


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("verify") / "project"
    return write_files(folder, SMOKETEST)


@pytest.fixture(scope="module")
def built(project: Path) -> bytes:
    return build(project, project.parent / "server.pyz").read_bytes()


def verify(file: Path, project: Path, *words: str) -> tuple[int, dict[str, Any]]:
    done = CliRunner().invoke(command, [str(file), str(project), "--format", "json", *words], catch_exceptions=False)
    return done.exit_code, json.loads(done.stdout) if done.exit_code in (0, 6) else {"error": done.output}


def written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def repacked(data: bytes, changed: Mapping[str, bytes], *, is_manifest_right: bool = True) -> bytes:
    """Return a built file with other entries, as a build would have written them."""
    contents = take_apart(data)
    entries = {**{name: entry.data for name, entry in contents.top.items()}, **changed}
    if is_manifest_right:
        rows = sorted((name, sha256_hex(body)) for name, body in entries.items() if name != MANIFEST)
        entries[MANIFEST] = "".join(f"{checksum_line(name, digest)}\n" for name, digest in rows).encode()
    listed = [ArchiveEntry(name, body) for name, body in entries.items()]
    return build_archive(listed, contents.program, deflated=deflated(contents))


def deflated(contents: ArtifactContents) -> tuple[str, ...]:
    """Return the entries that are compressed."""
    return tuple(name for name, entry in contents.top.items() if entry.header[-1])


def with_facts(data: bytes, **facts: Any) -> bytes:
    return readable_json({**take_apart(data).facts, **facts})


def compressed_otherwise(data: bytes) -> bytes:
    """Return a built file whose deflated entries were deflated by something else."""
    contents = take_apart(data)
    buffer = io.BytesIO()
    buffer.write(contents.program)
    with zipfile.ZipFile(buffer, "a") as archive:
        for name, entry in contents.top.items():
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.create_system, info.external_attr = 3, 0o100644 << 16
            method = zipfile.ZIP_DEFLATED if entry.header[-1] else zipfile.ZIP_STORED
            archive.writestr(info, entry.data, method, zlib.Z_BEST_SPEED)
    return buffer.getvalue()


def test_an_unchanged_project_is_the_source(project: Path, built: bytes, tmp_path: Path) -> None:
    status, found = verify(written(tmp_path / "server.pyz", built), project)
    assert (status, found["verdict"], found["differences"]) == (0, "identical", [])
    assert found["sha256"]["file"] == found["sha256"]["project"] == sha256_hex(built)


Case = tuple["Callable[[bytes], bytes]", int, str, set[str]]
OLD_PYTHON = {"requires": ">=3.11", "bytecode": "3.11.0rc1"}
CASES: dict[str, Case] = {
    "another zlib": (compressed_otherwise, 0, "equivalent", {"zlib"}),
    "another patch version of Python": (
        lambda data: repacked(
            data, {FACTS: with_facts(data, python=OLD_PYTHON), BYTECODE: take_apart(data).top[BYTECODE].data + b"x"}
        ),
        6,
        "same-sources",
        {"python", "follows"},
    ),
    "another mcpc": (
        lambda data: repacked(data, {FACTS: with_facts(data, mcpc="0.0.1"), "mcpc_app/bytecode": b"other"}),
        6,
        "same-sources",
        {"mcpc", "follows"},
    ),
    "an mcpc that knows other revisions and Pythons": (
        lambda data: repacked(
            data, {FACTS: with_facts(data, mcpc="9.0.0", revisions=["2030-01-01"], runsOn="Python 3.20")}
        ),
        6,
        "same-sources",
        {"mcpc", "follows"},
    ),
    "other revisions of the same mcpc": (
        lambda data: repacked(data, {FACTS: with_facts(data, revisions=["2030-01-01"])}),
        6,
        "different",
        {"source", "follows"},
    ),
    "an altered entry": (
        lambda data: repacked(data, {"handlers/tools.bash": b"tool_smoketest() { evil; }\n"}, is_manifest_right=False),
        6,
        "different",
        {"altered"},
    ),
    "an altered runtime with a fitting manifest": (
        lambda data: repacked(data, {"mcpc_app/blob": take_apart(data).top["mcpc_app/blob"].data + b"x"}),
        6,
        "different",
        {"source", "follows"},
    ),
    "an added entry": (
        lambda data: repacked(data, {"handlers/more.bash": b"evil\n"}),
        6,
        "different",
        {"source", "follows"},
    ),
    "bytes behind the archive": (
        lambda data: data[:-2] + (4).to_bytes(2, "little") + b"evil",
        6,
        "different",
        {"hidden"},
    ),
    "another start": (
        lambda data: build_archive(
            [ArchiveEntry(name, entry.data) for name, entry in take_apart(data).top.items()],
            take_apart(data).program.replace(b"#!/bin/sh", b"#!/bin/bh"),
            deflated=deflated(take_apart(data)),
        ),
        6,
        "different",
        {"unknown"},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_difference_of_the_file_has_its_cause(name: str, project: Path, built: bytes, tmp_path: Path) -> None:
    change, expected, verdict, causes = CASES[name]
    status, found = verify(written(tmp_path / "server.pyz", change(built)), project)
    assert (status, found["verdict"]) == (expected, verdict), found["differences"]
    assert {row["cause"] for row in found["differences"]} == causes, found["differences"]


def test_a_program_for_windows_is_compared(project: Path, built: bytes, tmp_path: Path) -> None:
    program = windows_program(built, Options())
    assert verify(written(tmp_path / "server.exe", program), project)[1]["verdict"] == "identical"
    changed = program.replace(b"This program cannot be run", b"This program cannot be sun")
    status, found = verify(written(tmp_path / "server.exe", changed), project)
    assert (status, [row["entry"] for row in found["differences"]]) == (6, ["(program before the archive)"])


def found_minors() -> list[str]:
    """Return the minor versions, besides the one that runs, of which mcpc finds a Python."""
    return [minor for minor in interpreters() if minor != HERE and is_found(minor)]


def is_found(minor: str) -> bool:
    try:
        interpreter(minor)
    except MissingPythonError:
        return False
    return True


@pytest.mark.skipif(not found_minors(), reason="there is one Python only")
def test_a_file_of_another_python_is_rebuilt_for_that(project: Path, tmp_path: Path) -> None:
    minor = found_minors()[0]
    analysed = pipeline.analyse(*pipeline.read_project(project), Options())
    assert analysed.checked is not None
    data = pipeline.compile_server(analysed.checked, Options(), minors=(minor,)).data
    status, found = verify(written(tmp_path / "server.pyz", data), project)
    assert (status, found["verdict"]) == (0, "identical"), found["differences"]
    assert found["builtWith"]["python"]["bytecode"].startswith(f"{minor}.")


@pytest.mark.parametrize("data", [b"", b"no archive", b"PK\5\6" + bytes(18)])
def test_what_is_no_built_file_cannot_be_taken_apart(data: bytes) -> None:
    with pytest.raises(UnreadableArtifactError):
        take_apart(data)


def test_a_damaged_file_is_refused(project: Path, built: bytes, tmp_path: Path) -> None:
    place = built.index(b"tool_smoketest() { echo ok; }")
    damaged = built[:place] + b"TOOL" + built[place + 4 :]
    status, found = verify(written(tmp_path / "server.pyz", damaged), project)
    assert status == 2
    assert "has a wrong checksum" in found["error"]
