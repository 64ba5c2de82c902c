"""The quick check of a keystroke finds in the changed definition what the complete check finds."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import pytest

from mcpc.diagnostics import in_order
from mcpc.options import Options
from mcpc.pipeline import read_project
from mcpc.workbench.language_server.checking import FileChange, check_completely, check_quickly, reduce_project
from mcpc.workbench.language_server.open_project import OpenProject
from mcpc.workbench.language_server.reduction import SLICERS
from support.needs import ROOT
from support.projects import tree
from support.scale import scaled, seeds

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc.diagnostics import Diagnostic

OPTIONS = Options(imports=False)


def project_files(ending: str = "\n") -> dict[str, str]:
    tools = [
        {
            "name": f"tool_{number}",
            "description": f"Number {number} 😀.",
            "inputSchema": {
                "type": "object",
                "properties": {"path": {"type": "string", "pattern": "^a"}, "mode": {"enum": ["a"], "default": "a"}},
                "required": ["path"],
            },
        }
        for number in range(12)
    ]
    prompts = [{"name": f"prompt_{number}", "description": "d", "arguments": [{"name": "a"}]} for number in range(3)]
    return {
        "server.json": '{"serverInfo": {"name": "x", "version": "1"}}',
        "tools.json": json.dumps({"tools": tools}, indent=2, ensure_ascii=False).replace("\n", ending),
        "tools.py": "import os\n\n\n"
        + "\n\n".join(f"def tool_{number}(path, mode='a'):\n    return path\n" for number in range(8)),
        "tools.bash": "".join(
            f"tool_tool_{number}() {{\n  echo $mcpc_arg_path $mcpc_arg_mode\n}}\n" for number in range(8, 12)
        ),
        "prompts.json": json.dumps({"prompts": prompts}),
        "prompts.py": "".join(f"def prompt_{number}(a=''):\n    return a\n\n\n" for number in range(3)),
    }


def opened(files: dict[str, str]) -> OpenProject:
    project = OpenProject(Path("/nowhere"), tree(files), OPTIONS)
    for path in files:
        project.open(path, files[path], "utf-16")
    accept(project)
    return project


def accept(project: OpenProject) -> None:
    assert project.accept(check_completely(project.tree(), (), OPTIONS), project.version, 1.0)


def change(project: OpenProject, path: str, old: str, new: str) -> set[str]:
    buffer = project.buffers[path]
    start = buffer.text.index(old)
    project.edited(path, buffer.replace(start, start + len(old), new))
    return check_quickly(project)


def shown(project: OpenProject) -> set[Diagnostic]:
    return {problem for found in project.found.values() for problem in found}


def listed(project: OpenProject) -> str:
    """Return a line for each diagnostic: its code, its place and its message."""
    rows = []
    for problem in in_order(shown(project)):
        source = None if problem.span is None else project.source(problem.span.path)
        ends = () if problem.span is None else (problem.span.start, problem.span.end)
        places = [":".join(map(str, source.position(end))) for end in ends] if source is not None else []
        where = "" if problem.span is None else problem.span.path
        message = "" if problem.code == "MCP205" else f" {problem.message}"  # Pythons have different words for it
        rows.append(f"  {problem.code} {where} {'-'.join(places)}{message}\n")
    return "".join(rows)


EDITS = {
    "a name of a field": ("tools.json", '"description": "Number 5', '"descriptionn": "Number 5'),
    "an open text": ("tools.json", '"description": "Number 5', '"description: "Number 5'),
    "a name twice": ("tools.json", '"tool_5"', '"tool_6"'),
    "a name without a function": ("tools.json", '"tool_5"', '"tool_50"'),
    "a keyword": ("tools.json", '"pattern": "^a"', '"pattern": "^(a"'),
    "a default": ("tools.json", '"default": "a"', '"default": 1'),
    "a parameter": ("tools.py", "def tool_5(path", "def tool_5(paths"),
    "a name of a function": ("tools.py", "def tool_5(", "def tool_55("),
    "an open bracket": ("tools.py", "def tool_5(path", "def tool_5((path"),
    "an import": ("tools.py", "import os", "import nothing_of_this_name"),
    "a variable": ("tools.bash", "$mcpc_arg_mode\n}\ntool_tool_10", "$mcpc_arg_mod\n}\ntool_tool_10"),
    "an open if": ("tools.bash", "  echo $mcpc_arg_path $mcpc_arg_mode\n}\ntool_tool_10", "  if true\n}\ntool_tool_10"),
    "a prompt": ("prompts.json", '"name": "prompt_1"', '"name": "prompt 1"'),
    "the server": ("server.json", '"version"', '"versions"'),
    "between definitions": ("tools.json", "    },\n    {", "    },, \n    {"),
    "a new definition": ("tools.json", '"tools": [', '"tools": [{"name": "new"},'),
}


@pytest.mark.parametrize("case", [*EDITS])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_quick_check_finds_what_the_complete_one_finds(
    case: str, ending: str, golden: Callable[[Path, str], None]
) -> None:
    path, old, new = EDITS[case]
    project = opened(project_files(ending))
    assert shown(project) == set()
    fitting = ending if path == "tools.json" else "\n"
    changed = change(project, path, old.replace("\n", fitting), new.replace("\n", fitting))
    quick = listed(project)
    accept(project)
    report = f"quickly: {sorted(changed)}\n{quick}completely:\n{listed(project)}"
    golden(ROOT / "tests/golden/language_server/checks" / f"{case.replace(' ', '_')}.txt", report)
    change(project, path, new.replace("\n", fitting), old.replace("\n", fitting))
    accept(project)
    assert shown(project) == set()


OTHER_SYSTEMS = [
    ("mcp-bash", "tools/publish/tool.meta.json", '"description"', '"descriptionn"', {"MCP108", "MCP142"}),
    ("mcp-bash", "tools/publish/tool.meta.json", "Publish a version", "Publish one version", set()),
    ("mcp-bash", "tools/publish/tool.meta.json", '"name": "publish"', '"name": "next-version"', {"MCP104"}),
    ("mcp-bash", "tools/publish/tool.sh", "\n", "\nif true\n", {"MCP204"}),
    ("bx-mcp", "server.py", "text: str, most", "text: str, , most", {"MCP205"}),
    ("bx-mcp", "server.py", "Parts whose", "All parts whose", set()),
    ("bx-mcp", "tools/maintenance.py", "def stock_take(", "def stock_get(", {"MCP104"}),
    ("bx-mcp", "tools/maintenance.py", "Takes parts", "Takes some parts", set()),
    ("blueprints", "operations.json", '"title"', '"titles"', {"MCP103"}),
    ("blueprints", "operations.json", "The steps", "All steps", set()),
    ("blueprints", "operations.json", "restart_guide", "who_to_ask", {"MCP104"}),
    ("blueprints", "operations.json", "guides/restart.md", "guides/restar.md", {"MCP271"}),
    ("bash-sdk", "wordserver.sh", "  jq -cn", "  if true\n  jq -cn", {"MCP204"}),
    ("bash-sdk", "wordserver.sh", "tool_count_words()", "tool_count_wordz()", {"MCP201", "MCP202"}),
    ("bash-sdk", "wordserver.sh", "There are no", "There were no", set()),
    ("bash-sdk", "assets/words_tools.json", '"description": "The text."', '"descriptionn": "The text."', {"MCP103"}),
    ("bash-sdk", "assets/words_tools.json", '"file_name"', '"file_nam"', {"MCP201", "MCP202"}),
    ("toolbox", "src/tools/file_name.py", '"object"', '"objects"', {"MCP110", "MCP115"}),
    ("toolbox", "src/tools/file_name.py", "Make a", "Make the", set()),
    ("toolbox", "src/tools/report.ts", "\n", "\n(\n", set()),  # needs the bundler: the complete check reports it
]
"""Edits of examples in the formats of other systems, and the codes that a quick check of each has to add."""


@pytest.mark.parametrize(("system", "path", "old", "new", "codes"), OTHER_SYSTEMS)
def test_a_quick_check_of_another_system_reads_only_what_changed(
    system: str, path: str, old: str, new: str, codes: set[str], golden: Callable[[Path, str], None]
) -> None:
    disk, _ = read_project(ROOT / "examples" / system)
    scripts = {name for name in disk.files if name.endswith(".ts")} - {path}
    files = {name: source for name, source in disk.files.items() if name not in scripts}
    project = OpenProject(ROOT, replace(disk, files=MappingProxyType(files)), OPTIONS)
    if not scripts:
        accept(project)
    before = {problem.code for problem in shown(project)}
    project.open(path, disk.files[path].text, "utf-16")
    changed = change(project, path, old, new)
    assert {problem.code for problem in shown(project)} - before == codes
    name = f"{system}-{OTHER_SYSTEMS.index((system, path, old, new, codes))}.txt"
    golden(ROOT / "tests/golden/language_server/checks" / name, f"{path}: {sorted(changed)}\n{listed(project)}")


def test_a_quick_check_leaves_out_what_is_beside() -> None:
    disk, _ = read_project(ROOT / "examples" / "mcp-bash")
    project = OpenProject(ROOT, disk, OPTIONS)
    path = "tools/publish/tool.sh"
    reduced = reduce_project(project, FileChange(path, None, frozenset()))
    tools = {name for name in reduced.tree.files if name.startswith("tools/")}
    assert tools == {path, "tools/publish/tool.meta.json"}
    project.open(path, disk.files[path].text + "\n# as next-version\n", "utf-16")
    reduced = reduce_project(project, FileChange(path, None, frozenset()))
    assert "tools/next-version/tool.sh" in reduced.tree.files
    assert all(region[0].startswith("tools/publish/") for region in reduced.regions)


@pytest.mark.parametrize("seed", seeds(scaled(3, 1)))
def test_any_edits_keep_slices_and_places_right(seed: int) -> None:
    chance = random.Random(seed)
    project = opened(project_files())
    for _ in range(40):
        path = chance.choice(["tools.json", "tools.py", "tools.bash"])
        buffer = project.buffers[path]
        start = chance.randrange(len(buffer.text))
        end = min(len(buffer.text), start + chance.choice((0, 0, 1, 3)))
        project.edited(path, buffer.replace(start, end, chance.choice(("", "x", '"', "{", "\n", "}", "def ", "😀"))))
        check_quickly(project)
        slices = project.slices.get(path)
        if slices is not None:
            assert slices.text == buffer.text
            assert slices.with_only([*range(len(slices.starts))]).text == buffer.text
        for problem in project.found.get(path, ()):
            assert problem.span is not None
            assert 0 <= problem.span.start <= problem.span.end <= len(buffer.text)
    accept(project)


def test_slices_of_a_file_are_its_definitions() -> None:
    text = project_files()["tools.json"]
    slices = SLICERS["tools.json"](text)
    assert slices is not None
    assert [json.loads(text[start:end])["name"] for start, end in zip(slices.starts, slices.ends, strict=True)] == [
        f"tool_{number}" for number in range(12)
    ]
    some = slices.with_only([2, 7])
    assert [tool["name"] for tool in json.loads(some.text)["tools"]] == ["tool_2", "tool_7"]
    assert json.loads(slices.with_only([]).text) == {"tools": []}
    assert some.text.count("\n") == text.count("\n")
    for word in ("tool_2", "tool_7", "tools"):
        assert text.startswith(word, some.original(some.text.index(word)))
    assert some.original(len(some.text)) == len(text)


def test_a_folder_of_many_files_is_checked_by_the_file() -> None:
    files = project_files()
    tools = json.loads(files.pop("tools.json"))["tools"]
    files |= {f"tools.d/{tool['name']}.json": json.dumps(tool) for tool in tools}
    project = opened(files)
    assert change(project, "tools.d/tool_3.json", '"description"', '"descriptionn"') >= {"tools.d/tool_3.json"}
    assert {problem.code for problem in shown(project)} == {"MCP103", "MCP108"}
    missing = replace(
        project.disk,
        files=MappingProxyType(
            {path: each for path, each in project.disk.files.items() if path != "tools.d/tool_4.json"}
        ),
    )
    project.replace_disk(missing)
    project.close("tools.d/tool_4.json")
    check_quickly(project)
    accept(project)
    assert "MCP202" in {problem.code for problem in shown(project)}
