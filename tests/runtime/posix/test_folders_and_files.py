"""Files and folders on POSIX systems: who may change them, where they are looked for, and how they are replaced."""

import os
import posix
import signal
import stat
from collections.abc import Callable
from errno import ELOOP, ENOENT, ENOTDIR
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mcpc_runtime.transports.platforms import cleanup
from mcpc_runtime.transports.platforms.posix import bytecode_cache, bytecode_folders, program_search, system_features
from mcpc_runtime.transports.platforms.posix import files as own_files
from mcpc_runtime.transports.platforms.posix.files import (
    UnusableFolderError,
    keep_attributes,
    lock_descriptor,
    open_file_below,
    refusal_of_file,
    replace_file,
)

ME = os.geteuid()


class Tree:
    """Folders that are only described: mode, owner and group of each path, the rest is root's own."""

    def __init__(self, **more: Any) -> None:
        self.rows: dict[str, tuple[int, int, int]] = {}
        self.euid = 1000
        self.__dict__.update(more)

    def status(self, path: str | bytes) -> Any:
        name = path.decode() if isinstance(path, bytes) else path
        mode, owner, group = self.rows.get(name, (0o755, 0, 0))
        return SimpleNamespace(st_mode=(0 if mode & 0o170000 else 0o040000) | mode, st_uid=owner, st_gid=group)


SHARING: list[tuple[dict[str, tuple[int, int, int]], str]] = [
    ({}, ""),
    ({"/a/b": (0o700, 1000, 0)}, ""),
    ({"/a/b": (0o700, 1001, 0)}, "/a/b is owned by another user"),
    ({"/a": (0o755, 1001, 0)}, "/a is owned by another user"),
    ({"/": (0o755, 1001, 0)}, ""),
    ({"/a/b": (0o702, 1000, 0)}, "/a/b is writable by other users"),
    ({"/a": (0o777, 0, 0)}, "/a is writable by other users"),
    ({"/a": (0o1777, 0, 0)}, ""),
    ({"/": (0o777, 0, 0)}, "/ is writable by other users"),
    ({"/a/b": (0o770, 1000, 5)}, "/a/b is writable by other users"),
    ({"/a/b": (0o770, 1000, 7)}, ""),
    ({"/a/b": (0o772, 1000, 7)}, "/a/b is writable by other users"),
]


@pytest.mark.parametrize(("rows", "problem"), SHARING)
def test_no_other_user_may_replace_a_folder_or_one_above(
    rows: dict[str, tuple[int, int, int]], problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = Tree(rows=rows)
    monkeypatch.setattr(own_files.os, "lstat", tree.status)
    monkeypatch.setattr(own_files.os, "geteuid", lambda: 1000)
    monkeypatch.setattr(own_files, "is_own_group", lambda number: number == 7)
    if problem:
        with pytest.raises(UnusableFolderError, match=f"^{problem}$"):
            own_files.check_unshared("/a/b")
    else:
        own_files.check_unshared("/a/b")


@pytest.mark.parametrize(
    ("name", "members", "is_own"),
    [("me", [], True), ("me", ["me"], True), ("me", ["me", "you"], False), ("x", [], False)],
)
def test_a_group_of_ones_own(name: str, members: list[str], is_own: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_files, "getpwuid", lambda number: SimpleNamespace(pw_name="me"))
    monkeypatch.setattr(own_files, "getgrgid", lambda number: SimpleNamespace(gr_name=name, gr_mem=members))
    assert own_files.is_own_group(5) is is_own

    def unknown(number: int) -> None:
        raise KeyError

    monkeypatch.setattr(own_files, "getgrgid", unknown)
    assert own_files.is_own_group(5) is False


def test_private_folders_are_made_with_all_above(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        own_files.make_private_folders(f"{tmp_path}/a/b/c")
    finally:
        os.umask(before)
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("a", "a/b", "a/b/c")]
    assert modes == [0o700] * 3
    own_files.make_private_folders(f"{tmp_path}/a/b/c")
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError):
        own_files.make_private_folders(f"{tmp_path}/file")


def test_an_existing_folder_has_to_be_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = str(tmp_path / "a")
    own_files.make_private_folder(folder)
    own_files.make_private_folder(folder)
    assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
    (tmp_path / "link").symlink_to(folder)
    (tmp_path / "file").write_text("")
    problems = [(f"{tmp_path}/link", "a symlink"), (f"{tmp_path}/file", "not a folder")]
    for mode in (0o720, 0o702):
        os.mkdir(f"{tmp_path}/{mode:o}")
        os.chmod(f"{tmp_path}/{mode:o}", mode)
        problems.append((f"{tmp_path}/{mode:o}", "writable by other users"))
    for path, problem in problems:
        with pytest.raises(UnusableFolderError, match=f"is {problem}$"):
            own_files.make_private_folder(path)
    status = os.stat(folder)
    assert (own_files.is_own_file(status), own_files.access_of_others(status)) == (True, 0)
    os.chmod(folder, 0o751)
    assert own_files.access_of_others(os.stat(folder)) == 0o051
    monkeypatch.setattr(own_files.os, "geteuid", lambda: ME + 1)
    assert not own_files.is_own_file(status)
    with pytest.raises(UnusableFolderError, match="owned by another user"):
        own_files.make_private_folder(folder)


@pytest.mark.parametrize(
    ("environ", "folder"),
    [({"HOME": "/h"}, "/h/.local/state"), ({"HOME": "/h", "XDG_STATE_HOME": "/x"}, "/x"), ({}, ""), ({"HOME": ""}, "")],
)
def test_the_folder_of_state(environ: dict[str, str], folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_files.os, "environ", environ)
    assert own_files.state_folder() == folder


def bytes_of(environ: dict[str, str]) -> dict[bytes, bytes]:
    return {name.encode(): value.encode() for name, value in environ.items()}


TEMPORARY = f"/tmp/mcpc-{ME}/bytecode"


@pytest.mark.parametrize(
    ("environ", "folders"),
    [
        ({}, [TEMPORARY]),
        ({"HOME": "/h"}, ["/h/.cache/mcpc/bytecode", TEMPORARY]),
        ({"HOME": "/h", "XDG_CACHE_HOME": "x"}, ["/h/.cache/mcpc/bytecode", TEMPORARY]),
        ({"HOME": "/h", "XDG_CACHE_HOME": "/x", "TMPDIR": "/t"}, ["/x/mcpc/bytecode", f"/t/mcpc-{ME}/bytecode"]),
        ({"HOME": "h"}, [TEMPORARY]),
        ({"HOME": "/h", "MCPC_RUNTIME_CACHE": "/own"}, ["/own/bytecode"]),
        ({"MCPC_RUNTIME_CACHE": "own"}, [f"{os.getcwd()}/own/bytecode"]),
    ],
)
def test_where_bytecode_is_cached(environ: dict[str, str], folders: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posix, "environ", bytes_of(environ))
    assert [folder.decode() for folder in bytecode_cache.candidate_folders()] == folders


UNSHARED: list[tuple[dict[str, tuple[int, int, int]], bool]] = [
    ({}, True),
    ({"/a/b": (0o700, 1000, 0)}, True),
    ({"/a/b": (0o700, 1001, 0)}, False),
    ({"/a": (0o755, 1001, 0)}, False),
    ({"/a": (0o777, 0, 0)}, False),
    ({"/a": (0o775, 0, 0)}, False),
    ({"/a": (0o1777, 0, 0)}, True),
    ({"/a": (0o120777, 0, 0)}, False),
    ({"/a": (0o120755, 0, 0)}, False),
]


@pytest.mark.parametrize(("rows", "is_so"), UNSHARED)
@pytest.mark.parametrize("has_proc", [True, False])
def test_a_cache_that_no_other_user_can_replace(
    rows: dict[str, tuple[int, int, int]], is_so: bool, has_proc: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = Tree(rows=rows)

    def read(path: bytes) -> bytes:
        if not has_proc:
            raise OSError
        assert path == b"/proc/self/fd/9"
        return b"/a/b"

    monkeypatch.setattr(posix, "lstat", tree.status)
    monkeypatch.setattr(posix, "geteuid", lambda: 1000)
    monkeypatch.setattr(posix, "readlink", read)
    assert bytecode_cache.is_unshared(9, b"/link" if has_proc else b"/a/b") is is_so
    assert bytecode_cache.is_unshared(9, b"/a/../a/b") is (is_so and has_proc)


def test_cached_bytecode_is_read_from_the_first_sound_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = [str(tmp_path / name).encode() for name in ("none", "open", "broken", "first", "second")]
    monkeypatch.setattr(bytecode_cache, "candidate_folders", lambda: folders)
    monkeypatch.setattr(bytecode_cache, "is_unshared", lambda descriptor, folder: True)
    name = bytecode_cache.file_name("digest", "part")
    assert bytecode_cache.read_cached("digest", "part") == b""

    def write(folder: str, data: bytes, mode: int = 0o700, file_mode: int = 0o600) -> None:
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_bytes(bytecode_cache.content_hash(data) + data)
        (tmp_path / folder / name).chmod(file_mode)
        (tmp_path / folder).chmod(mode)

    write("open", b"open", 0o720)
    write("broken", b"broken")
    (tmp_path / "broken" / name).write_bytes(bytecode_cache.content_hash(b"other") + b"broken")
    write("first", b"first", file_mode=0o620)
    write("second", b"second")
    before = os.listdir("/dev/fd")
    assert bytecode_cache.read_cached("digest", "part") == b"second"
    (tmp_path / "first" / name).chmod(0o600)
    assert bytecode_cache.read_cached("digest", "part") == b"first"
    assert (bytecode_cache.read_cached("digest", "other"), os.listdir("/dev/fd")) == (b"", before)
    monkeypatch.setattr(bytecode_cache, "is_unshared", lambda descriptor, folder: folder.endswith(b"second"))
    assert bytecode_cache.read_cached("digest", "part") == b"second"
    monkeypatch.setattr(posix, "geteuid", lambda: ME + 1)
    assert bytecode_cache.read_cached("digest", "part") == b""


def test_folders_of_a_cache_are_made_below_ones_that_nobody_replaces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("FLAGS", "FOLDER", "is_private"):
        monkeypatch.setattr(bytecode_folders, name, getattr(bytecode_cache, name), raising=False)
    checked: list[bytes] = []
    shared: set[bytes] = set()

    def is_unshared(descriptor: int, folder: bytes) -> bool:
        assert os.path.samestat(os.fstat(descriptor), os.stat(folder))
        checked.append(folder)
        return folder not in shared

    monkeypatch.setattr(bytecode_folders, "is_unshared", is_unshared, raising=False)
    above = str(tmp_path).encode()
    before = os.listdir("/dev/fd")
    assert bytecode_folders.make_folder(above + b"/a/b") is True
    assert checked == [above, above + b"/a", above + b"/a/b"]
    assert [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("a", "a/b")] == [0o700] * 2
    shared.add(above + b"/a/b")
    assert bytecode_folders.make_folder(above + b"/a/b") is False
    with pytest.raises(PermissionError):
        bytecode_folders.make_folder(above + b"/a/b/c")
    assert ((tmp_path / "a/b/c").exists(), os.listdir("/dev/fd")) == (False, before)
    os.chmod(tmp_path / "a", 0o722)
    assert bytecode_folders.make_folder(above + b"/a") is False
    assert bytecode_folders.join(b"/a", "b") == b"/a/b"


@pytest.mark.parametrize(
    ("environ", "folders"),
    [
        ({}, ["/tmp"]),
        ({"XDG_RUNTIME_DIR": "/run/", "TMPDIR": "/t"}, ["/run", "/t", "/tmp"]),
        ({"XDG_RUNTIME_DIR": "run", "TMPDIR": ""}, ["/tmp"]),
    ],
)
def test_where_files_are_extracted(
    environ: dict[str, str], folders: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(posix, "environ", bytes_of(environ))
    assert list(own_files.candidate_folders()) == folders


EXTRACTION: list[tuple[dict[str, tuple[int, int, int]], int, str]] = [
    ({}, 0, ""),
    ({"/a": (0o700, 1000, 0), "/": (0o1777, 0, 0)}, 0, ""),
    ({"/a": (0o700, 1001, 0)}, 0, "/a is owned by another user"),
    ({"/a/b": (0o700, 1001, 0)}, 0, "it is owned by another user"),
    ({"/a/b": (0o720, 1000, 0)}, 0, "it is writable by other users"),
    ({"/": (0o702, 0, 0)}, 0, "/ is writable by other users"),
    ({}, posix.ST_NOEXEC, "its file system is mounted with noexec"),
    ({}, posix.ST_RDONLY, ""),
]


@pytest.mark.parametrize(("rows", "flags", "problem"), EXTRACTION)
def test_a_folder_for_extracted_files_is_safe_and_runs_programs(
    rows: dict[str, tuple[int, int, int]], flags: int, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_files, "resolve_symlinks", lambda folder: folder)
    monkeypatch.setattr(posix, "stat", Tree(rows=rows).status)
    monkeypatch.setattr(posix, "geteuid", lambda: 1000)
    monkeypatch.setattr(posix, "statvfs", lambda folder: SimpleNamespace(f_flag=flags))
    if problem:
        with pytest.raises(OSError, match=problem):
            own_files.check_folder("/a/b")
    else:
        own_files.check_folder("/a/b")


def test_an_extraction_folder_is_new_and_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = {own_files.make_folder(str(tmp_path)) for _ in range(2)}
    assert len(made) == 2
    for folder in made:
        assert (stat.S_IMODE(os.stat(folder).st_mode), len(os.path.basename(folder))) == (0o700, 5 + 24)
    (tmp_path / "link").symlink_to(tmp_path)
    before = os.listdir("/dev/fd")
    assert own_files.resolve_symlinks(f"{tmp_path}/link") == os.path.realpath(tmp_path)
    monkeypatch.setattr(own_files.system_features, "has", lambda name: False)
    assert own_files.resolve_symlinks(f"{tmp_path}/link") == f"{tmp_path}/link"
    assert os.listdir("/dev/fd") == before


def test_a_program_is_the_first_file_that_can_be_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("a", "b", "c"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "tool").write_text("")
    (tmp_path / "b/tool").chmod(0o755)
    (tmp_path / "c/tool").chmod(0o755)
    (tmp_path / "d/tool").mkdir(parents=True)
    path = b":".join(str(tmp_path / name).encode() for name in ("none", "d", "a", "b", "c"))
    assert program_search.find_program("tool", {b"PATH": path}) == f"{tmp_path}/b/tool"
    assert program_search.find_program("no-such-tool", {b"PATH": path}) == ""
    assert program_search.find_program("a\0b", {b"PATH": path}) == ""
    monkeypatch.chdir(tmp_path / "c")
    assert program_search.find_program("tool", {b"PATH": b""}) == "./tool"
    monkeypatch.setattr(program_search, "DEFAULT_PATH", path)
    assert program_search.find_program("tool", {}) == f"{tmp_path}/b/tool"
    tool = f"{tmp_path}/b/tool".encode()
    monkeypatch.setattr(program_search, "NEWER", (b"/none", tool))
    for name, expected in ((b"/bin/bash", b"/bin/bash"), (b"/usr/bin/x", b"/usr/bin/x")):
        assert program_search.preferred_program(name) == expected
    monkeypatch.setitem(program_search.SYSTEM_BASH, program_search.sys.platform, b"/bin/bash")
    assert program_search.preferred_program(b"/bin/bash") == tool
    monkeypatch.setattr(program_search, "NEWER", (b"/none",))
    assert program_search.preferred_program(b"/bin/bash") == b"/bin/bash"


@pytest.mark.parametrize(
    ("line", "lacking"),
    [
        (b"", ""), (b"#!", ""), (b"/none x", ""), (b"#! /bin/sh", ""), (b"#!/none/sh -e", "/none/sh"),
        (b"#!/usr/bin/env tool", ""), (b"#!/usr/bin/env no-tool", "no-tool (on PATH)"),
        (b"#!/usr/bin/env -S A=1 no-tool -x", "no-tool (on PATH)"), (b"#!/usr/bin/env -S", ""),
        (b"#!/usr/bin/env /none/x", ""), (b"#!/bin/sh no-tool", ""),
    ],
)  # fmt: skip
def test_what_the_first_line_of_a_script_lacks(line: bytes, lacking: str, tmp_path: Path) -> None:
    (tmp_path / "tool").write_text("")
    (tmp_path / "tool").chmod(0o755)
    assert program_search.interpreter_lacking(line, {b"PATH": str(tmp_path).encode()}) == lacking


def test_files_below_a_folder_are_opened_step_by_step(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/file").write_text("text")
    (tmp_path / "link").symlink_to("a")
    (tmp_path / "a/link").symlink_to("b/file")
    before = os.listdir("/dev/fd")
    judged: list[int] = []

    def opened(*parts: str, judge: Callable[[Any], None] = lambda status: judged.append(status.st_size)) -> bytes:
        descriptor = open_file_below(str(tmp_path), parts, judge)
        data = os.read(descriptor, 10)
        os.close(descriptor)
        return data

    assert (opened("a", "b", "file"), judged) == (b"text", [4])
    refused = [
        (("link", "b", "file"), ENOTDIR),
        (("a", "link"), ELOOP),
        (("a", "none"), ENOENT),
        (("none", "file"), ENOENT),
    ]
    for parts, number in refused:
        with pytest.raises(OSError) as raised:
            opened(*parts)
        assert raised.value.errno == number

    def refuse(status: Any) -> None:
        raise OSError(1, "refused")

    with pytest.raises(OSError, match="refused"):
        opened("a", "b", "file", judge=refuse)
    assert os.listdir("/dev/fd") == before


def test_a_file_is_replaced_with_its_attributes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text("old")
    new.write_text("new")
    old.chmod(0o640)
    status = old.stat()
    groups: list[Any] = []
    synced: list[bool] = []
    monkeypatch.setattr(os, "fchown", lambda *words: groups.append(words[1:]))
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(stat.S_ISDIR(os.fstat(descriptor).st_mode)))
    with new.open() as file:
        lock_descriptor(file.fileno())
        keep_attributes(file.fileno(), status)
    before = os.listdir("/dev/fd")
    replace_file(str(new), str(old))
    assert (old.read_text(), stat.S_IMODE(old.stat().st_mode), new.exists()) == ("new", 0o640, False)
    assert (groups, synced, os.listdir("/dev/fd")) == ([(-1, status.st_gid)], [True], before)
    assert refusal_of_file(status) == ""
    old.chmod(0o440)
    assert refusal_of_file(old.stat()) == "it is read-only"
    monkeypatch.setattr(os, "geteuid", lambda: ME + 1)
    assert refusal_of_file(status) == "it is owned by another user"


def test_a_file_is_locked_for_one_descriptor(tmp_path: Path) -> None:
    place = tmp_path / "lock"
    place.touch()
    with place.open() as other:
        with place.open() as one:
            assert [lock_descriptor(file.fileno()) for file in (one, other)] == [True, False]
        assert lock_descriptor(other.fileno())


def test_where_pythons_are_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "m/1.2").mkdir(parents=True)
    (tmp_path / "m/1.10").mkdir()
    monkeypatch.setattr(program_search, "FOLDERS", ("/a", "/v/{minor}/b"))
    monkeypatch.setattr(program_search, "MANAGED", (f"{tmp_path}/m", "~/none"))
    monkeypatch.setattr(program_search.os, "environ", {"PATH": "/p:relative:/q", "HOME": "/h"})
    name = "python3.12"
    assert list(program_search.installed_pythons("3.12")) == [
        f"/a/{name}", f"/v/3.12/b/{name}", f"/p/{name}", f"/q/{name}", f"{tmp_path}/m/{name}",
        f"{tmp_path}/m/1.2/bin/{name}", f"{tmp_path}/m/1.10/bin/{name}", f"/h/none/{name}",
    ]  # fmt: skip
    kept = tmp_path / "bin/python3.12"
    path = f"{tmp_path}/Cellar/python@3.12/3.12.1/Frameworks/x/bin/python3.12"
    assert [program_search.lasting_path(each) for each in (path, "/usr/bin/python3.12")] == [
        path,
        "/usr/bin/python3.12",
    ]
    kept.parent.mkdir()
    kept.write_text("")
    assert program_search.lasting_path(path) == str(kept)


def test_the_memory_of_a_process() -> None:
    with open("/proc/self/statm") as file:
        whole = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    assert os.sysconf("SC_PAGE_SIZE") * 1000 < system_features.resident_bytes(os.getpid()) < whole
    assert system_features.resident_bytes(999_999_999) == 0


def test_the_memory_that_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {name: tmp_path / name.lower() for name in ("MEMORY", "LIMIT", "USED")}
    for name, path in files.items():
        monkeypatch.setattr(system_features, name, str(path))
    assert system_features.available_bytes() is None
    files["LIMIT"].write_text("max\n")
    files["USED"].write_text("1000\n")
    assert system_features.available_bytes() is None
    files["MEMORY"].write_text("MemTotal:  900 kB\nMemAvailable:   3 kB\n")
    assert system_features.available_bytes() == 3072
    for limit, expected in ((4071, 3071), (4073, 3072)):
        files["LIMIT"].write_text(f"{limit}\n")
        assert system_features.available_bytes() == expected


def test_the_limit_of_descriptors(monkeypatch: pytest.MonkeyPatch) -> None:
    for limit, expected in ((7, 7), (system_features.resource.RLIM_INFINITY, 0)):
        monkeypatch.setattr(system_features.resource, "getrlimit", lambda name, limit=limit: (limit, 9))
        assert system_features.most_descriptors() == expected


def test_an_alarm_raises_until_it_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.getsignal(signal.SIGALRM)
    set_to: list[int] = []
    monkeypatch.setattr(system_features.signal, "alarm", set_to.append)
    system_features.raise_after(7, TimeoutError)
    try:
        with pytest.raises(TimeoutError):
            signal.raise_signal(signal.SIGALRM)
    finally:
        signal.signal(signal.SIGALRM, before)
    system_features.stop_timer()
    assert set_to == [7, 0]


def test_a_tree_is_removed_without_what_its_links_name(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept/file").write_text("")
    (tmp_path / "tree/a/b").mkdir(parents=True)
    (tmp_path / "tree/a/b/file").write_text("")
    (tmp_path / "tree/link").symlink_to(tmp_path / "kept")
    os.mkfifo(tmp_path / "tree/a/pipe")
    cleanup.remove_tree(str(tmp_path / "tree"))
    cleanup.remove_tree(str(tmp_path / "none"))
    assert sorted(os.listdir(tmp_path)) == ["kept"]
    assert os.listdir(tmp_path / "kept") == ["file"]


@pytest.mark.parametrize(
    ("path", "mode", "owner", "is_given"),
    [
        ("/run/credentials/s/tokens", 0o100440, 0, True),
        ("/run/credentials/s/tokens", 0o100400, 0, True),
        ("/run/credentials/s/more/tokens", 0o100440, 0, False),
        ("/run/credentials/tokens", 0o100440, 0, False),
        ("/run/credentials/s/tokens", 0o100440, 1000, False),
        ("/run/credentials/s/tokens", 0o100460, 0, False),
        ("/run/credentials/s/tokens", 0o100444, 0, False),
        ("/run/credentials/s/tokens", 0o010440, 0, False),
    ],
)
def test_what_systemd_gives_to_a_service(
    path: str, mode: int, owner: int, is_given: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    status: Any = SimpleNamespace(st_mode=mode, st_uid=owner)
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", "/run/credentials/s/")
    assert own_files.is_credential(path, status) is is_given
    monkeypatch.delenv("CREDENTIALS_DIRECTORY")
    assert not own_files.is_credential(path, status)
