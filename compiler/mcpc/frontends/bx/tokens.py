"""`authToken`: who may call, and which tools.

A token that is written down is carried as its digest, and only if trying all that it could be would take for ever; one
that is in a variable is carried as the variable's name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Protocol

from mcpc.diagnostics import diagnose

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostic, Span
    from mcpc.sources import Node

Pair = tuple[tuple[str, ...], tuple[str, ...]]
Profiles = dict[str, Pair]
EVERYTHING: Pair = (("*",), ())
VARIABLE = re.compile(r"\$\{env\.(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::(?P<default>[^}]*))?\}", re.IGNORECASE)
CARRIABLE = re.compile(r"[A-Za-z0-9._~+/-]+=*")
"""What a header can carry as a bearer token (RFC 6750)."""
LEAST, MOST = 16, 8192
KNOWN = frozenset({"FILL_THIS_OUT_ALWAYS"})
"""What manuals have in the place of a token."""
FIELDS = ("token", "profile", "includedtools", "excludedtools")
AT_RUN_TIME = "or leave `authToken` empty, and give tokens when it is served: MCPC_TOKENS, or --token-file"


@dataclass(frozen=True, slots=True)
class Token:
    """One token: `kind` says whether `value` is a digest or the name of a variable; `tools`: those it may call."""

    kind: str
    value: str
    tools: Pair

    def at_run_time(self) -> tuple[str, str, Pair]:
        """Return what a built server is told of it."""
        return self.kind, self.value, self.tools


class Report(Protocol):
    """What problems are told to, with the tools that patterns of it were written for."""

    problems: list[Diagnostic]
    patterns: list[tuple[str, Span]]

    def wrong(self, node: Node, name: str, expected: str, hint: str = "") -> None:
        """Report a value that cannot be followed."""


def tokens_of(node: Node, profiles: Profiles, report: Report) -> tuple[Token, ...]:
    """Return the tokens that a value has: a text is one for everything, a list has rows."""
    found: dict[str, Token] = {}
    rows = [(node, EVERYTHING)] if node.kind != "array" else list(_rows(node, profiles, report))
    for written, tools in rows:
        if written.kind != "string":
            report.wrong(written, "authToken", "a text, or a list of objects with a `token`")
            continue
        text = str(written.value).strip()
        if not text and node.kind != "array":
            continue
        for token in _token(text, tools, written, report):
            if token.value in found:
                report.problems.append(diagnose("MCP261", written.span, "the same token is written twice"))
            found[token.value] = token
    return tuple(found.values())


def _rows(node: Node, profiles: Profiles, report: Report) -> Iterator[tuple[Node, Pair]]:
    """Yield the token of each row, with the tools that it is for."""
    for row in node.items:
        if row.kind == "string":
            yield row, EVERYTHING
            continue
        members = {one.key.lower(): one.node for one in row.members}
        if "token" not in members:
            report.wrong(row, "authToken", "an object with a `token`")
            continue
        for one in row.members:
            if one.key.lower() not in FIELDS:
                message = f"a token has no `{one.key}`"
                report.problems.append(diagnose("MCP261", one.key_span, message, "", "it has " + ", ".join(FIELDS)))
        yield members["token"], _tools(members, profiles, report)


def _tools(members: dict[str, Node], profiles: Profiles, report: Report) -> Pair:
    """Return the tools of a row: those of its profile, else its own lists."""
    named = members.get("profile")
    if named is None:
        return (_list(members, "includedtools", ("*",), report), _list(members, "excludedtools", (), report))
    found = profiles.get(str(named.value).lower())
    if found is None:
        known = ", ".join(f"`{name}`" for name in profiles)
        message = f"there is no profile `{named.value}`"
        report.problems.append(diagnose("MCP263", named.span, message, f"one of {known}"))
    return found or ((), ())


def _list(members: dict[str, Node], key: str, usual: tuple[str, ...], report: Report) -> tuple[str, ...]:
    node = members.get(key)
    if node is None:
        return usual
    items = node.items if node.kind == "array" else (node,)
    for item in items:
        if item.kind != "string":
            report.wrong(item, key, "a list of names of tools")
        elif item.value not in ("", "*"):
            report.patterns.append((str(item.value), item.span))
    return tuple(str(item.value) for item in items if item.kind == "string" and item.value)


def _token(text: str, tools: Pair, node: Node, report: Report) -> Iterator[Token]:
    """Yield what is carried of a token; nothing of one that must not be."""
    variable = VARIABLE.fullmatch(text)
    if variable is not None:
        yield Token("variable", variable["name"], tools)
        if variable["default"]:
            hint = "a server whose variable is not set refuses to serve"
            message = "a token that stands in for a variable is not taken"
            report.problems.append(diagnose("MCP707", node.span, message, "", hint))
        return
    wrong = _weakness(text)
    if wrong:
        report.problems.append(diagnose("MCP708", node.span, wrong, "a token nobody can guess", _hint()))
        return
    message = "a token is written in the project; its digest goes into the server"
    report.problems.append(diagnose("MCP707", node.span, message, "", _hint()))
    yield Token("digest", sha256(text.encode()).hexdigest(), tools)


def _hint() -> str:
    return f'write `"${{env.NAME}}"` for a variable that is read when it is served, {AT_RUN_TIME}'


def _weakness(text: str) -> str:
    """Return why the digest of a token must not be carried, or nothing."""
    if text in KNOWN:
        return "this token stands in the manual"
    if "${" in text or len(text) > MOST or CARRIABLE.fullmatch(text) is None:
        return "this token cannot be sent in a header"
    if len(text) < LEAST:
        return f"this token has {len(text)} characters, and could be found out from its digest"
    return "" if len(set(text)) > 4 else "this token says too little, and could be found out from its digest"
