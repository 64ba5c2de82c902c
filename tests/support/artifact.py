"""Building a project for a test, and running the command in a separate process.

`build` compiles in the process of the test, and a project that was built before in the same run is not built again: an
artifact is found by the digest of all its inputs, as in the cache of `mcpc` itself.
"""

import atexit
import fcntl
import io
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, Literal

import pytest
from click.exceptions import Exit

from mcpc import pipeline
from mcpc.cli import build_steps as making
from mcpc.cli.build import command
from mcpc.cli.command_options import read_options
from mcpc.diagnostics import Diagnostics
from mcpc.diagnostics.formats import render_text
from mcpc.emit.interpreters import KIND as RUNTIME_BYTECODE
from mcpc.options import Options
from mcpc.pack import cache as builds
from mcpc.pipeline import CheckResult
from mcpc.reading import SourceTree
from support.command_server import command_server
from support.conversing import converse as converse  # for tests that build a file and talk to it
from support.files import write_files
from support.needs import ROOT, needs
from support.processes import run_program

PACKAGES = {"bytecode.zip": "", "sources.zip": "", "extracted.zip": ".extracted/"}
INNER = {
    "mcpc_runtime/sources.zip": "",
    "handlers.zip": "handlers/",
    **{f"{folder}/{name}": f"{folder}/{below}" for folder in ("site", "serving") for name, below in PACKAGES.items()},
}
"""Archives in an artifact, and the folder whose files they are."""
CACHE = "MCPC_CACHE_DIR"
OF_PYTHON = ("PYTHON", "LANG", "LC_")
"""How variables begin that an interpreter reads when it starts."""
STORE = "TESTS_ARTIFACTS"
"""The variable that names the folder of what was built in this run."""
OF_THE_COMMAND = frozenset(
    {"project", "target", "no_smoke", "blocks", "quiet", "output", "is_program", "verify"}
    | {"embedding", "interpreter", "minimal_library"}
)
"""Parameters of `mcpc build` that are not options of the build."""
FIRST_PROJECT = {
    "server.json": '{"serverInfo": {"name": "first", "version": "1"}}',
    "tools.py": 'from mcpc import tool\n\n\n@tool\ndef first() -> str:\n    """Be first."""\n    return "first"\n',
}
"""What is built for the bytecode of the runtime alone."""
SOURCES = os.pathsep.join((str(ROOT / "compiler"), str(ROOT / "runtime")))


def mcpc(
    *words: str | Path,
    python: str | Path = sys.executable,
    environment: Mapping[str, str] | None = None,
    status: int | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run `mcpc` with these arguments and return the result, in a process that has imported the compiler.

    Another Python, and one whose own variables are chosen, is started for it; its bytecode is cached for the run.
    `status`: what it has to end with.
    """
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    kept.setdefault(CACHE, str(store() / "cache"))
    kept |= {"PYTHONPATH": SOURCES, "PYTHONPYCACHEPREFIX": str(store() / "bytecode"), **(environment or {})}
    if python == sys.executable and not any(name.startswith(OF_PYTHON) for name in environment or {}):
        done = command_server(SOURCES).run([*map(str, words)], kept)[0]
    else:
        done = run_program([python, "-m", "mcpc", *map(str, words)], env=kept)
    assert status in (None, done.returncode), done.stdout + done.stderr
    return done


def built_fixture(
    project: Path | Mapping[str, object] | Callable[[Path], Path],
    *options: str,
    programs: Sequence[str] = (),
    scope: Literal["module", "session"] = "module",
) -> Any:
    """Return a fixture with the artifact of a project: its folder, its files, or the function that writes it into a folder."""

    @pytest.fixture(scope=scope)
    def artifact(tmp_path_factory: pytest.TempPathFactory) -> Path:
        needs(*programs)
        folder = tmp_path_factory.mktemp("built")
        if callable(project):
            place = project(folder / "project")
        else:
            place = project if isinstance(project, Path) else write_files(folder / "project", project)
        return build(place, folder / "server.pyz", *options)

    return artifact


def build(project: str | Path, target: Path, *options: str) -> Path:
    """Build a project without errors, with the options of `mcpc build`, and return the artifact's path."""
    words = [str(project), "-o", str(target), *options]
    given: dict[str, Any] = command.make_context("mcpc build", words, help_option_names=["-h", "--help"]).params
    chosen = read_options({name: value for name, value in given.items() if name not in OF_THE_COMMAND})
    tree, found = pipeline.read_project(Path(project))
    tree = making.without_earlier_output(tree, Path(project), making.output_path(target))
    name = builds.cache_key(tree, found, chosen)
    kept = store() / f"{name}.pyz"
    with locked(kept.with_suffix(".lock")), shared_cache():
        if not kept.exists():
            analysed = compiled(project, tree, found, chosen, kept)
            if any(problem.code in making.UNCACHED_CODES for problem in analysed.diagnostics):
                return kept.replace(made(target))
        shutil.copy(kept, made(target))
    return target


def compiled(project: str | Path, tree: SourceTree, found: Diagnostics, chosen: Options, target: Path) -> CheckResult:
    """Build a project that has no fault; return what is known of it."""
    analysed = pipeline.analyse(tree, found, chosen)
    problems = render_text(analysed.diagnostics, tree.files, colour=False)
    assert analysed.checked is not None, f"{project} cannot be built:\n{problems}"
    try:
        making.write_artifact(making.build_checked(analysed, chosen, pipeline.no_progress), target)
    except Exit:
        raise AssertionError(f"what is built of {project} does not serve") from None
    return analysed


@contextmanager
def shared_cache() -> Iterator[None]:
    """Find packages, models and bundles where all tests of this run store them."""
    before = os.environ.get(CACHE)
    os.environ[CACHE] = str(store() / "cache")
    try:
        yield
    finally:
        os.environ.pop(CACHE)
        if before is not None:
            os.environ[CACHE] = before


def made(target: Path) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    return target


@cache
def store() -> Path:
    """Return the folder of what was built before: that of the test run, else one of this process."""
    named = os.environ.get(STORE)
    if named:
        return Path(named)
    folder = tempfile.mkdtemp(prefix="mcpc-builds-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def with_bytecode(cache: Path) -> Path:
    """Return a folder for a test's own cache, with the runtime's bytecode: compiling it is most of a first build."""
    if not cache.exists():
        stored, folder = runtime_bytecode(), cache / RUNTIME_BYTECODE
        for made in (cache, folder):
            made.mkdir(0o700, parents=True)
        for entry in stored.iterdir():
            with suppress(FileNotFoundError):  # another process may just be writing it
                shutil.copy(entry, folder)
    return cache


def runtime_bytecode() -> Path:
    """Return the folder of the runtime's bytecode that builds of this run have stored; make one if none has."""
    folder = store() / "cache" / RUNTIME_BYTECODE
    if not folder.exists():
        with tempfile.TemporaryDirectory() as place:
            project = Path(place) / "project"
            write_files(project, FIRST_PROJECT)
            build(project, Path(place) / "first.pyz")
    return folder


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock, which one process at a time has."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def carried(artifact: Path) -> list[str]:
    """Return the names of everything in an artifact, including entries of nested archives."""
    return [*contents(artifact)]


def contents(artifact: Path) -> dict[str, bytes]:
    """Return everything in an artifact, including entries of nested archives."""
    with zipfile.ZipFile(artifact) as packed:
        found = {name: packed.read(name) for name in packed.namelist()}
    for archive, place in INNER.items():
        if archive in found:
            with zipfile.ZipFile(io.BytesIO(found[archive])) as files:
                found.update({place + name: files.read(name) for name in files.namelist()})
    return found
