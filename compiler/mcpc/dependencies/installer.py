"""pip, run as a process of its own: wheels only, into a folder, and a failure said in pip's own essential words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcpc import programs
from mcpc.dependencies.platforms import accepted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mcpc.dependencies.model import Requirement
    from mcpc.dependencies.platforms import Target

SECONDS = 900
ERROR = re.compile(r"^(?:ERROR|error): *(.*(?:\n {4,}\S.*)*)$", re.MULTILINE)
"""A reason, with the indented lines below it that say to what it applies."""
ADDRESS = re.compile(r"\b(?:https?|file)://[^\s'\";]+")
CONFLICT = re.compile(r"^The conflict is caused by: *\n((?: {4,}\S.*(?:\n|$))+)", re.MULTILINE)
"""Which packages ask for what, which pip says on standard output."""
SAYS_NOTHING = ("Ignored the following", "ResolutionImpossible")
"""How reasons begin that do not help."""
VERSIONS = re.compile(r"\(from versions: (?P<all>[^)]*)\)")
LISTED = re.compile(r"-r \S+ \(line (?P<number>\d+)\)")
SHOWN_LINES, SHOWN, SHOWN_HEAD, NEWEST = 3, 600, 120, 5
"""As much of pip's words is shown: what is too long loses its middle, and of the versions the newest are named."""


class InstallError(Exception):
    """pip did not install what it was asked for; the message is what it said."""


def install(wanted: Sequence[Requirement], target: Target, folder: Path, known: Sequence[str]) -> None:
    """Install wheels of what is `wanted`, and of what that needs, into `folder`; raise InstallError if pip does not.

    `known`: versions of packages that may be needed, as requirements.  Lists for pip are written beside `folder`.
    """
    rows = (" ".join((one.text, *(f"--hash={checksum}" for checksum in one.hashes))) for one in wanted)
    listing, constraints = folder.with_name("wanted.txt"), folder.with_name("known.txt")
    for path, lines in ((listing, rows), (constraints, known)):
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    argv = programs.python("-m", "pip", "--disable-pip-version-check", "--no-input", "--no-color", "install")
    argv += ["--no-user", "--no-compile", "--only-binary=:all:", "--no-warn-script-location", *_options(target)]
    argv += ["--target", str(folder), "--requirement", str(listing), "--constraint", str(constraints)]
    try:
        done = programs.run("pip", argv, SECONDS, cwd=folder.parent)
    except TimeoutError as problem:
        raise InstallError(str(problem)) from None
    if done.returncode:
        said, noted = (data.decode(errors="replace") for data in (done.stderr, done.stdout))
        raise InstallError(essence(said, noted, [one.text for one in wanted]) or f"status {done.returncode}")


def _options(target: Target) -> list[str]:
    """Return what has pip choose wheels for another machine or another Python than its own."""
    if target.is_here:
        return []
    named = [word for tag in accepted(target.platform) if tag for word in ("--platform", tag)]
    return [*named, "--python-version", target.python, "--implementation", "cp"]


def essence(said: str, noted: str = "", wanted: Sequence[str] = ()) -> str:
    """Return what pip gave as its reasons: the last of its errors, without the addresses of registries.

    `said`: its standard error; `noted`: its standard output, which has what conflicts with what; `wanted`: the lines of
    the list that it was given, by which it names requirements.
    """
    reasons = dict.fromkeys(" ".join(found.split()) for found in ERROR.findall(said) if found.strip())
    helpful = [reason for reason in reasons if not reason.startswith(SAYS_NOTHING)] or list(reasons)
    lines = helpful or [line.strip() for line in said.splitlines() if line.strip()]
    found = CONFLICT.search(noted)
    conflict = [", ".join(line.strip() for line in found[1].splitlines())] if found else []
    text = "; ".join([*(line.rstrip(".") for line in lines[-SHOWN_LINES:]), *conflict])
    text = VERSIONS.sub(_newest, ADDRESS.sub("…", LISTED.sub(lambda line: _listed(line, wanted), text)))
    return text if len(text) <= SHOWN else f"{text[:SHOWN_HEAD]} … {text[SHOWN_HEAD + 3 - SHOWN :]}"


def _newest(found: re.Match[str]) -> str:
    """Return the versions there are, without most of the older ones; pip names the newest last."""
    versions = found["all"].split(", ")
    return found[0] if len(versions) <= NEWEST else f"(from versions: …, {', '.join(versions[-NEWEST:])})"


def _listed(line: re.Match[str], wanted: Sequence[str]) -> str:
    """Return the requirement that pip names by its line of our list."""
    number = int(line["number"])
    return wanted[number - 1] if 0 < number <= len(wanted) else line[0]
