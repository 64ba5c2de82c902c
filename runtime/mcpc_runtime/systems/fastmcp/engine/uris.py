"""Templates of addresses: `{x}` is a part of the path, `{x*}` one with slashes, `{?a,b}` and `{&c}` are in the query.

A query may also be written out (`?q={q}`): its variables are parts of the path's pattern then.
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import parse_qs, quote, unquote

from pydantic import AnyUrl

from mcpc_runtime.systems.fastmcp.interfaces import Object

VARIABLE = re.compile(r"\{([^{}]+)\}")
QUERY = ("?", "&")
"""What a variable begins with that stands for values of the query."""
RESERVED = ":/?#[]@!$&'()*+,;="


class UriTemplate:
    """A template.  `names`: its variables as parameters of a function; `query`: those of the query, as they are."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.query: list[str] = []
        self.exploded: set[str] = set()
        pattern, position = "", 0
        names: list[str] = []
        self.has_literal_query = False
        for match in VARIABLE.finditer(text):
            before = text[position : match.start()]
            pattern += literal(before)
            position = match.end()
            self.has_literal_query = self.has_literal_query or "?" in before
            variable = match[1]
            if variable.startswith(QUERY):
                self._add_query(variable[1:])
                continue
            name = parameter(variable)
            names.append(name)
            # In a query that is written out a value ends at `&`, in a path at a slash unless it has a `*`.
            values = "[^&]*" if self.has_literal_query else ".+" if variable.endswith("*") else "[^/]+"
            pattern += f"(?P<{name}>{values})"
        self.has_literal_query = self.has_literal_query or "?" in text[position:]
        self.path_names = names
        self.names = [*names, *map(parameter, self.query)]
        try:
            self.pattern: re.Pattern[str] | None = re.compile(f"^{pattern}{literal(text[position:])}$")
        except re.error:
            self.pattern = None

    def _add_query(self, names: str) -> None:
        for each in names.split(","):
            name = each.strip().removesuffix("*")
            self.query.append(name)
            if each.strip().endswith("*"):
                self.exploded.add(name)

    def match(self, uri: str) -> Object | None:
        """Return the variables' values in an address, None if it is another one's."""
        address = uri if "#" in self.text else uri.partition("#")[0]
        path, _, query = (address, "", "") if self.has_literal_query else address.partition("?")
        found = self.pattern.match(path) if self.pattern is not None else None
        if found is None:
            return None
        values: Object = {name: unquote(value) for name, value in found.groupdict().items()}
        return self._query_values(query) | values if query else values

    def expanded(self, values: Object) -> str:
        """Return the address with some values."""
        address, position = "", 0
        for match in VARIABLE.finditer(self.text):
            address += self.text[position : match.start()]
            position = match.end()
            variable = match[1]
            if not variable.startswith(QUERY):
                safe = "/" if variable.endswith("*") else ""
                address += quote(str(values.get(parameter(variable), "")), safe=safe)
                continue
            pairs = [pair for each in variable[1:].split(",") for pair in query_pairs(each.strip(), values)]
            if pairs:
                address += ("&" if "?" in address else "?") + "&".join(pairs)
        return address + self.text[position:]

    def _query_values(self, query: str) -> Object:
        given = parse_qs(query, keep_blank_values=True)
        names = [name for name in self.query if name in given]
        return {parameter(name): given[name] if name in self.exploded else given[name][0] for name in names}


def query_pairs(variable: str, values: Object) -> list[str]:
    """Return the parts of a query for a variable: one for each item of a list if it is exploded, else one at most."""
    name = variable.removesuffix("*")
    value = values.get(parameter(name))
    items = [quote(str(item), safe="") for item in (value if isinstance(value, list | tuple) else (value,))]
    if value is None or not items:
        return []
    return [f"{quote(name, safe='')}={item}" for item in (items if variable.endswith("*") else [",".join(items)])]


def parameter(variable: str) -> str:
    """Return the name of a variable as a function's parameter: `_` for what no identifier has."""
    # A variable may have characters that no parameter has, such as a hyphen.
    name = re.sub(r"\W", "_", variable.removesuffix("*").strip())
    name = name if name.isidentifier() else re.sub(r"[^A-Za-z0-9_]", "_", name)
    return f"_{name}" if not name or name[0].isdigit() else name


def literal(text: str) -> str:
    """Return the pattern of text in a template: what an address has to encode matches in both forms."""
    pattern = ""
    for part in re.split("(%[0-9A-Fa-f]{2})", text):
        if re.fullmatch("%[0-9A-Fa-f]{2}", part):
            pattern += f"(?i:{re.escape(part)})"
            continue
        for character in part:
            encoded = quote(character, safe=RESERVED)
            plain = re.escape(character)
            pattern += plain if encoded == character else f"(?:{plain}|(?i:{re.escape(encoded)}))"
    return pattern


@lru_cache(1024)
def uri_template(text: str) -> UriTemplate:
    return UriTemplate(text)


def with_prefix(uri: str, prefix: str) -> str:
    """Return an address in a server that is mounted under a prefix."""
    scheme, separator, rest = uri.partition("://")
    return f"{scheme}://{prefix}/{rest}" if separator and prefix else uri


def without_prefix(uri: str, prefix: str) -> str | None:
    """Return an address as the mounted server knows it, None if it is not one of its addresses."""
    scheme, separator, rest = uri.partition("://")
    if not prefix or not separator:  # an address without `://` gets no prefix
        return uri
    inner = rest.removeprefix(f"{prefix}/")
    return f"{scheme}://{inner}" if inner != rest else None


class Inherited:
    """Stands for the policy of the server."""


INHERITED = Inherited()
"""What a template has that says nothing of its own."""


@dataclass(frozen=True)
class ResourceSecurity:
    """What values of an address may not be; `exempt_params` are not checked."""

    reject_path_traversal: bool = True
    reject_absolute_paths: bool = True
    reject_null_bytes: bool = True
    exempt_params: AbstractSet[str] = field(default_factory=frozenset)

    def validate(self, params: Object) -> str | None:
        """Return the name of the first value that is not permitted, or None."""
        exempt = {name.replace("-", "_") for name in self.exempt_params}
        for name, value in params.items():
            texts = value if isinstance(value, (list, tuple)) else [value]
            if name not in exempt and any(self.rejects(text) for text in texts if isinstance(text, str)):
                return name
        return None

    def rejects(self, text: str) -> bool:
        return (
            (self.reject_null_bytes and "\0" in text)
            or (self.reject_path_traversal and leaves_folder(text))
            or (self.reject_absolute_paths and is_absolute(text))
        )


def leaves_folder(path: str) -> bool:
    """Tell whether a path leads out of the folder in which it begins."""
    depth = 0
    for part in path.replace("\\", "/").split("/"):
        # A folder on the way may be left again: only what is above the first one counts.
        depth += -1 if part == ".." else 0 if part in ("", ".") else 1
        if depth < 0:
            return True
    return False


def is_absolute(path: str) -> bool:
    """Tell whether a path is absolute on some system: with a slash, a backslash or a drive at its begin."""
    return path.startswith(("/", "\\")) or re.match("[A-Za-z]:", path) is not None


DEFAULT = ResourceSecurity()
"""The policy of a server that says nothing."""


def normalized_uri(uri: str) -> str:
    """Return an address as a URL of pydantic: `http://host` with a slash, a scheme in small letters."""
    return str(AnyUrl(uri))
