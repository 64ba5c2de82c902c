"""Whether every value that one JSON Schema accepts is accepted by another.

    decision.py     the question, its three answers, and the search for a value that the first accepts only
    branches.py     schemas as alternatives of simple constraints (a tableau), for one JSON type at a time
    numbers.py      strings.py      arrays.py      objects.py
                    values of one type that satisfy such constraints
    patterns.py     texts that match and do not match patterns: automata
    judge.py        validation of one value, which every answer "no" has passed
    nodes.py        schemas as nodes, each distinct one once

"yes" is a proof: the search has gone through all alternatives, and what it cannot decide it takes as possible.  "no"
has a witness, which a separate validator has accepted by the first schema and refused by the second.  Anything else is
"undecided", with the reason.
"""

from mcpc.release.subsumption.decision import Answer, Decision, subsumes

__all__ = ["Answer", "Decision", "subsumes"]
