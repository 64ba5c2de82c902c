"""The functions a generated module may carry along; one is written into a module only if something there calls it.

They know JSON values as a parser makes them (exact types), and import nothing but `re`, when a pattern is first asked.
"""

from __future__ import annotations

from mcpc.schema.code import Code, fill

SUPPORT: dict[str, Code] = {
    "search": fill('''def search(number, text):
    """Search `text` for a pattern, which is compiled when it is first needed."""
    pattern = PATTERNS[number]
    if type(pattern) is str:
        import re

        pattern = PATTERNS[number] = re.compile(pattern, re.ASCII)
    return pattern.search(text) is not None'''),
    "same": fill('''def same(one, other):
    """Say whether two JSON values are equal; a boolean is no number."""
    kind = type(one)
    if kind is list:
        return type(other) is list and len(one) == len(other) and all(map(same, one, other))
    if kind is dict:
        return type(other) is dict and one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    return one is other if kind is bool or type(other) is bool else one == other'''),
    "distinct": fill('''def distinct(items):
    """Say whether no two of `items` are equal."""
    return len(items) < 2 or len(set([identity(item, 100) for item in items])) == len(items)'''),
    "identity": fill('''def identity(value, room):
    """Return what is hashable, and equal for equal JSON values only."""
    kind = type(value)
    if kind is bool:
        return kind, value
    if kind is not list and kind is not dict:
        return value
    if not room:
        raise RecursionError
    if kind is list:
        return kind, *[identity(item, room - 1) for item in value]
    return kind, frozenset([(name, identity(item, room - 1)) for name, item in value.items()])'''),
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
    """Return the step of a JSON Pointer to the property `name`."""
    return "/" + name.replace("~", "~0").replace("/", "~1")'''),
    "nearest": fill('''def nearest(path, branches):
    """Return what the closest of the failed alternatives complains of, or what all of them want."""
    for keyword, keywords in ("type", ("type",)), ("enum", ("const", "enum")):
        wants = [wanted(found, keywords) for found in branches]
        for at in wants[0]:
            if all(at in want for want in wants):
                values = dict([(repr(value), value) for want in wants for value in want[at]])
                return [(at, keyword, list(values.values()))]
    return min(branches, key=lambda found: distance(path, found))'''),
    "wanted": fill('''def wanted(found, keywords):
    """Return by place the values that the complaints of `keywords` want."""
    wants = dict()
    for at, keyword, want in found:
        if keyword in keywords:
            wants.setdefault(at, []).extend(want if type(want) is list and keyword != "const" else [want])
    return wants'''),
    "distance": fill('''def distance(path, found):
    """Weigh complaints: a wrong type of the value, or a wrong constant in it, says that another was meant."""
    weight = 0
    for at, keyword, want in found:
        is_constant = keyword == "const" or keyword == "enum" and len(want) == 1
        is_near = at.count("/") <= path.count("/") + 1
        weight += 1000 if keyword == "type" and at == path else 100 if is_constant and is_near else 1
    return weight'''),
}

NEEDS = {"distinct": ("identity",), "nearest": ("wanted", "distance")}
"""The functions other functions call."""

NAMES: dict[str, Code] = {name: fill(name) for name in SUPPORT}
