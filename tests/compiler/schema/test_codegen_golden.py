"""The code of many small schemas, compared as a whole, and what it says of values."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mcpc.schema import CompiledSchema, CompileRequest, compilation, compile_schema
from mcpc.schema.codegen.program import SUPPORT
from mcpc.schema.dialects import DRAFT_2020_12, DRAFT_BY_NAME
from support.needs import ROOT
from support.schemas import functions, node_of

FOLDER = ROOT / "tests/golden/schemas"
SUBJECTS = ("arrays", "combinations", "defaults", "drafts", "objects", "references", "texts", "unevaluated", "values")


def compiled_case(case: dict[str, Any]) -> CompiledSchema:
    request = CompileRequest(
        closed=case.get("closed", False),
        completes=case.get("completes", False),
        assert_formats=case.get("asserts", False),
        dialect=DRAFT_BY_NAME.get(case.get("draft", ""), DRAFT_2020_12),
    )
    modules, problems = compile_schema(node_of(case["schema"]), request)
    assert modules is not None, (case["name"], problems)
    return modules


def without_support(source: str) -> str:
    """Return the text of a module with only the first lines of the functions that are the same in all modules."""
    for text in SUPPORT.values():
        source = source.replace(text, text.partition("\n")[0] + " ...")
    return source


def described(case: dict[str, Any]) -> Iterator[str]:
    """Yield what is compared of one case; its values are judged as it says."""
    modules = compiled_case(case)
    accepts, errors = functions(modules)
    names: dict[str, Any] = {}
    exec(modules.predicate, names)
    yield from (f"# {case['name']}\n\n", without_support(modules.predicate), "\n", without_support(modules.collector))
    for value in case["accepted"]:
        assert (accepts(value), errors(value)) == (True, []), (case["name"], value)
        if "complete" in names:
            yield f"{json.dumps(value)} is completed to {json.dumps(names['complete'](value))}\n"
    for value in case["refused"]:
        assert not accepts(value), (case["name"], value)
        yield f"{json.dumps(value)}: {errors(value)}\n"
    yield "\n"


@pytest.mark.parametrize("subject", SUBJECTS)
def test_the_code_of_a_schema(subject: str, golden: Callable[[Path, str], None]) -> None:
    compilation.compiled.clear()  # another test may have compiled the same schema
    cases = json.loads((FOLDER / f"{subject}.json").read_text("utf-8"))
    golden(FOLDER / f"{subject}.txt", "".join(text for case in cases for text in described(case)))
