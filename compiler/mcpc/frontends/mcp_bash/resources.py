"""Resources and templates: the files below `resources/`, and descriptions with a `uriTemplate`.

    resources/greeting.txt + resources/greeting.meta.json   {"uri": "file://./resources/greeting.txt", …}
    resources/logs.meta.json                                {"uriTemplate": "file:///var/log/{name}", …}

The default URI of a file is relative to the project, `file://./resources/…`: the absolute path is not known before the
server runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from mcpc.diagnostics import Span
from mcpc.diagnostics.model import quoted
from mcpc.frontends.mcp_bash.completions import completion_scripts
from mcpc.frontends.mcp_bash.reading import (
    META,
    ProjectItem,
    base_name,
    folder_of,
    name_of_file,
    path_inside,
    with_icons,
)
from mcpc.frontends.mcp_bash.tools import check_server_script, compact_json
from mcpc.model.definitions import HANDLER_KEY, ResourceDefinition, TemplateDefinition
from mcpc.model.ir import ExternalHandler
from mcpc.reading.json_tree import fields_of, implied_member, member_at_value, object_node, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcpc.frontends.mcp_bash.reading import Fields, ProjectReader
    from mcpc.reading import Json, Node, Source

FOLDER = "resources"
CONTRACT = "mcp_bash_resource"
PROJECT_URI = "file://./"
"""Beginning of the URI of a project file."""
SCHEME = "file://"
PROVIDERS = ("echo", "file", "git", "https", "ui")
PROVIDERS_FOLDER = "providers"
"""Folder of the project's providers."""
BY_SCHEME = {"git+https": "git"}
LISTED_FIELDS = ("uri", "uriTemplate", "name", "title", "description", "mimeType", "annotations", "icons", "_meta")
MCP_BASH_FIELDS = ("path", "provider")
KNOWN_FIELDS = (*LISTED_FIELDS, *MCP_BASH_FIELDS, "arguments")
HEADER_FIELDS = ("name", "uri", "title", "description", "icons", "annotations")
DEFAULT_MEDIA_TYPE = "text/plain"
DEFAULT_SECONDS = 60


def discover_resources(reader: ProjectReader) -> list[ProjectItem]:
    """Return the resources in the project's files, in mcp-bash's order: by name, URI and path."""
    sources = list(reader.item_files(FOLDER))
    # A template has no file, so that its completion script is found by its description.
    helpers = completion_scripts(sources, (path for path in reader.tree.files if path.endswith(META)))
    items = [_found(source, reader) for source in sources if source.path not in helpers]
    resources = [item for item in items if "uriTemplate" not in item.fields]
    return sorted(resources, key=lambda item: (text_of(item.fields, "name"), text_of(item.fields, "uri"), item.path))


def discover_templates(reader: ProjectReader) -> list[ProjectItem]:
    """Return the templates that the project's descriptions define, by name."""
    templates = []
    for path in reader.tree.files:
        if path.startswith(f"{FOLDER}/") and path.endswith(META) and not base_name(path).startswith("."):
            node = reader.read_object(path)
            fields = fields_of(node)
            if node is not None and "uriTemplate" in fields:
                reader.used.add(path)
                reader.report_unknown_fields(fields, KNOWN_FIELDS)
                templates.append(ProjectItem(None, fields, node.span, folder_of(path)))
    return sorted(templates, key=lambda item: text_of(item.fields, "name"))


def _found(source: Source, reader: ProjectReader) -> ProjectItem:
    fields = reader.described_fields(source, KNOWN_FIELDS)
    span = Span(source.path)
    # A header counts only where the description beside the file says no URI.
    if "uriTemplate" not in fields and not text_of(fields, "uri"):
        fields.update(reader.header_fields(source, HEADER_FIELDS))
        if not text_of(fields, "uri"):
            fields["uri"] = implied_member("uri", PROJECT_URI + quote(source.path), span)
    if not text_of(fields, "name"):
        fields["name"] = name_of_file(source)
    return ProjectItem(source, fields, span, folder_of(source.path))


def resource_definition(item: ProjectItem, reader: ProjectReader) -> ResourceDefinition:
    """Return the resource of an item."""
    fields = {"mimeType": implied_member("mimeType", DEFAULT_MEDIA_TYPE, item.span), **item.fields}
    uri = text_of(fields, "uri")
    provider = _provider(fields, uri, reader)
    file = _file(fields, uri, reader) if provider == "file" else ""
    own: dict[str, Json] = {"path": item.path.removeprefix(f"{FOLDER}/")} if item.file else {}
    besides = {
        member.key: member
        for member in reader.dialect_members({**own, "provider": provider}, MCP_BASH_FIELDS, item.span)
    }
    node = _node({**fields, **besides}, item, reader, (*LISTED_FIELDS, *besides))
    facts = (provider, uri, text_of(fields, "mimeType"), text_of(fields, "name"))
    reader.entries[uri] = _registry_entry(fields, item, provider)
    return ResourceDefinition(node, handler=ExternalHandler(file, item.span, CONTRACT, facts, unpacks=True))


def _registry_entry(fields: Fields, item: ProjectItem, provider: str) -> str:
    """Return its entry in mcp-bash's registry."""
    if item.entry is not None:
        return compact_json(item.entry.value)
    path = item.path.removeprefix(f"{FOLDER}/")
    said: dict[str, Json] = {key: text_of(fields, key) for key in ("name", "description")}
    said.update(path=path, uri=text_of(fields, "uri"), mimeType=text_of(fields, "mimeType"), provider=provider)
    return compact_json({**said, **{key: fields[key].node.value for key in ("icons", "annotations") if key in fields}})


def template_definition(item: ProjectItem, reader: ProjectReader) -> TemplateDefinition:
    """Return the resource template of an item."""
    fields = item.fields
    if "uri" in fields:
        message = "a template cannot have `uri`, and a resource cannot have `uriTemplate`"
        reader.report("MCP146", fields["uri"].key_span, message, "one of them")
        fields = {key: member for key, member in fields.items() if key != "uri"}
    provider = _provider(fields, text_of(fields, "uriTemplate"), reader)
    facts = (provider if text_of(fields, "provider") else "", "", text_of(fields, "mimeType"), text_of(fields, "name"))
    node = _node(fields, item, reader)
    reader.entries[text_of(fields, "uriTemplate")] = compact_json(
        {key: member.node.value for key, member in fields.items()}
    )
    return TemplateDefinition(node, handler=ExternalHandler("", item.span, CONTRACT, facts, unpacks=True))


def _node(fields: Fields, item: ProjectItem, reader: ProjectReader, shown: Iterable[str] = LISTED_FIELDS) -> Node:
    fields = dict(fields)
    if "icons" in fields:
        fields["icons"] = with_icons(fields["icons"], item.home, reader)
    meta = [*fields_of(fields["_meta"].node).values()] if "_meta" in fields else []
    handling = implied_member(HANDLER_KEY, {"timeout": DEFAULT_SECONDS}, item.span)
    fields["_meta"] = member_at_value("_meta", object_node([*meta, handling], item.span))
    return object_node((fields[key] for key in shown if key in fields), item.span)


def _provider(fields: Fields, uri: str, reader: ProjectReader) -> str:
    """Return the provider of the content: the configured one, else the one of the URI's scheme."""
    said = text_of(fields, "provider")
    scheme = uri.partition("://")[0] if "://" in uri else ""
    provider = said or BY_SCHEME.get(scheme, scheme) or "file"
    known = dict.fromkeys((*PROVIDERS, *project_providers(reader)))
    if provider not in known and said:
        expected = "one of " + quoted(known)
        hint = f"a provider of the project is a script `{PROVIDERS_FOLDER}/{said}.sh`"
        reader.report("MCP232", fields["provider"].node.span, f"unknown provider `{said}`", expected, hint)
    elif provider not in known:
        written = fields.get("uri") or fields.get("uriTemplate")
        hint = f"a provider of the project is a script `{PROVIDERS_FOLDER}/{provider}.sh`"
        span = None if written is None else written.node.span
        reader.report("MCP232", span, f"missing provider for the scheme `{provider}`", "a `provider`", hint)
    return provider


def project_providers(reader: ProjectReader) -> tuple[str, ...]:
    """Return the names of the project's providers."""
    paths = (path for path in reader.tree.files if path.startswith(f"{PROVIDERS_FOLDER}/") and path.endswith(".sh"))
    return tuple(base_name(path).removesuffix(".sh") for path in paths if path.count("/") == 1)


def check_providers(reader: ProjectReader) -> None:
    """Report problems of the project's providers."""
    for name in project_providers(reader):
        check_server_script(reader.tree.files[f"{PROVIDERS_FOLDER}/{name}.sh"], reader)


def _file(fields: Fields, uri: str, reader: ProjectReader) -> str:
    """Return the project file that a URI names; an empty string for a file of the machine."""
    span = fields["uri"].node.span
    if not uri.startswith(PROJECT_URI):
        if uri.startswith(SCHEME):
            hint = "it can be read only if a folder in `MCP_RESOURCES_ROOTS` of the server contains it"
            reader.report("MCP705", span, f"`{uri}` is outside the project", f"`{PROJECT_URI}…` for a file of it", hint)
        return ""
    path = path_inside("", unquote(uri.removeprefix(PROJECT_URI)))
    if path is None:
        reader.report("MCP703", span, f"`{uri}` leads out of the project", f"`{PROJECT_URI}…`, without `..`")
    elif path not in reader.tree.files:
        reader.report("MCP145", span, f"file `{path}` does not exist", "a file of the project")
    elif not path.startswith(f"{FOLDER}/"):
        hint = f"name its folder in `MCP_RESOURCES_ROOTS` where the server runs, or move it into `{FOLDER}/`"
        reader.report("MCP705", span, f"`{path}` is not in `{FOLDER}/`", "", hint)
    return path if path is not None and path in reader.tree.files else ""
