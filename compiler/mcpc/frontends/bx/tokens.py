"""`authToken`: which callers are allowed, and which tools they may call.

Of a token in the file only its digest is included, and only if the token cannot be found by trial; of a token in a
variable, the variable's name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Protocol

from mcpc.diagnostics import diagnose
from mcpc.diagnostics.suggestions import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostic, Span
    from mcpc.reading import Node

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
    found: dict[str, Token] = {}
    rows = [(node, EVERYTHING)] if node.kind != "array" else list(_rows(node, profiles, report))
    for written, tools in rows:
        if written.kind != "string":
            report.wrong(written, "authToken", "a string, or a list of objects with a `token`")
            continue
        text = str(written.value).strip()
        if not text and node.kind != "array":
            continue
        for token in _token(text, tools, written, report):
            if token.value in found:
                report.problems.append(diagnose("MCP261", written.span, "the same token is written twice"))
            found[token.value] = token
    return tuple(found.values())


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
    found = profiles.get(str(named.value).lower())
    if found is None:
        message = f"unknown profile `{named.value}`"
        report.problems.append(diagnose("MCP263", named.span, message, f"one of {quoted(profiles)}"))
    return found or ((), ())


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
