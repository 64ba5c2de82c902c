"""Models of schemas: what is hard is generated and takes what the schema admits, what is hostile becomes no code."""

import ast
import json
import os
import subprocess
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pydantic
import pytest

from mcpc.model.ir import Schema
from mcpc.reading import Node
from mcpc.sandbox import cache_dir
from mcpc.schema import SchemaError
from mcpc.schema import compile as compiled
from mcpc.schema.models import (
    Model,
    ModelRequest,
    all_tools_module,
    ast_allowlist,
    composition,
    generation,
    names,
    store,
    tool_module,
)
from mcpc.schema.models.ast_allowlist import NotAllowedError, checked_classes
from mcpc.schema.models.view import MAX_SCHEMAS, ModelSchema, model_schema
from mcpc.schema.models.view_schemas import NoModelError
from support.kinds import KINDS, Kind
from support.needs import ROOT
from support.random_schemas import DRAFTS, Generator
from support.random_values import Values
from support.schemas import node_of

pytestmark = pytest.mark.sampled(2)

Json = Any
FOLDER = ROOT / "tests/golden/models"
NUMBERS = count()


@pytest.fixture(autouse=True)
def _own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCPC_CACHE_DIR", str(tmp_path / "cache"))


def seen(schema: Json, root: str = "ToolInput", *, closed: bool = True) -> ModelSchema:
    return model_schema(Schema(node_of(schema), closed=closed), root)


def written(schema: Json) -> Json:
    """Return a schema of a golden file, whose large parts are described."""
    match schema:
        case {"deep": int(levels)}:
            return deep(levels)
        case {"many": int(number)}:
            return {"type": "object", "properties": {f"p{n}": {} for n in range(number)}}
        case {"anyOf": str(number)}:
            return {"anyOf": [{"type": "object", "properties": {f"p{n}": {}}} for n in range(int(number))]}
    return {key: written(inner) for key, inner in schema.items()} if isinstance(schema, dict) else schema


def views() -> dict[str, ModelSchema | str]:
    """Return the views of all schemas of the golden file, or why there is none."""
    found: dict[str, ModelSchema | str] = {}
    for number, case in enumerate(json.loads((FOLDER / "schemas.json").read_text("utf-8")), 1):
        try:
            node = Node(written(case["schema"]), "schema.json", 0, 0)
            found[case["name"]] = model_schema(Schema(node, closed=case.get("closed", False)), f"M{number}Input")
        except NoModelError as problem:
            found[case["name"]] = str(problem)
    return found


def short(view: ModelSchema | str) -> Iterator[str]:
    if isinstance(view, str):
        yield f"    no model: {view}\n"
        return
    definitions = list(view.definitions.items())
    if len(definitions) > 50:
        yield f"    {len(definitions)} classes, the last of which is\n"
    for name, shape in definitions[-1:] if len(definitions) > 50 else definitions:
        yield f"    {name} {json.dumps(shape)[:3000]}\n"
    yield from (f"    {name} is {given}\n" for name, given in view.fields.items())


def test_the_views_of_schemas(golden: Callable[[Path, str], None]) -> None:
    lines = (line for name, view in views().items() for line in (f"{name}\n", *short(view)))
    golden(FOLDER / "views.txt", "".join(lines))


def test_the_module_of_schemas(golden: Callable[[Path, str], None]) -> None:
    small = [view for view in views().values() if isinstance(view, ModelSchema) and len(str(view)) < 5_000]
    models = []
    for view, classes in zip(small, composition.compose_classes(small), strict=True):
        assert isinstance(classes, dict), classes
        root = next(iter(view.definitions))
        models.append(Model(ModelRequest(root, root, root, Schema(node_of({})), view), classes))
    text = all_tools_module(models)
    golden(FOLDER / "module.txt", text)
    loaded(text)


def loaded(text: str) -> types.ModuleType:
    """Import a generated module, under a name by which pydantic finds it."""
    module = types.ModuleType(f"generated_{next(NUMBERS)}")
    sys.modules[module.__name__] = module
    exec(compile(text, module.__name__, "exec", dont_inherit=True), module.__dict__)
    return module


def text_of(schema: Json, *, closed: bool = True) -> str:
    shown = seen(schema, closed=closed)
    (made,) = composition.compose_classes([shown])
    assert isinstance(made, dict), made
    wanted = ModelRequest("tool", "Tool", "ToolInput", Schema(node_of(schema)), shown)
    return tool_module([Model(wanted, made)])


def there_and_back(model: Any, value: Json) -> Json:
    return model.model_validate(value, by_alias=True, by_name=False).model_dump(
        mode="json", by_alias=True, exclude_unset=True
    )


def same(one: Json, other: Json) -> bool:
    """Compare as JSON does: 1 is 1.0, and true is neither."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return one == other


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@pytest.mark.sampled(4)
def test_a_model_takes_what_its_schema_admits_and_gives_it_back(kind: Kind) -> None:
    text = text_of(kind.schema)
    model = loaded(text).ToolInput
    validator = compiled({**kind.schema})
    for value in kind.valid:
        assert validator.accepts(value), (value, validator.errors(value))
        result = there_and_back(model, value)
        assert same(result, value), f"{value} became {result}:\n{text}"


VAGUE = {
    *("booleans for schemas", "const object", "dependentRequired", "if then else", "lookahead", "mixed enum", "not"),
    *("overlapping oneOf", "patternProperties", "prefixItems", "propertyNames", "uniqueItems"),
}
"""Kinds of which a model may say too little to refuse what the compiled validator refuses."""


@pytest.mark.parametrize("name", sorted(KINDS.keys() - VAGUE))
def test_a_model_says_something(name: str) -> None:
    """Most of what is refused for its type a model refuses as well."""
    kind = KINDS[name]
    model = loaded(text_of(kind.schema)).ToolInput
    if not kind.invalid:
        return
    refused = [value for value in kind.invalid if not takes(model, value)]
    assert refused


def takes(model: Any, value: Json) -> bool:
    try:
        model.model_validate(value, strict=True, by_alias=True, by_name=False)
    except pydantic.ValidationError:
        return False
    return True


@pytest.mark.parametrize("draft", DRAFTS)
def test_no_random_schema_has_a_model_that_refuses_what_it_admits(draft: str) -> None:
    judged = 0
    for seed in range(60):
        generator = Generator(f"models {seed}", draft)
        schema = {**generator.whole(), "type": "object"}
        if draft == "draft7" and "$ref" in schema:
            continue  # beside which a type counts for nothing
        try:
            validator = compiled(schema)
        except SchemaError:
            continue
        values = Values(generator, schema)
        fitting = [value for value in (values.one() for _ in range(20)) if isinstance(value, dict)]
        fitting = [value for value in fitting if validator.accepts(value) and not too_large(value)]
        if not fitting:
            continue
        text = text_of(schema, closed=False)
        model = loaded(text).ToolInput
        for value in fitting:
            judged += 1
            result = there_and_back(model, value)
            assert rounded(result) == rounded(value), f"{json.dumps(schema)}\n{value} became {result}:\n{text}"
    assert judged > 150


def too_large(value: Json) -> bool:
    """Say whether pydantic cannot make a whole number of a float in it."""
    parts = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    return (isinstance(value, float) and abs(value) > 1e300) or any(map(too_large, parts))


def rounded(value: Json) -> Json:
    """Return a value whose numbers are binary: what the schema calls a number is a float."""
    if isinstance(value, dict):
        return {key: rounded(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [rounded(inner) for inner in value]
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


def test_every_attribute_of_a_model_can_be_the_name_of_a_property() -> None:
    odd = [*dir(pydantic.BaseModel), *dir(pydantic.RootModel), "model_validate_x", "model_dump_x", "root"]
    schema = {"type": "object", "properties": {name: {"type": "integer"} for name in odd}}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = loaded(text_of(schema)).ToolInput
    value = {name: number for number, name in enumerate(odd)}
    assert there_and_back(model, value) == value
    assert {name for name in dir(pydantic.BaseModel) if name[0] != "_"} - {
        name for name in dir(pydantic.BaseModel) if name.startswith(names.PROTECTED)
    } <= names.ATTRIBUTES


HOSTILE = [
    '"""',
    "'''",
    "\\",
    '\\"""',
    "\n",
    "\r\n",
    "\r",
    "\f",
    "\0",
    "\u2028",
    "😀",
    "{{x}}",
    "#",
    "${x}",
    "')",
    '")',
]
INJECTIONS = [f"{quote}\nimport os\nos.abort()\n{quote}" for quote in HOSTILE] + [
    "x: __import__('os').abort() = 1",
    "]; __import__('os').abort()  #",
    "' + __import__('os').abort() + '",
]


@pytest.mark.parametrize("text", INJECTIONS)
def test_no_text_of_a_schema_becomes_code(text: str) -> None:
    schema = {
        "type": "object",
        "title": text,
        "description": text,
        "$comment": text,
        "properties": {
            text: {"type": "string", "description": text, "title": text, "pattern": "a", "examples": [text]},
            "d": {"type": "string", "default": text},
            "e": {"enum": [text, "a"], "default": text},
            "c": {"const": text},
            "o": {"$ref": "#/$defs/" + text.replace("~", "~0").replace("/", "~1").replace("%", "%25")},
            "u": {
                "oneOf": [
                    {"type": "object", "properties": {"t": {"const": text}}},
                    {"type": "object", "properties": {"t": {"const": "b"}}},
                ]
            },
        },
        "$defs": {text: {"type": "object", "title": text, "description": text, "properties": {text: {}}}},
    }
    source = text_of(schema)
    called = {ast.unparse(node.func) for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)}
    assert called <= {"Field", "ConfigDict"} | {name for name in called if name.endswith(".model_rebuild")}
    value = {text: "x", "d": text, "e": text, "c": text, "o": {text: 1}, "u": {"t": text}}
    assert there_and_back(loaded(source).ToolInput, value) == value


REFUSED: list[str] = json.loads((FOLDER / "refused.json").read_text("utf-8"))


@pytest.mark.parametrize("source", REFUSED)
def test_what_no_model_needs_is_refused(source: str) -> None:
    with pytest.raises(NotAllowedError):
        checked_classes(source, {"A"})


def test_what_the_generator_cannot_do_is_told_of_that_schema_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    generate = generation.generate

    def faulty(text: str, **options: Any) -> object:
        if '"minLength"' in text:
            raise KeyError("no idea")
        return generate(text, **options)

    monkeypatch.setattr(generation, "generate", faulty)
    limits: list[dict[str, Json]] = [{"minLength": n} if n == 3 else {"maxLength": n} for n in range(7)]
    views = [
        seen({"type": "object", "properties": {"x": {"type": "string", **limit}}}, f"T{n}Input")
        for n, limit in enumerate(limits)
    ]
    made = composition.compose_classes(views)
    assert [one if isinstance(one, str) else list(one) for one in made] == [
        "KeyError: 'no idea'" if n == 3 else [f"T{n}Input"] for n in range(7)
    ]


def many(nested: int) -> dict[str, Json]:
    """A schema whose references double at each of so many steps."""
    steps = {
        f"s{n}": {
            "type": "array",
            "prefixItems": [{"$ref": f"#/$defs/s{n + 1}"}, {"$ref": f"#/$defs/s{n + 1}", "minItems": 1}],
        }
        for n in range(nested)
    }
    return {
        "type": "object",
        "properties": {"x": {"$ref": "#/$defs/s0"}},
        "$defs": {**steps, f"s{nested}": {"type": "string"}},
    }


def deep(levels: int) -> dict[str, Json]:
    schema: dict[str, Json] = {"type": "object", "properties": {}}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"x": schema}}
    return schema


@pytest.mark.parametrize("schema", [many(30), deep(80)], ids=["doubling", "deep"])
def test_a_schema_that_unfolds_without_end_has_no_model(schema: dict[str, Json]) -> None:
    with pytest.raises(NoModelError, match="too many schemas"):
        seen(schema)
    assert MAX_SCHEMAS < 2**30


GARBAGE: list[dict[str, Json]] = json.loads((FOLDER / "garbage.json").read_text("utf-8"))


@pytest.mark.parametrize("schema", GARBAGE)
def test_a_wrong_schema_has_some_model(schema: dict[str, Json]) -> None:
    """What is wrong with it the compiler of schemas reports."""
    assert isinstance(loaded(text_of(schema)).ToolInput, type)


def test_names_of_classes() -> None:
    tools = ["file_read", "file-read", "fileRead", "2fa", "class", "a.b", "_", "x", "xInput", "x_input_output", "toolX"]
    found = names.tool_classes(tools)
    assert found == names.tool_classes(reversed(tools))
    assert found == {
        "_": "Tool", "x": "X", "class": "Class", "a.b": "AB", "2fa": "Tool2fa", "toolX": "ToolX", "xInput": "Tool2XInput",
        "file-read": "FileRead", "fileRead": "ToolFileRead", "file_read": "Tool2FileRead", "x_input_output": "Tool3XInputOutput",
    }  # fmt: skip
    roots = {root: tool for tool, base in found.items() for root in (base + "Input", base + "Output")}
    assert len(roots) == 2 * len(tools)
    assert all(root.isidentifier() for root in roots)
    assert not [(one, other) for one in roots for other in roots if one != other and other.startswith(one)]
    assert all(names.owning_tool(f"{root}Input3Output", roots) == tool for root, tool in roots.items())


def test_what_is_generated_beside_a_schema_does_not_change_its_classes() -> None:
    views = [seen(kind.schema, f"{names.pascal_case(name)}Input") for name, kind in KINDS.items()]
    together = composition.compose_classes(views)
    assert together == [one for shown in views for one in composition.compose_classes([shown])]
    assert together[::-1] == composition.compose_classes(views[::-1])


@pytest.mark.slow
def test_the_same_whatever_the_hash_seed() -> None:
    code = (
        "import sys;from support.kinds import KINDS;from support.schemas import node_of;from mcpc.model.ir import Schema;"
        "from mcpc.schema.models.view import model_schema;from mcpc.schema.models.composition import compose_classes;"
        "print(compose_classes([model_schema(Schema(node_of(k.schema)), f'K{n}Input') for n, k in enumerate(KINDS.values())]))"
    )
    path = os.pathsep.join(str(ROOT / folder) for folder in ("compiler", "runtime", "tests"))
    said = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "5")
    }
    assert len(said) == 1
    assert len(said.pop()) > 1000


def views_of(number: int) -> list[ModelSchema]:
    return [seen({"type": "object", "properties": {f"p{n}": {"type": "integer"}}}, f"T{n}Input") for n in range(number)]


def test_what_was_generated_is_kept_and_what_is_kept_is_not_generated(monkeypatch: pytest.MonkeyPatch) -> None:
    views = views_of(3)
    first = composition.compose_classes(views)
    monkeypatch.setattr(generation, "generate_templates", None)
    assert composition.compose_classes(views) == first
    assert composition.compose_classes(views_of(5))[:3] == first, "what only differs in words has the same templates"


def test_as_many_templates_are_made_as_there_are_structures(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    templates = generation.generate_templates
    monkeypatch.setattr(generation, "generate_templates", lambda given: asked.append(len(given)) or templates(given))
    composition.compose_classes(views_of(500))
    assert asked == [2]


@pytest.mark.parametrize("content", [b"", b"x", b"0" * 64 + b"\n[]", None])
def test_what_is_kept_is_believed_only_if_it_is_whole(content: bytes | None) -> None:
    views = views_of(3)
    first = composition.compose_classes(views)
    (stored,) = (cache_dir.cache_folder() / store.KIND).iterdir()
    stored.write_bytes(stored.read_bytes()[:-1] if content is None else content)
    assert composition.compose_classes(views) == first


def test_a_store_that_cannot_be_written_is_no_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("MCPC_CACHE_DIR", str(tmp_path / "file"))
    assert len(composition.compose_classes(views_of(2))) == 2


RECURSIVE = {
    "a list of itself": {"t": {"type": "array", "items": {"$ref": "#/$defs/t"}}},
    "a union with itself": {"t": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"$ref": "#/$defs/t"}}]}},
    "a map of itself": {"t": {"type": ["object", "null"], "additionalProperties": {"$ref": "#/$defs/t"}}},
    "in turn": {
        "t": {"type": "array", "items": {"$ref": "#/$defs/u"}},
        "u": {"type": "object", "properties": {"v": {"$ref": "#/$defs/t"}, "w": {"$ref": "#/$defs/u"}}},
    },
}
NESTED: dict[str, Json] = {
    "a list of itself": [[], [[], []]],
    "a union with itself": ["a", [["b"], "c"]],
    "a map of itself": {"a": {"b": {}}, "c": None},
    "in turn": [{"v": [{"w": {"v": []}}]}, {}],
}


@pytest.mark.parametrize("name", RECURSIVE)
def test_what_is_made_of_itself_without_an_object(name: str) -> None:
    schema = {"type": "object", "properties": {"x": {"$ref": "#/$defs/t"}}, "$defs": RECURSIVE[name]}
    value = {"x": NESTED[name]}
    assert compiled(schema).accepts(value)
    assert same(there_and_back(loaded(text_of(schema)).ToolInput, value), value)


@pytest.mark.slow
def test_all_kinds_in_one_module_are_typed_and_readable(tmp_path: Path) -> None:
    models = []
    for number, kind in enumerate(KINDS.values()):
        schema = Schema(node_of(kind.schema), closed=True)
        wanted = ModelRequest(
            f"t{number}", f"T{number}", f"T{number}Input", schema, model_schema(schema, f"T{number}Input")
        )
        (made,) = composition.compose_classes([wanted.view])  # type: ignore[list-item]
        assert isinstance(made, dict)
        models.append(Model(wanted, made))
    for number, name in enumerate(RECURSIVE):
        schema = Schema(
            node_of({"type": "object", "properties": {"x": {"$ref": "#/$defs/t"}}, "$defs": RECURSIVE[name]})
        )
        wanted = ModelRequest(
            f"r{number}", f"R{number}", f"R{number}Input", schema, model_schema(schema, f"R{number}Input")
        )
        (made,) = composition.compose_classes([wanted.view])  # type: ignore[list-item]
        assert isinstance(made, dict)
        models.append(Model(wanted, made))
    file = tmp_path / "models.py"
    file.write_text(all_tools_module(models), encoding="utf-8")
    argv = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--cache-dir", os.devnull, str(file)]
    checked = subprocess.run(argv, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert checked.returncode == 0, checked.stdout
    ruff = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "E9,F,I", str(file)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ruff.returncode == 0, ruff.stdout
    module = loaded(file.read_text(encoding="utf-8"))
    assert all(hasattr(module, name) for name in module.__all__)


def test_what_is_not_mentioned_imports_no_generator() -> None:
    code = "import sys, mcpc.pipeline; print(sorted({'pydantic', 'datamodel_code_generator'} & sys.modules.keys()))"
    path = os.pathsep.join(str(ROOT / folder) for folder in ("compiler", "runtime"))
    said = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=True
    )
    assert said.stdout == "[]\n"


def test_the_vetting_keeps_what_it_reads() -> None:
    made = checked_classes(
        "from pydantic import BaseModel\nclass A(BaseModel):\n    x: A | None = None\nA.model_rebuild()\n", {"A"}
    )
    assert made == {"A": ast_allowlist.ModelClass("class A(BaseModel):\n    x: A | None = None", ("BaseModel",), True)}
