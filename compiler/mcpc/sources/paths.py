"""Resolution of relative paths that a project contains."""

from __future__ import annotations


def resolve_relative(home: str, written: str) -> str | None:
    """Return the project path of `written`, relative to the folder `home`; None if it is outside."""
    parts = home.split("/") if home else []
    for part in written.split("/"):
        if part == ".." and not parts:
            return None
        if part == "..":
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)
