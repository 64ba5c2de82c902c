"""The differences between two versions of a server, and what each means to its clients.

rules.py          every kind of change, with its stable id and its verdict
model.py          Change and Comparison
compare.py        all changes of a server: one row for each list and fact
items.py          tools, prompts, resources and templates: gone, new, and what is told of them
tools.py          prompts.py     server_facts.py
                  what is compared of each
schemas.py        input and output schemas
inclusion.py      whether a schema accepts all that another accepts: a rule for each keyword
constraints.py    branches.py     patterns.py
                  the rules of values, of alternatives, and of patterns
placed_schemas.py schemas in their documents, and the types of their values
keywords.py       the keywords of one schema, in groups that are decided together, and its annotations
declared.py       schemas as callers read them: what is not declared is not sent
renames.py        the likely new name of what is gone
next_version.py   the version number that the changes call for
accepted.py       changes that a project accepts, and other verdicts
formats/          reports
"""

from mcpc.release.comparison.compare import compare
from mcpc.release.comparison.model import Change, Comparison
from mcpc.release.comparison.rules import Impact

__all__ = ["Change", "Comparison", "Impact", "compare"]
