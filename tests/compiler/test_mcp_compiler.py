"""The command before anything of `mcpc` is imported, and the plugin of pytest: what is collected, started and refused."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest

import mcp_compiler
from mcp_compiler import main, other_project, pytest_plugin
from mcp_compiler.pytest_plugin import CaseFile, TestedServer, project_of, pytest_collect_file
from mcpc.workbench.testing.model import Variant
from support.files import write_files


def test_another_project_of_this_name_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran: list[str] = []
    monkeypatch.setattr(
        mcp_compiler.importlib, "import_module", lambda name: SimpleNamespace(main=lambda: ran.append(name))
    )
    main()
    assert (other_project(), ran) == ("", ["mcpc.cli"])
    for origin, words in ((str(tmp_path / "other.py"), "other.py"), (None, "nowhere")):
        monkeypatch.setattr(mcp_compiler, "find_spec", lambda _, origin=origin: SimpleNamespace(origin=origin))
        assert words in other_project()
    monkeypatch.setattr(mcp_compiler, "find_spec", lambda _: None)
    with pytest.raises(SystemExit) as ended:
        main()
    assert (ended.value.code, ran) == (8, ["mcpc.cli"])
    assert capsys.readouterr().err == f"mcpc: {other_project()}.\n{mcp_compiler.REPAIR}"
    monkeypatch.undo()
    write_files(tmp_path, {"mcpc-0.2.dist-info/x": "", "mcpc-0.1.dist-info/x": "", "mcpc/__init__.py": ""})
    monkeypatch.setattr(mcp_compiler, "PLACE", tmp_path)
    monkeypatch.setattr(mcp_compiler, "find_spec", lambda _: SimpleNamespace(origin=str(tmp_path / "mcpc/__init__.py")))
    assert other_project().startswith("`mcpc` 0.1, ")


class Config:
    def __init__(self, root: Path, option: str = "", ini: str = "", cases: bool = True) -> None:
        self.rootpath, self.option, self.ini = root, option, {"mcp_project": ini, "mcp_cases": cases}
        self.stash: dict[Any, Any] = {}
        self.cleanups: list[Callable[[], None]] = []

    def getoption(self, _: str) -> str:
        return self.option

    def getini(self, name: str) -> Any:
        return self.ini[name]

    def add_cleanup(self, function: Callable[[], None]) -> None:
        self.cleanups.append(function)


def config(root: Path, **given: Any) -> Any:
    return Config(root, **given)


def test_the_project_is_that_of_the_option_then_of_the_file_then_this_folder(tmp_path: Path) -> None:
    assert project_of(config(tmp_path)) == tmp_path
    assert project_of(config(tmp_path, ini="a")) == tmp_path / "a"
    assert project_of(config(tmp_path, option="b", ini="a")) == tmp_path / "b"


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    done: list[Any] = []

    @contextmanager
    def served_target(target: Path, given: dict[str, Any], seconds: float) -> Iterator[tuple[Any, Any]]:
        done.append((target.name, given, seconds))
        if target.name == "fails":
            raise click.exceptions.Exit(1)
        if target.name == "wrong":
            raise click.UsageError("it is wrong")
        yield "served", {"tools": []}
        done.append("ended")

    def callable_server(served: Any, facts: Any, stack: Any) -> Any:
        return SimpleNamespace(
            is_served_over=lambda transport: transport == "stdio",
            failures=lambda case, variant: ["text", "  differs"] if case == "bad" else [],
        )

    monkeypatch.setattr("mcpc.cli.test.served_target", served_target)
    monkeypatch.setattr("mcpc.workbench.testing.fixture.CallableServer", callable_server)
    return done


def test_a_server_is_built_once_and_ends_with_the_run(
    served: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = config(tmp_path)
    assert TestedServer.of(one) is TestedServer.of(one)
    assert TestedServer.of(one).started() is TestedServer.of(one).started()
    assert served == [(tmp_path.name, {}, 60.0)]
    (cleanup,) = one.cleanups
    cleanup()
    assert served[1:] == ["ended"]
    for name, words in (("fails", "does not build"), ("wrong", "it is wrong")):
        with pytest.raises(pytest.fail.Exception, match=words):
            TestedServer.of(config(tmp_path, option=name)).started()
    monkeypatch.setattr(pytest_plugin, "other_project", lambda: "another project")
    with pytest.raises(pytest.fail.Exception, match="another project"):
        TestedServer.of(config(tmp_path)).started()


@pytest.mark.parametrize(
    ("path", "cases", "is_collected"),
    [
        ("tests/a.yaml", True, True),
        ("tests/a.json", True, True),
        ("tests/a.py", True, False),
        ("a.yaml", True, False),
        ("tests/a.yml", False, False),
    ],
)
def test_files_of_cases_are_collected(
    path: str, cases: bool, is_collected: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Path] = []
    monkeypatch.setattr(CaseFile, "from_parent", lambda parent, path: made.append(path) or "file")
    parent: Any = SimpleNamespace(config=config(tmp_path, cases=cases))
    assert (pytest_collect_file(tmp_path / path, parent) == "file", made == [tmp_path / path]) == (
        is_collected,
        is_collected,
    )


def test_each_way_of_a_case_is_a_test(served: list[Any], tmp_path: Path, request: pytest.FixtureRequest) -> None:
    write_files(
        tmp_path,
        {
            "tests/a.yaml": "tests:\n- {name: a, tool: t}\n- {name: b, tool: t, era: stateless, transport: stdio}\n",
            "tests/b.yaml": "tests:\n- {tol: t}\n",
        },
    )
    file: Any = CaseFile.from_parent(request.session, path=tmp_path / "tests/a.yaml")
    found = [*file.collect()]
    assert [each.name for each in found] == [
        *(f"a[{transport}-{era}]" for transport in ("stdio", "http") for era in ("handshake", "stateless")),
        "b[stdio-stateless]",
    ]
    assert [each.reportinfo() for each in found[-2:]] == [
        (file.path, 1, "a[http-stateless]"),
        (file.path, 2, "b[stdio-stateless]"),
    ]
    wrong: Any = CaseFile.from_parent(request.session, path=tmp_path / "tests/b.yaml")
    with pytest.raises(pytest.Collector.CollectError, match="MCP602"):
        [*wrong.collect()]


@pytest.mark.parametrize(
    ("case", "transport", "outcome"),
    [("good", "stdio", None), ("bad", "stdio", pytest.fail.Exception), ("good", "http", pytest.skip.Exception)],
)
def test_a_case_passes_fails_or_is_skipped(
    case: str, transport: str, outcome: Any, served: list[Any], tmp_path: Path
) -> None:
    item: Any = SimpleNamespace(
        config=config(tmp_path), _placed=SimpleNamespace(case=case), _variant=Variant(transport, "stateless")
    )
    if outcome is None:
        pytest_plugin.CaseItem.runtest(item)
    else:
        with pytest.raises(outcome):
            pytest_plugin.CaseItem.runtest(item)
