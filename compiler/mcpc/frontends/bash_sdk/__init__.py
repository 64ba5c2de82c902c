"""Projects of the MCP Server Bash SDK: a script that reads `mcpserver_core.sh` and calls `run_mcp_server`.

The list of tools and the description of the server are JSON files that the script names; its functions `tool_NAME`
implement the tools.  Nothing of a project is run to read it.  The built server reads the script once, with the
project's own version of the SDK, whose loop over standard input is replaced.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span, diagnose, has_errors
from mcpc.diagnostics.model import did_you_mean, quoted
from mcpc.frontends.bash_sdk import settings
from mcpc.frontends.bash_sdk.scripts import (
    NAME,
    NEWEST,
    answer_style,
    is_core,
    is_shell,
    main_call,
    read_script,
    reading_programs,
    server_scripts,
    validates,
    with_hook,
)
from mcpc.frontends.bash_sdk.settings import described_server
from mcpc.frontends.bash_sdk.tools import CONTRACT, SECONDS, ToolReader
from mcpc.frontends.project import is_concurrent
from mcpc.languages.bash.forkable import names_process, places_of_errexit, shared_temporary_files
from mcpc.languages.bash.library import script_problems
from mcpc.languages.bash.programs import called_programs
from mcpc.model.definitions import Definition
from mcpc.model.ir import Traits
from mcpc.reading import parse_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.frontends.bash_sdk.scripts import ServerScript
    from mcpc.frontends.bash_sdk.settings import NamedFile
    from mcpc.model.definitions import ServerDefinition, ToolDefinition
    from mcpc.options import Options
    from mcpc.reading import Json, Node, Source, SourceTree

__all__ = ["LOOKS_FOR", "owned_files", "parse", "recognises"]

FORMAT = "bash-sdk"
LOOKS_FOR = f"a Bash script, in the project's folder or one below it, that reads `{NAME}` and calls `run_mcp_server`"
JQ = "jq"
MERGED = "merged"
# `shopt -s` with `inherit_errexit`, perhaps among other options, in one command.
INHERITS = re.compile(r"\bshopt\s+-\w*s\w*\s[^\n;]*\binherit_errexit\b")


def recognises(tree: SourceTree) -> bool:
    """Tell whether `tree` has a server script."""
    return bool(server_scripts(tree))


def owned_files(tree: SourceTree) -> frozenset[str]:
    """Return the files that server scripts name: only this format reads them, whatever they are called."""
    paths: set[str] = set()
    for source in server_scripts(tree):
        script = read_script(source, tree)
        named = (settings.find_named(variable, script, tree)[0] for variable in settings.KINDS)
        paths |= {source.path, *(file.source.path for file in named if file is not None)}
    return frozenset(paths)


def parse(tree: SourceTree, options: Options) -> tuple[Definition | None, Diagnostics]:
    """Return the definitions of the server script, and all problems."""
    source, problems = _chosen_script(tree, options)
    if source is None:
        return None, problems
    script = read_script(source, tree)
    serial = not is_concurrent(tree)  # as the SDK's loop, which reads a message when the one before is answered
    reading = _Reading(script, tree, serial=serial)
    server = reading.server()
    tools = reading.tools()
    reading.check_files()
    definition = Definition(
        format=FORMAT,
        server=server,
        tools=tools,
        beside=(*reading_programs(), *(with_hook(file) if is_core(file) else file for file in tree.files.values())),
        sources=reading.sources,
        complete=server is not None and not has_errors(reading.problems),
        runtime_settings=((CONTRACT, {"script": source.path}),),
        traits=Traits(unpacks_as_one_entry=True, serial=serial),
    )
    return definition, tuple(reading.problems)


def _chosen_script(tree: SourceTree, options: Options) -> tuple[Source | None, Diagnostics]:
    """Return the server script: the one that is named, else the only one."""
    scripts = server_scripts(tree)
    paths = [source.path for source in scripts]
    if options.script:
        chosen = tree.get(options.script.removeprefix("./"))
        if chosen is not None and main_call(chosen) is not None:
            return chosen, ()
        message = f"`{options.script}` is not a script that calls `run_mcp_server`"
        hint = did_you_mean(options.script, paths)
        return None, (diagnose("MCP292", None, message, f"one of {quoted(paths)}" if paths else "", hint),)
    if len(scripts) == 1:
        return scripts[0], ()
    if not scripts:
        return None, (diagnose("MCP292", None, "the project has no server script", LOOKS_FOR),)
    span = main_call(scripts[1])
    message = f"the project has {len(scripts)} server scripts: {quoted(paths)}"
    return None, (diagnose("MCP292", span, message, "one", f"choose one: `--script {paths[0]}`"),)


class _Reading:
    """The state of reading a script: `sources` are the files with definitions, `problems` those found so far."""

    def __init__(self, script: ServerScript, tree: SourceTree, *, serial: bool) -> None:
        self._script = script
        self._serial = serial
        self._tree = tree
        self._named: dict[str, Source] = {}
        self.problems: list[Diagnostic] = []

    @property
    def sources(self) -> tuple[Source, ...]:
        """The files that definitions and diagnostics point into."""
        script = self._script
        files = {file.path: file for file in (*self._named.values(), *script.files, *script.cores, *script.others)}
        return tuple(files[path] for path in sorted(files))

    def server(self) -> ServerDefinition | None:
        """Return the description of the server."""
        node = self._read(settings.CONFIG)
        if node is None:
            return None
        server, problems = described_server(node)
        self.problems += problems
        return server

    def tools(self) -> tuple[ToolDefinition, ...]:
        """Return the tools of the script's list."""
        node = self._read(settings.TOOLS)
        # Read in any case: this reports a file of the SDK that is missing or unknown.
        style = self._style
        if node is None:
            return ()
        files = (*self._script.files, *self._script.others)
        isolated = not self._serial and any(names_process(file.text) for file in files)
        reader = ToolReader(self._script, style, self._options(), isolated=isolated)
        tools = reader.read(node)
        self.problems += reader.problems
        if len(server_scripts(self._tree)) == 1:  # servers may share the files with their functions
            self.problems += reader.unused()
        return tools

    def check_files(self) -> None:
        """Report mistakes in the shell files."""
        for source in self._script.files:
            self.problems += script_problems(source)
            self.problems += self._ineffective(source)
        if not self._serial:
            self.problems += shared_temporary_files(self._script.files)

    def _ineffective(self, source: Source) -> Iterator[Diagnostic]:
        """Yield where a file sets errexit although the SDK's call of a function switches it off."""
        when_read, in_functions = places_of_errexit(source)
        is_tested = self._style == MERGED
        inherits = any(INHERITS.search(file.text) for file in self._script.files)
        # Where a call is tested, Bash ignores errexit even if the function sets it; a command substitution only
        # does not inherit it, unless `inherit_errexit` is set.
        for span in (*when_read, *in_functions) if is_tested else () if inherits else when_read:
            message = "errexit does not hold in the functions of tools: the SDK calls them where it is switched off"
            wanted = "`command || return` for each command that may fail" if is_tested else "`set -e` in the function"
            yield diagnose("MCP269", span, message, wanted)

    def _read(self, variable: str) -> Node | None:
        named, problems = self._find(variable)
        self.problems += problems
        if named is None:
            return None
        self._named[variable] = named.source
        node, more = parse_json(named.source)
        self.problems += more
        return node

    def _find(self, variable: str) -> tuple[NamedFile | None, list[Diagnostic]]:
        return settings.find_named(variable, self._script, self._tree)

    @cached_property
    def _style(self) -> str:
        """Return the version of the SDK's file that the script reads."""
        if not self._script.cores:
            message = f"`{self._script.source.path}` reads `{NAME}`, which the project does not have"
            hint = (
                "copy it into the project (a submodule: `git submodule update --init`), or build the folder that has it"
            )
            self.problems.append(diagnose("MCP004", self._script.main_call, message, "", hint))
            return NEWEST
        core = self._script.cores[0]
        style = next(filter(None, map(answer_style, (*self._script.cores, *self._script.files))), "")
        if not style:
            message = f"`{core.path}` is not a known version of the SDK's file"
            hint = "its tools answer as those of version 0.3: a failure is an error result, and outputs are not changed"
            self.problems.append(diagnose("MCP295", Span(core.path), message, "", hint))
        return style or NEWEST

    def _options(self) -> dict[str, Json]:
        """Return the options of every function."""
        options: dict[str, Json] = {"timeout": SECONDS, "environment": "inherit"}
        if not any(map(validates, self._script.cores)):
            options["validate"] = False
        if JQ in called_programs([file for file in self._script.files if is_shell(file)], ()):
            options["requires"] = [JQ]
        return options
