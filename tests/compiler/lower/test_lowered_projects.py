"""What whole projects mean: every field of the lowered server, and all that is said of faulty ones."""

from collections.abc import Callable
from pathlib import Path

import pytest

from mcpc.diagnostics import Diagnostics
from mcpc.frontends import parse_project
from mcpc.lower import lower
from mcpc.model.ir import Server
from mcpc.model.ir.printer import print_server
from mcpc.options import Options
from support.golden_projects import PROJECTS, files_of, reported, shown
from support.needs import ROOT
from support.projects import parsed
from support.whole_projects import print_parsed, read_cases

OTHER = Options(
    dialect="mcbox", tools_page_size=2, prompts_page_size=3, resources_page_size=4, validate=True, assert_formats=True,
    defaults=False, live=True, tools_prefix="t_", prompts_prefix="p_",
)  # fmt: skip
CASES = {"rich": Options(), "other": OTHER, "faulty": Options(), "functions": Options()}


def lowered_project(name: str) -> tuple[Server | None, Diagnostics]:
    definition, problems = parsed(files_of(name), CASES[name])
    assert definition is not None
    server, found = lower(definition, CASES[name])
    return server, (*problems, *found)


@pytest.mark.parametrize("name", CASES)
def test_a_project_is_lowered(name: str, golden: Callable[[Path, str], None]) -> None:
    server, problems = lowered_project(name)
    assert server is not None
    golden(PROJECTS / f"{name}.lowered.txt", "".join([*reported(problems, files_of(name)), *shown(server)]))


def test_each_definition_gets_its_function(golden: Callable[[Path, str], None]) -> None:
    folder, printed = ROOT / "tests/golden/lower", []
    for name, project, options in read_cases(folder / "binding.cases"):
        definition, problems = parse_project(project, options)
        assert definition is not None
        server, found = lower(definition, options)
        text = print_parsed(None, (*problems, *found), project).partition("\n")[2]
        printed.append(f"##### {name}\n{text}{'no server' if server is None else print_server(server)}\n")
    golden(folder / "binding.txt", "\n".join(printed))
