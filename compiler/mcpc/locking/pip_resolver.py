"""Versions by `pip install --dry-run --report`: one resolution for each target, with its tags, from wheels only.

pip evaluates the markers of requirements for the running Python, also for another target.  So those of the project are
evaluated here, and what pip left out is named to it, as in an installation (`dependencies.staging`).
"""

from __future__ import annotations

import json
import posixpath
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from packaging.requirements import Requirement

from mcpc import programs
from mcpc.dependencies.indexes import SEVERAL_HELP, several_registries
from mcpc.dependencies.lock_files import SHA256, LockedFile
from mcpc.dependencies.pep508 import applies, find_closure, normalised_name
from mcpc.dependencies.pip_causes import Cause, cause_of
from mcpc.dependencies.pip_install import (
    NO_INDEX,
    TIMEOUT_SECONDS,
    missing_wheel,
    offline_variables,
    read_output,
    refused_version,
    requirement_line,
    shorten_errors,
    target_options,
)
from mcpc.dependencies.platforms import marker_values
from mcpc.dependencies.upload_dates import earliest, limit_options
from mcpc.ir.requirements import RequestedPackage
from mcpc.locking.failures import OnlySourcesError, ResolutionError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcpc.dependencies.pip_causes import PipOutput
    from mcpc.dependencies.platforms import Target
    from mcpc.locking.request import LockRequest

OPTIONS = ("--dry-run", "--ignore-installed", "--only-binary=:all:", "--quiet")
MAX_ROUNDS = 50


@dataclass(frozen=True, slots=True)
class ReportedPackage:
    """A package of pip's report: its metadata, and its file."""

    version: str
    requires: tuple[str, ...]
    file: LockedFile


def resolve_by_pip(request: LockRequest, local: Mapping[str, Path]) -> dict[Target, dict[str, LockedFile]]:
    """Return the files of each target; raise ResolutionError."""
    several = several_registries(request.indexes)
    if several:
        raise ResolutionError(f"{several}; {SEVERAL_HELP}")
    return {target: _resolve_target(request, target, local) for target in request.targets}


def _resolve_target(request: LockRequest, target: Target, local: Mapping[str, Path]) -> dict[str, LockedFile]:
    markers = marker_values(target)
    texts = [item.text for item in request.wanted]
    wanted = [_without_marker(item) for item in request.wanted if applies(Requirement(item.text), "", markers)]
    for _ in range(MAX_ROUNDS):
        known = _report(request, wanted, target, local) if wanted else {}
        closure = find_closure(texts, known.get, markers)
        absent = [text for _, text in closure.missing if normalised_name(Requirement(text).name) not in known]
        if not absent:
            break
        wanted += [RequestedPackage(normalised_name(Requirement(text).name), text) for text in absent]
    if closure.missing:
        by, text = closure.missing[0]
        raise ResolutionError(f"`{by}` needs `{text}` on {target.name}, which pip did not choose")
    return {name: item.file for name, item in closure.found.items() if name not in local}


def _without_marker(item: RequestedPackage) -> RequestedPackage:
    requirement = Requirement(item.text)
    requirement.marker = None
    return replace(item, text=str(requirement), hashes=())


def _report(
    request: LockRequest, wanted: Sequence[RequestedPackage], target: Target, local: Mapping[str, Path]
) -> dict[str, ReportedPackage]:
    """Return what pip would install for a target, by name."""
    named = {item.name for item in wanted if Requirement(item.text).url}
    constraints = [
        f"{name}=={text}" for name, text in sorted(request.preferred.items()) if name not in named | {*local}
    ]
    constraints += sorted({text for item in request.wanted for text in item.constraints})
    with tempfile.TemporaryDirectory(prefix="mcpc-") as made:
        folder = Path(made).resolve()
        for name, rows in (
            ("wanted.txt", [requirement_line(item, local) for item in wanted]),
            ("known.txt", constraints),
        ):
            (folder / name).write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
        words = programs.python_command(
            "-m", "pip", "--disable-pip-version-check", "--no-input", "--no-color", "install"
        )
        words += [*OPTIONS, "--report", "report.json", "--log", "pip.log", *target_options(target), *request.indexes]
        words += ["--target", "unused"]  # pip before 23.3 takes options of a machine only with a folder to install into
        words += ["--requirement", "wanted.txt", "--constraint", "known.txt"]
        words += limit_options(earliest(item.exclude_newer for item in request.wanted))
        try:
            done = programs.run_program("pip", words, TIMEOUT_SECONDS, cwd=folder, more=offline_variables(words))
        except TimeoutError as problem:
            raise ResolutionError(str(problem)) from None
        if done.returncode:
            output = read_output(done, folder / "pip.log")
            raise _failure(output, target, [item.text for item in wanted], is_offline=NO_INDEX in words)
        rows = json.loads((folder / "report.json").read_bytes())["install"]
    return {found.file.package: found for found in map(_reported, rows)}


def _failure(output: PipOutput, target: Target, texts: Sequence[str], *, is_offline: bool) -> ResolutionError:
    """Return why pip chose nothing: first of all a package that has no wheel for the target."""
    absent = missing_wheel(output.said, output.logged) or refused_version(output.noted, output.logged)
    if absent is not None:
        return OnlySourcesError(absent, target)
    cause = cause_of(output, target, is_offline=is_offline) or Cause("", "")
    words = cause.message or shorten_errors(output.said, output.noted, texts)
    return ResolutionError(f"no versions for {target.name}: {words}", cause.hint)


def _reported(row: Mapping[str, Any]) -> ReportedPackage:
    """Return one package of pip's report."""
    described, place = row["metadata"], row["download_info"]
    address = str(place["url"])
    name, version = normalised_name(described["name"]), str(described["version"])
    digest = str(place.get("archive_info", {}).get("hashes", {}).get(SHA256, ""))
    file = posixpath.basename(unquote(urlsplit(address).path))
    return ReportedPackage(
        version, tuple(described.get("requires_dist", ())), LockedFile(name, version, file, digest, None, address)
    )
