"""Projects of the golden files, and values of the compiler as text that shows all of them."""

import dataclasses
import json
import marshal
from collections.abc import Iterable, Iterator, Mapping

from mcpc.diagnostics import Diagnostic, Span, in_order
from mcpc.reading import Node, Source
from support.needs import ROOT
from support.projects import Files

PROJECTS = ROOT / "tests/golden/projects"


def files_of(name: str) -> Files:
    folder = PROJECTS / name
    found = {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*"))
             if path.is_file()}  # fmt: skip
    return {**found}


def shown(value: object, indent: str = "") -> Iterator[str]:
    """Yield the lines of a value: dataclasses by field, without those that are empty, and collections by item."""
    inner = indent + "  "
    if isinstance(value, Node | Source | Span):
        yield f"{indent}{shown_place(value)}\n"
    elif dataclasses.is_dataclass(value):
        yield f"{indent}{type(value).__name__}\n"
        for field in dataclasses.fields(value):
            found = getattr(value, field.name)
            if found != "" and found is not None and (found != () or field.name == "actions"):
                yield from headed(field.name, found, inner)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from headed(repr(key), item, indent)
    elif isinstance(value, frozenset):
        yield f"{indent}{sorted(value)!r}\n"
    elif isinstance(value, list | tuple) and not is_short(value):
        for item in value:
            yield from shown(item, indent)
    else:
        yield f"{indent}{value!r}\n"


def headed(name: str, value: object, indent: str) -> Iterator[str]:
    """Yield the lines of a value under its name, or behind it if there is one only."""
    lines = list(shown(value, indent + "  "))
    if len(lines) == 1:
        yield f"{indent}{name}: {lines[0].strip()}\n"
    else:
        yield from (f"{indent}{name}:\n", *lines)


def is_short(value: list[object] | tuple[object, ...]) -> bool:
    """Tell whether a collection has no dataclasses, and its text is on one line."""
    text = repr(value)
    return len(text) < 200 and not any(f"{name}(" in text for name in ("Node", "Span", "Source", "name"))


def shown_place(value: Node | Source | Span) -> str:
    """Return where a value is written; of a node also how it begins."""
    if isinstance(value, Source):
        return f"Source {value.path}"
    if isinstance(value, Span):
        return f"Span {value.path} {value.start}-{value.end}"
    return f"Node {value.span.path} {value.span.start}-{value.span.end} {json.dumps(value.value)[:60]}"


def reported(problems: Iterable[Diagnostic], files: Files) -> Iterator[str]:
    """Yield all that is said of problems, in the order of a report, each with the text it is said of."""
    for problem in in_order(problems):
        span, where = problem.span, "no place"
        if span is not None:
            data = files.get(span.path, b"")
            text = Source(span.path, data if isinstance(data, bytes) else data.encode()).text
            line = text.count("\n", 0, span.start) + 1
            where = f"{span.path}:{line} {text[span.start : span.end].partition(chr(10))[0][:60]}"
        yield f"{problem.code} {problem.severity} {where}\n"
        yield from (f"    {line}\n" for line in (problem.message, problem.expected, problem.hint) if line)


def decoded(piece: bytes) -> Iterator[str]:
    """Yield a piece of a blob: its text, its data or its bytes."""
    text = piece.decode("utf-8", "backslashreplace")
    if "\0" not in text:
        yield f"{text}\n"
        return
    try:
        yield from shown(marshal.loads(piece))
    except (ValueError, EOFError, TypeError):
        yield f"{piece!r}\n"
