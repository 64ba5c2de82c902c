"""The differences between two versions of a server, and what each means to its clients.

rules.py          every kind of change, with its stable id and its verdict; one change; likely new names
compare.py        all changes of a server, the next version, and what a project accepts
items.py          tools, prompts, resources and templates: gone, new, and what is told of them
server_facts.py   the server itself
schemas.py        input and output schemas
inclusion.py      whether a schema accepts all that another accepts
constraints.py    the rule of each keyword
placed_schemas.py schemas in their documents, and the types of their values
reports.py        formats
"""

from mcpc.release.comparison.compare import compare
from mcpc.release.comparison.rules import Change, Comparison, Impact

__all__ = ["Change", "Comparison", "Impact", "compare"]
