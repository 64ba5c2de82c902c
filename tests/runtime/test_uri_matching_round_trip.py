"""URI templates there and back: what an expander of RFC 6570 makes of values is read as those values again.

The expander here is the specification's table, and nothing of ours.
"""

from typing import Any
from urllib.parse import quote

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from mcpc.model.ir.uri_templates import RESERVED, TemplateError, UriTemplate, parse_template
from mcpc_runtime.protocol.uri_matching import match_template, uri_problem

LONG = 20_000
"""So many characters that what is not linear would take minutes."""
OPERATORS = {"": ("", ",", False), "+": ("", ",", False), "#": ("#", ",", False), ".": (".", ".", False),
             "/": ("/", "/", False), ";": (";", ";", True), "?": ("?", "&", True), "&": ("&", "&", True)}  # fmt: skip
"""RFC 6570, appendix A: what comes first, what between, and whether names are said."""
PLAIN = st.text("aB7 é€\U0001f600%/?#,&=;:@", min_size=1, max_size=6)
OPEN = st.text("aB7 é€/", min_size=1, max_size=6).filter(lambda text: "//" not in text and not text.startswith("/"))
Value = str | list[str] | None


def expand(parts: list[tuple[str, list[tuple[str, int, bool]]]], values: dict[str, Value]) -> str:
    """Expand a template; a part is a literal, or an operator and its variables: name, prefix, exploded."""
    made = ""
    for operator, variables in parts:
        if not variables:
            made += operator
            continue
        first, between, named = OPERATORS[operator]
        pieces = [piece for one in variables for piece in expanded(operator, one, values[one[0]], named)]
        made += first + between.join(pieces) if pieces else ""
    return made


def expanded(operator: str, variable: tuple[str, int, bool], value: Value, named: bool) -> list[str]:
    name, prefix, _ = variable
    if value is None:
        return []
    safe = RESERVED if operator in ("+", "#") else ""
    written = [quote(one[:prefix] if prefix else one, safe=safe) for one in (value if type(value) is list else [value])]
    if not named:
        return written
    return [name if not one and operator == ";" else f"{name}={one}" for one in written]


@st.composite
def variables(draw: Any, operator: str, number: int) -> list[tuple[str, int, bool]]:
    """Return the variables of an expression."""
    if operator not in ("", "+", "#") and draw(st.booleans()):
        return [(f"list{number}", 0, True)]
    count = draw(st.integers(1, 2))
    prefixes = st.just(0) if operator == "#" else st.sampled_from([0, 0, 0, 3])
    return [(f"v{number}{letter}", draw(prefixes), False) for letter in "ab"[:count]]


@st.composite
def templates(draw: Any) -> tuple[str, list[Any], dict[str, Value]]:
    """Return a template, its parts, and values for it."""
    parts: list[Any] = [("x:a", [])]
    for number, operator in enumerate(draw(st.lists(st.sampled_from(["", "+", ".", "/", ";"]), max_size=3))):
        parts += [(f"/s{number}/", []), (operator, draw(variables(operator, number)))]
    for number, operator in ((7, "?"), (8, "&"), (9, "#")):
        has_query = any(operator == "?" for operator, _ in parts)
        if draw(st.booleans()) and (operator != "&" or has_query):
            parts.append((operator, draw(variables(operator, number))))
    text = "".join(written(operator, names) for operator, names in parts)
    values: dict[str, Value] = {}
    for operator, names in parts:
        absent, may_lack = False, operator not in ("", "+")
        for name, _, exploded in names:
            absent = absent or (may_lack and draw(st.integers(0, 3)) == 0)
            may_lack &= operator != "#"  # of a fragment all is there, or nothing
            one = OPEN if operator in ("+", "#") else PLAIN
            values[name] = None if absent else draw(st.lists(one, min_size=1, max_size=3) if exploded else one)
    return text, parts, values


def written(operator: str, names: list[tuple[str, int, bool]]) -> str:
    """Return a part as it stands in the template."""
    if not names:
        return operator
    words = [f"{name}{f':{prefix}' if prefix else ''}{'*' if exploded else ''}" for name, prefix, exploded in names]
    return f"{{{operator}{','.join(words)}}}"


def row(template: UriTemplate) -> tuple[Any, ...]:
    """Return a template as it stands in an index."""
    return template.text, template.pattern, tuple((one.name, one.kind) for one in template.variables), (0, 0)


def parsed(text: str) -> UriTemplate:
    """Return a template, unless it is one that is refused because nobody could read it backwards."""
    try:
        return parse_template(text)
    except TemplateError:
        assume(False)
        raise


def cut(value: Value, prefix: int) -> Value:
    """Return what of a value comes to stand in the uri."""
    return value[:prefix] if prefix and type(value) is str else value


SETTINGS = settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])


@given(templates())
@SETTINGS
def test_what_was_expanded_is_read_again(made: tuple[str, list[Any], dict[str, Value]]) -> None:
    text, parts, values = made
    template = parsed(text)
    uri = expand(parts, values)
    assert not uri_problem(uri), uri
    found = match_template((row(template),), uri)
    assert found is not None, (template.pattern, uri)
    prefixes = {name: prefix for _, names in parts for name, prefix, _ in names}
    assert found[1] == {name: cut(value, prefixes[name]) for name, value in values.items() if value is not None}, uri


@given(templates(), st.sampled_from(["", "/", "&", ";", ".", "a", "%41", "?", "#", "=", ","]), st.data())
@settings(max_examples=150, deadline=5000, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
def test_no_uri_takes_long(made: tuple[str, list[Any], dict[str, Value]], more: str, data: st.DataObject) -> None:
    """A uri in which a piece of a good one comes again and again; only what is not linear misses the deadline."""
    text, parts, values = made
    template = parsed(text)
    uri = expand(parts, values)
    start = data.draw(st.integers(0, len(uri)))
    end = data.draw(st.integers(start, len(uri)))
    piece = uri[start:end] + more or "a"
    long = uri[:start] + piece * (LONG // len(piece))
    for tail in ("", uri[end:], uri[end:] + "\n"):
        template.match(long + tail)
