"""The framework that a project was written for: its name and version.

A generation is selected once in a process, before the project's first import; what differs between generations is in
tables (`engine/behaviour.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

Version = tuple[int, ...]

LATEST: dict[str, Version] = {
    "sdk1": (1, 30, 0),
    "sdk2": (2, 3, 0),
    "fastmcp2": (2, 14, 7),
    "fastmcp3": (3, 4, 10),
    "fastmcp4": (4, 2, 3),
}
"""The generations, each with the version that stands for it where a project names none."""
SDK_OF = {"sdk1": "sdk1", "sdk2": "sdk2", "fastmcp2": "sdk1", "fastmcp3": "sdk1", "fastmcp4": "sdk2"}
"""The generation of the official SDK that each generation contains."""


@dataclass(frozen=True, slots=True)
class Generation:
    """A framework's generation, and the version of the framework in it."""

    name: str
    version: Version

    @property
    def family(self) -> str:
        """`sdk` or `fastmcp`."""
        return self.name[:-1]

    @property
    def sdk(self) -> str:
        """The generation of the SDK that is imported as `mcp`."""
        return SDK_OF[self.name]

    def at_least(self, *version: int) -> bool:
        """Tell whether the framework's version is this one or a later one."""
        return self.version >= version


class Selection:
    """What this process has selected, None before its project's first import."""

    generation: Generation | None = None


def select(name: str, version: str = "") -> Generation:
    """Select the generation of this process; `version`: digits and dots, the latest if it is empty."""
    # Parts such as `0rc1` are left out: a version before a release is like the release.
    numbers = tuple(int(part) for part in version.split(".") if part.isdecimal())
    Selection.generation = generation = Generation(name, numbers or LATEST[name])
    return generation


def selected() -> Generation:
    """Return the selected generation; the SDK's first one where none was selected."""
    return Selection.generation or select("sdk1")
