"""`mcpc verify` says whether a project is the source of a file, and why not: a case for each kind of cause."""

from __future__ import annotations

import io
import json
import shutil
import zipfile
import zlib
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from mcpc import pipeline
from mcpc.cli.verify import command
from mcpc.cli.windows_program import windows_program
from mcpc.emit.interpreters import HERE, MissingPythonError, interpreter
from mcpc.options import Options
from mcpc.pack.archive import MANIFEST, ArchiveEntry, build_archive, sha256_hex
from mcpc.pack.manifest import FACTS, checksum_line, readable_json
from mcpc.trust.causes import CauseFinder, verdict
from mcpc.trust.comparison import Difference, compare_contents
from mcpc.trust.contents import UnreadableArtifactError, take_apart
from mcpc_runtime import BYTECODE, SOURCES
from support import wheels
from support.artifact import build, shared_cache
from support.interpreters import interpreters
from support.projects import SMOKETEST

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

TOOLS = '''"""Tools."""

from pure import value

from mcpc import Server, tool

mcp = Server("verified", version="1.0.0")


@tool
def use() -> int:
    """Return a value of a package."""
    return value
'''


@pytest.fixture(scope="module", autouse=True)
def _cache() -> Iterator[None]:
    with shared_cache():
        yield


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("verify") / "project"
    folder.mkdir()
    for name, text in SMOKETEST.items():
        (folder / name).write_text(str(text))
    return folder


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
    return build_archive(listed, contents.program, deflated=(SOURCES,))


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
            deflated=(SOURCES,),
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


def test_uncompared_bytecode_is_accepted_only_if_the_user_says_so(project: Path, built: bytes, tmp_path: Path) -> None:
    change, _, verdict, _ = CASES["another patch version of Python"]
    status, found = verify(written(tmp_path / "server.pyz", change(built)), project, "--sources-only")
    assert (status, found["verdict"]) == (0, verdict)
    change, _, verdict, _ = CASES["an altered entry"]
    assert verify(written(tmp_path / "server.pyz", change(built)), project, "--sources-only")[0] == 6


def test_changed_sources_are_named(project: Path, built: bytes, tmp_path: Path) -> None:
    other = shutil.copytree(project, tmp_path / "project")
    (other / "tools.bash").write_text((other / "tools.bash").read_text() + "# changed\n")
    tools = (other / "tools.json").read_text()
    (other / "tools.json").write_text(tools.replace("Gives the token back.", "Keeps the token."))
    status, found = verify(written(tmp_path / "server.pyz", built), other)
    assert (status, found["verdict"]) == (6, "different")
    assert {"entry": "handlers/tools.bash", "kind": "changed", "cause": "source"} in found["differences"]
    assert found["definitions"] == [
        {"kind": "tools", "name": "echo_token", "only": "", "members": ["description"], "file": "tools.json"}
    ]


def test_recorded_options_are_repeated_and_others_are_named(project: Path, tmp_path: Path) -> None:
    file = build(project, tmp_path / "paged.pyz", "--tools-page-size", "2")
    assert verify(file, project)[1]["verdict"] == "identical"
    status, found = verify(file, project, "--tools-page-size", "3")
    assert (status, found["verdict"]) == (6, "different")
    assert "options" in {row["cause"] for row in found["differences"]}


def test_an_option_of_a_newer_mcpc_is_named(project: Path, built: bytes, tmp_path: Path) -> None:
    changed = repacked(built, {FACTS: with_facts(built, options={"teleport": True}, mcpc="9.0")})
    status, found = verify(written(tmp_path / "server.pyz", changed), project)
    assert status == 2
    assert "`teleport`" in found["error"]
    assert "install mcpc 9.0" in found["error"]


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


def test_versions_of_packages_are_named(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "tools.py").write_text(TOOLS)
    files = []
    for version in ("1.0", "2.0"):
        for old in project.glob("*.whl"):
            old.unlink()
        wheel = wheels.wheel(tmp_path / "wheels", "pure", version, {"pure/__init__.py": f"value = {version}\n"})
        shutil.copy(wheel, project)
        (project / "requirements.txt").write_text(f"pure @ ./{wheel.name}\n")
        files.append(build(project, tmp_path / f"{version}.pyz"))
    assert verify(files[1], project)[1]["verdict"] == "identical"
    status, found = verify(files[0], project)
    assert (status, found["verdict"]) == (6, "different")
    assert found["packages"] == [{"name": "pure", "file": "1.0", "project": "2.0"}]
    causes = {row["entry"]: row["cause"] for row in found["differences"]}
    assert causes["site/pure/__init__.py"] == causes["site/pure/__init__.pyc"] == "packages"
    done = CliRunner().invoke(command, [str(files[0]), str(project)])
    assert "    pure: 1.0 in the file, 2.0 in the project\n" in done.stdout


def test_other_platforms_and_interpreters_are_causes(built: bytes) -> None:
    there = {"packages": ["native 1.0"], "platforms": ["cp311-cp311-win_amd64"], "selfContained": {"python": "3.11.1"}}
    here = {"packages": ["native 1.0"], "platforms": ["cp311-cp311-manylinux_2_17_x86_64"]}
    changes = {"site/.layer": (b"1", b"2"), "python/library": (b"1", b"2")}
    one, other = (
        take_apart(
            repacked(built, {FACTS: with_facts(built, **facts), **{name: row[at] for name, row in changes.items()}})
        )
        for at, facts in enumerate((there, here))
    )
    found = {each.entry: each.cause for each in CauseFinder(one, other).with_causes(compare_contents(one, other))}
    assert found["site/.layer"] == "platform"
    assert found["python/library"] == "interpreter"
    assert found[f"{FACTS}#platforms"] == "platform"
    assert found[f"{FACTS}#selfContained"] == "interpreter"


def test_the_verdict_needs_equal_lists() -> None:
    differences = (Difference("mcpc_app/blob", "changed", "mcpc"),)
    assert verdict(differences, same_lists=True) == "same-sources"
    assert verdict(differences, same_lists=False) == "different"


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
