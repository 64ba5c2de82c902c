"""A second build in an environment that differs in everything that may differ, and the search for what matters.

A factor is something that may differ between two machines or two days. The second build has all factors changed. If its
bytes differ, a build without any and then one with each factor alone say which of them decides: that is a fact of this
project, where a list of suspects would be a guess. The caches of a second build are always empty.
"""

from __future__ import annotations

import os
import sys
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mcpc.pipeline import read_project
from mcpc.sandbox import programs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from mcpc.reading import SourceTree
    from mcpc.release.trust.second_build import BuildRequest

SECONDS = 1800
OLD = 1_000_000_000
"""A time of files, in 2001."""
FOLDER = "{folder}"
"""Stands for the temporary folder of a build in a value."""


class SecondBuildError(Exception):
    """The second build failed; the message is what it printed."""


@dataclass(frozen=True, slots=True)
class Factor:
    """What may differ: variables, the umask, the number of processors, or the place and the times of the files."""

    name: str
    variables: Mapping[str, str] = field(default_factory=dict)
    umask: int | None = None
    processors: int = 0
    moves_project: bool = False
    changes_files: bool = False
    changes_folder: bool = False
    reverses_path: bool = False


FACTORS = (
    Factor("the hash seed (the order of sets)", {"PYTHONHASHSEED": "4242"}),
    Factor("the path of the project", moves_project=True),
    Factor("times and order of the files", moves_project=True, changes_files=True),
    Factor("the working folder", changes_folder=True),
    Factor("the home folder", {"HOME": f"{FOLDER}/home", "USERPROFILE": f"{FOLDER}/home"}),
    Factor("the name of the user", {"USER": "mcpc-verify", "LOGNAME": "mcpc-verify", "USERNAME": "mcpc-verify"}),
    Factor("the folder of temporary files", {"TMPDIR": f"{FOLDER}/other-temporary-files"}),
    Factor("the time zone", {"TZ": "Pacific/Kiritimati"}),
    Factor("the locale", {"LC_ALL": "C", "LANG": "C", "LANGUAGE": "eo"}),
    Factor("the umask", umask=0o077),
    Factor("the number of processors", processors=1),
    Factor("the terminal", {"TERM": "dumb", "COLUMNS": "43", "LINES": "7", "NO_COLOR": "1"}),
    Factor("the order of PATH", reverses_path=True),
)
BY_ITSELF = "something that changes by itself: the time, chance, or another machine that is asked"
TOGETHER = "several of the things that differ, together"
IN_HOME = {
    "NETRC": ".netrc",
    "NPM_CONFIG_USERCONFIG": ".npmrc",
    "PIP_CONFIG_FILE": ".config/pip/pip.conf",
    "PYENV_ROOT": ".pyenv",
    "UV_PYTHON_INSTALL_DIR": ".local/share/uv/python",
}
"""Variables that name what is in the home folder: settings and Pythons are not what should differ."""


def build_in(factors: Sequence[Factor], request: BuildRequest) -> bytes:
    """Return the file that is built with these factors changed; raise SecondBuildError."""
    with tempfile.TemporaryDirectory(prefix="mcpc-verify-") as made:
        folder = Path(made)
        for name in ("home", "other-temporary-files", "cache", "standing"):
            (folder / name).mkdir(mode=0o700)
        project, target = Path(request.project), folder / "second.pyz"
        if any(factor.moves_project for factor in factors):
            is_changed = any(factor.changes_files for factor in factors)
            project = copy_project(project, folder / "another/path", is_changed=is_changed)
        asked = replace(
            request,
            project=str(project),
            target=str(target),
            processors=max((factor.processors for factor in factors), default=0),
        )
        options: dict[str, object] = {}
        umasks = [factor.umask for factor in factors if factor.umask is not None]
        if umasks and os.name == "posix":
            options["umask"] = umasks[0]
        stands = any(factor.changes_folder for factor in factors)
        done = programs.run_program(
            "second build",
            [sys.executable, "-P", "-s", "-m", "mcpc.release.trust.second_build"],
            SECONDS,
            told=asked.as_json(),
            cwd=folder / "standing" if stands else Path.cwd(),
            more=dict(variables(factors, folder)),
            **options,
        )
        if done.returncode or not target.is_file():
            lines = done.stderr.decode(errors="replace").strip().splitlines()
            raise SecondBuildError(lines[-1] if lines else f"it ended with status {done.returncode}")
        return target.read_bytes()


def variables(factors: Sequence[Factor], folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the variables of a second build that differ from this process's."""
    yield "MCPC_CACHE_DIR", str(folder / "cache")
    changed = {name: value for factor in factors for name, value in factor.variables.items()}
    if "HOME" in changed:
        home = Path.home()
        yield from ((name, str(home / path)) for name, path in IN_HOME.items() if (home / path).exists())
        yield from ((name, os.environ[name]) for name in IN_HOME if name in os.environ)
    if changed.get("PYTHONHASHSEED") == os.environ.get("PYTHONHASHSEED"):
        changed["PYTHONHASHSEED"] = "1"
    yield from ((name, value.replace(FOLDER, str(folder))) for name, value in changed.items())
    if any(factor.reverses_path for factor in factors):
        yield "PATH", os.pathsep.join(reversed(os.environ.get("PATH", os.defpath).split(os.pathsep)))


def copy_project(project: Path, place: Path, *, is_changed: bool) -> Path:
    """Write the files of a project that a build reads into another folder of the same name, and return that."""
    tree, _ = read_project(project)
    root = place / Path(os.path.realpath(project)).name
    root.mkdir(parents=True)
    for path, data, mode in files_of(tree, is_changed=is_changed):
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        target.chmod(mode | 0o600)
        if is_changed:
            os.utime(target, (OLD, OLD))
    packages = Path(project) / "node_modules"
    if packages.is_dir():
        (root / "node_modules").symlink_to(packages.resolve())
    return root


def files_of(tree: SourceTree, *, is_changed: bool) -> Iterator[tuple[str, bytes, int]]:
    """Yield path, content and mode of each file, in the opposite order if it is to be changed."""
    for path in sorted(tree.files, reverse=is_changed):
        source = tree.files[path]
        yield path, source.data, source.mode


def deciding_factor(first: bytes, build_with: Callable[[Sequence[Factor]], bytes], tell: Callable[[str], None]) -> str:
    """Return what makes a build differ from the bytes of a first one; `build_with`: builds with factors changed."""
    tell("building again to find the cause")
    if build_with(()) != first:
        return BY_ITSELF
    for factor in FACTORS:
        tell(f"building with another value of {factor.name}")
        if build_with((factor,)) != first:
            return factor.name
    return TOGETHER
