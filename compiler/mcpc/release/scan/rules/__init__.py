"""The rules of a scan, one module a family, and the tables by which they are run.

A rule of texts sees one text; a rule of servers one server; a rule of groups all servers of one
client, and a rule of machines those of all clients.  Rules return
hits; codes, risks and advice are rows of `mcpc.release.scan.codes`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.release.scan.rules.annotations import find_contradictions
from mcpc.release.scan.rules.arguments import find_asking_arguments
from mcpc.release.scan.rules.combinations import find_combination, find_combination_of_servers
from mcpc.release.scan.rules.credentials import find_credentials
from mcpc.release.scan.rules.entries import find_different_entries, find_in_entry
from mcpc.release.scan.rules.hidden_text import find_hidden_text
from mcpc.release.scan.rules.lengths import find_long_descriptions
from mcpc.release.scan.rules.links import find_links
from mcpc.release.scan.rules.orders import find_orders
from mcpc.release.scan.rules.other_tools import find_same_names, find_shadowing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mcpc.release.scan.model import Hit, ServerTexts, Text

TEXT_RULES: tuple[Callable[[Text], Iterator[Hit]], ...] = (
    find_orders,
    find_hidden_text,
    find_credentials,
    find_links,
    find_long_descriptions,
)
SERVER_RULES: tuple[Callable[[ServerTexts], Iterator[Hit]], ...] = (
    find_contradictions,
    find_asking_arguments,
    find_combination,
    find_in_entry,
)
NEIGHBOUR_RULES: tuple[Callable[[ServerTexts, Sequence[ServerTexts]], Iterator[Hit]], ...] = (find_shadowing,)
GROUP_RULES: tuple[Callable[[Sequence[ServerTexts]], Iterator[tuple[ServerTexts, Hit]]], ...] = (
    find_same_names,
    find_combination_of_servers,
)
MACHINE_RULES: tuple[Callable[[Sequence[ServerTexts]], Iterator[tuple[ServerTexts, Hit]]], ...] = (
    find_different_entries,
)
