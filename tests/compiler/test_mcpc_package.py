"""The package itself: its public names, what a file that was run directly is told, and where modules are found."""

import atexit
import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

import mcpc
from mcpc.sandbox import search_path
from mcpc.sandbox.confinement import model
from mcpc_runtime.handlers.python import authoring

AUTHORED = sorted({*mcpc.__all__} - {"__version__"})


def test_public_names_are_those_of_the_runtime() -> None:
    for name in AUTHORED:
        assert mcpc.__getattr__(name) is getattr(authoring, name)
    assert {*mcpc.__all__} <= {*dir(mcpc)}
    assert dir(mcpc) == sorted({*dir(mcpc)})
    with pytest.raises(AttributeError, match="'mcpc' has no attribute 'Servers'"):
        mcpc.__getattr__("Servers")


def test_a_name_registers_one_report(monkeypatch: pytest.MonkeyPatch) -> None:
    registered: list[tuple[object, ...]] = []
    monkeypatch.setattr(atexit, "register", lambda *words: registered.append(words))
    monkeypatch.setattr(mcpc, "_is_registered", False)
    monkeypatch.setattr(sys.modules["__main__"], "__file__", "server.py", raising=False)
    for name in ("tool", "prompt"):
        mcpc.__getattr__(name)
    ((report, file),) = registered
    assert file == "server.py"
    assert callable(report)


@pytest.mark.parametrize(
    ("file", "members", "is_told"),
    [
        ("server.py", {"m": authoring.Server("x")}, True),
        ("server.py", {"f": authoring.tool(lambda: None)}, True),
        ("server.py", {"x": 1}, False),
        ("", {"m": authoring.Server("x")}, False),
    ],
)
def test_who_runs_a_server_directly_is_told(
    file: str,
    members: dict[str, object],
    is_told: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    main = ModuleType("__main__")
    vars(main).update(members)
    monkeypatch.setitem(sys.modules, "__main__", main)
    mcpc._report_direct_run(file)
    told = capsys.readouterr().err
    assert told.startswith("server.py ") is is_told
    assert told.endswith("\n") is is_told
    monkeypatch.delitem(sys.modules, "mcpc_runtime.handlers.python.authoring")
    mcpc._report_direct_run(file)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("first", ["", "HERE"])
def test_modules_are_not_looked_for_in_the_working_folder(
    first: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    here = str(tmp_path.resolve())
    for path, kept in (
        ([first.replace("HERE", here), "/a", here], ["/a", here]),
        (["/a", here, ""], ["/a", here, ""]),
        ([], []),
    ):
        monkeypatch.setattr(sys, "path", [*path])
        importlib.reload(search_path)
        assert sys.path == kept
    monkeypatch.setattr(mcpc, "__file__", f"{here}/mcpc/__init__.py")  # the compiler itself is there
    monkeypatch.setattr(sys, "path", [here])
    importlib.reload(search_path)
    assert sys.path == [here]


def test_an_import_may_take_twenty_seconds() -> None:
    assert (model.IMPORT_SECONDS, model.IMPORT_GRACE_SECONDS) == (20, 5)
    assert "20 seconds" in model.TIME_LIMIT_MESSAGE
