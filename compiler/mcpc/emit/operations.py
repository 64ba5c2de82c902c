"""Emit the operations of a server: tools that are not listed, with the scores of their words.

A score is that of BM25, in thousandths: how rare a word is, how often an operation has it, and how long that is. Words
of a name count more than those of its texts and arguments. The form is that of `mcpc_runtime.protocol.operations`.
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

SATURATION, LENGTH, THOUSAND = 1.2, 0.75, 1_000
NAME, TITLE, TAG, OTHER = 4, 2, 2, 1
"""How often a word counts by where it is."""
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


def counted_words(tool: Tool) -> Counter[str]:
    """Return how often an operation has each word."""
    words: Counter[str] = Counter()
    properties = tool.input.node.get("properties")
    arguments = [member.key for member in properties.members] if properties is not None else []
    for weight, texts in (
        (NAME, [tool.name]),
        (TITLE, [tool.metadata.title or ""]),
        (TAG, tool.tags),
        (OTHER, [(tool.metadata.description or "")[:LONGEST], *arguments]),
    ):
        for word in (word for text in texts for word in words_of(text)):
            words[word] += weight
    return words


def scores_of(operations: tuple[Tool, ...]) -> dict[str, bytes]:
    """Return the scores of each word, with the numbers of the operations that have it.  O(words of all)."""
    counted = [counted_words(tool) for tool in operations]
    usual = sum(map(Counter.total, counted)) / len(counted)
    times = Counter(word for words in counted for word in words)
    scores: dict[str, list[bytes]] = {word: [] for word in sorted(times)}
    for number, words in enumerate(counted):
        length = 1 - LENGTH + LENGTH * words.total() / usual
        for word, count in words.items():
            rare = log(1 + (len(counted) - times[word] + 0.5) / (times[word] + 0.5))
            score = rare * count * (SATURATION + 1) / (count + SATURATION * length)
            scores[word].append(SCORE.pack(number, round(THOUSAND * score)))
    return {word: b"".join(rows) for word, rows in scores.items()}
