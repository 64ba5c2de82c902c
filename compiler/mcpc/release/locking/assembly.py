"""The table of a lock, made of files for each target: packages that are needed, edges between them, and markers.

A package that only some targets need has a marker; the lock itself names its environments, so that an installer refuses
a machine that it is not for.  What the project contains, or takes from a repository, is named without a version.  The
text has keys in the order of PEP 751 and one line a file: the same table gives the same bytes.
"""

from __future__ import annotations

import json
import os
import posixpath
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit, urlunsplit

from mcpc.model.ir.layer import Origins
from mcpc.packages.choosing import check_newest
from mcpc.packages.downloads import file_on_disk
from mcpc.packages.lock_files import CREATOR, SHA256, LockedFile
from mcpc.packages.locked_layer import WHEELS, install_locked
from mcpc.packages.platforms import marker_values
from mcpc.packages.staging import PackageRequest
from mcpc.packages.uv import NoWheelError, sha256_of
from mcpc.release.locking.request import OnlySourcesError, target_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mcpc.model.ir.layer import RequestedPackage
    from mcpc.packages.locked_layer import FileSelection, LockedPackages
    from mcpc.packages.platforms import Target
    from mcpc.packages.uv import UvRequest
    from mcpc.release.locking.request import LockRequest


MARKERS = ("sys_platform", "platform_machine", "python_version")
"""The markers by which targets differ."""


@dataclass(slots=True)
class LockedPackage:
    """One version of a package: the targets that need it, its files there, and the packages that it needs."""

    name: str
    version: str
    targets: list[Target] = field(default_factory=list)
    files: dict[str, dict[str, Any]] = field(default_factory=dict)
    needs: set[tuple[str, str]] = field(default_factory=set)
    origin: dict[str, Any] = field(default_factory=dict)


def assemble_lock(
    request: LockRequest, selection: FileSelection, root: str, local: Mapping[str, Path], asked: UvRequest | None = None
) -> tuple[dict[str, Any], tuple[LockedFile, ...]]:
    """Return the table of a lock, and its files; raise LockError if the selection does not satisfy the request.

    `root`: the folder of the project; `local`: wheels of what it contains; `asked`: what the selection was chosen for,
    if that is new: then each version has to be the newest one that uv would choose if it had a wheel.
    """
    packages: dict[tuple[str, str], LockedPackage] = {}
    files: dict[str, LockedFile] = {}
    places = {item.name: origin for item in request.wanted if (origin := _origin(item))}
    for target in request.targets:
        with tempfile.TemporaryDirectory(prefix="mcpc-") as folder:
            installed = _installed(
                PackageRequest(request.wanted, target), selection, (root, local), Path(folder).resolve()
            )
            if asked is not None:
                known = {name for name, file in installed.files.items() if not file.is_wheel}
                check_newest(installed.closure, known | places.keys() | local.keys(), replace(asked, target=target))
            versions = {name: item.version for name, item in installed.closure.found.items()}
        for name, version in versions.items():
            package = packages.setdefault((name, version), LockedPackage(name, version))
            package.targets.append(target)
            # A package that names an extra of its own needs itself.
            package.needs |= {(need, versions[need]) for need in installed.closure.needs.get(name, ()) if need != name}
            package.origin = places.get(name, {})
            file = installed.files.get(name) or _local_file(name, local, request)
            if file is not None and not package.origin:
                package.files[file.file] = _file_row(file, root)
                files[file.file] = file
    ordered = [packages[key] for key in sorted(packages)]
    names = [package.name for package in ordered]
    several = {name for name in names if names.count(name) > 1}
    table = {
        "lock-version": "1.0",
        "environments": sorted({_environment(target) for target in request.targets}),
        **({"requires-python": request.requires_python} if request.requires_python else {}),
        "created-by": CREATOR,
        "packages": [_row(package, request.targets, several) for package in ordered],
        "tool": {CREATOR: {"targets": [target_name(target) for target in request.targets]}},
    }
    return table, tuple(files[name] for name in sorted(files))


def _installed(
    request: PackageRequest, selection: FileSelection, project: tuple[str, Mapping[str, Path]], folder: Path
) -> LockedPackages:
    (folder / WHEELS).mkdir()
    try:
        return install_locked(request, selection, *project, folder)
    except NoWheelError as absent:
        raise OnlySourcesError(absent, request.goal) from None


def _local_file(name: str, local: Mapping[str, Path], request: LockRequest) -> LockedFile | None:
    """Return the file of a wheel that the project contains; None for anything else."""
    path = next((item.local.path for item in request.wanted if item.name == name and item.local is not None), "")
    if not path.endswith(".whl"):
        return None
    return LockedFile(name, "", local[name].name, sha256_of(local[name]), path=path)


def _row(package: LockedPackage, targets: Sequence[Target], several: set[str]) -> dict[str, Any]:
    """Return the row of a package; `several`: the names that have several versions."""
    marker = target_marker(package.targets, targets)
    needs = [
        {"name": name, "version": version} if name in several else {"name": name}
        for name, version in sorted(package.needs)
    ]
    wheels = [package.files[file] for file in sorted(package.files) if file.endswith(".whl")]
    sdist = next((package.files[file] for file in sorted(package.files) if not file.endswith(".whl")), None)
    return {
        "name": package.name,
        **({} if package.origin else {"version": package.version}),
        **({"marker": marker} if marker else {}),
        **({"dependencies": needs} if needs else {}),
        **package.origin,
        **({"sdist": sdist} if sdist else {}),
        **({"wheels": wheels} if wheels else {}),
    }


def _origin(item: RequestedPackage) -> dict[str, Any]:
    """Return where a package is that is not from a registry, in the form of PEP 751; nothing for others."""
    if item.local is not None and not item.local.is_wheel:
        return {"directory": {"path": item.local.path or "."}}
    if item.repository is not None:
        below = {"subdirectory": item.repository.below} if item.repository.below else {}
        place = {"type": "git", "url": item.repository.address, "commit-id": item.repository.revision}
        return {"vcs": {**place, **below}}
    return {}


def _file_row(file: LockedFile, root: str) -> dict[str, Any]:
    """Return the row of a file: its address without a password, or its path if it is on this machine."""
    place = file_on_disk(file, root, Origins())
    size = file.size if place is None else place.stat().st_size
    return {
        "name": file.file,
        **file_place(file, root),
        **({"size": size} if size is not None else {}),
        "hashes": {SHA256: file.sha256},
    }


def file_place(file: LockedFile, root: str) -> dict[str, str]:
    """Return where a file is: `path` is relative to the lock, with `/`."""
    parts = urlsplit(file.address)
    if parts.scheme and parts.scheme != "file":
        return {"url": urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, parts.query, ""))}
    path = Path(root, unquote(parts.path) if parts.scheme else file.path)
    return {"path": posixpath.normpath(Path(os.path.relpath(path, root or None)).as_posix())}


def _environment(target: Target) -> str:
    values = marker_values(target)
    return " and ".join(f"{name} == '{values[name]}'" for name in MARKERS)


def target_marker(some: Iterable[Target], every: Iterable[Target]) -> str:
    """Return a marker that is true on some targets and false on the others; an empty text if these are all."""
    wanted, others = {_environment(item) for item in some}, {_environment(item) for item in every}
    if wanted == others:
        return ""
    values = {_environment(item): marker_values(item) for item in every}
    for name in MARKERS:
        here = {values[item][name] for item in wanted}
        # One marker is enough if its values occur on no other target.
        if {item for item in others if values[item][name] in here} == wanted:
            return " or ".join(f"{name} == '{value}'" for value in sorted(here))
    return " or ".join(f"({item})" for item in sorted(wanted))


MULTILINE = frozenset({"environments", "wheels", "targets"})
"""Lists with a line for each item."""


def lock_text(table: Mapping[str, Any]) -> str:
    """Return the text of a lock's table; its keys keep their order."""
    blocks = [_pairs({key: value for key, value in table.items() if key not in ("packages", "tool")})]
    blocks += [f"[[packages]]\n{_pairs(row)}" for row in table["packages"]]
    blocks += [f"[tool.{name}]\n{_pairs(value)}" for name, value in table.get("tool", {}).items()]
    # PEP 751 requires the key, also where there are no rows.
    if not table["packages"]:
        blocks[0] += "packages = []\n"
    return "\n".join(blocks)


def _pairs(row: Mapping[str, Any]) -> str:
    return "".join(f"{key} = {_listed(value) if key in MULTILINE else _value(value)}\n" for key, value in row.items())


def _listed(values: list[Any]) -> str:
    return "[\n" + "".join(f"    {_value(value)},\n" for value in values) + "]"


def _value(value: Any) -> str:
    """Return a value in one line: a string as a basic string, whose escapes are those of JSON."""
    if isinstance(value, dict):
        return "{ " + ", ".join(_members(value)) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _members(table: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"{key} = {_value(value)}" for key, value in table.items())
