"""Tools that are harmless one by one and not together: private data, texts of strangers, and a way out.

A model that reads a text of a stranger may obey it; with the other two at hand, it can send private data away.  That is
a property of a server, or of several in one client, and no fault of a definition, so that it is one finding of low
risk.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from mcpc.release.scan.model import Hit, Role, Text
from mcpc.release.scan.rules.tool_names import verb_of, word_set, words_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mcpc.release.scan.model import ServerTexts

PRIVATE = word_set(
    "email emails mail inbox mailbox gmail calendar contacts contact file files database sql table secret secrets "
    "credential credentials vault environment env clipboard notes drive customer customers invoice invoices account "
    "accounts bank memory memories"
)
STRANGERS = word_set(
    "web url urls website webpage page browse browser scrape crawl internet rss feed inbox email emails issue "
    "issues comment comments tweet tweets review reviews ticket tickets news reddit discussion"
)
OUTWARD = word_set(
    "email mail message issue comment tweet post webhook url http request upload share gist slack sms reply "
    "publish page pull discussion"
)
SENDING = word_set("send post publish upload share tweet reply forward comment webhook request")
ADDRESSES = frozenset({"url", "uri", "endpoint", "href", "link", "webhook_url"})
ROLES = ("reads private data", "reads texts of strangers", "sends data out")


def find_combination(server: ServerTexts) -> Iterator[Hit]:
    """Yield one finding for a server whose tools together can send private data to strangers."""
    tools = _tools_by_role([server])
    if all(tools) and len({*tools}) > 1:
        yield Hit("SCAN606", _of_server(), detail=_described(tools))


def find_combination_of_servers(servers: Sequence[ServerTexts]) -> Iterator[tuple[ServerTexts, Hit]]:
    """Yield one finding for several servers that only together can do so."""
    if len(servers) < 2 or any(all(_tools_by_role([server])) for server in servers):
        return
    tools = _tools_by_role(servers)
    if all(tools):
        yield servers[0], Hit("SCAN607", _of_server(), detail=_described(tools))


def _of_server() -> Text:
    return Text("server", "", "tools", "/tools", Role.SYNTAX, "")


def _described(tools: Sequence[str]) -> str:
    return ", ".join(f"`{name}` {role}" for name, role in zip(tools, ROLES, strict=True))


def _tools_by_role(servers: Sequence[ServerTexts]) -> list[str]:
    """Return the first tool for each role, or an empty text."""
    found = ["", "", ""]
    for server in servers:
        for tool in server.items("tools"):
            for number, judge in enumerate((_reads_private, _reads_strangers, _sends_out)):
                found[number] = found[number] or (str(tool.get("name", "")) if judge(tool) else "")
    return found


def _reads_private(tool: Mapping[str, Any]) -> bool:
    return _reads(tool) and bool(PRIVATE.intersection(_words(tool)))


def _reads_strangers(tool: Mapping[str, Any]) -> bool:
    return _reads(tool) and _hint(tool, "openWorldHint") is not False and bool(STRANGERS.intersection(_words(tool)))


def _sends_out(tool: Mapping[str, Any]) -> bool:
    if _hint(tool, "openWorldHint") is False:
        return False
    if ADDRESSES.intersection(_argument_names(tool)):
        return True
    words = set(words_of(str(tool.get("name", ""))))
    writes = verb_of(str(tool.get("name", ""))).effect == "writes" or bool(SENDING.intersection(words))
    return writes and _hint(tool, "readOnlyHint") is not True and bool(OUTWARD.intersection(words))


def _reads(tool: Mapping[str, Any]) -> bool:
    return verb_of(str(tool.get("name", ""))).effect == "reads" or _hint(tool, "readOnlyHint") is True


def _words(tool: Mapping[str, Any]) -> list[str]:
    """Return the words of the name, and of the first sentence of the description."""
    sentence = re.split(r"[.\n]", str(tool.get("description", ""))[:200], maxsplit=1)[0]
    return [*words_of(str(tool.get("name", ""))), *sentence.lower().split()]


def _hint(tool: Mapping[str, Any], name: str) -> object:
    hints = tool.get("annotations")
    return hints.get(name) if isinstance(hints, dict) else None


def _argument_names(tool: Mapping[str, Any]) -> set[str]:
    schema = tool.get("inputSchema")
    properties = schema.get("properties") if isinstance(schema, dict) else None
    return {name.lower() for name in properties} if isinstance(properties, dict) else set()
