"""Folders of scripts as projects: what is read of each script, and that what is written builds."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType

from mcpc import pipeline
from mcpc.options import Options
from mcpc.reading import Source, SourceTree
from mcpc.workbench.scripts import script_project
from support.needs import ROOT

FILES = dict(
    part.split("\n", 1)
    for part in re.split(r"^===== ", Path(__file__).with_name("folder.txt").read_text(), flags=re.MULTILINE)[1:]
)
ASKED = """#!/bin/sh
# Asks nobody.
[ "$1" = --help ] || { touch ../../ran; exit 1; }
printf '%s: %s [-q] [--depth=N] FILE\\n\\n  -q, --quiet  say less\\n      --depth=N  how deep\\n' Usage "$0"
"""


def folder(files: dict[str, str]) -> SourceTree:
    return SourceTree(
        MappingProxyType({path: Source(path, text.encode(), 0o755) for path, text in sorted(files.items())})
    )


def test_scripts_become_tools_that_build(golden: Callable[[Path, str], None]) -> None:
    project, tools, unfit = script_project(folder(FILES), "scripts", runs=False)
    checked = pipeline.analyse(project, (), Options())
    assert checked.checked is not None, checked.diagnostics
    assert [problem for problem in checked.diagnostics if problem.severity == "error"] == []
    assert unfit == ["bin/lib.sh"]
    lines = []
    for tool in tools:
        schema = tool.definition["inputSchema"]
        lines += [
            f"{tool.definition['name']} ({tool.path}), read from {tool.read_from or 'nothing'}",
            f"  {tool.definition['description']}",
            f"  {json.dumps(tool.definition['_meta']['mcpc/handler']['command'])}",
            *(f"    {name}: {json.dumps(value)}" for name, value in schema["properties"].items()),
            f"  required: {', '.join(schema.get('required', [])) or 'nothing'}",
        ]
    golden(ROOT / "tests" / "golden" / "scripts.txt", "\n".join(lines) + "\n")


def test_help_is_asked_for_where_nothing_else_says_what_a_script_takes(tmp_path: Path) -> None:
    tree = folder({"ask": ASKED})
    _, (unread,), _ = script_project(tree, "s", runs=False)
    assert (unread.read_from, unread.arguments) == ("", ["args"])
    _, (tool,), _ = script_project(tree, "s", runs=True)
    assert (tool.read_from, tool.arguments) == ("a help text", ["quiet", "depth", "file"])
    command = tool.definition["_meta"]["mcpc/handler"]["command"]
    places = {"flag": "--quiet", "argument": "quiet"}, {"flag": "--depth", "argument": "depth", "joined": True}
    assert command == ["bin/ask", *places, {"argument": "file"}]


def test_equal_names_are_told_apart() -> None:
    _, tools, _ = script_project(folder(dict.fromkeys(("a.sh", "a.pl", "b" * 65, "_"), "#!/bin/sh\n")), "s", runs=False)
    assert [tool.path for tool in tools] == ["bin/_", "bin/a.pl", "bin/a.sh", "bin/" + "b" * 65]
    assert [tool.definition["name"] for tool in tools] == ["script", "a", "a_2", "b" * 64]
