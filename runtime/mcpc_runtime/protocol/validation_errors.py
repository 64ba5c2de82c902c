"""Validation errors as text for a model: where, what was received, what is accepted, and how to fix it.

There is one line per location, the deepest first, because a wrong detail is more specific than the object that contains
it. Equal errors at many locations share one line. The same errors are returned as JSON for programs. The text contains
untrusted values: each is shown as JSON, shortened, without line breaks. Text and time stay within the limits below,
however large a value is and however many errors there are.

Nearly correct values have a correction: the nearest known name, or the obvious type conversion. Only short names are
compared, and only a limited number of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mcpc_runtime.protocol.display import (
    KINDS,
    LIST_WIDTH,
    VALUE_WIDTH,
    display_value,
    escape_text,
    json_or_text,
    kind_of,
    list_names,
    list_values,
    quantity,
)
from mcpc_runtime.protocol.jsonrpc import Json

NEAR_WIDTH = 40
NEAR_NAMES = 100
LITERALS = {"true": "boolean", "false": "boolean", "null": "null"}


def type_correction(value: object, types: Sequence[object]) -> str:
    """Return how to convert a value of the wrong type, if the conversion is obvious."""
    kind, text = KINDS.get(type(value)), display_value(value, VALUE_WIDTH // 2)
    if type(value) is str:
        return unquoting(value[: VALUE_WIDTH + 1].strip(), types) or (
            "" if "array" not in types else f"; make it [{text}]"
        )
    if kind is None:
        return ""
    if kind == "null":
        return "; leave it out if it is optional"
    if type(value) is list:
        is_one = len(value) == 1 and KINDS.get(type(value[0])) in types and not text.endswith("…")
        return f"; make it {text[1:-1]}" if is_one else ""
    if "array" in types:
        return f"; make it [{text}]"
    return f'; put it into quotes, "{text}"' if "string" in types and type(value) is not dict else ""


def unquoting(text: str, types: Sequence[object]) -> str:
    """Return how to convert a string into the type that it looks like."""
    opening = {"[": "array", "{": "object"}.get(text[:1])
    if opening in types:
        return f"; give the {opening} itself, not as text in quotes"
    whole, dot, fraction = text.removeprefix("-").partition(".")
    is_plain = text.isascii() and len(text) <= VALUE_WIDTH
    is_number = is_plain and whole.isdecimal() and (whole[0] != "0" or whole == "0")
    if is_number and ("number" in types or "integer" in types) and (fraction.isdecimal() if dot else True):
        return f"; write it without quotes, {text}" if "number" in types or not dot else ""
    return f"; write it without quotes, {text.lower()}" if LITERALS.get(text.lower()) in types else ""


def nearest_value(given: object, known: Sequence[object], *, by_words: bool = True) -> object:
    """Return the one of `known` that `given` was probably meant to be, or None.

    Strings are compared as names: without case and separators, then by edit distance, then (`by_words`) by their words.
    """
    text = unquoted_text(given)
    if not 0 < len(text) <= NEAR_WIDTH:
        return None
    candidates = [candidate for candidate in known[:NEAR_NAMES] if 0 < len(unquoted_text(candidate)) <= NEAR_WIDTH]
    # One edit in three characters; shorter names must be equal when folded, since all of them are near each other.
    limit = 0 if len(text) < 3 else max(len(text) // 3, 1)
    closest, smallest = None, limit + 1
    for candidate in candidates:
        is_name = type(candidate) is str and type(given) is str
        distance = (
            edit_distance(fold_name(text), fold_name(unquoted_text(candidate)), limit)
            if is_name
            # Values that are not both texts are near only if they are written alike, as `"5"` and 5.
            else (text != unquoted_text(candidate)) * (limit + 1)
        )
        if distance < smallest:
            closest, smallest = candidate, distance
    return closest if closest is not None or not by_words else value_with_shared_words(given, candidates)


def value_with_shared_words(given: object, candidates: Sequence[object]) -> object:
    """Return the only candidate whose words are a subset or superset of the words of `given`."""
    given_words = name_words(given)
    words = [(candidate, name_words(candidate)) for candidate in candidates if given_words]
    alike = [candidate for candidate, shared in words if given_words < shared or given_words > shared > set()]
    return alike[0] if len(alike) == 1 else None


def unquoted_text(value: object) -> str:
    """Return the text of a simple value without quotes; an empty string for any other."""
    if type(value) is str:
        return value
    return display_value(value, NEAR_WIDTH) if type(value) in KINDS and type(value) not in (list, dict) else ""


def fold_name(name: str) -> str:
    """Return a name in lower case and without separators of words."""
    return name.lower().replace("_", "").replace("-", "").replace(" ", "")


def name_words(name: object) -> set[str]:
    """Return the words of a name, whatever separates them."""
    text = name if type(name) is str else ""
    split = [f" {char}" if char.isupper() and text[at - 1 : at].islower() else char for at, char in enumerate(text)]
    return {*"".join(split).lower().replace("_", " ").replace("-", " ").replace(".", " ").split()}


def edit_distance(first: str, second: str, limit: int) -> int:
    """Return the number of inserted, deleted, replaced or swapped characters; more than `limit` if it is more."""
    if abs(len(first) - len(second)) > limit:
        return limit + 1
    last_row: list[int] = []
    row = list(range(len(second) + 1))
    for row_number, char in enumerate(first, 1):
        row_before_last, last_row, row = last_row, row, [row_number]
        for column, other_char in enumerate(second, 1):
            cost = min(last_row[column] + 1, row[column - 1] + 1, last_row[column - 1] + (char != other_char))
            if row_number > 1 and column > 1 and char == second[column - 2] and first[row_number - 2] == other_char:
                cost = min(cost, row_before_last[column - 2] + 1)
            row.append(cost)
        # No later row has a smaller minimum.
        if min(row) > limit:
            return limit + 1
    return row[-1]


Errors = list[tuple[str, str, object]]
"""Errors of a collector: JSON Pointer, keyword, and what was expected."""


MAX_LINES = 5
MAX_LINE_BYTES = 700
"""Five such lines and the heading are less than 4 KiB."""
MAX_ERRORS = 200
"""Of further errors only their existence is reported."""
MAX_PROBLEMS = 20
"""Maximum number of errors reported as JSON."""
MAX_POINTER_LENGTH = 4000
"""The part of a JSON Pointer after so many characters is ignored."""
MAX_NAMES = 12
MAX_SUGGESTIONS = 3
"""Maximum numbers of names that are listed, and compared with others, per location."""
ABSENT = object()
"""The value of a pointer that leads to no value."""
UNEXPECTED = ("additionalProperties", "unevaluatedProperties")
"""Keywords whose error is at the property that is not allowed; `expected` is the list of allowed names."""
ALTERNATIVES = ("anyOf", "oneOf")
"""Keywords whose error may be only the label of the intended alternative: `{"kind": ["url"]}`."""

# Keyword to what it expects; what the braces stand for, `FIELDS` says.
EXPECTED = {
    "type": "{types}{correction}",
    "enum": "{choice}{near}",
    "const": "{want}{near}",
    "minimum": "at least {want}",
    "maximum": "at most {want}",
    "exclusiveMinimum": "more than {want}",
    "exclusiveMaximum": "less than {want}",
    "multipleOf": "a multiple of {want}",
    "minLength": "at least {characters}",
    "maxLength": "at most {characters}",
    "pattern": "text that matches the regular expression {plain}",
    "format": "text in the format {plain}{example}",
    "minItems": "at least {items}",
    "maxItems": "at most {items}",
    "items": "at most {items}",
    "unevaluatedItems": "nothing here, leave it out",
    "uniqueItems": "items that all differ",
    "contains": "at least one item of the kind that is required",
    "minContains": "at least {items} of the kind that is required",
    "maxContains": "at most {items} of the kind that is limited",
    "minProperties": "at least {properties}",
    "maxProperties": "at most {properties}",
    "not": "anything that does not match {want}",
    "oneOf": "a value that one alternative accepts and no other, but alternatives {places} do",
}
OTHER_EXPECTED = "something else, by the keyword {keyword}"
# Keyword to a sentence that does not begin with what was received.
SENTENCES = {
    "dependentRequired": "missing property {second}, which is required beside {first}",
    "propertyNames": "a property may not have the name {name}; expected {rule}",
    "alternatives": "missing required property {either}",
    "false": "unexpected; nothing is accepted here, leave it out",
    "depth": "the value is nested too deeply",
    "work": "something is wrong in it, and it has too many parts to say what",
    "patternLength": "the text is too long to be matched against its pattern; at most {characters} can be",
    "patternWork": "there is too much text to be matched against patterns; shorten the texts",
}
EXAMPLES = {
    "date-time": "2026-01-31T09:30:00Z",
    "date": "2026-01-31",
    "time": "09:30:00Z",
    "duration": "PT1H30M",
    "email": "name@example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com/path",
    "uuid": "123e4567-e89b-42d3-a456-426614174000",
}


class ErrorsAtPath:
    """All errors at one location: missing and unexpected names of an object, and all others."""

    __slots__ = ("depth", "known", "missing", "others", "pointer", "tags", "unexpected")

    def __init__(self, pointer: str) -> None:
        self.pointer = pointer
        self.depth = pointer.count("/")
        self.tags: dict[str, list[object]] = {}
        self.missing: list[str] = []
        self.unexpected: list[str] = []
        self.known: list[object] = []
        self.others: list[tuple[str, object]] = []

    def add(self, pointer: str, keyword: str, expected: object) -> None:
        """Add an error, unless it was added before."""
        if keyword in UNEXPECTED:
            self.depth = pointer.count("/")
            self.known = expected if type(expected) is list else []
            self.unexpected = [*dict.fromkeys([*self.unexpected, _property_name(pointer)])]
        elif keyword == "required" and type(expected) is str:
            self.missing = [*dict.fromkeys([*self.missing, expected])]
        elif (keyword, expected) not in self.others:
            self.others.append((keyword, expected))

    def group_key(self) -> tuple[object, ...]:
        """Return a key that is equal for the same errors at different items of an array."""
        # Positions are left out, so that a hundred wrong items make one line.
        tokens = ["#" if token.isdecimal() else token for token in self.pointer.split("/")]
        others = [(keyword, display_value(expected, LIST_WIDTH)) for keyword, expected in self.others]
        return (*tokens, None, *self.missing, None, *self.unexpected, None, *others)


def explain_errors(tool: str, instance: object, errors: Errors) -> tuple[str, dict[str, Json]]:
    """Return the errors of `instance` as arguments of `tool`: as text, and as a result's `_meta`."""
    return describe_errors(tool, instance, errors), {"mcpc/problems": error_objects(instance, errors)}


def describe_errors(tool: str, instance: object, errors: Errors) -> str:
    """Return the errors of `instance` as arguments of `tool`, in a text that a language model can act on."""
    texts, number, is_all = error_lines(instance, errors)
    count = f"{'more than ' if len(errors) > MAX_ERRORS else ''}{quantity(number, 'problem')}"
    remedy = f"fix {'' if is_all else 'these first '}and call again"
    return "\n".join([f"Invalid arguments for {escape_text(tool[:VALUE_WIDTH])}: {count}; {remedy}", *texts])


def error_lines(instance: object, errors: Errors) -> tuple[list[str], int, bool]:
    """Return a line for each of the first errors, the number of locations, and whether all errors are in the lines."""
    locations: dict[str, ErrorsAtPath] = {}
    labels: dict[str, dict[str, list[object]]] = {}
    for pointer, keyword, expected in _bounded_errors(errors):
        if keyword in ALTERNATIVES and type(expected) is dict:
            labels.setdefault(pointer, expected)
            continue
        place = pointer[: pointer.rfind("/")] if keyword in UNEXPECTED else pointer
        if place not in locations:
            locations[place] = ErrorsAtPath(place)
        locations[place].add(pointer, keyword, expected)
    groups: dict[tuple[object, ...], list[ErrorsAtPath]] = {}
    for location in sorted(locations.values(), key=lambda location: -location.depth):
        groups.setdefault(location.group_key(), []).append(location)
    texts = [_error_line(instance, group, labels) for group in list(groups.values())[:MAX_LINES]]
    return texts, len(locations), len(groups) <= MAX_LINES


def _bounded_errors(errors: Errors) -> Errors:
    """Return the first errors, each with bounded text."""
    return [
        (pointer[:MAX_POINTER_LENGTH], keyword[:VALUE_WIDTH], expected)
        for pointer, keyword, expected in errors[:MAX_ERRORS]
    ]


def error_objects(instance: object, errors: Errors) -> list[Json]:
    """Return the first errors as JSON; too long values are replaced by the beginning of their text."""
    rows = [row for row in _bounded_errors(errors) if not (row[1] in ALTERNATIVES and type(row[2]) is dict)]
    objects: list[Json] = []
    for pointer, keyword, expected in sorted(rows, key=lambda row: -row[0].count("/"))[:MAX_PROBLEMS]:
        # Cut between two steps, so that it is the path of a value that contains the wrong one.
        path = pointer if len(pointer) <= LIST_WIDTH else pointer[: pointer.rfind("/", 0, LIST_WIDTH)]
        problem: dict[str, Json] = {"path": path, "keyword": keyword, "expected": json_or_text(expected)}
        value = _value_at(instance, path)
        if value is not ABSENT and keyword not in ("required", "dependentRequired"):
            problem["received"] = json_or_text(value)
        objects.append(problem)
    return objects


def _error_line(instance: object, group: list[ErrorsAtPath], labels: dict[str, dict[str, list[object]]]) -> str:
    """Return the line for locations with the same errors."""
    first, *others_alike = group
    enclosing = [place for place in labels if first.pointer == place or first.pointer.startswith(f"{place}/")]
    first.tags = labels[max(enclosing, key=len)] if enclosing else {}
    chosen = [(name, values) for name, values in first.tags.items() if name not in first.missing]
    label = "".join([f" ({escape_text(name[:VALUE_WIDTH])} {list_values(values, ' or ')})" for name, values in chosen])
    text = f"- {_pointer_text(first.pointer)}{label}: {_place_text(_value_at(instance, first.pointer), first)}"
    others = [_pointer_text(location.pointer)[:VALUE_WIDTH] for location in others_alike[:2]]
    more = f" and {len(others_alike) - len(others)} more" if len(others_alike) > len(others) else ""
    end = f" (the same at {', '.join(others)}{more})" if others_alike else ""
    data, room = text.encode(), MAX_LINE_BYTES - len(end.encode())
    # Cut by bytes: the rest of a character that was cut is ignored.
    return f"{text if len(data) <= room else str(data[:room], 'utf-8', 'ignore') + '…'}{end}"


def _place_text(value: object, location: ErrorsAtPath) -> str:
    """Return the text for all errors at one location."""
    texts = _name_errors(value, location) if location.missing or location.unexpected else []
    expected = []
    is_sized = False
    for keyword, want in location.others:
        row = "alternatives" if keyword in ALTERNATIVES and type(want) is list and dict in map(type, want) else keyword
        fields = MessageFields(value, row, want, location.pointer)
        if row in SENTENCES:
            texts.append(SENTENCES[row].format_map(fields))
        else:
            expected.append(EXPECTED.get(row, OTHER_EXPECTED).format_map(fields))
            is_sized = is_sized or any(field in EXPECTED.get(row, "") for field in COUNTING)
    if expected and value is not ABSENT:
        texts.append(f"received {display_value(value)} ({kind_of(value, sized=is_sized)})")
    return "; ".join([*texts, *([f"expected {' and '.join(expected)}"] if expected else [])])


def _name_errors(value: object, location: ErrorsAtPath) -> list[str]:
    """Return the missing and the unexpected names, with suggestions."""
    fields = value if type(value) is dict else {}
    tags = {name: f" ({list_values(values, ' or ')})" for name, values in location.tags.items()}
    missing = [f"{display_value(name)}{tags.get(name, '')}" for name in location.missing]
    unexpected = [display_value(name) for name in location.unexpected]
    if not unexpected:
        names = list_names("property", missing, MAX_NAMES)
        return [f"missing required {names}{_similar_property(location.missing, fields)}"]
    wanted = dict.fromkeys([*location.missing, *[name for name in location.known[:NEAR_NAMES] if name not in fields]])
    suggestions = [nearest_value(name, [*wanted]) for name in location.unexpected[:MAX_SUGGESTIONS]]
    if len(missing) == len(unexpected) == 1 and suggestions[0] == location.missing[0]:
        return [f"missing required property {missing[0]} (unexpected {unexpected[0]}, did you mean {missing[0]}?)"]
    for number, suggestion in enumerate(suggestions):
        unexpected[number] += "" if suggestion is None else f" (did you mean {display_value(suggestion)}?)"
    first = [f"missing required {list_names('property', missing, MAX_NAMES)}"] if missing else []
    is_clear = len(suggestions) == len(unexpected) and None not in suggestions
    remedy = "" if is_clear else f"; known: {list_values(location.known)}" if location.known else "; leave it out"
    return [*first, f"unexpected {list_names('property', unexpected, MAX_NAMES)}{remedy}"]


def _similar_property(missing: list[str], values: dict[str, object]) -> str:
    """Return which given property is probably meant to be a missing one."""
    for name in missing[:MAX_SUGGESTIONS]:
        candidates = [item for item, _ in zip(values, range(NEAR_NAMES), strict=False)]
        suggestion = nearest_value(name, candidates, by_words=False)
        digits = "0123456789"
        if type(suggestion) is str and suggestion.strip(digits) != name.strip(digits):  # not `path1` for `path2`
            return f" (there is {display_value(suggestion)}, did you mean {display_value(name)}?)"
    return ""


class MessageFields:
    """The values that a template may contain; each is computed when it is used."""

    def __init__(self, value: object, keyword: str, want: object, pointer: str) -> None:
        self.value = value
        self.keyword = keyword
        self.want = want
        self.expected_values: list[object] = want if type(want) is list else [want]
        self.pointer = pointer

    def __getitem__(self, field: str) -> str:
        return FIELDS[field](self)


def _join_alternatives(texts: list[str]) -> str:
    return " or ".join(filter(None, [", ".join(texts[:-1]), texts[-1]]))


def _suggestion(fields: MessageFields) -> str:
    suggestion = nearest_value(fields.value, fields.expected_values if fields.keyword == "enum" else [fields.want])
    return "" if suggestion is None else f" (did you mean {display_value(suggestion)}?)"


def _rule_text(fields: MessageFields) -> str:
    keyword, want = str(fields.expected_values[0])[:VALUE_WIDTH], fields.expected_values[-1]
    if keyword == "false":
        return "no property at all"
    return EXPECTED.get(keyword, OTHER_EXPECTED).format_map(
        MessageFields(_property_name(fields.pointer), keyword, want, fields.pointer)
    )


def _either_properties(fields: MessageFields) -> str:
    property_sets = [want["required"] for want in fields.expected_values if type(want) is dict][:MAX_NAMES]
    joined = [" and ".join([display_value(name) for name in names[:MAX_SUGGESTIONS]]) for names in property_sets]
    text = " or ".join(
        [f"({text})" if len(names) > 1 else text for text, names in zip(joined, property_sets, strict=True)]
    )
    values = fields.value if type(fields.value) is dict else {}
    return text + _similar_property([name for names in property_sets for name in names], values)


FIELDS: dict[str, Callable[[MessageFields], str]] = {
    "keyword": lambda fields: escape_text(fields.keyword),
    "types": lambda fields: _join_alternatives(
        [escape_text(str(item)[:VALUE_WIDTH]) for item in fields.expected_values[:MAX_NAMES]]
    ),
    "correction": lambda fields: type_correction(fields.value, fields.expected_values),
    "choice": lambda fields: (
        ("" if len(fields.expected_values) == 1 else "one of ") + list_values(fields.expected_values)
    ),
    "near": _suggestion,
    "want": lambda fields: display_value(fields.want, LIST_WIDTH),
    "plain": lambda fields: (
        escape_text(fields.want[:LIST_WIDTH]) if type(fields.want) is str else display_value(fields.want)
    ),
    "example": lambda fields: f", such as {EXAMPLES[str(fields.want)]}" if str(fields.want) in EXAMPLES else "",
    "characters": lambda fields: quantity(fields.want, "character"),
    "items": lambda fields: quantity(fields.want, "item"),
    "properties": lambda fields: quantity(fields.want, "property"),
    "places": lambda fields: " and ".join(
        [str(item + 1) for item in fields.expected_values[:MAX_SUGGESTIONS] if type(item) is int]
    ),
    "first": lambda fields: display_value(fields.expected_values[0]),
    "second": lambda fields: display_value(fields.expected_values[-1]),
    "name": lambda fields: display_value(_property_name(fields.pointer)),
    "rule": _rule_text,
    "either": _either_properties,
}
COUNTING = ("{characters}", "{items}", "{properties}")


def _property_name(pointer: str) -> str:
    """Return the last name of a JSON Pointer."""
    return pointer[pointer.rfind("/") + 1 :].replace("~1", "/").replace("~0", "~")


def _value_at(instance: object, pointer: str) -> object:
    """Return the value at a JSON Pointer; ABSENT if there is none."""
    for token in pointer.split("/")[1:]:
        name = token.replace("~1", "/").replace("~0", "~")
        if type(instance) is dict and name in instance:
            instance = instance[name]
        elif type(instance) is list and name.isdecimal() and len(name) < 10 and int(name) < len(instance):
            instance = instance[int(name)]
        else:
            return ABSENT
    return instance


def _pointer_text(pointer: str) -> str:
    """Return a pointer for display: only its end, if it is long."""
    return escape_text(pointer if len(pointer) <= LIST_WIDTH else f"…{pointer[-LIST_WIDTH:]}") or "/"
