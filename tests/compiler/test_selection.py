"""Which files of a folder are part of a project: `.gitignore`, `exclude`, `include`, and what looks like a secret."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from mcpc.options import Options
from mcpc.pack.cache import cache_key
from mcpc.packages import read_requirements
from mcpc.pipeline import analyse
from mcpc.reading import read_tree
from mcpc.reading.selection import MAX_SETTINGS_BYTES, Selection, read_selection, read_settings_text
from support.artifact import build, carried
from support.files import write_files
from support.needs import ROOT
from support.whole_projects import read_cases

SERVER = json.dumps({"serverInfo": {"name": "demo", "version": "1.0.0"}})
TOOLS = json.dumps({"tools": [{"name": "hello", "description": "Say hello.", "inputSchema": {"type": "object"}}]})
PROJECT = {"server.json": SERVER, "tools.json": TOOLS, "tools.py": 'def hello():\n    return "hello"\n'}
KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nx\n"


GOLDEN = ROOT / "tests/golden/sources"


def settings(**patterns: list[str]) -> str:
    return f"[tool.mcpc]\n{''.join(f'{name} = {json.dumps(value)}{chr(10)}' for name, value in patterns.items())}"


def read(folder: Path, files: Mapping[str, str]) -> list[str]:
    tree, problems = read_tree(write_files(folder, files))
    assert problems == ()
    return [path for path in tree.files if path not in ("pyproject.toml", "server.json")]


@pytest.mark.parametrize("files", [
    {"pyproject.toml": settings(exclude=["pyproject.toml"])}, {"pyproject.toml": settings(), ".gitignore": "*.toml\n"},
])  # fmt: skip
def test_what_says_what_a_project_is_is_read_and_not_packed(tmp_path: Path, files: dict[str, str]) -> None:
    files["pyproject.toml"] += '[project]\nname = "demo"\ndependencies = ["no-such-package==1.0"]\n'
    tree, problems = read_tree(write_files(tmp_path, {**PROJECT, **files, "sub/pyproject.toml": ""}))
    assert problems == ()
    assert "pyproject.toml" not in tree.files
    found = tree.get("pyproject.toml")
    assert found is not None and found.text == files["pyproject.toml"]
    assert [item.text for item in read_requirements(tree)[0]] == ["no-such-package==1.0"]
    changed, _ = read_tree(write_files(tmp_path, {"pyproject.toml": files["pyproject.toml"].replace("==1.0", "==2.0")}))
    assert cache_key(tree, (), Options()) != cache_key(changed, (), Options())


def test_a_lock_that_is_ignored_is_read_and_not_packed(tmp_path: Path) -> None:
    tree, _ = read_tree(write_files(tmp_path, {**PROJECT, ".gitignore": "*.lock\n", "uv.lock": "version = 1\n"}))
    found = tree.get("uv.lock")
    assert "uv.lock" not in tree.files
    assert found is not None and found.text == "version = 1\n"


def test_what_is_read_of_folders(tmp_path: Path, golden: Callable[[Path, str], None]) -> None:
    lines: list[str] = []
    for number, (name, project, _) in enumerate(read_cases(GOLDEN / "selection.cases")):
        found, problems = read_tree(
            write_files(tmp_path / str(number), {path: each.data for path, each in project.files.items()})
        )
        lines += [f"##### {name}", *found.files, *(f"left out {path}: {reason}" for path, reason in found.left_out)]
        for problem in problems:
            message, _, _ = problem.message.partition(": ")  # what follows is said by the library of patterns
            lines.append(f"{problem.code} {problem.span and problem.span.path}: {message}")
    golden(GOLDEN / "selection.txt", "".join(f"{line}\n" for line in lines))


def test_a_gitignore_above_the_project_means_nothing(tmp_path: Path) -> None:
    write_files(tmp_path, {".gitignore": "*\n"})
    (tmp_path / "project").mkdir()
    assert read(tmp_path / "project", {"kept": ""}) == ["kept"]


def test_settings_of_server_json_are_known_options(tmp_path: Path) -> None:
    said = {**json.loads(SERVER), "_meta": {"mcpc/files": {"exclude": ["*.md"]}}}
    tree, found = read_tree(write_files(tmp_path, {**PROJECT, "server.json": json.dumps(said), "a.md": ""}))
    assert "a.md" not in tree.files
    assert [problem.code for problem in analyse(tree, found, Options()).diagnostics] == ["MCP266"]


def test_patterns_of_both_files_and_of_git_are_combined(tmp_path: Path) -> None:
    said = {"_meta": {"mcpc/files": {"exclude": ["a"], "include": ["x/b"]}}}
    project = settings(exclude=["c"], include=["d"])
    files = {".gitignore": "x/\nd\n!d/e\n", "server.json": json.dumps(said), "pyproject.toml": project}
    write_files(tmp_path, {**files, **dict.fromkeys(("a", "c", "d", "x/b", "x/c", "y/a", "y/x/z"), "")})
    found = read_selection(tmp_path)
    found.read_ignores("", tmp_path)
    found.read_ignores("y", tmp_path / "y")
    assert [found.names(path) for path in ("d", "x/b", "x/c", "c")] == [True, True, False, False]
    rows = [("a", False), ("c", False), ("d", False), ("x", True), ("x/b", False), ("x/c", False), ("y/x", True)]
    reasons = [found.reason(path, is_folder=folder) for path, folder in rows]
    assert reasons == ["`exclude`", "`exclude`", "", "", "", "`exclude`", ""]
    assert (found.problems, list(found.ignores)) == ([], [""])
    without = Selection(exclude=found.exclude, ignores=found.ignores)
    assert all(without.reason(path, is_folder=folder) for path, folder in rows)
    assert not Selection().reason("a", is_folder=False)


@pytest.mark.parametrize(("size", "is_read"), [(MAX_SETTINGS_BYTES, True), (MAX_SETTINGS_BYTES + 1, False)])
def test_settings_are_read_from_small_files(size: int, is_read: bool, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("\ufeffé".ljust(size - 3))
    assert read_settings_text(tmp_path / "a").strip() == ("é" if is_read else "")
    (tmp_path / "link").symlink_to("a")
    assert [read_settings_text(tmp_path / name) for name in ("link", "gone", ".")] == [""] * 3


def codes(project: Path) -> list[str]:
    return [problem.code for problem in analyse(*read_tree(project), Options()).diagnostics]


@pytest.mark.parametrize("name", [".env", ".env.local", "sub/id_rsa", ".netrc", ".npmrc", "key.pem", "store.p12"])
def test_a_secret_is_left_out_unless_it_is_named(name: str, tmp_path: Path) -> None:
    tree, problems = read_tree(write_files(tmp_path / "project", {**PROJECT, name: KEY}))
    assert (name in tree.files, tree.left_out, problems) == (False, ((name, "secret"),), ())
    assert codes(tmp_path / "project") == ["MCP266"]
    named = write_files(tmp_path / "named", {**PROJECT, name: KEY, "pyproject.toml": settings(include=[name])})
    tree, _ = read_tree(named)
    assert (name in tree.files, tree.left_out, codes(named)) == (True, (), [])


def test_large_folders_that_no_code_names(tmp_path: Path) -> None:
    large = "x" * 1_000_000
    files = {
        **PROJECT,
        "tools.py": 'import json  # and data\ndef hello():\n    return "hello"\n',
        "pyproject.toml": settings(exclude=["*.md"]),
        "tests/a.txt": large,
        "tests/sub/b.txt": large + large,
        "docs/c.txt": large,
        "data/d.txt": large,
        "small/e.txt": large[1:],
    }
    result = analyse(*read_tree(write_files(tmp_path, files)), Options())
    (note,) = [problem for problem in result.diagnostics if problem.code == "MCP267"]
    assert note.message == "in the built file, though no code names it: `tests/` (3.0 MB), `docs/` (1.0 MB)"
    assert '`exclude = ["*.md", "tests/", "docs/"]`' in note.hint


def test_a_secret_that_is_named_goes_along(tmp_path: Path) -> None:
    files = {**PROJECT, ".env": "A=b", "notes.md": "", "pyproject.toml": settings(include=[".env"], exclude=["*.md"])}
    names = carried(build(write_files(tmp_path / "project", files), tmp_path / "server.pyz"))
    assert "handlers/.env" in names
    assert "handlers/notes.md" not in names


def test_a_certificate_is_no_secret(tmp_path: Path) -> None:
    files = {**PROJECT, "ca.pem": "-----BEGIN CERTIFICATE-----\nx\n", ".env.example": "A=\n"}
    assert codes(write_files(tmp_path, files)) == []
