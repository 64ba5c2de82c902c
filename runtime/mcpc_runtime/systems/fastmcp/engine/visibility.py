"""Which components clients see: rules that show or hide those of some names, keys, tags and kinds.

A rule removes nothing: a later one may show a component again, and the server removes hidden ones at the end, after the
rules of the session.
"""

from __future__ import annotations

import warnings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    Rule = dict[str, Any]

CRITERIA = ("names", "keys", "tags", "components")
KINDS = {"tools": "tool", "prompts": "prompt", "resources": "resource", "templates": "template"}
"""The kinds by their plurals, which FastMCP 3.0 takes, too."""


class Visibility:
    """Shows or hides the components that all given criteria match; without criteria it changes nothing."""

    def __init__(  # noqa: PLR0913 - FastMCP's parameters
        self,
        enabled: bool,
        *,
        names: Iterable[str] | None = None,
        keys: Iterable[str] | None = None,
        tags: Iterable[str] | None = None,
        components: Iterable[str] | None = None,
        match_all: bool = False,
    ) -> None:
        malformed = sorted(key for key in keys or () if "@" not in key)
        if malformed:
            warnings.warn(
                f"keys that are missing the '@' version delimiter match nothing: {malformed}", UserWarning, stacklevel=3
            )
        self._enabled = enabled
        self.names = None if names is None else set(names)
        self.keys = None if keys is None else set(keys)
        self.tags = None if tags is None else set(tags)
        self.components = None if components is None else {KINDS.get(each, each) for each in components}
        self.match_all = match_all

    def __repr__(self) -> str:
        """Return the class and the criteria."""
        if self.match_all:
            return f"Visibility({self._enabled}, match_all=True)"
        given = {name: getattr(self, name) for name in CRITERIA}
        said = [
            "enable" if self._enabled else "disable",
            *(f"{name}={value}" for name, value in given.items() if value),
        ]
        return f"Visibility({', '.join(said)})"

    def matches(self, component: Any) -> bool:
        """Tell whether the criteria match a component."""
        if self.match_all:
            return True
        if all(getattr(self, name) is None for name in CRITERIA):
            return False
        return (
            (self.components is None or component.kind in self.components)
            and (self.keys is None or key_of(component) in self.keys)
            and (self.names is None or bool(self.names & {component.name, component.identifier}))
            and (self.tags is None or bool(self.tags & component.tags))
        )

    def applied_to(self, component: Any) -> Any:
        """Return a component, shown or hidden if the criteria match it."""
        return component.copy({"shown": self._enabled}) if self.matches(component) else component


def key_of(component: Any) -> str:
    """Return a component's kind, and its name or address, as one text."""
    return f"{component.kind}:{component.identifier}@"


def visibility_rules(enabled: bool, rule: Rule) -> list[Visibility]:
    """Return the rules of a call of `enable` or `disable`; `only` hides everything else."""
    given = {key: value for key, value in rule.items() if key != "only" and value is not None}
    first = [Visibility(False, match_all=True)] if enabled and rule.get("only") else []
    return [*first, Visibility(enabled, **given)]


def with_visibility(rules: Sequence[Visibility], components: Iterable[Any]) -> list[Any]:
    """Return components, shown or hidden by rules."""
    found = list(components)
    for rule in rules:
        found = [rule.applied_to(each) for each in found]
    return found
