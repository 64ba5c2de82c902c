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

from mcpc.diagnostics import in_order
from mcpc.frontends.fastmcp import runs
from mcpc.packages import StagedPackages
from support.projects import Files, checked

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
pytestmark = pytest.mark.sampled(4)


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
def test_a_mistake_is_explained_by_its_cause(name: str, mistake: Mistake, monkeypatch: pytest.MonkeyPatch) -> None:
    site = Path(sysconfig.get_path("purelib"))
    staged = StagedPackages(site, (), modules=frozenset({"pydantic", "pydantic_settings"}))
    monkeypatch.setattr(runs, "stage_project_packages", lambda *_: (staged, ()))
    problems = [problem for problem in in_order(checked(mistake.files)[1]) if problem.severity != "note"]
    assert [problem.code for problem in problems] == [code for code, *_ in mistake.expected]
    for problem, (_, message, *hint) in zip(problems, mistake.expected, strict=True):
        assert message in problem.message, problem.message
        assert "".join(hint) in problem.hint, problem.hint
    found = [(problem.span.path, problem.span.start, problem.span.end) for problem in problems if problem.span]
    for place in mistake.places:
        assert place in found
