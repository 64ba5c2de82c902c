"""Why uv failed: what it prints, as it does, and the cause and the help that are made of it."""

import hashlib
import io
import json
import re
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner
from packaging.specifiers import SpecifierSet

from mcpc.cli import cli
from mcpc.pack.archive import ArchiveEntry, build_archive, nest_entries
from mcpc.packages import RequestedPackage, earliest, newest_version, stage_packages
from mcpc.packages.downloads import upload_limit
from mcpc.packages.package_contents import deflated_size, names_with_imported_tests, needed_files
from mcpc.packages.uv import HashMismatchError, NoWheelError, UvError, absent_version, failure_of, reason
from support.wheels import only, wheel

UNSOLVED = "error: No solution found when resolving dependencies\n  cause: "
UNREACHED = (
    "error: Failed to fetch: https://user:secret@r.example/simple/a/\n  cause: error sending request\n  cause: {}\n"
)
ONLY_WHEELS = "hint: Wheels are required for `{}` because building from source is disabled for all packages\n"
CONCLUSION = ", we can conclude that your requirements are unsatisfiable.\n"
SILENT = """cause: Because the requested Python version (>=3.10) does not satisfy Python>=3.11 and a==9.5 depends on \
Python>=3.11, we can conclude that a==9.5 cannot be used.
         And because you require a==9.5, we can conclude that your requirements are unsatisfiable.

hint: The `--python-version` value (>=3.10) includes Python versions that are not supported.
"""
OTHER_PYTHON = (
    "because the requested Python version (>=3.10) does not satisfy Python>=3.11 and a==9.5 depends on Python>=3.11, "
    "we can conclude that a==9.5 cannot be used. And because you require a==9.5"
)


@pytest.mark.parametrize(
    ("said", "message", "hint"),
    [
        ("error: x\n  cause: No space left on device (os error 28)\n", "no space is left on the disk", "UV_CACHE_DIR"),
        (UNREACHED.format("invalid peer certificate: UnknownIssuer"), "the certificate of the registry is not trusted",
         "SSL_CERT_FILE"),
        (UNREACHED.format("tunnel error: failed"), "the proxy cannot be reached, or refuses", "HTTPS_PROXY"),
        (UNREACHED.format("HTTP status client error (403 Forbidden) for url"), "the registry refuses access (403)",
         "password"),
        (UNREACHED.format("HTTP status client error (404 Not Found) for url"), "the registry has it no longer (404)",
         "--upgrade-package"),
        (UNREACHED.format("dns error"), "the registry r.example cannot be reached", "--find-links"),
        ("error: Request failed after 3 retries\n  cause: Failed to fetch: http://127.0.0.1:9/simple/a/\n",
         "the registry 127.0.0.1:9 cannot be reached", "--find-links"),
        (f"{UNSOLVED}Because a was not found in the package registry and you require a, x.\n",
         "the registry has nothing named `a`", "name is written"),
        (f"{UNSOLVED}Because a-b was not found in the cache and you require a-b==1, x.\n",
         "nothing named `a-b` is in the cache or a folder of `--find-links`", "--find-links"),
        (f"{UNSOLVED}Because a==2 depends on b<2 and you require b==2{CONCLUSION}", "because a==2 depends on b<2 and you require b==2", ""),
        (f"error: x\n  {SILENT}", OTHER_PYTHON, "not supported"),
        ("error: something else\n", "something else", ""),
    ],
)  # fmt: skip
def test_a_failure_has_its_cause_and_its_help(said: str, message: str, hint: str) -> None:
    found = failure_of(UvError(said))
    assert (str(found), hint in found.hint, bool(hint) is bool(found.hint)) == (message, True, True)
    assert "secret" not in found.said


@pytest.mark.parametrize(
    ("cause", "names", "text", "by"),
    [
        ("Because b==0.6 has no usable wheels and you require b==0.6, x.", ["b"], "b==0.6", ""),
        ("And because a>=0.5.14 depends on b>=0.6 and you require a==0.5.14, x.", ["b"], "b>=0.6", "a"),
        ("And because a>=1 depends on b>=0.6, we can conclude. you require a, x.", ["a", "b"], "b>=0.6", "a"),
        ("Because all versions of b-c have no usable wheels, x.", ["b-c"], "b-c", ""),
    ],
)
def test_what_has_only_sources_is_named_with_what_needs_it(cause: str, names: list[str], text: str, by: str) -> None:
    found = failure_of(UvError(f"{UNSOLVED}{cause}\n\n" + "".join(ONLY_WHEELS.format(name) for name in names)))
    assert isinstance(found, NoWheelError)
    assert (found.text, found.by) == (text, by)


def test_another_digest_is_named_with_both() -> None:
    said = f"error: x\n  cause: Hash mismatch for `a-b==1`\n\n  Expected:\n    sha256:{'0' * 64}\n\n  Computed:\n    sha256:{'1' * 64}\n"
    found = failure_of(UvError(said))
    assert isinstance(found, HashMismatchError)
    assert (found.package, str(found)) == (
        "a-b",
        f"`a-b==1` has SHA-256 {'1' * 64}, and SHA-256 {'0' * 64} is expected",
    )


@pytest.mark.parametrize(
    ("cause", "name"),
    [
        ("Because there is no version of a==99 and you require a==99, x.", "a"),
        ("Because only a-b<=1.0.dev6 is available and you require a-b>=99, x.", "a-b"),
        ("Because a==1 depends on b<2 and you require b==2, x.", ""),
    ],
)
def test_a_version_that_does_not_exist_has_its_package(cause: str, name: str) -> None:
    assert absent_version(UNSOLVED + cause) == name


def test_long_words_keep_their_beginning_and_their_end() -> None:
    text = reason(f"error: the beginning {'x' * 1000} the end\n")
    assert (len(text), text.startswith("the beginning xxx"), text.endswith("xxx the end")) == (600, True, True)


UPLOADED = {"1.0": "2024-01-01T10:00:00Z", "2.0": "2025-06-30T23:00:00Z", "3.0": "2025-07-01T00:00:00Z"}


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A registry of two packages with versions of several dates, and uv that knows of no other."""
    only(tmp_path, monkeypatch)
    files = {name: [(wheel(tmp_path, name, version, {f"{name}.py": ""}, needs=needs), time)
                    for version, time in UPLOADED.items()]
             for name, needs in (("lib", ()), ("app", ("lib",)))}  # fmt: skip

    class Registry(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.strip("/").split("/")[-1]
            data = (tmp_path / name).read_bytes() if name.endswith(".whl") else self.listing(name)
            self.send_response(200)
            kind = "application/octet-stream" if name.endswith(".whl") else "application/vnd.pypi.simple.v1+json"
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_HEAD(self) -> None:
            self.do_GET()

        def listing(self, name: str) -> bytes:
            rows = [
                {"filename": path.name, "url": f"/files/{path.name}", "upload-time": time,
                 "hashes": {"sha256": hashlib.sha256(path.read_bytes()).hexdigest()}}
                for path, time in files[name]
            ]  # fmt: skip
            return json.dumps({"meta": {"api-version": "1.1"}, "name": name, "files": rows}).encode()

        def log_message(self, *_: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Registry)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.delenv("UV_FIND_LINKS")
    address = f"http://127.0.0.1:{server.server_port}/simple"
    monkeypatch.setenv("UV_DEFAULT_INDEX", address)
    yield address
    server.shutdown()
    server.server_close()


def installed(date: str) -> dict[str, str]:
    found, problems = stage_packages([RequestedPackage("app", "app", exclude_newer=date)])
    assert found is not None, problems
    return {item.name: item.version for item in found.distributions}


def test_the_newest_of_the_date_are_installed_with_what_they_need(registry: str) -> None:
    assert installed("") == {"app": "3.0", "lib": "3.0"}
    assert installed("2025-06-30") == {"app": "2.0", "lib": "2.0"}
    assert installed("2025-06-29") == {"app": "1.0", "lib": "1.0"}


def test_what_is_too_new_is_a_diagnostic(registry: str) -> None:
    found, problems = stage_packages([RequestedPackage("app", "app>=2", exclude_newer="2024-12-31")])
    assert found is None
    assert [problem.code for problem in problems] == ["MCP405"]
    assert "only app==1.0 is available and you require app>=2" in problems[0].message


def test_the_newest_version_of_a_date_is_one_that_is_allowed(registry: str) -> None:
    assert newest_version("lib", SpecifierSet(), "2025-06-30") == "2.0"
    assert newest_version("lib", SpecifierSet("<2"), "2025-06-30") == "1.0"
    assert newest_version("lib", SpecifierSet(), "2020-01-01") == ""


def test_a_package_installed_with_the_compiler_is_not_taken_for_one_of_the_date(registry: str) -> None:
    found, problems = stage_packages([RequestedPackage("click", "click", exclude_newer="2025-06-30")])
    assert found is None, "the registry has no click"
    assert [problem.code for problem in problems] == ["MCP405"]


LIMITS = {
    "2025-06-30": "2025-07-01T00:00:00Z",
    "2025-12-31": "2026-01-01T00:00:00Z",
    "2025-06-30T10:00": "2025-06-30T10:00:00Z",
    "2025-06-30T10:00:00+02:00": "2025-06-30T08:00:00Z",
    "June": None,
    "": None,
    "2025-02-30": None,
}


@pytest.mark.parametrize("text", LIMITS)
def test_what_a_date_means(text: str) -> None:
    assert upload_limit(text) == LIMITS[text]


def test_the_earliest_date() -> None:
    assert earliest(["", "2025-06-30", "2025-06-30T10:00:00Z"]) == "2025-06-30T10:00:00Z"
    assert earliest([""]) == ""


def test_an_option_that_is_no_date_is_refused(tmp_path: Path) -> None:
    done = CliRunner().invoke(cli, ["check", str(tmp_path), "--exclude-newer", "soon"])
    assert done.exit_code == 2
    assert "`soon` is not a date such as `2025-06-30`" in done.output


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
