"""Which files of packages are left out of a built file, and which stay because something may read them."""

import io
import re
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from mcpc.pack.archive import ArchiveEntry, build_archive, nest_entries
from mcpc.packages.sizes import deflated_size
from mcpc.packages.unneeded_files import names_with_imported_tests, needed_files

ALWAYS = {
    "a/__init__.py": b"",
    "a-1.dist-info/METADATA": b"",
    "a-1.dist-info/licenses/docs/LICENSE.md": b"",
    "LICENSE": b"",
}
LEFT_OUT: dict[str, tuple[str, str, str]] = {
    "tests": ("a/tests/test_a.py", "from a.tool import test", "from .tests import tools"),
    "tests of a folder": ("a/tests/test_a.py", "", "from . import (x,\n    tests)"),
    "tests deep below": ("a/b/test/data/x.json", "from .testing import x", "    import os, a.b.test"),
    "tests by a name": ("a/tests/__init__.py", "", "run('a.tests.all')"),
    "stubs": ("a/b.pyi", "", "import lazy_loader; lazy_loader.attach_stub(__name__, __file__)"),
    "sources in C": ("a/src/b.c", "", "open(here / 'src' / 'b.c')"),
    "headers": ("a/include/b.h", "", "def get_include(): ..."),
    "a static library": ("a/lib/libb.a", "", "def include_dirs(): ..."),
    "documentation": ("a/docs/index.md", "", "here / 'docs' / name"),
    "examples": ("a/examples/one.json", "", "open('examples/one.json')"),
}


def left(path: str, code: str, **more: bytes) -> bool:
    """Tell whether a file is left out of a package with this code."""
    distribution = SimpleNamespace(name="a", information="a-1.dist-info")
    files = {
        **ALWAYS,
        path: b"",
        "a/__init__.py": code.encode(),
        **{key.replace("__", "/"): data for key, data in more.items()},
    }
    found = needed_files(distribution, files, names_with_imported_tests(files))  # type: ignore[arg-type]
    assert files.keys() - found.keys() <= {path}
    return path not in found


@pytest.mark.parametrize("name", LEFT_OUT)
def test_what_no_run_needs_is_left_out_unless_it_is_read(name: str) -> None:
    path, unrelated, reading = LEFT_OUT[name]
    assert left(path, unrelated)
    assert not left(path, f"import os\n{reading}\n")


@pytest.mark.parametrize("path", ["py.typed", "a/py.typed", "README.md", "CHANGELOG"])
def test_what_nothing_reads_is_left_out(path: str) -> None:
    assert left(path, "open('README.md')")


@pytest.mark.parametrize(
    "path", ["a/docs/__init__.py", "tests/test_a.py", "a/testing/x.py", "a/b.json", "a/README.md", "a/latest/x.py"]
)
def test_what_may_be_needed_stays(path: str) -> None:
    assert not left(path, "")


def test_tests_that_another_package_imports_stay() -> None:
    other = {"b/__init__.py": b"from a.b.tests import tools\n", "b/tests/x.py": b"import c.tests\n"}
    other |= {"a/b/tests/tools.py": b"", "c/tests/x.py": b"", "c/deep/y.py": b"from ..test import x\n"}
    assert names_with_imported_tests(other) == {"a"}
    distribution = SimpleNamespace(name="a", information="a-1.dist-info")
    files = {"a/__init__.py": b"", "a/b/tests/tools.py": b""}
    assert needed_files(distribution, files, {"a"}) == files  # type: ignore[arg-type]
    assert needed_files(distribution, files, {"c"}) != files  # type: ignore[arg-type]


def test_of_packages_is_deflated_what_an_import_does_not_read(tmp_path: Path) -> None:
    kept = ("site/a.pyc", "site/a/pic.png")
    deflated = ("site/a.py", "site/.extracted/a-1/a/b.so", "site/a/data.txt", "site/a-1.dist-info/METADATA")
    others = ("site/.layer", "mcpc_app/blob", "handlers/a.py")
    packed = nest_entries(dict.fromkeys((*kept, *deflated, *others), b"x" * 99))
    (tmp_path / "x.zip").write_bytes(build_archive([ArchiveEntry(*row) for row in packed.items()], ""))
    found = {}
    with zipfile.ZipFile(tmp_path / "x.zip") as archive:
        assert all(entry.compress_type == zipfile.ZIP_STORED for entry in archive.infolist())
        for name in ("bytecode.zip", "sources.zip", "extracted.zip"):
            with zipfile.ZipFile(io.BytesIO(archive.read(f"site/{name}"))) as inner:
                place = "site/.extracted/" if name == "extracted.zip" else "site/"
                for entry in inner.infolist():
                    found[place + entry.filename] = entry.compress_type == zipfile.ZIP_DEFLATED
    assert found == {**dict.fromkeys(kept, False), **dict.fromkeys(deflated, True)}


def test_a_size_is_learnt_of_a_few_files() -> None:
    text = re.sub(r"\s+", " ", __doc__).encode() * 50
    assert deflated_size([]) == 0
    assert deflated_size([text] * 40) < len(text) * 4
