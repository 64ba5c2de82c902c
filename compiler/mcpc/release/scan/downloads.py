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


class Downloader(NamedTuple):
    """A program that downloads.

    `before`: the words before the package; `naming`: options that name it; `valued`: other options with a value;
    `fixed`: the form of a package whose version is fixed.
    """

    before: tuple[str, ...] = ()
    naming: frozenset[str] = frozenset()
    valued: frozenset[str] = frozenset()
    fixed: re.Pattern[str] = re.compile(r".{1,200}@v?\d+\.\d+\.\d+[\w.+-]{0,60}$|.{1,500}#[0-9a-f]{40}$")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NPM_NAMING = frozenset({"-p", "--package"})
NPM_VALUED = frozenset({"-c", "--call", "--registry", "--cache", "--prefix", "-w", "--workspace"})
PYTHON_FIXED = re.compile(r".{1,200}(?:==|@)v?\d+[\w.+!-]{0,80}$|.{1,500}@[0-9a-f]{40}(?:#.{1,200})?$")
PYTHON_NAMING = frozenset({"--from", "--spec"})
PYTHON_VALUED = _words(
    "--with --python -p --index --index-url --default-index --extra-index-url --with-requirements --refresh-package "
    "--directory --cache-dir --project --find-links --constraints -c --env-file"
)
IMAGE_FIXED = re.compile(r".{1,400}@sha256:[0-9a-f]{64}$|.{1,400}:(?!latest$)[\w][\w.-]{0,127}$")
IMAGE_VALUED = _words(
    "-e --env --env-file -v --volume --mount -p --publish --name --network --net -w --workdir -u --user --entrypoint "
    "--platform -l --label -m --memory --cpus --add-host --cap-add --cap-drop --security-opt --tmpfs --ulimit --dns "
    "-h --hostname --gpus --device --pull --log-driver --log-opt --shm-size --restart --runtime --userns"
)
NPM = Downloader((), NPM_NAMING, NPM_VALUED)
PYTHON = Downloader((), PYTHON_NAMING, PYTHON_VALUED, PYTHON_FIXED)
IMAGE = Downloader(("run",), frozenset(), IMAGE_VALUED, IMAGE_FIXED)
DOWNLOADERS: dict[str, tuple[Downloader, ...]] = {
    "npx": (NPM,),
    "bunx": (NPM,),
    "pnpx": (NPM,),
    "bun": (NPM._replace(before=("x",)),),
    "pnpm": (NPM._replace(before=("dlx",)),),
    "yarn": (NPM._replace(before=("dlx",)),),
    "npm": (NPM._replace(before=("exec",)), NPM._replace(before=("x",))),
    "uvx": (PYTHON,),
    "uv": (PYTHON._replace(before=("tool", "run")),),
    "pipx": (PYTHON._replace(before=("run",)),),
    **dict.fromkeys(("docker", "podman", "nerdctl"), (IMAGE,)),
}
"""The programs that download, by name."""
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
    if found[1].startswith("-") and found[1].endswith("c"):
        try:
            return shlex.split(found[2])
        except ValueError:
            return found
    return found


def unfixed_package(words: Sequence[str]) -> str:
    """Return the package of a command that downloads it in no fixed version, or an empty text."""
    command = unwrapped(words)
    for downloader in DOWNLOADERS.get(program_name(command[0]), ()) if command else ():
        package = _package(command[1:], downloader)
        if package and not downloader.fixed.fullmatch(package) and not LOCAL.match(package):
            return package
    return ""


def _package(words: Sequence[str], downloader: Downloader) -> str:
    """Return the package that a command names: by an option, else its first word that is not an option."""
    waiting, first = [*downloader.before], ""
    at = 0
    while at < len(words):
        word = words[at]
        name, sign, value = word.partition("=")
        if name in downloader.naming:
            return value if sign else "".join(words[at + 1 : at + 2])
        if word.startswith("-"):
            at += 1 + (word in downloader.valued)
            continue
        if not waiting:
            first = word
            break
        if word != waiting.pop(0):
            return ""
        at += 1
    return first
