"""Programs for FastMCP and the SDK without a run: what their files say, and what becomes of what a run would say."""

import json
from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mcpc.diagnostics import Diagnostics, Span, diagnose
from mcpc.diagnostics.model import counted
from mcpc.frontends import fastmcp
from mcpc.frontends.causes import Raised
from mcpc.frontends.fastmcp import failures, late_imports
from mcpc.frontends.fastmcp.definitions import variables_of
from mcpc.frontends.fastmcp.entry_points import EntryPoint, find_entry, read_project_settings
from mcpc.frontends.fastmcp.failures import failure_diagnostic
from mcpc.frontends.fastmcp.frameworks import SAME, SAME_PATCH, SAME_UNKNOWN, lines_of, noted, packages, same
from mcpc.frontends.fastmcp.imports import is_beside, program_files, uses_framework
from mcpc.frontends.fastmcp.late_imports import missing_late_imports, reached_files
from mcpc.frontends.fastmcp.packages import program_scripts, project_information
from mcpc.frontends.fastmcp.program import (
    LISTS,
    DynamicList,
    Offered,
    ProgramDescription,
    ProgramFailure,
    last_lines,
    parse_outcome,
)
from mcpc.frontends.fastmcp.run_time_lists import (
    dynamic_lists,
    may_depend_on_machine,
    run_time_handler,
    with_machine_state,
)
from mcpc.frontends.fastmcp.runs import imported_entry, is_same_server
from mcpc.model.ir import ExternalHandler
from mcpc.options import Options
from mcpc.packages.model import Distribution, StagedPackages
from mcpc.reading import Source, SourceTree
from mcpc.sandbox.confinement.model import ProgramOutcome
from support.projects import tree
from support.whole_projects import print_parsed, read_cases


@pytest.fixture(autouse=True)
def _no_package_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep what is installed beside the compiler out of the golden files."""
    for module in (failures, late_imports):
        monkeypatch.setattr(module, "missing_module_hint", lambda name, *_: f"get `{name}`")


GOLDEN = Path(__file__).parents[2] / "golden/frontends"
HANDLER = ExternalHandler("a.py", Span("a.py"), "fastmcp")


def files_and_entry(project: SourceTree, options: Options) -> Iterable[str]:
    """Yield what the files of a project say of its program."""
    settings = read_project_settings(project)
    entry, problems = find_entry(project, settings, options.entry)
    for field in fields(settings):
        value = getattr(settings, field.name)
        if value and field.name != "problems":
            yield f"  {field.name}: {value!r}"
    yield f"  recognised: {fastmcp.recognises(project)}"
    yield f"  uses the framework: {[path for path, file in project.files.items() if uses_framework(file)]}"
    yield f"  program: {[file.path for file in program_files(project)]}"
    yield f"  beside it: {[path for path in project.files if is_beside(path)]}"
    yield f"  entry: {entry}"
    if entry is not None:
        yield f"  scripts: {[file.path for file in program_scripts(project, entry.file)]}"
        information = project_information(project, settings, entry.paths, {})
        yield from (f"  {file.path}: {file.text!r}" for file in information)
        yield f"  reached: {[file.path for file in reached_files(project, entry)]}"
        problems += missing_late_imports(project, entry, frozenset({"httpx", "other_package"}))
    yield print_parsed(None, (*settings.problems, *problems), project).partition("\n")[2]


def test_what_the_files_say(golden: Callable[[Path, str], None]) -> None:
    printed = (
        "\n".join((f"##### {name}", *files_and_entry(project, options)))
        for name, project, options in read_cases(GOLDEN / "fastmcp_entries.cases")
    )
    golden(GOLDEN / "fastmcp_entries.txt", "\n".join(printed))


class Runs:
    """Fakes of the installation and the runs of a program: the file `.runs.json` has their answers, in order."""

    def __init__(self, project: SourceTree) -> None:
        source = project.get(".runs.json")
        self.answers: list[dict[str, Any]] = json.loads(source.data) if source else []
        self.last: dict[str, Any] = {}
        self.log: list[str] = []

    def stage(self, requirements: Iterable[Any], _project: SourceTree) -> tuple[StagedPackages | None, Diagnostics]:
        texts = [item.text for item in requirements]
        self.log.append(f"install {texts}")
        if "no-such-package" in texts:
            return None, (diagnose("MCP401", None, "it cannot be installed"),)
        names = {text.partition("==")[0]: text.partition("==")[2] or "9.9" for text in texts}
        found = tuple(Distribution(name, version, "", False, "", (), {}) for name, version in names.items())
        return StagedPackages(Path("/packages"), found, frozenset({"installed", *names})), ()

    def run(self, row: Any, sources: Iterable[Source], packages: str, environment: Any, *, network: bool) -> object:
        self.log.append(
            f"run {json.dumps(row)} {[source.path for source in sources]} {packages} {dict(environment)}{' with a network' * network}"
        )
        said = self.last if "elsewhere" in row else self.answers.pop(0)
        self.last = said
        answer = said.get("answer", "")
        data = answer if isinstance(answer, str) else json.dumps(answer)
        output = said.get("output", "").encode()
        return parse_outcome(ProgramOutcome(data.encode(), output, said.get("status"), said.get("why", "")), Path("/p"))


def test_whole_projects(golden: Callable[[Path, str], None], monkeypatch: pytest.MonkeyPatch) -> None:
    printed = []
    for name, project, options in read_cases(GOLDEN / "fastmcp.cases"):
        runs = Runs(project)
        monkeypatch.setattr(fastmcp.runs, "stage_project_packages", runs.stage)
        monkeypatch.setattr(fastmcp.runs, "describe_program", runs.run)
        definition, problems = fastmcp.parse(replace(project, options=options), options)
        assert runs.answers == [], name
        printed.append("\n".join((f"##### {name}", *runs.log, print_parsed(definition, problems, project))))
    golden(GOLDEN / "fastmcp.txt", "\n".join(printed))


def failing(kind: str, **more: Any) -> ProgramFailure:
    return replace(ProgramFailure(kind, "", type="ValueError"), **more)


FAILURES = [
    failing("ended", message="why"),
    failing(
        "exited",
        message="2",
        output="usage: x\nx: error: the following arguments are required: --root/-r, path, -a/--all\n│ ╮ \n",
    ),
    failing("exited", message="1", output="set API_KEY and DB_HOST\n──\n", raised=Raised(absent=("A", "B"))),
    failing("exited", message="", raised=Raised(absent=tuple("ABCDEF"))),
    failing("exited", message="None", output="bye"),
    failing("exited", message="1", output=f"one\n two  2\n\n three{'e' * 290}\n4\n"),
    failing("exited", message="why", output="bye"),
    failing("ended", message="why", output="one\n"),
    failing("no server", output="Configuration error: DB_URL is required\n"),
    failing("late", output="connecting\n"),
    failing("exited", message="1", output="cannot log in\n", hosts=("a.test",)),
    failing("exited", message="Network is unreachable"),
    failing("exited", message="give me\n  a SOME_TOKEN " + "x" * 300),
    failing("exited", message="x" * 300),
    failing("exited", message="x" * 301),
    failing("input", path="a.py", line=2),
    failing("late", path="a.py", line=9),
    failing("module", missing="fastmcp.sub.x"),
    failing("module", missing="nowhere_at_all.x", path="gone.py", line=2),
    failing("no server"),
    failing("process", message="it ended"),
    failing("part of a package", missing="x.y"),
    failing("raised", message="Set A_B, C_D, E_F, G_H, I_J and K_L"),
    failing("raised", type="MemoryError", raised=Raised("MemoryError", absent=("A",))),
    failing("raised", type="OSError", message="File too large"),
    failing("raised", type="PermissionError", message="[Errno 13] Permission denied: '/x'"),
    failing("raised", type="OSError", message="Read-only file system"),
    failing("raised", type="PermissionError", message="[Errno 13] Permission denied"),
    failing("raised", type="OSError", message="Address already in use"),
    failing("raised", type="ImportError", message="cannot import"),
    failing("raised", type="ImportError", message="cannot import", path="a.py", line=1),
    failing("raised", type="AttributeError", message="no", path="a.py", line=1),
    failing("several servers", names=("a", "b")),
    failing("unsupported", message="it does what it cannot"),
    failing("of another kind", message="m"),
]


def test_what_is_said_of_a_failure(golden: Callable[[Path, str], None]) -> None:
    project = tree({"a.py": "one\n  two  \nthree"})
    entries = (EntryPoint("file", "a.py", file="a.py"), EntryPoint("module", "x"))
    found = [failure_diagnostic(failure, entries[number % 2], project) for number, failure in enumerate(FAILURES)]
    found += [failure_diagnostic(failure, entries[0], project, carried=True) for failure in FAILURES if failure.missing]
    printed = [print_parsed(None, (problem,), project).partition("\n")[2] for problem in found]
    golden(GOLDEN / "fastmcp_failures.txt", "\n".join(printed))


def test_which_lists_are_made_at_run_time() -> None:
    empty = ProgramDescription({}, dict.fromkeys(("tools", "prompts", "resources", "templates"), ()))
    settings = read_project_settings(tree({}))
    assert dynamic_lists(empty, replace(settings, lists="dynamic")) == ()
    for code, changing in {
        b"x.add_tool(1)": {"tools"},
        b"x.remove_prompt": {"prompts"},
        b"send_resource_list_changed": {"resources"},
        b"add_template": {"resources"},
        b"x.mount(y)": set(),
        b"add_tools": set(),
    }.items():
        files = [Source("a.py", code), Source("a.txt", b"add_tool add_prompt")]
        assert run_time_handler(empty, settings, files, HANDLER).by_arguments == frozenset(), code
        assert run_time_handler(empty, settings, files, HANDLER).changing == changing, code
        none = replace(empty, unhandled=("tools", "resources"))
        assert run_time_handler(none, settings, files, HANDLER).changing == changing - {"tools", "resources"}, code


def test_lists_that_are_made_at_run_time_if_the_program_gets_arguments() -> None:
    row = (Offered({"name": "x"}),)
    found = ProgramDescription({}, {"tools": row, "prompts": (), "resources": (), "templates": row})
    settings = read_project_settings(tree({}))
    assert run_time_handler(found, settings, (), HANDLER).by_arguments == {"tools", "resources"}
    assert run_time_handler(found, replace(settings, lists="static"), (), HANDLER).by_arguments == frozenset()
    dynamic = replace(found, dynamic=(DynamicList("tools"),))
    assert run_time_handler(dynamic, settings, (), HANDLER).by_arguments == {"resources"}


def offered(**lists: list[dict[str, Any]]) -> ProgramDescription:
    rows = {name: tuple(Offered(entry, "a.py", 3) for entry in lists.get(name, ())) for name in LISTS}
    return ProgramDescription({"name": "x", "instructions": "on a"}, rows)


def test_lists_that_differ_elsewhere_are_told_with_what_differs() -> None:
    first, second = {"name": "a", "description": "d" * 40 + "Berlin" + "e" * 40}, {"name": "b"}
    here = offered(tools=[first, second], prompts=[second], templates=[{"uriTemplate": "x:{y}"}])
    there = replace(
        offered(tools=[{**first, "description": "d" * 40 + "Tokyo" + "e" * 40}, second], prompts=[second]),
        server={"name": "x", "instructions": "on b"},
        routes=("/a",),
    )
    found = with_machine_state(here, there)
    assert [(item.kind, item.path, item.line, item.reason.partition(": ")[2]) for item in found.dynamic] == [
        (
            "tools",
            "a.py",
            3,
            f"`a` has `…{'d' * 24}Berlin{'e' * 18}…` here and `…{'d' * 24}Tokyo{'e' * 19}…` on another machine",
        ),
        ("resources", "a.py", 3, "`x:{y}` is in it only here"),
    ]
    assert [(note.kind, note.text.partition(" depend")[0]) for note in found.notes] == [
        ("machine", "`instructions` of the server"),
        ("machine", "the HTTP routes"),
    ]
    known = replace(here, dynamic=(DynamicList("tools"), DynamicList("resources")))
    assert with_machine_state(known, there).dynamic == known.dynamic
    assert with_machine_state(here, ProgramFailure("raised", "")) == here
    turned = with_machine_state(here, replace(here, lists={**here.lists, "tools": here.lists["tools"][::-1]}))
    assert [item.reason.partition(": ")[2] for item in turned.dynamic] == ["it has another order on another machine"]


def test_only_programs_that_can_know_their_machine_are_described_twice() -> None:
    for code, may in {
        "import json\nfrom fastmcp import FastMCP\nfrom . import b": False,
        "import c": False,
        "import a.b.c": True,
        "from os import environ": True,
        "import tzlocal": True,
    }.items():
        files = [Source("x/b.py", code.encode()), Source("c.py", b""), Source("other.py", b"import os")]
        found = replace(offered(), imported=("x/b.py", "c.py"))
        assert may_depend_on_machine(found, files) is may, code


def test_the_end_of_what_a_program_printed() -> None:
    text = "".join(f"/p/{number}\n" for number in range(13)).encode() + b"\xff \n\n"
    assert last_lines(text, Path("/p")).split("\n") == [*map(str, range(2, 13)), "\ufffd"]
    assert last_lines(b"", Path("/p")) == ""


def test_lines_of_the_summary() -> None:
    assert [counted(number, "part") for number in (0, 1, 2)] == ["0 parts", "1 part", "2 parts"]
    problems = tuple(diagnose(code, None, "m") for code in ("MCP287", "MCP297", "MCP297", "MCP291"))
    assert (
        noted(problems) == "1 part with another effect or none (MCP287 above); 2 imports that will fail (MCP297 above)"
    )
    assert noted(problems[:1]) == "1 part with another effect or none (MCP287 above)"
    assert noted(problems[3:]) == noted(())
    lines = lines_of("packages", "word " * 20)
    assert [len(line) <= 78 for line in lines] == [True, True]
    assert (lines[0][:15], lines[1][:15]) == ("packages   word", "           word")


def test_what_is_the_same_as_with_a_version() -> None:
    assert same("fastmcp4", "4.2.3") == same("fastmcp4", "4.2.0") == same("fastmcp3", "3.1") == SAME
    assert same("fastmcp4", "4.2.4") == SAME_PATCH.format(known="4.2.3")
    assert same("fastmcp4", "4.3.0") == SAME_UNKNOWN.format(known="4.2.3", version="4.3.0")
    assert same("sdk1", "1.8.1") == SAME_UNKNOWN.format(known="1.30.0", version="1.8.1")


def test_packages_that_a_project_requires_itself_come_first() -> None:
    layer: Any = SimpleNamespace(packages=[SimpleNamespace(name=name) for name in "abcd"])
    required = [SimpleNamespace(name="a", span=None), SimpleNamespace(name="d", span=Span("a.toml"))]
    servers: list[Any] = [SimpleNamespace(layer=layer, requirements=each) for each in (required, None)]
    found = [packages(server, is_original=False).partition(" and 1 more, ")[0] for server in servers]
    assert found == ["d, a, b", "a, b, c"]


def test_variables_of_templates() -> None:
    assert (variables_of("x:{a}{?b}"), variables_of("{")) == (["a", "b"], [])


def test_what_only_imports_a_demonstration() -> None:
    entry = EntryPoint("file", "a.py")
    described = ProgramDescription({}, {}, demonstrates="mcp")
    assert imported_entry(entry, described) == EntryPoint("object", "a.py:mcp")
    assert imported_entry(replace(entry, kind="module"), described) is None
    assert imported_entry(entry, replace(described, demonstrates="")) is None
    assert imported_entry(entry, None) is None
    assert not is_same_server(described, None)
    assert is_same_server(None, described)
