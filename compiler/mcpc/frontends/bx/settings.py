"""`boxlang.json`: the settings of bx-mcp's server with their spans, and those that the runtime needs.

Of a token in the file only its digest is included, and only if the token cannot be found by trial; of a token in a
variable, the variable's name.

No token is included.  Included are only the digest of a token that cannot be guessed, or the name of a variable.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from ipaddress import ip_network
from typing import TYPE_CHECKING, Protocol

from mcpc.diagnostics import Span, diagnose
from mcpc.diagnostics.model import nearest, quoted
from mcpc.model.definitions import kind_mismatch
from mcpc.reading import Source, parse_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.model.ir.handlers import PlainData
    from mcpc.reading import Node, SourceTree


FILE = "boxlang.json"
MODULES = ("bxmcp", "bx-mcp")
ALL_NAMES = ("*",)
BUILT_IN: Profiles = {
    "admin": (ALL_NAMES, ()),
    "readonly": (("*_get*", "*_has*", "*_search*", "*_read*"), ()),
}
"""The profiles that exist unless the settings redefine them."""
IGNORED_SETTINGS = frozenset({"enablepoollatencytracking", "enablestats", "heapdumpdir"})
IGNORED_PREFIXES = ("slow", "route")
"""Settings that monitor a running JVM."""
# Strings are matched as well, since `//` in one begins no comment.
STRING_OR_COMMENT = re.compile(
    r'"(?:[^"\\\n]++|\\.)*+"|(?P<comment>//[^\n]*+|/\*(?:[^*]++|\*(?!/))*+(?:\*/|\Z))', re.DOTALL
)
BOOLEAN_WORDS = {"true": True, "yes": True, "false": False, "no": False}


@dataclass(slots=True)
class Settings:
    """The settings.  `allowed`: None for no restriction; `read_patterns`: tool patterns with their spans."""

    enabled: bool = True
    tokens: tuple[Token, ...] = ()
    allowed: tuple[str, ...] | None = None
    origins: tuple[str, ...] = ()
    body_limit: int = 0
    included: tuple[str, ...] = ALL_NAMES
    excluded: tuple[str, ...] = ()
    patterns: list[tuple[str, Span]] = field(default_factory=list)
    problems: list[Diagnostic] = field(default_factory=list)

    def at_run_time(self) -> dict[str, PlainData]:
        """Return the settings of the built server, as plain data."""
        return {
            "enabled": self.enabled,
            "tokens": tuple(token.at_run_time() for token in self.tokens),
            "allowed": self.allowed,
            "origins": self.origins,
            "body_limit": self.body_limit,
            "tools": (self.included, self.excluded),
        }

    def wrong(self, node: Node, name: str, expected: str, hint: str = "") -> None:
        """Report an invalid value."""
        # A report may be public, so it repeats no token.
        secret = name == "authToken"
        message = f"`{name}` cannot be {f'this {node.kind}' if secret else displayed(node)}"
        self.problems.append(diagnose("MCP261", node.span, message, expected, hint))


def displayed(node: Node) -> str:
    """Return a value for a message, or its kind where it is long."""
    text = f"`{node.value}`"
    return text if len(text) <= 60 and node.kind not in ("object", "array") else f"this {node.kind}"


def read_settings(tree: SourceTree) -> tuple[Settings, Diagnostics]:
    """Return the settings of a project, with defaults, and their problems."""
    settings = Settings()
    source = tree.get(FILE)
    if source is None:
        return settings, ()
    root, problems = parse_json(without_comments(source))
    if root is None:
        return settings, problems
    for module in module_settings(root, settings):
        switch = member_value(module, "enabled")
        said = member_value(module, "settings")
        apply_settings(settings, said)
        settings.problems += misplaced_settings(module)
        if switch is not None:
            # Each of the two switches turns it off.
            settings.enabled = read_boolean(settings, switch, "enabled") and settings.enabled
    return settings, (*problems, *settings.problems)


def without_comments(source: Source) -> Source:
    """Return a BoxLang configuration file, in which comments are allowed, with spaces in their place."""
    text = STRING_OR_COMMENT.sub(lambda match: blanked(match) if match["comment"] else match[0], source.text)
    return Source(source.path, text.encode("utf-8", "surrogateescape"), source.mode)


def blanked(match: re.Match[str]) -> str:
    """Return spaces for the matched text; line breaks are kept."""
    return re.sub(r"[^\r\n]", " ", match[0])


def module_settings(root: Node, settings: Settings) -> Iterator[Node]:
    """Yield the configuration objects of the module."""
    listed = member_value(root, "modules")
    for name in MODULES:
        node = member_value(listed, name)
        if node is not None and node.kind != "object":
            settings.problems.append(diagnose("MCP261", node.span, kind_mismatch(f"`{name}`", "object", node)))
        elif node is not None:
            yield node


def member_value(node: Node | None, name: str) -> Node | None:
    """Return the value of a key, whose case is ignored."""
    values = [member.node for member in node.members if member.key.lower() == name] if node is not None else []
    return values[-1] if values else None


def apply_settings(settings: Settings, said: Node | None) -> None:
    if said is None:
        return
    if said.kind != "object":
        settings.problems.append(diagnose("MCP261", said.span, kind_mismatch("`settings`", "object", said)))
        return
    for member in said.members:
        take = SETTERS.get(member.key.lower())
        if take is not None:
            take(settings, member.node)
        else:
            settings.problems.append(unknown_setting(member.key, member.key_span))
    profiles = read_profiles(settings, member_value(said, "securityprofiles"))
    tokens = member_value(said, "authtoken")
    if tokens is not None:
        settings.tokens = read_tokens(tokens, profiles, settings)


def misplaced_settings(module: Node) -> Iterator[Diagnostic]:
    """Yield settings outside `settings`, which have no effect there."""
    for member in module.members:
        if member.key.lower() in SETTERS.keys() - {"enabled"}:
            yield diagnose(
                "MCP261", member.key_span, f"`{member.key}` is outside `settings`", "it inside", "it has no effect here"
            )


def unknown_setting(key: str, span: Span) -> Diagnostic:
    """Return the problem of a setting that is unknown, or has no effect in a built server."""
    lower = key.lower()
    if lower not in IGNORED_SETTINGS and not lower.startswith(IGNORED_PREFIXES):
        spelled = {name.lower(): name for name in SETTING_NAMES}
        near = nearest(lower, spelled)
        if near:
            return diagnose("MCP261", span, f"unknown setting `{key}`", "", f"did you mean `{spelled[near]}`?")
    return diagnose("MCP262", span, f"`{key}` has no effect in a built server", "", "remove it, or leave it for bx-mcp")


def read_boolean(settings: Settings, node: Node, name: str) -> bool:
    """Return a boolean value."""
    if isinstance(node.value, bool):
        return node.value
    if isinstance(node.value, str) and node.value.lower() in BOOLEAN_WORDS:
        return BOOLEAN_WORDS[node.value.lower()]
    settings.wrong(node, name, "true or false")
    return False


def set_enabled(settings: Settings, node: Node) -> None:
    """Set whether bx-mcp's endpoint is served."""
    settings.enabled = read_boolean(settings, node, "enabled")


def set_body_limit(settings: Settings, node: Node) -> None:
    """Set the maximum size of a body in bytes."""
    value = int(node.value) if isinstance(node.value, str) and node.value.isdecimal() else node.value
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        settings.wrong(node, "maxRequestBodySize", "a number of bytes, or 0 for no separate limit")
    else:
        settings.body_limit = value


def set_networks(settings: Settings, node: Node) -> None:
    """Set the addresses that may send requests."""
    addresses: list[str] = []
    for text, item in list_strings(settings, node, "allowedIPs"):
        networks = parse_networks(text)
        if not networks:
            settings.wrong(item, "allowedIPs", "an address such as `10.0.0.7`, or a network such as `10.0.0.0/8`")
        addresses += networks
    # Also if it is empty: None would let everyone in.
    settings.allowed = tuple(dict.fromkeys(addresses))


def set_origins(settings: Settings, node: Node) -> None:
    """Set the origins whose pages may send requests."""
    for text, item in list_strings(settings, node, "corsAllowedOrigins"):
        if text == "*":
            hint = "name the origins, or set `authToken`: otherwise any web page can reach this machine"
            problem = diagnose("MCP709", item.span, "every web page may call this server", "", hint)
            settings.problems.append(problem)
        if parse_origin(text):
            settings.origins = (*settings.origins, parse_origin(text))
        else:
            settings.wrong(item, "corsAllowedOrigins", "`https://app.example.com`, `*.example.com` or `*`")


def set_tools(settings: Settings, node: Node, *, attribute: str) -> None:
    """Set the patterns of tools that are `included`, or `excluded`."""
    setattr(settings, attribute, read_patterns(settings, node, f"{attribute}Tools"))


def read_patterns(settings: Settings, node: Node, name: str) -> tuple[str, ...]:
    """Return the patterns of a list."""
    rows = [(text, item) for text, item in list_strings(settings, node, name) if text]
    settings.patterns += [(text, item.span) for text, item in rows if text != "*"]
    return tuple(text for text, _ in rows)


def list_strings(settings: Settings, node: Node, name: str) -> Iterator[tuple[str, Node]]:
    """Yield the strings of a list; a single value is a list of one item."""
    for item in node.items if node.kind == "array" else (node,):
        if isinstance(item.value, str):
            yield item.value.strip(), item
        else:
            settings.wrong(item, name, "a list of strings")


def read_profiles(settings: Settings, node: Node | None) -> Profiles:
    """Return the profiles by name."""
    profiles = dict(BUILT_IN)
    if node is not None and node.kind != "object":
        settings.wrong(node, "securityProfiles", "an object that maps names to profiles")
    for item in node.members if node is not None else ():
        if item.node.kind != "object":
            settings.wrong(item.node, item.key, "an object with `includedTools` and `excludedTools`")
            continue
        profiles[item.key.lower()] = tool_patterns(settings, item.node)
    return profiles


def tool_patterns(settings: Settings, node: Node) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the included and excluded tools of an object."""
    included, excluded = member_value(node, "includedtools"), member_value(node, "excludedtools")
    return (
        ALL_NAMES if included is None else read_patterns(settings, included, "includedTools"),
        () if excluded is None else read_patterns(settings, excluded, "excludedTools"),
    )


def defer(settings: Settings, node: Node) -> None:
    """Do nothing: this setting is read after all others."""


SETTING_NAMES: dict[str, Callable[[Settings, Node], None]] = {
    "allowedIPs": set_networks,
    "authToken": defer,
    "corsAllowedOrigins": set_origins,
    "enabled": set_enabled,
    "excludedTools": partial(set_tools, attribute="excluded"),
    "includedTools": partial(set_tools, attribute="included"),
    "maxRequestBodySize": set_body_limit,
    "securityProfiles": defer,
}
SETTERS = {name.lower(): take for name, take in SETTING_NAMES.items()}


ORIGIN = re.compile(
    r"(?:(?P<scheme>https?)://)?(?P<wild>\*\.)?(?P<host>\[[0-9a-f:.]+\]|[a-z0-9](?:[a-z0-9-]*)(?:\.[a-z0-9-]+)*)"
    r"(?::(?P<port>[0-9]{1,5}))?/?"
)


def parse_networks(text: str) -> list[str]:
    """Return the networks that a text names; empty if it is invalid."""
    if text.lower() == "localhost":
        return ["127.0.0.1/32", "::1/128"]
    try:
        # An address with a mask, as `10.0.0.7/8`, means its network.
        return [str(ip_network(text, strict=False))]
    except ValueError:
        return []


def parse_origin(text: str) -> str:
    """Return an origin, or a pattern of origins; an empty string if it is invalid."""
    if text == "*":
        return text
    match = ORIGIN.fullmatch(text.lower())
    if match is None or (match["scheme"] is None and not match["wild"]):
        return ""
    port = match["port"]
    if port is not None and not 0 < int(port) <= 0xFFFF:
        return ""
    return text.lower().removesuffix("/")


ToolPatterns = tuple[tuple[str, ...], tuple[str, ...]]
Profiles = dict[str, ToolPatterns]
EVERYTHING: ToolPatterns = (("*",), ())
VARIABLE = re.compile(r"\$\{env\.(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::(?P<default>[^}]*))?\}", re.IGNORECASE)
HEADER_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")
"""What a header can contain as a bearer token (RFC 6750)."""
MIN_TOKEN_LENGTH, MAX_TOKEN_LENGTH = 16, 8192
PLACEHOLDERS = frozenset({"FILL_THIS_OUT_ALWAYS"})
"""Placeholders that manuals have for a token."""
FIELDS = ("token", "profile", "includedtools", "excludedtools")
AT_RUN_TIME = "or leave `authToken` empty, and pass tokens at run time: MCPC_TOKENS or --token-file"


@dataclass(frozen=True, slots=True)
class Token:
    """One token: `kind` tells whether `value` is a digest or the name of a variable; `tools`: what it may call."""

    kind: str
    value: str
    tools: ToolPatterns

    def at_run_time(self) -> tuple[str, str, ToolPatterns]:
        """Return the token's data for the built server."""
        return self.kind, self.value, self.tools


class TokenProblems(Protocol):
    """Collects problems, and the tool patterns of tokens."""

    problems: list[Diagnostic]
    patterns: list[tuple[str, Span]]

    def wrong(self, node: Node, name: str, expected: str, hint: str = "") -> None:
        """Report an invalid value."""


def read_tokens(node: Node, profiles: Profiles, report: TokenProblems) -> tuple[Token, ...]:
    """Return the tokens of a value: a string is one token for all tools, a list has rows."""
    tokens: dict[str, Token] = {}
    rows = [(node, EVERYTHING)] if node.kind != "array" else list(_rows(node, profiles, report))
    for written, tools in rows:
        if written.kind != "string":
            report.wrong(written, "authToken", "a string, or a list of objects with a `token`")
            continue
        text = str(written.value).strip()
        # An empty text alone means no token; in a list it is a mistake.
        if not text and node.kind != "array":
            continue
        for token in _token(text, tools, written, report):
            if token.value in tokens:
                report.problems.append(diagnose("MCP261", written.span, "the same token is written twice"))
            tokens[token.value] = token
    return tuple(tokens.values())


def _rows(node: Node, profiles: Profiles, report: TokenProblems) -> Iterator[tuple[Node, ToolPatterns]]:
    """Yield the token of each row, with the tools that it may call."""
    for row in node.items:
        if row.kind == "string":
            yield row, EVERYTHING
            continue
        members = {member.key.lower(): member.node for member in row.members}
        if "token" not in members:
            report.wrong(row, "authToken", "an object with a `token`")
            continue
        for item in row.members:
            if item.key.lower() not in FIELDS:
                message = f"unknown member `{item.key}` of a token"
                report.problems.append(diagnose("MCP261", item.key_span, message, "", "it has " + ", ".join(FIELDS)))
        yield members["token"], _tools(members, profiles, report)


def _tools(members: dict[str, Node], profiles: Profiles, report: TokenProblems) -> ToolPatterns:
    """Return the tools of a row: those of its profile, else its own lists."""
    named = members.get("profile")
    if named is None:
        return (
            _pattern_list(members, "includedtools", ("*",), report),
            _pattern_list(members, "excludedtools", (), report),
        )
    profile = profiles.get(str(named.value).lower())
    if profile is None:
        message = f"unknown profile `{named.value}`"
        report.problems.append(diagnose("MCP263", named.span, message, f"one of {quoted(profiles)}"))
    # With an unknown profile a token may call nothing.
    return profile or ((), ())


def _pattern_list(
    members: dict[str, Node], key: str, default: tuple[str, ...], report: TokenProblems
) -> tuple[str, ...]:
    node = members.get(key)
    if node is None:
        return default
    items = node.items if node.kind == "array" else (node,)
    for item in items:
        if item.kind != "string":
            report.wrong(item, key, "a list of tool names")
        elif item.value not in ("", "*"):
            report.patterns.append((str(item.value), item.span))
    return tuple(str(item.value) for item in items if item.kind == "string" and item.value)


def _token(text: str, tools: ToolPatterns, node: Node, report: TokenProblems) -> Iterator[Token]:
    """Yield the included form of a token; nothing for one that must not be included."""
    variable = VARIABLE.fullmatch(text)
    if variable is not None:
        yield Token("variable", variable["name"], tools)
        if variable["default"]:
            hint = "a server does not start if the variable is not set"
            message = "a default token for a variable is not allowed"
            report.problems.append(diagnose("MCP707", node.span, message, "", hint))
        return
    wrong = _weakness(text)
    if wrong:
        report.problems.append(diagnose("MCP708", node.span, wrong, "a random token", _token_hint()))
        return
    message = "a token is written in the project; the server stores its digest"
    report.problems.append(diagnose("MCP707", node.span, message, "", _token_hint()))
    yield Token("digest", sha256(text.encode()).hexdigest(), tools)


def _token_hint() -> str:
    return f'write `"${{env.NAME}}"` for a variable that is read at run time, {AT_RUN_TIME}'


def _weakness(text: str) -> str:
    """Return why the digest of a token must not be included, or an empty string."""
    if text in PLACEHOLDERS:
        return "this token appears in the documentation"
    if "${" in text or len(text) > MAX_TOKEN_LENGTH or HEADER_TOKEN.fullmatch(text) is None:
        return "this token cannot be sent in a header"
    if len(text) < MIN_TOKEN_LENGTH:
        return f"this token has {len(text)} characters, and could be guessed from its digest"
    return "" if len(set(text)) > 4 else "this token is too simple, and could be guessed from its digest"
