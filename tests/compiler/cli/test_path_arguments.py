"""Paths on the command line: folders, built files, Python files that stand for their folder, and what is not there."""

from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from mcpc.cli import command_options
from mcpc.cli.command_options import ENTRY_KEY, PROJECT, TARGET, ProjectPath
from support.files import write_files

FILES = {
    "weather/server.py": "",
    "weather/tool.sh": "",
    "weather/made.pyz": "PK",
    "package/pyproject.toml": "",
    "package/src/app/main.py": "",
    "package/server.py": "",
}


@pytest.fixture(autouse=True)
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(write_files(tmp_path / "work", FILES))


def converted(kind: ProjectPath, words: str) -> tuple[str, str | None] | str:
    """Return the path and the entry, or the error."""
    context = click.Context(click.Command("build"), info_name="build")
    try:
        path = kind.convert(words, None, context)
    except click.UsageError as problem:
        return problem.message
    return path.as_posix(), context.meta.get(ENTRY_KEY)


@pytest.mark.parametrize(
    ("words", "of_project", "of_target"),
    [
        ("weather", ("weather", None), ("weather", None)),
        (".", (".", None), (".", None)),
        ("weather/server.py", ("weather", "server.py"), ("weather", "server.py")),
        ("weather/server.py:mcp", ("weather", "server.py:mcp"), ("weather", "server.py:mcp")),
        ("weather/server.py:make()", ("weather", "server.py:make()"), ("weather", "server.py:make()")),
        ("package/server.py", ("package", "server.py"), ("package", "server.py")),
        (
            "package/src/app/main.py",
            "package/src/app/main.py is a file of a project: expected `mcpc build package --entry src/app/main.py`",
            "package/src/app/main.py is a file of a project: expected `mcpc build package --entry src/app/main.py`",
        ),
        (
            "weather/tool.sh",
            "weather/tool.sh is a file; expected the project's folder, such as weather",
            ("weather/tool.sh", None),
        ),
        (
            "weather/made.pyz",
            "weather/made.pyz is a file; expected the project's folder, such as weather",
            ("weather/made.pyz", None),
        ),
        (
            "weatherr",
            "weatherr does not exist; expected a project folder; did you mean weather?",
            "weatherr does not exist; expected a project folder or a built file; did you mean weather?",
        ),
        (
            "weather/sever.py",
            "weather/sever.py does not exist; expected a project folder; did you mean weather/server.py?",
            "weather/sever.py does not exist; expected a project folder or a built file; did you mean weather/server.py?",
        ),
        (
            "weather/mad.pyz",
            "weather/mad.pyz does not exist; expected a project folder",
            "weather/mad.pyz does not exist; expected a project folder or a built file; did you mean weather/made.pyz?",
        ),
        (
            "none/such",
            "none/such does not exist; expected a project folder",
            "none/such does not exist; expected a project folder or a built file",
        ),
    ],
)
def test_a_path_is_a_folder_with_its_entry_or_an_error_that_names_what_is_near(
    words: str, of_project: object, of_target: object
) -> None:
    assert (converted(PROJECT, words), converted(TARGET, words)) == (of_project, of_target)


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        ("weather/server.py", "weather server.py"),
        ("weather/server.py --entry other.py", "weather other.py"),
        ("--entry other.py weather/server.py", "weather other.py"),
        ("weather", "weather "),
        ("", ". "),
    ],
)
def test_a_file_is_the_entry_of_a_build_unless_an_option_names_another(words: str, printed: str) -> None:
    @click.command()
    @command_options.PROJECT_ARGUMENT
    @command_options.build_options
    def command(project: Path, **given: Any) -> None:
        click.echo(f"{project} {command_options.read_options(given).entry}")

    done = CliRunner().invoke(command, words.split())
    assert (done.exit_code, done.output) == (0, f"{printed}\n")
