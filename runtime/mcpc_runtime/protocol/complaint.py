"""What a model is told about arguments that its schema refuses: where, what was there, and what would be accepted.

One line a problem, the deepest first, because a wrong detail says more than the whole it spoils.  The text is made of
untrusted values: each is shown as JSON, shortened, and never breaks its line.  This module imports nothing.
"""

from __future__ import annotations

LINES = 5
VALUE_WIDTH = 60
LIST_WIDTH = 200
NEAR_WIDTH = 64
NAMES = 200
LARGE = 10**VALUE_WIDTH

KINDS = {
    dict: "object",
    list: "array",
    str: "string",
    int: "number",
    float: "number",
    bool: "boolean",
    type(None): "null",
}
WORDS = {"None": "null", "True": "true", "False": "false"}
ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}

# Keyword to what is said of it; what the braces stand for, `_parts` says.
TEMPLATES = {
    "type": "{received}; expected {types}",
    "enum": "{received}; expected one of {each}",
    "const": "{received}; expected {want}",
    "minimum": "{received}; expected at least {want}",
    "maximum": "{received}; expected at most {want}",
    "exclusiveMinimum": "{received}; expected more than {want}",
    "exclusiveMaximum": "{received}; expected less than {want}",
    "multipleOf": "{received}; expected a multiple of {want}",
    "minLength": "{received}; expected at least {want} character(s)",
    "maxLength": "{received}; expected at most {want} character(s)",
    "pattern": "{received}; expected text that matches the regular expression {want}",
    "minItems": "{received}; expected at least {want} item(s)",
    "maxItems": "{received}; expected at most {want} item(s)",
    "items": "{received}; expected at most {want} item(s)",
    "uniqueItems": "{received}; expected items that all differ",
    "contains": "{received}; no item is of the kind that is required",
    "minContains": "{received}; expected at least {want} item(s) of the kind that is required",
    "maxContains": "{received}; expected at most {want} item(s) of the kind that is limited",
    "minProperties": "{received}; expected at least {want} properties",
    "maxProperties": "{received}; expected at most {want} properties",
    "required": "missing required property {want}",
    "dependentRequired": "missing property {second}, which is required beside {first}",
    "additionalProperties": "unexpected property; known: {each}{near}",
    "propertyNames": "a property may not have this name; its name must satisfy {first} {second}",
    "not": "{received}; expected anything that does not match {want}",
    "oneOf": "{received}; matches more than one alternative, expected exactly one",
    "false": "unexpected value; nothing is accepted here",
    "depth": "the value is nested too deeply",
}
OTHER = "{received}; refused by {keyword}"


def describe(tool: str, instance: object, errors: list[tuple[str, str, object]]) -> str:
    """Return what is wrong with `instance` as arguments of `tool`, in a text a language model can act on."""
    count = f"{len(errors)} problem{'' if len(errors) == 1 else 's'}"
    lines = [f"Invalid arguments for {_plain(tool)}: {count}; fix and call again"]
    for pointer, keyword, expected in sorted(errors, key=lambda error: -error[0].count("/"))[:LINES]:
        parts = _parts(instance, pointer, keyword, expected)
        place = pointer if len(pointer) <= LIST_WIDTH else f"…{pointer[-LIST_WIDTH:]}"
        lines.append(f"- {_plain(place) or '/'}: {TEMPLATES.get(keyword, OTHER).format_map(parts)}")
    return "\n".join(lines)


def _parts(instance: object, pointer: str, keyword: str, expected: object) -> dict[str, str]:
    """Return what the templates may say."""
    value = _at(instance, pointer)
    wanted = expected if type(expected) is list else [expected]
    name = pointer[pointer.rfind("/") + 1 :].replace("~1", "/").replace("~0", "~")
    near = _nearest(name, wanted) if keyword == "additionalProperties" else ""
    return {
        "received": f"received {_shown(value, VALUE_WIDTH)} ({KINDS.get(type(value), 'unknown')})",
        "keyword": _plain(keyword),
        "types": " or ".join([str(one) for one in wanted]),
        "want": _shown(expected, LIST_WIDTH),
        "each": _listed(wanted),
        "first": _shown(wanted[0], VALUE_WIDTH) if wanted else "",
        "second": _shown(wanted[-1], VALUE_WIDTH) if wanted else "",
        "near": f"; did you mean {_shown(near, VALUE_WIDTH)}?" if near else "",
    }


def _at(instance: object, pointer: str) -> object:
    """Return the value at a JSON Pointer; None if there is none."""
    for token in pointer.split("/")[1:]:
        name = token.replace("~1", "/").replace("~0", "~")
        if type(instance) is dict:
            instance = instance.get(name)
        elif type(instance) is list and name.isdecimal() and int(name) < len(instance):
            instance = instance[int(name)]
        else:
            return None
    return instance


def _listed(values: list[object]) -> str:
    """Return the values as JSON, as many as fit into a line."""
    if not values:
        return "none"
    shown = ""
    for number, value in enumerate(values):
        shown += (", " if number else "") + _shown(value, VALUE_WIDTH)
        if len(shown) > LIST_WIDTH and number + 1 < len(values):
            return f"{shown}, … ({len(values)} in all)"
    return shown


def _shown(value: object, width: int) -> str:
    """Return a value as JSON, cut off when it becomes too long."""
    text = "".join(_pieces(value, width))
    return text if len(text) <= width else f"{text[:width]}…"


def _pieces(value: object, room: int) -> list[str]:
    """Return the beginning of the JSON of a value: nothing is made that lies far behind `room` characters."""
    if type(value) is str:
        return ['"', _plain(value[: room + 1], ESCAPES), '"']
    if type(value) is int and not -LARGE < value < LARGE:
        return ["a number of very many digits"]
    if type(value) is int or type(value) is float:
        return [repr(value)]
    if type(value) is not list and type(value) is not dict:
        return [WORDS.get(repr(value), "?")]
    pieces = ["[" if type(value) is list else "{"]
    for number, item in enumerate(value):
        pieces += [", "] if number else []
        if type(value) is dict:
            pieces += [*_pieces(item, room), ": "]
            item = value[item]
        rest = room - sum(map(len, pieces))
        if rest < 0:
            return pieces
        pieces += _pieces(item, rest)
    return [*pieces, "]" if type(value) is list else "}"]


def _plain(text: str, escapes: dict[str, str] | None = None) -> str:
    """Return the text with everything escaped that would break its line, hide or reorder it."""
    pieces = [(escapes or {}).get(char) or (char if char.isprintable() else f"\\u{ord(char):04x}") for char in text]
    return "".join(pieces)


def _nearest(name: str, known: list[object]) -> str:
    """Return the one of `known` that `name` looks like a slip of, or nothing."""
    if len(name) > NEAR_WIDTH:
        return ""
    names = [one for one in known[:NAMES] if type(one) is str and len(one) <= NEAR_WIDTH]
    best, least = "", 1 + max(len(name) // 3, 1)
    for one in names:
        distance = _distance(name.lower(), one.lower())
        if distance < least:
            best, least = one, distance
    return best


def _distance(one: str, other: str) -> int:
    """Return how many characters must be put in, left out or replaced to make `other` of `one`."""
    row = list(range(len(other) + 1))
    for number, char in enumerate(one, 1):
        before, row[0] = row[0], number
        for place, wanted in enumerate(other, 1):
            before, row[place] = row[place], min(row[place] + 1, row[place - 1] + 1, before + (char != wanted))
    return row[-1]
