"""Which of the alternatives of `anyOf` or `oneOf` was meant, and what there is to complain of then.

A collector imports this when an alternative was not accepted.  What it is given comes from the collector: where the
value lies, the complaints of each alternative, and what tells the alternatives apart (see `mcpc.schema.tags`).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Complaint = tuple[str, str, Any]
    """A JSON Pointer, a keyword, and what was expected."""
    Row = tuple[tuple[Any, ...], tuple[str, ...]]
    """Of one alternative: the values of the tag, and the names of properties that it knows."""
    About = tuple[str, str | None, list[Row]]
    """The keyword, the tag if there is one, and a row of each alternative."""


def nearest(path: str, value: Any, branches: list[list[Complaint]], about: About) -> list[Complaint]:
    """Return what the alternative that was meant complains of and what it is called, or what all of them want."""
    keyword, tag, rows = about
    numbers, only = list(range(len(branches))), None
    fits = [known(value, names) for values, names in rows]
    if tag is not None and type(value) is dict:
        only = path + step(tag)
        meant = [n for n in numbers if tag in value and any(same(value[tag], one) for one in rows[n][0])]
        numbers = meant or numbers
    if len(numbers) == len(branches):
        shared = (only and untagged(path, value, branches, about, fits)) or common(path, keyword, branches, fits)
        if shared:
            return shared
    best = min(numbers, key=lambda n: (distance(path, branches[n], only), -fits[n], *extent(branches[n])))
    label = {tag: list(rows[best][0])}
    return [*branches[best], (path, keyword, label)] if only and rows[best][0] else branches[best]


def tags(rows: list[Row]) -> list[Any]:
    """Return every value of the tag, once."""
    return list({repr(one): one for row in rows for one in row[0]}.values())


def untagged(
    path: str, value: dict[str, Any], branches: list[list[Complaint]], about: About, fits: list[int]
) -> list[Complaint]:
    """Return what to say of an object whose tag is wrong, or missing where nothing else tells what was meant."""
    keyword, tag, rows = about
    others = [n for n in range(len(branches)) if not is_foreign(path, branches[n])]
    if not others:
        return []
    if tag in value and all(rows[n][0] for n in others):
        return [(path + step(tag), "enum", tags(rows))]
    if fits.count(max(fits)) > 1 and all((path, "required", tag) in branches[n] for n in others):
        return [(path, "required", tag), (path, keyword, {tag: tags(rows)})]
    return []


def known(value: Any, names: tuple[str, ...]) -> int:
    """Count the properties of a value that an alternative has names for."""
    return len([name for name in names if name in value]) if type(value) is dict else 0


def is_foreign(path: str, found: list[Complaint]) -> bool:
    """Say whether the value is not even of the type that was wanted."""
    return any(at == path and keyword in ("type", "false") for at, keyword, want in found)


def common(path: str, keyword: str, branches: list[list[Complaint]], fits: list[int]) -> list[Complaint]:
    """Return the type or the constants that every alternative misses, or the properties that are missing for each."""
    for shown, keywords in ("type", ("type",)), ("enum", ("const", "enum")):
        wants = [wanted(found, keywords) for found in branches]
        for at in wants[0]:
            if all(at in want for want in wants):
                values = {repr(value): value for want in wants for value in want[at]}
                return [(at, shown, list(values.values()))]
    missing = [wanted(found, ("required",)).get(path, []) for found in branches]
    if len(set(fits)) == 1 and [len(names) for names in missing] == [len(found) for found in branches]:
        return [(path, keyword, [{"required": names} for names in missing])] if len(branches) > 1 else []
    return []


def wanted(found: list[Complaint], keywords: tuple[str, ...]) -> dict[str, list[Any]]:
    """Return by place the values that the complaints of `keywords` want."""
    wants: dict[str, list[Any]] = {}
    for at, keyword, want in found:
        if keyword in keywords:
            wants.setdefault(at, []).extend(want if type(want) is list and keyword != "const" else [want])
    return wants


def distance(path: str, found: list[Complaint], only: str | None) -> int:
    """Weigh complaints: a wrong type, or a wrong constant (at `only`, if given), says that another was meant."""
    weight = 0
    for at, keyword, want in found:
        is_constant = keyword == "const" or (keyword == "enum" and len(want) == 1)
        is_near = at.count("/") <= path.count("/") + 1
        if at == path and keyword in ("type", "false"):
            weight += 1000 if keyword == "type" else 10000
        elif is_constant and (is_near if only is None else at == only):
            weight += 100
    return weight


def extent(found: list[Complaint]) -> tuple[int, int]:
    """Say how many complaints there are, and how near to the surface of the value."""
    return len(found), -min([at.count("/") for at, keyword, want in found])


def same(one: Any, other: Any) -> bool:
    """Say whether two JSON values are equal; a boolean is no number."""
    kind = type(one)
    if kind is list:
        return type(other) is list and len(one) == len(other) and all(map(same, one, other))
    if kind is dict:
        return type(other) is dict and one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    return one is other if kind is bool or type(other) is bool else one == other


def step(name: str) -> str:
    """Return the step of a JSON Pointer to the property `name`, whose end is left out if it is very long."""
    return "/" + name[:200].replace("~", "~0").replace("/", "~1")
