"""User interfaces: the pages in `tools/<tool>/ui/` and `ui/<name>/`, shown by hosts that know MCP Apps.

    tools/weather/ui/index.html   ui://<server>/weather   and the tool's `_meta.ui.resourceUri`, unless it has one

A folder without a page has one made of a template.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from mcpc.definitions import ResourceDefinition
from mcpc.definitions.media import APP, APP_SCHEME
from mcpc.diagnostics import Span
from mcpc.frontends.mcp_bash.nodes import given, made, named, text, whole
from mcpc.frontends.mcp_bash.pages import PAGES, page
from mcpc.frontends.mcp_bash.reading import base, folder_of, inside
from mcpc.sources import judge_encoding

if TYPE_CHECKING:
    from mcpc.frontends.mcp_bash.reading import Fields, Reading
    from mcpc.sources import Json, Member, Source

PAGE, SAID = "index.html", "ui.meta.json"
KNOWN = ("name", "title", "description", "template", "config", "entrypoint", "meta")
OF_HOSTS = ("csp", "permissions", "prefersBorder", "domain")
VISIBLE_TO: Json = ["model", "app"]
LEGACY = "ui/resourceUri"


def interface_resources(reading: Reading) -> list[ResourceDefinition]:
    """Return the pages of tools, then those that stand alone; of two with one name the tool's is served."""
    found: dict[str, ResourceDefinition] = {}
    for folder in dict.fromkeys(folder_of(path) for path in reading.tree.files if base(path) in (PAGE, SAID)):
        name = _name(folder)
        made_of_it = _resource(folder, name, reading) if name and name not in found else None
        if made_of_it is not None:
            found[name] = made_of_it
    return list(found.values())


def _name(folder: str) -> str:
    """Return what the interface in a folder is called, nothing if it is none."""
    parts = folder.split("/")
    if parts[0] == "tools" and parts[-1] == "ui" and len(parts) > 2:
        return parts[-2]
    return parts[1] if parts[0] == "ui" and len(parts) == 2 else ""


def shows_interface(folder: str, reading: Reading) -> bool:
    """Tell whether a tool's folder has an interface."""
    return any(f"{folder}/ui/{name}" in reading.tree.files for name in (PAGE, SAID))


def uri_of(name: str, reading: Reading) -> str:
    """Return the uri of an interface."""
    return f"{APP_SCHEME}{quote(reading.server, safe='')}/{quote(name, safe='')}"


def with_interface(meta: Member | None, tool: Source, reading: Reading) -> Member:
    """Return the `_meta` of a tool whose folder has an interface, with the interface's uri unless it has one."""
    said = _modern(given(meta.node) if meta is not None else {})
    told = given(said["ui"].node) if "ui" in said else {}
    span = Span(tool.path) if meta is None else meta.node.span
    usual: dict[str, Json] = {"resourceUri": uri_of(base(folder_of(tool.path)), reading), "visibility": VISIBLE_TO}
    added = [named(key, made(value, span)) for key, value in usual.items() if key not in told]
    said["ui"] = named("ui", whole([*told.values(), *added], span))
    return named("_meta", whole(said.values(), span))


def modern(meta: Member) -> Member:
    """Return a tool's `_meta` in which the uri of its interface stands where hosts look for it."""
    node = meta.node
    return named("_meta", whole(_modern(given(node)).values(), node.span)) if node.kind == "object" else meta


def _modern(said: Fields) -> Fields:
    """Return what `_meta` says with `ui/resourceUri` as `ui.resourceUri`."""
    legacy = said.pop(LEGACY, None)
    if legacy is not None:
        told = given(said["ui"].node) if "ui" in said else {}
        said["ui"] = named("ui", whole([*told.values(), named("resourceUri", legacy.node)], legacy.node.span))
    return said


def _resource(folder: str, name: str, reading: Reading) -> ResourceDefinition | None:
    path = f"{folder}/{SAID}"
    written = reading.object(path) if path in reading.tree.files else None
    fields = given(written)
    reading.strangers(fields, KNOWN)
    span = Span(f"{folder}/{PAGE}") if written is None else written.span
    shown = _shown(folder, fields, span, reading)
    if shown is None:
        return None
    told = given(fields["meta"].node) if "meta" in fields else {}
    reading.strangers(told, OF_HOSTS)
    border = {"prefersBorder": named("prefersBorder", made(True, span)), **told}
    kept = [member for key, member in border.items() if key in OF_HOSTS and member.node.value != {}]
    description = fields.get("description", named("description", made(f"The user interface of {name}.", span)))
    said: dict[str, Json] = {"uri": uri_of(name, reading), "name": name, "mimeType": APP, "text": shown}
    members = [named(key, made(value, span)) for key, value in said.items()]
    meta = named("_meta", whole([named("ui", whole(kept, span))], span))
    titles = [fields["title"]] if "title" in fields else []
    return ResourceDefinition(whole([*members, *titles, description, meta], span))


def _shown(folder: str, fields: Fields, span: Span, reading: Reading) -> str | None:
    """Return the page: the file of the folder that is one, else what its template makes."""
    path = inside(folder, text(fields, "entrypoint") or PAGE)
    if path is None or not path.startswith(f"{folder}/"):
        entry = fields["entrypoint"].node
        reading.tell("MCP703", entry.span, f"`{entry.value}` leads out of `{folder}`", "a page of the folder")
        return None
    source = reading.tree.get(path)
    if source is not None:
        problems, is_text = judge_encoding(source)
        reading.problems += problems
        return source.text.removeprefix("\ufeff") if is_text else None
    template = text(fields, "template")
    known = ", ".join(f"`{one}`" for one in PAGES)
    if template in PAGES:
        config = fields["config"].node.value if "config" in fields else {}
        return page(template, config if isinstance(config, dict) else {})
    if "template" in fields:
        reading.tell("MCP152", fields["template"].node.span, f"there is no template `{template}`", f"one of {known}")
    else:
        reading.tell("MCP152", span, f"`{folder}` has no page", f"`{PAGE}`, or a `template`: one of {known}")
    return None
