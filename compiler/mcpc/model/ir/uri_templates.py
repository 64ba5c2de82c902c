"""URI templates (RFC 6570), matched in reverse: from a URI to the values of its variables.

    users://{id}/posts{?page,size}

A pattern matches in time linear in the URI, and in only one way: a value ends where the text after it can begin. So a
value contains no character that may follow it, unless only fixed text follows (`{name}.json`), or only values that do
not contain that character (`{+path}/versions/{number}`). A template that is ambiguous about where a value ends is
refused.

A variable's kind is the operator of its expression, with `*` if it is a list (`{/path*}`, `{?tags*}`): the list is one
match, including its separators. `{path*}` and `{+path*}` are single texts; the first may also contain `/`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

RESERVED = ":/?#[]@!$&'()*+,;="
UNRESERVED = "-._~"
ALPHANUMERIC = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
PLAIN = frozenset(ALPHANUMERIC + UNRESERVED + "!$&'()*+,;=:@%")
"""Characters of a value: those allowed in a path segment (RFC 3986, section 3.3), which is more than RFC 6570 needs."""
ANY = PLAIN | frozenset("/?#[]")
QUERY = frozenset(PLAIN | set("/?")) - frozenset("&")
# An expression in braces, or a brace that has no other.
EXPRESSION = re.compile(r"\{([^{}]*)\}|([{}])")
OPERATORS = "+#./;?&"
FUTURE = "=,!@|"
"""Operators reserved by RFC 6570."""
# A name: letters, digits, `_` and percent-encoded bytes, with single dots between them (RFC 6570, section 2.3);
# then `*`, or a number of characters below 10,000 (section 2.4).
VARIABLE = re.compile(
    r"(?P<name>(?:\w|%[0-9A-Fa-f]{2})+(?:\.(?:\w|%[0-9A-Fa-f]{2})+)*)(?P<more>\*|:[1-9][0-9]{0,3})?", re.ASCII
)
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
MAX_TEMPLATE_LENGTH = 2048
CHARACTER = (
    "(?:{plain}|%[0-7][0-9A-Fa-f]|%[CDcd][0-9A-Fa-f]%[89ABab][0-9A-Fa-f]"
    "|%[Ee][0-9A-Fa-f](?:%[89ABab][0-9A-Fa-f]){{2}}|%[Ff][0-7](?:%[89ABab][0-9A-Fa-f]){{3}})"
)
"""One character of a value, which may be percent-encoded UTF-8: `{x:3}` counts these."""


@dataclass(frozen=True, slots=True)
class TemplateVariable:
    """A variable: name, kind, maximum length in characters (0: none), and whether it may be absent."""

    name: str
    kind: str
    longest: int = 0
    optional: bool = False
    exploded: bool = False


@dataclass(frozen=True, slots=True)
class UriTemplate:
    """A template.  `pattern`: a regular expression for whole URIs, with the groups `v0`, `v1`, … of the variables."""

    text: str
    pattern: str = ""
    variables: tuple[TemplateVariable, ...] = ()

    def match(self, uri: str) -> dict[str, str] | None:
        """Return the variables of a URI, or None if it does not match."""
        match = re.match(self.pattern, uri)
        if match is None:
            return None
        values = ((variable.name, match[f"v{number}"]) for number, variable in enumerate(self.variables))
        return {name: value for name, value in values if value is not None}


class TemplateError(Exception):
    """A text is not a template, or cannot be matched in reverse; the message tells why."""


@dataclass(slots=True)
class TemplatePart:
    """A fixed text (`literal`), or an expression.

    `after`: the characters that may follow it; `open_after`: its value may contain those, and ends at the last possible
    position.
    """

    literal: str = ""
    operator: str = ""
    variables: tuple[TemplateVariable, ...] = ()
    after: frozenset[str] = frozenset()
    open_after: bool = False
    numbers: list[int] = field(default_factory=list)

    @property
    def firsts(self) -> frozenset[str]:
        """The characters with which it may begin."""
        if self.literal:
            return frozenset(self.literal[0])
        return frozenset(self.operator) if self.operator not in ("", "+") else value_alphabet(self)

    @property
    def may_be_absent(self) -> bool:
        """Whether a URI may leave it out."""
        return not self.literal and self.operator not in ("", "+")


def parse_template(text: str) -> UriTemplate:
    """Parse a URI template."""
    if len(text) > MAX_TEMPLATE_LENGTH:
        raise TemplateError(f"it has more than {MAX_TEMPLATE_LENGTH} characters")
    parts = list(_parts(text))
    if not parts or not SCHEME.match(parts[0].literal):
        raise TemplateError("it does not begin with a scheme, as in `config://{name}`")
    _number(parts)
    _set_following(parts)
    variables = tuple(variable for part in parts for variable in part.variables)
    return UriTemplate(text, "".join(map(_pattern, parts)) + r"\Z", variables)


def _parts(text: str) -> Iterator[TemplatePart]:
    end = 0
    for match in EXPRESSION.finditer(text):
        if match[2]:
            raise TemplateError(f"a `{match[2]}` stands alone at character {match.start() + 1}")
        if match.start() > end:
            yield TemplatePart(literal=_encoded(text[end : match.start()]))
        yield _expression(match[1])
        end = match.end()
    if end < len(text):
        yield TemplatePart(literal=_encoded(text[end:]))


def _encoded(literal: str) -> str:
    """Return a fixed text as it appears in a URI; `%20` stays as written."""
    # What a literal cannot have by RFC 6570, section 2.1, except for `'`, which is common in URIs.
    wrong = re.search(r"[\x00-\x20\x7f\"<>\\^`|]", literal)
    if wrong:
        raise TemplateError(f"it holds {wrong[0]!r} outside of an expression")
    if re.search(r"%(?![0-9A-Fa-f]{2})", literal):
        raise TemplateError("a `%` is not followed by two hexadecimal digits")
    return quote(literal, safe=RESERVED + UNRESERVED + "%")


def _expression(inside: str) -> TemplatePart:
    operator = inside[:1] if inside[:1] in OPERATORS else ""
    if inside[:1] in FUTURE and inside:
        raise TemplateError(f"the operator `{inside[0]}` of `{{{inside}}}` has no meaning yet")
    written = inside[len(operator) :].split(",")
    variables = tuple(_variable(word, operator, inside) for word in written)
    if len(variables) > 1 and any(variable.exploded for variable in variables):
        raise TemplateError(f"`{{{inside}}}` has an exploded variable beside others, which is ambiguous")
    return TemplatePart(operator=operator, variables=variables)


def _variable(word: str, operator: str, inside: str) -> TemplateVariable:
    match = VARIABLE.fullmatch(word)
    if match is None:
        raise TemplateError(f"`{{{inside}}}` is not an expression: {_no_name(word)}")
    more = match["more"] or ""
    longest = int(more[1:]) if more.startswith(":") else 0
    kind = operator + ("*" if more == "*" and operator in EXPLODED else "")
    return TemplateVariable(match["name"], kind, longest, operator not in ("", "+"), more == "*")


def _no_name(word: str) -> str:
    return f"no variable is called `{word}`" if word else "a variable's name is missing"


def _number(parts: Sequence[TemplatePart]) -> None:
    """Number the variables; duplicate names are refused, because their values might differ."""
    names: list[str] = []
    for part in parts:
        for variable in part.variables:
            if variable.name in names:
                raise TemplateError(f"the variable `{variable.name}` stands in it twice")
            part.numbers.append(len(names))
            names.append(variable.name)


def value_alphabet(part: TemplatePart) -> frozenset[str]:
    """Return the characters that the values of an expression may contain, at any position."""
    letters = ALPHABETS[part.operator]
    if part.operator in ("", "+", "#") and len(part.variables) > 1:
        letters = letters - frozenset(",")
    if part.variables[0].exploded:
        letters = (
            ANY - frozenset("?#[]") if part.operator == "" else letters | frozenset(EXPLODED.get(part.operator, ""))
        )
    return letters


ALPHABETS = {
    "": PLAIN,
    "+": ANY,
    "#": ANY - frozenset("#"),
    ".": PLAIN - frozenset("."),
    "/": PLAIN,
    ";": PLAIN - frozenset(";"),
    "?": QUERY,
    "&": QUERY,
}
EXPLODED = {".": ".", "/": "/", ";": ";", "?": "&", "&": "&"}
"""The separators, which the single value of an exploded variable contains."""


def _set_following(parts: Sequence[TemplatePart]) -> None:
    """Compute what may follow each expression, and refuse templates that are ambiguous about the end of a value."""
    for place, part in enumerate(parts):
        if part.literal:
            continue
        following = parts[place + 1 :]
        part.after = frozenset[str]().union(*(item.firsts for item in _reachable(following)))
        overlap = value_alphabet(part) & part.after
        if not overlap:
            continue
        part.open_after = _can_stay_open(following, overlap)
        if part.open_after:
            continue
        nearest = following[0]
        is_greedy = part.operator in ("+", "#") or part.variables[0].exploded
        if not nearest.literal and nearest.operator in ("", "+"):
            raise TemplateError(
                f"nothing stands between {_named(part)} and {_named(nearest)}: where does the first end?"
            )
        # `{+path}{?page}`: `?` and `#` separate the parts of a URI, so the value ends at the first of them.
        if is_greedy and overlap - frozenset("?#"):
            raise TemplateError(
                f"{_named(part)} may hold what comes after it, and {_named(_next_expression(following))} as well"
            )


def _reachable(following: Sequence[TemplatePart]) -> Iterator[TemplatePart]:
    """Yield the parts that may come next: those up to the first one that is always present."""
    for part in following:
        yield part
        if not part.may_be_absent:
            return


def _can_stay_open(following: Sequence[TemplatePart], overlap: frozenset[str]) -> bool:
    """Tell whether the last position at which the rest matches is found in linear time.

    This holds if only fixed text follows, or if the first characters of the rest occur in none of its values.
    """
    if len(following) == 1 and following[0].literal:
        return True
    if not following[0].literal or overlap - frozenset(following[0].literal[0]):
        return False
    return all(part.literal or not value_alphabet(part) & overlap for part in following[1:])


def _named(part: TemplatePart) -> str:
    return " and ".join(f"`{variable.name}`" for variable in part.variables)


def _next_expression(following: Sequence[TemplatePart]) -> TemplatePart:
    return next(part for part in following if not part.literal)


def _pattern(part: TemplatePart) -> str:
    if part.literal:
        return re.escape(part.literal)
    if part.operator in ("?", "&", ";"):
        return _named_values(part)
    return PATTERNS[part.operator](part)


def _value(part: TemplatePart, place: int, least: str = "+") -> str:
    """Return the pattern of one value; it is possessive, since it can end at one position only, unless left open."""
    variable, number = part.variables[place], part.numbers[place]
    letters = value_alphabet(part) - (frozenset() if part.open_after else part.after)
    if variable.longest:
        item = CHARACTER.format(plain=_class(letters - frozenset("%")))
        low = 1 if least == "+" else 0
        return f"(?P<v{number}>{item}{{{low},{variable.longest}}})"
    return f"(?P<v{number}>{_class(letters)}{least}{'' if part.open_after else '+'})"


def _class(letters: frozenset[str]) -> str:
    """Return a character class of these characters."""
    others = "".join(re.escape(letter) for letter in sorted(letters - frozenset(ALPHANUMERIC)))
    kept = "".join(letter for letter in ALPHANUMERIC if letter in letters)
    return f"[{'A-Za-z0-9' if kept == ALPHANUMERIC else kept}{others}]"


def _simple(part: TemplatePart) -> str:
    return ",".join(_value(part, place) for place in range(len(part.variables)))


def _fragment(part: TemplatePart) -> str:
    return f"(?:\\#{_simple(part)})?"


def _labels(part: TemplatePart) -> str:
    """Return the pattern of `{.x,y}` and `{/x,y}`: values are assigned to the first variables."""
    pattern = ""
    least = "+" if part.operator == "." else "*"
    # From the inside, `(?:/x(?:/y)?)?`: there is no second value without the first.
    for place in reversed(range(len(part.variables))):
        pattern = f"(?:{re.escape(part.operator)}{_value(part, place, least)}{pattern})?"
    return pattern


def _named_values(part: TemplatePart) -> str:
    """Return the pattern of `{?x,y}`, `{&x,y}` and `{;x,y}`: each may be absent, in any order."""
    first, between = part.operator, {"?": "&"}.get(part.operator, part.operator)
    letters = _class(value_alphabet(part) - part.after)
    if part.variables[0].exploded:
        return f"(?:{re.escape(first)}(?P<v{part.numbers[0]}>{letters}*+))?"
    names = "|".join(re.escape(variable.name) for variable in part.variables)
    equals = "(?:=" if part.operator == ";" else "="
    closes = ")?" if part.operator == ";" else ""
    # After an item only a separator, or what may follow the expression: `x` is not the beginning of `xy`.
    item = f"(?:{names}){equals}{letters}*+{closes}(?![^{re.escape(between)}{_stops(part)}])"
    looks = "".join(_lookahead(part, place, letters) for place in range(len(part.variables)))
    return f"{looks}(?:{re.escape(first)}{item}(?:{re.escape(between)}{item})*+)?"


def _stops(part: TemplatePart) -> str:
    """Return the characters that may follow the last value, as members of a class."""
    return "".join(re.escape(letter) for letter in sorted(part.after))


def _lookahead(part: TemplatePart, place: int, letters: str) -> str:
    """Return a lookahead that finds one named value at any position in the expression."""
    first, between = re.escape(part.operator), re.escape({"?": "&"}.get(part.operator, part.operator))
    name, number = re.escape(part.variables[place].name), part.numbers[place]
    value = f"=(?P<v{number}>{letters}*+)"
    if part.operator == ";":
        value = f"(?:=)?(?P<v{number}>(?<==){letters}*+|(?=[;{_stops(part)}]|\\Z))"
    skipped = f"(?:{letters}++{between})*?"
    # All of it is optional: a variable that is absent must not fail the match.
    return f"(?=(?:{first}{skipped}{name}{value})?)"


PATTERNS = {"": _simple, "+": _simple, "#": _fragment, ".": _labels, "/": _labels}
