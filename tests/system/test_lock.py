"""Locks: exact text, builds from nothing else, and refusals with one message."""

import json
import os
import re
import shutil
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from packaging.pylock import Pylock
from uv import find_uv_bin

from support.artifact import contents
from support.files import write_files
from support.locks import FILES, HERE, problems, run
from support.processes import run_program
from support.reference import read_data
from support.simple_index import Index, digest, simple_index
from support.wheels import wheel

PLATFORMS = ("--platform", "manylinux2014_x86_64", "--platform", "win_amd64")


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """An index with a pure package, what it needs here and on Windows, and one with native modules."""
    folder = tmp_path_factory.mktemp("wheels")
    windows = "only-there>=1; sys_platform == 'win32'"
    for version in ("1.0", "1.1"):
        needs = ["beta>=1", windows, "gamma; extra == 'more'"]
        wheel(folder, "alpha", version, {"alpha.py": f"VALUE = '{version}'\n"}, needs=needs)
    wheel(folder, "beta", "1.5", {"beta.py": ""}, needs=["gamma[nothing]; python_version < '3'"])
    wheel(folder, "gamma", "3.0", {"gamma.py": ""})
    wheel(folder, "only-there", "2.0", {"only_there.py": ""})
    for tag in ("cp311", "cp312", "cp313", "cp314"):
        for platform, file in (("manylinux2014_x86_64", "_x.so"), ("win_amd64", "_x.pyd")):
            files = {"native/__init__.py": "", f"native/{file}": f"{tag} {platform}"}
            wheel(folder, "native", "4.0", files, tag=f"{tag}-{tag}-{platform}")
    with simple_index(folder) as served:
        yield served


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project that requires one package."""
    folder = tmp_path / "project"
    write_files(folder, FILES)
    (folder / "requirements.txt").write_text("alpha==1.*\n")
    return folder


def lock(index: Index, project: Path, *options: str) -> dict[str, Any]:
    """Write the lock of a project, for this Python unless the options say something else, and return it."""
    pythons = () if "--python" in options else ("--python", HERE)
    run(index, project.parent / "cache", "lock", project, "-q", *pythons, *options, status=0)
    return tomllib.loads((project / "pylock.toml").read_text())


def versions(table: dict[str, Any]) -> dict[str, str]:
    return {row["name"]: row["version"] for row in table["packages"]}


def test_a_lock_names_a_file_of_each_package_for_each_target(index: Index, project: Path) -> None:
    (project / "requirements.txt").write_text("alpha[more]\nnative\n")
    run(index, project.parent / "cache", "lock", project, "--python", "3.12", *PLATFORMS, status=0)
    text = (project / "pylock.toml").read_text().replace(index.address, "https://index.example")
    table = tomllib.loads(text)
    wheels = {file.name: file for file in index.folder.iterdir()}
    locked = [row for package in table["packages"] for row in package["wheels"]]
    assert all(row["hashes"]["sha256"] == digest(wheels[row["name"]]) for row in locked)
    assert all(row["size"] == wheels[row["name"]].stat().st_size for row in locked)
    assert all(row["url"] == f"https://index.example/files/{row['name']}" for row in locked)
    assert sorted(row["name"] for row in locked if row["name"].startswith("native")) == [
        f"native-4.0-cp312-cp312-{platform}.whl" for platform in ("manylinux2014_x86_64", "win_amd64")
    ]
    assert [(row["name"], row.get("marker")) for row in table["packages"]] == [
        ("alpha", None), ("beta", None), ("gamma", None), ("native", None), ("only-there", "sys_platform == 'win32'"),
    ]  # fmt: skip
    assert table["packages"][0]["dependencies"] == [{"name": name} for name in ("beta", "gamma", "only-there")]
    assert table["created-by"] == "mcpc"
    assert len(table["environments"]) == 2
    Pylock.from_dict(table).validate()
    assert re.sub(r"[0-9a-f]{64}|size = \d+", "…", text) == EXPECTED_BEGINNING + text_after(text)


EXPECTED_BEGINNING = """lock-version = "1.0"
environments = [
    "sys_platform == 'linux' and platform_machine == 'x86_64' and python_version == '3.12'",
    "sys_platform == 'win32' and platform_machine == 'AMD64' and python_version == '3.12'",
]
created-by = "mcpc"

[[packages]]
name = "alpha"
version = "1.1"
dependencies = [{ name = "beta" }, { name = "gamma" }, { name = "only-there" }]
wheels = [
    { name = "alpha-1.1-py3-none-any.whl", url = "https://index.example/files/alpha-1.1-py3-none-any.whl", …, hashes = \
{ sha256 = "…" } },
]
"""


def text_after(text: str) -> str:
    """Return what follows the first package, with the same places left out."""
    return "\n" + re.sub(r"[0-9a-f]{64}|size = \d+", "…", text[text.index('[[packages]]\nname = "beta"') :])


def test_a_lock_is_valid_by_the_schema_and_for_installers(index: Index, locked: Path, tmp_path: Path) -> None:
    table = tomllib.loads((locked / "pylock.toml").read_text())
    # The schema's root has `additionalProperties: false` and declares no properties, so that draft 7 refuses every
    # lock there is; `definitions/1.0` describes one.
    schema = read_data("schemas/pylock/pylock.schema.json")
    jsonschema.validate(table, {"$ref": "#/definitions/1.0", "definitions": schema["definitions"]})
    place = tmp_path / "installed"
    installers = {"pip": [sys.executable, "-m", "pip", "install", "--no-deps"], "uv": [find_uv_bin(), "pip", "install"]}
    for name, words in installers.items():
        argv = [*words, "--quiet", "--target", str(place / name), "-r", str(locked / "pylock.toml")]
        run_program(argv, env={**os.environ, **index.variables()}, status=0)
        assert (place / name / "alpha.py").read_text() == "VALUE = '1.1'\n"


def test_files_built_of_one_lock_are_equal_from_anywhere(index: Index, locked: Path, tmp_path: Path) -> None:
    project = locked
    table = tomllib.loads((locked / "pylock.toml").read_text())
    run(index, tmp_path / "fresh", "lock", project, "--check", "-q", "--wheels", tmp_path / "folder", status=0)
    assert {path.name for path in (tmp_path / "folder").iterdir()} == {
        "alpha-1.1-py3-none-any.whl",
        "beta-1.5-py3-none-any.whl",
    }
    run(index, tmp_path / "fresh", "build", project, "-q", "--locked", "-o", tmp_path / "online.pyz", status=0)
    index.asked.clear()
    linked = ("--locked", "--offline", "--find-links", str(tmp_path / "folder"))
    run(index, tmp_path / "other", "build", project, "-q", *linked, "-o", tmp_path / "offline.pyz", status=0)
    assert index.asked == []
    assert (tmp_path / "online.pyz").read_bytes() == (tmp_path / "offline.pyz").read_bytes()
    facts = json.loads(contents(tmp_path / "online.pyz")["META-INF/build.json"])
    assert facts["lock"] == {"file": "pylock.toml", "sha256": digest(project / "pylock.toml")}
    assert facts["resolvedDependencies"] == [
        {
            "name": row["name"],
            "version": row["version"],
            "file": row["wheels"][0]["name"],
            "sha256": row["wheels"][0]["hashes"]["sha256"],
            "dependencies": [item["name"] for item in row.get("dependencies", [])],
        }
        for row in table["packages"]
    ]


def with_text(name: str, old: str, new: str) -> Any:
    def change(project: Path) -> None:
        path = project / name
        text = path.read_text() if path.exists() else ""
        assert re.search(old, text)
        path.write_text(re.sub(old, new, text))

    return change


def without_lock(project: Path) -> None:
    (project / "pylock.toml").unlink()


def with_wide_python(project: Path) -> None:
    (project / "pyproject.toml").write_text('[project]\nname = "p"\nversion = "1"\nrequires-python = ">=3.11"\n')
    with_text("pylock.toml", "created-by", 'requires-python = ">=3.12"\ncreated-by')(project)


REFUSED = {
    "a package is missing": (with_text("requirements.txt", r"\Z", "gamma\n"), (), "the project needs `gamma`"),
    "a version is excluded": (with_text("requirements.txt", ".*\n", "alpha==1.0\n"), (), "the project needs `alpha==1.0`"),
    "what a package needs is missing": (with_text("pylock.toml", 'name = "beta"', 'name = "betta"'), (), "not a valid lock"),
    "another platform": (lambda _: None, ("--platform", "macosx_11_0_arm64"), "is not for macosx_11_0_arm64"),
    "another Python": (with_wide_python, (), "the project allows Python 3.11"),
    "a wrong digest": (with_text("pylock.toml", 'sha256 = "....', 'sha256 = "0000'), (), "and the lock says 0000"),
    "no digest": (with_text("pylock.toml", "sha256 =", "unknown ="), (), "has no SHA-256 of"),
    "no lock": (without_lock, (), "the project has no `pylock.toml` or `uv.lock`"),
    "no TOML": (with_text("pylock.toml", "lock-version", "[lock"), (), "is not a valid lock file"),
}  # fmt: skip


@pytest.fixture(scope="module")
def locked(index: Index, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a lock, which tests copy, and the folder of its wheels beside it."""
    folder = tmp_path_factory.mktemp("locked") / "project"
    write_files(folder, {**FILES, "requirements.txt": "alpha==1.*\n"})
    lock(index, folder)
    return folder


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_fit_is_refused_with_one_message(index: Index, locked: Path, tmp_path: Path, case: str) -> None:
    change, options, words = REFUSED[case]
    project = shutil.copytree(locked, tmp_path / "project")
    change(project)
    target = tmp_path / "built.pyz"
    target.write_text("earlier")
    offline = ("--locked", "--offline", "--find-links", str(index.folder), "--format", "json")
    done = run(index, tmp_path / "cache", "build", project, "-o", target, *offline, *options, status=6)
    ((code, message),) = problems(done)
    assert code in ("MCP422", "MCP414")
    assert words in message
    assert json.loads(done.stdout)["diagnostics"][0]["hint"]
    assert target.read_text() == "earlier"


def test_a_plain_build_warns_of_a_stale_lock_at_its_place(index: Index, locked: Path, tmp_path: Path) -> None:
    project = shutil.copytree(locked, tmp_path / "project")
    (project / "requirements.txt").write_text("# new\nalpha==1.*\ngamma==3.0\n")
    done = run(index, tmp_path / "cache", "build", project, "-q", "-o", tmp_path / "built.pyz", status=0)
    assert "warning[MCP421]" in done.stderr
    assert "requirements.txt:3:1" in done.stderr
    facts = json.loads(contents(tmp_path / "built.pyz")["META-INF/build.json"])
    assert "lock" not in facts
    assert "gamma 3.0" in facts["packages"]


def test_offline_names_what_is_missing(index: Index, locked: Path, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    shutil.copy(index.folder / "alpha-1.1-py3-none-any.whl", tmp_path / "folder")
    index.asked.clear()
    words = ("--offline", "--find-links", str(tmp_path / "folder"), "--format", "json")
    done = run(index, tmp_path / "cache", "build", locked, "-o", tmp_path / "built.pyz", *words, status=1)
    assert [code for code, _ in problems(done)] == ["MCP423"]
    assert "`beta-1.5-py3-none-any.whl`" in problems(done)[0][1]
    assert index.asked == []
    assert not (tmp_path / "built.pyz").exists()


def test_versions_are_kept_until_they_are_upgraded(index: Index, project: Path, tmp_path: Path) -> None:
    older = tmp_path / "older"
    shutil.copytree(index.folder, older, ignore=lambda _, names: [name for name in names if "alpha-1.1" in name])
    only = ("--offline", "--find-links", str(older))
    assert versions(lock(index, project, *only)) == {"alpha": "1.0", "beta": "1.5"}
    newer = ("--offline", "--find-links", str(index.folder))
    assert versions(lock(index, project, *newer))["alpha"] == "1.0"
    assert versions(lock(index, project, *newer, "--upgrade", "beta"))["alpha"] == "1.0"
    assert versions(lock(index, project, *newer, "--upgrade", "beta", "--upgrade", "Alpha"))["alpha"] == "1.1"


def test_a_file_that_has_changed_is_not_locked_again_unless_it_is_upgraded(
    index: Index, locked: Path, tmp_path: Path
) -> None:
    project = shutil.copytree(locked, tmp_path / "project")
    with_text("pylock.toml", '(beta-1.5-py3.*sha256 = ")....', r"\g<1>0000")(project)
    words = ("lock", project, "--format", "json", "-q")
    done = run(index, tmp_path / "cache", *words, status=6)
    ((code, message),) = problems(done)
    assert code == "MCP422"
    assert "`beta-1.5-py3-none-any.whl` has SHA-256" in message
    assert run(index, tmp_path / "cache", *words, "--upgrade", "beta").returncode == 0
    assert (project / "pylock.toml").read_bytes() == (locked / "pylock.toml").read_bytes()


def test_a_check_finds_what_was_changed_by_hand(index: Index, locked: Path, tmp_path: Path) -> None:
    project = shutil.copytree(locked, tmp_path / "project")
    text = (project / "pylock.toml").read_text()
    (project / "pylock.toml").write_text(text.replace("dependencies = [", "dependencies = [  "))
    done = run(index, tmp_path / "cache", "lock", project, "--check", "--format", "json", status=6)
    ((code, message),) = problems(done)
    assert code == "MCP422"
    assert "was changed by hand" in message


def test_a_package_without_a_wheel_is_named_with_its_target(index: Index, project: Path, tmp_path: Path) -> None:
    (project / "requirements.txt").write_text("alpha\nnative\n")
    words = ("lock", project, "--platform", "macosx_11_0_arm64", "--python", "3.12", "--format", "json")  # fmt: skip
    done = run(index, tmp_path / "cache", *words, status=1)
    ((code, message),) = problems(done)
    assert code == "MCP424"
    assert "macosx_11_0_arm64 with Python 3.12" in message
    assert "native" in message
    assert not (project / "pylock.toml").exists()


def uv_lock(index: Index) -> str:
    """Return a lock as uv writes it, with two versions of a package for different Pythons."""
    rows = ['version = 1\nrequires-python = ">=3.11"\n']
    for name, version, marker in (
        ("alpha", "1.0", "python_full_version >= '3.11'"),
        ("alpha", "1.1", "python_full_version < '3.11'"),
        ("beta", "1.5", ""),
    ):
        file = index.folder / f"{name}-{version}-py3-none-any.whl"
        rows.append(
            f'[[package]]\nname = "{name}"\nversion = "{version}"\nsource = {{ registry = "{index.address}/simple" }}\n'
            + (f'resolution-markers = ["{marker}"]\n' if marker else "")
            + f'wheels = [{{ url = "{index.address}/files/{file.name}", hash = "sha256:{digest(file)}" }}]\n'
        )
    return "\n".join(rows)


def test_a_lock_of_uv_is_installed_from(index: Index, project: Path, tmp_path: Path) -> None:
    (project / "uv.lock").write_text(uv_lock(index))
    run(index, tmp_path / "cache", "build", project, "-q", "--locked", "-o", tmp_path / "built.pyz", status=0)
    facts = json.loads(contents(tmp_path / "built.pyz")["META-INF/build.json"])
    assert facts["packages"] == ["alpha 1.0", "beta 1.5"]
    assert facts["lock"]["file"] == "uv.lock"


def test_a_lock_of_another_name_is_used(index: Index, locked: Path, tmp_path: Path) -> None:
    project = shutil.copytree(locked, tmp_path / "project")
    (project / "pylock.toml").rename(project / "pylock.pipeline.toml")
    words = ("--lock", "pylock.pipeline.toml", "-q")
    run(index, tmp_path / "cache", "build", project, *words, "--locked", "-o", tmp_path / "built.pyz", status=0)
    assert json.loads(contents(tmp_path / "built.pyz")["META-INF/build.json"])["lock"]["file"] == "pylock.pipeline.toml"
    assert run(index, tmp_path / "cache", "build", project, "--lock", "pylock.other.toml").returncode == 2
    assert run(index, tmp_path / "cache", "lock", project, "--lock", "lock.toml").returncode == 2
