"""Locks with source distributions: what has no wheel is locked as sources, and built if that is allowed, only then."""

import json
import os
import random
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.pylock import Pylock
from uv import find_uv_bin

from support.artifact import contents
from support.files import write_files
from support.locks import FILES, HERE, problems, run
from support.simple_index import Index, digest, simple_index
from support.wheels import sdist, wheel

ALLOWED = "--allow-sdist"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """An index with a package that needs one of which there are sources only, and two that this machine has no use for."""
    folder = tmp_path_factory.mktemp("files")
    elsewhere = [f"{name}; sys_platform == 'win32'" for name in ("sources-there", "wheel-there")]
    wheel(folder, "alpha", "1.0", {"alpha.py": "from bare import VALUE\n"}, needs=["bare>=1", *elsewhere])
    sdist(folder, "bare", "1.0", {"bare.py": "VALUE = 'built'\n"})
    sdist(folder, "sources-there", "1.0", {"sources_there.py": "", "during.py": "raise ValueError('built')"})
    wheel(folder, "wheel-there", "1.0", {"wheel_there.py": ""}, tag="cp311-cp311-win_amd64")
    with simple_index(folder) as served:
        yield served


@pytest.fixture(scope="module")
def locked(index: Index, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return lock(index, written(tmp_path_factory.mktemp("locked") / "project"))


def written(folder: Path) -> Path:
    return write_files(folder, {**FILES, "requirements.txt": "alpha==1.0\n"})


def lock(index: Index, project: Path, *options: str) -> Path:
    done = run(index, project.parent / "cache", "lock", project, "--python", HERE, ALLOWED, *options, status=0)
    assert "locked 2 packages (1 as sources)" in done.stderr
    return project


def test_what_has_no_wheel_is_locked_as_sources(index: Index, locked: Path) -> None:
    table = tomllib.loads((locked / "pylock.toml").read_text())
    Pylock.from_dict(table).validate()
    bare = next(row for row in table["packages"] if row["name"] == "bare")
    file = index.folder / "bare-1.0.tar.gz"
    assert bare == {
        "name": "bare",
        "version": "1.0",
        "sdist": {
            "name": file.name,
            "url": f"{index.address}/files/{file.name}",
            "size": file.stat().st_size,
            "hashes": {"sha256": digest(file)},
        },
    }
    assert [row["name"] for row in table["packages"]] == ["alpha", "bare"]


@pytest.mark.parametrize("installer", ["pip", "uv"])
def test_other_installers_read_the_lock(index: Index, locked: Path, tmp_path: Path, installer: str) -> None:
    pip = [sys.executable, "-m", "pip", "install", "--no-deps"]
    words = {"pip": pip, "uv": [find_uv_bin(), "pip", "install"]}[installer]
    argv = [*words, "--quiet", "--target", str(tmp_path / "there"), "-r", str(locked / "pylock.toml")]
    variables = {**os.environ, **index.variables()}
    done = subprocess.run(argv, env=variables, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "there/bare.py").read_text() == "VALUE = 'built'\n"


COMMANDS = {
    "lock": (("lock", "--python", HERE), "MCP424", "`bare==1.0`, which `alpha` needs, has no wheel for this machine")
}


@pytest.mark.parametrize("name", COMMANDS)
def test_sources_are_refused_with_the_package_and_the_way_out(
    index: Index, locked: Path, tmp_path: Path, name: str
) -> None:
    (command, *options), code, words = COMMANDS[name]
    project = shutil.copytree(locked, tmp_path / "project")
    done = run(index, tmp_path / "cache", command, project, *options, "--format", "json", status=1)
    (problem,) = json.loads(done.stdout)["diagnostics"]
    assert problem["code"] == code
    assert words in problem["message"]
    assert "bare" in problem["message"]
    assert "`--allow-sdist`" in problem["hint"]
    assert "runs the" in problem["hint"].replace("runs its", "runs the")
    assert (project / "pylock.toml").read_bytes() == (locked / "pylock.toml").read_bytes()


@pytest.mark.parametrize(
    ("more", "is_built"),
    [({}, True), ({"x.PYX": ""}, False), ({"src/a.c": "int a;"}, False), ({"large.txt": "random"}, False)],
)
def test_small_pure_sources_with_a_digest_are_built_unasked(
    index: Index, tmp_path: Path, more: dict[str, str], is_built: bool
) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    shutil.copy(index.folder / "alpha-1.0-py3-none-any.whl", folder)
    large = random.Random(1).randbytes(1 << 20).hex()
    sdist(
        folder,
        "bare",
        "1.0",
        {"bare.py": "VALUE = 'built'\n", **dict.fromkeys(more, large if "large" in str(more) else "")},
    )
    project = written(tmp_path / "project")
    with simple_index(folder) as served:
        (project / "uv.lock").write_text(uv_lock(served))
        done = run(served, tmp_path / "cache", "build", project, "--locked", "-o", tmp_path / "built.pyz")
    if is_built:
        assert done.returncode == 0, done.stderr
        assert "note: `bare 1.0` is built from `bare-1.0.tar.gz`, which runs its code" in done.stderr
    else:
        assert done.returncode == 1
        assert "error[MCP417]: `bare==1.0` has no wheel" in done.stderr
        assert "in `uv.lock`, only its sources" in done.stderr


def test_a_build_says_that_it_runs_code_and_is_the_same_without_a_network(
    index: Index, locked: Path, tmp_path: Path
) -> None:
    files = tmp_path / "files"
    done = run(index, tmp_path / "cache", "lock", locked, "--check", "-q", ALLOWED, "--wheels", files, status=0)
    assert {path.name for path in files.iterdir()} == {"alpha-1.0-py3-none-any.whl", "bare-1.0.tar.gz"}
    done = run(index, tmp_path / "cache", "build", locked, "--locked", ALLOWED, "-o", tmp_path / "online.pyz", status=0)
    assert "note: `bare 1.0` is built from `bare-1.0.tar.gz`, which runs its code" in done.stderr
    index.asked.clear()
    words = ("--locked", ALLOWED, "--offline", "--find-links", str(files), "-q")
    done = run(index, tmp_path / "other", "build", locked, *words, "-o", tmp_path / "offline.pyz", status=0)
    assert index.asked == []
    assert (tmp_path / "online.pyz").read_bytes() == (tmp_path / "offline.pyz").read_bytes()
    resolved = json.loads(contents(tmp_path / "online.pyz")["META-INF/build.json"])["resolvedDependencies"]
    sha256 = digest(index.folder / "bare-1.0.tar.gz")
    assert [(row["file"], row["sha256"]) for row in resolved if row["name"] == "bare"] == [("bare-1.0.tar.gz", sha256)]


def test_sources_that_have_changed_are_refused_and_not_run(index: Index, locked: Path, tmp_path: Path) -> None:
    project = shutil.copytree(locked, tmp_path / "project")
    text = (project / "pylock.toml").read_text()
    sha256 = digest(index.folder / "bare-1.0.tar.gz")
    (project / "pylock.toml").write_text(text.replace(sha256, "0" * 64))
    for words in (("build", project, "--locked"), ("lock", project)):
        done = run(index, tmp_path / "cache", *words, ALLOWED, "--format", "json", status=6)
        assert [code for code, _ in problems(done)] == ["MCP422"]
        assert sha256 in problems(done)[0][1]


def uv_lock(index: Index) -> str:
    """Return a lock as uv writes it for all platforms: wheels and sources, and packages that other systems need."""
    rows = ['version = 1\nrequires-python = ">=3.11"\n']
    needs = [
        f'{{ name = "{name}", marker = "sys_platform == \'win32\'" }}' for name in ("sources-there", "wheel-there")
    ]
    files: dict[str, tuple[str, ...]] = {
        "alpha": ("alpha-1.0-py3-none-any.whl",),
        "bare": ("bare-1.0.tar.gz", "bare-1.0-py3-none-any.whl"),
        "sources-there": ("sources_there-1.0.tar.gz",),
        "wheel-there": ("wheel_there-1.0-cp311-cp311-win_amd64.whl",),
    }
    for name, names in files.items():
        there = [index.folder / file for file in names if (index.folder / file).exists()]
        entries = {
            file: f'{{ url = "{index.address}/files/{file.name}", hash = "sha256:{digest(file)}" }}' for file in there
        }
        rows.append(
            f'[[package]]\nname = "{name}"\nversion = "1.0"\nsource = {{ registry = "{index.address}/simple" }}\n'
        )
        rows += [f"sdist = {entry}\n" for file, entry in entries.items() if file.suffix == ".gz"]
        rows.append(f"wheels = [{', '.join(entry for file, entry in entries.items() if file.suffix == '.whl')}]\n")
        rows += [f'dependencies = [{{ name = "bare" }}, {", ".join(needs)}]\n'] if name == "alpha" else []
    return "".join(rows)


def uv_pylock(index: Index, folder: Path) -> str:
    """Return the lock that uv itself writes for all platforms."""
    (folder / "requirements.in").write_text("alpha==1.0\n")
    words = ["--universal", "--format", "pylock.toml", "-o", "pylock.toml", "-q", "requirements.in"]
    argv = [find_uv_bin(), "pip", "compile", *words]
    variables = {**os.environ, **index.variables()}
    done = subprocess.run(argv, cwd=folder, env=variables, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return (folder / "pylock.toml").read_text()


@pytest.mark.parametrize("name", ["uv.lock", "pylock.toml"])
def test_locks_of_uv_with_wheels_and_sources(index: Index, tmp_path: Path, name: str) -> None:
    project = written(tmp_path / "project")
    (project / name).write_text(uv_lock(index) if name == "uv.lock" else uv_pylock(index, tmp_path))
    words = ("build", project, "--locked", "-q", "-o", tmp_path / "built.pyz")
    run(index, tmp_path / "cache", *words, status=0)
    assert json.loads(contents(tmp_path / "built.pyz")["META-INF/build.json"])["packages"] == ["alpha 1.0", "bare 1.0"]


def test_a_wheel_is_used_where_it_fits(index: Index, tmp_path: Path) -> None:
    folder = shutil.copytree(index.folder, tmp_path / "files")
    wheel(folder, "bare", "1.0", {"bare.py": "VALUE = 'carried'\n"})
    project = written(tmp_path / "project")
    with simple_index(folder) as served:
        (project / "uv.lock").write_text(uv_lock(served))
        done = run(served, tmp_path / "cache", "build", project, "--locked", "-q", "-o", tmp_path / "built.pyz")
    assert done.returncode == 0, done.stderr
    resolved = json.loads(contents(tmp_path / "built.pyz")["META-INF/build.json"])["resolvedDependencies"]
    assert [row["file"] for row in resolved] == ["alpha-1.0-py3-none-any.whl", "bare-1.0-py3-none-any.whl"]
