"""The contract of command lines: a program gets the arguments of a call as words, and prints text, lines, JSON or CSV.

    (file, program on PATH or "", words, what standard input is or (), output)

A word is a text, or a place `(kind, name, flag, is_joined, separator, is_guarded)`. No shell reads the words, and a
value never becomes an option: one that begins with `-` is refused unless it is joined to its flag or stands after `--`.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from io import StringIO

from mcpc_runtime.artifact.extraction import extracted_folder
from mcpc_runtime.handlers.executable.contract import error_text, failure_text, output_text, with_dropped_count
from mcpc_runtime.handlers.invocations import Command, ProcessResult
from mcpc_runtime.handlers.shell_words import DryRun, piped
from mcpc_runtime.protocol.constants import INTERNAL_ERROR
from mcpc_runtime.protocol.effects import ABSENT, Call, Ending, Failure, Outcome, text, text_outcome
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.protocol.jsonrpc import Json, ParseError, encode, parse
from mcpc_runtime.protocol.traces import trace_variables
from mcpc_runtime.transports.platforms import system

Place = tuple[str, str, str, bool, str | None, bool]
MAX_WORD = 120_000
"""Bytes: no word of a command may be longer than 128 KiB on Linux."""
SHORT_FLAG = 2
"""The length of `-x`, to which a value is joined without `=`."""
EXACT = 1 << 53
"""Below it every whole number has a float of its own."""
REFUSED = "Invalid arguments for "


class UnfitValueError(ValueError):
    """A value that cannot be a word of the command; the text is for the model."""


def build_invocation(call: Call, image: Image) -> Command:
    """Return the command with its words and its standard input; it is refused if a value cannot be a word."""
    file, program, words, source, _ = call.definition.handler
    folder = "" if program else extracted_folder(image)
    command = Command([program or f"{folder}/{file}"], call.definition.environment, trace_variables(call))
    command.stdin = b""
    try:
        for word in words:
            command.argv += [word] if type(word) is str else place_words(word, place_value(word, call.arguments))
        if source:
            command.stdin = input_bytes(place_value(source, call.arguments))
    except UnfitValueError as problem:
        command.refusal = f"{REFUSED}{call.name}: 1 problem; fix and call again\n- {problem}"
    return command


def dry_run(call: Call, image: Image, stand_in: Callable[[str], str]) -> DryRun:
    """Return the words of a call, with the file as the project has it; they are refused if a value cannot be one."""
    command = build_invocation(call, image)
    if command.refusal:
        return [], [command.refusal]
    file, program = call.definition.handler[:2]
    words = [program or file, *command.argv[1:]]
    return [piped(command.stdin), words] if command.stdin else [words], []


def place_value(place: tuple[Json, ...], arguments: dict[str, Json]) -> Json:
    """Return the value of the argument or the setting of a place, None without one."""
    kind, name = str(place[0]), str(place[1])
    if kind == "argument":
        return arguments.get(name)
    value = system.environ.get(name.encode())
    if value is None:
        return None
    written = str(value, "utf-8", "surrogateescape")
    return written == "true" if kind == "switch" else written


def place_words(place: Place, value: Json) -> list[str]:
    """Return the words that a value becomes; none without a value, and for false."""
    _, name, flag, is_joined, separator, is_guarded = place
    if value is None or value is False:
        return []
    if value is True:
        return [flag]
    values = [scalar_text(name, item) for item in (value if type(value) is list else [value])]
    if separator is not None and type(value) is list:
        values = [joined_items(name, values, separator)] if values else []
    words = []
    for written in values:
        check_word(name, written)
        if is_joined:
            words.append(joined_word(name, flag, written))
        elif is_guarded and written.startswith("-"):
            raise UnfitValueError(
                f"/{name}: {encode(written).decode()} begins with `-`, and would be taken for an option"
            )
        else:
            words += [flag, written] if flag else [written]
    return words


def scalar_text(name: str, value: Json) -> str:
    """Return a text or a number as a word."""
    if type(value) is str:
        return value
    # Clients may write 5 as 5.0, which few programs take for a whole number.
    if type(value) is float and value.is_integer() and abs(value) < EXACT:
        return str(int(value))
    if type(value) is int or type(value) is float:
        return encode(value).decode()
    raise UnfitValueError(f"/{name}: expected texts or numbers")


def joined_items(name: str, values: list[str], separator: str) -> str:
    """Return the items of an array as one word."""
    for item in values:
        if separator in item:
            raise UnfitValueError(f"/{name}: an item contains `{separator}`, which separates items")
    return separator.join(values)


def joined_word(name: str, flag: str, written: str) -> str:
    """Return a flag with its value: `-n5`, `--count=5`, `-count=5`."""
    if len(flag) > SHORT_FLAG:
        return f"{flag}={written}"
    if not written:  # the flag alone would take the next word for its value
        raise UnfitValueError(f"/{name}: must not be empty")
    return flag + written


def check_word(name: str, written: str) -> None:
    """Raise UnfitValueError for a text that no word of a command can be."""
    try:
        size = len(written.encode())
    except UnicodeEncodeError:
        raise UnfitValueError(f"/{name}: contains half of a surrogate pair") from None
    if "\0" in written:
        raise UnfitValueError(f"/{name}: contains the character NUL")
    if size > MAX_WORD:
        raise UnfitValueError(f"/{name}: {size} bytes are too long for a command; the maximum is {MAX_WORD}")


def input_bytes(value: Json) -> bytes:
    """Return what the program reads: a text as it is, another value as JSON."""
    if value is None:
        return b""
    return value.encode("utf-8", "surrogatepass") if type(value) is str else encode(value)


def parse_result(call: Call, completed: ProcessResult) -> Ending:
    """Return what the program printed; with another status than 0, all of it is the text of an error."""
    if completed.problem.startswith(REFUSED):
        return text_outcome(completed.problem, is_error=True)
    if completed.problem:
        return Failure(INTERNAL_ERROR, f"Internal error: {completed.problem}")
    if completed.status:
        return text_outcome(failure_text(completed), is_error=True)
    kind = call.definition.handler[4]
    printed = output_text(completed.printed)
    cut = with_dropped_count(printed, completed.dropped)
    try:
        # Cut lines, JSON or CSV may be other values than those that were printed.
        if completed.dropped and kind != "text":
            raise UnfitValueError("it is too long")
        outcome = Outcome([text(cut)], READERS[kind](printed) if kind in READERS else ABSENT)
    except (ParseError, ValueError, csv.Error) as problem:
        return text_outcome(f"the output is not what the tool declares ({kind}): {problem}\n\n{cut}", is_error=True)
    outcome.log = error_text(completed)
    return outcome


def read_lines(printed: str) -> Json:
    """Return the lines of an output."""
    return {"lines": [line.removesuffix("\r") for line in printed.split("\n")] if printed else []}


def read_json(printed: str) -> Json:
    """Return the value that was printed."""
    return parse(printed.encode("utf-8", "surrogatepass"))


def read_rows(printed: str) -> Json:
    """Return the rows of CSV as objects; the first line names the columns."""
    header, *rows = [row for row in csv.reader(StringIO(printed, newline=""), strict=True) if row] or [[]]
    if len({*header}) != len(header):
        raise UnfitValueError("two columns have the same name")
    for row in rows:
        if len(row) != len(header):
            raise UnfitValueError(f"a row has {len(row)} cells, and the first line {len(header)}")
    named: list[Json] = [dict(zip(header, row, strict=True)) for row in rows]
    return {"rows": named}


READERS = {"lines": read_lines, "json": read_json, "csv": read_rows}
"""How an output becomes structured content, by its kind."""
