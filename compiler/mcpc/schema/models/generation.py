"""Generation of templates from structures by datamodel-code-generator, in this process.

Its output is untrusted: `mcpc.schema.models.ast_allowlist` allows only a few forms of classes and fields.  If it cannot
process all structures at once, they are split until the failing one is alone.
"""

from __future__ import annotations

import ast
import json
import warnings
from typing import TYPE_CHECKING

from datamodel_code_generator import generate
from datamodel_code_generator.enums import DataModelType, InputFileType, TargetPydanticVersion
from datamodel_code_generator.format import PythonVersion
from datamodel_code_generator.parser import LiteralType

from mcpc.schema.models.ast_allowlist import NotAllowedError, checked_classes
from mcpc.schema.models.view_schemas import CLASS, FIELD, ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcpc.reading import Json
    from mcpc.schema.models.ast_allowlist import Classes, Template
    from mcpc.schema.models.view_schemas import Shape, Structure

DIALECT = "https://json-schema.org/draft/2020-12/schema"
FIELDS, NAME, ALIASED, FIELD_NAME = "McpcFields", "McpcMade{}", "MCPC_ALIAS {}", "field_{}"


def generate_templates(structures: Sequence[Structure]) -> list[Template | str]:
    """Return the template of each structure, or why there is none."""
    if not structures:
        return []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return list(_templates(structures))
    except Exception as problem:  # noqa: BLE001 - whatever it cannot do is told of the one structure that it cannot do
        if len(structures) == 1:
            return [f"{type(problem).__name__}: {(str(problem).splitlines() or ['no reason given'])[0]}"]
    half = len(structures) // 2
    return [*generate_templates(structures[:half]), *generate_templates(structures[half:])]


def _templates(structures: Sequence[Structure]) -> list[Template]:
    definitions, aliases = _definitions(structures)
    made = checked_classes(generate_source(definitions, aliases), definitions.keys())
    fields = _fields(made)
    templates: list[Template] = []
    for number, item in enumerate(structures):
        if item.kind == FIELD:
            templates.append(fields[FIELD_NAME.format(number)])
        else:
            text = made[NAME.format(number)].source
            templates.append((text if item.kind == ROOT else without_fields(text), None))
    return templates


def _definitions(structures: Sequence[Structure]) -> tuple[dict[str, Shape], dict[str, str]]:
    """Return classes: of each root and head, of all fields together, of placeholders; and the fields with aliases."""
    shapes = [json.loads(item.shape) for item in structures]
    properties: Shape = {}
    required: list[Json] = []
    definitions: dict[str, Shape] = {}
    aliases: dict[str, str] = {}
    for number, (entry, shape) in enumerate(zip(structures, shapes, strict=True)):
        if entry.kind != FIELD:
            # The field `x` marks the end of a head: `without_fields` takes what is before it.
            definitions[NAME.format(number)] = shape if entry.kind == ROOT else object_shape({"x": {}}, [], shape["of"])
            continue
        name = (ALIASED if entry.aliased else FIELD_NAME).format(number)
        properties[name] = shape
        required += [name] if entry.required else []
        if entry.aliased:
            aliases[f"{FIELDS}.{name}"] = FIELD_NAME.format(number)
    # No structure refers to more classes than it has references.
    most = max(text.count('"$ref"') for text in (item.shape for item in structures))
    definitions |= {CLASS.format(number): object_shape({"x": {}}, ["x"], True) for number in range(most)}
    definitions[FIELDS] = object_shape(properties, required, True)
    return definitions, aliases


def object_shape(properties: Shape, required: list[Json], others: Json) -> Shape:
    """Return the shape of an object."""
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": others}


def _fields(made: Classes) -> dict[str, Template]:
    text = made[FIELDS].source
    (node,) = ast.parse(text).body
    if not isinstance(node, ast.ClassDef):
        raise NotAllowedError("the fields are not in a class")
    return {
        item.target.id: (
            source_segment(text, item.annotation),
            None if item.value is None else source_segment(text, item.value),
        )
        for item in node.body
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
    }


def without_fields(text: str) -> str:
    """Return the source of a class without its fields: its head."""
    (node,) = ast.parse(text).body
    inner = node.body if isinstance(node, ast.ClassDef) else []
    end = next(item.lineno for item in inner if isinstance(item, ast.AnnAssign))
    return "\n".join(text.split("\n")[: end - 1])


def source_segment(text: str, node: ast.expr) -> str:
    """Return the source of an expression."""
    return ast.get_source_segment(text, node) or ""


def generate_source(definitions: Mapping[str, Shape], aliases: Mapping[str, str]) -> str:
    """Return the generator's output for some definitions."""
    text = generate(
        json.dumps({"$schema": DIALECT, "$defs": definitions}),
        input_file_type=InputFileType.JsonSchema,
        output_model_type=DataModelType.PydanticV2BaseModel,
        target_python_version=PythonVersion.PY_311,
        target_pydantic_version=TargetPydanticVersion.V2_11,
        aliases=aliases or None,
        allow_population_by_field_name=True,
        disable_timestamp=True,
        enum_field_as_literal=LiteralType.All,
        field_constraints=True,
        formatters=[],
        skip_root_model=True,
        strict_nullable=True,
        use_annotated=True,
        use_schema_description=True,
        use_standard_collections=True,
        use_tuple_for_closed_arrays=True,
        use_union_operator=True,
    )
    if not isinstance(text, str):
        raise NotAllowedError("it is more than one module")
    return text
