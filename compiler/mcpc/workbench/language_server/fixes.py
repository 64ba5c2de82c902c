"""Corrections of problems whose correction is certain enough to be offered: a row for each code, or for each hint.

Most follow from the hint that every user sees: what it proposes takes the place of what it is about.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.workbench.language_server.completion import definition_key
from mcpc.workbench.language_server.cursors import string_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mcpc.diagnostics import Diagnostic
    from mcpc.workbench.language_server.open_project import OpenProject

MEANT = re.compile(r"did you mean (?:the function )?`([^`]+)`(?: where `([^`]+)` is written)?\?")
ALLOWED = re.compile(r"^`([^`]+)` would be allowed$")
CHOICES = re.compile(r"^one of (`[^`]+`(?:, `[^`]+`)*)$")
ITEM = re.compile(r"`([^`]+)`")
MISSING_MEMBER = re.compile(r" has no `([\w$-]+)`$")
MISSING_FUNCTION = re.compile(r"^no function implements (?:the )?(tool|prompt|resource|resource template) `([^`]+)`")
JSON_NAME = re.compile(r'"(?:name|id|uri|uriTemplate)"\s*:\s*"((?:[^"\\\n]|\\.)*)"')
MISSING_FILE = re.compile(r"^no file implements the (tool|prompt|resource)s$")
NO_ARGUMENTS = '{"type": "object", "additionalProperties": false}'
MEMBERS = {"inputSchema": NO_ARGUMENTS, "serverInfo": '{"name": "", "version": "0.1.0"}', "version": '"0.1.0"'}
"""Values of members that a fix adds; a text that is empty for others."""
MAX_CHOICES = 8


@dataclass(frozen=True, slots=True)
class TextChange:
    """A replacement of a part of a file; `creates`: the file is new."""

    path: str
    start: int
    end: int
    new: str
    creates: bool = False


@dataclass(frozen=True, slots=True)
class Fix:
    """One correction.  `preferred`: the most likely one."""

    title: str
    changes: tuple[TextChange, ...]
    preferred: bool = False


def fixes_of(problem: Diagnostic, project: OpenProject) -> list[Fix]:
    """Return the corrections of a problem, the most likely first; none if nothing mechanical helps."""
    span = problem.span
    text = None if span is None else project.text(span.path)
    if span is None or text is None:
        return []
    fixes = [fix for make in (*MAKERS.get(problem.code, ()), *GENERAL) for fix in make(problem, text, project)]
    # Two makers may offer the same: it is shown once.
    return list({fix.title: fix for fix in fixes}.values())


def _meant(problem: Diagnostic, text: str, project: OpenProject) -> Iterator[Fix]:
    match = MEANT.search(problem.hint) or ALLOWED.match(problem.hint)
    if match is None or problem.span is None:
        return
    new, written = match[1], match[2] if match.re is MEANT else None
    start, end = problem.span.start, problem.span.end
    if written is not None:
        key = re.compile(rf'"{re.escape(written)}"(?=\s*:)').search(text, start, end)
        if key is not None:
            yield _replacement(problem, key.start(), key.end(), new, text)
        return
    if problem.code == "MCP201" and "function" in problem.hint:
        return  # the function would be renamed: `_function_to_rename` offers that
    yield _replacement(problem, start, end, new, text)


def _replacement(problem: Diagnostic, start: int, end: int, new: str, text: str) -> Fix:
    path = problem.span.path if problem.span else ""
    old = text[start:end]
    quoted = json.dumps(new, ensure_ascii=False) if old[:1] == '"' else f"'{new}'" if old[:1] == "'" else new
    shown = string_of(old) if old[:1] == '"' else old
    return Fix(f"Change `{_short(shown)}` to `{new}`", (TextChange(path, start, end, quoted),), preferred=True)


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:39] + "…"


def _chosen(problem: Diagnostic, text: str, project: OpenProject) -> Iterator[Fix]:
    """Offer each of few valid values."""
    match = CHOICES.match(problem.expected)
    if match is None or problem.span is None or problem.code not in ("MCP107", "MCP301"):
        return
    start, end = problem.span.start, problem.span.end
    for value in ITEM.findall(match[1])[:MAX_CHOICES]:
        quoted = json.dumps(value) if text[start : start + 1] == '"' else value
        yield Fix(f"Use `{value}`", (TextChange(problem.span.path, start, end, quoted),))


def _member(problem: Diagnostic, text: str, project: OpenProject) -> Iterator[Fix]:
    """Offer to add a required member to an object."""
    match = MISSING_MEMBER.search(problem.message)
    span = problem.span
    if match is None or span is None or text[span.start : span.start + 1] != "{" or MEANT.search(problem.hint):
        return
    value = MEMBERS.get(match[1], '""')
    body = text[span.start + 1 : span.end - 1]
    # The new member comes first, behind the same white space as the one that it precedes.
    space = re.match(r"\s*", body)
    before = space[0] if space and body.strip() else ""
    new = f'{before}"{match[1]}": {value}' + ("," if body.strip() else "")
    yield Fix(f"Add `{match[1]}`", (TextChange(span.path, span.start + 1, span.start + 1, new),), preferred=True)


def _object_type(problem: Diagnostic, text: str, project: OpenProject) -> Iterator[Fix]:
    span = problem.span
    if span is None:
        return
    if text[span.start : span.start + 1] == "{":
        comma = ", " if text[span.start + 1 : span.end - 1].strip() else ""
        change = TextChange(span.path, span.start + 1, span.start + 1, f'"type": "object"{comma}')
    else:
        change = TextChange(span.path, span.start, span.end, '"object"')
    yield Fix('Write `"type": "object"`', (change,), preferred=True)


def _without_mark(problem: Diagnostic, text: str, project: OpenProject) -> Iterator[Fix]:
    if text.startswith("\ufeff") and problem.span is not None:
        yield Fix("Remove the byte order mark", (TextChange(problem.span.path, 0, 1, ""),), preferred=True)


def _unix_lines(problem: Diagnostic, text: str, project: OpenProject) -> Iterator[Fix]:
    if problem.span is not None and "\r\n" in text:
        changes = tuple(
            TextChange(problem.span.path, line_end.start(), line_end.end(), "\n")
            for line_end in re.finditer("\r\n", text)
        )
        yield Fix("Use Unix line endings", changes, preferred=True)


def _comma(problem: Diagnostic, text: str, project: OpenProject) -> Iterator[Fix]:
    """Offer to remove a comma that is too much, or to add one, or a colon, that is missing."""
    span = problem.span
    if span is None:
        return
    if text[span.start : span.end] == ",":
        yield Fix("Remove the comma", (TextChange(span.path, span.start, span.end, ""),), preferred=True)
        return
    # The place of the problem is the next token, and the mark belongs behind the one before it.
    before = len(text[: span.start].rstrip())
    for name, mark in (("comma", ","), ("colon", ":")):
        if f"{name} is missing" in problem.message:
            yield Fix(f"Add the {name}", (TextChange(span.path, before, before, mark),), preferred=True)
            return


def _stub(problem: Diagnostic, text: str, project: OpenProject) -> Iterator[Fix]:
    """Offer to write the missing function of a definition, in each language that the project has, or in both."""
    kind, name = _without_function(problem, text)
    if not name:
        return
    paths = [f"{kind}s.bash", f"{kind}s.py"]
    for path in [path for path in paths if project.text(path) is not None] or paths:
        before = project.text(path) or ""
        new = STUBS[path.rpartition(".")[2]](kind, name, _argument_names(problem, project))
        # Two empty lines before the function, however the file ends.
        lines = "" if not before else "\n" * (3 - min(len(before) - len(before.rstrip("\n")), 2))
        change = TextChange(path, len(before), len(before), lines + new, creates=project.text(path) is None)
        yield Fix(f"Write a function for `{name}` in `{path}`", (change,))


def _without_function(problem: Diagnostic, text: str) -> tuple[str, str]:
    """Return the kind and the name of the definition that a problem says has no function."""
    match = MISSING_FUNCTION.search(problem.message)
    if match is not None:
        return match[1].partition(" ")[0], match[2]
    match = MISSING_FILE.search(problem.message)
    named = None if match is None or problem.span is None else JSON_NAME.search(text, problem.span.start)
    return ("", "") if match is None or named is None else (match[1], named[1])


def _argument_names(problem: Diagnostic, project: OpenProject) -> list[tuple[str, bool]]:
    """Return the arguments of the definition that a problem is about, and whether each is required."""
    for each in (*project.server.tools,) if project.server else ():
        if problem.span is not None and project.now(each.span) == problem.span:
            properties, required = each.input.node.get("properties"), each.input.node.get("required")
            needed = required.value if required is not None and isinstance(required.value, list) else []
            return [(member.key, member.key in needed) for member in (properties.members if properties else ())]
    return []


def _bash_stub(kind: str, name: str, arguments: list[tuple[str, bool]]) -> str:
    uses = "".join(f"  # {each}: $mcpc_arg_{re.sub('[-.]', '_', each)}\n" for each, _ in arguments)
    return f'{kind}_{definition_key(name)}() {{\n{uses}  echo "not written yet" >&2\n  return 1\n}}\n'


def _python_stub(kind: str, name: str, arguments: list[tuple[str, bool]]) -> str:
    # Python has parameters without a default first.
    ordered = sorted((each for each in arguments if each[0].isidentifier()), key=lambda each: not each[1])
    given = ", ".join(each if needed else f"{each}=None" for each, needed in ordered)
    return f'def {definition_key(name)}({given}):\n    raise NotImplementedError("{definition_key(name)}")\n'


STUBS: dict[str, Callable[[str, str, list[tuple[str, bool]]], str]] = {"bash": _bash_stub, "py": _python_stub}
MAKERS: dict[str, tuple[Callable[[Diagnostic, str, OpenProject], Iterator[Fix]], ...]] = {
    "MCP002": (_comma,),
    "MCP004": (_stub,),
    "MCP010": (_without_mark,),
    "MCP102": (_member,),
    "MCP115": (_object_type,),
    "MCP116": (_object_type,),
    "MCP201": (_stub,),
    "MCP501": (_unix_lines,),
}
"""Corrections by code; what a hint proposes, and one of few values, are offered for any code."""
GENERAL: tuple[Callable[[Diagnostic, str, OpenProject], Iterator[Fix]], ...] = (_meant, _chosen)
