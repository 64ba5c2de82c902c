"""What a script takes, as its getopts string or a text of usage says it.

Usage: greet [-v] [-n COUNT] [--style=STYLE] NAME...
-n, --count COUNT   how often
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.reading import Json

# A colon in front only silences the messages of getopts (POSIX).
GETOPTS = re.compile(r"\bgetopts\s+(['\"]?):?(?P<letters>[A-Za-z0-9:]+)\1\s")
FLAG = r"--?[A-Za-z0-9][\w-]*"
# An indent, which may have marks such as those of `echo`; flags; a value, joined by `=` or behind a space; and the
# help, behind two spaces, a tab, a colon or a bracket.
OPTION_LINE = re.compile(
    rf"^[^\w-]{{0,12}}(?P<flags>{FLAG}(?:(?:,\s*|\s*/\s*|\s*\|\s*){FLAG})*)"
    r"(?P<joined>\[?=)?(?:(?P<space> ?)(?P<value><[\w -]+>|\[[\w-]+\]|\{[^}]+\}|[A-Z][A-Z0-9_-]*)\]?)?"
    r"(?P<more>\s?\.\.\.)?(?:\s{2,}|\s*[:)]\s+|\s*\t\s*|$)(?P<help>.*)$"
)
USAGE_LINE = re.compile(r"^\W*usage:\s*(?P<line>.+)$", re.IGNORECASE | re.MULTILINE)
OPERAND = re.compile(r"(?P<open>\[)?<?(?P<name>[A-Z][A-Z0-9_-]*|(?<=<)[\w -]+)>?\]?(?P<more>\s?\.\.\.)?\]?")
NOT_OPERANDS = frozenset({"OPTION", "OPTIONS", "FLAGS", "ARGS", "COMMAND", "SUBCOMMAND"})
USUAL = frozenset({"--help", "-h", "--version", "-V", "-?"})
WHOLE_NUMBERS = frozenset(
    {"n", "num", "number", "count", "int", "integer", "port", "lines", "limit", "max", "min", "size"}
)
MAX_OPTIONS = 40


@dataclass(frozen=True, slots=True)
class Option:
    """One option or operand (without a `flag`) of a script."""

    name: str
    flag: str
    kind: str
    help: str = ""
    required: bool = False
    repeated: bool = False
    joined: bool = False
    choices: tuple[str, ...] = ()

    def schema(self) -> dict[str, Json]:
        """Return the schema of its argument."""
        one: dict[str, Json] = {"type": self.kind}
        if self.choices:
            one["enum"] = [*self.choices]
        schema: dict[str, Json] = {"type": "array", "items": one} if self.repeated else one
        if self.repeated and self.required:
            schema["minItems"] = 1
        return {**schema, "description": self.help[:300]} if self.help else schema

    def command_item(self) -> dict[str, Json]:
        """Return its place in the command."""
        place: dict[str, Json] = {"flag": self.flag} if self.flag else {}
        place["argument"] = self.name
        place |= {"joined": True} if self.joined and self.kind != "boolean" else {}
        return {**place, "repeat": True} if self.repeated else place


@dataclass(frozen=True, slots=True)
class Usage:
    """All that a script takes. `ends_flags`: whether it knows `--` as the end of its flags."""

    options: tuple[Option, ...]
    description: str = ""
    ends_flags: bool = False


def argument_name(text: str) -> str:
    """Return the name of an argument for a flag or a word of a usage text."""
    name = re.sub(r"\W+", "_", text.strip("-<>[]{}. ")).strip("_").lower()
    return name if name[:1].isalpha() else f"arg_{name}"


def distinct(options: list[Option]) -> tuple[Option, ...]:
    """Return the options with the first of each name and each flag."""
    kept: dict[str, Option] = {}
    flags: set[str] = set()
    for option in options[:MAX_OPTIONS]:
        if option.name not in kept and (not option.flag or option.flag not in flags):
            kept[option.name] = option
            flags.add(option.flag)
    return tuple(kept.values())


def read_getopts(text: str) -> Usage | None:
    """Return what the getopts string of a shell script says, with the texts of its usage; None without one."""
    match = GETOPTS.search(text)
    if match is None:
        return None
    described = {flag: option for flags, option in option_lines(text) for flag in flags}
    options = []
    for letter, colon in re.findall(r"([A-Za-z0-9])(:?)", match["letters"]):
        flag = f"-{letter}"
        known = described.get(flag)
        if flag in USUAL and not colon:
            continue
        name = known.name if known is not None and len(known.name) > 1 else letter
        kind = "boolean" if not colon else known.kind if known is not None and known.kind != "boolean" else "string"
        name = name if name[0].isalpha() else f"option_{name}"
        options.append(Option(name, flag, kind, known.help if known is not None else "", joined=bool(colon)))
    operands = [*usage_operands(text)]
    if not operands and re.search(r"\bOPTIND\b", text) and re.search(r"\$(?:[1-9@*]|\{[1-9@*])", text):
        operands = [Option("args", "", "string", "Words after the options.", repeated=True)]
    return Usage(distinct([*options, *operands]), ends_flags=True)


def read_usage(text: str) -> Usage | None:
    """Return what a text of usage says; None if there is nothing in it, or if it is of subcommands."""
    usage = USAGE_LINE.search(text)
    if usage is not None and re.search(r"\{[\w,-]+\}\s*\.\.\.|\b(?:SUB)?COMMAND\b|<(?:sub)?command>", usage["line"]):
        return None
    options = [option for flags, option in option_lines(text) if not USUAL & {*flags}]
    operands = [*usage_operands(text)]
    if not options and usage is None:
        return None
    return Usage(distinct([*options, *operands])) if options or operands else None


def option_lines(text: str) -> Iterator[tuple[list[str], Option]]:
    """Yield the options that lines of a text describe, each with all its flags."""
    for line in text.splitlines():
        match = OPTION_LINE.match(line)
        if match is None:
            continue
        flags = re.findall(FLAG, match["flags"])
        # The first long flag, or the first of all.
        flag = max(flags, key=lambda one: (one.startswith("--"), -flags.index(one)))
        value = match["value"] or ""
        if not value and match["joined"]:
            continue
        choices = tuple(value.strip("{}").split(",")) if value.startswith("{") else ()
        name = argument_name(flag) if flag.startswith("--") or not value or choices else argument_name(value)
        kind = "string" if value else "boolean"
        kind = "integer" if value and not choices and {argument_name(value), name} & WHOLE_NUMBERS else kind
        joined = bool(match["joined"])
        yield flags, Option(name, flag, kind, match["help"].strip("'\" "), False, bool(match["more"]), joined, choices)


def usage_operands(text: str) -> Iterator[Option]:
    """Yield the operands that the line of usage names."""
    usage = USAGE_LINE.search(text)
    if usage is None:
        return
    line = re.sub(rf"\[[^\]]*{FLAG}[^\]]*\]|(?<=\s){FLAG}(?:[= ](?:<[^>]+>|[A-Z][A-Z0-9_-]*))?", " ", usage["line"])
    for match in OPERAND.finditer(line.partition(" ")[2].partition(" #")[0].rstrip("'\"")):
        if match["name"].upper() not in NOT_OPERANDS and match["name"] not in ("0", ""):
            more = bool(match["more"])
            yield Option(argument_name(match["name"]), "", "string", "", not match["open"], more)
