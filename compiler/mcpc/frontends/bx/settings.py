"""`boxlang.json`: the settings of bx-mcp's server, each with its place, and what of them a built server is told.

Its law: no token goes along.  What is carried is a digest, of a token that nobody can guess, or the name of a variable.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mcpc.definitions.kinds import mismatch
from mcpc.diagnostics import Span, diagnose
from mcpc.frontends.bx.tokens import Profiles, Token, tokens_of
from mcpc.frontends.bx.values import network, origin
from mcpc.sources import Source, parse_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.sources import Node, SourceTree

FILE = "boxlang.json"
MODULES = ("bxmcp", "bx-mcp")
EVERYTHING = ("*",)
BUILT_IN: Profiles = {
    "admin": (EVERYTHING, ()),
    "readonly": (("*_get*", "*_has*", "*_search*", "*_read*"), ()),
}
"""The profiles that are there unless the settings say otherwise."""
IDLE = frozenset({"enablepoollatencytracking", "enablestats", "heapdumpdir"})
IDLE_BEGINNINGS = ("slow", "route")
"""What is about looking into a running JVM."""
STRING_OR_COMMENT = re.compile(
    r'"(?:[^"\\\n]++|\\.)*+"|(?P<comment>//[^\n]*+|/\*(?:[^*]++|\*(?!/))*+(?:\*/|\Z))', re.DOTALL
)
TRUTHS = {"true": True, "yes": True, "false": False, "no": False}


@dataclass(slots=True)
class Settings:
    """What the settings say.  `allowed` is None if they do not say who may ask; `patterns` are those with a place."""

    enabled: bool = True
    tokens: tuple[Token, ...] = ()
    allowed: tuple[str, ...] | None = None
    origins: tuple[str, ...] = ()
    body_limit: int = 0
    included: tuple[str, ...] = EVERYTHING
    excluded: tuple[str, ...] = ()
    patterns: list[tuple[str, Span]] = field(default_factory=list)
    problems: list[Diagnostic] = field(default_factory=list)

    def at_run_time(self) -> dict[str, Any]:
        """Return what a built server is told, as plain data."""
        return {
            "enabled": self.enabled,
            "tokens": tuple(token.at_run_time() for token in self.tokens),
            "allowed": self.allowed,
            "origins": self.origins,
            "body_limit": self.body_limit,
            "tools": (self.included, self.excluded),
        }

    def wrong(self, node: Node, name: str, expected: str, hint: str = "") -> None:
        """Report a value that cannot be followed."""
        secret = name == "authToken"
        message = f"`{name}` cannot be {f'this {node.kind}' if secret else shown(node)}"
        self.problems.append(diagnose("MCP261", node.span, message, expected, hint))


def shown(node: Node) -> str:
    """Return a value for a message, or its kind where it is long."""
    text = f"`{node.value}`"
    return text if len(text) <= 60 and node.kind not in ("object", "array") else f"this {node.kind}"


def read_settings(tree: SourceTree) -> tuple[Settings, Diagnostics]:
    """Return the settings of a project, the usual ones where it says nothing, and what is wrong with them."""
    settings = Settings()
    source = tree.get(FILE)
    if source is None:
        return settings, ()
    root, problems = parse_json(without_comments(source))
    if root is None:
        return settings, problems
    for module in modules(root, settings):
        switch = member(module, "enabled")
        said = member(module, "settings")
        follow(settings, said)
        settings.problems += misplaced(module)
        if switch is not None:
            settings.enabled = truth(settings, switch, "enabled") and settings.enabled
    return settings, (*problems, *settings.problems)


def without_comments(source: Source) -> Source:
    """Return a file of BoxLang's configuration, which may have comments, with spaces in their place."""
    text = STRING_OR_COMMENT.sub(lambda found: blank(found) if found["comment"] else found[0], source.text)
    return Source(source.path, text.encode("utf-8", "surrogateescape"), source.mode)


def blank(found: re.Match[str]) -> str:
    """Return spaces, and the ends of lines, for what was found."""
    return re.sub(r"[^\r\n]", " ", found[0])


def modules(root: Node, settings: Settings) -> Iterator[Node]:
    """Yield what is said of the module."""
    listed = member(root, "modules") if root.kind == "object" else None
    for name in MODULES if listed is not None else ():
        found = member(listed, name)
        if found is not None and found.kind != "object":
            settings.problems.append(diagnose("MCP261", found.span, mismatch(f"`{name}`", "object", found)))
        elif found is not None:
            yield found


def member(node: Node | None, name: str) -> Node | None:
    """Return the value of a key, in whatever case it is written."""
    found = [one.node for one in node.members if one.key.lower() == name] if node is not None else []
    return found[-1] if found else None


def follow(settings: Settings, said: Node | None) -> None:
    """Take every setting."""
    if said is None:
        return
    if said.kind != "object":
        settings.problems.append(diagnose("MCP261", said.span, mismatch("`settings`", "object", said)))
        return
    for one in said.members:
        take = TAKEN.get(one.key.lower())
        if take is not None:
            take(settings, one.node)
        else:
            settings.problems.append(stranger(one.key, one.key_span))
    profiles = profiles_of(settings, member(said, "securityprofiles"))
    tokens = member(said, "authtoken")
    if tokens is not None:
        settings.tokens = tokens_of(tokens, profiles, settings)


def misplaced(module: Node) -> Iterator[Diagnostic]:
    """Yield what there is to say of settings beside `settings`: nobody reads them there, however much they matter."""
    for one in module.members:
        if one.key.lower() in TAKEN.keys() - {"enabled"}:
            yield diagnose(
                "MCP261", one.key_span, f"`{one.key}` stands beside `settings`", "it inside", "nothing reads it here"
            )


def stranger(key: str, span: Span) -> Diagnostic:
    """Return what there is to say of a setting that does nothing here, or that nobody knows."""
    lower = key.lower()
    if lower not in IDLE and not lower.startswith(IDLE_BEGINNINGS):
        near = difflib.get_close_matches(lower, [name.lower() for name in SPELLED], n=1)
        if near:
            meant = next(name for name in SPELLED if name.lower() == near[0])
            return diagnose("MCP261", span, f"there is no setting `{key}`", "", f"did you mean `{meant}`?")
    return diagnose("MCP262", span, f"`{key}` says nothing to a built server", "", "remove it, or leave it for bx-mcp")


def truth(settings: Settings, node: Node, name: str) -> bool:
    """Return a yes or a no."""
    if isinstance(node.value, bool):
        return node.value
    if isinstance(node.value, str) and node.value.lower() in TRUTHS:
        return TRUTHS[node.value.lower()]
    settings.wrong(node, name, "true or false")
    return False


def take_enabled(settings: Settings, node: Node) -> None:
    """Take whether bx-mcp's endpoint is served."""
    settings.enabled = truth(settings, node, "enabled")


def take_limit(settings: Settings, node: Node) -> None:
    """Take the longest body."""
    value = int(node.value) if isinstance(node.value, str) and node.value.isdecimal() else node.value
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        settings.wrong(node, "maxRequestBodySize", "a number of bytes, 0 for no limit of its own")
    else:
        settings.body_limit = value


def take_networks(settings: Settings, node: Node) -> None:
    """Take who may ask, by address."""
    found: list[str] = []
    for text, item in texts(settings, node, "allowedIPs"):
        networks = network(text)
        if not networks:
            settings.wrong(item, "allowedIPs", "an address such as `10.0.0.7`, or a network such as `10.0.0.0/8`")
        found += networks
    settings.allowed = tuple(dict.fromkeys(found))


def take_origins(settings: Settings, node: Node) -> None:
    """Take whose pages may call."""
    for text, item in texts(settings, node, "corsAllowedOrigins"):
        if text == "*":
            hint = "name the origins, or set `authToken`: a page that anybody wrote reaches this machine otherwise"
            problem = diagnose("MCP709", item.span, "every web page may call this server", "", hint)
            settings.problems.append(problem)
        if origin(text):
            settings.origins = (*settings.origins, origin(text))
        else:
            settings.wrong(item, "corsAllowedOrigins", "`https://app.example.com`, `*.example.com` or `*`")


def take_included(settings: Settings, node: Node) -> None:
    """Take which tools there are."""
    settings.included = patterns(settings, node, "includedTools")


def take_excluded(settings: Settings, node: Node) -> None:
    """Take which tools there are not."""
    settings.excluded = patterns(settings, node, "excludedTools")


def patterns(settings: Settings, node: Node, name: str) -> tuple[str, ...]:
    """Return the patterns of a list."""
    found = [(text, item) for text, item in texts(settings, node, name) if text]
    settings.patterns += [(text, item.span) for text, item in found if text != "*"]
    return tuple(text for text, _ in found)


def texts(settings: Settings, node: Node, name: str) -> Iterator[tuple[str, Node]]:
    """Yield the texts of a list; one alone is a list of one."""
    for item in node.items if node.kind == "array" else (node,):
        if isinstance(item.value, str):
            yield item.value.strip(), item
        else:
            settings.wrong(item, name, "a list of texts")


def profiles_of(settings: Settings, node: Node | None) -> Profiles:
    """Return the profiles by name."""
    found = dict(BUILT_IN)
    if node is not None and node.kind != "object":
        settings.wrong(node, "securityProfiles", "an object of profiles, by their names")
    for one in node.members if node is not None else ():
        if one.node.kind != "object":
            settings.wrong(one.node, one.key, "an object with `includedTools` and `excludedTools`")
            continue
        found[one.key.lower()] = pair_of(settings, one.node)
    return found


def pair_of(settings: Settings, node: Node) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the two lists of tools that an object has."""
    included, excluded = member(node, "includedtools"), member(node, "excludedtools")
    return (
        EVERYTHING if included is None else patterns(settings, included, "includedTools"),
        () if excluded is None else patterns(settings, excluded, "excludedTools"),
    )


def later(settings: Settings, node: Node) -> None:
    """Do nothing: this is read when all others are known."""


SPELLED: dict[str, Callable[[Settings, Node], None]] = {
    "allowedIPs": take_networks,
    "authToken": later,
    "corsAllowedOrigins": take_origins,
    "enabled": take_enabled,
    "excludedTools": take_excluded,
    "includedTools": take_included,
    "maxRequestBodySize": take_limit,
    "securityProfiles": later,
}
TAKEN = {name.lower(): take for name, take in SPELLED.items()}
