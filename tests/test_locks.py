"""The locks hold every dependency to its hash, and name nothing of the machine they were made on."""

from __future__ import annotations

import json
import re
import tomllib
from importlib import metadata
from typing import Any

import pytest
from packaging.requirements import Requirement

from mcpc import DISTRIBUTION
from support.needs import ROOT

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
NEEDED = [*PROJECT["project"]["dependencies"], *PROJECT["build-system"]["requires"]]
GROUPS = PROJECT["dependency-groups"]
START_UP = [row for row in (*GROUPS["start-up"], *GROUPS["platforms"]) if isinstance(row, str)]
DEVELOPMENT = [row for row in GROUPS["dev"] if isinstance(row, str)]
LOCKS = {
    "requirements.lock": NEEDED,
    "requirements-dev.lock": [*NEEDED, *DEVELOPMENT, *START_UP],
    "requirements-launchers.lock": GROUPS["launchers"],
    "requirements-platforms.lock": GROUPS["platforms"],
    "requirements-start-up.lock": [*NEEDED, *START_UP],
    "requirements-wine.lock": [],
}
NPM_LOCKS = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("[!.]*/**/package-lock.json"))


@pytest.mark.parametrize("lock", LOCKS)
def test_every_requirement_has_a_version_and_hashes(lock: str) -> None:
    text = re.sub(r"#.*", "", (ROOT / lock).read_text())
    requirements = re.findall(r"^\S(?:.*\\\n)*.*", text, re.MULTILINE)
    assert requirements
    for requirement in requirements:
        assert re.match(r"[a-z0-9-]+==\S+", requirement), requirement
        assert "--hash=sha256:" in requirement, requirement


@pytest.mark.parametrize("lock", LOCKS)
def test_it_has_what_the_project_asks_for(lock: str) -> None:
    locked = dict(re.findall(r"^([a-z0-9-]+)==(\S+)", (ROOT / lock).read_text(), re.MULTILINE))
    missing = [row for row in map(Requirement, LOCKS[lock]) if locked.get(row.name) not in row.specifier]
    assert not missing, "run `make lock`"


def test_a_dependency_has_a_lower_bound_and_is_not_pinned() -> None:
    """The project can be a development dependency of one that pins the same packages."""
    for row in map(Requirement, PROJECT["project"]["dependencies"]):
        operators = {one.operator for one in row.specifier}
        assert ">=" in operators, row
        assert "==" not in operators, row


def test_the_distribution_has_one_name() -> None:
    """On PyPI, in the metadata, in the bill of materials and in what the documentation has people install."""
    assert PROJECT["project"]["name"] == DISTRIBUTION == metadata.metadata(DISTRIBUTION)["Name"]
    for page in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")):
        for words in re.findall(r"(?:pip|pipx|uv tool|uv) (?:install|add) (?:--dev )?([a-z][\w-]*)", page.read_text()):
            assert words == DISTRIBUTION, page


@pytest.mark.parametrize("lock", LOCKS)
def test_it_names_no_registry_and_no_path(lock: str) -> None:
    text = (ROOT / lock).read_text()
    assert not re.search(r"://|^--|find-links|index-url|/(home|root|tmp|opt|work)/", text, re.MULTILINE)


@pytest.mark.parametrize("lock", NPM_LOCKS)
def test_packages_of_node_have_integrity_and_no_address(lock: str) -> None:
    packages = json.loads((ROOT / lock).read_text())["packages"]
    for name, row in packages.items():
        assert "resolved" not in row, name
        assert name == "" or "integrity" in row, name


def test_the_build_group_is_the_build_system() -> None:
    assert PROJECT["dependency-groups"]["build"] == PROJECT["build-system"]["requires"]
