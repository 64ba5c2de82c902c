"""Small changes of the product, each judged by the test files nearest to it: how many do they find?

    .venv/bin/python bench/mutations.py --seed 1 --count 100 [--only compiler/mcpc/release/trust] \
      [--skip mcpc/release/scan,schema/ecma]
    .venv/bin/python bench/mutations.py --only compiler/mcpc/release/trust/contents.py --every

A seed draws the same changes of the same tree: a module by its lines, then one of its changes.  Each module's nearest
tests run once, to learn which lines each reaches; then each change is made in a fork of that process and in the file,
and the tests that reach it run first.  The file is restored, but run it in a checkout of its own all the same.
Verdicts: caught, survived, unreached (no test runs the line in its process), time (not decided), none (no test).
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
OPPOSITES: dict[type[ast.cmpop], str] = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}
OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "+",
    ast.FloorDiv: "*",
    ast.BitAnd: "|",
    ast.BitOr: "&",
}
FIRST_SECONDS = 900
"""How long the tests of a module may take as they are."""
MOST_FILES = 5
"""How many test files judge a module."""


@dataclass(frozen=True, slots=True)
class Change:
    """One change of a module: the text between two offsets is replaced."""

    line: int
    start: int
    end: int
    new: str
    kind: str


class Places:
    """The offsets of a tree's nodes in its text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = [line.encode() for line in text.splitlines(keepends=True)]
        self.starts = [0]
        for line in text.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    def _offset(self, line: int, column: int) -> int:
        return self.starts[line - 1] + len(self.lines[line - 1][:column].decode())

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Return where a node begins and ends."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._offset(node.lineno, node.col_offset), self._offset(node.end_lineno, node.end_col_offset)

    def between(self, left: ast.expr, right: ast.expr) -> tuple[int, int]:
        """Return the span of what stands between two nodes."""
        return self.span(left)[1], self.span(right)[0]


def changes(text: str) -> list[Change]:
    """Return every change of a module's text that still is Python, in the order of the tree."""
    places, tree = Places(text), ast.parse(text)
    ignored = {id(part) for part in unread(tree)}
    rows = []
    for node in ast.walk(tree):
        if id(node) not in ignored and isinstance(node, (ast.expr, ast.stmt)):
            change = change_of(node, places)
            if (
                change
                and text[change.start : change.end].strip() != change.new.strip()
                and parses(applied(text, change))
            ):
                rows.append(change)
    return rows


def unread(tree: ast.AST) -> list[ast.AST]:
    """Return the parts of a module that nothing runs: annotations, and what only a type checker sees."""
    parts: list[ast.AST] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            parts += [node, *ast.walk(node.test), *(part for statement in node.body for part in ast.walk(statement))]
        annotations = [getattr(node, name, None) for name in ("annotation", "returns")]
        parts += [part for annotation in annotations if annotation is not None for part in ast.walk(annotation)]
    return parts


def change_of(node: ast.expr | ast.stmt, places: Places) -> Change | None:  # noqa: C901 - a table
    """Return the change of a node, if it has one."""

    def change(span: tuple[int, int], new: str, kind: str) -> Change:
        return Change(node.lineno, *span, new, kind)

    match node:
        case ast.Compare(ops=[op]) if type(op) in OPPOSITES:
            return change(places.between(node.left, node.comparators[0]), f" {OPPOSITES[type(op)]} ", "comparison")
        case ast.BoolOp():
            span = places.between(node.values[0], node.values[1])
            if re.fullmatch(r"\s*(and|or)\s*", places.text[slice(*span)]):
                return change(span, " or " if isinstance(node.op, ast.And) else " and ", "and/or")
        case ast.If() | ast.IfExp() | ast.While():
            span = places.span(node.test)
            return change(span, f"not ({places.text[slice(*span)]})", "negation")
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            return change(places.span(node), str(value + 1), "number")
        case ast.BinOp(op=op) if type(op) in OPERATORS:
            span = places.between(node.left, node.right)
            if re.fullmatch(r"\s*[-+*/&|]+\s*", places.text[slice(*span)]):
                return change(span, f" {OPERATORS[type(op)]} ", "arithmetic")
        case ast.Expr(value=ast.Call() | ast.Await()):
            return change(places.span(node), "pass", "call left out")
        case ast.Return(value=ast.expr() as value) if not (isinstance(value, ast.Constant) and value.value is None):
            return change(places.span(value), "None", "return emptied")
        case ast.Continue():
            return change(places.span(node), "break", "loop")
        case ast.Break():
            return change(places.span(node), "continue", "loop")
    return None


def applied(text: str, change: Change) -> str:
    """Return a module's text with a change made."""
    return text[: change.start] + change.new + text[change.end :]


def parses(text: str) -> bool:
    """Tell whether a text is Python."""
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def nearest_tests(module: Path, imports: dict[Path, set[str]]) -> list[str]:
    """Return the test files for a module: those that import it, or in its part of the tree are named after it."""
    root, *parts = module.relative_to(ROOT).with_suffix("").parts
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    package, _, stem = name.rpartition(".")
    folder = package.rpartition(".")[2]
    points: dict[Path, int] = {}
    for test, names in imports.items():
        siblings = any(each.startswith(f"{package}.") for each in names)
        nearer = any(each.startswith(f"{name}.") or each == package for each in names)
        named = 6 * (stem.removeprefix("_") in test.stem) + 3 * (folder in str(test.relative_to(ROOT)))
        mirrored = 5 * (named > 0 and root in test.relative_to(ROOT).parts)
        points[test] = 8 * (name in names) + 3 * nearer + 2 * siblings + named + mirrored
    best = sorted((test for test in points if points[test]), key=lambda test: (-points[test], str(test)))
    return [str(test.relative_to(ROOT)) for test in best[:MOST_FILES]]


def imported_names(test: Path) -> set[str]:
    """Return the modules and names that a test file imports, dotted."""
    names = set()
    for node in ast.walk(ast.parse(test.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.update((node.module, *(f"{node.module}.{alias.name}" for alias in node.names)))
    return names


def drawn(modules: list[Path], seed: int, count: int) -> dict[Path, list[Change]]:
    """Return that many changes, drawn by the lines of modules."""
    choice = random.Random(seed)
    weights = [path.read_text("utf-8").count("\n") for path in modules]
    rows: dict[Path, list[Change]] = {}
    while sum(map(len, rows.values())) < count:
        (path,) = choice.choices(modules, weights)
        possible = changes(path.read_text("utf-8"))
        if possible:
            rows.setdefault(path, []).append(choice.choice(possible))
    return rows


def judged(module: Path, rows: list[Change], tests: list[str], limits: dict[str, float]) -> list[str]:
    """Return the verdict of each change of a module."""
    if not tests:
        return ["none"] * len(rows)
    with tempfile.TemporaryDirectory(prefix="mutations-") as folder:
        plan, verdicts = Path(folder) / "plan.json", Path(folder) / "verdicts"
        work = {"module": str(module), "changes": [asdict(row) for row in rows], **limits}
        plan.write_text(json.dumps(work | {"verdicts": str(verdicts)}))
        path = [ROOT / "bench", ROOT / "compiler", ROOT / "runtime", ROOT / "tests"]
        environment = {**os.environ, "MUTATIONS": str(plan), "PYTHONPATH": os.pathsep.join(map(str, path))}
        options = ["-q", "-p", "no:cacheprovider", "-p", "mutated_runs", "-m", "not slow", f"--basetemp={folder}/tests"]
        text = module.read_text("utf-8")
        argv = [sys.executable, "-m", "pytest", *options, *tests]
        most = FIRST_SECONDS + 2 * limits["seconds"] * len(rows)
        try:
            with suppress(subprocess.TimeoutExpired):
                subprocess.run(argv, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, check=False, timeout=most)
        finally:
            module.write_text(text, "utf-8")
        known = verdicts.read_text().splitlines() if verdicts.exists() else []
        return [*known, *["none"] * (len(rows) - len(known))]


def main() -> None:
    """Draw or list the changes, judge them module by module, and count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--every", action="store_true", help="every change of the modules, not --count of them")
    parser.add_argument("--only", default="", help="beginning of the paths that are changed")
    parser.add_argument("--skip", default="", help="parts of paths that are not changed, separated by commas")
    parser.add_argument("--seconds", type=float, default=60, help="what the tests of one change may take")
    parser.add_argument("--least", type=float, default=0, help="fail if fewer percent of the decided are caught")
    parser.add_argument("--quick", action="store_true", help="run only tests that reach a change in their process")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a changed module is restored
    left_out = [part for part in given.skip.split(",") if part]
    modules = [
        path
        for root in ("compiler", "runtime")
        for path in sorted((ROOT / root).rglob("*.py"))
        for name in [str(path.relative_to(ROOT))]
        if name.startswith(given.only) and not any(part in name for part in left_out)
    ]
    imports = {test: imported_names(test) for test in sorted((ROOT / "tests").rglob("test_*.py"))}
    if given.every:
        work = {path: changes(path.read_text("utf-8")) for path in modules}
    else:
        work = drawn(modules, given.seed, given.count)
    counted: Counter[str] = Counter()
    limits = {"seconds": given.seconds, "quick": given.quick}
    for module, rows in work.items():
        text, name = module.read_text("utf-8"), module.relative_to(ROOT)
        for row, verdict in zip(rows, judged(module, rows, nearest_tests(module, imports), limits), strict=True):
            counted[verdict] += 1
            if verdict != "caught":
                old = " ".join(text[row.start : row.end].split())
                print(f"{verdict:9} {name}:{row.line}  {row.kind}: {old[:50]!r} -> {row.new[:50]!r}", flush=True)
    decided = counted.total() - counted["time"]
    print(
        f"{dict(counted)}; caught {counted['caught']} of {decided} decided = {counted['caught'] / max(decided, 1):.0%}"
    )
    sys.exit(100 * counted["caught"] < given.least * decided)


if __name__ == "__main__":
    main()
