"""Node and npm during the build: their paths and versions, how a program is run, and packages in a cache folder.

Such a folder is named by all its inputs, and appears complete or not at all.  Registries and proxies are configured in
npm: mcpc contains no address of one.

Installed packages of a project are copied to the bundling folder with their requirements.  They keep their paths below
`node_modules`, so that the output contains the same paths wherever it is built.  A symlink is followed inside that
folder, as package managers create them; one that leaves it is refused.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcpc.reading.tree import template_folder
from mcpc.sandbox import programs
from mcpc.sandbox.cache_dir import is_private, kind_folder, prune_entries

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mcpc.reading import SourceTree

OLDEST_NODE = "20.0"
"""The oldest Node that tools are built for, and run in."""
VERSION = re.compile(r"v?(\d+)\.(\d+)")
TIMEOUT_SECONDS = 120
MODULES = "node_modules"


class NodeError(Exception):
    """Something that bundling needs is missing or does not work; the message describes it."""


def mcpc_program(name: str) -> bytes:
    """Return one of mcpc's programs for Node."""
    return (template_folder() / "toolbox" / name).read_bytes()


@cache
def node_path() -> str:
    """Return the path of Node; raise NodeError if there is none, or only one that is too old."""
    program = shutil.which("node")
    if program is None:
        raise NodeError(
            f"Node is not on PATH: tools in JavaScript are bundled, and run, by Node {OLDEST_NODE} or newer"
        )
    said = program_version(program)
    match = VERSION.match(said)
    if match is None or int(match[1]) < int(OLDEST_NODE.partition(".")[0]):
        raise NodeError(f"{program} is {said or 'not Node'}: tools in JavaScript need Node {OLDEST_NODE} or newer")
    return program


@cache
def program_version(path: str) -> str:
    """Return the version that a program prints, or an empty string."""
    try:
        done = programs.run_program("node --version", [path, "--version"], 20)
    except OSError:
        return ""
    return done.stdout.decode(errors="replace").strip()


def run_node(words: Sequence[str], folder: Path, told: bytes = b"", *, more: Mapping[str, str] | None = None) -> bytes:
    """Return the output of an mcpc program in Node; raise NodeError if it fails."""
    chosen = {**build_environment(folder), **(more or {})}
    try:
        done = programs.run_program("node", [node_path(), *words], TIMEOUT_SECONDS, cwd=folder, more=chosen, told=told)
    except TimeoutError as problem:
        raise NodeError(str(problem)) from None
    if done.returncode:
        raise NodeError(done.stderr.decode(errors="replace").strip()[-2000:] or f"status {done.returncode}")
    return done.stdout


def build_environment(folder: Path) -> dict[str, str]:
    """Return the complete environment of a build process: of the caller's variables only PATH."""
    # With a home of its own, so that no user's configuration changes what is built.
    fixed = {"HOME": str(folder), "TMPDIR": str(folder), "LANG": "C.UTF-8", "TZ": "UTC"}
    return {"PATH": os.environ.get("PATH", os.defpath), **fixed}


def build_inputs(tree: SourceTree) -> tuple[str, ...]:
    """Return what a project's bundles depend on besides its sources: Node, and the packages beside them.

    O(files of those packages): each is identified by its size and modification time.
    """
    program = shutil.which("node")
    return (program_version(program) if program else "", *(package_files(Path(tree.root)) if tree.root else ()))


def package_files(root: Path) -> tuple[str, ...]:
    """Return every file of the packages beside a project, with its size and time."""
    rows = []
    for folder, folders, files in os.walk(root / MODULES):
        folders.sort()
        for name in sorted(files):
            status = os.lstat(os.path.join(folder, name))  # noqa: PTH118 - there may be very many
            rows.append(f"{folder}/{name} {status.st_size} {status.st_mtime_ns}")
    return tuple(rows)


BUNDLER_FOLDER = Path(__file__).parent / "npm"
"""The packages that bundling itself needs."""
KIND = "npm"
INSTALLATION_SECONDS = 600
OPTIONS = (
    # Packages run nothing of theirs while they are installed.
    "--ignore-scripts",
    "--omit=dev",
    "--no-audit",
    "--no-fund",
    "--no-progress",
    "--no-update-notifier",
    "--prefer-offline",
    "--fetch-retries=1",
)
MANIFEST, LOCK = "package.json", "package-lock.json"
ADDRESS = re.compile(r"\bhttps?://[^\s'\";]+")
CODE = re.compile(r"npm (?:error|ERR!) code (\w+)")
REASON = re.compile(
    r"^npm (?:error|ERR!) (?!code |syscall |errno |A complete log)(?:network |\d{3} )?(.*)$", re.MULTILINE
)
UNREACHABLE = frozenset({"EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ENETUNREACH", "ENOTFOUND", "ETIMEDOUT"})
"""npm's codes of an unreachable registry: requesting fewer packages would not help."""


class NpmInstallError(Exception):
    """npm did not install the packages: its code, and its message."""

    def __init__(self, code: str, said: str) -> None:
        super().__init__(said)
        self.code = code


def esbuild_module(*, offline: bool = False) -> Path:
    """Return the bundler's module; raise NodeError if it is not available."""
    try:
        manifest, lock = ((BUNDLER_FOLDER / name).read_bytes() for name in (MANIFEST, LOCK))
        folder = installed_folder(manifest, lock, offline=offline)
    except NpmInstallError as problem:
        raise NodeError(f"esbuild, which bundles tools, cannot be installed: {problem}") from None
    return folder / MODULES / "esbuild/lib/main.js"


def install_possible(
    wanted: Mapping[str, str], lock: bytes, *, offline: bool = False
) -> tuple[Path | None, dict[str, str]]:
    """Return a folder with as many of these packages as possible, and why the others failed, by name.

    `lock`: the project's lock file, whose versions and hashes are used; empty if it has none. `offline`: from npm's
    cache only.
    """
    try:
        return (installed_folder(package_json(wanted), lock, offline=offline) if wanted else None), {}
    except NpmInstallError as problem:
        if len(wanted) == 1 or problem.code in UNREACHABLE:
            return None, dict.fromkeys(wanted, str(problem))
    lacking: dict[str, str] = {}
    # npm installs all or nothing, so each package is tried alone to find those at fault.
    for name, spec in wanted.items():
        lacking.update(install_possible({name: spec}, lock, offline=offline)[1])
    if not lacking:
        return None, dict.fromkeys(wanted, "the packages cannot be installed together")
    rest = {name: spec for name, spec in wanted.items() if name not in lacking}
    folder, more = install_possible(rest, lock, offline=offline)
    return folder, {**lacking, **more}


def package_json(wanted: Mapping[str, str]) -> bytes:
    """Return a `package.json` with just these dependencies."""
    whole: dict[str, Any] = {"name": "tools", "version": "0.0.0", "private": True}
    return json.dumps({**whole, "dependencies": dict(sorted(wanted.items()))}, indent=1).encode()


def installed_folder(wanted: bytes, lock: bytes, *, offline: bool = False) -> Path:
    """Return the folder in which these packages are installed; raise NpmInstallError if that fails."""
    summary = hashlib.sha256(b"\0".join((wanted, lock, program_version(node_path()).encode())))
    folder = kind_folder(KIND) / summary.hexdigest()
    if is_private(folder) and (folder / MANIFEST).is_file():
        with suppress(OSError):
            # Entries that were used last are kept when the cache is pruned.
            os.utime(folder)
        return folder
    # In the same folder, so that it can be renamed to its final name in one step.
    made = Path(tempfile.mkdtemp(dir=folder.parent, prefix="new-"))
    try:
        (made / MANIFEST).write_bytes(wanted)
        if lock:
            (made / LOCK).write_bytes(lock)
        install_folder(made, offline=offline)
        with suppress(OSError):  # somebody else may have made it meanwhile
            made.rename(folder)
    finally:
        shutil.rmtree(made, ignore_errors=True)
    prune_entries(KIND)
    return folder


def install_folder(folder: Path, *, offline: bool = False) -> None:
    """Install the dependencies of a folder's package; raise NpmInstallError with npm's reason if that fails.

    A lock may name its author's registry: if that is unreachable, the configured one is used instead; its packages must
    have the hashes in the lock.
    """
    program = shutil.which("npm")
    if program is None:
        raise NpmInstallError("", "npm is not on PATH")
    has_lock = (folder / LOCK).exists()
    words = [
        program,
        "install",
        *OPTIONS,
        *(() if has_lock else ("--no-package-lock",)),
        *(("--offline",) if offline else ()),
    ]
    try:
        run_npm(words, folder)
    except NpmInstallError as problem:
        if not has_lock or problem.code not in UNREACHABLE:
            raise
        run_npm([*words, "--replace-registry-host=always"], folder)


def run_npm(words: Sequence[str], folder: Path) -> None:
    """Run npm; raise NpmInstallError if it fails."""
    try:
        done = programs.run_program("npm", words, INSTALLATION_SECONDS, cwd=folder)
    except TimeoutError as problem:
        raise NpmInstallError("ETIMEDOUT", str(problem)) from None
    if done.returncode:
        said = done.stderr.decode(errors="replace")
        code = CODE.search(said)
        raise NpmInstallError(
            code[1] if code else "", shorten_errors(said) or f"npm ended with status {done.returncode}"
        )


def shorten_errors(said: str) -> str:
    """Return npm's reason, without the addresses of registries."""
    told = [match[1].strip() for match in REASON.finditer(said)]
    return ADDRESS.sub("…", "; ".join(dict.fromkeys(line for line in told if line)))[:300]


REQUIREMENT_KEYS = ("dependencies", "peerDependencies", "optionalDependencies")


class OutsidePackagesError(Exception):
    """A package is outside the folder of packages."""


def package_name(specifier: str) -> str:
    """Return the package that an import names."""
    parts = specifier.split("/")
    return "/".join(parts[: 2 if specifier.startswith("@") else 1])


def has_packages(root: Path, wanted: Iterable[str]) -> bool:
    """Tell whether the packages are installed in a project."""
    return all((root / MODULES / name / "package.json").is_file() for name in wanted)


def copy_with_requirements(root: Path, wanted: Iterable[str], target: Path) -> None:
    """Copy packages of `root`, and their requirements, to the same paths below `target`; raise OutsidePackagesError."""
    base = (root / MODULES).resolve()
    todo = [(base, name) for name in wanted]
    seen: set[Path] = set()
    while todo:
        where, name = todo.pop()
        package = find_package(base, where, name)
        if package is None:
            continue  # whoever imports it is told at that import
        real = package.resolve()
        if not real.is_relative_to(base):
            raise OutsidePackagesError(f"`{name}` leads outside of `{MODULES}`")
        if package != real:
            copy_symlink(package, base, target)
        if real not in seen:
            seen.add(real)
            copy_package(real, target / MODULES / real.relative_to(base))
            todo += [(real, need) for need in requirements_of(real)]


def find_package(base: Path, where: Path, name: str) -> Path | None:
    """Return the package that code at `where` imports by a name, with Node's lookup."""
    for above in (where, *where.parents):
        if not above.is_relative_to(base):
            return None
        inside = above if above == base or above.name == MODULES else above / MODULES
        if (inside / name).is_dir():
            return inside / name
    return None


def requirements_of(package: Path) -> Iterator[str]:
    """Yield the names of a package's requirements."""
    with suppress(OSError, ValueError):
        said = json.loads((package / "package.json").read_bytes())
        for key in REQUIREMENT_KEYS:
            rows = said.get(key) if isinstance(said, dict) else None
            yield from rows if isinstance(rows, dict) else ()


def copy_symlink(package: Path, base: Path, target: Path) -> None:
    """Create the same symlink to a package."""
    place = target / MODULES / package.relative_to(base)
    place.parent.mkdir(parents=True, exist_ok=True)
    if not place.is_symlink():
        there = target / MODULES / package.resolve().relative_to(base)
        place.symlink_to(os.path.relpath(there, place.parent))


def copy_package(package: Path, place: Path) -> None:
    """Copy one package's files; its `node_modules` are separate packages."""
    for folder, folders, files in os.walk(package):
        if Path(folder) == package and MODULES in folders:
            folders.remove(MODULES)
        there = place / Path(folder).relative_to(package)
        there.mkdir(parents=True, exist_ok=True)
        for name in files:
            copy_file(Path(folder) / name, there / name, package)


def copy_file(file: Path, place: Path, package: Path) -> None:
    """Copy or hard-link one file of the package; other files are ignored."""
    if not file.is_file() or not file.resolve().is_relative_to(package):
        return
    try:
        # A link takes no time, but is impossible from one file system to another.
        os.link(file.resolve(), place)
    except OSError:
        shutil.copyfile(file, place)
