"""Installation of wheels by pip in a separate process, and its failures, in its words but short."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import InvalidSdistFilename, canonicalize_name, parse_sdist_filename

from mcpc import programs
from mcpc.dependencies.pip_causes import Cause, PipOutput, cause_of
from mcpc.dependencies.platforms import accepted_tags
from mcpc.dependencies.upload_dates import limit_options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from subprocess import CompletedProcess

    from mcpc.dependencies.platforms import Target
    from mcpc.ir.requirements import RequestedPackage

TIMEOUT_SECONDS = 900
NO_INDEX = "--no-index"
"""The option by which pip asks no registry."""
ERROR = re.compile(r"^(?:ERROR|error): *(.*(?:\n {4,}\S.*)*)$", re.MULTILINE)
"""A reason, with the indented lines below it that it applies to."""
ADDRESS = re.compile(r"\b(?:https?|file)://[^\s'\";]+")
CONFLICT = re.compile(r"^The conflict is caused by: *\n((?: {4,}\S.*(?:\n|$))+)", re.MULTILINE)
"""Which packages conflict; pip prints it to standard output."""
CONSTRAINT = re.compile(r"^ {4,}The user requested \(constraint\) (\S+==[^\s*]+)$", re.MULTILINE)
"""A version that pip had to use, in such a list."""
UNHELPFUL = ("Ignored the following", "ResolutionImpossible")
"""Beginnings of reasons that do not help."""
VERSIONS = re.compile(r"\(from versions: (?P<all>[^)]*)\)")
LINE_REFERENCE = re.compile(r"-r \S+ \(line (?P<number>\d+)\)")
SHOWN_LINES, SHOWN, SHOWN_HEAD, NEWEST = 3, 600, 120, 5
"""Limits of pip's quoted output: a long text is shortened in the middle, and only the newest versions are named."""


UNMATCHED = re.compile(r"^ERROR: No matching distribution found for (?P<text>.+?)(?: \(from [^()]*\))?$", re.MULTILINE)
NEEDED_BY = re.compile(r"satisfies the requirement .*? \(from (?!versions:)(?P<chain>[^()]*(?:->[^()]*)?)\)")
SOURCE = re.compile(r"Skipping link: No sources permitted for \S+: (?P<address>\S+)")
"""What pip writes into its log of a source distribution that it may not use."""


class InstallError(Exception):
    """pip did not install the packages; the message is the cause or its output, `whole` all of that."""

    def __init__(self, message: str, whole: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.whole, self.hint = whole, hint


class NoWheelError(InstallError):
    """A package has no wheel for the target, but its sources.

    `text`: the requirement; `by`: the package that needs it, empty if that is the project; `lock`: the path of the lock
    that it is about, empty if that is a registry.
    """

    def __init__(self, text: str, by: str, lock: str = "") -> None:
        super().__init__(f"`{text}` has no wheel, only its sources")
        self.text = text
        self.by = by
        self.lock = lock

    def describe(self, target: Target) -> str:
        """Return the message for users."""
        by = f", which `{self.by}` needs," if self.by else ""
        where = f" in `{self.lock}`" if self.lock else ""
        return f"`{self.text}`{by} has no wheel for {target.name}{where}, only its sources"


@dataclass(frozen=True, slots=True)
class Installation:
    """What pip is to install: requirements for a target, versions that it must use, and wheels that were built.

    `wheels`: the path of a wheel by the name of its package; `known`: requirements that apply if anything needs them;
    `exclude_newer`: the date up to which versions count; `options`: further options of pip.
    """

    wanted: Sequence[RequestedPackage]
    target: Target
    known: Sequence[str]
    wheels: Mapping[str, Path]
    exclude_newer: str = ""
    options: Sequence[str] = ()


def install_wheels(asked: Installation, folder: Path) -> None:
    """Install wheels and all that they need into `folder`; raise InstallError if pip fails.

    Lists for pip are written beside `folder`.
    """
    rows = [requirement_line(item, asked.wheels) for item in asked.wanted]
    listing, constraints, log = (folder.with_name(name) for name in ("wanted.txt", "known.txt", "pip.log"))
    for path, lines in ((listing, rows), (constraints, asked.known)):
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    argv = programs.python_command("-m", "pip", "--disable-pip-version-check", "--no-input", "--no-color", "install")
    argv += [
        "--no-user",
        "--no-compile",
        "--only-binary=:all:",
        "--no-warn-script-location",
        *target_options(asked.target),
    ]
    argv += [word for path in sorted({path.parent for path in asked.wheels.values()}) for word in _links(path)]
    argv += [*dict.fromkeys(option for item in asked.wanted for option in item.indexes), *asked.options]
    argv += ["--target", str(folder), "--log", str(log)]
    argv += ["--requirement", str(listing), "--constraint", str(constraints), *limit_options(asked.exclude_newer)]
    try:
        done = programs.run_program("pip", argv, TIMEOUT_SECONDS, cwd=folder.parent, more=offline_variables(argv))
    except TimeoutError as problem:
        raise InstallError(str(problem)) from None
    if done.returncode:
        output = read_output(done, log)
        absent = missing_wheel(output.said, output.logged) or refused_version(output.noted, output.logged)
        if absent is not None:
            raise absent
        cause = cause_of(output, asked.target, is_offline=NO_INDEX in argv) or Cause("", "")
        words = cause.message or shorten_errors(output.said, output.noted, [item.text for item in asked.wanted])
        raise InstallError(words or f"status {done.returncode}", output.said, cause.hint)


def read_output(done: CompletedProcess[bytes], log: Path) -> PipOutput:
    """Return what pip printed, and what it wrote into its log."""
    said, noted = (data.decode(errors="replace") for data in (done.stderr, done.stdout))
    return PipOutput(said, noted, log.read_text(encoding="utf-8", errors="replace") if log.exists() else "")


def offline_variables(options: Sequence[str]) -> dict[str, str]:
    """Return variables by which pip uses none of the user's registries and pages, if the options leave them out."""
    if NO_INDEX not in options:
        return {}
    return {"PIP_CONFIG_FILE": os.devnull, "PIP_CONSTRAINT": "", "PIP_FIND_LINKS": "", "PIP_REQUIREMENT": ""}


def _links(folder: Path) -> tuple[str, str]:
    return "--find-links", str(folder)


def requirement_line(item: RequestedPackage, wheels: Mapping[str, Path]) -> str:
    """Return the line of a requirement for pip; a package of the project is its wheel."""
    text = item.text
    if item.local is not None or item.repository is not None or item.index:
        parsed = Requirement(text)
        parsed.url = wheels[item.name].as_uri()
        text = str(parsed)
    built = [f"sha256:{sha256_of(wheels[item.name])}"] if item.hashes and item.name in wheels else []
    return " ".join((text, *(f"--hash={checksum}" for checksum in (*item.hashes, *built))))


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def missing_wheel(said: str, logged: str) -> NoWheelError | None:
    """Return the requirement that pip found only source distributions for; None if it failed for another reason.

    `said`: pip's errors; `logged`: its log, which has every file that it did not use.
    """
    found = UNMATCHED.search(said)
    if found is None:
        return None
    try:
        wanted = Requirement(found["text"])
    except InvalidRequirement:
        return None
    if _has_sources(wanted, logged):
        by = NEEDED_BY.search(said)
        return NoWheelError(found["text"], by["chain"].split("->")[-1].strip() if by else "")
    return None


def refused_version(noted: str, logged: str) -> NoWheelError | None:
    """Return the version that a constraint asks for and that has only sources: pip calls that a conflict."""
    for text in CONSTRAINT.findall(noted):
        if _has_sources(Requirement(text), logged):
            return NoWheelError(text, "")
    return None


def _has_sources(wanted: Requirement, logged: str) -> bool:
    """Tell whether pip found a source distribution of this requirement, and did not use it."""
    for name in (address.partition("#")[0].rpartition("/")[2] for address in SOURCE.findall(logged)):
        try:
            project, version = parse_sdist_filename(name)
        except (InvalidSdistFilename, ValueError):
            continue
        if project == canonicalize_name(wanted.name) and wanted.specifier.contains(version, prereleases=True):
            return True
    return False


def target_options(target: Target) -> list[str]:
    """Return options with which pip selects wheels for another machine or another Python."""
    if target.is_here:
        return []
    named = [word for tag in accepted_tags(target.platform) if tag for word in ("--platform", tag)]
    return [*named, "--python-version", target.python, "--implementation", "cp"]


def shorten_errors(said: str, noted: str = "", wanted: Sequence[str] = ()) -> str:
    """Return pip's reasons: the last of its errors, without the addresses of registries.

    `said`: its standard error; `noted`: its standard output, which has the conflicts; `wanted`: the lines of its
    requirements file, by whose numbers it names requirements.
    """
    reasons = dict.fromkeys(" ".join(found.split()) for found in ERROR.findall(said) if found.strip())
    helpful = [reason for reason in reasons if not reason.startswith(UNHELPFUL)] or list(reasons)
    lines = helpful or [line.strip() for line in said.splitlines() if line.strip()]
    found = CONFLICT.search(noted)
    conflict = [", ".join(line.strip() for line in found[1].splitlines())] if found else []
    text = "; ".join([*(line.rstrip(".") for line in lines[-SHOWN_LINES:]), *conflict])
    text = VERSIONS.sub(_newest, ADDRESS.sub("…", LINE_REFERENCE.sub(lambda line: _listed(line, wanted), text)))
    return text if len(text) <= SHOWN else f"{text[:SHOWN_HEAD]} … {text[SHOWN_HEAD + 3 - SHOWN :]}"


def _newest(found: re.Match[str]) -> str:
    """Return the existing versions, without most of the older ones; pip names the newest last."""
    versions = found["all"].split(", ")
    return found[0] if len(versions) <= NEWEST else f"(from versions: …, {', '.join(versions[-NEWEST:])})"


def _listed(line: re.Match[str], wanted: Sequence[str]) -> str:
    """Return the requirement that pip names by its line in the requirements file."""
    number = int(line["number"])
    return wanted[number - 1] if 0 < number <= len(wanted) else line[0]
