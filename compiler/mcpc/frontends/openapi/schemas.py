"""Schemas of documents as JSON Schema 2020-12, for arguments: what every client takes, and compiles without an error.

3.1 is the model. What other versions write differently is rewritten, what a response alone has (`readOnly`) is left
out, and so are examples, which some clients' validators read as schemas. A mistake with one meaning is repaired and
noted; any other keyword with a wrong value is left out, which allows more, and the API judges.

Each schema that something refers to is converted once. `Converted` has what refers to what, and `assemble` makes a
self-contained schema of it: what is used once, or is small, stands in its place, everything else in `$defs`.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from mcpc.diagnostics import Span
from mcpc.frontends.openapi.documents import DocumentValue, UnresolvedError
from mcpc.frontends.openapi.problems import HIDDEN, UnusableError
from mcpc.frontends.openapi.texts import clean_text, has_hidden
from mcpc.reading.json_tree import implied_node
from mcpc.schema.ecma.translation import translate
from mcpc.schema.graph import components, is_cycle
from mcpc.schema.keywords import OTHER_TYPE_NAMES, TYPE_NAMES
from mcpc.schema.slow_patterns import slow_patterns
from mcpc_runtime.protocol.validation.formats.ecma_regex import PatternError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mcpc.frontends.openapi.documents import DocumentFiles
    from mcpc.frontends.openapi.problems import Problems

Json = Any
DEEPEST = 30
"""How deep one schema may be nested, references aside."""
SMALL = 160
"""Bytes of a schema that stands in each place where it is used."""
COUNTS = (
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "minContains",
    "maxContains",
)
NUMBERS = ("minimum", "maximum", "multipleOf")
SCHEMAS = (
    "additionalProperties",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
    "unevaluatedProperties",
    "unevaluatedItems",
)
LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
MAPS = ("patternProperties", "dependentSchemas")
ANNOTATING = frozenset(("description", "default", "deprecated"))
PLAIN_BESIDE_DEFAULT = frozenset(("type", "enum", "description", "deprecated", "default"))
"""Beside others a default would have to be judged; it is told in the description instead."""
BESIDE_REFERENCE = ("description", "deprecated", "nullable")
"""What counts beside a reference of 3.0 and 2.0, where all of it is to be ignored."""
BYTES = {"type": "string", "contentEncoding": "base64"}
"""Bytes as an argument: the text of their base64."""
DEFINITIONS = "#/$defs/"
UNFIT = re.compile(r"[^A-Za-z0-9_.-]+")
HOMES = ("components", "definitions", "schemas")


@dataclass(slots=True)
class Schemas:
    """The schemas of one API; `definitions`: those that something refers to, by their names in `$defs`."""

    files: DocumentFiles
    problems: Problems
    is_old: bool
    definitions: dict[str, Json] = field(default_factory=dict)
    _names: dict[tuple[str, tuple[str | int, ...]], str] = field(default_factory=dict)
    _waiting: list[tuple[str, DocumentValue]] = field(default_factory=list)
    _failed: dict[str, UnusableError] = field(default_factory=dict)
    _current: DocumentValue | None = None

    def convert(self, place: DocumentValue) -> Json:
        """Return a schema that refers to others by their names in `definitions`."""
        made = self._schema(place, 0)
        while self._waiting:
            name, target = self._waiting.pop()
            self._current = target
            try:
                self.definitions[name] = self._schema(target, 0)
            except UnusableError as wrong:
                self._failed[name] = wrong
        self._current = None
        return made

    def failure(self, name: str) -> UnusableError | None:
        """Return why a definition cannot be had."""
        return self._failed.get(name)

    def follow(self, place: DocumentValue) -> DocumentValue:
        """Return what a value refers to."""
        try:
            return self.files.follow(place)
        except UnresolvedError as wrong:
            raise UnusableError(place.at("$ref"), str(wrong), wrong.hint) from None

    def _schema(self, place: DocumentValue, depth: int) -> Json:
        value = place.value
        if isinstance(value, bool):
            return {} if value else {"not": {}}
        if not isinstance(value, dict):
            self.problems.repair(place, "this is no schema: it allows everything")
            return {}
        if depth > DEEPEST:
            self.problems.repair(
                place, f"a schema is nested more than {DEEPEST} deep: what is deeper allows everything"
            )
            return {}
        if isinstance(value.get("$ref"), str):
            return self._reference(place, depth)
        made: dict[str, Json] = {}
        for keyword, convert in KEYWORDS:
            if keyword in value:
                convert(self, place, keyword, made, depth)
        if "default" in made and not PLAIN_BESIDE_DEFAULT.issuperset(made):
            said = f"Default: {json.dumps(made.pop('default'), ensure_ascii=False)}."
            made["description"] = f"{made['description']} {said}" if "description" in made else said
        return finished(made, is_nullable=value.get("nullable") is True)

    def _reference(self, place: DocumentValue, depth: int) -> Json:
        made = {"$ref": DEFINITIONS + self.name_of(self.follow(place))}
        others = {key: each for key, each in place.value.items() if key != "$ref"}
        if self.is_old:
            others = {key: others[key] for key in BESIDE_REFERENCE if key in others}
        beside = self._schema(DocumentValue(place.document, place.path, others), depth + 1) if others else {}
        return finished({**made, **beside}, is_nullable=others.get("nullable") is True)

    def name_of(self, target: DocumentValue) -> str:
        """Return the name of a schema among the definitions, which it becomes one of."""
        name = self._names.get(target.identity)
        if name is None:
            name = self._names[target.identity] = definition_name(target)
            self._waiting.append((name, target))
        return name

    def recursion(self, place: DocumentValue, keyword: str) -> DocumentValue:
        """Return what a reference to the outermost schema means: the one of the document that has it."""
        written, current = str(place.value[keyword]), self._current
        if current is not None and (keyword == "$recursiveRef" or current.value.get("$dynamicAnchor") == written[1:]):
            return current
        try:
            return self.files.target(place.document, written)
        except UnresolvedError as wrong:
            raise UnusableError(place.at(keyword), str(wrong), wrong.hint) from None

    def is_read_only(self, place: DocumentValue) -> bool:
        """Tell whether a property is of answers only."""
        if not isinstance(place.value, dict):
            return False
        target = self.follow(place).value if "$ref" in place.value else place.value
        return place.value.get("readOnly") is True or (isinstance(target, dict) and target.get("readOnly") is True)


def definition_name(target: DocumentValue) -> str:
    """Return a name for a schema: its own in `components`, else its last key and digits of a hash of its place."""
    file, path = target.identity
    words = [str(step) for step in path]
    own = UNFIT.sub("_", words[-1] if words else file.rpartition("/")[2].partition(".")[0]).strip("_") or "schema"
    is_named = len(path) in (2, 3) and words[-2] in HOMES and len(own) <= 64 and own == words[-1]
    if (is_named and "openapi" in target.document.value) or "swagger" in target.document.value:
        return own
    return f"{own[:48]}_{digits_of(json.dumps([file, words]))}"


def digits_of(text: str) -> str:
    """Return six digits of a hash, which tell names apart and never change."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:6]


def finished(made: dict[str, Json], *, is_nullable: bool) -> dict[str, Json]:
    """Return a schema that also allows null, if it is to."""
    if not is_nullable:
        return made
    made = dict(made)
    kinds = made.get("type")
    if kinds is not None:
        listed = [kinds] if isinstance(kinds, str) else kinds
        made["type"] = listed if "null" in listed else [*listed, "null"]
        if "enum" in made and None not in made["enum"]:
            made["enum"] = [*made["enum"], None]
        return made
    branches = next((word for word in ("anyOf", "oneOf") if word in made), "")
    if branches:
        return {**made, branches: [*made[branches], {"type": "null"}]}
    judged = {key: value for key, value in made.items() if key not in ANNOTATING}
    said = {key: value for key, value in made.items() if key in ANNOTATING}
    return {**said, "anyOf": [judged, {"type": "null"}]} if judged else made


def _type(schemas: Schemas, place: DocumentValue, keyword: str, made: dict[str, Json], _: int) -> None:
    written = place.value[keyword]
    if written == "file":
        made.update(BYTES)
        return
    kinds = []
    for kind in written if isinstance(written, list) else [written]:
        known = kind if kind in TYPE_NAMES else OTHER_TYPE_NAMES.get(kind) if isinstance(kind, str) else None
        if known is None or known != kind:
            as_what = f"read as `{known}`" if known else "left out"
            schemas.problems.repair(place.at(keyword), f"`{kind}` is no type of JSON: {as_what}")
        kinds += [known] if known and known not in kinds else []
    if kinds:
        made["type"] = kinds[0] if len(kinds) == 1 else kinds


def _text(schemas: Schemas, place: DocumentValue, keyword: str, made: dict[str, Json], _: int) -> None:
    text = clean_text(place.value[keyword])
    if has_hidden(place.value[keyword]):
        schemas.problems.repair(place.at(keyword), HIDDEN)
    if text:
        made[keyword] = text


def _format(_: Schemas, place: DocumentValue, keyword: str, made: dict[str, Json], __: int) -> None:
    """Keep formats of texts: some clients refuse those of numbers, as `int64`."""
    written = place.value[keyword]
    if written in ("binary", "byte", "base64", "base64url") and made.get("type", "string") == "string":
        made.update(BYTES)
    elif isinstance(written, str) and not {"integer", "number"} & {*_kinds(made)}:
        made[keyword] = written


def _kinds(made: dict[str, Json]) -> list[str]:
    kinds = made.get("type", [])
    return [kinds] if isinstance(kinds, str) else kinds


def _flag(_: Schemas, place: DocumentValue, keyword: str, made: dict[str, Json], __: int) -> None:
    if place.value[keyword] is True:
        made[keyword] = True


def _encoding(_: Schemas, place: DocumentValue, keyword: str, made: dict[str, Json], __: int) -> None:
    if isinstance(place.value[keyword], str):
        made[keyword] = place.value[keyword]


def _enum(schemas: Schemas, place: DocumentValue, keyword: str, made: dict[str, Json], _: int) -> None:
    written = place.value[keyword]
    if not isinstance(written, list) or not written:
        schemas.problems.repair(place.at(keyword), "`enum` has no values: left out, since it would allow nothing")
        return
    if any(map(_is_deep, written)):
        schemas.problems.repair(place.at(keyword), "`enum` has a value of many parts: left out")
        return
    once = list({json.dumps(value, sort_keys=True): value for value in written}.values())
    if len(once) != len(written):
        schemas.problems.repair(place.at(keyword), "`enum` has a value twice: it counts once")
    made[keyword] = once


def _const(schemas: Schemas, place: DocumentValue, keyword: str, made: dict[str, Json], _: int) -> None:
    if _is_deep(place.value[keyword]):
        schemas.problems.repair(place.at(keyword), "`const` is a value of many parts: left out")
    else:
        made[keyword] = place.value[keyword]


def _is_deep(value: Json) -> bool:
    """Tell whether a value is nested so deep that no argument is compared with it."""
    level = [value]
    for _ in range(DEEPEST // 2):
        level = [part for each in level for part in parts_of(each)]
    return bool(level)


def parts_of(value: Json) -> list[Json]:
    """Return the values in an array or an object."""
    return list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []


def _default(_: Schemas, place: DocumentValue, keyword: str, made: dict[str, Json], __: int) -> None:
    """Keep a default that plainly is one: many stand beside a type or values that they do not fit."""
    value = place.value[keyword]
    fits = any(_has_type(value, kind) for kind in _kinds(made))
    if fits and not isinstance(value, dict | list) and value in made.get("enum", [value]):
        made[keyword] = value


def _has_type(value: Json, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, JSON_TYPES[kind])


JSON_TYPES: dict[str, type | tuple[type, ...]] = {
    "null": type(None),
    "boolean": bool,
    "object": dict,
    "array": list,
    "number": (int, float),
    "integer": int,
    "string": str,
}


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _count(schemas: Schemas, place: DocumentValue, keyword: str, made: dict[str, Json], _: int) -> None:
    value = place.value[keyword]
    if _is_number(value) and value >= 0 and float(value).is_integer():
        made[keyword] = int(value)
    else:
        schemas.problems.repair(place.at(keyword), f"`{keyword}` is no count: left out")


def _number(schemas: Schemas, place: DocumentValue, keyword: str, made: dict[str, Json], _: int) -> None:
    value = place.value[keyword]
    if _is_number(value) and (keyword != "multipleOf" or value > 0):
        made[keyword] = value
    else:
        schemas.problems.repair(place.at(keyword), f"`{keyword}` is no number that it can be: left out")


def _exclusive(schemas: Schemas, place: DocumentValue, keyword: str, made: dict[str, Json], _: int) -> None:
    """Read `true` as draft 4 does: the bound beside it is not allowed itself."""
    value, bound = place.value[keyword], keyword.removeprefix("exclusive").lower()
    if value is True and _is_number(place.value.get(bound)):
        made[keyword] = made.pop(bound, place.value[bound])
        if not schemas.is_old:
            schemas.problems.repair(place.at(keyword), f"`{keyword}` is `true`, as in draft 4: `{bound}` is the bound")
    elif _is_number(value):
        made[keyword] = value


def _pattern(schemas: Schemas, place: DocumentValue, keyword: str, made: dict[str, Json], _: int) -> None:
    pattern, longest = place.value[keyword], place.value.get("maxLength")
    if isinstance(pattern, str) and is_fast(pattern, longest if isinstance(longest, int) else None):
        made[keyword] = pattern
    else:
        message = "a pattern is no regular expression of ECMA-262, or a slow one: left out, and the API judges"
        schemas.problems.repair(place.at(keyword), message)


@cache
def is_fast(pattern: str, longest: int | None) -> bool:
    """Tell whether a pattern can be used: it is one of ECMA-262, and no text takes it long."""
    try:
        translate(pattern)
    except PatternError:
        return False
    span = Span("")
    bound = {} if longest is None else {"maxLength": implied_node(longest, span)}
    return not any(slow_patterns({"pattern": implied_node(pattern, span), **bound}))


def _subschema(schemas: Schemas, place: DocumentValue, keyword: str, made: dict[str, Json], depth: int) -> None:
    value = place.value[keyword]
    made[keyword] = value if isinstance(value, bool) else schemas._schema(place.at(keyword), depth + 1)


def _items(schemas: Schemas, place: DocumentValue, keyword: str, made: dict[str, Json], depth: int) -> None:
    value = place.at(keyword)
    if isinstance(value.value, list):
        schemas.problems.repair(value, "`items` is a list, as in draft 4: read as `prefixItems`")
        made["prefixItems"] = [schemas._schema(item, depth + 1) for item in value.items()] or [{}]
    else:
        made[keyword] = schemas._schema(value, depth + 1)


def _list(schemas: Schemas, place: DocumentValue, keyword: str, made: dict[str, Json], depth: int) -> None:
    items = place.at(keyword).items()
    if not items:
        schemas.problems.repair(place.at(keyword), f"`{keyword}` has no schemas: left out")
        return
    parts = [schemas._schema(item, depth + 1) for item in items]
    tagged = place.value.get("discriminator") if keyword != "allOf" else None
    if isinstance(tagged, dict) and isinstance(tagged.get("propertyName"), str):
        parts = [_tagged(schemas, item, part, tagged) for item, part in zip(items, parts, strict=True)]
    made[keyword] = parts


def _tagged(schemas: Schemas, branch: DocumentValue, made: Json, tagged: dict[str, Json]) -> Json:
    """Return a branch that has its own value of the property that distinguishes the branches."""
    written, name = branch.value, tagged["propertyName"]
    if not isinstance(written, dict) or not isinstance(written.get("$ref"), str) or set(made) != {"$ref"}:
        return made
    target = schemas.follow(branch).value
    own = target.get("properties", {}).get(name) if isinstance(target, dict) else None
    if isinstance(own, dict) and ("enum" in own or "const" in own):
        return made
    short = written["$ref"].rpartition("/")[2]
    mapping = tagged.get("mapping") if isinstance(tagged.get("mapping"), dict) else {}
    values = [value for value, named in (mapping or {}).items() if named in (written["$ref"], short)]
    said = {"const": values[0]} if len(values) == 1 else {"enum": values} if values else None
    if said is None and not mapping:
        said = {"const": short}
    return made if said is None else {**made, "properties": {name: said}, "required": [name]}


def _map(schemas: Schemas, place: DocumentValue, keyword: str, made: dict[str, Json], depth: int) -> None:
    members = place.at(keyword).members()
    if keyword == "patternProperties":
        members = [(key, part) for key, part in members if is_fast(key, None)]
    if members:
        made[keyword] = {key: schemas._schema(part, depth + 1) for key, part in members}


def _properties(schemas: Schemas, place: DocumentValue, keyword: str, made: dict[str, Json], depth: int) -> None:
    kept = {
        key: schemas._schema(part, depth + 1)
        for key, part in place.at(keyword).members()
        if not schemas.is_read_only(part) and not _is_hidden_name(schemas, part, key)
    }
    made[keyword] = kept


def _is_hidden_name(schemas: Schemas, part: DocumentValue, name: str) -> bool:
    if not has_hidden(name):
        return False
    schemas.problems.repair(part, "the name of a property has characters that nobody sees: left out")
    return True


def _required(schemas: Schemas, place: DocumentValue, keyword: str, made: dict[str, Json], _: int) -> None:
    written = place.value[keyword]
    if not isinstance(written, list):
        if not isinstance(written, bool):
            schemas.problems.repair(place.at(keyword), "`required` is no list: left out")
        return
    names = list(dict.fromkeys(item for item in written if isinstance(item, str)))
    if len(names) != len(written):
        schemas.problems.repair(place.at(keyword), "`required` has a name twice: it counts once")
    declared = place.value.get("properties")
    gone = {name for name in (declared if isinstance(declared, dict) else ()) if name not in made.get("properties", {})}
    names = [name for name in names if name not in gone]
    if names:
        made[keyword] = names


def _dependent(_: Schemas, place: DocumentValue, keyword: str, made: dict[str, Json], __: int) -> None:
    value = place.value[keyword]
    if isinstance(value, dict) and all(isinstance(names, list) for names in value.values()):
        made[keyword] = {key: list(dict.fromkeys(filter(_is_text, names))) for key, names in value.items()}


def _is_text(value: Json) -> bool:
    return isinstance(value, str)


def _recursive(schemas: Schemas, place: DocumentValue, keyword: str, made: dict[str, Json], _: int) -> None:
    made["$ref"] = DEFINITIONS + schemas.name_of(schemas.recursion(place, keyword))


KEYWORDS: tuple[tuple[str, Callable[[Schemas, DocumentValue, str, dict[str, Json], int], None]], ...] = (
    ("type", _type),
    ("format", _format),
    ("description", _text),
    ("deprecated", _flag),
    ("enum", _enum),
    ("const", _const),
    ("default", _default),
    *((keyword, _number) for keyword in NUMBERS),
    ("exclusiveMinimum", _exclusive),
    ("exclusiveMaximum", _exclusive),
    *((keyword, _count) for keyword in COUNTS),
    ("uniqueItems", _flag),
    ("pattern", _pattern),
    ("contentEncoding", _encoding),
    ("contentMediaType", _encoding),
    ("items", _items),
    ("properties", _properties),
    ("required", _required),
    ("dependentRequired", _dependent),
    *((keyword, _list) for keyword in LISTS),
    *((keyword, _map) for keyword in MAPS),
    *((keyword, _subschema) for keyword in SCHEMAS),
    ("$recursiveRef", _recursive),
    ("$dynamicRef", _recursive),
)
"""In this order in a schema that is made; whatever has no row is left out."""


def names_in(schema: Json) -> Iterator[str]:
    """Yield the name of each definition that a schema refers to, as often as it does."""
    waiting = [schema]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict) and isinstance(value.get("$ref"), str):
            yield value["$ref"].removeprefix(DEFINITIONS)
        waiting += parts_of(value)


def one_type_each(items: Json) -> Json:
    """Return a schema of what is in a list without a list of types, which some clients refuse there."""
    kinds = items.get("type") if isinstance(items, dict) else None
    if not isinstance(kinds, list):
        return items
    judged = {key: value for key, value in items.items() if key not in (*ANNOTATING, "type")}
    said = {key: value for key, value in items.items() if key in ANNOTATING}
    return {**said, "anyOf": [{"type": kind, **judged} for kind in kinds]}


class Assembly:
    """One self-contained schema: which definitions it needs, and which of them stand in their places."""

    def __init__(self, schemas: Schemas, root: dict[str, Json]) -> None:
        self._schemas = schemas
        self.root = root
        self.uses: dict[str, tuple[str, ...]] = {}
        self._times: dict[str, int] = {}
        self._collect(root)
        circular = {name for part in components(self.uses) if is_cycle(part, self.uses) for name in part}
        self._placed = {name for name in self.uses if name not in circular and self._stands_in_place(name)}

    def _collect(self, root: Json) -> None:
        waiting = list(names_in(root))
        self._times = {}
        while waiting:
            name = waiting.pop()
            self._times[name] = self._times.get(name, 0) + 1
            if name not in self.uses:
                wrong = self._schemas.failure(name)
                if wrong is not None:
                    raise wrong
                self.uses[name] = tuple(names_in(self._schemas.definitions[name]))
                waiting += self.uses[name]

    def _stands_in_place(self, name: str) -> bool:
        made = self._schemas.definitions[name]
        is_small = not self.uses[name] and len(json.dumps(made, ensure_ascii=False)) <= SMALL
        return self._times[name] == 1 or is_small

    def schema(self) -> dict[str, Json]:
        """Return the schema with the definitions that it still refers to."""
        made: dict[str, Json] = self._written(self.root, 0)
        kept: dict[str, Json] = {}
        waiting = list(names_in(made))
        while waiting:
            name = waiting.pop()
            if name not in kept:
                kept[name] = self._written(self._schemas.definitions[name], 0)
                waiting += names_in(kept[name])
        return {**made, "$defs": dict(sorted(kept.items()))} if kept else made

    def _written(self, value: Json, depth: int) -> Json:
        """Return a value with definitions in their places, as far as it does not become too deep."""
        if isinstance(value, list):
            return [self._written(item, depth + 1) for item in value]
        if not isinstance(value, dict):
            return value
        name = value["$ref"].removeprefix(DEFINITIONS) if isinstance(value.get("$ref"), str) else ""
        if name not in self._placed or depth > DEEPEST:
            made = {key: self._written(each, depth + 1) for key, each in value.items()}
            return {**made, "items": one_type_each(made["items"])} if "items" in made else made
        beside = {key: self._written(each, depth + 1) for key, each in value.items() if key != "$ref"}
        placed = self._written(self._schemas.definitions[name], depth + 1)
        if ANNOTATING.issuperset(beside) and isinstance(placed, dict):
            return {**placed, **beside}
        return {**beside, "allOf": [placed, *beside.get("allOf", [])]}
