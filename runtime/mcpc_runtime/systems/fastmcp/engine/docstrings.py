"""Docstrings divided into a description and the descriptions of parameters.

Two styles are known: that of Google (`Args:` and an indented block) and of Sphinx (`:param name: text`).  The first
style in which a docstring has a section is the one it is read in.  That of NumPy is one that the adapter does not have.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from mcpc_runtime.systems.fastmcp.engine.behaviour import rules
from mcpc_runtime.systems.fastmcp.engine.server import lack
from mcpc_runtime.systems.fastmcp.generation import Generation
from mcpc_runtime.systems.fastmcp.interfaces import Function

PARAMETERS = "parameters"
"""What a section is that describes parameters."""
SECTION = "section"
"""The rule by which any section divides a docstring."""
GOOGLE = {
    **dict.fromkeys(("args", "arguments", "params", "parameters"), PARAMETERS),
    **{
        name: name
        for name in (
            *(f"{kind} {what}" for kind in ("other", "type") for what in ("args", "arguments", "params", "parameters")),
            *("keyword args", "keyword arguments", "raises", "exceptions", "returns", "yields", "receives", "examples"),
            *("attributes", "functions", "methods", "classes", "type aliases", "modules", "warns", "warnings"),
        )
    },
}
"""The titles of sections in Google's style."""
EXAMPLES = "examples"
"""The section that is read as text, not as items."""
UNNAMED = frozenset({"returns", "yields", "receives"})
"""The sections of Google's style whose items need no name."""
SPHINX: dict[str, tuple[int, ...]] = {
    "type": (),
    **dict.fromkeys(("param", "parameter", "arg", "argument", "key", "keyword"), (0,)),
    "vartype": (),
    **dict.fromkeys(("var", "ivar", "cvar", "raises", "raise", "except", "exception"), (2,)),
    **dict.fromkeys(("returns", "return"), tuple(range(1, 99))),
    "rtype": (),
}
"""The fields of Sphinx's style: of how many words one has to be to make a section.  0: it describes a parameter."""
TITLE = re.compile(r"^(?P<kind>\w[\s\w-]*):(\s+\S.*)?\s*$")
"""A line that begins a section or a note in Google's style."""


@dataclass(frozen=True, slots=True)
class Docstring:
    """A docstring's parts.  `sections`: it has sections, of parameters or others; `is_numpy`: in a style not read."""

    description: str | None = None
    parameters: dict[str, str] = field(default_factory=dict)
    sections: bool = False
    is_numpy: bool = False


@dataclass(slots=True)
class DocstringReading:
    """What has been read of a docstring: texts, parameters, whether there was a section; `text`: the open text."""

    texts: list[str] = field(default_factory=list)
    parameters: dict[str, str] = field(default_factory=dict)
    sections: bool = False
    text: list[str] = field(default_factory=list)

    def close(self) -> None:
        """End the open text."""
        if any(self.text):
            self.texts.append("\n".join(self.text).rstrip("\n"))
        self.text = []

    def result(self) -> Docstring:
        self.close()
        return Docstring(self.texts[0] if self.texts else None, self.parameters, self.sections)


def divided(function: Function, until: str) -> Docstring:
    """Return the parts of a function's docstring.

    `until`: `parameters` where only a section of parameters divides it, `section` where any section does.
    """
    while until == SECTION and isinstance(function, functools.partial) and "__doc__" not in vars(function):
        function = function.func
    text = inspect.getdoc(function)
    found = read(text, until) if text else Docstring()
    if found.is_numpy:
        lack("docstrings in NumPy's style")
    return found


def description_of(given: str | None, function: Function, kind: str, generation: Generation) -> str | None:
    """Return a component's description as its framework's version finds it: the given one, or the docstring's.

    `kind`: tool, prompt, resource or template.
    """
    version = rules(generation)
    if given or (given is not None and version.empty_descriptions):
        return given
    if generation.family == "sdk":
        return function.__doc__ or ""
    if version.docstrings and kind in ("tool", "prompt"):
        return described(function, version.docstrings)
    return inspect.getdoc(function) or None


def described(function: Function, until: str) -> str | None:
    """Return the description in the docstring of a function; of an instance, in that of its class or its call."""
    found = divided(function, until).description
    if found or inspect.isroutine(function) or isinstance(function, functools.partial):
        return found
    return divided(function.__call__, until).description  # type: ignore[operator]


@functools.lru_cache
def read(text: str, until: str) -> Docstring:
    """Return the parts of a docstring's text."""
    lines = inspect.cleandoc(text.rstrip()).split("\n")
    for reader in (read_google, read_sphinx):
        found = reader(lines)
        if found.parameters or (found.sections and until == SECTION):
            return found
    return Docstring(text, is_numpy=any(dashes(line) and not blank(title) for title, line in itertools.pairwise(lines)))


def read_google(lines: Sequence[str]) -> Docstring:
    """Return the parts of a docstring in Google's style."""
    reading = DocstringReading()
    at, in_code = 0, False
    while at < len(lines):
        fence = lines[at].lstrip(" ").startswith("```")
        in_code ^= fence
        # In a fenced block of Markdown nothing begins a section.
        title = None if fence or in_code else google_title(lines, at)
        if title is None:
            reading.text.append(lines[at])
        elif title in GOOGLE:
            at = read_google_section(lines, at, title, reading)
        else:
            at = read_note(lines, at, reading)
        at += 1
    return reading.result()


def google_title(lines: Sequence[str], at: int) -> str | None:
    """Return the title of the section or note that begins at a line; None if none does."""
    match = TITLE.match(lines[at])
    if match is None or (at > 0 and not blank(lines[at - 1])):
        return None
    below = [not blank(line) and line.startswith(" ") for line in lines[at + 1 : at + 3]]
    return match["kind"].lower() if any(below) and not blank(lines[at + 1]) else None


def read_google_section(lines: Sequence[str], at: int, title: str, reading: DocstringReading) -> int:
    """Read a section in Google's style; return its last line."""
    reading.close()
    if title == EXAMPLES:
        reading.sections = True
        return read_block(lines, at + 1)[1]
    items, end = read_items(lines, at + 1)
    named = [pair for item in items for pair in google_item(item)]
    reading.sections = reading.sections or bool(items if title in UNNAMED else named)
    if GOOGLE[title] == PARAMETERS:
        reading.parameters.update(named)
    return end


def google_item(item: list[str]) -> list[tuple[str, str]]:
    """Return the name and the description in an item; nothing if it has no colon."""
    name, colon, text = item[0].partition(":")
    if "(" in name and name.endswith(")"):
        name = name.partition("(")[0].strip()
    return [(name, "\n".join([text.lstrip(), *item[1:]]).rstrip("\n"))] if colon else []


def read_note(lines: Sequence[str], at: int, reading: DocstringReading) -> int:
    """Read a note (`Tip:` and an indented block), which is a section too; return its last line."""
    block, end = read_block(lines, at + 1)
    if not block:
        reading.text.append(lines[at])
        return at
    reading.close()
    reading.sections = True
    return end


def read_block(lines: Sequence[str], at: int) -> tuple[list[str], int]:
    """Return the lines of an indented block, and the last line's number."""
    indent = indentation(lines[at])
    if not indent:
        return [], at - 1
    end = at + 1
    while end < len(lines) and (blank(lines[end]) or lines[end].startswith(" " * indent)):
        end += 1
    return [line[indent:] for line in lines[at:end]], end - 1


def read_items(lines: Sequence[str], at: int) -> tuple[list[list[str]], int]:
    """Return the items of an indented block, each a list of lines, and the last line's number."""
    indent = indentation(lines[at])
    items: list[list[str]] = []
    if not indent:
        return items, at - 1
    end = at
    while end < len(lines) and (blank(lines[end]) or lines[end].startswith(" " * indent)):
        line = lines[end]
        if blank(line):
            # There is an item: the block begins with a line that has its indentation.
            items[-1].append("")
        elif indentation(line) > indent:
            items[-1].append(line[min(indentation(line), 2 * indent) :])
        else:
            items.append([line[indent:]])
        end += 1
    return items, end - 1


def read_sphinx(lines: Sequence[str]) -> Docstring:
    """Return the parts of a docstring in Sphinx's style."""
    description: list[str] = []
    parameters: dict[str, str] = {}
    sections = False
    at = 0
    while at < len(lines):
        kind = next((name for name in SPHINX if lines[at].startswith(f":{name}")), None)
        if kind is None:
            description.append(lines[at])
            at += 1
            continue
        end = next((end for end in range(at + 1, len(lines)) if lines[end].startswith(":")), len(lines))
        words, text = sphinx_field(lines[at:end])
        if SPHINX[kind] == (0,) and len(words) > 1:
            parameters.setdefault(words[-1], text)
        sections = sections or (bool(words) and len(words) in SPHINX[kind])
        at = end
    return Docstring(trimmed(description), parameters, sections or bool(parameters))


def sphinx_field(lines: Sequence[str]) -> tuple[list[str], str]:
    """Return the words of a field's name, and its text; no words if it is not whole."""
    text = inspect.cleandoc("\n".join([lines[0].lstrip(), *lines[1:]])).rstrip("\n")
    parts = text.split(":", 2)
    return (parts[1].split(" "), parts[2].strip()) if len(parts) == 3 else ([], "")


def trimmed(lines: list[str]) -> str:
    """Return lines as text, without blank ones at the beginning and the end."""
    filled = [number for number, line in enumerate(lines) if not blank(line)]
    return "\n".join(lines[filled[0] : filled[-1] + 1]) if filled else ""


def blank(line: str) -> bool:
    """Tell whether a line has nothing but blanks."""
    return not line.strip()


def dashes(line: str) -> bool:
    return "-" in line and blank(line.replace("-", ""))


def indentation(line: str) -> int:
    """Return how many blanks a line begins with."""
    return len(line) - len(line.lstrip())
