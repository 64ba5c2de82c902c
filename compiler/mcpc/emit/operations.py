"""Emit the operations of a server: tools that are not listed, with the scores of their words.

A score is that of BM25, in thousandths: how rare a word is, how often an operation has it, and how long that is. Words
of a name and a title count more than those of descriptions and arguments, which do not make an operation longer: one
with many arguments is as easily meant. The form is that of `mcpc_runtime.protocol.operations`.
"""

from __future__ import annotations

from collections import Counter
from math import log
from typing import TYPE_CHECKING

from mcpc.emit.bytecode import dump_data
from mcpc.emit.responses import project_tool
from mcpc.emit.templates import ArtifactFile
from mcpc.model.revisions import REVISIONS
from mcpc.reading import compact_json
from mcpc_runtime.protocol.operations import ENTRY, SCORE, words_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.model.ir import Server, Tool

SATURATION, LENGTH, THOUSAND = 3, 0.9, 1_000
NAME, TITLE, TAG, DESCRIPTION, ARGUMENT = 4, 4, 1, 0.3, 0.1
"""How often a word counts by where it is. Of 20 questions about GitHub's API 15 have their operation first; with the
usual 1.2 and 0.75, and the length of all words, 9."""
LONGEST = 200
"""How many characters of a description are searched, and how many a search shows."""


def operation_files(server: Server) -> Iterator[ArtifactFile]:
    """Yield the entry with the operations of a server, if it has any."""
    operations = server.operations
    if operations:
        rows = tuple(
            (tool.name, summary_of(tool), tool.tags, tool.annotations.read_only is True) for tool in operations
        )
        entries = {tool.name: compact_json(project_tool(tool, REVISIONS[-1])) for tool in operations}
        yield ArtifactFile(ENTRY, dump_data({"rows": rows, "words": scores_of(operations), "entries": entries}))


def summary_of(tool: Tool) -> str:
    """Return what an operation does in one line."""
    text = tool.metadata.title or tool.metadata.description or ""
    return text.partition("\n")[0][:LONGEST]


def weighed_words(tool: Tool) -> tuple[dict[str, float], float]:
    """Return how often an operation has each word, and how long it is, both by the weights."""
    words: dict[str, float] = {}
    length = 0.0
    properties = tool.input.node.get("properties")
    arguments = [member.key for member in properties.members] if properties is not None else []
    for weight, texts in (
        (NAME, [tool.name]),
        (TITLE, [tool.metadata.title or ""]),
        (TAG, tool.tags),
        (DESCRIPTION, [(tool.metadata.description or "")[:LONGEST]]),
        (ARGUMENT, arguments),
    ):
        for word in (word for text in texts for word in words_of(text)):
            words[word] = words.get(word, 0) + weight
            length += weight if weight >= TAG else 0
    return words, length


def scores_of(operations: tuple[Tool, ...]) -> dict[str, bytes]:
    """Return the scores of each word, with the numbers of the operations that have it.  O(words of all)."""
    weighed = [weighed_words(tool) for tool in operations]
    usual = sum(length for _, length in weighed) / len(weighed) or 1
    times = Counter(word for words, _ in weighed for word in words)
    scores: dict[str, list[bytes]] = {word: [] for word in sorted(times)}
    for number, (words, length) in enumerate(weighed):
        norm = SATURATION * (1 - LENGTH + LENGTH * length / usual)
        for word, count in words.items():
            # Positive even for a word of all operations, because of the 1.
            rare = log(1 + (len(weighed) - times[word] + 0.5) / (times[word] + 0.5))
            score = rare * count * (SATURATION + 1) / (count + norm)
            scores[word].append(SCORE.pack(number, round(THOUSAND * score)))
    return {word: b"".join(rows) for word, rows in scores.items()}
