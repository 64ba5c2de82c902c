"""What each pass reports of a project with the mistakes that it looks for: all places, texts and hints."""

from collections.abc import Callable
from pathlib import Path

import pytest

from mcpc.diagnostics.formats import render_text
from mcpc.frontends import parse_project
from mcpc.lower import lower
from mcpc.passes import PASSES, clients, handlers, hidden_characters, machines, names, schemas, unused
from support.needs import ROOT
from support.project_text import parse_project_text, tree_of

PROJECTS = sorted(path.stem for path in Path(__file__).with_name("projects").iterdir())
CHECKS = {
    "apps": clients.check_apps,
    "bash_booleans": handlers.check_bash_booleans,
    "capabilities": clients.check_capabilities,
    "client_limits": clients.check_client_limits,
    "completions": names.check_completions,
    "descriptions": names.check_descriptions,
    "environment": machines.check_environment,
    "examples": schemas.check_examples,
    "handlers": handlers.check_handlers,
    "headers": clients.check_headers,
    "hidden_characters": hidden_characters.check_hidden_characters,
    "models": schemas.check_models,
    "modules": handlers.check_modules,
    "names": names.check_names,
    "platforms": machines.check_platforms,
    "requires": machines.check_requirements,
    "resources": names.check_uris,
    "running": handlers.check_handler_options,
    "schemas": schemas.check_schemas,
    "toolsets": names.check_toolsets,
}


def test_every_pass_has_a_project() -> None:
    assert {*PASSES} - {*CHECKS.values()} == {unused.check_unused}, "its own test gives it packages"
    assert {name.partition("-")[0] for name in PROJECTS} == {*CHECKS}


@pytest.mark.parametrize("name", PROJECTS)
def test_the_report_of_a_pass(name: str, golden: Callable[[Path, str], None]) -> None:
    project = parse_project_text((Path(__file__).parent / "projects" / f"{name}.txt").read_text("utf-8"))
    tree = tree_of(project.faulty)
    definition, _ = parse_project(tree, project.options)
    assert definition is not None
    server, problems = lower(definition, project.options)
    assert server is not None, problems
    report = render_text(CHECKS[name.partition("-")[0]](server), tree.files, colour=False)
    golden(ROOT / "tests/golden/passes" / f"{name}.txt", report)
