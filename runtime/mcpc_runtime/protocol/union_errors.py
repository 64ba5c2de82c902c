"""Errors of `anyOf` and `oneOf`: find the intended alternative and report its errors.

A collector imports this when no alternative was accepted. It passes the JSON Pointer of the value, the errors of each
alternative, and the tags that distinguish the alternatives (see `mcpc.schema.codegen.discriminators`).
"""

from __future__ import annotations

Complaint = tuple[str, str, object]
"""A JSON Pointer, a keyword, and what was expected."""
Row = tuple[tuple[object, ...], tuple[str, ...]]
"""One alternative: the values of the tag, and the names of its known properties."""
About = tuple[str, str | None, list[Row]]
"""The keyword, the tag if there is one, and a row for each alternative."""


def closest_branch_errors(path: str, value: object, branches: list[list[Complaint]], about: About) -> list[Complaint]:
    """Return the errors of the intended alternative and its label, or what all alternatives require."""
    keyword, tag, rows = about
    numbers, tag_pointer = list(range(len(branches))), None
    known_counts = [count_known(value, names) for values, names in rows]
    if tag is not None and type(value) is dict:
        tag_pointer = path + pointer_step(tag)
        matching = [n for n in numbers if tag in value and any(are_equal(value[tag], item) for item in rows[n][0])]
        numbers = matching or numbers
    if len(numbers) == len(branches):
        shared = (
            tag_pointer and type(value) is dict and untagged_errors(path, value, branches, about, known_counts)
        ) or common_errors(path, keyword, branches, known_counts)
        if shared:
            return shared
    best = min(
        numbers,
        key=lambda n: (mismatch_weight(path, branches[n], tag_pointer), -known_counts[n], *error_extent(branches[n])),
    )
    label = {tag: list(rows[best][0])}
    return [*branches[best], (path, keyword, label)] if tag_pointer and rows[best][0] else branches[best]


def tag_values(rows: list[Row]) -> list[object]:
    """Return the distinct values of the tag."""
    # By `repr`: values may be arrays and objects, and True equals 1.
    return list({repr(item): item for row in rows for item in row[0]}.values())


def untagged_errors(
    path: str, value: dict[str, object], branches: list[list[Complaint]], about: About, known_counts: list[int]
) -> list[Complaint]:
    """Return the errors of an object whose tag is wrong, or missing where nothing else identifies the alternative."""
    keyword, tag, rows = about
    others = [n for n in range(len(branches)) if not has_wrong_type(path, branches[n])]
    if not others:
        return []
    if tag in value and all(rows[n][0] for n in others):
        return [(path + pointer_step(tag), "enum", tag_values(rows))]
    if known_counts.count(max(known_counts)) > 1 and all((path, "required", tag) in branches[n] for n in others):
        return [(path, "required", tag), (path, keyword, {tag: tag_values(rows)})]
    return []


def count_known(value: object, names: tuple[str, ...]) -> int:
    """Count the properties of a value that an alternative knows."""
    return len([name for name in names if name in value]) if type(value) is dict else 0


def has_wrong_type(path: str, errors: list[Complaint]) -> bool:
    """Tell whether not even the type of the value is accepted."""
    return any(pointer == path and keyword in ("type", "false") for pointer, keyword, want in errors)


def common_errors(path: str, keyword: str, branches: list[list[Complaint]], known_counts: list[int]) -> list[Complaint]:
    """Return the type, the constants or the missing properties that every alternative reports."""
    for shown, keywords in ("type", ("type",)), ("enum", ("const", "enum")):
        expected = [wanted_values(errors, keywords) for errors in branches]
        for pointer in expected[0]:
            if all(pointer in want for want in expected):
                values = {repr(value): value for want in expected for value in want[pointer]}
                return [(pointer, shown, list(values.values()))]
    missing = [wanted_values(errors, ("required",)).get(path, []) for errors in branches]
    if len(set(known_counts)) == 1 and [len(names) for names in missing] == [len(errors) for errors in branches]:
        return [(path, keyword, [{"required": names} for names in missing])] if len(branches) > 1 else []
    return []


def wanted_values(errors: list[Complaint], keywords: tuple[str, ...]) -> dict[str, list[object]]:
    """Return by JSON Pointer the expected values of the errors with these keywords."""
    expected: dict[str, list[object]] = {}
    for pointer, keyword, want in errors:
        if keyword in keywords:
            expected.setdefault(pointer, []).extend(want if type(want) is list and keyword != "const" else [want])
    return expected


def mismatch_weight(path: str, errors: list[Complaint], tag_pointer: str | None) -> int:
    """Return the weight of errors: a wrong type or constant (at `tag_pointer` only, if given) suggests another one."""
    weight = 0
    for pointer, keyword, want in errors:
        is_constant = keyword == "const" or (keyword == "enum" and type(want) is list and len(want) == 1)
        # Constants deeper in the value say nothing about which alternative was meant.
        is_near = pointer.count("/") <= path.count("/") + 1
        if pointer == path and keyword in ("type", "false"):
            # What accepts nothing is never the intended one; a wrong type counts more than a wrong constant.
            weight += 1000 if keyword == "type" else 10000
        elif is_constant and (is_near if tag_pointer is None else pointer == tag_pointer):
            weight += 100
    return weight


def error_extent(errors: list[Complaint]) -> tuple[int, int]:
    """Return the number of errors, and how near they are to the root of the value."""
    return len(errors), -min([pointer.count("/") for pointer, keyword, want in errors])


def are_equal(item: object, other: object) -> bool:
    """Tell whether two JSON values are equal; a boolean never equals a number."""
    if type(item) is list:
        return type(other) is list and len(item) == len(other) and all(map(are_equal, item, other))
    if type(item) is dict:
        return (
            type(other) is dict
            and item.keys() == other.keys()
            and all(are_equal(item[name], other[name]) for name in item)
        )
    return item is other if type(item) is bool or type(other) is bool else item == other


def pointer_step(name: str) -> str:
    """Return the JSON Pointer step to the property `name`; a very long name is cut off."""
    return "/" + name[:200].replace("~", "~0").replace("/", "~1")
