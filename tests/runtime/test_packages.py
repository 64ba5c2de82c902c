"""What a server carries, found and extracted: only into a folder that is ours alone, verified, once, and by one of many."""

import ast
import errno
import hashlib
import marshal
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest

from mcpc.pack.archive import ArchiveEntry, build_archive, nest_entries
from mcpc_runtime.artifact import wheel_tags as tags
from mcpc_runtime.artifact.packages import activate_packages, folders, native_packages
from mcpc_runtime.artifact.packages.folders import (
    CACHE_VARIABLE,
    UnusableFolderError,
    cache_roots,
    digest_name,
    extract_folder,
    make_trusted_folder,
)
from support.needs import ROOT

CONTENTS = {"pkg/native.so": b"native" * 1000, "pkg.libs/lib.so": b"library"}
FILES = {path: hashlib.sha256(data).hexdigest() for path, data in CONTENTS.items()}


def state(root: Path) -> dict[str, tuple[int, int, bytes]]:
    """Return inode, time and content of every file below a folder."""
    found = (path for path in root.rglob("*") if path.is_file())
    return {str(path): (path.stat().st_ino, path.stat().st_mtime_ns, path.read_bytes()) for path in found}


def put(root: Path) -> Path:
    return Path(extract_folder(str(root), FILES, CONTENTS.__getitem__)).resolve()


def no_read(path: str) -> bytes:
    raise AssertionError(f"{path} was extracted again")


def link(place: Path) -> None:
    (place.parent / "elsewhere").mkdir()
    place.symlink_to(place.parent / "elsewhere")


def shared_above(place: Path) -> None:
    place.mkdir(0o700)
    place.parent.chmod(0o777)


UNSAFE: dict[str, tuple[Callable[[Path], object], str]] = {
    "a symlink": (link, "is a symlink"),
    "writable for all": (lambda place: (place.mkdir(), place.chmod(0o777)), "is writable by other users"),
    "below one that is writable for all": (shared_above, "is writable by other users"),
}


@pytest.mark.parametrize("name", UNSAFE)
def test_a_folder_that_others_could_change_is_refused(name: str, tmp_path: Path) -> None:
    prepare, words = UNSAFE[name]
    base = tmp_path / "base"
    base.mkdir()
    prepare(base / "native")
    with pytest.raises(UnusableFolderError, match=words):
        make_trusted_folder(str(base), ("native",))
    assert not list((base / "elsewhere").glob("*"))


def test_a_file_system_that_runs_nothing_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "statvfs", lambda path: SimpleNamespace(f_flag=getattr(os, "ST_NOEXEC", 8)))
    monkeypatch.setattr(os, "ST_NOEXEC", 8, raising=False)
    with pytest.raises(UnusableFolderError, match="noexec"):
        make_trusted_folder(str(tmp_path), ("native",))


@pytest.mark.parametrize("base", ["/proc/none", "/dev/null/x"])
def test_where_nothing_can_be_made_the_system_s_reason_is_given(base: str) -> None:
    with pytest.raises(UnusableFolderError, match=r"^/.*: \w"):
        make_trusted_folder(base, ("native",))


def test_the_places_to_try(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (CACHE_VARIABLE, "XDG_CACHE_HOME", "TMPDIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/home/x")
    own = (f"mcpc-{os.geteuid()}", "native")
    assert list(cache_roots()) == [("/home/x/.cache", ("mcpc", "native")), ("/tmp", own)]
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("TMPDIR", "/var/tmp")
    assert list(cache_roots()) == [("/home/x/.cache", ("mcpc", "native")), ("/var/tmp", own)]
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    assert next(cache_roots()) == ("/cache", ("mcpc", "native"))
    monkeypatch.setenv(CACHE_VARIABLE, "/my/own/")
    assert list(cache_roots()) == [("/my", ("own",))]


def test_files_are_extracted_once(tmp_path: Path) -> None:
    place = put(tmp_path)
    assert place.name == digest_name(FILES)
    assert {path.relative_to(place).as_posix(): path.read_bytes() for path in place.rglob("*.so")} == CONTENTS
    assert {stat.S_IMODE(path.stat().st_mode) for path in place.rglob("*.so")} == {0o600}
    before = state(tmp_path)
    assert Path(extract_folder(str(tmp_path), FILES, no_read)).resolve() == place
    assert state(tmp_path) == before
    assert [path.name for path in tmp_path.iterdir()] == [place.name]


def exchanged(place: Path) -> None:
    good = place / "pkg/native.so"
    good.rename(place / "good")
    good.symlink_to(place / "good")


def moved(place: Path) -> None:
    (place / "pkg").rename(place / "real")
    (place / "pkg").symlink_to("real")


def a_file(place: Path) -> None:
    for path in place.rglob("*.so"):
        path.unlink()
    for path in (place / "pkg", place / "pkg.libs", place):
        path.rmdir()
    place.write_text("in the way")


TAMPERED: dict[str, Callable[[Path], object]] = {
    "another content": lambda place: (place / "pkg/native.so").write_bytes(b"evil  " * 1000),
    "cut off": lambda place: os.truncate(place / "pkg/native.so", 5),
    "a library's content": lambda place: (place / "pkg.libs/lib.so").write_bytes(b"evil"),
    "missing": lambda place: (place / "pkg/native.so").unlink(),
    "writable for all": lambda place: (place / "pkg/native.so").chmod(0o666),
    "a symlink to the right content": exchanged,
    "a folder that is a symlink": moved,
    "a pipe": lambda place: ((place / "pkg/native.so").unlink(), os.mkfifo(place / "pkg/native.so")),
    "a file in the place of all": a_file,
}


@pytest.mark.parametrize("name", TAMPERED)
def test_what_was_changed_is_replaced(name: str, tmp_path: Path) -> None:
    place = put(tmp_path)
    TAMPERED[name](place)
    assert put(tmp_path) == place
    assert {path: (place / path).read_bytes() for path in FILES} == CONTENTS
    assert not any(path.is_symlink() for path in place.rglob("*"))
    assert [path.name for path in tmp_path.iterdir()] == [place.name]


def test_what_does_not_stay_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path)
    monkeypatch.setattr(folders, "open_verified", lambda path, files: -1)
    with pytest.raises(UnusableFolderError, match="does not keep"):
        put(tmp_path)


def test_what_an_ended_process_left_is_swept_away(tmp_path: Path) -> None:
    for name, age in ((".new-1-a", 7200), (".new-2-b", 0)):
        (tmp_path / name / "deep").mkdir(parents=True)
        (tmp_path / name / "deep/file").write_text("")
        os.utime(tmp_path / name, (os.stat(tmp_path).st_mtime - age,) * 2)
    place = put(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([".new-2-b", place.name])


SOURCES = str(ROOT / "runtime")
EXTRACT = """
import sys, hashlib
sys.path.insert(0, sys.argv[1])
from mcpc_runtime.artifact.packages.folders import extract_folder
contents = {f"pkg/{n}.so": bytes([n]) * 300000 for n in range(8)}
files = {path: hashlib.sha256(data).hexdigest() for path, data in contents.items()}
for _ in range(int(sys.argv[3])):
    place = extract_folder(sys.argv[2], files, contents.__getitem__)
    for path, data in contents.items():
        with open(place + "/" + path, "rb") as file:
            assert file.read() == data
print(__import__("os").path.realpath(place))
"""


def test_processes_that_extract_at_once_end_with_one_whole_folder(tmp_path: Path) -> None:
    argv = [sys.executable, "-I", "-c", EXTRACT, SOURCES, str(tmp_path), "3"]
    for _ in range(4):
        children = [subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(4)]
        ended = [(*child.communicate(timeout=60), child.returncode) for child in children]
        assert [status for _, _, status in ended] == [0] * 4, ended
        assert len({said for said, _, _ in ended}) == 1
        (only,) = tmp_path.iterdir()
        for path in only.rglob("*.so"):
            path.unlink()
            break


VICTIM = """
import os, sys, hashlib, time
sys.path.insert(0, sys.argv[1])
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(100); os.setuid(65534)
from mcpc_runtime.artifact.packages import folders
if sys.argv[3] == "unguarded":
    folders.check_unshared = lambda path: None
contents = {"pkg/native.so": b"good" * 20000}
files = {path: hashlib.sha256(data).hexdigest() for path, data in contents.items()}
found = {"good": 0, "evil": 0, "refused": 0}
until = time.monotonic() + 4
while time.monotonic() < until and found["evil"] == 0:
    try:
        place = folders.extract_folder(folders.make_trusted_folder(sys.argv[2], ("mcpc", "native")), files, contents.__getitem__)
        with open(place + "/pkg/native.so", "rb") as file:
            found["good" if file.read() == contents["pkg/native.so"] else "evil"] += 1
        if place.startswith("/proc/"):
            os.close(int(place.rpartition("/")[2]))
    except (folders.UnusableFolderError, OSError):
        found["refused"] += 1
print(found)
"""
SWAPPER = """
import ctypes, os, sys, hashlib
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(100); os.setuid(65533)
folder, place = sys.argv[1:]
files = {"pkg/native.so": hashlib.sha256(b"good" * 20000).hexdigest()}
name = hashlib.sha256("".join(f"{d}  {p}\\n" for p, d in files.items()).encode()).hexdigest()
os.makedirs(f"{folder}/swapped/native/{name}/pkg", 0o755)
with open(f"{folder}/swapped/native/{name}/pkg/native.so", "wb") as file:
    file.write(b"evil")
libc = ctypes.CDLL(None)
print("ready", flush=True)
while True:
    libc.renameat2(-100, f"{folder}/swapped".encode(), -100, f"{folder}/mcpc".encode(), 2)
"""


@pytest.mark.slow
@pytest.mark.parametrize("guarded", ["guarded", "unguarded"])
def test_what_was_verified_is_what_is_loaded_while_another_user_swaps_folders(guarded: str) -> None:
    with tempfile.TemporaryDirectory(prefix="mcpc-swapped-") as made:
        folder = Path(made) / "cache"
        folder.mkdir()
        Path(made).chmod(0o755)
        folder.chmod(0o775)
        if os.geteuid() == 0:
            os.chown(folder, 65534, 100)
        python = unprivileged_python()
        argv = [python, "-I", "-c", SWAPPER, str(folder), "native"]
        sources = Path(made) / "sources"
        shutil.copytree(SOURCES, sources)
        for path in (sources, *sources.rglob("*")):
            path.chmod(0o755)
        with subprocess.Popen(argv, stdout=subprocess.PIPE) as swapper:
            try:
                assert swapper.stdout.readline() == b"ready\n"
                words = [python, "-I", "-c", VICTIM, str(sources), str(folder), guarded]
                done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
            finally:
                swapper.kill()
    assert done.returncode == 0, done.stderr
    found = ast.literal_eval(done.stdout)
    assert found["evil"] == 0, found
    assert found["refused"] if guarded == "guarded" else found["good"], found


def unprivileged_python() -> str:
    """Return a Python that any user of this machine can start."""
    if os.geteuid() != 0:
        return sys.executable
    for path in ("/usr/bin/python3", "/usr/local/bin/python3"):
        asked = [path, "-I", "-c", "import sys; sys.exit(sys.version_info < (3, 11))"]
        if os.path.exists(path) and subprocess.run(asked, check=False).returncode == 0:
            return path
    pytest.skip("no Python that any user can start")


def test_a_full_disk_leaves_nothing_and_says_so(tmp_path: Path) -> None:
    limited = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
    argv = [sys.executable, "-I", "-c", limited + EXTRACT, SOURCES, str(tmp_path), "1"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert "UnusableFolderError" in done.stderr
    assert os.strerror(errno.EFBIG) in done.stderr
    assert list(tmp_path.iterdir()) == []


NATIVE = "pydantic_core/" + next(
    path.name
    for path in metadata.files("pydantic-core") or ()
    if path.name.startswith("_pydantic_core.") and path.suffix == ".so"
)
LIBRARY = metadata.distribution("pydantic-core").locate_file(NATIVE)
OWN = f"cp{sys.version_info[0]}{sys.version_info[1]}"
HERE = f"{OWN}-{OWN}-{'macosx_10_0_universal2' if sys.platform == 'darwin' else 'linux_' + os.uname().machine}"


def archive(path: Path, *, tag: str = HERE, data: bytes | None = None, files: dict[str, str] | None = None) -> Path:
    """Write an archive with one native module in a parcel, and these files beside it."""
    native = Path(str(LIBRARY)).read_bytes()
    variant = {"tags": [tag], "folder": ".extracted/x", "files": {NATIVE: hashlib.sha256(native).hexdigest()}}
    index = {
        "modules": {"pydantic_core._pydantic_core": 0},
        "namespaces": ["shared"],
        "metadata": {"demo-one": "demo_one-1.0.dist-info"},
        "parcels": [{"name": "pydantic-core", "variants": [variant]}],
    }
    entries = {
        "site/.layer": marshal.dumps(index),
        f"site/.extracted/x/{NATIVE}": native if data is None else data,
        **{f"site/{name}": text.encode() for name, text in (files or {}).items()},
    }
    path.write_bytes(build_archive([ArchiveEntry(*row) for row in nest_entries(entries).items()], "#!first line\n"))
    return path


TRY = """
import sys
sys.path.insert(0, sys.argv[1])
from mcpc_runtime.artifact.packages import activate_packages
activate_packages(sys.argv[2])
before = set(sys.modules)
exec(sys.argv[3])
"""
IMPORT = "import pydantic_core._pydantic_core as n; print(__import__('os').path.realpath(n.__file__), n.__version__)"
PURE = {
    "pydantic_core/__init__.py": "",
    "typing_extensions.py": "def sentinel(*a, **k): return None\nSentinel = sentinel\n",
}


def tried(path: Path, code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-I", "-S", "-c", TRY, SOURCES, str(path), code]
    return subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60, env=environment)


def test_a_native_module_is_extracted_by_its_import_and_by_no_other(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.pyz", files=PURE)
    native = tmp_path / "native"
    done = tried(
        path, "import pydantic_core; print(sorted(set(sys.modules) - before))", **{CACHE_VARIABLE: str(native)}
    )
    assert done.returncode == 0, done.stderr
    assert "mcpc_runtime.artifact.packages.folders" not in done.stdout
    assert not native.exists()
    done = tried(path, IMPORT, **{CACHE_VARIABLE: str(native)})
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(native))
    assert done.stderr == ""
    before = state(native)
    assert tried(path, IMPORT, **{CACHE_VARIABLE: str(native)}).stdout == done.stdout
    assert state(native) == before


def test_where_nothing_will_do_the_error_says_why_and_what_to_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    variant = {"tags": [HERE], "folder": "x", "files": FILES}
    single = {**variant, "files": {"pkg/native.so": FILES["pkg/native.so"]}}
    monkeypatch.setenv(CACHE_VARIABLE, "/dev/null/native")
    with pytest.raises(ImportError, match=rf"{os.strerror(errno.ENOTDIR)}.*{CACHE_VARIABLE}"):
        native_packages.find_module_spec("pkg.native", variant, CONTENTS.__getitem__)
    monkeypatch.delattr(os, "memfd_create", raising=False)
    with pytest.raises(ImportError, match=CACHE_VARIABLE):
        native_packages.find_module_spec("pkg.native", single, lambda path: CONTENTS[path.removeprefix("x/")])


def test_a_broken_entry_is_never_extracted(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.pyz", files=PURE, data=b"broken")
    done = tried(path, IMPORT, **{CACHE_VARIABLE: str(tmp_path / "native")})
    assert done.returncode == 1
    assert f"ImportError: site/.extracted/x/{NATIVE}" in done.stderr
    assert list((tmp_path / "native").iterdir()) == []


def test_what_carries_nothing_is_left_alone(tmp_path: Path) -> None:
    before = list(sys.path), list(sys.meta_path)
    activate_packages(str(tmp_path))
    activate_packages(str(tmp_path / "missing.pyz"))
    with zipfile.ZipFile(tmp_path / "a.pyz", "w") as packed:
        packed.writestr("x.py", "")
    activate_packages(str(tmp_path / "a.pyz"))
    assert (list(sys.path), list(sys.meta_path)) == before


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    def become(system: str, arch: str, *, libc: tuple[int, int] | None = None, release: str = "6.1") -> None:
        monkeypatch.setattr(sys, "platform", system)
        monkeypatch.setattr(tags.system, "uname", lambda: SimpleNamespace(machine=arch, release=release))
        monkeypatch.setattr(tags, "glibc_version", lambda: libc)
        monkeypatch.setattr(tags, "get_platform", lambda: arch)

    yield become


PLATFORMS = [
    ("manylinux2014_x86_64", "linux", "x86_64", {"libc": (2, 17)}, True),
    ("manylinux2014_x86_64", "linux", "x86_64", {"libc": (2, 16)}, False),
    ("manylinux2010_x86_64", "linux", "x86_64", {"libc": (2, 12)}, True),
    ("manylinux2010_x86_64", "linux", "x86_64", {"libc": (2, 11)}, False),
    ("manylinux1_x86_64", "linux", "x86_64", {"libc": (2, 5)}, True),
    ("manylinux1_x86_64", "linux", "x86_64", {"libc": (2, 4)}, False),
    ("manylinux_2_28_x86_64", "linux", "x86_64", {"libc": (2, 27)}, False),
    ("manylinux_2_28_x86_64", "linux", "x86_64", {"libc": (2, 36)}, True),
    ("manylinux2014_aarch64", "linux", "x86_64", {"libc": (2, 36)}, False),
    ("manylinux2014_x86_64", "linux", "x86_64", {}, False),
    ("musllinux_1_2_x86_64", "linux", "x86_64", {}, True),
    ("musllinux_1_2_x86_64", "linux", "x86_64", {"libc": (2, 36)}, False),
    ("linux_x86_64", "linux", "x86_64", {}, True),
    ("macosx_11_0_arm64", "linux", "x86_64", {}, False),
    ("macosx_11_0_arm64", "darwin", "arm64", {"release": "20.6.0"}, True),
    ("macosx_12_0_arm64", "darwin", "arm64", {"release": "20.6.0"}, False),
    ("macosx_10_12_x86_64", "darwin", "x86_64", {"release": "16.0.0"}, True),
    ("macosx_10_13_x86_64", "darwin", "x86_64", {"release": "16.0.0"}, False),
    ("macosx_10_9_universal2", "darwin", "arm64", {"release": "25.0.0"}, True),
    ("macosx_11_0_x86_64", "darwin", "arm64", {"release": "25.0.0"}, False),
    ("win_amd64", "win32", "win-amd64", {}, True),
    ("win_arm64", "win32", "win-amd64", {}, False),
    ("win_arm64", "win32", "win-arm64", {}, True),
    ("win32", "win32", "win32", {}, True),
    ("win_amd64", "linux", "x86_64", {"libc": (2, 36)}, False),
    ("manylinux2014_x86_64", "win32", "win-amd64", {}, False),
    ("any", "win32", "win-amd64", {}, True),
]


@pytest.mark.parametrize(("platform", "system", "arch", "more", "answer"), PLATFORMS)
def test_which_platforms_fit(
    platform: str, system: str, arch: str, more: dict, answer: bool, machine: Callable
) -> None:
    machine(system, arch, **more)
    assert tags.matches_tag(f"py3-none-{platform}") is answer


PYTHONS = [
    (f"{OWN}-{OWN}", True), (f"{OWN}-none", True), ("py3-none", True), ("py2-none", False), (f"{OWN}-{OWN}t", False),
    ("cp38-abi3", True), (f"{OWN}-abi3", True), ("cp399-abi3", False), ("cp38-cp38", False), ("pp311-pypy311_pp73", False),
    (f"py{OWN[2:]}-none", True), ("cp38-none", False),
]  # fmt: skip


@pytest.mark.parametrize(("tag", "answer"), PYTHONS)
def test_which_pythons_fit(tag: str, answer: bool) -> None:
    assert tags.matches_tag(f"{tag}-any") is answer


def test_this_machine_fits_the_wheels_that_were_installed_on_it() -> None:
    lines = (metadata.distribution("pydantic-core").read_text("WHEEL") or "").splitlines()
    found = [line.removeprefix("Tag: ") for line in lines if line.startswith("Tag: ")]
    assert native_packages.find_variant([{"tags": ["cp399-cp399-any"]}, {"tags": found}]) == {"tags": found}
    assert native_packages.find_variant([{"tags": ["cp399-cp399-any"]}]) is None
