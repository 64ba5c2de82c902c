"""Commands that download the program that they start: which package it is, and whether its version is fixed.

What is not fixed can be another program tomorrow.  A tag of an image counts as a version, `latest` and none do not.
"""

from __future__ import annotations

import re
import shlex
from pathlib import PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class PackageSource(NamedTuple):
    """Where programs come from.

    `fixed`: the form of a package whose version is fixed; `naming`: options that name the package; `valued`: other
    options with a value.
    """

    fixed: re.Pattern[str]
    naming: str
    valued: str


NPM = PackageSource(
    re.compile(r".{1,200}@v?\d+\.\d+\.\d+[\w.+-]{0,60}$|.{1,500}#[0-9a-f]{40}$"),
    "-p --package",
    "-c --call --registry --cache --prefix -w --workspace",
)
PYTHON = PackageSource(
    re.compile(r".{1,200}(?:==|@)v?\d+[\w.+!-]{0,80}$|.{1,500}@[0-9a-f]{40}(?:#.{1,200})?$"),
    "--from --spec",
    "--with --python -p --index --index-url --default-index --extra-index-url --with-requirements "
    "--refresh-package --directory --cache-dir --project --find-links --constraints -c --env-file",
)
IMAGE = PackageSource(
    re.compile(r".{1,400}@sha256:[0-9a-f]{64}$|.{1,400}:(?!latest$)[\w][\w.-]{0,127}$"),
    "",
    "-e --env --env-file -v --volume --mount -p --publish --name --network --net -w --workdir -u --user "
    "--entrypoint --platform -l --label -m --memory --cpus --add-host --cap-add --cap-drop --security-opt --tmpfs "
    "--ulimit --dns -h --hostname --gpus --device --pull --log-driver --log-opt --shm-size --restart --runtime "
    "--userns",
)
DOWNLOADERS: tuple[tuple[str, str, PackageSource], ...] = (
    ("npx bunx pnpx", "", NPM),
    ("bun npm", "x", NPM),
    ("pnpm yarn", "dlx", NPM),
    ("npm", "exec", NPM),
    ("uvx", "", PYTHON),
    ("uv", "tool run", PYTHON),
    ("pipx", "run", PYTHON),
    ("docker podman nerdctl", "run", IMAGE),
)
"""The programs that download, the words before the package, and where it comes from."""
ENDINGS = (".exe", ".cmd", ".bat", ".ps1")
SHELLS = frozenset({"sh", "bash", "zsh", "dash", "cmd"})
LOCAL = re.compile(r"\.{0,2}[/\\]|~|file:|[A-Za-z]:[/\\]|\.{1,2}$")
MAX_WORDS = 500


def program_name(word: str) -> str:
    """Return the name of a program without its folder and without an ending of Windows."""
    name = (PureWindowsPath if "\\" in word else PurePosixPath)(word).name.lower()
    return next((name.removesuffix(ending) for ending in ENDINGS if name.endswith(ending)), name)


def unwrapped(words: Sequence[str]) -> list[str]:
    """Return the command that a shell is asked to run, or the command itself."""
    found = [*words[:MAX_WORDS]]
    if len(found) < 3 or program_name(found[0]) not in SHELLS:
        return found
    if found[1].lower() == "/c":
        return found[2:]
    try:
        return shlex.split(found[2]) if re.match("-.*c$", found[1]) else found
    except ValueError:
        return found


def unfixed_package(words: Sequence[str]) -> str:
    """Return the package of a command that downloads it in no fixed version, or an empty text."""
    command = unwrapped(words)
    for programs, before, source in DOWNLOADERS if command else ():
        if program_name(command[0]) in programs.split():
            package = _package(command[1:], before.split(), source)
            if package and not source.fixed.fullmatch(package) and not LOCAL.match(package):
                return package
    return ""


def _package(words: Sequence[str], before: list[str], source: PackageSource) -> str:
    """Return the package that a command names: by an option, else its first word that is not an option."""
    first, at = "", 0
    while at < len(words):
        word = words[at]
        name, sign, value = word.partition("=")
        if name in source.naming.split():
            return value if sign else "".join(words[at + 1 : at + 2])
        if word.startswith("-"):
            at += 1 + (word in source.valued.split())
            continue
        if not before:
            first = word
            break
        if word != before.pop(0):
            return ""
        at += 1
    return first
