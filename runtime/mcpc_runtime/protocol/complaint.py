"""What a model is told about a value that its schema refuses: where, what was there, what is accepted, how to mend it.

One line a place, the deepest first, because a wrong detail says more than the whole it spoils; what is wrong in the
same way at many places is one line.  The same as JSON is for programs.  The text is made of untrusted values: each is
shown as JSON, shortened, and never breaks its line.  However large a value is, and however many complaints there are,
text and work stay within the bounds below.
"""

from __future__ import annotations

from mcpc_runtime.protocol.quotation import LIST_WIDTH, VALUE_WIDTH, counted, kept, kind_of, listed, named, plain, shown
from mcpc_runtime.protocol.slips import NEAR_NAMES, mended, nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc_runtime.protocol.jsonrpc import Json

    Errors = list[tuple[str, str, object]]
    """What a collector finds: JSON Pointer, keyword, and what was expected."""

LINES = 5
LINE_BYTES = 700
"""Five such lines and the one before them are less than 4 KiB."""
MANY = 200
"""Of complaints after these nothing is told but that there are more."""
PROBLEMS = 20
"""So many complaints are told as JSON."""
POINTER = 4000
"""What lies behind so many characters of a JSON Pointer is not looked for."""
NAMES = 12
SLIPS = 3
"""Of the names that are missing or unexpected at one place so many are shown, and so many compared with others."""
ABSENT = object()
"""In place of a value that a pointer does not lead to."""
UNEXPECTED = ("additionalProperties", "unevaluatedProperties")
"""Keywords whose complaint is at the property that may not be there, with the names that may."""
ALTERNATIVES = ("anyOf", "oneOf")
"""Keywords whose complaint may be no problem but the name of the alternative that was meant: `{"kind": ["url"]}`."""

# Keyword to what it expects; what the braces stand for, `FIELDS` says.
EXPECTED = {
    "type": "{types}{mended}",
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
OTHER = "something else, by the keyword {keyword}"
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


class Trouble:
    """All that is wrong at one place: names that are missing or unexpected in an object, and anything else."""

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
        """Take a complaint, if it is not the same again."""
        if keyword in UNEXPECTED:
            self.depth = pointer.count("/")
            self.known = expected if type(expected) is list else []
            self.unexpected = [*dict.fromkeys([*self.unexpected, _name(pointer)])]
        elif keyword == "required" and type(expected) is str:
            self.missing = [*dict.fromkeys([*self.missing, expected])]
        elif (keyword, expected) not in self.others:
            self.others.append((keyword, expected))

    def likeness(self) -> tuple[object, ...]:
        """Return what is equal for troubles that are the same at different items of an array."""
        tokens = ["#" if token.isdecimal() else token for token in self.pointer.split("/")]
        others = [(keyword, shown(expected, LIST_WIDTH)) for keyword, expected in self.others]
        return (*tokens, None, *self.missing, None, *self.unexpected, None, *others)


def explain(tool: str, instance: object, errors: Errors) -> tuple[str, dict[str, Json]]:
    """Return what is wrong with `instance` as arguments of `tool`: as text, and as a result's `_meta`."""
    return describe(tool, instance, errors), {"mcpc/problems": problems(instance, errors)}


def describe(tool: str, instance: object, errors: Errors) -> str:
    """Return what is wrong with `instance` as arguments of `tool`, in a text a language model can act on."""
    told, number, is_all = lines(instance, errors)
    count = f"{'more than ' if len(errors) > MANY else ''}{counted(number, 'problem')}"
    remedy = f"fix {'' if is_all else 'these first '}and call again"
    return "\n".join([f"Invalid arguments for {plain(tool[:VALUE_WIDTH])}: {count}; {remedy}", *told])


def lines(instance: object, errors: Errors) -> tuple[list[str], int, bool]:
    """Return a line each for the first problems, the number of all of them, and whether the lines tell of all."""
    troubles: dict[str, Trouble] = {}
    labels: dict[str, dict[str, list[object]]] = {}
    for pointer, keyword, expected in _first(errors):
        if keyword in ALTERNATIVES and type(expected) is dict:
            labels.setdefault(pointer, expected)
            continue
        place = pointer[: pointer.rfind("/")] if keyword in UNEXPECTED else pointer
        if place not in troubles:
            troubles[place] = Trouble(place)
        troubles[place].add(pointer, keyword, expected)
    groups: dict[tuple[object, ...], list[Trouble]] = {}
    for trouble in sorted(troubles.values(), key=lambda trouble: -trouble.depth):
        groups.setdefault(trouble.likeness(), []).append(trouble)
    told = [_line(instance, group, labels) for group in list(groups.values())[:LINES]]
    return told, len(troubles), len(groups) <= LINES


def _first(errors: Errors) -> Errors:
    """Return the first complaints, none of which has more text than is looked at."""
    return [(pointer[:POINTER], keyword[:VALUE_WIDTH], expected) for pointer, keyword, expected in errors[:MANY]]


def problems(instance: object, errors: Errors) -> list[Json]:
    """Return the first problems as JSON; a value that is too long stands there as the beginning of its text."""
    told = [row for row in _first(errors) if not (row[1] in ALTERNATIVES and type(row[2]) is dict)]
    found: list[Json] = []
    for pointer, keyword, expected in sorted(told, key=lambda row: -row[0].count("/"))[:PROBLEMS]:
        path = pointer if len(pointer) <= LIST_WIDTH else pointer[: pointer.rfind("/", 0, LIST_WIDTH)]
        problem: dict[str, Json] = {"path": path, "keyword": keyword, "expected": kept(expected)}
        value = _at(instance, path)
        if value is not ABSENT and keyword not in ("required", "dependentRequired"):
            problem["received"] = kept(value)
        found.append(problem)
    return found


def _line(instance: object, group: list[Trouble], labels: dict[str, dict[str, list[object]]]) -> str:
    """Return what is said of troubles that are alike."""
    first, *same = group
    around = [place for place in labels if first.pointer == place or first.pointer.startswith(f"{place}/")]
    first.tags = labels[max(around, key=len)] if around else {}
    given = [(name, values) for name, values in first.tags.items() if name not in first.missing]
    called = "".join([f" ({plain(name[:VALUE_WIDTH])} {listed(values, ' or ')})" for name, values in given])
    text = f"- {_place(first.pointer)}{called}: {_said(_at(instance, first.pointer), first)}"
    others = [_place(trouble.pointer)[:VALUE_WIDTH] for trouble in same[:2]]
    more = f" and {len(same) - len(others)} more" if len(same) > len(others) else ""
    end = f" (the same at {', '.join(others)}{more})" if same else ""
    data, room = text.encode(), LINE_BYTES - len(end.encode())
    return f"{text if len(data) <= room else str(data[:room], 'utf-8', 'ignore') + '…'}{end}"


def _said(value: object, trouble: Trouble) -> str:
    """Return everything that is wrong at one place, in words."""
    said = _names(value, trouble) if trouble.missing or trouble.unexpected else []
    expected = []
    is_sized = False
    for keyword, want in trouble.others:
        row = "alternatives" if keyword in ALTERNATIVES and type(want) is list and dict in map(type, want) else keyword
        fields = Fields(value, row, want, trouble.pointer)
        if row in SENTENCES:
            said.append(SENTENCES[row].format_map(fields))
        else:
            expected.append(EXPECTED.get(row, OTHER).format_map(fields))
            is_sized = is_sized or any(field in EXPECTED.get(row, "") for field in COUNTING)
    if expected and value is not ABSENT:
        said.append(f"received {shown(value)} ({kind_of(value, sized=is_sized)})")
    return "; ".join([*said, *([f"expected {' and '.join(expected)}"] if expected else [])])


def _names(value: object, trouble: Trouble) -> list[str]:
    """Return which names are missing and which unexpected, and which of these is a slip of which other."""
    given = value if type(value) is dict else {}
    tags = {name: f" ({listed(values, ' or ')})" for name, values in trouble.tags.items()}
    missing = [f"{shown(name)}{tags.get(name, '')}" for name in trouble.missing]
    unexpected = [shown(name) for name in trouble.unexpected]
    if not unexpected:
        return [f"missing required {named('property', missing, NAMES)}{_instead(trouble.missing, given)}"]
    wanted = dict.fromkeys([*trouble.missing, *[name for name in trouble.known[:NEAR_NAMES] if name not in given]])
    near = [nearest(name, [*wanted]) for name in trouble.unexpected[:SLIPS]]
    if len(missing) == len(unexpected) == 1 and near[0] == trouble.missing[0]:
        return [f"missing required property {missing[0]} (unexpected {unexpected[0]}, did you mean {missing[0]}?)"]
    for number, slip in enumerate(near):
        unexpected[number] += "" if slip is None else f" (did you mean {shown(slip)}?)"
    first = [f"missing required {named('property', missing, NAMES)}"] if missing else []
    is_clear = len(near) == len(unexpected) and None not in near
    remedy = "" if is_clear else f"; known: {listed(trouble.known)}" if trouble.known else "; leave it out"
    return [*first, f"unexpected {named('property', unexpected, NAMES)}{remedy}"]


def _instead(missing: list[str], given: dict[str, object]) -> str:
    """Return which property of an object that takes any stands for one that is missing."""
    for name in missing[:SLIPS]:
        slip = nearest(name, [one for one, _ in zip(given, range(NEAR_NAMES), strict=False)], parts=False)
        if type(slip) is str and slip.strip("0123456789") != name.strip("0123456789"):  # not `path1` for `path2`
            return f" (there is {shown(slip)}, did you mean {shown(name)}?)"
    return ""


class Fields:
    """What a template may say of one complaint; each field is made when it is asked for."""

    def __init__(self, value: object, keyword: str, want: object, pointer: str) -> None:
        self.value = value
        self.keyword = keyword
        self.want = want
        self.wants: list[object] = want if type(want) is list else [want]
        self.pointer = pointer

    def __getitem__(self, field: str) -> str:
        return FIELDS[field](self)


def _or(texts: list[str]) -> str:
    return " or ".join(filter(None, [", ".join(texts[:-1]), texts[-1]]))


def _near(fields: Fields) -> str:
    near = nearest(fields.value, fields.wants if fields.keyword == "enum" else [fields.want])
    return "" if near is None else f" (did you mean {shown(near)}?)"


def _rule(fields: Fields) -> str:
    keyword, want = str(fields.wants[0])[:VALUE_WIDTH], fields.wants[-1]
    if keyword == "false":
        return "no property at all"
    return EXPECTED.get(keyword, OTHER).format_map(Fields(_name(fields.pointer), keyword, want, fields.pointer))


def _either(fields: Fields) -> str:
    sets = [want["required"] for want in fields.wants if type(want) is dict][:NAMES]
    joined = [" and ".join([shown(name) for name in names[:SLIPS]]) for names in sets]
    text = " or ".join([f"({text})" if len(names) > 1 else text for text, names in zip(joined, sets, strict=True)])
    given = fields.value if type(fields.value) is dict else {}
    return text + _instead([name for names in sets for name in names], given)


FIELDS: dict[str, Callable[[Fields], str]] = {
    "keyword": lambda fields: plain(fields.keyword),
    "types": lambda fields: _or([plain(str(one)[:VALUE_WIDTH]) for one in fields.wants[:NAMES]]),
    "mended": lambda fields: mended(fields.value, fields.wants),
    "choice": lambda fields: ("" if len(fields.wants) == 1 else "one of ") + listed(fields.wants),
    "near": _near,
    "want": lambda fields: shown(fields.want, LIST_WIDTH),
    "plain": lambda fields: plain(fields.want[:LIST_WIDTH]) if type(fields.want) is str else shown(fields.want),
    "example": lambda fields: f", such as {EXAMPLES[str(fields.want)]}" if str(fields.want) in EXAMPLES else "",
    "characters": lambda fields: counted(fields.want, "character"),
    "items": lambda fields: counted(fields.want, "item"),
    "properties": lambda fields: counted(fields.want, "property"),
    "places": lambda fields: " and ".join([str(one + 1) for one in fields.wants[:SLIPS] if type(one) is int]),
    "first": lambda fields: shown(fields.wants[0]),
    "second": lambda fields: shown(fields.wants[-1]),
    "name": lambda fields: shown(_name(fields.pointer)),
    "rule": _rule,
    "either": _either,
}
COUNTING = ("{characters}", "{items}", "{properties}")


def _name(pointer: str) -> str:
    """Return the last name of a JSON Pointer."""
    return pointer[pointer.rfind("/") + 1 :].replace("~1", "/").replace("~0", "~")


def _at(instance: object, pointer: str) -> object:
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


def _place(pointer: str) -> str:
    """Return a pointer as it is shown: its end, if it is long."""
    return plain(pointer if len(pointer) <= LIST_WIDTH else f"…{pointer[-LIST_WIDTH:]}") or "/"
