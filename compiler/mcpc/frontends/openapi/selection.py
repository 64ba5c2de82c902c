"""`apis/NAME.toml`: the document of one API, which of its operations are tools, and what their author says of them.

    document = "github-rest.json"                  in the folder of this file, or of the project
    overlays = ["github.overlay.yaml"]
    base-url = "https://api.github.com"            instead of the document's servers
    include = ["tag:issues", "repos/get", "GET /search/*"]
    exclude = ["deprecated", "issues/*lock"]
    expose = "tools"                               or "toolsets", one a tag; or "search", for hundreds of operations
    offer-fields = false                           true: an argument says what of an answer is kept
    outputs = "none"                               or "declared": answers are described, and checked
    schema-budget = 16384                          how many bytes of a tool's input schema clients see
    [auth]
    bearer = "GITHUB_TOKEN"                        the name of a setting
    [arguments]
    owner = "$GITHUB_OWNER"                        the value of a setting, which is declared
    per_page = { default = 20, maximum = 50 }      keywords of the argument's schema
    [tools."issues/list-for-repo"]
    name = "list_issues"

A project without such a file is one API: the document at its top.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from mcpc.diagnostics import Diagnostic, Span, diagnose
from mcpc.diagnostics.model import did_you_mean, quoted
from mcpc.frontends.openapi.documents import ENDINGS
from mcpc.frontends.openapi.servers import is_address
from mcpc.model.ir.project import VARIABLE_NAME
from mcpc.reading.source import resolve_relative
from mcpc.reading.toml import TomlText, is_string_list, read_toml

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.frontends.openapi.operations import Operation
    from mcpc.reading import Source, SourceTree

FOLDER, ENDING = "apis/", ".toml"
DOCUMENTS = tuple(f"{name}.{ending}" for name in ("openapi", "swagger") for ending in ("yaml", "yml", "json"))
BUDGET = 16_384
EXPOSED = TOOLS, TOOLSETS, SEARCH = ("tools", "toolsets", "search")
"""How operations are offered: each listed, also as toolsets, or found by the tools of `exposure.py`."""
OFFERING = "offer-fields"
OUTPUTS = NONE, DECLARED = ("none", "declared")
"""Whether tools have the output schemas that the document has."""
CHOICES = {"expose": (EXPOSED, "`tools`, `toolsets` or `search`"), "outputs": (OUTPUTS, "`none` or `declared`")}
"""Keys with one of some values, and how these are called."""
KEYS = (
    *("document", "overlays", "base-url", "include", "exclude", "expose", "offer-fields", "outputs"),
    *("schema-budget", "auth", "arguments", "tools"),
)
AUTH_KEYS = ("bearer", "basic", "header", "query", "setting")
TOOL_KEYS = ("name", "title", "description", "fields", "pages", "hints")
TEXTS, LISTS, TABLES = ("document", "base-url"), ("overlays", "include", "exclude"), ("auth", "arguments", "tools")
DEPRECATED = "deprecated"
WRONG = "MCP173"


@dataclass(frozen=True, slots=True)
class Api:
    """One API: its document, what of it is offered, and what is said instead of the document."""

    name: str
    document: str
    source: Source | None = None
    overlays: tuple[str, ...] = ()
    base_url: str = ""
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    expose: str = TOOLS
    outputs: str = NONE
    offers_fields: bool = False
    budget: int = BUDGET
    auth: Mapping[str, Any] = field(default_factory=dict)
    arguments: Mapping[str, Any] = field(default_factory=dict)
    tools: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    text: TomlText | None = None

    def selects(self, operation: Operation) -> bool:
        """Tell whether an operation is offered."""
        is_in = not self.include or any(matches(pattern, operation) for pattern in self.include)
        return is_in and not any(matches(pattern, operation) for pattern in self.exclude)

    def span_of(self, word: str, *section: str) -> Span | None:
        """Return where a word stands in its file, None if there is no file."""
        return None if self.text is None else self.text.span_of(word, *section)


def matches(pattern: str, operation: Operation) -> bool:
    """Tell whether a pattern means an operation: `tag:NAME`, `deprecated`, `METHOD /path`, or its `operationId`."""
    if pattern.startswith("tag:"):
        return any(fnmatchcase(tag, pattern[4:]) for tag in operation.tags)
    if pattern == DEPRECATED:
        return operation.place.value.get("deprecated") is True
    if " /" in pattern or pattern.startswith("/"):
        return fnmatchcase(operation.path if pattern.startswith("/") else operation.key, pattern)
    return fnmatchcase(operation.identifier, pattern)


def api_files(tree: SourceTree) -> list[str]:
    """Return the files that describe an API each."""
    return [path for path in tree.files if path.startswith(FOLDER) and path.endswith(ENDING) and path.count("/") == 1]


def top_document(tree: SourceTree) -> str:
    """Return the document at the top of a project, or an empty string."""
    named = tree.options.entry
    if named.endswith(ENDINGS) and named in tree.files:
        return named
    return next((name for name in DOCUMENTS if name in tree.files), "")


def read_apis(tree: SourceTree) -> tuple[list[Api], list[Diagnostic]]:
    """Return the APIs of a project, and what is wrong with their files."""
    apis: list[Api] = []
    problems: list[Diagnostic] = []
    named = tree.options.entry
    # A document that is named as the entry is meant alone.
    files = [] if named and top_document(tree) == named else api_files(tree)
    for path in files:
        text = read_toml(tree.files[path])
        if isinstance(text, Diagnostic):
            problems.append(text)
            continue
        wrong = list(_problems(text, tree))
        problems += wrong
        if not wrong:
            apis.append(_api(path, text, tree))
    if not files and (document := top_document(tree)):
        apis.append(Api("", document))
    return apis, problems


def _api(path: str, text: TomlText, tree: SourceTree) -> Api:
    table = text.table
    return Api(
        name=posixpath.basename(path).removesuffix(ENDING),
        document=_path(table["document"], path, tree),
        source=text.source,
        overlays=tuple(_path(written, path, tree) for written in table.get("overlays", ())),
        base_url=table.get("base-url", "").rstrip("/"),
        include=tuple(table.get("include", ())),
        exclude=tuple(table.get("exclude", ())),
        expose=table.get("expose", TOOLS),
        outputs=table.get("outputs", NONE),
        offers_fields=table.get(OFFERING, False),
        budget=table.get("schema-budget", BUDGET),
        auth=table.get("auth", {}),
        arguments=table.get("arguments", {}),
        tools=table.get("tools", {}),
        text=text,
    )


def _path(written: str, home: str, tree: SourceTree) -> str:
    """Return the path of a file that is named in another: beside it, or in the project's folder."""
    beside = resolve_relative(posixpath.dirname(home), written)
    above = resolve_relative("", written)
    return next((path for path in (beside, above) if path and tree.get(path) is not None), "")


def _problems(text: TomlText, tree: SourceTree) -> Iterator[Diagnostic]:
    table, path = text.table, text.source.path
    yield from _unknown(text, table, KEYS)
    for key in TEXTS + LISTS + TABLES + ("schema-budget", OFFERING, *CHOICES):
        yield from _wrong_type(text, key, table.get(key))
    if "document" not in table:
        yield diagnose(WRONG, Span(path), "it does not say which `document` it is about", '`document = "openapi.yaml"`')
    written = table.get("overlays", [])
    for named in [table.get("document"), *(written if isinstance(written, list) else ())]:
        if isinstance(named, str) and not _path(named, path, tree):
            yield diagnose(WRONG, text.span_of(named), f"there is no file `{named}` beside it, or in the project")
    base = table.get("base-url")
    if isinstance(base, str) and not is_address(base):
        yield diagnose(
            WRONG, text.span_of("base-url"), f"`{base}` is no address of an API", "`https://api.example.org/v1`"
        )
    yield from _wrong_settings(text)
    tools = table.get("tools")
    for name, said in tools.items() if isinstance(tools, dict) else ():
        if isinstance(said, dict):
            yield from _unknown(text, said, TOOL_KEYS, "tools", name)
        else:
            yield diagnose(
                WRONG, text.span_of(name), f"`{name}` of `tools` is no table", f"one with {quoted(TOOL_KEYS)}"
            )


def _unknown(text: TomlText, table: Mapping[str, Any], known: tuple[str, ...], *where: str) -> Iterator[Diagnostic]:
    for key in table:
        if key not in known:
            message, hint = f"it has an unknown key `{key}`", did_you_mean(key, known)
            yield diagnose(WRONG, text.span_of(key, *where), message, f"one of {quoted(known)}", hint)


def _wrong_type(text: TomlText, key: str, value: Any) -> Iterator[Diagnostic]:
    fits = {
        "a text": isinstance(value, str),
        "a list of texts": is_string_list(value),
        "a table": isinstance(value, dict),
        **{label: isinstance(value, str) and value in values for values, label in CHOICES.values()},
        "true or false": isinstance(value, bool),
        "a number of bytes": isinstance(value, int) and not isinstance(value, bool) and value >= 1_024,
    }
    kinds = {
        **dict.fromkeys(TEXTS, "a text"),
        **dict.fromkeys(LISTS, "a list of texts"),
        **dict.fromkeys(TABLES, "a table"),
        **{name: label for name, (_, label) in CHOICES.items()},
        OFFERING: "true or false",
    }
    kind = kinds.get(key, "a number of bytes")
    if value is not None and not fits[kind]:
        yield diagnose(WRONG, text.span_of(key), f"`{key}` is not {kind}", kind)


def _wrong_settings(text: TomlText) -> Iterator[Diagnostic]:
    """Yield what is wrong with the tables that name settings."""
    auth, arguments = text.table.get("auth"), text.table.get("arguments")
    if isinstance(auth, dict):
        yield from _unknown(text, auth, AUTH_KEYS, "auth")
        for key in ("bearer", "basic", "setting"):
            named = auth.get(key)
            for name in named if isinstance(named, list) else [] if named is None else [named]:
                yield from _wrong_name(text, name)
        # `setting` is the value of a `header` or a `query`, and no way of its own.
        ways = [key for key in auth if key != "setting"]
        if len(ways) != 1:
            yield diagnose(
                WRONG, text.span_of("auth"), "it does not say one way to prove who calls", '`bearer = "API_TOKEN"`'
            )
    for value in arguments.values() if isinstance(arguments, dict) else ():
        if isinstance(value, str) and value.startswith("$"):
            yield from _wrong_name(text, value[1:])


def _wrong_name(text: TomlText, name: Any) -> Iterator[Diagnostic]:
    if not isinstance(name, str) or not VARIABLE_NAME.fullmatch(name):
        span = text.span_of(name if isinstance(name, str) else "auth")
        yield diagnose(WRONG, span, f"`{name}` cannot be the name of a setting", "a variable, such as `API_TOKEN`")
