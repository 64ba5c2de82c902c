"""Defaults and examples that their own schemas refuse, each at its place; and those that only look so."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from mcpc.schema import jsonschema_oracle
from mcpc.schema.dialects import DRAFT_2020_12
from support.needs import ROOT
from support.projects import checked, marked, places
from support.reference import real_tools
from support.schemas import node_of

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
TABLES = json.loads((Path(__file__).parent / "passes/values.json").read_text("utf-8"))
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
