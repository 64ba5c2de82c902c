"""Matches addresses of resources with templates, as each version of the SDK does."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import unquote

from mcpc_runtime.systems.fastmcp.generation import selected
from mcpc_runtime.systems.fastmcp.standins.mcp.parts.exceptions import ResourceSecurityError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Set

EXPRESSION = re.compile(r"{([+#./;?&]?)([^}]*)}")
PREFIXES = {".": r"\.", "/": "/", "#": "#"}


@dataclass(frozen=True)
class ResourceSecurity:
    """Which values in an address version 2 of the SDK refuses."""

    reject_path_traversal: bool = True
    reject_absolute_paths: bool = True
    reject_null_bytes: bool = True
    exempt_params: Set[str] = field(default_factory=frozenset)

    def refuses(self, value: str) -> bool:
        """Tell whether a value is refused."""
        return (
            (self.reject_null_bytes and "\0" in value)
            or (self.reject_path_traversal and leaves_folder(value))
            or (self.reject_absolute_paths and is_absolute(value))
        )


DEFAULT_RESOURCE_SECURITY = ResourceSecurity()


def leaves_folder(value: str) -> bool:
    """Tell whether a value leaves the folder that it begins in."""
    depth = 0
    for part in value.replace("\\", "/").split("/"):
        depth += -1 if part == ".." else part not in ("", ".")
        if depth < 0:
            return True
    return False


def is_absolute(value: str) -> bool:
    """Tell whether a value is a path from the root of a file system, or of a drive."""
    return value.startswith(("/", "\\")) or re.match("[A-Za-z]:", value) is not None


def variables(template: str) -> list[str]:
    """Return the names of a template's variables."""
    names = [name for _, listed in EXPRESSION.findall(template) for name in listed.split(",")]
    return [name.rstrip("*").partition(":")[0] for name in names]


def match(template: str, uri: str, security: ResourceSecurity) -> dict[str, str] | None:
    """Return the values that a template finds in an address; None if it does not match."""
    if selected().sdk == "sdk1":
        pattern = template.replace("{", "(?P<").replace("}", ">[^/]+)")
        found = re.fullmatch(pattern, uri)
        return None if found is None else found.groupdict() or None
    return match_encoded(template, uri, security)


def match_encoded(template: str, uri: str, security: ResourceSecurity) -> dict[str, str] | None:
    """Return the decoded values that a template of RFC 6570 finds in an address."""
    query_at = template.find("{?")
    path, query = (template, "") if query_at < 0 else (template[:query_at], template[query_at:])
    target, _, given = uri.partition("?") if query else (uri, "", "")
    found = re.fullmatch(path_pattern(path), target)
    if found is None:
        return None
    values = {name: unquote(value) for name, value in found.groupdict().items() if value is not None}
    pairs = [pair.partition("=") for pair in given.split("&") if pair]
    values |= {name: unquote(value) for name, _, value in pairs if name in variables(query)}
    for name, value in values.items():
        if name not in security.exempt_params and security.refuses(value):
            raise ResourceSecurityError(f"Parameter {name!r} of template {template!r} failed security validation")
    return values


def path_pattern(template: str) -> str:
    """Return the pattern of a template without a query."""
    parts: list[str] = []
    end = 0
    for expression in EXPRESSION.finditer(template):
        operator, listed = expression.groups()
        parts.append(re.escape(template[end : expression.start()]))
        character = "." if operator in ("+", "#") or listed.endswith("*") else "[^/?#&,]"
        names = [name.rstrip("*").partition(":")[0] for name in listed.split(",")]
        parts.append(PREFIXES.get(operator, "") + ",".join(f"(?P<{name}>{character}*)" for name in names))
        end = expression.end()
    return "".join([*parts, re.escape(template[end:])])
