"""Views to classes: the structures of all of them to templates, and the values of each put where their stand-ins are.

Nothing of a schema reaches a class but through `mcpc.schema.code.literal`, and as the names `mcpc.models.names` makes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import TYPE_CHECKING

from mcpc.models import store
from mcpc.models.shapes import NOTES
from mcpc.models.structures import FIELD, HEAD, NUMBER, ROOT, structure_of
from mcpc.models.vetting import VettingError, classes
from mcpc.schema.code import literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mcpc.models.shapes import Shape
    from mcpc.models.structures import Structure, Values
    from mcpc.models.vetting import Result, Template
    from mcpc.models.view import View
    from mcpc.schema.code import Code

STAND_IN = re.compile(
    r"'MCPC_(?P<text>\d+)'|McpcClass(?P<class>\d+)|\b(?P<number>9\d{5})(?:\.0)?\b|(?P<alias>'MCPC_ALIAS \d+')"
    r"|(?P<made>McpcMade\d+)"
)
"""Stand-ins in a template; see `mcpc.models.structures` and `mcpc.models.generation`."""
INDENT = "    "
PARAMETER = re.compile(r"\(RootModel\[.*\]\):")


class NoTemplateError(Exception):
    """A structure the generator cannot do; the message says why."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One field, head or root of a class: its structure and what is put into it; the name is the field's or class's."""

    structure: Structure
    values: Values
    name: str
    alias: str = ""
    default: Code | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """One class: its pieces, head or root first, and what its docstring says."""

    name: str
    pieces: tuple[Piece, ...]
    description: str

    @property
    def refers_to(self) -> tuple[str, ...]:
        """The classes that it refers to."""
        return tuple(name for piece in self.pieces for name in piece.values.classes)


def composed(views: Sequence[View]) -> list[Result]:
    """Return the classes of each view, or why there are none."""
    drafts = [[_draft(name, view) for name in view.definitions] for view in views]
    structures = sorted({piece.structure for one in drafts for draft in one for piece in draft.pieces})
    known = dict(zip(structures, _templates(structures), strict=True))
    return [_composed(one, known) for one in drafts]


def _templates(structures: Sequence[Structure]) -> list[Template | str]:
    """Return templates that were made before, or make them; only then is the generator imported."""
    if not structures:
        return []
    name = store.name_of(structures)
    found = store.load(name)
    if found is None or len(found) != len(structures):
        found = resolve_name("mcpc.models.generation:templates")(structures)
        store.keep(name, found)
    return found


def _draft(name: str, view: View) -> Draft:
    shape = view.definitions[name]
    description = str(shape.get("description", ""))
    properties = shape.get("properties")
    if not isinstance(properties, dict):
        root = {key: value for key, value in shape.items() if key not in NOTES}
        return Draft(name, (_whole(ROOT, root, name),), description)
    head = _whole(HEAD, {"of": shape["additionalProperties"]}, name)
    fields = (_field(key, inner, name, view) for key, inner in properties.items() if isinstance(inner, dict))
    return Draft(name, (head, *fields), description)


def _whole(kind: str, shape: Shape, name: str) -> Piece:
    structure, values = structure_of(kind, shape)
    return Piece(structure, values, name)


def _field(key: str, shape: Shape, owner: str, view: View) -> Piece:
    required = view.definitions[owner].get("required")
    name = view.fields.get(f"{owner}.{key}", key)
    structure, values = structure_of(
        FIELD, shape, required=isinstance(required, list) and key in required, aliased=name != key
    )
    return Piece(structure, values, name, key, literal(shape["default"]) if "default" in shape else None)


def _composed(drafts: Sequence[Draft], known: Mapping[Structure, Template | str]) -> Result:
    """Return classes, each behind those it refers to if that can be; what was put together is read once more."""
    made: dict[str, str] = {}
    incomplete: dict[str, None] = {}
    try:
        for draft in _in_order(drafts):
            if any(name not in made or name in incomplete for name in draft.refers_to):
                incomplete[draft.name] = None
            made[draft.name] = _class(draft, known, is_early=any(name not in made for name in draft.refers_to))
        return classes("\n".join((*made.values(), *(f"{name}.model_rebuild()" for name in incomplete))), made.keys())
    except (NoTemplateError, VettingError, SyntaxError) as problem:
        return str(problem)


def _in_order(drafts: Sequence[Draft]) -> Iterator[Draft]:
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


def _class(draft: Draft, known: Mapping[Structure, Template | str], *, is_early: bool) -> str:
    """Return the source of a class; `is_early`: it refers to one that is not made yet."""
    first, *fields = draft.pieces
    head = _filled(first, known)
    if is_early and first.structure.kind == ROOT:
        # What a class derives from has to be there when it is made; its annotations may come later.
        head = PARAMETER.sub("(RootModel[Any]):", head, count=1)
    lines = head.split("\n")
    if draft.description:
        lines.insert(1, INDENT + literal(draft.description))
    return "\n".join((*lines, *(INDENT + _filled(piece, known) for piece in fields)))


def _filled(piece: Piece, known: Mapping[Structure, Template | str]) -> str:
    """Return a template with its values."""
    template = known[piece.structure]
    if isinstance(template, str):
        raise NoTemplateError(template)
    source, default = template
    text = STAND_IN.sub(lambda found: _value(found, piece), source)
    if piece.structure.kind != FIELD:
        return text
    value = piece.default if piece.default is not None and default is not None else default
    return f"{piece.name}: {text}" + ("" if value is None else f" = {value}")


def _value(found: re.Match[str], piece: Piece) -> str:
    """Return what a stand-in stands in for."""
    if found["alias"]:
        return literal(piece.alias)
    if found["made"]:
        return piece.name
    if found["class"]:
        return piece.values.classes[int(found["class"])]
    return piece.values.written[int(found["text"] or int(found["number"]) - NUMBER)]
