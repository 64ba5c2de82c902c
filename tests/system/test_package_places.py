"""Packages from places that a project names: a registry of uv's tables on the loopback, and a git repository."""

import functools
import http.server
import os
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mcpc.diagnostics import has_errors
from mcpc.packages import StagedPackages, read_requirements, stage_packages
from mcpc.packages.choosing import install
from mcpc.packages.uv import InstallError, UvRequest
from mcpc.reading import SourceTree
from support.files import write_files
from support.projects import tree

NAME = "mcpc-test-of-places"
MODULE = "mcpc_test_of_places"
WHEEL = f"{MODULE}-1.5-py3-none-any.whl"
WRITER = """import base64, hashlib, os, zipfile
def write(folder, version, text):
    base = f"MODULE-{version}.dist-info"
    files = {
        "MODULE.py": text,
        f"{base}/METADATA": f"Metadata-Version: 2.1\\nName: NAME\\nVersion: {version}\\n",
        f"{base}/WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    }
    digests = {n: base64.urlsafe_b64encode(hashlib.sha256(x.encode()).digest()).decode().rstrip("=") for n, x in files.items()}
    rows = [f"{name},sha256={digests[name]},{len(files[name])}\\n" for name in files]
    path = f"MODULE-{version}-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(folder, path), "w") as wheel:
        for name, data in {**files, f"{base}/RECORD": "".join([*rows, f"{base}/RECORD,,\\n"])}.items():
            wheel.writestr(name, data)
    return path
def build_wheel(target, config_settings=None, metadata_directory=None):
    with open("MODULE.py") as file:
        return write(target, "2.0", file.read())
""".replace("MODULE", MODULE).replace("NAME", NAME)
SOURCES = {
    "pyproject.toml": "[build-system]\nrequires = []\nbuild-backend = 'backend'\nbackend-path = ['.']\n",
    "backend.py": WRITER,
    f"{MODULE}.py": "FROM = 'repository'\n",
}


def write_wheel(folder: Path) -> None:
    folder.mkdir(parents=True)
    written: dict[str, Any] = {}
    exec(WRITER, written)
    assert written["write"](folder, "1.5", "FROM = 'index'\n") == WHEEL


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    root = tmp_path_factory.mktemp("index")
    write_wheel(root / "simple" / NAME)
    (root / "simple" / NAME / "index.html").write_text(f'<a href="{WHEEL}">{WHEEL}</a>')
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(root))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/simple"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    folder = tmp_path_factory.mktemp("repository")
    write_files(folder / "libs", SOURCES)
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    for words in (("init", "-q"), ("add", "."), (*identity, "commit", "-q", "-m", "x"), ("tag", "v2")):
        subprocess.run(["git", "-C", folder, *words], check=True, env={**os.environ, "HOME": str(folder)})
    head = subprocess.run(["git", "-C", folder, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    return folder.as_uri(), head.stdout.strip()


def project(source: str, more: str = "", **settings: object) -> SourceTree:
    text = f"[project]\nname = 'p'\ndependencies = ['{NAME}']\n{more}\n[tool.uv.sources]\n{NAME} = {source}\n"
    text += "".join(f"[tool.mcpc]\n{key} = {value}\n" for key, value in settings.items())
    return tree({"pyproject.toml": text})


def staged(of: SourceTree) -> StagedPackages:
    wanted, problems = read_requirements(of)
    assert not has_errors(problems), problems
    found, problems = stage_packages(wanted)
    assert found is not None, problems
    return found


def version(of: StagedPackages) -> str:
    (package,) = (item for item in of.distributions if item.name == NAME)
    return package.version


def test_a_package_of_a_named_index(index: str) -> None:
    uses = f"[[tool.uv.index]]\nname = 'inner'\nurl = '{index}'\nexplicit = true"
    found = staged(project("{index = 'inner'}", uses))
    assert version(found) == "1.5"
    assert (found.root / f"{MODULE}.py").read_text() == "FROM = 'index'\n"


@pytest.mark.parametrize("setting", ["", "UV_NO_CONFIG", "UV_CONFIG_FILE"])
def test_the_first_index_that_has_a_package_is_its_only_one(
    index: str, setting: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A higher version in another registry, which anyone can publish there, does not take its place."""
    (tmp_path / "1").write_text("")
    monkeypatch.setenv("MCPC_CACHE_DIR", str(tmp_path / "cache"))
    if setting:
        monkeypatch.setenv(setting, str(tmp_path / "1") if setting == "UV_CONFIG_FILE" else "1")
    other = tmp_path / "other" / NAME
    other.mkdir(parents=True)
    written: dict[str, Any] = {}
    exec(WRITER, written)
    file = written["write"](other, "9.0", "FROM = 'other'\n")
    (other / "index.html").write_text(f'<a href="{file}">{file}</a>')
    tables = "".join(f"[[tool.uv.index]]\nurl = '{address}'\n" for address in (index, (tmp_path / "other").as_uri()))
    text = f"[project]\nname = 'p'\ndependencies = ['{NAME}']\n{tables}"
    assert version(staged(tree({"pyproject.toml": text}))) == "1.5"
    reverse = (
        text.replace(index, "X")
        .replace((tmp_path / "other").as_uri(), index)
        .replace("'X'", f"'{(tmp_path / 'other').as_uri()}'")
    )
    assert version(staged(tree({"pyproject.toml": reverse}))) == "9.0"


def test_addresses_name_no_variables_and_no_other_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_INDEX_OURS_PASSWORD", "s3cret")
    place = f"{tmp_path.as_uri()}/${{UV_INDEX_OURS_PASSWORD}}/{WHEEL}"
    with pytest.raises(InstallError) as raised:
        install(UvRequest([f"{NAME} @ {place}"]), tmp_path / "installed")
    assert "s3cret" not in raised.value.said
    assert "UV_INDEX_OURS_PASSWORD" in raised.value.said
    with pytest.raises(InstallError, match="is not a requirement"):
        install(UvRequest([f"{NAME}\n--index-url https://other.example/simple"]), tmp_path / "installed")


def test_an_index_without_the_package(index: str) -> None:
    uses = f"[[tool.uv.index]]\nname = 'inner'\nurl = '{index}/none'\nexplicit = true"
    wanted, _ = read_requirements(project("{index = 'inner'}", uses))
    found, (problem,) = stage_packages(wanted)
    assert found is None
    assert problem.code == "MCP405"
    assert f"nothing named `{NAME}`" in problem.message


def test_an_index_that_is_not_defined() -> None:
    _, problems = read_requirements(project("{index = 'inner'}"))
    (problem,) = [problem for problem in problems if problem.severity == "error"]
    assert problem.code == "MCP402"
    assert "[[tool.uv.index]]" in problem.hint


@pytest.mark.parametrize("revision", ["rev = 'COMMIT'", "tag = 'v2'", ""])
def test_a_package_of_a_repository(repository: tuple[str, str], revision: str) -> None:
    address, commit = repository
    chosen = f", {revision.replace('COMMIT', commit)}" if revision else ""
    of = project(f"{{git = '{address}', subdirectory = 'libs'{chosen}}}", **{"allow-sdist": "true"})
    _, problems = read_requirements(of)
    assert [problem.code for problem in problems] == ([] if "COMMIT" in revision else ["MCP404"])
    found = staged(of)
    assert version(found) == "2.0"
    assert (found.root / f"{MODULE}.py").read_text() == "FROM = 'repository'\n"


def test_a_repository_in_an_address(repository: tuple[str, str]) -> None:
    address, commit = repository
    line = f"{NAME} @ git+{address}@{commit}#subdirectory=libs\n"
    of = tree({"requirements.txt": line, "pyproject.toml": "[tool.mcpc]\nallow-sdist = true\n"})
    assert version(staged(of)) == "2.0"


def test_a_repository_is_fetched_only_if_the_build_allows_it(repository: tuple[str, str]) -> None:
    _, problems = read_requirements(project(f"{{git = '{repository[0]}'}}"))
    (problem,) = [problem for problem in problems if problem.severity == "error"]
    assert problem.code == "MCP402"
    assert "--allow-sdist" in problem.hint


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("{git = 'file:///nowhere/at-all'}", "cannot be fetched"),
        ("{git = 'ext::sh -c touch% /tmp/mcpc-ext'}", "cannot be fetched"),
        ("{git = 'ADDRESS', rev = 'none'}", "has no revision `none`"),
        ("{git = 'ADDRESS', rev = '--upload-pack=x'}", "is not a revision"),
    ],
)
def test_repositories_that_cannot_be_fetched(repository: tuple[str, str], source: str, reason: str) -> None:
    wanted, _ = read_requirements(project(source.replace("ADDRESS", repository[0]), **{"allow-sdist": "true"}))
    found, (problem,) = stage_packages(wanted)
    assert found is None
    assert problem.code == "MCP418"
    assert reason in problem.message
