"""Files with the version that a build backend writes: which version they get, and what a project without one is told."""

import subprocess
from pathlib import Path

import pytest

from mcpc.pipeline import read_project
from support.files import write_files
from support.needs import needs

SETUPTOOLS = (
    '[project]\nname = "my-demo"\ndynamic = ["version"]\n[tool.setuptools_scm]\nversion_file = "src/demo/_version.py"\n'
)
HATCH = '[tool.hatch.version]\nsource = "vcs"\n[tool.hatch.build.hooks.vcs]\nversion-file = "demo/_version.py"\n'


def written(version: str, parts: str) -> str:
    head = "# Written by `mcpc build`, as the build backend of the project does.\n"
    values = f"__version__ = '{version}'\nversion = __version__\n"
    return f"{head}{values}__version_tuple__ = {parts}\nversion_tuple = __version_tuple__\n"


def commit(folder: Path, *tags: str) -> None:
    git = ("git", "-c", "user.name=x", "-c", "user.email=x@y", "-c", "commit.gpgsign=false", "-C", str(folder))
    steps = (("init", "-q"), ("add", "-A"), ("commit", "-qm", "x", "--allow-empty"), *(("tag", tag) for tag in tags))
    for words in steps:
        subprocess.run([*git, *words], check=True, capture_output=True)


@pytest.fixture(autouse=True)
def _no_version_is_pretended(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SETUPTOOLS_SCM_PRETEND_VERSION", "SETUPTOOLS_SCM_PRETEND_VERSION_FOR_MY_DEMO"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("variable", "more", "version", "parts"),
    [
        ("SETUPTOOLS_SCM_PRETEND_VERSION", "", "1.2", "(1, 2)"),
        ("SETUPTOOLS_SCM_PRETEND_VERSION_FOR_MY_DEMO", 'fallback_version = "7.0"\n', "1.2", "(1, 2)"),
        ("", 'fallback_version = "7.0rc1"\n', "7.0rc1", "(7, 0)"),
    ],
)
def test_the_version_without_a_clone(
    variable: str, more: str, version: str, parts: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if variable:
        monkeypatch.setenv(variable, "1.2")
    tree, problems = read_project(write_files(tmp_path, {"pyproject.toml": SETUPTOOLS + more}))
    assert (tree.files["src/demo/_version.py"].text, problems) == (written(version, parts), ())


def test_the_version_of_a_tag_and_of_what_follows_it(tmp_path: Path) -> None:
    needs("git")
    write_files(tmp_path, {"pyproject.toml": HATCH, ".gitignore": "_version.py\n", "demo/_version.py": "old = 1\n"})
    commit(tmp_path, "other", "v1.4.0")
    assert read_project(tmp_path)[0].files["demo/_version.py"].text == written("1.4.0", "(1, 4, 0)")
    commit(tmp_path)
    text = read_project(tmp_path)[0].files["demo/_version.py"].text
    assert text.splitlines()[1].startswith("__version__ = '1.4.1.dev1+g")
    assert text.splitlines()[3] == "__version_tuple__ = (1, 4, 1, 'dev1')"


def test_a_version_that_an_earlier_installation_left(tmp_path: Path) -> None:
    left = "__version__ = version = '3.1'\n"
    files = {"pyproject.toml": SETUPTOOLS, ".gitignore": "_version.py\n", "src/demo/_version.py": left}
    tree, problems = read_project(write_files(tmp_path, files))
    assert (tree.files["src/demo/_version.py"].text, problems) == (written("3.1", "(3, 1)"), ())


def test_a_file_of_the_project_is_not_written_and_a_template_is_kept(tmp_path: Path) -> None:
    tree, problems = read_project(
        write_files(tmp_path, {"pyproject.toml": SETUPTOOLS, "src/demo/_version.py": "x = 1\n"})
    )
    assert (tree.files["src/demo/_version.py"].text, problems) == ("x = 1\n", ())
    more = 'version_file_template = "V = \'{version}\'  # {version_tuple}"\nfallback_version = "2.0"\n'
    tree, _ = read_project(write_files(tmp_path / "other", {"pyproject.toml": SETUPTOOLS + more}))
    assert tree.files["src/demo/_version.py"].text == "V = '2.0'  # (2, 0)"


@pytest.mark.parametrize("path", ["../x.py", "/x.py", "a/../../x.py", "./"])
def test_no_file_is_written_elsewhere(path: str, tmp_path: Path) -> None:
    text = SETUPTOOLS.replace("src/demo/_version.py", path) + 'fallback_version = "1"\n'
    tree, _ = read_project(write_files(tmp_path, {"pyproject.toml": text}))
    assert [*tree.files] == ["pyproject.toml"]


def test_a_version_that_nothing_says_is_one_error_that_names_the_cause(tmp_path: Path) -> None:
    tree, problems = read_project(write_files(tmp_path, {"pyproject.toml": SETUPTOOLS}))
    (problem,) = problems
    span = problem.span
    assert (problem.code, SETUPTOOLS[span.start : span.end]) == ("MCP209", "src/demo/_version.py")
    assert "SETUPTOOLS_SCM_PRETEND_VERSION=1.2.3" in problem.hint
    assert "src/demo/_version.py" in tree.files
