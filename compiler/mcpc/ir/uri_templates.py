"""URI templates (RFC 6570), read backwards: from a uri to the variables it was made of.

    users://{id}/posts{?page,size}

A pattern matches in time linear in the uri, and a uri in one way only: a value ends where what comes after it can
begin.  So a value holds no character that may follow it, unless nothing but fixed text comes after (`{name}.json`) or
only values that do not hold that character (`{+path}/versions/{number}`).  A template that leaves open where a value
ends is refused.

A variable's kind is the operator of its expression, with `*` if it is a list (`{/path*}`, `{?tags*}`): the list is one
match, its separators among it.  `{path*}` and `{+path*}` are no lists but one text; the first may hold `/`, too.
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
"""What a value holds: what a segment of a path may hold as it is (RFC 3986, section 3.3), which is more than should."""
ANY = PLAIN | frozenset("/?#[]")
QUERY = frozenset(PLAIN | set("/?")) - frozenset("&")
EXPRESSION = re.compile(r"\{([^{}]*)\}|([{}])")
OPERATORS = "+#./;?&"
FUTURE = "=,!@|"
"""Operators that RFC 6570 keeps for later."""
VARIABLE = re.compile(
    r"(?P<name>(?:\w|%[0-9A-Fa-f]{2})+(?:\.(?:\w|%[0-9A-Fa-f]{2})+)*)(?P<more>\*|:[1-9][0-9]{0,3})?", re.ASCII
)
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
LONGEST = 2048
CHARACTER = (
    "(?:{plain}|%[0-7][0-9A-Fa-f]|%[CDcd][0-9A-Fa-f]%[89ABab][0-9A-Fa-f]"
    "|%[Ee][0-9A-Fa-f](?:%[89ABab][0-9A-Fa-f]){{2}}|%[Ff][0-7](?:%[89ABab][0-9A-Fa-f]){{3}})"
)
"""One character of a value, be it written as the bytes it has in UTF-8: `{x:3}` counts these."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable: its name, its kind, the characters it is cut to (0: all), and whether a uri may be without it."""

    name: str
    kind: str
    longest: int = 0
    optional: bool = False
    exploded: bool = False


@dataclass(frozen=True, slots=True)
class UriTemplate:
    """A template.  `pattern`: a regular expression with the groups `v0`, `v1`, … of the variables, for whole uris."""

    text: str
    pattern: str = ""
    variables: tuple[Variable, ...] = ()

    def match(self, uri: str) -> dict[str, str] | None:
        """Return the variables as they stand in a uri, or None if it is of another form."""
        found = re.match(self.pattern, uri)
        if found is None:
            return None
        values = ((variable.name, found[f"v{number}"]) for number, variable in enumerate(self.variables))
        return {name: value for name, value in values if value is not None}


class TemplateError(Exception):
    """A text is no template, or none that can be read backwards; the message says why."""


@dataclass(slots=True)
class Part:
    """A fixed text (`literal`), or an expression.

    `after`: the characters that may follow it; `open_after`: its value may hold those, and ends where it last can.
    """

    literal: str = ""
    operator: str = ""
    variables: tuple[Variable, ...] = ()
    after: frozenset[str] = frozenset()
    open_after: bool = False
    numbers: list[int] = field(default_factory=list)

    @property
    def firsts(self) -> frozenset[str]:
        """The characters it may begin with."""
        if self.literal:
            return frozenset(self.literal[0])
        return frozenset(self.operator) if self.operator not in ("", "+") else alphabet(self)

    @property
    def may_be_absent(self) -> bool:
        """Whether a uri may have nothing in its place."""
        return not self.literal and self.operator not in ("", "+")


def parse_template(text: str) -> UriTemplate:
    """Return the template that a text is."""
    if len(text) > LONGEST:
        raise TemplateError(f"it has more than {LONGEST} characters")
    parts = list(_parts(text))
    if not parts or not SCHEME.match(parts[0].literal):
        raise TemplateError("it does not begin with a scheme, as in `config://{name}`")
    _number(parts)
    _look_ahead(parts)
    variables = tuple(variable for part in parts for variable in part.variables)
    return UriTemplate(text, "".join(map(_pattern, parts)) + r"\Z", variables)


def _parts(text: str) -> Iterator[Part]:
    end = 0
    for match in EXPRESSION.finditer(text):
        if match[2]:
            raise TemplateError(f"a `{match[2]}` stands alone at character {match.start() + 1}")
        if match.start() > end:
            yield Part(literal=_encoded(text[end : match.start()]))
        yield _expression(match[1])
        end = match.end()
    if end < len(text):
        yield Part(literal=_encoded(text[end:]))


def _encoded(literal: str) -> str:
    """Return a fixed text as it stands in a uri; whoever wrote `%20` has written it so."""
    wrong = re.search(r"[\x00-\x20\x7f\"<>\\^`|]", literal)
    if wrong:
        raise TemplateError(f"it holds {wrong[0]!r} outside of an expression")
    if re.search(r"%(?![0-9A-Fa-f]{2})", literal):
        raise TemplateError("a `%` is not followed by two hexadecimal digits")
    return quote(literal, safe=RESERVED + UNRESERVED + "%")


def _expression(inside: str) -> Part:
    operator = inside[:1] if inside[:1] in OPERATORS else ""
    if inside[:1] in FUTURE and inside:
        raise TemplateError(f"the operator `{inside[0]}` of `{{{inside}}}` has no meaning yet")
    written = inside[len(operator) :].split(",")
    variables = tuple(_variable(word, operator, inside) for word in written)
    if len(variables) > 1 and any(variable.exploded for variable in variables):
        raise TemplateError(f"`{{{inside}}}` has an exploded variable beside others: nobody can tell which is which")
    return Part(operator=operator, variables=variables)


def _variable(word: str, operator: str, inside: str) -> Variable:
    match = VARIABLE.fullmatch(word)
    if match is None:
        raise TemplateError(f"`{{{inside}}}` is no expression: {_no_name(word)}")
    more = match["more"] or ""
    longest = int(more[1:]) if more.startswith(":") else 0
    kind = operator + ("*" if more == "*" and operator in EXPLODED else "")
    return Variable(match["name"], kind, longest, operator not in ("", "+"), more == "*")


def _no_name(word: str) -> str:
    return f"no variable is called `{word}`" if word else "a variable's name is missing"


def _number(parts: Sequence[Part]) -> None:
    """Number the variables, of which no two may have one name: two values might not be the same."""
    names: list[str] = []
    for part in parts:
        for variable in part.variables:
            if variable.name in names:
                raise TemplateError(f"the variable `{variable.name}` stands in it twice")
            part.numbers.append(len(names))
            names.append(variable.name)


def alphabet(part: Part) -> frozenset[str]:
    """Return the characters that the values of an expression may hold, wherever it stands."""
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
"""The separators, which the one value of an exploded variable holds."""


def _look_ahead(parts: Sequence[Part]) -> None:
    """Find out what may follow each expression, and refuse where nobody can tell where a value ends."""
    for place, part in enumerate(parts):
        if part.literal:
            continue
        following = parts[place + 1 :]
        part.after = frozenset[str]().union(*(one.firsts for one in _reachable(following)))
        overlap = alphabet(part) & part.after
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
        if is_greedy and overlap - frozenset("?#"):
            raise TemplateError(
                f"{_named(part)} may hold what comes after it, and {_named(_next_expression(following))} as well"
            )


def _reachable(following: Sequence[Part]) -> Iterator[Part]:
    """Yield the parts that may come next: those up to the first one that is always there."""
    for part in following:
        yield part
        if not part.may_be_absent:
            return


def _can_stay_open(following: Sequence[Part], overlap: frozenset[str]) -> bool:
    """Tell whether the last place at which the rest fits is found without looking at any character twice.

    So it is if only fixed text follows, or if what begins the rest is in none of its values.
    """
    if len(following) == 1 and following[0].literal:
        return True
    if not following[0].literal or overlap - frozenset(following[0].literal[0]):
        return False
    return all(part.literal or not alphabet(part) & overlap for part in following[1:])


def _named(part: Part) -> str:
    return " and ".join(f"`{variable.name}`" for variable in part.variables)


def _next_expression(following: Sequence[Part]) -> Part:
    return next(part for part in following if not part.literal)


def _pattern(part: Part) -> str:
    if part.literal:
        return re.escape(part.literal)
    if part.operator in ("?", "&", ";"):
        return _named_values(part)
    return PATTERNS[part.operator](part)


def _value(part: Part, place: int, least: str = "+") -> str:
    """Return the pattern of one value; possessive, for it can end at one place only, unless it is left open."""
    variable, number = part.variables[place], part.numbers[place]
    letters = alphabet(part) - (frozenset() if part.open_after else part.after)
    if variable.longest:
        one = CHARACTER.format(plain=_class(letters - frozenset("%")))
        low = 1 if least == "+" else 0
        return f"(?P<v{number}>{one}{{{low},{variable.longest}}})"
    return f"(?P<v{number}>{_class(letters)}{least}{'' if part.open_after else '+'})"


def _class(letters: frozenset[str]) -> str:
    """Return a class of characters; letters and digits are in every one."""
    others = "".join(re.escape(letter) for letter in sorted(letters - frozenset(ALPHANUMERIC)))
    kept = "".join(letter for letter in ALPHANUMERIC if letter in letters)
    return f"[{'A-Za-z0-9' if kept == ALPHANUMERIC else kept}{others}]"


def _simple(part: Part) -> str:
    return ",".join(_value(part, place) for place in range(len(part.variables)))


def _fragment(part: Part) -> str:
    return f"(?:\\#{_simple(part)})?"


def _labels(part: Part) -> str:
    """Return the pattern of `{.x,y}` and `{/x,y}`: of what is there, the first come first."""
    pattern = ""
    least = "+" if part.operator == "." else "*"
    for place in reversed(range(len(part.variables))):
        pattern = f"(?:{re.escape(part.operator)}{_value(part, place, least)}{pattern})?"
    return pattern


def _named_values(part: Part) -> str:
    """Return the pattern of `{?x,y}`, `{&x,y}` and `{;x,y}`: each may be absent, and they come in any order."""
    first, between = part.operator, {"?": "&"}.get(part.operator, part.operator)
    letters = _class(alphabet(part) - part.after)
    if part.variables[0].exploded:
        return f"(?:{re.escape(first)}(?P<v{part.numbers[0]}>{letters}*+))?"
    names = "|".join(re.escape(variable.name) for variable in part.variables)
    equals = "(?:=" if part.operator == ";" else "="
    closes = ")?" if part.operator == ";" else ""
    one = f"(?:{names}){equals}{letters}*+{closes}(?![^{re.escape(between)}{_stops(part)}])"
    looks = "".join(_look(part, place, letters) for place in range(len(part.variables)))
    return f"{looks}(?:{re.escape(first)}{one}(?:{re.escape(between)}{one})*+)?"


def _stops(part: Part) -> str:
    """Return what may come after the last value, as members of a class."""
    return "".join(re.escape(letter) for letter in sorted(part.after))


def _look(part: Part, place: int, letters: str) -> str:
    """Return what finds one named value where the expression begins, wherever in it that stands."""
    first, between = re.escape(part.operator), re.escape({"?": "&"}.get(part.operator, part.operator))
    name, number = re.escape(part.variables[place].name), part.numbers[place]
    value = f"=(?P<v{number}>{letters}*+)"
    if part.operator == ";":
        value = f"(?:=)?(?P<v{number}>(?<==){letters}*+|(?=[;{_stops(part)}]|\\Z))"
    skipped = f"(?:{letters}++{between})*?"
    return f"(?=(?:{first}{skipped}{name}{value})?)"


PATTERNS = {"": _simple, "+": _simple, "#": _fragment, ".": _labels, "/": _labels}
