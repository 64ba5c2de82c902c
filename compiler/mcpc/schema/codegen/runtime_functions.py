"""Functions that a generated module may include; each is written into a module only if something there calls it.

They know JSON values as a parser makes them (exact types), and import nothing but, when it is first needed, `re` and
what the runtime has for formats and alternatives.
"""

from __future__ import annotations

from mcpc.schema.code import PythonCode, fill

SUPPORT: dict[str, PythonCode] = {
    "has_format": fill('''def has_format(name, text):
    """Say whether `text` has the format `name`."""
    from mcpc_runtime.validation.formats import FORMATS

    return FORMATS[name](text)'''),
    "same": fill('''def same(one, other):
    """Say whether two JSON values are equal; a boolean is no number."""
    kind = type(one)
    if kind is list:
        return type(other) is list and len(one) == len(other) and all(map(same, one, other))
    if kind is dict:
        return type(other) is dict and one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    return one is other if kind is bool or type(other) is bool else one == other'''),
    "distinct": fill('''def distinct(items):
    """Say whether no two of `items` are equal; no hash of a number is used, since those can be chosen to be equal."""
    kinds = set(map(type, items))
    if kinds == {int}:
        return len(set(map(hex, items))) == len(items)
    if not kinds <= {str, type(None)}:
        items = [identity(item, 100) for item in items]
    return len(set(items)) == len(items)'''),
    "identity": fill('''def identity(value, room):
    """Return a text that is the same for equal JSON values only."""
    kind = type(value)
    if kind is float and value.is_integer():
        return hex(int(value))
    if kind is not list and kind is not dict:
        return hex(value) if kind is int else repr(value)
    if not room:
        raise RecursionError
    if kind is list:
        return "[" + ",".join([identity(item, room - 1) for item in value]) + "]"
    pairs = sorted(value.items(), key=first)
    return "{" + ",".join([repr(name) + ":" + identity(item, room - 1) for name, item in pairs]) + "}"'''),
    "allowance": fill('''def allowance(value):
    """Return how often recursive functions may be called for `value`, by the number of its parts."""
    parts = [value]
    for part in parts:
        if type(part) is list:
            parts += part
        elif type(part) is dict:
            parts += part.values()
        if len(parts) > 95_000:
            break
    return 20_000 + 4 * min(len(parts), 95_000)'''),
    "first": fill('''def first(pair):
    """Return the first of two."""
    return pair[0]'''),
    "multiple": fill('''def multiple(value, step, scale):
    """Say whether `value` is a multiple of `step / scale`, exactly, as decimal numbers."""
    if type(value) is float:
        if value - value != 0:
            return False
        digits, _, exponent = repr(value).partition("e")
        whole, _, fraction = digits.partition(".")
        value = int(whole + fraction)
        shift = int(exponent or 0) - len(fraction)
        value *= 10 ** max(shift, 0)
        step *= 10 ** max(-shift, 0)
    return value * scale %% step == 0'''),
    "step": fill('''def step(name):
    """Return the step of a JSON Pointer to the property `name`, whose end is left out if it is very long."""
    return "/" + name[:200].replace("~", "~0").replace("/", "~1")'''),
    "nearest": fill('''def nearest(path, value, branches, about):
    """Return what the alternative that was meant complains of."""
    from mcpc_runtime.protocol.union_errors import closest_branch_errors

    return closest_branch_errors(path, value, branches, about)'''),
}

NEEDS = {"distinct": ("identity", "first")}
"""The functions other functions call."""

NAMES: dict[str, PythonCode] = {name: fill(name) for name in SUPPORT}
