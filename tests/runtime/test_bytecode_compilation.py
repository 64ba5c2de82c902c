"""The runtime's modules in one entry: how they are found and run, and how they are compiled for another Python."""

import io
import marshal
import os
import sys
import time
import zipfile
import zipimport
import zlib
from importlib.util import MAGIC_NUMBER, module_from_spec
from pathlib import Path
from typing import Any

import pytest

from mcpc_runtime import BYTECODE, OTHER_PYTHONS, SOURCES, RuntimeFinder, select_bytecode
from mcpc_runtime.artifact import bytecode_compilation
from mcpc_runtime.artifact.bytecode_compilation import (
    MAX_BYTES,
    MAX_FILES,
    compile_modules,
    compile_source,
    compile_start,
    modules_entry,
    usable_folder,
    write_cached,
)

MAGIC = MAGIC_NUMBER


def zipped(files: dict[str, bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    return data.getvalue()


class Loader:
    """The loader of an archive that has these entries."""

    archive = "/a.pyz"

    def __init__(self, entries: dict[str, bytes]) -> None:
        self.entries = entries
        self.read: list[str] = []

    def get_data(self, path: str) -> bytes:
        name = path.removeprefix("/a.pyz/")
        self.read.append(name)
        if name not in self.entries:
            raise OSError(2, "No such entry", path)
        return self.entries[name]


def bytecode(source: str) -> bytes:
    return marshal.dumps(compile(source, "x", "exec"))


def loaded(finder: RuntimeFinder, name: str) -> Any:
    spec = finder.find_spec(name)
    assert spec is not None
    module = module_from_spec(spec)
    finder.exec_module(module)
    return module


def test_modules_are_found_in_their_entry_in_each_form() -> None:
    bodies = {
        "mcpc_runtime/plain.py": bytecode("value = 'bytecode'"),
        "mcpc_runtime/deflated.py": zlib.compress(bytecode("value = 'deflated'")),
        "mcpc_runtime/source.py": zlib.compress(b"# a source\nvalue = 'source'"),
        "mcpc_runtime/pkg/__init__.py": bytecode("value = 'package'"),
        "mcpc_runtime/pkg/bundled.py": b"",
        "mcpc_runtime/pkg/rare.py": b"",
    }
    bundle = (("mcpc_runtime.pkg.bundled", False, compile("value = 'bundled'", "x", "exec")),)
    start = compile("ROWS = 'BUNDLE'", "x", "exec")
    start = start.replace(co_consts=tuple(bundle if item == "BUNDLE" else item for item in start.co_consts))
    loader = Loader({
        BYTECODE: modules_entry(MAGIC, bodies),
        "__main__.pyc": b"\0" * 16 + marshal.dumps(start),
        SOURCES: zipped({"mcpc_runtime/pkg/rare.py": b"value = 'rare'"}),
    })  # fmt: skip
    finder = RuntimeFinder(loader)  # type: ignore[arg-type]
    assert finder.find_spec("json") is finder.find_spec("mcpc_runtime") is None
    assert loader.read == []
    assert finder.find_spec("mcpc_runtime.none") is None
    names = {"plain": "bytecode", "deflated": "deflated", "source": "source", "pkg": "package"}
    more = {"pkg.bundled": "bundled", "pkg.rare": "rare"}
    found = {name: loaded(finder, f"mcpc_runtime.{name}") for name in names | more}
    assert {name: module.value for name, module in found.items()} == names | more
    files = {name: (module.__file__, getattr(module, "__path__", None)) for name, module in found.items()}
    assert files["plain"] == ("/a.pyz/mcpc_runtime/plain.py", None)
    assert files["pkg"] == ("/a.pyz/mcpc_runtime/pkg/__init__.py", ["/a.pyz/mcpc_runtime/pkg"])
    for name in ("pkg.bundled", "pkg.rare"):
        assert loaded(finder, f"mcpc_runtime.{name}").value == more[name]
    assert loader.read == [BYTECODE, "__main__.pyc", SOURCES]
    del loader.entries["__main__.pyc"]
    loader.entries[SOURCES] = zipped({"mcpc_runtime/pkg/bundled.py": b"value = 'from source'"})
    assert loaded(RuntimeFinder(loader), "mcpc_runtime.pkg.bundled").value == "from source"  # type: ignore[arg-type]


@pytest.mark.parametrize("is_cached", [True, False])
@pytest.mark.parametrize("other", [None, b"\0\0\0\0other Python"])
def test_another_python_uses_its_cache_or_compiles(is_cached: bool, other: bytes | None) -> None:
    data = modules_entry(MAGIC, {"mcpc_runtime/a.py": bytecode("value = 'cached'")})
    sources = modules_entry(MAGIC, {"mcpc_runtime/a.py": b"value = 'compiled'"})
    facts = {
        "digest": "d",
        "cache": {
            "": f"read_cached = lambda *given: {data if is_cached else b''!r} if given == ('d', 'modules') else 1"
        },
        "compilation": f"compile_modules = lambda *given: ({sources!r}, True)",
    }
    entries = {OTHER_PYTHONS: marshal.dumps(facts)} | ({} if other is None else {BYTECODE: other})
    finder = RuntimeFinder(Loader(entries))  # type: ignore[arg-type]
    assert loaded(finder, "mcpc_runtime.a").value == ("cached" if is_cached else "compiled")


def test_the_code_of_this_system_is_preferred() -> None:
    data = modules_entry(MAGIC, {"mcpc_runtime/a.py": b""})
    cache = {"": "1 / 0", sys.platform: f"read_cached = lambda *_: {data!r}"}
    facts = marshal.dumps({"digest": "d", "cache": cache})
    assert RuntimeFinder(Loader({OTHER_PYTHONS: facts})).find_spec("mcpc_runtime.a") is not None  # type: ignore[arg-type]


def test_the_entries_of_this_python_take_the_places_of_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    tag = f".{sys.implementation.cache_tag}"
    name = BYTECODE.replace("/", os.sep)
    files = {name: ("first", 1), name + tag: (f"x{tag}", 2), "other": ("o", 3), f"z{tag}": (f"y{tag}", 4)}
    without = {"other": ("o", 3), f"z{tag}": (f"y{tag}", 4)}
    cache = {"a": dict(files), "b": dict(without)}
    monkeypatch.setattr(zipimport, "_zip_directory_cache", cache)
    for archive in ("a", "b", "unknown"):
        select_bytecode(archive)
    assert cache == {"a": {**files, name: ("x", 2), "z": ("y", 4)}, "b": without}


@pytest.fixture
def cache(tmp_path: Path) -> dict[str, Any]:
    return {
        "system": os,
        "join": os.path.join,
        "FLAGS": 0,
        "content_hash": lambda data: b"<%d>" % len(data),
        "file_name": lambda digest, kind: f"{digest}-{kind}",
        "make_folder": lambda folder: os.makedirs(folder, exist_ok=True) or True,
        "candidate_folders": lambda: [str(tmp_path / "cache")],
    }


FACTS: Any = {"digest": "d", "path": ("mcpc_runtime", "mcpc_runtime.a"), "folders": {"": "executed = 1"}}
SOURCE = b'"""Say nothing."""\nassert False\nvalue = (__doc__, 7)\n'


@pytest.fixture
def loader(monkeypatch: pytest.MonkeyPatch) -> Loader:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    beside = dict.fromkeys(bytecode_compilation.BESIDE, b"value = 1")
    beside["__start__.py"] = b"rows = 'BUNDLE'\nother = 'OTHER'\n"
    return Loader({**beside, SOURCES: zipped({"mcpc_runtime/a.py": SOURCE, "mcpc_runtime/b/__init__.py": b"x = 2"})})


def test_the_start_has_the_modules_of_its_path_and_is_cached(loader: Any, cache: Any, tmp_path: Path) -> None:
    code = compile_start(loader, FACTS, cache)
    names: dict[str, Any] = {"__doc__": None}
    exec(code, names)
    rows = [(name, is_package, code.co_filename) for name, is_package, code in names["rows"]]
    assert rows == [
        ("mcpc_runtime", True, "server.pyz/mcpc_runtime/__init__.py"),
        ("mcpc_runtime.a", False, "server.pyz/mcpc_runtime/a.py"),
    ]
    assert names["other"] == "OTHER"
    exec(names["rows"][1][2], names)
    assert names["value"] == (None, 7)
    (cached,) = (tmp_path / "cache").iterdir()
    length, _, data = cached.read_bytes().partition(b">")
    assert (cached.name, length, marshal.loads(data)) == ("d-start", b"<%d" % len(data), code)
    assert cache["executed"] == 1


def test_modules_are_compiled_and_cached_or_given_as_sources(loader: Any, cache: Any, tmp_path: Path) -> None:
    data, is_source = compile_modules(loader, FACTS, cache)
    assert is_source is False
    finder = RuntimeFinder(Loader({BYTECODE: data}))  # type: ignore[arg-type]
    assert (loaded(finder, "mcpc_runtime.a").value, loaded(finder, "mcpc_runtime.b").x) == ((None, 7), 2)
    assert (tmp_path / "cache" / "d-modules").read_bytes() == b"<%d>%b" % (len(data), data)
    cache["candidate_folders"] = list
    data, is_source = compile_modules(loader, FACTS, cache)
    assert is_source is True
    assert data.endswith(SOURCE + b"x = 2")


def test_a_module_is_compiled_without_what_nobody_runs() -> None:
    names: dict[str, Any] = {"__doc__": None}
    exec(compile_source(SOURCE, "a.py"), names)
    assert names["value"] == (None, 7)


def test_the_first_folder_that_can_be_written_to_is_used(
    cache: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = ["invalid", "missing", "refused", str(tmp_path / "readable"), str(tmp_path), str(tmp_path / "later")]

    def make(folder: str) -> bool:
        if folder == "invalid":
            raise ValueError
        if folder == "missing":
            raise OSError
        return folder != "refused"

    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(os, "access", lambda folder, mode: mode == os.W_OK and not folder.endswith("readable"))
    cache |= {"candidate_folders": lambda: folders, "make_folder": make}
    assert usable_folder(FACTS, cache) == str(tmp_path)
    cache["candidate_folders"] = lambda: folders[:4]
    assert usable_folder(FACTS, cache) is None
    facts: Any = {"folders": {"": "1 / 0", sys.platform: "own = 1"}}
    assert (usable_folder(facts, cache), cache["own"]) == (None, 1)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    cache["candidate_folders"] = lambda: folders
    assert usable_folder(FACTS, cache) is None


def test_a_file_that_cannot_be_written_leaves_nothing(
    cache: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[int] = []
    working = os.open
    monkeypatch.setattr(os, "open", lambda *given: opened.append(working(*given)) or opened[-1])

    def fail(*_: object) -> int:
        raise OSError(28, "No space left")

    for name in ("write", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", lambda descriptor, data: len(data))
            patch.setattr(os, name, fail)
            write_cached(cache, str(tmp_path), "name", b"data")
        assert list(tmp_path.iterdir()) == []
        with pytest.raises(OSError, match="Bad file"):
            os.fstat(opened[-1])
    write_cached(cache, str(tmp_path / "missing"), "name", b"data")


def test_a_file_is_written_in_parts(cache: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:3]))
    write_cached(cache, str(tmp_path), "name", b"some data")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("name", b"<9>some data")]
    assert (tmp_path / "name").stat().st_mode & 0o777 == 0o600


def left(cache: Any, folder: Path, files: dict[str, tuple[float, int]]) -> set[str]:
    """Return the files that are left after one more was written; each has an age and a size."""
    now = time.time()
    for name, (age, size) in files.items():
        with (folder / name).open("wb") as file:
            file.truncate(size)
        os.utime(folder / name, (now - age, now - age))
    write_cached(cache, str(folder), "new", b"")
    names = {path.name for path in folder.iterdir()}
    for path in folder.iterdir():
        path.unlink()
    return names


def test_what_was_written_first_is_removed_first(cache: Any, tmp_path: Path) -> None:
    assert (MAX_FILES, MAX_BYTES) == (64, 64 << 20)
    for count in (MAX_FILES - 1, MAX_FILES, MAX_FILES + 3):
        files = {f"f{number}": (float(number), 10) for number in range(count)}
        assert left(cache, tmp_path, files) == {"new", *list(files)[: MAX_FILES - 1]}
    half = MAX_BYTES // 2
    assert left(cache, tmp_path, {"a": (1, half), "b": (2, half)}) == {"new", "a", "b"}
    assert left(cache, tmp_path, {"a": (1, half), "b": (2, half), "c": (3, 1)}) == {"new", "a", "b"}
    assert left(cache, tmp_path, {"a": (1, half + 1), "b": (2, half)}) == {"new", "a"}
    unfinished = {".new-1": (3500, 1), ".new-2": (3700, 1), "old": (9000, 1)}
    assert left(cache, tmp_path, unfinished) == {"new", ".new-1", "old"}
