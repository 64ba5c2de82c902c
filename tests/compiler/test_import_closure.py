"""The closure of a module's imports has whatever Python imports with it, machine code included."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from mcpc.interpreters.selfcontained.executable import running_interpreter
from mcpc.interpreters.selfcontained.import_closure import imported_modules, library_closure
from mcpc.interpreters.selfcontained.library import library_modules
from mcpc.interpreters.selfcontained.linux import other_adapters
from mcpc.interpreters.selfcontained.request import CannotEmbedError
from mcpc.interpreters.selfcontained.shared_objects import SharedObjects, collect_shared_objects
from support.needs import ROOT, lacking

Modules = dict[str, tuple[bool, Path]]

IMPORT_EACH = """
import json, sys
import encodings.utf_8, io
found = {}
optional = sys.argv[1].split()
for name in sys.argv[2:]:
    sys.modules.update(dict.fromkeys(optional))
    sys.modules.pop(name, None)
    kept = dict(sys.modules)
    try:
        __import__(name)
    except ImportError:
        pass
    found[name] = sorted(set(sys.modules) - set(kept))
    for other in set(sys.modules) - set(kept):
        if other not in sys.builtin_module_names and not hasattr(sys.modules[other], "__file__"):
            kept[other] = sys.modules[other]
    sys.modules.clear()
    sys.modules.update(kept)
print(json.dumps(found))
"""
USES = {
    "import time\n\ntime.strptime('1', '%d')\n": {"_strptime"},
    "import socket\n\nsocket.gethostbyname('a')\n": {"encodings.idna", "unicodedata"},
    "'ä.example'.encode('idna')\n": {"encodings.idna", "unicodedata"},
    "from urllib.parse import urlsplit\n": {"unicodedata"},
    "import re\n\nre.compile(r'\\N{BULLET}')\n": {"unicodedata"},
    "from concurrent.futures import ProcessPoolExecutor\n": {"concurrent.futures.process", "multiprocessing.spawn"},
    "import tempfile\n": {"tempfile", "random"},
}
"""Sources, and modules that they import at run time by what they use."""


@pytest.fixture(scope="module")
def library() -> tuple[Modules, SharedObjects]:
    if sys.platform != "linux":
        pytest.skip("self-contained files for Linux are built on Linux")
    try:
        interpreter = running_interpreter()
        return library_modules(interpreter.standard_library), collect_shared_objects(
            interpreter, sys.builtin_module_names
        )
    except CannotEmbedError as problem:
        lacking(f"{problem} ({problem.diagnostic.hint})")


def closure_of(source: str, library: tuple[Modules, SharedObjects]) -> frozenset[str]:
    modules, objects = library
    roots = imported_modules({"handlers/tools.py": source.encode()}, {*modules, *objects.modules})
    return library_closure(roots, modules, objects.extensions)


LARGE = {
    "mcpc_runtime/server/tasks/sqlite.py": ("import sqlite3\n", "sqlite3", "MCPC_TASKS=sqlite:FILE"),
    "mcpc_runtime/systems/mcp_bash/providers/https_provider.py": ("import ssl\n", "ssl", '{"uri": "https://a"}'),
    ".mcpc/mcp-bash/lib/python/download.py": ("import ssl\n", "ssl", "mcp_download_safe"),
}
"""Modules of the runtime, what they import, and what a file of a project has that uses them."""


@pytest.mark.parametrize("name", LARGE)
def test_large_libraries_are_included_for_what_names_them(name: str) -> None:
    source, module, text = LARGE[name]
    entries = {name: source.encode(), "handlers/tool.sh": b"echo a\n", "mcpc_app/blob": text.encode()}
    assert module not in imported_modules(entries, {module})
    assert module in imported_modules({**entries, "handlers/notes.md": text.encode()}, {module})


def test_the_adapter_of_another_system_names_nothing() -> None:
    entries = {"mcpc_runtime/transports/platforms/windows/files.py": b"import winreg\n"}
    assert "winreg" in imported_modules(entries, {"winreg"})
    assert "winreg" not in imported_modules(entries, {"winreg"}, other_adapters("linux"))


@pytest.mark.slow
def test_what_machine_code_imports_is_included(library: tuple[Modules, SharedObjects]) -> None:
    modules, objects = library
    names = sorted(objects.modules)
    optional = " ".join(name for name, has_libraries in objects.extensions.items() if has_libraries)
    argv = [sys.executable, "-I", "-S", "-c", IMPORT_EACH, optional, *names]
    done = subprocess.run(argv, capture_output=True, timeout=120, check=True)
    imported: dict[str, list[str]] = json.loads(done.stdout)
    known = {*modules, *objects.modules}
    missing = {
        name: sorted(found)
        for name in names
        if (found := (set(imported[name]) & known) - library_closure([name], modules, objects.extensions))
    }
    assert len(names) > 30
    assert missing == {}


@pytest.mark.parametrize("source", USES, ids=[source.splitlines()[-1] for source in USES])
def test_what_a_use_imports_is_included(source: str, library: tuple[Modules, SharedObjects]) -> None:
    assert closure_of(source, library) >= USES[source]


def test_what_only_another_use_would_import_is_not_included(library: tuple[Modules, SharedObjects]) -> None:
    found = closure_of("import json\nimport pathlib\nimport tempfile\nimport urllib.parse as _\n", library)
    assert not found & {"decimal", "statistics", "ssl", "asyncio", "encodings.idna"}
    assert not closure_of("import json\nimport pathlib\n", library) & {"unicodedata", "stringprep"}


COROUTINES = "mcpc_runtime/handlers/python/worker/coroutines.py"


@pytest.mark.parametrize(
    ("handler", "expected"), [("def work():\n    pass\n", False), ("async def work():\n    pass\n", True)]
)
def test_an_event_loop_is_included_for_coroutines(
    handler: str, expected: bool, library: tuple[Modules, SharedObjects]
) -> None:
    modules, objects = library
    entries = {"handlers/tools.py": handler.encode(), COROUTINES: (ROOT / "runtime" / COROUTINES).read_bytes()}
    assert ("asyncio" in imported_modules(entries, {*modules, *objects.modules})) is expected
