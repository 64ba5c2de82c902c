"""What filters do with JSON values: the operators and functions of jq's language that are known.

Its law: a value that is not fit for what is asked of it is WrongValueError.
"""

import re

from json_values import DECODER, WrongValueError, dump, is_true, key, kind, plain


def index(value, name):
    if value is None and isinstance(name, (str, int, float)):
        return None
    if isinstance(value, dict) and isinstance(name, str):
        return value.get(name)
    if isinstance(value, list) and kind(name) == "number":
        at = int(name // 1)
        return value[at] if -len(value) <= at < len(value) else None
    raise WrongValueError


def part(value, first, last):
    if value is None:
        return None
    if not isinstance(value, (list, str)) or {kind(first), kind(last)} - {"null", "number"}:
        raise WrongValueError
    return value[slice(first, last)]


def each(value):
    if isinstance(value, dict):
        return iter(value.values())
    if isinstance(value, list):
        return iter(value)
    raise WrongValueError


def recurse(value):
    yield value
    if isinstance(value, (dict, list)):
        for one in each(value):
            yield from recurse(one)


def numbers(a, b):
    if kind(a) != "number" or kind(b) != "number":
        raise WrongValueError
    return a, b


def plus(a, b):
    if a is None or b is None:
        return b if a is None else a
    if isinstance(a, dict) and isinstance(b, dict):
        return {**a, **b}
    if kind(a) != kind(b) or isinstance(a, (bool, dict)):
        raise WrongValueError
    return a + b


def minus(a, b):
    if isinstance(a, list) and isinstance(b, list):
        return [one for one in a if one not in b]
    a, b = numbers(a, b)
    return a - b


def times(a, b):
    a, b = numbers(a, b)
    return a * b


def divided(a, b):
    if isinstance(a, str) and isinstance(b, str):
        return a.split(b)
    a, b = numbers(a, b)
    if not b:
        raise WrongValueError
    return a // b if not a % b else a / b


def modulo(a, b):
    a, b = (int(one) for one in numbers(a, b))
    if not b:
        raise WrongValueError
    return abs(a) % abs(b) * (1 if a >= 0 else -1)


def negative(value):
    return minus(0, value)


def length(value):
    if value is None:
        return 0
    if isinstance(value, bool):
        raise WrongValueError
    return abs(value) if kind(value) == "number" else len(value)


def keys(value):
    return sorted(value) if isinstance(value, dict) else list(range(len(as_list(value))))


def as_list(value):
    if not isinstance(value, list):
        raise WrongValueError
    return value


def as_text(value):
    if not isinstance(value, str):
        raise WrongValueError
    return value


def number_of(value):
    if isinstance(value, str):
        try:
            value = DECODER.decode(value)
        except ValueError:
            raise WrongValueError from None
    if kind(value) != "number":
        raise WrongValueError
    return value


def decoded(value):
    try:
        return DECODER.decode(as_text(value))
    except ValueError:
        raise WrongValueError from None


def added(value):
    total = None
    for one in each(value):
        total = plus(total, one)
    return total


def flat(value):
    return [b for a in as_list(value) for b in (flat(a) if isinstance(a, list) else [a])]


def unique(value):
    kept = []
    for one in sorted(as_list(value), key=key):
        if not kept or key(kept[-1]) != key(one):
            kept.append(one)
    return kept


def to_entries(value):
    pairs = enumerate(value) if isinstance(value, list) else value.items()
    return [{"key": name, "value": one} for name, one in pairs]


def from_entries(value):
    made = {}
    for one in as_list(value):
        name = next((one[word] for word in ("key", "k", "name", "Name", "Key", "K") if is_true(one.get(word))), "null")
        made[plain(name)] = next((one[word] for word in ("value", "v", "Value", "V") if word in one), None)
    return made


def cells(value, marks, quote):
    found = []
    for one in as_list(value):
        if isinstance(one, (dict, list)):
            raise WrongValueError
        found.append("" if one is None else quote(one))
    return marks.join(found)


def tab_cell(value):
    return plain(value).replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


def comma_cell(value):
    return '"' + value.replace('"', '""') + '"' if isinstance(value, str) else plain(value)


def contains(a, b):
    if isinstance(a, dict) and isinstance(b, dict):
        return all(name in a and contains(a[name], one) for name, one in b.items())
    if isinstance(a, list) and isinstance(b, list):
        return all(any(contains(one, other) for one in a) for other in b)
    if kind(a) != kind(b):
        raise WrongValueError
    return b in a if isinstance(a, str) else a == b


def has(value, name):
    if value is None:
        return False
    if isinstance(value, dict) and isinstance(name, str):
        return name in value
    if isinstance(value, list) and kind(name) == "number":
        return 0 <= name < len(value)
    raise WrongValueError


def joined_with(value, mark):
    return as_text(mark).join("" if one is None else plain(one) for one in as_list(value))


def by_result(operation):
    return lambda value, argument: (operation(value, one) for one in argument(value))


def checked(operation, value):
    """Call a function of one value; what Python complains about is wrong with that."""
    try:
        return operation(value)
    except (AttributeError, IndexError, TypeError):
        raise WrongValueError from None


def raised(value):
    raise WrongValueError


OPERATIONS = {
    "or": lambda a, b: is_true(a) or is_true(b),
    "and": lambda a, b: is_true(a) and is_true(b),
    "==": lambda a, b: key(a) == key(b),
    "!=": lambda a, b: key(a) != key(b),
    "<": lambda a, b: key(a) < key(b),
    "<=": lambda a, b: key(a) <= key(b),
    ">": lambda a, b: key(a) > key(b),
    ">=": lambda a, b: key(a) >= key(b),
    "+": plus,
    "-": minus,
    "*": times,
    "/": divided,
    "%": modulo,
}
FUNCTIONS = {
    "length": length,
    "keys": keys,
    "type": kind,
    "not": lambda value: not is_true(value),
    "tostring": plain,
    "tonumber": number_of,
    "tojson": dump,
    "fromjson": decoded,
    "ascii_downcase": lambda value: re.sub("[A-Z]+", lambda found: found[0].lower(), as_text(value)),
    "ascii_upcase": lambda value: re.sub("[a-z]+", lambda found: found[0].upper(), as_text(value)),
    "to_entries": to_entries,
    "from_entries": from_entries,
    "add": added,
    "any": lambda value: any(is_true(one) for one in each(value)),
    "all": lambda value: all(is_true(one) for one in each(value)),
    "first": lambda value: index(value, 0),
    "last": lambda value: index(value, -1),
    "sort": lambda value: sorted(as_list(value), key=key),
    "unique": unique,
    "reverse": lambda value: as_list(value)[::-1],
    "flatten": flat,
    "error": raised,
    "@tsv": lambda value: cells(value, "\t", tab_cell),
    "@csv": lambda value: cells(value, ",", comma_cell),
    "@json": dump,
    "@text": plain,
}
WITH_ARGUMENT = {
    "select": lambda value, test: (value for one in test(value) if is_true(one)),
    "map": lambda value, made: iter(([b for a in each(value) for b in made(a)],)),
    "has": by_result(has),
    "join": by_result(joined_with),
    "split": by_result(lambda value, mark: as_text(value).split(as_text(mark)) if mark else list(as_text(value))),
    "startswith": by_result(lambda value, text: as_text(value).startswith(as_text(text))),
    "endswith": by_result(lambda value, text: as_text(value).endswith(as_text(text))),
    "contains": by_result(contains),
}
