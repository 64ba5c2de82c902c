"""Mistakes in Python projects: each is explained by its cause, at the expression that shows it, and nothing else is said.

`##### NAME` begins a mistake, `===== PATH` a file of its project, `-----` what is reported: `CODE | message | help`, a
part of each, in the order of the report.  The expected places stand between « and ».
"""

import re
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from mcpc.diagnostics import Span, diagnose, in_order
from mcpc.frontends.causes import IMPORTED, STARTED, Raised, explained, parse_raised
from mcpc.frontends.fastmcp import runs
from mcpc.languages.python import newer_syntax_hint
from mcpc.options import Options
from mcpc.packages import StagedPackages
from support.projects import Files, checked, parsed, tree

HERE = Path(__file__).with_name("projects")
HEADS = {
    "native.txt": (
        'from mcpc import Field, Server\nmcp = Server("m", version="1")\n\n'
        '@mcp.tool\ndef ok_(name: str) -> str:\n    "Ok."\n    return name\n'
    ),
    "programs.txt": 'from fastmcp import FastMCP\nmcp = FastMCP("m")\n',
}
"""What `server.py` of each file of mistakes begins with."""
EVALUATED = {"a misspelt builtin in an annotation", "a name that is defined later", "names without their imports"}
"""Mistakes in annotations, which Python 3.14 evaluates later."""
LATER = pytest.mark.skipif(sys.version_info >= (3, 14), reason="annotations are evaluated later")


@dataclass(frozen=True)
class Mistake:
    """A project with its marks removed, the marked texts by place, and what is reported."""

    files: Files
    places: list[tuple[str, int, int]]
    expected: list[list[str]]


def mistakes(name: str) -> Iterator[tuple[str, Mistake]]:
    """Yield the mistakes of a file, by name."""
    for part in re.split(r"^##### ", (HERE / name).read_text("utf-8"), flags=re.MULTILINE)[1:]:
        title, _, rest = part.partition("\n")
        project, _, expected = rest.partition("-----\n")
        files: Files = {}
        places: list[tuple[str, int, int]] = []
        for written in re.split(r"^===== ", project, flags=re.MULTILINE)[1:]:
            path, _, text = written.partition("\n")
            plain = ""
            for before, marked in re.findall(
                r"([^«]*)(?:«([^»]*)»)?", (HEADS[name] if path == "server.py" else "") + text
            ):
                plain += before
                if marked:
                    places.append((path, len(plain), len(plain) + len(marked)))
                plain += marked
            files[path] = plain
        rows = [[part.strip() for part in line.split("|")] for line in expected.splitlines()]
        yield title, Mistake(files, sorted(places), rows)


CASES = [
    pytest.param(name, mistake, id=f"{Path(name).stem}: {title}", marks=LATER if title in EVALUATED else ())
    for name in HEADS
    for title, mistake in mistakes(name)
]


@pytest.mark.parametrize(("name", "mistake"), CASES)
@pytest.mark.sampled(4)
def test_a_mistake_is_explained_by_its_cause(name: str, mistake: Mistake, monkeypatch: pytest.MonkeyPatch) -> None:
    site = Path(sysconfig.get_path("purelib"))
    staged = StagedPackages(site, (), modules=frozenset({"pydantic", "pydantic_settings"}))
    monkeypatch.setattr(runs, "stage_project_packages", lambda *_: (staged, ()))
    told = in_order(checked(mistake.files)[1])
    problems = [problem for problem in told if problem.severity != "note" or problem.code == "MCP306"]
    assert [problem.code for problem in problems] == [code for code, *_ in mistake.expected]
    for problem, (_, message, *hint) in zip(problems, mistake.expected, strict=True):
        assert message in problem.message, problem.message
        assert "".join(hint) in problem.hint, problem.hint
    found = [(problem.span.path, problem.span.start, problem.span.end) for problem in problems if problem.span]
    for place in mistake.places:
        assert place in found


HEAD = 'import os\nfrom mcpc import Server\nmcp = Server("m", version="1", environment=["API_KEY"])\n'
TOOL = '@mcp.tool(description={})\ndef a() -> str:\n    return ""\n'
SECRET = Options(build_environment=(("API_KEY", "secret-value"),))

SYNTAX = [
    ("type X = int", "invalid syntax", (3, 11), "`type` statements need Python 3.12, and this is Python 3.11"),
    ("type X[T] = list[T]", "invalid syntax", (3, 11), "`type` statements need Python 3.12"),
    ("def f[T](x: T) -> T:", "expected '('", (3, 11), "type parameters need Python 3.12"),
    ("    async def f[T](x: T): ...", "expected '('", (3, 11), "type parameters need Python 3.12"),
    ("class A[T]:", "invalid syntax", (3, 11), '`T = TypeVar("T")` before it'),
    ("class A[T = int]:", "expected ':'", (3, 12), "defaults of type parameters need Python 3.13"),
    ("""x = f"{a["b"]}" """, "f-string: unmatched '['", (3, 11), "f-strings with the same quotes"),
    ("except ValueError, TypeError:", "multiple exception types", (3, 13), "write `except (A, B):`"),
    ('x = t"{a}"', "invalid syntax", (3, 13), "t-strings need Python 3.14, and this is Python 3.13"),
    ("type X = int", "invalid syntax", (3, 12), ""),
    ("type(x)", "invalid syntax", (3, 11), ""),
    ("x = f'{a}' +", "invalid decimal literal", (3, 11), ""),
    ("def a(:", "invalid syntax", (3, 11), ""),
]


@pytest.mark.parametrize(("line", "message", "running", "hint"), SYNTAX)
def test_the_python_that_accepts_a_line_is_named(line: str, message: str, running: tuple[int, int], hint: str) -> None:
    found = newer_syntax_hint(line, message, running)
    assert hint in found
    assert bool(found) is bool(hint)


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="this Python accepts the file")
def test_the_required_python_is_reported_with_the_syntax_that_needs_it() -> None:
    files: Files = {
        "pyproject.toml": '[project]\nname = "m"\nversion = "1"\nrequires-python = ">=3.99"\n',
        "server.py": 'from mcpc import Server\nmcp = Server("m")\nx = t"{mcp}"\n',
    }
    problems = in_order(checked(files)[1])
    assert [problem.code for problem in problems] == ["MCP416", "MCP205"]
    assert "t-strings need Python 3.14" in problems[1].hint


FASTMCP = "from fastmcp import FastMCP\nmcp = FastMCP('m')\n"
TOOL_FILE = "from mcpc import Server\nmcp = Server('m')\n@mcp.tool\ndef a() -> int: ...\n"
NO_SERVERS = {
    "a script": ({"a.py": "print()\n"}, "MCP009", "`a.py` makes no server"),
    "a module of a server": ({"a.py": "", "tools.py": TOOL_FILE}, "MCP009", "`a.py` makes no server"),
    "a file with another name than decorators need": ({"a.py": TOOL_FILE}, "MCP009", "`a.py` has decorators"),
    "a misspelt library": ({"a.py": "import mcpcc\n"}, "MCP009", "`a.py` imports `mcpcc`"),
    "a file beside a program": ({"a.py": "", "server.py": FASTMCP}, "MCP284", "`a.py` ends without making a server"),
}


@pytest.mark.parametrize("case", NO_SERVERS)
def test_a_file_that_makes_no_server_is_named(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    files, code, message = NO_SERVERS[case]
    staged = StagedPackages(Path(sysconfig.get_path("purelib")), (), modules=frozenset({"pydantic"}))
    monkeypatch.setattr(runs, "stage_project_packages", lambda *_: (staged, ()))
    problem = next(problem for problem in parsed(files, Options(entry="a.py"))[1] if problem.severity == "error")
    assert (problem.code, message in problem.message) == (code, True)


LIBRARIES = [
    ("from mpcc import Server", "mpcc", "mcpc"),
    ("from mcpp import Server", "mcpp", "mcpc"),
    ("import mcpcc", "mcpcc", "mcpc"),
    ("from fast_mcp import FastMCP", "fast_mcp", "fastmcp"),
    ("from FastMCP import FastMCP", "FastMCP", "fastmcp"),
    ("from mcp.servr import Server", "mcp.servr", "mcp.server"),
    ("import requests, mcp.client.stdio", "", ""),
]


@pytest.mark.parametrize(("line", "written", "meant"), LIBRARIES)
def test_a_misspelt_library_is_named(line: str, written: str, meant: str) -> None:
    (problem,) = checked({"app/README.md": "", "server.py": f"import os\n{line}\n"})[1]
    assert problem.code == "MCP009"
    assert (f"`server.py` imports `{written}`" in problem.message) is bool(written)
    assert ("did you mean" in problem.hint) is bool(written)
    if written:
        assert problem.hint == f"did you mean `{meant}`?"
        assert problem.span.start == 10 + line.index(written)


def test_a_variable_of_the_build_is_set_for_decorated_functions() -> None:
    files: Files = {"server.py": HEAD + "KEY = os.environ['API_KEY']\n" + TOOL.format("'A.'")}
    assert [problem.code for problem in checked(files)[1]] == ["MCP216"]
    server, problems = checked(files, SECRET)
    assert problems == ()
    assert "secret-value" not in repr(server)
    table = '[tool.mcpc]\nbuild-environment = { API_KEY = "public-value" }\n'
    server, problems = checked({**files, "pyproject.toml": table})
    assert problems == ()
    assert server is not None


def test_a_value_of_the_build_is_not_put_into_a_description() -> None:
    files: Files = {"server.py": HEAD + TOOL.format("'Uses ' + os.environ['API_KEY']")}
    assert [problem.code for problem in checked(files, SECRET)[1]] == ["MCP714"]


def test_of_two_problems_with_one_message_the_first_is_kept() -> None:
    span = Span("requirements.txt", 0, 5)
    first, second = (diagnose("MCP404", span, "`a` has no exact version", "", hint) for hint in ("a==1", "a==…"))
    other = diagnose("MCP404", Span("requirements.txt", 6, 7), "`a` has no exact version")
    assert in_order([first, second, other]) == (first, other)


def test_time_is_a_cause_and_what_a_process_says_is_checked() -> None:
    late = Raised("TooLateError", ("TooLateError", "BaseException"))
    assert explained(late, tree({}), IMPORTED).text == "do what takes long inside the function that needs it"
    assert explained(late, tree({}), STARTED).text == "do what takes long when a tool is called, or in `lifespan`"
    assert parse_raised({"type": "E", "line": 3, "known": ["a"]}) == Raised("E", line=3, known=("a",))
    wrong = ({"type": 5}, {"line": True}, {"line": 1 << 31}, {"column": -2}, {"known": [1]}, {"more": 1}, [], None)
    assert [parse_raised(row) for row in wrong] == [None] * len(wrong)
