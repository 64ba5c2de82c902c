"""The stages in their order: what each gets, where the pipeline ends, and what is said on the way."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mcpc import pipeline
from mcpc.diagnostics import Diagnostics, diagnose
from mcpc.emit.interpreters import HERE
from mcpc.model.ir import Layer, Server
from mcpc.options import Options
from mcpc.pipeline import CheckResult, analyse, compile_server, no_progress, read_project
from mcpc.reading import SourceTree
from support.files import write_files
from support.projects import SMOKETEST, Files, tree

PROJECT: Files = {**SMOKETEST, "pyproject.toml": '[project]\nname = "p"\nversion = "1"\nkeywords = ["k"]\n'}
EARLIER = diagnose("MCP142", None, "found while the project was read")


def bundling(*problems: Any, seen: list[Any] | None = None) -> Callable[..., tuple[Server, Diagnostics]]:
    def bundle(server: Server, project: SourceTree, options: Options) -> tuple[Server, Diagnostics]:
        if seen is not None:
            seen.append((project, options))
        return replace(server, layer=Layer()), problems

    return bundle


def codes(result: CheckResult) -> list[str]:
    return [problem.code for problem in result.diagnostics]


def test_a_project_goes_through_all_stages() -> None:
    project, stages, seen = tree(PROJECT), [], []
    options = Options(extras=("x",), offline=True)
    noted = diagnose("MCP404", None, "not pinned")
    result = analyse(project, (EARLIER,), options, stages.append, bundling(noted, seen=seen))
    assert stages == ["parsing", "bundling packages", "checking"]
    assert codes(result) == ["MCP142", "MCP404"]
    assert result.sources == project.files
    assert result.checked.server is result.server
    assert result.server.layer == Layer()
    assert result.server.project.keywords == ("k",)
    ((bundled, given),) = seen
    assert (bundled, given) == (replace(project, options=options), options)


@pytest.mark.parametrize(("strict", "is_refused"), [(False, False), (True, True)])
def test_a_warning_refuses_a_project_only_if_that_is_asked_for(strict: bool, is_refused: bool) -> None:
    warning = diagnose("MCP404", None, "m")
    result = analyse(tree(PROJECT), (), Options(strict=strict), bundle=bundling(warning))
    assert result.server is not None
    assert (result.checked is None) is is_refused


def test_an_error_of_any_stage_refuses_a_project() -> None:
    error = diagnose("MCP004", None, "m")
    assert analyse(tree(PROJECT), (error,), Options(), bundle=bundling()).checked is None
    assert analyse(tree(PROJECT), (), Options(), bundle=bundling(error)).checked is None
    assert analyse(tree(PROJECT), (), Options(), bundle=bundling()).checked is not None


def test_the_pipeline_ends_where_it_cannot_go_on() -> None:
    stages: list[str] = []
    nothing = analyse(tree({"README": ""}), (EARLIER,), Options(), stages.append)
    assert (codes(nothing), nothing.server, nothing.checked, stages) == (["MCP009", "MCP142"], None, None, ["parsing"])
    assert list(nothing.sources) == ["README"]
    undescribed = analyse(tree({"tools.json": '{"tools": []}'}), (EARLIER,), Options(), stages.append)
    assert (undescribed.server, undescribed.checked, stages) == (None, None, ["parsing"] * 2)
    assert codes(undescribed) == ["MCP004", "MCP142", "MCP303"]


def test_a_format_has_checks_of_its_own() -> None:
    files: Files = {"tools/t/t.py": '#!/usr/bin/env python3\n# mcp: {"name": "t", "description": "d"}\n'}
    assert "MCP712" in codes(analyse(tree(files), (), Options(), bundle=bundling()))
    assert "MCP712" not in codes(analyse(tree(files), (), Options(allow=("*",)), bundle=bundling()))


def test_a_page_is_part_of_a_server_that_has_one() -> None:
    plain, paged = (analyse(tree(PROJECT), (), Options(ui=ui), bundle=bundling()).server for ui in (False, True))
    assert paged != plain
    assert paged.project == plain.project


def test_a_project_is_read_from_its_folder(tmp_path: Path) -> None:
    project, problems = read_project(write_files(tmp_path / "p", {"a.txt": "x"}))
    assert ([*project.files], project.name, problems) == (["a.txt"], "p", ())


@pytest.mark.parametrize(
    ("python", "minors", "expected"),
    [("", (), (HERE,)), ("", ("3.12",), ("3.12",)), ("3.13,3.11", ("3.12",), ("3.13", "3.11"))],
)
def test_a_server_is_compiled_for_these_pythons(
    python: str, minors: tuple[str, ...], expected: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    stages: list[str] = []
    monkeypatch.setattr(pipeline, "emit", lambda *given: ("modules", *given))
    monkeypatch.setattr(pipeline, "pack_server", lambda *given: given)
    checked, options = analyse(tree(PROJECT), (), Options(), bundle=bundling()).checked, Options(python=python)
    assert checked is not None
    packed = compile_server(checked, options, stages.append, minors)
    assert packed == (checked, ("modules", checked, expected), options, expected)  # type: ignore[comparison-overlap]
    assert stages == ["generating", "packing"]
    assert compile_server(checked, options, no_progress, minors) == packed


EMPTY: dict[str, Files] = {
    "native": {"server.json": '{"serverInfo": {"name": "s", "version": "1"}}', "tools.json": '{"tools": []}'},
    "own server": {"server.py": "from mcpc import Server\nmcp = Server('s', version='1')\n"},
    "bx-mcp": {
        "t.py": "from mcpc import mcp_tool\n@mcp_tool('Says hello')\ndef greet(name: str): return name\n",
        "boxlang.json": '{"modules": {"bxmcp": {"settings": {"excludedTools": ["greet*"]}}}}',
    },
}


@pytest.mark.parametrize("kind", EMPTY)
def test_a_server_that_offers_nothing_is_an_error_unless_it_is_allowed(kind: str) -> None:
    options = Options(imports=False)
    refused = analyse(tree(EMPTY[kind]), (), options, bundle=bundling())
    assert "MCP303" in codes(refused)
    assert refused.checked is None
    allowed = analyse(tree(EMPTY[kind]), (), replace(options, allow_empty=True), bundle=bundling())
    assert "MCP303" not in codes(allowed)
    assert allowed.checked is not None
