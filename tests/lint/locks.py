"""The locks hold every dependency to its hash, have what the project asks for, and name nothing of one machine."""

import json
import re
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from mcpc import DISTRIBUTION

OF_ONE_MACHINE = re.compile(r"://|^--|find-links|index-url|/(home|root|tmp|opt|work)/", re.MULTILINE)
LOCKED = ("dev", "launchers", "platforms", "start-up", "test")
"""The groups with a lock of their own."""
INSTALLED = re.compile(r"(?:pip|pipx|uv tool|uv) (?:install|add) (?:--dev )?([a-z][\w-]*)")


def check(root: Path) -> Iterator[str]:
    """Yield what is wrong with each lock, and with what it is made from."""
    project: dict[str, Any] = tomllib.loads((root / "pyproject.toml").read_text())
    yield from project_offences(root, project)
    for name, wanted in requirements_of_locks(project).items():
        yield from (f"{name}: {offence}" for offence in lock_offences((root / name).read_text(), wanted))
    for lock in sorted(root.glob("[!.]*/**/package-lock.json")):
        yield from (f"{lock.relative_to(root)}: {offence}" for offence in node_offences(lock.read_text()))


def requirements_of_locks(project: dict[str, Any]) -> dict[str, list[str]]:
    """Return what each lock has to have."""
    needed = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    groups = project["dependency-groups"]
    locks = {f"requirements-{name}.lock": list(rows(groups, name)) for name in LOCKED}
    locks |= {"requirements.lock": [], "requirements-wine.lock": []}
    alone = ("requirements-launchers.lock", "requirements-platforms.lock", "requirements-wine.lock")
    return {lock: group if lock in alone else [*needed, *group] for lock, group in locks.items()}


def rows(groups: dict[str, list[Any]], name: str) -> Iterator[str]:
    """Yield the requirements of a group and of those it includes."""
    for row in groups[name]:
        if isinstance(row, str):
            yield row
        else:
            yield from rows(groups, row["include-group"])


def project_offences(root: Path, project: dict[str, Any]) -> Iterator[str]:
    """Yield what in pyproject.toml contradicts itself, or what the documentation says of it."""
    for row in map(Requirement, project["project"]["dependencies"]):
        operators = {one.operator for one in row.specifier}
        if ">=" not in operators or "==" in operators:
            yield f"pyproject.toml: {row}: a lower bound and no exact version, for projects that pin the same package"
    if project["dependency-groups"]["build"] != project["build-system"]["requires"]:
        yield "pyproject.toml: the group `build` is not the build system"
    names = {project["project"]["name"], DISTRIBUTION, metadata.metadata(DISTRIBUTION)["Name"]}
    for page in (*root.glob("*.md"), *root.glob("docs/*.md")):
        names.update(INSTALLED.findall(page.read_text()))
    if len(names) > 1:
        yield f"the distribution has several names: {', '.join(sorted(names))}"


def lock_offences(text: str, wanted: list[str]) -> Iterator[str]:
    """Yield what is wrong with a lock that has to satisfy `wanted`."""
    if OF_ONE_MACHINE.search(text):
        yield "it names a registry or a path"
    requirements = re.findall(r"^\S(?:.*\\\n)*.*", re.sub(r"#.*", "", text), re.MULTILINE)
    for requirement in requirements:
        if not re.match(r"[a-z0-9-]+==\S+", requirement) or "--hash=sha256:" not in requirement:
            yield f"no version or no hash: {requirement.partition(' ')[0]}"
    locked = dict(re.findall(r"^([a-z0-9-]+)==(\S+)", text, re.MULTILINE))
    for row in map(Requirement, wanted):
        if row.name not in locked or locked[row.name] not in row.specifier:
            yield f"{row} is not satisfied; run `make lock`"


def node_offences(text: str) -> Iterator[str]:
    """Yield the packages of a lock of npm that have an address, or no digest."""
    for name, row in json.loads(text)["packages"].items():
        if "resolved" in row or (name and "integrity" not in row):
            yield f"{name}: an address, or no digest"
