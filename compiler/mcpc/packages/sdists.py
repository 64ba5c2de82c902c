"""Packages from sources: wheels of source distributions, of folders of the project, and of git repositories.

git runs without hooks, submodules and questions, and only with protocols that fetch.  The wheel is built of the files
as of a source distribution, confined; that runs code of the repository, so that a build has to allow it.

The sources are downloaded and unpacked without running them; what their build requires is staged from wheels; the build
itself is confined as project code is, without network.  Time and hash seed are fixed, so that pure Python gives the
same files each time, and a finished wheel is kept by the digest of its sources.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import sys
import tarfile
import tempfile
import zipfile
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urldefrag

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from mcpc.model.ir.layer import Repository, RequestedPackage
from mcpc.packages import wheel_builder
from mcpc.packages.choosing import ALONE, choose
from mcpc.packages.downloads import fetch
from mcpc.packages.lock_files import SHA256, LockedFile, LockError
from mcpc.packages.pep508 import normalised_name
from mcpc.packages.platforms import wheel_tags
from mcpc.packages.uv import InstallError
from mcpc.reading.toml import is_string_list, nested_table, parse_toml
from mcpc.sandbox import confinement, programs
from mcpc.sandbox.cache_dir import load_entry, store_entry
from mcpc.sandbox.confinement import ConfinedProgram

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from mcpc.packages.platforms import Target
    from mcpc.packages.uv import UvRequest


if TYPE_CHECKING:
    Stage = Callable[[Sequence[RequestedPackage]], str]
    """Stages packages for a build, and returns their folder; raises BuildError."""

FORMAT = 1
"""Increased whenever the same sources would be built differently."""
KIND = "wheels"
DEFAULT_REQUIRES = ("setuptools>=40.8", "wheel")
"""What a build requires that does not say it (https://peps.python.org/pep-0518/)."""
SECONDS = 600
# The first moment of 1980, the earliest that a wheel can express, as it is a zip archive.
FIXED = {"PYTHONHASHSEED": "0", "SOURCE_DATE_EPOCH": "315532800"}
# No site packages, no folder of the script, no bytecode. Not `-I`, which would ignore PYTHONPATH.
ISOLATED = ("-S", "-P", "-s", "-B", "-W", "ignore")
MAX_BYTES, MAX_FILES = 512 << 20, 50_000
"""Limits of unpacked sources."""
MAX_WORDS = 400


class BuildError(Exception):
    """A wheel could not be built; the message describes why, `name` is the package."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


@dataclass(frozen=True, slots=True)
class SourceDistribution:
    """A source distribution: the name of its file, the address where it was found, and its bytes."""

    file: str
    address: str
    data: bytes


@dataclass(frozen=True, slots=True)
class BuiltWheel:
    """A wheel: the name of its file, and its bytes."""

    file: str
    data: bytes


def fetch_sdist(text: str, hashes: Sequence[str], asked: UvRequest) -> SourceDistribution:
    """Return the newest source distribution that a requirement and the constraints allow; raise BuildError."""
    parsed = Requirement(text)
    name = normalised_name(parsed.name)
    request = replace(asked, lines=[f"{parsed.name}{parsed.specifier}"], taken=())
    try:
        (package,) = choose(request, ALONE, "--no-binary", ":all:").packages
        sdist = package.sdist
        if sdist is None:
            raise BuildError(name, "it has no source distribution")
        sha256 = sdist.hashes.get(SHA256, "")
        file = LockedFile(name, str(package.version), sdist.filename, sha256, sdist.size, sdist.url or "")
        data = fetch(file, "", asked.origins)
    except (InstallError, LockError) as problem:
        raise BuildError(name, f"its sources cannot be downloaded: {problem}") from None
    if hashes and f"sha256:{hashlib.sha256(data).hexdigest()}" not in hashes:
        raise BuildError(name, "the digest of its sources is not among those of the requirement")
    return SourceDistribution(file.file, file.address, data)


def unpack(name: str, file: str, data: bytes) -> dict[str, bytes]:
    """Return the files of a source distribution, relative to its folder; raise BuildError."""
    found: dict[str, bytes] = {}
    size = 0
    try:
        for path, content in _zip_files(data) if file.endswith(".zip") else _tar_files(data):
            size += len(content)
            parts = PurePosixPath(path).parts
            if ".." in parts or path.startswith("/") or size > MAX_BYTES or len(found) > MAX_FILES:
                raise BuildError(name, f"its sources in `{file}` are outside their folder, or too large")
            # All files of a source distribution are in one folder, named by the package and its version.
            if len(parts) > 1:
                found["/".join(parts[1:])] = content
    except (tarfile.TarError, zipfile.BadZipFile, OSError, EOFError, ValueError) as problem:
        raise BuildError(name, f"its sources in `{file}` cannot be unpacked: {problem}") from None
    return found


def _tar_files(data: bytes) -> Iterable[tuple[str, bytes]]:
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for member in archive:
            if member.isfile() and member.size <= MAX_BYTES:
                file = archive.extractfile(member)
                yield member.name, file.read() if file else b""


def _zip_files(data: bytes) -> Iterable[tuple[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for member in archive.infolist():
            # Compared before it is inflated, which could fill the memory.
            if not member.is_dir() and member.file_size <= MAX_BYTES:
                yield member.filename, archive.read(member)


def build_wheel(name: str, files: Mapping[str, bytes], stage: Stage) -> BuiltWheel:
    """Return the wheel of these sources, a kept one if there is one; raise BuildError."""
    key = _key(name, files)
    kept = load_entry(KIND, key)
    if kept is not None:
        file, _, data = kept.partition(b"\n")
        return BuiltWheel(file.decode(), data)
    with tempfile.TemporaryDirectory(prefix="mcpc-", ignore_cleanup_errors=True) as folder:
        root = Path(folder).resolve()
        sources, target = root / "sources", root / "wheels"
        target.mkdir()
        for path, data in files.items():
            place = sources / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
        requires = build_requirements(name, files)
        also = _ask(name, root, stage(requires), "requires")
        if also:
            requires = (*requires, *_requested(name, also))
        _ask(name, root, stage(requires), "wheel")
        built = _only_wheel(name, target)
    store_entry(KIND, key, built.file.encode() + b"\n" + built.data)
    return built


def check_fits(name: str, wheel: BuiltWheel, target: Target) -> None:
    """Raise BuildError for a built wheel that is not for a target: one with native code is for this machine only."""
    if not parse_wheel_filename(wheel.file)[3].intersection(wheel_tags(target)):
        raise BuildError(name, f"its wheel `{wheel.file}` is not for {target.name}")


def _key(name: str, files: Mapping[str, bytes]) -> str:
    """Return the digest of all inputs of a build but the packages that it requires."""
    summary = hashlib.sha256(f"{FORMAT}\0{name}\0{sys.version}\0{sys.platform}\0".encode())
    for path, data in sorted(files.items()):
        summary.update(f"{path}\0{hashlib.sha256(data).hexdigest()}\0".encode("utf-8", "surrogateescape"))
    return summary.hexdigest()


def build_requirements(name: str, files: Mapping[str, bytes]) -> tuple[RequestedPackage, ...]:
    """Return what the sources say that their build requires; raise BuildError."""
    try:
        table = parse_toml(files.get("pyproject.toml", b"").decode())
    except ValueError as problem:
        raise BuildError(name, f"its `pyproject.toml` is not TOML: {problem}") from None
    system = nested_table(table, "build-system")
    requires = system.get("requires", [] if system.get("build-backend") else [*DEFAULT_REQUIRES])
    return _requested(name, requires)


def _requested(name: str, requires: object) -> tuple[RequestedPackage, ...]:
    if not isinstance(requires, list) or not is_string_list(requires):
        raise BuildError(name, "what its build requires is not a list of requirements")
    try:
        parsed = [Requirement(text) for text in requires]
    except InvalidRequirement as problem:
        raise BuildError(name, f"what its build requires is not understood: {problem}") from None
    return tuple(RequestedPackage(normalised_name(item.name), str(item)) for item in parsed)


def _ask(name: str, root: Path, packages: str, asked: str) -> list[str]:
    """Return the answer of the build backend: what else it requires, or the name of the wheel."""
    script = str(Path(wheel_builder.__file__).resolve())
    words = [sys.executable, *ISOLATED, script, str(root / "sources"), str(root / "wheels"), asked]
    variables = {**FIXED, "PYTHONPATH": packages} if packages else FIXED
    readable = [script, *([packages] if packages else [])]
    job = ConfinedProgram(words, root, root / "sources", SECONDS, variables, readable)
    done = confinement.run_confined(job)
    with suppress(ValueError, RecursionError):
        answer = json.loads(done.answer)
        if done.status == 0 and isinstance(answer, str if asked == "wheel" else list):
            return [answer] if isinstance(answer, str) else answer
    lines = done.output.decode(errors="replace").strip().splitlines()
    said = next((line.strip() for line in reversed(lines) if line.strip()), done.how)
    raise BuildError(name, said[:MAX_WORDS])


def _only_wheel(name: str, folder: Path) -> BuiltWheel:
    """Return the wheel that was built; raise BuildError if there is none."""
    for path in sorted(folder.iterdir()):
        with suppress(InvalidWheelFilename):
            if parse_wheel_filename(path.name)[0] == name and path.is_file() and not path.is_symlink():
                return BuiltWheel(path.name, path.read_bytes())
    raise BuildError(name, f"its build made no wheel of `{name}`")


PREFIX = "git+"
REVISIONS = ("rev", "tag", "branch")
REVISION = re.compile(r"\w[\w./+-]*")
SETTINGS = ("-c", "core.hooksPath=/dev/null", "-c", "advice.detachedHead=false")
# git asks for no password, and uses no protocol such as `ext`, which runs a command.
VARIABLES = {"GIT_TERMINAL_PROMPT": "0", "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh"}
GIT_SECONDS = 300
MAX_GIT_WORDS = 300


def repository_of(source: Mapping[str, Any], place: str) -> Repository | None:
    """Return the repository of a source table, or of an address that begins with `git+`; None for anything else."""
    if "git" in source:
        revision = next((str(source[key]) for key in REVISIONS if source.get(key)), "")
        return Repository(str(source["git"]).removeprefix(PREFIX), revision, str(source.get("subdirectory") or ""))
    if not place.startswith(PREFIX):
        return None
    address, fragment = urldefrag(place.removeprefix(PREFIX))
    path, sign, revision = address.rpartition("@")
    # An `@` before the host separates a user from it; only one after the path begins a revision.
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
    # A clone has the branches of its origin under this name only; tags and commits have their own.
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
        done = programs.run_program("git", ["git", *SETTINGS, *words], GIT_SECONDS, cwd=folder, more=VARIABLES)
    except TimeoutError as problem:
        raise BuildError(name, f"its repository cannot be fetched: {problem}") from None
    except OSError as problem:
        raise BuildError(name, f"git cannot be started: {problem.strerror}") from None
    if done.returncode or len(done.stdout) > MAX_BYTES:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        reason = lines[-1][:MAX_GIT_WORDS] if lines else f"git ended with status {done.returncode}"
        raise BuildError(name, f"its repository cannot be fetched: {reason}")
    return done.stdout
