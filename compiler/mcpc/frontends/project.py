"""Parts of a project beside its definitions: its name and version, its settings, and its skills.

Name and version are those of `[project]` in `pyproject.toml`; they are used where no other file defines them. Settings
of a project of any format can be tables `[[tool.mcpc.settings]]` there, and toolsets `[tool.mcpc.toolsets]`. A skill is
a folder below `skills/` with a `SKILL.md`, and all files in it:

    skills/git-workflow/SKILL.md                 the skill `skill://git-workflow/SKILL.md`
    skills/acme/refunds/SKILL.md                 the skill `skill://acme/refunds/SKILL.md`
    skills/acme/refunds/templates/mail.txt       one of its files

A key of `[tool.mcpc]` that no row of `TABLES` has is an error: it would have no effect, and a misspelt `exclude` would
pack the files that it names.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mcpc.diagnostics import diagnose
from mcpc.diagnostics.model import nearest, quoted
from mcpc.model.definitions import HANDLERS_KEY, ServerDefinition, SkillDefinition
from mcpc.reading import Member, Node
from mcpc.reading.toml import TomlText, nested_table, read_toml, toml_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostic, Span
    from mcpc.reading import Json, SourceTree


PYPROJECT = "pyproject.toml"
INFO = "serverInfo"
SETTINGS, TOOLSETS, LIMIT = "settings", "toolsets", "max-result"


def project_info(tree: SourceTree) -> dict[str, str]:
    """Return a project's name and version, as far as they are strings; other tools report invalid ones."""
    written = _table(tree, "project")
    return {name: written[name] for name in ("name", "version") if isinstance(written.get(name), str)}


def _table(tree: SourceTree, *names: str) -> dict[str, Any]:
    return nested_table(toml_table(tree.get(PYPROJECT)), *names)


def build_environment(tree: SourceTree) -> dict[str, str]:
    """Return the variables for code of the project that a build runs: of `[tool.mcpc]`, and of `--build-env`."""
    written = _table(tree, "tool", "mcpc", "build-environment")
    return {name: value for name, value in written.items() if isinstance(value, str)} | dict(
        tree.options.build_environment
    )


def declared_settings(tree: SourceTree) -> list[dict[str, Any]]:
    """Return the settings that `pyproject.toml` declares, as far as they are tables."""
    written = _table(tree, "tool", "mcpc").get(SETTINGS)
    return [row for row in written if isinstance(row, dict)] if isinstance(written, list) else []


def is_concurrent(tree: SourceTree) -> bool | None:
    """Return whether a project says that calls run at once (`concurrent` of `[tool.mcpc]`), None if it does not say."""
    written = _table(tree, "tool", "mcpc").get("concurrent")
    return written if isinstance(written, bool) else None


def with_own_tables(server: ServerDefinition | None, tree: SourceTree) -> ServerDefinition | None:
    """Return a server with the settings and the toolsets that `pyproject.toml` declares, after its own."""
    declared, source = _table(tree, "tool", "mcpc"), tree.get(PYPROJECT)
    if server is None or source is None or not isinstance(server.node.value, dict):
        return server
    text = TomlText(source, 0, len(source.text))
    node = server.node
    for key in (SETTINGS, TOOLSETS):
        if key in declared:
            table = _toml_node(declared[key], text, text.span_of(key))
            node = _with_member(node, key, _joined(node.get(key), table, text))
    return replace(server, node=node)


def _joined(own: Node | None, table: Node, text: TomlText) -> Node:
    """Return a list or an object with what `pyproject.toml` adds; the places of its keys are those of its table."""
    if own is not None and own.kind == table.kind == "array":
        return replace(own, value=[*_list(own), *_list(table)], items=(*own.items, *table.items))
    if table.kind != "object":
        return table
    joined = own if own is not None and own.kind == "object" else replace(table, value={}, members=())
    for member in table.members:
        span = text.span_of(member.key, "tool", "mcpc", TOOLSETS)
        joined = _with_member(joined, member.key, _toml_node(member.node.value, text, span))
    return joined


def with_result_limit(server: ServerDefinition | None, tree: SourceTree) -> ServerDefinition | None:
    """Return a server with the limit of results that `[tool.mcpc]` sets, if its description has none."""
    written, source = _table(tree, "tool", "mcpc").get(LIMIT), tree.get(PYPROJECT)
    if server is None or source is None or written is None or not isinstance(server.node.value, dict):
        return server
    text = TomlText(source, 0, len(source.text))
    limit = _toml_node(written, text, text.span_of(LIMIT, "tool", "mcpc"))
    meta = server.node.get("_meta") or Node({}, limit.path, limit.start, limit.start)
    options = meta.get(HANDLERS_KEY) or Node({}, limit.path, limit.start, limit.start)
    if options.get("maxResult") is not None:
        return server
    options = _with_member(options, "maxResult", limit)
    return replace(server, node=_with_member(server.node, "_meta", _with_member(meta, HANDLERS_KEY, options)))


def _list(node: Node) -> list[Json]:
    return node.value if isinstance(node.value, list) else []


def _toml_node(value: Any, text: TomlText, span: Span) -> Node:
    """Return a value of TOML as a node; a table with a name has the span of that name."""
    if isinstance(value, dict):
        span = text.span_of(value["name"]) if isinstance(value.get("name"), str) else span
        members = tuple(Member(key, span.start, span.end, _toml_node(part, text, span)) for key, part in value.items())
        whole: dict[str, Json] = {member.key: member.node.value for member in members}
        return Node(whole, span.path, span.start, span.end, members)
    if isinstance(value, list):
        items = tuple(_toml_node(item, text, span) for item in value)
        return Node([item.value for item in items], span.path, span.start, span.end, items=items)
    # TOML also has dates and times.
    plain = value if isinstance(value, str | int | float | bool) else str(value)
    return Node(plain, span.path, span.start, span.end)


def with_project(server: ServerDefinition | None, tree: SourceTree) -> ServerDefinition | None:
    """Return a server with the name and version of the project where it has none."""
    info = project_info(tree)
    if server is None or not info or not isinstance(server.node.value, dict):
        return server
    said = server.node.get(INFO)
    if said is None:
        place = server.node.span
        said = Node({}, place.path, place.start, place.start)
    if not isinstance(said.value, dict):
        return server
    missing = {name: value for name, value in info.items() if name not in said.value}
    return replace(server, node=_with_member(server.node, INFO, _with_members(said, missing))) if missing else server


def _with_members(node: Node, values: dict[str, str]) -> Node:
    """Return an object with additional members, at the beginning of the file that defines them."""
    for name, value in values.items():
        node = _with_member(node, name, Node(value, PYPROJECT, 0, 0))
    return node


def _with_member(node: Node, key: str, part: Node) -> Node:
    """Return an object in which one member is set."""
    value: dict[str, Json] = {**node.value, key: part.value} if isinstance(node.value, dict) else {key: part.value}
    others = tuple(member for member in node.members if member.key != key)
    written_member = next((member for member in node.members if member.key == key), None)
    member = Member(key, node.start, node.start, part) if written_member is None else replace(written_member, node=part)
    return replace(node, value=value, members=(*others, member))


def project_server(tree: SourceTree) -> ServerDefinition | None:
    """Return the server that `[project]` describes, if nothing else describes it."""
    info = project_info(tree)
    # Both name and version are needed: there are no defaults for a server here.
    if len(info) < 2:
        return None
    node = Node({}, PYPROJECT, 0, 0)
    return ServerDefinition(_with_member(node, INFO, _with_members(node, info)), implied=True)


HOME = "skills/"
MAIN = "/SKILL.md"


def read_skills(tree: SourceTree) -> tuple[SkillDefinition, ...]:
    """Return a project's skills, ordered by folder; a nested skill is also a file of the outer one."""
    # `skills/SKILL.md` has no folder that would name it.
    paths = [path for path in tree.files if path.startswith(HOME) and path.endswith(MAIN) and path != HOME + MAIN[1:]]
    return tuple(_skill(tree, path.removesuffix(MAIN)) for path in paths)


def _skill(tree: SourceTree, folder: str) -> SkillDefinition:
    files = tuple(source for path, source in tree.files.items() if path.startswith(f"{folder}/"))
    return SkillDefinition(folder.removeprefix(HOME), tree.files[folder + MAIN], files)


OWN = ("tool", "mcpc")
TABLES: dict[tuple[str, ...], tuple[str, ...]] = {
    (): (
        "exclude",
        "include",
        "extract",
        "extras",
        "groups",
        "platforms",
        "allow-sdist",
        "exclude-newer",
        "entry",
        "framework",
        "build-environment",
        "lists",
        "concurrent",
        "max-result",
        "settings",
        "toolsets",
        "release",
        "registry",
        "scan",
        "diff",
    ),
    ("release",): ("files", "self-contained", "options"),
    ("registry",): ("name", "mcpb", "oci", "remotes"),
    ("scan",): ("ignore",),
    ("diff",): ("accept", "severity"),
    ("diff", "accept"): ("rule", "place", "reason"),
}
"""The keys of each table below `[tool.mcpc]`. `settings` are checked as those of `server.json`."""
BOOLEANS = frozenset({((), "concurrent")})
"""The keys whose value is not checked where it is read."""
LISTS = frozenset({("diff", "accept")})
"""The tables of which there is a list."""


def unknown_settings(tree: SourceTree) -> Iterator[Diagnostic]:
    """Yield the keys that nothing reads, and what should be a table and is not; nothing of a file that is not TOML."""
    source = tree.get(PYPROJECT)
    text = None if source is None else read_toml(source)
    if isinstance(text, TomlText):
        for place in TABLES:
            yield from _problems_of(place, text)


def _problems_of(place: tuple[str, ...], text: TomlText) -> Iterator[Diagnostic]:
    where = (*OWN, *place)
    above: Any = text.table
    for name in where[:-1]:
        above = above.get(name) if isinstance(above, dict) else None
    written = above.get(where[-1], {}) if isinstance(above, dict) else {}
    for row in written if place in LISTS and isinstance(written, list) else (written,):
        if isinstance(row, dict):
            yield from (_unknown(key, place, text) for key in row if key not in TABLES[place])
            for key, value in row.items():
                if (place, key) in BOOLEANS and not isinstance(value, bool):
                    span = text.span_of(key, *OWN, *place)
                    yield diagnose("MCP443", span, f"`{key}` of `{_header(place)}` is not a boolean", "true or false")
        elif place not in LISTS:
            message = f"`{_header(place)}` is not a table"
            yield diagnose("MCP443", text.span_of(where[-1]), message, f"a table with {quoted(TABLES[place])}")


def _unknown(key: str, place: tuple[str, ...], text: TomlText) -> Diagnostic:
    span = text.span_of(key, *OWN, *place)
    message = f"`{_header(place)}` has an unknown key `{key}`"
    return diagnose("MCP443", span, message, f"one of {quoted(TABLES[place])}", _meant(key, place))


def _meant(key: str, place: tuple[str, ...]) -> str:
    """Return what a key may have been meant as: another key of the table, or the same of another table."""
    other_key = nearest(key, TABLES[place])
    elsewhere = [other for other, keys in TABLES.items() if key in keys]
    if other_key or not elsewhere:
        return f"did you mean `{other_key}`?" if other_key else ""
    return f"`{key}` is a key of {' and of '.join(f'`{_header(other)}`' for other in elsewhere)}: move it there"


def _header(place: tuple[str, ...]) -> str:
    return f"[{'.'.join((*OWN, *place))}]"
