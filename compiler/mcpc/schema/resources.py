"""Resolution of references: schemas by URI, and places in them by name or by JSON Pointer.

A resource is a schema with its own URI: a whole document, or a part with `$id`.  URIs are only names here: only schemas
of the project, parts of the schema itself, and metaschemas are found.
"""

from __future__ import annotations

import importlib.util
import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import quote, unquote, urljoin

from mcpc.reading import Source, parse_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mcpc.reading import Json, Node
    from mcpc.schema.dialects import Dialect

SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
# RFC 6901, section 4: no leading zeros.
INDEX = re.compile(r"0|[1-9][0-9]*")
ESCAPE = re.compile("~([01])")
UNESCAPED = {"0": "~", "1": "/"}
PROJECT = "file:///"
"""Base URI of the project's files: a reference to one is its relative path."""
SPECIFICATIONS = "jsonschema_specifications"
METASCHEMAS = {
    "http://json-schema.org/draft-06/schema": "draft6/metaschema.json",
    "http://json-schema.org/draft-07/schema": "draft7/metaschema.json",
    "https://json-schema.org/draft/2019-09/schema": "draft201909/metaschema.json",
    "https://json-schema.org/draft/2020-12/schema": "draft202012/metaschema.json",
    **{
        f"https://json-schema.org/draft/{draft}/meta/{name}": f"draft{draft.replace('-', '')}/vocabularies/{name}"
        for draft, names in {
            "2019-09": ("applicator", "content", "core", "format", "meta-data", "validation"),
            "2020-12": (
                *("applicator", "content", "core", "format-annotation", "format-assertion", "meta-data"),
                *("unevaluated", "validation"),
            ),
        }.items()
        for name in names
    },
}
"""The path of each metaschema in the package of the specifications' files."""


@dataclass(slots=True, eq=False)
class SchemaResource:
    """One schema with a URI.

    `asserts`: `format` is asserted in it.  `names`: places by their `$anchor`; `dynamic`: those of them that a
    reference finds in the outermost resource, by `$dynamicAnchor` (the one without a name is `$recursiveAnchor`).
    """

    uri: str
    root: Node
    dialect: Dialect
    asserts: bool
    names: dict[str, Node] = field(default_factory=dict)
    dynamic: dict[str, Node] = field(default_factory=dict)


class Remotes(Protocol):
    """Schemas by the URIs of references to them: files of the project, never of the network."""

    def get(self, uri: str) -> Node | None:
        """Return the schema that has this URI."""


def resolve_uri(base: str, reference: str) -> tuple[str, str]:
    """Return the URI and the fragment of `reference` relative to `base` (RFC 3986, section 5)."""
    reference, _, fragment = reference.partition("#")
    if not reference:
        return base, unquote(fragment)
    # `urljoin` would normalise an absolute URI, which is only a name here.
    return (reference if SCHEME.match(reference) else urljoin(base, reference)), unquote(fragment)


def uri_of_file(path: str) -> str:
    """Return the URI of a project file."""
    return PROJECT + quote(path)


def metaschema(uri: str) -> Node | None:
    """Return the metaschema of this URI from the `jsonschema-specifications` package."""
    name = METASCHEMAS.get(uri)
    spec = name and importlib.util.find_spec(SPECIFICATIONS)
    if not name or not spec or not spec.origin:
        return None
    path = Path(spec.origin).parent / "schemas" / name
    return parse_json(Source(uri, path.read_bytes()))[0]


def unescape_token(token: str) -> str:
    """Return the property name of a JSON Pointer token (RFC 6901)."""
    return ESCAPE.sub(lambda match: UNESCAPED[match[1]], token)


def item_at(node: Node, token: str) -> Node | None:
    """Return the array item of a JSON Pointer token, or None."""
    is_index = INDEX.fullmatch(token) and len(token) < 10
    return node.items[int(token)] if is_index and int(token) < len(node.items) else None


def parse_document(value: Json | Node, name: str) -> Node | None:
    """Return a schema in plain JSON as if it had been read from a file `name`; None if it is not JSON."""
    if not isinstance(value, dict | list | bool | str | int | float | None):
        return value
    text = json.dumps(value, allow_nan=False)
    return parse_json(Source(name, text.encode("utf-8", "surrogatepass")))[0]


class Files:
    """The JSON files of a project by URI: their path, or the `$id` at their root.

    Files are parsed at the first reference.
    """

    def __init__(self, sources: Iterable[Source]) -> None:
        self._sources = {uri_of_file(source.path): source for source in sources if source.path.endswith(".json")}
        self._nodes: dict[str, Node | None] = {}
        self._named: dict[str, Node] | None = None

    def get(self, uri: str) -> Node | None:
        """Return the schema that has this URI."""
        if uri in self._sources:
            return self._parsed(uri)
        # Only for a reference that is no path are all files parsed.
        if self._named is None:
            nodes = [node for node in map(self._parsed, self._sources) if node is not None]
            self._named = {name: node for node in nodes if (name := _own_name(node))}
        return self._named.get(uri)

    def _parsed(self, uri: str) -> Node | None:
        if uri not in self._nodes:
            self._nodes[uri] = parse_json(self._sources[uri])[0]
        return self._nodes[uri]


def _own_name(node: Node) -> str:
    name = node.get("$id") if node.kind == "object" else None
    return str(name.value).removesuffix("#") if name and name.kind == "string" else ""


class Documents:
    """Schemas in plain JSON by URI, each parsed when it is first used."""

    def __init__(self, schemas: Mapping[str, Json]) -> None:
        self._schemas = schemas
        self._nodes: dict[str, Node | None] = {}

    def get(self, uri: str) -> Node | None:
        """Return the schema that has this URI."""
        if uri not in self._nodes:
            self._nodes[uri] = parse_document(self._schemas[uri], uri) if uri in self._schemas else None
        return self._nodes[uri]
