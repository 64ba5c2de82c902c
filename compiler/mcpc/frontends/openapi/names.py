"""Names that every client and model takes, and that stay the same when a document grows.

A tool:      ^[a-zA-Z0-9_-]{1,64}$    its `operationId`, or its method and path; a long one is cut between words
An argument: ^[a-zA-Z0-9_.-]{1,64}$   the name in the document; `Time<` is `Time_lt`, `a[b]` is `a_b`, `ids[]` is `ids`

What is cut, or would be there twice, gets digits of a hash of what it is, never a number.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from mcpc.frontends.openapi.schemas import digits_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcpc.frontends.openapi.operations import Operation

LONGEST = 64
NOT_OF_TOOLS = re.compile(r"[^A-Za-z0-9_-]+")
NOT_OF_ARGUMENTS = re.compile(r"[^A-Za-z0-9_.-]+")
BOUNDARY = re.compile(r"[_-]|(?<=[a-z0-9])(?=[A-Z])")
SIGNS = {"<=": "_lte", ">=": "_gte", "<": "_lt", ">": "_gt", "!=": "_ne", "=": "_eq"}
SIGN = re.compile("|".join(map(re.escape, SIGNS)))


def tool_names(operations: Iterable[tuple[Operation, str]]) -> list[str]:
    """Return the names of operations, each with the name that it was given or an empty string."""
    rows = [(operation, plain_name(operation, given)) for operation, given in operations]
    times = Counter(name for _, name in rows)
    # All that share a name get digits, so that none of the names depends on the order of the document.
    return [name if times[name] == 1 else with_digits(name, operation.key) for operation, name in rows]


def plain_name(operation: Operation, given: str = "") -> str:
    """Return the name of an operation as if there were no other."""
    written = given or operation.identifier or f"{operation.method.lower()}_{operation.path}"
    name = NOT_OF_TOOLS.sub("_", written).strip("_") or operation.method.lower()
    name = re.sub("__+", "_", name)
    return name if len(name) <= LONGEST else with_digits(name, operation.key)


def with_digits(name: str, key: str) -> str:
    """Return a name with digits of its operation, cut between words if it would be too long."""
    # Seven characters are an underscore and the digits.
    longest = LONGEST - 7
    if len(name) > longest:
        # Only in the second half, so that most of the name stays.
        ends = [match.start() for match in BOUNDARY.finditer(name) if longest // 2 < match.start() <= longest]
        name = name[: ends[-1] if ends else longest]
    return f"{name}_{digits_of(key)}"


def argument_key(name: str) -> str:
    """Return the key of an argument."""
    plain = SIGN.sub(lambda match: SIGNS[match[0]], name)
    plain = NOT_OF_ARGUMENTS.sub("_", plain.replace("[]", "")).strip("_") or "value"
    return plain if len(plain) <= LONGEST else f"{plain[: LONGEST - 7]}_{digits_of(name)}"


def free_key(where: str, name: str, taken: Iterable[str]) -> str:
    """Return the key of an argument beside others: the first of a name has it, others say where they are."""
    taken = set(taken)
    plain = argument_key(name)
    located = argument_key(f"{where}_{name}")
    return next(
        (key for key in (plain, located) if key not in taken), f"{located[: LONGEST - 7]}_{digits_of(where + name)}"
    )


def variable_words(text: str) -> str:
    """Return a text as a part of the name of a variable: `apiKey` is `API_KEY`."""
    spread = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text)
    return re.sub(r"[^A-Z0-9]+", "_", spread.upper()).strip("_")
