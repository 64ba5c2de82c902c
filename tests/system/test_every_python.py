"""Files with machine code: they run with every Python of their system, and say where else they do not."""

import json
import os
import re
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from mcpc.pack.packages import variant_archive
from mcpc_runtime.artifact.packages.native_packages import read_archive
from support.artifact import mcpc, with_bytecode
from support.files import write_files
from support.interpreters import VERSIONS
from support.needs import python
from support.wheels import variables, wheel

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the wheels are for Linux")

OWN = f"{sys.version_info[0]}.{sys.version_info[1]}"
PIN = f"pydantic=={metadata.version('pydantic')}"
SERVER = {
    "server.json": json.dumps({"serverInfo": {"name": "carrier", "version": "1.0.0"}}),
    "tools.json": json.dumps({"tools": [{"name": "area", "inputSchema": {"type": "object", "properties": {}}}]}),
}
TYPED = """
from pydantic import BaseModel

class Box(BaseModel):
    width: float

def area(**given):
    return {"area": Box.model_validate({"width": "2"}).width}
"""
WITHOUT_LZMA = """
import runpy, sys
sys.modules["_lzma"] = None
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
FINDING = "import nat\n\ndef area(**given):\n    return {'area': 1}\n"


def built(folder: Path, tools: str, requirements: str, *options: str, **environment: str) -> tuple[Path, str]:
    """Build a project with the command, and return the file and what the command said."""
    project = write_files(folder / "project", {**SERVER, "tools.py": tools, "requirements.txt": requirements})
    target = folder / "server.pyz"
    done = mcpc("build", project, "-o", target, *options, environment=environment or None)
    assert done.returncode == 0, done.stderr
    return target, done.stderr


def run(interpreter: str, target: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "HOME": str(target.parent), **more}
    argv = [interpreter, "-I", target, *words]
    return subprocess.run(argv, env=environment, capture_output=True, text=True, check=False, timeout=60, input="")


def test_a_file_with_machine_code_runs_with_every_python(tmp_path: Path) -> None:
    target, said = built(tmp_path, TYPED, f"{PIN}\n")
    assert said.splitlines()[-2:] == [
        "runs on: Linux x86-64, Python 3.11 to 3.14 (pydantic-core)",
        "  others: --platform common",
    ]
    assert target.stat().st_size < 12_000_000
    for version in VERSIONS:
        cache = tmp_path / f"native-{version}"
        done = run(python(version), target, "call", "area", MCPC_RUNTIME_CACHE=str(cache))
        assert (json.loads(done.stdout), done.stderr) == ({"area": 2.0}, "")
        tag = f"cpython-{version.replace('.', '')}"
        assert [tag in path.name for path in cache.rglob("*") if path.suffix == ".so"] == [True]
    assert "runs on   Linux x86-64, Python 3.11 to 3.14 (pydantic-core)\n" in run(sys.executable, target, "info").stdout
    for version in (OWN, next(each for each in VERSIONS if each != OWN)):
        words = [python(version), "-I", "-c", WITHOUT_LZMA, target, "call", "area"]
        done = subprocess.run(words, env={"HOME": str(tmp_path)}, capture_output=True, text=True, check=False)
        assert (done.returncode, "which lacks the module lzma" in done.stderr) == ((0, False), (8, True))[
            version != OWN
        ]


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A file that needs another Python than this one."""
    minors = [number for number in range(11, 15) if number != sys.version_info[1]]
    for minor in minors:
        files = {"nat/__init__.py": "", f"nat/_n.cpython-3{minor}-x86_64-linux-gnu.so": "x"}
        wheel(tmp_path / "shop", "nat", "1.0", files, tag=f"cp3{minor}-cp3{minor}-manylinux2014_x86_64")
    chosen = [word for minor in minors for word in ("--platform", f"manylinux2014_x86_64-cp3{minor}")]
    known = {"MCPC_CACHE_DIR": str(with_bytecode(tmp_path / "cache")), **variables(tmp_path / "shop")}
    return built(tmp_path, FINDING, "nat==1.0\n", *chosen, "--no-smoke", **known)[0]


@pytest.mark.parametrize("words", [(), ("call", "area"), ("--tools=area",), ("--", "word")])
def test_where_nothing_fits_the_start_fails_in_one_sentence(elsewhere: Path, words: tuple[str, ...]) -> None:
    done = run(sys.executable, elsewhere, *words, PATH="/nowhere")
    assert (done.returncode, done.stdout) == (8, "")
    assert re.fullmatch(
        rf"carrier runs on Linux x86-64, Python [^;\n]+ \(nat\); this is Python {OWN} on linux x86_64 with glibc [\d.]+\n",
        done.stderr,
    )
    assert run(sys.executable, elsewhere, "list").returncode == 0


def test_uv_starts_it_where_that_was_agreed_to(elsewhere: Path, tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    write_files(programs, {"uv": '#!/bin/sh\nprintf "%s\\n" "$@"\n'})
    (programs / "uv").chmod(0o755)
    done = run(sys.executable, elsewhere, "call", "area", PATH=str(programs))
    pythons = f">=3.{'12' if OWN == '3.11' else '11'},<3.{'14' if OWN == '3.14' else '15'}"
    started = ["run", "--no-project", "--quiet", "--python", pythons, "python", "-I", str(elsewhere)]
    assert done.returncode == 8
    assert done.stderr.endswith(
        f"; `uv run --no-project --quiet --python '{pythons}' python -I {elsewhere}` starts it, as it does itself with"
        " MCPC_USE_UV=1\n"
    )
    agreed = run(sys.executable, elsewhere, "call", "area", PATH=str(programs), MCPC_USE_UV="1")
    assert (agreed.returncode, agreed.stdout.splitlines()) == (0, [*started, "call", "area"])
    words = run(sys.executable, elsewhere, "--", "a b", PATH=str(programs), MCPC_USE_UV="1")
    assert words.stdout.splitlines() == [*started, "--", "a b"]
    again = run(sys.executable, elsewhere, PATH=str(programs), MCPC_USE_UV="1", MCPC_STARTED_BY_UV="1")
    assert again.returncode == 8


def test_files_of_one_variant_are_read_of_an_archive_of_several(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcpc_runtime.artifact.packages.native_packages.CHUNK_BYTES", 7)
    files = {"nat-1/a.so": b"a" * 20, "nat-1/empty": b"", "nat-2/a.so": b"b" * 21, "nat-2/data": b"a" * 20}
    packed, _, places = variant_archive(files)
    assert {path: place for path, place in places.items() if path != "nat-1/empty"} == {
        "nat-1/a.so": (0, 20), "nat-2/a.so": (20, 21), "nat-2/data": (0, 20),
    }  # fmt: skip
    for folder in ("nat-1/", "nat-2/"):
        own = {path: data for path, data in files.items() if path.startswith(folder)}
        assert read_archive(packed, {path: places[path] for path in own}) == own


def test_a_damaged_archive_is_no_module() -> None:
    packed, _, places = variant_archive({"a": os.urandom(1000), "b": b"b"})
    with pytest.raises(ImportError, match="the server's file is damaged: "):
        read_archive(b"x" + packed[1:], places)
    assert read_archive(packed[:100], places)["b"] == b""  # which has another digest than the index says


def test_what_is_kept_gives_the_bytes_of_a_first_build(tmp_path: Path) -> None:
    first, _ = built(tmp_path / "one", TYPED, f"{PIN}\n", MCPC_CACHE_DIR=str(tmp_path / "cache"), **os.environ)
    shutil.rmtree(tmp_path / "cache/builds")
    again, _ = built(tmp_path / "two", TYPED, f"{PIN}\n", MCPC_CACHE_DIR=str(tmp_path / "cache"), **os.environ)
    fresh, _ = built(tmp_path / "three", TYPED, f"{PIN}\n", MCPC_CACHE_DIR=str(tmp_path / "fresh"), **os.environ)
    assert first.read_bytes() == again.read_bytes() == fresh.read_bytes()
