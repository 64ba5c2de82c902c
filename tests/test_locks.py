"""The locks hold every dependency to its hash, and name nothing of the machine they were made on."""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

import pytest

from needs import ROOT

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
NEEDED = [*PROJECT["project"]["dependencies"], *PROJECT["build-system"]["requires"]]
DEVELOPMENT = [row for row in PROJECT["dependency-groups"]["dev"] if isinstance(row, str)]
LOCKS = {"requirements.lock": NEEDED, "requirements-dev.lock": [*NEEDED, *DEVELOPMENT]}
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
    text = (ROOT / lock).read_text()
    wanted = [row.partition(";")[0].strip() for row in LOCKS[lock]]  # a marker is written in another order there
    missing = [row for row in wanted if not re.search(rf"^{re.escape(row)}\s", text, re.MULTILINE)]
    assert not missing, "run `make lock`"


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
