"""Files and project directories: places in a text, and what of a directory is read, passed over or refused."""

import copy
import os
import pickle
import socket
import stat
from pathlib import Path

import pytest

from mcpc.diagnostics import Diagnostics, Span
from mcpc.frontends import select_frontends
from mcpc.options import Options
from mcpc.reading import Source, SourceTree, is_executable, read_tree, tree
from mcpc.reading.source import begins_as_program, resolve_relative, source_of_text

AS_ROOT = os.geteuid() == 0


def source(text: str) -> Source:
    return Source("a.txt", text.encode("utf-8", "surrogateescape"), 0o644)


@pytest.mark.parametrize(
    ("text", "offset", "place"),
    [
        ("", 0, (1, 1)),
        ("abc", 0, (1, 1)),
        ("abc", 3, (1, 4)),
        ("a\nb", 1, (1, 2)),
        ("a\nb", 2, (2, 1)),
        ("a\n", 2, (2, 1)),
        ("a\r\nb", 3, (2, 1)),
        ("a\rb", 2, (2, 1)),
        ("a\n\r\n\rb", 5, (4, 1)),
        ("é😀x", 2, (1, 3)),
        ("a\u2028b\x0bc\x85d", 7, (1, 8)),
        ("\ufeffa", 1, (1, 2)),
        ("\udce9\udce8a", 2, (1, 3)),
        ("ab", 99, (1, 3)),
        ("ab", -5, (1, 1)),
    ],
)
def test_position(text: str, offset: int, place: tuple[int, int]) -> None:
    assert source(text).position(offset) == place


@pytest.mark.parametrize(
    ("text", "place", "offset"),
    [
        ("a\nbc\nd", (2, 2), 3),
        ("a\nbc\nd", (2, 99), 4),
        ("a\nbc\nd", (99, 1), 6),
        ("a\nbc\nd", (3, 99), 6),
        ("a\nbc\nd", (0, 0), 0),
        ("a\nbc\nd", (2, -3), 2),
        ("a\r\nb", (1, 99), 2),
        ("", (1, 1), 0),
    ],
)
def test_offset(text: str, place: tuple[int, int], offset: int) -> None:
    assert source(text).offset(*place) == offset


def test_a_source_is_a_value() -> None:
    first, second = source("a\nb"), source("a\nb")
    assert first.position(2) == (2, 1)
    assert first == second
    assert hash(first) == hash(second)
    assert "data" not in repr(first)
    assert pickle.loads(pickle.dumps(first)) == copy.deepcopy(first) == second
    with pytest.raises(AttributeError):
        first.path = "b"  # type: ignore[misc]


def test_a_tree_gives_files_by_path() -> None:
    file = source("a")
    other = source("b")
    found = SourceTree({"a.txt": file}, unpacked={"a.txt": other, "b.txt": other})
    assert [found.get(path) for path in ("a.txt", "b.txt", "c.txt")] == [file, other, None]


def write(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(path)


def read(root: Path) -> tuple[list[str], list[tuple[str, str | None]]]:
    files, problems = read_tree(root)
    return list(files.files), [(problem.code, problem.span.path if problem.span else None) for problem in problems]


def only(problems: Diagnostics) -> tuple[str, str, str]:
    (problem,) = problems
    return problem.code, problem.span.path, problem.message


def test_files_are_read_in_the_order_of_their_paths(tmp_path: Path) -> None:
    write(tmp_path, "b", "a/z", "a.txt", "a/b/c", "B", ".x", "é")
    (tmp_path / "run").write_bytes(b"#!\xff\n")
    (tmp_path / "run").chmod(0o750)
    files, problems = read_tree(tmp_path)
    assert only(problems) == ("MCP502", "b", "`b` and `B` are the same file on case-insensitive disks")
    assert list(files.files) == [".x", "B", "a.txt", "a/b/c", "a/z", "b", "run", "é"]
    assert list(files.files) == [file.path for file in files.files.values()]
    assert files.files["run"] == Source("run", b"#!\xff\n", 0o750)
    assert files.files["a/b/c"].text == "a/b/c"


def test_an_empty_project_is_no_problem(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert read(tmp_path) == ([], [])


@pytest.mark.parametrize(
    "path",
    [
        ".git/config", ".git", "a/.git/HEAD", "__pycache__/a.txt", "a/b.pyc", "a/.DS_Store", "node_modules/x/index.js",
        ".venv/bin/python", ".hidden/a", "a/.cache/b", "tools.json~", "tools.json.swp", ".tools.json.swp", "server.pyz",
        ".#tools.json",
    ],
)  # fmt: skip
def test_what_is_passed_over(tmp_path: Path, path: str) -> None:
    write(tmp_path, path, "tools.json")
    assert read(tmp_path) == (["tools.json"], [])


def test_what_is_passed_over_is_not_even_looked_at(tmp_path: Path) -> None:
    write(tmp_path, "tools.json")
    (tmp_path / ".#tools.json").symlink_to("user@host.1234")
    (tmp_path / ".venv").symlink_to("/")
    (tmp_path / ".cache").symlink_to(tmp_path)
    (tmp_path / "node_modules").symlink_to("/nowhere")
    os.mkfifo(tmp_path / "x.swp")
    assert read(tmp_path) == (["tools.json"], [])


def test_a_virtual_environment_is_passed_over_by_any_name(tmp_path: Path) -> None:
    write(tmp_path, "env3/pyvenv.cfg", "env3/lib/x.py", "kept/pyvenv.toml", "a.py")
    (tmp_path / "env3/bin").mkdir()
    (tmp_path / "env3/bin/python").symlink_to("/usr/bin/env")
    assert read(tmp_path) == (["a.py", "kept/pyvenv.toml"], [])


def test_a_directory_may_be_called_like_a_backup(tmp_path: Path) -> None:
    write(tmp_path, "old~/a", "x.pyz/b")
    assert read(tmp_path) == (["old~/a", "x.pyz/b"], [])


def test_symlinks_inside_are_read(tmp_path: Path) -> None:
    write(tmp_path, "lib/a.bash", "lib/deep/b.bash")
    (tmp_path / "a.bash").symlink_to("lib/a.bash")
    (tmp_path / "again").symlink_to(tmp_path / "a.bash")
    (tmp_path / "other").symlink_to("lib")
    files, problems = read_tree(tmp_path)
    assert problems == ()
    assert sorted(files.files) == list(files.files)
    assert set(files.files) == {
        "a.bash", "again", "lib/a.bash", "lib/deep/b.bash", "other/a.bash", "other/deep/b.bash",
    }  # fmt: skip
    assert files.files["again"].text == "lib/a.bash"
    linked = {"a.bash", "again", "other/a.bash", "other/deep/b.bash"}
    assert {path for path, source in files.files.items() if source.linked} == linked


def test_the_root_may_be_a_symlink(tmp_path: Path) -> None:
    write(tmp_path, "real/a", "real/lib/b")
    (tmp_path / "real/c").symlink_to("lib/b")
    (tmp_path / "root").symlink_to("real")
    assert read(tmp_path / "root") == (["a", "c", "lib/b"], [])


@pytest.mark.parametrize("target", ["../secret", "../out", "/etc/hostname", "/", "..", "../project-2/file"])
def test_symlinks_that_leave_are_refused(tmp_path: Path, target: str) -> None:
    write(tmp_path, "secret", "out/file", "project/a", "project-2/file")
    (tmp_path / "project/link").symlink_to(target)
    files, problems = read_tree(tmp_path / "project")
    assert list(files.files) == ["a"]
    assert only(problems) == ("MCP005", "link", f"a symlink leads to `{target}`, outside the project")


def test_a_symlink_that_leaves_through_another_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "secret", "project/a")
    (tmp_path / "project/one").symlink_to("two")
    (tmp_path / "project/two").symlink_to("../secret")
    assert read(tmp_path / "project") == (["a"], [("MCP005", "one"), ("MCP005", "two")])


def test_symlinks_to_nowhere_and_in_circles_are_refused(tmp_path: Path) -> None:
    write(tmp_path, "a")
    (tmp_path / "gone").symlink_to("nothing")
    (tmp_path / "round").symlink_to("round")
    (tmp_path / "x").symlink_to("y")
    (tmp_path / "y").symlink_to("x")
    assert read(tmp_path) == (["a"], [("MCP006", "gone"), ("MCP006", "round"), ("MCP006", "x"), ("MCP006", "y")])


@pytest.mark.parametrize("target", [".", "..", "../..", "../../project/lib"])
def test_a_directory_that_holds_itself(tmp_path: Path, target: str) -> None:
    write(tmp_path, "project/lib/a")
    (tmp_path / "project/lib/loop").symlink_to(target)
    paths, problems = read(tmp_path / "project")
    assert paths == ["lib/a"]
    assert problems == [("MCP005" if target == "../.." else "MCP006", "lib/loop")]


def test_directories_that_hold_each_other(tmp_path: Path) -> None:
    write(tmp_path, "a/1", "b/2")
    (tmp_path / "a/to_b").symlink_to("../b")
    (tmp_path / "b/to_a").symlink_to("../a")
    paths, problems = read(tmp_path)
    assert paths == ["a/1", "a/to_b/2", "b/2", "b/to_a/1"]
    assert problems == [("MCP006", "a/to_b/to_a"), ("MCP006", "b/to_a/to_b")]


def test_directories_that_multiply_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"d{n}" for n in range(9)]
    for name in names:
        (tmp_path / name).mkdir()
        for other in names:
            (tmp_path / name / other).symlink_to(tmp_path / other)
    monkeypatch.setattr(tree, "MAX_ENTRIES", 2000)
    _, problems = read_tree(tmp_path)
    (last,) = [problem for problem in problems if problem.code == "MCP008"]
    assert last.span is None
    assert "2000" in last.message


def test_special_files_are_never_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "a")
    monkeypatch.chdir(tmp_path)
    os.mkfifo("fifo")
    (tmp_path / "link").symlink_to("fifo")
    server = socket.socket(socket.AF_UNIX)
    server.bind("socket")
    server.close()
    files, problems = read_tree(tmp_path)
    assert list(files.files) == ["a"]
    assert [(problem.code, problem.span, problem.message.split(",")[0]) for problem in problems] == [
        ("MCP006", Span("fifo"), "it is a named pipe"),
        ("MCP006", Span("link"), "it is a named pipe"),
        ("MCP006", Span("socket"), "it is a socket"),
    ]


@pytest.mark.skipif(not AS_ROOT, reason="only root may make a device")
def test_a_device_is_refused(tmp_path: Path) -> None:
    try:
        os.mknod(tmp_path / "zero", stat.S_IFCHR | 0o666, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("needs a root that may mknod")
    assert read(tmp_path) == ([], [("MCP006", "zero")])


def test_a_file_exchanged_for_a_pipe_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(OSError, match="no longer a file"):
        tree._read(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("/etc/hostname")
    with pytest.raises(OSError, match="symbolic"):
        tree._read(tmp_path / "link")


def test_a_file_that_cannot_be_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "a", "b")
    really = tree._read

    def refuse(path: Path) -> bytes:
        if path.name == "a":
            raise PermissionError(13, "Permission denied")
        return really(path)

    monkeypatch.setattr(tree, "_read", refuse)
    files, problems = read_tree(tmp_path)
    assert list(files.files) == ["b"]
    assert only(problems) == ("MCP006", "a", "the file cannot be read: Permission denied")


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert tree.MAX_FILE == 64 << 20
    monkeypatch.setattr(tree, "MAX_FILE", 1 << 20)
    for name, size in (("big", (1 << 20) + 1), ("fits", 1 << 20)):
        with (tmp_path / name).open("wb") as file:
            file.truncate(size)
    files, problems = read_tree(tmp_path)
    assert list(files.files) == ["fits"]
    assert only(problems) == ("MCP008", "big", "the file is larger than 1 MiB")


@pytest.mark.parametrize(("most", "count"), [(12, 3), (11, 2), (8, 2)])
def test_a_project_that_is_too_large_is_not_read_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int, count: int
) -> None:
    assert tree.MAX_PROJECT == 512 << 20
    monkeypatch.setattr(tree, "MAX_PROJECT", most)
    names = ["aaaa", "bbbb", "cccc"]
    write(tmp_path, *names)
    assert read(tmp_path) == (names[:count], [("MCP008", None)] * (count < 3))


@pytest.mark.parametrize(("most", "stops"), [(4, False), (3, True)])
def test_entries_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int, stops: bool) -> None:
    assert tree.MAX_ENTRIES == 100_000
    monkeypatch.setattr(tree, "MAX_ENTRIES", most)
    write(tmp_path, "a", "b/c", "d")
    assert read(tmp_path) == (["a", "d"] if stops else ["a", "b/c", "d"], [("MCP008", None)] * stops)


CASES = ["tests/a.json", "tests/b.yaml", "tests/c.yml", "tests/d.jsonl", "tests/deep/e.json", "more/tests/f.json"]


def test_cases_of_tests_are_no_part_of_a_project_unless_they_are_named(tmp_path: Path) -> None:
    write(tmp_path, *CASES, ".hidden/x", "sub/.git")
    assert read(tmp_path)[0] == sorted(CASES[3:])
    (tmp_path / "pyproject.toml").write_text('[tool.mcpc]\ninclude = ["tests/b.yaml"]\n')
    found, _ = read_tree(tmp_path)
    assert list(found.files) == sorted(["pyproject.toml", *CASES[1:2], *CASES[3:]])
    assert [path for path, file in found.files.items() if file.named] == ["tests/b.yaml"]
    assert (found.name, found.root) == (tmp_path.name, str(tmp_path.resolve()))


PROGRAMS = [
    (b"#!/bin/sh\n", 0o644, True),
    (b"# !", 0o644, False),
    (b"\x7fELF", 0o644, True),
    (b"\xcf\xfa\xed\xfe", 0o600, True),
    (b"\xca\xfe\xba\xbe", 0o600, True),
    (b"MZ", 0o600, True),
    (b"xMZ", 0o600, False),
    (b"", 0o644, False),
    (b"", 0o100, True),
    (b"", 0o010, True),
    (b"", 0o001, True),
]


@pytest.mark.parametrize(("data", "mode", "is_program"), PROGRAMS)
def test_what_is_a_program(data: bytes, mode: int, is_program: bool) -> None:
    assert is_executable(Source("a", data, mode)) is is_program
    assert begins_as_program(data) is (is_program and bool(data))


@pytest.mark.parametrize(
    ("home", "written", "path"),
    [("", "a/./b//c", "a/b/c"), ("x/y", "../z", "x/z"), ("x/y", "../..", ""), ("x", "../..", None), ("", "..", None)],
)
def test_paths_are_resolved_as_text(home: str, written: str, path: str | None) -> None:
    assert resolve_relative(home, written) == path


def test_a_text_that_is_not_on_disk_is_a_file() -> None:
    file = source_of_text("a", "é\udcff\n", 0o600)
    assert file == Source("a", b"\xc3\xa9\xff\n", 0o600)
    assert (file.text, source_of_text("a", "").mode) == ("é\udcff\n", 0o644)


def test_a_missing_root(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "loop").symlink_to("loop")
    for name in ("nothing", "file", "file/x", "loop"):
        assert read(tmp_path / name) == ([], [("MCP004", None)])


def test_a_name_that_is_not_utf8(tmp_path: Path) -> None:
    try:
        (tmp_path / os.fsdecode(b"no\xe9")).write_text("")
    except OSError:
        pytest.skip("this disk has no such names")
    files, problems = read_tree(tmp_path)
    assert list(files.files) == []
    assert only(problems) == ("MCP006", "no\\udce9", "the name of the file is not valid UTF-8")


@pytest.mark.parametrize(
    ("paths", "refused"),
    [
        (["a/Read.txt", "a/read.txt"], ["a/read.txt"]),
        (["README", "Readme", "readme"], ["Readme", "readme"]),
        (["\u00e9.txt", "e\u0301.txt"], ["\u00e9.txt"]),
        (["\u00c9", "e\u0301"], ["\u00c9"]),
        (["stra\u00dfe", "STRASSE"], ["stra\u00dfe"]),
        (["A/x", "a/y"], []),
        (["A/x", "a/x"], ["a/x"]),
        (["Lib", "lib/x"], ["lib"]),
        (["LIB/x", "lib"], ["lib"]),
        (["a", "b/a", "b/c/a"], []),
    ],
)
def test_names_that_differ_only_in_case(tmp_path: Path, paths: list[str], refused: list[str]) -> None:
    write(tmp_path, *paths)
    if len(read(tmp_path)[0]) != len(paths):
        pytest.skip("this disk does not tell them apart")
    assert read(tmp_path) == (sorted(paths), [("MCP502", path) for path in refused])


def test_a_deep_directory_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for _ in range(1100):
        os.mkdir("d")
        os.chdir("d")
    monkeypatch.chdir(tmp_path)
    deepest = "d/" * 1100
    (tmp_path / deepest / "a").write_text("")
    try:
        assert read(tmp_path) == ([deepest + "a"], [])
    finally:
        # Python cannot remove it: shutil.rmtree is recursive.
        (tmp_path / deepest / "a").unlink()
        os.removedirs(deepest)


@pytest.mark.parametrize("coding", ["utf-8-sig", "utf-8", "latin-1", "cp1252", "l1"])
@pytest.mark.parametrize("library", ["mcpc", "fastmcp"])
def test_a_python_file_is_read_as_python_reads_it(coding: str, library: str, tmp_path: Path) -> None:
    name = {"mcpc": "Server", "fastmcp": "FastMCP"}[library]
    text = f"from {library} import {name}\nserver = {name}('s', version='1')\n\n@server.tool\ndef said() -> str:\n"
    said = "" if "utf" in coding else f"#!/usr/bin/python\n# -*- coding: {coding} -*-\n"
    text = f"{said}{text}    'Says.'\n    return 'é'\n"
    (tmp_path / "server.py").write_bytes(text.encode(coding))
    project, problems = read_tree(tmp_path)
    assert problems == ()
    source = project.files["server.py"]
    written = {"latin-1": "utf-8  ", "cp1252": "utf-8 ", "l1": "u8"}.get(coding, coding)
    assert source.text == text.replace(f"coding: {coding}", f"coding: {written}")
    compiled = [compile(data, "x", "exec").co_consts for data in (source.data, text.encode(coding))]
    assert compiled[0] == compiled[1]
    (frontend,) = select_frontends(project, Options())[0]
    assert frontend.name == {"mcpc": "native"}.get(library, library)


@pytest.mark.parametrize(
    "said", ["# coding: nothing-known", "# coding: rot13", "# coding: ascii", "x = 1 # coding: l1"]
)
def test_a_file_that_is_not_what_it_says_stays_as_it_is(said: str, tmp_path: Path) -> None:
    data = said.encode() + b"\nx = '\xe9'\n"
    (tmp_path / "a.py").write_bytes(data)
    assert read_tree(tmp_path)[0].files["a.py"].data == data


@pytest.mark.parametrize("first", ["# coding: latin-1", "'doc'", "\n# coding: cp1252"])
def test_what_an_editor_has_is_python_of_the_same_columns(first: str) -> None:
    text = f"{first}\né = 'ü'\n"
    source = source_of_text("a.py", text)
    assert (source.text, compile(source.data, "x", "exec").co_names[-1:]) == (text, ("é",))
