"""Where a path leads that a project wrote: to a place of the project, or out of it."""

from __future__ import annotations


def led_to(home: str, written: str) -> str | None:
    """Return the path of the project to which one leads that begins at the folder `home`, None if that is outside."""
    parts = home.split("/") if home else []
    for part in written.split("/"):
        if part == ".." and not parts:
            return None
        if part == "..":
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)
