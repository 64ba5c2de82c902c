"""The bill of materials of a built file: complete, valid CycloneDX, and the same for the same sources."""

from __future__ import annotations

import hashlib
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from mcpc import __version__
from mcpc.pack.manifest import SBOM, readable_json
from support import wheels
from support.artifact import build, contents

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
