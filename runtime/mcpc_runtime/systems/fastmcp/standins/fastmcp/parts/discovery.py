"""Tools of the code mode that find others: each class makes one for a function that reads the catalog."""

from __future__ import annotations

import inspect
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, Literal

from mcpc_runtime.systems.fastmcp.standins.fastmcp.parts.components import Tool
from mcpc_runtime.systems.fastmcp.standins.fastmcp.parts.context import Context  # noqa: TC001 - read from annotations
from mcpc_runtime.systems.fastmcp.standins.fastmcp.parts.searching import BM25SearchTransform
from mcpc_runtime.systems.fastmcp.standins.fastmcp.parts.tool_texts import (
    serialize_tools_for_output_json,
    serialize_tools_for_output_markdown,
)

ToolCatalog = Callable[[Any], Awaitable[Sequence[Any]]]
"""Returns the tools of the server for a context."""
ToolDetailLevel = Literal["brief", "detailed", "full"]
UNTAGGED = "untagged"
MAX_FOUND = 50
DETAIL = "`brief`: names and descriptions; `detailed`: arguments, too, as Markdown; `full`: JSON with schemas"


def rendered(tools: Sequence[Any], detail: ToolDetailLevel) -> str:
    """Return tools as text."""
    if detail == "full":
        return json.dumps(serialize_tools_for_output_json(tools) if tools else [], indent=2)
    if detail == "detailed" or not tools:
        return serialize_tools_for_output_markdown(tools)
    return "\n".join(map(line_of, tools))


def line_of(tool: Any) -> str:
    """Return a tool as a line."""
    return f"- {tool.name}: {tool.description}" if tool.description else f"- {tool.name}"


class Search:
    """Makes a tool that searches the catalog.  `search_fn`: finds tools; by default they are ranked by BM25."""

    def __init__(
        self,
        *,
        search_fn: Callable[[Sequence[Any], str], Any] | None = None,
        name: str = "search",
        default_detail: ToolDetailLevel | None = None,
        default_limit: int | None = None,
    ) -> None:
        self._search = search_fn or BM25SearchTransform(max_results=default_limit or MAX_FOUND)._search
        self._name = name
        self._detail: ToolDetailLevel = default_detail or "brief"
        self._limit = default_limit

    def __call__(self, get_catalog: ToolCatalog) -> Any:
        """Return the tool."""

        async def search(
            query: Annotated[str, "What the tools should do"],
            tags: Annotated[list[str] | None, "Search only tools with one of these tags"] = None,
            detail: Annotated[ToolDetailLevel, DETAIL] = self._detail,
            limit: Annotated[int | None, "How many tools are returned at most"] = self._limit,
            ctx: Context = None,  # type: ignore[assignment]
        ) -> str:
            """Find tools by words, the best ones first."""
            catalog = await get_catalog(ctx)
            searched = self._search([each for each in catalog if has_tag(each, tags)], query)
            found: Sequence[Any] = (await searched if inspect.isawaitable(searched) else searched)[:limit]
            text = rendered(found, detail)
            if detail == "full" or len(found) >= len(catalog):
                return text
            return f"{len(found)} of {len(catalog)} tools:\n\n{text}"

        return Tool.from_function(search, name=self._name)


def has_tag(tool: Any, tags: Sequence[str] | None) -> bool:
    """Tell whether a tool has one of some tags, or is without any where that is asked for."""
    return not tags or bool({*tags} & ({*tool.tags} or {UNTAGGED}))


class GetSchemas:
    """Makes a tool that describes tools by their names."""

    def __init__(self, *, name: str = "get_schema", default_detail: ToolDetailLevel | None = None) -> None:
        self._name = name
        self._detail: ToolDetailLevel = default_detail or "detailed"

    def __call__(self, get_catalog: ToolCatalog) -> Any:
        """Return the tool."""

        async def get_schema(
            tools: Annotated[list[str], "The names of the tools"],
            detail: Annotated[ToolDetailLevel, DETAIL] = self._detail,
            ctx: Context = None,  # type: ignore[assignment]
        ) -> str:
            """Describe tools, so that they can be called."""
            catalog = {each.name: each for each in await get_catalog(ctx)}
            found = [catalog[name] for name in tools if name in catalog]
            missing = [name for name in tools if name not in catalog]
            note = f"Tools not found: {', '.join(missing)}" if missing else ""
            if not found and note:
                return note
            if detail == "full" and note:
                return json.dumps([*serialize_tools_for_output_json(found), {"not_found": missing}], indent=2)
            return "\n\n".join(filter(None, (rendered(found, detail), note)))

        return Tool.from_function(get_schema, name=self._name)


class GetTags:
    """Makes a tool that lists the tags of tools."""

    def __init__(self, *, name: str = "tags", default_detail: Literal["brief", "full"] | None = None) -> None:
        self._name = name
        self._detail: Literal["brief", "full"] = default_detail or "brief"

    def __call__(self, get_catalog: ToolCatalog) -> Any:
        """Return the tool."""

        async def tags(
            detail: Annotated[
                Literal["brief", "full"], "`brief`: tags and numbers of tools; `full`: the tools of each"
            ] = self._detail,
            ctx: Context = None,  # type: ignore[assignment]
        ) -> str:
            """List the tags of tools."""
            groups: dict[str, list[Any]] = {}
            for each in await get_catalog(ctx):
                for tag in each.tags or (UNTAGGED,):
                    groups.setdefault(tag, []).append(each)
            if not groups:
                return "No tools available."
            rows = sorted(groups.items())
            if detail == "brief":
                return "\n".join(f"- {tag} ({len(found)} tool{'s' if len(found) > 1 else ''})" for tag, found in rows)
            return "\n\n".join("\n".join((f"### {tag}", *map(line_of, found))) for tag, found in rows)

        return Tool.from_function(tags, name=self._name)


class ListTools:
    """Makes a tool that lists all tools."""

    def __init__(self, *, name: str = "list_tools", default_detail: ToolDetailLevel | None = None) -> None:
        self._name = name
        self._detail: ToolDetailLevel = default_detail or "brief"

    def __call__(self, get_catalog: ToolCatalog) -> Any:
        """Return the tool."""

        async def list_tools(
            detail: Annotated[ToolDetailLevel, DETAIL] = self._detail,
            ctx: Context = None,  # type: ignore[assignment]
        ) -> str:
            """List all tools."""
            return rendered(await get_catalog(ctx), detail)

        return Tool.from_function(list_tools, name=self._name)
