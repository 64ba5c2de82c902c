"""Modules are described by a process, and those behind one that ends it by another; the test plays the processes."""

import json
from pathlib import Path
from typing import Any

import pytest

from mcpc.languages.bundling import module_inspection
from mcpc.languages.bundling.module_inspection import Description, describe_modules
from mcpc.sandbox.confinement import ConfinedProgram
from mcpc.sandbox.confinement.model import ProgramOutcome


def test_modules_behind_one_that_ends_the_process_are_described(monkeypatch: pytest.MonkeyPatch) -> None:
    rows: list[list[dict[str, Any]]] = [
        [{"begins": "a"}, {"handler": "function"}, {"begins": "b"}],
        [{"begins": "c"}, {"failure": {"message": "m", "stack": "at f (/x/src/c.ts:1:2)"}}, {"begins": "prompts"}],
    ]
    rows[1] += [{"prompts": ["p"]}, {"end": True}]
    seen: list[tuple[Any, ...]] = []

    def run(job: ConfinedProgram) -> ProgramOutcome:
        home, question = Path(job.words[-2]), json.loads(job.words[-1])
        assert (home.is_dir(), [*home.iterdir()], job.variables) == (True, [], {"HOME": str(home)})
        module = (job.folder / "a.js").read_text()
        seen.append((home, [*question["tools"]], question["prompts"], job.seconds, module))
        answer = "".join(f"{json.dumps(row)}\n" for row in rows[len(seen) - 1])
        return ProgramOutcome(answer.encode(), b"", 3, "")

    monkeypatch.setattr(module_inspection, "node_path", lambda: "node")
    monkeypatch.setattr(module_inspection.confinement, "run_confined", run)
    tools = {name: f"{name}.js" for name in "abc"}
    maps = {"a.js.map": b"{}"}
    assert describe_modules({"a.js": b"x"}, maps, tools, {"prompts": "p.js"}) == {
        "a": Description("function"),
        "b": Description(failure=ProgramOutcome(b"", b"", 3, "").how),
        "c": Description(failure="m", place=("src/c.ts", 1, 2)),
        "prompts": Description(prompts=("p",)),
    }
    second = module_inspection.SECONDS
    assert [row[1:4] for row in seen] == [
        (["a", "b", "c"], "p.js", 4 * second + module_inspection.GRACE_SECONDS),
        (["c"], "p.js", 2 * second + module_inspection.GRACE_SECONDS),
    ]
    assert (seen[0][0] != seen[1][0], seen[0][4]) == (True, "x\n//# sourceMappingURL=a.js.map\n")
