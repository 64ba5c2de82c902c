"""The errors of authentication, the tools that a token allows, and the challenge that asks for a token."""

from __future__ import annotations

from mcpc_runtime.protocol.globs import matches


class MisconfiguredError(Exception):
    """What was chosen cannot be followed, or is not safe; the message says what, and never a secret."""


class NotBundledError(MisconfiguredError):
    """The configuration needs a package that is not bundled."""


class InvalidTokenError(Exception):
    """A token is not accepted; the message, which says why, is for the client."""


class UnavailableError(Exception):
    """A token cannot be verified now; this is not the holder's fault."""


class AllowedTools:
    """The tools that a principal may call: names, where `*` matches any characters. Equal patterns are equal tools."""

    __slots__ = ("patterns",)

    def __init__(self, patterns: tuple[str, ...]) -> None:
        self.patterns = patterns

    def __call__(self, name: str) -> bool:
        """Tell whether this tool is among them."""
        return any(matches(pattern, name) for pattern in self.patterns)

    def __eq__(self, other: object) -> bool:
        """Tell whether they are the same tools."""
        return isinstance(other, AllowedTools) and other.patterns == self.patterns

    def __hash__(self) -> int:
        """Return the same number for equal tools."""
        return hash(self.patterns)


def challenge(**parameters: str) -> str:
    """Return a challenge to send a bearer token; parameters without a value are left out."""
    written = ", ".join(f'{name}="{value}"' for name, value in parameters.items() if value)
    return f"Bearer {written}" if written else "Bearer"
