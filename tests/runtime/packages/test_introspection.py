"""What packages see of how they were imported: in a built file the same as in a folder, which Python's own importer reads.

The same files are in an archive and in a folder; each expression is evaluated with both.
"""

import importlib
import inspect
import marshal
import pkgutil
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import metadata, resources
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from beartype.claw import beartype_package
from typeguard import install_import_hook

from mcpc.pack.archive import ArchiveEntry, build_archive, nest_entries
from mcpc_runtime.artifact import packages

FILES = {
    "shown/__init__.py": b"", "shown/mod.py": b"def f(number: int) -> int:\n    return 1\n",
    "shown/broken.py": b"raise ValueError(5)\n", "shown/data.tar.gz": b"one\r\ntwo", "shown/folder/data.json": b"{}",
    "shown/part/mod.py": b"", "spread/one.py": b"", "spread/notes.txt": b"notes",
    "shown-1.0.dist-info/METADATA": b"Metadata-Version: 2.1\nName: shown\nVersion: 1.0\n",
    "shown-1.0.dist-info/RECORD": b"shown/mod.py,,\nshown/data.tar.gz,,\n",
    "shown-1.0.dist-info/entry_points.txt": b"[shown]\nf = shown.mod:f\n",
}  # fmt: skip
INDEX = {"modules": {}, "namespaces": ["spread"], "metadata": {"shown": "shown-1.0.dist-info"}, "parcels": []}
ARCHIVE, FOLDER = "shown.pyz/site", "unpacked"


@contextmanager
def importable(root: str) -> Iterator[None]:
    """Let the packages be imported from the archive or from the folder."""
    if root == ARCHIVE:
        entries = {"site/.layer": marshal.dumps(INDEX), **{f"site/{name}": data for name, data in FILES.items()}}
        data = build_archive([ArchiveEntry(*row) for row in nest_entries(entries).items()], "#!first line\n")
        Path("shown.pyz").write_bytes(data)
        packages.activate_packages("shown.pyz")
    else:
        for name, data in FILES.items():
            place = Path(FOLDER, name)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
        sys.path.append(FOLDER)
    try:
        yield
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] in ("shown", "spread")]:
            del sys.modules[name]


def imported(name: str) -> Any:
    return importlib.import_module(name)


def loaded(name: str, below: str) -> list[str]:
    """Return the names of modules that are loaded as programs did before `exec_module`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = [*pkgutil.iter_modules(imported(name).__path__, f"{name}.")]
        rows = [row for row in rows if row.name == f"{name}.{below}"]
        specs: list[Any] = [row.module_finder.find_spec(row.name, None) for row in rows]
        return [spec.loader.load_module(spec.name).__name__ for spec in specs]


def frames_of_failure(name: str) -> list[str]:
    """Return the files of the traceback of a module that fails, without those of this test and of importlib."""
    try:
        importlib.import_module(name)
    except ValueError as problem:
        rows = traceback.extract_tb(problem.__traceback__)
        return [row.filename for row in rows if "importlib" not in row.filename and row.filename != __file__]
    return []


def described(path: Any) -> object:
    parts = path.name, path.stem, path.suffix, path.suffixes, path.parent.name
    return *parts, path.exists(), path.is_file(), path.is_dir(), isinstance(path, Traversable)


def spec_of(name: str) -> object:
    spec: Any = find_spec(name)
    return spec.name, spec.origin, spec.cached, spec.has_location, [*(spec.submodule_search_locations or ())]


def module_of(name: str) -> object:
    found = imported(name)
    path = [*found.__path__] if hasattr(found, "__path__") else None
    return found.__name__, found.__file__, path, found.__package__, found.__spec__.name


def names_in(anchor: str) -> list[str]:
    return sorted(path.name for path in resources.files(anchor).iterdir() if path.name != "__pycache__")


def as_files(anchor: str, *names: str) -> bytes:
    with resources.as_file(resources.files(anchor).joinpath(*names)) as path:
        return Path(path).read_bytes()


SEEN: dict[str, Callable[[], object]] = {
    "modules": lambda: [(row.name, row.ispkg) for row in pkgutil.iter_modules(imported("shown").__path__, "shown.")],
    "walk": lambda: [row.name for row in pkgutil.walk_packages(imported("spread").__path__, "spread.")],
    "finder": lambda: [
        str(getattr(row.module_finder, "path", None)) for row in pkgutil.iter_modules(imported("shown").__path__)
    ],
    "data": lambda: pkgutil.get_data("shown", "data.tar.gz"),
    "named object": lambda: pkgutil.resolve_name("shown.mod:f").__qualname__,
    "version": lambda: metadata.version("shown"),
    "recorded files": lambda: [str(path) for path in metadata.files("shown") or ()],
    "recorded text": lambda: [path.read_text() for path in metadata.files("shown") or ()],
    "recorded bytes": lambda: [path.read_binary() for path in metadata.files("shown") or ()],
    "located": lambda: [described(path.locate()) for path in metadata.files("shown") or ()],
    "packages of distributions": lambda: metadata.packages_distributions().get("shown"),
    "entry points": lambda: [point.load().__name__ for point in metadata.entry_points(group="shown")],
    "resources": lambda: names_in("shown"),
    "resource": lambda: described(resources.files("shown") / "data.tar.gz"),
    "no resource": lambda: described(resources.files("shown") / "none"),
    "folder of resources": lambda: described(resources.files("shown").joinpath("folder")),
    "same resource": lambda: resources.files("shown") / "a" == resources.files("shown").joinpath("a"),
    "text": lambda: (resources.files("shown") / "data.tar.gz").read_text(encoding="utf-8"),
    "bytes": lambda: (resources.files("shown") / "data.tar.gz").read_bytes(),
    "file of a resource": lambda: as_files("shown", "folder", "data.json"),
    "resources of a folder without modules": lambda: (names_in("shown.folder"), as_files("shown.folder", "data.json")),
    "resources of a folder with modules": lambda: names_in("shown.part"),
    "resources of a namespace package": lambda: (names_in("spread"), as_files("spread", "notes.txt")),
    "source": lambda: [inspect.getsource(found) for found in (imported("shown.mod"), imported("shown.mod").f)],
    "files of code": lambda: [find(imported("shown.mod").f) for find in (inspect.getfile, inspect.getsourcefile)],
    "module of code": lambda: inspect.getmodule(imported("shown.mod").f) is imported("shown.mod"),
    "specs": lambda: [spec_of(name) for name in ("shown", "shown.mod")],
    "packages": lambda: [module_of(name) for name in ("shown", "shown.mod", "shown.part.mod", "shown.folder")],
    "no file of a namespace package": lambda: imported("spread").__file__,
    "representation": lambda: repr(imported("shown.mod")),
    "no module": lambda: find_spec("shown.none"),
    "traceback": lambda: frames_of_failure("shown.broken"),
    **({"load_module": lambda: loaded("shown", "mod")} if sys.version_info < (3, 15) else {}),
}
"""What packages look at."""


def values(root: str) -> dict[str, str]:
    """Return what is seen; the path of the packages is `ROOT`."""
    with importable(root):
        found = {name: repr(see()) for name, see in SEEN.items()}
    return {name: value.replace(str(Path.cwd() / root), "ROOT").replace(root, "ROOT") for name, value in found.items()}


def test_what_is_seen_is_the_same_as_in_a_folder(monkeypatch: pytest.MonkeyPatch, import_paths: None) -> None:
    with monkeypatch.context() as patch:
        for name in ("path", "path_hooks", "meta_path"):
            patch.setattr(sys, name, [*getattr(sys, name)])
        archive = values(ARCHIVE)
    assert archive == values(FOLDER)


def test_import_hooks_of_type_checkers_are_installed(import_paths: None) -> None:
    with importable(ARCHIVE):
        beartype_package("shown")
        with install_import_hook("spread"):
            assert imported("shown.mod").f(1) == 1
            assert imported("spread.one").__file__ == f"{ARCHIVE}/spread/one.py"


def test_every_path_hook_has_the_names_of_a_function(import_paths: None) -> None:
    with importable(ARCHIVE):
        hooks: list[Any] = sys.path_hooks
        names = [(hook.__module__, hook.__name__, hook.__qualname__) for hook in hooks]
    assert names[0] == (
        "mcpc_runtime.artifact.packages.importer",
        "path_hook_for_packages",
        "PackageImporter.path_hook.<locals>.path_hook_for_packages",
    )
    assert all(map(all, names))
