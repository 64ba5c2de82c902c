"""Completions: scripts that a register names, or that lie beside what they complete.

    prompts/greet.txt + prompts/greet.completion.sh   completes every argument of the prompt in `greet.txt`

mcp-bash asks one script about all arguments of a prompt; so one completion is made for each, and for each variable of
a resource template.  What else a client may ask for, by a name that nobody describes or a resource's uri, is kept by
that: the script is asked all the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from mcpc.definitions import CompletionDefinition
from mcpc.definitions.handling import HANDLER
from mcpc.diagnostics import Span
from mcpc.frontends.mcp_bash.nodes import made, named, text, whole
from mcpc.frontends.mcp_bash.reading import META, base, stem
from mcpc.frontends.mcp_bash.scripts import EXECUTABLE, judge_called
from mcpc.ir import Foreign
from mcpc.ir.uri_templates import TemplateError, parse_template

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mcpc.definitions import PromptDefinition, ResourceDefinition, TemplateDefinition
    from mcpc.frontends.mcp_bash.reading import Found, Reading
    from mcpc.sources import Json, Node, Source

    Described = PromptDefinition | ResourceDefinition | TemplateDefinition

CONTRACT = "mcp_bash_completion"
SUFFIXES = (".completion.sh", ".completion")
SECONDS = 30
"""How long a script may take that says nothing of it."""
Told = tuple[tuple[str, str], ...]


class Owner(NamedTuple):
    """What is completed: its name, the `ref` that clients say, what of it may be completed, and how it was written."""

    name: str
    ref: dict[str, Json]
    parts: tuple[str, ...]
    written: Described

    @property
    def key(self) -> str:
        """What a client names it by."""
        return str(self.ref.get("uri") or self.name)


class Said(NamedTuple):
    """What is said of a script: where, how long it may take, and variables it is told beside the usual ones."""

    span: Span
    seconds: int | None
    told: Told = ()


@dataclass(slots=True)
class Completing:
    """The completions found so far.  `scripts`: by what a client names: the script, seconds, its variables, a name."""

    reading: Reading
    definitions: list[CompletionDefinition] = field(default_factory=list)
    scripts: dict[str, tuple[Json | Told, ...]] = field(default_factory=dict)

    def add(self, script: Source, owner: Owner, said: Said) -> None:
        """Add what a script completes, unless another one does so already."""
        if owner.key in self.scripts:
            return
        self.scripts[owner.key] = (script.path, said.seconds or SECONDS, said.told, owner.name)
        facts = (said.seconds, owner.name, said.told)
        handler = Foreign(script.path, Span(script.path), CONTRACT, facts, unpacks=True)
        for part in owner.parts:
            self.definitions.append(CompletionDefinition(_node(owner.ref, part, said), handler=handler))

    def take(self, found: Found, owners: Sequence[Owner]) -> None:
        """Take an entry of a register."""
        name, span = text(found.fields, "name").strip(), found.fields["name"].node.span
        said = Said(span, self.reading.whole_seconds(found.fields, "timeoutSecs"))
        if found.file is None:
            return
        judge_called(found.file, self.reading)
        owned = [owner for owner in owners if name in (owner.name, owner.key)]
        if not any(owner.parts for owner in owned):
            message = f"nothing that could be completed is called `{name}`"
            hint = "only clients that know this name will ask for it"
            self.reading.tell("MCP151", found.span, message, "a prompt with arguments, or a resource template", hint)
        for owner in owned:
            self.add(found.file, owner, said)
        self.scripts.setdefault(name, (found.file.path, said.seconds or SECONDS, (), name))

    def look_beside(self, owner: Owner) -> None:
        """Take the script beside what is completed, if there is one."""
        handler, node = owner.written.handler, owner.written.node
        file = handler.file if handler is not None else ""
        described = node.path.removesuffix(META) if node.path.endswith(META) else ""
        script = self._runnable((file, described))
        if script is None or owner.key in self.scripts:
            return
        judge_called(script, self.reading)
        if not owner.parts:
            self._of_nothing(script, owner)
        self.add(script, owner, Said(Span(script.path), None, _told(owner, file, self.reading)))

    def _runnable(self, paths: Iterable[str]) -> Source | None:
        """Return the script that lies beside one of the files and may be executed; report one that may not."""
        files = self.reading.tree.files
        names = dict.fromkeys(name for path in paths if path for name in candidates(path))
        there = [files[name] for name in names if name in files]
        script = next((source for source in there if source.mode & EXECUTABLE), None)
        for source in there if script is None else ():
            hint = f"`chmod +x {source.path}`"
            self.reading.tell("MCP151", Span(source.path), f"`{base(source.path)}` may not be executed", "", hint)
        return script

    def _of_nothing(self, script: Source, owner: Owner) -> None:
        span, is_resource = Span(script.path), owner.ref["type"] == "ref/resource"
        message = f"nothing of `{owner.name}` can be completed by `{base(script.path)}`"
        hint = "it answers clients that ask for the resource's uri" if is_resource else ""
        code = "MCP233" if is_resource else "MCP151"
        self.reading.tell(code, span, message, "an argument, or a variable of a template", hint)


def candidates(path: str) -> tuple[str, ...]:
    """Return where a script may lie that completes what is in the file at `path`, the first place first."""
    return tuple(dict.fromkeys(name + suffix for name in (path, stem(path)) for suffix in SUFFIXES))


def siblings(sources: Iterable[Source], descriptions: Iterable[str] = ()) -> frozenset[str]:
    """Return the files that complete others, or what is only described: they lie beside them, and may be executed."""
    known = {source.path: source for source in sources}
    paths = (*known, *(path.removesuffix(META) for path in descriptions))
    return frozenset(
        name for path in paths for name in candidates(path) if name in known and known[name].mode & EXECUTABLE
    )


def completions(registered: Sequence[Found] | None, offered: Iterable[Described], reading: Reading) -> Completing:
    """Return the completions of what is offered: what a register names goes before what lies beside a file."""
    owners, found = [_owner(one) for one in offered], Completing(reading)
    for entry in registered or ():
        found.take(entry, owners)
    for owner in owners:
        found.look_beside(owner)
    return found


def _owner(written: Described) -> Owner:
    said = {key: written.node.get(key) for key in ("name", "uri", "uriTemplate", "arguments")}
    words = {key: "" if node is None else str(node.value) for key, node in said.items()}
    name, uri = words["name"], words["uriTemplate"] or words["uri"]
    if uri:
        return Owner(name, {"type": "ref/resource", "uri": uri}, _variables(words["uriTemplate"]), written)
    items = said["arguments"].items if said["arguments"] is not None else ()
    parts = tuple(str(item.value["name"]) for item in items if isinstance(item.value, dict) and "name" in item.value)
    return Owner(name, {"type": "ref/prompt", "name": name}, parts, written)


def _variables(template: str) -> tuple[str, ...]:
    try:
        return tuple(variable.name for variable in parse_template(template).variables)
    except TemplateError:
        return ()


def _told(owner: Owner, file: str, reading: Reading) -> Told:
    """Return the variables by which a script beside something is told of it."""
    uri, path = owner.ref.get("uri"), file.partition("/")[2]
    entry = reading.entries.get(owner.key, "")
    if uri is None:
        return ("MCP_PROMPT_METADATA", entry), ("MCP_PROMPT_REL_PATH", path)
    handler = owner.written.handler
    provider = str(handler.facts[0]) if isinstance(handler, Foreign) else ""
    known = {"METADATA": entry, "PROVIDER": provider, "REL_PATH": path, "URI": str(uri)}
    return tuple((f"MCP_RESOURCE_{name}", value) for name, value in known.items())


def _node(ref: dict[str, Json], part: str, said: Said) -> Node:
    handling: Json = {HANDLER: {"timeout": said.seconds or SECONDS}}
    written: dict[str, Json] = {"ref": ref, "argument": part, "_meta": handling}
    return whole([named(key, made(value, said.span)) for key, value in written.items()], said.span)
