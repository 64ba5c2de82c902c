"""Which files of a folder are part of a project: `.gitignore`, `exclude`, `include`, and what looks like a secret."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from mcpc.diagnostics import Span
from mcpc.options import Options
from mcpc.pack.cache import cache_key
from mcpc.packages import read_requirements
from mcpc.pipeline import analyse
from mcpc.reading import read_tree
from mcpc.reading.selection import MAX_SETTINGS_BYTES, Selection, read_selection, read_settings_text
from support.artifact import build, carried
from support.files import write_files

SERVER = json.dumps({"serverInfo": {"name": "demo", "version": "1.0.0"}})
TOOLS = json.dumps({"tools": [{"name": "hello", "description": "Say hello.", "inputSchema": {"type": "object"}}]})
PROJECT = {"server.json": SERVER, "tools.json": TOOLS, "tools.py": 'def hello():\n    return "hello"\n'}
KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nx\n"


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


IGNORED: dict[str, tuple[dict[str, str], list[str]]] = {
    "names": ({".gitignore": "*.log\nbuild/\n", "a.log": "", "build/x": "", "sub/build/y": "", "kept": ""}, ["kept"]),
    "from the top": ({".gitignore": "/data\n", "data/x": "", "sub/data": ""}, ["sub/data"]),
    "again, but": ({".gitignore": "*.txt\n!kept.txt\n", "a.txt": "", "kept.txt": ""}, ["kept.txt"]),
    "nearest first": ({".gitignore": "*.txt\n", "sub/.gitignore": "!*.txt\n", "a.txt": "", "sub/b.txt": ""}, ["sub/b.txt"]),
    "comments": ({".gitignore": "# kept\n\n", "kept": ""}, ["kept"]),
    "in a folder": ({"sub/.gitignore": "x\n", "x": "", "sub/x": "", "sub/y": ""}, ["sub/y", "x"]),
}  # fmt: skip


@pytest.mark.parametrize("name", IGNORED)
def test_gitignore_is_honoured(name: str, tmp_path: Path) -> None:
    files, expected = IGNORED[name]
    assert read(tmp_path, files) == expected


def test_a_gitignore_above_the_project_means_nothing(tmp_path: Path) -> None:
    write_files(tmp_path, {".gitignore": "*\n"})
    (tmp_path / "project").mkdir()
    assert read(tmp_path / "project", {"kept": ""}) == ["kept"]


def test_the_order_of_settings(tmp_path: Path) -> None:
    files = {
        ".gitignore": "dist/\n",
        "dist/bundle.js": "",
        "dist/other.js": "",
        "tests/test_x.py": "",
        "notes.md": "",
        "pyproject.toml": settings(exclude=["tests/", "*.md"], include=["dist/bundle.js", "notes.md"]),
    }
    assert read(tmp_path, files) == ["dist/bundle.js"]


def test_server_json_has_the_same_settings(tmp_path: Path) -> None:
    said = {"serverInfo": {}, "_meta": {"mcpc/files": {"exclude": ["*.md"]}}}
    both = {"server.json": json.dumps(said), "pyproject.toml": settings(exclude=["*.txt"])}
    assert read(tmp_path, {**both, "a.md": "", "a.txt": "", "a.csv": ""}) == ["a.csv"]


def test_settings_of_server_json_are_known_options(tmp_path: Path) -> None:
    said = {**json.loads(SERVER), "_meta": {"mcpc/files": {"exclude": ["*.md"]}}}
    tree, found = read_tree(write_files(tmp_path, {**PROJECT, "server.json": json.dumps(said), "a.md": ""}))
    assert "a.md" not in tree.files
    assert [problem.code for problem in analyse(tree, found, Options()).diagnostics] == ["MCP266"]


@pytest.mark.parametrize("value", ['"tests"', "[1]", "[[]]", '[""]', '["!"]'])
def test_a_setting_that_is_no_list_of_patterns(value: str, tmp_path: Path) -> None:
    _, problems = read_tree(write_files(tmp_path, {"pyproject.toml": f"[tool.mcpc]\nexclude = {value}\n"}))
    assert [problem.code for problem in problems] == ["MCP413"]


@pytest.mark.parametrize("text", ["[tool", "", "tool = 1\n", "[tool]\nmcpc = 1\n"])
def test_files_that_are_not_whole_are_left_to_others(text: str, tmp_path: Path) -> None:
    write_files(tmp_path, {"pyproject.toml": text, "server.json": "{"})
    assert read_tree(tmp_path)[1] == ()


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


@pytest.mark.parametrize("name", ["", "sub"])
def test_a_pattern_that_is_none_is_reported_in_its_file(name: str, tmp_path: Path) -> None:
    files = {f"{name}/.gitignore".lstrip("/"): "a\n!\n", f"{name}/a".lstrip("/"): ""}
    _, (problem,) = read_tree(write_files(tmp_path, files))
    assert (problem.code, problem.span) == ("MCP413", Span(next(iter(files))))


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


def test_what_no_project_packs(tmp_path: Path) -> None:
    files = dict.fromkeys(
        (
            *("env/pyvenv.cfg", "env/lib/x.py", "sub/node_modules/a/x.js", "__pycache__/x.pyc", ".git/config"),
            *("sub/.git", "x.egg-info/PKG-INFO", "build/lib/x.py", "build/lib.linux-x86_64-3.11/x.py", "server.pyz"),
            *("dist/x-1.0.tar.gz", ".pytest_cache/x", ".github/x.yml", "tests/case.json", ".tox/x", ".coverage"),
            *("build/x.py", "dist/x.js", "lib/y.py", "tests/x.py", "tests/sub/case.json", "docs/x.md", "uv.lock", ".x"),
        ),
        "",
    )
    tree, problems = read_tree(write_files(tmp_path, files))
    assert problems == ()
    assert [*tree.files] == sorted([*files][-8:])
    assert dict(tree.left_out) == {
        "env/": "installed packages",
        "sub/node_modules/": "installed packages",
        ".git/": "version control",
        "sub/.git/": "version control",
        "x.egg-info/": "build output",
        "build/lib/": "build output",
        "build/lib.linux-x86_64-3.11/": "build output",
        "dist/x-1.0.tar.gz": "build output",
        ".coverage": "build output",
        ".pytest_cache/": "cache",
        ".tox/": "cache",
        ".github/": "hidden folder",
        "tests/case.json": "cases of `mcpc test`",
    }


def test_a_hidden_folder_is_read_where_include_names_files_in_it(tmp_path: Path) -> None:
    files = {".a/b/x.txt": "", ".a/b/y.md": "", ".a/z": "", ".c/d/e": "", ".git/x.txt": "", "sub/.a/x.txt": ""}
    write_files(tmp_path, {**files, "pyproject.toml": settings(include=[".a/b/*.txt", ".c/", "*.txt"])})
    assert [*read_tree(tmp_path)[0].files] == [".a/b/x.txt", ".c/d/e", "pyproject.toml"]


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
