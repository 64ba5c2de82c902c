"""Read `security` of a request: alternatives, each of schemes that all apply, with the settings that they need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpc.diagnostics import diagnose
from mcpc.lower.request_values import FORBIDDEN_HEADERS, TOKEN, address_fault
from mcpc.model.ir.handlers import SettingUse
from mcpc.reading import member_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostic
    from mcpc.reading import Node

KEYS = ("header", "query", "cookie")
FORM = (
    '`{"header": "X-Key", "setting": "API_KEY"}` (or `query`, `cookie`), `{"bearer": SETTING}`, '
    '`{"basic": [USER, PASSWORD]}`, `{"clientCredentials": {…}}`, `{"refreshToken": {…}}`, '
    '`{"certificate": FILE, "key": FILE}` or `{"perUser": "X-Token"}`'
)
TOKENS = {"clientCredentials": ("id", "secret"), "refreshToken": ("id", "secret", "token")}
"""The settings of each way to fetch a token."""
Scheme = tuple[Any, ...]
"""Its kind, a name or an address, its settings, and more."""


def read_security(
    node: Node | None,
) -> tuple[tuple[tuple[Scheme, ...], ...], tuple[SettingUse, ...], tuple[Diagnostic, ...]]:
    """Return the alternatives, the settings that they use, and the problems."""
    reader = SecurityReader()
    alternatives = tuple(reader.alternative(item) for item in (node.items if node is not None else ()))
    return alternatives, tuple(reader.uses), tuple(reader.problems)


class SecurityReader:
    """Reads schemes."""

    def __init__(self) -> None:
        self.uses: list[SettingUse] = []
        self.problems: list[Diagnostic] = []

    def alternative(self, node: Node) -> tuple[Scheme, ...]:
        """Return the schemes that apply together."""
        schemes = node.items if node.kind == "array" else (node,)
        read = (self._scheme(scheme) for scheme in schemes)
        return tuple(scheme for scheme in read if scheme is not None)

    def _scheme(self, node: Node) -> Scheme | None:
        keys = {member.key for member in node.members}
        scheme: Scheme | None = None
        # Any of several keys, in no order: it is used only where there is one.
        kind = next(iter(keys - {"setting"}), "")
        if kind in KEYS and keys == {kind, "setting"}:
            scheme = (kind, self._text(node, kind), self._settings(node, "setting"))
        elif keys == {"bearer"}:
            scheme = ("bearer", "Authorization", self._settings(node, "bearer"))
        elif keys == {"basic"}:
            pair = member_of(node, "basic", "array")
            names = tuple(self._use(item) for item in pair.items) if pair is not None else ()
            scheme = ("basic", "Authorization", names) if len(names) == 2 else None
        elif keys == {"certificate", "key"}:
            scheme = ("certificate", "", self._settings(node, "certificate", "key"))
        elif "perUser" in keys and keys <= {"perUser", "header"}:
            target = self._text(node, "header") or "Authorization"
            scheme = ("perUser", target, (), self._text(node, "perUser").lower())
        elif len(keys) == 1 and kind in TOKENS:
            scheme = self._token(kind, node.get(kind) or node)
        if scheme is None or not all(scheme[2]) or (kind in KEYS and not scheme[1]):
            self._refuse(node, "this is no way to authenticate", FORM)
            return None
        self.problems += unfit_names(scheme, node)
        return scheme

    def _token(self, kind: str, node: Node) -> Scheme | None:
        """Return the scheme of a token that is fetched: its address, its settings, scopes, and where they are sent."""
        url, scopes = member_of(node, "tokenUrl", "string"), member_of(node, "scopes", "array")
        place = member_of(node, "in", "string")
        allowed = {"tokenUrl", "scopes", "in", *TOKENS[kind]}
        if url is None or {member.key for member in node.members} - allowed:
            return None
        if fault := address_fault(str(url.value).partition("?")[0]):
            self._refuse(url, f"the address of tokens {fault}", "an `https` address")
        names = self._settings(node, *TOKENS[kind])
        said = " ".join(str(item.value) for item in (scopes.items if scopes is not None else ()))
        return kind, str(url.value), names, said, "body" if place is not None and place.value == "body" else "basic"

    def _settings(self, node: Node, *keys: str) -> tuple[str, ...]:
        return tuple(self._use(node.get(key)) for key in keys)

    def _use(self, node: Node | None) -> str:
        if node is None or not isinstance(node.value, str):
            return ""
        self.uses.append(SettingUse(node.value, node.span))
        return node.value

    def _text(self, node: Node, key: str) -> str:
        written = member_of(node, key, "string")
        return "" if written is None else str(written.value)

    def _refuse(self, node: Node, message: str, expected: str) -> None:
        self.problems.append(diagnose("MCP164", node.span, message, expected))


def unfit_names(scheme: Scheme, node: Node) -> Iterator[Diagnostic]:
    """Yield a header that cannot have a credential."""
    names = [scheme[1]] if scheme[0] in ("header", "perUser") else []
    names += [scheme[3]] if scheme[0] == "perUser" else []
    for name in names:
        if not TOKEN.fullmatch(name) or name.lower() in FORBIDDEN_HEADERS:
            yield diagnose("MCP164", node.span, f"a credential cannot be in the header `{name}`")
    if scheme[0] == "perUser" and scheme[3] == "authorization":
        message = "the `authorization` of a client is for this server, and cannot be passed on"
        yield diagnose("MCP164", node.span, message, "a header of its own, such as `X-Api-Token`")
