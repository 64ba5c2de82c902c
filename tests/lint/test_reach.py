"""Which tests a tier runs, and a change reaches, in a small tree: by imports, strings, builds, commands, data and names."""

from pathlib import Path

import pytest

import tiers
from support.needs import ROOT
from support.reach import Imports

TREE = {
    "compiler/mcpc/__init__.py": "",
    "compiler/mcpc/pipeline.py": "from mcpc.pack import (\n    archive,  # a comment\n    zip_writer as writer,\n)\n",
    "compiler/mcpc/pack/__init__.py": "",
    "compiler/mcpc/pack/archive.py": "",
    "compiler/mcpc/pack/zip_writer.py": "if TYPE_CHECKING:\n    from mcpc.release.scan import rules\n\n    import x\n\nVALUE = 1\n",
    "compiler/mcpc/pack/launcher.bin": "",
    "compiler/mcpc/release/scan/__init__.py": "",
    "compiler/mcpc/release/scan/rules.py": "",
    "compiler/mcpc/cli/__init__.py": "",
    "compiler/mcpc/cli/import_.py": "",
    "compiler/mcpc/cli/scan.py": "import mcpc.release.scan.rules\n",
    "runtime/mcpc_runtime/__init__.py": "",
    "runtime/mcpc_runtime/main.py": 'call = lazy("mcpc_runtime.calls:call")\n',
    "runtime/mcpc_runtime/calls.py": "",
    "runtime/mcpc_runtime/transports/platforms/__init__.py": "",
    "runtime/mcpc_runtime/transports/platforms/files.py": "bind_port(SYSTEM)\n",
    "runtime/mcpc_runtime/transports/platforms/posix/__init__.py": "",
    "runtime/mcpc_runtime/transports/platforms/posix/files.py": "",
    "tests/conftest.py": "from support.artifact import build\n",
    "tests/support/artifact.py": "from mcpc import pipeline\n",
    "tests/compiler/test_archive.py": "from mcpc.pack.archive import x\n",
    "tests/compiler/test_golden.py": 'FILE = ROOT / "golden/rows.json"\n',
    "tests/compiler/test_scan.py": 'from support.artifact import mcpc\nmcpc("scan", "x")\nmcpc("import", "x")\n',
    "tests/runtime/test_calls.py": "from mcpc_runtime.calls import call\n",
    "tests/runtime/test_files.py": "from mcpc_runtime.transports.platforms import files\n",
    "tests/runtime/test_main.py": "from mcpc_runtime import main\n",
    "tests/system/conftest.py": "from system.projects import one\n",
    "tests/system/projects.py": "",
    "tests/system/test_build.py": "from support.artifact import build\n",
    "tests/system/test_example.py": 'def test_it(files_server): ROOT / "examples/files"\n',
}
ALL_BUILT = ["compiler/test_scan", "system/test_build", "system/test_example"]


@pytest.fixture
def imports(tmp_path: Path) -> Imports:
    for name, text in TREE.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return Imports(tmp_path)


@pytest.mark.parametrize(
    ("changed", "reached"),
    [
        ("compiler/mcpc/pack/archive.py", ["compiler/test_archive", *ALL_BUILT]),
        ("compiler/mcpc/pack/zip_writer.py", ALL_BUILT),
        ("compiler/mcpc/pack/__init__.py", ["compiler/test_archive", *ALL_BUILT]),
        ("compiler/mcpc/pack/launcher.bin", ["compiler/test_archive", *ALL_BUILT]),
        ("compiler/mcpc/pack/deleted.py", ["compiler/test_archive", *ALL_BUILT]),
        ("compiler/mcpc/release/scan/rules.py", ["compiler/test_scan"]),
        ("compiler/mcpc/cli/import_.py", ["compiler/test_scan"]),
        (
            "runtime/mcpc_runtime/calls.py",
            ["compiler/test_scan", "runtime/test_calls", "runtime/test_main", *ALL_BUILT[1:]],
        ),
        (
            "runtime/mcpc_runtime/transports/platforms/posix/files.py",
            ["compiler/test_scan", "runtime/test_files", *ALL_BUILT[1:]],
        ),
        ("tests/golden/rows.json", ["compiler/test_golden"]),
        ("tests/system/projects.py", ["system/test_build", "system/test_example"]),
        ("tests/runtime/test_calls.py", ["runtime/test_calls"]),
        ("examples/files/tools.json", ["system/test_example"]),
        ("README.md", []),
        ("tests/lint/pages.py", []),
        ("pyproject.toml", None),
        ("tests/conftest.py", None),
        ("strange/file.txt", None),
    ],
)
def test_what_a_change_reaches(imports: Imports, changed: str, reached: list[str] | None) -> None:
    assert imports.tests_of([changed]) == (None if reached is None else [f"tests/{name}.py" for name in reached])


def test_changes_reach_together_what_each_reaches(imports: Imports) -> None:
    both = imports.tests_of(["compiler/mcpc/release/scan/rules.py", "tests/golden/rows.json", "README.md"])
    assert both == ["tests/compiler/test_golden.py", "tests/compiler/test_scan.py"]
    assert imports.tests_of(["README.md", "Makefile"]) is None
    assert imports.tests_of([]) == []


@pytest.mark.parametrize("name", tiers.SMOKE)
def test_a_case_of_make_test_is_there(name: str) -> None:
    """Workers that do not find one run nothing, and do not say why."""
    file, _, test = name.partition("::")
    text = (ROOT / file).read_text("utf-8")
    assert not test or f"def {test}(" in text


def test_tests_under_wine_are_for_what_windows_runs() -> None:
    below = "runtime/mcpc_runtime/transports/platforms"
    paths = [f"{below}/{name}" for name in ("posix/reactor.py", "pipes.py", "windows/pipes.py")]
    assert [path for path in paths if tiers.OF_OTHER_SYSTEMS.match(path)] == paths[1:]
