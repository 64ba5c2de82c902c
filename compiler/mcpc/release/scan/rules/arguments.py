"""Arguments by which a server asks for secrets of the person, or for the conversation."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from mcpc.release.scan.model import Hit, Role, Text
from mcpc.release.scan.rules.tool_names import word_set, words_of
from mcpc.release.scan.texts import escaped

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.release.scan.model import ServerTexts

CONVERSATION = re.compile(
    r"(?:^| )(?:(?:conversation|chat|message|dialog|dialogue) ?(?:history|log|transcript|context|so far)"
    r"|(?:full|entire|whole|complete|all) ?(?:conversation|chat|transcript|messages)"
    r"|(?:system|developer|initial|hidden) ?(?:prompt|message|instructions)|chain of thought"
    r"|(?:list of )?(?:available|all|other) ?tools?(?: list)?|tools list|context window|hidden context)(?: |$)"
)
ASKS_CONVERSATION = re.compile(
    r"\b(?:full|entire|whole|complete|verbatim|raw)\b[^.\n]{0,40}"
    r"\b(?:conversation|chat|transcript|message history|context window)\b"
    r"|\b(?:system prompt|your (?:system )?instructions|hidden instructions|conversation so far|previous messages of)\b"
    r"|\ball (?:previous|prior|earlier) messages\b",
    re.IGNORECASE,
)
PRIVATE_FILE = re.compile(
    r"(?:^| )(?:ssh|id rsa|private key|aws credentials|etc passwd|bash history|dotenv|env file|mcp json)(?: |$)"
)
CONTENTS = re.compile(r"(?:^| )(?:contents?|read|reading|dump|data|file|value)(?: |$)")
SECRET = re.compile(
    r"(?:^| )(?:passwords?|passwd|passphrase|api ?keys?|secret ?keys?|access ?tokens?|private ?keys?|credentials?"
    r"|bearer ?tokens?|client ?secret|auth ?tokens?|refresh ?token|credit ?card(?: number)?|cvv|ssn|seed ?phrase"
    r"|mnemonic|otp|pin ?code)$"
)
NOT_SECRET = re.compile(
    r"(?:^| )(?:page|next|max|min|count|num|total|id|name|has|is|hash|policy|length|type|title)(?: |$)"
)
MAKES_AGENTS = word_set("agent agents assistant bot prompt prompts completion chat llm model voice persona")
"""Words of tools that take the instructions of another model."""
LISTS = (("tools", "tool"), ("prompts", "prompt"))


def find_asking_arguments(server: ServerTexts) -> Iterator[Hit]:
    """Yield arguments that ask for secrets or for the conversation."""
    for key, kind in LISTS:
        for number, item in enumerate(server.items(key)):
            is_maker = bool(MAKES_AGENTS.intersection(words_of(str(item.get("name", "")))))
            for name, description, field in [] if is_maker else _arguments(item):
                text = Text(
                    kind,
                    str(item.get("name", "")),
                    field.lstrip("/").replace("/", "."),
                    f"/{key}/{number}{field}",
                    Role.NAME,
                    name,
                )
                yield from _judge(text, description)


def _arguments(item: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield the name, the description and the pointer of each argument, those of nested objects included."""
    waiting = [(item.get("inputSchema"), "/inputSchema")]
    while waiting:
        schema, pointer = waiting.pop()
        properties = schema.get("properties") if isinstance(schema, dict) else None
        for name, value in properties.items() if isinstance(properties, dict) else ():
            place = f"{pointer}/properties/{escaped(name)}"
            if isinstance(value, dict) and value.get("type") == "boolean":
                continue
            yield name, str(value.get("description", "")) if isinstance(value, dict) else "", place
            waiting.append((value, place))
    arguments = item.get("arguments")
    for number, argument in enumerate(arguments if isinstance(arguments, list) else ()):
        if isinstance(argument, dict):
            yield str(argument.get("name", "")), str(argument.get("description", "")), f"/arguments/{number}"


def _judge(text: Text, description: str) -> Iterator[Hit]:
    words = " ".join(words_of(text.text))
    found = ASKS_CONVERSATION.search(description[:2000])
    if PRIVATE_FILE.search(words) and CONTENTS.search(words):
        yield Hit("SCAN604", text, 0, len(text.text), "it names a private file")
    elif CONVERSATION.search(words) or found:
        yield Hit("SCAN604", text, 0, len(text.text), "", found[0] if found else text.text)
    elif SECRET.search(words) and not NOT_SECRET.search(words):
        yield Hit("SCAN605", text, 0, len(text.text), "", text.text)
