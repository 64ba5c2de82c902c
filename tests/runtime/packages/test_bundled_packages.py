"""Bundled packages read in place: what the import system is told of them (`*.txt`), in this process."""

import importlib
import marshal
import os
import sys
import threading
from collections.abc import Callable
from importlib._bootstrap_external import _code_to_timestamp_pyc  # type: ignore[import-not-found]
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from mcpc.pack.archive import ArchiveEntry, build_archive, nest_entries
from mcpc_runtime.artifact import packages
from mcpc_runtime.artifact import wheel_tags as tags
from mcpc_runtime.artifact.packages import folders, importer, native_packages, package_files, paths
from mcpc_runtime.artifact.packages.package_files import PackageFiles
from support.expressions import check_expressions
from support.needs import ROOT

GOLDEN = ROOT / "tests" / "golden" / "runtime" / "packages"
VALUE = _code_to_timestamp_pyc(compile("value = 'from bytecode'\n", "x", "exec"))
FILES = {
    "pkg/__init__.py": b"value = 1\n", "pkg/data.txt": "é\r\n".encode(),
    "pkg/deep/mod.py": b"# coding: latin-1\nvalue = '\xe9'\n", "pkg/deep/more/x.bin": b"\0" * 1000,
    "pkg/deep/empty": b"", "pkg/only.pyc": VALUE, "both.py": b"value = 'from source'\n", "both.pyc": VALUE,
    "other.py": b"value = 'from source'\n", "other.pyc": b"\0\0\r\n" + VALUE[4:],
    "colorsys.py": b"value = 'not of the standard library'\n", "namespace/part.py": b"value = 7\n",
    "native/__init__.py": b"", "native/_n.py": b"value = 'in Python'\n",
    "demo_one-1.0.dist-info/METADATA": b"Metadata-Version: 2.1\nName: demo.one\nVersion: 1.0\n",
    "two-2.0.dist-info/METADATA": b"Metadata-Version: 2.1\nName: two\nVersion: 2.0\n",
    ".extracted/x/native/_n.so": b"native",
}  # fmt: skip
INDEX = {
    "modules": {"native._n": 1, "native._missing": 0},
    "namespaces": ["namespace", "namespace.below"],
    "metadata": {"demo-one": "demo_one-1.0.dist-info", "two": "two-2.0.dist-info"},
    "parcels": [{"variants": [{"tags": [f"cp3{number}-cp399-any"], "folder": "x", "files": {}}]} for number in "01"],
}


@pytest.fixture
def archive(import_paths: None, tmp_path: Path) -> str:
    """An archive with packages in the current folder."""
    entries = {"site/.layer": marshal.dumps(INDEX), **{f"site/{name}": data for name, data in FILES.items()}}
    archive = build_archive([ArchiveEntry(*row) for row in nest_entries(entries).items()], "#!first line\n")
    (tmp_path / "a.pyz").write_bytes(archive)
    return "a.pyz"


def cleaned(value: object) -> object:
    """Return a spec as text that does not depend on where things are in memory."""
    if not hasattr(value, "submodule_search_locations"):
        return value
    found: Any = value
    return found.name, found.origin, found.has_location, found.submodule_search_locations, type(found.loader).__name__


@pytest.mark.parametrize("module", [importer, paths, packages], ids=lambda module: module.__name__)
def test_values(golden: Callable[[Path, str], None], archive: str, module: ModuleType) -> None:
    name = module.__name__.rpartition(".")[2]
    known = {"files": PackageFiles(archive, "site"), "archive": archive, "spec": cleaned, "sys": sys}
    check_expressions(golden, GOLDEN / f"{name}.txt", module, package_files, **known)


def test_the_standard_library_comes_before_bundled_packages(archive: str) -> None:
    before = [*sys.path], [*sys.path_hooks], [*sys.meta_path]
    assert packages.activate_packages(archive) is True
    assert packages.activate_packages(archive) is True
    assert packages.activate_server_packages(archive) is False
    assert sys.path == [*before[0], "a.pyz/site"]
    assert (sys.path_hooks[1:], sys.meta_path[1:]) == before[1:]
    found = [PathFinder.find_spec(name) for name in ("colorsys", "both")]
    assert [spec and spec.origin == f"a.pyz/site/{spec.name}.py" for spec in found] == [False, True]
    assert importlib.import_module("both").value == "from bytecode"
    assert importlib.import_module("other").value == "from source"
    del sys.modules["both"], sys.modules["other"]


def test_items_are_worked_on_by_as_many_threads_as_there_are_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    for count, threads in ((1, 1), (3, 3), (4, 4), (9, 4)):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _, count=count: range(count), raising=False)
        meeting, seen, done = threading.Barrier(threads), set(), []

        def work(item: str, meeting: threading.Barrier = meeting, seen: Any = seen, done: Any = done) -> None:
            meeting.wait(60)
            seen.add(threading.current_thread())
            done.append(item)

        items = [str(number) for number in range(threads * 3)]
        folders.for_each(items, work)
        assert (len(seen), sorted(done)) == (threads, sorted(items))
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    assert folders.processors() == 2
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert folders.processors() == 1


def test_the_first_problem_ends_the_work_and_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0}, raising=False)
    done: list[str] = []

    def work(item: str) -> None:
        done.append(item)
        if item == "b":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        folders.for_each("abc", work)
    assert done == ["a", "b"]


def test_a_system_that_starts_no_more_threads_does_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[object] = []

    def start(thread: threading.Thread) -> None:
        started.append(thread)
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(4), raising=False)
    monkeypatch.setattr(threading.Thread, "start", start)
    done: list[str] = []
    folders.for_each("abc", done.append)
    assert (done, len(started)) == (["a", "b", "c"], 1)


MACHINES = [
    ("linux", "x86_64", (2, 36), "linux x86_64 with glibc 2.36"),
    ("linux", "x86_64", None, "linux x86_64"),
    ("win32", "win-amd64", None, "win32 amd64"),
]


@pytest.mark.parametrize(("system", "arch", "libc", "text"), MACHINES)
def test_a_machine_that_is_not_supported_is_described(
    system: str, arch: str, libc: object, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(tags.system, "uname", lambda: SimpleNamespace(machine=arch), raising=False)
    monkeypatch.setattr(tags, "glibc_version", lambda: libc)
    monkeypatch.setattr(tags, "get_platform", lambda: arch)
    described = f"Python {sys.version_info[0]}.{sys.version_info[1]}{tags.ABI_FLAGS} on {text}"
    assert tags.describe_platform() == described
    assert native_packages.unsupported_text([{"tags": ["a", "b"]}, {"tags": ["c"]}]) == (  # type: ignore[typeddict-item]
        f"the server contains it for a, b, c, but this is {described}; use `mcpc build --platform` to add platforms"
    )


def test_versions_of_macos_and_of_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = {"16.7.0": (10, 12), "19.0": (10, 15), "20.6": (11, 0), "24.1": (15, 0), "25.0.0": (26, 0)}
    for release, version in kernels.items():
        monkeypatch.setattr(tags.system, "uname", lambda release=release: SimpleNamespace(release=release))
        assert tags.macos_version() == version
    libraries = {
        "glibc 2.36": (2, 36), "glibc 2.36.1": (2, 36), "glibc 2": None, "musl 1.2": None, "": None, None: None,
    }  # fmt: skip
    for text, library in libraries.items():
        monkeypatch.setattr(tags.system, "confstr", lambda _, text=text: text)
        assert tags.glibc_version() == library
    monkeypatch.delattr(tags.system, "confstr")
    assert tags.glibc_version() is None


def test_another_interpreter_loads_only_modules_without_native_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "implementation", SimpleNamespace(name="pypy"))
    assert [tags.matches_python(*tag, "cp312") for tag in (("py3", "none"), ("cp38", "abi3"))] == [True, False]
    assert tags.describe_platform().startswith("pypy ")


def test_a_free_threaded_python_loads_no_wheels_of_the_stable_abi(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tags, "ABI_FLAGS", "t")
    assert [tags.matches_python("cp312", abi, "cp313") for abi in ("abi3", "none")] == [False, False]
    assert [tags.matches_python("cp313", abi, "cp313") for abi in ("cp313t", "cp313")] == [True, False]


def test_the_first_folder_that_will_do_is_taken_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reads: list[str] = []

    def read(name: str) -> bytes:
        reads.append(name)
        return b"data"

    def find() -> None:
        spec = native_packages.find_module_spec("pkg._n", variant, read)
        assert spec is not None and spec.origin == f"{native_packages.VERIFIED_FOLDERS['x']}/pkg/_n.so"

    digest = "3a6eb0790f39ac87c94f3856b2dd2c5d110e6811602261a9a923d3bb23adc8b7"
    variant: Any = {"tags": [], "folder": "x", "files": {"pkg/_n.so": digest}}
    places = [("/dev/null", ("a",)), (str(tmp_path), ("own",)), (str(tmp_path), ("never",))]
    monkeypatch.setattr(native_packages, "VERIFIED_FOLDERS", {})
    monkeypatch.setattr(native_packages, "cache_roots", lambda: iter(places))
    find()
    assert native_packages.VERIFIED_FOLDERS["x"].startswith("/proc/") is os.path.isdir("/proc/self/fd")
    folder = os.path.realpath(native_packages.VERIFIED_FOLDERS["x"])
    assert (reads, os.path.dirname(folder)) == (["x/pkg/_n.so"], str(tmp_path / "own"))
    assert capsys.readouterr().err == f"pkg._n is extracted to {folder} (/dev/null: Not a directory)\n"
    find()
    assert (reads, capsys.readouterr().err) == (["x/pkg/_n.so"], "")
    native_packages.VERIFIED_FOLDERS.clear()
    monkeypatch.setattr(native_packages, "cache_roots", lambda: iter(places[1:]))
    find()
    assert (reads, capsys.readouterr().err) == (["x/pkg/_n.so"], "")
    monkeypatch.setattr(native_packages, "cache_roots", lambda: iter(places[:1]))
    native_packages.VERIFIED_FOLDERS.clear()
    spec = native_packages.find_module_spec("pkg._n", variant, read)
    assert spec is not None and spec.origin is not None and spec.has_location
    assert spec.loader is not None and spec.loader.path == spec.origin  # type: ignore[attr-defined]
    with open(spec.origin, "rb") as file:
        assert file.read() == b"data"
    os.close(int(spec.origin.rpartition("/")[2]))
    error = capsys.readouterr().err
    assert error.startswith("pkg._n is loaded from memory; set MCPC_RUNTIME_CACHE to your own folder")
    assert error.endswith("(/dev/null: Not a directory)\n")
    with pytest.raises(ImportError, match=r"^site/x/pkg/_n\.so has a wrong checksum"):
        native_packages.read_checked("pkg/_n.so", variant, lambda name: b"other")
