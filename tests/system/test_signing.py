"""Signing: the recipes in docs/trust.md, run as they are written; what they sign; and the bill of materials of a built file."""

import hashlib
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from mcpc import __version__
from mcpc.cli.attest import checksums, provenance, sbom
from mcpc.pack.archive import sha256_hex
from mcpc.pack.manifest import SBOM, readable_json
from mcpc.release.trust.statements import ChecksumError, listed_digests, write_checksums
from support import wheels
from support.artifact import SOURCES, build, contents
from support.files import write_files
from support.needs import ROOT, needs
from support.projects import SMOKETEST

COMMIT_DATE = "2026-01-01T00:00:00Z"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a built file, its project, and what describes it."""
    folder = tmp_path_factory.mktemp("signing")
    project = folder / "project"
    write_files(project, SMOKETEST)
    build(project, folder / "server.pyz")
    return folder


def run(command: click.Command, *words: str | Path, status: int = 0, **variables: str) -> str:
    done = CliRunner().invoke(command, [*map(str, words)], catch_exceptions=False, env=variables)
    assert done.exit_code == status, done.output
    return done.stdout if status == 0 else done.output


def test_the_recipe_signs_and_refuses_a_changed_list(folder: Path, tmp_path: Path) -> None:
    needs("ssh-keygen", "bash")
    page = (ROOT / "docs/trust.md").read_text(encoding="utf-8")
    recipe = page.partition("### ssh-keygen\n\n```sh\n")[2].partition("```")[0]
    recipe = recipe.replace("mcpc ", f"{sys.executable} -m mcpc ")
    (tmp_path / "server.pyz").write_bytes((folder / "server.pyz").read_bytes())
    (tmp_path / "SHA256SUMS").write_bytes(write_checksums([tmp_path / "server.pyz"]))
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": SOURCES}
    options: dict[str, Any] = {"cwd": tmp_path, "env": environment, "capture_output": True, "text": True}
    done = subprocess.run(["bash", "-euc", recipe], **options, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (tmp_path / "SHA256SUMS").write_text((tmp_path / "SHA256SUMS").read_text().replace("server", "server2"))
    verification = next(line for line in recipe.splitlines() if "-Y verify" in line)
    assert subprocess.run(["bash", "-euc", verification], **options, timeout=300, check=False).returncode != 0


def test_the_bill_beside_a_file_has_its_digest(folder: Path, tmp_path: Path) -> None:
    file, target = folder / "server.pyz", tmp_path / "server.cdx.json"
    run(sbom, file, "-o", target)
    bill = json.loads(target.read_text())
    component = bill["metadata"]["component"]
    assert component["hashes"] == [{"alg": "SHA-256", "content": sha256_hex(file.read_bytes())}]
    assert {row["name"] for row in component["properties"]} == {"mcpc:sourceDigest", "mcpc:contentDigest"}
    assert "timestamp" not in bill["metadata"]
    assert run(sbom, file) == target.read_text()
    timed = run(sbom, file, SOURCE_DATE_EPOCH="1000000000")
    assert json.loads(timed)["metadata"]["timestamp"] == "2001-09-09T01:46:40Z"
    for version in (SchemaVersion.V1_6, SchemaVersion.V1_7):
        assert JsonStrictValidator(version).validate_str(timed) is None
    assert "expected a number of seconds" in run(sbom, file, status=2, SOURCE_DATE_EPOCH="yesterday")


def test_a_statement_names_the_file_its_sources_and_its_options(folder: Path, tmp_path: Path) -> None:
    file = build(folder / "project", tmp_path / "weather.pyz", "--http")
    statement = json.loads(run(provenance, file))
    assert statement.keys() == {"_type", "subject", "predicateType", "predicate"}
    assert statement["subject"] == [{"name": "weather.pyz", "digest": {"sha256": sha256_hex(file.read_bytes())}}]
    build_definition = statement["predicate"]["buildDefinition"]
    assert build_definition["externalParameters"]["options"] == {"http": True}
    assert len(build_definition["externalParameters"]["source"]["digest"]["sha256"]) == 64
    uris = [row["uri"].partition("@")[0] for row in build_definition["resolvedDependencies"]]
    assert uris == ["pkg:pypi/h11", "pkg:pypi/uvicorn"]
    assert statement["predicate"]["runDetails"]["builder"]["id"] == "pkg:pypi/mcp-compiler"
    assert json.loads(run(provenance, file, "--predicate")) == statement["predicate"]


def test_a_commit_is_named_if_it_is_what_the_folder_has(folder: Path, tmp_path: Path) -> None:
    needs("git")
    project = tmp_path / "project"
    project.mkdir()
    (project / "server.json").write_text("{}")
    identity = {f"GIT_{who}_{what}": "a@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "GIT_COMMITTER_DATE": COMMIT_DATE, **identity}

    def git(*words: str) -> str:
        argv = ["git", "-C", project, *words]
        return subprocess.run(argv, env=environment, capture_output=True, text=True, check=True).stdout.strip()

    file = folder / "server.pyz"
    assert "is not known" in run(sbom, file, "--project", project, status=2)
    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "--message", "first")
    commit = git("rev-parse", "HEAD")
    bill = json.loads(run(sbom, file, "--project", project))
    assert bill["metadata"]["component"]["pedigree"] == {"commits": [{"uid": commit}]}
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(json.dumps(bill)) is None
    uri = "git+https://example.com/weather"
    statement = json.loads(run(provenance, file, "--project", project, "--source-uri", uri))
    sources = statement["predicate"]["buildDefinition"]["resolvedDependencies"][0]
    assert sources == {"uri": uri, "digest": {"gitCommit": commit}}
    (project / "more.json").write_text("{}")
    assert f"it differs from commit {commit[:12]}" in run(sbom, file, "--project", project, status=2)


def test_checksums_are_written_and_checked(tmp_path: Path) -> None:
    for name in ("b.txt", "a.txt", "odd\nname"):
        (tmp_path / name).write_text(name)
    files = sorted(tmp_path.iterdir(), reverse=True)
    sums = tmp_path / "SHA256SUMS"
    run(checksums, *files, "-o", sums)
    assert run(checksums, *files) == sums.read_text()
    needs("sha256sum")
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", sums], cwd=tmp_path, check=True)
    assert run(checksums, "--check", sums).splitlines()[:2] == ["a.txt: ok", "b.txt: ok"]
    (tmp_path / "a.txt").write_text("changed")
    (tmp_path / "b.txt").unlink()
    rows = json.loads(run(checksums, "--check", sums, "--format", "json", status=6))
    assert [row["status"] for row in rows] == ["differs", "missing", "ok"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no file"),
        ("0" * 64 + "  ../etc/passwd\n", "another folder"),
        ("0" * 64 + "  a\n" + "1" * 64 + "  a\n", "again"),
        ("hello\n", "line 1"),
    ],
)
def test_a_list_that_is_not_one_is_refused(text: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / "SHA256SUMS").write_text(text)
    with pytest.raises(ChecksumError, match=problem):
        listed_digests(tmp_path / "SHA256SUMS")


def test_two_files_of_one_name_are_not_listed(tmp_path: Path) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "same").write_text(name)
    with pytest.raises(ChecksumError, match="same"):
        write_checksums([tmp_path / "one/same", tmp_path / "other/same"])


TOOLS = '''"""Tools."""

from outer import value

from mcpc import Server, tool

mcp = Server("materials", version="1.2.0")


@tool
def use() -> int:
    """Return a value of a package."""
    return value
'''
BILL = '{"bomFormat": "CycloneDX", "specVersion": "1.6"}\n'
OUTER = {"outer/__init__.py": "from inner import value\n", "outer-1.0.dist-info/sboms/rust.cdx.json": BILL}
INNER = {"inner/__init__.py": "value = 1\n", "inner-2.0.dist-info/licenses/LICENSE": "Do what you like.\n"}
VERSIONS = (SchemaVersion.V1_6, SchemaVersion.V1_7)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("materials")
    found = [
        wheels.wheel(folder / "wheels", "outer", "1.0", OUTER, needs=["inner>=1", "absent; extra == 'more'"]),
        wheels.wheel(folder / "wheels", "inner", "2.0", INNER),
    ]
    project = folder / "project"
    project.mkdir()
    (project / "tools.py").write_text(TOOLS)
    for wheel in found:
        (project / wheel.name).write_bytes(wheel.read_bytes())
    names = (f"{wheel.name.partition('-')[0]} @ ./{wheel.name}\n" for wheel in found)
    (project / "requirements.txt").write_text("".join(names))
    return project


@pytest.fixture(scope="module")
def built(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(project, tmp_path_factory.mktemp("built") / "server.pyz", "--http")


def bill_of(path: Path) -> dict[str, Any]:
    with zipfile.ZipFile(path) as archive:
        found: dict[str, Any] = json.loads(archive.read(SBOM))
    return found


def problems(bill: dict[str, Any]) -> list[str]:
    text = readable_json(bill).decode()
    found = ((version, JsonStrictValidator(version).validate_str(text)) for version in VERSIONS)
    return [f"{version}: {problem}" for version, problem in found if problem is not None]


def test_it_is_valid_cyclonedx(built: Path) -> None:
    assert problems(bill_of(built)) == []
    assert problems({**bill_of(built), "components": [{"type": "unheard of"}]}) != []


def test_it_names_what_is_in_the_file_and_what_needs_what(built: Path) -> None:
    bill = bill_of(built)
    assert bill["metadata"]["component"]["version"] == "1.2.0"
    assert [(tool["name"], tool["version"]) for tool in bill["metadata"]["tools"]["components"]] == [
        ("mcp-compiler", __version__)
    ]
    rows = {row["name"]: row for row in bill["components"]}
    assert {"mcpc-runtime", "outer", "inner", "h11", "uvicorn"} == rows.keys()
    graph = {row["ref"]: row.get("dependsOn", []) for row in bill["dependencies"]}
    assert graph.keys() == {"server", *(row["bom-ref"] for row in bill["components"])}
    assert graph["server"] == ["mcpc-runtime", "pkg:pypi/inner@2.0", "pkg:pypi/outer@1.0"]
    assert graph["mcpc-runtime"] == [rows["uvicorn"]["bom-ref"]]
    assert graph["pkg:pypi/outer@1.0"] == ["pkg:pypi/inner@2.0"]
    assert graph["pkg:pypi/inner@2.0"] == []


def test_places_and_digests_are_those_of_the_file(built: Path) -> None:
    rows = {row["name"]: row for row in bill_of(built)["components"]}
    files = contents(built)
    for row in rows.values():
        for occurrence in row["evidence"]["occurrences"]:
            assert any(name.startswith(occurrence["location"]) for name in files), occurrence
    own = sorted(
        (name.removeprefix("site/"), data)
        for name, data in files.items()
        if name.startswith(("site/inner/", "site/inner-")) and not name.endswith(".pyc")
    )
    lines = "".join(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in own)
    assert rows["inner"]["properties"] == [
        {"name": "mcpc:filesDigest", "value": hashlib.sha256(lines.encode()).hexdigest()}
    ]
    assert rows["inner"]["licenses"] == [{"expression": "MIT"}]


def test_bills_of_wheels_are_kept_and_referred_to(built: Path) -> None:
    place = "site/outer-1.0.dist-info/sboms/rust.cdx.json"
    assert contents(built)[place] == BILL.encode()
    digest = {"alg": "SHA-256", "content": hashlib.sha256(BILL.encode()).hexdigest()}
    outer = next(row for row in bill_of(built)["components"] if row["name"] == "outer")
    assert outer["externalReferences"] == [{"type": "bom", "url": place, "hashes": [digest]}]
