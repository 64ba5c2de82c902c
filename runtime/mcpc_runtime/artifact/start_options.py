"""Options of serving, over any transport: which tools are offered, whose arguments are corrected, how results are cut.

Each has a variable that means the same; an option overrides it.  A server without any of them does not import this
module.
"""

from __future__ import annotations

import marshal
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from mcpc_runtime.log import log_line
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.protocol.jsonrpc import parse
from mcpc_runtime.protocol.operations import operations_of
from mcpc_runtime.protocol.tool_choice import Entry, ToolChoice, matches, tags_of

UNITS = {"": 0, "K": 10, "M": 20, "G": 30}
"""The units of a size, each with the number of bits by which it shifts the size."""
MIN_RESULT = 1024
"""The smallest limit of a result: what says that something was cut has room in it."""


def parse_size(text: str) -> int:
    """Return a size in bytes; raise ValueError."""
    digits, unit = (text[:-1], text[-1:].upper()) if text[-1:].isalpha() else (text, "")
    if unit not in UNITS or not (digits.isascii() and digits.isdigit()) or len(digits) > 15:
        raise ValueError("expected a size such as 64K or 2M")
    return int(digits) << UNITS[unit]


def parse_result_limit(text: str) -> int:
    """Return the limit of a tool's result, 0 for none; raise ValueError."""
    size = parse_size(text)
    if 0 < size < MIN_RESULT:
        raise ValueError("expected a size of at least 1K, or 0 for no limit")
    return size


TOOLS, TOOLSETS, READ_ONLY, TOLERANT = "--tools", "--toolsets", "--read-only", "--tolerant"
MAX_RESULT = "--max-result"
AUTO = "auto"
OPTIONS: dict[str, tuple[str, tuple[str, ...], str]] = {
    TOOLS: (" NAMES", (), "offer only the tools with these names, such as get_issue,list_*"),
    TOOLSETS: (" NAMES", (), "offer only the tools of these toolsets, and those of --tools"),
    READ_ONLY: ("", ("1", "0"), "offer only tools that say that they change nothing (readOnlyHint)"),
    TOLERANT: ("[=auto]", ("1", "0", AUTO), "correct invalid arguments; auto: of clients known to send them"),
    MAX_RESULT: (" SIZE", (), "cut the text of results of tools to SIZE, such as 64K (0: to none)"),
}
"""What follows each option, the values of a flag and of its variable, and its meaning."""
LIST = "tools/list"
MAX_LISTED = 8
# The exit status for wrong options, which argparse has, too.
USAGE = 2
HOW = "options of serving follow the file, which then serves standard input and output, or its command `serve`"


class StartOptionError(Exception):
    """An option or a variable that cannot be used; the message says which, and what is expected."""


class StartOptions:
    """The options of a start: names by `tools` and `toolsets`, each None if it is not limited."""

    __slots__ = ("max_result", "read_only", "tolerant", "tools", "toolsets")

    def __init__(
        self,
        tools: Sequence[str] | None = None,
        toolsets: Sequence[str] | None = None,
        *,
        read_only: bool = False,
        tolerant: str = "",
        max_result: int | None = None,
    ) -> None:
        self.tools = tools
        self.toolsets = toolsets
        self.read_only = read_only
        self.tolerant = tolerant
        self.max_result = max_result

    @property
    def chooses(self) -> bool:
        """Whether not all tools are offered."""
        return self.read_only or self.tools is not None or self.toolsets is not None


def variable_of(option: str) -> str:
    """Return the variable that means the same as an option."""
    return f"MCPC_{option[2:].replace('-', '_').upper()}"


def read_start_options(arguments: Iterable[str], environment: Mapping[str, str]) -> tuple[StartOptions, list[str]]:
    """Return the options among the arguments and variables, and the other arguments; raise StartOptionError."""
    values: dict[str, str] = {}
    others: list[str] = []
    words = iter(arguments)
    for word in words:
        name, equals, value = word.partition("=")
        if name not in OPTIONS:
            others.append(word)
        elif OPTIONS[name][1]:
            values[name] = checked(name, value if equals else "1")
        elif name == MAX_RESULT:
            values[name] = checked(name, value if equals else next(words, ""))
        else:
            # An option that is repeated adds names.
            values[name] = f"{values.get(name, '')},{value if equals else next(words, '')}"
    for name in OPTIONS:
        text = environment.get(variable_of(name), "")
        if text and name not in values:
            values[name] = checked(name, text, variable_of(name))
    names = {name: split_names(name, values[name]) if name in values else None for name in (TOOLS, TOOLSETS)}
    tolerant = values.get(TOLERANT, "0").replace("0", "")
    limit = parse_result_limit(values[MAX_RESULT]) if MAX_RESULT in values else None
    is_read_only = values.get(READ_ONLY) == "1"
    options = StartOptions(names[TOOLS], names[TOOLSETS], read_only=is_read_only, tolerant=tolerant, max_result=limit)
    return options, others


def checked(name: str, value: str, label: str = "") -> str:
    """Return the value of an option, or of its variable (`label`), if it is one of those that it may have."""
    allowed = OPTIONS[name][1]
    if allowed and value not in allowed:
        expected = f"{', '.join(allowed[:-1])} or {allowed[-1]}"
        raise StartOptionError(f"{label or name}: expected {expected}, not {value!r}")
    if name == MAX_RESULT:
        try:
            parse_result_limit(value)
        except ValueError as problem:
            raise StartOptionError(f"{label or name}: {problem}, not {value!r}") from None
    return value


def split_names(name: str, text: str) -> tuple[str, ...]:
    """Return the names of a list that is separated by commas."""
    names = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    if not names:
        raise StartOptionError(f"{name} needs names, separated by commas")
    return names


def help_rows() -> list[tuple[str, str]]:
    """Return the options as they are typed, each with its meaning."""
    return [(f"{name}{follows}", meaning) for name, (follows, _, meaning) in OPTIONS.items()]


def help_lines() -> str:
    """Return the options as lines of the help page of a built file."""
    return "".join(f"  {usage:<20}{meaning}\n" for usage, meaning in help_rows())


def apply_start_options(images: Collection[Image], options: StartOptions) -> None:
    """Let servers offer the chosen tools only, and be tolerant; StartOptionError: no server has a name."""
    for image in images:
        image.tolerant, image.max_result = options.tolerant, options.max_result
    if not options.chooses:
        return
    entries = [[*compiled_tools(image)] for image in images]
    # The names of tools that are made at run time are not known yet.
    if not any("tools" in image.run_time_kinds for image in images):
        check_names(images, [tool["name"] for listed in entries for tool in listed], options)
    for image, listed in zip(images, entries, strict=True):
        image.choice = choice_of(image, options)
        image.choice.names = frozenset(tool["name"] for tool in listed if image.choice.takes(tool))
        if listed and not image.choice.names:
            log_line(f"no tool of {image.server_name} is offered: {reason(options)}")


def choice_of(image: Image, options: StartOptions) -> ToolChoice:
    """Return the choice among the tools of a server; each server declares its toolsets itself."""
    chosen = options.toolsets or ()
    declared = declared_toolsets(image)
    patterns = [*(options.tools or ()), *(pattern for name in chosen for pattern in declared.get(name, ()))]
    return ToolChoice(patterns, chosen, read_only=options.read_only)


def check_names(images: Iterable[Image], names: Sequence[str], options: StartOptions) -> None:
    """Refuse patterns that match no tool, and toolsets that do not exist."""
    for pattern in options.tools or ():
        if not any(matches(pattern, name) for name in names):
            raise StartOptionError(f"{TOOLS}: no tool matches {pattern!r}{suggestion(pattern, names)}")
    toolsets = sorted({name for image in images for name in toolset_names(image)})
    for name in options.toolsets or ():
        if name not in toolsets:
            raise StartOptionError(f"{TOOLSETS}: there is no toolset {name!r}{suggestion(name, toolsets)}")


def toolset_names(image: Image) -> list[str]:
    """Return the toolsets of a server: those that its project declares, and the tags of its tools."""
    return sorted({*declared_toolsets(image), *(tag for tool in compiled_tools(image) for tag in tags_of(tool))})


def suggestion(name: str, known: Sequence[str]) -> str:
    """Return what a name may have been meant to be, or which names there are."""
    near: list[str] = get_close_matches(name, known, 1)
    if near:
        return f"; did you mean {near[0]}?"
    more = f" and {len(known) - MAX_LISTED} more" if len(known) > MAX_LISTED else ""
    return f"; there are {', '.join(known[:MAX_LISTED])}{more}" if known else "; there are none"


def reason(options: StartOptions) -> str:
    """Return why nothing may be left."""
    chosen = "chosen tool" if options.tools or options.toolsets else "tool"
    return f"no {chosen} has the annotation readOnlyHint" if options.read_only else "none of its tools is chosen"


def compiled_tools(image: Image) -> Iterator[Entry]:
    """Yield the entries of the compiled list, in the newest revision, and of each operation what a choice needs."""
    if "operations" in image.index:
        for name, _, _, reads in operations_of(image).by_name.values():
            yield {"name": name, "annotations": {"readOnlyHint": reads}}
    wire, cursor = image.revision(image.stateless_versions[-1]), None
    while LIST in wire.lists:
        page: Any = parse(wire.page(LIST, cursor) or b"{}")
        yield from page.get("tools", ())
        cursor = page.get("nextCursor")
        if cursor is None:
            return


def declared_toolsets(image: Image) -> Mapping[str, tuple[str, ...]]:
    """Return the toolsets that the project declares: their patterns by their names."""
    reference = image.index.get("toolsets")
    toolsets: Mapping[str, tuple[str, ...]] = marshal.loads(image.read(*reference)) if reference else {}
    return toolsets


def use_start_options(image: Image, arguments: Sequence[str], environment: Mapping[bytes, bytes]) -> int:
    """Apply the options of a start over standard input; return 0, or the exit status after an error was printed."""
    names = [*map(variable_of, OPTIONS)]
    variables = {name: environment.get(name.encode(), b"").decode("utf-8", "replace") for name in names}
    try:
        options, others = read_start_options(arguments, variables)
        if others:
            raise StartOptionError(f"unexpected words: {' '.join(others)}; {HOW}")
        apply_start_options((image,), options)
    except StartOptionError as problem:
        sys.stderr.write(f"error: {problem}\n")
        return USAGE
    return 0
