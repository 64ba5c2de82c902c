r"""The part of jq's language that scripts use, for systems without jq.

    . .a .["a"] .[0] .[1:2] .[] .. ?   a|b a,b a//b   and or not   == != < <= > >=   + - * / %   [a] {a, "b": c, (d): e}
    texts with \(a), numbers, true, false, null; if then elif else end; and the functions of json_functions.py

Its law: what is not known is refused (UnknownError) before anything is answered; what a value is not fit for is a
WrongValueError.
"""

import re

from json_functions import FUNCTIONS, OPERATIONS, WITH_ARGUMENT, checked, each, index, negative, part, recurse
from json_values import DECODER, UnknownError, WrongValueError, is_true, plain

LEVELS = (("or",), ("and",), ("==", "!=", "<", "<=", ">", ">="), ("+", "-"), ("*", "/", "%"))
CONSTANTS = {"true": True, "false": False, "null": None}
WORD = re.compile(
    r"""\s*(?:(?P<field>\.[A-Za-z_]\w*)|(?P<name>[A-Za-z_]\w*|@[a-z0-9]+)|(?P<number>\d+(?:\.\d+)?)
    |(?P<text>")|(?P<sign>\?//|//|\.\.|==|!=|<=|>=|[][(){}.,:;|?<>+*/%-]))""",
    re.VERBOSE,
)
TEXT = re.compile(r'(?:[^"\\]|\\[^(])*')


class Parser:
    """Turns a filter into a function that yields results; each level of binding calls the next."""

    def __init__(self, source):
        self.source, self.at, self.word, self.sort = source, 0, "", ""
        self.next()

    def next(self):
        before = self.word
        rest = WORD.match(self.source, self.at)
        if rest is None:
            if self.source[self.at :].strip():
                raise UnknownError
            self.word, self.sort = "", ""
        else:
            self.word, self.sort, self.at = rest[rest.lastgroup], rest.lastgroup, rest.end()
        return before

    def takes(self, *words):
        return self.next() if self.word in words and self.sort in ("sign", "name") else ""

    def wants(self, word):
        if not self.takes(word):
            raise UnknownError

    def whole(self):
        made = self.pipe()
        if self.word:
            raise UnknownError
        return made

    def pipe(self):
        left = self.comma()
        if not self.takes("|"):
            return left
        right = self.pipe()
        return lambda value: (b for a in left(value) for b in right(a))

    def comma(self):
        parts = [self.either()]
        while self.takes(","):
            parts.append(self.either())
        return parts[0] if len(parts) == 1 else lambda value: (a for part in parts for a in part(value))

    def either(self):
        left = self.level(0)
        if not self.takes("//"):
            return left
        right = self.either()
        return lambda value: alternative(left, right, value)

    def level(self, number):
        if number == len(LEVELS):
            return self.postfix()
        left = self.level(number + 1)
        while sign := self.takes(*LEVELS[number]):
            left = combined(OPERATIONS[sign], left, self.level(number + 1))
        return left

    def postfix(self):
        made = self.term()
        if self.takes("?"):
            made = silent(made)
        while (step := self.step()) is not None:
            made = chained(made, silent(step) if self.takes("?") else step)
        return made

    def step(self):
        """Read what goes on from a value, if anything does: a function of that and of the value it all began with."""
        if self.word == "." and self.sort == "sign" and self.source[self.at : self.at + 1] in ('"', "["):
            self.next()
        if self.sort == "field":
            name = self.next()[1:]
            return lambda value, _: (index(one, name) for one in (value,))
        if self.sort == "text" and self.source[: self.at - 1].endswith("."):
            named = self.text()
            return lambda value, start: (index(value, name) for name in named(start))
        return self.bracket() if self.takes("[") else None

    def bracket(self):
        if self.takes("]"):
            return lambda value, _: each(value)
        first = self.pipe() if self.word != ":" else only(None)
        if self.takes(":"):
            last = self.pipe() if self.word != "]" else only(None)
            self.wants("]")
            return lambda value, start: (part(value, a, b) for a in first(start) for b in last(start))
        self.wants("]")
        return lambda value, start: (index(value, name) for name in first(start))

    def term(self):
        if self.sort == "field":
            name = self.next()[1:]
            return lambda value: (index(one, name) for one in (value,))
        if self.sort == "text":
            return self.text()
        if self.sort == "number":
            return only(DECODER.decode(self.next()))
        if self.sort == "name":
            return self.named(self.next())
        sign = self.next()
        if sign not in SIGNS:
            raise UnknownError
        return SIGNS[sign](self)

    def text(self):
        r"""Read a text; what stands in `\(` and `)` is a filter."""
        parts = []
        while True:
            found = TEXT.match(self.source, self.at)
            parts.append(only(DECODER.decode(f'"{found[0]}"')))
            self.at = found.end()
            if self.source.startswith('"', self.at):
                self.at += 1
                self.next()
                return joined(parts)
            if not self.source.startswith("\\(", self.at):
                raise UnknownError
            self.at += 2
            self.next()
            parts.append(self.pipe())
            if self.word != ")":
                raise UnknownError

    def named(self, name):
        if name in CONSTANTS:
            return only(CONSTANTS[name])
        if name == "if":
            return self.condition()
        if name == "empty":
            return lambda value: iter(())
        if name in FUNCTIONS:
            return lambda value: iter((checked(FUNCTIONS[name], value),))
        if name not in WITH_ARGUMENT:
            raise UnknownError
        self.wants("(")
        argument = self.pipe()
        self.wants(")")
        return lambda value: WITH_ARGUMENT[name](value, argument)

    def condition(self):
        test = self.pipe()
        self.wants("then")
        then = self.pipe()
        if self.takes("elif"):
            other = self.condition()
        else:
            other = self.pipe() if self.takes("else") else lambda value: iter((value,))
            self.wants("end")
        return lambda value: (b for a in test(value) for b in (then if is_true(a) else other)(value))

    def array(self):
        if self.takes("]"):
            return only([])
        inner = self.pipe()
        self.wants("]")
        return lambda value: iter((list(inner(value)),))

    def group(self):
        inner = self.pipe()
        self.wants(")")
        return inner

    def dot(self):
        if self.sort == "text":
            return combined(index, lambda value: iter((value,)), self.text())
        return lambda value: iter((value,))

    def minus(self):
        inner = self.postfix()
        return lambda value: (negative(a) for a in inner(value))

    def object(self):
        members = []
        while not self.takes("}"):
            if members:
                self.wants(",")
            members.append(self.member())
        return lambda value: objects(members, value)

    def member(self):
        if self.takes("("):
            name = self.group()
        elif self.sort == "text":
            name = self.text()
        elif self.sort == "name":
            name = only(self.next())
        else:
            raise UnknownError
        if self.takes(":"):
            return name, self.either()
        return name, lambda value: (index(value, one) for one in name(value))


def only(value):
    return lambda _: iter((value,))


def joined(parts):
    def run(value, number=0, before=""):
        if number == len(parts):
            yield before
            return
        for one in parts[number](value):
            yield from run(value, number + 1, before + plain(one))

    return run


def objects(members, value, number=0, before=None):
    if number == len(members):
        yield dict(before or {})
        return
    name, content = members[number]
    for one in name(value):
        if not isinstance(one, str):
            raise WrongValueError
        for other in content(value):
            yield from objects(members, value, number + 1, {**(before or {}), one: other})


def combined(operation, left, right):
    return lambda value: (operation(a, b) for b in right(value) for a in left(value))


def alternative(left, right, value):
    found = False
    try:
        for one in left(value):
            if is_true(one):
                found = True
                yield one
    except WrongValueError:
        pass
    if not found:
        yield from right(value)


def chained(made, step):
    return lambda value: (b for a in made(value) for b in step(a, value))


def silent(made):
    def run(*values):
        try:
            yield from made(*values)
        except WrongValueError:
            return

    return run


SIGNS = {
    ".": Parser.dot,
    "..": lambda parser: recurse,
    "(": Parser.group,
    "[": Parser.array,
    "{": Parser.object,
    "-": Parser.minus,
}
