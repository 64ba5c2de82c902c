"""What is read of Python files without running them: decorators, servers, variables, descriptions by syntax."""

import ast
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mcpc.diagnostics import Span
from mcpc.frontends.introspection import decorators, process, reach
from mcpc.frontends.introspection.decorators import find_decorated, server_names
from mcpc.reading import Source
from support.needs import ROOT

FOLDER = Path(__file__).with_name("files")
FILES = sorted(path.stem for path in FOLDER.iterdir())


def source_of(name: str, path: str = "tools.py") -> Source:
    return Source(path, (FOLDER / f"{name}.txt").read_bytes())


def read(source: Source) -> Iterator[str]:
    """Yield a line for everything that is found in a file."""

    def at(span: Span | None) -> str:
        return "-" if span is None else f"{source.position(span.start)[0]} {source.text[span.start : span.end]!r}"

    found = find_decorated(source, {"shared": frozenset({"mcp"})})
    if found is not None:
        yield f"runs: {found.runs}, seen: {sorted(found.seen)}"
        for mark in found.marks:
            options = {name: at(span) for name, span in mark.options.items()}
            parameters = {
                name: [at(each.name), at(each.annotation), at(each.default)] for name, each in mark.parameters.items()
            }
            yield f"{mark.kind} {mark.function} {at(mark.span)} {options} {parameters} {at(mark.docstring)} {at(mark.returns)}"
        for server in found.servers:
            yield f"server {server.name} {at(server.span)} { {name: at(span) for name, span in server.options.items()} }"
        for problem in found.problems:
            yield " | ".join(
                (problem.code, at(problem.span), *([problem.message, problem.hint] if problem.code != "MCP205" else []))
            )
        described = process.syntax_description(found)
        for row in described.marks:
            yield json.dumps(row)
        yield json.dumps(described.servers)
    for variable in reach.read_variables(source):
        yield f"variable {variable.name} {at(variable.span)} of {variable.function!r}"


@pytest.mark.parametrize("name", FILES)
def test_what_is_read_of_a_file(name: str, golden: Callable[[Path, str], None]) -> None:
    golden(ROOT / "tests/golden/introspection" / f"{name}.txt", "".join(f"{line}\n" for line in read(source_of(name))))


def test_which_files_are_looked_at() -> None:
    text = (FOLDER / "decorated.txt").read_bytes()
    assert find_decorated(Source("tools.txt", text), {}) is None
    assert find_decorated(Source("x.py", b"import os\n"), {"shared": frozenset({"mcp"})}) is None
    broken = b"from mcpc import (\n"
    for path, data, is_told in (
        ("x.py", broken, True),
        ("x.py", b"# mcpc\ndef (\n", False),
        ("server.py", b"# mcpc\ndef (\n", True),
    ):
        found = find_decorated(Source(path, data), {})
        assert (found is not None) == is_told
        assert found is None or (found.runs, [problem.code for problem in found.problems]) == (False, ["MCP205"])
    assert server_names(source_of("decorated")) == {"mcp", "other"}
    assert server_names(source_of("nothing")) == frozenset()
    assert decorators.parse_python(source_of("broken")) is None


def test_a_server_without_a_literal_name_has_that_of_its_variable() -> None:
    tree = ast.parse("mcp = Server(NAME)\nother = Server('o')\n")
    found = [process.server_name(*row) for row in ((tree, "mcp"), (tree, "other"), (tree, "gone"), (None, "mcp"))]
    assert found == ["mcp", "o", "gone", "mcp"]


PROJECT = {
    "tools.py": "import helper, pack.deep as d\nfrom helper import read as r, Client\nfrom pack import deep, inner\n"
    "def a(): helper.read()\ndef b(): r()\ndef c(): Client()\ndef e(): d.run()\ndef f(): deep.run(), inner()\nVALUE = TABLE = [r]\n"
    "def g(): return VALUE\ndef h(): return pack.deep.run()\nClient()\n",
    "helper.py": "def read(): return key()\ndef key(): ...\nclass Base: ...\nclass Client(Base):\n    x = key()\n"
    "    def __init__(self): read()\n    def method(self): other()\ndef other(): ...\n",
    "pack/__init__.py": "from .deep import run as inner\n",
    "pack/deep.py": "from . import keys\nfrom ..helper import other\ndef run(): keys.key(), other()\n",
    "pack/keys.py": "def key(): ...\n",
    "broken.py": "def (\n",
}
REACHED = [
    ("helper.py", "read"), ("helper.py", "other"), ("pack/keys.py", "key"), ("pack/deep.py", "run"), ("helper.py", "Client.__init__"),
]  # fmt: skip


@pytest.mark.parametrize("place", REACHED)
def test_which_functions_lead_to_a_place(place: tuple[str, str], golden: Callable[[Path, str], None]) -> None:
    users = reach.find_users({path: Source(path, text.encode()) for path, text in PROJECT.items()})
    found = sorted(users.leading_to(place))
    golden(
        ROOT / "tests/golden/introspection" / f"reach-{place[0].replace('/', '.')}-{place[1]}.txt",
        "".join(f"{each}\n" for each in found),
    )
    assert place in found
