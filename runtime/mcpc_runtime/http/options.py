"""Options of `serve`: how their values are parsed, from arguments and from environment variables, and the help page.

Values are paths, addresses, numbers and names.  None is a secret: secrets are in files or variables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from ipaddress import ip_network
from textwrap import fill
from typing import Any, TypeVar

from mcpc_runtime.artifact.start_options import help_rows, parse_size
from mcpc_runtime.http.memory_budget import MIN_LIMIT, MemoryBudget

T = TypeVar("T")
FieldValues = dict[str, Any]
"""Values by the names of their fields, as `HttpSettings` takes them."""
Quota = tuple[str, int, str]
"""The tool, or an empty string for all of them; the calls, and the period in which they may begin."""


DEFAULT_HOST = "127.0.0.1"
WITH_PASSWORD = frozenset({"--tasks", "--events"})
"""Options with URLs that may have a password, which must not be among the arguments of a process."""


class OptionError(Exception):
    """An option or a variable that cannot be used; the message says which, and what is expected."""


class Option:
    """One option: its name, the name of its value (empty for a flag), its parser, its help text, and its default.

    `parse` returns the value of `field`; or, as a dictionary, those of several fields.  One whose default is a tuple
    may be repeated.  The name of the field is that of the class attribute.
    """

    __slots__ = ("default", "field", "help_text", "is_many", "name", "parse", "value_name")

    def __init__(self, default: object, usage: str, parse: Callable[[str], object], help_text: str) -> None:
        self.name, _, self.value_name = usage.partition(" ")
        self.default = default
        self.parse = parse
        self.help_text = help_text
        self.is_many = type(default) is tuple
        self.field = ""

    def __set_name__(self, _: type, name: str) -> None:
        self.field = name

    @property
    def variable(self) -> str:
        """The environment variable that means the same: MCPC_TOKEN_FILE for --token-file."""
        return f"MCPC_{self.name[2:].replace('-', '_').upper()}"

    def parse_value(self, name: str, text: str) -> object:
        """Return the parsed value of an option or variable of this name; raise OptionError."""
        try:
            return self.parse(text)
        except ValueError as problem:
            raise OptionError(f"{name}: {problem}, not {text!r}") from None

    def add_value(self, values: FieldValues, value: object) -> None:
        """Add the value of this option to the values of fields."""
        if isinstance(value, dict):
            values.update(value)
        else:
            values[self.field] = (*values.get(self.field, ()), value) if self.is_many else value


def option(default: T, usage: str, parse: Callable[[str], object], help_text: str) -> T:
    """Return an option as the class attribute that it sets, which has the type of its default."""
    return Option(default, usage, parse, help_text)  # type: ignore[return-value]


def flag(name: str, help_text: str) -> bool:
    """Return an option without a value as the class attribute that it sets."""
    return option(False, name, bool, help_text)


def parse_number(text: str) -> int:
    """Return a number that is not negative."""
    # `isdigit` alone takes digits of other scripts, and `²`, which `int` refuses.
    if not (text.isascii() and text.isdigit()) or len(text) > 12:
        raise ValueError("expected a number")
    return int(text)


def parse_budget(text: str) -> MemoryBudget:
    """Return the memory budget of a size in bytes, a number that may end with K, M or G."""
    size = parse_size(text)
    if size < MIN_LIMIT:
        raise ValueError(f"expected a size of at least {MIN_LIMIT >> 20}M")
    return MemoryBudget(size)


PERIODS = {"s": 1, "min": 60, "h": 3600, "day": 86400}
"""The periods of quotas by their names, in seconds."""


def parse_quota(text: str) -> Quota:
    """Return a quota of `N/PERIOD` or `TOOL=N/PERIOD`; raise ValueError."""
    # At the last one: the name of a tool may have `=` in it.
    tool, equals, rate = text.rpartition("=")
    calls, _, period = rate.partition("/")
    is_number = calls.isascii() and calls.isdigit() and len(calls) <= 9 and int(calls) > 0
    if not is_number or period not in PERIODS or bool(equals) != bool(tool) or not tool.isprintable():
        raise ValueError(f"expected a quota such as 60/min or search=10/h (a period is {', '.join(PERIODS)})")
    return tool, int(calls), period


def parse_seconds(text: str) -> float:
    """Return a time in seconds."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    # NaN fails the comparison, too.
    if not 0 < value < 1e6:
        raise ValueError("expected seconds, such as 10 or 0.5")
    return value


def parse_path(text: str) -> str:
    """Return the path of an endpoint."""
    plain = text.isascii() and text.isprintable() and not set(text) & set(' ?#%"\\')
    if not plain or not text.startswith("/") or "//" in text or (text != "/" and text.endswith("/")):
        raise ValueError("expected a path such as /mcp")
    return text


def parse_file(text: str) -> str:
    """Return the name of a file."""
    if not text or "\0" in text:
        raise ValueError("expected the name of a file")
    return text


def parse_network(text: str) -> str:
    """Return a network, which may be one address."""
    try:
        return str(ip_network(text, strict=False))
    except ValueError:
        raise ValueError("expected an address or a network such as 10.0.0.0/8") from None


def parse_served_file(text: str) -> tuple[str, str]:
    """Return the path of another endpoint, and the file that serves it."""
    where, equals, what = text.partition("=")
    if not equals:
        raise ValueError("expected PATH=FILE, such as /more=more.pyz")
    return parse_path(where), parse_file(what)


def parse_text(value: str) -> str:
    """Return a value unchanged, if it is one line."""
    if not value or not value.isprintable() or value != value.strip():
        raise ValueError("expected a value on one line")
    return value


def parse_origin(value: str) -> str:
    """Return an origin as browsers spell it: scheme, host, and port if it is not the scheme's own."""
    scheme, slashes, authority = value.lower().partition("://")
    if not slashes or scheme not in ("http", "https") or not authority or set(authority) & set("/?#@ "):
        raise ValueError("expected an origin such as https://app.example.com")
    return f"{scheme}://{authority}"


def parse_url(value: str) -> str:
    """Return the address by which clients name an endpoint."""
    scheme, slashes, rest = value.partition("://")
    if not slashes or scheme not in ("http", "https") or not rest or set(rest) & set("?#@ ") or not rest.isprintable():
        raise ValueError("expected an address such as https://example.com/mcp")
    return value


def parse_host(value: str) -> str:
    """Return a host as a client names it, with its port if that is not to be any."""
    if not value or not value.isascii() or not value.isprintable() or set(value) & set("/?#@ "):
        raise ValueError("expected a host such as mcp.example.com or mcp.example.com:8443")
    return value.lower()


def parse_address(text: str) -> dict[str, object]:
    """Return the fields that say where to listen, of `PORT`, `HOST:PORT` or `[ADDRESS]:PORT`."""
    named, colon, port = text.rpartition(":")
    if named.startswith("[") and named.endswith("]"):
        named = named[1:-1]
    elif ":" in named:
        raise ValueError("expected an IPv6 address in brackets, such as [::1]:8000")
    if not port.isascii() or not port.isdigit() or len(port) > 5 or int(port) > 0xFFFF or (colon and not named):
        raise ValueError("expected [HOST:]PORT")
    return {"host": named or DEFAULT_HOST, "port": int(port), "listens": True}


def parse_flag(name: str, text: str) -> bool:
    """Return the value of a variable that stands for a flag."""
    if text not in ("0", "1"):
        raise OptionError(f"{name}: expected 1 or 0, not {text!r}")
    return text == "1"


def parse_environment(options: Mapping[str, Option], environment: Mapping[str, str]) -> FieldValues:
    """Return the values that environment variables give."""
    values: FieldValues = {}
    for each in options.values():
        name, text = each.variable, environment.get(each.variable, "")
        # An empty variable is one that is not set.
        for item in text.split() if each.is_many else [text] * bool(text):
            each.add_value(values, each.parse_value(name, item) if each.value_name else parse_flag(name, item))
    return values


def parse_arguments(options: Mapping[str, Option], arguments: Iterable[str]) -> FieldValues:
    """Return the values that command-line arguments give."""
    values: FieldValues = {}
    remaining = iter(arguments)
    for argument in remaining:
        name, equals, value = argument.partition("=")
        if name not in options:
            raise OptionError(f"unknown option {name!r} of serve")
        chosen = options[name]
        if chosen.value_name:
            text = value if equals else next(remaining, None)
            chosen.add_value(values, chosen.parse_value(name, checked_value(chosen, text)))
        elif equals:
            raise OptionError(f"{name} takes no value")
        else:
            chosen.add_value(values, True)
    return values


def checked_value(each: Option, text: str | None) -> str:
    """Return the value of an option, if there is one that may be among the arguments of a process."""
    if text is None:
        raise OptionError(f"{each.name} needs a value: {each.value_name}")
    if each.name in WITH_PASSWORD and has_password(text):
        reason = f"whoever lists processes would see the password: set {each.variable} instead"
        raise OptionError(f"{each.name}: {reason}")
    return text


def has_password(value: str) -> bool:
    """Tell whether a URL has a password in it."""
    scheme, _, rest = value.partition("://")
    return scheme not in ("sqlite", "file") and (":" in rest.rpartition("@")[0] or "password=" in rest)


def help_page(options: Mapping[str, Option]) -> str:
    """Return the options as rows of a help page for 80 columns."""
    rows = [(f"{each.name} {each.value_name}".rstrip(), each.help_text) for each in options.values()] + help_rows()
    return "".join(fill(f"  {usage:<27}{text}", 80, subsequent_indent=" " * 29) + "\n" for usage, text in rows)
