"""Golden files of Python expressions, each followed by its value; `make golden` writes the values.

    >>> display_value([1, None])
    '[1, null]'
    >>> parse(b"[1")
    ! ParseError: an object or an array is malformed, or not closed

A line after `>>> ` is an expression or a statement, continued by `... `.  Other input lines are empty or begin with `#`.
An exception is written after `! `, and a `Display` without quotes.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

INPUT, CONTINUED = ">>> ", "... "


class Display(str):
    __slots__ = ()


def check_expressions(golden: Callable[[Path, str], None], path: Path, *modules: ModuleType, **names: Any) -> None:
    """Compare a file's values with what its expressions are now, evaluated with the public names of modules."""
    known: dict[str, Any] = {}
    for module in modules:
        known.update((name, value) for name, value in vars(module).items() if not name.startswith("_"))
    golden(path, "".join(f"{line}\n" for line in evaluated(path.read_text("utf-8"), {**known, **names})))


def evaluated(text: str, names: dict[str, Any]) -> Iterator[str]:
    """Yield the input lines of a file, each with its value below it."""
    lines = text.split("\n")
    kept = [line for line in lines[:-1] if not line or line.startswith((INPUT, CONTINUED, "#"))]
    source = ""
    for line, following in zip(kept, [*kept[1:], ""], strict=True):
        yield line
        source += line.removeprefix(INPUT).removeprefix(CONTINUED) + "\n"
        if line.startswith((INPUT, CONTINUED)) and not following.startswith(CONTINUED):
            yield from value_lines(source, names)
            source = ""


def value_lines(source: str, names: dict[str, Any]) -> list[str]:
    """Run an expression or a statement; return its value as lines."""
    try:
        code = compile(source.strip(), "<expression>", "eval")
    except SyntaxError:
        exec(source, names)
        return []
    try:
        value = eval(code, names)
    except Exception as problem:  # noqa: BLE001 - any error is a value here
        return [f"! {type(problem).__name__}: {problem}"]
    return str(value).splitlines() if isinstance(value, Display) else [repr(value)]
