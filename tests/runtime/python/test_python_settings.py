"""A project's `Settings`: what its attributes are, with checked texts from the environment or the defaults."""

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from mcpc_runtime.handlers.python import settings
from mcpc_runtime.handlers.python.settings import Secret, Settings
from support.interpreters import VERSIONS
from support.needs import ROOT, python


class Base(Settings, prefix="app_"):
    api_key: Secret
    retries: int = 3
    _private: str = "x"


class Field:
    def get_default(self, call_default_factory: bool) -> object:
        return ["made"] if call_default_factory else None


class PydanticUndefinedType:
    """As the default of a field without one."""


class Weather(Base):
    units: str = "metric"
    ratio: float = 0.5
    is_on: bool = False
    folder: Path
    made: Any = Field()
    missing: Any = ...
    undefined: Any = PydanticUndefinedType()
    retries: int = 4


NAMES = ("api_key", "retries", "units", "ratio", "is_on", "folder", "made", "missing", "undefined")
KINDS = {
    "APP_API_KEY": "Secret", "APP_RETRIES": "int", "APP_UNITS": "str", "APP_RATIO": "float", "APP_IS_ON": "bool",
    "APP_FOLDER": "Path",
}  # fmt: skip


@pytest.fixture
def environ(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    module: Any = ModuleType(settings.TYPES)
    module.KINDS = KINDS
    monkeypatch.setitem(sys.modules, "mcpc_app", ModuleType("mcpc_app"))
    monkeypatch.setitem(sys.modules, settings.TYPES, module)
    variables: dict[str, str] = {}
    monkeypatch.setattr(os, "environ", variables)
    return variables


def test_attributes_are_those_of_all_classes_in_order() -> None:
    assert settings.attribute_names(Weather) == NAMES
    assert (Weather.settings_prefix, Settings.settings_prefix) == ("app_", "")


def test_values_have_the_types_of_their_settings(environ: dict[str, str]) -> None:
    environ |= {
        "APP_API_KEY": "k", "APP_RETRIES": "7", "APP_RATIO": "1.5", "APP_IS_ON": "true", "APP_FOLDER": "/x",
        "APP_MADE": "of no kind", "UNITS": "without the prefix",
    }  # fmt: skip
    found = vars(Weather())
    assert found == {
        "api_key": Secret("k"), "retries": 7, "units": "metric", "ratio": 1.5, "is_on": True, "folder": Path("/x"),
        "made": ["made"],
    }  # fmt: skip
    environ["APP_IS_ON"] = "false"
    assert Weather().is_on is False
    assert vars(Weather(retries=1, folder=None))["folder"] is None


def test_what_has_no_value_is_told(environ: dict[str, str]) -> None:
    made: Any = Weather()
    assert (made.retries, "api_key" in vars(made)) == (4, False)
    with pytest.raises(AttributeError, match=r"^the setting APP_API_KEY has no value$"):
        _ = made.api_key
    for name in ("other", "_other"):
        with pytest.raises(AttributeError, match=f"^'Weather' object has no attribute '{name}'$"):
            getattr(made, name)


def test_a_secret_is_not_shown(environ: dict[str, str]) -> None:
    secret = Secret("k")
    assert (str(secret), repr(secret), secret.get_secret_value()) == ("**********", "Secret('**********')", "k")
    assert (secret == Secret("k"), secret == Secret("l"), secret == "k", len({secret, Secret("k")})) == (
        True,
        False,
        False,
        1,
    )
    environ["APP_API_KEY"] = "k"
    assert repr(Base()) == "Base(api_key=Secret('**********'), retries=3)"


def test_while_a_project_is_built_there_are_defaults_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, settings.TYPES, None)
    monkeypatch.setenv("APP_RETRIES", "7")
    assert (settings.known_kinds(), Base().retries) == ({}, 3)


@pytest.mark.parametrize("version", VERSIONS)
def test_attributes_are_known_under_every_python(version: str) -> None:
    program = """if 1:
        from mcpc_runtime.handlers.python.settings import Settings, attribute_names
        class One(Settings):
            a: int = 1
            b: Unknown
        print(attribute_names(One))
    """
    # Python before 3.14 looks the name up when the class is made.
    program = program if version == "3.14" else f"Unknown = int\n{program}"
    environment = {"PYTHONPATH": str(ROOT / "runtime")}
    done = subprocess.run(
        [python(version), "-c", program], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("('a', 'b')\n", "")
