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
    "has_format": fill('''def has_format(name, text):
    """Say whether `text` has the format `name`."""
    from mcpc_runtime.formats import FORMATS

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
    "nearest": fill('''def nearest(path, value, branches, about):
    """Return what the alternative that was meant complains of and what it is called, or what all of them want."""
    keyword, tag, rows = about
    numbers = range(len(branches))
    is_tagged = tag is not None and type(value) is dict
    if is_tagged and tag in value:
        meant = [n for n in numbers if any([same(value[tag], one) for one in rows[n][0]])]
        if meant:
            numbers = meant
        elif all([rows[n][0] or is_foreign(path, branches[n]) for n in numbers]):
            return [(path + step(tag), "enum", tags(rows))]
    elif is_tagged and not leads([known(value, row[1]) for row in rows]):
        if all([rows[n][0] and (path, "required", tag) in branches[n] or is_foreign(path, branches[n]) for n in numbers]):
            return [(path, "required", tag), (path, keyword, {tag: tags(rows)})]
    if len(numbers) == len(branches):
        shared = common(path, keyword, branches, [known(value, row[1]) for row in rows])
        if shared:
            return shared
    best = min(numbers, key=lambda n: distance(path, branches[n], known(value, rows[n][1])))
    label = {tag: list(rows[best][0])}
    return [*branches[best], (path, keyword, label)] if is_tagged and rows[best][0] else branches[best]'''),
    "tags": fill('''def tags(rows):
    """Return every value of the tag, once."""
    return list(dict([(repr(one), one) for row in rows for one in row[0]]).values())'''),
    "known": fill('''def known(value, names):
    """Count the properties of a value that an alternative has names for."""
    return len([name for name in names if name in value]) if type(value) is dict else 0'''),
    "leads": fill('''def leads(counts):
    """Say whether one count is above all others."""
    return counts.count(max(counts)) == 1'''),
    "is_foreign": fill('''def is_foreign(path, found):
    """Say whether the value is not even of the type that was wanted."""
    return any([at == path and keyword in ("type", "false") for at, keyword, want in found])'''),
    "common": fill('''def common(path, keyword, branches, counts):
    """Return the type or the constants that every alternative misses, or the properties that are missing for each."""
    for shown, keywords in ("type", ("type",)), ("enum", ("const", "enum")):
        wants = [wanted(found, keywords) for found in branches]
        for at in wants[0]:
            if all(at in want for want in wants):
                values = dict([(repr(value), value) for want in wants for value in want[at]])
                return [(at, shown, list(values.values()))]
    missing = [wanted(found, ("required",)).get(path, []) for found in branches]
    if len(set(counts)) == 1 and [len(names) for names in missing] == [len(found) for found in branches]:
        return [(path, keyword, [{"required": names} for names in missing])] if len(branches) > 1 else []
    return []'''),
    "wanted": fill('''def wanted(found, keywords):
    """Return by place the values that the complaints of `keywords` want."""
    wants = dict()
    for at, keyword, want in found:
        if keyword in keywords:
            wants.setdefault(at, []).extend(want if type(want) is list and keyword != "const" else [want])
    return wants'''),
    "distance": fill('''def distance(path, found, fit):
    """Weigh complaints: a wrong type of the value or a wrong constant in it, then how few of its properties are known,
    how many complaints there are, and how near to its surface, say that another alternative was meant."""
    weight = 0
    for at, keyword, want in found:
        is_constant = keyword == "const" or keyword == "enum" and len(want) == 1
        is_near = at.count("/") <= path.count("/") + 1
        if at == path and keyword in ("type", "false"):
            weight += 1000 if keyword == "type" else 10000
        elif is_constant and is_near:
            weight += 100
    return weight, -fit, len(found), -min([at.count("/") for at, keyword, want in found])'''),
}

NEEDS = {
    "distinct": ("identity",),
    "nearest": ("same", "step", "tags", "known", "leads", "is_foreign", "common", "wanted", "distance"),
}
"""The functions other functions call."""

NAMES: dict[str, Code] = {name: fill(name) for name in SUPPORT}
