"""Resources and templates: the files below `resources/`, and descriptions with a `uriTemplate`.

    resources/greeting.txt + resources/greeting.meta.json   {"uri": "file://./resources/greeting.txt", …}
    resources/logs.meta.json                                {"uriTemplate": "file:///var/log/{name}", …}

A file that says no uri has one below the project, `file://./resources/…`: where the project lies when it is served is
not known before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from mcpc.definitions import ResourceDefinition, TemplateDefinition
from mcpc.definitions.handling import HANDLER
from mcpc.diagnostics import Span
from mcpc.frontends.mcp_bash.completing import siblings
from mcpc.frontends.mcp_bash.icons import with_icons
from mcpc.frontends.mcp_bash.nodes import given, made, named, text, whole
from mcpc.frontends.mcp_bash.reading import META, Found, base, folder_of, inside, stem
from mcpc.frontends.mcp_bash.scripts import judge_script
from mcpc.frontends.mcp_bash.tools import compact
from mcpc.ir import Foreign

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcpc.frontends.mcp_bash.reading import Fields, Reading
    from mcpc.sources import Json, Node, Source

FOLDER = "resources"
CONTRACT = "mcp_bash_resource"
BELOW = "file://./"
"""How the uri of a file of the project begins."""
SCHEME = "file://"
PROVIDERS = ("echo", "file", "git", "https", "ui")
OWN = "providers"
"""The folder of a project's own providers."""
BY_SCHEME = {"git+https": "git"}
SHOWN = ("uri", "uriTemplate", "name", "title", "description", "mimeType", "annotations", "icons", "_meta")
OURS = ("path", "provider")
KNOWN = (*SHOWN, *OURS, "arguments")
HEADER = ("name", "uri", "title", "description", "icons", "annotations")
PLAIN = "text/plain"
SECONDS = 60


def discovered(reading: Reading) -> list[Found]:
    """Return the resources that lie in the project, in mcp-bash's order: by name, uri and path."""
    sources = list(reading.files(FOLDER))
    helpers = siblings(sources, (path for path in reading.tree.files if path.endswith(META)))
    found = [_found(source, reading) for source in sources if source.path not in helpers]
    resources = [one for one in found if "uriTemplate" not in one.fields]
    return sorted(resources, key=lambda one: (text(one.fields, "name"), text(one.fields, "uri"), one.path))


def discovered_templates(reading: Reading) -> list[Found]:
    """Return the templates that descriptions in the project define, by name."""
    found = []
    for path in reading.tree.files:
        if path.startswith(f"{FOLDER}/") and path.endswith(META) and not base(path).startswith("."):
            node = reading.object(path)
            fields = given(node)
            if node is not None and "uriTemplate" in fields:
                reading.used.add(path)
                reading.strangers(fields, KNOWN)
                found.append(Found(None, fields, node.span, folder_of(path)))
    return sorted(found, key=lambda one: text(one.fields, "name"))


def _found(source: Source, reading: Reading) -> Found:
    fields = reading.written(source, KNOWN)
    span = Span(source.path)
    if "uriTemplate" not in fields and not text(fields, "uri"):
        said = reading.header(source)
        reading.strangers(said, HEADER)
        fields.update(said)
        if not text(fields, "uri"):
            fields["uri"] = named("uri", made(BELOW + quote(source.path), span))
    if not text(fields, "name"):
        fields["name"] = named("name", made(stem(base(source.path)), span))
    return Found(source, fields, span, folder_of(source.path))


def definition(found: Found, reading: Reading) -> ResourceDefinition:
    """Return the resource."""
    fields = {"mimeType": named("mimeType", made(PLAIN, found.span)), **found.fields}
    uri = text(fields, "uri")
    provider = _provider(fields, uri, reading)
    file = _file(fields, uri, reading) if provider == "file" else ""
    own: dict[str, Json] = {"path": found.path.removeprefix(f"{FOLDER}/")} if found.file else {}
    besides = {one.key: one for one in reading.shown_besides({**own, "provider": provider}, OURS, found.span)}
    node = _node({**fields, **besides}, found, reading, (*SHOWN, *besides))
    facts = (provider, uri, text(fields, "mimeType"), text(fields, "name"))
    reading.entries[uri] = _entry(fields, found, provider)
    return ResourceDefinition(node, handler=Foreign(file, found.span, CONTRACT, facts, unpacks=True))


def _entry(fields: Fields, found: Found, provider: str) -> str:
    """Return the entry that mcp-bash's registry would have."""
    if found.entry is not None:
        return compact(found.entry.value)
    path = found.path.removeprefix(f"{FOLDER}/")
    said: dict[str, Json] = {key: text(fields, key) for key in ("name", "description")}
    said.update(path=path, uri=text(fields, "uri"), mimeType=text(fields, "mimeType"), provider=provider)
    return compact({**said, **{key: fields[key].node.value for key in ("icons", "annotations") if key in fields}})


def template(found: Found, reading: Reading) -> TemplateDefinition:
    """Return the template."""
    fields = found.fields
    if "uri" in fields:
        message = "a template has no `uri`, and a resource no `uriTemplate`"
        reading.tell("MCP146", fields["uri"].key_span, message, "one of them")
        fields = {key: member for key, member in fields.items() if key != "uri"}
    provider = _provider(fields, text(fields, "uriTemplate"), reading)
    facts = (provider if text(fields, "provider") else "", "", text(fields, "mimeType"), text(fields, "name"))
    node = _node(fields, found, reading)
    reading.entries[text(fields, "uriTemplate")] = compact({key: member.node.value for key, member in fields.items()})
    return TemplateDefinition(node, handler=Foreign("", found.span, CONTRACT, facts, unpacks=True))


def _node(fields: Fields, found: Found, reading: Reading, shown: Iterable[str] = SHOWN) -> Node:
    fields = dict(fields)
    if "icons" in fields:
        fields["icons"] = with_icons(fields["icons"], found.home, reading)
    meta = [*given(fields["_meta"].node).values()] if "_meta" in fields else []
    handling = named(HANDLER, made({"timeout": SECONDS}, found.span))
    fields["_meta"] = named("_meta", whole([*meta, handling], found.span))
    return whole((fields[key] for key in shown if key in fields), found.span)


def _provider(fields: Fields, uri: str, reading: Reading) -> str:
    """Return who has the content: the provider that is said, else the one of the uri's scheme."""
    said = text(fields, "provider")
    scheme = uri.partition("://")[0] if "://" in uri else ""
    provider = said or BY_SCHEME.get(scheme, scheme) or "file"
    known = dict.fromkeys((*PROVIDERS, *own_providers(reading)))
    if provider not in known and said:
        expected = "one of " + ", ".join(f"`{one}`" for one in known)
        hint = f"a provider of the project is a script `{OWN}/{said}.sh`"
        reading.tell("MCP232", fields["provider"].node.span, f"there is no provider `{said}`", expected, hint)
    elif provider not in known:
        written = fields.get("uri") or fields.get("uriTemplate")
        hint = f"a provider of the project is a script `{OWN}/{provider}.sh`"
        span = None if written is None else written.node.span
        reading.tell("MCP232", span, f"nobody provides what has the scheme `{provider}`", "a `provider`", hint)
    return provider


def own_providers(reading: Reading) -> tuple[str, ...]:
    """Return the names of the project's own providers."""
    paths = (path for path in reading.tree.files if path.startswith(f"{OWN}/") and path.endswith(".sh"))
    return tuple(base(path).removesuffix(".sh") for path in paths if path.count("/") == 1)


def judge_providers(reading: Reading) -> None:
    """Report what is wrong with the project's own providers."""
    for name in own_providers(reading):
        judge_script(reading.tree.files[f"{OWN}/{name}.sh"], reading)


def _file(fields: Fields, uri: str, reading: Reading) -> str:
    """Return the file of the project that a uri names, nothing if it names one of the machine."""
    span = fields["uri"].node.span
    if not uri.startswith(BELOW):
        if uri.startswith(SCHEME):
            hint = "it is read if a folder in `MCP_RESOURCES_ROOTS` has it where the server runs"
            reading.tell("MCP705", span, f"`{uri}` lies outside the project", f"`{BELOW}…` for a file of it", hint)
        return ""
    path = inside("", unquote(uri.removeprefix(BELOW)))
    if path is None:
        reading.tell("MCP703", span, f"`{uri}` leads out of the project", f"`{BELOW}…`, without `..`")
    elif path not in reading.tree.files:
        reading.tell("MCP145", span, f"there is no file `{path}`", "a file of the project")
    elif not path.startswith(f"{FOLDER}/"):
        hint = f"name its folder in `MCP_RESOURCES_ROOTS` where the server runs, or move it into `{FOLDER}/`"
        reading.tell("MCP705", span, f"`{path}` does not lie in `{FOLDER}/`", "", hint)
    return path if path is not None and path in reading.tree.files else ""
