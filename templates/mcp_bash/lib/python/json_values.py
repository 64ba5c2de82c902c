"""JSON values: read, written, and put in an order.

Its law: the standard library only, and numbers are kept as they were written.
"""

import codecs
import json
import re
import sys

BLANKS = re.compile(r"[ \t\r\n]*")
TYPES = {dict: "object", list: "array", str: "string", bool: "boolean", type(None): "null"}
ORDER = ("null", "boolean", "number", "string", "array", "object")


class UnknownError(Exception):
    """The requested function is not supported."""


class WrongValueError(Exception):
    """A value is not what a filter wants."""


class Number(float):
    """A number with a fraction or an exponent, as it was written."""

    is_used = False

    def __new__(cls, text):
        made = super().__new__(cls, text)
        made.text = text
        cls.is_used = True
        return made


def dump(value):
    """Return compact JSON, numbers as they were written."""
    if isinstance(value, Number):
        return value.text
    if Number.is_used and isinstance(value, dict):
        return "{" + ",".join([f"{dump(name)}:{dump(one)}" for name, one in value.items()]) + "}"
    if Number.is_used and isinstance(value, list):
        return "[" + ",".join([dump(one) for one in value]) + "]"
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def refuse(name):
    raise ValueError(name)


DECODER = json.JSONDecoder(parse_float=Number, parse_constant=refuse)


def values_of(text):
    found, at = [], 0
    while True:
        at = BLANKS.match(text, at).end()
        if at == len(text):
            return found
        value, at = DECODER.raw_decode(text, at)
        found.append(value)


def kind(value):
    return TYPES.get(type(value), "number")


def key(value):
    """Return what values are sorted by."""
    name = kind(value)
    if name == "array":
        return ORDER.index(name), [key(one) for one in value]
    if name == "object":
        return ORDER.index(name), sorted(value), [key(value[one]) for one in sorted(value)]
    return ORDER.index(name), 0 if value is None else value


def is_true(value):
    return value is not None and value is not False


def plain(value):
    return value if isinstance(value, str) else dump(value)


def say(*lines):
    """Print lines."""
    sys.stdout.write("".join(f"{line}\n" for line in lines))


def read():
    """Return what comes in, and its values or None; what goes out is UTF-8 from now on."""
    codecs.register_error("half", lambda problem: ("\ufffd".encode(), problem.end))
    sys.stdout.reconfigure(encoding="utf-8", errors="half", newline="\n")
    sys.setrecursionlimit(20000)
    text = sys.stdin.buffer.read().decode("utf-8", "replace")
    try:
        return text, values_of(text)
    except (ValueError, RecursionError):
        return text, None
