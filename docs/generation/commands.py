"""The commands of mcpc with their options, from the command line itself."""

from __future__ import annotations

import inspect
import re
from functools import cache
from typing import TYPE_CHECKING

import click

from generation.markdown import code, plain, table
from mcpc import cli as command_line
from mcpc.cli.command_options import BUILD_OPTIONS, SharedOption
from mcpc.cli.commands import OTHERS, SECTIONS, SUBCOMMANDS, find_command

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

OWN = "Options"
STATUS = re.compile(r", (?=\d+ |128 )")
BUILD_GROUP = "Options of commands that build"


def all_commands() -> str:
    """Return a section for each command, and one for the options that commands share."""
    context = click.Context(command_line.cli, info_name="mcpc", **command_line.cli.context_settings)
    sections = {**SECTIONS, "More commands": OTHERS}
    text = "".join(one_section(title, names) for title, names in sections.items())
    return text + shared_options(context)


def one_section(title: str, names: Iterable[str]) -> str:
    """Return a section of the help with its commands."""
    paths = [path for name in names for path in [f"{name} {each}" for each in SUBCOMMANDS.get(name, ())] or [name]]
    return f"## {title}\n\n" + "".join(one_command(path) for path in paths)


def one_command(name: str) -> str:
    """Return the usage, the text and the options of one command."""
    command = find_command(name)
    # A command remembers the names of its option for help.
    own = click.Context(command, info_name=f"mcpc {name}", **command_line.cli.context_settings)
    usage = " ".join([own.info_name or "", *command.collect_usage_pieces(own)])
    text = f"### mcpc {name}\n\n```text\n{usage}\n```\n\n{help_text(command)}\n\n"
    return text + option_table(own_records(command, own)) + shared_sentence(command)


def shared_sentence(command: click.Command) -> str:
    """Return a link to the shared options, with those that a command does not have; nothing if it has none of them."""
    here = {parameter.name for parameter in command.params if is_shared(parameter)}
    missing = [code(each.opts[0]) for each in build_parameters() if each.name not in here]
    if not here:
        return ""
    but = f" but {', '.join(missing)}" if missing else ""
    return f"Also: [options of commands that build](#options-of-commands-that-build){but}.\n\n"


def is_shared(parameter: click.Parameter) -> bool:
    """Tell whether a parameter is one of the options that commands share."""
    return isinstance(parameter, SharedOption) and any(parameter.name == each.name for each in build_parameters())


@cache
def build_parameters() -> tuple[click.Parameter, ...]:
    """Return the shared options as parameters of a command."""

    def holder() -> None:
        """Hold the options."""

    for option in reversed(BUILD_OPTIONS):
        option(holder)
    return tuple(reversed(holder.__click_params__))  # type: ignore[attr-defined]


def shared_options(context: click.Context) -> str:
    """Return the options that commands share, by group."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for parameter in build_parameters():
        record = parameter.get_help_record(context)
        if record is not None:
            groups.setdefault(getattr(parameter, "group", OWN), []).append(record)
    text = f"## {BUILD_GROUP}\n\n"
    return text + "".join(f"**{title}**\n\n{option_table(rows)}" for title, rows in groups.items())


def own_records(command: click.Command, context: click.Context) -> Iterator[tuple[str, str]]:
    """Yield the options that only this command has, as usage and text."""
    for parameter in command.params:
        record = parameter.get_help_record(context) if isinstance(parameter, click.Option) else None
        if record is not None and not is_shared(parameter):
            yield record


def option_table(rows: Iterable[tuple[str, str]]) -> str:
    """Return options as a table; nothing if there are none."""
    cells = [(code(usage), plain(text)) for usage, text in rows]
    return f"{table(('option', 'meaning'), cells)}\n" if cells else ""


def help_text(command: click.Command) -> str:
    """Return the text of a command as Markdown."""
    paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
    return "\n\n".join(help_paragraph(paragraph) for paragraph in paragraphs)


def help_paragraph(paragraph: str) -> str:
    """Return one paragraph; one that keeps its lines becomes a block."""
    if paragraph.startswith("\b"):
        return f"```text\n{paragraph.lstrip(chr(8)).strip(chr(10))}\n```"
    return plain(paragraph)


def exit_codes() -> str:
    """Return the exit codes of mcpc and of built files as a table."""
    sentence = re.search(r"^Exit codes: (.*?)\.$", command_line.__doc__ or "", re.MULTILINE | re.DOTALL)
    assert sentence is not None
    parts = [part.split(" ", 1) for part in STATUS.split(" ".join(sentence[1].split()))]
    return table(("status", "meaning"), [(code(number), plain(meaning)) for number, meaning in parts])
