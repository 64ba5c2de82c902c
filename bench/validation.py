"""Compare compiled validators with others, alternating in one process; and measure loading them in a new one.

    python bench/validation.py [--quick]

Four schemas, from one with a single property to one with every common keyword, each with valid and invalid arguments.
The result is the ratio of another validator's time to that of the compiled one. Then the validators of many real tools
are loaded from a built file, by a new Python process.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import importlib.util
import json
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import places

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Json = Any
    Judge = Callable[[Json], object]

REAL_TOOLS = places.ROOT.parent / "shared/data/real-tools.json"
COLD = Path(__file__).resolve().parent / "peers/cold_validators.py"
FOLDER = places.CACHE / "validation"
OURS = "mcpc"
MIN_RATIOS = {"pydantic": 2.0, "fastjsonschema": 5.0, "jsonschema": 70.0}
"""Minimum ratio of another validator's time to accept a valid value."""
IMPORT_MS, FIRST_MS = 1.0, 0.2
SLICE = 0.002
"""Seconds of one measurement, reached by repeated calls."""


@dataclass(frozen=True, slots=True)
class Case:
    """A schema with valid and invalid arguments."""

    schema: Json
    valid: Json
    invalid: Json


@dataclass(frozen=True, slots=True)
class Figure:
    """Nanoseconds of a validator, and their ratio to those of mcpc: by medians, and by minimums."""

    case: str
    name: str
    valid: float
    invalid: float
    slower: float
    slower_least: float
    slower_invalid: float

    @property
    def is_met(self) -> bool | None:
        """Whether mcpc is fast enough beside this one, if there is a goal."""
        least = MIN_RATIOS.get(self.name)
        return None if least is None else min(self.slower, self.slower_least) >= least


@dataclass(frozen=True, slots=True)
class Cold:
    """Milliseconds of a new process to load all validators and to validate for the first time; and its memory."""

    tools: int
    load: float
    find: float
    first: float
    slowest_first: float
    kib: float


STEP = {
    "type": "object",
    "properties": {
        "run": {"type": "string", "minLength": 1},
        "args": {"type": "object", "additionalProperties": {"type": ["string", "integer", "boolean"]}},
    },
    "required": ["run"],
    "additionalProperties": False,
}
FILE = {
    "type": "object",
    "properties": {"kind": {"const": "file"}, "path": {"type": "string"}},
    "required": ["kind", "path"],
}
ADDRESS = {
    "type": "object",
    "properties": {"kind": {"const": "url"}, "url": {"type": "string"}},
    "required": ["kind", "url"],
}
TYPICAL_SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "pattern": "^[a-z][a-z0-9-]*$", "maxLength": 64},
        "priority": {"enum": ["low", "normal", "high", "urgent"]},
        "labels": {"type": "array", "items": {"type": "string"}, "maxItems": 10, "uniqueItems": True},
        "steps": {"type": "array", "items": {"$ref": "#/$defs/step"}, "minItems": 1},
        "target": {"oneOf": [FILE, ADDRESS]},
        "limit": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]},
        "timeout": {"type": "number", "exclusiveMinimum": 0, "maximum": 3600},
        "dry_run": {"type": "boolean"},
    },
    "required": ["name", "priority", "steps"],
    "additionalProperties": False,
    "$defs": {"step": STEP},
}
TYPICAL = {
    "name": "nightly-release-check",
    "priority": "high",
    "labels": ["release", "nightly", "linux"],
    "steps": [
        {"run": "make test", "args": {"jobs": 4, "verbose": True}},
        {"run": "make dist", "args": {"target": "wheel", "sign": False}},
        {"run": "upload"},
    ],
    "target": {"kind": "url", "url": "https://example.com/nightly.zip"},
    "limit": None,
    "timeout": 900.5,
    "dry_run": False,
}
REVIEW = {
    "owner": "octo-org",
    "repo": "octo-repo",
    "pull_number": 42,
    "body": "Two things before this can go in.",
    "event": "REQUEST_CHANGES",
    "comments": [
        {"path": "src/main.py", "position": 3, "body": "This needs a test."},
        {"path": "src/main.py", "line": 17, "body": "Name the unit."},
    ],
}
EDIT = {"path": "notes.txt", "edits": [{"oldText": "one", "newText": "two"}, {"oldText": "a", "newText": "b"}]}
REAL: dict[str, tuple[str, str, Json, Json]] = {
    "create_pull_request_review": (
        "github",
        "create_pull_request_review",
        REVIEW,
        {**REVIEW, "comments": [*REVIEW["comments"], {"path": "src/main.py", "body": "Where?"}]},  # type: ignore[misc]
    ),
    "edit_file": ("filesystem", "edit_file", EDIT, {"path": "notes.txt", "edits": [{"oldText": "one"}]}),
    "echo": ("everything", "echo", {"message": "hello"}, {"message": 1}),
}


def cases() -> dict[str, Case]:
    """Return the schemas: one is written here, the others are of real tools, if their definitions are here."""
    found = {"typical": Case(TYPICAL_SCHEMA, TYPICAL, {**TYPICAL, "target": {"kind": "url", "path": "a"}})}
    if REAL_TOOLS.exists():
        tools = json.loads(REAL_TOOLS.read_text(encoding="utf-8"))
        for case, (server, name, valid, invalid) in REAL.items():
            schema = next(tool["inputSchema"] for tool in tools[server] if tool["name"] == name)
            found[case] = Case(schema, valid, invalid)
    return found


def of_mcpc(schema: Json) -> Judge:
    """Return the compiled predicate."""
    accepts: Judge = importlib.import_module("mcpc.schema").compile(schema).accepts
    return accepts


def of_mcpc_with_complaints(schema: Json) -> Judge:
    """Return the function of a call: the predicate, and the collector after a rejection."""
    validator = importlib.import_module("mcpc.schema").compile(schema)
    accepts, errors = validator.accepts, validator.errors
    return lambda value: accepts(value) or errors(value)


def of_pydantic(schema: Json) -> Judge:
    """Return the validation by a model generated from the schema."""
    generator = importlib.import_module("datamodel_code_generator")
    source = generator.generate(
        json.dumps(schema),
        input_file_type=generator.InputFileType.JsonSchema,
        output_model_type=generator.DataModelType.PydanticV2BaseModel,
        class_name="Arguments",
        field_constraints=True,
        use_annotated=True,
        disable_timestamp=True,
        formatters=[],
    )
    path = FOLDER / "model.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source)
    spec = importlib.util.spec_from_file_location("validation_model", path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["validation_model"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    validate: Judge = module.Arguments.__pydantic_validator__.validate_python
    return validate


def of_fastjsonschema(schema: Json) -> Judge:
    """Return the generated function, without filling in defaults."""
    judge: Judge = importlib.import_module("fastjsonschema").compile(schema, use_default=False)
    return judge


def of_jsonschema(schema: Json) -> Judge:
    """Return the validator's predicate."""
    library = importlib.import_module("jsonschema")
    judge: Judge = library.validators.validator_for(schema, default=library.Draft202012Validator)(schema).is_valid
    return judge


def of_jsonschema_rs(schema: Json) -> Judge:
    """Return the validator's predicate."""
    judge: Judge = importlib.import_module("jsonschema_rs").validator_for(schema).is_valid
    return judge


VALIDATORS: dict[str, Callable[[Json], Judge]] = {
    OURS: of_mcpc,
    "mcpc, with complaints": of_mcpc_with_complaints,
    "jsonschema-rs": of_jsonschema_rs,
    "pydantic": of_pydantic,
    "fastjsonschema": of_fastjsonschema,
    "jsonschema": of_jsonschema,
}


def accepts(judge: Judge, value: Json) -> bool:
    """Tell whether a validator accepts, by a return value or an exception."""
    try:
        answer = judge(value)
    except ValueError:
        return False
    return answer is not False and not isinstance(answer, list)


def spent(judge: Judge, value: Json, count: int) -> float:
    """Return the CPU nanoseconds per call; other processes affect only the wall clock."""
    began = time.process_time_ns()
    for _ in repeat(None, count):
        try:  # noqa: SIM105 - a context manager would cost more than some of what is measured
            judge(value)
        except ValueError:
            pass
    return (time.process_time_ns() - began) / count


def calls_in(judge: Judge, value: Json) -> int:
    """Return the number of calls that fill the time of one measurement."""
    return max(1, int(SLICE * 1e9 / min(spent(judge, value, 3) for _ in range(5))))


def compared(case: Case, rounds: int) -> dict[str, tuple[list[float], list[float]]]:
    """Return the nanoseconds of every validator, for the valid and for the invalid value, in alternation."""
    judges = {name: make(case.schema) for name, make in VALIDATORS.items()}
    wrong = [name for name, judge in judges.items() if not accepts(judge, case.valid) or accepts(judge, case.invalid)]
    if wrong:
        raise ValueError(f"{', '.join(wrong)} judge otherwise than the case says")
    values = (case.valid, case.invalid)
    counts = {(name, at): calls_in(judge, values[at]) for name, judge in judges.items() for at in (0, 1)}
    times: dict[tuple[str, int], list[float]] = {key: [] for key in counts}
    for number in range(rounds):
        for name, at in list(counts)[:: -1 if number % 2 else 1]:
            times[name, at].append(spent(judges[name], values[at], counts[name, at]))
    return {name: (times[name, 0], times[name, 1]) for name in judges}


def hot(rounds: int) -> Iterator[Figure]:
    """Yield the result of every validator for every case, with garbage collection off."""
    for case, given in cases().items():
        gc.collect()
        gc.disable()
        try:
            found = compared(given, rounds)
        finally:
            gc.enable()
        for name in found:
            yield figure(case, name, found)


def figure(case: str, name: str, found: Mapping[str, tuple[list[float], list[float]]]) -> Figure:
    """Return the result of one validator."""
    (valid, invalid), (ours, ours_invalid) = found[name], found[OURS]
    middle, middle_invalid = statistics.median(valid), statistics.median(invalid)
    return Figure(
        case,
        name,
        middle,
        middle_invalid,
        middle / statistics.median(ours),
        min(valid) / min(ours),
        middle_invalid / statistics.median(ours_invalid),
    )


def write_real_project(folder: Path) -> Path:
    """Write a project with all real tools, each named after its server."""
    tools = [
        {**tool, "name": f"{server}_{tool['name'].replace('-', '_')}"}
        for server, offered in json.loads(REAL_TOOLS.read_text(encoding="utf-8")).items()
        for tool in offered
    ]
    names = [tool["name"] for tool in tools]
    files = {
        "server.json": json.dumps({"serverInfo": {"name": "real", "version": "1.0.0"}}),
        "tools.json": json.dumps({"tools": tools}),
        "tools.py": "".join(f"def {name}(**given):\n    return given\n\n\n" for name in names),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def example(schema: Mapping[str, Json]) -> Json:
    """Return a value with all required members that a simple schema accepts."""
    if "const" in schema or "enum" in schema:
        return schema.get("const", next(iter(schema.get("enum", ())), None))
    for keyword in ("anyOf", "oneOf"):
        if keyword in schema:
            return example(schema[keyword][0])
    named = schema.get("properties", {})
    kind = schema.get("type", "object" if named else "string")
    if kind == "object":
        return {name: example(named.get(name, {})) for name in schema.get("required", ())}
    if kind == "array":
        return [example(schema.get("items", {})) for _ in range(max(1, int(schema.get("minItems", 1))))]
    return {"integer": schema.get("minimum", 1), "number": schema.get("minimum", 1.5), "boolean": True}.get(
        kind, "a" * int(schema.get("minLength", 1))
    )


def cold(rounds: int) -> Cold | None:
    """Return the medians over new processes; None if the real tools' definitions are not here."""
    if not REAL_TOOLS.exists():
        return None
    server = FOLDER / "real.pyz"
    project = write_real_project(FOLDER / "project")
    places.build(project, server, places.CACHE / "builds")
    tools = json.loads((project / "tools.json").read_text(encoding="utf-8"))["tools"]
    values = json.dumps({tool["name"]: example(tool["inputSchema"]) for tool in tools})
    runs = [cold_run(server, values) for _ in range(rounds)]
    middle = {key: statistics.median([run[key] for run in runs]) for key in runs[0]}
    return Cold(len(tools), **middle)


def cold_run(server: Path, values: str) -> dict[str, float]:
    """Return the results of one new process."""
    argv = [str(places.clean_python()), "-I", "-S", str(COLD), str(server)]
    done = subprocess.run(argv, input=values, capture_output=True, text=True, check=True, env=places.environment())
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> int:
    """Measure and print; return 1 if a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    rounds = 5 if parser.parse_args().quick else 25
    missed = 0
    for found in hot(rounds):
        missed += found.is_met is False
        verdict = {None: "", True: "  met", False: "  MISSED"}[found.is_met]
        print(f"  {found.case:<28}{found.name:<24}{figure_text(found)}{verdict}")
    start = cold(rounds)
    if start:
        missed += start.load > IMPORT_MS or start.slowest_first > FIRST_MS
        print(f"  {cold_text(start)}")
    return 1 if missed else 0


def figure_text(figure: Figure) -> str:
    """Return a result as text."""
    return (
        f"valid {figure.valid:,.0f} ns {figure.slower:.1f}x (least {figure.slower_least:.1f}x), "
        f"invalid {figure.invalid:,.0f} ns {figure.slower_invalid:.1f}x"
    )


def cold_text(found: Cold) -> str:
    """Return the results of a new process as text."""
    return (
        f"{found.tools} validators loaded in {found.load:.2f} ms (found in {found.find:.2f} ms, {found.kib:.0f} KiB), "
        f"first validation {found.first:.4f} ms, the slowest {found.slowest_first:.3f} ms"
    )


if __name__ == "__main__":
    sys.exit(main())
