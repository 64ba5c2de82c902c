"""Completions: scripts that a register names, or that are beside the file that they complete.

    prompts/greet.txt + prompts/greet.completion.sh   completes every argument of the prompt in `greet.txt`

mcp-bash calls one script for all arguments of a prompt; so one completion is defined for each, and for each variable of
a resource template.  Other names that a client may request, such as a resource's URI, are stored with their script.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from mcpc.diagnostics import Span
from mcpc.frontends.mcp_bash.reading import META, base_name, without_suffix
from mcpc.frontends.mcp_bash.tools import EXECUTABLE, check_request_script
from mcpc.model.definitions import HANDLER_KEY, CompletionDefinition
from mcpc.model.ir import ExternalHandler
from mcpc.model.ir.uri_templates import TemplateError, parse_template
from mcpc.reading.json_tree import implied_member, object_node, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mcpc.frontends.mcp_bash.reading import ProjectItem, ProjectReader
    from mcpc.model.definitions import PromptDefinition, ResourceDefinition, TemplateDefinition
    from mcpc.reading import Json, Node, Source

    Described = PromptDefinition | ResourceDefinition | TemplateDefinition

CONTRACT = "mcp_bash_completion"
SUFFIXES = (".completion.sh", ".completion")
DEFAULT_SECONDS = 30
"""Default timeout of a script."""
ScriptVariables = tuple[tuple[str, str], ...]


class CompletionTarget(NamedTuple):
    """What a script completes: its name, its `ref`, its arguments or variables, and its definition."""

    name: str
    ref: dict[str, Json]
    parts: tuple[str, ...]
    written: Described

    @property
    def key(self) -> str:
        """The name by which clients request it."""
        return str(self.ref.get("uri") or self.name)


class ScriptOptions(NamedTuple):
    """Options of a script: its span, its timeout, and additional environment variables."""

    span: Span
    seconds: int | None
    variables: ScriptVariables = ()


@dataclass(slots=True)
class CompletionCollector:
    """Collects completions.  `scripts`: by requested name: the script, seconds, its variables, a name."""

    reader: ProjectReader
    definitions: list[CompletionDefinition] = field(default_factory=list)
    scripts: dict[str, tuple[Json | ScriptVariables, ...]] = field(default_factory=dict)

    def add(self, script: Source, owner: CompletionTarget, said: ScriptOptions) -> None:
        """Add the completions of a script, unless another script has them."""
        if owner.key in self.scripts:
            return
        self.scripts[owner.key] = (script.path, said.seconds or DEFAULT_SECONDS, said.variables, owner.name)
        handler_facts = (said.seconds, owner.name, said.variables)
        handler = ExternalHandler(script.path, Span(script.path), CONTRACT, handler_facts, unpacks=True)
        for part in owner.parts:
            self.definitions.append(CompletionDefinition(_node(owner.ref, part, said), handler=handler))

    def add_registered(self, item: ProjectItem, owners: Sequence[CompletionTarget]) -> None:
        """Add an entry of a register."""
        name, span = text_of(item.fields, "name").strip(), item.fields["name"].node.span
        said = ScriptOptions(span, self.reader.whole_seconds(item.fields, "timeoutSecs"))
        if item.file is None:
            return
        check_request_script(item.file, self.reader)
        owned = [owner for owner in owners if name in (owner.name, owner.key)]
        if not any(owner.parts for owner in owned):
            message = f"`{name}` is not the name of a prompt or template"
            hint = "only clients that know this name can request it"
            self.reader.report("MCP151", item.span, message, "a prompt with arguments, or a resource template", hint)
        for owner in owned:
            self.add(item.file, owner, said)
        # A client that knows the name may request it, even if no definition has it.
        self.scripts.setdefault(name, (item.file.path, said.seconds or DEFAULT_SECONDS, (), name))

    def add_beside(self, owner: CompletionTarget) -> None:
        """Add the script beside a definition's file, if there is one."""
        handler, node = owner.written.handler, owner.written.node
        file = handler.file if handler is not None else ""
        # A template has no file; the path of its description stands for one.
        described = node.path.removesuffix(META) if node.path.endswith(META) else ""
        script = self._runnable((file, described))
        if script is None or owner.key in self.scripts:
            return
        check_request_script(script, self.reader)
        if not owner.parts:
            self._report_useless(script, owner)
        self.add(script, owner, ScriptOptions(Span(script.path), None, _script_variables(owner, file, self.reader)))

    def _runnable(self, paths: Iterable[str]) -> Source | None:
        """Return the executable script beside one of the files; report one that is not executable."""
        files = self.reader.tree.files
        names = dict.fromkeys(name for path in paths if path for name in script_paths(path))
        there = [files[name] for name in names if name in files]
        script = next((source for source in there if source.mode & EXECUTABLE), None)
        for source in there if script is None else ():
            hint = f"`chmod +x {source.path}`"
            self.reader.report("MCP151", Span(source.path), f"`{base_name(source.path)}` is not executable", "", hint)
        return script

    def _report_useless(self, script: Source, owner: CompletionTarget) -> None:
        span, is_resource = Span(script.path), owner.ref["type"] == "ref/resource"
        message = f"`{owner.name}` has nothing that `{base_name(script.path)}` could complete"
        hint = "it answers clients that send the resource's URI" if is_resource else ""
        code = "MCP233" if is_resource else "MCP151"
        self.reader.report(code, span, message, "an argument, or a variable of a template", hint)


def script_paths(path: str) -> tuple[str, ...]:
    """Return the possible paths of a script that completes the file at `path`, the first choice first."""
    # Without a suffix of the file, both names are the same.
    return tuple(dict.fromkeys(name + suffix for name in (path, without_suffix(path)) for suffix in SUFFIXES))


def completion_scripts(sources: Iterable[Source], descriptions: Iterable[str] = ()) -> frozenset[str]:
    """Return the executable files that complete others, or complete a definition without a file."""
    known = {source.path: source for source in sources}
    paths = (*known, *(path.removesuffix(META) for path in descriptions))
    return frozenset(
        name for path in paths for name in script_paths(path) if name in known and known[name].mode & EXECUTABLE
    )


def read_completions(
    registered: Sequence[ProjectItem] | None, offered: Iterable[Described], reader: ProjectReader
) -> CompletionCollector:
    """Return the completions of all definitions: registered scripts take precedence over scripts beside files."""
    owners, completions = [_target(item) for item in offered], CompletionCollector(reader)
    for entry in registered or ():
        completions.add_registered(entry, owners)
    for owner in owners:
        completions.add_beside(owner)
    return completions


def _target(written: Described) -> CompletionTarget:
    said = {key: written.node.get(key) for key in ("name", "uri", "uriTemplate", "arguments")}
    words = {key: "" if node is None else str(node.value) for key, node in said.items()}
    name, uri = words["name"], words["uriTemplate"] or words["uri"]
    if uri:
        return CompletionTarget(
            name, {"type": "ref/resource", "uri": uri}, _template_variables(words["uriTemplate"]), written
        )
    items = said["arguments"].items if said["arguments"] is not None else ()
    parts = tuple(str(item.value["name"]) for item in items if isinstance(item.value, dict) and "name" in item.value)
    return CompletionTarget(name, {"type": "ref/prompt", "name": name}, parts, written)


def _template_variables(template: str) -> tuple[str, ...]:
    try:
        return tuple(variable.name for variable in parse_template(template).variables)
    except TemplateError:
        return ()


def _script_variables(owner: CompletionTarget, file: str, reader: ProjectReader) -> ScriptVariables:
    """Return the environment variables of a script beside a definition."""
    uri, path = owner.ref.get("uri"), file.partition("/")[2]
    entry = reader.entries.get(owner.key, "")
    if uri is None:
        return ("MCP_PROMPT_METADATA", entry), ("MCP_PROMPT_REL_PATH", path)
    handler = owner.written.handler
    provider = str(handler.facts[0]) if isinstance(handler, ExternalHandler) else ""
    known = {"METADATA": entry, "PROVIDER": provider, "REL_PATH": path, "URI": str(uri)}
    return tuple((f"MCP_RESOURCE_{name}", value) for name, value in known.items())


def _node(ref: dict[str, Json], part: str, said: ScriptOptions) -> Node:
    handling: Json = {HANDLER_KEY: {"timeout": said.seconds or DEFAULT_SECONDS}}
    written: dict[str, Json] = {"ref": ref, "argument": part, "_meta": handling}
    return object_node([implied_member(key, value, said.span) for key, value in written.items()], said.span)
