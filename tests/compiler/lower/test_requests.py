"""Requests as data: the plan that each becomes, or what is said of it, and of which text."""

import json
from collections.abc import Callable
from pathlib import Path

from mcpc.lower.request_security import FORM
from mcpc.lower.request_values import BASE
from mcpc.lower.requests import request_handler
from support.needs import ROOT
from support.schemas import node_of

REQUESTS = ROOT / "tests/golden/lower/requests.txt"
DEFAULTS = {"method": "GET", "base": "https://a.example", "path": "/x"}
TEXTS = {FORM: "(ways to authenticate)", BASE: "(bases)"}


def printed(line: str) -> str:
    """Return the plan and the settings of a request, or its problems; the line names the arguments, or the schema."""
    names, request = json.loads(line)
    schema = {"properties": {key: {} for key in names.split()}} if isinstance(names, str) else names
    handler = {"http": {**DEFAULTS, **request} if isinstance(request, dict) else request}
    text = json.dumps({"inputSchema": schema, "_meta": {"mcpc/handler": handler}}, ensure_ascii=False)
    bound, problems = request_handler(node_of(text))
    rows = []
    if bound is not None:
        plan = {key: value for key, value in bound.plan.items() if key not in DEFAULTS or key in request}
        uses = (f"{text[use.span.start : use.span.end]} is {use.name}" for use in bound.settings)
        rows = [", ".join((json.dumps(plan, ensure_ascii=False), *uses))]
    for problem in problems:
        assert problem.span is not None
        place = text[problem.span.start : problem.span.end]
        rest = filter(None, (TEXTS.get(problem.expected, problem.expected), problem.hint))
        rows.append(" | ".join((problem.code, place, problem.message, *rest)))
    return "\n    ".join([line, *rows])


def test_a_request_is_data(golden: Callable[[Path, str], None]) -> None:
    lines = [line for line in REQUESTS.read_text("utf-8").splitlines() if not line.startswith("    ")]
    golden(REQUESTS, "\n".join(map(printed, lines)) + "\n")
