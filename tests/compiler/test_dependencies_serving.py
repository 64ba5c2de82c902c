"""`mcpc build --http` and its companions: what is carried, that it is the same everywhere, and that nobody else pays."""

import json
import marshal
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

from mcpc.options import Options
from mcpc.pack.archive import ArchiveEntry, build_archive, nest_entries
from mcpc.packages.serving import HTTP, UNUSED, option_requirements, pinned_requirement
from mcpc_runtime.artifact.packages.package_files import PackageFiles
from support.artifact import build, carried
from support.talking import write_project


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("option")
    write_project(folder / "project")
    return folder


@pytest.fixture(scope="module")
def plain(folder: Path) -> Path:
    return build(folder / "project", folder / "plain.pyz")


@pytest.fixture(scope="module")
def served(folder: Path, plain: Path) -> Path:
    return build(folder / "project", folder / "served.pyz", "--http")


def facts(artifact: Path, name: str = "META-INF/build.json") -> dict[str, object]:
    with zipfile.ZipFile(artifact) as packed:
        found: dict[str, object] = json.loads(packed.read(name))
    return found


def test_without_the_option_nothing_of_http_is_carried(plain: Path) -> None:
    names = carried(plain)
    assert not [name for name in names if name.startswith(("serving/", "mcpc_runtime/http/", "mcpc_app/asgi"))]
    assert "serving" not in facts(plain)


def test_with_it_there_are_six_entries_more(plain: Path, served: Path) -> None:
    """A start takes as long as the archive has entries."""
    with zipfile.ZipFile(plain) as one, zipfile.ZipFile(served) as other:
        more = set(other.namelist()) - set(one.namelist())
    packages = {f"serving/{name}" for name in (".layer", ".directory", "bytecode.zip", "sources.zip")}
    assert more == {*packages, "mcpc_app/asgi.py", "mcpc_app/asgi.pyc"}


def test_what_is_carried_is_what_serves_and_no_command_line(served: Path) -> None:
    files = PackageFiles(str(served), "serving")
    names = [*files.sources]
    assert {f"{name}c" for name in names if name.endswith(".py")} == {*files.bytecode}
    packages = {name.partition("/")[0] for name in names if not name.startswith(".")}
    assert {"uvicorn", "h11"} <= packages
    assert not packages & UNUSED
    assert any("LICENSE" in name for name in names)


def test_the_packages_are_in_the_facts_and_in_the_bill_of_materials(served: Path) -> None:
    wanted = {name: metadata.version(name) for name in HTTP}
    assert facts(served)["serving"] == [f"{name} {version}" for name, version in sorted(wanted.items())]
    bill = facts(served, "META-INF/sbom.cdx.json")
    components = {one["name"]: one["version"] for one in bill["components"]}  # type: ignore[attr-defined]
    assert wanted.items() <= components.items()


def test_the_same_is_built_twice(folder: Path, served: Path) -> None:
    again = build(folder / "project", folder / "again.pyz", "--http")
    assert again.read_bytes() == served.read_bytes()


def test_a_file_with_http_checks_itself(served: Path) -> None:
    done = subprocess.run([sys.executable, served, "check"], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_standard_input_and_output_import_nothing_of_it(served: Path) -> None:
    """Nor do they open what is nested: the importer's own directory has it only when HTTP is served."""
    lines = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
    argv = [sys.executable, "-v", str(served)]
    done = subprocess.run(argv, input=lines, capture_output=True, timeout=60, check=False)
    assert b'"result"' in done.stdout
    assert b"uvicorn" not in done.stderr
    assert b"mcpc_runtime.http" not in done.stderr
    assert b"import 'asyncio'" not in done.stderr


@pytest.mark.parametrize(
    ("given", "carries"),
    [
        ({}, ()),
        ({"http": True}, ("http",)),
        ({"oauth": True}, ("http", "oauth")),
        ({"otel": True}, ("http", "otel")),
        ({"redis": True}, ("redis",)),
        ({"http": True, "redis": True}, ("http", "redis")),
    ],
)
def test_what_is_for_http_brings_http(given: dict[str, bool], carries: tuple[str, ...]) -> None:
    assert Options(**given).serving == carries  # type: ignore[arg-type]


@pytest.mark.parametrize("choice", ["http", "oauth", "otel", "redis"])
def test_every_choice_has_exact_versions(choice: str) -> None:
    found = list(option_requirements((choice,)))
    assert found
    assert all("==" in pinned_requirement(one) for one in found)


def test_redis_alone_brings_no_http(folder: Path) -> None:
    artifact = build(folder / "project", folder / "redis.pyz", "--redis")
    names = carried(artifact)
    assert "serving/sources.zip" in names
    assert "mcpc_runtime/http/serve.py" not in names
    assert "mcpc_app/asgi.py" not in names
    assert facts(artifact)["serving"] == [f"redis {metadata.version('redis')}"]


IMPORTS = {
    "--redis": ("redis", "redis.client"),
    "--oauth": ("jwt", "cryptography.hazmat.primitives.asymmetric.rsa"),
    "--otel": ("opentelemetry.sdk.trace", "opentelemetry.exporter.otlp.proto.http.trace_exporter"),
}
PROGRAM = """
import sys
archive = sys.argv[1]
sys.path.insert(0, archive)
from mcpc_runtime.artifact.packages import activate_server_packages
assert activate_server_packages(archive) and activate_server_packages(archive)
for name in sys.argv[2:]:
    __import__(name)
    place = sys.modules[name].__file__
    assert "site-packages" not in place, place
"""


@pytest.mark.slow
@pytest.mark.parametrize("option", IMPORTS)
@pytest.mark.sampled(3)
def test_what_is_carried_can_be_imported_where_nothing_is_installed(folder: Path, option: str) -> None:
    artifact = build(folder / "project", folder / f"{option[2:]}-import.pyz", option)
    argv = [sys.executable, "-IS", "-c", PROGRAM, str(artifact), *IMPORTS[option]]
    environment = {"MCPC_RUNTIME_CACHE": str(folder / "native"), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False, env=environment)
    assert done.returncode == 0, done.stderr


def test_files_in_nested_archives_are_found(tmp_path: Path) -> None:
    inner = {name: name.encode() * 9 for name in ("a.py", "b/é.txt", "a.pyc", ".extracted/x-1/n.so")}
    entries = {"site/.layer": marshal.dumps({}), **{f"site/{name}": data for name, data in inner.items()}}
    packed = nest_entries({**entries, "other": b"x"})
    named = {f"site/{name}" for name in (".layer", ".directory", "bytecode.zip", "sources.zip", "extracted.zip")}
    assert set(packed) == {"other", *named}
    outer = tmp_path / "outer.pyz"
    outer.write_bytes(build_archive([ArchiveEntry(*row) for row in packed.items()], "#!first\n"))
    repacked = tmp_path / "repacked.pyz"
    with zipfile.ZipFile(repacked, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in packed.items():
            archive.writestr(name, data)
    for path in (outer, repacked):
        files = PackageFiles(str(path), "site")
        assert {*files.bytecode} == {"a.pyc"}
        assert {*files.sources} == {"a.py", "b/é.txt"}
        assert {name: files.read_file(name) for name in ("a.py", "b/é.txt", "a.pyc")} == {
            name: inner[name] for name in ("a.py", "b/é.txt", "a.pyc")
        }
        assert files.read_extracted(".extracted/x-1/n.so") == inner[".extracted/x-1/n.so"]
        assert files.get_data(f"{path}/site/a.py") == inner["a.py"]
        for absent in (f"{path}/site/absent", f"{path}/a.py", "a.py"):
            with pytest.raises(FileNotFoundError):
                files.get_data(absent)


def test_nothing_is_nested_where_there_is_nothing() -> None:
    assert nest_entries({"a": b"b"}) == {"a": b"b"}
