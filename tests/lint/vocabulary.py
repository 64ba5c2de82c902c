"""Find names and texts that `replaced_words.md` refuses, and public class names that a source root has twice.

Names are refused as a whole, and phrases in text.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

REPLACED_WORDS = "tests/lint/replaced_words.md"
TERM = re.compile(r"`([^`]+)`")
SOURCES = ("compiler/mcpc", "runtime/mcpc_runtime")
PAGES = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/*.md", "compiler/mcpc/diagnostics/pages/*.md")
COMMANDS = "compiler/mcpc/cli/"
OTHERS_NAMES = "runtime/mcpc_runtime/systems/fastmcp/"
"""The folder of stand-ins for other frameworks, whose classes have the names that projects import."""
OTHER_ADAPTERS = (
    "runtime/mcpc_runtime/transports/platforms/windows/",
    "compiler/mcpc/sandbox/platforms/windows",
    "compiler/mcpc/sandbox/confinement/windows/",
)
"""The beginnings of the paths of adapters beside the one for POSIX, whose classes have the names that the ports publish."""
CODES = "compiler/mcpc/diagnostics/codes.py"
CODE = re.compile(r"^```.*?^```$|^(?: {4}|\t).*$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
Defined = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Rules:
    """Names that are refused as a whole, and an expression that finds refused phrases in text."""

    names: frozenset[str]
    phrases: re.Pattern[str]
    excepted: re.Pattern[str]

    def refused_phrases(self, text: str) -> list[str]:
        rest = self.excepted.sub(" ", " ".join(text.split()))
        return [" ".join(found[0].lower().split()) for found in self.phrases.finditer(rest)]


def read_rules(text: str) -> Rules:
    """Parse the table of replaced words; raise ValueError if a row has another shape."""
    names: set[str] = set()
    phrases: set[str] = set()
    excepted: set[str] = set()
    for row in table(text):
        refused = TERM.findall(row["not"])
        if row["in"] not in ("names", "text") or not refused or not row["but"]:
            raise ValueError(f"{REPLACED_WORDS}: unreadable row: {row}")
        (names if row["in"] == "names" else phrases).update(refused)
        excepted.update(TERM.findall(row["except"]))
    return Rules(frozenset(names), expression(phrases), expression(excepted))


def table(text: str) -> list[dict[str, str]]:
    """Return the rows of the table, by the titles of the columns."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    titles, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [dict(zip(titles, row, strict=True)) for row in rows if set("".join(row)) - set("-")]


def expression(phrases: set[str]) -> re.Pattern[str]:
    """Return what finds any of these phrases as whole words; `X` is any word."""
    longest_first = sorted(phrases, key=lambda phrase: (-len(phrase), phrase))
    written = (re.escape(phrase).replace("X", r"[\w`]+") for phrase in longest_first)
    return re.compile(rf"(?<![\w-])(?:{'|'.join(written) or '(?!)'})(?![\w-])", re.IGNORECASE)


def check(root: Path) -> list[str]:
    """Return every offence below a folder, sorted."""
    rules = read_rules((root / REPLACED_WORDS).read_text(encoding="utf-8"))
    found = set(pages_offences(root, rules))
    for folder in SOURCES:
        classes: dict[str, list[str]] = defaultdict(list)
        for file in sorted((root / folder).rglob("*.py")):
            path = file.relative_to(root).as_posix()
            tree = ast.parse(file.read_bytes())
            found.update(f"{path}: {offence}" for offence in module_offences(path, tree, rules))
            for name in public_classes(tree) if not path.startswith((OTHERS_NAMES, *OTHER_ADAPTERS)) else ():
                classes[name].append(path)
        found.update(
            f"{folder}: class {name} is defined {len(paths)} times" for name, paths in classes.items() if paths[1:]
        )
    return sorted(found)


def pages_offences(root: Path, rules: Rules) -> Iterator[str]:
    """Yield the refused phrases of the documentation; code in it is not text."""
    for pattern in PAGES:
        for file in sorted(root.glob(pattern)):
            text = CODE.sub("`", file.read_text(encoding="utf-8"))
            yield from (f"{file.relative_to(root).as_posix()}: {phrase!r}" for phrase in rules.refused_phrases(text))


def module_offences(path: str, tree: ast.Module, rules: Rules) -> Iterator[str]:
    """Yield the refused names and phrases of one module."""
    stem = path.rpartition("/")[2].removesuffix(".py")
    if stem in rules.names:
        yield f"module {stem}"
    yield from docstring_offences("module", tree, rules)
    for node in definitions(tree):
        kind = "class" if isinstance(node, ast.ClassDef) else "function"
        if not node.name.startswith("_") and snake(node.name) in rules.names:
            yield f"{kind} {node.name}"
        yield from docstring_offences(f"{kind} {node.name}", node, rules)
    if path.startswith(COMMANDS) or path == CODES:
        yield from message_offences(tree, rules)


def docstring_offences(owner: str, node: ast.Module | Defined, rules: Rules) -> Iterator[str]:
    """Yield the refused phrases of a docstring's first paragraph."""
    text = CODE.sub("`", (ast.get_docstring(node) or "").partition("\n\n")[0])
    yield from (f"docstring of {owner}: {phrase!r}" for phrase in rules.refused_phrases(text))


def message_offences(tree: ast.Module, rules: Rules) -> Iterator[str]:
    """Yield the refused phrases of the strings of a module; of docstrings only those that are the help of a command."""
    skipped = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    skipped -= {
        id(node.body[0].value)
        for node in definitions(tree)
        if node.name == "command" and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and " " in node.value
            and id(node) not in skipped
        ):
            yield from (f"text: {phrase!r}" for phrase in rules.refused_phrases(CODE.sub("`", node.value)))


def definitions(tree: ast.Module) -> Iterator[Defined]:
    for node in tree.body:
        if isinstance(node, Defined):
            yield node
        if isinstance(node, ast.ClassDef):
            yield from (inner for inner in node.body if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef))


def public_classes(tree: ast.Module) -> Iterator[str]:
    yield from (node.name for node in tree.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_"))


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
