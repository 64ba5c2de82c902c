"""The JSON Schemas of files agree with the compiler: what it accepts is valid, and what it refuses is not."""

import copy
import json
import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from click.testing import CliRunner

from mcpc.cli.editor import schema
from mcpc.diagnostics import Severity
from mcpc.frontends import project
from mcpc.lower import protocol_schema
from mcpc.lower.protocol_schema import Field, ObjectShape
from mcpc.model.definitions.field_descriptions import DESCRIPTIONS
from mcpc.reading import Source
from mcpc.schema.keywords import KEYWORDS
from mcpc.workbench.file_schemas import BY_NAME, FILES, kind_of, schema_of, schema_text
from mcpc.workbench.file_schemas.json_schema import MEANINGS
from mcpc.workbench.testing.case_files import read_cases
from support.projects import SMOKETEST, checked

ROOT = Path(__file__).parents[2]
TABLES = json.loads(Path(__file__).with_name("file_schemas.json").read_text("utf-8"))
BASE: dict[str, Any] = TABLES["base"]
FUNCTIONS = {"tools.py": "def t(a): ...\n", "prompts.py": "def p(a): ...\n", "resources.py": "def s(x): ...\n"}
OTHER_VALUES: tuple[object, ...] = ("text", 7, True, None, [], {}, ["text"], {"text": 1})
FORM_CODES = frozenset(f"MCP{number}" for number in (101, 102, 103, 105, 107, 110, 111, 115, 237, 238, 239, 240, 301))
"""What is wrong with the form of one file."""


def validator(name: str) -> jsonschema.protocols.Validator:
    return jsonschema.Draft7Validator(schema_of(name))


def project_files() -> Iterator[tuple[str, Path]]:
    """Yield the files of the examples and the templates that have a schema, each with its path in its project."""
    for folder in (*(ROOT / "examples").iterdir(), *(ROOT / "templates" / "new").iterdir()):
        for file in sorted(folder.rglob("*")):
            path = file.relative_to(folder).as_posix()
            if file.is_file() and kind_of(path) is not None:
                yield path, file


def content_of(file: Path, language: str) -> object:
    text = file.read_text("utf-8")
    if language == "toml":
        return tomllib.loads(text)
    if file.suffix in (".yaml", ".yml"):
        return yaml.safe_load(text)
    return yaml.safe_load(text.split("---")[1]) if language == "yaml" else json.loads(text)


@pytest.mark.parametrize("name", [kind.name for kind in FILES])
def test_schemas_are_draft_7_and_describe_their_members(name: str) -> None:
    schema = schema_of(name)
    jsonschema.Draft7Validator.check_schema(schema)
    assert schema["$id"] == f"urn:mcpc:schema:{name}"
    assert [*_undescribed(schema)] == []


def _undescribed(schema: object, place: str = "") -> Iterator[str]:
    """Yield the properties of a schema's own objects that have no description."""
    if isinstance(schema, dict):
        for name, value in (schema.get("properties") or {}).items():
            known = (
                not isinstance(value, dict)
                or "description" in value
                or name in ("type", "tool", *LISTS, "method", "params")
            )
            yield from () if known or place.endswith("/asks") else (f"{place}/{name}",)
        for key, value in schema.items():
            yield from _undescribed(value, f"{place}/{key}") if key != "definitions" else ()
    elif isinstance(schema, list):
        for value in schema:
            yield from _undescribed(value, place)


LISTS = ("tools", "prompts", "resources", "resourceTemplates", "completions", "path", "name", "uri", "uriTemplate")


def test_files_of_examples_and_templates_are_valid() -> None:
    seen = set()
    for path, file in project_files():
        kind = kind_of(path)
        seen.add(kind.name)
        wrong = [error.message for error in validator(kind.name).iter_errors(content_of(file, kind.language))]
        assert wrong == [], file
    assert {"server", "tools", "tools-folder", "prompts", "resources", "completions", "skill", "pyproject"} <= seen
    assert {"mcp-bash-server", "mcp-bash-tool", "blueprints-servers"} <= seen


def test_a_project_of_tests_is_valid() -> None:
    kinds = {path: kind for path in SMOKETEST if (kind := kind_of(path)) is not None}
    assert {kind.name for kind in kinds.values()} == {"server", "tools"}
    for path, kind in kinds.items():
        assert [*validator(kind.name).iter_errors(json.loads(SMOKETEST[path]))] == []


def mutations(value: object) -> Iterator[object]:
    """Yield the value with one mistake: another type, an unknown member, or a member less."""
    if isinstance(value, dict):
        for key, below in value.items():
            yield {name: each for name, each in value.items() if name != key}
            yield from ({**value, key: each} for each in mutations(below))
            yield from ({**value, key: each} for each in OTHER_VALUES if type(each) is not type(below))
        yield {**value, "other": 1}
    elif isinstance(value, list):
        for place, below in enumerate(value):
            yield from ([*value[:place], each, *value[place + 1 :]] for each in mutations(below))
            yield from (
                [*value[:place], each, *value[place + 1 :]] for each in OTHER_VALUES if type(each) is not type(below)
            )


def refused(files: dict[str, Any], path: str) -> set[str]:
    """Return the codes about the form of a file, of what `mcpc check --strict` refuses."""
    texts = {name: json.dumps(value) for name, value in files.items()}
    _, found = checked({**texts, **FUNCTIONS})
    return {
        each.code
        for each in found
        if each.severity is not Severity.NOTE and each.span is not None and each.span.path == path
    } & FORM_CODES


@pytest.mark.parametrize("path", [*BASE])
def test_a_schema_refuses_what_the_compiler_refuses(path: str) -> None:
    kind = kind_of(path)
    assert refused(BASE, path) == set()
    check = validator(kind.name)
    assert [*check.iter_errors(BASE[path])] == []
    only_compiler, only_schema, agreed = [], [], 0
    for changed in mutations(BASE[path]):
        codes = refused({**BASE, path: copy.deepcopy(changed)}, path)
        is_valid = check.is_valid(changed)
        agreed += bool(codes) is not is_valid
        only_compiler += [(codes, changed)] if codes and is_valid else []
        only_schema += [changed] if not codes and not is_valid else []
    assert [json.dumps(each)[:3000] for each in only_schema][:3] == []
    assert [(sorted(codes), json.dumps(each)[:3000]) for codes, each in only_compiler][:3] == []
    assert agreed > 60


CASES: dict[str, Any] = TABLES["cases"]


def test_the_schema_of_cases_refuses_what_their_reader_refuses() -> None:
    check = validator("cases")
    for changed in (CASES, *mutations(CASES)):
        source = Source("tests/a.json", json.dumps(changed).encode())
        wrong = read_cases({source.path: source})[1]
        if "tests" in changed if isinstance(changed, dict) else False:
            assert check.is_valid(changed) is not bool(wrong), (changed, wrong)


def test_every_field_of_the_checks_has_a_description_and_no_other() -> None:
    described = {(label, name) for label, fields in DESCRIPTIONS.items() for name in fields}
    checked = {(shape.label, name) for shape in _shapes() for name in shape.fields}
    assert checked - described == set()
    assert described - checked == set()
    assert set(MEANINGS) == set(KEYWORDS)


def _shapes() -> Iterator[ObjectShape]:
    seen: list[ObjectShape] = []
    waiting: list[object] = [*vars(protocol_schema).values()]
    while waiting:
        found = waiting.pop()
        if isinstance(found, Field):
            waiting += [found.shape, found.items]
        elif isinstance(found, ObjectShape) and found not in seen:
            seen.append(found)
            waiting += found.fields.values()
            yield found


GOLDEN = ROOT / "tests/golden/file_schemas"


@pytest.mark.parametrize("name", [*BY_NAME])
def test_a_schema_is_exactly_this(name: str, golden: Callable[[Path, str], None]) -> None:
    text = schema_text(name)
    assert text == json.dumps(schema_of(name), indent=2, ensure_ascii=False) + "\n"
    own = {key: value for key, value in schema_of(name).items() if key != "definitions"}
    shared = schema_of(name).get("definitions", {})
    assert shared == {key: value for key, value in schema_of("tools")["definitions"].items() if key in shared}
    assert set(shared) == set(re.findall(r'"#/definitions/(\w+)"', json.dumps([own, shared])))
    golden(GOLDEN / f"{name}.json", json.dumps(own, indent=1, ensure_ascii=False) + "\n")


def test_the_tables_of_mcpc_in_pyproject_have_the_keys_that_are_known() -> None:
    for place, keys in project.TABLES.items():
        schema = schema_of("pyproject")["properties"]["tool"]["properties"]["mcpc"]
        for name in place:
            schema = schema["properties"][name]
        schema = schema.get("items", schema)
        assert (place, {*schema["properties"]}, schema["additionalProperties"]) == (place, {*keys}, False)


def test_the_schema_of_schemas_is_exactly_this(golden: Callable[[Path, str], None]) -> None:
    golden(GOLDEN / "json-schema.json", json.dumps(schema_of("tools")["definitions"], indent=1) + "\n")


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("server.json", "server"),
        ("sub/server.json", None),
        ("serverxjson", None),
        ("tools.json", "tools"),
        ("tools.d/a.json", "tools-folder"),
        ("tools.d/a/b.json", None),
        ("tools/a.meta.json", "mcp-bash-tool"),
        ("tools/a/a.meta.json", "mcp-bash-tool"),
        ("tools/a/b/a.meta.json", None),
        ("skills/a/SKILL.md", "skill"),
        ("skills/SKILL.md", None),
        ("tests/a.json", "cases"),
        ("tests/a.yml", "cases"),
        ("tests/a/b.yml", None),
        ("servers.json", "blueprints-servers"),
        ("dev/knowledge_base/servers.json", "blueprints-servers"),
        ("server.json.bak", None),
    ],
)
def test_a_path_has_the_kind_of_its_file(path: str, name: str | None) -> None:
    kind = kind_of(path)
    assert (kind and kind.name) == name


def test_the_command_lists_prints_and_writes(tmp_path: Path, golden: Callable[[Path, str], None]) -> None:
    run = CliRunner().invoke
    golden(GOLDEN / "list.txt", run(schema, []).output)
    assert run(schema, ["tools"]).output == schema_text("tools")
    assert json.loads(run(schema, ["--format", "json"]).output) == [
        {"name": kind.name, "title": kind.title, "id": f"urn:mcpc:schema:{kind.name}", "files": [*kind.globs]}
        for kind in FILES
    ]
    done = run(schema, ["-o", str(tmp_path / "made" / "below")])
    assert (done.exit_code, done.output) == (0, "")
    written = {each.name: each.read_text("utf-8") for each in (tmp_path / "made" / "below").iterdir()}
    assert written == {f"{name}.schema.json": schema_text(name) for name in BY_NAME}
    for _ in range(2):
        assert run(schema, ["server", "-o", str(tmp_path / "one")]).exit_code == 0
    (only,) = (tmp_path / "one").iterdir()
    assert (only.name, only.read_text("utf-8"), only.stat().st_mode & 0o777) == (
        "server.schema.json",
        schema_text("server"),
        0o644,
    )
    wrong = run(schema, ["tols", "-o", str(tmp_path / "none")])
    assert wrong.exit_code == 2
    assert "did you mean `tools`?" in wrong.output
    assert not (tmp_path / "none").exists()
    (tmp_path / "file").write_text("")
    assert run(schema, ["-o", str(tmp_path / "file" / "x")]).exit_code == 2
    assert run(schema, ["tools", "-o", str(tmp_path / "file")]).exit_code == 2
