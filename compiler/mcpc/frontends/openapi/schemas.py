"""Schemas of documents as JSON Schema 2020-12, for arguments: what every client takes, and compiles without an error.

3.1 is the model. What other versions write differently is rewritten, what a response alone has (`readOnly`) is left
out, and so are examples, which some clients' validators read as schemas. A mistake with one meaning is repaired and
noted; any other keyword with a wrong value is left out, which allows more, and the API judges.

Each schema that something refers to is converted once.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcpc.frontends.openapi.documents import DocumentValue, UnresolvedError
from mcpc.frontends.openapi.keywords import ANNOTATING, DEEPEST, DEFINITIONS, KEYWORDS
from mcpc.frontends.openapi.problems import UnusableError

if TYPE_CHECKING:
    from mcpc.frontends.openapi.documents import DocumentFiles
    from mcpc.frontends.openapi.keywords import Json
    from mcpc.frontends.openapi.problems import Problems

PLAIN_BESIDE_DEFAULT = frozenset(("type", "enum", "description", "deprecated", "default"))
"""Beside others a default would have to be judged; it is told in the description instead."""
BESIDE_REFERENCE = ("description", "deprecated", "nullable")
"""What counts beside a reference of 3.0 and 2.0, where all of it is to be ignored."""
READ_ONLY, WRITE_ONLY = "readOnly", "writeOnly"
UNFIT = re.compile(r"[^A-Za-z0-9_.-]+")
HOMES = ("components", "definitions", "schemas")


@dataclass(slots=True)
class Schemas:
    """The schemas of one API; `definitions`: those that something refers to, by their names in `$defs`.

    `left_out`: the keyword of properties that are not of requests, or for schemas of answers not of those.
    """

    files: DocumentFiles
    problems: Problems
    is_old: bool
    left_out: str = READ_ONLY
    definitions: dict[str, Json] = field(default_factory=dict)
    _names: dict[tuple[str, tuple[str | int, ...]], str] = field(default_factory=dict)
    _waiting: list[tuple[str, DocumentValue]] = field(default_factory=list)
    _failed: dict[str, UnusableError] = field(default_factory=dict)
    _current: DocumentValue | None = None

    def convert(self, place: DocumentValue) -> Json:
        """Return a schema that refers to others by their names in `definitions`."""
        converted = self.subschema(place, 0)
        # Definitions wait here instead of being converted recursively: they may form long chains, and circles.
        while self._waiting:
            name, target = self._waiting.pop()
            self._current = target
            try:
                self.definitions[name] = self.subschema(target, 0)
            except UnusableError as wrong:
                self._failed[name] = wrong
        self._current = None
        return converted

    def failure(self, name: str) -> UnusableError | None:
        """Return why a definition cannot be had."""
        return self._failed.get(name)

    def follow(self, place: DocumentValue) -> DocumentValue:
        """Return what a value refers to."""
        try:
            return self.files.follow(place)
        except UnresolvedError as wrong:
            raise UnusableError(place.at("$ref"), str(wrong), wrong.hint) from None

    def subschema(self, place: DocumentValue, depth: int) -> Json:
        """Return one schema that is so deep in another."""
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
        converted: dict[str, Json] = {}
        for keyword, convert in KEYWORDS:
            if keyword in value:
                convert(self, place, keyword, converted, depth)
        if "default" in converted and not PLAIN_BESIDE_DEFAULT.issuperset(converted):
            default_text = f"Default: {json.dumps(converted.pop('default'), ensure_ascii=False)}."
            converted["description"] = (
                f"{converted['description']} {default_text}" if "description" in converted else default_text
            )
        return finished(converted, is_nullable=value.get("nullable") is True)

    def _reference(self, place: DocumentValue, depth: int) -> Json:
        converted = {"$ref": DEFINITIONS + self.name_of(self.follow(place))}
        others = {key: each for key, each in place.value.items() if key != "$ref"}
        if self.is_old:
            others = {key: others[key] for key in BESIDE_REFERENCE if key in others}
        beside = self.subschema(DocumentValue(place.document, place.path, others), depth + 1) if others else {}
        return finished({**converted, **beside}, is_nullable=others.get("nullable") is True)

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

    def is_left_out(self, place: DocumentValue) -> bool:
        """Tell whether a property is of answers only, or in schemas of answers of requests only."""
        if not isinstance(place.value, dict):
            return False
        target = self.follow(place).value if "$ref" in place.value else place.value
        return any(isinstance(part, dict) and part.get(self.left_out) is True for part in (place.value, target))


def definition_name(target: DocumentValue) -> str:
    """Return a name for a schema: its own in `components`, else its last key and digits of a hash of its place."""
    file, path = target.identity
    words = [str(step) for step in path]
    own = UNFIT.sub("_", words[-1] if words else file.rpartition("/")[2].partition(".")[0]).strip("_") or "schema"
    is_named = len(path) in (2, 3) and words[-2] in HOMES and len(own) <= 64 and own == words[-1]
    if is_named and ("openapi" in target.document.value or "swagger" in target.document.value):
        return own
    return f"{own[:48]}_{digits_of(json.dumps([file, words]))}"


def digits_of(text: str) -> str:
    """Return six digits of a hash, which tell names apart and never change."""
    # An escape in JSON may be half of a surrogate pair, which UTF-8 does not have.
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:6]


def finished(converted: dict[str, Json], *, is_nullable: bool) -> dict[str, Json]:
    """Return a schema that also allows null, if it is to."""
    if not is_nullable:
        return converted
    converted = dict(converted)
    kinds = converted.get("type")
    if kinds is not None:
        listed = [kinds] if isinstance(kinds, str) else kinds
        converted["type"] = listed if "null" in listed else [*listed, "null"]
        # Both keywords are judged, so that null has to be in both.
        if "const" in converted:
            converted.setdefault("enum", [converted.pop("const")])
        if "enum" in converted and None not in converted["enum"]:
            converted["enum"] = [*converted["enum"], None]
        return converted
    branches = next((word for word in ("anyOf", "oneOf") if word in converted), "")
    if branches:
        return {**converted, branches: [*converted[branches], {"type": "null"}]}
    judged = {key: value for key, value in converted.items() if key not in ANNOTATING}
    annotations = {key: value for key, value in converted.items() if key in ANNOTATING}
    return {**annotations, "anyOf": [judged, {"type": "null"}]} if judged else converted
