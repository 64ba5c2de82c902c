"""The compiler's cache: for one user alone, and not believed where somebody else could have written."""

import hashlib
import os
import stat
import zipfile
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest

from mcpc.diagnostics import Span, diagnose
from mcpc.options import Options
from mcpc.pack import cache
from mcpc.pack.archive import MANIFEST, ArchiveEntry, checksum_line, content_digest, sha256_hex
from mcpc.sandbox import cache_dir
from support.artifact import mcpc
from support.projects import SMOKETEST, tree


@pytest.fixture(autouse=True)
def forget() -> None:
    cache_dir.trusted_folder.cache_clear()


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MCPC_CACHE_DIR", str(tmp_path / "a/b/mcpc"))
    return tmp_path / "a/b/mcpc"


@pytest.mark.parametrize("umask", [0, 0o002, 0o022])
def test_every_folder_is_for_its_user_alone(root: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        cache_dir.store_entry("builds", "name", b"data")
    finally:
        os.umask(before)
    made = (root.parent.parent, root.parent, root, root / "builds")
    assert [stat.S_IMODE(path.stat().st_mode) for path in made] == [0o700] * 4
    assert cache_dir.load_entry("builds", "name") == b"data"


def linked(root: Path) -> None:
    root.rename(root.parent / "elsewhere")
    root.symlink_to("elsewhere")


def given_away(path: Path) -> None:
    os.chown(path, 65534, -1)


UNSAFE: dict[str, Callable[[Path], object]] = {
    "the folder, for a group": lambda root: root.chmod(0o770),
    "the folder, for all": lambda root: root.chmod(0o707),
    "the folder is a symlink": linked,
    "a folder above": lambda root: root.parent.chmod(0o777),
    "a kind": lambda root: (root / "builds").chmod(0o777),
    "an entry": lambda root: (root / "builds/name").chmod(0o666),
    "the folder is another's": lambda root: given_away(root),
    "a folder above is another's": lambda root: given_away(root.parent),
    "an entry is another's": lambda root: given_away(root / "builds/name"),
}


@pytest.mark.parametrize("name", UNSAFE)
def test_what_somebody_else_could_have_written_is_not_believed(
    root: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if "another's" in name and os.geteuid() != 0:
        pytest.skip("only root can give a folder away")
    cache_dir.store_entry("builds", "name", b"data")
    cache_dir.trusted_folder.cache_clear()
    UNSAFE[name](root)
    assert cache_dir.load_entry("builds", "name") is None
    cache_dir.store_entry("packages", "other", b"data")
    assert cache_dir.load_entry("packages", "other") == b"data", "another folder is used for this process"
    told = capsys.readouterr().err.splitlines()
    assert len(told) == (1 if "folder" in name else 0)
    assert all("is not trusted" in line and "MCPC_CACHE_DIR" in line for line in told)


def test_an_entry_that_is_a_symlink_is_not_believed(root: Path, tmp_path: Path) -> None:
    cache_dir.store_entry("builds", "name", b"data")
    (root / "builds/name").rename(tmp_path / "moved")
    (root / "builds/name").symlink_to(tmp_path / "moved")
    assert cache_dir.load_entry("builds", "name") is None


@pytest.mark.parametrize(("kind", "most"), [("runtime", 8), ("builds", 16), ("models", 64), ("others", 32)])
def test_the_most_recently_used_entries_are_kept(root: Path, kind: str, most: int) -> None:
    names = [f"{number:03}" for number in range(most)]
    for number, name in enumerate(names):
        cache_dir.store_entry(kind, name, name.encode())
        os.utime(root / kind / name, (number, number))
    assert cache_dir.load_entry(kind, names[0]) == b"000"  # it is the most recently used one now
    (root / kind / names[1]).unlink()
    (root / kind / names[1] / "deep").mkdir(parents=True)
    os.utime(root / kind / names[1], (0, 0))
    assert sorted(path.name for path in (root / kind).iterdir()) == names
    cache_dir.store_entry(kind, "new", b"new")
    assert sorted(path.name for path in (root / kind).iterdir()) == [names[0], *names[2:], "new"]
    cache_dir.store_entry(kind, "newer", b"newer")
    assert sorted(path.name for path in (root / kind).iterdir()) == [names[0], *names[3:], "new", "newer"]


def test_an_entry_is_whole_or_not_used(root: Path) -> None:
    cache_dir.store_entry("builds", "name", b"da\nta")
    place = root / "builds/name"
    whole = place.read_bytes()
    assert whole == hashlib.sha256(b"da\nta").hexdigest().encode() + b"\nda\nta"
    assert cache_dir.load_entry("builds", "other") is None
    for data in (whole[:-1], whole + b"x", b"", b"x" + whole[1:]):
        place.write_bytes(data)
        assert cache_dir.load_entry("builds", "name") is None
    assert [path.name for path in (root / "builds").iterdir()] == ["name"]


def test_an_entry_that_cannot_be_stored_leaves_nothing(root: Path) -> None:
    (root / "builds/name/full").mkdir(parents=True, mode=0o700)
    for folder in (root, root.parent, root.parent.parent, root / "builds"):
        folder.chmod(0o700)
    cache_dir.store_entry("builds", "name", b"data")
    assert [path.name for path in (root / "builds").iterdir()] == ["name"]
    assert cache_dir.load_entry("builds", "name") is None


def test_a_folder_that_cannot_be_made_is_the_callers_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("MCPC_CACHE_DIR", str(tmp_path / "file/mcpc"))
    cache_dir.store_entry("builds", "name", b"data")
    assert cache_dir.load_entry("builds", "name") is None
    with pytest.raises(OSError, match="file"):
        cache_dir.kind_folder("builds")


def test_what_is_private(tmp_path: Path) -> None:
    private, shared, link = (tmp_path / name for name in ("private", "shared", "link"))
    for path, mode in ((private, 0o600), (shared, 0o620)):
        path.write_text("")
        path.chmod(mode)
    link.symlink_to(private)
    assert [cache_dir.is_private(path) for path in (private, shared, link, tmp_path / "gone")] == [
        True,
        False,
        False,
        False,
    ]


def test_a_stored_build_is_read_as_it_was(root: Path) -> None:
    entries = [ArchiveEntry("a.txt", b"1"), ArchiveEntry("b.txt", b"2")]
    manifest = "".join(f"{checksum_line(entry.name, sha256_hex(entry.data))}\n" for entry in entries)
    entries.append(ArchiveEntry(MANIFEST, manifest.encode()))
    problems = (
        diagnose("MCP004", Span("a", 1, 2), "message", "expected", "hint"),
        diagnose("MCP142", None, "without a place"),
    )
    build = cache.CachedBuild(packed(entries), content_digest(entries), "n", "1", 1, 2, 3, "Linux", problems)
    cache.store_build("key", build)
    assert cache.load_build("key") == build
    assert cache.load_build("other") is None
    for change in ({"data": packed(entries[1:])}, {"data": packed(entries[:2])}, {"data": b""}):
        cache.store_build("key", replace(build, **change))  # type: ignore[arg-type]
        assert cache.load_build("key") is None
    cache_dir.store_entry("builds", "key", b"{}\n")
    assert cache.load_build("key") is None


def test_files_lead_to_a_build_unless_front_ends_know_more_than_the_folder(root: Path) -> None:
    plain, bundled = (
        tree({"server.json": "{}"}),
        tree({"src/tools/a.ts": "export const schema = {}\nexport default {}\n"}),
    )
    entries = [ArchiveEntry(MANIFEST, b"")]
    build = cache.CachedBuild(packed(entries), content_digest(entries), "n", "1", 1, 2, 3, "Linux", ())
    cache.store_build("key", build)
    for each in (plain, bundled):
        cache.store_key("key", each, (), Options())
    asked = (plain, bundled, replace(plain, name="other"), tree({"server.json": "[]"}))
    assert [cache.load_known_build(each, (), Options()) for each in asked] == [build, None, None, None]


def packed(entries: list[ArchiveEntry]) -> bytes:
    target = BytesIO()
    with zipfile.ZipFile(target, "w") as made:
        for entry in entries:
            made.writestr(entry.name, entry.data)
    return target.getvalue()


def test_a_key_has_all_that_a_build_depends_on() -> None:
    base = tree({"a": "1", "b": "2"})
    file = base.files["a"]
    others = [
        tree({"a": "1", "b": "3"}),
        tree({"a": "1", "c": "2"}),
        tree({"a": "12", "b": ""}),
        replace(base, files={**base.files, "a": replace(file, mode=0o755)}),
        replace(base, files={**base.files, "a": replace(file, linked=True)}),
        replace(base, unpacked={"c": file}),
    ]
    keys = [cache.cache_key(each, (), Options()) for each in (base, *others)]
    keys += [
        cache.cache_key(base, (diagnose("MCP142", None, "m"),), Options()),
        cache.cache_key(base, (), Options(ui=True)),
    ]
    assert len({*keys}) == len(keys)
    assert cache.cache_key(tree({"a": "1", "b": "2"}), (), Options()) == keys[0]


def changed(data: bytes) -> bytes:
    """Return an archive with another handler, and everything else as it was."""
    target = BytesIO()
    with zipfile.ZipFile(BytesIO(data)) as packed, zipfile.ZipFile(target, "w") as made:
        for name in packed.namelist():
            made.writestr(name, b"tool_smoketest() { echo evil; }\n" if name.endswith(".bash") else packed.read(name))
    return target.getvalue()


def test_a_kept_archive_is_held_against_its_manifest(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    for name, text in SMOKETEST.items():
        (tmp_path / "project" / name).write_text(str(text))
    environment = {"MCPC_CACHE_DIR": str(tmp_path / "mcpc")}
    first = tmp_path / "first.pyz"
    assert mcpc("build", tmp_path / "project", "-o", first, environment=environment).returncode == 0
    (entry,) = (tmp_path / "mcpc/builds").iterdir()
    _, head, data = entry.read_bytes().split(b"\n", 2)
    evil = head + b"\n" + changed(data)
    entry.write_bytes(hashlib.sha256(evil).hexdigest().encode() + b"\n" + evil)
    second = tmp_path / "second.pyz"
    assert mcpc("build", tmp_path / "project", "-o", second, environment=environment).returncode == 0
    assert second.read_bytes() == first.read_bytes()


def test_a_kept_archive_that_is_as_built_is_taken() -> None:
    empty = cache.CachedBuild(b"", "", "", "", 0, 0, 0, "", ())
    assert not cache.is_as_built(empty)
