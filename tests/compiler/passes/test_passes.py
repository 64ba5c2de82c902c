"""What each pass reports of a project with the mistakes that it looks for: all places, texts and hints."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mcpc.diagnostics import diagnose
from mcpc.diagnostics.formats import render_text
from mcpc.frontends import parse_project
from mcpc.lower import lower
from mcpc.model.ir import CheckedServer
from mcpc.packages.platforms import marker_values, parse_target, system_of
from mcpc.passes import PASSES, check_server, clients, handlers, hidden_characters, machines, names, schemas, unused
from mcpc.schema import jsonschema_oracle
from mcpc.schema.dialects import DRAFT_2020_12
from support.needs import ROOT
from support.project_text import parse_project_text, tree_of
from support.projects import SMOKETEST, checked, lowered, marked, places
from support.reference import real_tools
from support.schemas import node_of

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
    "requests": handlers.check_requests,
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


INFO = '"serverInfo": {"name": "demo", "version": "1.0.0"}'
DESCRIPTION = '"description": "What it does."'
OBJECT = '{"type": "object"}'


def tool(name: str = "x", schema: str = OBJECT, *fields: str) -> str:
    return "{" + ", ".join((f'"name": "{name}"', DESCRIPTION, f'"inputSchema": {schema}', *fields)) + "}"


def bash(*tools: str, server: str = f"{{{INFO}}}") -> dict[str, str]:
    """Return a project of tools, one a line; every function that their names may want is there."""
    names = [json.loads(line.replace("»", ""))["name"].translate({45: "_", 46: "_"}) for line in tools]
    functions = [f"tool_{name}" for name in dict.fromkeys(names) if name.isidentifier()]
    library = "".join(f"{function}() {{ :; }}\nexport -f {function}\n" for function in functions)
    return {"server.json": server, "tools.json": '{"tools": [\n' + ",\n".join(tools) + "\n]}", "tools.bash": library}


def messages(files: dict[str, str], code: str) -> list[str]:
    return [problem.message for problem in checked(marked(files)[0])[1] if problem.code == code]


def test_what_was_found_before_is_reported_along_and_forbids_the_server() -> None:
    server, _ = lowered(SMOKETEST)
    assert server is not None
    earlier = diagnose("MCP201", None, "earlier")
    assert check_server(server, known=(earlier,)) == (None, (earlier,))
    note = diagnose("MCP203", None, "only a note")
    assert check_server(server, known=(note,)) == (CheckedServer(server), (note,))


def test_at_most_50_arguments_of_a_tool_are_reported() -> None:
    names = [f"r{number}" for number in range(51)]
    wanted = bash(tool("x", json.dumps({"type": "object", "required": names})), tool("y", with_properties("", "z")))
    assert [message.split("`")[1] for message in messages(wanted, "MCP156")] == [*names[:50], "z"]


def with_properties(text: str, *required: str) -> str:
    return f'{{"type": "object", "properties": {{{text}}}, "required": {json.dumps(required)}}}'


def test_schemas_as_deep_as_json_may_be_break_no_pass() -> None:
    deep = '{"type": "object", "default": {"a": ' + "[" * 500 + "]" * 500 + "}}"
    server, problems = checked(bash(tool("x", deep)))
    assert server is not None
    assert problems == ()


LINUX, MACOS, WINDOWS, ARM = "manylinux2014_x86_64", "macosx_11_0_arm64", "win_amd64", "win_arm64-cp312"


def test_tags_of_windows_are_targets_with_its_markers() -> None:
    systems = {tag: system_of(tag) for tag in (LINUX, MACOS, WINDOWS, ARM, "win32", "windows", "")}
    assert [*systems.values()] == ["linux", "darwin", "win32", "win32", "win32", "", ""]
    machines = []
    for tag in (WINDOWS, ARM, "win32"):
        target = parse_target(tag)
        values = marker_values(target)  # type: ignore[arg-type]
        assert (values["sys_platform"], values["os_name"], values["platform_system"]) == ("win32", "nt", "Windows")
        machines.append(values["platform_machine"])
    assert machines == ["AMD64", "ARM64", "x86"]


DRAFT_7 = "http://json-schema.org/draft-07/schema#"


def project(schema: str, field: str = "inputSchema") -> dict[str, str]:
    """Return a project of one tool with a schema as written; a mark » stands where a problem is expected."""
    other = "" if field == "inputSchema" else '"inputSchema": {"type": "object"}, '
    tool = f'{{"name": "x", "description": "d", {other}"{field}": {schema}}}'
    return {
        "server.json": '{"serverInfo": {"name": "demo", "version": "1.0.0"}}',
        "tools.json": f'{{"tools": [\n{tool}\n]}}',
        "tools.bash": "tool_x() { :; }\nexport -f tool_x\n",
    }


def given(members: str, rest: str = "") -> str:
    return f'{{"type": "object", "properties": {{"a": {{{members}}}}}{rest}}}'


DEFS = ', "$defs": {"s": {"type": "string", "minLength": 2}}'
TABLES = json.loads((Path(__file__).parent / "values.json").read_text("utf-8"))
REFUSED: list[tuple[str, str, str]] = TABLES["refused"]


@pytest.mark.parametrize(("schema", "code", "reason"), REFUSED, ids=range(len(REFUSED)))
@pytest.mark.parametrize("field", ["inputSchema", "outputSchema"])
def test_a_value_its_own_schema_refuses_is_an_error_at_its_place(
    schema: str, code: str, reason: str, field: str
) -> None:
    files, marks = marked(project(schema, field))
    server, problems = checked(files)
    assert server is None
    problems = tuple(problem for problem in problems if problem.code != "MCP161")
    assert places(problems, files) == [(code, *mark) for mark in marks]
    assert reason in problems[0].message


RIGHT: list[str] = TABLES["right"]


@pytest.mark.parametrize("schema", RIGHT, ids=range(len(RIGHT)))
def test_a_value_its_own_schema_accepts_is_none(schema: str) -> None:
    problems = checked(project(schema))[1]
    assert [problem for problem in problems if problem.code not in ("MCP123", "MCP161")] == []


def test_a_schema_that_leads_everywhere_ends_the_check_of_its_values(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(5)}
    defs = json.dumps({**steps, "d5": {"type": "string"}})
    schema = given('"$ref": "#/$defs/d0", "examples": ["x", »1, 2]', f', "$defs": {defs}, "default": []')
    files, marks = marked(project(schema))
    refused = [("MCP121", "tools.json", 2), ("MCP122", "tools.json", 2), ("MCP122", "tools.json", 2)]
    assert sorted(place[:3] for place in places(checked(files)[1], files)) == refused
    monkeypatch.setattr(jsonschema_oracle, "MAX_REFERENCES", 60)
    found = places(checked(files)[1], files)
    assert [place for place in found if place[0] != "MCP121"] == [("MCP008", *mark) for mark in marks]


class PanicException(BaseException):
    """What the library's native part raises where it meets the end of the stack."""


class Panicking:
    def evolve(self, **_: object) -> "Panicking":
        return self

    def is_valid(self, value: object) -> bool:
        raise value if isinstance(value, BaseException) else PanicException("__eq__ failed!")

    iter_errors = is_valid


def test_the_end_of_the_stack_in_native_code_is_one_that_is_expected(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RecursionError):
        jsonschema_oracle.is_valid(Panicking(), 1)
    with pytest.raises(KeyboardInterrupt):
        jsonschema_oracle.is_valid(Panicking(), KeyboardInterrupt())
    authority = jsonschema_oracle.ReferenceValidator(node_of({"type": "string"}), DRAFT_2020_12)
    monkeypatch.setattr(authority, "_root", Panicking())
    assert authority.refusal("", 1) is None


def test_the_library_is_imported_only_for_a_value_it_must_judge() -> None:
    script = (
        "import sys\nfrom support.projects import checked\n"
        "server, problems = checked({name: text for name, text in %r.items()})\n"
        "assert server is not None, problems\nprint('jsonschema' in sys.modules)"
    )
    for schema, imported in (
        (given('"type": "string"'), "False"),
        (given('"type": "string", "default": "x"'), "False"),
        (given('"enum": ["a", "b"], "default": "a"'), "False"),
        (given('"minimum": 1, "default": 1'), "True"),
    ):
        run = subprocess.run(
            [sys.executable, "-c", script % project(schema)],
            env={"PYTHONPATH": ":".join(str(ROOT / folder) for folder in ("compiler", "runtime", "tests"))},
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        assert run.stdout.strip() == imported, schema


def test_no_tool_of_a_real_server_has_a_bad_default() -> None:
    for tools in real_tools().values():
        for tool in tools:
            files = project(json.dumps(tool["inputSchema"]))
            codes = {problem.code for problem in checked(files)[1]}
            assert codes.isdisjoint(("MCP121", "MCP122", "MCP123")), tool["name"]
