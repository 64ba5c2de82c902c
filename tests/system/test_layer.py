"""Servers that carry packages: built as a user builds them, moved, started by other Pythons, and the same every time."""

import json
import lzma
import os
import shutil
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

from mcpc.pack.prologue import START
from support.artifact import build, carried, contents, converse, mcpc, with_bytecode
from support.files import write_files
from support.interpreters import VERSIONS
from support.needs import python
from support.wheels import variables, wheel

Files = dict[str, str]

OWN = f"{sys.version_info[0]}.{sys.version_info[1]}"
PIN = f"pydantic=={metadata.version('pydantic')}"
TOOL = {"name": "area", "description": "Multiply.", "inputSchema": {"type": "object", "properties": {}}}
FILES = {
    "server.json": json.dumps({"serverInfo": {"name": "carrier", "version": "1.0.0"}}),
    "tools.json": json.dumps({"tools": [TOOL]}),
}
TYPED = """
import os
from pydantic import BaseModel

class Box(BaseModel):
    width: float
    height: float

def area(**given):
    box = Box.model_validate({"width": "2", "height": 3})
    return {"area": box.width * box.height}
"""


def written(folder: Path, tools: str, **more: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    names = {"requirements": "requirements.txt", "pyproject": "pyproject.toml"}
    return write_files(
        folder, {**FILES, "tools.py": tools, **{names.get(key, key): text for key, text in more.items()}}
    )


def called(path: Path, cache: Path, interpreter: str | Path = sys.executable) -> subprocess.CompletedProcess[str]:
    """Call the tool of a server with hardly an environment."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(cache.parent), "MCPC_RUNTIME_CACHE": str(cache)}
    argv = [interpreter, "-ISc", START, str(path), "call", "area"]
    return subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60, env=environment)


def names(path: Path) -> list[str]:
    return carried(path)


@pytest.fixture(scope="module")
def typed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A server with a handler that uses pydantic."""
    folder = tmp_path_factory.mktemp("typed")
    return build(written(folder / "project", TYPED, requirements=f"{PIN}\n"), folder / "typed.pyz")


def test_a_moved_file_serves_a_typed_call_and_extracts_once(typed: Path, tmp_path: Path) -> None:
    moved = shutil.copy(typed, tmp_path / "elsewhere.pyz")
    cache = tmp_path / "native"
    done = called(moved, cache)
    assert json.loads(done.stdout) == {"area": 6.0}, done.stderr
    assert done.stderr == ""
    found = {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in cache.rglob("*")}
    assert [path.suffix for path in found if path.is_file()] == [".so"]
    assert called(moved, cache).stdout == done.stdout
    assert {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in cache.rglob("*")} == found


@pytest.mark.parametrize("version", [version for version in VERSIONS if version != OWN])
def test_another_python_is_told_what_the_file_was_built_for(version: str, typed: Path, tmp_path: Path) -> None:
    done = called(typed, tmp_path / "native", python(version))
    assert (done.returncode, done.stdout) == (8, "")
    assert done.stderr.startswith(
        f"carrier runs on Linux x86-64, Python {OWN} (pydantic-core); this is Python {version} on"
    )
    argv = [python(version), typed, "check"]
    checked = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert checked.returncode == 1
    assert "failed  bundled packages match this machine\n        pydantic-core: the server" in checked.stdout


CALL = [
    ("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}),
    ("tools/call", {"name": "area", "arguments": {}}),
]


def test_the_process_that_speaks_the_protocol_imports_nothing_of_it(typed: Path, tmp_path: Path) -> None:
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        for number, (method, params) in enumerate(CALL)
    ]
    argv = [sys.executable, "-X", "importtime", "-ISc", START, typed]
    done = converse(argv, "\n".join((*lines, "")).encode(), env={"MCPC_RUNTIME_CACHE": str(tmp_path / "native")})
    assert json.loads(done.stdout.splitlines()[1])["result"]["content"][0]["text"] == '{"area":6.0}'
    imported = [line.rpartition("|")[2].strip() for line in done.stderr.decode().splitlines() if "|" in line]
    assert "mcpc_runtime.handlers.python.runner" in imported
    assert not [name for name in imported if name.startswith(("mcpc_runtime.artifact.packages", "pydantic", "typing"))]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A folder of wheels of every kind."""
    folder = tmp_path / "shop"
    version = 'from importlib.metadata import version\n__version__ = version("plain-pkg")\n'
    resource = "from importlib.resources import files\ntext = files(__name__).joinpath('data.txt').read_text()\n"
    wheel(folder, "plain-pkg", "1.0", {"plain/__init__.py": version + resource, "plain/data.txt": "by name"})
    beside = "import os\ndef text():\n    with open(os.path.join(os.path.dirname(__file__), 'data.txt')) as file:\n        return file.read()\n"
    wheel(folder, "beside-pkg", "1.0", {"beside/__init__.py": beside, "beside/data.txt": "by place"})
    wheel(folder, "shared-one", "1.0", {"shared/one.py": "value = 1\n"})
    wheel(folder, "shared-two", "1.0", {"shared/two/__init__.py": beside, "shared/two/data.txt": "two"})
    wheel(folder, "asked-pkg", "1.0", {"asked.py": "place = __file__\n"})
    wheel(
        folder,
        "pure-pkg",
        "1.0",
        {"pure/__init__.py": "from pure.sub.part import value\n", "pure/sub/part.py": "value = 4\n"},
    )
    inner = {"deep/__init__.py": beside, "deep/data.txt": "deep", "deep/sub/part.py": "from deep import text\n"}
    wheel(folder, "deep-pkg", "1.0", inner)
    opened = "import importlib.resources\nimport os.path\n"
    opened += "place = os.path.join(str(importlib.resources.files('opened')), 'tables', 'data.txt')\n"
    opened += "def text():\n    with open(place) as file:\n        return file.read()\n"
    wheel(folder, "opened-pkg", "1.0", {"opened/__init__.py": opened, "opened/tables/data.txt": "by path"})
    for arch in ("x86_64", "aarch64"):
        files = {"nat/__init__.py": "", f"nat/_n.cpython-311-{arch}-linux-gnu.so": f"native {arch}"}
        wheel(folder, "nat", "1.0", files, tag=f"cp311-cp311-manylinux2014_{arch}")
        wheel(folder, "differs", "1.0", {"differs.py": f"arch = '{arch}'\n"}, tag=f"py3-none-manylinux2014_{arch}")
    return folder


EVERY_KIND = """
import asked, beside, deep.sub.part, opened, plain, pure, shared.one, shared.two
def area(**given):
    return [
        *(plain.__version__, plain.text, beside.text(), shared.one.value, shared.two.text()),
        *(deep.sub.part.text(), opened.text(), pure.value, asked.place),
    ]
"""
ALL = [f"{name}==1.0" for name in ("plain-pkg", "beside-pkg", "shared-one", "shared-two", "asked-pkg")]
ALL += [f"{name}==1.0" for name in ("pure-pkg", "deep-pkg", "opened-pkg")]


def test_packages_of_every_kind_work_out_of_the_file(shop: Path, tmp_path: Path) -> None:
    dependencies = f"[project]\ndependencies = {json.dumps(ALL)}\n[tool.mcpc]\nextract = ['asked-pkg']\n"
    project = written(tmp_path / "project", EVERY_KIND, pyproject=dependencies)
    target = tmp_path / "every.pyz"
    environment = {"MCPC_CACHE_DIR": str(with_bytecode(tmp_path / "cache")), **variables(shop)}
    mcpc("build", project, "-o", target, environment=environment, status=0)
    cache = tmp_path / "native"
    for interpreter in (sys.executable, python("3.12")):
        called_by = called(target, cache, interpreter)
        assert called_by.returncode == 0, called_by.stderr
        *found, place = json.loads(called_by.stdout)
        assert found == ["1.0", "by name", "by place", 1, "two", "deep", "by path", 4]
        assert place.startswith((str(cache), "/proc/"))  # by a descriptor of the folder that was verified
    parts = json.loads(mcpc("inspect", "--sizes", "--format", "json", target).stdout)
    sizes = {part["name"]: part for part in parts}
    assert sum(part["size"] for part in parts) == target.stat().st_size
    assert {name for name, part in sizes.items() if part["extracted"]} == {
        *("plain-pkg", "beside-pkg", "shared-two", "asked-pkg", "deep-pkg", "opened-pkg")
    }
    assert sizes["shared-one"]["version"] == "1.0"
    assert 0 < sizes["pure-pkg"]["bytecode"] < sizes["pure-pkg"]["size"]
    assert sizes["the project's files"]["kind"] == "project"
    table = mcpc("inspect", "--sizes", target).stdout.splitlines()
    assert table[0].split() == ["in", "file", "raw", "bytecode"]
    assert [row.partition("  ")[0] for row in table if row.endswith("deep-pkg 1.0, extracted")]
    assert table[-1].split()[0] == f"{target.stat().st_size:,}"
    assert max(map(len, table)) <= 80
    extracted = {path.name for path in cache.glob("*/*")}
    assert extracted >= {"beside", "shared", "asked.py", "deep", "opened", "plain"}
    assert "pure" not in extracted


def test_every_platform_asked_for_is_carried(shop: Path, tmp_path: Path) -> None:
    project = written(
        tmp_path / "project", "import nat, differs\ndef area(): return 1\n", requirements="nat==1.0\ndiffers==1.0\n"
    )
    target = tmp_path / "both.pyz"
    platforms = ("--platform", "manylinux2014_x86_64-cp311", "--platform", "manylinux2014_aarch64-cp311")
    environment = {"MCPC_CACHE_DIR": str(with_bytecode(tmp_path / "cache")), **variables(shop)}
    mcpc("build", project, "-o", target, *platforms, environment=environment, status=0)
    found = contents(target)
    with zipfile.ZipFile(target) as archive:
        facts = json.loads(archive.read("META-INF/build.json"))
    tags = [f"cp311-cp311-manylinux2014_{arch}" for arch in ("x86_64", "aarch64")]
    assert {*tags} <= {*facts["platforms"]}
    first, other = "manylinux2014_x86_64", "manylinux2014_aarch64"
    assert found[f"site/.extracted/nat-{tags[0]}/nat/_n.cpython-311-x86_64-linux-gnu.so"] == b"native x86_64"
    assert found[f"site/.extracted/differs-py3-none-{first}/differs.py"] == b"arch = 'x86_64'\n"
    # What only other machines use is compressed, by package and platform.
    assert lzma.decompress(found[f"site/.extracted/nat+{other}.xz"]) == b"native aarch64"
    assert lzma.decompress(found[f"site/.extracted/differs+{other}.xz"]) == b"arch = 'aarch64'\n"
    assert "site/nat/__init__.py" in found
    assert "site/differs.py" not in found


def test_the_project_s_own_module_comes_before_a_package_of_its_name(shop: Path, tmp_path: Path) -> None:
    project = written(
        tmp_path / "project", "import beside\ndef area(): return beside.own\n", requirements="beside-pkg==1.0\n"
    )
    (project / "beside.py").write_text("own = 'mine'\n")
    target = tmp_path / "own.pyz"
    environment = {"MCPC_CACHE_DIR": str(with_bytecode(tmp_path / "cache")), **variables(shop)}
    mcpc("build", project, "-o", target, environment=environment, status=0)
    assert called(target, tmp_path / "native").stdout == "mine\n"


def test_what_is_kept_of_packages_gives_the_bytes_of_a_first_build(tmp_path: Path) -> None:
    reading = {"both/__init__.py": "path = __file__\n", "both/data.txt": "x"}
    wheel(tmp_path / "wheels", "reader", "1.0", reading)
    wheel(tmp_path / "wheels", "other", "1.0", {"both/deep/more.py": "value = 1\n", "other.py": "import both\n"})
    tools = "from both.deep.more import value\n\ndef area(**given):\n    return {{'area': value + {}}}\n"
    kept, fresh = tmp_path / "kept", tmp_path / "fresh"
    written_once: list[tuple[str, int]] = []
    for number, cache in ((1, kept), (2, kept), (2, fresh)):
        project = written(tmp_path / "project", tools.format(number), requirements="reader==1.0\nother==1.0\n")
        environment = variables(tmp_path / "wheels") | {"MCPC_CACHE_DIR": str(cache)}
        target = tmp_path / f"{cache.name}{number}.pyz"
        mcpc("build", project, "-q", "-o", target, environment=environment, status=0)
        written_once += [(path.name, path.stat().st_ino) for path in (kept / "packed").iterdir()]
    assert len(set(written_once)) == 1, "what packages are packed as was not found again"
    assert [len([*(kept / kind).iterdir()]) for kind in ("builds", "layers", "packed")] == [2, 1, 1]
    places = {path.parent.parent.name for path in (kept / "packages").rglob("*.pyc")}
    assert places == {"files", "both", "deep"}, "what a build imports has no bytecode beside it"
    assert (tmp_path / "kept2.pyz").read_bytes() == (tmp_path / "fresh2.pyz").read_bytes()
    assert json.loads(called(tmp_path / "kept2.pyz", tmp_path / "native").stdout) == {"area": 3}
