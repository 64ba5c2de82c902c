"""TOML that lists dependencies, each entry at its own place: `pyproject.toml`, and the inline metadata of a script.

`[tool.mcpc] extract` lists those whose files must lie in a folder when the server runs, because they look for them.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mcpc.dependencies.spelling import normalised, requirement
from mcpc.diagnostics import Diagnostic, Diagnostics, Span, diagnose

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from mcpc.dependencies.model import Requirement
    from mcpc.sources import Source, SourceTree

PROJECT = "pyproject.toml"
PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
BLOCK = re.compile(r"^# /// (?P<type>[a-zA-Z0-9-]+)$\s(?P<content>(^#(| .*)$\s)+)^# ///$", re.MULTILINE)
"""The expression of the specification of inline script metadata."""
SCRIPT = "script"
TEXTS = "an array of strings"


@dataclass(frozen=True, slots=True)
class _Text:
    """A stretch of a file that is TOML once `indent` is taken from each line."""

    source: Source
    start: int
    end: int
    indent: int = 0

    def toml(self) -> str:
        lines = self.source.text[self.start : self.end].removeprefix("\ufeff").splitlines(keepends=True)
        return "".join(line[self.indent :] if line.strip() != "#" else "\n" for line in lines)

    def offset(self, line: int, column: int) -> int:
        first, _ = self.source.position(self.start)
        return self.source.offset(first + line - 1, column + self.indent)

    def place(self, word: str) -> Span:
        """Return where `word` is written as a string or a key; where the text begins if it is written otherwise."""
        found = re.compile(rf"(?<=[\"']){re.escape(word)}(?=[\"'])|\b{re.escape(word)}\b(?=\s*=)").search(
            self.source.text, self.start, self.end
        )
        return Span(self.source.path, *(found.span() if found else (self.start, self.start)))


def project_metadata(tree: SourceTree) -> tuple[tuple[Requirement, ...], Diagnostics]:
    """Return what `[project] dependencies` in the project's `pyproject.toml` asks for."""
    source = tree.get(PROJECT)
    if source is None:
        return (), ()
    return _read(_Text(source, 0, len(source.text)), "project")


def inline_metadata(source: Source) -> tuple[tuple[Requirement, ...], Diagnostics]:
    """Return what the `# /// script` block of a Python file asks for."""
    blocks = [found for found in BLOCK.finditer(source.text) if found["type"] == SCRIPT]
    if len(blocks) > 1:
        span = Span(source.path, *blocks[1].span())
        return (), (diagnose("MCP401", span, "the file has two `script` blocks", "one `# /// script`"),)
    if not blocks:
        return (), ()
    return _read(_Text(source, *blocks[0].span("content"), indent=2), "")


def _read(text: _Text, section: str) -> tuple[tuple[Requirement, ...], Diagnostics]:
    try:
        table: dict[str, Any] = tomllib.loads(text.toml())
    except tomllib.TOMLDecodeError as problem:
        return (), (_not_toml(str(problem), text),)
    holder = table.get(section, {}) if section else table
    written = holder.get("dependencies", []) if isinstance(holder, dict) else None
    extracted = _setting(table, "tool", "mcpc").get("extract", [])
    problems = [
        diagnose("MCP401", text.place(key), f"`{key}` is not a list of names", TEXTS)
        for key, value in (("dependencies", written), ("extract", extracted))
        if not _is_texts(value)
    ]
    if problems:
        return (), tuple(problems)
    made = [requirement(one, text.place(one)) for one in written or ()]
    found = [one for one in made if not isinstance(one, Diagnostic)]
    refused = [one for one in made if isinstance(one, Diagnostic)]
    names = {normalised(name) for name in extracted}
    marked = tuple(replace(one, extracted=one.name in names) for one in found)
    return marked, (*refused, *_strangers(extracted, found, text))


def _not_toml(words: str, text: _Text) -> Diagnostic:
    found = PLACE.search(words)
    at = text.offset(int(found[1]), int(found[2])) if found and found[1] else text.end
    span = Span(text.source.path, at, min(at + 1, len(text.source.text)))
    return diagnose("MCP401", span, f"this is not TOML: {PLACE.sub('', words)}")


def _setting(table: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return a table of a table, an empty one where there is none."""
    for name in names:
        inner = table.get(name)
        table = inner if isinstance(inner, dict) else {}
    return table


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _strangers(extracted: Sequence[str], found: Sequence[Requirement], text: _Text) -> Iterator[Diagnostic]:
    """Yield the names to extract that nothing beside them asks for."""
    asked = {one.name for one in found}
    for name in extracted:
        if normalised(name) not in asked:
            message = f"`{name}` is to be extracted, but `dependencies` does not ask for it"
            yield diagnose("MCP401", text.place(name), message, "", f"add `{name}` to `dependencies`")
