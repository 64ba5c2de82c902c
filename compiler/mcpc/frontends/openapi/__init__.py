"""API documents: each operation of OpenAPI 3.0, 3.1, 3.2 and Swagger 2.0 becomes a tool that sends one request.

    openapi.yaml            alone is a project; also .yml and .json, and swagger.yaml
    apis/NAME.toml          a chosen part of a document, with words of one's own (`selection.py`)

    documents, overlays ─▶ operations ─▶ arguments, schemas, servers ─▶ tools ─▶ exposure

What cannot be had costs its operation, never the document, and is reported with its place.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mcpc.diagnostics import Span, diagnose
from mcpc.diagnostics.model import counted
from mcpc.frontends.openapi import exposure
from mcpc.frontends.openapi.documents import ENDINGS, DocumentFiles, DocumentValue
from mcpc.frontends.openapi.names import variable_words
from mcpc.frontends.openapi.operations import Operation, Reader, operations_of
from mcpc.frontends.openapi.overlays import with_overlays
from mcpc.frontends.openapi.problems import Problems, UnusableError
from mcpc.frontends.openapi.schemas import WRITE_ONLY, Schemas
from mcpc.frontends.openapi.selection import DEPRECATED, DOCUMENTS, Api, api_files, matches, read_apis, top_document
from mcpc.frontends.openapi.servers import ApiSettings, Security, Servers
from mcpc.frontends.openapi.texts import clean_text, one_line
from mcpc.frontends.openapi.tools import Tools
from mcpc.frontends.project import project_info
from mcpc.model.definitions import Definition, ServerDefinition, ToolDefinition
from mcpc.model.ir.project import Setting
from mcpc.reading.json_tree import implied_node

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.options import Options
    from mcpc.reading import SourceTree

LOOKS_FOR = "`openapi.yaml`, `openapi.json`, `swagger.yaml` or `swagger.json`, or `apis/*.toml`"
FORMAT = "openapi"
UNUSABLE, UNMATCHED = "MCP170", "MCP174"
# 3.0 to 3.2, perhaps with a third number, and with a suffix such as `-rc1`.
VERSION = re.compile(r"3\.[0-2](?:\.\d+)?(?:-\w+)?")
# What says nothing in a title: `Pet Store API v1.2` is `Pet Store`.
NOT_OF_NAMES = re.compile(
    r"\b(?:open)?api\b|\brest\b|\bswagger\b|\bspec(?:ification)?\b|\bv?\d+(?:\.\d+)*\b|'s\b", re.IGNORECASE
)
MAX_WORDS, LONGEST_PREFIX = 3, 32


def recognises(tree: SourceTree) -> bool:
    """Tell whether a project has an API document at its top, or files in `apis/`."""
    return bool(api_files(tree) or top_document(tree))


def parse(tree: SourceTree, _: Options) -> tuple[Definition | None, Diagnostics]:
    """Read each API and make its tools."""
    apis, problems = read_apis(tree)
    files = DocumentFiles(tree)
    parts = [part for api in apis if (part := read_api(api, files, tree, problems)) is not None]
    named = [[*_prefixed(part, parts)] for part in parts]
    names = [[*map(_name, tools)] for tools in named]
    settings = {name: row for part in parts for name, row in part.settings.items()}
    read = {source.path for source in files.sources} | {api.source.path for api in apis if api.source is not None}
    read |= {path for api in apis for path in api.overlays}
    problems += files.problems
    server = _server(parts, tree)
    definition = Definition(
        format=FORMAT,
        server=server,
        tools=(*exposure.finder_tools(parts), *(tool for tools in named for tool in tools)),
        toolsets=tuple(exposure.toolsets(parts, names, server.node.span)),
        virtual_servers=exposure.toolset_servers(parts, names),
        beside=tuple(source for path, source in tree.files.items() if path not in read),
        sources=tuple(source for path, source in tree.files.items() if path in read),
        complete=not problems,
        settings_read=tuple(_setting(row, server.node.span) for _, row in sorted(settings.items())),
    )
    return definition, tuple(problems)


@dataclass(frozen=True, slots=True)
class ApiTools:
    """What one API adds to the server; `tags`: of each tool."""

    api: Api
    root: DocumentValue
    tools: list[ToolDefinition]
    tags: list[list[str]]
    settings: dict[str, dict[str, Any]]

    @property
    def names(self) -> list[str]:
        """The name of each tool."""
        return [*map(_name, self.tools)]

    @property
    def reads(self) -> set[bool]:
        """Whether there are tools that only read, and others."""
        fields: list[Any] = [tool.node.value for tool in self.tools]
        return {tool["annotations"].get("readOnlyHint") is True for tool in fields}


def _name(tool: ToolDefinition) -> str:
    fields: Any = tool.node.value
    return str(fields["name"])


def read_api(api: Api, files: DocumentFiles, tree: SourceTree, diagnostics: list[Diagnostic]) -> ApiTools | None:
    """Return the tools and settings of an API; problems are added to `diagnostics`."""
    document = files.read(api.document)
    if document is None:
        return None
    wrong = unusable_document(DocumentValue(document, (), document.value))
    if wrong is not None:
        diagnostics.append(wrong)
        return None
    document = with_overlays(document, api, files, diagnostics)
    root = DocumentValue(document, (), document.value)
    problems = Problems()
    reader = Reader(root, files)
    # As a text: `openapi: 3.0` without quotes is a number in YAML.
    is_old = reader.is_swagger or str(root.value.get("openapi")).startswith("3.0")
    # Repairs of schemas of answers go into a list that is not reported.
    schemas, answers = Schemas(files, problems, is_old), Schemas(files, Problems(), is_old, WRITE_ONLY)
    settings = ApiSettings(variable_words(api.name) or title_words(root, tree))
    operations = selected(api, root, files, problems, diagnostics)
    servers = Servers(root, settings, problems, api.base_url)
    security = Security(reader, settings, problems)
    tools = Tools(api, reader, schemas, answers, problems, servers, security, tree.options.assert_formats)
    definitions = list(tools.of(operations))
    _declare_own(api, settings)
    diagnostics += problems.all()
    diagnostics += _unsent(root)
    return ApiTools(api, root, definitions, [tools.tags[_name(tool)] for tool in definitions], settings.declared)


def unusable_document(root: DocumentValue) -> Diagnostic | None:
    """Return why a file is not an API document of a supported version."""
    value = root.value
    if not isinstance(value, dict) or not {"openapi", "swagger"} & value.keys():
        return diagnose(UNUSABLE, root.span, "this is no API document", "an object with `openapi` or `swagger`")
    version = value.get("openapi", value.get("swagger"))
    if not (VERSION.fullmatch(str(version)) if "openapi" in value else str(version) in ("2", "2.0")):
        place = root.at("openapi" if "openapi" in value else "swagger")
        return diagnose(
            UNUSABLE,
            place.span,
            f"the version is `{clean_text(str(version), 40)}`",
            "OpenAPI 3.0 to 3.2, or Swagger 2.0",
        )
    if not isinstance(value.get("paths", {}), dict):
        return diagnose(UNUSABLE, root.at("paths").span, "`paths` is no object", "an object of paths")
    return None


def title_words(root: DocumentValue, tree: SourceTree) -> str:
    """Return how the settings of an API begin: up to three words of its title, or the name of the folder."""
    title = root.at("info", "title").value
    plain = re.sub(r"[^A-Z0-9]+", "_", NOT_OF_NAMES.sub(" ", title).upper()) if isinstance(title, str) else ""
    # A variable's name cannot begin with a digit.
    words = "_".join(plain.strip("_").split("_")[:MAX_WORDS]).lstrip("0123456789_")[:LONGEST_PREFIX].rstrip("_")
    return words or variable_words(tree.name).lstrip("0123456789_") or "API"


def selected(
    api: Api, root: DocumentValue, files: DocumentFiles, problems: Problems, diagnostics: list[Diagnostic]
) -> list[Operation]:
    """Return the operations that are tools; report paths that cannot be had, and patterns that mean nothing."""
    known: list[Operation] = []
    for each in operations_of(root, files):
        if isinstance(each, UnusableError):
            problems.leave_out(str(each.place.path[-1]), each)
        else:
            known.append(each)
    diagnostics += _unmet(api, known)
    return [each for each in known if api.selects(each) and not is_hidden(each)]


def _unmet(api: Api, known: list[Operation]) -> Iterator[Diagnostic]:
    """Yield the patterns and names that mean no operation; nothing need be deprecated yet."""
    named = {name for operation in known for name in (operation.identifier, operation.key)}
    patterns = [pattern for pattern in (*api.include, *api.exclude) if pattern != DEPRECATED]
    unmet = [pattern for pattern in patterns if not any(matches(pattern, operation) for operation in known)]
    for word in (*unmet, *(name for name in api.tools if name not in named)):
        hint = "an `operationId`, `tag:NAME`, or `GET /path`"
        message = f"no operation is meant by `{clean_text(word, 80)}`"
        yield diagnose(UNMATCHED, api.span_of(word), message, "", hint)


def is_hidden(operation: Operation) -> bool:
    """Tell whether the document itself excludes an operation."""
    for holder in (operation.place.value, operation.item.value):
        own, other = holder.get("x-mcp"), holder.get("x-speakeasy-mcp")
        if own is False or holder.get("x-internal") is True:
            return True
        if isinstance(own, dict) and own.get("enabled") is False:
            return True
        if isinstance(other, dict) and other.get("disabled") is True:
            return True
    return False


def _declare_own(api: Api, settings: ApiSettings) -> None:
    """Declare the settings that an API's file names."""
    auth = api.auth
    for key in ("bearer", "setting"):
        if key in auth:
            settings.declare(auth[key], f"Token of the API {api.name}", secret=True)
    for name, text in zip(auth.get("basic", ()), ("User name", "Password"), strict=False):
        settings.declare(name, f"{text} of the API {api.name}", **({"secret": True} if text == "Password" else {}))
    for argument, value in api.arguments.items():
        if isinstance(value, str) and value.startswith("$"):
            settings.declare(value[1:], f"The value of `{argument}` in all calls")


def _unsent(root: DocumentValue) -> Iterator[Diagnostic]:
    """Note what an API sends by itself, of which no tool can be made."""
    if isinstance(root.value.get("webhooks"), dict) and root.value["webhooks"]:
        message = f"{counted(len(root.value['webhooks']), 'webhook')}: requests that the API sends, and no tools"
        yield diagnose("MCP172", root.at("webhooks").document.key_span(("webhooks",)), message)


def _prefixed(part: ApiTools, parts: list[ApiTools]) -> Iterator[ToolDefinition]:
    """Yield the tools of an API; one whose name another API or a finder has, too, begins with the name of its API."""
    others = {name for other in parts if other is not part for name in other.names} | exposure.taken_names(parts)
    for tool, name in zip(part.tools, part.names, strict=True):
        if name not in others or not isinstance(tool.node.value, dict):
            yield tool
        else:
            # At most as long as the names that `names.py` makes.
            longer = f"{re.sub(r'[^A-Za-z0-9_-]', '_', part.api.name)}_{name}"[:64]
            yield replace(tool, node=implied_node({**tool.node.value, "name": longer}, tool.node.span))


def _server(parts: list[ApiTools], tree: SourceTree) -> ServerDefinition:
    """Return a description of the server: that of its document, or the name of its folder."""
    name, version, title = tree.name or FORMAT, "1.0.0", ""
    span = Span(next((path for path in tree.files if path.endswith((*ENDINGS, ".toml"))), ""))
    if len(parts) == 1:
        info = parts[0].root.at("info")
        span = Span(info.document.source.path, 0, 0)
        title = one_line(info.at("title").value, 100)
        written = info.at("version").value
        version = one_line(str(written) if isinstance(written, str | int | float) else "", 64) or version
        name = parts[0].api.name or title_words(parts[0].root, tree).lower().replace("_", "-")
    info_value = {"name": name, **({"title": title} if title and title != name else {}), "version": version}
    return ServerDefinition(implied_node({"serverInfo": {**info_value, **project_info(tree)}}, span), implied=True)


def _setting(row: dict[str, Any], span: Span) -> Setting:
    return Setting(
        name=row["name"],
        type=row.get("type", "string"),
        span=span,
        description=row["description"],
        secret=row.get("secret", False),
        default=row.get("default"),
    )


__all__ = ["DOCUMENTS", "FORMAT", "LOOKS_FOR", "parse", "recognises"]
