"""Installation by pip in a separate process: only wheels, into a folder; failures are quoted in pip's own words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcpc import programs
from mcpc.dependencies.platforms import accepted_tags

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mcpc.dependencies.model import RequestedPackage
    from mcpc.dependencies.platforms import Target

TIMEOUT_SECONDS = 900
ERROR = re.compile(r"^(?:ERROR|error): *(.*(?:\n {4,}\S.*)*)$", re.MULTILINE)
"""A reason, with the indented lines below it that it applies to."""
ADDRESS = re.compile(r"\b(?:https?|file)://[^\s'\";]+")
CONFLICT = re.compile(r"^The conflict is caused by: *\n((?: {4,}\S.*(?:\n|$))+)", re.MULTILINE)
"""Which packages conflict; pip prints it to standard output."""
UNHELPFUL = ("Ignored the following", "ResolutionImpossible")
"""Beginnings of reasons that do not help."""
VERSIONS = re.compile(r"\(from versions: (?P<all>[^)]*)\)")
LINE_REFERENCE = re.compile(r"-r \S+ \(line (?P<number>\d+)\)")
SHOWN_LINES, SHOWN, SHOWN_HEAD, NEWEST = 3, 600, 120, 5
"""Limits of pip's quoted output: a long text is shortened in the middle, and only the newest versions are named."""


class InstallError(Exception):
    """pip did not install the packages; the message is its output."""


def install_wheels(wanted: Sequence[RequestedPackage], target: Target, folder: Path, known: Sequence[str]) -> None:
    """Install wheels of `wanted`, and of their requirements, into `folder`; raise InstallError if pip fails.

    `known`: versions of packages that may be needed, as requirements.  Lists for pip are written beside `folder`.
    """
    rows = (" ".join((item.text, *(f"--hash={checksum}" for checksum in item.hashes))) for item in wanted)
    listing, constraints = folder.with_name("wanted.txt"), folder.with_name("known.txt")
    for path, lines in ((listing, rows), (constraints, known)):
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    argv = programs.python_command("-m", "pip", "--disable-pip-version-check", "--no-input", "--no-color", "install")
    argv += ["--no-user", "--no-compile", "--only-binary=:all:", "--no-warn-script-location", *_options(target)]
    argv += ["--target", str(folder), "--requirement", str(listing), "--constraint", str(constraints)]
    try:
        done = programs.run_program("pip", argv, TIMEOUT_SECONDS, cwd=folder.parent)
    except TimeoutError as problem:
        raise InstallError(str(problem)) from None
    if done.returncode:
        said, noted = (data.decode(errors="replace") for data in (done.stderr, done.stdout))
        raise InstallError(shorten_errors(said, noted, [item.text for item in wanted]) or f"status {done.returncode}")


def _options(target: Target) -> list[str]:
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
