"""Sources of packages in git repositories: which one a requirement names, and the files of its commit.

git runs without hooks, submodules and questions, and only with protocols that fetch.  The wheel is built of the files
as of a source distribution, confined; that runs code of the repository, so that a build has to allow it.
"""

from __future__ import annotations

import io
import re
import tarfile
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urldefrag

from mcpc.model.ir.layer import Repository
from mcpc.packages.sdists import MAX_BYTES, MAX_FILES, BuildError
from mcpc.sandbox import programs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

PREFIX = "git+"
REVISIONS = ("rev", "tag", "branch")
REVISION = re.compile(r"\w[\w./+-]*")
SETTINGS = ("-c", "core.hooksPath=/dev/null", "-c", "advice.detachedHead=false")
VARIABLES = {"GIT_TERMINAL_PROMPT": "0", "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh"}
SECONDS = 300
MAX_WORDS = 300


def repository_of(source: Mapping[str, Any], place: str) -> Repository | None:
    """Return the repository of a source table, or of an address that begins with `git+`; None for anything else."""
    if "git" in source:
        revision = next((str(source[key]) for key in REVISIONS if source.get(key)), "")
        return Repository(str(source["git"]).removeprefix(PREFIX), revision, str(source.get("subdirectory") or ""))
    if not place.startswith(PREFIX):
        return None
    address, fragment = urldefrag(place.removeprefix(PREFIX))
    path, sign, revision = address.rpartition("@")
    is_revision = bool(sign) and "/" in path.partition("://")[2]
    below = parse_qs(fragment).get("subdirectory", [""])[0]
    return Repository(path if is_revision else address, revision if is_revision else "", below)


def fetch_repository(name: str, repository: Repository, folder: Path) -> dict[str, bytes]:
    """Return the files of a repository's revision, below its subfolder; raise BuildError."""
    if repository.revision and not REVISION.fullmatch(repository.revision):
        raise BuildError(name, f"`{repository.revision}` is not a revision")
    clone = folder / "clone"
    words = ("clone", "--quiet", "--no-checkout", "--no-recurse-submodules", "--", repository.address, str(clone))
    run_git(name, words, folder)
    return archived_files(name, committed(name, repository, clone), repository.below, clone)


def committed(name: str, repository: Repository, clone: Path) -> str:
    """Return the commit of a repository's revision; raise BuildError."""
    wanted = repository.revision
    for revision in (f"origin/{wanted}", wanted) if wanted else ("HEAD",):
        try:
            found = run_git(name, ("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}"), clone)
        except BuildError:
            continue
        return found.decode().strip()
    raise BuildError(name, f"its repository has no revision `{wanted}`")


def archived_files(name: str, commit: str, below: str, clone: Path) -> dict[str, bytes]:
    """Return the regular files of a commit, relative to a subfolder; raise BuildError."""
    data = run_git(name, ("archive", "--format=tar", commit), clone)
    prefix = f"{below.strip('/')}/" if below.strip("/.") else ""
    found: dict[str, bytes] = {}
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for member in archive:
            file = archive.extractfile(member) if member.isfile() and member.name.startswith(prefix) else None
            if file is not None:
                found[member.name.removeprefix(prefix)] = file.read()
    if not found or len(found) > MAX_FILES:
        raise BuildError(name, f"its repository has no files in `{below}`" if below else "its repository has no files")
    return found


def run_git(name: str, words: Sequence[str], folder: Path) -> bytes:
    """Return what git prints; raise BuildError if it fails."""
    try:
        done = programs.run_program("git", ["git", *SETTINGS, *words], SECONDS, cwd=folder, more=VARIABLES)
    except TimeoutError as problem:
        raise BuildError(name, f"its repository cannot be fetched: {problem}") from None
    except OSError as problem:
        raise BuildError(name, f"git cannot be started: {problem.strerror}") from None
    if done.returncode or len(done.stdout) > MAX_BYTES:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        reason = lines[-1][:MAX_WORDS] if lines else f"git ended with status {done.returncode}"
        raise BuildError(name, f"its repository cannot be fetched: {reason}")
    return done.stdout
