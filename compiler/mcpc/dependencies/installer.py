"""pip, run as a process of its own: wheels only, into a folder, and a failure said in pip's own essential words."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

from shiv.constants import PIP_REQUIRE_VIRTUALENV  # type: ignore[import-untyped]

from mcpc.dependencies.platforms import accepted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mcpc.dependencies.model import Requirement
    from mcpc.dependencies.platforms import Target

SECONDS = 900
ELSEWHERE = (PIP_REQUIRE_VIRTUALENV, "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_USER", "PIP_PYTHON", "PIP_QUIET")
"""What would have pip install in another place, or say nothing."""
ERROR = re.compile(r"^(?:ERROR|error): *(.*(?:\n {4,}\S.*)*)$", re.MULTILINE)
"""A reason, with the indented lines below it that say to what it applies."""
ADDRESS = re.compile(r"\b(?:https?|file)://[^\s'\";]+")
SHOWN_LINES, SHOWN = 3, 400


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
    argv = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "--no-color", "install"]
    argv += ["--no-user", "--no-compile", "--only-binary=:all:", "--no-warn-script-location", *_options(target)]
    argv += ["--target", str(folder), "--requirement", str(listing), "--constraint", str(constraints)]
    variables = {name: value for name, value in os.environ.items() if name not in ELSEWHERE}
    try:
        done = subprocess.run(
            argv, capture_output=True, timeout=SECONDS, check=False, env=variables, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired:
        raise InstallError(f"it took longer than {SECONDS} seconds") from None
    if done.returncode:
        raise InstallError(essence(done.stderr.decode(errors="replace")) or f"status {done.returncode}")


def _options(target: Target) -> list[str]:
    """Return what has pip choose wheels for another machine or another Python than its own."""
    if target.is_here:
        return []
    named = [word for tag in accepted(target.platform) if tag for word in ("--platform", tag)]
    return [*named, "--python-version", target.python, "--implementation", "cp"]


def essence(said: str) -> str:
    """Return what pip gave as its reasons: the last of its errors, without the addresses of registries."""
    reasons = dict.fromkeys(" ".join(found.split()) for found in ERROR.findall(said) if found.strip())
    lines = list(reasons) or [line.strip() for line in said.splitlines() if line.strip()]
    text = "; ".join(lines[-SHOWN_LINES:])
    return ADDRESS.sub("…", text)[:SHOWN]
