"""Each module of the parts of a built file: what its functions return (`*.txt`)."""

import io
import json
import marshal
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from mcpc import __version__, pipeline
from mcpc.model.ir import Layer, Package, ResolvedPackage, Server
from mcpc.model.ir.layer import LockRecord, PackageRequirement
from mcpc.options import Options
from mcpc.pack import (
    archive,
    cache,
    carried,
    closure,
    manifest,
    page,
    program_bytecode,
    prologue,
    recorded_options,
    runtime,
    sbom,
)
from support.expressions import Display, check_expressions
from support.images import project, tool
from support.needs import ROOT
from support.projects import tree

GOLDEN = ROOT / "tests/golden/pack"
MODULES = [
    *(archive, cache, carried, closure, manifest, page, program_bytecode, prologue, recorded_options, runtime, sbom)
]
FILES = {
    ".extracted/a-cp311-cp311-linux_x86_64/a/m.so": b"code",
    "a/__init__.py": b"",
    "a/deep/more.py": b"1",
    "a-1+l.dist-info/METADATA": b"Requires-Dist: B_b>=1\nRequires-Dist: not a name!\nRequires-Dist: absent\n",
    "a-1+l.dist-info/sboms/r.json": b"{}",
    "alone.py": b"2",
    "strange": b"of no package",
}
TAGS = ("cp311-cp311-linux_x86_64", "py3-none-any")
A, B, C, D = (
    Package("a", "1+l", "Own licence", False, TAGS, ("a/", "a-1+l.dist-info/")),
    Package("b-b", "2", "MIT", True, TAGS[1:], ("alone.py",)),
    Package("c", "3", "", False, (), ("c/",)),
    Package("d", "4", "", True, (), ("d/",)),
)
LOCKED = tuple(ResolvedPackage("c", "3", f"c 3-{n}.whl", n * 64, ("d", "c", "z")) for n in "10")


def server(**options: object) -> Server:
    """A server with two tools, of which the first runs with these options, and two layers of packages."""
    checked = pipeline.analyse(tree(project([tool("one"), tool("two")])), (), Options()).checked
    assert checked is not None
    first, second = checked.server.tools
    tools = (replace(first, running=replace(first.running, **options)), second)
    more = {"c/x.py": b"3", "alone.py": b"2"}
    asked = (PackageRequirement("b-b", None, frozenset({"b-b"})),)
    handlers = Layer((A, B), files=FILES, digests=digests(FILES), asked=asked)
    serving = Layer((C, D, B), files=more, digests=digests(more), lock=LockRecord("l", "f"), resolved=LOCKED)
    return replace(checked.server, tools=tools, layer=handlers, serving=serving)


def digests(files: dict[str, bytes]) -> dict[str, str]:
    return {path: archive.sha256_hex(data) for path, data in files.items()}


def shown(value: object) -> Display:
    text = json.dumps(value, indent=1)
    return Display(text.replace(f'"{__version__}"', '"VERSION"').replace(f"@{__version__}", "@VERSION"))


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__.rpartition(".")[2])
def test_values(golden: Callable[[Path, str], None], module: ModuleType) -> None:
    names = {"io": io, "json": json, "marshal": marshal, "zipfile": zipfile, "Options": Options, "replace": replace}
    path = GOLDEN / f"{module.__name__.rpartition('.')[2]}.txt"
    check_expressions(golden, path, archive, module, **names, server=server, shown=shown, A=A)
