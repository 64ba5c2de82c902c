"""What programs read of their environment is declared in the built file; the file has no value of a build."""

import json
import os
from pathlib import Path

import pytest

from mcpc.options import Options
from support.artifact import build, contents
from support.files import write_files
from support.projects import parsed
from support.stdio import only_text, replies

PROJECT = "[project]\nname = 'shop'\nversion = '1'\ndependencies = ['fastmcp==4.1.2', 'pydantic-settings']\n"
HEAD = """import os
from fastmcp import FastMCP
from helper import level
mcp = FastMCP("shop")
@mcp.tool
def add() -> str:
    return f"{os.environ['KEY']} {os.getenv('LATE')} {os.environ.get('UNITS', 'metric')}"
"""
HELPER = "import os\ndef level(name: str, other: str = 'info') -> str:\n    return os.environ.get(name, other)\n"
CLASS = """from enum import Enum
from pathlib import Path
from typing import Literal
from pydantic import AliasChoices, BaseModel, Field, HttpUrl, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict
class Base(BaseSettings):
    model_config = SettingsConfigDict(env_prefix="SHOP_", env_nested_delimiter="__", env_file=".env")
    token: SecretStr = Field(description="Token of the shop")
    retries: int
    url: HttpUrl
class Store(BaseModel):
    host: str = "localhost"
class Unit(Enum):
    A = "a"
    B = "b"
class Settings(Base):
    pin: SecretStr = SecretStr("none")
    mode: Literal["x", "y"] = "y"
    unit: Unit = Unit.A
    ratio: float | None = 0.5
    hosts: list[str] = Field(default_factory=list)
    where: Path = Path.home()
    other: str = Field("o", validation_alias=AliasChoices("OTHER", "ANOTHER"))
    store: Store = Store()
"""


def test_fields_of_classes_are_settings() -> None:
    written = f"{CLASS}{HEAD}settings = Settings()\nmcp.run()\n"
    found, problems = parsed({"pyproject.toml": PROJECT, "helper.py": HELPER, "server.py": written})
    assert found is not None, problems
    assert [each.as_json() for each in found.settings_read] == [
        {"name": "SHOP_TOKEN", "type": "string", "description": "Token of the shop", "required": True, "secret": True},
        {"name": "SHOP_RETRIES", "type": "integer", "required": True},
        {"name": "SHOP_URL", "type": "string", "required": True},
        {"name": "SHOP_PIN", "type": "string", "secret": True},
        {"name": "SHOP_MODE", "type": "string", "choices": ["x", "y"], "default": "y"},
        {"name": "SHOP_UNIT", "type": "string", "choices": ["a", "b"], "default": "a"},
        {"name": "SHOP_RATIO", "type": "number", "default": 0.5},
        {"name": "SHOP_HOSTS", "type": "string"},
        {"name": "SHOP_WHERE", "type": "string"},
        {"name": "OTHER", "type": "string", "default": "o"},
        {"name": "ANOTHER", "type": "string", "default": "o"},
        {"name": "SHOP_STORE__HOST", "type": "string", "default": "localhost"},
        {"name": "KEY", "type": "string", "secret": True},
        {"name": "LATE", "type": "string"},
        {"name": "UNITS", "type": "string"},
    ]
    assert {problem.code for problem in problems if problem.severity != "note"} == {"MCP404"}


OWN = f"""{CLASS}from mcpc import Server
class Declared(BaseSettings):
    level: str = "info"
mcp = Server("shop", version="1", settings=Declared)
@mcp.tool
def other() -> str:
    return f"{{Settings().other}} {{Declared().level}}"
"""


def test_classes_beside_decorated_functions_are_settings(tmp_path: Path) -> None:
    files = {"pyproject.toml": PROJECT.replace("'fastmcp==4.1.2', ", ""), "server.py": OWN}
    found, problems = parsed(files, Options(build_environment=(("SHOP_RETRIES", "3"),)))
    assert found is not None, problems
    assert [each.name for each in found.settings_read] == [
        *("SHOP_TOKEN", "SHOP_RETRIES", "SHOP_URL", "SHOP_PIN", "SHOP_MODE", "SHOP_UNIT", "SHOP_RATIO", "SHOP_HOSTS"),
        *("SHOP_WHERE", "OTHER", "ANOTHER", "SHOP_STORE__HOST"),
    ]
    assert [each.name for each in found.settings_read if each.required] == ["SHOP_RETRIES"]
    assert [each.name for each in found.settings_read if each.secret] == ["SHOP_TOKEN", "SHOP_PIN"]
    assert [problem.code for problem in problems if problem.code.startswith("MCP3")] == ["MCP307"]
    built = build(write_files(tmp_path / "project", files), tmp_path / "server.pyz")
    own = {"SHOP_TOKEN": "a", "SHOP_RETRIES": "3", "SHOP_URL": "http://a.b", "OTHER": "own", "LEVEL": "high"}
    (said,) = replies([built], [("tools/call", {"name": "other", "arguments": {}})], env={**os.environ, **own})
    assert only_text(said["result"]) == "own high"


READ = {
    "a key of the mapping": ("os.environ['KEY']", {"KEY": True}),
    "a name that is not written": ("level('A_' + 'LEVEL')", {"A_LEVEL": "info"}),
    "what the program sets, and what systems set": (
        "os.environ['OWN'] = 'x'\nlevel('OWN')\nlevel('HOME')\nlevel('PYTHONPATH')\nlevel('CI')",
        {},
    ),
    "alternatives": (
        "if not (os.getenv('A_TOKEN') or os.getenv('A_NAME')): raise ValueError('give A_TOKEN or A_NAME')",
        {"A_TOKEN": False, "A_NAME": False},
    ),
    "a default of the build": ("level('A', os.getcwd())\nlevel('B', level('GIVEN'))", {"A": False, "B": False}),
}


@pytest.mark.parametrize("case", READ)
def test_variables_that_are_looked_up_are_settings(case: str) -> None:
    """A default is what it is, or whether the setting is required."""
    written, expected = READ[case]
    head = HEAD.replace("os.environ['KEY']", "1").replace("os.getenv('LATE')", "1")
    files = {"pyproject.toml": PROJECT, "helper.py": HELPER, "server.py": f"{head}{written}\nmcp.run()\n"}
    found, problems = parsed(files, Options(build_environment=(("GIVEN", "of the build"),)))
    assert found is not None, problems
    told = {each.name: each.required if each.default is None else each.default for each in found.settings_read}
    assert {name: value for name, value in told.items() if name not in ("GIVEN", "UNITS")} == expected


def test_a_declared_setting_has_a_value_in_a_build_and_is_as_declared() -> None:
    """The program cannot be run again with a value that its failure would show: it is a number."""
    declared = "[[tool.mcpc.settings]]\nname = 'COUNT'\ntype = 'integer'\nrequired = true\n"
    written = f"{HEAD}count = int(os.environ['COUNT'])\nmcp.run()\n"
    found, problems = parsed({"pyproject.toml": PROJECT + declared, "helper.py": HELPER, "server.py": written})
    assert found is not None, problems
    assert not [problem for problem in problems if problem.code == "MCP306"]
    (note,) = [problem for problem in problems if problem.code == "MCP307"]
    assert "`COUNT`" not in note.message


def test_a_built_file_asks_for_what_the_program_needs(tmp_path: Path) -> None:
    written = (
        f"{CLASS}{HEAD}settings = Settings()\n@mcp.tool\ndef pin() -> str:\n    return settings.other\nmcp.run()\n"
    )
    files = {"pyproject.toml": PROJECT, "helper.py": HELPER, "server.py": written, ".env": "SHOP_TOKEN=of-the-file\n"}
    write_files(tmp_path / "project", files)
    built = build(tmp_path / "project", tmp_path / "server.pyz")
    packed = contents(built)
    assert not any(b"mcpc-build-value" in data or b"of-the-file" in data for data in packed.values())
    facts = json.loads(next(data for name, data in packed.items() if name.endswith("build.json")))
    assert [each["name"] for each in facts["settings"] if each.get("required")] == [
        *("SHOP_TOKEN", "SHOP_RETRIES", "SHOP_URL")
    ]
    call = [("tools/call", {"name": "pin", "arguments": {}})]
    own = {"SHOP_TOKEN": "a", "SHOP_RETRIES": "3", "SHOP_URL": "http://a.b", "OTHER": "own", "SHOP_MODE": ""}
    (right,) = replies([built], call, env={**os.environ, **own})
    assert only_text(right["result"]) == "own"
    (wrong,) = replies([built], call, env={**os.environ, **own, "SHOP_TOKEN": ""})
    assert only_text(wrong["result"]).startswith("SHOP_TOKEN is not set (Token of the shop).")
