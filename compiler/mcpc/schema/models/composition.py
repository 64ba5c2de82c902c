"""Composition of classes: structures become templates, and literals replace their placeholders.

Values of a schema reach a class only through `mcpc.schema.code.literal`, and as names that `mcpc.schema.models.names`
makes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import TYPE_CHECKING

from mcpc.schema.code import literal
from mcpc.schema.models import store
from mcpc.schema.models.ast_allowlist import NotAllowedError, checked_classes
from mcpc.schema.models.view_schemas import FIELD, HEAD, NOTES, NUMBER, ROOT, structure_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mcpc.schema.code import PythonCode
    from mcpc.schema.models.ast_allowlist import Result, Template
    from mcpc.schema.models.view import ModelSchema
    from mcpc.schema.models.view_schemas import Shape, Structure, Values

PLACEHOLDER = re.compile(
    r"'MCPC_(?P<text>\d+)'|McpcClass(?P<class>\d+)|\b(?P<number>9\d{5})(?:\.0)?\b|(?P<alias>'MCPC_ALIAS \d+')"
    r"|(?P<made>McpcMade\d+)"
)
"""Placeholders in a template; see `mcpc.schema.models.view_schemas` and `mcpc.schema.models.generation`."""
INDENT = "    "
PARAMETER = re.compile(r"\(RootModel\[.*\]\):")


class NoTemplateError(Exception):
    """A structure that the generator cannot process; the message describes why."""


@dataclass(frozen=True, slots=True)
class ClassPart:
    """One field, head or root of a class: its structure and its values; the name is the field's or class's."""

    structure: Structure
    values: Values
    name: str
    alias: str = ""
    default: PythonCode | None = None


@dataclass(frozen=True, slots=True)
class ClassDraft:
    """One class: its parts, head or root first, and the text of its docstring."""

    name: str
    pieces: tuple[ClassPart, ...]
    description: str

    @property
    def refers_to(self) -> tuple[str, ...]:
        """The classes that it refers to."""
        return tuple(name for piece in self.pieces for name in piece.values.classes)


def compose_classes(views: Sequence[ModelSchema]) -> list[Result]:
    """Return the classes of each view, or why there are none."""
    drafts = [[_draft(name, view) for name in view.definitions] for view in views]
    # In one order for the same schemas, because the name in the cache depends on it.
    structures = sorted({piece.structure for item in drafts for draft in item for piece in draft.pieces})
    known = dict(zip(structures, _templates(structures), strict=True))
    return [_compose(item, known) for item in drafts]


def _templates(structures: Sequence[Structure]) -> list[Template | str]:
    """Return cached templates, or generate them; only then is the generator imported."""
    if not structures:
        return []
    name = store.cache_name(structures)
    templates = store.load_templates(name)
    if templates is None or len(templates) != len(structures):
        templates = resolve_name("mcpc.schema.models.generation:generate_templates")(structures)
        store.store_templates(name, templates)
    return templates


def _draft(name: str, view: ModelSchema) -> ClassDraft:
    shape = view.definitions[name]
    description = str(shape.get("description", ""))
    properties = shape.get("properties")
    if not isinstance(properties, dict):
        root = {key: value for key, value in shape.items() if key not in NOTES}
        return ClassDraft(name, (_head_or_root(ROOT, root, name),), description)
    head = _head_or_root(HEAD, {"of": shape["additionalProperties"]}, name)
    fields = (_field(key, inner, name, view) for key, inner in properties.items() if isinstance(inner, dict))
    return ClassDraft(name, (head, *fields), description)


def _head_or_root(kind: str, shape: Shape, name: str) -> ClassPart:
    structure, values = structure_of(kind, shape)
    return ClassPart(structure, values, name)


def _field(key: str, shape: Shape, owner: str, view: ModelSchema) -> ClassPart:
    required = view.definitions[owner].get("required")
    name = view.fields.get(f"{owner}.{key}", key)
    structure, values = structure_of(
        FIELD, shape, required=isinstance(required, list) and key in required, aliased=name != key
    )
    return ClassPart(structure, values, name, key, literal(shape["default"]) if "default" in shape else None)


def _compose(drafts: Sequence[ClassDraft], known: Mapping[Structure, Template | str]) -> Result:
    """Return classes, each after those it refers to if possible; the composed text is checked again."""
    made: dict[str, str] = {}
    incomplete: dict[str, None] = {}
    try:
        for draft in _in_dependency_order(drafts):
            # pydantic completes such a class only when what it refers to, directly or not, is there.
            if any(name not in made or name in incomplete for name in draft.refers_to):
                incomplete[draft.name] = None
            made[draft.name] = _class(draft, known, is_early=any(name not in made for name in draft.refers_to))
        return checked_classes(
            "\n".join((*made.values(), *(f"{name}.model_rebuild()" for name in incomplete))), made.keys()
        )
    except (NoTemplateError, NotAllowedError, SyntaxError) as problem:
        return str(problem)


def _in_dependency_order(drafts: Sequence[ClassDraft]) -> Iterator[ClassDraft]:
    by_name = {draft.name: draft for draft in drafts}
    seen = set[str]()
    waiting = [(draft.name, False) for draft in reversed(drafts)]
    while waiting:
        name, is_after = waiting.pop()
        if is_after:
            yield by_name[name]
        elif name not in seen:
            seen.add(name)
            waiting.append((name, True))
            waiting += [(inner, False) for inner in reversed(by_name[name].refers_to) if inner not in seen]


def _class(draft: ClassDraft, known: Mapping[Structure, Template | str], *, is_early: bool) -> str:
    """Return the source of a class; `is_early`: it refers to a class that is defined later."""
    first, *fields = draft.pieces
    head = _filled(first, known)
    if is_early and first.structure.kind == ROOT:
        # What a class derives from has to be there when it is made; its annotations may come later.
        head = PARAMETER.sub("(RootModel[Any]):", head, count=1)
    lines = head.split("\n")
    if draft.description:
        # Below the line of `class`.
        lines.insert(1, INDENT + literal(draft.description))
    return "\n".join((*lines, *(INDENT + _filled(piece, known) for piece in fields)))


def _filled(piece: ClassPart, known: Mapping[Structure, Template | str]) -> str:
    """Return a template with its values."""
    template = known[piece.structure]
    if isinstance(template, str):
        raise NoTemplateError(template)
    source, default = template
    text = PLACEHOLDER.sub(lambda match: _value(match, piece), source)
    if piece.structure.kind != FIELD:
        return text
    value = piece.default if piece.default is not None and default is not None else default
    return f"{piece.name}: {text}" + ("" if value is None else f" = {value}")


def _value(match: re.Match[str], piece: ClassPart) -> str:
    """Return the value of a placeholder."""
    if match["alias"]:
        return literal(piece.alias)
    if match["made"]:
        return piece.name
    if match["class"]:
        return piece.values.classes[int(match["class"])]
    return piece.values.written[int(match["text"] or int(match["number"]) - NUMBER)]
