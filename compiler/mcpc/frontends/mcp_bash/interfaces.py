"""User interfaces: the pages in `tools/<tool>/ui/` and `ui/<name>/`, for hosts that support MCP Apps.

What a project configures is data in the page, never markup and never code: the page's script writes it as text.

    tools/weather/ui/index.html   ui://<server>/weather   and the tool's `_meta.ui.resourceUri`, unless it has one

A folder without a page gets one from a template.
"""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from mcpc.diagnostics import Span
from mcpc.diagnostics.model import quoted
from mcpc.frontends.mcp_bash.reading import base_name, folder_of, path_inside
from mcpc.model.definitions import APP, APP_SCHEME, ResourceDefinition
from mcpc.reading.json_tree import fields_of, implied_member, member_at_value, object_node, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpc.frontends.mcp_bash.reading import Fields, ProjectReader
    from mcpc.reading import Json, Member, Source


PAGE, DESCRIPTION = "index.html", "ui.meta.json"
KNOWN_FIELDS = ("name", "title", "description", "template", "config", "entrypoint", "meta")
HOST_FIELDS = ("csp", "permissions", "prefersBorder", "domain")
DEFAULT_VISIBILITY: Json = ["model", "app"]
LEGACY_KEY = "ui/resourceUri"


def interface_resources(reader: ProjectReader) -> list[ResourceDefinition]:
    """Return the pages of tools, then other pages; a tool's page takes precedence over one with its name."""
    pages: dict[str, ResourceDefinition] = {}
    # Paths are sorted, so that `tools/` comes before `ui/`.
    for folder in dict.fromkeys(
        folder_of(path) for path in reader.tree.files if base_name(path) in (PAGE, DESCRIPTION)
    ):
        name = _interface_name(folder)
        made_of_it = _resource(folder, name, reader) if name and name not in pages else None
        if made_of_it is not None:
            pages[name] = made_of_it
    return list(pages.values())


def _interface_name(folder: str) -> str:
    """Return the name of the interface in a folder; an empty string if the folder is not one of an interface."""
    parts = folder.split("/")
    if parts[0] == "tools" and parts[-1] == "ui" and len(parts) > 2:
        return parts[-2]
    return parts[1] if parts[0] == "ui" and len(parts) == 2 else ""


def has_interface(folder: str, reader: ProjectReader) -> bool:
    """Tell whether a tool's folder has an interface."""
    return any(f"{folder}/ui/{name}" in reader.tree.files for name in (PAGE, DESCRIPTION))


def interface_uri(name: str, reader: ProjectReader) -> str:
    return f"{APP_SCHEME}{quote(reader.server, safe='')}/{quote(name, safe='')}"


def with_interface(meta: Member | None, tool: Source, reader: ProjectReader) -> Member:
    """Return the `_meta` of a tool whose folder has an interface, with its URI unless another one is set."""
    said = _modern_fields(fields_of(meta.node) if meta is not None else {})
    told = fields_of(said["ui"].node) if "ui" in said else {}
    span = Span(tool.path) if meta is None else meta.node.span
    usual: dict[str, Json] = {
        "resourceUri": interface_uri(base_name(folder_of(tool.path)), reader),
        "visibility": DEFAULT_VISIBILITY,
    }
    added = [implied_member(key, value, span) for key, value in usual.items() if key not in told]
    said["ui"] = member_at_value("ui", object_node([*told.values(), *added], span))
    return member_at_value("_meta", object_node(said.values(), span))


def with_modern_key(meta: Member) -> Member:
    """Return a tool's `_meta` with the URI of its interface where hosts look for it."""
    node = meta.node
    if node.kind != "object":
        return meta
    return member_at_value("_meta", object_node(_modern_fields(fields_of(node)).values(), node.span))


def _modern_fields(said: Fields) -> Fields:
    """Return the members of `_meta` with `ui/resourceUri` as `ui.resourceUri`."""
    legacy = said.pop(LEGACY_KEY, None)
    if legacy is not None:
        told = fields_of(said["ui"].node) if "ui" in said else {}
        said["ui"] = member_at_value(
            "ui", object_node([*told.values(), member_at_value("resourceUri", legacy.node)], legacy.node.span)
        )
    return said


def _resource(folder: str, name: str, reader: ProjectReader) -> ResourceDefinition | None:
    path = f"{folder}/{DESCRIPTION}"
    written = reader.read_object(path) if path in reader.tree.files else None
    fields = fields_of(written)
    reader.report_unknown_fields(fields, KNOWN_FIELDS)
    span = Span(f"{folder}/{PAGE}") if written is None else written.span
    shown = _page(folder, fields, span, reader)
    if shown is None:
        return None
    told = fields_of(fields["meta"].node) if "meta" in fields else {}
    reader.report_unknown_fields(told, HOST_FIELDS)
    # With a border, unless the author says otherwise.
    border = {"prefersBorder": implied_member("prefersBorder", True, span), **told}
    kept = [member for key, member in border.items() if key in HOST_FIELDS and member.node.value != {}]
    description = fields.get("description", implied_member("description", f"The user interface of {name}.", span))
    said: dict[str, Json] = {"uri": interface_uri(name, reader), "name": name, "mimeType": APP, "text": shown}
    members = [implied_member(key, value, span) for key, value in said.items()]
    meta = member_at_value("_meta", object_node([member_at_value("ui", object_node(kept, span))], span))
    titles = [fields["title"]] if "title" in fields else []
    return ResourceDefinition(object_node([*members, *titles, description, meta], span))


def _page(folder: str, fields: Fields, span: Span, reader: ProjectReader) -> str | None:
    """Return the page: the file of the folder, else the output of its template."""
    path = path_inside(folder, text_of(fields, "entrypoint") or PAGE)
    if path is None or not path.startswith(f"{folder}/"):
        entry = fields["entrypoint"].node
        reader.report("MCP703", entry.span, f"`{entry.value}` leads out of `{folder}`", "a page of the folder")
        return None
    source = reader.tree.get(path)
    if source is not None:
        return reader.read_text(source)
    template = text_of(fields, "template")
    known = quoted(PAGES)
    if template in PAGES:
        config = fields["config"].node.value if "config" in fields else {}
        return page(template, config if isinstance(config, dict) else {})
    if "template" in fields:
        reader.report("MCP152", fields["template"].node.span, f"unknown template `{template}`", f"one of {known}")
    else:
        reader.report("MCP152", span, f"`{folder}` has no page", f"`{PAGE}`, or a `template`: one of {known}")
    return None


PAGES = {
    "form": "Form",
    "data-table": "Data",
    "progress": "Progress",
    "diff-viewer": "Differences",
    "tree-view": "Tree",
    "kanban": "Board",
}
"""The templates, each with the title of a page that says none."""
HERE = Path(__file__).parent / "pages"


def page(template: str, config: Mapping[str, Json]) -> str:
    """Return the page of a template."""
    title = config.get("title")
    shown = title if isinstance(title, str) and title else PAGES[template]
    # The data is in a `script` element, which a `</script>` in a text would end.
    data = json.dumps({**config, "title": shown}, ensure_ascii=True).replace("<", "\\u003c")
    parts = {
        "title": escape(shown),
        "style": _file("page.css"),
        "config": data,
        "script": _file("bridge.js") + _file(f"{template}.js"),
    }
    # Every other piece is the name of a part. Joined in one go, a part may contain `@@` without being filled in again.
    pieces = _file("page.html").split("@@")
    return "".join(parts[piece] if number % 2 else piece for number, piece in enumerate(pieces))


def _file(name: str) -> str:
    return (HERE / name).read_text("utf-8")
