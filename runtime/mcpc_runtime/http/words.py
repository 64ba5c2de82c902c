"""The words after `serve`, and variables that mean the same, become settings: a word comes before a variable.

Paths and addresses only: a secret is in a file, or in a variable, that its reader names.
"""

from __future__ import annotations

from mcpc_runtime.http.memory_budget import LEAST_LIMIT
from mcpc_runtime.http.settings import DEFAULTS, Settings
from mcpc_runtime.lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from ipaddress import ip_network
    from textwrap import fill
    from typing import Any
else:
    ip_network = lazy("ipaddress:ip_network")
    fill = lazy("textwrap:fill")


class SettingError(Exception):
    """A word or a variable that cannot be followed; the message says which, and how it would be right."""


UNITS = {"": 0, "K": 10, "M": 20, "G": 30}
"""What may stand behind a size, and how many binary digits it shifts it by."""


def number(text: str) -> int:
    """Return a number that is not negative."""
    if not (text.isascii() and text.isdigit()) or len(text) > 12:
        raise ValueError("expected a number")
    return int(text)


def size(text: str) -> int:
    """Return a size in bytes, of a number that may end with K, M or G."""
    plain, unit = (text[:-1], text[-1:].upper()) if text[-1:].isalpha() else (text, "")
    if unit not in UNITS or not (plain.isascii() and plain.isdigit()) or len(plain) > 15:
        raise ValueError("expected a size such as 512M or 2G")
    found = int(plain) << UNITS[unit]
    if found < LEAST_LIMIT:
        raise ValueError(f"expected a size of at least {LEAST_LIMIT >> 20}M")
    return found


def seconds(text: str) -> float:
    """Return a time in seconds."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < 1e6:
        raise ValueError("expected seconds, such as 10 or 0.5")
    return value


def path(text: str) -> str:
    """Return the path of an endpoint."""
    plain = text.isascii() and text.isprintable() and not set(text) & set(' ?#%"\\')
    if not plain or not text.startswith("/") or "//" in text or (text != "/" and text.endswith("/")):
        raise ValueError("expected a path such as /mcp")
    return text


def file(text: str) -> str:
    """Return the name of a file."""
    if not text or "\0" in text:
        raise ValueError("expected the name of a file")
    return text


def network(text: str) -> str:
    """Return a network, which may be one address."""
    try:
        return str(ip_network(text, strict=False))
    except ValueError:
        raise ValueError("expected an address or a network such as 10.0.0.0/8") from None


def also(text: str) -> tuple[str, str]:
    """Return the path of another endpoint, and the file that serves it."""
    where, equals, what = text.partition("=")
    if not equals:
        raise ValueError("expected PATH=FILE, such as /more=more.pyz")
    return path(where), file(what)


def text(value: str) -> str:
    """Return a value as it is, if it is one line."""
    if not value or not value.isprintable() or value != value.strip():
        raise ValueError("expected a value on one line")
    return value


def origin(value: str) -> str:
    """Return an origin as browsers spell it: scheme, host, and port if it is not the scheme's own."""
    scheme, slashes, authority = value.lower().partition("://")
    if not slashes or scheme not in ("http", "https") or not authority or set(authority) & set("/?#@ "):
        raise ValueError("expected an origin such as https://app.example.com")
    return f"{scheme}://{authority}"


def url(value: str) -> str:
    """Return the address by which clients name an endpoint."""
    scheme, slashes, rest = value.partition("://")
    if not slashes or scheme not in ("http", "https") or not rest or set(rest) & set("?#@ ") or not rest.isprintable():
        raise ValueError("expected an address such as https://example.com/mcp")
    return value


def host(value: str) -> str:
    """Return a host as a client names it, with its port if that is not to be any."""
    if not value or not value.isascii() or not value.isprintable() or set(value) & set("/?#@ "):
        raise ValueError("expected a host such as mcp.example.com or mcp.example.com:8443")
    return value.lower()


def listening(word: str) -> dict[str, Any]:
    """Return the fields that say where to listen, of `PORT`, `HOST:PORT` or `[ADDRESS]:PORT`."""
    named, colon, port = word.rpartition(":")
    if named.startswith("[") and named.endswith("]"):
        named = named[1:-1]
    elif ":" in named:
        raise ValueError("expected an IPv6 address in brackets, such as [::1]:8000")
    if not port.isascii() or not port.isdigit() or len(port) > 5 or int(port) > 0xFFFF or (colon and not named):
        raise ValueError("expected [HOST:]PORT")
    return {"host": named or DEFAULTS["host"], "port": int(port), "listens": True}


FLAG, ONE, MANY = range(3)
WITH_PASSWORD = frozenset({"--tasks", "--events"})
"""Addresses that may have a password, which then must not be among the words of a command."""
OPTIONS: dict[str, tuple[str, int, str, Callable[[str], Any], str]] = {
    "--http": ("", ONE, "[HOST:]PORT", listening, "where to listen; without a host, only this machine can connect"),
    "--path": ("path", ONE, "PATH", path, "the endpoint (/mcp)"),
    "--url": ("url", ONE, "URL", url, "how clients name the endpoint, if that is not what is seen here (a proxy)"),
    "--allow-host": ("hosts", MANY, "HOST", host, "a Host that is answered, beside this machine's own names"),
    "--allow-origin": ("origins", MANY, "ORIGIN", origin, "an Origin whose pages may call"),
    "--allow-ip": ("allowed_ips", MANY, "NETWORK", network, "an address or a network that may ask (all may)"),
    "--trust-proxy": ("proxies", MANY, "NETWORK", network, "a proxy whose X-Forwarded-For says who asks"),
    "--bx-path": ("bx_path", ONE, "PATH", path, "bx-mcp's endpoint (/~bxmcp/boxlang.bxm)"),
    "--also": ("also", MANY, "PATH=FILE", also, "another built server, under another path"),
    "--sse": ("sse", FLAG, "", text, "the HTTP+SSE transport of 2024-11-05 as well: /sse and /messages"),
    "--token-file": ("token_file", ONE, "FILE", file, "who may call: bearer tokens"),
    "--open": ("open", FLAG, "", text, "anybody may call, also from other machines"),
    "--issuer": ("issuer", ONE, "URL", url, "the OAuth authorization server whose tokens are taken"),
    "--audience": ("audience", ONE, "URL", text, "what those tokens must be for (the endpoint's --url)"),
    "--jwks": ("jwks", ONE, "URL|FILE", text, "the keys that sign them"),
    "--algorithm": ("algorithms", MANY, "NAME", text, "how they may be signed (RS256, ES256, EdDSA)"),
    "--scope": ("scopes", MANY, "SCOPE", text, "what each must grant; TOOLS=SCOPE: for these tools; SCOPE>IMPLIED"),
    "--introspect": ("introspect", ONE, "URL", url, "where tokens are asked about (RFC 7662), instead of keys"),
    "--introspect-client": ("introspect_client_file", ONE, "FILE", file, "a file with this server's ID:SECRET there"),
    "--state-keys-file": ("state_keys_file", ONE, "FILE", file, "keys that all replicas share, one a line"),
    "--tasks": ("tasks", ONE, "URL", text, "where tasks are kept: sqlite:FILE, redis://HOST, memory:"),
    "--events": ("events", ONE, "URL", text, "what carries changes between replicas: redis://HOST"),
    "--metrics": ("has_metrics", FLAG, "", text, "Prometheus metrics at /metrics"),
    "--otel": ("has_spans", FLAG, "", text, "OpenTelemetry spans, as OTEL_… variables say"),
    "--body-limit": ("body_limit", ONE, "BYTES", number, "the longest request (18 MiB)"),
    "--memory-limit": ("memory_limit", ONE, "SIZE", size, "what clients may make the server keep, in all (512M)"),
    "--max-connections": (
        "max_connections",
        ONE,
        "NUMBER",
        number,
        "connections at once (as ulimit -n has room)",
    ),
    "--grace": ("grace_seconds", ONE, "SECONDS", seconds, "what running calls have when the server is stopped (10)"),
    "--session-ttl": ("session_seconds", ONE, "SECONDS", seconds, "after which an idle session is forgotten (3600)"),
    "--head-seconds": ("header_seconds", ONE, "SECONDS", seconds, "for the head of a request (10)"),
    "--body-seconds": ("body_seconds", ONE, "SECONDS", seconds, "for the body of a request (30)"),
    "--write-seconds": ("write_seconds", ONE, "SECONDS", seconds, "for a client to take what was sent (30)"),
    "--idle-seconds": ("idle_seconds", ONE, "SECONDS", seconds, "that a connection may be idle (60)"),
    "--comment-seconds": ("comment_seconds", ONE, "SECONDS", seconds, "between two signs of life on a stream (15)"),
    "--vanished-seconds": (
        "vanished_seconds",
        ONE,
        "SECONDS",
        seconds,
        "after which a client that acknowledges nothing has gone (40)",
    ),
}
"""A word: its field, whether it has a value and may come again, what that is called, its parser, what it says."""


def variable(word: str) -> str:
    """Return the environment variable that means the same as a word: MCPC_TOKEN_FILE for --token-file."""
    return f"MCPC_{word[2:].replace('-', '_').upper()}"


def settings_from(words: list[str], environment: Mapping[str, str]) -> Settings:
    """Return what the words after `serve`, and the environment, say."""
    return Settings(**{**from_environment(environment), **from_words(words)})


def from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields that variables set."""
    given: dict[str, Any] = {}
    for word, (field, takes, _, parse, _) in OPTIONS.items():
        name = variable(word)
        said = environment.get(name, "")
        for value in said.split() if takes == MANY else [said] * bool(said):
            _take(given, field, takes, _flag(name, value) if takes == FLAG else _parsed(name, parse, value))
    return given


def from_words(words: list[str]) -> dict[str, Any]:
    """Return the fields that words set."""
    given: dict[str, Any] = {}
    rest = iter(words)
    for word in rest:
        _follow(given, word, rest)
    return given


def _follow(given: dict[str, Any], word: str, rest: Iterator[str]) -> None:
    """Take one option, with its value from `rest` if it does not bring it."""
    name, equals, value = word.partition("=")
    if name not in OPTIONS:
        raise SettingError(f"{name!r} is no option of serve")
    field, takes, called, parse, _ = OPTIONS[name]
    if takes == FLAG:
        if equals:
            raise SettingError(f"{name} takes no value")
        given[field] = True
        return
    found = value if equals else next(rest, None)
    if found is None:
        raise SettingError(f"{name} needs a value: {called}")
    if name in WITH_PASSWORD and has_password(found):
        words = f"whoever lists processes would see the password: set {variable(name)} instead"
        raise SettingError(f"{name}: {words}")
    _take(given, field, takes, _parsed(name, parse, found))


def has_password(value: str) -> bool:
    """Tell whether an address has a password in it."""
    scheme, _, rest = value.partition("://")
    return scheme not in ("sqlite", "file") and (":" in rest.rpartition("@")[0] or "password=" in rest)


def _take(given: dict[str, Any], field: str, takes: int, value: Any) -> None:
    if not field:
        given.update(value)
    else:
        given[field] = (*given.get(field, ()), value) if takes == MANY else value


def _parsed(name: str, parse: Callable[[str], Any], value: str) -> Any:
    try:
        return parse(value)
    except ValueError as problem:
        raise SettingError(f"{name}: {problem}, not {value!r}") from None


def _flag(name: str, value: str) -> bool:
    if value not in ("0", "1"):
        raise SettingError(f"{name}: expected 1 or 0, not {value!r}")
    return value == "1"


def options_in_words() -> str:
    """Return the options as rows of a help page for 80 columns."""
    rows = ((f"{word} {called}".rstrip(), says) for word, (_, _, called, _, says) in OPTIONS.items())
    return "".join(fill(f"  {words:<27}{says}", 80, subsequent_indent=" " * 29) + "\n" for words, says in rows)
