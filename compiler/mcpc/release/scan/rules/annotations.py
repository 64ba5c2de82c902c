"""Annotations of tools that contradict the tool's name or description: clients ask people by these annotations.

A missing annotation has the protocol's default (`readOnlyHint` false, `destructiveHint` true) and contradicts nothing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from mcpc.release.scan.model import Hit, Role, Text
from mcpc.release.scan.rules.tool_names import verb_of, word_set, words_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.release.scan.model import ServerTexts

DESTROYS = re.compile(
    r"\W{0,4}(?:permanently |irreversibly |immediately ){0,2}(?:deletes?|removes?|drops?|destroys?|purges?|erases?|"
    r"wipes?|truncates?|uninstalls?|terminates?)\b",
    re.IGNORECASE,
)
SENDS = re.compile(
    r"\W{0,4}(?:sends?|posts?|publish(?:es)?|transfers?|pays?|writes?|creates?|uploads?|deploys?)\b",
    re.IGNORECASE,
)
RESULTS = word_set("plan summary report preview estimate draft diagram")
"""What a tool may create without changing anything."""
OUTSIDE = word_set("web url http internet email tweet browse scrape crawl webhook sms slack")
CLOSED_OUTSIDE = re.compile(
    r"\b(?:the web|the internet|a url|any url|web ?pages?|an email|over http|a remote|external api)\b", re.IGNORECASE
)
NO_EFFECT = re.compile(
    r"\bdry[- ]run|preview|simulat|without (?:deleting|removing|changing)|from (?:the )?(?:text|string|list)\b",
    re.IGNORECASE,
)


def find_contradictions(server: ServerTexts) -> Iterator[Hit]:
    """Yield tools whose annotations contradict what they are for."""
    for number, tool in enumerate(server.items("tools")):
        hints = tool.get("annotations")
        if isinstance(hints, dict):
            yield from _of_tool(tool, hints, number)


def _of_tool(tool: Mapping[str, Any], hints: Mapping[str, Any], number: int) -> Iterator[Hit]:
    name, description = str(tool.get("name", "")), str(tool.get("description", ""))
    verb = verb_of(name)
    if NO_EFFECT.search(description[:400]) or (verb.effect == "writes" and RESULTS.intersection(words_of(name))):
        return
    if hints.get("readOnlyHint") is True:
        if verb.effect in ("destroys", "writes"):
            yield _hit(
                "SCAN601",
                tool,
                number,
                "readOnlyHint",
                f"`readOnlyHint` is true, but `{verb.word}` {_does(verb.effect)}",
            )
        elif DESTROYS.match(description) or (SENDS.match(description) and verb.effect != "reads"):
            detail = "`readOnlyHint` is true, but the description says that it changes something"
            yield _hit("SCAN601", tool, number, "readOnlyHint", detail)
    elif hints.get("destructiveHint") is False and verb.effect == "destroys":
        yield _hit(
            "SCAN602", tool, number, "destructiveHint", f"`destructiveHint` is false, but `{verb.word}` destroys"
        )
    if hints.get("openWorldHint") is False and _is_open(name, description):
        yield _hit("SCAN603", tool, number, "openWorldHint", "`openWorldHint` is false, but it reaches the outside")


def _does(effect: str) -> str:
    return "destroys" if effect == "destroys" else "changes something"


def _is_open(name: str, description: str) -> bool:
    return bool(OUTSIDE.intersection(words_of(name))) and bool(CLOSED_OUTSIDE.search(description[:300]))


def _hit(code: str, tool: Mapping[str, Any], number: int, hint: str, detail: str) -> Hit:
    pointer = f"/tools/{number}/annotations/{hint}"
    text = Text(
        "tool", str(tool.get("name", "")), f"annotations.{hint}", pointer, Role.SYNTAX, str(tool.get("name", ""))
    )
    return Hit(code, text, detail=detail)
