"""ToolBox's projects without Node: what becomes of what a bundler and an import of the modules would say."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from mcpc.diagnostics import Span
from mcpc.frontends import parse_project, toolbox
from mcpc.frontends.frontend import BuildOutcome
from mcpc.frontends.toolbox import read_module, scripts
from mcpc.frontends.toolbox.scripts import HOME, bundle_path, module_path, reload_answer
from mcpc.frontends.toolbox.tool_definitions import is_tool_path, project_span, schema_span, tool_name
from mcpc.languages.bundling import Bundle, BundleError, Description, NodeError
from mcpc.reading import Source, SourceTree
from support.projects import tree
from support.whole_projects import print_parsed, read_cases

GOLDEN = Path(__file__).parents[2] / "golden/frontends"


def said(source: Source | None) -> dict[str, Any]:
    """Return what a file's comment says that the bundler and the import would say of it."""
    lines = [line.removeprefix("//") for line in source.text.splitlines() if line.startswith("//")] if source else []
    return json.loads("".join(lines) or "{}")  # type: ignore[no-any-return]


def fake_bundle(project: SourceTree, entries: Sequence[str]) -> Bundle:
    """Return a bundle: each entry is one module, unless its comment has faults."""
    whole = project.get("fake.json")
    about = json.loads(whole.data) if whole else {}
    if "error" in about:
        raise NodeError(about["error"])
    faults = {entry: said(project.get(entry)).get("faults", ()) for entry in entries}
    native = {entry: tuple(said(project.get(entry)).get("native", ())) for entry in entries}
    return Bundle(
        {bundle_path(entry): json.dumps(said(project.get(entry))).encode() for entry in entries if not faults[entry]},
        {},
        {entry: tuple(BundleError(**row) for row in rows) for entry, rows in faults.items() if rows},
        lacking={"left": "the registry has none"},
        unlocked=tuple(about.get("unlocked", ())),
        native=native,
    )


def fake_descriptions(
    modules: Mapping[str, bytes], _maps: object, tools: Mapping[str, str], others: Mapping[str, str]
) -> dict[str, Description]:
    """Return the descriptions that the comments of the modules give."""
    found = {}
    for name, path in {**tools, **others}.items():
        about = {key: value for key, value in json.loads(modules[path]).items() if key != "native"}
        lists = {key: tuple(about[key]) for key in ("exported", "prompts", "place") if key in about}
        found[name] = Description(**{**about, **lists})
    return found


def test_whole_projects(golden: Callable[[Path, str], None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scripts, "bundle_modules", fake_bundle)
    monkeypatch.setattr(scripts, "describe_modules", fake_descriptions)
    printed = []
    for name, project, options in read_cases(GOLDEN / "toolbox.cases"):
        definition, problems = parse_project(project, options)
        made = {source.path: source.text for source in definition.beside} if definition else {}
        listed = made.get(f"{HOME}tools.json", "")
        printed.append(f"##### {name}\n{listed}\n{print_parsed(definition, problems, project)}")
    golden(GOLDEN / "toolbox.txt", "\n".join(printed))


def test_modules_have_names_and_places() -> None:
    project = tree({"src/tools/a.ts": "x schema y schema", "src/tools/b.mjs": "", "src/c.js": "1\n23"})
    assert tool_name("src/tools/a.b.ts") == "a.b"
    assert [bundle_path(path) for path in ("src/tools/a.b.ts", "other/c.js")] == ["tools/a.b.mjs", "other/c.mjs"]
    assert [schema_span(source) for source in project.files.values()] == [
        Span("src/c.js", 0, 0),
        Span("src/tools/a.ts", 2, 8),
        Span("src/tools/b.mjs", 0, 0),
    ]
    assert (module_path(project, "src/tools/b"), module_path(project, "src/tools/z")) == ("src/tools/b.mjs", "")
    paths = ("src/tools/a.py", "src/tools/.ts", "tools/a.ts", "src/tools/a/b.ts", "src/tools/a.d.ts", "src/tools/a.tsx")
    assert [is_tool_path(path) for path in paths] == [True, True, False, False, False, False]
    assert project_span(project, "src/c.js", 2, 2) == Span("src/c.js", 3, 3)
    assert [project_span(project, *place) for place in (("src/c.js", 0, 1), ("gone", 1, 1), ("", 1, 1))] == [None] * 3


TOOL = "export const schema = {};\nexport default 1;\n"


@pytest.mark.parametrize(
    ("text", "is_tool"),
    [
        (TOOL, True),
        ("  export let schema = 1\n export default async", True),
        ("export { schema, run as default }", True),
        ("export var schema;", False),
        ("export default 1", False),
        ("const schema = 1; export default 1", False),
        ("export const schemas = 1\nexport default 1", False),
    ],
)
def test_what_is_recognised_by_its_text(text: str, is_tool: bool) -> None:
    assert toolbox.is_tool(Source("src/tools/a.ts", text.encode())) is is_tool
    assert not toolbox.is_tool(Source("src/tools/a.py", text.encode()))


def test_what_a_build_depends_on() -> None:
    assert toolbox.build_inputs(tree({"src/tools/a.py": "", "src/b.ts": ""})) == ("",)


def test_a_module_says_its_schema() -> None:
    project = tree({})
    for text, expected in (("schema = 1\nschema = {'a': [1]}", {"a": [1]}), ("schema: int\nx = 5", None)):
        source = Source("src/tools/a.py", f"def default(): ...\nasync def default(r): ...\n{text}\n".encode())
        schema, function, problems = read_module(source, project)
        assert (schema, problems) == (expected, ())
        assert (type(function).__name__, function.lineno) == ("AsyncFunctionDef", 2)


def test_the_answer_of_a_build_is_toolboxes_own() -> None:
    folder = Path("/x")
    text = reload_answer(BuildOutcome(succeeded=True, output="o", status=0, tools=3, folder=folder))
    assert text.startswith('{\n  "build": {\n    "success": true,\n')
    assert json.loads(text) == {
        "build": {"success": True, "output": "o", "directory": "/x"},
        "reload": {"success": True, "tools": 3},
    }
    text = reload_answer(BuildOutcome(succeeded=False, output="é", status=4, tools=0, folder=folder))
    failed = json.loads(text)
    details = failed["details"]
    assert failed["error"] == "BuildReload_FAILED"
    assert (details["exitCode"], details["stderr"], details["stdout"], details["directory"]) == (4, "é", "", "/x")
    assert "é" in text
