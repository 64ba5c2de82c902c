"""The functions a generated module may carry along; one is written into a module only if something there calls it.

They know JSON values as a parser makes them (exact types), and import nothing but `re`, when a pattern is first asked.
"""

from __future__ import annotations

from mcpc.schema.code import Code, fill

SUPPORT: dict[str, Code] = {
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
    kinds = set(map(type, items))
    if bool in kinds or list in kinds or dict in kinds:
        items = [identity(item, 100) for item in items]
    return len(set(items)) == len(items)'''),
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
    """Return the step of a JSON Pointer to the property `name`, whose end is left out if it is very long."""
    return "/" + name[:200].replace("~", "~0").replace("/", "~1")'''),
    "nearest": fill('''def nearest(path, value, branches, about):
    """Return what the alternative that was meant complains of and what it is called, or what all of them want."""
    keyword, tag, rows = about
    numbers, only = range(len(branches)), None
    fits = [known(value, names) for values, names in rows]
    if tag is not None and type(value) is dict:
        only = path + step(tag)
        meant = [n for n in numbers if tag in value and any([same(value[tag], one) for one in rows[n][0]])]
        numbers = meant or numbers
    if len(numbers) == len(branches):
        shared = only and untagged(path, value, branches, about, fits) or common(path, keyword, branches, fits)
        if shared:
            return shared
    best = min(numbers, key=lambda n: (distance(path, branches[n], only), -fits[n], *extent(branches[n])))
    label = {tag: list(rows[best][0])}
    return [*branches[best], (path, keyword, label)] if only and rows[best][0] else branches[best]'''),
    "untagged": fill('''def untagged(path, value, branches, about, fits):
    """Return what to say of an object whose tag is wrong, or missing where nothing else tells what was meant."""
    keyword, tag, rows = about
    others = [n for n in range(len(branches)) if not is_foreign(path, branches[n])]
    if not others:
        return []
    if tag in value and all([rows[n][0] for n in others]):
        return [(path + step(tag), "enum", tags(rows))]
    if fits.count(max(fits)) > 1 and all([(path, "required", tag) in branches[n] for n in others]):
        return [(path, "required", tag), (path, keyword, {tag: tags(rows)})]
    return []'''),
    "tags": fill('''def tags(rows):
    """Return every value of the tag, once."""
    return list(dict([(repr(one), one) for row in rows for one in row[0]]).values())'''),
    "known": fill('''def known(value, names):
    """Count the properties of a value that an alternative has names for."""
    return len([name for name in names if name in value]) if type(value) is dict else 0'''),
    "is_foreign": fill('''def is_foreign(path, found):
    """Say whether the value is not even of the type that was wanted."""
    return any([at == path and keyword in ("type", "false") for at, keyword, want in found])'''),
    "common": fill('''def common(path, keyword, branches, fits):
    """Return the type or the constants that every alternative misses, or the properties that are missing for each."""
    for shown, keywords in ("type", ("type",)), ("enum", ("const", "enum")):
        wants = [wanted(found, keywords) for found in branches]
        for at in wants[0]:
            if all(at in want for want in wants):
                values = dict([(repr(value), value) for want in wants for value in want[at]])
                return [(at, shown, list(values.values()))]
    missing = [wanted(found, ("required",)).get(path, []) for found in branches]
    if len(set(fits)) == 1 and [len(names) for names in missing] == [len(found) for found in branches]:
        return [(path, keyword, [{"required": names} for names in missing])] if len(branches) > 1 else []
    return []'''),
    "wanted": fill('''def wanted(found, keywords):
    """Return by place the values that the complaints of `keywords` want."""
    wants = dict()
    for at, keyword, want in found:
        if keyword in keywords:
            wants.setdefault(at, []).extend(want if type(want) is list and keyword != "const" else [want])
    return wants'''),
    "distance": fill('''def distance(path, found, only):
    """Weigh complaints: a wrong type, or a wrong constant (at `only`, if given), says that another was meant."""
    weight = 0
    for at, keyword, want in found:
        is_constant = keyword == "const" or keyword == "enum" and len(want) == 1
        is_near = at.count("/") <= path.count("/") + 1
        if at == path and keyword in ("type", "false"):
            weight += 1000 if keyword == "type" else 10000
        elif is_constant and (is_near if only is None else at == only):
            weight += 100
    return weight'''),
    "extent": fill('''def extent(found):
    """Say how many complaints there are, and how near to the surface of the value."""
    return len(found), -min([at.count("/") for at, keyword, want in found])'''),
}

NEEDS = {
    "distinct": ("identity",),
    "nearest": ("same", "step", "tags", "untagged", "known", "is_foreign", "common", "wanted", "distance", "extent"),
}
"""The functions other functions call."""

NAMES: dict[str, Code] = {name: fill(name) for name in SUPPORT}
