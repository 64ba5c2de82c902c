"""The recipes for signing in docs/trust.md that need no network, run as they are written; and what they sign."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from mcpc.cli.attest.checksums import command as checksums
from mcpc.cli.attest.statements import provenance, sbom
from mcpc.pack.archive import sha256_hex
from mcpc.release.trust.statements import ChecksumError, listed_digests, write_checksums
from support.artifact import SOURCES, build
from support.files import write_files
from support.needs import ROOT, needs
from support.projects import SMOKETEST

RECIPES = ("ssh-keygen", "gpg", "openssl")
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


@pytest.fixture
def signing_home() -> Iterator[Path]:
    """A home folder with a short path: gpg's agent listens in it."""
    with tempfile.TemporaryDirectory(prefix="sign", dir="/tmp") as made:
        yield Path(made)


@pytest.mark.parametrize("program", RECIPES)
def test_a_recipe_signs_and_refuses_a_changed_list(
    program: str, folder: Path, tmp_path: Path, signing_home: Path
) -> None:
    needs(program, "bash")
    page = (ROOT / "docs/trust.md").read_text(encoding="utf-8")
    found = re.search(rf"^### {program}\n+```sh\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert found is not None
    recipe = found[1].replace("mcpc ", f"{sys.executable} -m mcpc ")
    (tmp_path / "server.pyz").write_bytes((folder / "server.pyz").read_bytes())
    (tmp_path / "SHA256SUMS").write_bytes(write_checksums([tmp_path / "server.pyz"]))
    environment = {"PATH": os.environ["PATH"], "HOME": str(signing_home), "PYTHONPATH": SOURCES}
    environment["GNUPGHOME"] = str(signing_home)
    options: dict[str, Any] = {"cwd": tmp_path, "env": environment, "capture_output": True, "text": True}
    try:
        done = subprocess.run(["bash", "-euc", recipe], **options, timeout=300, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        (tmp_path / "SHA256SUMS").write_text((tmp_path / "SHA256SUMS").read_text().replace("server", "server2"))
        verification = next(line for line in recipe.splitlines() if "verify" in line)
        assert subprocess.run(["bash", "-euc", verification], **options, timeout=300, check=False).returncode != 0
    finally:
        if program == "gpg":
            subprocess.run(["gpgconf", "--kill", "all"], **options, timeout=60, check=False)


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
