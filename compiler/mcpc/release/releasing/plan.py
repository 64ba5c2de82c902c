"""What a project releases: the table `[tool.mcpc.release]` of its `pyproject.toml`.

`files` are products, in any order; `self-contained` are targets of files that contain Python; `options` are those of
`mcpc build`, as on its command line.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcpc.diagnostics import diagnose
from mcpc.diagnostics.suggestions import did_you_mean, quoted
from mcpc.interpreters.selfcontained import TARGETS
from mcpc.packages.toml_text import TomlText, is_string_list, nested_table, read_toml
from mcpc.release.releasing.products import PRODUCTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mcpc.diagnostics import Diagnostic, Diagnostics, Span
    from mcpc.reading import Source

DEFAULT = ("pyz", "sbom", "provenance")
"""The products of a project that declares none: they need no other metadata."""
TABLE = ("tool", "mcpc", "release")
KNOWN = {"files": tuple(PRODUCTS), "self-contained": tuple(TARGETS), "options": ()}
"""The keys of the table, and the words that each may have; none for any."""


@dataclass(frozen=True, slots=True)
class ReleasePlan:
    """What is released; `options`: of the build, as on its command line."""

    files: tuple[str, ...] = DEFAULT
    self_contained: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


def read_plan(source: Source | None) -> tuple[ReleasePlan, Diagnostics]:
    """Return the plan of a project's `pyproject.toml`, and what is wrong with it."""
    text = None if source is None else read_toml(TomlText(source, 0, len(source.text)))
    if not isinstance(text, TomlText):
        return ReleasePlan(), () if text is None else (text,)
    table = nested_table(text.table, *TABLE)
    problems = tuple(_problems(table, text))
    if problems:
        return ReleasePlan(), problems
    files = tuple(dict.fromkeys(table.get("files", DEFAULT)))
    plan = ReleasePlan(files, tuple(dict.fromkeys(table.get("self-contained", ()))), tuple(table.get("options", ())))
    return plan, tuple(_unmet(plan, text))


def _problems(table: Mapping[str, Any], text: TomlText) -> Iterator[Diagnostic]:
    """Yield values that are not lists of known words; a check of the project reports unknown keys."""
    for key, known in KNOWN.items():
        value = table.get(key, [])
        if is_string_list(value):
            yield from _unknown_words(key, value, known, text)
        else:
            span = text.span_of(key, *TABLE)
            yield diagnose("MCP441", span, f"`{key}` is not a list of strings", 'a list, such as `["pyz", "sbom"]`')


def _unknown_words(key: str, words: Sequence[str], known: Sequence[str], text: TomlText) -> Iterator[Diagnostic]:
    for word in words:
        if known and word not in known:
            span = text.span_of(word, *TABLE)
            message = f"`{word}` is not one of the words of `{key}`"
            yield diagnose("MCP441", span, message, f"one of {quoted(known)}", did_you_mean(word, known))


def _unmet(plan: ReleasePlan, text: TomlText) -> Iterator[Diagnostic]:
    """Yield products that need another one, or something that is not chosen."""
    for name in plan.files:
        for needed in PRODUCTS[name].needs:
            if needed not in plan.files:
                yield _lacking(name, f"add `{needed}` to `files`", text.span_of(name, *TABLE))
    if "image" in plan.files and not any(target.startswith("linux_") for target in plan.self_contained):
        span = text.span_of("image", *TABLE)
        hint = 'add `self-contained = ["linux_x86_64"]`: the image has that file, so it needs no base'
        yield _lacking("image", hint, span)


def _lacking(name: str, hint: str, span: Span) -> Diagnostic:
    return diagnose("MCP441", span, f"`{name}` needs another file of the release", "", hint)
