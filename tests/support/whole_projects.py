"""Whole parsed projects as text, for golden files: every value of a definition with its place, and every problem.

A file of cases has `##### NAME [OPTION=VALUE …]` before each project, and `===== PATH [| base64 MODE]` before each of its files.
"""

import json
from base64 import b64decode
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from mcpc.diagnostics import Diagnostics, Span, in_order
from mcpc.frontends import parse_project
from mcpc.options import Options
from mcpc.reading import Node, Source, SourceTree

LONGEST = 1500
SWITCHES = {"yes": True, "no": False}


def print_cases(path: Path) -> str:
    return "\n".join(
        f"##### {name}\n{print_parsed(*parse_project(project, options), project)}"
        for name, project, options in read_cases(path)
    )


def read_cases(path: Path) -> Iterator[tuple[str, SourceTree, Options]]:
    for case in path.read_text("utf-8").split("##### ")[1:]:
        head, _, rest = case.partition("\n")
        name, *settings = head.split(" | ")
        written = (setting.split("=") for setting in " ".join(settings).split())
        rows: dict[str, Any] = {key: SWITCHES.get(value, value) for key, value in written}
        files = dict(sorted(map(_file, rest.split("===== ")[1:])))
        yield name, SourceTree(MappingProxyType(files), rows.pop("folder", "")), Options(**rows)


def _file(section: str) -> tuple[str, Source]:
    head, _, text = section.partition("\n")
    path, _, kind_text = head.partition(" | ")
    kinds = kind_text.split()
    data = b64decode(text) if "base64" in kinds else text.encode("utf-8", "surrogateescape")
    return path, Source(path, data, next((int(kind, 8) for kind in kinds if kind.isdecimal()), 0o644))


def print_parsed(definition: object, problems: Diagnostics, project: SourceTree) -> str:
    printer = _Printer(project)
    lines = [*printer.lines("definition", definition, "")] if definition is not None else ["no definition"]
    for problem in in_order(problems):
        lines.append(f"{problem.code} {printer.place(problem.span)}: {problem.message}")
        lines += [f"  {name}: {text}" for name in ("expected", "hint") if (text := getattr(problem, name))]
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace").decode()


class _Printer:
    def __init__(self, project: SourceTree) -> None:
        self.project = project

    def place(self, span: Span | None, path: str = "") -> str:
        """Return a span as `path:line:column-line:column`; the path is left out where it is known."""
        if span is None:
            return "-"
        source = self.project.get(span.path)
        begin = "" if span.path == path else f"{span.path}:"
        if source is None:
            return f"{begin}?{span.start}-{span.end}"
        start, end = source.position(span.start), source.position(span.end)
        last = "" if start == end else f"-{end[1]}" if start[0] == end[0] else f"-{end[0]}:{end[1]}"
        return f"{begin}{start[0]}:{start[1]}{last}"

    def lines(self, label: str, value: Any, indent: str) -> Iterator[str]:
        """Yield the lines of a value; what a dataclass has by default is left out."""
        deeper = indent + "  "
        if isinstance(value, Node):
            yield from self.node_lines(label, value, indent, "")
        elif isinstance(value, Source):
            mode = "" if value.mode == 0o644 else f" {value.mode:o}"
            yield f"{indent}{label}: {value.path}{mode}"
        elif isinstance(value, Span):
            yield f"{indent}{label}: {self.place(value)}"
        elif is_dataclass(value):
            yield f"{indent}{label}: {type(value).__name__}"
            for field in fields(value):
                part = getattr(value, field.name)
                default = field.default_factory() if field.default_factory is not MISSING else field.default
                if field.name not in ("value", "members", "items") and (isinstance(part, Node) or part != default):
                    yield from self.lines(field.name, part, deeper)
        elif isinstance(value, Mapping):
            yield f"{indent}{label}: {len(value)}"
            for key, part in value.items():
                yield from self.lines(str(key), part, deeper)
        elif isinstance(value, tuple) and not is_plain(value):
            for number, part in enumerate(value):
                yield from self.lines(f"{label}[{number}]", part, indent)
        else:
            text = repr(sorted(value) if isinstance(value, frozenset) else value)
            yield f"{indent}{label}: {cut(text)}"

    def node_lines(self, label: str, node: Node, indent: str, path: str) -> Iterator[str]:
        """Yield the lines of a node: one for each of its values, with its place and that of its key."""
        is_whole = node.members or node.items
        text = node.kind if is_whole else cut(json.dumps(node.value, ensure_ascii=False))
        yield f"{indent}{label}: {text} @ {self.place(node.span, path)}"
        for member in node.members:
            key = Span(node.path, member.key_start, member.key_end)
            part = member.node
            source = part.path if self.project.get(part.path) else node.path
            where = self.place(Span(source, member.key_start, member.key_end), node.path) if key != part.span else "="
            yield from self.node_lines(f"{member.key} ({where})", part, f"{indent}  ", node.path)
        for number, item in enumerate(node.items):
            yield from self.node_lines(str(number), item, f"{indent}  ", node.path)
        assert not is_whole or node.value == whole_value(node), label


def is_plain(value: Any) -> bool:
    """Tell whether a tuple has only texts, numbers, and tuples of them."""
    return all(
        is_plain(part) if isinstance(part, tuple) else isinstance(part, str | int | bytes | None) for part in value
    )


def cut(text: str) -> str:
    """Return a text that is not too long to be read: of a longer one its beginning, and its length."""
    return text if len(text) <= LONGEST else f"{text[:80]}… ({len(text)})"


def whole_value(node: Node) -> Any:
    """Return a node's value by its parts: `value` must be the same."""
    if node.items:
        return [item.value for item in node.items]
    return {member.key: member.node.value for member in node.members}
