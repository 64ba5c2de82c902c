"""Exports with settings: owners' checkers accept them, values are references, and no text leaves its place."""

import importlib.util
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from mcpc.release.carriers import DeclaredSetting, UnusableValueError
from mcpc.release.exports import EXPORTS, Deployment
from support.artifact import mcpc
from support.carriers import HOSTILE, SETTINGS
from support.needs import lacking, needs
from support.processes import run_program

DECLARED = tuple(DeclaredSetting(**{**each, "choices": tuple(each.get("choices", ()))}) for each in SETTINGS)
FULL = Deployment(
    "weather", "1.4.0", settings=DECLARED, summary=HOSTILE, homepage="https://example.org/weather", license="MIT",
    url="https://github.com/example/weather/releases/download/v1.4.0/server.pyz", digest="0" * 64,
    project="servers/weather",
).checked()  # fmt: skip
SCHEMAS = {
    "compose": "vendor.compose-spec", "github-actions": "vendor.github-workflows", "gitlab-ci": "vendor.gitlab-ci",
}  # fmt: skip


@pytest.mark.parametrize("kind", SCHEMAS)
def test_the_schemas_of_their_owners_hold(tmp_path: Path, kind: str) -> None:
    if importlib.util.find_spec("check_jsonschema") is None:
        lacking("check-jsonschema is not installed")
    place = tmp_path / "file.yml"
    argv = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", SCHEMAS[kind], str(place)]
    place.write_text(EXPORTS[kind](FULL))
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    broken = yaml.safe_load(EXPORTS[kind](FULL))
    broken[next(iter({"services", "jobs", "release"} & broken.keys()))] = 1
    place.write_text(yaml.safe_dump(broken))
    assert subprocess.run(argv, capture_output=True, timeout=60, check=False).returncode == 1


def test_a_unit_is_verified_and_hardened(tmp_path: Path) -> None:
    needs("systemd-analyze")
    place = tmp_path / "weather@.service"
    text = EXPORTS["systemd"](FULL)
    place.write_text(text.replace("ExecStart=/opt/weather/server.pyz", "ExecStart=/bin/true"))  # it must be there
    argv = ["systemd-analyze", "verify", "--man=no", str(place)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    argv = ["systemd-analyze", "security", "--offline=true", "--threshold=20", str(place)]
    judged = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    assert judged.returncode == 0, judged.stdout
    lines = place.read_text().splitlines()
    assert "LoadCredential=API_KEY:/etc/weather/secrets/API_KEY" in lines
    assert "Environment=API_KEY_FILE=%d/API_KEY" in lines
    assert "#LoadCredential=SPARE_KEY:/etc/weather/secrets/SPARE_KEY" in lines
    place.write_text(place.read_text().replace("Type=exec", "Type=perhaps"))
    assert "perhaps" in run_program(["systemd-analyze", "verify", "--man=no", str(place)]).stderr


def test_a_formula_is_ruby_without_interpolation(tmp_path: Path) -> None:
    needs("ruby")
    text = EXPORTS["homebrew"](FULL)
    (tmp_path / "weather.rb").write_text(text)
    done = run_program(["ruby", "-c", tmp_path / "weather.rb"], status=0)
    stub = 'class Formula; def self.method_missing(name, *words, **) = puts("#{name}=#{words.first}"); def self.test = nil; end\n'
    argv = ["ruby", "-e", stub + text]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    said = dict(line.split("=", 1) for line in done.stdout.splitlines())
    assert HOSTILE.startswith(said["desc"].rstrip("…"))
    assert said["url"] == FULL.url


def test_kubernetes_gets_secrets_and_configuration_by_reference() -> None:
    objects = [found for found in yaml.safe_load_all(EXPORTS["kubernetes"](FULL)) if found]
    for found in objects:
        kubernetes_validate.validate(found, "1.34", strict=True)
    config = next(found for found in objects if found["kind"] == "ConfigMap")
    assert config["data"] == {
        "REGION": "eu$1", "PORT_NUMBER": "80", "LIMIT": "", "VERBOSE": "true", "QUIET": "", "ROOT": "",
    }  # fmt: skip
    pod = next(found for found in objects if found["kind"] == "Deployment")["spec"]["template"]["spec"]
    variables = {each["name"]: each["valueFrom"] for each in pod["containers"][0]["env"]}
    assert variables["API_KEY"] == {"secretKeyRef": {"name": "weather", "key": "API_KEY", "optional": False}}
    assert variables["SPARE_KEY"]["secretKeyRef"]["optional"] is True
    assert variables["REGION"] == {"configMapKeyRef": {"name": "weather-settings", "key": "REGION"}}


TEXT = st.text(max_size=60)


@examples(max_examples=10, deadline=None)
@given(name=TEXT, version=TEXT, summary=TEXT, purpose=TEXT)
def test_no_text_leaves_its_place(name: str, version: str, summary: str, purpose: str) -> None:
    """Whatever a server says about itself: the same keys, the same directives, the same number of methods of Ruby."""
    setting = DeclaredSetting("API_KEY", description=purpose, secret=True, required=True)
    other = DeclaredSetting("MODE", description=purpose, default=purpose)
    one = replace(FULL, name=name, version=version, summary=summary, settings=(setting, other))
    plain = replace(
        FULL,
        name=one.label,
        summary="x",
        settings=(replace(setting, description="y"), replace(other, description="y", default="z")),
    )
    for kind in EXPORTS:
        try:
            text = EXPORTS[kind](one)
        except UnusableValueError:
            continue
        assert skeleton(kind, text) == skeleton(kind, EXPORTS[kind](plain)), kind


def skeleton(kind: str, text: str) -> Any:
    """Return what of a file no value may change."""
    if kind in ("systemd", "nginx", "homebrew"):
        lines = (line for line in text.splitlines() if not line.lstrip().startswith("#"))
        return [line.split("=")[0].split(' "')[0] for line in lines]
    return [shape(document) for document in yaml.safe_load_all(text)]


def shape(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: shape(each) for key, each in value.items()}
    return [shape(each) for each in value] if isinstance(value, list) else type(value).__name__


def test_the_command_writes_a_file_or_nothing(tmp_path: Path, artifact: Path) -> None:
    place = tmp_path / "weather.service"
    mcpc("ship", "systemd", artifact, "-o", place, "--host", "w.example.com", status=0)
    assert "--allow-host w.example.com" in place.read_text()
    refused = mcpc("ship", "homebrew", artifact, "-o", tmp_path / "weather.rb")
    assert (refused.returncode, (tmp_path / "weather.rb").exists()) == (2, False)
    assert "--url" in refused.stderr
    mcpc("ship", "github-actions", artifact, "--in-repository", "../x; rm", status=2)
